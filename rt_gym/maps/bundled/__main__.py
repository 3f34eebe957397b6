"""Writes the bundled maps from their table."""

from pathlib import Path

from rt_gym.maps.bundled import TABLE
from rt_gym.maps.generate import generate
from rt_gym.maps.movingai import write_map

if __name__ == "__main__":
    for name, (family, parameters) in TABLE.items():
        write_map(generate(family, **parameters), Path(__file__).parent / f"{name}.map")

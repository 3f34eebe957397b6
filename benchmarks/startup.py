"""The command, the import, and the first call of every agent and environment: compiling, and from the cache."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import ROOT, Row, at_most, heading, print_rows

import agents
from rt_gym import envs

IMPORT = "import rt_gym"
RUN = """
import agents, rt_gym
agents.run({name!r}, rt_gym.sample_problems(rt_gym.load_map("rooms-64"), 1)[0])
"""
SINGLE = """
import gymnasium, rt_gym
env = gymnasium.make({name!r})
env.reset()
env.step(0)
"""
BATCHED = """
import gymnasium, numpy, rt_gym
env = gymnasium.make_vec({name!r}, 2, vectorization_mode="vector_entry_point")
env.reset()
env.step(numpy.zeros(2, int))
"""


def python(*arguments: str, cache: str | None = None, folder: str | Path = ROOT) -> tuple[float, float]:
    """Return CPU and wall-clock seconds of a fresh interpreter."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | ({} if cache is None else {"NUMBA_CACHE_DIR": cache})
    used, began = children(), time.perf_counter()
    subprocess.run([sys.executable, *arguments], env=environment, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    return children() - used, time.perf_counter() - began


def children() -> float:
    """Return the CPU seconds of all processes started from here so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def light() -> list[Row]:
    """What happens before any kernel is called, each best of five."""
    helped, imported, bare = (
        min(python(*arguments) for _ in range(5))
        for arguments in (("-m", "training.cli", "--help"), ("-c", IMPORT), ("-c", "pass"))
    )
    return [
        at_most("rt-gym --help", f"{helped[1]:.2f} s by the clock", helped[0], 0.5, "s"),
        Row("import rt_gym", f"{imported[1]:.2f} s by the clock", f"{imported[0]:.2f} s"),
        Row("python itself", f"{bare[1]:.2f} s by the clock", f"{bare[0]:.2f} s"),
    ]


def first_use(what: str, script: str) -> Row:
    """A script in a fresh cache folder, and once more."""
    with tempfile.TemporaryDirectory() as cache:
        (cold, _), (warm, _) = python("-c", script, cache=cache), python("-c", script, cache=cache)
    return Row(what, f"{warm:.2f} s from the cache", f"{cold:.2f} s")


def demo() -> list[Row]:
    """The demonstration, which has its own aims in seconds by the clock."""
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = (python("-m", "training.cli", "demo", cache=folder, folder=folder) for _ in range(2))
    return [
        at_most("rt-gym demo, compiling", f"{cold[0]:.1f} s of CPU", cold[1], 90, "s by the clock"),
        at_most("rt-gym demo, again", f"{warm[0]:.1f} s of CPU", warm[1], 15, "s by the clock"),
    ]


def main() -> None:
    heading(__doc__ or "")
    print_rows(light())
    rows = [first_use(f"{name}, first run", RUN.format(name=name)) for name in agents.ids()]
    rows += [first_use(f"{name}, first step", SINGLE.format(name=name)) for name in envs.ids()]
    rows += [first_use(f"{name}, first batched step", BATCHED.format(name=name)) for name in envs.ids()]
    print_rows(rows + demo())


if __name__ == "__main__":
    main()

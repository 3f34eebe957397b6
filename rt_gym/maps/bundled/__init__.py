"""The bundled maps: one generator call each, stored as ``.map`` files beside this table.

``python -m rt_gym.maps.bundled`` writes the files anew.
"""

from typing import Any

TABLE: dict[str, tuple[str, dict[str, Any]]] = {
    "open-16": ("random", {"width": 16, "height": 16, "density": 0.0, "seed": 0}),
    "random-48": ("random", {"width": 48, "height": 48, "density": 0.25, "seed": 1}),
    "maze-63": ("maze", {"size": 63, "seed": 1}),
    "maze-holes-101": ("maze-holes", {"size": 101, "holes": 190, "seed": 1}),
    "rooms-64": ("rooms", {"width": 64, "height": 64, "room": 8, "doors": 0.6, "seed": 1}),
    "caves-128": ("caves", {"width": 128, "height": 128, "density": 0.48, "steps": 5, "seed": 2}),
    "terrain-96": ("terrain", {"width": 96, "height": 96, "seed": 0}),
    "terrain-512": ("terrain", {"width": 512, "height": 512, "seed": 7}),
}

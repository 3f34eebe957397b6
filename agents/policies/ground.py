"""Ground policies: trees that say what unknown ground costs, as data in a JSON file, never as code.

A tree looks at the cells around an unknown one, in a square window: each is known to be blocked, unknown, or known to
be free. The scores that the trees lead to are added up: how many times what free ground costs. Beyond the edge of the
map everything is known to be blocked. What comes out is a whole number of 1/16, from 1 to 20 times the cost: never
less than free ground, so that the usual heuristic stays consistent, and never without end, so that no way is given up.
"""

import os
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.policies.trees import Forest, check_forest, check_head, longest_branch, read_policy, write_policy
from rt_gym.errors import InputError, whole
from rt_gym.files import PathLike, require_path, shown
from rt_gym.jit import kernel
from rt_gym.meter import scan
from rt_gym.terrain import locate

KIND, VERSION = "rt_gym.ground-policy", 1
BLOCKED, UNKNOWN, FREE = -1, 0, 1  # what a cell of the window is known to be
PARTS = 16  # of the cost of free ground
MOST = 20  # times the cost of free ground
MAX_RADIUS = 16
AROUND = 8  # cells that are read by a scan, the neighbours of a cell; a power of two
READY_MADE = files("agents").joinpath("policies", "prices")


class Ground(NamedTuple):
    """A ground policy as kernels take it.

    Attributes:
        forest: the trees, with one score; they number the cells of the window row by row.
        columns, rows: int64 per cell of the window, how far it is from the cell in the middle.
    """

    forest: Forest
    columns: NDArray[np.int64]
    rows: NDArray[np.int64]


@kernel(inline=True)
def look(terrain, x, y):
    """Return what is known of a place on the map or beyond its edge: BLOCKED, UNKNOWN or FREE."""
    stride = terrain.offset[1]
    cell = (y + 1) * stride + x + 1
    if x < 0 or x >= stride - 2 or y < 0 or cell >= terrain.known.size - stride:
        return BLOCKED
    if terrain.known[cell] == 0:
        return UNKNOWN
    return FREE if terrain.free[cell] != 0 else BLOCKED


@kernel
def cost_of_unknown(terrain, trip, ground, cell):
    """Return what an unknown cell costs, in PARTS of free ground; a scan for every AROUND cells that the trees test."""
    forest, total, tests = ground.forest, 0.0, 0
    x, y = locate(terrain, cell)
    for k in range(forest.root.size):
        node = np.int64(forest.root[k])
        while forest.feature[node] >= 0:
            if tests & (AROUND - 1) == 0:
                scan(trip)
            tests += 1
            place = forest.feature[node]
            seen = look(terrain, x + ground.columns[place], y + ground.rows[place])
            node = np.int64(forest.left[node] if seen <= forest.threshold[node] else forest.right[node])
        total += forest.scores[node, 0]
    return np.int64(min(max(total, 1.0), np.float64(MOST)) * PARTS + 0.5)


@dataclass(frozen=True)
class GroundPolicy:
    """A trained ground policy.

    Attributes:
        radius: how far the window reaches from the cell in its middle.
        forest: the trees, with one score.
        about: how it was made: settings, maps, seed; for people.
    """

    radius: int
    forest: Forest
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def branch(self) -> int:
        """The largest number of tests on the way to a leaf."""
        return longest_branch(self.forest)

    def wired(self) -> Ground:
        """Return the policy as kernels take it."""
        reach = np.arange(-self.radius, self.radius + 1, dtype=np.int64)
        return Ground(self.forest, np.tile(reach, reach.size), np.repeat(reach, reach.size))

    def save(self, path: PathLike) -> None:
        """Write the policy to a JSON file."""
        write_policy(path, {"kind": KIND, "version": VERSION, "radius": self.radius, "about": self.about}, self.forest)


def load_ground_policy(source: PathLike | GroundPolicy) -> GroundPolicy:
    """Return a ground policy: one that is there, from a file, or by the name of one that comes with the package."""
    if isinstance(source, GroundPolicy):
        return source
    require_path("policy", source, "a file or a name")
    if source in ready_made():
        with as_file(READY_MADE.joinpath(f"{source}.json")) as path:
            return read_policy("policy", path, KIND, _checked)
    if not os.path.lexists(source):
        raise InputError(f"there is no ground policy {shown(source)}; ready-made ones are {', '.join(ready_made())}")
    return read_policy("policy", source, KIND, _checked)


def ready_made() -> list[str]:
    """Return the names of the ground policies that come with the package."""
    return sorted(path.name.removesuffix(".json") for path in READY_MADE.iterdir() if path.name.endswith(".json"))


def _checked(data: Any) -> GroundPolicy:
    check_head(data, KIND, VERSION, "a ground policy")
    radius = whole("radius", data.get("radius"), 0, MAX_RADIUS)
    return GroundPolicy(radius, check_forest(data.get("forest"), (2 * radius + 1) ** 2, 1), data.get("about", {}))

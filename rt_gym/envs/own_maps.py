"""Maps that the episodes of a batch do not share: what each believes and what is true, where maps change or are hidden.

A batch whose maps are known and stay as they are has none of these.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.stack import cut_out
from rt_gym.grid import Grid, Terrain
from rt_gym.jit import kernel
from rt_gym.world import Truth


class OwnMaps(NamedTuple):
    """One row per episode, as long as the largest map.

    Attributes:
        mask, free, known: what the episode believes; see ``Terrain``.
        real, state: what is true; see ``Truth``.
    """

    mask: NDArray[np.uint8]
    free: NDArray[np.uint8]
    known: NDArray[np.uint8]
    real: NDArray[np.uint8]
    state: NDArray[np.int64]


class Ground(NamedTuple):
    """The maps of a batch without obstacles, behind each other; empty where no episode needs them."""

    open_mask: NDArray[np.uint8]
    open_free: NDArray[np.uint8]


def make_own_maps(count: int, grids: list[Grid]) -> OwnMaps:
    """Return room for the maps of so many episodes."""
    rows = (count, max((grid.terrain.mask.size for grid in grids), default=0))
    mask, free, known, real = (np.empty(rows, np.uint8) for _ in range(4))
    return OwnMaps(mask, free, known, real, np.zeros((count, 3), np.int64))


def make_ground(grids: list[Grid], hidden: bool) -> Ground:
    """Return the maps without obstacles, if any episode does not know its map."""
    none, terrains = np.empty(0, np.uint8), [grid.open_ground for grid in grids if hidden]
    return Ground(
        open_mask=np.concatenate([none, *(terrain.mask for terrain in terrains)]),
        open_free=np.concatenate([none, *(terrain.free for terrain in terrains)]),
    )


@kernel(inline=True)
def own_terrain(maps, own, m, i):
    """Return what episode ``i`` believes of map ``m``."""
    terrain = cut_out(maps, m)
    n = terrain.mask.size
    mask, free, known = own.mask[i], own.free[i], own.known[i]
    return Terrain(
        mask[:n], free[:n], known[:n], terrain.xy, terrain.offset, terrain.cost, terrain.metric, terrain.rule
    )


@kernel(inline=True)
def own_truth(maps, problems, own, p, i):
    """Return the true map of episode ``i`` with problem ``p``, and its schedule."""
    m = problems.map[p]
    due = slice(problems.change[p], problems.change[p + 1])
    real = own.real[i, : maps.begin[m + 1] - maps.begin[m]]
    return Truth(real, problems.when[due], problems.where[due], problems.opens[due], own.state[i])


@kernel(inline=True)
def lay_out(maps, ground, problems, own, p, i):
    """Give episode ``i`` its own copy of the map, true and as it is believed before anything has been seen."""
    m = problems.map[p]
    a, n, clear = maps.begin[m], maps.begin[m + 1] - maps.begin[m], problems.vision[p] <= 0
    own.state[i] = 0
    own.state[i, VISION] = problems.vision[p]
    own.known[i] = clear
    for k in range(n):
        own.mask[i, k] = maps.mask[a + k] if clear else ground.open_mask[a + k]
        own.free[i, k] = maps.free[a + k] if clear else ground.open_free[a + k]
        own.real[i, k] = maps.free[a + k]

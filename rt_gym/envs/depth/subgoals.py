"""The subgoals of depth and goal control: from every region the next one on the way.

They belong to a problem, as its goal does. Problems on the same map share its regions, and those with goals in the same
region share all of it.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel
from rt_gym.search.space import NONE


class Subgoals(NamedTuple):
    """Which subgoal is next.

    Attributes:
        region: int32, the region of every cell, NONE where there is none.
        ahead: int32, the subgoal's cell for every region, NONE if there is none.
    """

    region: NDArray[np.int32]
    ahead: NDArray[np.int32]


class SubgoalTables(NamedTuple):
    """The subgoals of a pool, concatenated; ``regions_at`` and ``aheads_at`` say where those of a problem begin."""

    region: NDArray[np.int32]
    ahead: NDArray[np.int32]
    regions_at: NDArray[np.int64]
    aheads_at: NDArray[np.int64]


@kernel(inline=True)
def subgoals_of(tables, p):
    """Return the subgoals of problem ``p``."""
    return Subgoals(tables.region[tables.regions_at[p] :], tables.ahead[tables.aheads_at[p] :])


@kernel(inline=True)
def next_subgoal(subgoals, terrain, s):
    """Return the subgoal of an agent in ``s``; NONE without one, and where it is known to be blocked."""
    if subgoals.region[s] == NONE:
        return np.int64(NONE)
    goal = np.int64(subgoals.ahead[subgoals.region[s]])
    return goal if goal != NONE and terrain.free[goal] != 0 else np.int64(NONE)


def concatenate_subgoals(pool: list[Subgoals]) -> SubgoalTables:
    """Return the subgoals of all problems; what several of them share, once."""
    region, regions_at = _joined(subgoals.region for subgoals in pool)
    ahead, aheads_at = _joined(subgoals.ahead for subgoals in pool)
    return SubgoalTables(region, ahead, regions_at, aheads_at)


def room_for_subgoals(problems: int, cells: int) -> SubgoalTables:
    """Return tables for so many problems on maps of so many cells, which have no more regions than that."""
    begins = cells * np.arange(problems, dtype=np.int64)
    region, ahead = (np.full(problems * cells, NONE, np.int32) for _ in range(2))
    return SubgoalTables(region, ahead, begins, begins)


def replace_subgoals(tables: SubgoalTables, k: int, subgoals: Subgoals) -> None:
    """Put other subgoals in the place of those of problem ``k``."""
    region, ahead = int(tables.regions_at[k]), int(tables.aheads_at[k])
    tables.region[region : region + subgoals.region.size] = subgoals.region
    tables.ahead[ahead : ahead + subgoals.ahead.size] = subgoals.ahead


def _joined(arrays: Iterable[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return arrays concatenated, and where each begins."""
    listed = list(arrays)
    each = {id(array): array for array in listed}
    begins = dict(zip(each, np.cumsum([0, *(array.size for array in each.values())]), strict=False))
    return np.concatenate(list(each.values())), np.array([begins[id(array)] for array in listed], np.int64)

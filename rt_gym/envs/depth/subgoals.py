"""The subgoals of depth and goal control: from every region the next one on the way, and what is observed of it.

A guide belongs to a problem, as its goal does. Those of problems on the same map share its regions, and those with
goals in the same region all of it. Environments without subgoals have a guide without regions.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import STRAIGHT
from rt_gym.grid import h0, locate
from rt_gym.jit import kernel
from rt_gym.search.space import NONE

SUBGOAL = (
    "has_subgoal",  # 1 if there is one; if not, the others are 0
    "subgoal_distance",  # the heuristic to it
    "subgoal_dx",  # how many columns it is to the east
    "subgoal_dy",  # how many rows it is to the south
    "subgoal_beyond",  # the heuristic from it to the goal
    "subgoal_pursued",  # 1 if the last decision headed for it
)

# Entries of Mind.aim: the cell of the subgoal where the agent stands, NONE if there is none, and what the last decision
# headed for.
AHEAD, PURSUED = range(2)


class Guide(NamedTuple):
    """Which subgoal is ahead.

    Attributes:
        region: int32, the region of every cell, NONE where there is none.
        ahead: int32, the subgoal's cell for every region, NONE if there is none.
    """

    region: NDArray[np.int32]
    ahead: NDArray[np.int32]


NO_GUIDE = Guide(np.empty(0, np.int32), np.empty(0, np.int32))


class Guides(NamedTuple):
    """The guides of a pool, behind each other; ``land`` and ``way`` say for every problem where its own begin."""

    region: NDArray[np.int32]
    ahead: NDArray[np.int32]
    land: NDArray[np.int64]
    way: NDArray[np.int64]


@kernel(inline=True)
def guide_of(guides, p):
    """Return the guide of problem ``p``."""
    return Guide(guides.region[guides.land[p] :], guides.ahead[guides.way[p] :])


@kernel(inline=True)
def subgoal_at(guide, terrain, s):
    """Return the subgoal of an agent in ``s``; NONE without one, and where it is known to be blocked."""
    if guide.region.size == 0 or guide.region[s] == NONE:
        return np.int64(NONE)
    goal = np.int64(guide.ahead[guide.region[s]])
    return goal if goal != NONE and terrain.free[goal] != 0 else np.int64(NONE)


@kernel(inline=True)
def write_subgoal(terrain, aim, s, t, out):
    """Write what is observed of the subgoal, in the order of ``SUBGOAL``."""
    goal = aim[AHEAD]
    out[:] = 0
    if goal != NONE:
        x, y = locate(terrain, s)
        goal_x, goal_y = locate(terrain, goal)
        out[0] = 1
        out[1] = h0(terrain, s, goal) / STRAIGHT
        out[2] = goal_x - x
        out[3] = goal_y - y
        out[4] = h0(terrain, goal, t) / STRAIGHT
        out[5] = aim[PURSUED] == goal


def stack_guides(guides: list[Guide]) -> Guides:
    """Put the guides of problems behind each other; what several of them share, once."""
    region, land = _joined(guide.region for guide in guides)
    ahead, way = _joined(guide.ahead for guide in guides)
    return Guides(region, ahead, land, way)


def _joined(arrays: Iterable[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return arrays behind each other, and where each begins."""
    listed = list(arrays)
    each = {id(array): array for array in listed}
    begins = dict(zip(each, np.cumsum([0, *(array.size for array in each.values())]), strict=False))
    return np.concatenate(list(each.values())), np.array([begins[id(array)] for array in listed], np.int64)

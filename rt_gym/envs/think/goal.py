"""A goal that moves: how it walks, and what the values that were learned for one place of it are worth for the next.

Every few moves of the agent the goal makes a step, straight on where it can, otherwise in a random direction. It walks
on the true map, by the rules that the agent walks by, and never onto the agent: only the agent's own moves end a
chase. Its generator is seeded by one number of the episode's, so that its walk depends on nothing that the agent does
but for where the agent stands in its way.

A search goes on for the goal that it began with, and so does a walk that was committed to. The next search begins with
where the goal is then. Values are carried over as in Generalized Adaptive A* (X. Sun, S. Koenig, W. Yeoh, AAMAS 2008):
a consistent h of one goal is, less its value of the other one, a consistent h of that.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import INF
from rt_gym.jit import kernel, record
from rt_gym.search.space import draw
from rt_gym.terrain import Terrain, exits, fill_h0, locate, span
from rt_gym.trip import STAY

# Where the goal is; where it was when the search, or what is left of it, began; in which direction it went last.
PLACE = record(cell=int, aim=int, heading=int)


class Goal(NamedTuple):
    """The goal of an episode.

    Attributes:
        state: PLACE[1].
        random: uint64[1], the state of the generator of its walk.
    """

    state: NDArray[np.record]
    random: NDArray[np.uint64]


def make_goal(rows: tuple[int, ...] = ()) -> Goal:
    """Return the arrays of a goal, or ``rows`` of them for a batch."""
    return Goal(state=np.zeros((*rows, 1), PLACE), random=np.zeros((*rows, 1), np.uint64))


@kernel(inline=True)
def place_goal(goal, t):
    """Begin an episode with the goal in ``t``."""
    state = goal.state[0]
    state.cell = state.aim = t
    state.heading = STAY


@kernel(inline=True)
def seed_goal(goal, random):
    """Seed the walk of the goal by the generator of the episode."""
    number = np.uint64(draw(random))
    goal.random[0] = number << np.uint64(33) | number << np.uint64(1) | np.uint64(1)


@kernel(inline=True)
def has_moved(goal):
    """Whether the goal is elsewhere than where search or path lead."""
    return goal.state[0].cell != goal.state[0].aim


@kernel
def true_exits(truth, terrain, cell):
    """Return the moves out of a cell that are legal on the true map, one bit per direction."""
    if truth.state[0].vision <= 0:
        return np.int64(terrain.mask[cell])
    real = Terrain(
        terrain.mask, truth.free, terrain.known, terrain.xy, terrain.offset, terrain.cost, terrain.metric, terrain.rule
    )
    return np.int64(exits(real, cell))


@kernel
def step_goal(truth, terrain, goal, s):
    """Let the goal make one step, but not onto ``s``; it stays where it can go nowhere."""
    state = goal.state[0]
    moves, ways = true_exits(truth, terrain, state.cell), 0
    for d in range(8):
        if state.cell + terrain.offset[d] == s:
            moves &= ~(1 << d)
        ways += moves >> d & 1
    if ways == 0:
        state.heading = STAY
        return
    if state.heading < 0 or moves >> state.heading & 1 == 0:
        state.heading = nth_bit(moves, draw(goal.random) % ways)
    state.cell += terrain.offset[state.heading]


@kernel(inline=True)
def nth_bit(bits, n):
    """Return the place of the n-th bit that is set, counted from 0."""
    d = np.int64(-1)
    while n >= 0:
        d += 1
        n -= bits >> d & 1
    return d


@kernel
def take_aim(terrain, goal, h):
    """Let the next search be for where the goal is now, and the values with it."""
    state, stride = goal.state[0], terrain.offset[1]
    t = state.aim = state.cell
    less, (goal_x, goal_y) = h[t], locate(terrain, t)
    if less >= INF:
        fill_h0(terrain, t, h[: terrain.mask.size])
        return
    for row in range(terrain.mask.size // stride):
        line = h[row * stride :]
        for column in range(stride):
            value = max(line[column] - less, span(terrain.metric, column - 1 - goal_x, row - 1 - goal_y))
            # A cell without a way to the one place has none to the other.
            line[column] = value if line[column] < INF else np.int64(INF)

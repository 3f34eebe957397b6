"""RTA*: look ahead as LRTA* does, but remember what the second best move would have cost.

R. Korf, "Real-Time Heuristic Search", Artificial Intelligence 42, 1990.

There are no numbered lines to refer to. The algorithm in plain Python: ``tests/reference/plain_rta.py``.

Deviations and readings:
- Lookahead and ties are those of LRTA* (``rt_gym.search.lookahead``): the two agents differ in the value they keep.
- The second best value is what the same lookahead finds if the best first step is barred: the frontier is the same for
  all first steps. A lookahead of its own below each neighbour, one layer shallower, would be another reading for
  graphs; on trees, which are Korf's subject, the two readings are equal.
- Where another first step is as good, the two values are equal without a second look. States that are read again are
  scans, no expansions; they make a move take two to three times as long as LRTA*'s.
- A state with no other way out gets an infinite value: it is closed for good. Paths are not looked for behind it, so on
  a map that opens again the agent may say too early that there is none.
- A value is never lowered (``max``), nor is it ever less than the best one. With path-max that keeps the agent from
  cycling at any depth; Korf's text is about depth one and trees.
- A value says what it would cost to come back and then take another way. It may overestimate and is forgotten after the
  trial.
"""

from typing import Any

import numpy as np

from agents.lrta import LRTA, MAX_DEPTH
from rt_gym.cost import INF
from rt_gym.jit import kernel
from rt_gym.meter import charge
from rt_gym.search.lookahead import QUEUED, largest_depth, look_ahead, propagate_costs
from rt_gym.search.paged_values import reset_values
from rt_gym.search.space import NONE, slot_of
from rt_gym.search.step import any_as_good, best_step
from rt_gym.search.values import raise_value
from rt_gym.trip import CUT, NO_PATH


@kernel(inline=True)
def best_other(space, t, step):
    """Return the smallest value on the frontier of what is reached by another first step, INF if nothing is."""
    goal = slot_of(space, t)
    value = np.int64(INF)
    if 0 <= goal < space.state[0].closed and space.via[goal] != step:
        value = space.f[goal]
    for u in range(space.state[0].closed, space.state[0].slots):
        if space.via[u] != step:
            value = min(value, space.f[u])
    return value


@kernel
def look_again(terrain, trip, space, t, step):
    """Value the states of the lookahead anew, over paths that do not begin with ``step``."""
    inside, queued = space.state[0].closed, np.int64(0)
    for w in range(1, space.state[0].slots):
        if space.parent[w] != 0 or space.via[w] == step:
            space.g[w] = INF
            space.f[w] = INF
        elif w < inside and space.cell[w] != t:
            space.role[w] = QUEUED
            space.item[queued] = w
            queued += 1
    propagate_costs(terrain, trip, terrain.cost, space, space.state[0].stamp << 32, t, inside, queued)


@kernel(inline=True)
def korf(terrain, trip, memory, s, t):
    """One step with a lookahead of one: the second best step is the best of the others."""
    h, random = memory.h, memory.space.random
    if not charge(trip, s):
        return np.int64(CUT)
    moves = np.int64(terrain.mask[s])
    y, _ = best_step(terrain, h, s, moves)
    if y == NONE:
        return np.int64(NO_PATH)
    if random[0] != 0:
        y = any_as_good(terrain, trip, h, random, s, y)
    _, second = best_step(terrain, h, s, moves ^ (1 << y))
    raise_value(trip, h, terrain, s, t, second)
    trip.plan[0] = y
    return np.int64(1)


@kernel
def look_and_step(terrain, trip, space, h, s, t, depth):
    """One step with a deeper lookahead."""
    best = look_ahead(terrain, trip, space, h, s, t, depth)
    if best == CUT:
        return np.int64(CUT)
    if best == NONE or space.f[best] >= INF:
        return np.int64(NO_PATH)
    step, g, f = space.via[best], space.g[best], space.f[best]
    second = best_other(space, t, step)
    if second > f:
        look_again(terrain, trip, space, t, step)
        second = best_other(space, t, step)
        space.g[best] = g  # of the path that is taken, as explanations read it
    raise_value(trip, h, terrain, s, t, min(max(f, second), np.int64(INF)))
    trip.plan[0] = step
    return np.int64(1)


@kernel(inline=True)
def plan(terrain, trip, memory, s, t):
    """Commit to the best move and keep the value of the second best."""
    if memory.depth == 1:
        return korf(terrain, trip, memory, s, t)
    return look_and_step(terrain, trip, memory.space, memory.h, s, t, memory.depth)


class RTA(LRTA):
    """RTA* with a fixed lookahead.

    Args:
        depth: how many actions ahead it looks; it expands at most (2 depth - 1)**2 states per move.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    forgets = True
    carries = frozenset()  # its values are about the ways from where it was

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest depth whose bound fits; of scans two thirds are kept for the second look."""
        return {"depth": min(MAX_DEPTH, largest_depth(limit, count, reserve=3))}

    def begin_trial(self) -> None:
        """Forget the values: they were about the ways of the last trial."""
        reset_values(self.memory.h, self.view.terrain, self.view.goal_cell)

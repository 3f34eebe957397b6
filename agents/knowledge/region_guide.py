"""What an agent knows of the regions on its way, where it heads for, and the guard, as kernels.

A region's entry (``agents.knowledge.pdb``) says how deep to look, and which region to head for or that it is the goal.

- Where subgoals are kept, an entry is looked up where the agent begins, in the region of the subgoal, and in the goal's
  region; there the goal is kept for the rest of the trial. The depth of an entry is right for a representative. Where
  the agent has been before, it was too small: it is doubled for every visit, up to the cap.
- Else the entry is that of the region in which the agent stands, at every move.
- The guard keeps the agent from going back and forth for good: where it has been ``patience`` times on its way to
  subgoals, it heads for its goal, with the cap as depth, until it enters another region.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import INF
from rt_gym.jit import kernel, record
from rt_gym.meter import scan
from rt_gym.search.space import NONE
from rt_gym.search.values import raise_value, value_at
from rt_gym.trip import NO_PATH

NOWHERE = -2
NOTHING, AT_LAST = -2, -3  # what is kept instead of a subgoal: nothing, or the goal
NEVER = np.iinfo(np.int32).max  # the patience of an agent without a guard

_MOST_DOUBLINGS = 10  # from a depth of one to the largest cap

# In which region the guard leaves subgoals out (NOWHERE: in none), how often it has begun to, and the expansions of all
# moves meanwhile; the region that is kept as subgoal, and the depth of the entry that it is from.
GUARD = record(unguided=int, guarded=int, expansions=int, kept=int, depth=int)


class RegionGuide(NamedTuple):
    """What an agent knows of the regions, and how often it was where.

    Attributes:
        region, representatives, begin, near: the abstraction.
        ahead: int32, for every region the one to head for on the way to the goal, NONE for the goal itself.
        depths: uint16, how deep to look there.
        hops: uint16, the depths towards neighbours.
        cap: the largest depth.
        keep: 1 if subgoals are kept, 0 if they are looked up at every move.
        patience: how often the agent may be in the same place on its way to subgoals.
        visits: int32 per cell, how often the agent was there on its way to subgoals, or to the goal that it keeps.
        state: GUARD[1].
    """

    region: NDArray[np.int32]
    representatives: NDArray[np.int32]
    begin: NDArray[np.int32]
    near: NDArray[np.int32]
    ahead: NDArray[np.int32]
    depths: NDArray[np.uint16]
    hops: NDArray[np.uint16]
    cap: int
    keep: int
    patience: int
    visits: NDArray[np.int32]
    state: NDArray[np.record]


def make_guide(cells: int, cap: int, keep: bool, patience: int) -> RegionGuide:
    """Return the guide for maps of this size, without any regions."""
    nowhere, nothing, hops = np.full(cells, NONE, np.int32), np.empty(0, np.int32), np.empty(0, np.uint16)
    for array in (nowhere, nothing, hops):
        array.flags.writeable = False  # as those of an abstraction, or kernels would be compiled twice
    return RegionGuide(
        region=nowhere,
        representatives=nothing,
        begin=nothing,
        near=nothing,
        ahead=np.empty(0, np.int32),
        depths=np.empty(0, np.uint16),
        hops=hops,
        cap=cap,
        keep=int(keep),
        patience=patience,
        visits=np.zeros(cells, np.int32),
        state=np.zeros(1, GUARD),
    )


def begin_guide(guide: RegionGuide) -> None:
    """Begin a trial: count visits anew, and keep nothing."""
    guide.visits[:] = 0
    guide.state["unguided"], guide.state["kept"] = NOWHERE, NOTHING


@kernel(inline=True)
def enter_region(guide, s):
    """Return the region of a cell; in any but the one where the guard acted, subgoals count again."""
    r = np.int64(guide.region[s])
    if guide.state[0].unguided != r:
        guide.state[0].unguided = NOWHERE
    return r


@kernel(inline=True)
def is_guided(guide, r):
    """Whether subgoals count in a region, which may be NONE."""
    return r != NONE and guide.state[0].unguided != r


@kernel(inline=True)
def leave_out_subgoals(guide, r):
    """Head for the goal for as long as the agent is in this region."""
    guide.state[0].unguided = r
    guide.state[0].guarded += 1
    guide.state[0].kept = NOTHING


@kernel(inline=True)
def is_open(terrain, guide, n):
    """Whether a region can be headed for: it is one, and its representative is not blocked."""
    return n >= 0 and terrain.free[guide.representatives[n]] != 0


@kernel(inline=True)
def admit(terrain, guide, s, r, n):
    """Return the region to head for, unless it is blocked or the agent has been here too often; NONE then."""
    if not is_open(terrain, guide, n):
        return np.int64(NONE)
    if guide.visits[s] >= guide.patience:
        leave_out_subgoals(guide, r)
        return np.int64(NONE)
    guide.visits[s] += 1
    return np.int64(n)


@kernel(inline=True)
def depth_towards(guide, r, n):
    """Return the depth from a region towards a neighbour or what its entry says; the cap where there is no entry."""
    cap = np.int64(guide.cap)
    if r == NONE or (n == NONE and guide.ahead[r] != NONE):
        return cap
    if n == guide.ahead[r]:
        return min(np.int64(guide.depths[r]), cap)
    k = guide.begin[r]
    while guide.near[k] != n:
        k += 1
    return min(np.int64(guide.hops[k]), cap)


@kernel(inline=True)
def take_entry(terrain, guide, t, r):
    """Keep from now on what the entry of a region says: a subgoal, or in the goal's region the goal."""
    state = guide.state[0]
    state.kept = NOTHING
    if is_guided(guide, r):
        state.depth = min(np.int64(guide.depths[r]), np.int64(guide.cap))
        if guide.region[t] == r:
            state.kept = AT_LAST
        elif is_open(terrain, guide, guide.ahead[r]):
            state.kept = guide.ahead[r]


@kernel(inline=True)
def keep_on(terrain, guide, s, t, r):
    """Return the region to head for and the depth, NONE for the goal itself, where subgoals are kept."""
    state = guide.state[0]
    if state.kept != AT_LAST and (state.kept == r or guide.region[t] == r or not is_open(terrain, guide, state.kept)):
        take_entry(terrain, guide, t, r)
    if state.kept >= 0 and guide.visits[s] >= guide.patience:
        leave_out_subgoals(guide, r)
    if state.kept == NOTHING:
        return np.int64(NONE), depth_towards(guide, r, np.int64(NONE))
    depth = min(state.depth << min(np.int64(guide.visits[s]), _MOST_DOUBLINGS), np.int64(guide.cap))
    guide.visits[s] += 1
    return max(state.kept, np.int64(NONE)), depth


@kernel(inline=True)
def follow(terrain, guide, s, t):
    """Return the region to head for by the entries, NONE for the goal itself, and the depth towards it."""
    r = enter_region(guide, s)
    if guide.keep != 0:
        return keep_on(terrain, guide, s, t, r)
    n = np.int64(NONE)
    if is_guided(guide, r):
        n = admit(terrain, guide, s, r, np.int64(guide.ahead[r]))
    return n, depth_towards(guide, r, n)


@kernel(inline=True)
def cell_of(guide, n, t):
    """Return the cell to head for in a region, or with NONE the goal."""
    return t if n == NONE else np.int64(guide.representatives[n])


@kernel(inline=True)
def count_guarded(guide, trip, s, before):
    """Count the expansions of a move while the guard acts; ``before`` is what the meter said before its search."""
    if guide.state[0].unguided == guide.region[s]:
        guide.state[0].expansions += trip.meter[0].expansions - before


@kernel
def step(terrain, trip, values, s, t):
    """One step with a lookahead of one, without an expansion."""
    scan(trip)
    moves, cost = terrain.mask[s], terrain.cost
    best, f = np.int64(NONE), np.int64(INF)
    for d in range(8):
        if moves >> d & 1:
            value = cost[d] + value_at(values, terrain, s + terrain.offset[d], t)
            if value < f or (value == f and best != NONE and cost[d] > cost[best]):
                best, f = np.int64(d), value
    if best == NONE:
        return np.int64(NO_PATH)
    raise_value(trip, values, terrain, s, t, f)
    trip.plan[0] = best
    return np.int64(1)


@kernel(inline=True)
def give_up(terrain, trip, memory, s, t):
    """Give up a subgoal that cannot be reached: the component has been expanded, so a step towards the goal is left."""
    leave_out_subgoals(memory.guide, np.int64(memory.guide.region[s]))
    memory.state[0].pursued = t
    return step(terrain, trip, memory.values, s, t)

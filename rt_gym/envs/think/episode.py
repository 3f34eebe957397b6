"""One step of an episode of thinking or acting: a slice of search while the agent stands, or a move.

Thinking is A* from where the agent stands, with the learned values, some expansions at a time. Acting commits to its
path to the best open state and takes the first step. That is LSS-LRTA* (S. Koenig, X. Sun, "Comparing real-time and
incremental heuristic search for real-time situated agents", AAMAS 18(3), 2009), whose lookahead is how long the policy
has thought: the values of what was expanded rise to what the frontier implies, then the search is forgotten. Thinking
until the goal is found makes it A* in slices, and on a known map the walk that follows is a shortest path.

Readings:
- A slice lasts one move and costs as much as standing still. Acting expands nothing.
- Later acts follow the committed path while it is unblocked. Thinking on the way drops it and begins a new search.
- Where there is neither a search nor a committed path, to act is to think. Where one of them has reached the goal,
  nothing is left to think about, and to think is to act.
- A search whose expanded cells, or those beside them, change in the believed map is void. In fog that takes scheduled
  changes: standing still, the agent sees nothing new. When a cell opens, a committed path that leads to the goal may no
  longer be the shortest: it is kept, and thinking is thinking again.
- On a known map a kept A* tree, with steps back where the agent has left the path, would make every early step useless:
  the goal is found after as many slices wherever the agent stands. So both kinds of maps have the same search.
- Nothing is learned from a search that has found the goal on a map that is known and stays as it is.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rt_gym.envs.move import MOVED, PRICE, make_move

from rt_gym.envs.think_settings import ThinkSettings
from rt_gym.features.decision import squash
from rt_gym.features.history import Track, begin_track, follow
from rt_gym.features.thinking import Mind, local_of, write_thoughts
from rt_gym.grid import fill_h0
from rt_gym.jit import kernel
from rt_gym.search.local import begin_search, frontier_update, resume_search
from rt_gym.search.space import NONE, Space, outdated, trace
from rt_gym.trip import NO_PATH, STAY, adopt, still_legal, take

SLICE = 1  # the entry of Terms.size after MAX_MOVES

ACT, THINK = range(2)
THINKS = 128  # the bit after those of ``make_move``: the step was a slice of thinking


@kernel
def begin_thinking(terrain, trip, mind, t, out):
    """Begin an episode in a world that has been set up, and write its first observation."""
    fill_h0(terrain, t, mind.h[: terrain.mask.size])
    begin_track(mind.track, trip.state[0].at)
    mind.state[:] = mind.space.state[0].slots = 0
    trip.state[0].changed = trip.state[0].checked = trip.state[0].told = 0
    observe_thoughts(terrain, trip, mind, t, out)


@kernel(inline=True)
def step_thinking(truth, terrain, trip, mind, terms, t, action, unit, out):
    """Think for a slice or make a move, and write the next observation.

    ``unit`` is what a reward of one is worth: 1, or one divided by the optimal cost.

    Returns:
        The reward, the bits of ``make_move`` and THINKS, and the expansions and scans of the step.
    """
    meter = trip.meter
    s, d, thinks = meter[AT], np.int64(STAY), False
    if meter[VERDICT] == 0 and s != t:
        thinks = may_think(mind) if action == THINK else not may_act(trip, mind)
        if thinks:
            think(terrain, trip, mind, s, t, terms.size[SLICE])
        else:
            d = next_step(truth, terrain, trip, mind)
    expansions, scans, count = meter[EXPANSIONS], meter[SCANS], meter[meter[COUNT]]
    reward, flags = make_move(truth, terrain, trip, terms, t, d)
    if flags & MOVED and d >= 0:
        follow(mind.track, meter[AT], trip.tally[0].raises)
    heed(terrain, trip, mind)
    observe_thoughts(terrain, trip, mind, t, out)
    if thinks:
        flags |= THINKS
    return (reward - terms.reward[PRICE] * count) * unit, flags, expansions, scans


@kernel(inline=True)
def may_act(trip, mind):
    """Whether there is a way to go: a search is open, or committed moves are left."""
    return mind.state[SEARCHING] != 0 or trip.state[0].next < trip.state[0].planned


@kernel(inline=True)
def may_think(mind):
    """Whether there is anything left to think about."""
    return mind.state[FOUND] == 0


@kernel
def possible(trip, mind):
    """Return which actions are themselves and not the other one, a bit for each."""
    return np.int64(may_act(trip, mind)) << ACT | np.int64(may_think(mind)) << THINK


@kernel
def think(terrain, trip, mind, s, t, most):
    """Begin a search if none is open, and expand up to ``most`` states; where none is left the meter has a verdict."""
    local, state = local_of(mind), mind.state
    space = local.space
    if state[SEARCHING] == 0:
        begin_search(local, s, mind.h[s])
        space.state[0].best = 0
        state[SEARCHING], state[SLICES], state[SORTED] = 1, 0, 0
        trip.state[0].next = trip.state[0].planned = 0
    state[BEFORE] = space.f[space.state[0].best]
    best = resume_search(terrain, trip, local, mind.h, t, most)
    state[SLICES] += 1
    state[THOUGHT] += 1
    if best == NONE:
        adopt(trip, np.int64(NO_PATH))
        state[SEARCHING] = 0
    else:
        state[FOUND] = space.cell[best] == t


@kernel
def next_step(truth, terrain, trip, mind):
    """Commit to what an open search has found, and learn from it; return the next direction, or STAY."""
    state = mind.state
    if state[SEARCHING] != 0:
        local = local_of(mind)
        if state[FOUND] == 0 or truth.state[VISION] != 0:
            frontier_update(terrain, trip, local, mind.h)
        adopt(trip, trace(local.space, local.space.state[0].best, trip.plan))
        state[SEARCHING] = 0
    return max(take(trip), np.int64(STAY))


@kernel
def heed(terrain, trip, mind):
    """Give up a search or a committed path that the changes in the believed map since the last step have made void."""
    meter, state = trip.meter, mind.state
    if state[SEARCHING] != 0:
        if outdated(terrain, trip, mind.space):
            state[SEARCHING] = state[FOUND] = 0
    elif meter[CHANGED] > 0 and not still_legal(terrain, trip, meter[AT]):
        meter[NEXT] = meter[PLANNED] = state[FOUND] = 0
    else:
        for k in range(meter[CHANGED]):
            if terrain.free[trip.changed[k]] != 0:
                state[FOUND] = 0
    meter[CHANGED] = meter[CHECKED] = meter[TOLD] = 0


@kernel(inline=True)
def observe_thoughts(terrain, trip, mind, t, out):
    """Write an observation."""
    write_thoughts(terrain, trip, mind, t, out)
    squash(out)


def make_mind(settings: ThinkSettings, cells: int, rows: tuple[int, ...] = (), lanes: tuple[int, ...] = ()) -> Mind:
    """Return room for one episode, or for ``rows`` of them in ``lanes`` threads. Untouched pages cost nothing."""

    def room(kind: Any) -> NDArray[Any]:
        return np.empty((*rows, cells), kind)

    rank = np.broadcast_to(np.arange(cells, dtype=np.int32), (*lanes, cells)).copy()
    return Mind(
        h=room(np.int64),
        space=Space(
            seat=np.zeros((*rows, cells), np.int64),
            cell=room(np.int32),
            g=room(np.int64),
            h=room(np.int64),
            f=room(np.int64),
            minus_g=room(np.int64),
            parent=room(np.int32),
            via=room(np.uint8),
            role=room(np.uint8),
            behind=np.empty(0, np.uint8),  # a lookahead's, not an A*'s
            item=room(np.int32),
            at=room(np.int32),
            rank=rank,
            random=np.zeros(1, np.uint64),  # ties go to the first generated
            state=np.zeros((*rows, BEST + 1), np.int64),
        ),
        no_tie=np.zeros(cells, np.int64),
        size=np.zeros((*rows, 1), np.int64),
        first=room(np.uint8),
        behind=np.empty((*lanes, 8), np.int64),
        track=Track(
            cells=np.empty((*rows, settings.history), np.int32),
            raised=np.empty((*rows, settings.history), np.uint8),
            state=np.zeros((*rows, RAISED + 1), np.int64),
        ),
        state=np.zeros((*rows, SORTED + 1), np.int64),
    )

"""The state of a batch of depth-control episodes, and its kernels.

The episodes share known maps. Each has its own table of learned values, which is small while it is fresh, and where the
search goes on over several steps its own states; the only array of a search that is as large as a map, ``Space.seat``,
belongs to the thread. When an episode goes on, its states are seated there again.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rt_gym.envs.depth_episode import DEEPEN, LAYERED, Mind, asked, begin_control, step_control, write_row
from rt_gym.envs.guide import Guides, guide_of
from rt_gym.envs.prefetch import prefetch_ball
from rt_gym.envs.stack import NEXT_STEP, choose, close_step, cut_out

from rt_gym.features.decision import Situation
from rt_gym.features.history import Track
from rt_gym.jit import kernel
from rt_gym.meter import UNLIMITED, Budget
from rt_gym.search.deepening import Ladder
from rt_gym.search.space import Space, forget
from rt_gym.search.values import entry_of, table_of
from rt_gym.trip import Trip
from rt_gym.world import Truth


class DepthEpisodes(NamedTuple):
    """All episodes, one row each.

    Attributes:
        problem, random, over: the problem, the state of the generator, and whether the episode has ended.
        trips: their records, without path and log.
        minds: the rest; see ``Mind``.
        guides: their subgoals.
        stamps: int64 per thread, the last stamp in its ``Space.seat``.
        meter: int64, the meter before the first move.
    """

    problem: NDArray[np.int64]
    random: NDArray[np.uint64]
    over: NDArray[np.bool_]
    trips: Trip
    minds: Mind
    guides: Guides
    stamps: NDArray[np.int64]
    meter: NDArray[np.int64]


# Rows of what a step reports beside the results.
FLAGS, DEPTHS, EXPANDED, SCANNED = range(4)


@kernel(inline=True)
def trip_of(trips, i):
    """Return the record of episode ``i``."""
    return Trip(trips.meter[i], trips.tally[i], trips.plan[i], trips.path, trips.log, trips.changed, trips.clock)


@kernel(inline=True)
def mind_of(minds, layered, lane, i):
    """Return the mind of episode ``i`` in a thread; unless the search goes on layer by layer, its states are shared."""
    learned, space, ladder, situation = minds.learned, minds.space, minds.ladder, minds.situation
    track, k = situation.track, i if layered else lane
    return Mind(
        table_of(
            learned.cells[i], learned.values[i], learned.old_cells[lane], learned.old_values[lane], learned.state[i]
        ),
        Space(
            space.seat[lane], space.cell[k], space.g[k], space.h[k], space.f[k], space.minus_g, space.parent[k],
            space.via[k], space.role[k], space.behind[k], space.item[lane], space.at, space.rank, space.random,
            space.state[k],
        ),
        Ladder(ladder.action[i], ladder.value[i], ladder.work[i], ladder.state[i]),
        Situation(Track(track.cells[i], track.raised[i], track.state[i]), situation.facts[i], situation.marks[i]),
        minds.inputs[i],
        minds.bill[i],
        minds.aim[i],
    )  # fmt: skip


@kernel(inline=True)
def seat_again(space):
    """Go on with a search after others have used ``space.seat``."""
    size, closed, best = space.state[0].slots, space.state[0].closed, space.state[0].best
    base = forget(space)
    for u in range(size):
        space.seat[space.cell[u]] = base + u
    space.state[0].slots, space.state[0].closed, space.state[0].best = size, closed, best


@kernel(inline=True)
def ask_for(maps, problems, episodes, terms, lane, i, action):
    """Have what the search of episode ``i`` will read fetched while another episode is at work."""
    p, mind = episodes.problem[i], mind_of(episodes.minds, False, lane, i)
    terrain, s = cut_out(maps, problems.map[p]), episodes.trips.meter[i, AT]
    depth, goal = asked(mind, terms, problems.goal[p], action)
    entry = entry_of(mind.learned, s, goal)
    prefetch_ball(terrain.mask, mind.space.seat, mind.learned, terrain.offset[1], s, entry, depth)


@kernel
def start(maps, problems, episodes, terms, lane, i, out):
    """Begin a new episode ``i`` with a random problem of the pool and write its first observation."""
    p = choose(problems, episodes, i)
    trip, mind = trip_of(episodes.trips, i), mind_of(episodes.minds, terms.size[LAYERED] != 0, lane, i)
    for k in range(trip.meter.size):
        trip.meter[k] = episodes.meter[k]
    trip.state[0].at = problems.start[p]
    trip.tally[:] = 0
    mind.space.state[0].stamp = episodes.stamps[lane]
    terrain, guide = cut_out(maps, problems.map[p]), guide_of(episodes.guides, p)
    begin_control(terrain, trip, mind, guide, terms, problems.goal[p], out[i])
    episodes.stamps[lane] = mind.space.state[0].stamp


@kernel
def start_all(maps, problems, episodes, terms, chosen, out):
    """Begin new episodes where ``chosen`` says so; of the others write the observation again."""
    lane = np.int64(0)
    for i in range(chosen.size):
        if chosen[i]:
            start(maps, problems, episodes, terms, lane, i, out)
        else:
            write_row(mind_of(episodes.minds, terms.size[LAYERED] != 0, lane, i), terms, out[i])


@kernel
def step_range(maps, problems, episodes, terms, truth, results, report, actions, mode, lane, begin, end):
    """Make one step of the episodes from ``begin`` to ``end - 1`` in a thread; ``report`` has the rows named above."""
    out, layered = results.observation, terms.size[LAYERED] != 0
    for i in range(begin, end):
        if i + 1 < end and not layered:
            ask_for(maps, problems, episodes, terms, lane, i + 1, actions[i + 1])
        reward, flags, depth, expansions, scans = 0.0, np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        if mode == NEXT_STEP and episodes.over[i]:
            start(maps, problems, episodes, terms, lane, i, out)
        else:
            p = episodes.problem[i]
            trip, mind = trip_of(episodes.trips, i), mind_of(episodes.minds, layered, lane, i)
            mind.space.state[0].stamp = episodes.stamps[lane]
            if layered and actions[i] == DEEPEN:
                seat_again(mind.space)
            reward, flags, depth, expansions, scans = step_control(
                truth, cut_out(maps, problems.map[p]), trip, mind, guide_of(episodes.guides, p),
                terms, problems.goal[p], actions[i], problems.unit[p], out[i],
            )  # fmt: skip
            episodes.stamps[lane] = mind.space.state[0].stamp
        report[FLAGS, i], report[DEPTHS, i], report[EXPANDED, i], report[SCANNED, i] = flags, depth, expansions, scans
        if close_step(results, episodes.over, mode, i, reward, flags):
            start(maps, problems, episodes, terms, lane, i, out)


def make_trips(count: int) -> Trip:
    """Return the records of so many episodes, each with room for a plan of one move."""
    none = np.empty(0, np.int32)
    return Trip(
        meter=np.zeros((count, AT + 1), np.int64),
        tally=np.zeros((count, OVERRUNS + 1), np.int64),
        plan=np.zeros((count, 1), np.uint8),
        path=none,
        log=none,
        changed=none,
        clock=np.empty(0, np.int64),
    )


def first_meter(budget: Budget) -> NDArray[np.int64]:
    """Return the meter of an episode before its first move."""
    meter = np.zeros(AT + 1, np.int64)
    meter[COUNT] = budget.count == "scans"
    meter[LIMIT] = UNLIMITED if budget.limit is None else budget.limit
    meter[IDLE] = budget.on_overrun == "idle"
    return meter


def known_truth() -> Truth:
    """Return the truth about maps that are known and do not change: nothing happens to them."""
    none: Any = np.empty(0, np.uint8)
    return Truth(none, np.empty(0, np.int64), np.empty(0, np.int32), none, np.zeros(3, np.int64))

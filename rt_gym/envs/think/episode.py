"""One step of an episode of thinking or acting: a slice of search while the agent stands, or a move.

``rt_gym.search.slices`` says what thinking and acting are, and has the kernels.

Readings:
- A slice lasts one move and costs as much as standing still. Acting expands nothing.
- Later acts follow the committed path while it is unblocked. Thinking on the way drops it and begins a new search.
- Where there is neither a search nor a committed path, to act is to think. Where one of them has reached the goal,
  nothing is left to think about, and to think is to act.
- On a known map a kept A* tree, with steps back where the agent has left the path, would make every early step useless:
  the goal is found after as many slices wherever the agent stands. So both kinds of maps have the same search.
- Nothing is learned from a search that has found the goal where map and goal stay as they are and the map is known.
- Where the goal moves, what has been found may be where it was. There is something to think about then: a new search.

A goal that moves makes a step every few moves of the agent, straight on where it can, otherwise in a random direction.
It walks on the true map, by the rules that the agent walks by, and never onto the agent: only the agent's own moves end
a chase. Its generator is seeded by one number of the episode's, so that its walk depends on nothing that the agent does
but for where the agent stands in its way.

A search goes on for the goal that it began with, and so does a walk that was committed to. The next search begins with
where the goal is then. Values are carried over as in Generalized Adaptive A* (X. Sun, S. Koenig, W. Yeoh, AAMAS 2008):
a consistent h of one goal is, less its value of the other one, a consistent h of that.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import INF, STRAIGHT
from rt_gym.envs.step import MOVED, TERMINATED, Rules, make_move
from rt_gym.features.decision import squash
from rt_gym.features.history import begin_track, follow
from rt_gym.features.thinking import write_thoughts
from rt_gym.jit import kernel, record
from rt_gym.meter import spent
from rt_gym.search.slices import ACT, THINK, begin_slices, commit, drop_outdated, may_act, may_think, think
from rt_gym.search.space import NONE, draw
from rt_gym.terrain import Terrain, exits, fill_h0, h0, locate, span
from rt_gym.trip import NO_PATH, STAY, adopt, forget_changes, still_legal, take

# Bits after those of ``make_move``: the step was a slice of thinking; the search, or the committed path, has reached
# the goal.
THOUGHT, GOAL_FOUND = 128, 256

# Where the goal is; where it was when the search, or what is left of it, began; in which direction it went last.
PLACE = record(cell=int, aim=int, heading=int)


class ThinkTerms(NamedTuple):
    """The settings of a thinking environment, as kernels take them.

    Attributes:
        rules: those of every environment.
        slice: how many states are expanded in a slice of thinking.
        goal_moves: after how many moves the goal makes a step; 0 if it stays.
    """

    rules: Rules
    slice: int
    goal_moves: int


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
def begin_thinking(terrain, trip, memory, goal, terms, t, random, out):
    """Begin an episode in a world that has been set up, and write its first observation.

    ``random`` is the generator of the episode, which is asked only where the goal moves.
    """
    fill_h0(terrain, t, memory.h[: terrain.mask.size])
    begin_track(memory.track, trip.state[0].at)
    begin_slices(memory, np.int64(0))
    memory.space.state[0].slots = 0
    place_goal(goal, t)
    if terms.goal_moves > 0:
        seed_goal(goal, random)
    forget_changes(trip)
    write_observation(terrain, trip, memory, goal, out)


@kernel(inline=True)
def step_thinking(truth, terrain, trip, memory, goal, terms, action, unit, out):
    """Think for a slice or make a move, and write the next observation.

    ``unit`` is what a reward of one is worth: 1, or one divided by the optimal cost.

    Returns:
        The reward, the bits of ``make_move`` with THOUGHT and GOAL_FOUND, and the expansions and scans of the step.
    """
    s, t, d, thinks = trip.state[0].at, goal.state[0].cell, np.int64(STAY), False
    if trip.state[0].verdict == 0 and s != t:
        thinks = worth_thinking(memory, goal) if action == THINK else not may_act(trip, memory)
        if not thinks:
            d = next_step(truth, terrain, trip, memory, goal, terms)
        elif next_slice(terrain, trip, memory, goal, s, terms.slice) == NONE:
            adopt(trip, np.int64(NO_PATH))
    meter = trip.meter[0]
    expansions, scans, used = meter.expansions, meter.scans, spent(meter)
    reward, flags = make_move(truth, terrain, trip, terms.rules, t, d)
    if flags & MOVED and d >= 0:
        follow(memory.track, trip.state[0].at, trip.tally[0].raises)
    place = trip.state[0]
    drop_outdated(terrain, trip, memory, place.changed == 0 or still_legal(terrain, trip, place.at))
    forget_changes(trip)
    if goal_is_due(trip, terms, flags):
        step_goal(truth, terrain, goal, place.at)
        nearer = h0(terrain, place.at, t) - h0(terrain, place.at, goal.state[0].cell)
        reward += terms.rules.discount * nearer / STRAIGHT
    write_observation(terrain, trip, memory, goal, out)
    if thinks:
        flags |= THOUGHT
    if memory.state[0].found != 0:
        flags |= GOAL_FOUND
    return (reward - terms.rules.price * used) * unit, flags, expansions, scans


@kernel(inline=True)
def goal_is_due(trip, terms, flags):
    """Whether the goal makes a step after this move."""
    if terms.goal_moves == 0 or flags & (MOVED | TERMINATED) != MOVED:
        return False
    return trip.tally[0].moves % terms.goal_moves == 0


@kernel(inline=True)
def worth_thinking(memory, goal):
    """Whether there is anything left to think about: the way is not found, or the goal has left its end."""
    return may_think(memory) or has_moved(goal)


@kernel(inline=True)
def possible(trip, memory, goal):
    """Return which actions are themselves and not the other one, a bit for each."""
    return np.int64(may_act(trip, memory)) << ACT | np.int64(worth_thinking(memory, goal)) << THINK


@kernel
def next_slice(terrain, trip, memory, goal, s, most):
    """Search on for a slice, or begin a search for where the goal is now; return as ``think`` does."""
    state = memory.state[0]
    if state.found != 0:
        state.searching = state.found = 0
    if state.searching == 0 and has_moved(goal):
        take_aim(terrain, goal, memory.h)
    return think(terrain, trip, memory, s, goal.state[0].aim, most)


@kernel
def next_step(truth, terrain, trip, memory, goal, terms):
    """Commit to what an open search has found, and learn from it; return the next direction, or STAY."""
    state = memory.state[0]
    if state.searching != 0:
        learns = state.found == 0 or truth.state[0].vision != 0 or terms.goal_moves > 0
        adopt(trip, commit(terrain, trip, memory, goal.state[0].aim, learns))
    return max(take(trip), np.int64(STAY))


@kernel(inline=True)
def write_observation(terrain, trip, memory, goal, out):
    """Write the observation of the current state; what is seen of the goal is where it is now."""
    write_thoughts(terrain, trip, memory, trip.state[0].at, goal.state[0].cell, out)
    squash(out)


# The goal, and its walk


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


# The single environment


@kernel
def begin(episode, random, out):
    """Begin an episode in a world that has been set up, and write its first observation."""
    begin_thinking(
        episode.terrain, episode.trip, episode.memory, episode.goal, episode.terms, episode.task[0].goal, random, out
    )


@kernel
def step(episode, action, out):
    """Make one step and write the next observation.

    Returns:
        What ``step_thinking`` returns, which actions are possible next, and the goal's cell.
    """
    trip, memory, goal = episode.trip, episode.memory, episode.goal
    reward, flags, expansions, scans = step_thinking(
        episode.truth, episode.terrain, trip, memory, goal, episode.terms, action, episode.task[0].unit, out
    )
    return reward, flags, expansions, scans, possible(trip, memory, goal), goal.state[0].cell


@kernel
def possible_now(episode):
    """Return which actions are possible in the current state."""
    return possible(episode.trip, episode.memory, episode.goal)

"""LSS-LRTA* that chooses how long to think: it stands still while it searches on, and then walks.

S. Koenig, X. Sun, "Comparing real-time and incremental heuristic search for real-time situated agents", Autonomous
Agents and Multi-Agent Systems 18(3), 2009, for the search and the learning; D. O'Ceallaigh, W. Ruml, "Metareasoning in
Real-Time Heuristic Search", SoCS 2015 (Mo'RTS), for the question when an agent that may stand still should search on.

It plays RTThink-v0: with the same rule or network it thinks and walks there and here alike, move by move. The search is
that of ``rt_gym.search.slices``. The algorithm in plain Python: ``tests/reference/plain_think_lss.py``.

Readings:
- A slice is one move of standing still, so that the cost of a run is its goal-achievement time.
- The hand rule thinks until the best path leads to a cell that was never seen, or to the goal: beyond that cell the
  search would think about what it does not know. On a known map that is A*, and then the walk.
- Rules are asked while a search is open; what they have committed to is walked to its end. A network is asked before
  every move, and may think again on the way. Where it sees something new, it reads the rest of its path again, and
  that is counted as scans.
- Mo'RTS is known to us from its abstract and from outlines: search on while the benefit that is expected of it exceeds
  the time that it takes. Built is this reading of the first of its two decisions; the second, how much of the path to
  commit to, is not: all of it is. After a slice f has risen above the value of the agent's state by ``e`` a step on the
  way to the best open state, which is ``n`` steps away and has the value ``h``. So the error of h may be ``e h``, and
  of it a further slice, which leads ``n / slices`` steps on, uncovers the share p = n / (slices h), at most all. The
  best f behind the best first step and the best behind any other are then taken for two normal variables with the
  variance p (e h)^2 each. The benefit is the mean of what the second is below the first, where it is; a slice costs
  one straight step. Without a second first step there is nothing to gain.
- It learns from the search that has found the goal as well, so that trials converge. RTThink-v0 leaves that out on
  known maps, where it changes nothing in one episode.
"""

import os
from math import erfc, exp, pi, sqrt
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import Learner
from agents.policies.forward import Net, forward
from agents.policies.networks import Network, load_network
from rt_gym.cost import STRAIGHT
from rt_gym.errors import InputError, quoted, whole
from rt_gym.features.decision import squash
from rt_gym.features.history import CELL, begin_track, follow
from rt_gym.features.thinking import (
    THOUGHTS,
    ThinkMemory,
    compare_steps,
    make_think_memory,
    measure_search,
    write_thoughts,
)
from rt_gym.files import PathLike, require_path
from rt_gym.jit import kernel, record
from rt_gym.meter import scan
from rt_gym.search.paged_values import PagedValues, make_values
from rt_gym.search.slices import ACT, THINK, begin_slices, commit, drop_outdated, may_act, may_think, think
from rt_gym.search.space import NONE, Space
from rt_gym.search.values import value_at
from rt_gym.terrain import MAX_CELLS
from rt_gym.trip import NO_PATH, WAIT
from rt_gym.views import KernelView

RULE, SLICES, MO_RTS, NETWORK = range(4)
WORDS = {"rule": RULE, "mo-rts": MO_RTS}
HISTORY = 20  # steps that the features of no network look back

# Whether a trial is to begin, and how many committed moves stand in the plan behind those that were handed out.
BETWEEN = record(fresh=int, left=int)


class ThinkLSSMemory(NamedTuple):
    """What is learned, the search, and who decides.

    Attributes:
        h, space: the values and the states of the search.
        thinking: both of them, and how far the search is.
        state: BETWEEN[1].
        decider: RULE, SLICES, MO_RTS or NETWORK.
        slices: how many of them SLICES thinks.
        slice: how many states one of them expands.
        commit: how many moves are handed out at once.
        net: the network, of nothing for rules.
        seen: float32, the features as it sees them.
        buffer: float64[2, widest layer].
        scores: float64[2], its outputs.
    """

    h: NDArray[np.int64] | PagedValues
    space: Space
    thinking: ThinkMemory
    state: NDArray[np.record]
    decider: int
    slices: int
    slice: int
    commit: int
    net: Net
    seen: NDArray[np.float32]
    buffer: NDArray[np.float64]
    scores: NDArray[np.float64]


@kernel(inline=True)
def note_move(trip, memory, s):
    """Begin a trial, or take note of the step since the last plan."""
    thinking, state = memory.thinking, memory.state[0]
    track = thinking.track
    if state.fresh != 0:
        begin_slices(thinking, trip.tally[0].moves)
        begin_track(track, s)
        track.state[0].raised = trip.tally[0].raises
        state.fresh = state.left = 0
    elif track.cells[track.state[0].now] & CELL != s:
        follow(track, s, trip.tally[0].raises)


@kernel
def take_up_path(terrain, trip, memory, s):
    """Go on with the moves that were not handed out; return whether all that are left are legal, as far as is new."""
    place, cell, legal = trip.state[0], s, trip.state[0].next >= trip.state[0].planned
    place.planned += memory.state[0].left
    memory.state[0].left = 0
    k = place.next
    while legal and place.changed > 0 and k < place.planned:
        scan(trip)
        d = np.int64(trip.plan[k])
        legal = terrain.mask[cell] >> d & 1 != 0
        cell += terrain.offset[d]
        k += 1
    return legal


@kernel
def benefit(terrain, memory, s, t):
    """Mo'RTS: return what another slice is expected to save, in straight steps."""
    space, state = memory.space, memory.state[0]
    second, rivals = compare_steps(memory)
    if rivals == 0:
        return 0.0
    best = space.state[0].best
    n, _ = measure_search(terrain, space)
    h = space.h[best] / STRAIGHT
    e = (space.f[best] - value_at(memory.h, terrain, s, t)) / STRAIGHT / n
    share = min(1.0, n / (state.slices * h))
    spread = e * h * sqrt(2 * share)
    gap = (second - space.f[best]) / STRAIGHT
    if spread <= 0:
        return 0.0
    z = gap / spread
    return spread * exp(-z * z / 2) / sqrt(2 * pi) - gap * erfc(z / sqrt(2.0)) / 2


@kernel(inline=True)
def ask_network(terrain, trip, memory, s, t):
    """Whether the network would rather think than act."""
    write_thoughts(terrain, trip, memory.thinking, s, t, memory.seen)
    squash(memory.seen)
    forward(memory.net, memory.seen, memory.buffer, memory.scores)
    return memory.scores[THINK] > memory.scores[ACT]


@kernel
def thinks_on(terrain, trip, memory, s, t):
    """Whether to think rather than to act, where both can be done and the goal has not been found."""
    thinking = memory.thinking
    if memory.decider == NETWORK:
        return ask_network(terrain, trip, memory, s, t)
    if thinking.state[0].searching == 0:
        return False
    if memory.decider == SLICES:
        return thinking.state[0].slices < memory.slices
    if memory.decider == MO_RTS:
        return benefit(terrain, thinking, s, t) > 1.0
    length, seen = measure_search(terrain, memory.space)
    return seen == length


@kernel(inline=True)
def path_left(trip):
    """Move what is left of the committed path to the front of the plan, and return how many moves it has."""
    begin, end = trip.state[0].next, trip.state[0].planned
    for k in range(begin, end):
        trip.plan[k - begin] = trip.plan[k]
    return end - begin


@kernel
def plan(terrain, trip, memory, s, t):
    """One slice of time: think on, or learn from the search and walk."""
    thinking = memory.thinking
    note_move(trip, memory, s)
    drop_outdated(terrain, trip, thinking, take_up_path(terrain, trip, memory, s))
    if not may_act(trip, thinking) or (may_think(thinking) and thinks_on(terrain, trip, memory, s, t)):
        best = think(terrain, trip, thinking, s, t, memory.slice)
        return np.int64(NO_PATH) if best == NONE else np.int64(WAIT)
    if thinking.state[0].searching != 0:
        n = commit(terrain, trip, thinking, t, True)
    else:
        n = path_left(trip)
    handed = min(n, memory.commit)
    memory.state[0].left = n - handed
    return handed


class ThinkLSS(Learner):
    """LSS-LRTA* that thinks for as long as its policy says.

    Args:
        slice: how many states are expanded in a slice of thinking, which takes as long as a straight step.
        policy: ``"rule"``, also None, the hand rule; ``"mo-rts"``, a rule in the manner of Mo'RTS; a number of slices
            before every commitment; or a file with a network that was trained in RTThink-v0.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    pauses = True

    def __init__(self, slice: int = 20, policy: PathLike | int | Network | None = "rule", tie: str = "first") -> None:
        super().__init__(tie)
        self.slice = whole("slice", slice, 1, MAX_CELLS)
        self.policy = policy
        self.network: Network | None = None
        self.slices = 0
        if policy is None or (isinstance(policy, str) and policy in WORDS):
            self.decider = WORDS[policy or "rule"]
        elif isinstance(policy, Real):
            self.decider, self.slices = SLICES, whole("policy", policy, 1)
        else:
            self.decider, self.network = NETWORK, _thinking_network(policy)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest slice that fits.

        Learning is bounded by the size of the search alone: with a limit of scans there is one slice before every
        commitment, which scans n states, and at most these and their frontier of 5 n + 3 states afterwards.
        """
        if count == "expansions":
            return {"slice": min(MAX_CELLS, limit)}
        return {"slice": min(MAX_CELLS, max(1, (limit - 3) // 6)), "policy": 1}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return self.slice

    def make_memory(self, view: KernelView) -> ThinkLSSMemory:
        """Return the memory for maps of this size and kind."""
        cells, network = view.terrain.mask.size, self.network
        thinking = make_think_memory(cells, HISTORY if network is None else network.history)
        thinking = thinking._replace(h=make_values(cells))
        return ThinkLSSMemory(
            h=thinking.h,
            space=thinking.space,
            thinking=thinking,
            state=np.zeros(1, BETWEEN),
            decider=self.decider,
            slices=self.slices,
            slice=self.slice,
            commit=cells if network is None else 1,
            net=_NO_NET if network is None else network.wired(THOUGHTS),
            seen=np.zeros(len(THOUGHTS), np.float32),
            buffer=np.empty((2, 0 if network is None else network.widest)),
            scores=np.zeros(2),
        )

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Let the values start at the heuristic; nothing has been searched."""
        super().clear_memory(view, seed)
        self.begin_trial()

    def begin_trial(self) -> None:
        """Forget what was being thought."""
        self.memory.state[0].fresh = 1


_NO_NET = Net(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0), np.zeros(0), 0)


def _thinking_network(policy: Any) -> Network:
    """Return a network that decides to think or to act.

    Raises:
        InputError: if it decides something else, or cannot be read.
    """
    kinds = f"policy must be {', '.join(WORDS)}, a number of slices or a file with a network that decides to think"
    if not isinstance(policy, Network):
        require_path("policy", policy, kinds.removeprefix("policy must be "))
        if not os.path.lexists(policy):
            raise InputError(f"{kinds}, not {quoted(policy)}")
    network = load_network(policy)
    if network.decide != "think":
        raise InputError(f"{kinds}; this one decides the {network.decide}: train one in RTThink-v0")
    return network

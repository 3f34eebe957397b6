"""What an agent is: the protocol, and the classes that own what agents with kernels have in common.

The class of an agent names its algorithm, a kernel (see ``agents.runner.loop``), as ``plan = staticmethod(plan)``. A
``Learner`` has values and a search, a ``Searcher`` has an A* that outlives the move.
"""

from fractions import Fraction
from numbers import Real
from typing import Any, ClassVar, Protocol

import numpy as np

from agents.runner.carrying import Carrying
from agents.runner.loop import bound_to
from agents.runner.thoughts import Thoughts
from rt_gym.errors import InputError, checked_seed, choice, quoted
from rt_gym.handles import KeptHandle
from rt_gym.meter import MEMORY_FULL
from rt_gym.pages import Holding, is_large
from rt_gym.search.buckets import make_buckets
from rt_gym.search.paged_values import make_values, reset_values
from rt_gym.search.space import Space, begin_problem, make_space
from rt_gym.trip import STAY
from rt_gym.truth import Truth
from rt_gym.turns import Turn
from rt_gym.views import KernelView, View, kernel_view
from rt_gym.world import World


class Agent(Protocol):
    """What every agent offers, a user's own included; plain Python is enough.

    An agent that learns may have an attribute ``h_updates``: how often it has raised a learned value since ``reset``.
    Runs until convergence (``trials="converge"``) need it, because they end with the first trial that raises none.
    """

    def reset(self, view: View, seed: int | None = None) -> None:
        """Begin a new problem."""

    def act(self) -> int:
        """Return the next move: a direction, or STAY."""


class KernelAgent(Carrying, Thoughts):
    """An agent whose algorithm is a kernel. Subclasses check their parameters and look after their memory.

    Args:
        tie: ``"first"`` breaks the last ties by order of generation, ``"random"`` by the seed given to ``reset``.

    Attributes:
        turn: held while it is reset, acts or runs, because two threads in its arrays could crash the process.
        plan: the algorithm, of the class, or of an instance whose settings choose it.
        memory: the NamedTuple that it works on; see ``make_memory``.
        forgets: whether what was learned is lost with the trial. Its values may then overestimate.
        pooled: whether agents that ran by their id are used again. That takes settings which are values: what is read
            from a file, or prepared beforehand and timed, is another matter in the next run.
        precomputes: whether it prepares itself for a map at reset.
        complete: whether it reaches every goal that can be reached, given the moves.
        converges: whether its paper promises that repeated trials end with a shortest path.
        overestimates: whether it learns values above the true distances, on purpose.
        lowers: whether it lowers values where the map opens, so that they stay consistent.
        restless: whether it moves although the plan is not ready, rather than stand still.
        pauses: whether it stands still in order to think, although it could move: its stays are time that it chose to
            spend, and its path without them is what its algorithm promises.
        backward: whether its search begins at the goal.
        after_outline: whether it is built after an outline of its paper, so that details of it are our readings.
    """

    plan: Any
    forgets: ClassVar[bool] = False
    complete: ClassVar[bool] = True
    converges: ClassVar[bool] = True
    overestimates: ClassVar[bool] = False
    lowers: ClassVar[bool] = False
    pooled: ClassVar[bool] = False
    precomputes: ClassVar[bool] = False
    restless: ClassVar[bool] = False
    pauses: ClassVar[bool] = False
    backward: ClassVar[bool] = False
    after_outline: ClassVar[bool] = False

    def __init__(self, tie: str = "first") -> None:
        super().__init__()
        self.tie = choice("tie", tie, ("first", "random"))
        self.turn = Turn("agent")
        self.memory: Any = None
        self._made_for: tuple[int, int, str] | None = None
        self.world: World | None = None  # that of the last run, whose arrays the next one on the same map uses again
        self._kept_handle = KeptHandle()
        self._compiled_for: Any = None

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest settings whose bound fits into a limit of ``count``, "expansions" or "scans".

        None by default: no parameter bounds the search, which waits for the meter instead.
        """
        return {}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take, None where the settings do not say."""
        return None

    @property
    def by_waypoints(self) -> bool:
        """Whether it heads for subgoals or regions that may lie off every shortest path, even on open ground."""
        return False

    @property
    def guarded(self) -> int:
        """How often a guard of its own had to act since the reset, see ``Run``; 0 for an agent without one."""
        return 0

    @property
    def guarded_expansions(self) -> int:
        """What was expanded while its guard acted, since the reset."""
        return 0

    @property
    def run_kernel(self) -> Any:
        """The kernel that walks a whole trial."""
        return bound_to(self.plan)[0]

    @property
    def decide_kernel(self) -> Any:
        """The kernel that makes one decision."""
        return bound_to(self.plan)[1]

    def make_memory(self, view: KernelView) -> Any:
        """Return the arrays that the plan kernel works on, for maps of this size and kind."""
        raise TypeError(f"{type(self).__name__} does not say what its memory is")

    def enlarge_memory(self) -> None:
        """Make room after a plan that returned FULL."""
        raise TypeError(f"{type(self).__name__} does not say how its memory grows")

    def reset(self, view: View | KernelView, seed: int | None = None) -> None:
        """Begin a new problem: forget what was learned. The arrays of the last one are used again where they fit."""
        inside = kernel_view(view)
        kind = (inside.terrain.mask.size, inside.connectivity, inside.cost)
        if not self.turn.acquire(False):
            raise self.turn.refusal()
        try:
            if kind != self._made_for:
                self.memory, self._made_for = self.make_memory(inside), kind
            self.view = inside
            inside.painter = self.layers
            self.follow(inside, tie_seed(seed) if self.tie == "random" else 0)
        finally:
            self.turn.release()

    @property
    def nbytes(self) -> int:
        """How many bytes the arrays of the last run take, those of its world included."""
        if self._made_for is not None and is_large(self._made_for[0]):
            return Holding(self._kept_handle.parts).bytes
        return self._kept_handle.nbytes

    def release(self) -> None:
        """Let go of the problem; the arrays stay for the next one."""
        del self.view

    def act(self) -> int:
        """Return the next move; STAY when there is none to make, and the view's meter says why."""
        view, at = self.view, self.view.cell_now
        if at == view.goal_cell:
            return STAY
        with self.turn:
            if view.interventions != self._noticed:
                self.carry_over(view)
            value = self.value_of(at)
            plans = int(view.trip.tally["plans"][0])
            while (action := int(self.decide_kernel(self.episode(None, view), view.goal_cell))) == MEMORY_FULL:
                self.enlarge_memory()
        action = max(STAY, action)
        self._last = (at, action, plans, value)
        return action

    def episode(self, truth: Truth | None, view: KernelView) -> Any:
        """Return the handle of what the bound kernels work on, the same one for as long as nothing is replaced."""
        return self._kept_handle.of(truth=truth, terrain=view.terrain, trip=view.trip, memory=self.memory)

    def compile(self, world: World) -> None:
        """Compile the trial loop, or load it from the disk cache, by a trial of no moves."""
        episode = self.episode(world.truth, world.kernel_view)
        if episode is not self._compiled_for:
            self.run_kernel(episode, world.kernel_view.goal_cell, 0)
            self._compiled_for = episode

    def run_trial(self, world: World, max_moves: int) -> int:
        """Run one trial inside a kernel and return why it ended."""
        goal, end = world.kernel_view.goal_cell, MEMORY_FULL
        while end == MEMORY_FULL:
            end = int(self.run_kernel(self.episode(world.truth, world.kernel_view), goal, max_moves))
            if end == MEMORY_FULL:
                self.enlarge_memory()
        return end


class Learner(KernelAgent):
    """An agent with a learned value for every cell and room for a search.

    Its memory is a NamedTuple that begins with ``h`` and ``space``; what follows, the agent's own, is named by
    ``own_memory``.
    """

    memory_type: ClassVar[Any]

    def own_memory(self, space: Space, view: KernelView) -> dict[str, Any]:
        """Return what the memory holds beside the values and the search."""
        return {}

    def make_memory(self, view: KernelView) -> Any:
        """Return the arrays that the plan kernel works on, for maps of this size and kind."""
        cells = view.terrain.mask.size
        space = make_space(cells)
        return self.memory_type(h=make_values(cells), space=space, **self.own_memory(space, view))

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Let the values start at the heuristic; seed 0 breaks ties by order of generation."""
        reset_values(self.memory.h, view.terrain, view.goal_cell)
        begin_problem(self.memory.space, seed)


class Searcher(KernelAgent):
    """An agent without values, whose A* over the whole map goes on from move to move.

    Its memory is a NamedTuple that begins with ``space``, ``buckets`` and ``state``, a record of how far it is; what
    follows, the agent's own, is named by ``own_memory``.

    Attributes:
        weight: what the heuristic is multiplied with.
    """

    carries = frozenset()
    memory_type: ClassVar[Any]
    state_type: ClassVar[np.dtype[np.record]]
    weight = Fraction(1)

    def own_memory(self, view: KernelView) -> dict[str, Any]:
        """Return what the memory holds beside the search."""
        return {}

    def make_memory(self, view: KernelView) -> Any:
        """Return the arrays that the plan kernel works on, for maps of this size and kind."""
        buckets = make_buckets(view.terrain, self.weight)
        state = np.zeros(1, self.state_type)
        return self.memory_type(space=buckets.space, buckets=buckets, state=state, **self.own_memory(view))

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Forget the search; seed 0 breaks ties by order of generation."""
        begin_problem(self.memory.space, seed)
        self.begin_trial()

    def count_states(self) -> int:
        """Return how many states its largest search had."""
        return self.space.most

    def begin_trial(self) -> None:
        """Forget a search that was under way: all fields of the state are 0."""
        self.memory.state.fill(0)


def exact_weight(weight: float, name: str = "weight", low: float = 1, high: float = 1000) -> Fraction:
    """Return a weight, or another number, as the nearest fraction with a denominator of at most 1000."""
    if isinstance(weight, bool) or not isinstance(weight, Real) or not low <= weight <= high:
        raise InputError(f"{name} must be a number from {low} to {high}, not {quoted(weight)}")
    return Fraction(float(weight)).limit_denominator(1000)


def tie_seed(seed: int | None) -> int:
    """Turn any seed into the nonzero state of a random generator in a kernel."""
    return int(np.random.SeedSequence(checked_seed(seed)).generate_state(1, np.uint64)[0]) or 1

"""One episode: the truth, the clock, the agent's position, and the View that the agent is given.

Time passes in moves. After each one the changes that are due happen, then the agent senses. Standing still, or walking
into a wall, takes as long and costs as much as a straight step.
"""

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.belief import first_belief, notice, renew_belief, sense
from rt_gym.errors import BudgetExceeded, Fault, InputError, flag, quoted, whole
from rt_gym.handles import KeptHandle
from rt_gym.jit import kernel, record
from rt_gym.meter import GO, STOP, TALLY, Budget, after_overrun, close_meter
from rt_gym.problem import Problem
from rt_gym.trip import STAY, make_trip, restart_trip
from rt_gym.views import KernelView, View

# The vision radius; which change comes next; whether the agent's cell closes when it is left.
SCHEDULE = record(vision=int, due=int, held=int)

# The totals of a trial that only the world adds to; the others are counted while an agent plans.
_TOTALS = [k for k, name in enumerate(TALLY.names or ()) if name not in ("plans", "raises")]


class Truth(NamedTuple):
    """What only the world knows.

    Attributes:
        free: uint8, 1 where the cell is free now.
        when, where, opens: the scheduled changes, ordered by time.
        state: SCHEDULE[1], what the agent sees and how far the changes are.
    """

    free: NDArray[np.uint8]
    when: NDArray[np.int64]
    where: NDArray[np.int32]
    opens: NDArray[np.uint8]
    state: NDArray[np.record]


def make_truth(problem: Problem) -> Truth:
    """Return the true map of a problem and its schedule, as they are at time zero."""
    grid, changes = problem.grid, problem.changes or ()
    state = np.zeros(1, SCHEDULE)
    state["vision"] = sight(problem)
    return Truth(
        free=grid.terrain.free.copy() if changes else grid.terrain.free,
        when=np.array([change.time for change in changes], np.int64),
        where=np.array([grid.cell(change.position) for change in changes], np.int32),
        opens=np.array([change.free for change in changes], np.uint8),
        state=state,
    )


def sight(problem: Problem) -> int:
    """Return the vision radius as kernels take it: -1 on a known map that changes, 0 on one that does not."""
    if problem.vision is None:
        return -1 if problem.changes else 0
    return min(problem.vision, problem.grid.width + problem.grid.height)


@kernel
def edit(truth, terrain, trip, cell, free):
    """Change the true map; with a known map the agent hears of it at once."""
    truth.free[cell] = free
    if truth.state[0].vision < 0:
        notice(terrain, trip, cell, free)


@kernel(inline=True)
def observe(truth, terrain, trip, left, s):
    """Let the changes happen that are due, then sense. The agent came from ``left`` and stands on ``s``."""
    state = truth.state[0]
    if state.held != 0 and left != s:
        state.held = 0
        edit(truth, terrain, trip, left, np.uint8(0))
    while state.due < truth.when.size and truth.when[state.due] <= trip.tally[0].moves:
        k = state.due
        state.due += 1
        if truth.where[k] == s:
            state.held = 1 - truth.opens[k]
        else:
            edit(truth, terrain, trip, np.int64(truth.where[k]), truth.opens[k])
    if state.vision > 0:
        sense(truth.free, terrain, trip, s, state.vision)


@kernel(inline=True)
def walk(truth, terrain, trip, s, d):
    """Move one step in direction ``d``, or stand still, and return the new cell."""
    tally = trip.tally[0]
    close_meter(trip)
    u = s
    if d < 0:
        tally.stays += 1
    elif terrain.mask[s] >> d & 1 == 0:
        tally.bumps += 1
    else:
        u = s + terrain.offset[d]
        tally.diagonals += np.int64(d >= 4)
    if tally.moves < trip.path.size:
        trip.path[tally.moves] = u
    if truth.state[0].vision != 0:
        observe(truth, terrain, trip, s, u)
    return u


@kernel
def begin_trip(world, meter, vision, start):
    """Put the agent to the start at time zero, with a meter as it is before the first move."""
    state = world.truth.state[0]
    state.vision = vision
    state.due = state.held = 0
    restart_trip(world.trip, meter, start)


@kernel
def look_around(world, start):
    """Let the agent sense before its first move; with a known map it hears of all that is not as it believes."""
    truth, terrain, trip = world.truth, world.terrain, world.trip
    if truth.state[0].vision < 0:
        for cell in range(truth.free.size):
            if terrain.free[cell] != truth.free[cell]:
                notice(terrain, trip, cell, truth.free[cell])
    observe(truth, terrain, trip, start, start)


@kernel
def step_world(world, d):
    """Make one move of the agent, or lose it to an overrun; return GO, IDLE or STOP."""
    truth, terrain, trip = world.truth, world.terrain, world.trip
    state, fate = trip.state[0], after_overrun(trip)
    if fate != STOP:
        state.verdict = 0
        state.at = walk(truth, terrain, trip, state.at, d if fate == GO else np.int64(STAY))
    return fate


class World:
    """One problem being acted out, trial after trial.

    Args:
        problem: what to act out.
        budget: the limit per move; counted without a limit when None.
        max_moves: how long a path is recorded.
        log: how many expanded cells are remembered per move, for drawing.
        clock: whether the time of every move is measured.
        raised: how many raised values are remembered per trial.

    Attributes:
        truth: what only the world and environments may know.
        terrain, trip: what the agent believes, and the record of the trial.
        kernel_view: both, with the task, for agents whose algorithm is a kernel.
    """

    def __init__(
        self,
        problem: Problem,
        budget: Budget | int | None = None,
        max_moves: int = 0,
        log: int = 0,
        clock: bool = False,
        raised: int = 0,
    ) -> None:
        if not isinstance(problem, Problem):
            raise InputError(f"problem must be a Problem, not {quoted(problem)}")
        self.problem, self.budget = problem, Budget.of(budget)
        whole("max_moves", max_moves, 0, 10**9)
        whole("log", log, 0, 10**9)
        whole("raised", raised, 0, 10**9)
        flag("clock", clock)
        cells, changes = problem.grid.terrain.free.size, problem.changes or ()
        self.terrain = first_belief(problem.grid, problem.vision, bool(changes))
        try:
            self.trip = make_trip(cells, max_moves + 1, log, cells + len(changes), clock, self.budget, raised=raised)
        except MemoryError:
            raise InputError(f"a path of {max_moves} moves takes more memory than there is: lower max_moves") from None
        self._fresh = True  # whether the arrays are as they were made
        self.truth: Any = None
        self._view: View | None = None
        self._meter = self.budget.meter()
        self._kept: defaultdict[tuple[str, ...], KeptHandle] = defaultdict(KeptHandle)
        self._set_up(problem)

    def fits(self, problem: Problem, budget: Budget, max_moves: int, clock: bool) -> bool:
        """Whether ``restart`` makes of it the world that would be made with these arguments."""
        same_map, same_room = problem.grid is self.problem.grid, self.trip.path.size == max_moves + 1
        return same_map and same_room and self.budget == budget and clock == (self.trip.clock.bins.size > 0)

    def restart(self, problem: Problem) -> None:
        """Begin another problem on the same map, in the same arrays, with nothing known or remembered."""
        own = None if self.terrain is self.problem.grid.terrain else self.terrain
        self.terrain = renew_belief(own, problem.grid, problem.vision, bool(problem.changes))
        room = self.terrain.free.size + len(problem.changes or ())
        if self.trip.changed.size < room:
            self.trip = self.trip._replace(changed=np.empty(room, np.int32))
        self._set_up(problem)

    def _set_up(self, problem: Problem) -> None:
        if self.truth is None or problem.changes or self.truth.when.size > 0:
            self.truth = make_truth(problem)
        self.problem, self._sight = problem, sight(problem)
        self.kernel_view, self._view = KernelView(problem, self.terrain, self.trip), None
        self.begin_trial()

    def handle(self, **more: Any) -> Any:
        """Return truth, terrain and trip, and what else kernels need, as one argument; the same one if it can be."""
        return self._kept[tuple(more)].of(truth=self.truth, terrain=self.terrain, trip=self.trip, **more)

    def begin_trial(self) -> None:
        """Put the agent back to the start at time zero. The true map is as it was; what was believed stays believed."""
        problem = self.problem
        if problem.changes:
            self.truth.free[:] = problem.grid.terrain.free
        start = problem.grid.cell(problem.start)
        if self._fresh:
            self.trip.state["at"] = self.trip.path[0] = start
        else:
            begin_trip(self.handle(), self._meter, self._sight, start)
        self._fresh = False
        if self._sight != 0:
            look_around(self.handle(), start)

    @property
    def view(self) -> View:
        """What the agent may know: to be read, never written."""
        if self._view is None:
            self._view = View(self.kernel_view, self.budget.free_reads)
        return self._view

    @property
    def done(self) -> bool:
        """Whether the agent stands on the goal."""
        return self.kernel_view.cell_now == self.kernel_view.goal_cell

    def seal(self) -> tuple[Any, ...]:
        """Return what an agent must leave as it is while it thinks: position, limit, totals."""
        meter, tally = self.trip.meter[0], self.trip.tally[0].item()
        totals = tuple(tally[k] for k in _TOTALS)
        return self.kernel_view.cell_now, meter["limit"], meter["by_scans"], meter["idles"], totals

    def check_seal(self, seal: tuple[Any, ...]) -> None:
        """Refuse to go on after an agent has changed what only the world may change.

        Raises:
            Fault: if what ``seal`` returned is no longer so, or the meter was turned back.
        """
        if self.seal() != seal or self.view.meter.tampered:
            move = self.kernel_view.moves + 1
            raise Fault(f"before move {move} the agent has changed its position, its meter or its totals")

    def step(self, direction: int) -> bool:
        """Make one move, or none with STAY; return False, without a move, if an overrun ends the episode.

        Raises:
            BudgetExceeded: after an overrun, where the budget says so.
        """
        fate = step_world(self.handle(), direction)
        if fate == STOP and self.budget.on_overrun == "raise":
            raise BudgetExceeded(f"move {self.kernel_view.moves + 1} {self.excess}")
        return bool(fate != STOP)

    @property
    def excess(self) -> str:
        """How to say that a move could not be made within its budget."""
        return f"needs more than its budget of {self.budget.limit} {self.budget.count}"

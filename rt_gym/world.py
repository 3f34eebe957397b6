"""One episode: the truth, the clock, the agent's position, and the View that the agent is given.

A game may intervene: open and close cells, give the agent another goal, or put it elsewhere.

Time passes in moves. After each one the changes that are due happen, then the agent senses. Standing still, or walking
into a wall, takes as long and costs as much as a straight step.
"""

from collections import defaultdict
from typing import Any

import numpy as np

from rt_gym.belief import first_belief, renew_belief
from rt_gym.errors import BudgetExceeded, Fault, InputError, flag, quoted, whole
from rt_gym.handles import KeptHandle
from rt_gym.jit import kernel
from rt_gym.meter import GO, MARK_BITS, STOP, STUCK, TALLY, Budget, after_overrun, close_meter
from rt_gym.pages import is_large
from rt_gym.problem import Problem, free_position, position_on
from rt_gym.search.reach import nearest_cell
from rt_gym.terrain import Position
from rt_gym.trip import STAY, make_trip, restart_trip, with_room
from rt_gym.truth import edit_now, look_around, make_truth, observe, place_agent, renew_cells, sight, with_own_cells
from rt_gym.views import KernelView, View

# The totals of a trial that only the world adds to; the others are counted while an agent plans.
_TOTALS = [k for k, name in enumerate(TALLY.names or ()) if name not in ("plans", "raises")]


@kernel(inline=True)
def make_move(terrain, trip, s, d):
    """Move one step in direction ``d``, or stand still, and return the new cell; nothing is sensed."""
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
    return u


@kernel(inline=True)
def walk(truth, terrain, trip, s, d):
    """Move one step in direction ``d``, or stand still, and sense; return the new cell."""
    u = make_move(terrain, trip, s, d)
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

    ``agent.reset(world.view)``, then ``world.step(agent.act())`` until ``world.done``, is a loop without Gymnasium.
    Between two moves ``set_cell``, ``set_goal`` and ``place`` may intervene; what the agent knows of the map and the
    totals of the trial stay. ``problem`` says how all began.

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
        for name, size in (("max_moves", max_moves), ("log", log), ("raised", raised)):
            whole(name, size, 0, 10**9)
        flag("clock", clock)
        cells, changes = problem.grid.terrain.free.size, problem.changes or ()
        self.terrain = first_belief(problem.grid, problem.vision, bool(changes))
        try:
            self.trip = make_trip(
                plan=cells,
                path=max_moves + 1,
                log=log,
                changed=cells + len(changes),
                timed=clock,
                budget=self.budget,
                raised=raised,
                marks=0 if is_large(cells) else (cells >> MARK_BITS) + 1,
            )
        except MemoryError:
            raise InputError(f"a path of {max_moves} moves takes more memory than there is: lower max_moves") from None
        self._fresh = True  # whether the arrays are as they were made
        self._edited = False  # whether the true map is its own because of edits
        self.truth: Any = None
        self._view: View | None = None
        self._meter = self.budget.meter()
        self._kept: defaultdict[tuple[str, ...], KeptHandle] = defaultdict(KeptHandle)
        self._set_up(problem)

    def fits(self, problem: Problem, budget: Budget, max_moves: int, clock: bool) -> bool:
        """Whether ``restart`` makes of it the world that would be made with these arguments."""
        same_map, same_room = problem.grid is self.problem.grid, self.trip.path.size == max_moves + 1
        same_budget = self.budget is budget or self.budget == budget
        return same_map and same_room and same_budget and clock == (self.trip.clock.bins.size > 0)

    def restart(self, problem: Problem) -> None:
        """Begin another problem on the same map, in the same arrays, with nothing known or remembered."""
        own = None if self.terrain is self.problem.grid.terrain else self.terrain
        self.terrain = renew_belief(own, problem.grid, problem.vision, bool(problem.changes))
        room = self.terrain.free.size + len(problem.changes or ())
        if self.trip.changed.size < room:
            self.trip = self.trip._replace(changed=np.empty(room, np.int32))
        self._set_up(problem)

    def _set_up(self, problem: Problem) -> None:
        if self.truth is None or problem.changes or self.truth.when.size > 0 or self._edited:
            self.truth = make_truth(problem)
        self.problem, self._sight, self._edited = problem, sight(problem), False
        self.trip.marks.fill(0)
        self.kernel_view, self._view = KernelView(problem, self.terrain, self.trip), None
        self.begin_trial()

    def handle(self, **more: Any) -> Any:
        """Return truth, terrain and trip, and what else kernels need, as one argument; the same one if it can be."""
        return self._kept[tuple(more)].of(truth=self.truth, terrain=self.terrain, trip=self.trip, **more)

    def begin_trial(self) -> None:
        """Put the agent back to the start at time zero. True map and goal are as they were, the belief stays."""
        problem = self.problem
        if problem.changes or self._edited:
            renew_cells(self.truth.free, problem.grid)
        if self.kernel_view.interventions:
            self._head_for(problem.grid.cell(problem.goal))
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
        meter, tally = self.trip.meter[0], self.trip.tally.item()
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

    def checked_action(self, action: Any) -> int:
        """Return an action that must be a direction or STAY."""
        actions = self.problem.grid.actions
        if not isinstance(action, (int, np.integer)) or not STAY <= action < actions:
            raise InputError(f"an action must be a direction from 0 to {actions - 1} or STAY, not {quoted(action)}")
        return int(action)

    def step(self, action: int) -> bool:
        """Make one move, or none with STAY; return False, without a move, if an overrun ends the episode.

        Raises:
            InputError: if it is no action.
            BudgetExceeded: after an overrun, where the budget says so.
        """
        fate = step_world(self.handle(), self.checked_action(action))
        if fate == STOP and self.budget.on_overrun == "raise":
            raise BudgetExceeded(f"move {self.kernel_view.moves + 1} {self.excess}")
        return bool(fate != STOP)

    def set_cell(self, position: Position, free: bool) -> None:
        """Open or close a cell of the true map at once: no other world on this grid is touched.

        On a known map the agent hears of it, in fog it does when it sees the cell. A cell that closes under the agent
        waits until the agent has left it.

        Raises:
            InputError: for a position outside the map, or what is neither True nor False.
        """
        grid, opens = self.problem.grid, flag("free", free)
        cell = grid.cell(position_on(grid, "cell", position))
        self._own_map()
        # What may be listed before the next edit: this cell, what is scheduled, in fog also what comes into sight.
        unseen = 0 if self._sight < 0 else self.terrain.free.size
        self.trip = self.kernel_view.trip = with_room(self.trip, 1 + self.truth.when.size + unseen)
        edit_now(self.handle(), cell, int(opens))

    def _own_map(self) -> None:
        """Before the first edit, replace what is shared with all who use the grid."""
        if self._edited:
            return
        self._edited, self.truth = True, with_own_cells(self.truth, self.problem.grid)
        if self._sight == 0:
            self._sight = self.truth.state[0].vision = -1
            self.terrain = self.kernel_view.terrain = first_belief(self.problem.grid, None, True)

    def set_goal(self, position: Position, nearest: bool = False) -> None:
        """Give the agent another goal, which it need not be able to reach, nor in fog believe to be free.

        Args:
            position: the goal.
            nearest: take instead, by the rule of ``Problem``, the cell nearest to it that can be reached from where the
                agent is, on the map as the agent believes it to be now. ``position`` may be blocked then.

        Raises:
            InputError: for a position outside the map or, unless ``nearest``, on a cell that is blocked now.
        """
        grid, view = self.problem.grid, self.kernel_view
        if flag("nearest", nearest):
            cell = nearest_cell(self.terrain, view.cell_now, grid.cell(position_on(grid, "goal", position)))
        else:
            cell = grid.cell(free_position(grid, self.truth.free, "goal", position))
        self._head_for(cell)

    def _head_for(self, cell: int) -> None:
        view = self.kernel_view
        if cell != view.goal_cell:
            view.goal, view.goal_cell = view.position_of(cell), cell
            self._intervene()

    def place(self, position: Position) -> None:
        """Put the agent elsewhere without a move, by a knock or a gate; it senses there.

        Raises:
            InputError: for a position outside the map, or on a cell that is blocked now.
        """
        grid = self.problem.grid
        cell = grid.cell(free_position(grid, self.truth.free, "position", position))
        if cell != self.kernel_view.cell_now:
            self._intervene()
            place_agent(self.handle(), cell)

    def _intervene(self) -> None:
        """Drop the rest of the plan, and that there was none; the agent notices the count."""
        state = self.trip.state[0]
        state.next = state.planned = 0
        if state.verdict == STUCK:
            state.verdict = 0
        self.kernel_view.interventions += 1

    @property
    def excess(self) -> str:
        """How to say that a move could not be made within its budget."""
        return f"needs more than its budget of {self.budget.limit} {self.budget.count}"

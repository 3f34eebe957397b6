"""Writes the log of a run while it is walked move by move in Python."""

import math
from array import array
from numbers import Real
from pathlib import PurePath
from typing import Any

import numpy as np

from agents.base import Agent, KernelAgent
from agents.log import NOWHERE, REASONS, Log
from agents.record import Decision
from rt_gym.errors import Fault, InputError, quoted
from rt_gym.meter import Budget
from rt_gym.problem import Problem
from rt_gym.terrain import Position
from rt_gym.trip import RAISE, STAY
from rt_gym.version import __version__
from rt_gym.world import World

MOST_LOG_BYTES = 1 << 28  # of the logs of all trials of a run together

# A move; ``expanded`` and ``raised`` say how many there were when it was over, in the whole trial.
_ROW = np.dtype(
    [(name, "i4") for name in ("cell", "committed", "target", "goal")]
    + [(name, "i8") for name in ("expansions", "scans", "expanded", "raised")]
    + [(name, "f8") for name in ("g", "f", "h_before", "h_after")]
    + [("action", "i1"), ("reason", "u1")]
)
_PLANNED, _COMMITTED, _OVERRUN, _NO_PATH = range(len(REASONS))


def head_of(agent: str, settings: dict[str, Any], problem: Problem, budget: Budget, seed: int | None) -> dict[str, Any]:
    """Return what a log says of its run, as JSON can say it."""
    grid, changes = problem.grid, problem.changes or ()
    size = {"map": grid.name, "digest": grid.digest, "width": grid.width, "height": grid.height}
    rules = {"connectivity": grid.connectivity, "cost": grid.cost, "corner": grid.corner}
    task: dict[str, Any] = {"start": problem.start, "goal": problem.goal, "vision": problem.vision}
    task["changes"] = [(change.time, change.position, change.free) for change in changes]
    limit = {"limit": budget.limit, "count": budget.count, "on_overrun": budget.on_overrun}
    about = {"kind": "rt_gym run log", "version": __version__, "agent": agent, "settings": settings}
    plain: dict[str, Any] = _plain(about | {"problem": size | rules | task, "budget": limit, "seed": seed})
    return plain


def _plain(value: Any) -> Any:
    """Return a value as JSON can say it; of an object, such as a database, the class."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if value is None or isinstance(value, (int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, (Real, PurePath)):
        return str(value)
    return type(value).__name__


class Recorder:
    """Takes note of every move of a run.

    Args:
        head: what the logs say of it.
        most_bytes: how large they may be together.
    """

    def __init__(self, head: dict[str, Any], most_bytes: int = MOST_LOG_BYTES) -> None:
        self.head, self.most_bytes = head, most_bytes
        self._trials, self._before = 0, 0  # those that are over, and the bytes of their logs
        self._begin()

    def _begin(self) -> None:
        self._count, self._rows = 0, np.empty(256, _ROW)
        self._expanded, self._raised = array("i"), array("q")

    def world(self, problem: Problem, budget: Budget, max_moves: int, clock: bool) -> World:
        """Return a world that remembers expanded cells and raised values; pages that are never touched cost nothing."""
        room = self.most_bytes // RAISE.itemsize + 1
        return World(problem, budget, max_moves, log=self.most_bytes // 4, clock=clock, raised=room)

    def note(self, agent: Agent, world: World, action: int) -> None:
        """Take note of what an agent has decided, before the world makes the move.

        Raises:
            InputError: if the log becomes too large, or the agent explains itself by something that is no Decision.
        """
        view, meter, decision = world.kernel_view, world.trip.meter[0], _explained(agent, world, action)
        reason = _PLANNED if decision.planned else _COMMITTED
        if world.view.meter.overrun:
            action, reason = STAY, _OVERRUN
        if world.view.meter.stuck:
            action, reason = STAY, _NO_PATH
        self._expanded.frombytes(world.trip.log[: meter.logged].astype(np.int32, copy=False).tobytes())
        self._note_raised(agent, world, decision)
        self._check_size(view.moves)
        target = NOWHERE if decision.target is None else _cell(world, "target", decision.target)
        goal = getattr(agent, "pursued", view.goal_cell) if isinstance(agent, KernelAgent) else view.goal_cell
        counts = int(meter.expansions), int(meter.scans), len(self._expanded), len(self._raised) // 3
        costs = (np.nan if c is None else c for c in (decision.g, decision.f, decision.h_before, decision.h_after))
        self._enter((view.cell_now, decision.committed, target, goal, *counts, *costs, action, reason))

    def _note_raised(self, agent: Agent, world: World, decision: Decision) -> None:
        if isinstance(agent, KernelAgent):
            now = int(world.trip.tally[0].raises)
            self._raised.frombytes(world.trip.raised[len(self._raised) // 3 : now].tobytes())
            return
        for position, old, new in decision.raised:
            if not isinstance(old, int) or not isinstance(new, int):
                raise InputError(f"raised must have exact costs, as view.heuristic_exact returns, not {quoted(new)}")
            self._raised.extend((_cell(world, "raised", position), old, new))

    def _check_size(self, moves: int) -> None:
        mine = (self._count + 1) * _ROW.itemsize + 8 * len(self._expanded) + 8 * len(self._raised)
        if self._before + mine > self.most_bytes:
            raise InputError(
                f"the log takes more than {self.most_bytes} bytes after {moves} moves of trial {self._trials + 1}: "
                "lower max_moves or trials, or run without a log"
            )

    def _enter(self, row: tuple[Any, ...]) -> None:
        if self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[self._count] = row
        self._count += 1

    def finish(self, world: World) -> Log:
        """Return the log of the trial that is over, and begin that of the next."""
        rows, grid = self._rows[: self._count], world.problem.grid
        raised = np.frombuffer(self._raised, np.int64).reshape(-1, 3)
        target = grid.positions(np.maximum(rows["target"], 0))
        target[rows["target"] == NOWHERE] = NOWHERE
        same = ("action", "reason", "committed", "expansions", "scans", "g", "f", "h_before", "h_after")
        log = Log(
            head=self.head | {"trial": self._trials + 1},
            position=grid.positions(rows["cell"]),
            target=target,
            goal=grid.positions(rows["goal"]),
            expanded=grid.positions(np.frombuffer(self._expanded, np.int32)),
            expanded_begin=np.append(0, rows["expanded"]),
            raised=grid.positions(raised[:, 0]),
            raised_old=raised[:, 1].copy(),
            raised_new=raised[:, 2].copy(),
            raised_begin=np.append(0, rows["raised"]),
            **{name: rows[name].copy() for name in same},
        )
        self._trials += 1
        self._before += rows.nbytes + 8 * len(self._expanded) + 8 * len(self._raised)
        self._begin()
        return log

    def release(self, agent: Agent, world: World) -> None:
        """Let go of the room for lists, which an agent that is kept would hold, and copies of it would fill."""
        trip = world.trip
        world.trip = trip._replace(log=trip.log[:0].copy(), raised=trip.raised[:0].copy())
        world.kernel_view.trip = world.trip
        if isinstance(agent, KernelAgent):
            agent.compile(world)  # which replaces its handle of the former arrays


def _explained(agent: Agent, world: World, action: int) -> Decision:
    """Return why an agent decided so, as far as it says; without a word, it planned if it has read anything."""
    view, meter = world.kernel_view, world.trip.meter[0]
    before = meter.item()
    decision = getattr(agent, "explain", lambda: None)()
    if meter.item() != before:
        raise Fault(f"before move {view.moves + 1} the agent has searched on to explain itself")
    if decision is None:
        return Decision(view.position, action, planned=bool(meter.scans > 0))
    if not isinstance(decision, Decision):
        raise InputError(f"explain must return an agents.Decision or None, not {quoted(decision)}")
    return decision


def _cell(world: World, name: str, position: Position) -> int:
    """Return the cell of a position that an agent of one's own has named."""
    try:
        if world.problem.grid.contains(position):
            return world.problem.grid.cell(position)
    except (TypeError, ValueError):
        pass
    raise InputError(f"{name} must be a position on the map, not {quoted(position)}")

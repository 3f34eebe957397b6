"""Runs as a page replays them: paths, the work of every move, expanded cells, learned values, units of squads.

What follows from these is left to the page: fog and changes from the path, the radius and the schedule; the plan from
the moves that follow it. ``assets/film.js`` reads what is written here.

It is written in packed columns: numbers as text that a page can hold and a browser unpacks with what it brings.
Whole numbers are stored as the differences of neighbours, zigzag coded so that small ones of either sign have small
codes; fractions as float32. The bytes of a column are stored plane by plane, first the lowest of all numbers: the upper
planes are then mostly zeros, which deflate takes out. ``assets/page.js`` does the reverse.
"""

import base64
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import agents
from agents import Run
from agents.log import NOWHERE, Log
from rt_gym import Grid, InputError, Problem, Squad
from rt_gym.cost import to_floats
from rt_gym.evaluation import Walk
from rt_gym.files import shown
from training.runs import Contender
from training.runs.contenders import blaming

MOST = (1 << 30) - 1  # the largest whole number: differences of two still fit into 32 bits


class Attachments:
    """The packed columns of a page, in the order in which they were added."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    @property
    def size(self) -> int:
        """How many bytes they take in the page."""
        return sum(map(len, self.texts))

    def add(self, columns: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
        """Pack columns and return how the page finds them: the number of the attachment, then name, kind and length."""
        self.texts.append(pack(columns))
        heads = [[name, "f" if column.dtype.kind == "f" else "i", column.size] for name, column in columns.items()]
        return {"attachment": len(self.texts) - 1, "columns": heads}


def pack(columns: Mapping[str, NDArray[Any]]) -> str:
    """Return columns as one text."""
    planes = b"".join(_floats(column) if column.dtype.kind == "f" else _wholes(column) for column in columns.values())
    return base64.b64encode(zlib.compress(planes, 6)).decode("ascii")


def _floats(column: NDArray[Any]) -> bytes:
    return _planes(column.astype("<f4"))


def _wholes(column: NDArray[Any]) -> bytes:
    """Return the planes of whole numbers; what is beyond ``MOST`` is taken for it."""
    steps = np.diff(np.clip(column.ravel().astype(np.int64), -MOST, MOST), prepend=0).astype(np.int64)
    return _planes(((steps << 1) ^ (steps >> 63)).astype("<u4"))


def _planes(column: NDArray[Any]) -> bytes:
    return np.ascontiguousarray(column).view(np.uint8).reshape(-1, 4).T.tobytes()


WHOLE = 1 << 20  # cells of a map that is shown as a whole; of a larger one, only where the runs went
_MARGIN = 48  # cells around them
_MOST_CELLS = 1 << 24  # that a page shows
_HEAT_STEPS = 8  # into which a straight step is cut where learned values are stored
_HOTTEST = 1e6  # straight steps; stands for values without end, too

Cells = NDArray[np.int64]


class Window(NamedTuple):
    """The part of a map that is shown."""

    left: int
    top: int
    width: int
    height: int

    def inside(self, positions: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which positions lie in it."""
        x, y = positions[:, 0] - self.left, positions[:, 1] - self.top
        found: NDArray[np.bool_] = (x >= 0) & (y >= 0) & (x < self.width) & (y < self.height)
        return found

    def cells(self, positions: NDArray[Any]) -> Cells:
        """Return the numbers of positions in it, row by row."""
        x, y = positions[:, 0].astype(np.int64) - self.left, positions[:, 1].astype(np.int64) - self.top
        return y * self.width + x


def window_on(grid: Grid, paths: Iterable[NDArray[Any]]) -> Window:
    """Return what is shown of a map: all of it, or of a large one the part where the paths lie.

    Raises:
        InputError: if they lie too far apart.
    """
    if grid.width * grid.height <= WHOLE:
        return Window(0, 0, grid.width, grid.height)
    ends = np.concatenate([[path.min(axis=0), path.max(axis=0)] for path in paths]).astype(np.int64)
    left, top = np.maximum(ends.min(axis=0) - _MARGIN, 0)
    right, bottom = np.minimum(ends.max(axis=0) + _MARGIN + 1, (grid.width, grid.height))
    if (right - left) * (bottom - top) > _MOST_CELLS:
        raise InputError(f"{shown(grid.name)}: a page shows at most {_MOST_CELLS:,} cells, fewer than these runs cross")
    return Window(int(left), int(top), int(right - left), int(bottom - top))


class Recording(NamedTuple):
    """A run that can be replayed.

    Attributes:
        contender: who ran.
        run: what it left behind, with a log.
        moves, cost, outcome: those of the whole run, of which the log may hold the beginning alone.
        command: how to make this run again.
    """

    contender: Contender
    run: Run
    moves: int
    cost: float
    outcome: str
    command: str


@dataclass(frozen=True)
class SquadRecording:
    """A squad that can be replayed.

    Attributes:
        label: what the agents of its units are called.
        squad: as it is in the end.
        allowance: what all units may expand in a tick.
        positions: ticks + 1 x units x 2.
        work, unserved: per tick, what all units spent, and how many had to plan and were given nothing.
        command: how to make this run again.
    """

    label: str
    squad: Squad
    allowance: int
    positions: NDArray[np.int32]
    work: NDArray[np.int64]
    unserved: NDArray[np.int64]
    command: str


def record(contender: Contender, agent: Any, problem: Problem, max_moves: int, seed: int) -> Run:
    """Run an agent once with a log. It walks as it does without one."""
    with blaming(contender.agent, problem):
        return agents.run(
            agent, problem, budget=contender.budget, max_moves=max_moves, seed=seed, clock=False, log=True
        )


def record_squad(label: str, squad: Squad, allowance: int, max_ticks: int, command: str) -> SquadRecording:
    """Let a squad that has not begun make its ticks, and take note of each."""
    positions, work, unserved = [squad.positions], [0], [0]
    while not squad.done and squad.ticks < max_ticks:
        waited = squad.situation.waited
        squad.tick()
        positions.append(squad.positions)
        work.append(squad.work)
        unserved.append(int((squad.situation.waited > waited).sum()))
    return SquadRecording(label, squad, allowance, np.array(positions), np.array(work), np.array(unserved), command)


class Place(NamedTuple):
    """Where a problem stands in a report: which comparison it belongs to, and its number among all problems there."""

    comparison: int
    number: int


class WalkRecording(NamedTuple):
    """What a policy did in its environment.

    Attributes:
        label: what the policy is called.
        env: the environment.
        walk: the beginning of its episode.
        steps, cost, solved: those of the whole episode.
    """

    label: str
    env: str
    walk: Walk
    steps: int
    cost: float
    solved: bool


class Reel:
    """The replays of a page: maps, problems on them, and runs.

    Args:
        attachments: where columns go.

    Attributes:
        missing: sentences on what there is no replay of.
    """

    def __init__(self, attachments: Attachments) -> None:
        self._attachments = attachments
        self._maps: list[dict[str, Any]] = []
        self._known: dict[tuple[str, Window], int] = {}
        self._problems: list[dict[str, Any]] = []
        self._runs: list[dict[str, Any]] = []
        self.missing: list[str] = []

    @property
    def problems(self) -> int:
        """How many problems there are."""
        return len(self._problems)

    def add(self, name: str, recordings: Sequence[Recording], place: Place | None = None) -> None:
        """Take the runs of contenders on one problem, which is called so and may have a place in a comparison."""
        problem = recordings[0].run.problem
        window = window_on(problem.grid, [one.run.path for one in recordings])
        number = self._add_problem(name, problem, window, place)
        for one in recordings:
            entry = one.contender.entry
            self._runs.append({
                "problem": number, "label": entry.label, "budget": entry.budget, "limit": entry.limit,
                "counted": entry.counted, "outcome": one.outcome, "moves": one.moves, "cost": one.cost,
                "command": one.command, "data": self._attachments.add(_columns(one.run, window)),
            })  # fmt: skip

    def add_squads(self, name: str, recordings: Sequence[SquadRecording]) -> None:
        """Take squads with the same units, which are called so."""
        first, goals = recordings[0].squad, recordings[0].squad.goals
        window = window_on(first.grid, [*(one.positions.reshape(-1, 2) for one in recordings), goals])
        number = self._add_problem(name, first.problems[0], window, units=goals.tolist())
        for one in recordings:
            squad, places = one.squad, one.positions
            columns: dict[str, NDArray[Any]] = {"x": places[:, :, 0].T, "y": places[:, :, 1].T, "work": one.work}
            self._runs.append({
                "problem": number, "label": one.label, "budget": f"{one.allowance} expansions per tick",
                "limit": one.allowance, "counted": "expansions", "outcome": "goal" if squad.done else "out of moves",
                "moves": squad.ticks, "cost": squad.record().sum_of_costs, "command": one.command,
                "data": self._attachments.add({**columns, "unserved": one.unserved}),
            })  # fmt: skip

    def add_walks(self, name: str, problem: Problem, recordings: Sequence[WalkRecording], place: Place) -> None:
        """Take the walks of policies on one problem, which is called so and has this place in a comparison."""
        window = window_on(problem.grid, [one.walk.path for one in recordings])
        number = self._add_problem(name, problem, window, place)
        for one in recordings:
            self._runs.append({
                "problem": number, "label": one.label, "budget": one.env, "limit": None, "counted": "expansions",
                "outcome": "goal" if one.solved else "cut", "moves": one.steps, "cost": one.cost, "command": "",
                "policy": True, "data": self._attachments.add(_walk_columns(one.walk)),
            })  # fmt: skip

    def document(self) -> dict[str, Any]:
        """Return all of it as the page reads it."""
        return {"maps": self._maps, "problems": self._problems, "runs": self._runs, "missing": self.missing}

    def _add_problem(
        self, name: str, problem: Problem, window: Window, place: Place | None = None, units: Any = None
    ) -> int:
        optimal = None if problem.changes else problem.optimal
        self._problems.append({
            "name": name, "map": self._add_map(problem.grid, window), "start": problem.start, "goal": problem.goal,
            "optimal": optimal if optimal is None or np.isfinite(optimal) else None, "vision": problem.vision,
            "changes": [[one.time, *one.position, int(one.free)] for one in problem.changes or ()],
            "units": units, **(place._asdict() if place else {}),
        })  # fmt: skip
        return len(self._problems) - 1

    def _add_map(self, grid: Grid, window: Window) -> int:
        key = grid.digest, window
        if key not in self._known:
            self._known[key] = len(self._maps)
            left, top, width, height = window
            walls = ~grid.passable[top : top + height, left : left + width]
            cells = self._attachments.add({"walls": walls.astype(np.int64).ravel()})
            self._maps.append({
                "name": grid.name, **window._asdict(), "connectivity": grid.connectivity, "cost": grid.cost,
                "cells": cells,
            })  # fmt: skip
        return self._known[key]


def _columns(run: Run, window: Window) -> dict[str, NDArray[Any]]:
    """Return what is stored of a run. Lists of cells have a column that says how many of them each move has."""
    log = run.log
    assert log is not None
    return {
        "step": _steps(run.path),
        "expansions": log.expansions,
        "scans": log.scans,
        "reason": log.reason,
        "committed": log.committed,
        "target": _shown_cells(log.target, window),
        "pursued": _shown_cells(log.goal, window),
        **_spans(log, window),
        **_rises(log, window),
    }


def _walk_columns(walk: Walk) -> dict[str, NDArray[Any]]:
    """Return what is stored of a policy's walk: nobody knows of plans, of what was searched and of what was learned."""
    none = np.zeros(len(walk.expansions), np.int64)
    known = {"step": _steps(walk.path), "expansions": walk.expansions, "scans": walk.scans}
    nothing = dict.fromkeys(("reason", "committed", "spans", "rises"), none)
    nowhere = dict.fromkeys(("target", "pursued"), np.full_like(none, NOWHERE))
    return known | nothing | nowhere | dict.fromkeys(("span_cell", "span_length", "rise_cell", "rise_heat"), none[:0])


def _steps(path: NDArray[Any]) -> Cells:
    """Return a number from 0 to 8 for every step of a path, 4 for one that stays in place."""
    x, y = np.diff(path.astype(np.int64), axis=0).T
    steps: Cells = (x + 1) + 3 * (y + 1)
    return steps


def _shown_cells(positions: NDArray[Any], window: Window) -> Cells:
    """Return cells, -1 where there is none or it is not shown."""
    return np.where(window.inside(positions), window.cells(positions), NOWHERE)


def _spans(log: Log, window: Window) -> dict[str, Cells]:
    """Return the expanded cells of every move as pieces of rows, whatever their order: few, as searches grow evenly."""
    size = window.width * window.height + 1  # one more, so that the last cell and the first of the next move part
    inside = window.inside(log.expanded)
    moves = np.repeat(np.arange(len(log)), np.diff(log.expanded_begin))[inside]
    keys = np.unique(moves * size + window.cells(log.expanded[inside]))
    first = np.flatnonzero(np.diff(keys, prepend=-2) != 1)
    move, cell = np.divmod(keys[first], size)
    length = np.diff(first, append=len(keys))
    return {"spans": np.bincount(move, minlength=len(log)), "span_cell": cell, "span_length": length}


def _rises(log: Log, window: Window) -> dict[str, Cells]:
    """Return how far values have risen above their first ones, for every move and cell the last one."""
    size = window.width * window.height
    inside = window.inside(log.raised)
    cells, old, new = window.cells(log.raised[inside]), log.raised_old[inside], log.raised_new[inside]
    moves = np.repeat(np.arange(len(log)), np.diff(log.raised_begin))[inside]
    _, goals = np.unique(log.goal, axis=0, return_inverse=True)
    _, first, which = np.unique(goals.ravel()[moves] * size + cells, return_index=True, return_inverse=True)
    heat = np.minimum(to_floats(new), _HOTTEST) - to_floats(old[first])[which]
    _, backwards = np.unique((moves * size + cells)[::-1], return_index=True)
    last = len(cells) - 1 - backwards
    return {
        "rises": np.bincount(moves[last], minlength=len(log)),
        "rise_cell": cells[last],
        "rise_heat": np.rint(heat[last] * _HEAT_STEPS).astype(np.int64),
    }

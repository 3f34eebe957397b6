"""A run that was logged as a search trace, format 1.4.0, which the visualiser Posthoc steps through.

One event per decision, not per cell: what an event draws until a later one clears it is copied into every step between
them, so that an event for every cell would take room that grows with the square of a run. The events of the agent have
the id ``UNIT``, by which each kind clears the one before it. The document is JSON, which is YAML as well.

The format is that of https://github.com/ShortestPathLab/posthoc-app.
"""

import json
import math
import os
from collections.abc import Iterable, Iterator
from typing import Any

from agents.log import Log, Move
from agents.record import Run
from rt_gym.errors import InputError
from rt_gym.files import PathLike, atomic_write, shown
from rt_gym.problem import Problem
from rt_gym.terrain import DIRECTIONS, Position
from rt_gym.trip import STAY

VERSION = "1.4.0"
ENDINGS = (".trace.json", ".trace.yaml")
UNIT = 0

_PLANNED = "${{ $.type == 'planning' }}"
_CELL = {"x": "${{ $.cells[$.i].x }}", "y": "${{ $.cells[$.i].y }}", "width": 1, "height": 1}
_EVERY_CELL = {"$for": {"$let": "i", "$from": 0, "$to": "${{ $.cells.length }}"}}
_OWN_CELL = {"x": "${{ $.x }}", "y": "${{ $.y }}", "width": 1, "height": 1}
_STRIDE = [{"x": f"${{{{ $.{end}x + 0.5 }}}}", "y": f"${{{{ $.{end}y + 0.5 }}}}"} for end in ("from_", "")]

MAIN: list[dict[str, Any]] = [
    {
        "$": "rect",
        **_CELL,
        **_EVERY_CELL,
        "fill": "${{ $.cells[$.i].free ? theme.background : theme.foreground }}",
        "$if": "${{ $.type == 'changing' }}",
        "clear": False,
    },
    {
        "$": "rect",
        **_CELL,
        **_EVERY_CELL,
        "fill": "${{ color.expanding }}",
        "alpha": 0.6,
        "$if": _PLANNED,
        "$info": {"move": "${{ $.move }}", "spent": "${{ $.spent }}", "scans": "${{ $.scans }}"},
        "clear": "planning",
    },
    {
        "$": "rect",
        **_CELL,
        **_EVERY_CELL,
        "fill": "${{ color.updating }}",
        "alpha": 0.6,
        "$if": "${{ $.type == 'updating' }}",
        "$info": {"before": "${{ $.cells[$.i].before }}", "after": "${{ $.cells[$.i].after }}"},
        "clear": "planning",
    },
    {"$": "rect", **_OWN_CELL, "fill": "${{ color.source }}", "$if": "${{ $.type == 'source' }}", "clear": False},
    {
        "$": "rect",
        **_OWN_CELL,
        "fill": "${{ color.destination }}",
        "$if": "${{ $.type == 'destination' }}",
        "clear": False,
    },
    {
        "$": "path",
        "points": _STRIDE,
        "line-width": 0.2,
        "fill": "${{ color.solution }}",
        "$if": "${{ $.type == 'moving' }}",
        "clear": False,
    },
    {
        "$": "circle",
        "x": "${{ $.x + 0.5 }}",
        "y": "${{ $.y + 0.5 }}",
        "radius": 0.4,
        "fill": "${{ color.solution }}",
        "$if": "${{ $.type == 'moving' }}",
        "clear": "moving",
    },
]
PIVOT = {"x": "${{ $.x + 0.5 }}", "y": "${{ $.y + 0.5 }}", "scale": 1}


def trace(run: Run) -> dict[str, Any]:
    """Return a run that was logged (``agents.run(..., log=True)``) as the document of a trace; of trials the last.

    Its events are ``source`` and ``destination``; for every move ``changing`` if the map has changed, ``planning`` if
    the agent planned (the cells expanded, what was spent), ``updating`` if it learned (every cell's value before and
    after) and ``moving``; and ``end``. A value without end is null.

    Raises:
        InputError: if it was not logged.
    """
    if run.log is None:
        raise InputError("a trace is made of a run with a log: agents.run(..., log=True)")
    return {"version": VERSION, "views": {"main": MAIN}, "pivot": PIVOT, "events": list(_events(run, run.log))}


def check_ending(path: PathLike) -> None:
    """Refuse a path that visualisers would not take for a trace."""
    if not os.fspath(path).lower().endswith(ENDINGS):
        raise InputError(f"{shown(path)}: a trace is written to a path that ends in {' or '.join(ENDINGS)}")


def save_trace(run: Run, path: PathLike) -> None:
    """Write a run that was logged as a trace, with a line per event, all at once or not at all."""
    check_ending(path)
    atomic_write(path, _lines(trace(run)))


def _lines(document: dict[str, Any]) -> Iterator[bytes]:
    events = document.pop("events")
    yield _text(document)[:-1] + b',"events":[\n'
    for number, event in enumerate(events, start=1):
        yield _text(event) + (b",\n" if number < len(events) else b"\n")
    yield b"]}\n"


def _text(content: dict[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":"), allow_nan=False).encode()


def _events(run: Run, log: Log) -> Iterator[dict[str, Any]]:
    problem, path = run.problem, [(int(x), int(y)) for x, y in run.path]
    yield _event("source", "source", problem.start)
    yield _event("destination", "destination", problem.goal)
    for k in range(len(log)):
        move = log[k]
        yield from _changing(problem, k, move.position)
        yield from _thinking(move, k + 1)
        if k < run.moves:  # the last entry may be that of a move that was never made
            yield _moving(move, k + 1, path[k + 1])
    yield {**_event("end", UNIT, path[-1]), "outcome": run.outcome, "moves": run.moves, "cost": run.cost}


def _event(kind: str, name: int | str, position: Position) -> dict[str, Any]:
    return {"type": kind, "id": name, "x": position[0], "y": position[1]}


def _changing(problem: Problem, moves: int, position: Position) -> Iterator[dict[str, Any]]:
    due = [change for change in problem.changes or () if change.time == moves]
    if due:
        cells = [{**_cell(change.position), "free": change.free} for change in due]
        yield {**_event("changing", "map", position), "cells": cells}


def _thinking(move: Move, number: int) -> Iterator[dict[str, Any]]:
    """Yield what was done before a move: the search, and what was learned."""
    if move.reason != "committed" or move.expanded:
        spent = {"move": number, "spent": move.expansions, "scans": move.scans}
        why = {"g": _finite(move.g), "f": _finite(move.f), "h": _finite(move.h_after)}
        yield {**_event("planning", UNIT, move.position), **spent, **why, "cells": _cells(move.expanded)}
    if move.raised:
        cells = [{**_cell(place), "before": _finite(old), "after": _finite(new)} for place, old, new in move.raised]
        yield {**_event("updating", UNIT, move.position), "move": number, "cells": cells}


def _moving(move: Move, number: int, to: Position) -> dict[str, Any]:
    deed = "stay" if move.action == STAY else DIRECTIONS[move.action]
    came = {"from_x": move.position[0], "from_y": move.position[1]}
    return {**_event("moving", UNIT, to), **came, "move": number, "action": deed, "reason": move.reason}


def _cells(places: Iterable[Position]) -> list[dict[str, int]]:
    return [_cell(place) for place in places]


def _cell(place: Position) -> dict[str, int]:
    return {"x": place[0], "y": place[1]}


def _finite(value: float | None) -> float | None:
    return None if value is None or math.isinf(value) else value

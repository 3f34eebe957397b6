"""Budgets in time: how many expansions an agent makes in a millisecond on this processor.

What is measured is remembered in the folder of the comparison, so that a run that was interrupted goes on under the
same limits, and an agent's result never depends on how busy the machine was the second time.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import agents
from rt_gym import Budget, InputError, Problem
from rt_gym.errors import whole
from rt_gym.files import atomic_write, read_bytes
from training.judge.speed import throughput
from training.runs.contenders import Allowance, Contender, enlist_all
from training.runs.courses import Course
from training.runs.rows import Entry, Row, Timing
from training.runs.sources import source_stamp

_REFERENCE = 100  # expansions per move of the first measurement
_ROUNDS = 2  # the second is made at the limit that the first one found, as speed depends on it
_SECONDS = 0.2
_PROBLEMS = 10
_TICKS = 10_000
_ROOM = 10_000_000  # the most moves drawn for ticks


class Calibration:
    """How many expansions each agent makes in a given time here, on these maps.

    Args:
        courses: the maps and problems to measure on.
        folder: where measurements are looked for and, by ``keep``, remembered.
    """

    def __init__(self, courses: Sequence[Course], folder: Path) -> None:
        self._path = folder / "calibration.json"
        self._known = _remembered(self._path)
        self._courses = courses
        self._maps = " ".join(course.digest for course in courses)

    def allowance(self, agent_ids: Iterable[str], milliseconds: float) -> Allowance:
        """Return what agents may compute in this time per move; classes of one's own cannot be measured."""
        return Allowance(f"{milliseconds:g} ms", limits={name: self._limit(name, milliseconds) for name in agent_ids})

    def _limit(self, agent_id: str, milliseconds: float) -> int:
        key = f"{agent_id} {milliseconds!r} {source_stamp(agent_id)} {self._maps}"
        if key not in self._known:
            self._known[key] = _measure(agent_id, _problems(self._courses), milliseconds)
        return whole("a limit in calibration.json", self._known[key], 1)

    def keep(self) -> None:
        """Write down what was measured, if anything was."""
        if self._known:
            atomic_write(self._path, json.dumps(self._known, indent=2).encode())


@dataclass(frozen=True)
class Limits:
    """What agents may compute for one move: counts, times, or as much as they like.

    Attributes:
        counts: the largest counts, to be tried one after the other.
        count: what they count, ``"expansions"`` or ``"scans"``.
        times: milliseconds instead, which a calibration converts to expansions of each agent.
    """

    counts: Sequence[int] = ()
    count: str = "expansions"
    times: Sequence[float] = ()

    def __post_init__(self) -> None:
        for limit in self.counts or (None,):
            Budget(limit, self.count)
        if self.times and self.count != "expansions":
            raise InputError("a time is converted to expansions, so --count scans cannot be had with it")
        if not all(1e-6 <= time <= 1e6 for time in self.times):
            raise InputError(f"a time per move must be from 1e-6 to 1e6 milliseconds, not {min(self.times):g}")

    def enlist(self, specs: Sequence[str]) -> list[Contender]:
        """Return agents written as on the command line under every count; where times are to come, under none."""
        return enlist_all(specs, [Allowance.of(limit, self.count) for limit in dict.fromkeys(self.counts or (None,))])

    def enlist_calibrated(
        self, specs: Sequence[str], calibration: Calibration, advance: Callable[[], Any] = lambda: None
    ) -> list[Contender]:
        """Return agents under every count or time; ``advance`` is called after each time that was converted."""
        contenders = self.enlist(specs)
        if not self.times:
            return contenders
        names = list(dict.fromkeys(contender.agent for contender in contenders))
        allowances = []
        for time in self.times:
            allowances.append(calibration.allowance(names, time))
            advance()
        return enlist_all(specs, allowances)


def _measure(agent_id: str, problems: Sequence[Problem], milliseconds: float) -> int:
    """Return how many expansions the agent makes in this time, at the setting that just fits."""
    if agent_id not in agents.ids():
        raise InputError(f"agent {agent_id} cannot be given a time per move: only agents with an id are calibrated")
    limit = _REFERENCE
    for _ in range(_ROUNDS):
        speed = throughput(agent_id, problems, limit, _SECONDS).expansions_per_second
        limit = max(1, int(speed * milliseconds / 1e3))
    return limit


def _problems(courses: Sequence[Course]) -> list[Problem]:
    """Return a few problems, from as many maps as possible."""
    ranked = sorted((k, n) for n, course in enumerate(courses) for k in range(min(_PROBLEMS, len(course.tasks))))
    return [courses[n].problem(courses[n].tasks[k]) for k, n in ranked[:_PROBLEMS]]


def _remembered(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        known = json.loads(read_bytes(path))
    except ValueError:  # damaged: it is measured again
        return {}
    return known if isinstance(known, dict) else {}


def late_ticks(
    rows: Sequence[Row], timings: Sequence[Timing], units: int, tick_ms: float, seed: int
) -> dict[Entry, float]:
    """Return for every contender the share of ticks that are too short for all units.

    A tick is drawn: each of its units is on one of the contender's runs, and makes a move as long as the 99th
    percentile of that run's moves.
    """
    slow: dict[Entry, list[float]] = {}
    for row, timing in zip(rows, timings, strict=True):
        slow.setdefault(row.entry, []).append(timing.p99)
    rng = np.random.default_rng(seed)
    ticks = max(1, min(_TICKS, _ROOM // units))
    shares = {}
    for entry, p99 in slow.items():
        spent = np.array(p99)[rng.integers(len(p99), size=(ticks, units))].sum(axis=1)
        shares[entry] = float((spent > tick_ms / 1e3).mean())
    return shares

"""Pages that are written from what experiments and agents left behind; here those of comparisons and replays.

These open in a browser without a network: one file with data, style and script.

Whatever comes from outside (names of agents, maps and files) is in one JSON text, in which no ``<`` is left, and the
script puts it into the page as text only. The page allows its own script and no other.

Runs that can be replayed are recorded anew with a log, which takes some 0.1 ms per move. How many are made is bounded
before any is: by problems, agents, moves and expansions, all of which the results tell; and a page by its size. What
policies did in their environment was recorded when they were judged.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from itertools import zip_longest
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np

from rt_gym import AgentFailure, InputError, Problem
from rt_gym.evaluation import Walk
from rt_gym.files import atomic_write
from rt_gym.render import palette
from training.judge import Findings
from training.judge.policies import NETWORK, PolicyFindings
from training.judge.scores import collect
from training.judge.squads import SquadArena, make_members, make_squad, make_teams, squad_work
from training.judge.stats import Floats
from training.judge.tables import Table
from training.report.comparison import Part, describe, describe_table, play_command
from training.report.replays import (
    Attachments,
    Place,
    Recording,
    Reel,
    SquadRecording,
    WalkRecording,
    record,
    record_squad,
)
from training.runs import Contender, Course
from training.runs.contenders import make_agent
from training.runs.rows import OUTCOMES, Batch

PROBLEMS = 4  # that are recorded unless another number is asked for
AGENTS = 8
SQUADS = 3  # agents that lead a squad once more, each of its units with an agent of its own
_MOVES = 6000  # that are recorded of all runs on a problem together
_EXPANSIONS = 3_000_000  # of one run
_PLACES = 200_000  # of all units of a squad in all ticks that are recorded
_ROOM = 11_000_000  # bytes of all recordings in the page


class Recorder:
    """Records runs of comparisons for one page.

    Args:
        attachments: those of the page.
        problems: how many problems of every comparison are recorded.

    Attributes:
        reel: what was recorded.
    """

    def __init__(self, attachments: Attachments, problems: int = PROBLEMS) -> None:
        self._attachments, self._problems = attachments, problems
        self.reel = Reel(attachments)
        self._comparisons = 0  # that were added before
        self._made: dict[int, object] = {}

    def add(self, title: str, findings: Findings) -> None:
        """Record some runs of a comparison, whose problems are called by its title if there are several."""
        contenders = choose_contenders(findings)
        if findings.squads:
            self._add_squads(title, contenders[:SQUADS], findings, findings.squads)
        places, before = list(_places(findings.plan.courses)), self.reel.problems
        self._made = {}
        for number in choose_problems(findings, contenders, self._problems):
            self._add_problem(title, number, places[number], contenders, findings)
        self._comparisons += 1
        recorded, all_agents = self.reel.problems - before, len(findings.scores)
        if recorded < len(places) or len(contenders) < all_agents:
            these = f"{len(contenders)} of {all_agents} agents on {recorded} of {len(places)} problems"
            self.reel.missing.append(f"{_head(title)}{these} were recorded, the recommended ones first.")

    def add_policies(self, title: str, findings: PolicyFindings) -> None:
        """Take walks of policies, which were recorded when they were judged in their environment."""
        names, places = choose_policies(findings), list(_places(findings.courses))
        qualities = [findings.runs[name].quality for name in names]
        numbers = _evenly(qualities, self._problems) if names and self._attachments.size <= _ROOM else []
        for number in numbers:
            walks = [_walk_of(findings, name, number, _MOVES // len(names)) for name in names]
            name, place = f"{_head(title)}{_called(*places[number])}", Place(self._comparisons, number)
            with self._or_told(name):
                self.reel.add_walks(name, findings.problems[number], walks, place)
        self._comparisons += 1
        if not names:
            self.reel.missing.append(f"{_head(title)}the walks of the policies were not recorded.")
        elif len(numbers) < len(places) or len(names) < len(findings.runs):
            these = f"{len(names)} of {len(findings.runs)} policies on {len(numbers)} of {len(places)} problems"
            self.reel.missing.append(f"{_head(title)}{these} can be replayed, the network first.")

    def _add_squads(self, title: str, contenders: list[int], findings: Findings, squads: SquadArena) -> None:
        """Record the first squad of every map, as many as problems are recorded."""
        plan = findings.plan
        for group in plan.groups[: self._problems]:
            team = make_teams(group, squads.units, plan.seed, len(plan.groups))[0]
            number = squads.maps.index(group[0].name) + 1
            name = f"{_head(title)}{group[0].name}, squad {number} of {squads.units} units"
            recordings = []
            for k in contenders:
                if self._attachments.size > _ROOM:
                    break
                contender = plan.contenders[k]
                work = squad_work(contender, squads.units, squads.tick_ms, plan, group)
                members = make_members(work.agent, work.settings, squads.units)
                squad = make_squad(group[0].grid, team, members, work.allowance, work.vision)
                most = min(work.max_ticks, max(1, _PLACES // squads.units))
                recordings.append(record_squad(contender.entry.label, squad, work.allowance, most, ""))
            if recordings:
                with self._or_told(name):
                    self.reel.add_squads(name, recordings)

    def _add_problem(
        self, title: str, number: int, place: tuple[Course, int], contenders: list[int], findings: Findings
    ) -> None:
        course, task = place[0], place[0].tasks[place[1]]
        name = f"{'' if title.startswith(course.name) else _head(title)}{_called(*place)}"
        recordings, room = list[Recording](), _MOVES
        for left, k in zip(range(len(contenders), 0, -1), contenders, strict=True):
            if self._attachments.size > _ROOM:
                self.reel.missing.append(f"{name}: {left} runs are left out, because the page is large enough.")
                break
            most = room // left  # what short runs leave is for the long ones
            with self._or_told(f"{name}: {findings.scores[k].entry.label}"):
                recordings.append(self._record(k, number, course.problem(task), most, findings))
                room -= recordings[-1].run.moves
        if recordings:
            with self._or_told(name):
                self.reel.add(name, recordings, Place(self._comparisons, number))

    @contextmanager
    def _or_told(self, what: str) -> Iterator[None]:
        """Tell why something is left out, such as runs that lie too far apart for a page."""
        try:
            yield
        except (InputError, AgentFailure) as error:
            self.reel.missing.append(f"{what} is left out: {error}.")

    def _record(self, k: int, number: int, problem: Problem, most: int, findings: Findings) -> Recording:
        contender, batch, plan = findings.plan.contenders[k], findings.runs.batches[k], findings.plan
        if batch.columns["expansions"][number] > _EXPANSIONS * batch.columns["trials_run"][number]:
            raise InputError(f"its run has more than {_EXPANSIONS:,} expansions")
        run = record(contender, self._agent(k, contender), problem, min(most, plan.max_moves), plan.seed)
        told = (run.moves, run.cost, run.outcome) if plan.trials != 1 else _totals(batch, number)
        return Recording(contender, run, *told, play_command(contender, problem.grid.name, problem, plan.seed))

    def _agent(self, k: int, contender: Contender) -> object:
        """Return the agent of a contender: made once, so that what it prepares for a map is prepared once."""
        if k not in self._made:
            self._made[k] = make_agent(contender.agent, contender.settings)
        return self._made[k]


def _totals(batch: Batch, number: int) -> tuple[int, float, str]:
    """Return moves, cost and outcome of a whole run, of which the beginning alone may be recorded."""
    columns = batch.columns
    return int(columns["moves"][number]), float(columns["cost"][number]), OUTCOMES[columns["outcome"][number]]


def _places(courses: Iterable[Course]) -> Iterator[tuple[Course, int]]:
    """Yield problems in the order of all rows: a course and the number of one of its tasks."""
    for course in courses:
        yield from ((course, number) for number in range(len(course.tasks)))


def _head(title: str) -> str:
    return f"{title}: " if title else ""


def _called(course: Course, number: int) -> str:
    """Return what the page calls a problem."""
    task = course.tasks[number]
    return f"{course.name}, problem {number + 1}: {task.start} to {task.goal}"


def _walk_of(findings: PolicyFindings, name: str, number: int, most: int) -> WalkRecording:
    """Return the walk of a policy on a problem, or so many of its steps."""
    run = findings.runs[name]
    assert run.walked is not None
    path, expansions, scans = run.walked.walks[number]
    walk = Walk(path[: most + 1], expansions[:most], scans[:most])
    steps, cost = int(run.walked.steps[number]), float(run.walked.cost[number])
    return WalkRecording(name, findings.env, walk, steps, cost, bool(run.solved[number]))


def choose_contenders(findings: Findings) -> list[int]:
    """Return the numbers of those that are recorded: the recommended ones of all budgets by turns, then the best."""
    entries = [score.entry for score in findings.scores]
    picks = [pick for advice in findings.advice for pick in (advice.plain, advice.prepared) if pick]
    turns = zip_longest(*(pick.ranked for pick in picks))
    named = [entries.index(entry) for turn in turns for entry in turn if entry is not None]
    values = [score.quality.value if score.quality else inf for score in findings.scores]
    return list(dict.fromkeys([*named, *np.argsort(values, kind="stable").tolist()]))[:AGENTS]


def choose_problems(findings: Findings, contenders: list[int], count: int) -> list[int]:
    """Return the numbers of problems, evenly from where these contenders did worst to where they did best.

    The very first and the very last are left to themselves: one is often endless, the other over at once.
    """
    samples = collect(findings.runs)
    return _evenly([samples[k].quality for k in contenders], count)


def choose_policies(findings: PolicyFindings) -> list[str]:
    """Return the names of those that are shown: the network, the best, its other forms, the next best, the failed."""
    own, ranked = [name for name in findings.runs if name.startswith(NETWORK)], findings.ranked()
    names = dict.fromkeys([NETWORK, *ranked[:1], *own, *ranked, *findings.runs])
    return [name for name in names if findings.runs[name].walked][:AGENTS]


def _evenly(qualities: list[Floats], count: int) -> list[int]:
    quality = np.mean([np.minimum(one, 1e9) for one in qualities], axis=0)
    order = np.argsort(-quality, kind="stable")
    at = (np.arange(count) + 0.5) * len(order) / max(count, 1)
    return [int(order[k]) for k in dict.fromkeys(at.astype(int).tolist())]


_SCRIPTS = ("film.js", "replay.js", "comparison.js", "page.js")


def write_page(path: Path, data: dict[str, Any], attachments: Attachments) -> Path:
    """Write a page, all at once or not at all, and return where it is."""
    atomic_write(path, format_page(data | {"palette": _colours()}, attachments).encode("ascii"))
    return path


def format_page(data: dict[str, Any], attachments: Attachments) -> str:
    """Return the text of a page, which is plain ASCII whatever the data."""
    script = "\n".join(map(_asset, _SCRIPTS))
    packed = (
        f'<script type="text/plain" id="attachment-{k}">{text}</script>' for k, text in enumerate(attachments.texts)
    )
    parts = {
        "HASH": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "DATA": embedded(data),
        "ATTACHMENTS": "\n".join(packed),
        "SCRIPT": script,
    }
    pieces = _asset("page.html").split("%%")  # text and names by turns
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def embedded(data: Any) -> str:
    """Return data as JSON that cannot end the element it stands in."""
    return json.dumps(_plain(data), separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _plain(value: Any) -> Any:
    """Return a value as JSON takes it: what it does not know, and numbers without end, as text."""
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    known = value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and isfinite(value))
    return value if known else str(value)


def _asset(name: str) -> str:
    return (resources.files("training.report") / "assets" / name).read_text(encoding="ascii")


def _colours() -> dict[str, Any]:
    """Return the colours of maps and marks, which are those of all other pictures."""
    names = (
        "WALL EXPANDED CHANGED TRAIL AGENT AGENT_EDGE GOAL GOAL_EDGE START START_EDGE SUBGOAL SUBGOAL_EDGE UNIT_EDGE"
    )
    own = {name.lower(): getattr(palette, name) for name in names.split()}
    lists = {"fog": palette.FOG, "units": palette.UNITS, "ground": palette.TABLE[: palette.HEATS].tolist()}
    return own | lists | {"expanded_blend": palette.EXPANDED_BLEND, "changed_blend": palette.CHANGED_BLEND}


def write_replay(path: Path, title: str, name: str, runs: Sequence[Recording] | SquadRecording) -> Path:
    """Write a page that replays runs on one problem, or a squad.

    Args:
        path: where to.
        title: of the page.
        name: what the problem is called.
        runs: one or more.
    """
    attachments = Attachments()
    reel = Reel(attachments)
    if isinstance(runs, SquadRecording):
        reel.add_squads(name, [runs])
    else:
        reel.add(name, runs)
    return write_page(path, {"title": title, "comparisons": [], "replay": reel.document()}, attachments)


def write_report(
    path: Path,
    title: str,
    parts: Sequence[Part],
    problems: int = PROBLEMS,
    *,
    intro: Sequence[str] = (),
    tables: Sequence[Table] = (),
) -> Path:
    """Write the report of one or more comparisons.

    Args:
        path: where to.
        title: of the page.
        parts: the comparisons.
        problems: how many problems of each can be replayed.
        intro: sentences below the title.
        tables: what is shown before the comparisons, such as the claims of an experiment.
    """
    attachments = Attachments()
    recorder = Recorder(attachments, problems)
    comparisons = [describe(part, attachments) for part in parts]
    for part in parts:
        head = part.title if len(parts) > 1 else ""
        if isinstance(part.findings, PolicyFindings):
            recorder.add_policies(head, part.findings)
        else:
            recorder.add(head, part.findings)
    data = {"title": title, "intro": list(intro), "tables": [describe_table(table) for table in tables]}
    return write_page(path, data | {"comparisons": comparisons, "replay": recorder.reel.document()}, attachments)


def write_unfinished(path: Path, title: str, sentence: str, settings: dict[str, Any]) -> Path:
    """Write the report of a comparison that was stopped: what is missing, and how to go on."""
    data = {"title": title, "warning": sentence, "settings": settings, "comparisons": []}
    return write_page(path, data, Attachments())

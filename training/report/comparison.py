"""A comparison as a page shows it: whom to take, tables, the trade-off on every map, and all problems one by one.

Before it stands what a reader types to run one of its agents again.
"""

import re
import shlex
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym import Problem
from rt_gym.maps import names
from training.judge import Estimate, Findings, Score, score_all
from training.judge.advice import Advice, Pick
from training.judge.policies import NETWORK, PolicyFindings, PolicyRuns
from training.judge.scores import collect
from training.judge.tables import Alarm, Table, digits, family_of, interval, squads_table
from training.report.replays import Attachments
from training.runs import Contender, Entry, Runs

_PARTING = re.compile(r"[\s,:='\"]")  # what would part a value
_ELSEWHERE = "MAP"  # for a map that goes by no name: the reader puts the file there


def spec_of(contender: Contender) -> str:
    """Return an agent as the option ``--agent`` takes it, with the settings that tables show."""
    rest, told = contender.entry.setting, []
    for name, value in contender.settings.items():
        piece = f"{name}={value}"
        if rest == piece or rest.startswith(f"{piece}:"):
            rest = rest[len(piece) + 1 :]
            told.append(f"{name}={_written(value)}")
    return ":".join([contender.agent, *told])


def _written(value: Any) -> str:
    """Return a value as it is written in a setting: in quotes if something in it would part it."""
    text = str(value)
    mark = '"' if "'" in text else "'"
    return f"{mark}{text}{mark}" if _PARTING.search(text) else text


def play_command(contender: Contender, map_name: str, problem: Problem | None = None, seed: int = 0) -> str:
    """Return the command that shows an agent at work, on a problem of a comparison or on any.

    A limit on scans, or changes of the map, are nothing that ``rt-gym play`` takes from a line: they are left out.
    """
    words = ["rt-gym", "play", map_name if map_name in names() else _ELSEWHERE, "--agent", spec_of(contender)]
    if contender.entry.limit is not None and contender.entry.counted == "expansions":
        words += ["--budget", str(contender.entry.limit)]
    if problem is not None:
        words += ["--start", "{},{}".format(*problem.start), "--goal", "{},{}".format(*problem.goal)]
        words += ["--vision", str(problem.vision)] if problem.vision else []
    return shlex.join(words + (["--seed", str(seed)] if seed else []))


_MOST_RUNS = 200_000  # of all agents, up to which a page holds every problem; of more, evenly chosen ones
_MOST_MAPS = 20  # that have a trade-off of their own
_NAMED = 5  # on a card
_MOST_SQUADS = 50  # of an agent that have rows of their own


class Part(NamedTuple):
    """One of the comparisons of a report.

    Attributes:
        title: what it is called.
        findings: what was found.
        tables: further tables, such as a leaderboard.
        settings: what was asked for beside the plan.
    """

    title: str
    findings: Findings | PolicyFindings
    tables: Sequence[Table] = ()
    settings: dict[str, Any] | None = None


def describe(part: Part, attachments: Attachments) -> dict[str, Any]:
    """Return a comparison as the page reads it."""
    if isinstance(part.findings, PolicyFindings):
        return _describe_policies(part, part.findings, attachments)
    findings = part.findings
    entries = [score.entry for score in findings.scores]
    return {
        "title": part.title,
        "measure": findings.scores[0].measure,
        "cards": [_card(advice, findings, entries) for advice in findings.advice] or [_leaders(findings)],
        "remarks": findings.remarks(),
        "notes": findings.notes(),
        "entries": _entries(findings),
        "maps": _maps(findings),
        "problems": _problems(findings.runs),
        "values": attachments.add(_values(findings.runs)),
        "tables": [describe_table(table) for table in (*findings.tables(), *part.tables, *_squads(findings))],
        "settings": findings.settings | (part.settings or {}),
    }


def _squads(findings: Findings) -> list[Table]:
    """Return the squads of those that are recommended one by one, if there are squads."""
    if findings.squads is None:
        return []
    picks = [pick for advice in findings.advice for pick in (advice.plain, advice.prepared) if pick]
    entries = dict.fromkeys(entry for pick in picks for entry in pick.ranked)
    return [squads_table(findings.squads, list(entries or findings.squads.scores), _MOST_SQUADS)]


def describe_table(table: Table) -> dict[str, Any]:
    """Return a table with every row under its heading, and which of its cells are alarms."""
    rows, heading = [], ""
    for row in table.rows:
        if len(row) == 1 < len(table.columns):
            heading = str(row[0])
            continue
        alarms = [number for number, cell in enumerate(row) if isinstance(cell, Alarm)]
        rows.append({"group": heading, "cells": list(map(str, row)), "alarms": alarms})
    return {"title": table.title, "columns": [name.strip("\n") for name in table.columns], "rows": rows}


# Whom to take


def _card(advice: Advice, findings: Findings, entries: list[Entry]) -> dict[str, Any]:
    titled = (("", advice.plain), ("with precomputation", advice.prepared))
    return {
        "heading": advice.heading,
        "picks": [_describe_pick(title, pick, findings, entries) for title, pick in titled if pick],
    }


def _describe_pick(title: str, pick: Pick, findings: Findings, entries: list[Entry]) -> dict[str, Any]:
    numbers = [entries.index(entry) for entry in pick.ranked]
    ranked = [{"entry": number, "value": _value(findings, number)} for number in numbers]
    return {"title": title, "text": pick.text, "why": pick.why, "alike": pick.alike, "ranked": ranked}


def _value(findings: Findings, number: int) -> str:
    """Return the quality of a contender, in a squad that of its units, with its interval."""
    score = findings.scores[number]
    quality = findings.squads.scores[score.entry].quality if findings.squads else score.quality
    name = "cost / optimum" if findings.squads else score.measure
    return f"{name} {digits(quality.value)} {interval(quality)}" if quality else "-"


def _leaders(findings: Findings) -> dict[str, Any]:
    """Return who leads where no limit was given: by what a fixed depth would need, or else by the Pareto front."""
    scores, entries = findings.scores, [score.entry for score in findings.scores]
    by_ratio = sorted((s for s in scores if s.ratio_mean), key=lambda s: -s.ratio_mean.value if s.ratio_mean else 0.0)
    if by_ratio:
        why = "No limit was given. Of all, it saves the most work against LRTA* of a fixed depth with the same quality"
        ranked = [(s, f"{s.ratio_mean.value:.2f} times less work" if s.ratio_mean else "-") for s in by_ratio]
    else:
        why = "No limit was given. None is better in both quality and work; it has the best quality"
        front = sorted((s for s in scores if s.fronts and s.quality), key=lambda s: s.quality.value if s.quality else 0)
        ranked = [(s, f"{s.measure} {digits(s.quality.value)}" if s.quality else "-") for s in front]
    found = [{"entry": entries.index(score.entry), "value": text} for score, text in ranked[:_NAMED]]
    text = "every agent has failed a problem, so that none can be recommended"
    pick = {"title": "", "text": "" if found else text, "why": why if found else "", "alike": 0, "ranked": found}
    return {"heading": "Without a limit", "picks": [pick]}


# Numbers


def _entries(findings: Findings) -> list[dict[str, Any]]:
    courses = findings.plan.courses
    return [
        {
            "label": score.entry.label,
            "agent": score.entry.agent,
            "family": family_of(score.entry.agent),
            "budget": score.entry.budget,
            "prepares": score.entry.agent in findings.precomputing,
            "solved": score.solved,
            "failed": _failure(score),
            "worst": score.worst_move,
            "counted": score.entry.counted,
            "command": play_command(contender, courses[0].name),
            **_estimates(score),
        }
        for contender, score in zip(findings.plan.contenders, findings.scores, strict=True)
    ]


def _failure(score: Score) -> str:
    """Say why a score has no mean; empty where it has one."""
    if score.disqualified:
        return "over budget"
    return "" if score.quality else f"{score.failed} failed"


def _estimates(score: Score) -> dict[str, Any]:
    return {
        "quality": _triple(score.quality),
        "mean": _triple(score.expansions_mean),
        "pooled": _triple(score.expansions_pooled),
    }


def _triple(estimate: Estimate | None) -> list[float | None] | None:
    return estimate and [value if isfinite(value) else None for value in estimate]


def _maps(findings: Findings) -> list[dict[str, Any]]:
    """Return the scores of every map by itself, where there are a few with several problems each."""
    maps = findings.runs.batches[0].places.maps
    names = _map_names(findings.runs)
    if not _tells_of_maps(maps, 2 * findings.runs.repeats):
        return []
    return [
        {
            "name": name,
            "scores": [_estimates(s) for s in score_all(findings.runs.on(maps == k), seed=findings.plan.seed)],
        }
        for k, name in enumerate(names)
    ]


def _tells_of_maps(maps: NDArray[np.int64], least: int = 2) -> bool:
    """Whether maps are few, and have problems enough, so that each has a trade-off of its own."""
    counts = np.bincount(maps)
    return 1 < len(counts) <= _MOST_MAPS and bool(counts.min() >= least)


def _map_names(runs: Runs) -> list[str]:
    return list(dict.fromkeys(ground.map for ground in runs.batches[0].places.grounds))


def kept_problems(runs: Runs) -> list[int]:
    """Return the numbers of the problems that the page holds: all, or evenly chosen ones."""
    places = runs.batches[0].places
    return _evenly(len(places) // places.repeats, len(runs.batches))


def _evenly(count: int, contenders: int) -> list[int]:
    """Return the numbers of as many of ``count`` problems as a page holds."""
    most = max(1, _MOST_RUNS // contenders)
    return list(range(count)) if count <= most else np.linspace(0, count - 1, most).astype(int).tolist()


def _problems(runs: Runs) -> dict[str, Any]:
    """Return the problems that the page holds, by columns, and how many there are."""
    places, kept = runs.batches[0].places, kept_problems(runs)
    columns = {name: getattr(places, name)[kept].tolist() for name in ("start_x", "start_y", "goal_x", "goal_y")}
    maps = {"names": _map_names(runs), "map": places.maps[kept].tolist(), "number": places.problem[kept].tolist()}
    return {"all": len(places) // places.repeats, "kept": kept, **maps, **columns}


def _values(runs: Runs) -> dict[str, Any]:
    """Return numbers of all runs, contender by contender: quality (infinite if failed), work, moves, the worst move."""
    kept, samples = kept_problems(runs), collect(runs)

    def column(values: Iterable[Any]) -> Any:
        return np.concatenate([one[kept] for one in values]).astype(np.float32)

    return {
        "quality": column(sample.quality for sample in samples),
        "work": column(sample.expansions_per_move for sample in samples),
        "moves": column(sample.moves for sample in samples),
        "worst": column(sample.column(f"max_{sample.entry.counted}") for sample in samples),
    }


# Policies of an environment


def _describe_policies(part: Part, findings: PolicyFindings, attachments: Attachments) -> dict[str, Any]:
    """Return what policies reached as the page reads it: as agents, but without budgets and commands of their own."""
    names = list(findings.runs)
    return {
        "title": part.title,
        "measure": findings.measure,
        "linear": findings.linear,
        "featured": names.index(NETWORK),
        "cards": [_policy_card(findings, names)],
        "remarks": findings.remarks(),
        "notes": findings.notes,
        "entries": [_policy_entry(name, findings.env, run) for name, run in findings.runs.items()],
        "maps": _policy_maps(findings),
        "problems": _policy_problems(findings),
        "values": attachments.add(_policy_values(findings)),
        "tables": [describe_table(table) for table in (*findings.tables(), *part.tables)],
        "settings": findings.document() | (part.settings or {}),
    }


def _policy_card(findings: PolicyFindings, names: list[str]) -> dict[str, Any]:
    told = findings.ranked()[:_NAMED]
    means = [digits(float(findings.runs[name].quality.mean())) for name in told]
    ranked = [
        {"entry": names.index(name), "value": f"{findings.measure} {mean}"}
        for name, mean in zip(told, means, strict=True)
    ]
    why = f"of all policies, it has the least {findings.measure}" if told else ""
    pick = {"title": "", "text": "every policy has failed a problem", "why": why, "alike": 0, "ranked": ranked}
    return {"heading": f"In {findings.env}", "picks": [pick]}


def _policy_entry(name: str, env: str, run: PolicyRuns) -> dict[str, Any]:
    solved, estimates = int(run.solved.sum()), run.estimates()
    return {
        "label": name,
        "agent": name,
        "budget": env,
        "prepares": False,
        "solved": f"{solved}/{run.solved.size}",
        "failed": "" if estimates["quality"] else f"{run.solved.size - solved} failed",
        **{what: _triple(found) for what, found in estimates.items()},
    }


def _map_numbers(findings: PolicyFindings) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names of the maps, and the number of every problem's."""
    names = list(dict.fromkeys(course.name for course in findings.courses))
    return names, np.array([names.index(course.name) for course in findings.courses for _ in course.tasks], np.int64)


def _policy_maps(findings: PolicyFindings) -> list[dict[str, Any]]:
    names, maps = _map_numbers(findings)
    if not _tells_of_maps(maps):
        return []
    found = [[run.on(maps == k).estimates() for run in findings.runs.values()] for k in range(len(names))]
    scores = [[{what: _triple(one) for what, one in own.items()} for own in map_] for map_ in found]
    return [{"name": name, "scores": own} for name, own in zip(names, scores, strict=True)]


def _policy_problems(findings: PolicyFindings) -> dict[str, Any]:
    names, maps = _map_numbers(findings)
    tasks = [(number, *task.start, *task.goal) for one in findings.courses for number, task in enumerate(one.tasks)]
    kept = _evenly(len(tasks), len(findings.runs))
    columns = zip(*(tasks[k] for k in kept), strict=True)
    named = dict(zip(("number", "start_x", "start_y", "goal_x", "goal_y"), map(list, columns), strict=True))
    return {"all": len(tasks), "kept": kept, "names": names, "map": maps[kept].tolist(), **named}


def _policy_values(findings: PolicyFindings) -> dict[str, Any]:
    runs = list(findings.runs.values())
    kept = _evenly(len(runs[0].solved), len(runs))
    columns = {"quality": [run.quality for run in runs], "work": [run.per_move for run in runs]}
    columns["moves"] = [run.moves for run in runs]
    return {name: np.concatenate([one[kept] for one in own]).astype(np.float32) for name, own in columns.items()}

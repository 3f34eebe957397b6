"""Runs an experiment: draw problems, train what takes part, run, judge every claim, and describe it as one document.

A document carries the stamps of the sources it was made with, and a hash of its runs of the smallest size. Once sources
have changed, these few runs are made again: if they are the same, the document still speaks for the sources of today.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import chain, islice
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from rt_gym import InputError
from rt_gym.files import make_folder
from training.experiments import load
from training.experiments.evidence import Evidence, Trained, cross_validate_all, policies_folder, train_all
from training.experiments.frame import SIZES, Experiment, Finding, Generated, Ground, Part, Split, check_size
from training.judge import Findings, find
from training.judge.tables import Table, map_tables
from training.learn import Reporting, TrainingSetup, silent
from training.runs import Course, Plan, Result, Runs, Workers, run_plan, write_tables
from training.runs.courses import by_map
from training.runs.jobs import provenance, source_stamp

STAND_INS = "Generated maps of our own stand in for the public ones: nothing here speaks about the paper."
OUT = Path("rt-gym-reproduce")
_UNCOUNTED = ("memory", "memory_bytes")  # what a run holds may change while it does the same


class Conducted(NamedTuple):
    """An experiment that was run: what it found, as JSON takes it, and the plan and the runs of every part."""

    document: dict[str, Any]
    plans: list[Plan]
    runs: list[Runs]
    folder: Path

    def findings(self) -> Iterator[Findings]:
        """Yield what follows from the runs of every part."""
        return map(find, self.plans, self.runs)


def conduct(
    experiment: Experiment,
    size: str = "smoke",
    maps: Path | None = None,
    out: Path = OUT,
    workers: Workers | None = None,
    progress: Reporting = silent,
) -> dict[str, Any]:
    """Run one experiment, write its tables, and return what it found, as JSON takes it.

    Args:
        experiment: which one.
        size: how many problems, ``"smoke"``, ``"record"`` or ``"full"``.
        maps: the folder of the public maps; without one, generated maps stand in for them.
        out: the folder for tables and jobs; what is there already is not run again.
        workers: what runs the jobs; all cores of this machine by default.
        progress: shows how far each stage has come.
    """
    return carry_out(experiment, size, maps, out, workers or Workers(), progress).document


def carry_out(
    experiment: Experiment, size: str, maps: Path | None, out: Path, workers: Workers, progress: Reporting
) -> Conducted:
    """Run one experiment and write its tables; arguments as in ``conduct``."""
    check_size(size)
    drawn = [_draw(experiment, part, size, maps, progress) for part in experiment.parts]
    home = out / experiment.id / size
    make_folder(home)
    trained = [_train(experiment, part, size, maps, home, workers, progress) for part in experiment.parts]
    plans = [
        part.plan(courses, experiment.seed, tuple(one.contender for one in own))
        for part, courses, own in zip(experiment.parts, drawn, trained, strict=True)
    ]
    found = [_run(experiment, plan, out, workers, progress) for plan in plans]
    evidence = [_evidence(*each) for each in zip(found, trained, plans, strict=True)]
    smallest = _plans(experiment, drawn) if size == SIZES[0] else _smallest(experiment, maps)
    probe = _probe(smallest, found)
    document = describe(experiment, plans, evidence, size, maps is not None) | {"probe": probe}
    settings = {"parts": [plan.document() for plan in plans], "found": document}
    write_tables(home, settings, *found)
    return Conducted(document, plans, found, home)


def _draw(experiment: Experiment, part: Part, size: str, maps: Path | None, progress: Reporting) -> tuple[Course, ...]:
    total = sum(ground.count(part.problems[size]) for ground in part.grounds)
    with progress(f"{experiment.id}: drawing problems", total) as advance:
        courses = []
        for course in part.courses(size, maps, experiment.seed):
            courses.append(course)
            advance()
    return tuple(courses)


def _train(
    experiment: Experiment,
    part: Part,
    size: str,
    maps: Path | None,
    home: Path,
    workers: Workers,
    progress: Reporting,
) -> list[Trained]:
    """Train the policies that take part, and cross-validate what is to be validated."""
    if not part.policies:
        return []
    train, validation = part.training_courses(size, maps, experiment.seed)
    folder = policies_folder(home / "policies", train, validation)
    found = {}
    with progress(f"{experiment.id}: training", len(part.policies)) as advance:
        policies = train_all(part.trainings, TrainingSetup(train, validation, workers, folder))
        for one in chain(policies, cross_validate_all(part.validations, train, folder, workers)):
            found[one.name] = one
            advance()
    return [found[name] for name in part.policies]


def _run(experiment: Experiment, plan: Plan, out: Path, workers: Workers, progress: Reporting) -> Runs:
    """Run what is not on disk yet, be it from another experiment."""
    with progress(f"{experiment.id}: running", plan.runs) as advance:
        return run_plan(plan, out, workers, advance)


def _smallest(experiment: Experiment, maps: Path | None) -> list[Plan]:
    """Return the plans of the smallest size."""
    return _plans(experiment, [tuple(part.courses(SIZES[0], maps, experiment.seed)) for part in experiment.parts])


def _plans(experiment: Experiment, drawn: Sequence[tuple[Course, ...]]) -> list[Plan]:
    """Return the plans for problems, without policies that are trained: these depend on the size."""
    return [part.plan(courses, experiment.seed) for part, courses in zip(experiment.parts, drawn, strict=True)]


def _probe(plans: Sequence[Plan], found: Sequence[Runs]) -> dict[str, Any]:
    """Return a hash of what came of the runs of plans, which are among those that were found; times do not count."""
    digest, count = sha256(), 0
    for plan, runs in zip(plans, found, strict=True):
        wanted = {contender.entry for contender in plan.contenders}
        places = [place.key for place in plan.places.rows()]
        for batch in runs.batches:
            if batch.entry in wanted:
                results = dict(zip((place.key for place in batch.places.rows()), batch.results(), strict=True))
                digest.update(repr([batch.entry, *(_counted(results[key]) for key in places)]).encode())
                count += len(places)
    return {"digest": digest.hexdigest()[:16], "runs": count}


def _counted(result: Result) -> list[Any]:
    return [value for name, value in result._asdict().items() if name not in _UNCOUNTED]


def check(
    document: dict[str, Any], maps: Path, out: Path = OUT, workers: Workers | None = None, progress: Reporting = silent
) -> dict[str, Any]:
    """Make the few runs of a document's probe again, and return the document with the stamps of today's sources.

    Raises:
        InputError: if other numbers come out, so that the experiment must be run again.
    """
    experiment = load(document["id"])
    plans = _smallest(experiment, maps)
    found = [_run(experiment, plan, out, workers or Workers(), progress) for plan in plans]
    if _probe(plans, found) != document["probe"]:
        says = "the sources have changed, and its runs come out differently: run it again"
        raise InputError(f"{experiment.id}: {says}, with {document['command']}")
    stamps = {agent: source_stamp(agent) for agent in document["sources"]}
    return document | {"checked": {"commit": provenance()["commit"], "sources": stamps}}


def _evidence(found: Runs, trained: list[Trained], plan: Plan) -> Evidence:
    validations = {one.name: one.quality for one in trained if one.quality is not None}
    return Evidence(found, validations, {course.name: course.grid for course in plan.courses})


def describe(
    experiment: Experiment, plans: Sequence[Plan], evidence: Sequence[Evidence], size: str, public: bool
) -> dict[str, Any]:
    """Return what was run and found, as JSON takes it: a plan and its evidence for every part."""
    return {
        "id": experiment.id,
        "title": experiment.title,
        "paper": experiment.paper,
        "command": f"rt-gym reproduce {experiment.id} --size {size}" + " --maps DIR" * public,
        "size": size,
        "public_maps": public,
        "seed": experiment.seed,
        "parts": [_describe_part(*each, size, public) for each in zip(experiment.parts, plans, strict=True)],
        "claims": [_describe_finding(claim.judge(evidence)) for claim in experiment.claims],
        "tables": [table._asdict() for table in experiment.tables(*evidence)],
        "by_map": [table._asdict() for table in _map_tables(experiment.parts, evidence)] if experiment.by_map else [],
        "notes": list(experiment.notes) if public else [STAND_INS],
        "changes": list(experiment.changes),
        "versions": plans[0].document()["versions"],
        "commit": provenance()["commit"],
        "processor": provenance()["processor"],
        "sources": {agent: stamp for plan in plans for agent, stamp in plan.document()["sources"].items()},
        "checked": None,
    }


def _map_tables(parts: Sequence[Part], evidence: Sequence[Evidence]) -> Iterator[Table]:
    for part, found in zip(parts, evidence, strict=True):
        yield from map_tables(f"{part.name}, " * bool(part.name), found.rows)


def _describe_part(part: Part, plan: Plan, size: str, public: bool) -> dict[str, Any]:
    low, high = part.optimal
    problems, groups = part.problems[size], iter(by_map(plan.courses))  # where maps change a problem is a course
    dealt = [(ground, [*chain(*islice(groups, ground.count(problems)))]) for ground in part.grounds]
    return {
        "name": part.name,
        "maps": [_describe_map(ground, own, public) for ground, own in dealt],
        "map_per_problem": all(isinstance(ground, Generated) for ground in part.grounds),
        "problems_per_map": problems,
        "problems_in_full": part.problems["full"],
        "optimal": [low, _finite(high)],
        "rules": _rules(plan) + f", changes: {part.changes}" * bool(part.changes),
        "max_moves": part.max_moves,
    }


def _describe_map(ground: Ground | Generated | Split, courses: Sequence[Course], public: bool) -> dict[str, Any]:
    grid = courses[0].grid
    free = round(sum(course.grid.free_cells for course in courses) / len(courses))
    size = {"width": grid.width, "height": grid.height, "free_cells": free}
    ours = isinstance(ground, (Generated, Split))
    return {"map": ground.name if public or ours else grid.name, **size, "scaled": ground.scaled and public}


def _rules(plan: Plan) -> str:
    course = plan.courses[0]
    known = "known map" if course.vision is None else f"vision {course.vision}"
    trials = {"1": "", "converge": ", until nothing more is learned"}.get(str(plan.trials), f", {plan.trials} trials")
    return f"{known}, {course.grid.connectivity} neighbours, {course.grid.cost} costs{trials}"


def _describe_finding(finding: Finding) -> dict[str, Any]:
    claim, ours = finding.claim, finding.ours
    return {
        "claim": claim.text,
        "paper": claim.paper,
        "low": _finite(claim.low),
        "high": _finite(claim.high),
        "headline": claim.headline,
        "check": claim.check,
        "direction": claim.direction and [_finite(end) for end in claim.direction],
        "ours": None if ours is None else [_finite(value) for value in ours],
        "verdict": finding.verdict,
    }


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None

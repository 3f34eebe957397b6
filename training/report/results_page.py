"""What an experiment found, as one JSON document, and the page of results that is written from such documents."""

import json
from collections.abc import Sequence
from itertools import islice
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any

from rt_gym import InputError
from rt_gym.files import atomic_write, read_bytes, shown
from training.experiments import ids
from training.experiments.evidence import Evidence, with_interval
from training.experiments.frame import Claim, Experiment, Part
from training.experiments.grounds import Generated, Ground
from training.judge import Estimate
from training.judge.tables import Table
from training.runs import Course, Plan

CLAIM_WORDS = 3  # columns of the claims that hold words
STAND_INS = "Generated maps of our own stand in for the public ones: nothing here speaks about the paper."
_PAGE, _FOLDER = "results.md", "results"
_HEAD = """\
# Results

What the papers claim, and what comes out here. This page is written by the commands on it, from the documents in
[results](results). Every number of a section comes from the command at its head, with the maps, seeds and problems that
the experiment's module fixes. `DIR` is a folder of the public MovingAI maps with a folder for each set (`bg`, `dao`,
`wc3maps512`).

A claim *holds* if the whole 95 % interval (bootstrap over problems) lies within the bar, *does not hold* if all of it
lies outside, and is *undecided* if the interval contains the bar. Bars were set before the first full run. A claim that
does not hold is left standing: no setting is tuned until it does.

subopt.: cost over optimal cost. exp.: expansions per move; mean: per problem, then over problems; pooled: all
expansions over all moves. worst move: the most expansions for one move.
"""


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
        "claims": [_describe_claim(claim) for claim in experiment.claims(*evidence)],
        "tables": [table._asdict() for table in experiment.tables(*evidence)],
        "notes": list(experiment.notes) if public else [STAND_INS],
        "changes": list(experiment.changes),
        "versions": plans[0].document()["versions"],
        "sources": {agent: stamp for plan in plans for agent, stamp in plan.document()["sources"].items()},
    }


def _describe_part(part: Part, plan: Plan, size: str, public: bool) -> dict[str, Any]:
    low, high = part.optimal
    problems, courses = part.problems[size], iter(plan.courses)
    dealt = [(ground, list(islice(courses, ground.count(problems)))) for ground in part.grounds]
    return {
        "name": part.name,
        "maps": [_describe_map(ground, own, public) for ground, own in dealt],
        "map_per_problem": all(isinstance(ground, Generated) for ground in part.grounds),
        "problems_per_map": problems,
        "problems_in_full": part.problems["full"],
        "optimal": [low, _finite(high)],
        "rules": _rules(plan),
        "max_moves": part.max_moves,
    }


def _describe_map(ground: Ground | Generated, courses: Sequence[Course], public: bool) -> dict[str, Any]:
    grid = courses[0].grid
    free = round(sum(course.grid.free_cells for course in courses) / len(courses))
    size = {"width": grid.width, "height": grid.height, "free_cells": free}
    ours = isinstance(ground, Generated)
    return {"map": ground.name if public or ours else grid.name, **size, "scaled": ground.scaled and public}


def _rules(plan: Plan) -> str:
    course = plan.courses[0]
    known = "known map" if course.vision is None else f"vision {course.vision}"
    trials = {"1": "", "converge": ", until nothing more is learned"}.get(str(plan.trials), f", {plan.trials} trials")
    return f"{known}, {course.grid.connectivity} neighbours, {course.grid.cost} costs{trials}"


def _describe_claim(claim: Claim) -> dict[str, Any]:
    bar = {"low": _finite(claim.low), "high": _finite(claim.high)}
    ours = None if claim.ours is None else [_finite(value) for value in claim.ours]
    return {"claim": claim.text, "paper": claim.paper, **bar, "ours": ours, "verdict": claim.verdict}


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _claim(found: dict[str, Any]) -> Claim:
    """Return the claim that a document describes."""
    ours = found["ours"] and Estimate(*(nan if value is None else value for value in found["ours"]))
    low, high = (end if found[name] is None else found[name] for name, end in (("low", -inf), ("high", inf)))
    return Claim(found["claim"], found["paper"], ours, low, high)


def claims_table(document: dict[str, Any]) -> Table:
    """Return the claims of a document with their verdicts."""
    columns = ["claim", "paper", "bar", "ours", "95 % interval", "verdict"]
    claims = [_claim(found) for found in document["claims"]]
    rows = [[claim.text, claim.paper, claim.bar, *with_interval(claim.ours), claim.verdict] for claim in claims]
    return Table("Claims", columns, rows)


def tables(document: dict[str, Any]) -> list[Table]:
    """Return the other tables of a document."""
    return [Table(**table) for table in document["tables"]]


def remarks(document: dict[str, Any]) -> list[str]:
    """Return what is to be said about a document's runs: maps and problems, notes, later changes."""
    parts = [text for part in document["parts"] for text in _part_remarks(part, document["seed"])]
    changes = [f"Changed after the first full run: {change}" for change in document["changes"]]
    return [*parts, *document["notes"], *changes]


def _part_remarks(part: dict[str, Any], seed: int) -> list[str]:
    head = f"{part['name']}. " * bool(part["name"])
    maps = ", ".join(_map_text(found) for found in part["maps"])
    low, high = part["optimal"]
    span = f"optimal cost from {low:g}" + (f" to {high:g}" if high is not None else "")
    count, full = part["problems_per_map"], part["problems_in_full"]
    problems = f"{count} problem{'s' * (count > 1)}" + " on each map" * (not part["map_per_problem"])
    drawn = problems + f" (in full {full:,})" * (count < full) + f", {span}, seed {seed}"
    return [f"{head}Maps: {maps}.", f"{head}{drawn}; {part['rules']}, at most {part['max_moves']:,} moves."]


def _map_text(found: dict[str, Any]) -> str:
    scaled = "scaled to " * found["scaled"]
    return f"{found['map']} ({scaled}{found['width']} x {found['height']}, {found['free_cells']:,} free cells)"


def write_page(folder: Path, documents: list[dict[str, Any]]) -> list[Path]:
    """Put documents beside those of the page in a folder, write the page anew, and return what was written."""
    files = {folder / _FOLDER / f"{document['id']}.json": document for document in documents}
    for path, document in files.items():
        atomic_write(path, (json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())
    atomic_write(folder / _PAGE, render(folder).encode())
    return [*files, folder / _PAGE]


def documents_folder(folder: Path) -> Path:
    """Return where the documents of a page lie."""
    return folder / _FOLDER


def render(folder: Path) -> str:
    """Return the page for the documents in a folder."""
    paths = [folder / _FOLDER / f"{experiment_id}.json" for experiment_id in ids()]
    return "\n".join([_HEAD, *(_section_of(path) for path in paths if path.exists())])


def _section_of(path: Path) -> str:
    data = read_bytes(path)
    try:
        return _section(json.loads(data))
    except (ValueError, TypeError, KeyError, AttributeError):
        says = "is not a document of results as this version writes it, so its experiment must be run again"
        raise InputError(f"{shown(path)}: {says}") from None


def _section(document: dict[str, Any]) -> str:
    head = f"## {document['id'].upper()}: {document['title']}\n\n{document['paper']}."
    command = f"```console\n{document['command']}\n```"
    notes = "\n".join(f"- {remark}" for remark in remarks(document))
    numbers = [f"{table.title}:\n\n{markdown(table)}" for table in tables(document)]
    parts = [head, command, markdown(claims_table(document), CLAIM_WORDS), *numbers, notes]
    return "\n\n".join(part.replace("*", r"\*") for part in parts) + "\n"


def markdown(table: Table, words: int = 1) -> str:
    """Return a table whose first columns hold words and the others numbers, without its title."""
    columns = [" ".join(column.split()) for column in table.columns]
    rule = ["---"] * words + ["---:"] * (len(columns) - words)
    return "\n".join("| " + " | ".join(row) + " |" for row in (columns, rule, *table.rows))

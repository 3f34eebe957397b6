"""What an experiment found, as one JSON document, and the page of results that is written from such documents."""

import json
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any

from rt_gym import InputError
from rt_gym.files import atomic_write, read_bytes, shown
from training.compare import Course, Estimate, Plan
from training.compare.table import Table
from training.experiments import ids
from training.experiments.evidence import Evidence, with_interval
from training.experiments.frame import Claim, Experiment, Ground

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


def describe(experiment: Experiment, plan: Plan, evidence: Evidence, size: str, public: bool) -> dict[str, Any]:
    """Return what was run and found, as JSON takes it."""
    low, high = experiment.optimal
    places = zip(experiment.grounds, plan.courses, strict=True)
    return {
        "id": experiment.id,
        "title": experiment.title,
        "paper": experiment.paper,
        "command": f"rt-gym reproduce {experiment.id} --size {size}" + " --maps DIR" * public,
        "size": size,
        "public_maps": public,
        "maps": [_describe_map(ground, course, public) for ground, course in places],
        "problems_per_map": experiment.problems[size],
        "optimal": [low, high if isfinite(high) else None],
        "seed": experiment.seed,
        "rules": _rules(plan.courses[0]),
        "max_moves": experiment.max_moves,
        "claims": [_describe_claim(claim) for claim in experiment.claims(evidence)],
        "tables": [table._asdict() for table in experiment.tables(evidence)],
        "notes": list(experiment.notes) if public else [STAND_INS],
        "changes": list(experiment.changes),
        **{name: plan.document()[name] for name in ("versions", "sources")},
    }


def _describe_map(ground: Ground, course: Course, public: bool) -> dict[str, Any]:
    grid = course.grid
    size = {"width": grid.width, "height": grid.height, "free_cells": grid.free_cells}
    return {"map": ground.file if public else course.name, **size, "scaled": ground.scaled and public}


def _rules(course: Course) -> str:
    known = "known map" if course.vision is None else f"vision {course.vision}"
    return f"{known}, {course.grid.connectivity} neighbours, {course.grid.cost} costs"


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
    maps = ", ".join(_map_text(found) for found in document["maps"])
    low, high = document["optimal"]
    span = f"optimal cost from {low:g}" + (f" to {high:g}" if high is not None else "")
    drawn = f"{document['problems_per_map']} problems on each map, {span}, seed {document['seed']}"
    rules = f"{document['rules']}, at most {document['max_moves']:,} moves"
    changes = [f"Changed after the first full run: {change}" for change in document["changes"]]
    return [f"Maps: {maps}.", f"{drawn}; {rules}.", *document["notes"], *changes]


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
    numbers = [f"{table.title}:\n\n{_markdown(table)}" for table in tables(document)]
    parts = [head, command, _markdown(claims_table(document), CLAIM_WORDS), *numbers, notes]
    return "\n\n".join(part.replace("*", r"\*") for part in parts) + "\n"


def _markdown(table: Table, words: int = 1) -> str:
    columns = [" ".join(column.split()) for column in table.columns]
    rule = ["---"] * words + ["---:"] * (len(columns) - words)
    return "\n".join("| " + " | ".join(row) + " |" for row in (columns, rule, *table.rows))

"""The page of results, written from the documents that experiments leave behind."""

import json
from math import inf, nan
from pathlib import Path
from typing import Any

from rt_gym import InputError
from rt_gym.files import atomic_write, read_bytes, shown
from training.experiments import ids
from training.experiments.evidence import with_interval
from training.experiments.frame import bar_text
from training.judge import Estimate
from training.judge.tables import Table

CLAIM_WORDS = 3  # columns of the claims that hold words
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


def claims_table(document: dict[str, Any]) -> Table:
    """Return the claims of a document with their verdicts."""
    columns = ["claim", "paper", "bar", "ours", "95 % interval", "verdict"]
    return Table("Claims", columns, [_claim_row(found) for found in document["claims"]])


def _claim_row(found: dict[str, Any]) -> list[str]:
    ours = found["ours"] and Estimate(*(nan if value is None else value for value in found["ours"]))
    low, high = (end if found[name] is None else found[name] for name, end in (("low", -inf), ("high", inf)))
    return [found["claim"], found["paper"], bar_text(low, high), *with_interval(ours), found["verdict"]]


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

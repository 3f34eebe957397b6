"""Writes what a run of the fuzzer gave: a JSON document for programs, and the table of the page about reliability."""

import json
import platform
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

from fuzz.parts import PARTS
from fuzz.runner import Report

BEGIN, END = "<!-- figures: written by make fuzz -->", "<!-- end of figures -->"
_HEADER = (
    "| part | what was tried | failures | most of a case | run on | command |\n| --- | --- | --- | --- | --- | --- |\n"
)


def document(reports: Iterable[Report]) -> dict[str, Any]:
    """Return all there is to know about a run."""
    python = f"{platform.python_implementation()} {platform.python_version()}, {platform.system()}"
    run = {"date": date.today().isoformat(), "python": python}
    return {"parts": {each.name: vars(each) | {"counts": dict(each.counts), **run} for each in reports}}


def merge(path: Path, reports: Iterable[Report]) -> dict[str, Any]:
    """Write a run to a file, where the parts that it did not try stay as they were, and return all of it."""
    new = document(reports)
    if path.exists():
        new["parts"] = json.loads(path.read_text(encoding="utf-8"))["parts"] | new["parts"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(new, indent=1) + "\n", encoding="utf-8")
    return new


def table(figures: dict[str, Any], before: str = "") -> str:
    """Return the table of a document, in the order of the parts; rows of parts that it lacks stay as they were."""
    rows = {line.split("|")[1].strip(): f"{line}\n" for line in before.splitlines() if line.startswith("|")}
    rows |= {name: _row(name, part) for name, part in figures["parts"].items()}
    return _HEADER + "".join(rows[name] for name in PARTS if name in rows)


def _row(name: str, part: dict[str, Any]) -> str:
    counts = "; ".join(f"{count:,} {kind}" for kind, count in sorted(part["counts"].items()))
    most = f"{part['slowest']:.2f} s, {part['largest']:.0f} MB"
    tried = f"{part['cases']:,} cases: {counts}"
    command = f"`make fuzz PARTS={name} CASES={part['cases']} SEED={part['seed']} MINUTES=600`"
    run = f"{part['date']}, {part['python']}"
    return f"| {name} | {tried} | {len(part['failures'])} | {most} | {run} | {command} |\n"


def write_page(page: Path, figures: dict[str, Any]) -> None:
    """Bring the rows of a document into the table of a page."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    old, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{page}: has no lines {BEGIN!r} and {END!r} to write the table between")
    page.write_text(f"{before}{BEGIN}\n\n{table(figures, old)}\n{END}{after}", encoding="utf-8")

"""The page of agents: what each of them is, and what it does on one set of problems that all of them share."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rt_gym import InputError
from rt_gym.files import atomic_write, read_bytes, shown
from training.experiments.evidence import with_interval
from training.judge import Score, score_all
from training.judge.tables import Table, digits
from training.report.results_page import markdown
from training.runs import Allowance, Draw, Plan, Runs, enlist_all, find_courses

PAGE = "agents.md"
SPLIT, PER_MAP = "mixed-test", 8
_STATIC_WORDS = 6
_HEAD = """\
# Agents

Every agent by its id, for `agents.make`, `rt-gym compare` and all else. `rt-gym agents ID` shows its readings of the
paper and what its parameters mean. This page is written by `rt-gym agents --write-docs docs`; with an id as well, that
agent alone is measured.

bound: the most expansions for one move, with the parameters as shown. prepares: whether it computes knowledge of the
map, or of the goal, before the first move; `rt-gym compare` lists and recommends such agents apart."""
_MEASURED_HEAD = "## Measured"
_MEASURED = f"""\
{_MEASURED_HEAD}

Agents with the parameters above, without a budget, on the same {{problems}} problems: the first {PER_MAP} on each
of the {{maps}} maps of the split `{SPLIT}`, which they know. `rt-gym compare` sets agents against each other under
equal budgets, on any maps.

subopt.: cost over optimal cost. exp., scans: expansions and scans per move; mean: per problem, then over problems;
pooled: all of them over all moves. worst move: the most expansions for one move. states, kB: the most that the agent
held on one of these problems, learned values or the states of its search, without the map and what was precomputed for
it. µs: microseconds per move, the median of all problems, on one core of the machine that wrote this page."""
_NOT_MEASURED = "Not measured yet: {}."
_ROW = re.compile(r"^\| `([^`]+)` \|.*$", re.MULTILINE)


def common_plan(ids: Iterable[str]) -> Plan:
    """Return all runs of agents, with their default parameters, on the common problems."""
    courses = find_courses([SPLIT], Draw(PER_MAP))
    return Plan(tuple(enlist_all(ids, [Allowance.of(None)])), tuple(courses))


def write_agents_page(folder: Path, entries: Sequence[dict[str, Any]], runs: Runs) -> Path:
    """Write the page of agents, from what describes them and from their runs on the common problems.

    An agent without runs keeps the row that the page has; without one it is listed as not measured.
    """
    places = {row.place for row in runs}
    said = _MEASURED.format(problems=len(places), maps=len({place.map for place in places}))
    table = markdown(_measured_table(runs)).replace("*", r"\*")
    lines = kept_rows(folder / PAGE) | rows_by_id(table)
    ids = [entry["id"] for entry in entries]
    parts = [_HEAD, static_part(entries), said, _with_rows(table, [lines[name] for name in ids if name in lines])]
    if missing := [f"`{name}`" for name in ids if name not in lines]:
        parts.append(_NOT_MEASURED.format(", ".join(missing)))
    atomic_write(folder / PAGE, ("\n\n".join(parts) + "\n").encode())
    return folder / PAGE


def rows_by_id(text: str) -> dict[str, str]:
    """Return the rows of a table on the page by the id they begin with."""
    return {row[1]: row[0] for row in _ROW.finditer(text)}


def kept_rows(page: Path) -> dict[str, str]:
    """Return the measured rows that a page has, none if there is no such page."""
    if not page.is_file():
        return {}
    try:
        text = read_bytes(page).decode()
    except UnicodeDecodeError:
        raise InputError(f"{shown(page)}: is not a page of agents, nor any text") from None
    return rows_by_id(text.partition(f"\n{_MEASURED_HEAD}\n")[2])


def _with_rows(table: str, rows: Iterable[str]) -> str:
    """Return a table with the same head and these rows."""
    return "\n".join([*table.splitlines()[:2], *rows])


def static_part(entries: Iterable[dict[str, Any]]) -> str:
    """Return the table of what agents are, as the page has it."""
    columns = ["id", "what it does", "parameters", "bound", "prepares", "source"]
    lines = [
        [
            f"`{entry['id']}`",
            entry["summary"],
            " ".join(f"`{name}={value}`" for name, value in entry["parameters"].items()),
            "none" if entry["bound"] is None else f"{entry['bound']:,}",
            "yes" if entry["precomputes"] else "",
            entry["source"] or "this project",
        ]
        for entry in entries
    ]
    return markdown(Table("Agents", columns, lines), _STATIC_WORDS).replace("*", r"\*")


def _measured_table(runs: Runs) -> Table:
    work = ["exp. mean", "exp. pooled", "scans pooled", "worst move", "states", "kB", "µs"]
    columns = ["id", "subopt. mean", "95 % interval", *work, "solved"]
    micros = _micros_per_move(runs)
    return Table("Measured", columns, [_line(score, micros) for score in score_all(runs)])


def _line(score: Score, micros: dict[str, float]) -> list[str]:
    agent = score.entry.agent
    numbers = score.expansions_mean.value, score.expansions_pooled.value, score.scans_pooled
    worst = f"{score.worst_move:,}"
    return [
        f"`{agent}`",
        *with_interval(score.quality),
        *map(digits, numbers),
        worst,
        f"{score.states:,}",
        digits(score.state_bytes / 1000),
        digits(micros[agent]),
        score.solved,
    ]


def _micros_per_move(runs: Runs) -> dict[str, float]:
    """Return the median over problems: a run takes milliseconds, so that a mean would tell of the machine."""
    return {
        batch.entry.agent: float(np.median(1e6 * batch.columns["seconds"] / np.maximum(1, batch.columns["moves"])))
        for batch in runs.batches
    }

"""``rt-gym agents``: which algorithms there are, what they take, and where they come from."""

import inspect
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.cli.options import AsJson, Backend, Jobs, Scheduler, make_workers
from training.cli.terminal import make_folder, print_json, print_table, progress

if TYPE_CHECKING:
    from training.runs import Workers

_YEAR = re.compile(r"\b(19|20)\d\d\b")

Docs = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="Measure all agents, or only ID, on the same problems and write FOLDER/agents.md."
    ),
]


def agents(
    agent: Annotated[str | None, typer.Argument(metavar="[ID]", help="Tell all about this one.")] = None,
    as_json: AsJson = False,
    write_docs: Docs = None,
    jobs: Jobs = -1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
) -> None:
    """List the agents, or tell all about one: citation, readings and parameters."""
    from agents import ids

    workers = make_workers(jobs, backend, scheduler) if write_docs else None
    wanted = ids() if agent is None else [agent]
    entries = [describe(name) for name in wanted]
    if write_docs and workers:
        _write_docs(write_docs, wanted, workers)
    elif as_json:
        print_json(entries if agent is None else entries[0])
    elif agent is None:
        _print_all(entries)
    else:
        _print_one(entries[0])


def describe(agent_id: str) -> dict[str, Any]:
    """Return what an agent is: its parameters, bound, summary, source and documentation."""
    from agents import load, make, parameters

    kind = load(agent_id)
    docs = _docs(kind)
    return {
        "id": agent_id,
        "parameters": parameters(agent_id),
        "bound": make(agent_id).bound,
        "summary": docs[0].splitlines()[0],
        "source": _source(docs[0]),
        "documentation": "\n\n".join(docs),
    }


def _source(text: str) -> str | None:
    """Return the paragraph after the first line if it cites something, which has a year."""
    paragraph = " ".join([*text.split("\n\n"), ""][1].split())
    return paragraph if _YEAR.search(paragraph) else None


def _write_docs(folder: Path, measured: list[str], workers: "Workers") -> None:
    """Write the page of all agents; those that are not measured now keep the row that it has."""
    from agents import ids
    from training.report.agents_page import common_plan, write_agents_page
    from training.runs import run_plan

    make_folder(folder)
    plan = common_plan(measured)
    with progress("measuring", plan.runs) as advance:
        rows, timings = run_plan(plan, workers=workers, advance=advance)
    typer.echo(str(write_agents_page(folder, [describe(name) for name in ids()], rows, timings)))


def _docs(kind: type) -> list[str]:
    """Return the docstrings of the algorithm and of the class, which lists the parameters."""
    return [inspect.getdoc(item) or "" for item in (sys.modules[kind.__module__], kind)]


def _print_all(entries: list[dict[str, Any]]) -> None:
    rows = [[entry["id"], _parameters(entry), _bound(entry), entry["summary"]] for entry in entries]
    print_table("Agents", ["id", "parameters", "bound*", "what it does"], rows, left=4)
    typer.echo("* the most expansions for one move, with the parameters as shown; rt-gym agents ID tells more")


def _print_one(entry: dict[str, Any]) -> None:
    typer.echo(f"{entry['id']} ({_parameters(entry)}; bound per move: {_bound(entry)})\n\n{entry['documentation']}")


def _parameters(entry: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in entry["parameters"].items()) or "no parameters"


def _bound(entry: dict[str, Any]) -> str:
    return "none" if entry["bound"] is None else str(entry["bound"])

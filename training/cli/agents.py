"""``rt-gym agents``: which algorithms there are, what they take, and where they come from.

``rt-gym bench``: how fast this processor is, and whether A* agrees with published optimal lengths.
"""

import inspect
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.cli.terminal import (
    AsJson,
    Backend,
    Jobs,
    Scheduler,
    gather,
    make_folder,
    make_workers,
    print_json,
    print_table,
    progress,
)

if TYPE_CHECKING:
    from training.judge.speed import Check, Throughput
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
    """Return what an agent is: its parameters, bound, preparation, summary, source and documentation."""
    from agents import load, make, parameters

    kind = load(agent_id)
    docs = _docs(kind)
    return {
        "id": agent_id,
        "parameters": parameters(agent_id),
        "bound": make(agent_id).bound,
        "precomputes": bool(kind.precomputes),
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
    from training.report.measured import common_plan, write_agents_page
    from training.runs import run_plan

    make_folder(folder)
    plan = common_plan(measured)
    with progress("measuring", plan.runs) as advance:
        runs = run_plan(plan, workers=workers, advance=advance)
    typer.echo(str(write_agents_page(folder, [describe(name) for name in ids()], runs)))


def _docs(kind: type) -> list[str]:
    """Return the docstrings of the algorithm and of the class, which lists the parameters."""
    return [inspect.getdoc(item) or "" for item in (sys.modules[kind.__module__], kind)]


def _print_all(entries: list[dict[str, Any]]) -> None:
    rows = [[entry["id"], _parameters(entry), _bound(entry), _prepares(entry), entry["summary"]] for entry in entries]
    print_table("Agents", ["id", "parameters", "bound*", "prepares", "what it does"], rows, left=5)
    typer.echo("* the most expansions for one move, with the parameters as shown; rt-gym agents ID tells more")
    typer.echo("prepares: whether it computes knowledge of the map, or of the goal, before the first move")


def _print_one(entry: dict[str, Any]) -> None:
    prepares = "; prepares itself for a map beforehand" if entry["precomputes"] else ""
    head = f"{entry['id']} ({_parameters(entry)}; bound per move: {_bound(entry)}{prepares})"
    typer.echo(f"{head}\n\n{entry['documentation']}")


def _parameters(entry: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in entry["parameters"].items()) or "no parameters"


def _bound(entry: dict[str, Any]) -> str:
    return "none" if entry["bound"] is None else str(entry["bound"])


def _prepares(entry: dict[str, Any]) -> str:
    return "yes" if entry["precomputes"] else ""


_OPTIMAL = "astar"
_MAP, _RANGE, _PROBLEMS, _BUDGET = "terrain-512", (100, 300), 10, 100

Scen = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="Run all problems of the .map.scen files here and of .scen files of version 2."
    ),
]
Checked = Annotated[
    str, typer.Option(metavar="ID[:NAME=VALUE,...]", help="With --scen: who runs them; A* has to be optimal.")
]


def bench(
    scen: Scen = None,
    agent: Checked = _OPTIMAL,
    as_json: AsJson = False,
    jobs: Jobs = -1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
) -> None:
    """Measure the speed of every agent here, or check A* against the optimal lengths of scenario files."""
    workers = make_workers(jobs, backend, scheduler)
    if scen is None:
        _measure_speed(as_json)
    else:
        _check_scenarios(scen, agent, workers, as_json)


def _measure_speed(as_json: bool) -> None:
    from agents import ids
    from rt_gym import load_map, sample_problems
    from training.judge.speed import throughput

    problems = sample_problems(load_map(_MAP), _PROBLEMS, *_RANGE)
    measured = (throughput(agent_id, problems, _BUDGET) for agent_id in ids())
    results = gather("measuring", measured, len(ids()))
    if as_json:
        print_json({"map": _MAP, "results": [asdict(result) for result in results]})
        return
    columns = ["agent", "moves/s", "expansions/s", "µs per 100 expansions"]
    print_table(f"Speed on {_MAP}, one core", columns, list(map(_speed_row, results)))


def _speed_row(result: "Throughput") -> list[str]:
    speeds = [f"{result.moves_per_second:,.0f}", f"{result.expansions_per_second:,.0f}"]
    return [result.label, *speeds, f"{1e8 / result.expansions_per_second:.1f}"]


def _check_scenarios(folder: Path, agent: str, workers: "Workers", as_json: bool) -> None:
    from training.judge.speed import FIRST_STEPS, check_all, scenario_files

    files = scenario_files(folder)
    with progress(f"checking {agent}", len(files)) as advance:
        checks = check_all(files, agent, workers, advance)
    problems, matching, skipped = (
        sum(getattr(check, name) for check in checks) for name in ("problems", "matching", "skipped")
    )
    if as_json:
        counts = {"problems": problems, "matching": matching, "skipped": skipped}
        print_json({"agent": agent, "maps": [asdict(check) for check in checks], **counts})
    else:
        times = [f"µs for\n{FIRST_STEPS} steps", "µs for the\nlongest"]
        columns = ["\nmap", "\nproblems", "\nmatching", "\nskipped", "largest\ndeviation", "expansions\nper s", *times]
        print_table(agent, columns, [_check_row(check, folder) for check in checks])
        left_out = f", {skipped} on blocked cells are left out" if skipped else ""
        typer.echo(f"{matching} of {problems} match{left_out}")
    if matching < problems and agent == _OPTIMAL:
        raise typer.Exit(1)


def _check_row(check: "Check", folder: Path) -> list[str]:
    from rt_gym.files import shown
    from training.judge.tables import Alarm

    return [
        shown(Path(check.map).relative_to(folder).with_suffix("")),
        str(check.problems),
        (str if check.matching == check.problems else Alarm)(check.matching),
        str(check.skipped),
        f"{check.largest_deviation:.6f}",
        f"{check.expansions_per_second:,.0f}",
        *(f"{1e6 * seconds:,.0f}" for seconds in (check.first_steps_seconds, check.longest_step_seconds)),
    ]

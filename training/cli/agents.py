"""``rt-gym agents``, ``rt-gym bench`` and ``rt-gym demo``: which algorithms there are, how fast, and how well.

``agents``: what they take, and where they come from. ``bench``: how fast this processor is, and whether A* agrees with
published optimal lengths. ``demo``: a small comparison of classical and learned agents, with a plot and a picture.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.cli.terminal import (
    AsJson,
    Backend,
    Jobs,
    Scheduler,
    Seed,
    gather,
    leave_report,
    make_folder,
    make_workers,
    named,
    print_json,
    print_table,
    print_tables,
    progress,
)

if TYPE_CHECKING:
    from rt_gym import Problem
    from training.judge import Findings, Score
    from training.judge.speed import Check, Throughput
    from training.judge.tables import Table
    from training.runs import Contender, Plan, Workers

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


_DEMO_AGENTS = (
    "astar",
    "weighted-astar",
    "lrta",
    "lss-lrta",
    "rule-lrta",
    "classifier-lrta",
    "policy-lrta",
    "oracle-lrta",
)
_DEMO_BUDGETS = (10, 100, 1000)
_DEMO_MAPS = {"caves-128": (60, 200), "terrain-512": (100, 300)}  # with the range of optimal costs
_DEMO_PROBLEMS = 20
_MAX_MOVES = 1_000_000
_PICTURED = "terrain-512", "lss-lrta", 100

_DEMO_NOTES = """\
The two A* have no bound per move: they stand still, one move at a time, until their path is found.
lrta looks equally far at every move. rule-lrta chooses its depth by a rule, classifier-lrta by a learned tree,
policy-lrta by a learned network, oracle-lrta by what the deepest lookahead would do (which is counted as scans)."""


def demo(
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the plot and the picture are written.", parser=named)
    ] = Path("rt-gym-demo"),
    seed: Seed = 0,
    jobs: Jobs = 1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Compare classical and learned agents on two maps at three budgets, draw a plot and a picture of one run."""
    workers = make_workers(jobs, backend, scheduler)
    plans = {name: _plan(name, seed) for name in _DEMO_MAPS}
    make_folder(out)
    findings = _compare(plans, workers)
    files = [str(path) for path in (*_draw(findings, out), _leave_report(findings, out))]
    if as_json:
        print_json({"seed": seed, "maps": [_document(*pair) for pair in findings.items()], "files": files})
        return
    print_tables(_table(*pair) for pair in findings.items())
    typer.echo("\n".join([next(iter(findings.values())).notes(), _DEMO_NOTES, "", *files]))


def _leave_report(findings: "dict[str, Findings]", out: Path) -> Path:
    from training.report.comparison import Part

    parts = [Part(_title(name), found) for name, found in findings.items()]
    return leave_report(out, "Classical and learned agents", parts)


def _plan(name: str, seed: int) -> "Plan":
    """Return all agents at all budgets on a map."""
    from training.runs import Allowance, Draw, Plan, enlist_all, find_courses

    courses = find_courses([name], Draw(_DEMO_PROBLEMS, *_DEMO_MAPS[name], seed))
    contenders = enlist_all(_DEMO_AGENTS, map(Allowance.of, _DEMO_BUDGETS))
    return Plan(tuple(contenders), tuple(courses), max_moves=_MAX_MOVES, seed=seed)


def _compare(plans: "dict[str, Plan]", workers: "Workers") -> "dict[str, Findings]":
    from training.judge import find
    from training.runs import run_plan

    findings = {}
    with progress("", sum(plan.runs for plan in plans.values())) as advance:
        for name, plan in plans.items():
            advance(0, name)
            findings[name] = find(plan, run_plan(plan, workers=workers, advance=advance))
    return findings


def _table(name: str, findings: "Findings") -> "Table":
    """Return the main table of a map under a title that names it."""
    return findings.tables()[0]._replace(title=_title(name))


def _title(name: str) -> str:
    low, high = _DEMO_MAPS[name]
    return f"{name}: {_DEMO_PROBLEMS} problems with optimal costs from {low} to {high}"


def _draw(findings: "dict[str, Findings]", out: Path) -> Iterator[Path]:
    """Write the plot and the picture of the longest problem's run, and yield where they are."""
    from training.judge.plots import draw_panels, save, score_panel

    figure = draw_panels([score_panel(_title(name), found.scores, "mean") for name, found in findings.items()])
    yield save(figure, out / "suboptimality.png")
    yield save(figure, out / "suboptimality.svg")
    (course,) = findings[_PICTURED[0]].plan.courses
    problem = max(map(course.problem, course.tasks), key=lambda problem: problem.optimal or 0.0)
    yield _picture(problem, findings[_PICTURED[0]].plan.seed, out / "run.png")


def _picture(problem: "Problem", seed: int, path: Path) -> Path:
    import agents
    from training.judge.plots import draw_run, save

    name, agent_id, budget = _PICTURED
    agent = agents.make(agent_id, budget=budget)
    run = agents.run(agent, problem, budget=budget, max_moves=_MAX_MOVES, seed=seed)
    title = f"{agent_id} on {name}, {budget} expansions per move"
    return save(draw_run(title, run, agent.layers()["h"], agents.run("astar", problem).path), path)


def _document(name: str, findings: "Findings") -> dict[str, Any]:
    from training.judge.tables import slow_moves

    slow = slow_moves(findings.runs)
    pairs = zip(findings.plan.contenders, findings.scores, strict=True)
    settings = [_setting(contender, score) | {"move_seconds_p99": slow[score.entry]} for contender, score in pairs]
    low, high = _DEMO_MAPS[name]
    return {"map": name, "optimal_from": low, "optimal_to": high, "settings": settings}


def _setting(contender: "Contender", score: "Score") -> dict[str, Any]:
    """Return one setting of an agent and its numbers, as JSON takes them: none is infinite."""
    median = score.quality_median
    return {
        "agent": contender.agent,
        "settings": contender.settings,
        "budget": score.entry.limit,
        "problems": score.problems,
        "failures": score.failures,
        "suboptimality_mean": score.quality.value if score.quality else None,
        "suboptimality_median": median if isfinite(median) else None,
        "expansions_mean": score.expansions_mean.value,
        "expansions_pooled": score.expansions_pooled.value,
        "scans_pooled": score.scans_pooled,
        "worst_move": score.worst_move,
    }

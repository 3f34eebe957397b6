"""``rt-gym demo``: a small comparison of classical and learned agents, in tables, a plot and a picture."""

from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.cli.reporting import leave_report
from training.cli.terminal import (
    AsJson,
    Backend,
    Jobs,
    Scheduler,
    Seed,
    make_folder,
    make_workers,
    named,
    print_json,
    print_tables,
    progress,
)

if TYPE_CHECKING:
    from rt_gym import Problem
    from training.judge import Findings, Score
    from training.judge.tables import Table
    from training.runs import Contender, Plan, Workers

_AGENTS = ("astar", "weighted-astar", "lrta", "lss-lrta", "rule-lrta", "classifier-lrta", "policy-lrta", "oracle-lrta")
_BUDGETS = (10, 100, 1000)
_MAPS = {"caves-128": (60, 200), "terrain-512": (100, 300)}  # with the range of optimal costs
_PROBLEMS = 20
_MAX_MOVES = 1_000_000
_PICTURED = "terrain-512", "lss-lrta", 100

_NOTES = """\
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
    plans = {name: _plan(name, seed) for name in _MAPS}
    make_folder(out)
    findings = _compare(plans, workers)
    files = [str(path) for path in (*_draw(findings, out), _leave_report(findings, out))]
    if as_json:
        print_json({"seed": seed, "maps": [_document(*pair) for pair in findings.items()], "files": files})
        return
    print_tables(_table(*pair) for pair in findings.items())
    typer.echo("\n".join([next(iter(findings.values())).notes(), _NOTES, "", *files]))


def _leave_report(findings: "dict[str, Findings]", out: Path) -> Path:
    from training.report.comparison import Part

    parts = [Part(_title(name), found) for name, found in findings.items()]
    return leave_report(out, "Classical and learned agents", parts)


def _plan(name: str, seed: int) -> "Plan":
    """Return all agents at all budgets on a map."""
    from training.runs import Allowance, Draw, Plan, enlist_all, find_courses

    courses = find_courses([name], Draw(_PROBLEMS, *_MAPS[name], seed))
    contenders = enlist_all(_AGENTS, map(Allowance.of, _BUDGETS))
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
    low, high = _MAPS[name]
    return f"{name}: {_PROBLEMS} problems with optimal costs from {low} to {high}"


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
    low, high = _MAPS[name]
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

"""``rt-gym demo``: classical and learned agents side by side, in a table, a plot and a picture."""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.cli.terminal import AsJson, Seed, make_folder, print_json, print_table, progress

if TYPE_CHECKING:
    from rt_gym import Problem
    from training.judge.speed import Summary

_AGENTS = ("astar", "weighted-astar", "lrta", "lss-lrta", "rule-lrta", "classifier-lrta", "policy-lrta", "oracle-lrta")
_BUDGETS = (10, 100, 1000)
_MAPS = {"caves-128": (60, 200), "terrain-512": (100, 300)}  # with the range of optimal costs
_PROBLEMS = 20
_MAX_MOVES = 1_000_000
_PICTURED = "terrain-512", "lss-lrta", 100

_COLUMNS = (
    "\nagent",
    "subopt.\nmean",
    "subopt.\nmedian",
    "exp.\nmean",
    "exp.\npooled",
    "scans\npooled",
    "worst\nmove",
    "\nsolved",
    "µs\np50",
    "µs\np99",
)
_NOTES = """\
subopt.: cost walked / optimal cost. exp., scans, µs: expansions, scans and time per move.
mean: per problem, then over problems. pooled: all work / all moves. worst move: the most expansions.
p50, p99: of each run, then the median over problems.
The two A* have no bound per move: they stand still, one move at a time, until their path is found.
lrta looks equally far at every move. rule-lrta chooses its depth by a rule, classifier-lrta by a learned tree,
policy-lrta by a learned network, oracle-lrta by what the deepest lookahead would do (which is counted as scans).
"""


def demo(
    out: Annotated[Path, typer.Option(help="The folder for the plot and the picture.")] = Path("rt-gym-demo"),
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare classical and learned agents on two maps at three budgets, draw a plot and a picture of one run."""
    make_folder(out)
    problems = _sample(seed)
    summaries = _measure(problems, seed)
    files = [str(path) for path in _draw(problems, summaries, seed, out)]
    if as_json:
        print_json({"seed": seed, "maps": [_document(name, summaries[name]) for name in _MAPS], "files": files})
        return
    for name in _MAPS:
        print_table(_title(name), _COLUMNS, list(_rows(summaries[name])))
    typer.echo("\n".join([_NOTES, *files]))


def _sample(seed: int) -> "dict[str, list[Problem]]":
    from rt_gym import load_map, sample_problems

    return {name: sample_problems(load_map(name), _PROBLEMS, *span, seed=seed) for name, span in _MAPS.items()}


def _measure(problems: "dict[str, list[Problem]]", seed: int) -> "dict[str, list[Summary]]":
    from training.judge.speed import measure

    summaries: dict[str, list[Summary]] = {name: [] for name in problems}
    with progress("", len(_MAPS) * len(_BUDGETS) * len(_AGENTS)) as advance:
        for name in problems:
            for budget in _BUDGETS:
                for agent in _AGENTS:
                    advance(0, f"{agent} on {name}, {budget} expansions per move")
                    summaries[name].append(measure(agent, problems[name], budget, _MAX_MOVES, seed))
                    advance()
    return summaries


def _draw(
    problems: "dict[str, list[Problem]]", summaries: "dict[str, list[Summary]]", seed: int, out: Path
) -> Iterator[Path]:
    """Write the plot and the picture of the longest problem's run, and yield where they are."""
    import agents
    from training.judge.plots import draw_run, draw_tradeoff, save

    figure = draw_tradeoff({_title(name): summaries[name] for name in summaries})
    yield save(figure, out / "suboptimality.png")
    yield save(figure, out / "suboptimality.svg")
    name, agent_id, budget = _PICTURED
    agent = agents.make(agent_id, budget=budget)
    problem = max(problems[name], key=lambda problem: problem.optimal or 0.0)
    run = agents.run(agent, problem, budget=budget, max_moves=_MAX_MOVES, seed=seed)
    title = f"{agent_id} on {name}, {budget} expansions per move"
    best = agents.run("astar", problem)
    yield save(draw_run(title, run, agent.layers()["h"], best.path), out / "run.png")


def _title(name: str) -> str:
    low, high = _MAPS[name]
    return f"{name}: {_PROBLEMS} problems with optimal costs from {low} to {high}"


def _rows(summaries: "list[Summary]") -> Iterator[list[str]]:
    """Yield a heading per budget and a row per setting."""
    for budget, group in groupby(summaries, key=lambda summary: summary.budget):
        yield [f"budget {budget}"]
        yield from map(_row, group)


def _row(summary: "Summary") -> list[str]:
    from training.judge.tables import Alarm

    return [
        summary.label,
        Alarm(f"{summary.failed} failed") if summary.failed else _ratio(summary.suboptimality_mean),
        _ratio(summary.suboptimality_median),
        f"{summary.expansions_mean:.1f}",
        f"{summary.expansions_pooled:.1f}",
        f"{summary.scans_pooled:.1f}",
        str(summary.worst_move),
        f"{summary.problems - summary.failed}/{summary.problems}",
        _digits(summary.move_seconds_p50 * 1e6),
        _digits(summary.move_seconds_p99 * 1e6),
    ]


def _ratio(value: float) -> str:
    """Return a suboptimality, or a dash where failures leave none."""
    return "-" if value == inf else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _digits(value: float) -> str:
    """Return a time with about three digits."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _document(name: str, summaries: "list[Summary]") -> dict[str, Any]:
    """Return what JSON can hold: no infinite numbers."""
    low, high = _MAPS[name]
    settings = [
        {key: None if value == inf else value for key, value in asdict(summary).items()} for summary in summaries
    ]
    return {"map": name, "optimal_from": low, "optimal_to": high, "settings": settings}

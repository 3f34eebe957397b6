"""``rt-gym bench``: how fast this processor is, and whether A* agrees with published optimal lengths."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli.options import AsJson, Backend, Jobs, Scheduler, make_workers
from training.cli.terminal import gather, print_json, print_table, progress

if TYPE_CHECKING:
    from training.judge.speed import Check, Throughput
    from training.runs import Workers

_MAP, _RANGE, _PROBLEMS, _BUDGET = "terrain-512", (100, 300), 10, 100

Scen = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Check A* on all problems of the .map.scen files here, beside their .map."),
]


def bench(
    scen: Scen = None,
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
        _check_scenarios(scen, workers, as_json)


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


def _check_scenarios(folder: Path, workers: "Workers", as_json: bool) -> None:
    from training.judge.speed import check_all, scenario_files

    files = scenario_files(folder)
    with progress("checking A*", len(files)) as advance:
        checks = check_all(files, workers, advance)
    problems, matching = sum(check.problems for check in checks), sum(check.matching for check in checks)
    if as_json:
        print_json({"maps": [asdict(check) for check in checks], "problems": problems, "matching": matching})
    else:
        columns = ["map", "problems", "matching", "largest deviation", "expansions/s"]
        print_table("A*", columns, [_check_row(check, folder) for check in checks])
        typer.echo(f"{matching} of {problems} match")
    if matching < problems:
        raise typer.Exit(1)


def _check_row(check: "Check", folder: Path) -> list[str]:
    from rt_gym.files import shown
    from training.judge.tables import Alarm

    return [
        shown(Path(check.map).relative_to(folder).with_suffix("")),
        str(check.problems),
        (str if check.matching == check.problems else Alarm)(check.matching),
        f"{check.largest_deviation:.6f}",
        f"{check.expansions_per_second:,.0f}",
    ]

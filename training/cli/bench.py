"""``rt-gym bench``: how fast this processor is, and whether A* agrees with published optimal lengths."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from training.cli.options import AsJson
from training.cli.terminal import gather, print_json, print_table

_MAP, _RANGE, _PROBLEMS, _BUDGET = "terrain-512", (100, 300), 10, 100


def bench(
    scen: Annotated[
        Path | None,
        typer.Option(help="A folder of .map.scen files with their .map files beside them: check A* on all problems."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure the speed of every agent here, or check A* against the optimal lengths of scenario files."""
    if scen is None:
        _measure_speed(as_json)
    else:
        _check_scenarios(scen, as_json)


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
    rows = [
        [
            result.label,
            f"{result.moves_per_second:,.0f}",
            f"{result.expansions_per_second:,.0f}",
            f"{1e8 / result.expansions_per_second:.1f}",
        ]
        for result in results
    ]
    print_table(f"Speed on {_MAP}, one core", ["agent", "moves/s", "expansions/s", "µs per 100 expansions"], rows)


def _check_scenarios(folder: Path, as_json: bool) -> None:
    from rt_gym.files import shown
    from training.judge.speed import check_all, scenario_files
    from training.judge.tables import Alarm

    files = scenario_files(folder)
    checks = gather("checking A*", check_all(files), len(files))
    problems, matching = sum(check.problems for check in checks), sum(check.matching for check in checks)
    if as_json:
        print_json({"maps": [asdict(check) for check in checks], "problems": problems, "matching": matching})
    else:
        rows = [
            [
                shown(Path(check.map).relative_to(folder).with_suffix("")),
                str(check.problems),
                (str if check.matching == check.problems else Alarm)(check.matching),
                f"{check.largest_deviation:.6f}",
                f"{check.expansions_per_second:,.0f}",
            ]
            for check in checks
        ]
        print_table("A*", ["map", "problems", "matching", "largest deviation", "expansions/s"], rows)
        typer.echo(f"{matching} of {problems} match")
    if matching < problems:
        raise typer.Exit(1)

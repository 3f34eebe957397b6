"""What the benchmarks share: a map with problems, CPU time of alternated repeats, and one kind of table."""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

# This checkout is measured, installed or not. Scripts import this module before any of the packages.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rt_gym import Grid, Problem, load_map, load_scenarios, sample_problems

ROOT = Path(__file__).resolve().parents[1]
GAME_MAPS = ROOT.parent / "shared" / "maps" / "bg512"
BUNDLED = "terrain-512"
PROBLEMS = 25


class Row(NamedTuple):
    """A line of the table; ``aim`` is empty where nothing was aimed at."""

    what: str
    detail: str
    measured: str
    aim: str = ""
    reached: str = ""


def at_least(what: str, detail: str, value: float, aim: float, unit: str = "x") -> Row:
    return Row(what, detail, f"{value:,.3g} {unit}", f"at least {aim:g}", "yes" if value >= aim else "NO")


def at_most(what: str, detail: str, value: float, aim: float, unit: str) -> Row:
    return Row(what, detail, f"{value:,.3g} {unit}", f"at most {aim:g}", "yes" if value <= aim else "NO")


def holds(what: str, detail: str, fact: bool) -> Row:
    return Row(what, detail, "yes" if fact else "no", "yes", "yes" if fact else "NO")


def ratio(what: str, task: float, other: float, aim: float | None = None, name: str = "") -> Row:
    """Compare the seconds of our task with those of another."""
    detail = f"{milliseconds(task)} against {milliseconds(other)}{' of ' if name else ''}{name}"
    if aim is None:
        return Row(what, detail, f"{other / task:,.3g} x")
    return at_least(what, detail, other / task, aim)


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:,.3g} ms" if seconds < 1 else f"{seconds:,.3g} s"


def cpu(task: Callable[[], Any]) -> float:
    """Return the CPU seconds of one call."""
    began = time.process_time()
    task()
    return time.process_time() - began


def alternate(*tasks: Callable[[], Any], repeats: int = 5) -> list[float]:
    """Return the least CPU seconds of every task over repeats in turn (A, B, A, B, ...), after a warm-up of each."""
    for task in tasks:
        task()
    rounds = [[cpu(task) for task in tasks] for _ in range(repeats)]
    return [min(times) for times in zip(*rounds, strict=True)]


def arguments(about: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=about)
    game = GAME_MAPS / "AR0411SR.map"
    parser.add_argument(
        "--map",
        default=str(game) if game.is_file() else BUNDLED,
        help="a map file, best with its scenario file beside it, or the name of a bundled map (default: %(default)s)",
    )
    return parser


def problems_of(grid: Grid, source: str) -> list[Problem]:
    """Return 25 problems, spread over the scenario file beside the map; sampled where there is none."""
    path = Path(f"{source}.scen")
    if not path.is_file():
        return sample_problems(grid, PROBLEMS, low=100.0)
    scenarios = load_scenarios(path)
    chosen = [scenarios[i * len(scenarios) // PROBLEMS] for i in range(PROBLEMS)]
    return [Problem(grid, scenario.start, scenario.goal) for scenario in chosen]


def load(source: str) -> tuple[Grid, list[Problem]]:
    grid = load_map(source)
    return grid, problems_of(grid, source)


def heading(title: str) -> None:
    load_average = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    print(f"{title}\nCPU time, best of alternated repeats; {os.cpu_count()} processors, load average {load_average}\n")


def print_rows(rows: Iterable[Row]) -> None:
    """Print a table as soon as its rows are known."""
    table = [Row("what", "detail", "measured", "aim", "reached"), *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print(flush=True)

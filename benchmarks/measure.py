"""What the benchmarks share: a map with problems, CPU time of alternated repeats, and one kind of table."""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

# This checkout is measured, installed or not. Scripts import this module before any of the packages.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agents import KernelAgent
from rt_gym import Grid, Problem, World, load_map, load_scenarios, sample_problems

ROOT = Path(__file__).resolve().parents[1]
GAME_MAP = ROOT.parent / "shared" / "maps" / "bg512" / "AR0411SR.map"
PROBLEMS = 25


class Row(NamedTuple):
    """A line of a table; where nothing is aimed at, the last two are empty."""

    what: str
    detail: str
    measured: str
    aim: str = ""
    reached: str = ""


def at_least(what: str, detail: str, value: float, aim: float, unit: str = "") -> Row:
    return Row(what, detail, f"{digits(value)} {unit}", f"at least {digits(aim)}", "yes" if value >= aim else "NO")


def at_most(what: str, detail: str, value: float, aim: float, unit: str = "") -> Row:
    return Row(what, detail, f"{digits(value)} {unit}", f"at most {digits(aim)}", "yes" if value <= aim else "NO")


def holds(what: str, detail: str, fact: bool) -> Row:
    return Row(what, detail, "yes" if fact else "no", "yes", "yes" if fact else "NO")


def digits(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def ratio(what: str, ours: float, name: str, theirs: float, aim: float | None = None) -> Row:
    """Compare the seconds of a task with those of another, by its name."""
    detail = f"{duration(ours)} against {name}'s {duration(theirs)}"
    if aim is None:
        return Row(what, detail, f"{digits(theirs / ours)} x")
    return at_least(what, detail, theirs / ours, aim, "x")


def duration(seconds: float) -> str:
    unit, size = ("s", 1.0) if seconds >= 1 else ("ms", 1e-3) if seconds >= 1e-3 else ("us", 1e-6)
    return f"{seconds / size:.3g} {unit}"


def cpu_seconds(task: Callable[[], Any]) -> float:
    began = time.process_time()
    task()
    return time.process_time() - began


def wall_seconds(task: Callable[[], Any]) -> float:
    began = time.perf_counter()
    task()
    return time.perf_counter() - began


def least(*measures: Callable[[], Any], repeats: int = 5) -> list[Any]:
    """Return the least result of every measure, called in turn (A, B, A, B, ...) after a warm-up of each."""
    for measure in measures:
        measure()
    rounds = [[measure() for measure in measures] for _ in range(repeats)]
    return [min(results) for results in zip(*rounds, strict=True)]


def alternate(*tasks: Callable[[], Any], repeats: int = 5) -> list[float]:
    """Return the least CPU seconds of every task, by turns."""
    return least(*(partial(cpu_seconds, task) for task in tasks), repeats=repeats)


def trial_seconds(
    agent: KernelAgent, problem: Problem, max_moves: int = 10_000_000, clock: bool = False
) -> tuple[float, World]:
    """Return the CPU seconds of planning and walking one trial, without set-up and record, and its world."""
    world = World(problem, None, max_moves, clock=clock)
    agent.reset(world.view, 0)
    return cpu_seconds(lambda: agent.run_trial(world, max_moves)), world


def arguments(about: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument(
        "--map",
        default=str(GAME_MAP) if GAME_MAP.is_file() else "terrain-512",
        help="a map file, with its scenario file beside it if there is one, or the name of a bundled map",
    )
    return parser


def load(source: str) -> tuple[Grid, list[Problem]]:
    """Return a map and 25 problems: every n-th of the scenario file beside it, or sampled."""
    grid, path = load_map(source), Path(f"{source}.scen")
    if not path.is_file():
        return grid, sample_problems(grid, PROBLEMS, low=100.0)
    scenarios = load_scenarios(path)
    chosen = [scenarios[i * len(scenarios) // PROBLEMS] for i in range(PROBLEMS)]
    return grid, [Problem(grid, scenario.start, scenario.goal) for scenario in chosen]


def heading(title: str) -> None:
    now = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    print(f"{title}\n{os.cpu_count()} processors, load average {now}. CPU time unless said otherwise.\n", flush=True)


def print_rows(rows: Iterable[Row]) -> None:
    table = [Row("", "", "measured", "aim", "reached"), *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print(flush=True)

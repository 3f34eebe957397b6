"""LRTA* beside the same source without compilation, LSS-LRTA* beside C++ HOG2."""

import argparse
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from statistics import fmean

from measure import (
    GAME_MAP,
    Row,
    arguments,
    at_least,
    at_most,
    cpu_seconds,
    digits,
    heading,
    holds,
    least,
    load,
    print_rows,
    ratio,
    trial_seconds,
)

import agents
from rt_gym import Problem

PLAIN_MOVES = 50
# By lookahead: CPU seconds of C++ HOG2 on the 25 problems of GAME_MAP, and its mean cost (the largest of three seeds).
HOG2 = {10: (9.5, 40_501.0), 100: (3.9, 6_303.0)}
SEEDS = (1, 2, 3)


def trials(
    agent: agents.KernelAgent, problems: list[Problem], entry: str, max_moves: int = 10_000_000, clock: bool = False
) -> tuple[float, int]:
    """Return the CPU seconds of planning and walking all problems, and one of the meter's totals."""
    results = [trial_seconds(agent, problem, max_moves, clock) for problem in problems]
    return sum(seconds for seconds, _ in results), sum(int(world.trip.tally[entry][0]) for _, world in results)


def deep_trials(problems: list[Problem]) -> tuple[float, int]:
    """LRTA*(10) for as many moves as plain Python can make in seconds."""
    return trials(agents.make("lrta", depth=10), problems[::5], "expansions", PLAIN_MOVES)


def compiled(source: str, problems: list[Problem]) -> list[Row]:
    """LRTA*(10) against itself with the compiler off, in another process."""
    ((seconds, expansions),) = least(partial(deep_trials, problems))
    command = [sys.executable, __file__, "--map", source, "--plain"]
    done = subprocess.run(
        command, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, check=True
    )
    plain_seconds, plain_expansions = (float(word) for word in done.stdout.split())
    detail = f"{PLAIN_MOVES} moves on {len(problems[::5])} problems, {expansions:,} expansions"
    return [
        ratio("lrta depth 10", seconds, "plain Python", plain_seconds, 60),
        holds("  equally many expansions", detail, expansions == plain_expansions),
    ]


def throughput(problems: list[Problem]) -> list[Row]:
    """What the meter counts per second."""
    one, lss = agents.make("lrta", depth=1), agents.make("lss-lrta", lookahead=100)
    (seconds, moves), (timed, _), (searching, expansions) = least(
        partial(trials, one, problems, "moves"),
        partial(trials, one, problems, "moves", clock=True),
        partial(trials, lss, problems, "expansions"),
    )
    whole, whole_timed = least(*(partial(run_all, one, problems, clock) for clock in (False, True)), repeats=3)
    return [
        at_least("lrta depth 1", f"{moves:,} moves", moves / seconds / 1e6, 30, "million moves/s"),
        Row("  with the clock", "", f"{digits(moves / timed / 1e6)} million moves/s"),
        Row("  whole runs", "with set-up and record", f"{digits(moves / whole / 1e6)} million moves/s"),
        Row("  whole runs with the clock", "", f"{digits(moves / whole_timed / 1e6)} million moves/s"),
        at_least(
            "lss-lrta lookahead 100",
            f"{expansions:,} expansions, learning included",
            expansions / searching / 1e6,
            2,
            "million expansions/s",
        ),
    ]


def run_all(agent: agents.KernelAgent, problems: list[Problem], clock: bool) -> float:
    return cpu_seconds(lambda: [agents.run(agent, problem, clock=clock) for problem in problems])


def beside_hog2(problems: list[Problem], lookahead: int) -> list[Row]:
    """Whole runs of LSS-LRTA* that walk all the way to the frontier, against known figures of the C++ library."""
    agent = agents.make("lss-lrta", lookahead=lookahead)
    known, largest = HOG2[lookahead]
    (seconds,) = least(partial(run_all, agent, problems, clock=False), repeats=3)
    random = agents.make("lss-lrta", lookahead=lookahead, tie="random")
    costs = [mean_cost(random, problems, seed) for seed in SEEDS]
    return [
        ratio(f"lss-lrta lookahead {lookahead}, {len(problems)} problems", seconds, "HOG2", known, 3),
        at_most("  mean cost, ties by order", "", mean_cost(agent, problems, 0), largest),
        Row("  mean cost, random ties", f"{len(SEEDS)} seeds", f"{digits(min(costs))} to {digits(max(costs))}"),
    ]


def mean_cost(agent: agents.KernelAgent, problems: list[Problem], seed: int) -> float:
    return fmean(agents.run(agent, problem, seed=seed, clock=False).cost for problem in problems)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--plain", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    grid, problems = load(given.map)
    if given.plain:
        print(*deep_trials(problems))
        return
    heading(f"{__doc__} On {grid.name}.")
    rows = compiled(given.map, problems) + throughput(problems)
    if Path(given.map).resolve() == GAME_MAP:
        rows += [row for lookahead in HOG2 for row in beside_hog2(problems, lookahead)]
    print_rows(rows)


if __name__ == "__main__":
    main()

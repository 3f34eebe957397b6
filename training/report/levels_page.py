"""The tables of the page of levels: what policies without learning and classical agents reach on every test split.

``python -m training.report.levels_page docs`` measures and writes them into ``docs/levels.md``.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

import agents
import rt_gym
from rt_gym.files import atomic_write
from rt_gym.levels import LEVELS, Level
from rt_gym.problem import Problem
from rt_gym.specs import parse_agent

PAGE = "levels.md"
POLICIES = ("random", "greedy")
BOUNDED = ("rtaa:lookahead=50", "lss-lrta:lookahead=50", "da-lss-lrta:lookahead=50", "tba:R=50")
COMPLETE = ("astar", "dstar-lite")
_HEADS = ("level", "optimal", *POLICIES, "best within 50", "agent", *(f"{name}, worst move" for name in COMPLETE))
_TABLE = re.compile(r"(<!-- (RTPath|RTPathFog) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def write_levels_page(folder: Path) -> Path:
    """Measure all levels and put the tables into the page."""
    text = (folder / PAGE).read_text(encoding="utf-8")
    text = _TABLE.sub(lambda found: found[1] + table(found[2], LEVELS.values()), text)
    atomic_write(folder / PAGE, text.encode())
    return folder / PAGE


def table(env: str, levels: Iterable[Level]) -> str:
    """Return the table of an environment, a line for every level."""
    lines = [" | ".join(_HEADS), " | ".join("---" for _ in _HEADS)]
    lines += [" | ".join(row_of(env, level)) for level in levels]
    return "".join(f"| {line} |\n" for line in lines)


def row_of(env: str, level: Level) -> Iterator[str]:
    """Yield the cells of a level: all of them about its test split."""
    env_id, split = f"{env}-{level.kind}-{level.size}x{level.size}-v0", f"{level.name}-test"
    problems = problems_of(env, level, "test")
    yield f"`{env_id}`"
    yield f"{np.mean([problem.optimal or 0.0 for problem in problems]):.0f}"
    for policy in POLICIES:
        found = rt_gym.evaluate(env_id, policy, split)
        yield _reached([row["suboptimality"] for row in found.as_rows() if row["solved"]], len(found))
    best = choose_bounded(env, level)
    yield _reached(_costs(run_all(best, problems, level.max_moves)), len(problems))
    yield f"`{best}`"
    for name in COMPLETE:
        done = run_all(name, problems, level.max_moves)
        yield f"{_reached(_costs(done), len(problems))}, {max(run.max_expansions for run in done)}"


def choose_bounded(env: str, level: Level) -> str:
    """Return which bounded agent solves most problems of the validation split, and walks least of those that do."""
    problems = problems_of(env, level, "validation")
    costs = {name: _costs(run_all(name, problems, level.max_moves)) for name in BOUNDED}
    return max(BOUNDED, key=lambda name: (len(costs[name]), -np.mean(costs[name] or np.inf)))


def problems_of(env: str, level: Level, part: str) -> list[Problem]:
    """Return the problems of a split of a level, seen as the environment shows them."""
    vision = 1 if env == "RTPathFog" else None
    return [replace(problem, vision=vision) for problem in rt_gym.splits.load(f"{level.name}-{part}").problems]


def run_all(name: str, problems: Iterable[Problem], max_moves: int) -> list[agents.Run]:
    """Return the runs of an agent on problems, counted without a limit."""
    agent_id, settings = parse_agent(name)
    return [agents.run(agent_id, one, max_moves=max_moves, clock=False, **settings) for one in problems]


def _costs(runs: Iterable[agents.Run]) -> list[float]:
    """Return the suboptimality of what was solved."""
    return [run.suboptimality for run in runs if run.solved and run.suboptimality is not None]


def _reached(suboptimality: list[float], count: int) -> str:
    """Return the share that was solved and how well, as a cell of a table."""
    share = f"{len(suboptimality) / count:.0%}".replace("%", " %")
    return f"{share}, {np.mean(suboptimality):.2f}" if suboptimality else share


if __name__ == "__main__":
    print(write_levels_page(Path(sys.argv[1])))

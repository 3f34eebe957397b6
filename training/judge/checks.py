"""Agents on all problems of scenario files: whether their paths are as long as the files say, and how long steps take.

Files of version 1 lie beside their map; those of version 2 (``rt_gym.maps.gppc``) make their maps of patches.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import agents
from rt_gym import Grid, InputError, Problem, load_map, load_scenarios
from rt_gym.files import shown
from rt_gym.maps.gppc import is_dynamic, load_dynamic_scenarios
from rt_gym.specs import parse_agent
from training.runs.contenders import Allowance, enlist, make_agent
from training.runs.courses import tolerance
from training.runs.execution import run_all
from training.runs.jobs import Series, Work
from training.runs.workers import Workers

_STATIC, _ANY = ".map.scen", ".scen"
_MOST_MOVES = 10  # for every free cell
FIRST_STEPS = 20  # the steps whose time the competition counts apart

Asked = tuple[Problem, float]  # a problem and the length of a shortest path


@dataclass(frozen=True)
class Check:
    """An agent on the problems of one scenario file.

    Attributes:
        map: the path of the scenario file without ``.scen``, which is that of the map if there is one beside it.
        problems: how many were run.
        matching: how many of the paths are as long as the file says.
        skipped: how many problems were left out, because they begin or end on blocked cells.
        largest_deviation: of the length of a path.
        expansions_per_second: over all runs.
        first_steps_seconds: how long the first ``FIRST_STEPS`` moves took, on average over the problems.
        longest_step_seconds: how long the longest of all moves took.
    """

    map: str
    problems: int
    matching: int
    skipped: int
    largest_deviation: float
    expansions_per_second: float
    first_steps_seconds: float
    longest_step_seconds: float


def scenario_files(folder: Path) -> list[Path]:
    """Return the scenario files of a folder and of the folders in it: all with a map beside them, or of version 2."""
    if not folder.is_dir():
        raise InputError(f"{shown(folder)}: is not a folder")
    found = sorted(path for path in folder.rglob(f"*{_ANY}") if path.is_file() and _is_wanted(path))
    if not found:
        raise InputError(f"{shown(folder)}: holds no files that end in {_STATIC}, and no {_ANY} files of version 2")
    return found


def _is_wanted(path: Path) -> bool:
    return path.name.endswith(_STATIC) or is_dynamic(path)


@dataclass(frozen=True)
class Checking(Work[str, list[Check]]):
    """The check of scenario files, which workers must find by their paths, by an agent and its settings."""

    spec: str = "astar"

    @property
    def agents(self) -> tuple[str, ...]:
        """The one that is checked."""
        return (parse_agent(self.spec)[0],)

    def do(self, grid: Grid | None, items: Sequence[str]) -> list[Check]:
        """Check some files."""
        return [check(Path(item), self.spec) for item in items]


def check_all(
    files: Iterable[Path],
    spec: str = "astar",
    workers: Workers | None = None,
    advance: Callable[[int], Any] | None = None,
) -> list[Check]:
    """Check scenario files and return the results in their order; ``advance`` is called with how many are done."""
    (parts,) = run_all([Series(Checking(spec), None, tuple(map(str, files)))], None, workers, advance)
    return [result for part in parts for result in part]


def check(path: Path, spec: str = "astar") -> Check:
    """Solve every problem of a scenario file by an agent."""
    agent_id, given = parse_agent(spec)
    agent = make_agent(agent_id, enlist(agent_id, given, Allowance.of(None)).settings)
    runs, lengths, first, skipped = list[agents.Run](), list[float](), 0.0, 0
    for asked in _dynamic(path) if is_dynamic(path) else _static(path):
        if asked is None:
            skipped += 1
            continue
        problem, length = asked
        runs.append(agents.run(agent, problem, max_moves=_MOST_MOVES * problem.grid.free_cells))
        first += _first_steps(agent, problem, runs[-1])
        lengths.append(length)
    return _checked(path, runs, lengths, first, skipped)


def _first_steps(agent: Any, problem: Problem, run: agents.Run) -> float:
    """Return how long the first moves take: all of a short run, else of one that is stopped there."""
    if run.moves <= FIRST_STEPS:
        return run.seconds
    return agents.run(agent, problem, max_moves=FIRST_STEPS).seconds


def _checked(path: Path, runs: list[agents.Run], lengths: list[float], first: float, skipped: int) -> Check:
    off = [(abs(run.cost - length), run.solved) for run, length in zip(runs, lengths, strict=True)]
    allowed = map(tolerance, lengths)
    slowest = (run.move_seconds.max for run in runs if run.move_seconds and run.moves)
    return Check(
        map=str(path.with_suffix("")),
        problems=len(runs),
        matching=sum(solved and deviation <= most for (deviation, solved), most in zip(off, allowed, strict=True)),
        skipped=skipped,
        largest_deviation=max((deviation for deviation, _ in off), default=0.0),
        expansions_per_second=sum(run.expansions for run in runs) / max(1e-9, sum(run.seconds for run in runs)),
        first_steps_seconds=first / max(1, len(runs)),
        longest_step_seconds=max(slowest, default=0.0),
    )


def _static(path: Path) -> Iterator[Asked | None]:
    """Yield the problems of a file of version 1, None for one on blocked cells."""
    grid = load_map(path.with_suffix(""))
    for number, scenario in enumerate(load_scenarios(path), start=1):
        yield (_named(path, number, scenario.on, grid), scenario.optimal) if scenario.fits(grid) else None


def _dynamic(path: Path) -> Iterator[Asked | None]:
    """Yield the problems of a file of version 2, None for one on blocked cells."""
    number = 0
    for grid, queries in load_dynamic_scenarios(path).snapshots():
        for query in queries:
            number += 1
            yield (_named(path, number, query.on, grid), query.optimal) if query.fits(grid) else None


def _named(path: Path, number: int, make: Callable[[Grid], Problem], grid: Grid) -> Problem:
    """Return a problem; a refusal says which one it is."""
    try:
        return make(grid)
    except InputError as error:
        raise InputError(f"{shown(path)}, problem {number}: {error}") from None

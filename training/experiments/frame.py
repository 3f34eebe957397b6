"""What an experiment is: settings that are fixed before its first full run, and claims with a verdict.

Maps, seeds and numbers of problems stand in the experiment's module; whatever is changed there after the first full run
is listed in its ``CHANGES``. A setting is never tuned until a claim holds: "does not hold" is a result like any other.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path

from rt_gym import Grid, InputError, load_map, sample_problems
from rt_gym.errors import quoted
from rt_gym.files import shown
from rt_gym.maps.generate import scale, terrain
from training.compare import Allowance, Contender, Course, Estimate, Plan, Task, enlist_all
from training.compare.table import Table
from training.experiments.evidence import Evidence

SIZES = ("smoke", "record", "full")
HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided"


def check_size(size: str) -> None:
    """Refuse a size that no experiment has."""
    if size not in SIZES:
        raise InputError(f"unknown size {quoted(size)}, known are {', '.join(SIZES)}")


@dataclass(frozen=True)
class Claim:
    """Something that a paper says, and what we found.

    Attributes:
        text: what is claimed of which number.
        paper: the paper's figure.
        ours: our figure with its 95 % interval; None where a run failed, which leaves no mean.
        low, high: the bar; the claim is that the number lies within, the ends included.
    """

    text: str
    paper: str
    ours: Estimate | None
    low: float = -inf
    high: float = inf

    @property
    def verdict(self) -> str:
        """Whether the whole interval lies within the bar, outside of it, or on both sides."""
        if self.ours is None:
            return UNDECIDED
        if self.low <= self.ours.low and self.ours.high <= self.high:
            return HOLDS
        return FAILS if self.ours.high < self.low or self.ours.low > self.high else UNDECIDED

    @property
    def bar(self) -> str:
        """The bar in words."""
        if self.low == self.high:
            return f"exactly {self.low:g}"
        if self.high == inf:
            return f"at least {self.low:g}"
        return f"at most {self.high:g}" if self.low == -inf else f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Ground:
    """A map of an experiment, from the public MovingAI sets.

    Attributes:
        file: where it lies in the folder of the sets, without its ending.
        width, height: the size that it has here.
        scaled: whether it has that size only after scaling by nearest neighbour.
    """

    file: str
    width: int
    height: int
    scaled: bool = False

    def load(self, maps: Path) -> Grid:
        """Return the map from the folder of the sets.

        Raises:
            InputError: if it is not there, or is not of the size that the experiment was laid out for.
        """
        path = maps / f"{self.file}.map"
        grid = load_map(path)
        if self.scaled:
            return scale(grid, self.width, self.height)
        if (grid.width, grid.height) != (self.width, self.height):
            says = f"is {grid.width} x {grid.height}, but the experiment takes a map of {self.width} x {self.height}"
            raise InputError(f"{shown(path)}: {says}")
        return grid

    def stand_in(self, seed: int) -> Grid:
        """Return a generated map of the same size."""
        return terrain(self.width, self.height, seed)


@dataclass(frozen=True)
class Experiment:
    """The settings of one figure or table.

    Attributes:
        id: its name, a key of the table of experiments.
        title: what it shows; paper: where it is published.
        grounds: its maps.
        problems: how many problems per map at each size; a larger size begins with the problems of the smaller one.
        optimal: the range of their optimal costs.
        seed: which problems.
        entrants: agents as on the command line, sweeps and all, each with what it may compute for one move.
        claims: what the paper says, set against the evidence.
        tables: the numbers behind the claims.
        notes: readings of the paper, and what differs from it here.
        changes: what was changed after the first full run.
        max_moves: the move cap of every run; to meet it is to fail.
    """

    id: str
    title: str
    paper: str
    grounds: tuple[Ground, ...]
    problems: Mapping[str, int]
    optimal: tuple[float, float]
    seed: int
    entrants: tuple[tuple[str, Allowance], ...]
    claims: Callable[[Evidence], list[Claim]]
    tables: Callable[[Evidence], list[Table]]
    notes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    max_moves: int = 10_000_000

    def contenders(self) -> list[Contender]:
        """Return all agents with all their settings."""
        return [found for spec, allowance in self.entrants for found in enlist_all([spec], [allowance])]

    def courses(self, size: str, maps: Path | None) -> Iterator[Course]:
        """Yield the maps with their problems; without a folder of public maps, generated maps stand in for them.

        Raises:
            InputError: for a map that is missing or does not fit.
        """
        for number, ground in enumerate(self.grounds):
            grid = ground.stand_in(number) if maps is None else ground.load(maps)
            drawn = sample_problems(grid, self.problems[size], *self.optimal, self.seed)
            tasks = (Task(problem.start, problem.goal, problem.optimal_cost) for problem in drawn)
            yield Course(grid.name, grid, tuple(tasks))

    def plan(self, courses: tuple[Course, ...]) -> Plan:
        """Return all runs."""
        return Plan(tuple(self.contenders()), courses, max_moves=self.max_moves, seed=self.seed)

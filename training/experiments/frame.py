"""What an experiment is: settings that are fixed before its first full run, and claims with a verdict.

Maps, seeds and numbers of problems stand in the experiment's module; whatever is changed there after the first full run
is listed in its ``changes``. A setting is never tuned until a claim holds: "does not hold" is a result like any other.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import islice, product
from math import inf
from pathlib import Path
from typing import Any, TypedDict

from rt_gym import Grid, InputError, load_map, sample_problems, splits
from rt_gym.errors import quoted
from rt_gym.files import shown
from rt_gym.maps.generate import generate, scale, terrain
from training.experiments.evidence import CrossValidation, Training
from training.experiments.quantities import Quantity
from training.judge import Estimate
from training.judge.tables import Table
from training.runs import Allowance, Contender, Course, Draw, Entry, Plan, Task, enlist, find_courses

_LARGEST_SIDE = 256  # of a map that stands in for a public one: paths of 230 to 320, as on the largest, still fit in


@dataclass(frozen=True)
class Ground:
    """A map from the public MovingAI sets.

    Attributes:
        file: where it lies in the folder of the sets, without its ending.
        width, height: the size that it has here.
        scaled: whether it has that size only after scaling by nearest neighbour.
    """

    file: str
    width: int
    height: int
    scaled: bool = False

    @property
    def name(self) -> str:
        """What a page calls it."""
        return self.file

    def count(self, problems: int) -> int:
        """Return how many maps this many problems need."""
        return 1

    def deal(self, problems: int, number: int, maps: Path | None) -> Iterator[tuple[Grid, int]]:
        """Yield the map with the number of problems to draw on it.

        Args:
            problems: how many problems are wanted.
            number: which of a part's grounds this is.
            maps: the folder of the sets; without one a generated map stands in, which is no larger than most of them.
        """
        yield (_stand_in(self.width, self.height, number) if maps is None else self.load(maps)), problems

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


@cache
def _stand_in(width: int, height: int, seed: int) -> Grid:
    """Return a map of the same size, or of the largest that can be prepared for in seconds."""
    return terrain(min(width, _LARGEST_SIDE), min(height, _LARGEST_SIDE), seed)


@dataclass(frozen=True)
class Generated:
    """A map of its own for every problem: the first with seed 0, the next with seed 1, and so on.

    Attributes:
        family: a key of ``rt_gym.maps.generate.GENERATORS``.
        parameters: the arguments of that generator without its seed.
    """

    family: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    scaled = False

    @property
    def name(self) -> str:
        """What a page calls all of these maps."""
        return " ".join([f"{self.family} maps, one for each problem", *(f"{k}={v}" for k, v in self._telling.items())])

    @property
    def _telling(self) -> dict[str, Any]:
        """Parameters other than the size, which a page tells anyway."""
        return {key: value for key, value in self.parameters.items() if key not in ("size", "width", "height")}

    def count(self, problems: int) -> int:
        """Return how many maps this many problems need."""
        return problems

    def deal(self, problems: int, number: int, maps: Path | None) -> Iterator[tuple[Grid, int]]:
        """Yield as many maps as problems are wanted, each for one of them."""
        for seed in range(problems):
            yield generate(self.family, seed=seed, **self.parameters), 1


@dataclass(frozen=True)
class Split:
    """The maps of a split with problems of its own, see ``rt_gym.splits``; its problems are those of all maps."""

    name: str
    scaled = False

    def count(self, problems: int) -> int:
        """Return how many maps this many problems are dealt over."""
        return min(problems, len(splits.load(self.name).grids))

    def courses(self, problems: int, vision: int | None) -> Iterator[Course]:
        """Yield as many maps, each with the first of its problems."""
        maps = self.count(problems)
        return islice(find_courses([self.name], Draw(problems // maps, vision=vision)), maps)


SIZES = ("smoke", "record", "full")
HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided"
DIRECTION = "direction only"


def check_size(size: str) -> None:
    """Refuse a size that no experiment has."""
    if size not in SIZES:
        raise InputError(f"unknown size {quoted(size)}, known are {', '.join(SIZES)}")


@dataclass(frozen=True)
class Entrant:
    """An agent with settings; what is not given is the default, or the largest that fits. Made by ``entrant``.

    Attributes:
        agent, settings: which agent.
        limit, count: what a move may take, see ``Allowance``.
    """

    agent: str
    settings: tuple[tuple[str, Any], ...] = ()
    limit: int | None = None
    count: str = "expansions"

    @cached_property
    def contender(self) -> Contender:
        """The agent with all its settings."""
        return enlist(self.agent, dict(self.settings), Allowance.of(self.limit, self.count))

    def under(self, limit: int, count: str) -> "Entrant":
        """Return the same agent with a limit per move."""
        return replace(self, limit=limit, count=count)

    @property
    def entry(self) -> Entry:
        """What its rows begin with."""
        return self.contender.entry


def entrant(agent: str, **settings: Any) -> Entrant:
    """Return an agent with these settings.

    Example:
        >>> entrant("tba", R=10).entry.label
        'tba R=10 r=0.9 c=10 weight=1'
    """
    return Entrant(agent, tuple(settings.items()))


def sweep(agent: str, **values: Sequence[Any]) -> tuple[Entrant, ...]:
    """Return an agent with every combination of these values, the last parameter running fastest."""
    return tuple(entrant(agent, **dict(zip(values, chosen, strict=True))) for chosen in product(*values.values()))


@dataclass(frozen=True)
class Claim:
    """Something that a paper says of a number.

    Attributes:
        text: what is claimed of which number.
        paper: the paper's figure.
        quantity: how the number follows from the runs.
        low, high: the bar; the claim is that the number lies within, the ends included. Where the paper prints a
            number, it is a band around that.
        headline: whether it is one of the statements for which the figure or table is known.
        direction: a weaker bar: what must be true at least for the paper's statement to point the right way.
        check: whether it is true by construction, and so tells of the program, not of the paper.
    """

    text: str
    paper: str
    quantity: Quantity
    low: float = -inf
    high: float = inf
    headline: bool = False
    direction: tuple[float, float] | None = None
    check: bool = False

    def judge(self, evidence: Sequence[Any]) -> "Finding":
        """Return what the evidence of all parts says of it."""
        return Finding(self, self.quantity.estimate(evidence))


@dataclass(frozen=True)
class Finding:
    """A claim and what we found: our figure with its 95 % interval; None where a run failed, which leaves no mean."""

    claim: Claim
    ours: Estimate | None

    @property
    def verdict(self) -> str:
        """What the whole 95 % interval says of the claim.

        It holds if the interval lies within the bar, holds in direction only if it lies within the weaker one, and does
        not hold if it lies outside of either. All else is undecided.
        """
        bar, direction = (self.claim.low, self.claim.high), self.claim.direction
        if self.ours is None:
            return UNDECIDED
        if _within(self.ours, bar):
            return HOLDS
        if direction and _within(self.ours, direction):
            return DIRECTION
        return FAILS if _outside(self.ours, bar) or (direction and _outside(self.ours, direction)) else UNDECIDED


def _within(ours: Estimate, bar: tuple[float, float]) -> bool:
    return bar[0] <= ours.low and ours.high <= bar[1]


def _outside(ours: Estimate, bar: tuple[float, float]) -> bool:
    return ours.high < bar[0] or ours.low > bar[1]


class Bar(TypedDict):
    """The ends of a claim's bar."""

    low: float
    high: float


_SPARE = 4  # problems that are drawn for one that changes must fit
WORK, EXCESS = 1.5, 1.5  # by which factor a number, or what is above one of it, may differ from the paper's


def near(figure: float, factor: float = WORK) -> Bar:
    """Return the bar around a printed number: a ratio, a count, or work of any kind.

    Example:
        >>> near(12)
        {'low': 8.0, 'high': 18.0}
    """
    return {"low": figure / factor, "high": figure * factor}


def near_cost(figure: float, factor: float = EXCESS, unit: float = 0.01) -> Bar:
    """Return the bar around a printed suboptimality: around what it is above one, give or take half its last digit.

    Example:
        >>> {name: round(end, 2) for name, end in near_cost(1.11).items()}
        {'low': 1.07, 'high': 1.17}
    """
    above, half = figure - 1, unit / 2
    return {"low": 1 + max(0.0, above - half) / factor, "high": 1 + (above + half) * factor}


def bar_text(low: float, high: float) -> str:
    """Return a bar in words."""
    if low == high:
        return f"exactly {low:g}"
    if high == inf:
        return f"at least {low:g}"
    return f"at most {high:g}" if low == -inf else f"{low:g} to {high:g}"


@dataclass(frozen=True)
class Part:
    """Runs that belong together: the same agents on the same problems under the same rules.

    Attributes:
        grounds: the maps.
        problems: how many problems per entry of ``grounds`` at each size; a larger size begins with the smaller one's.
        entrants: the agents with their settings.
        optimal: the range of the problems' optimal costs.
        name: what tables and notes call it, where an experiment has several.
        vision: see ``rt_gym.Problem``.
        changes: how the map changes under way, a name of ``rt_gym.changes``: problems are drawn until enough are found
            that such changes fit, and each has changes of its own.
        rules: options of ``rt_gym.Grid``: connectivity, cost and corner.
        trials: how many times each problem is solved, or ``"converge"``; the numbers of a run are its totals.
        trainings: policies that are trained first and then take part, on the maps ``train_on`` with prices chosen on
            those ``choose_on``; problems there are drawn with seeds of their own.
        learn_from, choose_from: how many problems per entry of ``train_on`` and of ``choose_on`` at each size; as many
            as ``problems`` by default.
        validations: logs of the maps ``train_on`` that are cross-validated; their policies take part as well.
        max_moves: the move cap of every trial; to meet it is to fail.
    """

    grounds: tuple[Ground | Generated | Split, ...]
    problems: Mapping[str, int]
    entrants: tuple[Entrant, ...]
    optimal: tuple[float, float] = (1, inf)
    name: str = ""
    vision: int | None = None
    changes: str = ""
    rules: Mapping[str, Any] = field(default_factory=dict)
    trials: int | str = 1
    max_moves: int = 10_000_000
    trainings: tuple[Training, ...] = ()
    validations: tuple[CrossValidation, ...] = ()
    train_on: tuple[Ground | Split, ...] = ()
    choose_on: tuple[Ground | Split, ...] = ()
    learn_from: Mapping[str, int] | None = None
    choose_from: Mapping[str, int] | None = None

    @property
    def policies(self) -> list[str]:
        """The names of the policies that are trained before anything is run."""
        return [*(one.name for one in self.trainings), *(one.name for one in self.validations)]

    def contenders(self) -> list[Contender]:
        """Return all agents with all their settings."""
        return [one.contender for one in self.entrants]

    def courses(self, size: str, maps: Path | None, seed: int) -> Iterator[Course]:
        """Yield the maps with their problems; without a folder of public maps, generated maps stand in for them.

        Raises:
            InputError: for a map that is missing or does not fit.
        """
        yield from self._courses(self.grounds, self.problems[size], maps, seed)

    def training_courses(self, size: str, maps: Path | None, seed: int) -> Iterator[tuple[Course, ...]]:
        """Yield the maps to learn on and those to choose on, with problems that no run is judged on."""
        yield tuple(self._courses(self.train_on, (self.learn_from or self.problems)[size], maps, seed + 1))
        yield tuple(self._courses(self.choose_on, (self.choose_from or self.problems)[size], maps, seed + 2))

    def _courses(
        self, grounds: tuple[Ground | Generated | Split, ...], problems: int, maps: Path | None, seed: int
    ) -> Iterator[Course]:
        for number, ground in enumerate(grounds):
            if isinstance(ground, Split):
                yield from ground.courses(problems, self.vision)
                continue
            dealt = ground.deal(problems, number, maps)
            for shift, (grid, count) in enumerate(dealt):  # else all mazes would have the same start
                yield from self._courses_on(grid.replace(**self.rules), count, seed + shift)

    def _courses_on(self, grid: Grid, count: int, seed: int) -> Iterator[Course]:
        if not self.changes:
            yield self._course(grid, count, seed)
            return
        several = self._course(grid, _SPARE * count, seed)
        scripted = list(islice(Draw(seed=seed, changes=self.changes).scripted(several), count))
        if len(scripted) < count:
            raise InputError(
                f"{shown(grid.name)}: {self.changes} fits {len(scripted)} of {len(several.tasks)} problems"
            )
        yield from scripted

    def _course(self, grid: Grid, count: int, seed: int) -> Course:
        drawn = sample_problems(grid, count, *self.optimal, seed)
        tasks = (Task(problem.start, problem.goal, problem.optimal_cost) for problem in drawn)
        return Course(grid.name, grid, tuple(tasks), self.vision)

    def plan(self, courses: tuple[Course, ...], seed: int, trained: tuple[Contender, ...] = ()) -> Plan:
        """Return all runs, those of freshly trained policies last."""
        return Plan((*self.contenders(), *trained), courses, self.trials, self.max_moves, seed)


@dataclass(frozen=True)
class Experiment:
    """One figure or table.

    Attributes:
        id: its name, a key of the table of experiments.
        title: what it shows; paper: where it is published.
        parts: what is run.
        seed: which problems.
        claims: what the paper says.
        tables: the numbers behind the claims, from the ``Evidence`` of every part.
        notes: readings of the paper, and what differs from it here.
        changes: what was changed after the first full run, and why.
        by_map: whether its page has the numbers of every map; where there are hundreds of tables, only the files have.
    """

    id: str
    title: str
    paper: str
    parts: tuple[Part, ...]
    seed: int
    claims: tuple[Claim, ...]
    tables: Callable[..., list[Table]]
    notes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    by_map: bool = True

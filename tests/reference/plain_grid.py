"""The world of the plain references: cells, moves, fog, scheduled changes, and the loop of one trial.

The references are a second reading of the papers, to be compared with the kernels. Of the package they use only the
encoding of costs and ``Grid`` as a carrier of cells and rules. They favour the plainest statement over speed: a state
is a position ``(x, y)``, a map is a set of free positions, a heuristic is a dict with one value per cell of the map.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

from rt_gym.cost import DIAGONAL, INF, STRAIGHT
from rt_gym.grid import Grid

Position = tuple[int, int]
Change = tuple[int, Position, bool]
Heuristic = dict[Position, int]

STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))  # E, S, W, N, SE, NE, SW, NW
SIDES_NEEDED = {"strict": 2, "one": 1, "free": 0}
MAX_MOVES = 100_000


def cells(grid: Grid) -> list[Position]:
    """Return every position of the map, blocked ones included, row by row."""
    return [(x, y) for y in range(grid.height) for x in range(grid.width)]


def step_cost(grid: Grid, a: Position, b: Position) -> int:
    """Return the exact cost of one step between two adjacent cells."""
    diagonal = a[0] != b[0] and a[1] != b[1]
    return DIAGONAL if diagonal and grid.cost == "octile" else STRAIGHT


def path_cost(grid: Grid, path: Sequence[Position]) -> int:
    """Return the exact cost of a path given by its cells."""
    return sum(step_cost(grid, a, b) for a, b in pairwise(path))


def h0(grid: Grid, a: Position, b: Position, weight: float = 1) -> int:
    """Return Manhattan, octile or Chebyshev distance, with the two step costs multiplied by ``weight`` beforehand."""
    octile_or_unit = DIAGONAL if grid.cost == "octile" else STRAIGHT
    diagonal = 2 * STRAIGHT if grid.connectivity == 4 else octile_or_unit
    numerator, denominator = Fraction(weight).limit_denominator(1000).as_integer_ratio()
    straight = STRAIGHT * numerator // denominator
    diagonal = diagonal * numerator // denominator
    low, high = sorted((abs(a[0] - b[0]), abs(a[1] - b[1])))
    return (high - low) * straight + low * diagonal


def initial_heuristic(grid: Grid, goal: Position) -> Heuristic:
    """Return h0 to ``goal`` for every cell of the map."""
    return {cell: h0(grid, cell, goal) for cell in cells(grid)}


def capped(grid: Grid, value: int, updates: int) -> int:
    """Return a value, INF if it is above that of a path through all cells and so many updates may climb so high."""
    count = len(cells(grid))
    return INF if updates >= count**2 and value > count * DIAGONAL else value


class Map:
    """The free cells of a map, under the rules of a grid; every cell is free unless ``free`` says otherwise."""

    def __init__(self, grid: Grid, free: Iterable[Position] | None = None) -> None:
        self.grid = grid
        self.free = set(cells(grid) if free is None else free)

    @classmethod
    def of(cls, grid: Grid) -> "Map":
        """Return the map of the grid as it is."""
        return cls(grid, [(x, y) for x, y in cells(grid) if grid.passable[y, x]])

    def can_step(self, a: Position, b: Position) -> bool:
        """Whether the step from ``a`` to the adjacent ``b`` is legal."""
        if a not in self.free or b not in self.free:
            return False
        sides = [(b[0], a[1]), (a[0], b[1])]
        straight = b in sides
        return straight or sum(side in self.free for side in sides) >= SIDES_NEEDED[self.grid.corner]

    def can_walk(self, path: Sequence[Position]) -> bool:
        """Whether every step of a path is legal."""
        return all(self.can_step(a, b) for a, b in pairwise(path))

    def neighbours(self, cell: Position) -> list[tuple[Position, int]]:
        """Return where the legal steps lead, in the order of ``STEPS``, and what each costs: one scan."""
        steps = STEPS[: self.grid.connectivity]
        near = [(cell[0] + dx, cell[1] + dy) for dx, dy in steps]
        return [(n, step_cost(self.grid, cell, n)) for n in near if self.can_step(cell, n)]


class World:
    """One trial as it really happens: the true map, the agent's place, the clock, and what the agent believes.

    Args:
        grid: the true map at the start.
        start: where the agent stands.
        vision: radius of sight, at least 1; None when the map is known.
        changes: (moves made, position, free) in order of time.
        believed: what is remembered from an earlier trial; it is not changed.
    """

    def __init__(
        self,
        grid: Grid,
        start: Position,
        vision: int | None = None,
        changes: Sequence[Change] = (),
        believed: Map | None = None,
    ) -> None:
        self.grid, self.position, self.vision, self.changes = grid, start, vision, changes
        self.truth = Map.of(grid)
        if vision is None:
            self.believed = self.truth
        else:
            self.believed = Map(grid, believed.free if believed else None)
        self.moves = 0
        self.waiting: dict[Position, bool] = {}
        self._change()
        self._sense()

    def move(self, to: Position) -> None:
        """Make one legal step; then the map changes, then the agent looks around."""
        assert self.truth.can_step(self.position, to), f"illegal step {self.position} -> {to}"
        self.position = to
        self.moves += 1
        self._change()
        self._sense()

    def _change(self) -> None:
        """Apply the changes that are due; a cell that should close under the agent waits until it is left."""
        self.waiting.update({cell: free for time, cell, free in self.changes if time == self.moves})
        self._apply()

    def edit(self, cell: Position, free: bool) -> None:
        """Open or close a cell between two moves."""
        self.waiting[cell] = free
        self._apply()
        self._sense()

    def place(self, position: Position) -> None:
        """Put the agent elsewhere without a move."""
        self.position = position
        self._apply()
        self._sense()

    def _apply(self) -> None:
        for cell, free in list(self.waiting.items()):
            if free:
                self.truth.free.add(cell)
            elif cell != self.position:
                self.truth.free.discard(cell)
            else:
                continue
            del self.waiting[cell]

    def _sense(self) -> None:
        """Correct the believed map within the radius of sight; walls do not hide what is behind them."""
        if self.vision is None:
            return
        for cell in cells(self.grid):
            dx, dy = abs(cell[0] - self.position[0]), abs(cell[1] - self.position[1])
            if (dx + dy if self.grid.connectivity == 4 else max(dx, dy)) <= self.vision:
                if cell in self.truth.free:
                    self.believed.free.add(cell)
                else:
                    self.believed.free.discard(cell)


@dataclass
class Plan:
    """One planning episode: the steps it commits to (none when stuck) and the states it touched, in order.

    Attributes:
        steps: the cells to walk to, without the one the agent stands on.
        expanded: the states whose successors were generated.
        popped: the states taken from the queue of the learning phase.
        raised: the heuristic values that rose.
        scanned: the states whose neighbours were read for anything else.
    """

    steps: list[Position] = field(default_factory=list)
    expanded: list[Position] = field(default_factory=list)
    popped: list[Position] = field(default_factory=list)
    raised: Heuristic = field(default_factory=dict)
    scanned: list[Position] = field(default_factory=list)


@dataclass
class Run:
    """The record of one trial.

    The lists from ``expansions`` to ``raised`` have one entry per move: the work of a plan stands at the first move it
    leads to, moves along a committed path count 0. A stuck run has one entry more, for the plan that found no move.

    Attributes:
        outcome: "goal", "limit" (as many moves as allowed) or "stuck" (a plan found no way).
        path: the cells visited, the start included.
        expansions: states expanded.
        scans: how often the neighbours of a cell were read.
        learning_ops: states popped in the learning phase.
        raised: the heuristic values that rose.
        h_before: the heuristic at the start of the trial; empty for agents that learn nothing.
        h: the heuristic at its end.
        believed: what the agent took the map to be at its end.
        memory: what else it takes to the next trial.
    """

    outcome: str
    path: list[Position]
    expansions: list[int]
    scans: list[int]
    learning_ops: list[int]
    raised: list[Heuristic]
    h_before: Heuristic
    h: Heuristic
    believed: Map
    memory: Any = None

    @property
    def cost(self) -> int:
        """The exact cost of the path walked."""
        return path_cost(self.believed.grid, self.path)

    def snapshots(self) -> Iterator[Heuristic]:
        """Yield the heuristic as it was after each move."""
        h = dict(self.h_before)
        for raised in self.raised:
            h.update(raised)
            yield dict(h)

    def record(self, plan: Plan) -> None:
        """Book the work that stands before one move."""
        self.expansions.append(len(plan.expanded))
        self.scans.append(len(plan.expanded) + len(plan.popped) + len(plan.scanned))
        self.learning_ops.append(len(plan.popped))
        self.raised.append(plan.raised)


Planner = Callable[[Map, Position], Plan]
Learner = Callable[[Map, Position, Heuristic], Plan]


def walk(world: World, goal: Position, planner: Planner, max_moves: int, h: Heuristic) -> Run:
    """Run one trial: plan when no committed step is left or a remaining one is no longer legal, else follow."""
    run = Run("goal", [world.position], [], [], [], [], dict(h), h, world.believed)
    steps: list[Position] = []
    while world.position != goal:
        if world.moves == max_moves:
            run.outcome = "limit"
            break
        plan = Plan()
        if not steps or not world.believed.can_walk([world.position, *steps]):
            plan = planner(world.believed, world.position)
            steps = list(plan.steps)
        run.record(plan)
        if not steps:
            run.outcome = "stuck"
            break
        world.move(steps.pop(0))
        run.path.append(world.position)
    return run


def learner_trial(
    grid: Grid,
    start: Position,
    goal: Position,
    learner: Learner,
    vision: int | None,
    changes: Sequence[Change],
    max_moves: int,
    after: Run | None,
) -> Run:
    """Run one trial of an agent that learns h, going on with the heuristic and the believed map of ``after``."""
    h = dict(after.h) if after else initial_heuristic(grid, goal)
    world = World(grid, start, vision, changes, after.believed if after else None)
    return walk(world, goal, lambda view, s: learner(view, s, h), max_moves, h)


def trials(run: Callable[..., Run], *problem: Any, max_trials: int = 10_000, **options: Any) -> list[Run]:
    """Repeat a learner's ``run``, heuristic and believed map kept, until a trial raises nothing; return all trials."""
    runs = [run(*problem, **options)]
    while any(runs[-1].raised) and len(runs) < max_trials:
        runs.append(run(*problem, **options, after=runs[-1]))
    return runs

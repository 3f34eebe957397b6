"""Expecting A* in plain Python: A* on what unknown ground is expected to cost."""

from collections.abc import Sequence

from agents.policies.ground import BLOCKED, FREE, MOST, PARTS, UNKNOWN, GroundPolicy, load_ground_policy
from reference.plain_astar import a_star
from reference.plain_grid import MAX_MOVES, Change, Map, Plan, Position, Run, World, cells, h0, walk
from rt_gym.files import PathLike
from rt_gym.grid import Grid


class SeeingWorld(World):
    """A world that notes which cells the agent has seen."""

    def __init__(self, grid: Grid, start: Position, vision: int | None, changes: Sequence[Change]) -> None:
        self.known: set[Position] = set(cells(grid)) if vision is None else set()
        super().__init__(grid, start, vision, changes)

    def _sense(self) -> None:
        super()._sense()
        x, y = self.position
        for cell in cells(self.grid):
            dx, dy = abs(cell[0] - x), abs(cell[1] - y)
            if self.vision is not None and (dx + dy if self.grid.connectivity == 4 else max(dx, dy)) <= self.vision:
                self.known.add(cell)


class ExpectedMap(Map):
    """A believed map on which unknown cells cost what is expected; every prediction is kept, in order."""

    def __init__(self, view: Map, known: set[Position], policy: GroundPolicy) -> None:
        super().__init__(view.grid, view.free)
        self.known, self.policy = known, policy
        self.factors: dict[Position, int] = {}
        self.tests: dict[Position, int] = {}

    def neighbours(self, cell: Position) -> list[tuple[Position, int]]:
        """Return where the legal steps lead, and what each is expected to cost."""
        return [(near, cost * self.factor(near) // PARTS) for near, cost in super().neighbours(cell)]

    def factor(self, cell: Position) -> int:
        """Return what a cell costs, in PARTS of free ground."""
        if cell in self.known:
            return PARTS
        if cell not in self.factors:
            self.tests[cell] = 0
            total = sum(self._score(cell, int(root)) for root in self.policy.forest.root)
            self.factors[cell] = int(min(max(total, 1.0), MOST) * PARTS + 0.5)
        return self.factors[cell]

    def _score(self, cell: Position, node: int) -> float:
        forest, side = self.policy.forest, 2 * self.policy.radius + 1
        while forest.feature[node] >= 0:
            self.tests[cell] += 1
            row, column = divmod(int(forest.feature[node]), side)
            place = cell[0] + column - self.policy.radius, cell[1] + row - self.policy.radius
            node = int((forest.left if self._seen(place) <= forest.threshold[node] else forest.right)[node])
        return float(forest.scores[node, 0])

    def _seen(self, place: Position) -> int:
        inside = 0 <= place[0] < self.grid.width and 0 <= place[1] < self.grid.height
        if inside and place not in self.known:
            return UNKNOWN
        return FREE if inside and place in self.free else BLOCKED


def plan(world: SeeingWorld, view: Map, s: Position, goal: Position, policy: GroundPolicy) -> Plan:
    """Return the path of least expected cost, up to where its first unknown cell is in sight."""
    expected = ExpectedMap(view, world.known, policy)
    search = a_star(expected, s, goal, lambda cell: h0(view.grid, cell, goal))
    steps = [] if search.best is None else search.steps_to(search.best)
    unknown = [k for k, cell in enumerate(steps) if cell not in world.known]
    if unknown:
        steps = steps[: max(1, unknown[0] + 1 - (world.vision or 0))]
    scanned = [cell for cell, tests in expected.tests.items() for _ in range(-(-tests // 8))]
    return Plan(steps, search.closed, scanned=scanned)


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    policy: PathLike | GroundPolicy = "mixed",
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
) -> Run:
    """Walk from start to goal, planning anew whenever the committed part of the path is walked or broken."""
    world, trained = SeeingWorld(grid, start, vision, changes), load_ground_policy(policy)
    return walk(world, goal, lambda view, s: plan(world, view, s, goal, trained), max_moves, {})

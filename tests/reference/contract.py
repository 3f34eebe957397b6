"""What the contract of all agents is checked on and with: random problems, and what a run must be."""

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import agents
from reference import plain_grid
from reference.plain_oracle import distances, random_problem
from rt_gym import Change, Grid, Problem, World
from rt_gym.cost import encode

Settings = dict[str, Any]

# More moves than any agent needs here to reach its goal; one that stands still for good makes them all.
MOST_MOVES = 20_000


@cache
def random_problems(
    seed: int, count: int, vision: int | None = None, changing: bool = False, max_side: int = 9
) -> list[Problem]:
    """Return solvable problems under random rules, most with a detour; changes may make them unsolvable on the way."""
    rng, problems = np.random.default_rng(seed), []
    for _ in range(count):
        grid, start, goal = max((random_problem(rng, max_side) for _ in range(4)), key=detour)
        problems.append(Problem(grid, start, goal, vision, schedule(rng, grid, goal) if changing else None))
    return problems


def detour(problem: tuple[Grid, tuple[int, int], tuple[int, int]]) -> tuple[int, int]:
    """Return by how much the heuristic is wrong at the start, then how far the goal is: harder problems have more."""
    grid, start, goal = problem
    distance = distances(grid, goal)[start]
    return distance - plain_grid.h0(grid, start, goal), distance


def schedule(rng: np.random.Generator, grid: Grid, goal: tuple[int, int]) -> list[Change]:
    """Return random changes in the first moves, of any cell but the goal."""
    cells = [cell for cell in plain_grid.cells(grid) if cell != goal]
    picks = rng.integers(len(cells), size=6)
    return [Change(int(rng.integers(0, 12)), cells[pick], bool(rng.random() < 0.4)) for pick in picks]


class CountingMask:
    """A map's neighbour masks that count how often one is read."""

    def __init__(self, mask: Any) -> None:
        self.mask, self.reads, self.size = mask, 0, mask.size

    def __getitem__(self, cell: int) -> Any:
        self.reads += 1
        return self.mask[cell]


class CountingThresholds(CountingMask):
    """The thresholds of a forest, one of which is read with every cell that a tree tests.

    Args:
        forest: the trees.

    Attributes:
        forest: the same trees, watched.
        tests: how many cells were tested for each prediction; the first tree begins one.
    """

    def __init__(self, forest: Any) -> None:
        super().__init__(forest.threshold)
        self.tests: list[int] = []
        self.forest = forest._replace(root=_Roots(forest.root, self.tests), threshold=self)

    def __getitem__(self, node: int) -> Any:
        self.tests[-1] += 1
        return super().__getitem__(node)

    @property
    def scans(self) -> int:
        """As many as it takes to read the cells of each prediction, eight at a time."""
        return sum(-(-count // 8) for count in self.tests)


class _Roots(CountingMask):
    def __init__(self, roots: Any, tests: list[int]) -> None:
        super().__init__(roots)
        self._tests = tests

    def __getitem__(self, tree: int) -> Any:
        if tree == 0:
            self._tests.append(0)
        return super().__getitem__(tree)


def path_of(run: agents.Run) -> list[tuple[int, int]]:
    return [(int(x), int(y)) for x, y in run.path]


def assert_legal(problem: Problem, path: list[tuple[int, int]]) -> plain_grid.World:
    """Walk the path again in the plain world, which refuses a step that the true map does not allow at that time.

    Returns:
        That world, as it is at the end of the path.
    """
    world = plain_grid.World(problem.grid, problem.start, problem.vision, problem.changes or ())
    assert path[0] == problem.start
    for a, b in pairwise(path):
        dx, dy = abs(a[0] - b[0]), abs(a[1] - b[1])
        assert max(dx, dy) <= 1
        assert dx + dy <= 1 or problem.grid.connectivity == 8
        world.move(b)
    return world


def gave_up(run: agents.Run, agent_id: str, settings: Settings) -> bool:
    """Whether a run ended as only that of an agent may that is not complete: standing still until its last move."""
    stands = run.outcome == "out of moves" and run.moves > 0 and bool((run.path[-1] == run.path[-2]).all())
    return stands and not agents.make(agent_id, **settings).complete


def overestimates(agent_id: str, settings: Settings) -> bool:
    """Whether settings make values rise above what the neighbours say, and so even where the heuristic is exact."""
    given = agents.parameters(agent_id) | settings
    dear = any(given.get(name) not in (None, 1) for name in ("weight", "cost_weight"))
    dear = dear or given.get("lop") not in (None, "min") or given.get("growth") not in (None, 0)
    return dear and agents.load(agent_id).overestimates


def exact_cost(run: agents.Run) -> int:
    """Return the cost of a run in exact arithmetic."""
    if run.problem.grid.cost == "unit":
        return encode(run.straights + run.diagonals)
    return encode(run.straights, run.diagonals)


def walked(run: agents.Run, agent_id: str) -> list[tuple[int, int]]:
    """Return the path, without the stays of an agent that stands still in order to think."""
    path = path_of(run)
    if not agents.load(agent_id).pauses:
        return path
    return [b for a, b in zip([None, *path], path, strict=False) if a != b]


def cost_of_steps(run: agents.Run, agent_id: str) -> int:
    """Return the exact cost of a run, without the stays of an agent that stands still in order to think."""
    return exact_cost(run) - (encode(run.stays) if agents.load(agent_id).pauses else 0)


def learner(agent_id: str, problem: Problem, settings: Settings) -> tuple[Any, World]:
    """Return an agent with learned values, reset to a world; skip the test for one without."""
    agent, world = agents.make(agent_id, **settings), World(problem)
    agent.reset(world.view, seed=0)
    if agent.learned is None:
        pytest.skip("learns no values")
    return agent, world


def same(a: NDArray[np.int64] | None, b: NDArray[np.int64] | None) -> bool:
    """Whether two tables of values are equal, or both missing."""
    if a is None or b is None:
        return a is b
    return bool((a == b).all())

"""Equalities on random grids: costs beside SciPy's Dijkstra, admissible values, fog that nobody sees through."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import agents
from fuzz.case import Case
from fuzz.draws import draw_agent, draw_problem
from fuzz.reads import record_of
from fuzz.recount import describe
from reference import plain_grid
from reference.plain_oracle import random_grid, scipy_distances
from rt_gym import Grid, Problem, World, distance_field
from rt_gym.cost import to_floats
from rt_gym.search.distance import exact_distances

_MAX_MOVES = 300
_CLOSE = 1e-9  # of a cost: SciPy adds up floats


def check_property(case: Case) -> None:
    """Check one grid, run or pair of runs; the kinds take turns."""
    (_costs, _values, _fog)[case.number % 3](case)


def _costs(case: Case) -> None:
    """Compare the distances of all pairs with a few goals, and A* on some of them."""
    grid = _grid_with_room(case, case.pick(8, 16, 40, 64))
    free = np.argwhere(grid.passable)
    for _ in range(4):
        y, x = (int(part) for part in case.pick(*free))
        case.story.update(grid=describe(Problem(grid, (x, y), (x, y))))
        theirs, ours = scipy_distances(grid, (x, y)), distance_field(grid, (x, y))
        assert _equal(ours[grid.passable], theirs[grid.passable])
        case.counts["start and goal: distance fields equal SciPy's"] += len(free)
        for start_y, start_x in case.rng.choice(free, 12):
            _check_astar(case, Problem(grid, (int(start_x), int(start_y)), (x, y), allow_unsolvable=True), theirs)


def _grid_with_room(case: Case, max_side: int) -> Grid:
    """Return a random grid that has a free cell."""
    while True:
        grid = random_grid(case.rng, max_side)
        if grid.free_cells:
            return grid


def _equal(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> bool:
    return bool(np.isclose(ours, theirs, rtol=_CLOSE, atol=_CLOSE).all())  # infinities are close to themselves


def _check_astar(case: Case, problem: Problem, theirs: NDArray[np.float64]) -> None:
    """Check that the searches that promise a shortest path find one, and that none is found where there is none."""
    case.story.update(problem=describe(problem))
    best = theirs[problem.start[1], problem.start[0]]
    assert _equal(np.array([problem.optimal]), np.array([best]))
    for agent_id in ("astar", "repeated-astar", "dstar-lite"):
        run = agents.run(agent_id, problem)
        assert run.solved == bool(np.isfinite(best)), agent_id
        assert not run.solved or _equal(np.array([run.cost]), np.array([best])), agent_id
        case.counts[f"start and goal: {agent_id} equals SciPy's"] += 1


def _values(case: Case) -> None:
    """Check after every move that no learned value is above the true distance, where the paper promises it."""
    agent_id, settings = draw_agent(case)
    problem = draw_problem(case, max_side=14, changing=0.0)
    case.story.update(agent=agent_id, settings=settings, problem=describe(problem))
    kind, agent, world = agents.load(agent_id), agents.make(agent_id, **settings), World(problem)
    agent.reset(world.view, seed=0)
    if agent.learned is None or kind.forgets or not kind.converges:
        return
    exact, before = exact_distances(problem.grid, problem.goal), agent.learned.copy()
    reachable = problem.grid.inner(exact)[problem.grid.passable]
    theirs = scipy_distances(problem.grid, problem.goal)[problem.grid.passable]
    assert _equal(to_floats(reachable), theirs)
    for _ in range(2):
        for _ in _moves(agent, world):
            assert (agent.learned <= exact).all(), "a learned value is above the true distance"
            assert (agent.learned >= before).all(), "a learned value fell"
            before = agent.learned.copy()
            case.counts["moves: learned values are admissible"] += 1
        world.begin_trial()
        agent.begin_trial()


def _moves(agent: Any, world: World) -> Any:
    """Walk a trial and yield after every decision, until the goal, a dead end or many moves."""
    while not world.done and world.view.moves < _MAX_MOVES:
        action = agent.act()
        yield
        if world.view.meter.stuck:
            return
        world.step(action)


def _fog(case: Case) -> None:
    """Change cells that were never seen, and check that the run is the same, move by move and count by count."""
    agent_id, settings = draw_agent(case)
    problem = draw_problem(case, max_side=16)
    problem = Problem(problem.grid, problem.start, problem.goal, case.whole(1, 3), problem.changes, True)
    case.story.update(agent=agent_id, settings=settings, problem=describe(problem))
    options = settings | {"max_moves": _MAX_MOVES, "budget": case.pick(None, 5, 30)}
    run = agents.run(agent_id, problem, **options)
    other = _elsewhere(case, problem, run)
    case.story.update(other=describe(other))
    again = agents.run(agent_id, other, **options)
    assert record_of(run) == record_of(again)
    case.counts["moves: the same where only unseen cells differ"] += run.moves


def _elsewhere(case: Case, problem: Problem, run: agents.Run) -> Problem:
    """Return a problem that differs in half of the cells that were not seen in a run, the goal left out."""
    seen = np.zeros_like(problem.grid.passable)
    for x, y in run.path:
        for cell in plain_grid.cells(problem.grid):
            dx, dy = abs(cell[0] - x), abs(cell[1] - y)
            distance = dx + dy if problem.grid.connectivity == 4 else max(dx, dy)
            seen[cell[1], cell[0]] |= distance <= (problem.vision or 0)
    seen[problem.goal[1], problem.goal[0]] = True
    flipped = ~seen & (case.rng.random(seen.shape) < 0.5)
    grid = problem.grid.replace(passable=problem.grid.passable ^ flipped)
    return Problem(grid, problem.start, problem.goal, problem.vision, problem.changes, True)

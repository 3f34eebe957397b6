"""MPGAA*: trials worked out on paper, shortest paths and consistent values after every change, and less work."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from profiles import examples
from reference import plain_grid
from reference.checks import Settings, assert_refused, each_rule, some_problems
from reference.plain_oracle import distances, random_grid
from reference.small_maps import ALONG_THE_HORSESHOE as CORRIDOR
from reference.small_maps import HORSESHOE, drawn
from reference.traces import along, exactly, start, trial
from reference.worlds import worlds
from rt_gym import Budget, Change, Grid, InputError, Problem, World, generate, load_map, sample_problems

# Two ways round a block, 4 neighbours: the upper one takes 3 steps, the lower one 7.
# h0:  (0,0) 3  (1,0) 2  (2,0) 1  (3,0) 0
#      (0,1) 4                    (3,1) 1
#      (0,2) 5  (1,2) 4  (2,2) 3  (3,2) 2
BLOCK = drawn("....", ".##.", "....", connectivity=4)


@pytest.mark.plain
def test_a_path_is_searched_once_and_followed_by_its_pointers(act_out: Callable[..., Any]) -> None:
    # f is 2, 4, 6, 8 and from cell 4 on 10. All but the goal are expanded, and h becomes 10 - g.
    trace, rises = trial("mpgaa", HORSESHOE, act_out)
    assert trace.path == CORRIDOR
    assert trace.expansions == trace.scans == [10] + [0] * 9
    assert rises == along(CORRIDOR, {0: 10, 1: 9, 2: 8, 3: 7}, *[{}] * 9)


@pytest.mark.plain
def test_a_cell_closes_before_the_agent_and_opens_behind_it(act_out: Callable[..., Any]) -> None:
    # (0,0): (0,0), (1,0) and (2,0) are expanded, f 3. Nothing rises.
    # (1,0), and (2,0) has closed: of the cells beside it only (1,0) has a pointer, which is dropped: 1 scan. A* expands
    #     (1,0) f 2, (0,0) f 4, (0,1) f 6, and with f 8 (0,2), (1,2), (2,2), (3,2), (3,1).
    #     -> h(1,0) 8, h(0,0) 7, h(0,1) 6; the others have what f 8 gives them.
    # (0,0), and (2,0) is open again: it, (3,0) and (1,0) are scanned; h(1,0) is above 1 + h(2,0) = 2. From it on
    #     (0,0) is lowered to 3 and loses its pointer to (0,1), then (0,1) to 4, then nothing: 3 pops. A* expands
    #     (0,0), (1,0) and (2,0), f 3.
    problem = Problem(BLOCK, (0, 0), (3, 0), changes=[Change(1, (2, 0), False), Change(2, (2, 0), True)])
    trace, changed = trial("mpgaa", problem, act_out)
    assert trace.path == [(0, 0), (1, 0), (0, 0), (1, 0), (2, 0), (3, 0)]
    assert trace.expansions == [3, 8, 3, 0, 0]
    assert trace.learning_ops == [0, 0, 3, 0, 0]
    assert trace.scans == [3, 8 + 1, 3 + 3 + 3, 0, 0]
    assert trace.h_updates == 3
    up = {(1, 0): (8, 0), (0, 0): (7, 0), (0, 1): (6, 0)}
    down = {(1, 0): (2, 0), (0, 0): (3, 0), (0, 1): (4, 0)}
    assert changed == exactly({}, up, down, {}, {})


@pytest.mark.plain
def test_a_change_beside_the_path_takes_no_expansion(act_out: Callable[..., Any]) -> None:
    problem = Problem(BLOCK, (0, 0), (3, 0), changes=[Change(1, (1, 2), False)])
    trace, _ = trial("mpgaa", problem, act_out)
    assert (trace.expansions, trace.scans) == ([3, 0, 0], [3, 0, 0])


def believed(world: World) -> plain_grid.Map:
    return plain_grid.Map.of(world.problem.grid.replace(passable=np.array(world.kernel_view.passable)))


def assert_shortest(agent: Any, world: World) -> None:
    """Check that a plan has found the cost of a shortest path on the believed map, and that h is consistent there."""
    grid, view, at = world.problem.grid, believed(world), world.view.position
    far, h = distances(view, world.problem.goal), agent.learned
    assert world.view.meter.stuck == (at not in far)
    if at in far:
        assert h[grid.cell(at)] == far[at]
    for cell in view.free:
        for near, price in view.neighbours(cell):
            assert h[grid.cell(cell)] <= price + h[grid.cell(near)]


def walk_checked(problem: Problem, most: int = 60) -> int:
    """Walk and check every plan; return how many moves were made."""
    agent, world = start("mpgaa", problem)
    while not world.done and world.view.moves < most:
        action = agent.act()
        assert_shortest(agent, world)
        if world.view.meter.stuck:
            break
        world.step(action)
    return int(world.view.moves)


@given(problem=worlds())
@examples(150)
def test_after_every_change_the_path_is_as_short_as_that_of_a_fresh_search(problem: Problem) -> None:
    walk_checked(problem)


@each_rule
@pytest.mark.parametrize("vision", [None, 2])
def test_paths_stay_shortest_while_many_cells_open_and_close(rules: Settings, vision: int | None) -> None:
    rng, moves = np.random.default_rng(7), 0
    for _ in range(4):
        grid = random_grid(rng, 18, density=0.25, **rules)
        begin = max(plain_grid.Map.of(grid).free)
        far = distances(grid, begin)
        goal = max(far, key=lambda cell: (far[cell], cell))
        cells = [cell for cell in plain_grid.cells(grid) if cell != goal]
        changes = [
            Change(int(rng.integers(25)), cells[int(rng.integers(len(cells)))], bool(rng.integers(2)))
            for _ in range(40)
        ]
        moves += walk_checked(Problem(grid, begin, goal, vision, changes), 40)
    assert moves > 20


@given(problem=worlds(), limit=st.integers(1, 5))
@examples(40)
def test_a_search_in_slices_ends_with_the_same_cost(problem: Problem, limit: int) -> None:
    # While the agent waits the map may change, so it is compared where nothing does.
    still = Problem(problem.grid, problem.start, problem.goal)
    sliced, whole = (agents.run("mpgaa", still, budget=budget) for budget in (limit, None))
    assert (sliced.solved, sliced.overrun, sliced.max_expansions <= limit) == (True, False, True)
    assert (sliced.expansions, sliced.cost) == (whole.expansions, whole.cost + sliced.stays)


@each_rule
def test_on_a_known_map_it_is_astar(rules: Settings) -> None:
    for problem in some_problems(1, 30, 14, **rules):
        run, astar = agents.run("mpgaa", problem), agents.run("astar", problem)
        assert run.path.tolist() == astar.path.tolist()
        assert (run.expansions, run.scans) == (astar.expansions, astar.scans)


@pytest.mark.parametrize("vision", [None, 1, 3])
def test_in_fog_it_expands_less_than_searches_from_scratch(vision: int | None) -> None:
    problems = sample_problems(load_map("rooms-64"), 20, seed=2, vision=vision)
    ours, fresh = (sum(agents.run(name, each).expansions for each in problems) for name in ("mpgaa", "repeated-astar"))
    assert ours < fresh if vision else ours == fresh


def expanded(grid: Grid, name: str) -> int:
    return sum(agents.run(name, problem).expansions for problem in sample_problems(grid, 20, seed=2, vision=1))


def test_in_fog_it_expands_less_than_dstar_lite_among_random_obstacles_and_more_in_a_maze() -> None:
    scattered = generate("random", width=96, height=96, density=0.25, seed=1)
    assert expanded(scattered, "mpgaa") < expanded(scattered, "dstar-lite") / 2
    maze = load_map("maze-63")
    assert expanded(maze, "dstar-lite") < expanded(maze, "mpgaa") < expanded(maze, "repeated-astar") / 2


def test_a_decision_tells_the_cost_to_the_goal() -> None:
    agent, world = start("mpgaa", HORSESHOE)
    world.step(agent.act())
    decision = agent.explain()
    assert (decision.target, decision.g, decision.h_after) == ((4, 2), 10.0, 10.0)
    waiting = agents.make("mpgaa")
    waiting.reset(World(HORSESHOE, Budget(2)).view)
    waiting.act()
    assert waiting.explain().target is None


def test_values_serve_one_trial() -> None:
    run = agents.run("mpgaa", HORSESHOE, trials=2)
    assert [trial.expansions for trial in run.trials] == [10, 10]
    with pytest.raises(InputError, match="MPGAA forgets what it learned after every trial"):
        agents.run("mpgaa", HORSESHOE, trials="converge")


def test_an_unknown_tie_is_refused_by_name() -> None:
    assert_refused("mpgaa", "tie", "last")

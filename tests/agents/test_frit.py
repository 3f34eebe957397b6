"""FRIT: trials worked out on paper, what its tree promises, and what it shares with the searches plugged into it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agents
from reference import plain_grid
from reference.checks import Settings, assert_refused, each_rule, known_or_fog, on_all_maps, some_problems
from reference.contract import exact_cost, random_problems
from reference.plain_frit import Tree
from reference.restless import believed, moves
from reference.small_maps import ALONG_THE_HORSESHOE as CORRIDOR
from reference.small_maps import HORSESHOE, drawn
from reference.traces import along, slices, start, trial
from rt_gym import Budget, Change, Grid, Problem, World, sample_problems
from rt_gym.maps.generate import rooms
from rt_gym.terrain import STEPS

SEARCHES: list[Settings] = [
    {"search": "bfs", "lookahead": 1},
    {"search": "bfs", "lookahead": 10**6},
    {"search": "rtaa", "lookahead": 1},
    {"search": "rtaa", "lookahead": 12},
    {"search": "da-rtaa", "lookahead": 1},
    {"search": "da-rtaa", "lookahead": 12},
]
each_search = pytest.mark.parametrize("settings", SEARCHES, ids=str)
ROOMS = rooms(48, 48, 7, 0.7, 3)


@pytest.mark.plain
class TestTraces:
    # In the horseshoe the parent of a cell is its eastern neighbour, in the last column the southern one. From 4 to the
    # goal, 10, all are free; those of 0 and 3 are walls, 1 leads to 0 and 2 to 1. So the tree is 4 to 10.
    def test_breadth_first_search_stands_still_until_it_has_found_the_tree(self) -> None:
        # 1: 0; 1 leads to 0, 1 step; 1; 2 leads to 1, 1 step, which is painted.
        # 2: 2; 3 leads into a wall; 3; 4 leads to 10, 6 steps. The path from 0 to 4 joins the tree.
        path, expansions, steps = slices("frit", HORSESHOE, search="bfs", lookahead=2)
        assert path == [CORRIDOR[0], *CORRIDOR]
        assert expansions == [2, 2] + [0] * 9
        assert steps == [2, 6] + [0] * 9

    def test_rtaa_joins_the_tree_where_it_comes_first_in_the_open_list(self, act_out: Callable[..., Any]) -> None:
        # 0; 1 f 1+3; 2 f 2+4; 3 f 3+5; 4 f 4+6 comes next and is in the tree -> h0 10, h1 9, h2 8, h3 7.
        trace, rises = trial("frit", HORSESHOE, act_out, search="rtaa", lookahead=4)
        assert trace.path == CORRIDOR
        assert trace.expansions == trace.scans == [4] + [0] * 9
        assert rises == along(CORRIDOR, {0: 10, 1: 9, 2: 8, 3: 7}, *[{}] * 9)
        # 1 leads to 0 and 2 to 1, 1 step each, 3 into a wall, 4 to the goal in 6 steps.
        assert slices("frit", HORSESHOE, search="rtaa", lookahead=4)[2] == [8] + [0] * 9

    def test_da_rtaa_walks_on_along_the_border_until_it_stands_in_the_tree(self, act_out: Callable[..., Any]) -> None:
        # At 0: 0; 1 f 1+3; 2 comes next, f 2+4 -> h0 6, h1 5, to 2 by two moves.
        # At 2: 1 f 1+5 #1, 3 f 1+5 #2; 2, 1; 3 comes next, f 6 -> h2 6; 3 was never raised, 0 was: to 3.
        # At 3: 2 f 1+6 #1, 4 f 1+6 #2; 3, 2; 1 comes next, f 2+5, its g is larger -> h3 7; 1 was raised: to 4.
        # At 4: it stands in the tree.
        trace, rises = trial("frit", HORSESHOE, act_out, search="da-rtaa", lookahead=2)
        assert trace.path == CORRIDOR
        assert trace.expansions == trace.scans == [2, 0, 2, 2] + [0] * 6
        assert rises == along(CORRIDOR, {0: 6, 1: 5}, {}, {2: 6}, {3: 7}, *[{}] * 6)
        # 1 leads to 0, 2 to 1; at 2 and 3 all is painted but 3, which leads into a wall; 4 leads to the goal.
        assert slices("frit", HORSESHOE, search="da-rtaa", lookahead=2)[2] == [2, 0, 0, 0, 6] + [0] * 5


@each_search
@each_rule
def test_open_ground_is_crossed_without_any_search(settings: Settings, rules: Settings) -> None:
    grid = Grid(np.ones((9, 12)), **rules)
    for goal in ((11, 8), (0, 0), (11, 0), (3, 8), (5, 4)):
        problem = Problem(grid, (4, 3), goal, vision=1)
        run = agents.run("frit", problem, **settings)
        assert exact_cost(run) == problem.optimal_cost
        assert (run.expansions, run.scans, run.trace_steps, run.h_updates, run.memory) == (0, 0, 0, 0, 0)


@each_search
@on_all_maps
def test_the_goal_is_reached(settings: Settings, vision: int | None, rules: Settings) -> None:
    for problem in some_problems(1, 12, 12, vision, **rules):
        run = agents.run("frit", problem, max_moves=50_000, **settings)
        assert run.solved
        assert exact_cost(run) >= problem.optimal_cost
        assert run.max_expansions <= settings["lookahead"]
        assert run.scans == run.expansions


@each_search
@pytest.mark.parametrize("vision", [None, 1, 3])
def test_the_goal_is_reached_where_cells_close_and_open(settings: Settings, vision: int | None) -> None:
    for problem in some_problems(2, 8, 12):
        inside = [cell for cell in sorted(plain_grid.Map.of(problem.grid).free) if cell != problem.goal]
        changes = [Change(k, cell, False) for k, cell in enumerate(inside[::6])]
        changes += [Change(30 + k, change.position, True) for k, change in enumerate(changes)]
        changing = Problem(problem.grid, problem.start, problem.goal, vision, changes)
        run = agents.run("frit", changing, max_moves=50_000, **settings)
        assert run.solved or (run.outcome == "no path" and run.moves < 30 + len(changes))  # shut in for a while


def tree_of(agent: Any, world: World) -> Tree:
    """Return the agent's tree as the reference keeps it."""
    grid, tree = world.problem.grid, Tree(world.problem.grid, world.problem.goal)
    for x, y in plain_grid.cells(grid):
        if given := int(agent.memory.tree.parent[grid.cell((x, y))]):
            dx, dy = STEPS[given - 1]
            tree.given[x, y] = x + dx, y + dy
    return tree


@each_search
@known_or_fog
def test_where_a_search_has_found_the_tree_parents_lead_to_the_goal(settings: Settings, vision: int | None) -> None:
    joined = 0
    for problem in random_problems(31, 12, vision):
        agent, world = start("frit", problem, **settings)
        state, searched = agent.memory.tree.state[0], 0
        for _ in moves(agent, world, 300):
            if state.colour > searched and not state.reconnecting:
                assert tree_of(agent, world).has(believed(world), world.view.position)
                searched, joined = int(state.colour), joined + 1
    assert joined > 5


def test_parents_never_form_a_cycle() -> None:
    for problem in random_problems(32, 12, 1):
        agent, world = start("frit", problem, search="rtaa", lookahead=3)
        for _ in moves(agent, world, 300):
            pass
        tree = tree_of(agent, world)
        for cell in plain_grid.cells(problem.grid):
            for _ in range(problem.grid.width * problem.grid.height):
                cell = cell if cell == problem.goal else tree.parent(cell)
            assert cell == problem.goal


@each_search
def test_no_cell_is_passed_twice_by_the_tests_of_a_move(settings: Settings) -> None:
    for problem in random_problems(33, 12, 1):
        _, _, steps = slices("frit", problem, **settings)
        assert max(steps, default=0) <= problem.grid.width * problem.grid.height


@pytest.mark.parametrize("search", ["rtaa", "da-rtaa"])
@pytest.mark.parametrize("lookahead", [1, 4, 15])
def test_where_no_tree_is_left_it_is_the_search_that_is_plugged_in(search: str, lookahead: int) -> None:
    # A wall cuts off the goal, and the step to the parent is blocked from the start.
    problem = Problem(drawn(*["....#.."] * 5), (3, 2), (6, 2), allow_unsolvable=True)
    ours = agents.run("frit", problem, search=search, lookahead=lookahead, max_moves=300)
    base = agents.run(search, problem, lookahead=lookahead, max_moves=300)
    assert ours.path.tolist() == base.path.tolist()
    assert (ours.expansions, ours.scans, ours.h_updates) == (base.expansions, base.scans, base.h_updates)
    assert ours.moves == 300 or lookahead == 15


@pytest.mark.parametrize("search", ["rtaa", "da-rtaa"])
def test_in_fog_it_walks_less_than_its_search_alone_at_equal_effort(search: str) -> None:
    # Along the tree it need not search, so that it can look further ahead with no more scans per move.
    foggy = [Problem(ROOMS, problem.start, problem.goal, 1) for problem in sample_problems(ROOMS, 40, seed=2)]
    ours = [agents.run("frit", problem, search=search, lookahead=20) for problem in foggy]
    base = [agents.run(search, problem, lookahead=5) for problem in foggy]
    scans = [sum(run.scans for run in runs) / sum(run.moves for run in runs) for runs in (ours, base)]
    assert scans[0] <= scans[1]
    assert sum(run.cost for run in ours) < 0.8 * sum(run.cost for run in base)


@pytest.mark.parametrize("settings", [each for each in SEARCHES if each["search"] == "bfs" or each["lookahead"] == 12])
def test_a_later_trial_goes_on_with_the_tree(settings: Settings) -> None:
    run = agents.run("frit", HORSESHOE, trials=2, **settings)
    assert run.trials[1].path.tolist() == [list(cell) for cell in CORRIDOR]
    assert run.trials[1].expansions == 0


def test_breadth_first_search_has_no_values_and_counts_parents() -> None:
    agent, world = start("frit", HORSESHOE, search="bfs")
    for _ in moves(agent, world):
        pass
    assert agent.learned is None
    assert agent.count_states() == 4  # those of cells 0 to 3


class TestParameters:
    def test_a_budget_is_its_lookahead(self) -> None:
        for budget in (9, Budget(9, "scans")):
            assert agents.make("frit", budget=budget).lookahead == agents.make("frit", budget=budget).bound == 9

    @pytest.mark.parametrize(
        ("name", "value"),
        [("search", "dfs"), ("search", None), ("lookahead", 0), ("lookahead", 2.5), ("tie", "last")],
    )
    def test_a_value_out_of_range_is_refused_by_name(self, name: str, value: Any) -> None:
        assert_refused("frit", name, value)

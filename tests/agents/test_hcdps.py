"""HCDPS: a trial worked out on paper, what is prepared for a map, and what becomes of it on another map."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given

import agents
from agents import hcdps
from agents.knowledge.hill_regions import HillRegions, onward_to, regions_of
from profiles import examples
from reference import plain_grid
from reference.checks import Settings, assert_refused, each_rule, some_problems
from reference.plain_grid import Map, Position, path_cost
from reference.plain_knn_lrta import climb
from reference.plain_oracle import distances, grids
from reference.small_maps import ALONG_THE_HORSESHOE, HORSESHOE, drawn
from reference.traces import start
from rt_gym import Budget, Change, Grid, InputError, Problem, World, load_map, sample_problems
from rt_gym.cost import INF

each_setting = pytest.mark.parametrize("settings", [{}, {"cutoff": 3}, {"cutoff": 2, "reach": 3}], ids=str)


@pytest.mark.plain
def test_a_way_round_the_horseshoe_by_two_regions(act_out: Callable[..., Any]) -> None:
    # The first seed is (4,0). To (0,1) no climb leads from there: S, which comes before W, leads into the arm of the
    # goal. So its region is the upper row and that arm. The second seed is (0,2), the rest is its region.
    # From (0,2) to (4,0) the path keeps (0,0): to all behind it a climb begins with E, into the arm of the start.
    # (2,2): a climb to the goal does not begin, 1 scan. One to (0,0) takes 4 scans, so the seed (0,2) is passed by.
    # (0,0): from here a climb leads to the goal, 6 scans: E comes before S. So the seed (4,0) is passed by.
    agent, world = start("hcdps", HORSESHOE)
    trace = act_out(agent, world)
    assert trace.path == ALONG_THE_HORSESHOE
    assert trace.expansions == [1] * 10
    assert trace.scans == [1 + 1 + 4, 1, 1, 1, 1 + 6, 1, 1, 1, 1, 1]
    assert (trace.h_updates, agent.guarded, agent.guarded_expansions) == (0, 0, 0)


@pytest.mark.plain
def test_the_regions_and_paths_of_the_horseshoe() -> None:
    grid = HORSESHOE.grid
    made = regions_of(grid, 250, 2)
    seeds, cells = (list(map(grid.position, map(int, found))) for found in (made.seeds, made.cells))
    assert seeds == [(4, 0), (0, 2)]
    assert grid.inner(made.region).tolist() == [[0, 0, 0, 0, 0], [1, -1, -1, -1, 0], [1, 1, 1, -1, 0]]
    assert (made.ends.tolist(), made.begin.tolist()) == ([[0, 1], [1, 0]], [0, 2, 4])
    assert cells == [(0, 0), (0, 2), (0, 0), (4, 0)]


def test_layers_show_the_regions_and_the_subgoals_as_far_as_the_next_seed() -> None:
    agent, _ = start("hcdps", HORSESHOE)
    agent.act()
    layers = agent.layers()
    assert layers["subgoals"].tolist() == [[0, 0], [4, 0]]
    assert layers["regions"].tolist() == [[0, 0, 0, 0, 0], [1, -1, -1, -1, 0], [1, 1, 1, -1, 0]]


def region_of(made: HillRegions, grid: Grid, cell: Position) -> int:
    return int(made.region[grid.cell(cell)])


@given(grid=grids(9))
@examples(60)
@each_setting
def test_every_cell_is_in_one_region_and_every_climb_succeeds(grid: Grid, settings: Settings) -> None:
    cutoff, view = settings.get("cutoff", 250), Map.of(grid)
    made = regions_of(grid, cutoff, settings.get("reach", 2))
    seeds = [grid.position(int(cell)) for cell in made.seeds]
    for cell in plain_grid.cells(grid):
        number = region_of(made, grid, cell)
        assert (number >= 0) == (cell in view.free)
        if number >= 0:
            assert climb(view, cell, seeds[number], cutoff)[1]
            assert climb(view, seeds[number], cell, cutoff)[1]
    assert [region_of(made, grid, seed) for seed in seeds] == list(range(len(made)))
    for (a, b), begin, end, cost in zip(made.ends, made.begin[:-1], made.begin[1:], made.cost, strict=True):
        cells = [seeds[a], *(grid.position(int(cell)) for cell in made.cells[begin:end])]
        legs = [climb(view, u, v, cutoff) for u, v in pairwise(cells)]
        assert all(arrives for _, arrives in legs)
        assert cells[-1] == seeds[b]
        assert sum(path_cost(grid, way) for way, _ in legs) == cost == distances(grid, seeds[b])[seeds[a]]


@given(grid=grids(9))
@examples(40)
def test_a_way_over_the_paths_leads_to_every_region_that_can_be_reached(grid: Grid) -> None:
    made = regions_of(grid, 3, 1)
    for goal in range(len(made)):
        onward, far = onward_to(made, goal), distances(grid, grid.position(int(made.seeds[goal])))
        for r in range(len(made)):
            at, visited = r, set[int]()
            while at != goal and onward[at] >= 0:
                assert at not in visited
                visited.add(at)
                at = int(made.ends[onward[at], 1])
            assert (at == goal) == (grid.position(int(made.seeds[r])) in far)


def legs_of(agent: Any, world: World) -> list[tuple[int, list[Position]]]:
    """Act until the goal; return the cell that every leg is headed for, and where the agent was on it."""
    legs: list[tuple[int, list[Position]]] = []
    while not world.done:
        action = agent.act()
        if not legs or legs[-1][0] != agent.pursued:
            legs.append((agent.pursued, []))
        legs[-1][1].append(world.view.position)
        world.step(action)
    return legs


@each_rule
@each_setting
def test_on_a_known_map_it_climbs_to_the_goal_with_one_expansion_per_move(rules: Settings, settings: Settings) -> None:
    for problem in some_problems(1, 25, 14, **rules):
        agent, world = start("hcdps", problem, **settings)
        for _, cells in legs_of(agent, world):
            assert len(set(cells)) == len(cells)
        run = agents.run("hcdps", problem, **settings)
        assert run.solved
        assert (run.expansions, run.max_expansions) == (run.moves, min(1, run.moves))
        assert (run.h_updates, run.guarded, run.memory) == (0, 0, 0)


@each_setting
def test_a_budget_of_one_scan_is_kept(settings: Settings) -> None:
    for problem in some_problems(2, 25, 14):
        run = agents.run("hcdps", problem, budget=Budget(1, "scans"), **settings)
        assert (run.solved, run.overrun) == (True, False)
        assert run.scans == run.moves


def test_paths_between_more_regions_make_ways_shorter() -> None:
    problems = sample_problems(load_map("rooms-64"), 30, seed=3)
    costs = [sum(agents.run("hcdps", problem, reach=reach).cost for problem in problems) for reach in (1, 2, 4)]
    assert costs[0] > costs[1] > costs[2]


@each_rule
@pytest.mark.parametrize("vision", [1, 2])
def test_in_fog_it_is_lrta_from_where_a_climb_fails(rules: Settings, vision: int) -> None:
    left = 0
    for problem in some_problems(4, 25, 12, vision, **rules):
        run = agents.run("hcdps", problem)
        assert run.solved
        assert run.max_expansions <= 1
        assert run.guarded == (run.h_updates > 0 or run.guarded_expansions > 0) <= 1
        left += run.guarded
        if not run.guarded:
            assert run.h_updates == 0
    assert left > 0


def test_a_way_that_closes_is_left_for_lrta() -> None:
    # The regions know the door (3,1) only. When it has closed, the way is by (3,5), which opens.
    rows = ("...#...", ".......", "...#...", "...#...", "...#...", "...#...")
    problem = Problem(drawn(*rows), (0, 5), (6, 5), changes=[Change(1, (3, 1), False), Change(1, (3, 5), True)])
    run = agents.run("hcdps", problem)
    assert (run.solved, run.guarded) == (True, 1)
    assert run.guarded_expansions > 0


def test_without_a_way_it_is_lrta_from_the_start() -> None:
    problem = Problem(drawn("...#.", "...#.", connectivity=4), (0, 0), (4, 0), allow_unsolvable=True)
    ours, lrta = (agents.run(agent_id, problem, max_moves=40) for agent_id in ("hcdps", "lrta"))
    assert ours.path.tolist() == lrta.path.tolist()
    assert (ours.guarded, ours.h_updates) == (1, lrta.h_updates)


def test_regions_are_made_once_for_a_map_and_ways_once_for_a_goal() -> None:
    grid = some_problems(5, 1, 20)[0].grid
    made = regions_of(grid, 250, 2)
    assert regions_of(grid, 250, 2) is made
    assert onward_to(made, 0) is onward_to(made, 0)
    assert made.cost.max(initial=0) < INF


@pytest.mark.parametrize(
    ("parameter", "value"), [("cutoff", 0), ("cutoff", 2.5), ("reach", 0), ("reach", 11), ("tie", "last")]
)
def test_a_value_out_of_range_is_refused_by_name(parameter: str, value: Any) -> None:
    assert_refused("hcdps", parameter, value)


def test_a_map_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hcdps, "LONGEST_BUILD", 0)
    with pytest.raises(InputError, match=r"11 cells may take .* with a cutoff of 250: give a smaller one"):
        agents.run("hcdps", HORSESHOE)

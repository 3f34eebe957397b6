"""Capped A*: trials worked out on paper, where it stands still and what that costs, and when it is A*."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from profiles import examples
from reference.checks import assert_refused, some_problems
from reference.contract import exact_cost, path_of, random_problems
from reference.plain_grid import h0, path_cost
from reference.plain_oracle import distances, problems
from reference.small_maps import ALONG_THE_HORSESHOE, CUP, HORSESHOE, drawn
from reference.traces import start
from rt_gym import STAY, Budget, Problem, World

OWN = HORSESHOE.start


def horseshoe(**options: Any) -> Problem:
    return Problem(HORSESHOE.grid, HORSESHOE.start, HORSESHOE.goal, **options)


@pytest.mark.plain
class TestTraces:
    # Along the horseshoe h is 2 3 4 5 6 5 4 3 2 1 0, and every expansion generates the next cell: after 8 of them the
    # last one, (4,0), is as near to the goal as the start, h 2, but its g is 8: the start is nearest. After 9 of them
    # (4,1) is, h 1. The tenth generates the goal, which comes next.

    def test_it_stands_still_in_a_dead_end_that_its_nodes_do_not_lead_out_of(self, act_out: Callable[..., Any]) -> None:
        agent, world = start("capped-astar", HORSESHOE, nodes=8)
        trace = act_out(agent, world, 6)
        assert (trace.outcome, trace.path) == ("out of moves", [OWN] * 7)
        assert trace.expansions == trace.scans == [8, 0, 0, 0, 0, 0]

    def test_one_node_more_leads_to_a_cell_that_is_nearer_and_from_there_to_the_goal(
        self, act_out: Callable[..., Any]
    ) -> None:
        agent, world = start("capped-astar", HORSESHOE, nodes=9)
        trace = act_out(agent, world)
        assert trace.path == ALONG_THE_HORSESHOE
        assert trace.expansions == trace.scans == [9, *[0] * 8, 1]

    def test_with_nodes_enough_it_walks_the_whole_path(self, act_out: Callable[..., Any]) -> None:
        agent, world = start("capped-astar", HORSESHOE, nodes=10)
        trace = act_out(agent, world)
        assert trace.path == ALONG_THE_HORSESHOE
        assert trace.expansions == [10, *[0] * 9]

    def test_of_cells_as_near_it_takes_the_first_generated(self, act_out: Callable[..., Any]) -> None:
        # (2,2): E (3,2) and S (2,3), both h 3 g 1. (3,2): E (4,2) and S (3,3), both h 2 g 1. Then only south is nearer.
        agent, world = start("capped-astar", Problem(drawn(*["....."] * 5, connectivity=4), (2, 2), (4, 4)), nodes=1)
        trace = act_out(agent, world)
        assert trace.path == [(2, 2), (3, 2), (4, 2), (4, 3), (4, 4)]
        assert trace.expansions == [1, 1, 1, 1]

    def test_into_the_cup_with_few_nodes_and_around_it_with_many(self, act_out: Callable[..., Any]) -> None:
        # Inside (3,2) is nearest, h 3; outside the first that is nearer is (4,0), h 2r, eight steps from (2,2). The way
        # around takes 2 steps west, 2 north, 5 east, one to the southeast and one south in some order: 11 moves.
        paths = []
        for nodes in (4, 100):
            agent, world = start("capped-astar", Problem(drawn(*CUP), (2, 2), (6, 2)), nodes=nodes)
            paths.append(act_out(agent, world, 20).path)
        assert paths[0] == [(2, 2), *[(3, 2)] * 20]
        assert (paths[1][1], paths[1][-1], len(paths[1])) == ((1, 2), (6, 2), 12)

    def test_in_fog_it_searches_anew_where_its_way_is_blocked(self, act_out: Callable[..., Any]) -> None:
        # h is 4 - x in row 0 and 5 - x in row 1; nothing but the neighbours is seen.
        # (0,0) f4: E (1,0) f4, S (0,1) f6.  (1,0): E (2,0) f4, S (1,1) f6.  (2,0): E (3,0) f4 h1: it goes there.
        # On (2,0) it sees the wall (3,0). (2,0) h2: S (2,1)#1 and W (1,0)#2, both f4 g1.  (2,1): E (3,1) f4 g2, W (1,1)
        # f6.  (3,1): E (4,1) h1: it goes there, and the fourth search finds the goal at once.
        problem = Problem(drawn("...#.", ".....", connectivity=4), (0, 0), (4, 0), vision=1)
        agent, world = start("capped-astar", problem, nodes=3)
        trace = act_out(agent, world)
        assert trace.path == [(0, 0), (1, 0), (2, 0), (2, 1), (3, 1), (4, 1), (4, 0)]
        assert trace.expansions == [3, 0, 3, 0, 0, 1]

    def test_a_wall_that_it_sees_too_late_can_leave_it_in_a_dead_end(self, act_out: Callable[..., Any]) -> None:
        # As above, but the second search from (2,0) ends with (3,1), h 2 as its own and g 2.
        problem = Problem(drawn("...#.", ".....", connectivity=4), (0, 0), (4, 0), vision=1)
        agent, world = start("capped-astar", problem, nodes=2)
        trace = act_out(agent, world, 5)
        assert trace.path == [(0, 0), (1, 0), (2, 0), (2, 0), (2, 0), (2, 0)]
        assert trace.expansions == [2, 0, 2, 0, 0]


@pytest.mark.plain
class TestStandingStill:
    def test_a_change_that_helps_ends_it(self, act_out: Callable[..., Any]) -> None:
        # After five moves the wall (3,2) between start and goal opens: (2,2), then (3,2), then the goal.
        agent, world = start("capped-astar", horseshoe(changes=[(5, (3, 2), True)]), nodes=8)
        trace = act_out(agent, world)
        assert trace.path == [*[OWN] * 6, (3, 2), (4, 2)]
        assert trace.expansions == [8, 0, 0, 0, 0, 2, 0]

    def test_a_change_that_does_not_help_costs_one_search(self, act_out: Callable[..., Any]) -> None:
        # (3,1) opens, h 2: the eighth expansion, of (3,0), generates it, too.
        agent, world = start("capped-astar", horseshoe(changes=[(2, (3, 1), True)]), nodes=8)
        trace = act_out(agent, world, 5)
        assert trace.path == [OWN] * 6
        assert trace.expansions == [8, 0, 8, 0, 0]

    def test_a_change_that_shuts_it_in_lets_it_say_that_there_is_no_path(self, act_out: Callable[..., Any]) -> None:
        agent, world = start("capped-astar", horseshoe(changes=[(3, (1, 2), False)]), nodes=4)
        trace = act_out(agent, world)
        assert (trace.outcome, trace.expansions) == ("no path", [4, 0, 0, 1])
        assert agent.act() == STAY
        assert world.view.meter.stuck

    def test_another_place_or_goal_ends_it(self) -> None:
        agent, world = start("capped-astar", HORSESHOE, nodes=8)
        for moved in (lambda: world.place((4, 0)), lambda: world.set_goal((3, 0))):
            for _ in range(3):
                world.step(agent.act())
            moved()
            while not world.done:
                world.step(agent.act())
            world.place(OWN)
            world.set_goal(HORSESHOE.goal)
        assert world.view.moves == 3 + 2 + 3 + 7

    def test_all_its_moves_cost_one_search(self) -> None:
        run = agents.run("capped-astar", HORSESHOE, nodes=8, max_moves=1000)
        assert (run.outcome, run.stays, run.overrun) == ("out of moves", 1000, False)
        assert run.expansions == run.scans == run.first_move_expansions == 8


@pytest.mark.plain
class TestBudget:
    @pytest.mark.parametrize("count", ["expansions", "scans"])
    @pytest.mark.parametrize("limit", [8, 9, 10])
    def test_a_budget_is_a_number_of_nodes(self, limit: int, count: str) -> None:
        limited = agents.run("capped-astar", HORSESHOE, nodes=100, budget=Budget(limit, count), max_moves=30)
        capped = agents.run("capped-astar", HORSESHOE, nodes=limit, max_moves=30)
        assert path_of(limited) == path_of(capped)
        assert limited.max_expansions == limited.max_scans == capped.max_expansions == limit
        assert (limited.expansions, limited.overrun) == (capped.expansions, False)

    def test_it_searches_again_when_a_move_may_take_more(self) -> None:
        # Three of ten are spent elsewhere: seven expansions lead nowhere, ten do.
        agent, world = start("capped-astar", HORSESHOE, budget=10, nodes=100)
        world.view.meter.charge(3)
        world.step(agent.act())
        assert world.view.position == OWN
        while not world.done:
            world.step(agent.act())
        assert (world.view.moves, int(world.trip.tally[0].expansions)) == (11, 3 + 7 + 10)

    def test_it_does_not_search_again_when_a_move_may_take_less(self) -> None:
        agent, world = start("capped-astar", HORSESHOE, budget=8, nodes=100)
        world.step(agent.act())
        world.view.meter.charge(3)
        assert (agent.act(), world.view.meter.expansions) == (STAY, 3)

    @pytest.mark.parametrize("count", ["expansions", "scans"])
    def test_no_budget_is_overrun(self, count: str) -> None:
        for vision in (None, 1):
            for problem in random_problems(31, 20, vision, changing=True):
                run = agents.run("capped-astar", problem, nodes=50, budget=Budget(7, count), max_moves=60)
                assert (run.overrun, max(run.max_expansions, run.max_scans) <= 7) == (False, True)

    @pytest.mark.parametrize("count", ["expansions", "scans"])
    @pytest.mark.parametrize(("limit", "nodes"), [(1, 1), (37, 37), (10**12, 10**9)])
    def test_the_budget_chooses_the_nodes(self, limit: int, nodes: int, count: str) -> None:
        agent = agents.make("capped-astar", budget=Budget(limit, count))
        assert agent.nodes == agent.bound == nodes


class TestPlentyOfNodes:
    def test_it_is_a_star_on_a_known_map(self) -> None:
        for problem in some_problems(1, 30, 10):
            run, astar = agents.run("capped-astar", problem, nodes=10**9), agents.run("astar", problem)
            assert exact_cost(run) == problem.optimal_cost
            assert (path_of(run), run.expansions, run.scans) == (path_of(astar), astar.expansions, astar.scans)

    @pytest.mark.parametrize(("vision", "changing"), [(None, True), (1, False), (2, True)])
    def test_it_is_a_star_in_fog_and_where_the_map_changes(self, vision: int | None, changing: bool) -> None:
        for problem in random_problems(32, 30, vision, changing):
            run, astar = agents.run("capped-astar", problem, nodes=10**9), agents.run("repeated-astar", problem)
            assert (run.outcome, path_of(run)) == (astar.outcome, path_of(astar))
            assert (run.expansions, run.max_scans) == (astar.expansions, astar.max_scans)


@given(problem=problems(max_side=10), nodes=st.integers(1, 30), tie=st.sampled_from(["first", "random"]))
@examples(100)
def test_every_search_begins_nearer_to_the_goal_and_the_last_finds_a_shortest_path(
    problem: tuple[Any, Any, Any], nodes: int, tie: str, act_out: Callable[..., Any]
) -> None:
    grid, _, goal = problem
    agent, world = agents.make("capped-astar", nodes=nodes, tie=tie), World(Problem(*problem))
    agent.reset(world.view, seed=1)
    trace = act_out(agent, world, 200)
    searches = [k for k, spent in enumerate(trace.expansions) if spent]
    assert all(h0(grid, trace.path[a], goal) > h0(grid, trace.path[b], goal) for a, b in pairwise(searches))
    if trace.outcome != "goal":
        assert set(trace.path[searches[-1] :]) == {trace.path[-1]}
    elif searches:  # none where the start is the goal
        last = trace.path[searches[-1] :]
        assert path_cost(grid, last) == distances(grid, goal)[last[0]]


def test_the_more_nodes_the_fewer_stand_still() -> None:
    tasks = some_problems(4, 200, 24)
    solved = [
        sum(agents.run("capped-astar", task, nodes=nodes, max_moves=200).solved for task in tasks)
        for nodes in (1, 10, 40, 10_000)
    ]
    assert 0 < solved[0] < solved[1] < solved[2] < solved[3] == len(tasks)


@pytest.mark.parametrize("value", [0, -5, 2.5, "9", None, True, 10**30])
def test_a_number_of_nodes_out_of_range_is_refused_by_name_in_one_sentence(value: Any) -> None:
    assert_refused("capped-astar", "nodes", value)

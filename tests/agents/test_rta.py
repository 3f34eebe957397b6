"""RTA*: trials worked out on paper, how it differs from LRTA*, and which depths are refused."""

from collections.abc import Callable
from typing import Any

import pytest

import agents
from reference import checks
from reference.checks import Settings, each_rule, known_or_fog, some_problems
from reference.plain_grid import Map
from reference.small_maps import ALONG_THE_HORSESHOE as EASTWARD
from reference.small_maps import ALONG_THE_MIRRORED as WESTWARD
from reference.small_maps import HOOK, ROUND_THE_HOOK, drawn
from reference.small_maps import HORSESHOE as EAST
from reference.small_maps import MIRRORED as WEST
from reference.traces import Position, exactly, start, trial
from rt_gym import Budget, Problem, World, sample_problems
from rt_gym.cost import INF
from rt_gym.maps.generate import generate


@pytest.mark.plain
class TestTraces:
    def test_depth_one_around_the_hook(self, act_out: Callable[..., Any]) -> None:
        # (1,0): S 1+(1+r), W 1+3, SW r+(2+r); the second is 4                     -> h 4, to (1,1)
        # (1,1): S 1+2r, W 1+(2+r), N 1+4, SW r+(1+2r), NW r+3; W and NW are 3+r   -> h 3+r, to (1,2)
        # (1,2): E 1+(1+r), W 1+(1+2r), N 1+(3+r), NW r+(2+r); W and NW are 2+2r   -> h 2+2r, to (2,2)
        # (2,2): E 1+2, W 1+(2+2r)                                                 -> h 3+2r, to (3,2)
        # (3,2): W 1+(3+2r), N 1+1                                                 -> h 4+2r, to (3,1)
        # (3,1): S 1+(4+2r), N the goal                                            -> h 5+2r
        trace, rises = trial("rta", HOOK, act_out)
        assert trace.path == ROUND_THE_HOOK
        assert trace.expansions == trace.scans == [1] * 6
        assert rises == exactly(
            {(1, 0): (4, 0)},
            {(1, 1): (3, 1)},
            {(1, 2): (2, 2)},
            {(2, 2): (3, 2)},
            {(3, 2): (4, 2)},
            {(3, 1): (5, 2)},
        )

    def test_depth_two_around_the_hook(self, act_out: Callable[..., Any]) -> None:
        # The second look begins without the best first step; F is g + h, or that of the state before if it is larger.
        # (1,0): S (1,1)#1, W (0,0)#2, SW (0,1)#3, then (1,2)#4 and (0,2)#5, both over (1,1). Best (1,2) F 2+2r, S.
        #        Without S: (0,0) and (0,1) are read, then (1,1), now g 1+r over (0,0). (1,2) g 2r over (0,1), F 4r;
        #        (0,2) g 1+r over (0,1), F 2+3r                                    -> h 4r; 4 expanded, 3 read again
        # (1,1): S (1,2)#1, W (0,1)#2, N (1,0)#3, SW (0,2)#4, NW (0,0)#5; (2,2)#6 F 3+r, S.
        #        Without S: #2 to #5 are read, then (1,2), now g 1+r over (0,1) with F 1+3r; (2,2) g 2+r, F 3+2r
        #                                                                          -> h 3+2r; 6 and 5
        # (1,2): E (2,2)#1, W (0,2)#2, N (1,1)#3, NW (0,1)#4; (3,2)#5 F 4, (1,0)#6 F 2+4r, (0,0)#7 F 4+2r as (1,1).
        #        Without E: #2 to #4 are read, and (3,2) is not reached            -> h 4+2r; 5 and 3
        # (2,2): E (3,2)#1, W (1,2)#2 F 5+2r; (3,1)#3 F 3; behind (1,2) all have its F
        #        Without E: (1,2) is read                                          -> h 5+2r; 3 and 1
        # (3,2): W (2,2)#1 F 6+2r, N (3,1)#2; (1,2)#3 F 6+2r, the goal F 2         -> h 6+2r; 3 and 1
        # (3,1): S (3,2)#1 F 7+2r, N the goal F 1, a leaf; (2,2)#3 F 7+2r          -> h 7+2r; 2 and 1
        trace, rises = trial("rta", HOOK, act_out, depth=2)
        assert trace.path == ROUND_THE_HOOK
        assert trace.expansions == [4, 6, 5, 3, 3, 2]
        assert trace.scans == [7, 11, 8, 4, 4, 3]
        assert rises == exactly(
            {(1, 0): (0, 4)},
            {(1, 1): (3, 2)},
            {(1, 2): (4, 2)},
            {(2, 2): (5, 2)},
            {(3, 2): (6, 2)},
            {(3, 1): (7, 2)},
        )

    @pytest.mark.parametrize("corridor", [(EAST, EASTWARD), (WEST, WESTWARD)], ids=["east", "west"])
    def test_a_corridor_is_closed_behind_it(
        self, corridor: tuple[Problem, list[Position]], act_out: Callable[..., Any]
    ) -> None:
        # Cell 0 has one way out, and so has every later one, as the cell behind it is infinite. With depth two the
        # cell, the one behind and the one ahead are expanded, but none behind cell 0, and not the goal ahead of cell 9.
        # The second look reads the one behind.
        problem, path = corridor
        for depth, expansions, scans in ((1, [1] * 10, [1] * 10), (2, [2, *[3] * 8, 2], [2, *[4] * 8, 3])):
            trace, rises = trial("rta", problem, act_out, depth=depth)
            assert trace.path == path
            assert trace.expansions == expansions
            assert trace.scans == scans
            assert rises == [{cell: INF} for cell in path[:-1]]


class TestBesideLRTA:
    @known_or_fog
    def test_rta_arrives_and_differs_from_lrta_the_less_the_deeper_it_looks(
        self, vision: int | None, record_property: Callable[[str, object], None]
    ) -> None:
        # By how much is reported, not demanded: it depends on the maps.
        differences = {}
        for depth in (1, 2, 3, 5, 8):
            cost = {"rta": 0.0, "lrta": 0.0}
            for problem in some_problems(2, 400, 24, vision):
                for agent_id in cost:
                    run = agents.run(agent_id, problem, depth=depth, clock=False)
                    assert run.solved
                    cost[agent_id] += run.cost
            differences[depth] = cost["rta"] / cost["lrta"] - 1
            record_property(f"cost of rta against lrta, depth {depth}, vision {vision}", f"{differences[depth]:+.1%}")
        assert abs(differences[8]) < abs(differences[1])

    @each_rule
    @pytest.mark.parametrize("depth", [1, 2, 4])
    def test_the_first_move_of_rta_is_that_of_lrta_and_its_value_no_smaller(self, depth: int, rules: Settings) -> None:
        for problem in some_problems(3, 40, 14, None, **rules):
            first = []
            for agent_id in ("rta", "lrta"):
                agent, world = agents.make(agent_id, depth=depth), World(problem)
                agent.reset(world.view)
                first.append((agent.act(), world.view.meter.expansions, agent.learned.copy()))
            assert first[0][:2] == first[1][:2]
            assert (first[0][2] >= first[1][2]).all()

    def test_later_trials_of_rta_begin_with_nothing(self) -> None:
        problem = Problem(drawn("..#.", "..#.", "...."), (1, 0), (3, 0))
        run = agents.run("rta", problem, trials=3)
        assert [trial.path.tolist() for trial in run.trials] == [run.trials[0].path.tolist()] * 3
        assert len({trial.h_updates for trial in run.trials}) == 1


def minimin(view: Map, h: dict[Position, int], goal: Position, way: list[Position], g: int, depth: int) -> int:
    """Return Korf's value of the end of a way in a tree: the least cost plus value below it, with path-max."""
    if depth == 0 or way[-1] == goal:
        return g + h[way[-1]]
    below = (
        minimin(view, h, goal, [*way, near], g + cost, depth - 1)
        for near, cost in view.neighbours(way[-1])
        if near not in way
    )
    return max(g + h[way[-1]], min(below, default=INF))


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_in_a_tree_every_move_is_the_best_and_every_value_the_second_best_of_korfs(depth: int) -> None:
    # A value per neighbour, each by a lookahead of its own, one layer shallower.
    grid = generate("maze", size=15, seed=depth).replace(connectivity=4)
    view = Map.of(grid)
    for problem in sample_problems(grid, 6, 10, seed=depth):
        (agent, world), goal = start("rta", problem, depth=depth), problem.goal
        while not world.done:
            s, h = world.view.position, {cell: int(agent.learned[grid.cell(cell)]) for cell in view.free}
            of = {near: minimin(view, h, goal, [s, near], cost, depth - 1) for near, cost in view.neighbours(s)}
            world.step(agent.act())
            assert of[world.view.position] == min(of.values())
            assert agent.learned[grid.cell(s)] == min(INF, max(h[s], *[*sorted(of.values()), INF][1:2]))


def test_a_budget_chooses_the_depth() -> None:
    assert agents.make("rta", budget=100).depth == 5
    assert agents.make("rta", budget=Budget(300, "scans")).depth == 5


def test_one_expansion_too_few_is_an_overrun_that_leaves_the_values_alone() -> None:
    checks.assert_overrun_leaves_values_alone("rta")


@pytest.mark.parametrize("value", [0, -1, 1001, 1.5, "3", None, True, float("nan"), float("inf"), 10**30])
def test_a_value_out_of_range_is_refused_by_name_in_one_sentence(value: Any) -> None:
    checks.assert_refused("rta", "depth", value)

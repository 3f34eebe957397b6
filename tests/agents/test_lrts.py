"""LRTS: trials worked out on paper, what weight and quota do, and which parameters are refused."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import agents
from reference import checks
from reference.checks import Settings, known_or_fog, on_all_maps, some_problems
from reference.small_maps import ALONG_THE_HORSESHOE as EASTWARD
from reference.small_maps import ALONG_THE_MIRRORED as WESTWARD
from reference.small_maps import HOOK, ROUND_THE_HOOK, drawn
from reference.small_maps import HORSESHOE as EAST
from reference.small_maps import MIRRORED as WEST
from reference.traces import along, trial
from rt_gym import Problem, World
from rt_gym.cost import DIAGONAL, STRAIGHT, encode
from rt_gym.search.distance import exact_distances


@pytest.mark.plain
class TestTraces:
    def test_depth_two_out_of_the_corridor(self, act_out: Callable[..., Any]) -> None:
        # Cell 0: layers {1} 1+3, {2} 2+4                                          -> h 6, to 2; 2 expanded
        # Cell 2: {1 3} 4 and 6, {0 4} 2+6 and 2+6, the first discovered is 0      -> h 8, to 0; 3 expanded
        # Cell 0: {1} 1+3, {2} 2+8                                                 -> h 10, to 2
        # Cell 2: {1 3} 4 and 6, {0 4} 2+10 and 2+6                                -> h 8, to 4
        # From cell 4 on the values ahead are exact. The goal is in the second layer around cell 8.
        trace, rises = trial("lrts", EAST, act_out, depth=2)
        assert trace.path == [EASTWARD[k] for k in (0, 1, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)]
        assert trace.expansions == trace.scans == [2, 0, 3, 0, 2, 0, *[3, 0] * 4]
        assert rises == along(EASTWARD, {0: 6}, {}, {2: 8}, {}, {0: 10}, *[{}] * 9)

    def test_the_goal_ends_the_lookahead(self, act_out: Callable[..., Any]) -> None:
        # Cell 0 as above, with the layer {3} 3+5 besides                          -> h 8, to 3; 3 expanded
        # Cell 3 (S 2, N 4): {2 4} 5 and 7, {1 5} 5 and 7, {0 6} 3+8 and 3+4       -> h 7, to 6; 5 expanded
        # Cell 6: {7 5} 4 and 6, {8 4} 4 and 8, {9 3} 3+1 and 3+7                  -> h 4, to 9; 5 expanded
        # Cell 9: {10 8}: the goal is here, and cell 8 is not expanded             -> h 1, to 10; 1 expanded
        trace, rises = trial("lrts", EAST, act_out, depth=3)
        assert trace.path == EASTWARD
        assert trace.expansions == [3, 0, 0, 5, 0, 0, 5, 0, 0, 1]
        assert rises == along(EASTWARD, {0: 8}, {}, {}, {3: 7}, *[{}] * 6)

    def test_quota_zero_goes_back_after_every_change(self, act_out: Callable[..., Any]) -> None:
        # Every change is 2. At cell 0 there is no trail, so it goes forward; elsewhere a change sends it back one cell.
        # 0: h 4, to 1.  1: E 2 and W 0 are 5, h 5, back.  0: h 6, to 1.  1: 2 is 5, to 2.
        # 2: 1 and 3 are 6, h 6, back.  1: both are 7, h 7, back.  0: h 8, to 1.  1: 2 is 7, to 2.  2: 3 is 6, to 3.
        # 3: 2 and 4 are 7, h 7, back.  2: both are 8, h 8, back.  1: both are 9, h 9, back.  0: h 10, to 1.
        # 1: 2 is 9.  2: 3 is 8.  3: 4 is 7.  From there on the values ahead are exact.
        trace, rises = trial("lrts", WEST, act_out, quota=0)
        cells = [0, 1, 0, 1, 2, 1, 0, 1, 2, 3, 2, 1, 0, *range(1, 11)]
        assert trace.path == [WESTWARD[k] for k in cells]
        assert trace.expansions == [1] * 22
        assert trace.scans == [2 if after < before else 1 for before, after in pairwise(cells)]
        changes = [{0: 4}, {1: 5}, {0: 6}, {}, {2: 6}, {1: 7}, {0: 8}, {}, {}, {3: 7}, {2: 8}, {1: 9}, {0: 10}]
        assert rises == along(WESTWARD, *changes, *[{}] * 9)

    def test_quota_four_lets_two_changes_pass(self, act_out: Callable[..., Any]) -> None:
        # 0: h 4, learned 2, to 1.  1: both are 5, h 5, learned 4, to 2.  2: both are 6, h 6, too much: back to 1.
        # 1: 2 is 7, 0 is 5: no change, to 0.  0: h 6, back along the trail, to 1.  1: both are 7, h 7, back to 0.
        # 0: h 8, the trail is empty: to 1. The rest is as with quota 0.
        trace, rises = trial("lrts", WEST, act_out, quota=4)
        cells = [0, 1, 2, 1, 0, 1, 0, 1, 2, 3, 2, 1, 0, *range(1, 11)]
        assert trace.path == [WESTWARD[k] for k in cells]
        changes = [{0: 4}, {1: 5}, {2: 6}, {}, {0: 6}, {1: 7}, {0: 8}, {}, {}, {3: 7}, {2: 8}, {1: 9}, {0: 10}]
        assert rises == along(WESTWARD, *changes, *[{}] * 9)

    def test_gamma_one_half_around_the_hook_twice(self, act_out: Callable[..., Any]) -> None:
        # a = 0.5 and b = 0.707 are the prices of a straight and of a diagonal step; a + a is exactly 1.
        # (1,0): S a+(1+r) = 2.91, W a+3, SW b+(2+r)                               -> to (1,1)
        # (1,1): S a+2r = 3.33, W a+(2+r), N a+(a+1+r) = 3.41, SW b+(1+2r), NW b+3 -> to (1,2)
        # (1,2): E a+(1+r) = 2.91, W a+(1+2r), N a+(a+2r), NW b+(2+r)              -> to (2,2)
        # (2,2): E a+2 = 2.5, W a+(a+1+r)                                          -> to (3,2)
        # (3,2): N a+1 is below its 2, and (3,1): the goal a below its 1           -> no change
        a, b = STRAIGHT // 2, DIAGONAL // 2
        trace, rises = trial("lrts", HOOK, act_out, gamma=0.5)
        assert trace.path == ROUND_THE_HOOK
        assert rises == [
            {(1, 0): a + encode(1, 1)},
            {(1, 1): a + encode(0, 2)},
            {(1, 2): a + encode(1, 1)},
            {(2, 2): a + encode(2, 0)},
            {},
            {},
        ]
        # Trial 2
        # (1,0): S a+(a+2r) = 3.83, W a+3 = 3.5, SW b+(2+r) = 4.12                 -> to (0,0)
        # (0,0): E a+(a+3), S a+(2+r) = 3.91, SE b+(a+2r) = 4.04                   -> to (0,1)
        # (0,1): E a+(a+2r) = 3.83, S a+(1+2r), N a+(a+2+r), SE b+(a+1+r) = 3.62, NE b+(a+3) -> to (1,2)
        # (1,2): E a+(a+2) = 3, W a+(1+2r), N a+(a+2r), NW b+(b+a+1+r)             -> to (2,2), then no change
        trace, rises = trial("lrts", HOOK, act_out, trials=2, gamma=0.5)
        assert trace.path == [(1, 0), (0, 0), (0, 1), (1, 2), (2, 2), (3, 2), (3, 1), (3, 0)]
        assert rises == [
            {(1, 0): a + encode(3, 0)},
            {(0, 0): a + encode(2, 1)},
            {(0, 1): a + b + encode(1, 1)},
            {(1, 2): encode(3, 0)},
            {},
            {},
            {},
        ]


@pytest.mark.plain
@on_all_maps
@pytest.mark.parametrize("settings", [{"depth": 1, "gamma": 1, "quota": None}, {"quota": float("inf")}], ids=str)
def test_the_smallest_setting_is_lrta_trial_for_trial(settings: Settings, vision: int | None, rules: Settings) -> None:
    for problem in some_problems(1, 12, 10, vision, **rules):
        lrts, lrta = checks.assert_lrta("lrts", settings, problem)
        assert lrts.scans == lrta.scans


class TestWeightAndQuota:
    @known_or_fog
    @pytest.mark.parametrize(
        "settings",
        [
            {"depth": 2, "gamma": 0.5},
            {"depth": 1, "gamma": 0.2, "quota": 0},
            {"depth": 3, "gamma": 0.7, "quota": 10},
            {"depth": 4, "gamma": 1e-9},
            {"depth": 5},
        ],
        ids=str,
    )
    def test_converged_paths_cost_at_most_the_optimum_divided_by_gamma(
        self, settings: Settings, vision: int | None
    ) -> None:
        gamma = Fraction(float(settings.get("gamma", 1)))
        for problem in some_problems(4, 25, 12, vision):
            agent = agents.make("lrts", **settings)
            run = agents.run(agent, problem, trials="converge")
            last = run.trials[-1] if run.trials else run
            octile = problem.grid.cost == "octile"
            cost = encode(last.straights, last.diagonals) if octile else encode(last.moves)
            assert run.converged
            # The price of every move is rounded down, by less than 1 in units of 2**-40.
            assert gamma * cost < problem.optimal_cost + max(1, last.moves)
            assert (agent.learned <= exact_distances(problem.grid, problem.goal)).all()

    @pytest.mark.plain
    def test_quota_zero_sends_it_back_after_every_change(self) -> None:
        # With one move per plan the way back is that of the last forward move, and the stack can be kept here.
        turns = 0
        for problem in some_problems(5, 60, 12, None):
            agent, world = agents.make("lrts", depth=1, quota=0), World(problem)
            agent.reset(world.view)
            stack: list[Any] = []
            while not world.done:
                before, raised = world.view.position, int(world.trip.tally[0].raises)
                world.step(agent.act())
                if int(world.trip.tally[0].raises) > raised and stack:
                    assert world.view.position == stack.pop()
                    turns += 1
                else:
                    stack.append(before)
        assert turns > 20

    def test_a_quota_never_used_up_changes_nothing(self) -> None:
        for problem in some_problems(6, 30, 12, 1):
            free, ample = (agents.run("lrts", problem, depth=3, quota=quota) for quota in (None, 1_000_000))
            assert free.path.tolist() == ample.path.tolist()
            assert (free.scans, free.h_updates) == (ample.scans, ample.h_updates)

    def test_a_trail_longer_than_the_map_is_forgotten(self) -> None:
        # In a closed room of three cells values rise for ever; 15 cells with the border, so the trail is full again and
        # again before the quota is used up, and after that the agent goes back.
        problem = Problem(drawn("...#."), (0, 0), (4, 0), allow_unsolvable=True)
        agent = agents.make("lrts", quota=200)
        run = agents.run(agent, problem, max_moves=2000)
        assert (run.outcome, run.moves) == ("out of moves", 2000)
        assert agent.memory.trail.direction.size == 21
        assert run.scans > run.expansions

    def test_a_blocked_way_back_is_forgotten(self) -> None:
        # It goes from 0 to 1, where both neighbours are 5: a change, but the way back is closed by then.
        rows = (".....", ".###.", ".#...")
        problem = Problem(drawn(*rows, connectivity=4), (2, 2), (0, 2), changes=[(1, (2, 2), False)])
        run = agents.run("lrts", problem, quota=0)
        assert run.solved
        assert [tuple(position) for position in run.path[:3].tolist()] == [(2, 2), (3, 2), (4, 2)]

    def test_prices_are_exact_and_gamma_one_changes_none(self) -> None:
        for gamma in (1, 0.5, 0.3, 1e-30):
            agent, world = agents.make("lrts", gamma=gamma), World(Problem(drawn("..."), (0, 0), (2, 0)))
            agent.reset(world.view)
            expected = [max(1, int(Fraction(float(gamma)) * int(cost))) for cost in world.terrain.cost]
            assert agent.memory.prices.tolist() == expected
            assert gamma < 1 or expected == world.terrain.cost.tolist()


def test_a_budget_chooses_the_depth() -> None:
    assert agents.make("lrts", budget=100).depth == 5


def test_one_expansion_too_few_is_an_overrun_that_leaves_the_values_alone() -> None:
    checks.assert_overrun_leaves_values_alone("lrts")


class TestParameters:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *(("depth", value) for value in (0, -1, 1001, 1.5, "3", None, True)),
            *(("gamma", value) for value in (0, -0.5, 1.01, float("nan"), float("inf"), "1", None, True, 1j)),
            *(("quota", value) for value in (-1, -1e-9, float("nan"), float("-inf"), "inf", True, [1], 10**30)),
        ],
    )
    def test_a_value_out_of_range_is_refused_by_name_in_one_sentence(self, name: str, value: Any) -> None:
        checks.assert_refused("lrts", name, value)

    def test_numbers_of_any_kind_are_taken(self) -> None:
        agent = agents.make("lrts", depth=np.int64(2), gamma=np.float32(0.5), quota=Fraction(7, 2))
        assert (agent.depth, agent.gamma, agent.quota) == (2, 0.5, 3.5)
        assert agents.make("lrts", quota=np.inf).quota is None

    def test_a_quota_counts_straight_steps(self) -> None:
        agent, world = agents.make("lrts", quota=2.5), World(Problem(drawn("..."), (0, 0), (2, 0)))
        agent.reset(world.view)
        assert agent.memory.trail.quota == 5 * STRAIGHT // 2

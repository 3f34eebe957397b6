"""A*: trials worked out on paper (``reference/traces.py`` has the notation), and the optimal lengths it has to find."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from reference.plain_oracle import scipy_distances
from reference.small_maps import ALONG_THE_HORSESHOE, HOOK, HORSESHOE, ROUND_THE_HOOK, drawn
from reference.traces import start
from rt_gym import Problem, load_map, load_scenarios
from rt_gym.maps import names
from training.judge.speed import scenario_files
from training.runs.courses import tolerance


@pytest.mark.plain
class TestTraces:
    # (1,0) f2: S (1,1)#1 f2+r, W (0,0)#2 f4, SW (0,1)#3 f2+2r.  (1,1): S (1,2)#4 g2 f2+2r, SW (0,2)#5 g1+r f2+3r.
    # (0,0) f4: nothing.  At 2+2r (1,2) with g 2 before (0,1) with g r: E (2,2)#6 g3 f4+r.  (0,1): nothing cheaper.
    # (2,2) f4+r = 5.41: E (3,2)#7 g4 f6.  (3,2) before (0,2), f6 against 6.24: N (3,1) g5 f6.  (3,1): N goal g6 f6.
    EXPANDED = ((1, 0), (1, 1), (0, 0), (1, 2), (0, 1), (2, 2), (3, 2), (3, 1))

    def test_around_the_hook(self, act_out: Callable[..., Any]) -> None:
        agent, world = start("astar", HOOK)
        trace = act_out(agent, world)
        assert trace.path == ROUND_THE_HOOK
        assert trace.expansions == trace.scans == [8, 0, 0, 0, 0, 0]

    def test_the_order_of_expansion_around_the_hook(self) -> None:
        agent, world = start("astar", HOOK)
        agent.act()
        assert [world.kernel_view.position_of(int(cell)) for cell in world.kernel_view.expanded] == list(self.EXPANDED)

    def test_a_budget_of_three_lets_it_stand_still_twice(self, act_out: Callable[..., Any]) -> None:
        agent, world = start("astar", HOOK, budget=3)
        trace = act_out(agent, world)
        assert trace.path == [(1, 0), (1, 0), *ROUND_THE_HOOK]
        assert trace.expansions == [3, 3, 2, 0, 0, 0, 0, 0]

    def test_a_map_that_changes_while_it_thinks_is_searched_anew(self, act_out: Callable[..., Any]) -> None:
        # One expansion per move. Along row 0 (0,0) and (1,0) are expanded, then (1,0) closes, after two moves.
        # Anew: (0,0) f4: S (0,1) f6.  (0,1): E (1,1) f6.  (1,1): E (2,1) f6.  (2,1): E (3,1)#4, N (2,0)#5, both f6 g4.
        # (3,1): E (4,1)#6, N (3,0)#7, both f6 g5.  (4,1): N goal g6: six, and the last of them moves at once.
        yard = drawn(".....", ".....", connectivity=4)
        agent, world = start("astar", Problem(yard, (0, 0), (4, 0), changes=[(2, (1, 0), False)]), budget=1)
        trace = act_out(agent, world)
        assert trace.path == [*[(0, 0)] * 8, (0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (4, 0)]
        assert trace.expansions == [*[1] * 8, 0, 0, 0, 0, 0]

    def test_out_of_the_horseshoe_in_fog(self, act_out: Callable[..., Any]) -> None:
        # (2,2) sees (3,2) and (2,1) blocked and takes all else for free. Expanded: (2,2) f2; (1,2) f4, adding (0,2)#2
        # and the wall (1,1)#3, both f6; (0,2); (1,1), adding (1,0)#5 f8; (0,1)#4 f8; (1,0); (2,0) f8; (3,0) f8, adding
        # (4,0)#9 and the wall (3,1)#10, both f8 g6; (4,0); (4,1) f8 g7; then the goal: ten. The plan goes through the
        # wall, which is seen from (1,2).
        # From there: (1,2) f3; (2,2) f3, a dead end; (0,2) f5; (0,1) f7; then at f9 (0,0), (1,0), (2,0), (3,0), (4,0)
        # and (4,1): ten.
        fog = Problem(HORSESHOE.grid, HORSESHOE.start, HORSESHOE.goal, vision=1)
        agent, world = start("astar", fog)
        trace = act_out(agent, world)
        assert trace.path == ALONG_THE_HORSESHOE
        assert trace.expansions == [10, 10, 0, 0, 0, 0, 0, 0, 0, 0]


class TestOptimalLengths:
    """Against published lengths where the public maps are there, and against SciPy on our own maps always."""

    def test_a_sample_of_the_published_optimal_lengths_is_reproduced(self, shared_maps: Path) -> None:
        files = scenario_files(shared_maps)
        agent, checked = agents.make("astar"), 0
        for path in files:
            grid, scenarios = load_map(path.with_suffix("")), load_scenarios(path)
            share = -(-200 // len(files))
            for scenario in (scenarios[k * len(scenarios) // share] for k in range(share)):
                run = agents.run(agent, scenario.on(grid), clock=False)
                assert run.solved
                assert abs(run.cost - scenario.optimal) <= tolerance(scenario.optimal), (path.name, scenario)
                checked += 1
        assert checked >= 200

    @pytest.mark.parametrize("name", names())
    def test_astar_is_optimal_on_the_bundled_maps(self, name: str) -> None:
        grid, rng = load_map(name), np.random.default_rng(7)
        free = [(int(x), int(y)) for y, x in np.argwhere(grid.passable)]
        for goal in (free[k] for k in rng.integers(len(free), size=2)):
            distance = scipy_distances(grid, goal)
            reachable = [
                (x, y) for x, y in (free[k] for k in rng.integers(len(free), size=20)) if np.isfinite(distance[y, x])
            ]
            assert reachable
            for place in reachable:
                run = agents.run("astar", Problem(grid, place, goal), clock=False)
                assert run.cost == pytest.approx(distance[place[1], place[0]], rel=1e-9, abs=1e-9)

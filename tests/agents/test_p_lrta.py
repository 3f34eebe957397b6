"""P LRTA*: trials worked out on paper, what its queue does, and which lengths of it are refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agents
from reference import checks
from reference.checks import Settings, each_rule, on_all_maps, some_problems
from reference.small_maps import ALONG_THE_HORSESHOE as EASTWARD
from reference.small_maps import HOOK, ROUND_THE_HOOK
from reference.small_maps import HORSESHOE as EAST
from reference.traces import along, exactly, trial
from rt_gym import Budget
from rt_gym.terrain import MAX_CELLS


@pytest.mark.plain
class TestTraces:
    def test_a_queue_of_one_out_of_the_corridor(self, act_out: Callable[..., Any]) -> None:
        # Every change is 2, so the queue takes the first neighbour that comes and no other while it waits.
        # 0: h 4, queues 1.  1: h 5, queues 0.  To 1.
        # 1: no change.  0: h 6, queues 1.  Moves: 0 is 7, 2 is 5.
        # 2: h 6; 1 waits already.  1: h 7, queues 0.  Moves: 1 is 8, 3 is 6.
        # 3: h 7; 0 waits.  0: h 8, queues 1.  Moves: 2 and 4 are 7, S to 2 comes first.
        # 2: h 8; 1 waits.  1: h 9, queues 0.  Moves: 1 is 10, 3 is 8.
        # 3: no change.  0: h 10, queues 1.  Moves: 2 is 9, 4 is 7.
        # 4: no change.  1: no change, and nobody waits any more.
        # Two updates and a third reading for each of the first seven moves, one update for the others.
        trace, rises = trial("p-lrta", EAST, act_out, queue=1)
        assert trace.path == [EASTWARD[k] for k in (0, 1, 2, 3, 2, 3, 4, 5, 6, 7, 8, 9, 10)]
        assert trace.expansions == [*[2] * 7, *[1] * 5]
        assert trace.scans == [*[3] * 7, *[1] * 5]
        changes = [{0: 4, 1: 5}, {0: 6}, {2: 6, 1: 7}, {3: 7, 0: 8}, {2: 8, 1: 9}, {0: 10}]
        assert rises == along(EASTWARD, *changes, *[{}] * 6)

    def test_a_queue_of_two_around_the_hook(self, act_out: Callable[..., Any]) -> None:
        # Changes are r, 2r-2 = 0.83 or 2-r = 0.59; in brackets who waits after an update.
        # 1 (1,0) h 2+r by r [(1,1) (0,0)]; (1,1) h 1+2r by r [(0,0) (1,2)]; (0,0) h 3+r by r [(1,2) (1,0)].
        #   Moves: S and SW are 2+2r, and the diagonal one has the larger cost.
        # 2 (0,1) h 3r by 0.83, too little for a full queue; (1,2) h 2+r by 0.59 [(1,0) r, (2,2) 0.59];
        #   (1,0) h 2+2r by r: (1,1) comes in, then (0,0) in the place of (2,2) [(1,1) (0,0)].
        #   Moves: E, S and SE are 2+2r, SE has the larger cost.
        # 3 (1,2) no change; (1,1) h 3+r by 0.59 [(0,0) r, (1,2) 0.59]; (0,0) h 1+3r by 0.83: (1,0) comes in, then (0,1)
        #   in the place of (1,2) [(1,0) (0,1)].  Moves: E is 2+r.
        # 4 (2,2) h 3 by 0.59, too little; (1,0) h 4+r by 0.59 [(0,1) 0.83, (1,1) 0.59]; (0,1) h 2+2r by 0.59
        #   [(1,1) (0,2)].  Moves: E is 3.
        # 5 (3,2) no change; (1,1) no change; (0,2) h 3+r by 0.59 [(1,2) (0,1)].  Moves: N is 2.
        # 6 (3,1) no change; (1,2) h 4 by 0.59 [(0,1) (2,2)]; (0,1) h 4+r by 0.59.  Moves: the goal.
        trace, rises = trial("p-lrta", HOOK, act_out, queue=2)
        assert trace.path == [(1, 0), (0, 1), *ROUND_THE_HOOK[2:]]
        assert trace.expansions == [3] * 6
        assert trace.scans == [4] * 6
        assert rises == exactly(
            {(1, 0): (2, 1), (1, 1): (1, 2), (0, 0): (3, 1)},
            {(0, 1): (0, 3), (1, 2): (2, 1), (1, 0): (2, 2)},
            {(1, 1): (3, 1), (0, 0): (1, 3)},
            {(2, 2): (3, 0), (1, 0): (4, 1), (0, 1): (2, 2)},
            {(0, 2): (3, 1)},
            {(1, 2): (4, 0), (0, 1): (4, 1)},
        )


@pytest.mark.plain
@on_all_maps
@pytest.mark.parametrize("settings", [{"queue": 0}], ids=str)
def test_the_smallest_setting_is_lrta_trial_for_trial(settings: Settings, vision: int | None, rules: Settings) -> None:
    for problem in some_problems(1, 12, 10, vision, **rules):
        p_lrta, lrta = checks.assert_lrta("p-lrta", settings, problem)
        assert p_lrta.scans == lrta.scans


class TestQueue:
    @each_rule
    def test_no_move_updates_more_than_the_queue(self, rules: Settings) -> None:
        for problem in some_problems(7, 20, 14, 1, **rules):
            for queue in (1, 7, 30):
                run = agents.run("p-lrta", problem, queue=queue)
                assert run.max_expansions <= queue + 1
                assert run.max_scans <= queue + 2

    def test_a_queue_cut_by_the_meter_waits_for_the_next_move(self) -> None:
        for problem in some_problems(8, 20, 12, None):
            run = agents.run("p-lrta", problem, queue=30, budget=4)
            assert run.solved
            assert not run.overrun
            assert run.max_expansions <= 4

    @pytest.mark.parametrize("limit", [1, 2, 3, 20])
    def test_a_queue_chosen_for_scans_keeps_them(self, limit: int) -> None:
        for problem in some_problems(9, 10, 12, None):
            run = agents.run("p-lrta", problem, budget=Budget(limit, "scans"))
            assert run.solved
            assert not run.overrun

    def test_a_huge_queue_finds_out_early_that_there_is_no_way(self) -> None:
        checks.assert_no_way_is_found_out_early("p-lrta", queue=MAX_CELLS)

    def test_a_huge_queue_learns_no_less_where_there_is_a_way(self) -> None:
        for problem in some_problems(11, 12, 7):
            assert checks.assert_as_plain("p-lrta", problem, queue=MAX_CELLS).solved

    def test_a_longer_queue_costs_less_on_average(self) -> None:
        problems = some_problems(10, 150, 24, None)
        costs = [np.mean([agents.run("p-lrta", problem, queue=n).cost for problem in problems]) for n in (0, 5, 40)]
        assert costs[0] > costs[1] > costs[2]


class TestParameters:
    @pytest.mark.parametrize("value", [-1, 2.5, "all", None, False, float("nan"), 10**30])
    def test_a_value_out_of_range_is_refused_by_name_in_one_sentence(self, value: Any) -> None:
        checks.assert_refused("p-lrta", "queue", value)

    def test_numbers_of_any_kind_are_taken(self) -> None:
        assert agents.make("p-lrta", queue=np.uint8(9)).queue == 9

    def test_a_budget_chooses_the_queue(self) -> None:
        assert agents.make("p-lrta", budget=100).queue == 99
        assert agents.make("p-lrta", budget=Budget(100, "scans")).queue == 98
        assert agents.make("p-lrta", budget=1).queue == agents.make("p-lrta", budget=Budget(1, "scans")).queue == 0

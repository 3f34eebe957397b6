"""LRTA* with the depths of an oracle: trials worked out on paper, what it decides and records, and what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import agents
from agents.policies.depth_control import HISTORY
from agents.policies.record_depths import Record, make_record
from reference import checks, plain_depth_control, plain_grid, plain_lrta
from reference.checks import Settings, on_all_maps, some_problems
from reference.scenes import Scene, after, decided, some_scenes, untouched
from reference.small_maps import ALONG_THE_HORSESHOE as WAY
from reference.small_maps import CUP, HOOK, HORSESHOE, ROUND_THE_HOOK, drawn
from reference.traces import exactly, trial
from rt_gym import Problem, World
from rt_gym.cost import STRAIGHT
from rt_gym.features.decision import SITUATION
from rt_gym.search.distance import exact_distances

P0, P1, P2, P3 = WAY[:4]  # P0 to P10 are the cells of the horseshoe, from its dead end to the goal


@pytest.mark.plain
class TestTraces:
    def test_out_of_the_horseshoe_with_at_most_three(self, act_out: Callable[..., Any]) -> None:
        # Scans are the expansions of the chosen depth and, before them, those of a search of depth 3, which are given
        # in brackets.
        # P0 h2: there is one way to go, so every depth agrees: 1. F(P1) = 1+3    -> h 4 [P0 P1 P2]
        # P1 h3: 1: P0#1 1+4, P2#2 1+4, the first discovered: back. 2: P3 max(2+5, 1+4) = 7, on.
        #        3: P4 max(3+6, 7) = 9, on. From 2 on they agree                  -> h 7 [P1 P0 P2 P3]
        # P2 h4: 1: P1#1 1+7, P3#2 1+5, on. 2: P0#3 max(2+4, 8) = 8, P4#4 max(2+6, 6) = 8, the first: back.
        #        3: P5 max(3+5, 8) = 8, on. Only 3 is as 3                        -> h 8 [P2 P1 P3 P0 P4]
        # P3 h5: 1: P2 1+8, P4 1+6, on. 2: P1 9, P5 max(2+5, 7) = 7, on. 3: P0 9, P6 max(3+4, 7) = 7, on: 1
        #                                                                         -> h 7 [P3 P2 P4 P1 P5]
        # From P4 on all depths go on and the values ahead are exact. Depth 3 expands five, but at P8, where the goal is
        # one of them, four, and at P9 P9 P8 P7.
        trace, rises = trial("oracle-lrta", HORSESHOE, act_out, d_max=3)
        assert trace.path == WAY
        assert trace.expansions == [1, 3, 5, 1, 1, 1, 1, 1, 1, 1]
        assert trace.scans == [1 + 3, 3 + 4, 5 + 5, 1 + 5, 1 + 5, 1 + 5, 1 + 5, 1 + 5, 1 + 4, 1 + 3]
        first = [{P0: (4, 0)}, {P1: (7, 0)}, {P2: (8, 0)}, {P3: (7, 0)}]
        assert rises == exactly(*first, {}, {}, {}, {}, {}, {})

    def test_around_the_hook_twice_with_at_most_two(self, act_out: Callable[..., Any]) -> None:
        # Trial 1: depth one goes the way that depth two goes, so it is LRTA* of depth one.
        # (1,0): S 1+(1+r), W 1+3, SW r+(2+r). Depth 2 goes to (1,2) by (1,1)     -> h 2+r; depth 2 expands 4
        # (1,1): S 1+2r is the least. Depth 2 has (2,2) alone, by (1,2)           -> h 1+2r; 6
        # (1,2): E 1+(1+r) is the least. Depth 2: (3,2) max(2+2, 2+r) = 4, (1,0) and (0,0) more than 5
        #                                                                         -> h 2+r; 5
        # (2,2): E 1+2, W 1+(2+r). Depth 2: (3,1) 2+1                             -> h 3; 3
        # (3,2): N 1+1, depth 2 the goal; 3.  (3,1): the goal; depth 2 expands 2.
        trace, rises = trial("oracle-lrta", HOOK, act_out, d_max=2)
        assert trace.path == ROUND_THE_HOOK
        assert trace.expansions == [1] * 6
        assert trace.scans == [1 + 4, 1 + 6, 1 + 5, 1 + 3, 1 + 3, 1 + 2]
        assert rises == exactly({(1, 0): (2, 1)}, {(1, 1): (1, 2)}, {(1, 2): (2, 1)}, {(2, 2): (3, 0)}, {}, {})
        # Trial 2
        # (1,0) h2+r: S 1+(1+2r) = 4.83, W 1+3, SW r+(2+r) = 4.83: west. Depth 2: (1,2) by (1,1), max(2+(2+r), 2+2r) =
        #             4+r = 5.41; (0,2) by (1,1), (1+r)+(1+2r) = 6.24: south, so 2 -> h 4+r; 4
        # (1,1) h1+2r: S 1+(2+r), W 1+(2+r), NW r+3 are all 3+r, and NW has the largest g. Depth 2: (2,2) alone, by
        #             (1,2), max(2+3, 3+r) = 5: south, so 2                       -> h 5; 6
        # (1,2) h2+r: E 1+3; W 1+(1+2r), N 1+5, NW r+(2+r). Depth 2: (3,2) max(2+2, 4) = 4, the others have 6 and more:
        #             east by both                                                -> h 4; 5
        # From (2,2) on as in trial 1, and nothing rises.
        trace, rises = trial("oracle-lrta", HOOK, act_out, trials=2, d_max=2)
        assert trace.path == ROUND_THE_HOOK
        assert trace.expansions == [4, 6, 1, 1, 1, 1]
        assert trace.scans == [4 + 4, 6 + 6, 1 + 5, 1 + 3, 1 + 3, 1 + 2]
        assert rises == exactly({(1, 0): (4, 1)}, {(1, 1): (5, 0)}, {(1, 2): (4, 0)}, {}, {}, {})


@pytest.mark.plain
@on_all_maps
def test_without_a_choice_it_is_lrta_trial_for_trial(vision: int | None, rules: Settings) -> None:
    for problem in some_problems(1, 10, 10, vision, **rules):
        oracle, lrta = checks.assert_lrta("oracle-lrta", {"d_max": 1}, problem)
        assert oracle.scans == lrta.scans + lrta.expansions  # a label of depth one is an expansion once more


@pytest.mark.plain
def test_the_oracle_moves_as_the_largest_depth_would_with_what_it_has_learned(act_out: Callable[..., Any]) -> None:
    smaller = 0
    for scene in some_scenes(12, 12, 10):
        problem = Problem(scene.grid, scene.start, scene.goal)
        agent, world = agents.make("oracle-lrta", d_max=4), World(problem)
        agent.reset(world.view)
        trace = act_out(agent, world)
        tables = [untouched(scene.grid, scene.goal), *trace.h]
        for k, position in enumerate(trace.path[:-1]):
            action, _, work = decided(Scene(scene.grid, position, scene.goal, tables[k]), 4)
            assert after(position, action) == trace.path[k + 1]
            assert trace.expansions[k] <= work
            smaller += trace.expansions[k] < work
    assert smaller > 0


def recorded(problem: Problem, d_max: int, record: Record, act_out: Callable[..., Any]) -> Any:
    agent, world = agents.make("oracle-lrta", d_max=d_max), World(problem)
    agent.record = record
    agent.reset(world.view)
    return act_out(agent, world)


@pytest.mark.plain
class TestRecord:
    def test_a_row_holds_what_separate_searches_say(self, act_out: Callable[..., Any]) -> None:
        d_max, labels = 5, set()
        for scene in some_scenes(13, 12, 10):
            exact = exact_distances(scene.grid, scene.goal)
            record = make_record(1000, d_max, exact)
            trace = recorded(Problem(scene.grid, scene.start, scene.goal), d_max, record, act_out)
            assert record.taken == len(trace.path) - 1
            tables = [untouched(scene.grid, scene.goal), *trace.h]
            for row, position in enumerate(trace.path[:-1]):
                now = Scene(scene.grid, position, scene.goal, tables[row])
                labels.add(int(record.label[row]))
                assert record.label[row] == plain_depth_control.label(now.view, position, now.goal, d_max, now.table)
                for d in range(1, d_max + 1):
                    self.assert_depth(record, row, d, now, exact)
        assert labels >= {1, 2, 3}

    @staticmethod
    def assert_depth(record: Record, row: int, d: int, now: Scene, exact: NDArray[np.int64]) -> None:
        plan = plain_lrta.plan(now.view, now.start, now.goal, d, dict(now.table))
        (to,) = plan.steps
        assert after(now.start, int(record.action[row, d])) == to
        rise = plan.raised.get(now.start, now.table[now.start]) - now.table[now.start]
        assert record.rise[row, d] == pytest.approx(rise / STRAIGHT, abs=1e-9)
        assert record.work[row, d] == len(plan.expanded)
        way = plain_grid.step_cost(now.grid, now.start, to) + exact[now.grid.cell(to)]
        assert record.regret[row, d] == pytest.approx((way - exact[now.s]) / STRAIGHT, abs=1e-9)
        assert record.regret[row, d] >= 0

    def test_a_row_holds_the_situation_in_which_it_was_written(self, act_out: Callable[..., Any]) -> None:
        problem = Problem(drawn(*CUP), (2, 2), (6, 2))
        record = make_record(1000, 6)
        trace = recorded(problem, 6, record, act_out)
        column = {name: record.situation[: record.taken, k] for k, name in enumerate(SITUATION)}
        moves = len(trace.path) - 1
        assert column["moves"].tolist() == list(range(moves))
        goal_distance = [plain_grid.h0(problem.grid, cell, problem.goal) / STRAIGHT for cell in trace.path[:-1]]
        assert column["goal_distance"].tolist() == pytest.approx(goal_distance, rel=1e-6)
        assert column["last_depth"].tolist() == [0, *record.label[: moves - 1]]
        assert column["last_work"].tolist() == [0, *trace.expansions[:-1]]
        assert column["last_rise"].tolist() == pytest.approx(
            [0, *(record.rise[row, record.label[row]] for row in range(moves - 1))], rel=1e-6
        )
        windows = [trace.path[max(0, k - HISTORY + 1) : k + 1] for k in range(moves)]
        assert column["revisits"].tolist() == [len(window) - len(set(window)) for window in windows]
        assert max(column["last_rise"]) > 0

    def test_ties_are_the_first_steps_of_all_cheapest_ways_to_a_best_state(self, act_out: Callable[..., Any]) -> None:
        d_max, counts = 4, []
        for scene in some_scenes(29, 12, 10):
            record = make_record(1000, d_max)
            trace = recorded(Problem(scene.grid, scene.start, scene.goal), d_max, record, act_out)
            tables = [untouched(scene.grid, scene.goal), *trace.h]
            for row, position in enumerate(trace.path[:-1]):
                now = Scene(scene.grid, position, scene.goal, tables[row])
                for d in range(1, d_max + 1):
                    moves = [k for k in range(8) if record.ties[row, d] >> k & 1]
                    assert [after(position, k) for k in moves] == plain_depth_control.tied(
                        now.view, position, now.goal, d, now.table
                    )
                    assert int(record.action[row, d]) in moves
                    counts.append(len(moves))
        assert max(counts) > 2
        assert min(counts) == 1

    def test_without_a_distance_field_there_is_no_regret(self, act_out: Callable[..., Any]) -> None:
        record = make_record(50, 3)
        recorded(Problem(drawn(*CUP), (2, 2), (6, 2)), 3, record, act_out)
        assert record.taken > 0
        assert not record.regret.any()

    @pytest.mark.parametrize("room", [0, 1, 4])
    def test_a_full_record_is_left_alone_and_the_walk_is_the_same(self, room: int, act_out: Callable[..., Any]) -> None:
        problem = Problem(drawn(*CUP), (2, 2), (6, 2))
        whole, some = make_record(1000, 6), make_record(room, 6)
        traces = [recorded(problem, 6, record, act_out) for record in (whole, some, make_record(0, 6))]
        assert traces[0].path == traces[1].path == traces[2].path
        assert traces[0].expansions == traces[1].expansions == traces[2].expansions
        assert traces[0].scans == [scans + 1 for scans in traces[2].scans]  # the neighbours, for the situation
        assert some.taken == room < whole.taken
        for mine, theirs in zip(some[:6], whole[:6], strict=True):
            assert (mine == theirs[:room]).all()

    def test_rows_go_on_over_trials_and_problems_until_no_record_is_wanted(self) -> None:
        agent, problem = agents.make("oracle-lrta", d_max=3), Problem(drawn(*CUP), (2, 2), (6, 2))
        agent.record = record = make_record(10_000, 3)
        moves = [trial.moves for trial in agents.run(agent, problem, trials=3).trials]
        assert record.taken == sum(moves)
        moves.append(agents.run(agent, problem).moves)
        assert record.taken == sum(moves)
        agent.record = None
        agents.run(agent, problem)
        assert record.taken == sum(moves)


@pytest.mark.plain
def test_depths_out_of_range_are_refused() -> None:
    checks.assert_depths_out_of_range_are_refused("oracle-lrta")


@pytest.mark.plain
@checks.each_depth
def test_a_budget_chooses_the_largest_depth_that_it_can_pay(limit: int, d_max: int) -> None:
    checks.assert_budget_chooses_depth("oracle-lrta", limit, d_max)


@pytest.mark.plain
def test_a_budget_of_scans_pays_for_the_label_as_well() -> None:
    checks.assert_scans_pay_for_labels("oracle-lrta")

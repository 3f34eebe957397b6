"""LRTA* with depths by a rule: trials worked out on paper, what it is without a choice, and what is refused."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import agents
from reference import checks
from reference.checks import Settings, on_all_maps, some_problems
from reference.small_maps import ALONG_THE_HORSESHOE as WAY
from reference.small_maps import HORSESHOE
from reference.traces import exactly, trial
from rt_gym import Grid, InputError, Problem, World
from rt_gym.terrain import STEPS

P0, P1, P2, P3 = WAY[:4]  # P0 to P10 are the cells of the horseshoe, from its dead end to the goal


@pytest.mark.plain
class TestTraces:
    def test_update_out_of_the_horseshoe_with_at_most_three(self, act_out: Callable[..., Any]) -> None:
        # P0 h2: the first move, 2. P2 max(2+4, 1+3)                              -> h 6; 2 expanded
        # P1 h3: after a rise, 3. P4 alone, max(3+6, 2+5)                         -> h 9; P1 P0 P2 P3
        # P2 h4: after a rise, 3. P5 alone, max(3+5, 2+6)                         -> h 8; P2 P1 P3 P0 P4
        # P3 h5: after a rise, 3. P0 1+8 at least by path-max, P6 max(3+4, 1+6)   -> h 7; P3 P2 P4 P1 P5
        # P4 h6: after a rise, 3. P7 3+3                                          -> h 6; five expanded
        # From P5 on nothing has risen: 2, and three expanded; at P9 the goal is one of them.
        trace, rises = trial("rule-lrta", HORSESHOE, act_out, rule="update", d_max=3)
        assert trace.path == WAY
        assert trace.expansions == trace.scans == [2, 4, 5, 5, 5, 3, 3, 3, 3, 2]
        first = [{P0: (6, 0)}, {P1: (9, 0)}, {P2: (8, 0)}, {P3: (7, 0)}]
        assert rises == exactly(*first, {}, {}, {}, {}, {}, {})

    def test_revisit_out_of_the_horseshoe_with_at_most_four(self, act_out: Callable[..., Any]) -> None:
        # P0 h2: 1. P1 1+3                                                        -> h 4
        # P1 h3: 1. P0#1 1+4, P2#2 1+4, the first                                 -> h 5, back to P0
        # P0 h4: again, 2. P2 max(2+4, 1+5)                                       -> h 6; 2 expanded
        # P1 h5: again, 4. P5 alone, max(4+5, 3+6)                                -> h 9; P1 P0 P2 P3 P4
        # P2 h4: 4. P6 alone, max(4+4, 3+5, 2+6)                                  -> h 8; P2 P1 P3 P0 P4 P5
        # P3 h5: two quiet moves, 4. P7 alone, max(4+3, 1+6)                      -> h 7; all of P0 .. P6
        # P4 h6: three, 4. P8 4+2                                                 -> h 6; all of P1 .. P7
        # P5 h5: four, 4. P9 4+1                                                  -> h 5; all of P2 .. P8
        # P6 h4: five quiet moves, 1, and so on to the goal.
        trace, rises = trial("rule-lrta", HORSESHOE, act_out, rule="revisit", d_max=4)
        assert trace.path == [P0, P1, *WAY]
        assert trace.expansions == trace.scans == [1, 1, 2, 5, 6, 7, 7, 7, 1, 1, 1, 1]
        first = [{P0: (4, 0)}, {P1: (5, 0)}, {P0: (6, 0)}, {P1: (9, 0)}, {P2: (8, 0)}, {P3: (7, 0)}]
        assert rises == exactly(*first, {}, {}, {}, {}, {}, {})

    def test_settle_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # P0 h2: 1: 1+3 = 4, 2: 2+4 = 6, 3: 3+5 = 8, 4: 4+6 = 10, 5: 5+5 = 10, nothing more, and four layers with the
        #        same move                                                        -> h 10; P0 .. P4
        # P1 h3: 1: P2 1+4, 2: 7, 3: 9, 4: P5 max(4+5, 9) = 9, 5: 9               -> h 9; P1 P0 P2 P3 P4 P5
        # P2 h4: 1: P3 1+5, 2: 8, 3: P5 max(3+5, 8) = 8, 4: 8, 5: 8               -> h 8; P0 .. P6
        # P3 h5: 1: P4 1+6, 2: P5 max(2+5, 7) = 7, 3: 7, 4: 7, 5: 7               -> h 7; P0 .. P7
        # P4 h6: 1: P5 1+5 raises nothing, nor does anything from there on: 1.
        trace, rises = trial("rule-lrta", HORSESHOE, act_out, rule="settle", d_max=10)
        assert trace.path == WAY
        assert trace.expansions == trace.scans == [5, 6, 7, 8, 1, 1, 1, 1, 1, 1]
        first = [{P0: (10, 0)}, {P1: (9, 0)}, {P2: (8, 0)}, {P3: (7, 0)}]
        assert rises == exactly(*first, {}, {}, {}, {}, {}, {})

    def test_settle_out_of_the_horseshoe_with_at_most_two(self, act_out: Callable[..., Any]) -> None:
        # P0 h2: 1: 1+3; 2: P2 2+4                                                -> h 6; 2 expanded
        # P1 h3: 1: P2 1+4; 2: P3 2+5                                             -> h 7; 3
        # P2 h4: 1: P3 1+5; 2: P0#3 max(2+6, 1+7) = 8, P4#4 2+6 = 8, the first    -> h 8, back to P1; 3
        # P1 h7: 1: P0 1+6 raises nothing                                         -> back to P0; 1
        # P0 h6: 1: 1+7; 2: P2 max(2+8, 8)                                        -> h 10; 2
        # P1 h7: 1: P0 11, P2 1+8; 2: P3 max(2+5, 9)                              -> h 9; 3
        # P2 h8: 1: P1 10, P3 1+5 raises nothing                                  -> on to P3; 1
        # P3 h5: 1: P4 1+6; 2: P5 max(2+5, 7)                                     -> h 7; 3
        # From P4 on nothing rises: 1.
        trace, rises = trial("rule-lrta", HORSESHOE, act_out, rule="settle", d_max=2)
        assert trace.path == [P0, P1, P2, P1, *WAY]
        assert trace.expansions == trace.scans == [2, 3, 3, 1, 2, 3, 1, 3, 1, 1, 1, 1, 1, 1]
        first = [{P0: (6, 0)}, {P1: (7, 0)}, {P2: (8, 0)}, {}, {P0: (10, 0)}, {P1: (9, 0)}, {}]
        assert rises == exactly(*first, {P3: (7, 0)}, {}, {}, {}, {}, {}, {})


@pytest.mark.plain
@on_all_maps
@pytest.mark.parametrize(
    ("settings", "depth"),
    [
        ({"rule": "update", "d_max": 1}, 1),
        ({"rule": "update", "d_max": 2}, 2),
        ({"rule": "revisit", "d_max": 1}, 1),
        ({"rule": "settle", "d_max": 1}, 1),
    ],
    ids=str,
)
def test_without_a_choice_it_is_lrta_trial_for_trial(
    settings: Settings, depth: int, vision: int | None, rules: Settings
) -> None:
    for problem in some_problems(1, 10, 10, vision, **rules):
        rule, lrta = checks.assert_lrta("rule-lrta", settings, problem, depth)
        assert rule.scans == lrta.scans


@pytest.mark.plain
@pytest.mark.parametrize(("moves", "expansions"), [(19, 3), (20, 1)])
def test_revisit_knows_the_states_of_the_history_and_none_before(moves: int, expansions: int) -> None:
    # Once around a ring of 20 cells, or of 19 past a corner. The window of 20 holds the current state as well. A depth
    # of two expands the state and its two neighbours.
    ring = np.ones((6, 6), bool)
    ring[1:5, 1:5] = False
    ring[2, 2] = True  # the goal, which nobody reaches
    sides = [(x, 0) for x in range(5)], [(5, y) for y in range(5)], [(x, 5) for x in range(5, 0, -1)]
    way = [*sides[0], *sides[1], *sides[2], *((0, y) for y in range(5, -1, -1))]
    if moves == 19:
        way.remove((5, 0))
    world = World(Problem(Grid(ring, corner="free"), (0, 0), (2, 2), allow_unsolvable=True))
    agent = agents.make("rule-lrta", rule="revisit", d_max=9)
    agent.reset(world.view)
    for here, there in pairwise(way):
        agent.act()
        assert world.view.meter.expansions == 1
        world.step(STEPS.index((there[0] - here[0], there[1] - here[1])))
    assert (world.view.position, world.view.moves) == ((0, 0), moves)
    agent.act()
    assert world.view.meter.expansions == expansions


@pytest.mark.plain
def test_an_unknown_rule_is_refused() -> None:
    for rule in ("", "depth", None, 1):
        with pytest.raises(InputError, match='rule must be "update", "revisit" or "settle"'):
            agents.make("rule-lrta", rule=rule)


@pytest.mark.plain
def test_depths_out_of_range_are_refused() -> None:
    checks.assert_depths_out_of_range_are_refused("rule-lrta")


@pytest.mark.plain
@checks.each_depth
def test_a_budget_chooses_the_largest_depth_that_it_can_pay(limit: int, d_max: int) -> None:
    checks.assert_budget_chooses_depth("rule-lrta", limit, d_max)


@pytest.mark.plain
def test_a_budget_of_scans_pays_for_the_label_as_well() -> None:
    checks.assert_scans_pay_for_labels("rule-lrta")

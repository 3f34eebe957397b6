"""Trials with a chosen depth worked out on paper: the path, the work of every move, and the values that rise.

No expected value was read off a run: the comments are the derivations. In them 1 and r are a straight and a diagonal
step, r = 1.414; ``#k`` is the order of discovery; neighbours come in the order E, S, W, N, SE, NE, SW, NW.
"""

from collections.abc import Callable
from typing import Any

import pytest

import agents
from reference.small_maps import ALONG_THE_HORSESHOE as WAY
from reference.small_maps import HOOK, HORSESHOE, ROUND_THE_HOOK
from rt_gym import Problem, World
from rt_gym.cost import encode

pytestmark = pytest.mark.plain

Position = tuple[int, int]
Values = dict[Position, tuple[int, int]]  # a value as its numbers of straight and diagonal steps


# A corridor bent twice, the goal next to its dead end; 4 neighbours. One way of 10 steps. P0 .. P10 are its cells in
# this order, P0 the dead end and P10 the goal.
# h0:  P4 6  P5 5  P6 4  P7 3  P8 2
#      P3 5                    P9 1
#      P2 4  P1 3  P0 2        P10 0
P0, P1, P2, P3 = WAY[:4]


def start(agent_id: str, problem: Problem, **settings: Any) -> tuple[Any, World]:
    """Return an agent at the start of a problem."""
    agent, world = agents.make(agent_id, **settings), World(problem)
    agent.reset(world.view)
    return agent, world


def rises(problem: Problem, trace: Any, before: Any) -> list[dict[Position, int]]:
    """Return which values each move of a trial has raised, and to what."""
    found = []
    for h in trace.h:
        cells = [problem.grid.position(int(cell)) for cell in (h != before).nonzero()[0]]
        found.append({cell: int(h[problem.grid.cell(cell)]) for cell in cells})
        before = h
    return found


def exactly(*moves: Values) -> list[dict[Position, int]]:
    return [{cell: encode(*value) for cell, value in move.items()} for move in moves]


class TestOracle:
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
        agent, world = start("oracle-lrta", HORSESHOE, d_max=3)
        before = agent.learned.copy()
        trace = act_out(agent, world)
        assert trace.path == WAY
        assert trace.expansions == [1, 3, 5, 1, 1, 1, 1, 1, 1, 1]
        assert trace.scans == [1 + 3, 3 + 4, 5 + 5, 1 + 5, 1 + 5, 1 + 5, 1 + 5, 1 + 5, 1 + 4, 1 + 3]
        first: list[Values] = [{P0: (4, 0)}, {P1: (7, 0)}, {P2: (8, 0)}, {P3: (7, 0)}]
        assert rises(HORSESHOE, trace, before) == exactly(*first, {}, {}, {}, {}, {}, {})

    def test_around_the_hook_twice_with_at_most_two(self, act_out: Callable[..., Any]) -> None:
        # Trial 1: depth one goes the way that depth two goes, so it is LRTA* of depth one.
        # (1,0): S 1+(1+r), W 1+3, SW r+(2+r). Depth 2 goes to (1,2) by (1,1)     -> h 2+r; depth 2 expands 4
        # (1,1): S 1+2r is the least. Depth 2 has (2,2) alone, by (1,2)           -> h 1+2r; 6
        # (1,2): E 1+(1+r) is the least. Depth 2: (3,2) max(2+2, 2+r) = 4, (1,0) and (0,0) more than 5
        #                                                                         -> h 2+r; 5
        # (2,2): E 1+2, W 1+(2+r). Depth 2: (3,1) 2+1                             -> h 3; 3
        # (3,2): N 1+1, depth 2 the goal; 3.  (3,1): the goal; depth 2 expands 2.
        agent, world = start("oracle-lrta", HOOK, d_max=2)
        before = agent.learned.copy()
        trace = act_out(agent, world)
        assert trace.path == ROUND_THE_HOOK
        assert trace.expansions == [1] * 6
        assert trace.scans == [1 + 4, 1 + 6, 1 + 5, 1 + 3, 1 + 3, 1 + 2]
        assert rises(HOOK, trace, before) == exactly(
            {(1, 0): (2, 1)}, {(1, 1): (1, 2)}, {(1, 2): (2, 1)}, {(2, 2): (3, 0)}, {}, {}
        )
        # Trial 2
        # (1,0) h2+r: S 1+(1+2r) = 4.83, W 1+3, SW r+(2+r) = 4.83: west. Depth 2: (1,2) by (1,1), max(2+(2+r), 2+2r) =
        #             4+r = 5.41; (0,2) by (1,1), (1+r)+(1+2r) = 6.24: south, so 2 -> h 4+r; 4
        # (1,1) h1+2r: S 1+(2+r), W 1+(2+r), NW r+3 are all 3+r, and NW has the largest g. Depth 2: (2,2) alone, by
        #             (1,2), max(2+3, 3+r) = 5: south, so 2                       -> h 5; 6
        # (1,2) h2+r: E 1+3; W 1+(1+2r), N 1+5, NW r+(2+r). Depth 2: (3,2) max(2+2, 4) = 4, the others have 6 and more:
        #             east by both                                                -> h 4; 5
        # From (2,2) on as in trial 1, and nothing rises.
        world.begin_trial()
        agent.begin_trial()
        before = agent.learned.copy()
        trace = act_out(agent, world)
        assert trace.path == ROUND_THE_HOOK
        assert trace.expansions == [4, 6, 1, 1, 1, 1]
        assert trace.scans == [4 + 4, 6 + 6, 1 + 5, 1 + 3, 1 + 3, 1 + 2]
        assert rises(HOOK, trace, before) == exactly({(1, 0): (4, 1)}, {(1, 1): (5, 0)}, {(1, 2): (4, 0)}, {}, {}, {})


class TestRules:
    def test_update_out_of_the_horseshoe_with_at_most_three(self, act_out: Callable[..., Any]) -> None:
        # P0 h2: the first move, 2. P2 max(2+4, 1+3)                              -> h 6; 2 expanded
        # P1 h3: after a rise, 3. P4 alone, max(3+6, 2+5)                         -> h 9; P1 P0 P2 P3
        # P2 h4: after a rise, 3. P5 alone, max(3+5, 2+6)                         -> h 8; P2 P1 P3 P0 P4
        # P3 h5: after a rise, 3. P0 1+8 at least by path-max, P6 max(3+4, 1+6)   -> h 7; P3 P2 P4 P1 P5
        # P4 h6: after a rise, 3. P7 3+3                                          -> h 6; five expanded
        # From P5 on nothing has risen: 2, and three expanded; at P9 the goal is one of them.
        agent, world = start("rule-lrta", HORSESHOE, rule="update", d_max=3)
        before = agent.learned.copy()
        trace = act_out(agent, world)
        assert trace.path == WAY
        assert trace.expansions == trace.scans == [2, 4, 5, 5, 5, 3, 3, 3, 3, 2]
        first: list[Values] = [{P0: (6, 0)}, {P1: (9, 0)}, {P2: (8, 0)}, {P3: (7, 0)}]
        assert rises(HORSESHOE, trace, before) == exactly(*first, {}, {}, {}, {}, {}, {})

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
        agent, world = start("rule-lrta", HORSESHOE, rule="revisit", d_max=4)
        before = agent.learned.copy()
        trace = act_out(agent, world)
        assert trace.path == [P0, P1, *WAY]
        assert trace.expansions == trace.scans == [1, 1, 2, 5, 6, 7, 7, 7, 1, 1, 1, 1]
        first: list[Values] = [{P0: (4, 0)}, {P1: (5, 0)}, {P0: (6, 0)}, {P1: (9, 0)}, {P2: (8, 0)}, {P3: (7, 0)}]
        assert rises(HORSESHOE, trace, before) == exactly(*first, {}, {}, {}, {}, {}, {})

    def test_settle_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # P0 h2: 1: 1+3 = 4, 2: 2+4 = 6, 3: 3+5 = 8, 4: 4+6 = 10, 5: 5+5 = 10, nothing more, and four layers with the
        #        same move                                                        -> h 10; P0 .. P4
        # P1 h3: 1: P2 1+4, 2: 7, 3: 9, 4: P5 max(4+5, 9) = 9, 5: 9               -> h 9; P1 P0 P2 P3 P4 P5
        # P2 h4: 1: P3 1+5, 2: 8, 3: P5 max(3+5, 8) = 8, 4: 8, 5: 8               -> h 8; P0 .. P6
        # P3 h5: 1: P4 1+6, 2: P5 max(2+5, 7) = 7, 3: 7, 4: 7, 5: 7               -> h 7; P0 .. P7
        # P4 h6: 1: P5 1+5 raises nothing, nor does anything from there on: 1.
        agent, world = start("rule-lrta", HORSESHOE, rule="settle", d_max=10)
        before = agent.learned.copy()
        trace = act_out(agent, world)
        assert trace.path == WAY
        assert trace.expansions == trace.scans == [5, 6, 7, 8, 1, 1, 1, 1, 1, 1]
        first: list[Values] = [{P0: (10, 0)}, {P1: (9, 0)}, {P2: (8, 0)}, {P3: (7, 0)}]
        assert rises(HORSESHOE, trace, before) == exactly(*first, {}, {}, {}, {}, {}, {})

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
        agent, world = start("rule-lrta", HORSESHOE, rule="settle", d_max=2)
        before = agent.learned.copy()
        trace = act_out(agent, world)
        assert trace.path == [P0, P1, P2, P1, *WAY]
        assert trace.expansions == trace.scans == [2, 3, 3, 1, 2, 3, 1, 3, 1, 1, 1, 1, 1, 1]
        first: list[Values] = [{P0: (6, 0)}, {P1: (7, 0)}, {P2: (8, 0)}, {}, {P0: (10, 0)}, {P1: (9, 0)}, {}]
        assert rises(HORSESHOE, trace, before) == exactly(*first, {P3: (7, 0)}, {}, {}, {}, {}, {}, {})

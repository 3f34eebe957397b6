"""Whole trials worked out on paper: the path, the work of every move, and the values that rise.

No expected value was read off a run: the comments are the derivations. In them 1 and r are a straight and a diagonal
step, r = 1.414; ``#k`` is the order of discovery; neighbours come in the order E, S, W, N, SE, NE, SW, NW.
"""

from collections.abc import Callable
from typing import Any

import pytest

import agents
from reference.small_maps import ALONG_THE_HORSESHOE, HOOK, HORSESHOE, ROUND_THE_HOOK, drawn
from rt_gym import Problem, World
from rt_gym.cost import encode

pytestmark = pytest.mark.plain

Position = tuple[int, int]
Values = dict[Position, tuple[int, int]]  # a value as its numbers of straight and diagonal steps


def start(agent_id: str, problem: Problem, budget: int | None = None, **settings: Any) -> tuple[Any, World]:
    """Return an agent at the start of a problem."""
    agent, world = agents.make(agent_id, **settings), World(problem, budget, log=100)
    agent.reset(world.view)
    return agent, world


def rises(problem: Problem, trace: Any, before: Any) -> list[Values]:
    """Return which values each move of a trial has raised, and to what."""
    found = []
    for h in trace.h:
        cells = [problem.grid.position(int(cell)) for cell in (h != before).nonzero()[0]]
        found.append({cell: int(h[problem.grid.cell(cell)]) for cell in cells})
        before = h
    return found


def exactly(*moves: Values) -> list[dict[Position, int]]:
    return [{cell: encode(*value) for cell, value in move.items()} for move in moves]


class TestLRTA:
    def test_depth_one_around_the_hook_twice(self, act_out: Callable[..., Any]) -> None:
        # Trial 1
        # (1,0) h2  : S 1+(1+r), W 1+3, SW r+(2+r)                                 -> h 2+r, to (1,1)
        # (1,1) h1+r: S 1+2r, W 1+(2+r), N 1+(2+r), SW r+(1+2r), NW r+3            -> h 1+2r, to (1,2)
        # (1,2) h2r : E 1+(1+r), W 1+(1+2r), N 1+(1+2r), NW r+(2+r)                -> h 2+r, to (2,2)
        # (2,2) h1+r: E 1+2, W 1+(2+r); the diagonals pass a corner                -> h 3, to (3,2)
        # (3,2) h2  : W 1+3, N 1+1                                                 -> h 2, to (3,1), then the goal
        agent, world = start("lrta", HOOK, depth=1)
        before = agent.learned.copy()
        trace = act_out(agent, world)
        assert trace.path == ROUND_THE_HOOK
        assert rises(HOOK, trace, before) == exactly(
            {(1, 0): (2, 1)}, {(1, 1): (1, 2)}, {(1, 2): (2, 1)}, {(2, 2): (3, 0)}, {}, {}
        )
        assert trace.expansions == trace.scans == [1] * 6
        # Trial 2
        # (1,0) h2+r: S 1+(1+2r) = 4.83, W 1+3, SW r+(2+r)                         -> h 4, to (0,0)
        # (0,0) h3  : E 1+4, S 1+(2+r) = 4.41, SE r+(1+2r)                         -> h 3+r, to (0,1)
        # (0,1) h2+r: E 1+(1+2r), S 1+(1+2r), SE r+(2+r) are all 2+2r; N 1+(3+r), NE r+4
        #             the diagonal one has the largest g                           -> h 2+2r, to (1,2)
        # (1,2) h2+r: E 1+3; W 1+(1+2r), N 1+(1+2r), NW r+(2+2r)                   -> h 4, to (2,2)
        # (2,2) h3  : E 1+2                                                        -> no change from here on
        world.begin_trial()
        agent.begin_trial()
        before = agent.learned.copy()
        trace = act_out(agent, world)
        assert trace.path == [(1, 0), (0, 0), (0, 1), (1, 2), (2, 2), (3, 2), (3, 1), (3, 0)]
        assert rises(HOOK, trace, before) == exactly(
            {(1, 0): (4, 0)}, {(0, 0): (3, 1)}, {(0, 1): (2, 2)}, {(1, 2): (4, 0)}, {}, {}, {}
        )

    def test_depth_two_around_the_hook(self, act_out: Callable[..., Any]) -> None:
        # (1,0): S (1,1)#1 g1, W (0,0)#2 g1, SW (0,1)#3 gr; of these (1,1) adds (1,2)#4 g2 and (0,2)#5 g1+r.
        #        F(1,2) = 2+2r, F(0,2) = (1+r)+(1+2r)                              -> h 2+2r; 4 expanded
        # (1,1): all five neighbours are expanded, only (1,2) adds a state, (2,2) g2.
        #        F(2,2) = 2+(1+r)                                                  -> h 3+r; 6 expanded
        # (1,2): E (2,2)#1, W (0,2)#2, N (1,1)#3, NW (0,1)#4; then (3,2)#5 g2, (1,0)#6 g2, (0,0)#7 g1+r.
        #        F(3,2) = 2+2, F(1,0) = 2+(2+2r), F(0,0) = (1+r)+3                 -> h 4; 5 expanded
        # (2,2): E (3,2)#1, W (1,2)#2; F(3,1) = 2+1, the rest lies behind (1,2)    -> h 3; 3 expanded
        # (3,2): W (2,2)#1, N (3,1)#2; F(goal) = 2                                 -> h 2; 3 expanded
        # (3,1): S (3,2)#1, N goal #2, a leaf with F 1; (2,2) behind (3,2) has 5   -> h 1; 2 expanded
        agent, world = start("lrta", HOOK, depth=2)
        before = agent.learned.copy()
        trace = act_out(agent, world)
        assert trace.path == ROUND_THE_HOOK
        assert trace.expansions == [4, 6, 5, 3, 3, 2]
        assert rises(HOOK, trace, before) == exactly(
            {(1, 0): (2, 2)}, {(1, 1): (3, 1)}, {(1, 2): (4, 0)}, {(2, 2): (3, 0)}, {}, {}
        )

    def test_depth_two_out_of_the_horseshoe_needs_path_max(self, act_out: Callable[..., Any]) -> None:
        # (2,2) h2: frontier (0,2): F = max(2+4, 1+3)                              -> h 6, to (1,2); 2 expanded
        # (1,2) h3: frontier (0,1): F = max(2+5, 1+4)                              -> h 7, to (0,2)
        # (0,2) h4: (2,2)#3: max(2+6, 1+7) = 8; (0,0)#4: max(2+6, 1+5) = 8; the first discovered
        #                                                                          -> h 8, back to (1,2)
        # (1,2) h7: (0,1): max(2+5, 1+8) = 9, by path-max                          -> h 9, to (0,2)
        # (0,2) h8: (2,2): max(2+6, 1+9) = 10, by path-max; (0,0): 8               -> h 8, to (0,1)
        # (0,1) h5: (1,2): max(2+9, 1+8) = 11; (1,0): max(2+5, 1+6) = 7            -> h 7, to (0,0)
        # From (0,0) on the values ahead are exact: 6, 5, 4, 3, 2, 1.
        # Everywhere the cell and its two neighbours are expanded, but one neighbour at the start, and at (4,1),
        # where the goal is one of the two.
        agent, world = start("lrta", HORSESHOE, depth=2)
        before = agent.learned.copy()
        trace = act_out(agent, world)
        assert trace.path == [(2, 2), (1, 2), (0, 2), (1, 2), (0, 2), *ALONG_THE_HORSESHOE[3:]]
        assert trace.expansions == [2, *[3] * 10, 2]
        first = [{(2, 2): (6, 0)}, {(1, 2): (7, 0)}, {(0, 2): (8, 0)}, {(1, 2): (9, 0)}, {}, {(0, 1): (7, 0)}]
        assert rises(HORSESHOE, trace, before) == exactly(*first, {}, {}, {}, {}, {}, {})


# The first plan around the hook, at (1,0), with lookahead three:
# S (1,1)#1 f1+(1+r), W (0,0)#2 f1+3, SW (0,1)#3 fr+(2+r). Closed (1,0), then (1,1), which adds (1,2)#4 g2 f2+2r and
# (0,2)#5 g1+r f2+3r, then (0,0). OPEN (0,1) and (1,2), both f 2+2r, and (0,2): the best is (1,2), with g 2.
# Pops (1,2)2r, giving (1,1) 1+2r; (0,1)2+r, giving (0,0) 3+r and (1,0) 2+2r; at 1+2r (1,1)#1 before (0,2)#5;
# (0,2); (0,0)3+r; (1,0)2+2r: six.
FIRST_RISES: Values = {(1, 1): (1, 2), (0, 0): (3, 1), (1, 0): (2, 2)}


class TestLSSLRTA:
    def test_lookahead_two_commit_all_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # (2,2): closed (2,2) (1,2), OPEN (0,2). Pops (0,2)4 (1,2)5 (2,2)6. Two moves.
        # (0,2): E (1,2)#1 f1+5, N (0,1)#2 f1+5; the first discovered is closed too. OPEN (0,1) f6, (2,2)#3 f2+6.
        #        Pops (0,1)5; at 6 (0,2)#0 before (2,2)#3; (1,2)7. One move.
        # (0,1): S (0,2)#1 f1+6, N (0,0)#2 f1+6; closed (0,1) (0,2). OPEN (0,0) f7, (1,2)#3 f2+7.
        #        Pops (0,0)6; at 7 (0,1)#0 before (1,2)#3; (0,2)8. One move.
        # (0,0), (2,0), (4,0): two states ahead are closed and three popped; the values are exact. Two moves each.
        agent, world = start("lss-lrta", HORSESHOE, lookahead=2)
        before = agent.learned.copy()
        trace = act_out(agent, world)
        assert trace.path == ALONG_THE_HORSESHOE
        assert trace.expansions == [2, 0, 2, 2, 2, 0, 2, 0, 2, 0]
        assert trace.learning_ops == [3, 0, 4, 4, 3, 0, 3, 0, 3, 0]
        assert trace.scans == [5, 0, 6, 6, 5, 0, 5, 0, 5, 0]
        first = [{(1, 2): (5, 0), (2, 2): (6, 0)}, {}, {(0, 2): (6, 0), (1, 2): (7, 0)}]
        assert rises(HORSESHOE, trace, before) == exactly(
            *first, {(0, 1): (7, 0), (0, 2): (8, 0)}, {}, {}, {}, {}, {}, {}
        )

    def test_lookahead_two_commit_one_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # (2,2): as above. One move.
        # (1,2): E (2,2)#1 f1+6, W (0,2)#2 f1+4; closed (1,2) (0,2). OPEN (2,2) f7 g1, (0,1)#3 f2+5 with the larger g.
        #        Pops (0,1)5; at 6 (2,2)#1 before (0,2)#2; (1,2)7
        # (0,2): E (1,2)#1 f1+7, N (0,1)#2 f1+5; closed (0,2) (0,1). OPEN (1,2) f8 g1, (0,0)#3 f2+6 with the larger g.
        #        Pops (0,0)6; at 7 (1,2)#1 before (0,1)#2; (0,2)8
        # (0,1): closed (0,1) (0,0); pops (1,0)5 (0,0)6 (0,1)7, no change.
        # From (0,0) on two ahead are closed and three popped; at (4,1) only itself is closed, and the goal popped.
        agent, world = start("lss-lrta", HORSESHOE, lookahead=2, commit="one")
        before = agent.learned.copy()
        trace = act_out(agent, world)
        assert trace.path == ALONG_THE_HORSESHOE
        assert trace.expansions == [2, 2, 2, 2, 2, 2, 2, 2, 2, 1]
        assert trace.learning_ops == [3, 4, 4, 3, 3, 3, 3, 3, 3, 2]
        first = [{(1, 2): (5, 0), (2, 2): (6, 0)}, {(0, 2): (6, 0), (1, 2): (7, 0)}, {(0, 1): (7, 0), (0, 2): (8, 0)}]
        assert rises(HORSESHOE, trace, before) == exactly(*first, {}, {}, {}, {}, {}, {}, {})

    def test_lookahead_three_commit_all_around_the_hook(self, act_out: Callable[..., Any]) -> None:
        # (1,2): E (2,2)#1 f1+(1+r); W (0,2)#2, N (1,1)#3, NW (0,1)#4, all f 2+2r. Closed (1,2) (2,2) (3,2);
        #        OPEN with (3,1)#6 f3+1 as the best. Pops (3,1)1 (3,2)2 (2,2)3, giving (1,2) 4; (0,1)2+r, then at 1+2r
        #        (0,2)#2 and (1,1)#3, none of which offers less; (1,2)4: seven. Three moves.
        # (3,1): closed alone, the goal is next. Pops the goal and (3,1).
        agent, world = start("lss-lrta", HOOK, lookahead=3, commit="all")
        before = agent.learned.copy()
        trace = act_out(agent, world)
        assert trace.path == ROUND_THE_HOOK
        assert trace.expansions == [3, 0, 3, 0, 0, 1]
        assert trace.learning_ops == [6, 0, 7, 0, 0, 2]
        second: Values = {(2, 2): (3, 0), (1, 2): (4, 0)}
        assert rises(HOOK, trace, before) == exactly(FIRST_RISES, {}, second, {}, {}, {})

    def test_lookahead_three_commit_one_around_the_hook(self, act_out: Callable[..., Any]) -> None:
        # (1,1): S (1,2)#1 f1+2r, W (0,1)#2 f1+(2+r), N (1,0)#3 f3+2r, SW (0,2)#4 f1+3r, NW (0,0)#5 f3+2r.
        #        Closed (1,1), (1,2), which adds (2,2)#6 g2 f3+r, and that before (0,1) with the same f and g 1;
        #        it adds (3,2)#7 f3+2. Now (0,1) is the best: one step west.
        #        Pops (3,2)2, giving (2,2) 3; (2,2), giving (1,2) 4; (0,1)2+r, giving (1,1) 3+r; (0,2)1+2r; (1,2)4;
        #        at 3+r (1,1)#0 before (0,0)#5: six.
        # (0,1): E (1,1)#1 f4+r, S (0,2)#2 f2+2r, N (0,0)#3 f4+r, SE (1,2)#4 gr f4+r, NE (1,0)#5 f2+3r.
        #        Closed (0,1), (0,2), and at 4+r (1,2), which has the largest g; it adds (2,2)#6 g1+r f4+r, the best.
        #        Pops (2,2)3; (1,2)4, giving (0,2) 5 and (0,1) 4+r; at 3+r (1,1)#1 and (0,0)#3; (1,0)2+2r; (0,2)5;
        #        (0,1)4+r: seven.
        # (1,2): closed (1,2) (2,2) (3,2); pops (3,1)1 (3,2)2 (2,2)3 (1,2)4: four.
        # (2,2): closed (2,2) (3,2) (3,1); pops the goal and these: four.  (3,2): closed two, pops three.
        # (3,1): closed one, pops two.
        agent, world = start("lss-lrta", HOOK, lookahead=3, commit="one")
        before = agent.learned.copy()
        trace = act_out(agent, world)
        assert trace.path == [(1, 0), (1, 1), (0, 1), (1, 2), (2, 2), (3, 2), (3, 1), (3, 0)]
        assert trace.expansions == [3, 3, 3, 3, 3, 2, 1]
        assert trace.learning_ops == [6, 6, 7, 4, 4, 3, 2]
        second: Values = {(2, 2): (3, 0), (1, 2): (4, 0), (1, 1): (3, 1)}
        third: Values = {(0, 2): (5, 0), (0, 1): (4, 1)}
        assert rises(HOOK, trace, before) == exactly(FIRST_RISES, second, third, {}, {}, {}, {})


class TestAStar:
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
        assert [world.view.position_of(int(cell)) for cell in world.view.expanded] == list(self.EXPANDED)

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

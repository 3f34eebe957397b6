"""Whole trials of RTAA*, LRTA*(k), LRTA*_LS(k) and LRTA*_LS(k, d) worked out on paper.

No expected value was read off a run: the comments are the derivations. In them 1 and r are a straight and a diagonal
step, r = 1.414; ``#k`` is the order of discovery; neighbours come in the order E, S, W, N, SE, NE, SW, NW.
"""

from collections.abc import Callable
from typing import Any

import pytest

import agents
from reference.small_maps import ALONG_THE_HORSESHOE as CORRIDOR
from reference.small_maps import HOOK, HORSESHOE, ROUND_THE_HOOK, drawn
from rt_gym import Problem, World
from rt_gym.cost import encode

pytestmark = pytest.mark.plain

Position = tuple[int, int]
Values = dict[Position, int]


# A corridor of 11 cells bent twice, from its dead end, cell 0, to the goal, cell 10; 4 neighbours. Its h0 is
# 2 3 4 5 6 5 4 3 2 1 0. Of the two ways out of a cell the one back comes first, by its direction, in 1, 2 and 3.


def trial(agent_id: str, problem: Problem, act_out: Callable[..., Any], **settings: Any) -> Any:
    """Return the trace of a trial, and which values each of its moves has raised, and to what."""
    agent, world = agents.make(agent_id, **settings), World(problem)
    agent.reset(world.view)
    before, rises = agent.learned.copy(), []
    trace = act_out(agent, world)
    for h in trace.h:
        cells = [problem.grid.position(int(cell)) for cell in (h != before).nonzero()[0]]
        rises.append({cell: int(h[problem.grid.cell(cell)]) for cell in cells})
        before = h
    return trace, rises


def exactly(*moves: dict[Position, tuple[int, int]]) -> list[Values]:
    """Return values given as their numbers of straight and diagonal steps."""
    return [{cell: encode(*value) for cell, value in move.items()} for move in moves]


def along(*moves: dict[int, int]) -> list[Values]:
    """Return values given by the number of the cell in the corridor, in straight steps."""
    return [{CORRIDOR[cell]: encode(value) for cell, value in move.items()} for move in moves]


def cells(*numbers: int) -> list[Position]:
    return [CORRIDOR[number] for number in numbers]


class TestRTAA:
    def test_lookahead_two_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # Two are closed in every plan.
        # 0: closed 0, 1; best 2 with f 2+4          -> h0 6, h1 5; two moves
        # 2: 1#1 and 3#2 both f 6; closed 2, 1; best 3 with f 6                 -> h2 6, h1 still 5; one move
        # 3: 2#1 and 4#2 both f 7; closed 3, 2; 4 and 1 both f 7, 1 has g 2     -> h3 7; two moves back to 1
        # 1: 0#1 and 2#2 both f 7; closed 1, 0; best 2 with f 7                 -> h1 7, h0 still 6; one move
        # 2: 1#1 and 3#2 both f 8; closed 2, 1; 3 and 0 both f 8, 0 has g 2     -> h2 8; two moves back to 0
        # 0: closed 0, 1; best 2 with f 2+8                                     -> h0 10, h1 9; two moves
        # 2: 1 f 10, 3 f 8; closed 2, 3; best 4 with f 8                        -> no rise from here on; two moves
        # 4, 6, 8: two ahead are closed, the values are exact; two moves each.
        trace, rises = trial("rtaa", HORSESHOE, act_out, lookahead=2)
        assert trace.path == cells(0, 1, 2, 3, 2, 1, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
        assert trace.expansions == trace.scans == [2, 0, 2, 2, 0, 2, *[2, 0] * 6]
        assert trace.learning_ops == [0] * 18
        changes = [{0: 6, 1: 5}, {}, {2: 6}, {3: 7}, {}, {1: 7}, {2: 8}, {}, {0: 10, 1: 9}]
        assert rises == along(*changes, *[{}] * 9)

    def test_lookahead_three_around_the_hook(self, act_out: Callable[..., Any]) -> None:
        # (1,0): S (1,1)#1 f2+r, W (0,0)#2 f4, SW (0,1)#3 f2+2r; (1,1) adds (1,2)#4 g2 f2+2r and (0,2)#5 f2+3r.
        #        Closed (1,0), (1,1), (0,0); best (1,2), of f 2+2r the one with the larger g.
        #        -> (1,0) 2+2r, (1,1) and (0,0) 1+2r; two moves
        # (1,2): E (2,2) f2+r, all others 2+2r. Closed (1,2), (2,2) g1, (3,2) g2 f4; best (3,1) f4.
        #        -> (1,2) 4, (2,2) 3, (3,2) still 2; three moves
        # (3,1): closed alone, the goal is next.
        trace, rises = trial("rtaa", HOOK, act_out, lookahead=3)
        assert trace.path == ROUND_THE_HOOK
        assert trace.expansions == trace.scans == [3, 0, 3, 0, 0, 1]
        first = {(1, 0): (2, 2), (1, 1): (1, 2), (0, 0): (1, 2)}
        assert rises == exactly(first, {}, {(1, 2): (4, 0), (2, 2): (3, 0)}, {}, {}, {})


class TestLRTAK:
    def test_k_three_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # 0: 1 gives 4. Queue 1: 0 and 2 give 5. Queue 0: 1 gives 6. Nobody else may enter.   -> h0 4, then 6; h1 5
        # 1: 2 gives 5, no rise.
        # 2: 1 and 3 give 6. Queue 1, 3: 0 and 2 give 7; 2 and 4 give 7.  -> h2 6, h1 7, h3 7; 1 and 3 are equal now
        # 1: 0 and 2 give 7, no rise; back to 0.
        # 0: 1 gives 8. Queue 1: 2 gives 7, no rise; so the successors of 0 need not be read again.   -> h0 8
        # 1: 2 gives 7, no rise.
        # 2: 1 and 3 give 8. Queue 1, 3: 0 and 2 give 9; 4 gives 7, no rise.   -> h2 8, h1 9; 3 is better
        # From 3 on the values are exact.
        trace, rises = trial("lrta-k", HORSESHOE, act_out, k=3)
        assert trace.path == cells(0, 1, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
        assert trace.expansions == [1] * 14
        assert trace.learning_ops == [2, 0, 2, 0, 1, 0, 2, *[0] * 7]
        assert trace.scans == [4, 1, 4, 1, 2, 1, 4, *[1] * 7]
        assert trace.h_updates == 3 + 3 + 1 + 2
        assert rises == along({0: 6, 1: 5}, {}, {2: 6, 1: 7, 3: 7}, {}, {0: 8}, {}, {2: 8, 1: 9}, *[{}] * 7)

    def test_k_three_among_supports(self, act_out: Callable[..., Any]) -> None:
        # 0: 1 gives 4. 1 has no support yet.                                                 -> h0 4
        # 1: 0 and 2 give 5, its support is 0. Queue 0, whose support is 1: 1 gives 6. Queue 1: 2 gives 5 and is its
        #    support now, no rise.                                                            -> h1 5, h0 6; 2 is better
        # 2: 1 and 3 give 6, its support is 1. Queue 1: 0 and 2 give 7, its support is 0. Queue 0: 1 gives 8.
        #                                                                                     -> h2 6, h1 7, h0 8; to 3
        # 3: 2 and 4 give 7, its support is 2. The support of 2 is 1, and 4 has none.         -> h3 7; back to 2
        # 2: 1 and 3 give 8, its support is 1. The support of 1 is 0. Queue 3: 4 gives 7 and is its support, no rise.
        #                                                                                     -> h2 8; back to 1
        # 1: 0 and 2 give 9, its support is 0. Queue 0, 2: 1 gives 10; 3 gives 8, no rise.    -> h1 9, h0 10; to 2
        # From 2 on the values are exact.
        trace, rises = trial("lrta-k", HORSESHOE, act_out, k=3, supports=True)
        assert trace.path == cells(0, 1, 2, 3, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
        assert trace.learning_ops == [0, 2, 2, 0, 1, 2, *[0] * 8]
        assert trace.scans == [1, 4, 4, 1, 2, 4, *[1] * 8]
        changes = [{0: 4}, {1: 5, 0: 6}, {2: 6, 1: 7, 0: 8}, {3: 7}, {2: 8}, {1: 9, 0: 10}]
        assert rises == along(*changes, *[{}] * 8)

    def test_k_three_among_visited_states(self, act_out: Callable[..., Any]) -> None:
        # 0: 1 gives 4, and 1 has not been visited.                                           -> h0 4
        # 1: 0 and 2 give 5. Queue 0: 1 gives 6. Queue 1: 2 gives 5, no rise.                 -> h1 5, h0 6; to 2
        # 2: 1 and 3 give 6. Queue 1: 0 and 2 give 7. Queue 0: 1 gives 8.                     -> h2 6, h1 7, h0 8; to 3
        # 3: 2 and 4 give 7. Queue 2: 1 and 3 give 8. Queue 1: 0 and 2 give 9.                -> h3 7, h2 8, h1 9; to 4
        # From 4 on the values are exact.
        trace, rises = trial("lrta-k-visited", HORSESHOE, act_out, k=3)
        assert trace.path == CORRIDOR
        assert trace.learning_ops == [0, 2, 2, 2, *[0] * 6]
        assert trace.scans == [1, 4, 4, 4, *[1] * 6]
        assert rises == along({0: 4}, {1: 5, 0: 6}, {2: 6, 1: 7, 0: 8}, {3: 7, 2: 8, 1: 9}, *[{}] * 6)


class TestLRTALSK:
    def test_k_two_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # 0: 1 gives 4. Tested 0, then 1, which 2 gives 5: I 0, 1; F 2. Pops 2 4, 1 5, 0 6.
        # 1: 2 gives 5, no rise.
        # 2: 1 and 3 give 6. Tested 2, then 1, which 0 gives 7: I 2, 1; F 3, 0. Pops 3 5; at 6 2#0 before 0#3; 1 7.
        # 3: 2 and 4 give 7. Tested 3, then 2, which 1 gives 8: I 3, 2; F 4, 1. Pops 4 6; at 7 3#0 before 1#3; 2 8.
        # From 4 on the values are exact.
        trace, rises = trial("lrta-ls-k", HORSESHOE, act_out, k=2)
        assert trace.path == CORRIDOR
        assert trace.expansions == [1] * 10
        assert trace.learning_ops == [3, 0, 4, 4, *[0] * 6]
        assert trace.scans == [1 + 2 + 3 + 1, 1, 1 + 2 + 4 + 1, 1 + 2 + 4 + 1, *[1] * 6]
        assert rises == along({0: 6, 1: 5}, {}, {2: 6, 1: 7}, {3: 7, 2: 8}, *[{}] * 6)

    def test_k_three_around_the_hook(self, act_out: Callable[..., Any]) -> None:
        # (1,0): S gives 2+r. Tested (1,0); (1,1)#1, which (1,2) gives 1+2r; (0,0)#2, which (0,1) gives 3+r. I is these,
        #        F (0,1)#3 (1,2)#4 (0,2)#5. Pops (1,2)2r, giving (1,1) 1+2r; (0,1)2+r, giving (0,0) 3+r and (1,0) 2+2r;
        #        at 1+2r (1,1)#1 before (0,2)#5; (0,0)3+r; (1,0)2+2r: six.
        #        S and SW are both 2+2r now, and SW has the larger cost.
        # (0,1): SE gives 3r. Queue (1,1)#1 (0,2)#2 (0,0)#3 (1,2)#4 (1,0)#5. (1,1) and (0,2) are given 1+2r by (1,2), no
        #        change: F. (0,0) is given 1+3r by (1,1), as (0,1) is in I: I, and (1,1) enters again behind (1,0).
        #        (1,2) is given 2+r by (2,2)#6: I. Five tested. F (1,1)1+2r (0,2)1+2r (1,0)2+2r (2,2)1+r.
        #        Pops (2,2), giving (1,2) 2+r; (1,2), giving (0,1) 2+2r; (1,1), giving (0,0) 1+3r; (0,2); at 2+2r
        #        (0,1)#0 before (1,0)#5; (0,0)1+3r: seven. E, S and SE are 2+2r now, and SE has the largest cost.
        # (1,2): E gives 2+r, no change.
        # (2,2): E gives 3. (3,2)#1 does not change: F. (1,2)#2 is given 2+2r by (0,2)#3 and (1,1)#4: I. (0,2) is given
        #        1+3r by (1,1): I. Four tested. F (3,2)2 (1,1)1+2r (0,1)#5 2+2r. Pops (3,2), giving (2,2) 3; (2,2),
        #        giving (1,2) 4; (1,1), giving (0,2) 1+3r; (1,2), giving (0,2) 5; (0,1); (0,2)5: six.
        # From (3,2) on the values are exact.
        trace, rises = trial("lrta-ls-k", HOOK, act_out, k=3)
        assert trace.path == [(1, 0), (0, 1), *ROUND_THE_HOOK[2:]]
        assert trace.learning_ops == [6, 7, 0, 6, 0, 0]
        assert trace.scans == [1 + 3 + 6 + 1, 1 + 5 + 7 + 1, 1, 1 + 4 + 6 + 1, 1, 1]
        first = {(1, 0): (2, 2), (1, 1): (1, 2), (0, 0): (3, 1)}
        second = {(1, 2): (2, 1), (0, 1): (2, 2), (0, 0): (1, 3)}
        assert rises == exactly(first, second, {}, {(2, 2): (3, 0), (1, 2): (4, 0), (0, 2): (5, 0)}, {}, {})

    def test_a_frontier_state_that_has_to_change_after_all_leaves_the_frontier(self) -> None:
        # A room of four cells, x a above w b, with the exit e below b. Set to x 1, a 2, w 3, b 2; e is 3.
        # x is given 3 by a. a is given 3 by b: I. w is given 3 by b, no change: F. b is given 4 by e and by w: I, and e
        # in the south, then w in the west enter, w again. e does not change: F. x and b are in I by now, so nothing
        # supports w: I. Six tested. F is e alone.
        # Pops e 3, b 4, a 5, w 5, x 6, all exact. Had w stayed in F, x would be given 4 by it.
        room = Problem(drawn("..", "..", "#.", "#.", "#.", "#.", connectivity=4), (0, 0), (1, 5))
        agent, world = agents.make("lrta-ls-k", k=4), World(room)
        agent.reset(world.view)
        x, a, w, b = (room.grid.cell(position) for position in ((0, 0), (1, 0), (0, 1), (1, 1)))
        agent.learned[[x, a, w, b]] = [encode(1), encode(2), encode(3), encode(2)]
        assert agent.act() == 0
        assert agent.learned[[x, a, w, b]].tolist() == [encode(6), encode(5), encode(5), encode(4)]
        assert world.view.meter.scans == 1 + 6 + 5 + 1


class TestLRTALSKD:
    # k = d = 2 with dynamic lookahead, the moves that learn:
    # 0: 1 gives 4: z is 0 itself. I 0, 1; F 2; pops 2 4, 1 5, 0 6.                     -> h0 6, h1 5; to 1
    # 1: 2 gives 5; expanded. z is 2, as 1 and 3 give 6. I 2, 1; F 3, 0; four pops.     -> h2 6, h1 7; 0 and 2 are equal
    # 0: 1 gives 8: z is 0. 1 is given 7 by 2, no change: I 0, F 1; pops 1 7, 0 8.      -> h0 8; to 1
    # 1: 2 gives 7; expanded. 2: 3 gives 6; expanded. z is 3, as 2 and 4 give 7. I 3, 2; F 4, 1; four pops.
    #                                                                                   -> h3 7, h2 8; 0 and 2 are equal
    # 0: 1 gives 8; expanded. z is 1, as 0 and 2 give 9. Nothing supports 0 then: I 1, 0; F 2; pops 2 8, 1 9, 0 10.
    #                                                                                   -> h1 9, h0 10; to 1
    # From 1 on nothing changes any more.
    LEARNING = ({0: 6, 1: 5}, {2: 6, 1: 7}, {0: 8}, {3: 7, 2: 8}, {1: 9, 0: 10})
    POPS = (3, 4, 2, 4, 3)
    EXPANDED = (0, 1, 0, 2, 1)
    SCANS = (1 + 2 + 3 + 1, 2 + 2 + 4 + 1, 1 + 2 + 2 + 1, 3 + 2 + 4 + 1, 2 + 2 + 3 + 1)
    PATH = (0, 1, 0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)

    def test_dynamic_lookahead_and_control_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # From 1, 3, 5 and 7 two are expanded and the third tested; two moves each. From 9 the goal is next.
        trace, rises = trial("lrta-ls-kd", HORSESHOE, act_out, k=2, d=2)
        assert trace.path == cells(*self.PATH)
        assert trace.expansions == [*self.EXPANDED, *[2, 0] * 4, 1]
        assert trace.learning_ops == [*self.POPS, *[0] * 9]
        assert trace.scans == [*self.SCANS, *[3, 0] * 4, 1]
        assert rises == along(*self.LEARNING, *[{}] * 9)

    def test_single_moves_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # The same, but from 1 on every move is planned, and the successors of the current state are read to choose it.
        # At 8 the goal comes next after two expansions, at 9 after one: nothing else is tested.
        trace, rises = trial("lrta-ls-kd", HORSESHOE, act_out, k=2, d=2, control="single")
        assert trace.path == cells(*self.PATH)
        assert trace.expansions == [*self.EXPANDED, *[2] * 8, 1]
        assert trace.scans == [*self.SCANS, *[4] * 7, 3, 2]
        assert rises == along(*self.LEARNING, *[{}] * 9)

    def test_static_lookahead_and_several_moves_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # 0: closed 0, 1; z 2. 0 changes: I 0, 1; F 2; three pops: h0 6, h1 5. 1: 2 gives 5, no change. 2: 1 and 3 give
        #    6: I 2, 1; F 3, 0; four pops: h2 6, h1 7. Two moves.
        # 2: 1 f 8, 3 f 6; closed 2, 3; 1 and 4 both f 8, 4 has g 2. 2: 3 gives 6, no change. 3: 2 and 4 give 7: I 3, 2;
        #    F 4, 1; four pops: h3 7, h2 8. 4: 5 gives 6, no change. Two moves.
        # 4, 6: two closed, three tested. 8: two closed and tested, z is the goal. Two moves each.
        static = {"k": 2, "d": 2, "lookahead": "static", "control": "several"}
        trace, rises = trial("lrta-ls-kd", HORSESHOE, act_out, **static)
        assert trace.path == CORRIDOR
        assert trace.expansions == [2, 0] * 5
        assert trace.learning_ops == [7, 0, 4, 0, *[0] * 6]
        assert trace.scans == [2 + 3 + 4 + 7, 0, 2 + 3 + 2 + 4, 0, 5, 0, 5, 0, 4, 0]
        assert rises == along({0: 6, 1: 7, 2: 6}, {}, {3: 7, 2: 8}, *[{}] * 7)
        assert trace.h_updates == 4 + 2

    def test_static_lookahead_with_one_k_for_all(self, act_out: Callable[..., Any]) -> None:
        # 0: closed 0, 1. 0 changes: I 0, 1, and k is used up. h0 6, h1 5. Two moves.
        # 2: 1#1 and 3#2 both f 6; closed 2, 1; z 3. 2 changes: I 2, 1; F 3, 0; four pops. h2 6, h1 7. One move.
        # 3: 2#1 and 4#2 both f 7; closed 3, 2; z 4. 3 changes: I 3, 2; F 4, 1; four pops. h3 7, h2 8. One move.
        # 4, 6, 8: as above.
        shared = {"k": 2, "d": 2, "lookahead": "static", "control": "several", "shared_k": True}
        trace, rises = trial("lrta-ls-kd", HORSESHOE, act_out, **shared)
        assert trace.path == CORRIDOR
        assert trace.expansions == [2, 0, 2, 2, *[2, 0] * 3]
        assert trace.learning_ops == [3, 0, 4, 4, *[0] * 6]
        assert trace.scans == [2 + 1 + 2 + 3, 0, 2 + 1 + 2 + 4, 2 + 1 + 2 + 4, 5, 0, 5, 0, 4, 0]
        assert rises == along({0: 6, 1: 5}, {}, {2: 6, 1: 7}, {3: 7, 2: 8}, *[{}] * 6)

"""Whole trials of RTA*, LRTS and P LRTA* worked out on paper: the path, the work of every move, the values that rise.

No expected value was read off a run: the comments are the derivations. In them 1 and r are a straight and a diagonal
step, r = 1.414; ``#k`` is the order of discovery; neighbours come in the order E, S, W, N, SE, NE, SW, NW.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

import agents
from reference.small_maps import ALONG_THE_HORSESHOE as EASTWARD
from reference.small_maps import HOOK, ROUND_THE_HOOK, drawn
from reference.small_maps import HORSESHOE as EAST
from rt_gym import Problem, World
from rt_gym.cost import DIAGONAL, INF, STRAIGHT, encode

pytestmark = pytest.mark.plain

Position = tuple[int, int]
Values = dict[Position, int]


# A corridor of 11 cells bent twice, from its dead end, cell 0, to the goal, cell 10; 4 neighbours. EAST has its bend in
# the west, WEST is its mirror image. Both have h0 2 3 4 5 6 5 4 3 2 1 0 along the corridor.
WEST = Problem(drawn(".....", ".###.", ".#...", connectivity=4), (2, 2), (0, 2))
WESTWARD = [(4 - x, y) for x, y in EASTWARD]


def trial(agent_id: str, problem: Problem, act_out: Callable[..., Any], trials: int = 1, **settings: Any) -> Any:
    """Return the trace of the last of so many trials, and which values each of its moves has raised, and to what."""
    agent, world = agents.make(agent_id, **settings), World(problem)
    agent.reset(world.view)
    for _ in range(trials - 1):
        act_out(agent, world)
        world.begin_trial()
        agent.begin_trial()
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


def along(corridor: list[Position], *moves: dict[int, int]) -> list[Values]:
    """Return values given by the number of the cell in the corridor, in straight steps."""
    return [{corridor[cell]: encode(value) for cell, value in move.items()} for move in moves]


class TestRTA:
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


class TestLRTS:
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


class TestPLRTA:
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

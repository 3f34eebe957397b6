"""Whole trials of D* Lite worked out on paper: the path, the vertices expanded, and what was read for every move.

No expected value was read off a run: the comments are the derivations. In them 1 and r are a straight and a diagonal
step, r = 1.414; neighbours come in the order E, S, W, N, SE, NE, SW, NW. A vertex in the queue is written with
f = min(g, rhs) + h + k_m, and ``-`` or ``+`` for under- or overconsistent; of equal f the ``-`` come first. Scans are
expansions, rhs values computed anew, and one for the choice of a move.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

import agents
from reference.small_maps import ALONG_THE_HORSESHOE, HOOK, ROUND_THE_HOOK, drawn
from rt_gym import Problem, World

pytestmark = pytest.mark.plain

Position = tuple[int, int]
QUEUES = ("buckets", "heap-larger-g", "heap-smaller-g")


# A corridor bent twice, the goal next to its dead end; 4 neighbours.
HORSESHOE = Problem(drawn(".....", ".###.", "...#.", connectivity=4), (2, 2), (4, 2), vision=1)

# A short cut that opens after one move, and is closed further on after another; 4 neighbours, and the map is known.
GATE = Problem(drawn("..#..", ".....", connectivity=4), (0, 0), (4, 0), changes=[(1, (2, 0), True), (2, (3, 0), False)])


def start(problem: Problem, queue: str) -> tuple[Any, World]:
    """Return an agent at the start of a problem."""
    agent, world = agents.make("dstar-lite", queue=queue), World(problem, log=100)
    agent.reset(world.view)
    return agent, world


def expanded(problem: Problem, queue: str, moves: int) -> list[Position]:
    """Return what is expanded for the move after so many."""
    agent, world = start(problem, queue)
    for _ in range(moves):
        world.step(agent.act())
    agent.act()
    return [world.view.position_of(int(cell)) for cell in world.view.expanded]


class TestHook:
    # h from (1,0): (3,0) 2, (3,1) 1+r, (3,2) 2r, (2,2) 1+r, (1,2) 2, (1,1) 1, (0,1) r, (0,2) 1+r, (0,0) 1.
    # (3,0) f2: (3,1) f1+(1+r).  (3,1): (3,2) f2+2r; no diagonal step past (2,1).  (3,2): (2,2) f3+(1+r).
    # (2,2): (1,2) f4+2.  (1,2) f6: W (0,2) f5+(1+r), N (1,1) f5+1, NW (0,1) f(4+r)+r.
    # (1,1) f6: N (1,0) f6, NW (0,0) f(5+r)+1; nothing cheaper for the others.  (1,0), the start: all else has f > 6.
    EXPANDED = ((3, 0), (3, 1), (3, 2), (2, 2), (1, 2), (1, 1), (1, 0))

    @pytest.mark.parametrize("queue", QUEUES[1:])
    def test_one_search_and_then_a_look_around_per_move(self, queue: str, act_out: Callable[..., Any]) -> None:
        agent, world = start(HOOK, queue)
        trace = act_out(agent, world)
        assert trace.path == ROUND_THE_HOOK
        assert trace.expansions == [7, 0, 0, 0, 0, 0]
        assert trace.scans == [8, 1, 1, 1, 1, 1]
        assert expanded(HOOK, queue, 0) == list(self.EXPANDED)


class TestHorseshoeInFog:
    # From (2,2) the walls (3,2) and (2,1) are seen, all else is taken for free.
    # (4,2) f2: N (4,1) f4+.  (4,1): W (3,1) f4+, N (4,0) f6+.  (3,1): N (3,0) f6+.
    # At f6 are (4,0), g 2, and, put in later, (3,0), g 3, which will add (2,0) f6+, g 4.
    # Then (2,0): W (1,0) f8+.  (1,0): S (1,1) f8+, W (0,0) f10+.  (1,1), a wall not yet seen: S (1,2) f8+, W (0,1)
    # f10+.  (1,2): E (2,2) f8+, W (0,2) f10+.  (2,2), the start, g 8: ten.
    FIRST: ClassVar = {
        "buckets": [(4, 2), (4, 1), (3, 1), (3, 0), (2, 0), (4, 0), (1, 0), (1, 1), (1, 2), (2, 2)],
        "heap-larger-g": [(4, 2), (4, 1), (3, 1), (3, 0), (2, 0), (4, 0), (1, 0), (1, 1), (1, 2), (2, 2)],
        "heap-smaller-g": [(4, 2), (4, 1), (3, 1), (4, 0), (3, 0), (2, 0), (1, 0), (1, 1), (1, 2), (2, 2)],
    }
    # (1,2) sees the wall (1,1); k_m = 1. Its rhs becomes infinite: g 6, f8-. S (1,2): rhs was 1 + 6, is 9 over (2,2):
    # g 7, f8-. W (0,1): rhs was 1 + 6, is infinite like its g: out of the queue. N (1,0) has its rhs from elsewhere.
    # Three values computed.
    # (1,2): g infinite, rhs 9: f10+. E (2,2), which had its rhs from here: infinite, g 8: f10-. W (0,2): likewise, out
    #        of the queue. Two values computed.
    # (1,1): g infinite, out of the queue.
    # (2,2): g infinite, out; W (1,2), which had its rhs from here: infinite, out. One value computed.
    # (0,0) g 6 f10+, (0,1) g 7, (0,2) g 8, (1,2), the start, g 9; that gives (2,2) f12+: seven, with six values.
    # Of the two at f8- the buckets take (1,2), put in last, the heaps (1,1), with g 6 against 7. At f10 are (0,0)+ with
    # 6, (1,2)+ with 9 and (2,2)- with 8: the last comes first but for the smaller g, where it meets (0,2) with g 8, the
    # first on the map. (1,2) then gets its rhs 9 from (0,2), whatever (2,2) does: again one value computed.
    SECOND: ClassVar = {
        "buckets": [(1, 2), (1, 1), (2, 2), (0, 0), (0, 1), (0, 2), (1, 2)],
        "heap-larger-g": [(1, 1), (1, 2), (2, 2), (0, 0), (0, 1), (0, 2), (1, 2)],
        "heap-smaller-g": [(1, 1), (1, 2), (0, 0), (0, 1), (0, 2), (2, 2), (1, 2)],
    }
    # (3,0) sees the wall (3,1); k_m = 1 + 4. Its rhs becomes infinite: g 2, f2+1+5 -. E (4,1) has its rhs from the
    # goal; N (3,0) had 1 + 2 from here and has it from (4,0) too. Two values computed, and (3,1), before the start's
    # f3+5 +, is the one vertex expanded.

    @pytest.mark.parametrize("queue", QUEUES)
    def test_the_path_and_the_work_of_every_move(self, queue: str, act_out: Callable[..., Any]) -> None:
        agent, world = start(HORSESHOE, queue)
        trace = act_out(agent, world)
        assert trace.path == ALONG_THE_HORSESHOE
        assert trace.expansions == [10, 7, 0, 0, 0, 0, 0, 1, 0, 0]
        assert trace.scans == [11, 14, 1, 1, 1, 1, 1, 4, 1, 1]
        assert agent.reinsertions == 0

    @pytest.mark.parametrize("queue", QUEUES)
    def test_the_order_of_expansion(self, queue: str) -> None:
        assert expanded(HORSESHOE, queue, 0) == self.FIRST[queue]
        assert expanded(HORSESHOE, queue, 1) == self.SECOND[queue]
        assert expanded(HORSESHOE, queue, 7) == [(3, 1)]


class TestGate:
    # (0,0): (4,0) f4: S (4,1) f6+, W (3,0) f4+.  (3,0): S (3,1) f6+, put in after (4,1).  (3,1): W (2,1) f6+.
    # (2,1): W (1,1) f6+.  (1,1), g 4: W (0,1) f6+, N (1,0) f6+.  (1,0), g 5: W (0,0) f6+.  (0,0), g 6. Left at f6+:
    # (4,1) and (0,1).
    FIRST = ((4, 0), (3, 0), (3, 1), (2, 1), (1, 1), (1, 0), (0, 0))
    # (1,0): (2,0) opens; k_m = 1. Computed: its rhs 2 over (3,0), f2+1+1 +; and those of three neighbours, as before.
    # (2,0), g 2: W (1,0) rhs 3, f4+.  (1,0), g 3, the start: W (0,0) rhs 4, f6+.
    SECOND = ((2, 0), (1, 0))
    # (2,0): (3,0) closes; k_m = 2. Computed: (3,0) infinite, g 1, f4-; S (3,1) rhs 4 over (2,1), g 2, f6-; W (2,0)
    # rhs 4, g 2, f4-.
    # (2,0): f6+. Computed: S (2,1) 3, as before; W (1,0) 5 over (1,1), g 3, f6-.   (3,0): out of the queue.
    # (1,0): f8+. Computed: E (2,0) 4 and S (1,1) 4, as before; W (0,0) infinite, g 6, f10-.
    # (3,1): f8+. Computed: W (2,1) 5 over (1,1), g 3, f6-.
    # (2,1): f8+. Computed: E (3,1) infinite, out; W (1,1) infinite, g 4, f8-; N (2,0) infinite, out.
    # At f6+: (0,1), where it was put before the gate opened; now it has 5+3+2 and goes back: one reinsertion.
    # (4,1), g 1, 1+3+2: W (3,1) rhs 2.  (3,1), g 2: W (2,1) rhs 3.  (2,1), g 3: W (1,1) rhs 4, like its g, out; N
    # (2,0) rhs 4.  (2,0), the start, g 4. Nine expanded, and 3 + 2 + 3 + 1 + 3 values computed.
    THIRD = ((2, 0), (3, 0), (1, 0), (3, 1), (2, 1), (4, 1), (3, 1), (2, 1), (2, 0))

    def test_a_gate_that_opens_and_one_that_closes(self, act_out: Callable[..., Any]) -> None:
        agent, world = start(GATE, "buckets")
        trace = act_out(agent, world)
        assert trace.path == [(0, 0), (1, 0), (2, 0), (2, 1), (3, 1), (4, 1), (4, 0)]
        assert trace.expansions == [7, 2, 9, 0, 0, 0]
        assert trace.scans == [8, 4 + 2 + 1, 12 + 9 + 1, 1, 1, 1]
        assert agent.reinsertions == 1

    def test_the_order_of_expansion(self) -> None:
        for moves, cells in enumerate((self.FIRST, self.SECOND, self.THIRD)):
            assert expanded(GATE, "buckets", moves) == list(cells)


class TestRepeatedAStar:
    def test_out_of_the_horseshoe_in_fog(self, act_out: Callable[..., Any]) -> None:
        # At (2,2) the way is thought to lead through the wall (1,1): ten expansions, as derived for A* in
        # test_golden.py. From (1,2): (1,2) f3, (2,2) f3, (0,2) f5, (0,1) f7; then at f9 (0,0), (1,0), (2,0), (3,0),
        # (4,0), (4,1): ten. (4,0) comes before the wall (3,1), and so the rest of the way is free.
        agent, world = agents.make("repeated-astar"), World(HORSESHOE)
        agent.reset(world.view)
        trace = act_out(agent, world)
        assert trace.path == ALONG_THE_HORSESHOE
        assert trace.expansions == trace.scans == [10, 10, 0, 0, 0, 0, 0, 0, 0, 0]

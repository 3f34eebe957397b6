"""Whole trials of D LRTA* worked out on paper.

No expected value was read off a run: the comments are the derivations. The map is a corridor of 11 cells with 4
neighbours, from its dead end, cell 0, to the goal, cell 10:

    8 7 6 5 4
    9 # # # 3
    10 # 0 1 2

h0 to the goal is 2 3 4 5 6 5 4 3 2 1 0. Tiles of level 1 are squares of 2 x 2 cells; their regions are, in order,
{8 7 9}, {6 5}, {4 3}, {10}, {0 1}, {2}, and their representatives 8, 6, 4, 10, 0, 2: the centroid of {8 7 9} is nearest
to 8, of two cells the first in reading order is taken. Neighbours come in the order E, S, W, N.
"""

from collections.abc import Callable
from typing import Any

import pytest

import agents
from agents.knowledge.pdb import build
from reference.small_maps import drawn
from rt_gym import Problem, World
from rt_gym.abstraction import abstract
from rt_gym.cost import encode
from rt_gym.search.values import learned_towards

pytestmark = pytest.mark.plain

CORRIDOR = [(2, 2), (3, 2), (4, 2), (4, 1), (4, 0), (3, 0), (2, 0), (1, 0), (0, 0), (0, 1), (0, 2)]
PROBLEM = Problem(drawn(".....", ".###.", ".#...", connectivity=4), CORRIDOR[0], CORRIDOR[10])
GOAL = 3  # the goal's region

SUBGOALS = [2, 2, 4, 6, 6, 8, 8, 10, 10, 10]  # of cells 0 to 9 in mode I: the representative of the next region


def trial(act_out: Callable[..., Any], **settings: Any) -> tuple[Any, dict[int, int]]:
    """Return the trace of a trial, and the learned values towards the goal by the number of the cell, in steps."""
    agent, world = agents.make("pdb-lrta", level=1, abstraction="tiles", **settings), World(PROBLEM)
    agent.reset(world.view)
    trace = act_out(agent, world)
    cells, values = learned_towards(agent.memory.values, world.view.goal_cell)
    learned = {
        CORRIDOR.index(PROBLEM.grid.position(int(cell))): int(value) for cell, value in zip(cells, values, strict=True)
    }
    assert agent.guarded == 0
    return trace, learned


def test_the_entries_of_the_three_modes() -> None:
    # G. From 0 there is one way to go: 1. From 2 the lookahead of one prefers 1 (1+3) to 3 (1+5), that of two 0 (2+2)
    # to 4 (2+6); three actions away there is only 5: 3. From 4 both ways look equal, 1+5, then 2+4, 3+3, 4+2, and the
    # first generated is 3, to the south; five actions away there is only 9: 5. From 6, 7 (1+3) beats 5 (1+5): 1. From
    # 8, 9 beats 7: 1. In {10} nothing is far: 1.
    # I. The next regions of {8 7 9} to {2}: {10}, {8 7 9}, {6 5}, none, {2}, {4 3}. From 8, 6, 4, 0, 2 the first step
    # towards 10, 8, 6, 2, 4 looks best at once: all depths are 1.
    # The neighbours are, by number: {8 7 9}: 1 3; {6 5}: 0 2; {4 3}: 1 5; {0 1}: 5; {2}: 2 4.
    regions = abstract(PROBLEM.grid, "tiles", 1)
    expected = {"G": [1, 1, 5, 1, 1, 3], "GI": [1, 1, -1, 1, 1, -1], "I": [-2, -1, -1, 1, -1, -1]}
    for mode, cap in (("G", 20), ("GI", 2), ("I", 20)):
        database = build(PROBLEM.grid, regions, mode, cap)
        assert database.entries(GOAL).tolist() == expected[mode]
        assert set(database.hops.tolist()) == (set() if mode == "G" else {1})


def test_with_a_subgoal_in_every_region_nothing_has_to_be_learned() -> None:
    # Towards the subgoals above h0 is exact in every cell that the agent enters, so one look around is enough.
    agent, world = agents.make("pdb-lrta", level=1, abstraction="tiles", mode="I"), World(PROBLEM)
    agent.reset(world.view)
    for cell, subgoal in enumerate(SUBGOALS):
        assert world.view.position == CORRIDOR[cell]
        action = agent.act()
        assert world.view.position_of(agent.pursued) == CORRIDOR[subgoal]
        assert world.view.meter.expansions == 1
        world.step(action)
    assert world.done
    assert agent.count_learned() == 0


def test_the_depths_towards_the_goal_lead_straight_out_of_the_dead_end(act_out: Callable[..., Any]) -> None:
    # 0, depth 1: only 1, 1+3; h 4. 1, depth 1: 2 is 1+4, 0 is 1+4, east comes first; h 5.
    # 2, depth 3: 5 alone is three actions away, F(3) = 6, F(4) = 2+6, F(5) = 8; expanded 2 1 3 0 4; h 8.
    # 3, depth 5: 8 alone is five away, F(4) = 1+6 and no more behind it; expanded 3 2 4 1 5 0 6 7; h 7.
    # 4, depth 5: 9 alone is five away, F = 6 = h; expanded 4 3 5 2 6 1 7 0 8. Then depth 1, and h0 is exact.
    trace, learned = trial(act_out, mode="G", cap=20)
    assert trace.path == CORRIDOR
    assert trace.expansions == trace.scans == [1, 1, 5, 8, 9, 1, 1, 1, 1, 1]
    assert learned == {0: encode(4), 1: encode(5), 2: encode(8), 3: encode(7)}
    assert trace.h_updates == 4


def test_beyond_the_cap_a_subgoal_takes_the_place_of_the_goal(act_out: Callable[..., Any]) -> None:
    # 0 and 1 as above. From 2 and 4 the goal needs more than two: subgoals 4, then 6, exact as in mode I.
    trace, learned = trial(act_out, mode="GI", cap=2)
    assert trace.path == CORRIDOR
    assert trace.expansions == trace.scans == [1] * 10
    assert learned == {0: encode(4), 1: encode(5)}
    assert trace.h_updates == 2

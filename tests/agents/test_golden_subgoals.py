"""Subgoal trees and whole trials of LRTA* with subgoals worked out on paper.

No expected value was read off a run: the comments are the derivations. All maps have 4 neighbours, which come in the
order E, S, W, N; the heuristic is Manhattan's.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agents
from agents.knowledge.subgoal_tree import grow_tree, make_tree_buffers
from agents.knowledge.subgoals import build_trees
from reference.small_maps import drawn
from rt_gym import Change, Grid, Problem, World
from rt_gym.cost import STRAIGHT

pytestmark = pytest.mark.plain

Position = tuple[int, int]

# A U that is open to the west, the goal behind it. Rows 0 and 4 are as far as the heuristic says; what is west of the U
# is reached round its corners: (1,1) takes 8 steps where the heuristic says 6, and so does (1,3).
U = drawn(".......", "..###..", "....#..", "..###..", ".......", connectivity=4)
BEHIND_THE_U = (6, 2)

# A spiral: from (2,2) in its middle down, west, north to (0,0), east, and south to the goal (4,3), 13 steps.
SPIRAL = drawn(".....", ".###.", ".#.#.", "...#.", connectivity=4)
END_OF_THE_SPIRAL = (4, 3)

# A corridor of 29 cells round a wall from (13,0) to (13,2); the heuristic is wrong from (1,2) on.
BEND = drawn("." * 14, "." + "#" * 13, "." * 14, connectivity=4)


def tree_of(grid: Grid, goal: Position) -> list[tuple[Position, Position]]:
    """Return the exits of a tree with their parents, in the order of growth."""
    trees = build_trees(grid, [goal])
    cells = [grid.position(cell) for cell in trees.nodes]
    assert cells[0] == goal
    assert trees.parents[0] == -1
    return [(cell, cells[parent]) for cell, parent in zip(cells[1:], trees.parents[1:], strict=True)]


class TestTrees:
    def test_the_exits_of_the_u_are_its_western_corners(self) -> None:
        # The goal pushes S, W, N, so the lower way is one push ahead of the upper one all along.
        # (1,4), 7 steps: W (0,4) 8 as it should; N (1,3) 8, not 6, so it is an exit below the goal.
        # (1,0), 7 steps: S (1,1) 8, not 6, so it is one too; W (0,0) then is 1 step from it, as it should.
        # Everything beyond is as far from its exit as Manhattan says.
        assert tree_of(U, BEHIND_THE_U) == [((1, 4), BEHIND_THE_U), ((1, 0), BEHIND_THE_U)]

    def test_sub_of_what_is_west_of_the_u(self) -> None:
        # 8 steps: (0,4), (1,3), (1,1), (0,0) in this order. (0,4) reaches (0,3), (1,3) reaches (1,2) before (1,1) can.
        # 9 steps: (0,3), (1,2), (0,1). (0,3) reaches (0,2), (1,2) reaches (2,2), and that (3,2).
        buffers = make_tree_buffers(U.terrain.mask.size)
        grow_tree(U.terrain, buffers, U.cell(BEHIND_THE_U))
        low = [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 2), (3, 2)]
        high = [(0, 0), (0, 1), (1, 0), (1, 1)]
        for k, exit_, cells in ((1, (1, 4), low), (2, (1, 0), high)):
            for cell in cells:
                assert buffers.sub[U.cell(cell)] == k
                manhattan = abs(cell[0] - exit_[0]) + abs(cell[1] - exit_[1])
                assert buffers.g[U.cell(cell)] - buffers.g[U.cell(exit_)] == manhattan * STRAIGHT
        others = np.flatnonzero(U.terrain.free)[~np.isin(np.flatnonzero(U.terrain.free), [*map(U.cell, low + high)])]
        assert (buffers.sub[others] == 0).all()

    def test_the_spiral_has_a_chain_of_exits(self) -> None:
        # (0,1) is 8 steps from the goal, not 6: (0,0) is an exit. From there to (2,3) all is as it should. (2,2) is 6
        # from (0,0), not 4: (2,3) is an exit below (0,0).
        assert tree_of(SPIRAL, END_OF_THE_SPIRAL) == [((0, 0), (4, 3)), ((2, 3), (0, 0))]


class TestTrials:
    def trial(self, problem: Problem, act_out: Callable[..., Any], **settings: Any) -> tuple[Any, Any]:
        agent, world = agents.make("subgoal-lrta", **settings), World(problem)
        agent.reset(world.view)
        trace = act_out(agent, world)
        assert trace.outcome == "goal"
        assert trace.expansions == trace.scans == [1] * (len(trace.path) - 1)
        return trace, agent

    def test_along_the_spiral(self, act_out: Callable[..., Any]) -> None:
        # From (2,2) the goal is 3 away, (0,0) 4, (2,3) 1: that is pursued, then (0,0), then the goal. At (2,3) W and N
        # are equal towards (0,0), at (0,0) E and S towards the goal; the first of them is right.
        trace, agent = self.trial(Problem(SPIRAL, (2, 2), END_OF_THE_SPIRAL), act_out)
        west = [(2, 2), (2, 3), (1, 3), (0, 3), (0, 2), (0, 1), (0, 0)]
        assert trace.path == [*west, (1, 0), (2, 0), (3, 0), (4, 0), (4, 1), (4, 2), (4, 3)]
        assert (trace.h_updates, agent.guarded) == (0, 0)

    def test_out_of_the_u_by_sub_of_the_start(self, act_out: Callable[..., Any]) -> None:
        # Sub of (3,2) is (1,4). At (5,4) E and N are equal towards the goal.
        trace, _ = self.trial(Problem(U, (3, 2), BEHIND_THE_U), act_out, first="sub")
        assert trace.path == [
            (3, 2),
            (2, 2),
            (1, 2),
            (1, 3),
            (1, 4),
            (2, 4),
            (3, 4),
            (4, 4),
            (5, 4),
            (6, 4),
            (6, 3),
            (6, 2),
        ]
        assert trace.h_updates == 0

    def test_out_of_the_u_by_the_nearest_node(self, act_out: Callable[..., Any]) -> None:
        # From (3,2) the goal is 3 away, both exits are 4: the goal is pursued, and the pocket has to be filled.
        # (3,2): W gives 5.                       -> 5
        # (2,2): E and W give 6.                  -> 6, E
        # (3,2): W gives 7.                       -> 7
        # (2,2): W gives 6.                          W
        # (1,2): E, S, W and N give 7.            -> 7, E
        # (2,2): E and W give 8.                  -> 8, E
        # (3,2): W gives 9.                       -> 9
        # (2,2): W gives 8.                          W
        # (1,2): S, W and N give 7.                  S
        # (1,3): S, W and N give 8.               -> 8, S
        # (1,4) is a node, the next goal is the one that is pursued already. From here on the values are exact.
        trace, agent = self.trial(Problem(U, (3, 2), BEHIND_THE_U), act_out)
        assert trace.path[:11] == [(3, 2), (2, 2)] * 2 + [(1, 2), (2, 2), (3, 2), (2, 2), (1, 2), (1, 3), (1, 4)]
        assert trace.path[11:] == [(2, 4), (3, 4), (4, 4), (5, 4), (6, 4), (6, 3), (6, 2)]
        assert trace.h_updates == agents.run(agent, Problem(U, (3, 2), BEHIND_THE_U)).h_updates == 7

    @pytest.mark.parametrize(("first", "entries"), [("nearest", 3), ("sub", 3)])
    def test_the_first_move_reads_every_node_of_the_tree(self, first: str, entries: int) -> None:
        agent, world = agents.make("subgoal-lrta", first=first), World(Problem(SPIRAL, (2, 2), END_OF_THE_SPIRAL))
        agent.reset(world.view)
        read = []
        while not world.done:
            action = agent.act()
            read.append(int(world.trip.meter[0].trace_steps))
            world.step(action)
        assert read == [entries, *[0] * 12]


class TestGuard:
    def test_a_blocked_subgoal_is_left_out(self, act_out: Callable[..., Any]) -> None:
        # The pursued exit (1,4) closes when the agent is at (1,2). Its parent, the goal, comes next; on the way out of
        # the depression the agent may meet the other exit.
        problem = Problem(U, (3, 2), BEHIND_THE_U, changes=[Change(2, (1, 4), False)])
        agent, world = agents.make("subgoal-lrta", first="sub"), World(problem)
        agent.reset(world.view)
        trace = act_out(agent, world)
        assert trace.path[:3] == [(3, 2), (2, 2), (1, 2)]
        assert (trace.outcome, agent.guarded) == ("goal", 1)
        assert (1, 0) in trace.path

    @pytest.mark.parametrize("switch", ["any", "progress"])
    def test_who_is_lost_heads_for_the_goal(self, switch: str, act_out: Callable[..., Any]) -> None:
        # The tree has the exit (0,2). It is pursued from (3,2) and is cut off by the first move, while the eastern end
        # opens. Filling the corridor would take more than a hundred moves; patience ends after 29.
        agent, world = agents.make("subgoal-lrta", switch=switch), World(cut_off((3, 2)))
        agent.reset(world.view)
        trace = act_out(agent, world)
        assert (trace.outcome, agent.guarded) == ("goal", 1)
        assert 30 < len(trace.path) < 60

    def test_a_search_that_sees_everything_needs_no_patience(self, act_out: Callable[..., Any]) -> None:
        # One move to (2,2) is walked before the subgoal is cut off; from there the goal is 13 steps away.
        agent, world = agents.make("subgoal-lrta", step="lss-lrta", lookahead=100), World(cut_off((3, 2)))
        agent.reset(world.view)
        trace = act_out(agent, world)
        assert (trace.outcome, agent.guarded) == ("goal", 1)
        assert len(trace.path) - 1 == 1 + 13


def cut_off(start: Position) -> Problem:
    """Return the bend whose exit is cut off by the first move, while its eastern end opens."""
    assert tree_of(BEND, (13, 0)) == [((0, 2), (13, 0))]
    changes = [Change(1, (1, 2), False), Change(1, (0, 1), False), Change(1, (13, 1), True)]
    return Problem(BEND, start, (13, 0), changes=changes)

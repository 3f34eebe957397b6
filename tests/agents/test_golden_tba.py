"""Trials of TBA* and late-acting A* worked out on paper: path, expansions and trace steps of every move.

No expected value was read off a run: the comments are the derivations. In them r is a diagonal step, r = 1.414.
"""

from typing import Any

import pytest

import agents
from reference.small_maps import HOOK, ROUND_THE_HOOK
from rt_gym import Problem, World

pytestmark = pytest.mark.plain

Position = tuple[int, int]


def trial(agent_id: str, problem: Problem, **settings: Any) -> tuple[list[Position], list[int], list[int]]:
    """Return the path, and the expansions and the trace steps of every move."""
    agent, world = agents.make(agent_id, **settings), World(problem)
    agent.reset(world.view)
    path, expansions, steps = [world.view.position], [], []
    while not world.done:
        action = agent.act()
        expansions.append(int(world.trip.meter[0].expansions))
        steps.append(int(world.trip.meter[0].trace_steps))
        world.step(action)
        path.append(world.view.position)
    return path, expansions, steps


class TestTBA:
    def test_one_expansion_per_move_around_the_hook(self) -> None:
        # 1 traced to the start, to (1,1).  2 not through (1,1): back to (1,0).  3 over (1,1), to (1,1).
        # 4 not through (1,1): back.  5 to (1,1).  6 traced to (1,1), to (1,2).  7 traced to (1,2), to (2,2).
        # 8 traced to (2,2), to (3,2), then along the solution.
        path, expansions, steps = trial("tba", HOOK, R=2, r=0.5)
        assert path == [(1, 0), (1, 1), (1, 0), (1, 1), (1, 0), *ROUND_THE_HOOK[1:]]
        assert expansions == [1] * 8 + [0, 0]
        assert steps == [1, 1, 2, 1, 3, 3, 3, 3, 0, 0]

    def test_a_threshold_keeps_it_on_its_path(self) -> None:
        # 1 to 3 as above: (0,0) has g 1 as (1,1) has.  4: (0,1) has g r, less than the 2 of (1,2): on to (1,2).
        # 5 to 8: each path goes on from where the agent stands.
        path, expansions, steps = trial("tba", HOOK, R=2, r=0.5, threshold=True)
        assert path == [(1, 0), (1, 1), (1, 0), *ROUND_THE_HOOK[1:]]
        assert expansions == [1] * 8
        assert steps == [1, 1, 2, 1, 1, 1, 1, 1]

    def test_a_trace_of_one_step_per_move_spans_slices(self) -> None:
        # One expansion and one step per slice. In the slice after the solution was found there are two.
        # 1: (1,1) is traced, to (1,1).  2: (0,0) is traced, back to (1,0).
        # 3: the trace of (1,2) has reached (1,1); the old path leads to (0,0).
        # 4: it has reached (1,0). The agent, on (0,0), goes back to (1,0).
        # 5: the trace of (2,2) has reached (1,2); the old path leads to (1,1).
        # 6: it has reached (1,1), where the agent stands: to (1,2).
        # 7: the trace of (3,1) has reached (3,2); the path leads to (2,2).
        # 8: it has reached (2,2), where the agent stands: to (3,2); the solution is found meanwhile.
        # 9: the goal is traced over (3,1) to (3,2), to (3,1).  10: along the solution.
        path, expansions, steps = trial("tba", HOOK, R=2, r=0.5, c=1)
        assert path == [(1, 0), (1, 1), (1, 0), (0, 0), (1, 0), *ROUND_THE_HOOK[1:]]
        assert expansions == [1] * 8 + [0, 0]
        assert steps == [1, 1, 1, 1, 1, 1, 1, 1, 2, 0]

    @pytest.mark.parametrize(("first", "expected"), [("count", 2), ("length", 3)])
    def test_the_first_slice_is_short_enough_to_be_traced(self, first: str, expected: int) -> None:
        # Four expansions and two trace steps per slice. By count two are made. By length (1,0), (1,1) and (0,0), at
        # most one step away, are expanded; then (1,2) comes next, two steps away.
        _, expansions, steps = trial("tba", HOOK, R=6, r=0.7, c=1, first=first)
        assert expansions[0] == expected
        assert steps[0] <= 2

    def test_all_at_once_is_a_star(self) -> None:
        path, expansions, steps = trial("tba", HOOK, R=1000)
        assert path == ROUND_THE_HOOK
        assert expansions == [8, 0, 0, 0, 0, 0]
        assert steps == [6, 0, 0, 0, 0, 0]


class TestLateAStar:
    def test_to_and_fro_until_the_path_is_known(self) -> None:
        # The eighth expansion finds the path. By then seven moves are made, so the agent is away and returns first.
        path, expansions, steps = trial("late-astar", HOOK, R=2, r=0.5)
        assert path[0:9:2] == [(1, 0)] * 5
        assert set(path[1:8:2]) <= {(1, 1), (0, 0), (0, 1)}
        assert path[8:] == ROUND_THE_HOOK
        assert expansions == [1] * 8 + [0] * 6
        assert steps == [0] * 14

    def test_found_at_once_it_goes_at_once(self) -> None:
        path, expansions, _ = trial("late-astar", HOOK, R=9)
        assert path == ROUND_THE_HOOK
        assert expansions == [8, 0, 0, 0, 0, 0]

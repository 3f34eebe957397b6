"""Repeated A*: a trial worked out on paper, that it is A*, and how far it goes beside D* Lite."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import agents
from reference.plain_oracle import random_problem
from reference.restless import exact_g, moves, restless
from reference.small_maps import ALONG_THE_HORSESHOE, HORSESHOE
from reference.traces import start
from rt_gym import Problem
from rt_gym.cost import INF, encode


@pytest.mark.plain
def test_out_of_the_horseshoe_in_fog(act_out: Callable[..., Any]) -> None:
    # At (2,2) the way is thought to lead through the wall (1,1): ten expansions, as derived for A* in
    # test_astar.py. From (1,2): (1,2) f3, (2,2) f3, (0,2) f5, (0,1) f7; then at f9 (0,0), (1,0), (2,0), (3,0),
    # (4,0), (4,1): ten. (4,0) comes before the wall (3,1), and so the rest of the way is free.
    fog = Problem(HORSESHOE.grid, HORSESHOE.start, HORSESHOE.goal, vision=1)
    agent, world = start("repeated-astar", fog)
    trace = act_out(agent, world)
    assert trace.path == ALONG_THE_HORSESHOE
    assert trace.expansions == trace.scans == [10, 10, 0, 0, 0, 0, 0, 0, 0, 0]


@given(problem=restless())
def test_repeated_astar_is_astar(problem: Problem) -> None:
    one, other = (agents.run(agent_id, problem, max_moves=60) for agent_id in ("repeated-astar", "astar"))
    assert one.path.tolist() == other.path.tolist()
    assert (one.outcome, one.expansions, one.plans) == (other.outcome, other.expansions, other.plans)


@given(problem=restless())
def test_the_path_of_every_plan_is_a_shortest_one(problem: Problem) -> None:
    agent, world = start("repeated-astar", problem)
    trip, diagonal = world.trip, problem.grid.cost == "octile"
    for _ in moves(agent, world):
        if trip.state[0].next == 1 and not world.view.meter.stuck:
            steps = trip.plan[: trip.state[0].planned]
            slanted = int((steps >= 4).sum()) if diagonal else 0
            assert encode(len(steps) - slanted, slanted) == exact_g(world)
        assert world.view.meter.stuck <= (exact_g(world) == INF)


def test_in_fog_it_goes_as_far_as_dstar_lite_up_to_ties() -> None:
    # Both follow a shortest path on what they believe, so their costs differ by chance alone.
    rng = np.random.default_rng(8)
    problems = [Problem(*random_problem(rng, 24, density=0.3, connectivity=4), vision=1) for _ in range(400)]
    costs = [[agents.run(name, problem).cost for problem in problems] for name in ("repeated-astar", "dstar-lite")]
    difference = np.subtract(*costs)
    assert np.any(difference != 0)
    assert abs(difference.mean()) <= 3 * difference.std() / np.sqrt(len(problems))

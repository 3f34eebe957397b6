"""A goal that is out of reach, or becomes so on the way, ends a run and an episode for every agent."""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest
from numba import config

import agents
import rt_gym
from reference.settings import settings_of
from reference.small_maps import drawn
from rt_gym import Grid, Problem, World

Settings = dict[str, Any]

# Those that search the whole map always find out. Others do where their lookahead happens to cover all they can reach,
# and otherwise walk on until their moves are used up.
KNOWING = {"astar", "weighted-astar", "repeated-astar", "late-astar", "tba", "tbaa", "dstar-lite", "mpgaa"}
MOST = 60


def closing(vision: int | None) -> Problem:
    """A room with two exits to the goal's, which close when the agent has gone a few steps."""
    rows = (".....#...", ".........", ".....#...", ".........", ".....#...")
    return Problem(drawn(*rows), (0, 2), (8, 2), vision, changes=[(2, (5, 1), False), (3, (5, 3), False)])


def endings(agent_id: str) -> set[str]:
    return {"no path"} if agent_id in KNOWING else {"no path", "out of moves"}


@pytest.mark.parametrize("vision", [None, 1, 3])
def test_a_map_that_closes_ends_a_run(agent_id: str, settings: Settings, vision: int | None) -> None:
    run = agents.run(agent_id, closing(vision), max_moves=MOST, **settings)
    assert run.outcome in endings(agent_id)
    assert (run.solved, run.suboptimality, run.overrun) == (False, None, False)
    assert run.moves <= MOST


@pytest.mark.parametrize("vision", [None, 1])
def test_a_map_that_closes_truncates_an_episode(agent_id: str, settings: Settings, vision: int | None) -> None:
    env = gym.make("RTPath-v0", problems=[closing(vision)], budget=None, max_moves=MOST)
    env.reset(seed=0)
    agent = agents.make(agent_id, **settings)
    agent.reset(rt_gym.view(env), 0)
    terminated = truncated = False
    steps, info = 0, dict[str, Any]()
    while not (terminated or truncated):
        _, _, terminated, truncated, info = env.step(agent.act())
        steps += 1
    assert (terminated, truncated) == (False, True)
    assert steps <= MOST
    assert info["no_path"] or (agent_id not in KNOWING and steps == MOST)


def test_a_goal_that_closes_itself_ends_a_run(agent_id: str, settings: Settings) -> None:
    problem = Problem(Grid([[1] * 9] * 5), (0, 2), (8, 2), changes=[(2, (8, 2), False)])
    run = agents.run(agent_id, problem, max_moves=MOST, **settings)
    assert run.outcome in endings(agent_id)


@pytest.mark.parametrize("vision", [None, 1])
def test_an_agent_that_cannot_move_knows_no_path(
    agent_id: str, settings: Settings, vision: int | None, act_out: Callable[..., Any]
) -> None:
    problem = Problem(drawn(".#."), (0, 0), (2, 0), vision, allow_unsolvable=True)
    run = agents.run(agent_id, problem, max_moves=MOST, **settings)
    assert (run.outcome, run.overrun) == ("no path", False)
    world, agent = World(problem), agents.make(agent_id, **settings)
    agent.reset(world.view, 0)
    assert act_out(agent, world, MOST).outcome == "no path"
    assert world.view.meter.stuck


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="millions of moves take too long without the compiler")
def test_values_that_climb_for_ever_end_at_no_path(agent_id: str) -> None:
    # Two cells, and at worst a value that rises by a step per move: millions of moves, up to what counts as infinite.
    problem = Problem(drawn("..#."), (0, 0), (3, 0), allow_unsolvable=True)
    run = agents.run(agent_id, problem, **settings_of(agent_id)[0])
    assert (run.outcome, run.overrun) == ("no path", False)

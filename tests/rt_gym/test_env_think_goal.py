"""A goal that moves while an agent thinks or acts: how it walks, and what becomes of search, path and values."""

import copy
import itertools
import pickle
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rt_gym
from profiles import examples
from reference.batches import plain
from reference.plain_grid import Map, h0
from reference.plain_oracle import distances, problems
from reference.think_episodes import ACT, ROOM, THINK, make, run
from reference.yard import GOAL, KNOWLEDGE, START, YARD
from rt_gym import Grid, InputError, Problem

CORRIDOR = Grid(np.ones((1, 30)), name="corridor")


def chase(env: gym.Env[Any, Any], actions: Any, seed: int = 0) -> list[tuple[Any, Any]]:
    """Return where agent and goal were before every step and at the end."""
    env.reset(seed=seed)
    view = rt_gym.view(env)
    first = (view.position, view.goal)
    return [first, *((view.position, view.goal) for _ in run(env, actions))]


def coin(seed: int) -> Any:
    random = np.random.default_rng(seed)
    return (int(random.integers(2)) for _ in itertools.count())


class TestItsWalk:
    @pytest.mark.plain
    @given(problems(max_side=9), st.sampled_from([None, 2]), st.integers(1, 4), st.integers(0, 9))
    @examples(60)
    def test_it_makes_a_legal_step_after_so_many_moves_and_none_onto_the_agent(
        self, drawn: Any, vision: Any, every: int, seed: int
    ) -> None:
        problem = Problem(*drawn, vision=vision)
        assume(problem.start != problem.goal)
        moves = Map.of(problem.grid)
        places = chase(make(problem, slice=2, goal_moves=every, max_moves=80), coin(seed), seed)
        for k, ((_, before), (agent, after)) in enumerate(pairwise(places), 1):
            reached, ways = agent == before, [cell for cell, _ in moves.neighbours(before) if cell != agent]
            if reached or k % every or not ways:
                assert after == before
            else:
                assert after in ways

    @pytest.mark.parametrize("vision", [None, 1])
    def test_it_goes_straight_on_until_it_is_blocked(self, vision: int | None) -> None:
        env = make(Problem(YARD, START, GOAL, vision=vision), goal_moves=1, slice=1, max_moves=200)
        places = chase(env, itertools.repeat(THINK))
        goals = [goal for _, goal in places]
        steps = [(x - a, y - b) for (a, b), (x, y) in pairwise(goals)]
        turns = [(goal, one) for goal, (one, other) in zip(goals[1:], pairwise(steps), strict=False) if one != other]
        free = Map.of(YARD)
        assert len(turns) > 10
        assert all((x + dx, y + dy) not in dict(free.neighbours((x, y))) for (x, y), (dx, dy) in turns)

    def test_it_stays_where_the_agent_bars_the_only_way(self) -> None:
        problem = Problem(Grid(np.ones((1, 3))), (1, 0), (2, 0))
        assert chase(make(problem, goal_moves=1, max_moves=3), [THINK, ACT])[1:] == [((1, 0), (2, 0)), ((2, 0), (2, 0))]

    def test_it_walks_on_the_true_map_whatever_the_agent_believes(self) -> None:
        walls = np.ones((5, 30), bool)
        walls[2, 2:] = False
        env = make(Problem(Grid(walls), (0, 0), (20, 4), vision=1), goal_moves=1, slice=1, max_moves=100)
        assert all(y > 2 or x < 2 for _, (x, y) in chase(env, itertools.repeat(THINK)))

    def test_seeds_decide_its_walk_and_policies_do_not(self) -> None:
        env = make(Problem(YARD, START, GOAL), goal_moves=2, slice=1, max_moves=40)
        walks = [[goal for _, goal in chase(env, actions, seed)] for actions, seed in (
            (itertools.repeat(THINK), 0), (itertools.repeat(ACT), 0), (itertools.repeat(THINK), 1),
        )]  # fmt: skip
        assert walks[0] == walks[1] != walks[2]


class TestSearchAndPath:
    def test_a_search_goes_on_for_where_the_goal_was_and_the_next_is_for_where_it_is(self) -> None:
        env = make(Problem(CORRIDOR, (0, 0), (8, 0)), slice=4, goal_moves=4, max_moves=200)
        env.reset(seed=3)
        told = [(env.step(action)[4], rt_gym.view(env).position[0], rt_gym.view(env).goal[0]) for action in
                (THINK, THINK, ACT, ACT)]  # fmt: skip
        # Found after two slices; after the fourth move the goal steps, and there is something to think about again.
        assert [info["found"] for info, _, _ in told] == [False, True, True, True]
        assert [info["action_mask"].tolist() for info, _, _ in told] == [[1, 1], [1, 0], [1, 0], [1, 1]]
        assert (told[-1][1], abs(told[-1][2] - 8)) == (2, 1)
        _, _, _, _, info = env.step(THINK)
        assert (info["found"], info["expansions"], env.unwrapped._memory.state[0].slices) == (False, 4, 1)
        assert env.unwrapped._goal.state[0].aim == env.unwrapped._goal.state[0].cell

    def test_a_path_to_where_the_goal_was_can_be_walked_to_its_end(self) -> None:
        env = make(Problem(ROOM, (0, 0), (8, 8)), slice=1000, goal_moves=8)
        env.reset(seed=0)
        walked = list(run(env, [THINK, *[ACT] * 8]))
        assert walked[-1][5] == (8, 8)
        assert not walked[-1][2]
        assert walked[-1][4]["action_mask"].tolist() == [0, 1]

    @pytest.mark.parametrize("knowledge", ["known", "fog", "wide fog"])
    def test_values_never_exceed_the_distance_to_the_goal_of_the_search(self, knowledge: str) -> None:
        problem = Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge])
        env = make(problem, slice=8, goal_moves=3, max_moves=400).unwrapped
        env.reset(seed=1)
        raised = 0
        for _ in run(env, coin(4)):
            view, h = env.kernel_view, env._memory.h
            aim = view.position_of(int(env._goal.state[0].aim))
            for cell, far in distances(YARD, aim).items():
                value = h[YARD.cell(cell)]
                assert value <= far
                raised += value > h0(YARD, cell, aim)
        assert raised > 0

    def test_shaping_knows_where_the_goal_is(self) -> None:
        discount = 0.5
        plainly, shaped = (
            make(Problem(ROOM, (0, 0), (4, 4)), goal_moves=1, slice=1, max_moves=40, shaping=shaping)
            for shaping in (None, discount)
        )
        potentials, rewards = [], []
        for env in (plainly, shaped):
            env.reset(seed=2)
            view = rt_gym.view(env)
            potentials = [view.heuristic(view.position)]
            steps = []
            for step in run(env, [THINK, THINK, ACT, ACT, THINK, ACT]):
                steps.append(step[1])
                potentials.append(view.heuristic(view.position))
            rewards.append(steps)
        gained = [before - discount * after for before, after in pairwise(potentials)]
        assert rewards[1] == pytest.approx(np.add(rewards[0], gained).tolist())


class TestEpisodes:
    @pytest.mark.parametrize("knowledge", KNOWLEDGE)
    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
    def test_a_copy_of_any_moment_goes_on_as_the_original_did(self, knowledge: str, copied: Callable[..., Any]) -> None:
        env = make(Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge]), slice=4, goal_moves=2)
        env.reset(seed=1)
        chosen = list(itertools.islice(coin(2), 24))
        copies, told = [], []
        for action in chosen:
            copies.append(copied(env))
            told.append((plain(env.step(action)), rt_gym.view(env).goal))
        for k in range(0, 24, 5):
            one = copies[k]
            assert [(plain(one.step(action)), rt_gym.view(one).goal) for action in chosen[k:]] == told[k:]

    def test_the_next_episode_begins_with_the_goal_of_its_problem(self) -> None:
        env = make(Problem(ROOM, (0, 0), (8, 8)), goal_moves=1)
        chase(env, [THINK] * 5)
        assert rt_gym.view(env).goal != (8, 8)
        _, info = env.reset()
        assert (info["goal"], rt_gym.view(env).goal, info["optimal"]) == ((8, 8), (8, 8), pytest.approx(8 * 2**0.5))

    @pytest.mark.parametrize("value", [0, -1, 1.5, True, "often"])
    def test_what_is_no_number_of_moves_is_refused(self, value: Any) -> None:
        with pytest.raises(InputError, match="goal_moves must be a whole number from 1 to 1000000000, not "):
            make(Problem(ROOM, (0, 0), (8, 8)), goal_moves=value)

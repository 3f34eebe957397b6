"""Thinking or acting as an environment: walks, beside A*, LSS-LRTA* and a plain reading, and what is observed."""

import itertools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import agents
import rt_gym
from profiles import examples
from reference.batches import plain
from reference.plain_oracle import problems
from reference.plain_think import Thinker
from reference.think_episodes import ACT, THINK, cells, fixed, make, path, run
from reference.yard import GOAL, KNOWLEDGE, START, YARD
from rt_gym import Problem
from rt_gym.features.thinking import THOUGHTS


@st.composite
def any_problem(draw: st.DrawFn) -> Problem:
    vision = draw(st.sampled_from([None, 1, 2]))
    return Problem(*draw(problems(max_side=9)), vision=vision)


class TestWalks:
    @pytest.mark.plain
    @given(problems(max_side=9), st.integers(1, 12))
    @examples(80)
    def test_thinking_until_the_goal_is_found_is_astar_and_its_slices(self, drawn: Any, slice: int) -> None:
        problem = Problem(*drawn)
        env = make(problem, slice=slice)
        env.reset(seed=0)
        if problem.start == problem.goal:
            return
        walked = list(run(env, itertools.repeat(THINK)))
        optimal = agents.run("astar", problem)
        slices = max(1, -(-optimal.expansions // slice))
        assert path(problem, walked) == cells(optimal)
        assert sum(step[4]["expansions"] for step in walked) == optimal.expansions
        assert sum(step[4]["thought"] for step in walked) == slices
        assert sum(step[1] for step in walked) == pytest.approx(-problem.optimal - slices)

    @pytest.mark.parametrize("knowledge", ["known", "fog", "wide fog"])
    @pytest.mark.parametrize(("slices", "slice"), [(1, 1), (1, 20), (3, 7), (2, 50), (10**6, 30)])
    def test_a_fixed_number_of_slices_walks_as_lss_lrta_does(self, knowledge: str, slices: int, slice: int) -> None:
        problem = Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge])
        env = make(problem, slice=slice)
        env.reset(seed=0)
        walked = list(fixed(env, slices))
        told = agents.run("lss-lrta", problem, lookahead=min(slices * slice, 4000))
        thought = sum(step[4]["thought"] for step in walked)
        assert walked[-1][2]
        assert path(problem, walked) == cells(told)
        assert sum(step[4]["expansions"] for step in walked) == told.expansions
        assert sum(step[1] for step in walked) == pytest.approx(-told.cost - thought)

    @given(any_problem(), st.integers(1, 3), st.integers(1, 9))
    @examples(80)
    def test_a_fixed_number_of_slices_walks_as_lss_lrta_does_on_random_grids(
        self, problem: Problem, slices: int, slice: int
    ) -> None:
        env = make(problem, slice=slice)
        env.reset(seed=0)
        if problem.start == problem.goal:
            return
        assert path(problem, list(fixed(env, slices))) == cells(
            agents.run("lss-lrta", problem, lookahead=slices * slice)
        )

    @pytest.mark.parametrize("knowledge", ["known", "fog", "wide fog"])
    def test_always_acting_thinks_one_slice_at_a_time(self, knowledge: str) -> None:
        problem = Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge])
        one, other = make(problem, slice=9), make(problem, slice=9)
        one.reset(seed=0)
        other.reset(seed=0)
        always, singly = list(run(one, itertools.repeat(ACT))), list(fixed(other, 1))
        assert always[-1][2]
        assert [plain(step) for step in always] == [plain(step) for step in singly]

    @pytest.mark.parametrize("knowledge", KNOWLEDGE)
    @pytest.mark.parametrize("pattern", [(THINK, ACT), (THINK, THINK, ACT), (THINK, ACT, ACT)])
    def test_policies_that_alternate_reach_the_goal(self, knowledge: str, pattern: tuple[int, ...]) -> None:
        env = make(Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge]), slice=15)
        env.reset(seed=0)
        walked = list(run(env, itertools.cycle(pattern)))
        assert walked[-1][2]
        assert rt_gym.view(env).moves == len(walked)

    @pytest.mark.parametrize("slice", [1, 13, 2000])
    def test_a_slice_expands_no_more_than_it_may_and_acting_expands_nothing(self, slice: int) -> None:
        env = make(Problem(YARD, START, GOAL, vision=2), slice=slice, budget=40)
        env.reset(seed=0)
        walked = list(run(env, itertools.cycle([THINK, ACT])))
        assert {step[4]["expansions"] for step in walked if not step[4]["thought"]} == {0}
        assert max(step[4]["expansions"] for step in walked) <= min(slice, 40)
        assert min(step[4]["expansions"] for step in walked if step[4]["thought"]) >= 1


class TestAgainstThePlainReading:
    @pytest.mark.parametrize("knowledge", KNOWLEDGE)
    @pytest.mark.parametrize("chance", [0.3, 0.6, 0.9])
    def test_random_actions_in_a_yard_do_what_the_plain_reading_says(self, knowledge: str, chance: float) -> None:
        random = np.random.default_rng(int(10 * chance))
        actions = (int(random.random() < chance) for _ in itertools.count())
        self.compare(Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge]), 6, actions)

    @pytest.mark.parametrize("knowledge", KNOWLEDGE)
    @pytest.mark.parametrize("goal_moves", [1, 2, 7])
    def test_random_actions_after_a_goal_that_moves_do_what_the_plain_reading_says(
        self, knowledge: str, goal_moves: int
    ) -> None:
        random = np.random.default_rng(goal_moves)
        actions = (int(random.random() < 0.6) for _ in itertools.count())
        self.compare(Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge]), 6, actions, goal_moves)

    @pytest.mark.plain
    @given(any_problem(), st.integers(1, 9), st.sampled_from([None, 1, 3]), st.data())
    @examples(60)
    def test_random_actions_on_random_grids_do_what_the_plain_reading_says(
        self, problem: Problem, slice: int, goal_moves: int | None, data: Any
    ) -> None:
        assume(problem.start != problem.goal)
        self.compare(problem, slice, (data.draw(st.integers(0, 1)) for _ in itertools.count()), goal_moves)

    def compare(
        self, problem: Problem, slice: int, actions: Iterable[int], goal_moves: int | None = None, history: int = 4
    ) -> None:
        changes = [(change.time, change.position, change.free) for change in problem.changes or ()]
        moving = goal_moves is not None
        told = Thinker(problem.grid, problem.start, problem.goal, problem.vision, changes, slice, moving=moving)
        env = make(problem, slice=slice, goal_moves=goal_moves, history=history, max_moves=300)
        observation, info = env.reset(seed=0)
        for action in itertools.chain([None], itertools.islice(actions, 300)):
            if action is not None:
                thinks = told.step(action)
                observation, _, terminated, truncated, info = env.step(action)
                assert rt_gym.view(env).position == told.world.position
                assert (info["thought"], info["expansions"], info["scans"]) == (thinks, told.expansions, told.scans)
                assert (terminated, info["no_path"]) == (told.world.position == told.goal, told.stuck)
                if terminated or truncated:
                    return
                told.show_goal(rt_gym.view(env).goal)
            features = told.features(history)
            assert list(features) == list(THOUGHTS)
            assert observation.tolist() == pytest.approx([log(value) for value in features.values()], rel=1e-5)
            assert info["action_mask"].tolist() == told.possible


def log(value: float) -> float:
    return math.copysign(math.log1p(abs(value)), value)

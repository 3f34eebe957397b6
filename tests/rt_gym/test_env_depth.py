"""Depth control as environments: the walks of LRTA*, their price, and the features."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
import rt_gym
from profiles import examples
from reference import plain_grid, plain_lrta
from reference.depth_episodes import ACT, DEEPEN, IDS, actions_for, each_id, make, path, steps
from reference.plain_oracle import problems
from reference.plain_situation import Story, by_definition, layers_by_definition
from reference.yard import GOAL, KNOWLEDGE, POCKET, START, YARD
from rt_gym import Budget, Grid, Problem
from rt_gym.features.decision import SITUATION
from rt_gym.features.history import FEATURES


@st.composite
def known_problems(draw: st.DrawFn) -> Problem:
    return Problem(*draw(problems(max_side=9)))


class TestWalks:
    @each_id
    @pytest.mark.parametrize("knowledge", KNOWLEDGE)
    @pytest.mark.parametrize("depth", [1, 2, 3, 6])
    def test_a_fixed_depth_walks_as_lrta_does(self, env_id: str, knowledge: str, depth: int) -> None:
        problem = Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge])
        env = make(env_id, problem, max_moves=3000, features="paper", price=0.5)
        env.reset(seed=0)
        walked = list(steps(env, depth))
        run = agents.run("lrta", problem, depth=depth, budget=1000, max_moves=3000)
        assert path(problem, walked) == [tuple(cell) for cell in run.path.tolist()]
        assert walked[-1][2] == run.solved
        assert sum(step[4]["expansions"] for step in walked) == run.expansions
        assert sum(step[4]["scans"] for step in walked) == run.scans
        assert sum(step[1] for step in walked) == pytest.approx(-run.cost - 0.5 * run.expansions)

    @pytest.mark.plain
    @given(known_problems(), st.integers(1, 5), st.sampled_from(IDS))
    @examples(100)
    def test_a_fixed_depth_walks_as_lrta_does_on_random_grids(self, problem: Problem, depth: int, env_id: str) -> None:
        env = make(env_id, problem, d_max=5)
        env.reset(seed=0)
        if problem.start == problem.goal:
            return
        walked = list(steps(env, depth))
        run = agents.run("lrta", problem, depth=depth)
        assert path(problem, walked) == [tuple(cell) for cell in run.path.tolist()]
        assert sum(step[4]["expansions"] for step in walked) == run.expansions
        assert {step[4]["depth"] for step in walked if step[4]["moved"]} == {depth}

    @given(known_problems(), st.data())
    @examples(60)
    def test_mixed_depths_are_the_same_in_one_step_and_layer_by_layer(self, problem: Problem, data: Any) -> None:
        one, other = (make(env_id, problem, d_max=4, price=0.25, max_moves=30) for env_id in IDS)
        one.reset(seed=0)
        other.reset(seed=0)
        over = False
        earned = paid = 0.0
        while not over:
            depth = data.draw(st.integers(1, 4))
            _, reward, terminated, truncated, _ = one.step(depth - 1)
            earned += reward
            for action in actions_for("RTDeepen-v0", depth):
                _, reward, *ends, _ = other.step(action)
                paid += reward
                if ends[0]:
                    break  # already at the goal when the episode began
            over = terminated or truncated
            assert ends == [terminated, truncated]
            assert rt_gym.view(one).position == rt_gym.view(other).position
        later = 0.25 if truncated else 0.0  # the first layer of a search that is never made
        assert earned == pytest.approx(paid + later)

    def test_deepening_beyond_the_largest_depth_acts(self) -> None:
        env = make("RTDeepen-v0", POCKET, d_max=3)
        env.reset(seed=0)
        infos = [env.step(DEEPEN)[4] for _ in range(6)]
        assert [info["moved"] for info in infos] == [False, False, True] * 2
        assert [info["depth"] for info in infos] == [2, 3, 3] * 2

    @each_id
    def test_an_episode_that_begins_at_its_goal_ends_with_the_first_step(self, env_id: str) -> None:
        env = make(env_id, Problem(YARD, START, START))
        env.reset(seed=0)
        _, reward, terminated, truncated, info = env.step(1)
        assert (reward, terminated, truncated) == (-1.0, True, False)
        assert (info["moved"], info["expansions"], rt_gym.view(env).position) == (True, 0, START)


class TestObservations:
    @pytest.mark.plain
    @given(known_problems(), st.sampled_from(["rich", "paper"]), st.sampled_from([2, 20]), st.data())
    @examples(60)
    def test_every_number_is_the_logarithm_of_a_feature(
        self, problem: Problem, features: str, history: int, data: Any
    ) -> None:
        envs = [make(env_id, problem, features=features, history=history, max_moves=12, d_max=4) for env_id in IDS]
        told = Told(problem, SITUATION if features == "rich" else FEATURES, history)
        one, other = (env.reset(seed=0)[0] for env in envs)
        over = problem.start == problem.goal
        while not over:
            assert one.tolist() == told.situation()
            assert other.tolist() == told.situation() + told.layers(1)
            depth = data.draw(st.integers(1, 4))
            for layers in range(2, depth + 1):
                assert envs[1].step(DEEPEN)[0].tolist() == told.situation() + told.layers(layers)
            told.decide(depth)
            one, _, terminated, truncated, _ = envs[0].step(depth - 1)
            other = envs[1].step(ACT)[0]
            over = terminated or truncated
        assert one.tolist() == told.situation()

    def test_values_that_fall_are_negative(self) -> None:
        env = make("RTDepth-v0", Problem(Grid(np.ones((1, 9))), (0, 0), (8, 0)), observation="dict")
        env.reset(seed=0)
        around = env.step(0)[0]["around"]
        assert around.tolist() == pytest.approx([math.log(3), math.log(2), math.log(8), 0, math.log(2)])

    def test_names_are_those_of_the_groups(self) -> None:
        named, _ = make("RTDeepen-v0", POCKET, observation="dict").reset(seed=0)
        assert {name: part.size for name, part in named.items()} == {
            "history": 4, "learned": 4, "around": 5, "decision": 4, "trail": 7, "layers": 6
        }  # fmt: skip
        named, _ = make("RTDeepen-v0", POCKET, observation="dict", features="paper").reset(seed=0)
        assert {name: part.size for name, part in named.items()} == {"history": 4, "layers": 6}

    def test_the_neighbours_are_read_once_per_move_and_not_at_all_for_the_paper(self) -> None:
        for features, extra in (("rich", 1), ("paper", 0)):
            env = make("RTDeepen-v0", POCKET, features=features)
            env.reset(seed=0)
            infos = [env.step(action)[4] for action in (DEEPEN, DEEPEN, ACT, ACT)]
            assert [info["scans"] - info["expansions"] for info in infos] == [extra, 0, extra, extra]


class Told:
    """A walk told by its plain definitions."""

    def __init__(self, problem: Problem, names: tuple[str, ...], history: int) -> None:
        self.names, self.history, self.map = names, history, plain_grid.Map.of(problem.grid)
        h = plain_grid.initial_heuristic(problem.grid, problem.goal)
        self.story = Story(problem.grid, problem.goal, [problem.start], h)

    def decide(self, depth: int) -> None:
        story, s = self.story, self.story.states[-1]
        before = story.h[s]
        plan = plain_lrta.plan(self.map, s, story.goal, depth, story.h)
        story.decisions.append((depth, len(plan.expanded), story.h[s] - before))
        story.raises.append(len(plan.raised))
        story.states.append(plan.steps[0])

    def situation(self) -> Any:
        values = by_definition(self.story, self.history)
        return logarithms([values[name] for name in self.names])

    def layers(self, depth: int) -> Any:
        return logarithms(layers_by_definition(self.story, depth))


class logarithms(list[Any]):  # noqa: N801
    """Numbers as observations hold them, compared as single precision."""

    def __init__(self, values: list[float]) -> None:
        super().__init__(pytest.approx(math.copysign(math.log1p(abs(value)), value), abs=2e-6) for value in values)

    def __add__(self, other: Any) -> Any:
        both = logarithms([])
        both.extend([*self, *other])
        return both


class TestRewards:
    @each_id
    @pytest.mark.parametrize("count", ["expansions", "scans"])
    def test_every_count_is_paid_in_the_step_that_made_it(self, env_id: str, count: str) -> None:
        env = make(env_id, POCKET, price=0.25, budget=Budget(900, count), d_max=4)
        env.reset(seed=0)
        before = POCKET.start
        for step in steps(env, 3):
            diagonal = before[0] != step[5][0] and before[1] != step[5][1]
            cost = (math.sqrt(2) if diagonal else 1.0) if step[4]["moved"] else 0.0
            assert step[1] == pytest.approx(-cost - 0.25 * step[4][count])
            before = step[5]

    def test_the_first_layer_of_the_next_search_is_paid_with_the_move(self) -> None:
        env = make("RTDeepen-v0", Problem(Grid(np.ones((1, 9))), (0, 0), (8, 0)), price=1.0)
        env.reset(seed=0)
        told = [env.step(action) for action in (DEEPEN, DEEPEN, ACT, ACT)]
        assert [step[4]["expansions"] for step in told] == [2, 1, 1, 1]  # the first also pays for what reset searched
        assert [step[1] for step in told] == [-2, -1, -2, -2]

    @each_id
    def test_normalised_rewards_are_divided_by_the_optimal_cost(self, env_id: str) -> None:
        plain, divided = (make(env_id, POCKET, reward=reward, price=0.1) for reward in ("cost", "normalised"))
        plain.reset(seed=0)
        divided.reset(seed=0)
        pairs = zip(steps(plain, 2), steps(divided, 2), strict=True)
        assert all(two[1] == pytest.approx(one[1] / POCKET.optimal) for one, two in pairs)

    @each_id
    @pytest.mark.parametrize("discount", [1.0, 0.9])
    def test_shaping_telescopes(self, env_id: str, discount: float) -> None:
        plain, shaped = (make(env_id, POCKET, shaping=shaping) for shaping in (None, discount))
        plain.reset(seed=0)
        shaped.reset(seed=0)
        pairs = zip(steps(plain, 3), steps(shaped, 3), strict=True)
        gained = sum(discount**t * (two[1] - one[1]) for t, (one, two) in enumerate(pairs))
        assert gained == pytest.approx(9.0)  # the heuristic at the start; that of the goal is zero

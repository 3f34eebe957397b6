"""Depth control as environments: the walks of LRTA*, their price, the features, batches, and what is refused."""

import copy
import itertools
import math
import pickle
import sys
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import agents
import rt_gym
from profiles import examples
from reference import plain_grid, plain_lrta
from reference.plain_oracle import problems, scatter
from reference.plain_situation import Story, by_definition, layers_by_definition
from rt_gym import Budget, BudgetExceeded, Grid, InputError, Problem
from rt_gym.features.decision import SITUATION
from rt_gym.features.history import FEATURES
from rt_gym.maps.generate import generate
from rt_gym.search.values import FRESH

ACT, DEEPEN = range(2)
IDS = ("RTDepth-v0", "RTDeepen-v0")
each_id = pytest.mark.parametrize("env_id", IDS)

YARD = generate("rooms", width=22, height=20, room=4, doors=0.7, seed=3)
START, GOAL = (1, 1), (18, 17)
KNOWLEDGE: dict[str, dict[str, Any]] = {
    "known": {},
    "fog": {"vision": 1},
    "wide fog": {"vision": 3},
    "changes": {"changes": [(k, (5 * (k % 4), 5 * (k // 4 % 4)), k % 3 == 0) for k in range(1, 30)]},
    "fog and changes": {"vision": 2, "changes": [(k, (4 + k % 12, 9), k % 2 == 0) for k in range(40)]},
}
# A pocket in the way: with little lookahead it takes many moves, and many values, to get out of it.
TRAP = np.ones((31, 31), bool)
TRAP[5, 5:25] = TRAP[25, 5:25] = TRAP[5:26, 24] = False
POCKET = Problem(Grid(TRAP, name="trap"), (20, 15), (29, 15))


def make(env_id: str, *chosen: Problem, **more: Any) -> gym.Env[Any, Any]:
    return gym.make(env_id, problems=list(chosen), disable_env_checker=True, **more)


def actions_for(env_id: str, depth: int) -> list[int]:
    """Return the actions that make a decision of this depth."""
    return [depth - 1] if env_id == "RTDepth-v0" else [DEEPEN] * (depth - 1) + [ACT]


def steps(env: gym.Env[Any, Any], depth: int) -> Iterator[tuple[Any, ...]]:
    """Make decisions of one depth until the episode ends."""
    env_id = env.spec.id if env.spec else ""
    for action in itertools.cycle(actions_for(env_id, depth)):
        step = env.step(action)
        yield *step, rt_gym.view(env).position
        if step[2] or step[3]:
            return


def path(problem: Problem, walked: list[tuple[Any, ...]]) -> list[Any]:
    return [problem.start, *(step[5] for step in walked if step[4]["moved"])]


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
    def test_so_it_does_on_random_grids(self, problem: Problem, depth: int, env_id: str) -> None:
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


CUT_OFF = Problem(Grid([[1, 1, 0, 1]]), (0, 0), (3, 0), allow_unsolvable=True)
LONELY = Problem(Grid([[1, 0, 1]]), (0, 0), (2, 0), allow_unsolvable=True)
STUCK = [CUT_OFF, LONELY]


class TestEnds:
    @each_id
    def test_a_search_that_does_not_fit_the_budget_ends_the_episode(self, env_id: str) -> None:
        env = make(env_id, POCKET, budget=8)
        env.reset(seed=0)
        last = list(steps(env, 3))[-1]
        assert (last[2], last[3], last[4]["overrun"], last[4]["moved"]) == (False, True, True, False)
        assert last[5] == POCKET.start
        assert rt_gym.view(env).moves == 0

    @each_id
    def test_or_it_raises(self, env_id: str) -> None:
        env = make(env_id, POCKET, budget=Budget(8, on_overrun="raise"))
        env.reset(seed=0)
        with pytest.raises(BudgetExceeded, match="move 1 needs more than its budget of 8 expansions"):
            list(steps(env, 3))

    @each_id
    def test_or_the_move_is_lost_and_the_next_search_begins_anew(self, env_id: str) -> None:
        env = make(env_id, POCKET, budget=Budget(8, on_overrun="idle"), max_moves=4)
        env.reset(seed=0)
        for _ in range(2):
            lost = next(step for step in steps(env, 3) if step[4]["moved"])
            assert (lost[4]["overrun"], lost[5], lost[1]) == (True, POCKET.start, -1.0)
        assert next(step for step in steps(env, 1) if step[4]["moved"])[5] != POCKET.start
        assert rt_gym.view(env).moves == 3

    def test_with_scans_counted_even_the_first_layer_may_be_too_much(self) -> None:
        env = make("RTDeepen-v0", POCKET, budget=Budget(1, "scans"))
        env.reset(seed=0)
        _, _, terminated, truncated, info = env.step(DEEPEN)
        assert (terminated, truncated, info["overrun"], info["depth"]) == (False, True, True, 0)

    @each_id
    @pytest.mark.parametrize("problem", STUCK)
    def test_an_empty_frontier_ends_the_episode(self, env_id: str, problem: Problem) -> None:
        env = make(env_id, problem)
        env.reset(seed=0)
        last = list(steps(env, 4))[-1]
        assert (last[2], last[3], last[4]["no_path"], last[4]["overrun"]) == (False, True, True, False)
        assert last[5] == (0, 0)

    @each_id
    def test_the_largest_number_of_moves_truncates(self, env_id: str) -> None:
        env = make(env_id, POCKET, max_moves=7)
        env.reset(seed=0)
        walked = list(steps(env, 2))
        assert (walked[-1][2], walked[-1][3], rt_gym.view(env).moves) == (False, True, 7)

    @each_id
    def test_a_policy_that_takes_too_long_loses_the_episode(self, env_id: str) -> None:
        env = make(env_id, POCKET, budget=Budget(seconds=1e-9))
        env.reset(seed=0)
        _, _, terminated, truncated, info = env.step(0)
        assert (terminated, truncated, info["overrun"], info["moved"]) == (False, True, True, False)


class TestSettings:
    def test_the_default_depths_fit_the_default_budget(self) -> None:
        env = gym.make("RTDepth-v0", map=Grid(np.ones((40, 40))), pool=1)
        env.reset(options={"start": (20, 20), "goal": (39, 39)})
        info = env.step(15)[4]
        assert (info["depth"], info["expansions"], info["overrun"]) == (16, 31**2, False)

    def test_every_action_is_possible(self) -> None:
        for env_id, count in (("RTDepth-v0", 7), ("RTDeepen-v0", 2)):
            env = make(env_id, POCKET, d_max=7)
            assert env.action_space == gym.spaces.Discrete(count)
            _, info = env.reset(seed=0)
            for mask in (info["action_mask"], env.step(0)[4]["action_mask"], env.unwrapped.action_masks()):
                assert (mask.tolist(), mask.dtype) == ([1] * count, np.int8)

    @each_id
    def test_the_information_has_plain_types(self, env_id: str) -> None:
        env = make(env_id, POCKET)
        assert list(env.reset(seed=0)[1]) == ["action_mask", "position", "goal", "map", "optimal"]
        info = env.step(0)[4]
        assert list(info) == ["action_mask", "moved", "depth", "expansions", "scans", "overrun", "no_path"]
        assert [type(value) for value in list(info.values())[1:]] == [bool, int, int, int, bool, bool]

    @each_id
    def test_a_problem_by_options_may_stand_on_a_smaller_map(self, env_id: str) -> None:
        env = make(env_id, POCKET)
        guest = Problem(Grid(np.ones((3, 12))), (0, 0), (11, 2))
        _, info = env.reset(options={"problem": guest})
        assert info["optimal"] == guest.optimal
        assert list(steps(env, 4))[-1][2]

    @each_id
    def test_the_picture_shows_what_was_learned_and_searched(self, env_id: str) -> None:
        env = make(env_id, POCKET, render_mode="rgb_array", render_size=(96, 96))
        env.reset(seed=0)
        for _ in itertools.islice(steps(env, 3), 11):  # in the one a decision, in the other its third layer
            pass
        layers = rt_gym.view(env).painter()
        assert layers["h"].shape == TRAP.shape
        assert layers["h"].max() > 0 <= layers["h"].min()
        assert len(layers["expanded"]) > 9
        shown = env.render()
        rt_gym.view(env).painter = None
        assert not np.array_equal(shown, env.render())

    @each_id
    def test_what_was_learned_outgrows_every_table_and_is_forgotten_with_the_episode(self, env_id: str) -> None:
        env = make(env_id, POCKET, max_moves=20_000)
        run = agents.run("lrta", POCKET, depth=1)
        for _ in range(2):
            env.reset(seed=0)
            assert path(POCKET, list(steps(env, 1))) == [tuple(cell) for cell in run.path.tolist()]
        assert env.unwrapped.control.learned.state[0].taken > 2 * FRESH

    @each_id
    @pytest.mark.parametrize("knowledge", KNOWLEDGE)
    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
    def test_a_copy_of_any_moment_goes_on_as_the_original_did(self, env_id: str, knowledge: str, copied: Any) -> None:
        env = make(env_id, Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge]), d_max=4)
        env.reset(seed=1)
        chosen = np.random.default_rng(2).integers(env.action_space.n, size=24).tolist()
        copies, told = [], []
        for action in chosen:
            copies.append(copied(env))
            told.append(plain(env.step(action)))
        for k in range(0, 24, 5):
            assert [plain(copies[k].step(action)) for action in chosen[k:]] == told[k:]


def plain(step: tuple[Any, ...]) -> list[Any]:
    return [step[0].tolist(), *step[1:4], {name: np.asarray(value).tolist() for name, value in step[4].items()}]


COUNT = 6
FIELD = Grid(scatter(np.random.default_rng(1), 9, 8, 0.25), name="field")
TALL = Grid(scatter(np.random.default_rng(2), 3, 11, 0.1), name="tall")
TINY = Grid(np.ones((2, 2)), name="tiny")
CASES: dict[str, dict[str, Any]] = {
    "known": {},
    "normalised": {"reward": "normalised", "price": 0.1},
    "shaping": {"shaping": 0.9, "price": 0.5},
    "paper": {"features": "paper", "history": 3},
    "named parts": {"observation": "dict"},
    "several maps": {"map": [FIELD, TALL, TINY]},
    "four neighbours": {"map": FIELD.replace(connectivity=4)},
    "unit costs": {"map": FIELD.replace(cost="unit", corner="free")},
    "one depth": {"d_max": 1},
    "truncated budget": {"budget": 12},
    "lost moves": {"budget": Budget(12, on_overrun="idle")},
    "scans": {"budget": Budget(14, "scans", "idle"), "price": 0.1},
    "all kinds of problems": {
        "problems": [Problem(TINY, (0, 0), (0, 0)), CUT_OFF, LONELY, Problem(TALL, (0, 1), (2, 9))]
    },
    "deep pocket": {"problems": [POCKET], "max_moves": 150},
}


def arguments(case: str) -> dict[str, Any]:
    return {"map": FIELD, "pool": 9, "max_moves": 11, "history": 4, "d_max": 4} | CASES[case]


def make_batch(env_id: str, mode: AutoresetMode, count: int = COUNT, **given: Any) -> Any:
    return gym.make_vec(env_id, count, vectorization_mode="vector_entry_point", autoreset_mode=mode, **given)


def make_singles(env_id: str, mode: AutoresetMode, **given: Any) -> SyncVectorEnv:
    return SyncVectorEnv([lambda: gym.make(env_id, **given)] * COUNT, autoreset_mode=mode)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return bool(np.array_equal(one, other))


def some_actions(env: Any, count: int) -> NDArray[np.int64]:
    return np.random.default_rng(7).integers(env.single_action_space.n, size=(count, env.num_envs))


KEYS = ("action_mask", "moved", "depth", "expansions", "scans", "overrun", "no_path")


@each_id
@pytest.mark.parametrize("case", CASES)
class TestBatchAgainstSingles:
    @pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
    def test_the_same_seeds_give_the_same_trajectories(self, env_id: str, case: str, mode: AutoresetMode) -> None:
        batch, singles = (maker(env_id, mode, **arguments(case)) for maker in (make_batch, make_singles))
        assert same(batch.reset(seed=5)[0], singles.reset(seed=5)[0])
        ends = 0
        for actions in some_actions(batch, 500 if case == "deep pocket" else 80):
            (ours, *our_rest, info), (theirs, *their_rest, their_info) = batch.step(actions), singles.step(actions)
            assert same(ours, theirs)
            assert all(map(np.array_equal, our_rest, their_rest))
            over = our_rest[1] | our_rest[2]
            ends += int(over.sum())
            if mode == AutoresetMode.NEXT_STEP:
                nothing = np.zeros(COUNT)
                assert all(np.array_equal(info[key], their_info.get(key, nothing)) for key in KEYS)
            elif over.any():
                assert np.array_equal(info["_final_obs"], their_info["_final_obs"])
                assert all(same(info["final_obs"][i], their_info["final_obs"][i]) for i in np.flatnonzero(over))
        assert ends > 0

    def test_without_autoreset_the_chosen_episodes_begin_anew(self, env_id: str, case: str) -> None:
        mode = AutoresetMode.DISABLED
        batch, singles = (maker(env_id, mode, **arguments(case)) for maker in (make_batch, make_singles))
        assert same(batch.reset(seed=3)[0], singles.reset(seed=3)[0])
        for actions in some_actions(batch, 60):
            (ours, *our_rest, _), (theirs, *their_rest, _) = batch.step(actions), singles.step(actions)
            assert same(ours, theirs)
            assert all(map(np.array_equal, our_rest, their_rest))
            over = our_rest[1] | our_rest[2]
            if over.any():
                again, their_again = (envs.reset(options={"reset_mask": over.copy()})[0] for envs in (batch, singles))
                assert same(again, their_again)


@each_id
class TestBatch:
    def test_tables_grow_between_the_steps(self, env_id: str) -> None:
        given = {"problems": [POCKET], "max_moves": 20_000, "d_max": 2}
        batch, single = make_batch(env_id, AutoresetMode.SAME_STEP, 3, **given), make(env_id, POCKET, d_max=2)
        batch.reset(seed=0)
        single.reset(seed=0)
        for observation, reward, *_, info, _ in itertools.islice(steps(single, 1), 300):
            ours, our_rewards, _, _, our_info = batch.step([0, 0, 0])
            assert same(ours, np.stack([observation] * 3))
            assert our_rewards.tolist() == [reward] * 3
            assert our_info["expansions"].tolist() == [info["expansions"]] * 3
        control = batch.unwrapped._episodes.control
        learned = getattr(control, "control", control).learned
        assert learned.cells.shape[1] > 2 * FRESH

    @pytest.mark.parametrize("threads", [2, COUNT, COUNT + 3])
    def test_threads_change_nothing(self, env_id: str, threads: int) -> None:
        given, mode = arguments("several maps"), AutoresetMode.SAME_STEP
        alone, together = make_batch(env_id, mode, **given), make_batch(env_id, mode, threads=threads, **given)
        assert same(alone.reset(seed=1)[0], together.reset(seed=1)[0])
        for actions in some_actions(alone, 60):
            (ours, *our_rest, _), (theirs, *their_rest, _) = alone.step(actions), together.step(actions)
            assert same(ours, theirs)
            assert all(map(np.array_equal, our_rest, their_rest))

    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))])
    def test_a_copy_goes_on_from_the_middle_of_the_searches(self, env_id: str, copied: Any) -> None:
        batch = make_batch(env_id, AutoresetMode.SAME_STEP, **arguments("several maps"))
        batch.reset(seed=2)
        actions = some_actions(batch, 40)
        for row in actions[:17]:
            batch.step(row)
        twin = copied(batch)
        for row in actions[17:]:
            (ours, *our_rest, _), (theirs, *their_rest, _) = batch.step(row), twin.step(row)
            assert same(ours, theirs)
            assert all(map(np.array_equal, our_rest, their_rest))

    def test_episodes_do_not_depend_on_how_many_others_there_are(self, env_id: str) -> None:
        few, many = (make_batch(env_id, AutoresetMode.SAME_STEP, count, map="open-16") for count in (4, 2048))
        assert np.array_equal(few.reset(seed=0)[0], many.reset(seed=0)[0][:4])
        for actions in some_actions(many, 12):
            assert np.array_equal(few.step(actions[:4])[0], many.step(actions)[0][:4])

    def test_memory_stays_as_it_is(self, env_id: str) -> None:
        resource = pytest.importorskip("resource", reason="the system does not tell how much memory is used")
        batch = make_batch(env_id, AutoresetMode.SAME_STEP, 64, map=[FIELD, TALL], pool=9, max_moves=300, d_max=3)
        batch.reset(seed=0)
        actions = some_actions(batch, 100)

        def used_after(rounds: int) -> tuple[int, int]:
            for row in itertools.chain.from_iterable(itertools.repeat(actions, rounds)):
                batch.step(row)
            return sys.getallocatedblocks(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        blocks, resident = used_after(2)
        more_blocks, more_resident = used_after(60)
        assert more_blocks - blocks < 2_000  # one object left behind per step would be 6,000
        assert more_resident < 1.15 * resident

    @pytest.mark.parametrize(
        ("name", "value", "words"),
        [
            ("vision", 1, "vision must be None in a batch, whose episodes share known maps"),
            ("changes", [(1, (0, 0), False)], "changes must be None in a batch, whose episodes share maps"),
            ("problems", [Problem(TINY, (0, 0), (1, 1), vision=1)], "vision must be None"),
            ("problems", [Problem(TINY, (0, 0), (1, 1), changes=[(1, (0, 1), False)])], "changes must be None"),
            ("budget", Budget(9, on_overrun="raise"), 'budget of a batch may not have on_overrun="raise" or seconds'),
            ("budget", Budget(9, seconds=1.0), "budget of a batch may not"),
            ("render_mode", "ansi", "a batched environment does not render"),
        ],
    )
    def test_what_a_batch_refuses(self, env_id: str, name: str, value: Any, words: str) -> None:
        with pytest.raises(InputError, match=words) as refusal:
            make_batch(env_id, AutoresetMode.NEXT_STEP, **{"map": FIELD, "pool": 3, name: value})
        assert "\n" not in str(refusal.value)

    def test_a_step_before_reset_and_wrong_actions_are_refused(self, env_id: str) -> None:
        batch = make_batch(env_id, AutoresetMode.NEXT_STEP, 2, map=FIELD, pool=3, d_max=3)
        with pytest.raises(gym.error.ResetNeeded):
            batch.step([0, 0])
        batch.reset(seed=0)
        last = batch.single_action_space.n - 1
        with pytest.raises(InputError, match=f"actions must lie from 0 to {last}, not {last + 1} as for episode 1"):
            batch.step([0, last + 1])


def test_max_episode_steps_are_moves_only_where_every_step_is_one() -> None:
    batch = make_batch("RTDepth-v0", AutoresetMode.SAME_STEP, 1, problems=[POCKET], max_episode_steps=3)
    batch.reset(seed=0)
    assert [bool(batch.step([0])[3][0]) for _ in range(3)] == [False, False, True]
    with pytest.raises(InputError, match="max_episode_steps must be None where a step need not be a move"):
        make_batch("RTDeepen-v0", AutoresetMode.SAME_STEP, 1, problems=[POCKET], max_episode_steps=3)


REFUSED: list[tuple[str, Any, str]] = [
    ("d_max", 0, "d_max must be a whole number from 1 to 100, not 0"),
    ("d_max", 101, "d_max must be"),
    ("d_max", 2.0, "d_max must be"),
    ("features", "all", 'features must be "rich" or "paper", not \'all\''),
    ("features", None, "features must be"),
    ("price", -1, "price must be a number from 0"),
    ("price", float("nan"), "price must be a number"),
    ("shaping", 2, "shaping must be a number from 0 to 1"),
    ("history", 0, "history must be a whole number from 1"),
    ("observation", "image", 'observation must be "box" or "dict"'),
    ("reward", "gold", 'reward must be "cost" or "normalised"'),
    ("max_moves", 0, "max_moves must be a whole number from 1"),
    ("budget", 0, "budget must be a whole number of at least 1"),
    ("map", "nowhere", "no bundled map is called nowhere"),
]


@each_id
class TestRefusals:
    @pytest.mark.parametrize(("name", "value", "words"), REFUSED)
    def test_a_value_that_cannot_be(self, env_id: str, name: str, value: Any, words: str) -> None:
        given = {"map": FIELD, "pool": 3, name: value}
        for maker in (gym.make, lambda env_id, **more: make_batch(env_id, AutoresetMode.NEXT_STEP, **more)):
            with pytest.raises(InputError, match=words) as refusal:
                maker(env_id, **given)
            assert "\n" not in str(refusal.value)

    def test_arguments_of_the_path_environment_are_unknown(self, env_id: str) -> None:
        with pytest.raises(TypeError, match="unexpected keyword argument 'window'"):
            gym.make(env_id, window=5)

    @pytest.mark.parametrize("action", [-1, 4, 1.0, None, "deep", [0], np.array([1])])
    def test_an_action_outside_the_space_is_refused_and_nothing_happens(self, env_id: str, action: Any) -> None:
        env, twin = (make(env_id, POCKET, d_max=4).unwrapped for _ in range(2))
        env.reset(seed=0)
        twin.reset(seed=0)
        last = 3 if env_id == "RTDepth-v0" else 1
        with pytest.raises(InputError, match=f"action must be a whole number from 0 to {last}, not "):
            env.step(action)
        assert same(env.step(1)[0], twin.step(1)[0])

    def test_a_step_before_reset_or_after_the_end(self, env_id: str) -> None:
        env = make(env_id, POCKET, max_moves=1).unwrapped
        with pytest.raises(gym.error.ResetNeeded):
            env.step(0)
        env.reset(seed=0)
        env.step(0)
        with pytest.raises(gym.error.ResetNeeded, match="after the end"):
            env.step(0)

"""How episodes of depth control end, what they tell and show, and what is refused."""

import copy
import itertools
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import agents
import rt_gym
from reference.batches import (
    make_batch,
    plain,
    same,
)
from reference.depth_episodes import DEEPEN, each_id, make, path, steps
from reference.yard import CUT_OFF, GOAL, KNOWLEDGE, LONELY, POCKET, START, TRAP, YARD
from rt_gym import Budget, BudgetExceeded, Grid, InputError, Problem
from rt_gym.search.tables import FRESH

FIELD = Grid(np.ones((9, 8)), name="field")


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
    def test_a_search_that_does_not_fit_the_budget_may_raise_instead(self, env_id: str) -> None:
        env = make(env_id, POCKET, budget=Budget(8, on_overrun="raise"))
        env.reset(seed=0)
        with pytest.raises(BudgetExceeded, match="move 1 needs more than its budget of 8 expansions"):
            list(steps(env, 3))

    @each_id
    def test_a_search_that_does_not_fit_may_lose_the_move_and_the_next_one_begins_anew(self, env_id: str) -> None:
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
    @pytest.mark.parametrize("problem", [CUT_OFF, LONELY])
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
        assert list(env.reset(seed=0)[1]) == ["action_mask", "position", "goal", "index", "map", "optimal"]
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
    def test_an_argument_that_cannot_be_is_refused(self, env_id: str, name: str, value: Any, words: str) -> None:
        given = {"map": FIELD, "pool": 3, name: value}
        for maker in (gym.make, lambda env_id, **more: make_batch(env_id, AutoresetMode.NEXT_STEP, **more)):
            with pytest.raises(InputError, match=words) as refusal:
                maker(env_id, **given)
            assert "\n" not in str(refusal.value)

    def test_arguments_of_the_path_environment_are_unknown(self, env_id: str) -> None:
        with pytest.raises(InputError, match="has no argument 'window'"):
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

    def test_a_step_before_reset_or_after_the_end_is_refused(self, env_id: str) -> None:
        env = make(env_id, POCKET, max_moves=1).unwrapped
        with pytest.raises(gym.error.ResetNeeded):
            env.step(0)
        env.reset(seed=0)
        env.step(0)
        with pytest.raises(gym.error.ResetNeeded, match="after the end"):
            env.step(0)

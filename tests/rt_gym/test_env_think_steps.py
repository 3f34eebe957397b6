"""Steps of thinking and acting: their time, how episodes end, what they tell and show, and what is refused."""

import copy
import itertools
import math
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import rt_gym
from reference import batches
from reference.batches import plain, same
from reference.think_episodes import ACT, ROOM, THINK, make, run
from reference.yard import CUT_OFF, GOAL, KNOWLEDGE, START, YARD
from rt_gym import Budget, Grid, InputError, Problem

ID = "RTThink-v0"
FIELD = Grid(np.ones((9, 8)), name="field")


class TestSteps:
    def test_masks_say_when_an_action_is_the_other_one(self) -> None:
        env = make(Problem(ROOM, (0, 0), (8, 8)), slice=4)
        _, info = env.reset(seed=0)
        masks, thoughts = [info["action_mask"].tolist()], []
        for action in (ACT, ACT, ACT, THINK, THINK, THINK, THINK, THINK):
            info = env.step(action)[4]
            masks.append(env.unwrapped.action_masks().tolist())
            thoughts.append(info["thought"])
            assert (masks[-1], info["action_mask"].dtype) == (info["action_mask"].tolist(), np.int8)
        # Nothing known; a search; committed twice; a search on the way, which has found the goal at the second slice.
        assert masks == [[0, 1], [1, 1], [1, 1], [1, 1], [1, 1], [1, 0], [1, 0], [1, 0], [1, 0]]
        assert thoughts == [True, False, False, True, True, False, False, False]
        assert info["found"]

    def test_thinking_on_the_way_drops_the_committed_path(self) -> None:
        env = make(Problem(ROOM, (0, 0), (8, 8)), slice=4, observation="dict")
        env.reset(seed=0)
        env.step(THINK)
        committed = [math.expm1(env.step(action)[0]["path"][0]) for action in (ACT, THINK, ACT)]
        assert committed == pytest.approx([3, 0, 3])

    def test_a_slice_costs_a_straight_step_and_acting_the_move(self) -> None:
        env = make(Problem(ROOM, (0, 0), (8, 8)), price=0.25, slice=4)
        env.reset(seed=0)
        assert [env.step(action)[1] for action in (THINK, THINK, ACT)] == [-2.0, -2.0, pytest.approx(-math.sqrt(2))]

    def test_rewards_can_be_divided_by_the_optimal_cost(self) -> None:
        problem = Problem(YARD, START, GOAL)
        env = make(problem, reward="normalised", slice=50)
        env.reset(seed=0)
        walked = list(run(env, itertools.repeat(THINK)))
        slices = sum(step[4]["thought"] for step in walked)
        assert sum(step[1] for step in walked) == pytest.approx(-1 - slices / problem.optimal)

    def test_shaping_knows_of_standing_still(self) -> None:
        env = make(Problem(ROOM, (0, 0), (0, 8)), shaping=0.5, slice=9)
        env.reset(seed=0)
        assert [env.step(action)[1] for action in (THINK, ACT)] == [-1 + 8 - 4.0, -1 + 8 - 3.5]

    def test_a_search_that_runs_empty_ends_the_episode(self) -> None:
        env = make(CUT_OFF)
        env.reset(seed=0)
        _, reward, terminated, truncated, info = env.step(THINK)
        assert (reward, terminated, truncated, info["no_path"], info["expansions"]) == (-1.0, False, True, True, 2)

    def test_an_episode_that_begins_at_its_goal_ends_with_the_first_step(self) -> None:
        for action in (ACT, THINK):
            env = make(Problem(YARD, START, START))
            env.reset(seed=0)
            _, reward, terminated, _, info = env.step(action)
            assert (reward, terminated, info["thought"], info["expansions"]) == (-1.0, True, False, 0)

    def test_the_largest_number_of_moves_counts_slices(self) -> None:
        env = make(Problem(YARD, START, GOAL), max_moves=7, slice=1)
        env.reset(seed=0)
        walked = list(run(env, itertools.repeat(THINK)))
        assert (len(walked), walked[-1][2], walked[-1][3]) == (7, False, True)

    @pytest.mark.parametrize(("on_overrun", "cut"), [("truncate", True), ("idle", False)])
    def test_learning_past_a_budget_of_scans_is_an_overrun(self, on_overrun: str, cut: bool) -> None:
        env = make(Problem(YARD, START, GOAL), slice=50, budget=Budget(20, "scans", on_overrun))
        env.reset(seed=0)
        assert env.step(THINK)[4]["expansions"] == 20
        _, _, _, truncated, info = env.step(ACT)
        assert (truncated, info["overrun"], rt_gym.view(env).position) == (cut, True, START)
        if not cut:
            assert not env.step(ACT)[4]["overrun"]
            assert rt_gym.view(env).position != START

    def test_a_policy_that_takes_too_long_loses_the_episode(self) -> None:
        env = make(Problem(YARD, START, GOAL), budget=Budget(seconds=1e-9))
        env.reset(seed=0)
        _, _, _, truncated, info = env.step(THINK)
        assert (truncated, info["overrun"], info["thought"], info["expansions"]) == (True, True, False, 0)

    def test_a_door_that_opens_is_worth_another_thought(self) -> None:
        wall = np.ones((3, 9), bool)
        wall[:2, 4] = False
        problem = Problem(Grid(wall), (0, 0), (8, 0), changes=[(3, (4, 0), True)])
        env = make(problem, slice=100)
        env.reset(seed=0)
        masks = [env.step(action)[4]["action_mask"].tolist() for action in (THINK, ACT, ACT)]
        assert masks == [[1, 0], [1, 0], [1, 1]]

    def test_a_change_beside_what_was_expanded_voids_the_search(self) -> None:
        for cell, kept in (((5, 5), True), ((1, 1), False)):
            env = make(Problem(ROOM, (0, 0), (8, 0), changes=[(2, cell, False)]), slice=2)
            env.reset(seed=0)
            env.step(THINK)
            assert env.step(THINK)[4]["action_mask"].tolist() == [int(kept), 1]

    def test_the_information_has_plain_types(self) -> None:
        env = make(Problem(YARD, START, GOAL))
        assert list(env.reset(seed=0)[1]) == ["action_mask", "position", "goal", "index", "map", "optimal"]
        info = env.step(0)[4]
        assert list(info) == ["action_mask", "thought", "found", "expansions", "scans", "overrun", "no_path"]
        assert [type(value) for value in list(info.values())[1:]] == [bool, bool, int, int, bool, bool]

    def test_the_picture_shows_what_was_learned_and_all_of_the_search(self) -> None:
        env = make(Problem(YARD, START, GOAL, vision=1), slice=5, render_mode="rgb_array", render_size=(96, 96))
        env.reset(seed=0)
        counts = []
        for _ in range(3):
            counts.append(len(rt_gym.view(env).painter()["expanded"]))
            env.step(THINK)
        assert counts == [0, 5, 10]
        list(itertools.islice(run(env, itertools.repeat(ACT)), 20))
        layers = rt_gym.view(env).painter()
        assert layers["h"].shape == YARD.passable.shape
        assert layers["h"].max() > 0 <= layers["h"].min()
        shown = env.render()
        rt_gym.view(env).painter = None
        assert not np.array_equal(shown, env.render())

    def test_a_problem_by_options_may_stand_on_a_smaller_map(self) -> None:
        env = make(Problem(YARD, START, GOAL), slice=50)
        guest = Problem(Grid(np.ones((3, 12))), (0, 0), (11, 2))
        env.reset(options={"problem": guest})
        walked = list(run(env, itertools.repeat(THINK)))
        assert sum(step[1] for step in walked) == pytest.approx(-guest.optimal - 1)

    @pytest.mark.parametrize("knowledge", KNOWLEDGE)
    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
    def test_a_copy_of_any_moment_goes_on_as_the_original_did(self, knowledge: str, copied: Callable[..., Any]) -> None:
        env = make(Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge]), slice=4)
        env.reset(seed=1)
        chosen = np.random.default_rng(2).integers(2, size=24).tolist()
        copies, told = [], []
        for action in chosen:
            copies.append(copied(env))
            told.append(plain(env.step(action)))
        for k in range(0, 24, 5):
            assert [plain(copies[k].step(action)) for action in chosen[k:]] == told[k:]


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "value", "words"),
        [
            ("slice", 0, "slice must be a whole number from 1 to 268435456, not 0"),
            ("slice", 2.5, "slice must be"),
            ("slice", None, "slice must be"),
            ("vision", 0, "vision must be"),
            ("price", -1, "price must be a number from 0"),
            ("observation", "image", 'observation must be "box" or "dict"'),
            ("reward", "gold", 'reward must be "cost" or "normalised"'),
            ("max_moves", 0, "max_moves must be a whole number from 1"),
            ("budget", 0, "budget must be a whole number of at least 1"),
        ],
    )
    def test_an_argument_that_cannot_be_is_refused(self, name: str, value: Any, words: str) -> None:
        given = {"map": FIELD, "pool": 3, name: value}
        for maker in (gym.make, lambda _, **more: batches.make_batch(ID, AutoresetMode.NEXT_STEP, **more)):
            with pytest.raises(InputError, match=words) as refusal:
                maker("RTThink-v0", **given)
            assert "\n" not in str(refusal.value)

    def test_arguments_of_other_environments_are_unknown(self) -> None:
        for name in ("window", "d_max"):
            with pytest.raises(InputError, match=f"has no argument '{name}'"):
                gym.make("RTThink-v0", **{name: 5})

    @pytest.mark.parametrize("action", [-1, 2, 1.0, None, "think", [0]])
    def test_an_action_outside_the_space_is_refused_and_nothing_happens(self, action: Any) -> None:
        env, twin = (make(Problem(YARD, START, GOAL)).unwrapped for _ in range(2))
        env.reset(seed=0)
        twin.reset(seed=0)
        with pytest.raises(InputError, match="action must be a whole number from 0 to 1, not "):
            env.step(action)
        assert same(env.step(1)[0], twin.step(1)[0])

"""Moves of the path environment, how its episodes end, what they tell, and what changes and fog do to them."""

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import rt_gym
from reference.small_maps import drawn
from rt_gym import STAY, Grid, Problem
from rt_gym.cost import SQRT2

EAST, SOUTH, WEST, NORTH, SOUTH_EAST = range(5)


def make(*problems: Problem, **settings: Any) -> gym.Env[Any, Any]:
    return gym.make("RTPath-v0", problems=list(problems), disable_env_checker=True, **settings)


class TestMoves:
    def test_bumping_into_walls_edges_and_corners_costs_a_straight_step(self) -> None:
        grid = drawn("..", "#.")
        env = make(Problem(grid, (0, 0), (1, 1)))
        env.reset(seed=0)
        for action in (WEST, NORTH, SOUTH, SOUTH_EAST):  # edge, edge, wall, and a corner that may not be cut
            _, reward, _, _, info = env.step(action)
            assert (reward, info["blocked"], rt_gym.view(env).position) == (-1.0, True, (0, 0))
        assert env.step(EAST)[4]["blocked"] is False
        assert env.step(SOUTH)[2]

    @pytest.mark.parametrize("stay", [False, True])
    def test_standing_still_is_always_accepted_and_costs_a_straight_step(self, stay: bool) -> None:
        env = make(Problem(drawn("..."), (0, 0), (2, 0)), stay=stay)
        env.reset(seed=0)
        for action in (STAY, 8) if stay else (STAY,):
            _, reward, terminated, truncated, info = env.step(action)
            assert (reward, terminated, truncated, info["blocked"]) == (-1.0, False, False, False)
            assert rt_gym.view(env).position == (0, 0)

    def test_standing_still_can_be_an_action_of_its_own_the_last_and_always_legal(self) -> None:
        env = make(Problem(drawn("..."), (0, 0), (2, 0)), stay=True)
        _, info = env.reset(seed=0)
        assert env.action_space == gym.spaces.Discrete(9)
        assert info["action_mask"].tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 1]

    def test_with_four_neighbours_there_are_four_actions(self) -> None:
        env = make(Problem(drawn("..", "..", connectivity=4), (0, 0), (1, 1)))
        _, info = env.reset(seed=0)
        assert env.action_space == gym.spaces.Discrete(4)
        assert info["action_mask"].tolist() == [1, 1, 0, 0]

    @pytest.mark.parametrize(("cost", "reward"), [("octile", -SQRT2), ("unit", -1.0)])
    def test_a_diagonal_step_costs_what_the_cost_model_says(self, cost: str, reward: float) -> None:
        env = make(Problem(drawn("..", "..", cost=cost), (0, 0), (1, 1)))
        env.reset(seed=0)
        assert env.step(SOUTH_EAST)[1] == pytest.approx(reward)

    @pytest.mark.parametrize("action", [np.int64(0), np.int8(0), np.array(0), np.uint8(0)])
    def test_whole_numbers_of_any_type_are_actions(self, action: Any) -> None:
        env = make(Problem(drawn("..."), (0, 0), (2, 0)))
        env.reset(seed=0)
        env.step(action)
        assert rt_gym.view(env).position == (1, 0)


class TestEnds:
    def test_the_goal_terminates(self) -> None:
        env = make(Problem(drawn("..."), (0, 0), (2, 0)))
        env.reset(seed=0)
        assert env.step(EAST)[2:4] == (False, False)
        assert env.step(EAST)[2:4] == (True, False)

    def test_the_last_move_truncates(self) -> None:
        env = make(Problem(drawn("..."), (0, 0), (2, 0)), max_moves=3)
        env.reset(seed=0)
        assert [env.step(WEST)[2:4] for _ in range(3)] == [(False, False), (False, False), (False, True)]

    def test_reaching_the_goal_with_the_last_move_is_no_truncation(self) -> None:
        env = make(Problem(drawn("..."), (0, 0), (2, 0)), max_moves=2)
        env.reset(seed=0)
        env.step(EAST)
        assert env.step(EAST)[2:4] == (True, False)

    def test_after_an_end_the_next_episode_counts_its_moves_anew(self) -> None:
        env = make(Problem(drawn("..."), (0, 0), (2, 0)), max_moves=2)
        for _ in range(3):
            env.reset()
            assert [env.step(WEST)[3] for _ in range(2)] == [False, True]

    def test_a_time_limit_from_outside_works_as_well(self) -> None:
        env = gym.make("RTPath-v0", problems=[Problem(drawn("..."), (0, 0), (2, 0))], max_episode_steps=2)
        env.reset(seed=0)
        assert [env.step(WEST)[3] for _ in range(2)] == [False, True]


class TestInfo:
    def test_a_reset_tells_the_problem(self) -> None:
        grid = drawn("...", "...", name="yard")
        _, info = make(Problem(grid, (0, 0), (2, 1))).reset(seed=0)
        assert list(info) == ["action_mask", "position", "goal", "index", "map", "optimal"]
        assert (info["position"], info["goal"], info["map"]) == ((0, 0), (2, 1), "yard")
        assert info["optimal"] == pytest.approx(1 + SQRT2)

    def test_the_optimal_cost_of_a_changing_map_is_not_known(self) -> None:
        problem = Problem(drawn("..."), (0, 0), (2, 0), changes=[(1, (1, 0), True)])
        assert make(problem).reset(seed=0)[1]["optimal"] is None

    @pytest.mark.parametrize(("asked", "told"), [(None, None), (False, None), (True, 2.0)])
    def test_in_fog_the_optimal_cost_is_told_to_who_asks_for_it(self, asked: bool | None, told: float | None) -> None:
        env = make(Problem(drawn("..."), (0, 0), (2, 0), vision=1), reveal_optimal=asked)
        assert env.reset(seed=0)[1]["optimal"] == told

    def test_a_step_tells_what_was_spent_and_what_went_wrong(self) -> None:
        env = make(Problem(drawn("..."), (0, 0), (2, 0)))
        env.reset(seed=0)
        info = env.step(EAST)[4]
        assert list(info) == ["action_mask", "blocked", "expansions", "scans", "overrun", "no_path"]
        assert [type(value) for value in list(info.values())[1:]] == [bool, int, int, bool, bool]
        assert list(info.values())[1:] == [False, 0, 0, False, False]
        assert info["action_mask"].dtype == np.int8


CORRIDOR = drawn(".....", "#####", ".....")


class TestChangesAndFog:
    @pytest.mark.parametrize("vision", [None, 1])
    def test_a_door_closes_for_two_moves_and_bars_the_way(self, vision: int | None) -> None:
        door = [(1, (2, 0), False), (3, (2, 0), True)]
        env = make(Problem(CORRIDOR, (0, 0), (4, 0), vision, door))
        env.reset(seed=0)
        assert [env.step(EAST)[4]["blocked"] for _ in range(6)] == [False, True, True, False, False, False]
        assert rt_gym.view(env).position == (4, 0)

    @pytest.mark.parametrize("vision", [None, 1])
    def test_a_new_episode_begins_with_the_map_as_it_was(self, vision: int | None) -> None:
        env = make(Problem(CORRIDOR, (0, 0), (4, 0), vision, [(1, (1, 0), False)]), window=5)
        episodes = []
        for _ in range(3):
            seen = [env.reset(seed=0)[0].tolist()]
            seen += [env.step(action)[0].tolist() for action in (STAY, EAST, EAST)]
            episodes.append(seen)
        assert episodes[0] == episodes[1] == episodes[2]
        assert episodes[0][0] != episodes[0][1]

    def test_in_fog_only_the_surroundings_are_known_at_first(self) -> None:
        env = make(Problem(Grid(np.ones((9, 9))), (4, 4), (8, 8), vision=1), window=5, observation="dict")
        unknown = env.reset(seed=0)[0]["window"].reshape(2, 5, 5)[1]
        expected = np.ones((5, 5))
        expected[1:4, 1:4] = 0
        assert unknown.tolist() == expected.tolist()

    def test_unseen_walls_are_taken_for_open_ground(self) -> None:
        env = make(Problem(drawn("..#.", "...."), (0, 0), (3, 0), vision=1), window=5, observation="dict")
        window = env.reset(seed=0)[0]["window"].reshape(2, 5, 5)
        assert (window[0, 2, 4], window[1, 2, 4]) == (0, 1)
        window = env.step(EAST)[0]["window"].reshape(2, 5, 5)
        assert (window[0, 2, 3], window[1, 2, 3]) == (1, 0)

    def test_nothing_seen_in_one_episode_is_known_in_the_next(self) -> None:
        problem = Problem(Grid(np.ones((9, 9))), (0, 0), (8, 8), vision=1)
        env = make(problem)
        env.reset(seed=0)
        for _ in range(5):
            env.step(SOUTH_EAST)
        env.reset()
        assert rt_gym.view(env).known.sum() == 4

    def test_the_fog_id_sees_one_cell_far_and_as_far_as_it_is_told(self) -> None:
        for vision in (1, 3):
            env = gym.make("RTPathFog-v0", map=Grid(np.ones((9, 9))), pool=1, vision=vision)
            env.reset(options={"start": (4, 4), "goal": (8, 8)})
            assert rt_gym.view(env).vision == vision
            assert rt_gym.view(env).known.sum() == (2 * vision + 1) ** 2


KNOWLEDGE = {
    "known": {},
    "fog": {"vision": 1},
    "changes": {"changes": [(k, (k % 5, 0), k % 3 > 0) for k in range(12)]},
    "fog and changes": {"vision": 2, "changes": [(k, (k % 5, 0), k % 3 > 0) for k in range(12)]},
}


class TestCopies:
    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
    @pytest.mark.parametrize("knowledge", KNOWLEDGE)
    def test_a_copy_of_any_moment_goes_on_as_the_original_did(self, knowledge: str, copied: Any) -> None:
        field = Grid(np.random.default_rng(0).random((5, 6)) < 0.8)
        env = gym.make("RTPath-v0", map=field, pool=5, max_moves=9, window=3, stay=True, **KNOWLEDGE[knowledge])
        env.reset(seed=1)
        actions = np.random.default_rng(2).integers(9, size=30)
        copies, steps = [], []
        for action in actions:
            copies.append(copied(env))
            steps.append(step(env, action))
        for k, twin in enumerate(copies):
            assert [step(twin, action) for action in actions[k:]] == steps[k:]


def step(env: gym.Env[Any, Any], action: int) -> list[Any]:
    observation, reward, terminated, truncated, info = env.step(action)
    if terminated or truncated:
        env.reset()
    return [observation.tolist(), reward, terminated, truncated, info["action_mask"].tolist()]

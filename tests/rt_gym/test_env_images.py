"""What is observed of where the agent has been: images channel by channel, the plane of visits, and who takes them."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from rt_gym import STAY, Grid, InputError, Problem
from rt_gym.envs.sb3 import SB3VecEnv

ROOM = Grid([[1, 1, 1, 0], [1, 0, 1, 1], [1, 1, 1, 1]])
PROBLEM = Problem(ROOM, (0, 0), (3, 2))
FIELD = Grid(np.ones((40, 40)))
EAST, SOUTH = 0, 1
pytestmark = pytest.mark.filterwarnings("error")


def images(window: int, *actions: int, problem: Problem = PROBLEM, **settings: Any) -> Any:
    """Return the channels after some actions."""
    env = gym.make("RTPath-v0", problems=[problem], observation="image", window=window, **settings).unwrapped
    observation, _ = env.reset(seed=0)
    for action in actions:
        observation, *_ = env.step(action)
    return observation


@pytest.mark.plain
class TestChannels:
    def test_walls_and_the_outside_are_blocked_and_nothing_is_unknown(self) -> None:
        blocked, unknown, _, _ = images(5)
        assert blocked.tolist() == [
            [255, 255, 255, 255, 255],
            [255, 255, 255, 255, 255],
            [255, 255, 0, 0, 0],
            [255, 255, 0, 255, 0],
            [255, 255, 0, 0, 0],
        ]
        assert not unknown.any()

    def test_in_fog_what_was_not_seen_is_unknown_and_not_blocked(self) -> None:
        blocked, unknown, _, _ = images(5, vision=1)
        assert blocked[2:, 2:].tolist() == [[0, 0, 0], [0, 255, 0], [0, 0, 0]]
        assert unknown[2:, 2:].tolist() == [[0, 0, 255], [0, 0, 255], [255, 255, 255]]
        assert not unknown[:2].any()
        assert not unknown[:, :2].any()

    def test_visits_brighten_a_cell_up_to_the_eighth(self) -> None:
        visited = images(3, EAST, STAY, SOUTH)[2]  # into a wall in the end
        assert visited.tolist() == [[0, 0, 0], [31, 3 * 255 // 8, 0], [0, 0, 0]]
        assert images(3, *[STAY] * 6)[2][1, 1] == 7 * 255 // 8
        assert images(3, *[STAY] * 7)[2][1, 1] == images(3, *[STAY] * 20)[2][1, 1] == 255

    def test_the_goal_shines_in_its_cell(self) -> None:
        goal = images(7)[3]
        assert np.argwhere(goal).tolist() == [[5, 6]]
        assert goal[5, 6] == 255

    @pytest.mark.parametrize(
        ("start", "goal", "row", "column", "shade"),
        [
            ((0, 0), (20, 0), 5, 10, 255 * 5 // 20),
            ((0, 0), (20, 10), 8, 10, 255 * 5 // 20),  # two and a half rows are three
            ((30, 30), (0, 0), 0, 0, 255 * 5 // 30),
            ((10, 39), (8, 0), 0, 5, 255 * 5 // 39),
            ((10, 10), (16, 4), 0, 10, 255 * 5 // 6),
        ],
    )
    def test_a_goal_outside_stands_at_the_edge_in_its_direction_the_darker_the_further(
        self, start: Any, goal: Any, row: int, column: int, shade: int
    ) -> None:
        shown = images(11, problem=Problem(FIELD, start, goal))[3]
        assert np.argwhere(shown).tolist() == [[row, column]]
        assert shown[row, column] == shade

    def test_what_was_visited_is_forgotten_at_reset(self) -> None:
        env = gym.make("RTPath-v0", problems=[PROBLEM], observation="image", window=9)
        first = env.reset(seed=0)[0]
        env.step(EAST)
        assert np.array_equal(env.reset(seed=0)[0], first)


def test_a_plane_of_visits_follows_the_window() -> None:
    flat = gym.make("RTPath-v0", problems=[PROBLEM], visits=True, window=3)
    named = gym.make("RTPath-v0", problems=[PROBLEM], visits=True, window=3, observation="dict")
    for env in (flat, named):
        env.reset(seed=0)
        env.step(EAST)
    (one, *_), (other, *_) = flat.step(STAY), named.step(STAY)
    assert one.shape == (9 + 9 + 9,)
    assert other["visits"].tolist() == one[-9:].tolist() == [0, 0, 0, 1 / 8, 2 / 8, 0, 0, 0, 0]


def test_the_image_does_not_depend_on_the_flat_window() -> None:
    space = gym.make("RTPath-v0", observation="image").observation_space
    assert space == gym.spaces.Box(0, 255, (4, 37, 37), np.uint8)
    assert gym.make("RTPath-v0").observation_space.shape == (130,)


def test_a_window_of_a_whole_map_of_128_cells_is_allowed() -> None:
    assert gym.make("RTPath-v0", map="caves-128", window=255, pool=1).reset(seed=0)[0].size == 9 + 255**2
    with pytest.raises(InputError, match="window must be"):
        gym.make("RTPath-v0", window=257)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"observation": "image", "visits": True}, "visits must be left out with images"),
        ({"observation": "pixels"}, 'observation must be "box", "dict" or "image"'),
        ({"visits": 1}, "visits must be True or False"),
    ],
)
def test_what_makes_no_sense_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        gym.make("RTPath-v0", **settings)


def test_only_where_a_step_is_a_move_there_are_images() -> None:
    with pytest.raises(InputError, match='observation must be "box" or "dict"'):
        gym.make("RTDepth-v0", observation="image")


@pytest.mark.parametrize("env_id", ["RTPath-v0", "RTPathFog-v0"])
class TestCheckers:
    def test_the_checker_of_gymnasium_has_nothing_to_say(self, env_id: str) -> None:
        check_env(gym.make(env_id, observation="image").unwrapped, skip_render_check=True)

    def test_the_checker_of_stable_baselines_has_nothing_to_say(self, env_id: str) -> None:
        checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs the extra rl")
        checker.check_env(gym.make(env_id, observation="image").unwrapped)

    @pytest.mark.usefixtures("one_thread")
    def test_its_convolutions_take_images_as_they_are(self, env_id: str) -> None:
        sb3 = pytest.importorskip("stable_baselines3", reason="needs the extra rl")
        env = SB3VecEnv(env_id, num_envs=2, map="open-16", observation="image")
        model = sb3.PPO("CnnPolicy", env, n_steps=4, batch_size=8, n_epochs=1, seed=0)
        model.learn(8)
        assert model.predict(env.reset())[0].shape == (2,)


def test_frames_are_stacked_by_the_usual_wrappers() -> None:
    single = gym.wrappers.FrameStackObservation(gym.make("RTPath-v0", observation="image"), 3)
    assert single.reset(seed=0)[0].shape == (3, 4, 37, 37)
    vec_env = pytest.importorskip("stable_baselines3.common.vec_env", reason="needs the extra rl")
    batch = vec_env.VecFrameStack(SB3VecEnv("RTPath-v0", num_envs=2, observation="image"), 3)
    assert batch.reset().shape == (2, 12, 37, 37)

"""What is observed of where the agent has been: images channel by channel, the plane of visits, and who takes them."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from rt_gym import STAY, Grid, InputError, Problem, evaluate
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
    @pytest.mark.parametrize("stack", [1, 3])
    def test_the_checker_of_gymnasium_has_nothing_to_say(self, env_id: str, stack: int) -> None:
        check_env(gym.make(env_id, observation="image", stack=stack).unwrapped, skip_render_check=True)

    @pytest.mark.parametrize("stack", [1, 3])
    def test_the_checker_of_stable_baselines_has_nothing_to_say(self, env_id: str, stack: int) -> None:
        checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs the extra rl")
        checker.check_env(gym.make(env_id, observation="image", stack=stack).unwrapped)

    @pytest.mark.usefixtures("one_thread")
    def test_its_convolutions_take_images_as_they_are(self, env_id: str) -> None:
        sb3 = pytest.importorskip("stable_baselines3", reason="needs the extra rl")
        env = SB3VecEnv(env_id, num_envs=2, map="open-16", observation="image")
        model = sb3.PPO("CnnPolicy", env, n_steps=4, batch_size=8, n_epochs=1, seed=0)
        model.learn(8)
        assert model.predict(env.reset())[0].shape == (2,)


class TestStack:
    """``stack=n``; that batches show the same as single environments is in test_env_vector.py."""

    @pytest.mark.parametrize("more", [{}, {"visits": True}, {"vision": 1}, {"observation": "image"}])
    def test_frames_follow_each_other_as_in_the_wrapper_of_gymnasium(self, more: dict[str, Any]) -> None:
        given = {"problems": [PROBLEM], "window": 5, "max_moves": 7} | more
        ours = gym.make("RTPath-v0", stack=3, **given)
        theirs = gym.wrappers.FrameStackObservation(gym.make("RTPath-v0", **given), 3)
        actions = np.random.default_rng(0).integers(8, size=40).tolist()
        for seed in range(3):
            one, other = ours.reset(seed=seed)[0], theirs.reset(seed=seed)[0]
            over = False
            while not over:
                assert one in ours.observation_space
                assert np.array_equal(one, other.reshape(one.shape))
                action = actions.pop()
                (one, _, terminated, truncated, _), (other, *_) = ours.step(action), theirs.step(action)
                over = terminated or truncated
            assert np.array_equal(one, other.reshape(one.shape))

    def test_parts_are_stacked_each_by_itself(self) -> None:
        env = gym.make("RTPath-v0", problems=[PROBLEM], window=3, stack=2, observation="dict")
        env.reset(seed=0)
        seen, *_ = env.step(EAST)
        assert seen["position"].tolist() == pytest.approx([0, 0, 1 / 4, 0])
        assert {name: part.shape for name, part in seen.items()} == {
            "goal": (4,), "position": (4,), "history": (8,), "budget": (2,), "window": (18,),
        }  # fmt: skip

    def test_what_was_returned_stays_as_it_was(self) -> None:
        batch = gym.make_vec("RTPath-v0", 2, vectorization_mode="vector_entry_point", problems=[PROBLEM], stack=2)
        first, _ = batch.reset(seed=0)
        kept = first.copy()
        first_step, *_ = batch.step([EAST, SOUTH])
        assert np.array_equal(first, kept)
        first_step[:] = 7
        assert batch.step([EAST, EAST])[0].max() <= 2

    @pytest.mark.parametrize(("observation", "shape"), [("box", (2, 390)), ("image", (2, 12, 37, 37))])
    def test_learners_of_stable_baselines_take_stacked_batches(self, observation: str, shape: tuple[int, ...]) -> None:
        pytest.importorskip("stable_baselines3", reason="needs the extra rl")
        given: dict[str, Any] = {"problems": [PROBLEM], "max_moves": 3, "stack": 3, "observation": observation}
        batch, single = SB3VecEnv("RTPath-v0", num_envs=2, **given), gym.make("RTPath-v0", **given)
        seen, (first, _) = batch.reset(), single.reset(seed=0)
        assert seen.shape == shape
        assert np.array_equal(seen[0], first)
        for action in (SOUTH, SOUTH, EAST):
            seen, _, over, infos = batch.step(np.array([action, EAST]))
            last, *_ = single.step(action)
        assert over.all()
        assert np.array_equal(infos[0]["terminal_observation"], last)
        assert np.array_equal(seen[0], first)

    @pytest.mark.usefixtures("one_thread")
    def test_what_learned_from_frames_is_judged_with_them(self) -> None:
        sb3 = pytest.importorskip("stable_baselines3", reason="needs the extra rl")
        env = SB3VecEnv("RTPath-v0", num_envs=2, problems=[PROBLEM], max_moves=9, stack=4)
        model = sb3.PPO("MlpPolicy", env, n_steps=4, batch_size=8, n_epochs=1, seed=0).learn(8)
        problems = [PROBLEM, Problem(ROOM, (2, 0), (0, 2))]
        found = [
            evaluate("RTPath-v0", model, problems, max_moves=9, stack=4, num_envs=count)["cost"].tolist()
            for count in (1, 2)
        ]
        assert found[0] == found[1]

    @pytest.mark.parametrize("stack", [0, 65, 2.5, True, None])
    def test_a_number_of_frames_that_makes_no_sense_is_refused(self, stack: Any) -> None:
        with pytest.raises(InputError, match="stack must be a whole number from 1 to 64"):
            gym.make("RTPath-v0", stack=stack)
        with pytest.raises(InputError, match="stack must be a whole number from 1 to 64"):
            gym.make_vec("RTPath-v0", 2, vectorization_mode="vector_entry_point", stack=stack)

    @pytest.mark.parametrize("env_id", ["RTDepth-v0", "RTDeepen-v0", "RTDepthGoal-v0", "RTThink-v0", "RTSquad-v0"])
    def test_only_where_a_step_is_a_move_there_are_frames(self, env_id: str) -> None:
        with pytest.raises(InputError, match="has no argument 'stack'"):
            gym.make(env_id, stack=2)

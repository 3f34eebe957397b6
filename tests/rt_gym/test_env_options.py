"""What the environments refuse, and with which words."""

import re
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import rt_gym
from rt_gym import STAY, Budget, Grid, InputError, Problem
from rt_gym.maps import Scenario, write_scenarios

ISLANDS = Grid([[1, 1, 0, 1, 1], [1, 1, 0, 1, 1]], name="islands")
PLAIN = {"map": ISLANDS, "pool": 4}


def make(**more: Any) -> gym.Env[Any, Any]:
    return gym.make("RTPath-v0", **(PLAIN | more))


def make_batch(count: int = 3, **more: Any) -> Any:
    return gym.make_vec("RTPath-v0", num_envs=count, vectorization_mode="vector_entry_point", **(PLAIN | more))


def one_sentence(refusal: pytest.ExceptionInfo[BaseException]) -> bool:
    message = str(refusal.value)
    return 0 < len(message) < 300 and "\n" not in message and "Traceback" not in message


# argument, value, words of the refusal; the two kinds of environment share them
ARGUMENTS: list[tuple[str, Any, str]] = [
    ("map", "room-64", "no bundled map is called room-64 .did you mean rooms-64.*terrain-512"),
    ("map", "nowhere/at/all.map", "nowhere/at/all.map: cannot be read"),
    ("map", None, "map must be a name, a path, a Grid, a generator or a list of these, not None"),
    ("map", [], "map must be"),
    ("map", 3, "map must be"),
    ("map", np.ones((40, 40)), "map must be"),
    ("map", {"width": 9}, 'needs a "family"'),
    ("map", {"family": "hills"}, "unknown map family 'hills', known are random"),
    ("map", {"family": "maze", "size": 9, "colour": 1}, "takes the parameters size, seed, but was given"),
    ("map", {"family": "maze", "size": 8}, "size must be odd"),
    ("map", {"family": "maze", "size": 9, "count": 0}, "count must be a whole number from 1"),
    ("map", {"family": "maze", 5: 9}, "must have names"),
    ("map", Grid(np.zeros((3, 3)), name="rock"), "map rock has no free cell"),
    ("map", [ISLANDS, ISLANDS.replace(connectivity=4)], "must share their connectivity"),
    ("map", [ISLANDS, ISLANDS.replace(cost="unit")], "must share their connectivity and their cost model"),
    ("problems", [], "there are no problems"),
    ("problems", [3], "problems must be a list of Problem or the path of a scenario file, not 3"),
    ("problems", 3, "problems must be"),
    ("problems", {"start": 1}, "problems must be"),
    ("problems", "nowhere.scen", "nowhere.scen: cannot be read"),
    ("optimal", 5, "optimal must be a pair of numbers, not 5"),
    ("optimal", (1, 2, 3), "optimal must be a pair"),
    ("optimal", (1, 10**400), "optimal must be a pair"),
    ("optimal", (5, 1), "range of optimal costs must rise"),
    ("optimal", (float("nan"), 1), "range of optimal costs must rise"),
    ("optimal", (50, 60), "optimal cost from 50 to 60"),
    ("pool", 0, "pool must be a whole number from 1"),
    ("pool", 2.0, "pool must be"),
    ("pool_seed", -1, "pool_seed must be a whole number of at least 0"),
    ("vision", 0, "vision must be a whole number of at least 1, not 0"),
    ("vision", "far", "vision must be"),
    ("changes", 5, "changes must be a list"),
    ("changes", np.array(3), "changes must be a list"),
    ("changes", [5], "a change must be .time, .x, y., free., not 5"),
    ("changes", [(1, (9, 9), True)], "change at .9, 9. lies outside the map of 5 x 2"),
    ("changes", [(-1, (0, 0), True)], "the time of a change must be a whole number"),
    ("observation", "film", 'observation must be "box", "dict" or "image", not \'film\''),
    ("observation", None, "observation must be"),
    ("reward", "money", 'reward must be "cost" or "normalised", not \'money\''),
    ("window", 4, "window must be odd, not 4"),
    ("window", 0, "window must be a whole number from 1 to 255, not 0"),
    ("window", 257, "window must be"),
    ("window", 3.0, "window must be"),
    ("stay", np.zeros(2), "stay must be True or False, not array"),
    ("stay", "no", "stay must be True or False, not 'no'"),
    ("history", 0, "history must be a whole number from 1"),
    ("price", -1, "price must be a number from 0"),
    ("price", float("nan"), "price must be a number"),
    ("price", "high", "price must be a number"),
    ("shaping", 1.5, "shaping must be a number from 0 to 1, not 1.5"),
    ("shaping", "yes", "shaping must be"),
    ("max_moves", 0, "max_moves must be a whole number from 1"),
    ("budget", 0, "budget must be a whole number of at least 1, not 0"),
    ("budget", "much", "budget must be a whole number"),
]


class Speechless:
    """An object that has no text."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


def short(value: Any) -> str:
    return re.sub(r"\s+", " ", repr(value))[:30]


class TestArguments:
    @pytest.mark.parametrize(
        ("name", "value", "words"), ARGUMENTS, ids=[f"{name}={short(value)}" for name, value, _ in ARGUMENTS]
    )
    @pytest.mark.parametrize("maker", [make, make_batch])
    def test_an_argument_that_cannot_be_is_refused(self, maker: Any, name: str, value: Any, words: str) -> None:
        with pytest.raises(InputError, match=words) as refusal:
            maker(**{name: value})
        assert one_sentence(refusal)

    @pytest.mark.parametrize(
        ("name", "value", "words"),
        [
            ("render_mode", "smoke", "render_mode must be one of .* or None, not 'smoke'"),
            ("render_size", (8, 8), "render_size must be a whole number from 16"),
            ("render_size", 640, "render_size must be a pair"),
            ("zoom", 0, "zoom must be a whole number of at least 1"),
        ],
    )
    @pytest.mark.filterwarnings("ignore:.*render_mode:UserWarning")  # Gymnasium's own words about the mode
    def test_a_picture_that_cannot_be_is_refused(self, name: str, value: Any, words: str) -> None:
        with pytest.raises(InputError, match=words) as refusal:
            make(**{name: value})
        assert one_sentence(refusal)

    @pytest.mark.parametrize(
        ("name", "value", "words"),
        [
            ("render_mode", "rgb_array", "a batched environment does not render"),
            ("autoreset_mode", "never", "autoreset_mode must be one of NextStep, SameStep, Disabled, not 'never'"),
            ("autoreset_mode", Speechless(), "autoreset_mode must be one of .*, not <Speechless instance"),
            ("max_episode_steps", 0, "max_episode_steps must be a whole number of at least 1"),
            ("count", 0, "num_envs must be a whole number from 1"),
            ("threads", 0, "threads must be a whole number from 1"),
        ],
    )
    def test_a_batch_that_cannot_be_is_refused(self, name: str, value: Any, words: str) -> None:
        with pytest.raises(InputError, match=words) as refusal:
            make_batch(**{name: value})
        assert one_sentence(refusal)

    @pytest.mark.parametrize("maker", [make, make_batch])
    def test_an_unknown_argument_is_named(self, maker: Any) -> None:
        with pytest.raises(InputError, match=r"has no argument 'windw'; its arguments are .*window"):
            maker(windw=3)

    @pytest.mark.parametrize(
        ("field", "value", "words"),
        [
            ("limit", 0, "budget must be a whole number of at least 1"),
            ("count", "nodes", 'count must be "expansions" or "scans"'),
            ("on_overrun", "shout", 'on_overrun must be "truncate", "raise" or "idle"'),
            ("seconds", 0, "seconds must be a positive number"),
        ],
    )
    def test_a_budget_that_cannot_be_is_refused(self, field: str, value: Any, words: str) -> None:
        with pytest.raises(InputError, match=words) as refusal:
            Budget(**{field: value})
        assert one_sentence(refusal)

    def test_a_scenario_file_must_fit_its_one_map(self, tmp_path: Path) -> None:
        file = tmp_path / "other.scen"
        write_scenarios([Scenario(0, "other.map", 9, 9, (0, 0), (1, 0), 1.0)], file)
        with pytest.raises(InputError, match="for a map of 9 x 9, but the map is 5 x 2"):
            make(problems=file)
        with pytest.raises(InputError, match="goes with one map, not with 2"):
            make(map=[ISLANDS, ISLANDS], problems=str(file))
        write_scenarios([Scenario(0, "islands.map", 5, 2, (0, 0), (2, 0), 1.0)], file)
        with pytest.raises(InputError, match=r"goal \(2, 0\) is a blocked cell"):
            make(problems=file)
        write_scenarios([], file)
        with pytest.raises(InputError, match="no problems to choose from"):
            make(problems=file)


FOREIGN = Problem(Grid(np.ones((9, 9))), (0, 0), (8, 8))

OPTIONS: list[tuple[Any, str]] = [
    ({"start": (2, 0), "goal": (0, 0)}, r"start \(2, 0\) is a blocked cell"),
    ({"start": (0, 0), "goal": (2, 1)}, r"goal \(2, 1\) is a blocked cell"),
    ({"start": (0, 0), "goal": (4, 0)}, r"goal \(4, 0\) cannot be reached from start \(0, 0\)"),
    ({"start": (0, 0), "goal": (5, 0)}, r"goal \(5, 0\) lies outside the map of 5 x 2"),
    ({"start": (-1, 0), "goal": (0, 0)}, "start .* lies outside"),
    ({"start": "here", "goal": "there"}, "start must be a pair of whole numbers"),
    ({"start": np.zeros((9, 9)), "goal": (0, 0)}, "start must be a pair of whole numbers"),
    ({"start": (0, 0)}, "both start and goal"),
    ({"goal": (0, 0)}, "both start and goal"),
    ({"strat": (0, 0)}, "options may hold goal, index, map, problem, start, not {'strat': .0, 0.}"),
    ({"index": 4}, r"options\['index'\] must be a whole number from 0 to 3, not 4"),
    ({"index": -1}, r"options\['index'\] must be"),
    ({"index": "0"}, r"options\['index'\] must be"),
    ({"map": 1}, r"options\['map'\] must be a whole number from 0 to 0, not 1"),
    ({"map": "islands"}, r"options\['map'\] must be"),
    ({"problem": (0, 0)}, r"options\['problem'\] must be a Problem"),
    ({"problem": FOREIGN}, r"options\['problem'\] does not fit the observations: a larger map"),
    ({"problem": Problem(ISLANDS, (0, 0), (1, 1), vision=1)}, "fog in a clear world"),
    ({"problem": Problem(ISLANDS.replace(connectivity=4), (0, 0), (1, 1))}, "another connectivity"),
    ({"problem": Problem(ISLANDS.replace(cost="unit"), (0, 0), (1, 1))}, "cost model"),
    ([], "options may hold"),
    (0, "options may hold"),
    ("start", "options may hold"),
]


class TestResetOptions:
    @pytest.mark.parametrize(("options", "words"), OPTIONS, ids=[short(options) for options, _ in OPTIONS])
    def test_options_that_cannot_be_are_refused(self, options: Any, words: str) -> None:
        env = make()
        with pytest.raises(InputError, match=words) as refusal:
            env.reset(options=options)
        assert one_sentence(refusal)

    @pytest.mark.parametrize("seed", [-1, 1.0, "x", [1], True])
    def test_a_seed_that_cannot_be_is_refused(self, seed: Any) -> None:
        for env in (make(), make_batch()):
            with pytest.raises(InputError, match="seed") as refusal:
                env.reset(seed=seed)
            assert one_sentence(refusal)

    def test_a_refused_reset_leaves_the_episode_going(self) -> None:
        env = make()
        env.reset(options={"start": (0, 0), "goal": (1, 1)})
        env.step(0)
        with pytest.raises(InputError):
            env.reset(options={"start": (2, 0), "goal": (0, 0)})
        assert rt_gym.view(env).position == (1, 0)
        assert env.step(1)[2]

    @pytest.mark.parametrize(
        "mask",
        [[True] * 3, np.ones(3), np.ones(3, int), np.ones(2, bool), np.ones((3, 1), bool), np.bool_(True), "all", None],
        ids=short,
    )
    def test_a_mask_that_cannot_be_is_refused(self, mask: Any) -> None:
        batch = make_batch()
        batch.reset(seed=0)
        with pytest.raises(InputError, match=r"options\['reset_mask'\] must be an array of 3 booleans") as refusal:
            batch.reset(options={"reset_mask": mask})
        assert one_sentence(refusal)

    @pytest.mark.parametrize("options", [{"start": (0, 0)}, {"map": 0}, [], 0], ids=short)
    def test_options_of_a_batch_hold_a_mask_and_numbers_and_nothing_else(self, options: Any) -> None:
        with pytest.raises(
            InputError, match="options of a batched environment may hold reset_mask and index"
        ) as refusal:
            make_batch().reset(options=options)
        assert one_sentence(refusal)

    def test_the_first_reset_of_a_batch_begins_all_episodes(self) -> None:
        with pytest.raises(gym.error.ResetNeeded, match="the first reset must begin all"):
            make_batch().reset(options={"reset_mask": np.array([True, True, False])})

    @pytest.mark.parametrize("seeds", [[], [1, 2], [1, 2, 3, 4], (1,), np.arange(4)], ids=short)
    def test_there_is_one_seed_per_episode(self, seeds: Any) -> None:
        with pytest.raises(InputError, match=f"one seed per episode, 3, not {len(seeds)}"):
            make_batch().reset(seed=seeds)


class TestActions:
    @pytest.mark.parametrize("action", [8, -2, 10**30, 1.0, np.float32(1), "E", None, [1], np.array([1]), np.bool_(1)])
    def test_an_action_outside_the_space_is_refused_and_nothing_moves(self, action: Any) -> None:
        env = make().unwrapped
        env.reset(options={"start": (0, 0), "goal": (1, 1)})
        with pytest.raises(InputError, match="action must be a whole number from 0 to 7 or STAY, not ") as refusal:
            env.step(action)
        assert one_sentence(refusal)
        assert (rt_gym.view(env).position, rt_gym.view(env).moves) == ((0, 0), 0)
        env.step(0)
        assert rt_gym.view(env).position == (1, 0)

    @pytest.mark.parametrize(
        "actions",
        [[0, 0], [0] * 4, 0, [[0]] * 3, [0.0] * 3, np.zeros(3), [True] * 3, ["E"] * 3, None, [[0], [0, 1], 0]],
        ids=short,
    )
    def test_a_batch_takes_one_whole_number_per_episode(self, actions: Any) -> None:
        batch = make_batch()
        batch.reset(seed=0)
        with pytest.raises(InputError, match="actions must be 3 whole numbers, not ") as refusal:
            batch.step(actions)
        assert one_sentence(refusal)

    @pytest.mark.parametrize("wrong", [8, -1, 10**12, -(10**12), 2**64 - 1])
    def test_one_action_outside_the_space_stops_the_whole_batch(self, wrong: int) -> None:
        batch, twin = make_batch(), make_batch()
        for each in (batch, twin):
            each.reset(seed=0)
        with pytest.raises(InputError, match=r"actions must lie from 0 to 7, not .* as for episode 1"):
            batch.step(np.array([0, wrong, 0], np.uint64 if wrong > 0 else np.int64))
        assert np.array_equal(batch.step([0, 1, 2])[0], twin.step([0, 1, 2])[0])

    def test_standing_still_is_an_action_of_a_batch_only_where_it_was_asked_for(self) -> None:
        batch = make_batch(stay=True)
        batch.reset(seed=0)
        batch.step([8, 8, 8])
        with pytest.raises(InputError, match="from 0 to 8"):
            batch.step([STAY, 0, 0])

    def test_a_step_before_the_first_reset_is_refused(self) -> None:
        for env in (make(), make().unwrapped, make_batch()):
            with pytest.raises(gym.error.ResetNeeded):
                env.step(0)

    def test_a_step_after_the_end_is_refused(self) -> None:
        for limit in (1, 10):
            env = make(max_moves=limit)
            env.reset(options={"start": (0, 0), "goal": (1, 0)})
            env.step(0)
            with pytest.raises(gym.error.ResetNeeded, match="after the end"):
                env.step(0)

    def test_there_is_nothing_to_see_before_the_first_reset(self) -> None:
        with pytest.raises(gym.error.ResetNeeded):
            rt_gym.view(make())
        with pytest.raises(gym.error.ResetNeeded):
            make().unwrapped.action_masks()

    def test_other_environments_have_no_view(self) -> None:
        with pytest.raises(InputError, match="none of this package's environments"):
            rt_gym.view(gym.make("FrozenLake-v1"))

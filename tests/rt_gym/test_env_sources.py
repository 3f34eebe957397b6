"""Where the problems of an environment come from: splits, numbers of the pool, maps that are made for every episode."""

import pickle
from copy import deepcopy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numba import config

import rt_gym
from rt_gym import Grid, InputError, Problem, sample_problems

if config.DISABLE_JIT:  # problems are drawn while tests are collected
    pytest.skip("drawing problems takes the compiler", allow_module_level=True)

IDS = [env_id for env_id in rt_gym.envs.ids() if env_id.count("-") == 1]
CAVES: dict[str, Any] = {"family": "caves", "width": 18, "height": 14, "density": 0.45, "steps": 3}
FRESH = CAVES | {"fresh": True}
FIELD = Grid(np.ones((6, 9)), name="field")


def own(env_id: str, **more: Any) -> dict[str, Any]:
    """Return settings for short episodes."""
    return ({"units": 3, "max_ticks": 6} if "Squad" in env_id else {"max_moves": 6}) | more


def make(env_id: str, **more: Any) -> Any:
    return gym.make(env_id, disable_env_checker=True, **own(env_id, **more)).unwrapped


def make_batch(env_id: str, count: int, mode: str = "SameStep", **more: Any) -> Any:
    return gym.make_vec(
        env_id, count, vectorization_mode="vector_entry_point", autoreset_mode=mode, **own(env_id, **more)
    )


def row(told: Any, i: int) -> Any:
    """Return what a batch tells of an episode as a single environment tells it."""
    value = told[i]
    return None if isinstance(value, float) and np.isnan(value) else value


@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_a_batch_tells_of_its_problems_what_single_environments_tell(env_id: str, mode: str) -> None:
    batch, singles = make_batch(env_id, 3, mode, map="open-16"), [make(env_id, map="open-16") for _ in range(3)]
    told = batch.reset(seed=7)[1]
    for i, env in enumerate(singles):
        info = env.reset(seed=7 + i)[1]
        names = [name for name in ("index", "map", "optimal") if name in info]
        assert all(np.array_equal(row(told[name], i), info[name]) for name in names)
        assert all(told[f"_{name}"].all() for name in names)
    over = np.zeros(3, bool)
    for _ in range(14):
        actions = np.array([batch.single_action_space.sample() for _ in range(3)])
        *_, terminated, truncated, told = batch.step(actions)
        begun = over if mode == "NextStep" else terminated | truncated
        assert ("index" in told) == bool(begun.any())
        for i, env in enumerate(singles):
            if mode == "SameStep" or not over[i]:
                env.step(actions[i])
            if begun[i]:
                info = env.reset()[1]
                assert told["_index"][i]
                assert all(np.array_equal(row(told[name], i), info[name]) for name in names)
        over = terminated | truncated


@pytest.mark.parametrize("env_id", IDS)
def test_episodes_of_a_batch_are_given_problems_by_their_numbers(env_id: str) -> None:
    batch, env = make_batch(env_id, 2, "Disabled", map="open-16"), make(env_id, map="open-16")
    first, second = ([5, 6, 7], [9, 8, 7]) if "Squad" in env_id else (5, 9)
    observations, told = batch.reset(seed=1, options={"index": np.array([first, second])})
    assert told["index"].tolist() == [first, second]
    assert np.array_equal(observations[1], env.reset(seed=2, options={"index": second})[0])
    mask = np.array([False, True])
    again, told = batch.reset(seed=1, options={"index": np.array([second, first]), "reset_mask": mask})
    assert told["index"].tolist() == [first, first]
    assert told["_index"].tolist() == [False, True]
    assert np.array_equal(again[0], observations[0])


def test_a_given_number_leaves_the_episodes_generator_as_it_is() -> None:
    batch, env = make_batch("RTPath-v0", 1, map="open-16"), make("RTPath-v0", map="open-16")
    batch.reset(seed=3, options={"index": [2]})
    env.reset(seed=3, options={"index": 2})
    assert (
        batch.reset()[1]["index"][0]
        == env.reset()[1]["index"]
        == make("RTPath-v0", map="open-16").reset(seed=3)[1]["index"]
    )


def test_a_problem_that_is_none_of_the_pool_has_no_number() -> None:
    env = make("RTPath-v0", map=FIELD)
    assert env.reset(options={"start": (0, 0), "goal": (3, 3)})[1]["index"] == -1
    assert env.reset(options={"problem": Problem(FIELD, (0, 0), (1, 1))})[1]["index"] == -1


@pytest.mark.parametrize("index", [3, [1], [1, 2, 3], [0, 128], [-1, 0], [0.0, 1.0], "ab", None])
def test_numbers_that_cannot_be_are_refused(index: Any) -> None:
    batch = make_batch("RTPath-v0", 2, map="open-16")
    with pytest.raises(InputError, match=r"options\['index'\] must be 2 whole numbers from 0 to 127"):
        batch.reset(seed=0, options={"index": index})
    squads = make_batch("RTSquad-v0", 2, map="open-16")
    with pytest.raises(InputError, match=r"options\['index'\]"):
        squads.reset(seed=0, options={"index": index})


@pytest.mark.parametrize("env_id", IDS)
def test_every_environment_takes_a_split(env_id: str) -> None:
    problems = rt_gym.splits.load("caves-validation").problems
    env, batch = make(env_id, split="caves-validation"), make_batch(env_id, 2, split="caves-validation")
    named = make(env_id, problems=problems)
    observation = env.reset(seed=4)[0]
    assert np.array_equal(observation, named.reset(seed=4)[0])
    assert np.array_equal(observation, batch.reset(seed=4)[0][0])


@pytest.mark.parametrize("env_id", ["RTPath-v0", "RTThink-v0", "RTSquad-v0"])
@pytest.mark.parametrize("maker", [make, lambda env_id, **more: make_batch(env_id, 2, **more)])
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"split": "caves"}, "there is no split 'caves'"),
        ({"split": "caves-test", "map": "open-16"}, "map cannot go with split"),
        ({"split": "caves-test", "problems": []}, "problems cannot go with split"),
        ({"problems": sample_problems(FIELD, 4), "map": "open-16"}, "map cannot go with a list of problems"),
        ({"problems": sample_problems(FIELD, 4), "optimal": (2, 4)}, "optimal cannot go with a list of problems"),
        ({"problems": sample_problems(FIELD, 4), "pool": 8}, "pool cannot go with a list of problems"),
        ({"map": FRESH, "pool": 8}, "pool cannot go with a map that is made for every episode"),
        ({"map": FRESH, "split": "caves-test"}, "split cannot go with a map that is made for every episode"),
        ({"map": FRESH | {"seed": 3}}, 'has no "seed"'),
        ({"map": FRESH | {"count": 3}}, 'has no "count"'),
        ({"map": CAVES | {"fresh": 1}}, '"fresh" of a map generator must be True or left out'),
        ({"map": [FRESH, "open-16"]}, "a generator of fresh maps goes alone"),
        ({"map": [lambda rng: FIELD]}, "a function that makes maps goes alone"),
        ({"map": lambda rng: 3}, "map must make a Grid"),
        ({"map": {"fresh": True}}, "unknown map family None"),
        ({"map": FRESH, "optimal": (500, 600)}, "20 fresh maps in a row were refused"),
    ],
)
def test_sources_that_do_not_go_together_are_refused(env_id: str, maker: Any, settings: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        maker(env_id, **settings)


@pytest.mark.parametrize("env_id", IDS)
def test_an_unknown_argument_is_refused_by_every_environment(env_id: str) -> None:
    with pytest.raises(InputError, match=r"has no argument 'colour'; its arguments are .*map"):
        make(env_id, colour="red")
    with pytest.raises(InputError, match=r"has no argument 'colour'; its arguments are .*map"):
        make_batch(env_id, 2, colour="red")


def walk(env: Any, actions: list[Any]) -> list[Any]:
    """Return what a single environment shows, beginning anew where an episode ends."""
    shown = []
    for action in actions:
        observation, reward, terminated, truncated, _ = env.step(action)
        info: dict[str, Any] = {}
        if terminated or truncated:
            observation, info = env.reset()
        shown.append((observation.tolist(), reward, terminated, truncated, info.get("map"), info.get("optimal")))
    return shown


@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.parametrize("more", [{}, {"vision": 1}, {"reward": "normalised"}, {"changes": [(2, (3, 3), True)]}])
def test_fresh_maps_are_the_same_alone_and_in_a_batch(env_id: str, more: dict[str, Any]) -> None:
    if env_id.startswith(("RTDe", "RTSq")) and more:
        pytest.skip("a batch of depth control knows its maps, and a squad has other rewards")
    batch = make_batch(env_id, 3, map=FRESH, optimal=(4, 30), **more)
    singles = [make(env_id, map=FRESH, optimal=(4, 30), **more) for _ in range(3)]
    first, told = batch.reset(seed=[5, 6, 5])
    names = {name for i, env in enumerate(singles) for name in [env.reset(seed=(5, 6, 5)[i])[1]["map"]]}
    assert len(names) == 2
    assert np.array_equal(first[0], first[2])
    batch.single_action_space.seed(0)
    played = [np.array([batch.single_action_space.sample() for _ in range(3)]) for _ in range(20)]
    steps = []
    for actions in played:
        observation, reward, terminated, truncated, told = batch.step(actions)
        steps.append((observation, reward, terminated, truncated, told))
    for i, env in enumerate(singles):
        for (o, r, end, cut, name, optimal), step in zip(walk(env, [each[i] for each in played]), steps, strict=True):
            assert (step[0][i].tolist(), step[1][i], step[2][i], step[3][i]) == (o, r, end, cut)
            if end or cut:
                assert step[4]["map"][i] == name
                assert optimal is None or step[4]["optimal"][i] == optimal


def test_a_fresh_map_comes_with_every_episode_and_none_is_kept() -> None:
    env = make("RTPath-v0", map=FRESH, optimal=(4, 30))
    names = [env.reset(seed=1)[1]["map"], *(env.reset()[1]["map"] for _ in range(9))]
    assert len(set(names)) == 10
    assert len(env._worlds) == 0
    assert names == [env.reset(seed=1)[1]["map"], *(env.reset()[1]["map"] for _ in range(9))]
    assert 4 <= env.reset()[1]["optimal"] <= 30


def test_a_function_may_make_maps_or_whole_problems() -> None:
    def wall(rng: np.random.Generator) -> Problem:
        free = np.ones((5, 5))
        free[1:4, 2] = rng.random(3) < 0.5
        return Problem(Grid(free, name=f"wall-{free[:, 2]}"), (0, 2), (4, 2))

    env, batch = make("RTPath-v0", map=wall), make_batch("RTPath-v0", 2, map=wall)
    seen = {env.reset(seed=seed)[1]["map"] for seed in range(30)}
    assert 3 < len(seen) <= 8
    infos = [env.reset(seed=seed)[1] for seed in (8, 9)]
    assert all((info["position"], info["goal"]) == ((0, 2), (4, 2)) for info in infos)
    assert batch.reset(seed=8)[1]["map"].tolist() == [info["map"] for info in infos]


def test_fresh_maps_must_be_alike() -> None:
    sizes = iter([6, 6, 6, 7, 7, 7])
    env = make("RTPath-v0", map=lambda rng: Grid(np.ones((next(sizes), 6))))
    env.reset(seed=0)
    env.reset()
    with pytest.raises(InputError, match=r"must share their size.* but after 6 x 6 .* came 6 x 7"):
        env.reset()


def test_options_choose_no_fresh_map() -> None:
    env = make("RTPath-v0", map=FRESH, optimal=(4, 30))
    for options in ({"index": 0}, {"map": 0}, {"start": (0, 0), "goal": (1, 1)}):
        with pytest.raises(InputError, match="options may hold problem, not"):
            env.reset(options=options)
    with pytest.raises(InputError, match="needs a pool"):
        make_batch("RTPath-v0", 2, map=FRESH).reset(options={"index": [0, 0]})


def test_copies_go_on_with_the_same_fresh_maps() -> None:
    env = make("RTPath-v0", map=FRESH, optimal=(4, 30))
    env.reset(seed=2)
    batch = make_batch("RTPath-v0", 2, map=FRESH, optimal=(4, 30))
    batch.reset(seed=2)
    for copied in (deepcopy, lambda each: pickle.loads(pickle.dumps(each))):
        twin, two = copied(env), copied(batch)
        assert [twin.reset()[1]["map"] for _ in range(3)] == [two.reset()[1]["map"][0] for _ in range(3)]


def test_units_that_move_themselves_take_no_fresh_maps() -> None:
    pytest.importorskip("pettingzoo", reason="needs the extra multi")
    with pytest.raises(InputError, match="must not be made for every episode"):
        rt_gym.envs.RTSquadParallel(map=FRESH, units=2)
    assert rt_gym.envs.RTSquadParallel(split="caves-validation", units=4).reset(seed=0)

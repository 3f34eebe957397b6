"""RTSquad-v0: its steps are ticks of a squad, its return is minus the sum of arrival times, its batch is many of it."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import rt_gym
from reference.batches import assert_same_trajectories, make_batch, make_singles, reset_alike, with_case
from rt_gym import Grid, InputError, Problem, Squad
from rt_gym.features.dealing import DEALT, see
from rt_gym.squad import RULES

SMALL: dict[str, Any] = {"map": "random-48", "units": 6, "allowance": 30, "share": 15, "optimal": (8, 30), "pool": 24}
CORRIDOR = Grid(np.ones((1, 6)), name="corridor")
KEYS = ("work", "arrived", "ticks", "late")


def make(**given: Any) -> Any:
    return gym.make("RTSquad-v0", **with_case(SMALL, given)).unwrapped


def play(env: Any, action: Any, seed: int = 0) -> list[Any]:
    """Return what all steps of an episode return, with the same action in each."""
    env.reset(seed=seed)
    said = [env.step(action)]
    while not (said[-1][2] or said[-1][3]):
        said.append(env.step(action))
    return said


def dealt(action: str, steps: int, count: int = 4, units: int = 6) -> Any:
    """Return random actions for so many steps of a batch."""
    rng = np.random.default_rng(3)
    shape = (steps, count) if action == "rule" else (steps, count, units)
    return rng.integers(len(RULES), size=shape) if action == "rule" else rng.random(shape, np.float32)


class TestSteps:
    @pytest.mark.parametrize("number", range(len(RULES)))
    def test_the_same_rule_in_every_step_is_a_squad_with_that_rule(self, number: int) -> None:
        env = make()
        env.reset(seed=4, options={"map": 0})
        squad = Squad(env.squad.problems, "rtaa", 30, share=15, rule=RULES[number])
        over = False
        while not over:
            squad.tick()
            *_, over, _, info = env.step(number)
            assert np.array_equal(env.squad.positions, squad.positions)
            assert info["work"] == squad.work <= 30
        assert squad.done

    def test_shares_are_weights_of_a_tick(self) -> None:
        env, rng = make(action="shares"), np.random.default_rng(0)
        env.reset(seed=4)
        squad = Squad(env.squad.problems, "rtaa", 30, share=15)
        for _ in range(30):
            weights = rng.random(6, np.float32)
            squad.tick(weights=weights)
            env.step(weights)
            assert np.array_equal(env.squad.positions, squad.positions)

    def test_another_rule_holds_for_one_tick_only(self) -> None:
        problems = make().settings.maps[0][:6]
        one, other = (Squad(problems, "rtaa", 20, share=20, rule=rule) for rule in ("nearest", "equal"))
        for k in range(20):
            one.tick(rule="equal" if k % 2 else None)
            other.tick(rule=None if k % 2 else "nearest")
            assert np.array_equal(one.positions, other.positions)
        with pytest.raises(InputError, match='rule must be "equal"'):
            one.tick(rule="best")

    def test_an_observation_has_a_row_of_features_for_every_unit(self) -> None:
        env = make(share=7)
        observation, info = env.reset(seed=1)
        named = dict(zip(DEALT, observation.T, strict=True))
        far = np.log1p([rt_gym.distance_field(Grid(np.ones((48, 48))), g)[y, x] for (x, y), g in pairs(info)])
        assert np.allclose(named["distance"], far)
        assert np.allclose(named["asks"], np.log1p(7))
        assert np.allclose(named["enough"], 30 / (6 * 7))
        assert named["ready"].tolist() == named["under_way"].tolist() == [1.0] * 6
        for _ in range(12):
            observation, *_ = env.step(1)
        assert np.array_equal(observation, see(env.squad.situation))
        assert {"left", "raised"} <= {name for name, column in zip(DEALT, observation.T, strict=True) if column.any()}

    def test_who_is_given_nothing_is_late_and_waits(self) -> None:
        env = make(action="shares")
        env.reset(seed=0)
        observation, _, _, _, info = env.step(np.zeros(6))
        assert (info["work"], info["late"]) == (0, 6)
        assert np.allclose(observation[:, DEALT.index("waited")], np.log1p(1))
        *_, info = env.step(np.eye(6)[2])
        assert info["late"] == 5

    def test_an_allowance_of_nothing_in_particular_is_no_limit(self) -> None:
        env = make(allowance=None)
        assert env.observation_space.contains(env.reset(seed=0)[0])
        assert play(env, 2)[-1][2]


def pairs(info: dict[str, Any]) -> list[Any]:
    return [
        ((int(x), int(y)), (int(gx), int(gy)))
        for (x, y), (gx, gy) in zip(info["positions"], info["goals"], strict=True)
    ]


class TestRewards:
    def test_the_return_is_minus_the_sum_of_arrival_times(self) -> None:
        env = make()
        said = play(env, 0)
        assert said[-1][2]
        assert sum(step[1] for step in said) == -env.squad.record().arrival.sum()

    def test_the_mean_is_the_sum_over_the_number_of_units(self) -> None:
        one, other = play(make(), 1), play(make(reward="mean"), 1)
        assert [step[1] / 6 for step in one] == pytest.approx([step[1] for step in other])

    def test_rules_differ_by_default(self) -> None:
        returns = [sum(step[1] for step in play(gym.make("RTSquad-v0").unwrapped, number)) for number in range(4)]
        assert len(set(returns)) == 4


class TestEnds:
    def test_it_is_truncated_after_the_last_tick(self) -> None:
        said = play(make(max_ticks=5), 1)
        assert len(said) == 5
        assert said[-1][2:4] == (False, True)
        assert said[-1][4]["ticks"] == 5

    def test_who_steps_on_after_the_end_is_told_to_reset(self) -> None:
        env = make(max_ticks=1)
        with pytest.raises(gym.error.ResetNeeded):
            env.step(0)
        play(env, 0)
        with pytest.raises(gym.error.ResetNeeded):
            env.step(0)


class TestProblems:
    def test_units_that_block_each_other_have_starts_and_goals_of_their_own(self) -> None:
        env = make(blocking=True, push=True, units=12)
        for seed in range(20):
            _, info = env.reset(seed=seed)
            assert len(np.unique(info["positions"], axis=0)) == len(np.unique(info["goals"], axis=0)) == 12

    def test_units_take_different_problems_while_there_are_some(self) -> None:
        problems = rt_gym.sample_problems(rt_gym.load_map("random-48"), 6)
        env = make(problems=problems)
        env.reset(seed=0)
        assert {problem.start for problem in env.squad.problems} == {problem.start for problem in problems}
        few = make(problems=problems[:2])
        few.reset(seed=0)
        assert sorted(few.squad.problems.count(problem) for problem in problems[:2]) == [3, 3]

    def test_options_name_the_map_or_the_problems(self) -> None:
        env = make(map=["open-16", "random-48"])
        assert [env.reset(options={"map": k})[1]["map"] for k in (0, 1, 0)] == ["open-16", "random-48", "open-16"]
        problems = rt_gym.sample_problems(CORRIDOR, 6)
        _, info = env.reset(options={"problems": problems})
        assert info["map"] == "corridor"
        assert [tuple(goal) for goal in info["goals"].tolist()] == [problem.goal for problem in problems]

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"map": 1}, r"options\['map'\]"),
            ({"problems": []}, "6 problems"),
            ({"problems": 3}, "6 problems"),
            ({"problems": [1] * 6}, "problems, one per unit"),
            ({"start": (0, 0)}, "options may hold index, map, problems"),
            ([1], "options may hold index, map, problems"),
        ],
    )
    def test_options_that_do_not_fit_are_refused(self, options: Any, words: str) -> None:
        with pytest.raises(InputError, match=words):
            make().reset(options=options)

    def test_fog_and_changes_are_those_of_the_squad(self) -> None:
        env = make(vision=2, shared_fog=True, changes=[(3, (0, 0), True)])
        env.reset(seed=0)
        assert {(problem.vision, len(problem.changes)) for problem in env.squad.problems} == {(2, 1)}

    def test_every_unit_may_have_an_algorithm_of_its_own(self) -> None:
        env = make(units=2, agent=["rtaa", "lrta"])
        for seed in (0, 1):
            env.reset(seed=seed)
            assert [type(unit.agent).__name__ for unit in env.squad.units] == ["RTAA", "LRTA"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"units": 0}, "units"),
            ({"agent": "nobody"}, "nobody"),
            ({"agent": [1] * 6}, "agent must be an id"),
            ({"agent": ["rtaa"]}, "1 agents for 6 units"),
            ({"agent_settings": {"depth": 3}}, "depth"),
            ({"agent_settings": {"rule": "equal"}}, "agent_settings"),
            ({"agent_settings": 3}, "agent_settings"),
            ({"allowance": 0}, "allowance"),
            ({"count": "moves"}, "count"),
            ({"share": 0}, "share"),
            ({"share": 1 << 32}, "share"),
            ({"allowance": 1 << 32}, "allowance"),
            ({"blocking": 1}, "blocking"),
            ({"push": True}, "push goes with blocking"),
            ({"shared_fog": True}, "shared_fog"),
            ({"sight": 0}, "sight"),
            ({"action": "weights"}, "action"),
            ({"reward": "cost"}, "reward"),
            ({"max_ticks": 0}, "max_ticks"),
            ({"optimal": 3}, "optimal"),
            ({"pool": "many"}, "pool"),
            ({"window": 3}, "no argument 'window'"),
            ({"budget": 3}, "no argument 'budget'"),
            ({"render_mode": "film"}, "render_mode"),
            ({"map": CORRIDOR, "optimal": (1, 9), "blocking": True, "units": 7}, "7 units that block each other"),
        ],
    )
    def test_what_does_not_fit_is_refused_when_it_is_made(self, given: dict[str, Any], words: str) -> None:
        with pytest.raises(InputError, match=words):
            gym.make("RTSquad-v0", disable_env_checker=True, **(SMALL | given))

    @pytest.mark.parametrize("action", [-1, 4, 1.5, "equal", None, [0]])
    def test_there_are_four_rules(self, action: Any) -> None:
        env = make()
        env.reset(seed=0)
        with pytest.raises(InputError, match="action must be a whole number from 0 to 3"):
            env.step(action)

    @pytest.mark.parametrize("action", [1, [1] * 5, [2.0] * 6, [-0.1] * 6, [np.nan] * 6, ["a"] * 6, [[1], [1, 2]]])
    def test_shares_are_one_number_per_unit_from_0_to_1(self, action: Any) -> None:
        env = make(action="shares")
        env.reset(seed=0)
        with pytest.raises(InputError, match="action must be 6 numbers from 0 to 1"):
            env.step(action)


class TestBatch:
    @pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
    @pytest.mark.parametrize(
        "given",
        [{}, {"action": "shares", "threads": 2}, {"blocking": True, "push": True}, {"vision": 3, "shared_fog": True}],
    )
    def test_a_batch_walks_as_single_environments_do(self, mode: AutoresetMode, given: dict[str, Any]) -> None:
        settings = SMALL | given | {"max_ticks": 60, "map": ["random-48", "open-16"]}
        batch = make_batch("RTSquad-v0", mode, 4, **settings)
        settings.pop("threads", None)
        singles = make_singles("RTSquad-v0", mode, 4, **settings)
        assert np.array_equal(batch.reset(seed=8)[0], singles.reset(seed=8)[0])
        actions = dealt(str(given.get("action", "rule")), 150)
        assert_same_trajectories(batch, singles, actions, mode, KEYS)

    def test_episodes_are_reset_by_a_mask(self) -> None:
        settings = SMALL | {"max_ticks": 25}
        batch, singles = (
            make_many("RTSquad-v0", AutoresetMode.DISABLED, 4, **settings) for make_many in (make_batch, make_singles)
        )
        assert np.array_equal(batch.reset(seed=8)[0], singles.reset(seed=8)[0])
        assert reset_alike(batch, singles, dealt("rule", 80)) > 1

    def test_its_longest_episode_has_the_name_that_gymnasium_uses(self) -> None:
        batch = make_batch("RTSquad-v0", AutoresetMode.NEXT_STEP, 2, max_episode_steps=3, **SMALL)
        batch.reset(seed=0)
        assert [batch.step([0, 1])[3].tolist() for _ in range(3)] == [[False] * 2, [False] * 2, [True] * 2]

    @pytest.mark.parametrize("actions", [[0, 4], [0], [0.5, 1.0]])
    def test_actions_that_are_no_rules_are_refused(self, actions: Any) -> None:
        batch = make_batch("RTSquad-v0", AutoresetMode.NEXT_STEP, 2, **SMALL)
        batch.reset(seed=0)
        with pytest.raises(InputError, match="actions must"):
            batch.step(actions)

    def test_a_budget_is_refused(self) -> None:
        with pytest.raises(InputError, match="budget"):
            make_batch("RTSquad-v0", AutoresetMode.NEXT_STEP, 2, budget=5, **SMALL)


def test_a_problem_object_goes_with_any_map_of_the_same_kind() -> None:
    env = make(units=1)
    env.reset(options={"problems": [Problem(CORRIDOR, (0, 0), (5, 0))]})
    assert play_on(env) == -5.0


def play_on(env: Any) -> float:
    total, over = 0.0, False
    while not over:
        _, reward, over, _, _ = env.step(0)
        total += reward
    return total

"""``rt_gym.evaluate``: every problem once, alone as in a batch, and what is said of it."""

import csv
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numba import config

import rt_gym
from rt_gym import Grid, InputError, Problem, evaluate, sample_problems
from rt_gym.evaluation import COLUMNS

if config.DISABLE_JIT:  # problems are drawn while tests are collected
    pytest.skip("drawing problems takes the compiler", allow_module_level=True)

ROOM = Grid([[1, 1, 1, 1, 1], [1, 0, 0, 0, 1], [1, 1, 1, 0, 1], [0, 0, 1, 0, 1], [1, 1, 1, 1, 1]], name="room")
CAVES = rt_gym.generate("caves", width=24, height=20, density=0.45, steps=3, seed=5)
MIXED = [
    *sample_problems(ROOM, 4, 2, seed=1),
    *sample_problems(CAVES, 9, 3, seed=2),
    *sample_problems(ROOM, 3, 1, seed=3),
]
IDS = [env_id for env_id in rt_gym.envs.ids() if env_id.endswith("-v0") and env_id.count("-") == 1]
SHORT: dict[str, dict[str, Any]] = {"RTSquad-v0": {"units": 1}}


def equal(one: rt_gym.Evaluation, other: rt_gym.Evaluation) -> bool:
    names = [name for name in one.columns if name != "seconds"]
    return all(np.array_equal(one[name], other[name], equal_nan=True) for name in names)


def last_actions(env_id: str) -> Any:
    """Return a policy without chance for single and batched observations: the last action that is allowed."""

    def last(observation: Any, masks: Any) -> Any:
        allowed = np.asarray(masks)
        if env_id == "RTDepthGoal-v0":  # depths, then goals
            return np.stack([np.full(allowed.shape[:-1], 2), allowed[..., -1]], axis=-1)
        return allowed.shape[-1] - 1 - allowed[..., ::-1].argmax(axis=-1)

    return last


@pytest.mark.parametrize("env_id", IDS)
class TestEveryId:
    def test_a_batch_is_number_for_number_the_same_as_single_episodes(self, env_id: str) -> None:
        settings = {"max_moves": 40} | SHORT.get(env_id, {})
        for policy in ("random", last_actions(env_id)):
            alone = evaluate(env_id, policy, MIXED, num_envs=1, **settings)
            assert equal(alone, evaluate(env_id, policy, MIXED, **settings))
            assert equal(alone, evaluate(env_id, policy, MIXED, num_envs=3, **settings))

    def test_an_unknown_setting_is_refused(self, env_id: str) -> None:
        for number in (1, 2):
            with pytest.raises(InputError, match="has no argument 'colour'"):
                evaluate(env_id, "random", MIXED, num_envs=number, colour="red")


class TestWalks:
    @pytest.mark.parametrize("env_id", ["RTPath-v0", "RTPathFog-v0", "RTThink-v0"])
    @pytest.mark.parametrize(
        "settings", [{}, {"vision": 2, "changes": [(3, (4, 1), False)]}], ids=["still", "changing"]
    )
    def test_they_are_those_of_single_episodes_and_cost_what_the_row_says(
        self, env_id: str, settings: dict[str, Any]
    ) -> None:
        far = [one for one in MIXED if (4, 1) not in (one.start, one.goal)]
        alone, *others = (
            evaluate(env_id, "random", far, max_moves=60, num_envs=number, record=60, **settings)
            for number in (1, 3, 256)
        )
        for k, (walk, problem) in enumerate(zip(alone.walks, far, strict=True)):
            steps = np.abs(np.diff(walk.path, axis=0))
            assert tuple(walk.path[0]) == problem.start
            assert (tuple(walk.path[-1]) == problem.goal) == alone["solved"][k]
            assert len(steps) == alone["steps"][k]
            assert (walk.expansions.sum(), walk.scans.sum()) == (alone["expansions"][k], alone["scans"][k])
            if env_id != "RTThink-v0":
                assert np.sqrt(steps.sum(axis=1).clip(1)).sum() == pytest.approx(alone["cost"][k])
            for other in others:
                assert all(map(np.array_equal, walk, other.walks[k]))

    def test_no_more_than_was_asked_for_is_kept(self) -> None:
        whole, some, none = (evaluate("RTPath-v0", "random", MIXED, max_moves=30, record=n) for n in (30, 4, 0))
        assert [len(walk.expansions) for walk in some.walks] == np.minimum(whole["steps"], 4).tolist()
        for walk, full in zip(some.walks, whole.walks, strict=True):
            assert np.array_equal(walk.path, full.path[:5])
        assert none.walks == ()

    def test_where_a_step_is_neither_a_move_nor_a_thought_there_are_none(self) -> None:
        for env_id in ("RTDepth-v0", "RTSquad-v0"):
            with pytest.raises(InputError, match="record must be left out where a step is neither"):
                evaluate(env_id, "random", MIXED, record=5)


class TestRows:
    def test_every_problem_stands_once_in_the_order_given(self) -> None:
        rows = evaluate("RTPath-v0", "random", MIXED, max_moves=30, num_envs=5).as_rows()
        assert [tuple(row) for row in rows] == [COLUMNS] * len(MIXED)
        told = [(row["index"], row["map"], row["start"], row["goal"], row["optimal"]) for row in rows]
        assert told == [(k, one.grid.name, one.start, one.goal, one.optimal) for k, one in enumerate(MIXED)]

    def test_a_greedy_walk_on_open_ground_is_optimal(self) -> None:
        problems = sample_problems(rt_gym.load_map("open-16"), 30, 2)
        found = evaluate("RTPath-v0", "greedy", problems)
        assert found["solved"].all()
        assert found["suboptimality"] == pytest.approx(1.0)
        assert found["cost"] == pytest.approx(-found["return"])
        assert np.array_equal(found["moves"], found["steps"])

    def test_greedy_is_a_batch_in_fog_and_where_the_map_changes_as_it_is_alone(self) -> None:
        for settings in ({"vision": 1}, {"vision": 2, "changes": [(3, (4, 1), False)]}, {"stay": True}):
            grid = [
                problem for problem in MIXED if problem.grid is ROOM and (4, 1) not in (problem.start, problem.goal)
            ]
            alone = evaluate("RTPath-v0", "greedy", grid, num_envs=1, max_moves=20, **settings)
            assert equal(alone, evaluate("RTPath-v0", "greedy", grid, max_moves=20, **settings))

    def test_what_was_cut_has_a_cost_and_no_suboptimality(self) -> None:
        far = MIXED[:13]  # no goal is nearer than two steps
        found = evaluate("RTPath-v0", lambda observations: np.zeros(len(observations), int), far, max_moves=1)
        assert not found["solved"].any()
        assert found["cost"].tolist() == [1.0] * 13
        assert np.isnan(found["suboptimality"]).all()
        assert all(row["suboptimality"] is None for row in found.as_rows())
        assert "none, of 0 solved; 13 unsolved" in str(found)

    def test_the_cost_is_that_of_the_path_whatever_the_reward_is(self) -> None:
        plain = evaluate("RTPath-v0", "random", MIXED, max_moves=30)
        shaped = evaluate("RTPath-v0", "random", MIXED, max_moves=30, shaping=0.9, reward="normalised", stay=True)
        assert plain["return"] == pytest.approx(-plain["cost"])
        alone = evaluate(
            "RTPath-v0", "random", MIXED, max_moves=30, shaping=0.9, reward="normalised", stay=True, num_envs=1
        )
        assert equal(alone, shaped)

    def test_unit_costs_and_four_neighbours_are_counted_as_they_are(self) -> None:
        for rules in ({"cost": "unit"}, {"connectivity": 4}):
            problems = sample_problems(CAVES.replace(**rules), 6, 3)
            batch = evaluate("RTPath-v0", "random", problems, max_moves=50)
            assert np.array_equal(batch["cost"], batch["moves"])
            assert equal(batch, evaluate("RTPath-v0", "random", problems, max_moves=50, num_envs=1))

    def test_a_changing_map_has_no_optimal_cost(self) -> None:
        problems = [Problem(ROOM, (0, 0), (4, 0), changes=[(1, (2, 0), False)])]
        found = evaluate("RTPath-v0", "random", problems, max_moves=5)
        assert found.as_rows()[0]["optimal"] is None

    def test_the_file_holds_the_rows(self, tmp_path: Path) -> None:
        found = evaluate("RTPath-v0", "random", MIXED, max_moves=60)
        found.to_csv(tmp_path / "rows.csv")
        with (tmp_path / "rows.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == len(MIXED)
        assert [int(row["start_x"]) for row in rows] == [problem.start[0] for problem in MIXED]
        assert [row["solved"] == "True" for row in rows] == found["solved"].tolist()
        assert [row["suboptimality"] == "" for row in rows] == np.isnan(found["suboptimality"]).tolist()

    def test_a_seed_settles_random_actions(self) -> None:
        one, same, other = (evaluate("RTPath-v0", "random", MIXED, seed=seed, max_moves=60) for seed in (4, 4, 5))
        assert equal(one, same)
        assert not equal(one, other)

    def test_random_actions_lead_somewhere_and_take_every_legal_one(self) -> None:
        corner = [Problem(Grid(np.ones((2, 2))), (0, 0), (1, 1))] * 60
        found = evaluate("RTPath-v0", "random", corner, max_moves=1)
        assert 5 < found["solved"].sum() < 40  # one of three
        assert set(np.round(found["cost"], 3)) == {1.0, 1.414}

    def test_the_limit_of_moves_is_the_environments_unless_given(self) -> None:
        assert evaluate("RTPath-v0", "greedy", MIXED[:1]).max_moves == 10_000
        assert evaluate("RTPath-v0", "greedy", MIXED[:1], max_moves=7).max_moves == 7

    def test_a_split_is_taken_by_its_name(self) -> None:
        found = evaluate("RTPathFog-v0", "greedy", "caves-validation", max_moves=40)
        split = rt_gym.splits.load("caves-validation")
        assert (len(found), found.split) == (128, "caves-validation")
        assert [problem.optimal for problem in split.problems] == found["optimal"].tolist()


class Eastward:
    """A policy that may be told about masks by name."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __call__(self, observation: Any, *, masks: Any = None) -> Any:
        self.seen.append(masks)
        return np.zeros(len(masks), int) if masks.ndim == 2 else 0


class StandIn:
    """A model with the interface of sb3-contrib's recurrent ones: it counts the steps since an episode began."""

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[Any, Any]:
        count = np.where(episode_start, 0, 0 if state is None else state)
        actions = count % 8
        return (actions if observation.ndim == 2 else actions[0]), count + 1


class TestPolicies:
    def test_a_function_is_given_masks_where_it_takes_them(self) -> None:
        policy = Eastward()
        evaluate("RTPath-v0", policy, MIXED, max_moves=2)
        evaluate("RTPath-v0", policy, MIXED, max_moves=2, num_envs=1)
        assert [masks.shape for masks in policy.seen[:2]] == [(16, 8), (16, 8)]
        assert {masks.shape for masks in policy.seen[2:]} == {(8,)}

    def test_the_state_of_a_recurrent_model_begins_with_its_episode(self) -> None:
        alone = evaluate("RTPath-v0", StandIn(), MIXED, max_moves=25, num_envs=1)
        assert equal(alone, evaluate("RTPath-v0", StandIn(), MIXED, max_moves=25, num_envs=3))

    def test_an_agent_walks_as_it_does_without_an_environment(self) -> None:
        agents = pytest.importorskip("agents")
        found = evaluate("RTPath-v0", "rtaa:lookahead=5", MIXED)
        runs = [agents.run("rtaa", problem, lookahead=5) for problem in MIXED]
        assert found["cost"] == pytest.approx([run.cost for run in runs])
        assert found["expansions"].tolist() == [run.expansions for run in runs]
        assert found["scans"].tolist() == [run.scans for run in runs]
        assert found["suboptimality"] == pytest.approx([run.suboptimality for run in runs])
        assert (found["seconds"] > 0).all()
        assert found.policy == "rtaa:lookahead=5"

    def test_the_budget_fits_an_agent_that_is_told_nothing_else(self) -> None:
        agents = pytest.importorskip("agents")
        found = evaluate("RTPath-v0", "lrta", MIXED[:3], budget=20)
        runs = [agents.run("lrta", problem, budget=20) for problem in MIXED[:3]]
        assert found["expansions"].tolist() == [run.expansions for run in runs]

    @pytest.mark.parametrize(
        ("env_id", "policy", "more", "words"),
        [
            ("RTDepth-v0", "rtaa:lookahead=5", {}, "needs an environment with one move per step"),
            ("RTPath-v0", "rtaa:lookahead=5", {"num_envs": 2}, "num_envs=1"),
            ("RTDepth-v0", "greedy", {}, '"greedy" needs an environment with one move per step'),
            ("RTPath-v0", 3, {}, "policy must be a function of observations"),
            ("RTPath-v0", "rta:size=3", {}, "agent rta has no parameter 'size'"),
            ("RTPath-v1", "random", {}, "none of this package's environments"),
            ("RTPath-v0", "random", {"num_envs": 0}, "num_envs must be a whole number from 1"),
            ("RTPath-v0", "random", {"seed": -1}, "seed must be"),
            ("RTPath-v0", "random", {"map": "open-16"}, "map cannot be given to evaluate"),
            ("RTPath-v0", "random", {"max_episode_steps": 5}, "max_episode_steps cannot be given to evaluate"),
            ("RTPath-v0", "random", {"max_moves": 0}, "max_moves must be"),
            ("RTPath-v0", "random", {"deterministic": 1}, "deterministic must be True or False"),
            ("RTSquad-v0", "random", {"units": 3}, "3 does not divide the 7 of map room"),
        ],
    )
    def test_what_cannot_be_is_refused(self, env_id: str, policy: Any, more: dict[str, Any], words: str) -> None:
        with pytest.raises(InputError, match=words):
            evaluate(env_id, policy, MIXED, **more)

    @pytest.mark.parametrize("split", ["caves", [], 3, [3]])
    def test_problems_that_are_none_are_refused(self, split: Any) -> None:
        with pytest.raises(InputError, match="split"):
            evaluate("RTPath-v0", "random", split)


def test_the_units_of_a_squad_have_a_row_each() -> None:
    problems = sample_problems(CAVES, 8, 4, seed=4, distinct=True)
    settings: dict[str, Any] = {"units": 4, "blocking": True, "max_moves": 60}
    alone = evaluate("RTSquad-v0", "random", problems, num_envs=1, **settings)
    assert equal(alone, evaluate("RTSquad-v0", "random", problems, **settings))
    env = gym.make("RTSquad-v0", problems=problems, units=4, blocking=True, max_ticks=60).unwrapped
    env.reset(options={"index": [4, 5, 6, 7]}, seed=1)
    assert [problem.start for problem in env.squad.problems] == [problem.start for problem in problems[4:]]  # type: ignore[attr-defined]
    assert (alone["expansions"] > 0).all()
    assert len(set(alone["steps"].tolist())) <= 2

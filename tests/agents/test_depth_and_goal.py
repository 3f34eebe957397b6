"""A network that chooses depth and goal: general-lrta decides as environment and reference do, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
import rt_gym
from agents.policies.networks import BOTH, KIND, KNOWN, LAYOUT, VERSION, Network, load_network
from profiles import examples
from reference.by_id import OUTCOMES, reference_run
from reference.plain_oracle import random_problem
from reference.worlds import worlds
from reference.yard import GOAL, START, YARD
from rt_gym import Change, InputError, Problem, World
from rt_gym.archive import load_archive, save_archive

D_MAX = 6
KNOWLEDGE: dict[str, dict[str, Any]] = {
    "known": {},
    "fog": {"vision": 2},
    "changes": {"changes": [Change(k, (5 * (k % 4), 5 * (k // 4 % 4)), k % 3 == 0) for k in range(1, 30)]},
}


def random_network(seed: int, features: tuple[str, ...] = KNOWN[BOTH], **more: Any) -> Network:
    """Return a network of opinions: many depths, goals and subgoals by turns."""
    rng = np.random.default_rng(seed)
    layers = [(rng.normal(size=shape), rng.normal(size=shape[1])) for shape in ((len(features), 5), (5, D_MAX + 2))]
    regions = {"level": 2, "abstraction": "clique"} | more
    return Network(BOTH, features, tuple(layers), D_MAX, tuple(range(1, D_MAX + 1)), 30, **regions)


def always(depth: int, goal: int) -> Network:
    """Return a network that makes the same choice at every move."""
    bias = np.zeros(D_MAX + 2)
    bias[[depth - 1, D_MAX + goal]] = 1.0
    layers = ((np.zeros((1, D_MAX + 2)), bias),)
    return Network(BOTH, ("moves",), layers, D_MAX, tuple(range(1, D_MAX + 1)), level=2, abstraction="clique")


def in_environment(network: Network, problem: Problem, max_moves: int) -> tuple[list[Any], int, set[tuple[int, ...]]]:
    """Return where the environment leads by the choices of a network, its expansions, and the choices."""
    regions = {"level": network.level, "abstraction": network.abstraction, "d_max": D_MAX, "history": network.history}
    env: Any = gym.make("RTDepthGoal-v0", problems=[problem], max_moves=max_moves, budget=None, **regions)
    seen, _ = env.reset(seed=0)
    columns = [KNOWN[BOTH].index(name) for name in network.features]
    path, expansions, chosen, over = [problem.start], 0, set(), False
    while not over:
        action = network.choose(seen[None, columns])[0]
        seen, _, terminated, truncated, info = env.step(action)
        path.append(rt_gym.view(env).position)
        chosen.add(tuple(action.tolist()))
        expansions, over = expansions + info["expansions"], terminated or truncated
    return path, expansions, chosen


class TestDecisions:
    @pytest.mark.parametrize("knowledge", KNOWLEDGE)
    @pytest.mark.parametrize("regions", [{}, {"level": 3, "abstraction": "tiles"}], ids=str)
    def test_it_walks_as_the_environment_does_by_the_same_network(
        self, knowledge: str, regions: dict[str, Any]
    ) -> None:
        problem, met = Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge]), set()
        for seed in range(8):
            network = random_network(seed, **regions)
            run = agents.run("general-lrta", problem, policy=network, max_moves=120)
            path, expansions, chosen = in_environment(network, problem, 120)
            assert [tuple(place) for place in run.path.tolist()] == path
            assert run.expansions == expansions
            met |= chosen
        assert {goal for _, goal in met} == {0, 1}
        assert len({depth for depth, _ in met}) > 3

    def test_some_features_are_enough(self) -> None:
        features = ("subgoal_pursued", "subgoal_distance", "since_return", "revisits")
        for seed in range(4):
            network, problem = random_network(seed, features), Problem(YARD, START, GOAL)
            path, expansions, _ = in_environment(network, problem, 120)
            run = agents.run("general-lrta", problem, policy=network, max_moves=120)
            assert ([tuple(place) for place in run.path.tolist()], run.expansions) == (path, expansions)

    @pytest.mark.parametrize("depth", [1, 4])
    def test_always_to_the_goal_it_is_lrta(self, depth: int) -> None:
        mine = agents.run("general-lrta", Problem(YARD, START, GOAL), policy=always(depth, 0))
        fixed = agents.run("lrta", Problem(YARD, START, GOAL), depth=depth)
        assert (mine.path.tolist(), mine.expansions) == (fixed.path.tolist(), fixed.expansions)

    def test_always_to_subgoals_it_is_the_design_that_looks_them_up_at_every_move(self) -> None:
        by_database = {"goal": "pdb", "subgoal": "first", "keep": False, "guard": False, "level": 2}
        for problem in (Problem(YARD, START, GOAL), Problem(YARD, GOAL, START)):
            mine = agents.run("general-lrta", problem, policy=always(4, 1), max_moves=60)
            theirs = agents.run("general-lrta", problem, depth=4, **by_database, max_moves=60)
            assert (mine.path.tolist(), mine.expansions) == (theirs.path.tolist(), theirs.expansions)

    def test_it_looks_no_deeper_than_it_may(self) -> None:
        problem = Problem(YARD, START, GOAL)
        capped = agents.run("general-lrta", problem, policy=always(5, 0), d_max=2)
        assert capped.path.tolist() == agents.run("lrta", problem, depth=2).path.tolist()

    def test_a_second_trial_begins_with_nothing_pursued(self) -> None:
        features = ("subgoal_pursued", "has_subgoal")
        network, problem = random_network(3, features), Problem(YARD, START, GOAL)
        agent = agents.make("general-lrta", policy=network)
        runs = [agents.run(agent, problem, max_moves=100) for _ in range(2)]
        assert runs[0].path.tolist() == runs[1].path.tolist()


class TestAgainstThePlainReading:
    @pytest.mark.plain
    @given(data=st.data())
    @examples(150)
    def test_trials_are_those_of_the_reference(self, data: Any, act_out: Callable[..., Any]) -> None:
        problem, seed, level = data.draw(worlds()), data.draw(st.integers(0, 40)), data.draw(st.integers(0, 3))
        network = random_network(seed, level=level, abstraction=data.draw(st.sampled_from(["clique", "tiles"])))
        d_max = data.draw(st.sampled_from([None, 2]))
        agent, world, told = agents.make("general-lrta", policy=network, d_max=d_max), World(problem), None
        agent.reset(world.view)
        for _ in range(2):
            told = reference_run("general-lrta", problem, {"policy": network, "d_max": d_max}, 60, after=told)
            trace = act_out(agent, world, 60)
            assert trace.outcome == OUTCOMES[told.outcome]
            assert (trace.path, trace.expansions) == (told.path, told.expansions)
            assert all(mine >= theirs for mine, theirs in zip(trace.scans, told.scans, strict=True))
            assert trace.h_updates == sum(map(len, told.raised))
            world.begin_trial()
            agent.begin_trial()

    @pytest.mark.parametrize("knowledge", KNOWLEDGE)
    def test_longer_walks_are_those_of_the_reference(self, knowledge: str, act_out: Callable[..., Any]) -> None:
        problem = Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge])
        for seed in range(3):
            network = random_network(seed)
            told = reference_run("general-lrta", problem, {"policy": network}, 120)
            agent, world = agents.make("general-lrta", policy=network), World(problem)
            agent.reset(world.view)
            trace = act_out(agent, world, 120)
            assert (trace.path, trace.expansions) == (told.path, told.expansions)


class TestCompleteness:
    def test_a_network_may_go_back_and_forth_for_good_and_says_that_it_is_not_complete(self) -> None:
        problem = Problem(*random_problem(np.random.default_rng(36), 14, density=0.35))
        agent, guarded = (
            agents.make("general-lrta", **settings)
            for settings in (
                {"policy": always(3, 1)},
                {"depth": 3, "goal": "pdb", "subgoal": "first", "keep": False, "level": 2},
            )
        )
        astray, home = agents.run(agent, problem, max_moves=5000), agents.run(guarded, problem, max_moves=5000)
        assert (astray.outcome, len({tuple(cell) for cell in astray.path[-1000:].tolist()})) == ("out of moves", 2)
        assert (agent.complete, guarded.complete, home.outcome) == (False, True, "goal")

    @pytest.mark.parametrize(
        ("settings", "complete"),
        [
            ({}, True),
            ({"goal": "pdb"}, True),
            ({"goal": "pdb", "guard": False}, False),
            ({"goal": "classifier", "guard": False}, False),
            ({"goal": "pdb", "mode": "G", "guard": False}, True),
            ({"goal": "global", "guard": False}, True),
            ({"depth": "policy", "goal": "global"}, True),
        ],
        ids=str,
    )
    def test_what_heads_for_subgoals_is_complete_where_it_has_a_guard(
        self, settings: dict[str, Any], complete: bool
    ) -> None:
        assert agents.make("general-lrta", **settings).complete == complete


class TestFiles:
    def test_a_network_survives_its_file_and_runs_from_it(self, tmp_path: Path) -> None:
        network, problem = random_network(1, abstraction="tiles"), Problem(YARD, START, GOAL)
        network.save(tmp_path / "n.npz")
        again = load_network(tmp_path / "n.npz")
        assert (again.decide, again.level, again.abstraction, again.outputs) == (BOTH, 2, "tiles", D_MAX + 2)
        runs = [agents.run("general-lrta", problem, policy=one, max_moves=99) for one in (network, tmp_path / "n.npz")]
        assert runs[0].path.tolist() == runs[1].path.tolist()

    def test_masks_leave_out_what_is_not_possible_in_either_head(self) -> None:
        masks = np.ones((1, D_MAX + 2))
        masks[0, [3, D_MAX + 1]] = 0
        network = always(4, 1)
        assert network.choose([[0.0]]).tolist() == [[3, 1]]
        assert network.choose([[0.0]], masks).tolist() == [[0, 0]]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"level": 99}, "level must be a whole number from 0 to"),
            ({"level": "high"}, "level must be a whole number"),
            ({"abstraction": "sectors"}, "must have the abstraction clique or tiles, not 'sectors'"),
            ({"depths": []}, "must list depths if and only if it decides the depth"),
            ({"features": ["layer"]}, "'layer', which a policy for the depth and goal cannot know"),
            ({"decide": "depth"}, "has the feature 'has_subgoal', which a policy for the depth cannot know"),
        ],
        ids=str,
    )
    def test_a_head_that_does_not_fit_is_refused(self, change: dict[str, Any], message: str, tmp_path: Path) -> None:
        file = tmp_path / "n.npz"
        random_network(1, ("has_subgoal",)).save(file)
        head, arrays = load_archive(file, KIND, VERSION, LAYOUT)
        save_archive(file, KIND, VERSION, head | change, arrays)
        with pytest.raises(InputError, match=message) as refusal:
            agents.make("general-lrta", policy=file)
        assert "n.npz" in str(refusal.value)

    def test_only_depth_and_goal_have_regions(self) -> None:
        with pytest.raises(InputError, match="level must be"):
            Network("depth", ("moves",), ((np.zeros((1, 1)), np.zeros(1)),), 1, (1,), level=3)

    @pytest.mark.parametrize("policy", ["deepen", "depth"])
    def test_a_network_that_decides_less_is_refused(self, policy: str) -> None:
        with pytest.raises(InputError, match=f'policy decides the {policy} alone: say depth="policy" and which goal'):
            agents.make("general-lrta", policy=policy)

    def test_no_other_agent_takes_it(self, tmp_path: Path) -> None:
        random_network(1).save(tmp_path / "n.npz")
        for settings in ({"agent": "policy-lrta"}, {"agent": "general-lrta", "depth": "policy", "goal": "global"}):
            with pytest.raises(InputError, match="one for depth and goal for general-lrta"):
                agents.make(settings.pop("agent"), policy=tmp_path / "n.npz", **settings)

    def test_a_torn_file_is_refused(self, tmp_path: Path) -> None:
        random_network(1).save(tmp_path / "n.npz")
        (tmp_path / "n.npz").write_bytes((tmp_path / "n.npz").read_bytes()[:-30])
        with pytest.raises(InputError, match=r"n\.npz"):
            agents.make("general-lrta", policy=tmp_path / "n.npz")

"""Networks as policies: what they compute, what goes through their files unchanged, and what is refused."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import agents
from agents.policies.networks import ACT, DEEPEN, KIND, LAYOUT, VERSION, Network, load_network, ready_made
from reference import plain_policy_lrta
from rt_gym import InputError, Problem, World, load_map, sample_problems
from rt_gym.archive import load_archive, save_archive
from rt_gym.features.decision import LAYERS, SITUATION

ENVS = {"depth": "RTDepth-v0", "deepen": "RTDeepen-v0"}
COLUMNS = {"depth": SITUATION, "deepen": (*SITUATION, *LAYERS)}
D_MAX = 9


def random_network(decide: str, seed: int, widths: tuple[int, ...] = (5,), **options: Any) -> Network:
    """Return a network of random weights that changes its mind now and then."""
    rng = np.random.default_rng(seed)
    depths = tuple(range(1, D_MAX + 1)) if decide == "depth" else ()
    sizes = (len(COLUMNS[decide]), *widths, len(depths) or 2)
    layers = tuple((rng.normal(size=(a, b)) / np.sqrt(a), 0.1 * rng.normal(size=b)) for a, b in pairwise(sizes))
    return Network(decide, COLUMNS[decide], layers, D_MAX, depths, **options)


def hard_problem(seed: int) -> Problem:
    """Return a problem in which an agent learns a lot on its way."""
    (problem,) = sample_problems(load_map("caves-128"), 1, 60, 90, seed)
    return problem


def act_in_env(network: Network, problem: Problem) -> tuple[list[tuple[int, int]], int, NDArray[np.float32]]:
    """Let a network act in its environment; return the path, the expansions and all observations."""
    env = gym.make(ENVS[network.decide], problems=[problem], d_max=D_MAX, max_episode_steps=100_000)
    observation, info = env.reset(seed=0)
    path, work, rows, done = (
        [problem.start],
        int(info.get("expansions", 0)),
        [observation],
        problem.start == problem.goal,
    )
    while not done:
        action = int(np.argmax(plain_policy_lrta.outputs(network, observation)))
        observation, _, terminated, truncated, info = env.step(action)
        work += int(info["expansions"])
        if info["moved"]:
            path.append(env.unwrapped.view.position)  # type: ignore[attr-defined]
        rows.append(observation)
        assert not truncated
        done = terminated
    return path, work, np.array(rows)


class TestForward:
    @pytest.mark.plain
    @given(
        seed=st.integers(0, 10**6),
        widths=st.lists(st.integers(1, 9), max_size=3),
        decide=st.sampled_from(["depth", "deepen"]),
        activation=st.sampled_from(["tanh", "relu"]),
    )
    def test_outputs_are_those_of_matrix_products(
        self, seed: int, widths: list[int], decide: str, activation: str
    ) -> None:
        rng, inputs = np.random.default_rng(seed), len(COLUMNS[decide])
        scaling = {"mean": rng.normal(size=inputs), "scale": rng.uniform(0.5, 2, inputs)}
        network = random_network(decide, seed, tuple(widths), activation=activation, **scaling)
        rows = rng.normal(scale=3, size=(4, inputs)).astype(np.float32)
        expected = [plain_policy_lrta.outputs(network, row) for row in rows]
        np.testing.assert_allclose(network.scores(rows), expected, rtol=1e-12, atol=1e-12)

    @pytest.mark.plain
    def test_a_network_worked_out_by_hand(self) -> None:
        # Inputs (3, 1) minus (1, 0), over (2, 1): (1, 1). Units: 1 - 2 + 0.5 = -0.5 -> 0, and 1 + 1 - 1 = 1 -> 1.
        hidden = np.array([[1.0, 1.0], [-2.0, 1.0]]), np.array([0.5, -1.0])
        last = np.array([[5.0, 5.0, 5.0], [2.0, 0.0, -1.0]]), np.array([0.0, 1.0, 4.0])
        network = Network(
            "depth", ("revisits", "turn"), (hidden, last), 8, (1, 4, 8), activation="relu", mean=[1, 0], scale=[2, 1]
        )
        assert network.scores([[3, 1]]).tolist() == [[2, 1, 3]]
        assert network.choose([[3, 1]] * 3, [[1, 1, 1], [1, 1, 0], [0, 1, 0]]).tolist() == [2, 0, 1]

    def test_a_wrong_number_of_columns_is_refused(self) -> None:
        with pytest.raises(InputError, match="any x 24 numbers as observations"):
            random_network("depth", 0).scores(np.zeros((3, 23)))
        with pytest.raises(InputError, match="3 x 9 numbers as masks"):
            random_network("depth", 0).choose(np.zeros((3, 24)), np.ones((3, 2)))


class TestAgent:
    @pytest.mark.parametrize("decide", ["depth", "deepen"])
    @pytest.mark.parametrize("seed", range(4))
    def test_a_network_walks_as_in_its_environment(self, decide: str, seed: int) -> None:
        network, problem = random_network(decide, seed), hard_problem(seed)
        path, work, rows = act_in_env(network, problem)
        run = agents.run(agents.make("policy-lrta", policy=network), problem)
        assert [tuple(cell) for cell in run.path.tolist()] == path
        assert run.expansions == work
        said = [plain_policy_lrta.outputs(network, row) for row in rows]
        assert network.scores(rows).argmax(axis=1).tolist() == np.argmax(said, axis=1).tolist()

    @pytest.mark.parametrize("decide", ["depth", "deepen"])
    def test_its_inputs_are_the_observations_bit_for_bit(self, decide: str) -> None:
        # One move at a time: whatever stands in the agent's row after a plan was the observation before the step.
        network, problem = random_network(decide, 3), hard_problem(11)
        env = gym.make(ENVS[decide], problems=[problem], d_max=D_MAX, max_episode_steps=100_000)
        observation, _ = env.reset(seed=0)
        agent, world = agents.make("policy-lrta", policy=network), World(problem)
        agent.reset(world.view)
        while not world.done and world.view.moves < 200:
            direction = agent.act()
            seen = agent.memory.seen[: observation.size]
            while decide == "deepen" and observation.tobytes() != seen.tobytes():
                assert np.argmax(plain_policy_lrta.outputs(network, observation)) == DEEPEN
                observation, *_ = env.step(DEEPEN)
            assert observation.tobytes() == seen.tobytes()
            observation, *_ = env.step(int(agent.memory.scores.argmax()) if decide == "depth" else ACT)
            world.step(direction)
        assert world.view.moves > 50

    @pytest.mark.parametrize("depth", [1, 3])
    def test_always_the_same_depth_walks_as_lrta(self, depth: int) -> None:
        wanted = np.arange(1, 5) == depth
        network = Network("depth", ("revisits",), ((np.zeros((1, 4)), wanted * 1.0),), 4, (1, 2, 3, 4))
        problem = hard_problem(5)
        mine, fixed = agents.run("policy-lrta", problem, policy=network), agents.run("lrta", problem, depth=depth)
        assert mine.path.tolist() == fixed.path.tolist()
        assert (mine.expansions, mine.scans) == (fixed.expansions, fixed.scans)

    def test_acting_after_three_layers_walks_as_lrta_of_depth_three(self) -> None:
        # layer is seen as log(1 + layer): act from 3 on.
        network = Network("deepen", ("layer",), ((np.array([[1.0, 0.0]]), np.array([-np.log(3.9), 0.0])),), 9)
        problem = hard_problem(5)
        mine, fixed = agents.run("policy-lrta", problem, policy=network), agents.run("lrta", problem, depth=3)
        assert mine.path.tolist() == fixed.path.tolist()
        assert mine.expansions == fixed.expansions

    def test_equal_outputs_take_the_first_action(self) -> None:
        layer = (np.zeros((1, 2)), np.zeros(2))
        problem = hard_problem(5)
        networks = {
            2: Network("depth", ("revisits",), (layer,), 4, (2, 4)),
            1: Network("deepen", ("revisits",), (layer,), 4),
        }
        for depth, network in networks.items():
            mine = agents.run("policy-lrta", problem, policy=network)
            assert mine.expansions == agents.run("lrta", problem, depth=depth).expansions

    def test_no_lookahead_is_deeper_than_d_max(self) -> None:
        network = Network("depth", ("revisits",), ((np.zeros((1, 1)), np.zeros(1)),), 8, (8,))
        agent = agents.make("policy-lrta", policy=network, d_max=2)
        assert agent.bound == 9
        assert agents.run(agent, hard_problem(5)).expansions == agents.run("lrta", hard_problem(5), depth=2).expansions


class TestFiles:
    @pytest.mark.parametrize("decide", ["depth", "deepen"])
    def test_a_network_survives_its_file(self, decide: str, tmp_path: Path) -> None:
        network = random_network(decide, 1, (4, 3), about={"seed": 7})
        network.save(tmp_path / "n.npz")
        again = load_network(tmp_path / "n.npz")
        for name in ("decide", "features", "d_max", "depths", "history", "activation", "about"):
            assert getattr(again, name) == getattr(network, name)
        for mine, theirs in zip(network.layers, again.layers, strict=True):
            np.testing.assert_array_equal(mine[0], theirs[0])
            np.testing.assert_array_equal(mine[1], theirs[1])

    def test_ready_made_networks_load_and_say_how_they_were_made(self) -> None:
        assert ready_made() == ["deepen", "depth"]
        for name in ready_made():
            assert load_network(name).decide == name
            assert load_network(name).about

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"decide": "jump"}, "must decide depth, deepen, depth and goal, think or move, not 'jump'"),
            ({"decide": ["depth"]}, "must decide depth, deepen, depth and goal, think or move"),
            ({"decide": "deepen"}, "must list depths if and only if"),
            ({"features": [*SITUATION[:-1], "weather"]}, "has the feature 'weather'"),
            ({"features": [*SITUATION[:-1], "layer"]}, "'layer', which a policy for the depth cannot know"),
            ({"features": [*SITUATION[:-1], "exits"]}, "each of them once"),
            ({"features": [[]] * 24}, "must name its features by words"),
            ({"features": list(SITUATION[:5])}, "must have 5 numbers as mean"),
            ({"features": "revisits"}, "must have a list of features"),
            ({"depths": [1, 2]}, "must have 2 outputs, one for each action, not 9"),
            ({"depths": [99]}, "every depth must be a whole number from 1 to 9"),
            ({"d_max": True}, "d_max must be a whole number"),
            ({"history": 0}, "history must be a whole number from 1"),
            ({"activation": "sine"}, "must have the activation tanh or relu, not 'sine'"),
            ({"about": 3}, "must describe itself by names and values"),
        ],
    )
    def test_a_head_that_does_not_fit_is_refused(self, tmp_path: Path, change: dict[str, Any], message: str) -> None:
        self.refused(tmp_path, change, {}, message)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"width": [23, 5, 9]}, "must have as many weights and biases as its layers are wide"),
            ({"width": [24, 9, 5]}, "must have as many weights and biases as its layers are wide"),
            ({"width": [24, 5]}, "must have as many weights and biases as its layers are wide"),
            ({"width": [24, 0, 9]}, "must have from 1 to 16 layers, each from 1 to 4096 wide"),
            ({"width": [24, -5, 9]}, "must have from 1 to 16 layers"),
            ({"width": [24, 1 << 62, 9]}, "must have from 1 to 16 layers"),
            ({"width": [24]}, "must have from 1 to 16 layers"),
            ({"width": [24.0, 5.0, 9.0]}, "its array width is not what"),
            ({"bias": np.zeros(13, np.float32)}, "must have as many weights and biases"),
            ({"bias": np.full(14, np.nan, np.float32)}, "has a number in bias 0 that is not finite"),
            ({"weights": np.full(165, np.inf, np.float32)}, "has a number in weights 0 that is not finite"),
            ({"weights": np.zeros((24, 5), np.float32)}, "its array weights is not what"),
            ({"scale": np.zeros(24, np.float32)}, "has a scale of zero"),
            ({"mean": np.zeros(23, np.float32)}, "must have 24 numbers as mean"),
        ],
    )
    def test_arrays_that_do_not_fit_are_refused(self, tmp_path: Path, change: dict[str, Any], message: str) -> None:
        self.refused(tmp_path, {}, change, message)

    def refused(self, tmp_path: Path, head: dict[str, Any], arrays: dict[str, Any], message: str) -> None:
        path = tmp_path / "n.npz"
        random_network("depth", 1).save(path)
        old_head, old_arrays = load_archive(path, KIND, VERSION, LAYOUT)
        save_archive(path, KIND, VERSION, old_head | head, old_arrays | arrays)
        with pytest.raises(InputError, match=message) as refusal:
            agents.make("policy-lrta", policy=str(path))
        assert str(refusal.value).count("\n") == 0
        assert "n.npz" in str(refusal.value)

    @pytest.mark.parametrize(("kind", "version"), [("other", VERSION), (KIND, VERSION + 1)])
    def test_another_kind_or_version_is_refused(self, tmp_path: Path, kind: str, version: int) -> None:
        save_archive(tmp_path / "n.npz", kind, version, {}, {})
        with pytest.raises(InputError, match=r"n\.npz"):
            load_network(tmp_path / "n.npz")

    def test_no_part_of_a_file_is_taken_for_the_whole(self, tmp_path: Path) -> None:
        path = tmp_path / "n.npz"
        random_network("depth", 1).save(path)
        data = path.read_bytes()
        for end in range(0, len(data), 97):
            path.write_bytes(data[:end])
            with pytest.raises(InputError, match=r"n\.npz"):
                load_network(path)

    @pytest.mark.parametrize("source", ["oak", "o" * 300, 7, None])
    def test_what_is_no_network_is_refused(self, source: Any) -> None:
        with pytest.raises(
            InputError, match=r"there is no network o[ao]+k?; ready-made ones are deepen, depth|must be a file"
        ):
            load_network(source)

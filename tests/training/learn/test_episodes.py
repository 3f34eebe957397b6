"""Logged episodes: who walks where, columns and files, and Minari datasets to be read, replayed and cloned from."""

import csv
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import agents
from agents.policies.networks import KNOWN
from rt_gym import InputError, splits
from rt_gym.features.decision import LAYERS, SITUATION
from rt_gym.features.scaling import squashed, unsquashed
from training import to_policy
from training.cli import app
from training.learn.episodes import Episodes, log_episodes, make_walker
from training.learn.fit import beside_majority
from training.learn.log import Logging, log_samples
from training.runs import Draw, Workers, find_courses

SPLIT = "caves-validation"
WALKS = [
    ("RTPath-v0", "lss-lrta"),
    ("RTPathFog-v0", "random"),
    ("RTDepth-v0", "oracle-lrta:d_max=6"),
    ("RTDepth-v0", "policy-lrta:policy=depth"),
    ("RTDeepen-v0", "classifier-lrta"),
    ("RTDeepen-v0", "rule-lrta"),
    ("RTDepthGoal-v0", "rule"),
    ("RTDepthGoal-v0", "random"),
    ("RTThink-v0", "think-lss:policy=mo-rts,slice=30"),
    ("RTThink-v0", "think-lss:policy=2"),
    ("RTThink-v0", "random"),
]
runner = CliRunner()


@cache
def logged(env: str, agent: str, **more: Any) -> Episodes:
    return log_episodes(env, agent, SPLIT, per_map=1, seed=3, max_moves=150, **more)


@pytest.fixture(scope="module")
def oracle() -> Episodes:
    return log_episodes("RTDepth-v0", "oracle-lrta:d_max=6", SPLIT, per_map=1, seed=5)


class TestWalks:
    @pytest.mark.parametrize(("env", "agent"), WALKS)
    def test_every_problem_is_walked_to_its_end(self, env: str, agent: str) -> None:
        episodes = logged(env, agent)
        assert len(episodes) == len(splits.load(SPLIT).grids) == 8
        assert episodes.problem.tolist() == list(range(0, 128, 16))
        assert episodes.seed.tolist() == list(range(3, 11))
        ends = np.flatnonzero(np.diff(episodes.episode, append=8))
        over = episodes.terminated | episodes.truncated
        assert np.flatnonzero(over).tolist() == ends.tolist()
        assert episodes.observation.shape == (len(episodes.reward), len(episodes.names))
        assert episodes.last.shape == (8, len(episodes.names))

    @pytest.mark.parametrize(("env", "agent"), [walk for walk in WALKS if not walk[0].startswith("RTPath")])
    def test_its_actions_walk_it_again(self, env: str, agent: str) -> None:
        episodes = logged(env, agent)
        again = gym.make(env, **episodes.about["settings"])
        rows = np.flatnonzero(episodes.episode == 2)
        seen, _ = again.reset(seed=int(episodes.seed[2]), options={"index": int(episodes.problem[2])})
        for row in rows:
            np.testing.assert_array_equal(seen, episodes.observation[row])
            seen, reward, *_ = again.step(episodes.action[row])
            assert reward == episodes.reward[row]
        np.testing.assert_array_equal(seen, episodes.last[2])

    def test_an_agent_walks_as_it_runs(self) -> None:
        episodes = logged("RTPath-v0", "lss-lrta:lookahead=7")
        for number in (0, 5):
            problem = splits.load(SPLIT).problems[episodes.problem[number]]
            path = agents.run("lss-lrta", problem, lookahead=7, max_moves=150, seed=3 + number).path
            rows = episodes.episode == number
            assert path[: rows.sum()].tolist() == np.stack([episodes.x[rows], episodes.y[rows]], axis=1).tolist()

    def test_the_oracle_is_shown_and_labelled_as_in_samples(self, oracle: Episodes) -> None:
        courses = find_courses([SPLIT], Draw(count=1))
        samples = log_samples(courses, Logging(d_max=6, per_problem=10_000), workers=Workers(jobs=1))
        np.testing.assert_array_equal(oracle.observation, squashed(samples.situation))
        np.testing.assert_array_equal(oracle.action + 1, samples.label)

    def test_numbers_have_the_names_of_features(self) -> None:
        assert logged("RTDeepen-v0", "rule-lrta").names == SITUATION + LAYERS
        assert logged("RTThink-v0", "random").names == KNOWN["think"]
        path = logged("RTPath-v0", "random").names
        assert path[:4] == ("goal_0", "goal_1", "position_0", "position_1")
        assert path[-1] == "window_120"

    def test_a_level_has_a_split_of_its_own(self) -> None:
        episodes = log_episodes("RTPath-Maze-16x16-v0", "rta", per_map=1, max_moves=300)
        assert episodes.about["settings"]["split"] == "maze-16-train"
        assert len(episodes) == 512
        assert episodes.terminated.sum() > 0

    def test_sight_is_part_of_the_environment(self) -> None:
        near, far = (logged("RTThink-v0", "think-lss", vision=vision) for vision in (1, None))
        assert near.about["settings"]["vision"] == 1
        assert len(near.reward) != len(far.reward)

    @pytest.mark.parametrize(
        ("env", "agent", "message"),
        [
            ("RTSquad-v0", "random", 'env must be "RTPath-v0", .* or "RTThink-v0", not \'RTSquad-v0\''),
            ("RTDepth-v0", "lss-lrta", "asks for an agent that chooses depths: random, rule-lrta, .*, not lss-lrta"),
            ("RTDeepen-v0", "rule-lrta:tie=random", "without random ties, not rule-lrta:tie=random"),
            ("RTThink-v0", "rule", "there is no agent 'rule'"),
            ("RTThink-v0", "tba", "is for random or think-lss:policy=rule, mo-rts, N or FILE, not tba"),
            ("RTDepthGoal-v0", "general-lrta", "is for random, rule or general-lrta:policy=FILE with a network"),
        ],
    )
    def test_who_does_not_fit_is_refused(self, env: str, agent: str, message: str) -> None:
        with pytest.raises(InputError, match=message):
            make_walker(env, agent)


class TestFiles:
    def test_a_table_has_every_column(self, oracle: Episodes, tmp_path: Path) -> None:
        oracle.save(tmp_path / "e.csv")
        with (tmp_path / "e.csv").open() as file:
            head, *rows = csv.reader(file)
        assert head[:6] == ["episode", "problem", "seed", "step", "x", "y"]
        assert tuple(head[6:30]) == SITUATION
        assert head[30:] == ["action", "reward", "terminated", "truncated", "expansions", "scans"]
        assert len(rows) == len(oracle.reward)
        assert np.float32(rows[7][6]) == oracle.observation[7, 0]
        assert [row[3] for row in rows[:3]] == ["0", "1", "2"]

    def test_an_archive_has_every_array(self, oracle: Episodes, tmp_path: Path) -> None:
        oracle.save(tmp_path / "e.npz")
        with np.load(tmp_path / "e.npz") as arrays:
            head = json.loads(bytes(arrays["head"]))
            np.testing.assert_array_equal(arrays["observation"], oracle.observation)
            np.testing.assert_array_equal(arrays["action"], oracle.action)
            assert {"last", "seed", "problem", "episode", "reward", "terminated", "x", "y"} <= set(arrays)
        assert tuple(head["names"]) == SITUATION
        assert head["about"]["agent"] == "oracle-lrta:d_max=6"

    def test_pairs_of_actions_have_two_columns(self) -> None:
        columns = logged("RTDepthGoal-v0", "random").columns()
        assert columns["action_depth"].max() > 1
        assert set(columns["action_goal"]) == {0, 1}


class TestMinari:
    @pytest.fixture(autouse=True)
    def _here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("minari", reason="the extra offline is not installed")
        pytest.importorskip("h5py", reason="the extra offline is not installed")
        monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))

    def test_a_dataset_is_read_back_replayed_and_cloned_from(self, oracle: Episodes) -> None:
        import minari

        registered = dict(gym.spec("RTDepth-v0").kwargs)
        oracle.to_minari("rtdepth/oracle-v0")
        assert gym.spec("RTDepth-v0").kwargs == registered
        dataset = minari.load_dataset("rtdepth/oracle-v0")
        assert (dataset.total_episodes, dataset.total_steps) == (8, len(oracle.reward))
        about = list(dataset.storage.get_episode_metadata(range(8)))
        assert [one["seed"] for one in about] == oracle.seed.tolist()
        env, episode = dataset.recover_environment(), dataset[3]
        seen, _ = env.reset(seed=about[3]["seed"], options={"index": int(about[3]["options"]["index"])})
        for number, action in enumerate(episode.actions):
            np.testing.assert_array_equal(seen, episode.observations[number])
            seen, *_ = env.step(action)
        np.testing.assert_array_equal(seen, episode.observations[-1])

        rows = np.concatenate([one.observations[:-1] for one in dataset.iterate_episodes()])
        labels = np.concatenate([one.actions for one in dataset.iterate_episodes()]) + 1
        model = DecisionTreeClassifier(min_samples_leaf=20, random_state=0).fit(unsquashed(rows), labels)
        assert model.score(unsquashed(rows), labels) > np.bincount(labels).max() / len(labels)
        problem = splits.load(SPLIT).problems[0]
        assert agents.run("classifier-lrta", problem, policy=to_policy(model)).solved

    @pytest.mark.filterwarnings("error")
    def test_pairs_of_actions_are_kept(self) -> None:
        episodes = logged("RTDepthGoal-v0", "random")
        dataset = episodes.to_minari("rtdepthgoal/random-v0")
        np.testing.assert_array_equal(dataset[0].actions, episodes.action[episodes.episode == 0])

    def test_a_name_that_is_taken_or_none_is_refused(self, oracle: Episodes) -> None:
        oracle.to_minari("rtdepth/twice-v0")
        with pytest.raises(InputError, match="there is a Minari dataset rtdepth/twice-v0 already"):
            oracle.to_minari("rtdepth/twice-v0")
        with pytest.raises(InputError, match="has a name such as rtdepth/oracle-v0, not 'a b'"):
            oracle.to_minari("a b")

    def test_the_command_writes_dataset_and_table(self, tmp_path: Path) -> None:
        given = f"--env RTThink-v0 --agent think-lss --split {SPLIT} --problems 1 --minari rtthink/rule-v0 --json --out"
        done = runner.invoke(app, ["train", "log", *given.split(), str(tmp_path / "e.csv")])
        assert done.exit_code == 0, done.output
        facts = json.loads(done.stdout)
        assert (facts["episodes"], facts["reached"], facts["minari"]) == (8, 8, "rtthink/rule-v0")
        assert len((tmp_path / "e.csv").read_text().splitlines()) == facts["steps"] + 1
        again = runner.invoke(app, ["train", "log", "--minari", "rtthink/rule-v0"])
        assert (again.exit_code, again.stdout) == (2, "")


class TestCommand:
    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ([], "say where to: --minari NAME, --out FILE or both"),
            (["--out", "x.txt"], "--out must be a file that ends in .csv or .npz, not x.txt"),
            (["--out", "x.csv", "--split", "nowhere"], "there is no split 'nowhere': give "),
            (["--out", "x.csv", "--agent", "nobody"], "there is no agent 'nobody'"),
        ],
    )
    def test_what_is_wrong_is_said_in_one_sentence(
        self, given: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        done = runner.invoke(app, ["train", "log", *given])
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith(f"rt-gym: {message}")
        assert len(done.stderr.splitlines()) == 1

    def test_a_missing_library_is_named_before_the_walk(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("minari", "minari.dataset", "minari.dataset.minari_dataset"):
            monkeypatch.setitem(sys.modules, name, None)
        done = runner.invoke(app, ["train", "log", "--minari", "a/b-v0"])
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr == "rt-gym: Minari datasets need Minari and h5py: pip install 'rt_gym[offline]'\n"


@pytest.mark.parametrize(
    ("accuracy", "end"),
    [(0.5, "10.0 points of it are learned."), (0.4, "so judge it by its runs."), (0.1, "by its runs.")],
)
def test_an_accuracy_is_said_beside_that_of_the_most_frequent_label(accuracy: float, end: str) -> None:
    said = beside_majority(accuracy, 0.4, "always saying no")
    assert said.startswith(f"An accuracy of {100 * accuracy:.1f} %, where always saying no has 40.0 %: ")
    assert said.endswith(end)

"""Policy files: what goes through them unchanged, and what is refused in one sentence."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from agents.policies.trees import LEAF, Forest, Policy, add_scores, join_trees, load_policy, ready_made
from reference.plain_oracle import random_problem
from rt_gym import InputError, Problem
from rt_gym.features.decision import SITUATION

# revisits <= 1.5 ? (updates <= 3 ? depth 1 : depth 2) : depth 4
SMALL = Forest(
    root=np.array([0], np.int32),
    feature=np.array([0, 1, LEAF, LEAF, LEAF], np.int32),
    threshold=np.array([1.5, 3.0, 0.0, 0.0, 0.0]),
    left=np.array([1, 2, LEAF, LEAF, LEAF], np.int32),
    right=np.array([4, 3, LEAF, LEAF, LEAF], np.int32),
    scores=np.array([[0.5, 0.3, 0.2], [0.6, 0.4, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.1, 0.2, 0.7]]),
)
POLICY = Policy("depth", ("revisits", "updates"), 20, 4, (1, 2, 4), 0.5, SMALL, {"made": "by hand"})


def scores(forest: Forest, row: list[float], branch: int = 100) -> list[float]:
    out = np.zeros(forest.scores.shape[1])
    add_scores(forest, np.array(row, np.float32), branch, out)
    return out.tolist()


class TestScores:
    def test_a_row_goes_left_when_its_value_is_not_above_the_threshold(self) -> None:
        assert scores(SMALL, [1.5, 3.0]) == [1.0, 0.0, 0.0]
        assert scores(SMALL, [1.5, 3.5]) == [0.0, 1.0, 0.0]
        assert scores(SMALL, [2.0, 0.0]) == [0.1, 0.2, 0.7]

    def test_a_branch_that_is_cut_lets_its_inner_node_speak(self) -> None:
        assert scores(SMALL, [0.0, 0.0], branch=1) == [0.6, 0.4, 0.0]
        assert scores(SMALL, [0.0, 0.0], branch=0) == [0.5, 0.3, 0.2]

    def test_trees_add_up(self) -> None:
        both = join_trees([SMALL, SMALL._replace(scores=10 * SMALL.scores)])
        assert scores(both, [0.0, 9.0]) == [0.0, 11.0, 0.0]
        assert both.root.tolist() == [0, 5]

    def test_the_longest_branch_is_known(self) -> None:
        assert POLICY.branch == 2


class TestFiles:
    def test_a_policy_survives_its_file(self, tmp_path: Path) -> None:
        POLICY.save(tmp_path / "p.json")
        again = load_policy(tmp_path / "p.json")
        assert (again.decide, again.features, again.depths, again.about) == (
            "depth",
            POLICY.features,
            (1, 2, 4),
            {"made": "by hand"},
        )
        for mine, theirs in zip(POLICY.forest, again.forest, strict=True):
            np.testing.assert_array_equal(mine, theirs)

    def test_ready_made_policies_load_and_are_small(self) -> None:
        assert "tree" in ready_made()
        for name in ready_made():
            assert load_policy(name).d_max >= 1

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"kind": "other"}, "is not a depth policy"),
            ({"version": 2}, "has version 2 of the format, not 1"),
            ({"decide": "jump"}, "must decide depth or deepen, not 'jump'"),
            ({"features": ["revisits", "weather"]}, "has the feature 'weather'"),
            ({"features": ["revisits", "layer"]}, "has the feature 'layer', which a policy for the depth cannot know"),
            ({"depths": []}, "must list depths"),
            ({"depths": [1, 2, 9]}, "every depth must be a whole number from 1 to 4"),
            ({"threshold": float("nan")}, "must have a finite threshold"),
            ({"history": 0}, "history must be a whole number from 1"),
            ({"forest": None}, "has no trees"),
        ],
    )
    def test_what_is_not_a_policy_is_refused(self, tmp_path: Path, change: dict[str, Any], message: str) -> None:
        self.refused(tmp_path, change, message)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"left": [0, 2, -1, -1, -1]}, "whose child is missing or stands before it"),  # a cycle
            ({"right": [4, 9, -1, -1, -1]}, "whose child is missing or stands before it"),
            ({"right": [-1, 3, -1, -1, -1]}, "whose child is missing or stands before it"),
            ({"right": [3, 3, -1, -1, -1]}, "belongs to no tree or to two"),
            ({"feature": [0, 7, -1, -1, -1]}, "tests a feature beyond the 2 that it names"),
            ({"threshold": [1.5, "x", 0, 0, 0]}, "entries that are no numbers"),
            ({"threshold": [1.5, float("inf"), 0, 0, 0]}, "is not finite"),
            ({"scores": [[1.0, 0.0, 0.0]]}, "must have equally many entries per node, and 3 scores"),
            ({"root": []}, "belongs to no tree"),
        ],
    )
    def test_a_broken_tree_is_refused(self, tmp_path: Path, change: dict[str, Any], message: str) -> None:
        POLICY.save(tmp_path / "p.json")
        forest = json.loads((tmp_path / "p.json").read_text())["forest"]
        self.refused(tmp_path, {"forest": forest | change}, message)

    def refused(self, tmp_path: Path, change: dict[str, Any], message: str) -> None:
        path = tmp_path / "p.json"
        POLICY.save(path)
        path.write_text(json.dumps(json.loads(path.read_text()) | change))
        with pytest.raises(InputError, match=message) as refusal:
            agents.make("classifier-lrta", policy=str(path))
        assert str(refusal.value).count("\n") == 0
        assert "p.json" in str(refusal.value)

    def test_a_file_that_is_no_json_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "p.json").write_bytes(b"\x00\x01 no")
        with pytest.raises(InputError, match="is not a policy, nor any JSON file"):
            load_policy(tmp_path / "p.json")

    def test_an_unknown_name_lists_the_ready_made_ones(self) -> None:
        with pytest.raises(InputError, match=r"there is no policy oak; ready-made ones are .*tree"):
            load_policy("oak")

    @given(st.dictionaries(st.sampled_from(["kind", "version", "decide", "features", "forest", "depths"]), st.text()))
    def test_hostile_content_never_gets_further_than_a_refusal(self, content: dict[str, str]) -> None:
        from agents.policies.trees import _checked, _parse

        with pytest.raises(InputError):
            _parse(content, "a file", _checked)


class TestAgent:
    def problem(self) -> Problem:
        grid, start, goal = random_problem(np.random.default_rng(3), 20, density=0.3)
        return Problem(grid, start, goal)

    def test_a_policy_that_always_says_three_walks_as_lrta_of_depth_three(self) -> None:
        leaf = np.full(1, LEAF, np.int32)
        always = Forest(np.zeros(1, np.int32), leaf, np.zeros(1), leaf, leaf, np.ones((1, 1)))
        policy = Policy("depth", ("revisits",), 20, 3, (3,), 0.5, always)
        mine, fixed = (
            agents.run(agents.make("classifier-lrta", policy=policy), self.problem()),
            agents.run("lrta", self.problem(), depth=3),
        )
        assert mine.path.tolist() == fixed.path.tolist()
        assert mine.expansions == fixed.expansions

    def test_a_policy_that_acts_after_three_layers_walks_as_lrta_of_depth_three(self) -> None:
        forest = SMALL._replace(
            feature=np.array([0, LEAF, LEAF], np.int32),
            threshold=np.array([2.5, 0.0, 0.0]),
            left=np.array([1, LEAF, LEAF], np.int32),
            right=np.array([2, LEAF, LEAF], np.int32),
            scores=np.array([[0.5], [0.0], [1.0]]),
        )
        policy = Policy("deepen", ("layer",), 20, 9, (), 0.5, forest)
        mine = agents.run(agents.make("classifier-lrta", policy=policy), self.problem())
        fixed = agents.run("lrta", self.problem(), depth=3)
        assert mine.path.tolist() == fixed.path.tolist()
        assert mine.expansions == fixed.expansions

    def test_no_lookahead_is_deeper_than_d_max(self) -> None:
        leaf = np.full(1, LEAF, np.int32)
        always = Forest(np.zeros(1, np.int32), leaf, np.zeros(1), leaf, leaf, np.ones((1, 1)))
        policy = Policy("depth", ("revisits",), 20, 8, (8,), 0.5, always)
        agent = agents.make("classifier-lrta", policy=policy, d_max=2)
        assert agent.bound == 9
        assert agents.run(agent, self.problem()).expansions == agents.run("lrta", self.problem(), depth=2).expansions

    def test_the_longest_branch_is_told_and_bounded(self) -> None:
        assert agents.make("classifier-lrta", policy=POLICY).branch == 2
        assert agents.make("classifier-lrta", policy=POLICY, max_branch=1).branch == 1

    def test_features_that_only_look_back_read_no_neighbours(self) -> None:
        run = agents.run(agents.make("classifier-lrta", policy=POLICY), self.problem())
        rich = agents.run(
            agents.make(
                "classifier-lrta", policy=Policy("depth", ("surplus", "updates"), 20, 4, (1, 2, 4), 0.5, SMALL)
            ),
            self.problem(),
        )
        assert run.scans >= run.expansions
        assert rich.scans >= rich.expansions + rich.moves

    def test_policies_know_all_features_of_the_situation(self) -> None:
        assert len(SITUATION) == 24

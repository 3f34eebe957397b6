"""Exported policies decide as our kernels do: ONNX models in onnxruntime, C headers as compiled on this machine."""

import shutil
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from typer.testing import CliRunner

from agents.policies.genes import Genes
from agents.policies.networks import BOTH, MOVE, Network
from agents.policies.trees import Policy
from rt_gym import InputError
from rt_gym.features.decision import SITUATION
from training import to_policy
from training.cli import app
from training.export import clear_rows, decisions_of, load_exportable, sample_rows, scores_of, words
from training.export.formats import identifier, run_onnx, to_c, to_onnx
from training.learn.convert import constant
from training.learn.evolve import Encoding

FILES = Path(__file__).parents[2] / "agents"
ROWS = 3000
compiler = shutil.which("cc")
runner = CliRunner()


@cache
def made(name: str) -> Policy | Network:
    """Return a policy of every kind by a name."""
    random = np.random.default_rng(0)
    if name in ("forest", "boosting"):
        kinds: dict[str, Any] = {
            "forest": RandomForestClassifier(7, max_depth=6, random_state=0),
            "boosting": HistGradientBoostingClassifier(max_iter=4, max_depth=4),
        }
        rows = np.expm1(random.uniform(0, 5, (600, len(SITUATION)))).astype(np.float32)
        return to_policy(kinds[name].fit(rows, 1 + (rows[:, :5] > 20).sum(axis=1)))
    if name == "constant":
        return Policy("depth", SITUATION[:4], 20, 5, (2, 5), 0.0, constant(np.array([0.0, 1.0])))
    if name == "depth and goal":
        encoding = Encoding(BOTH, 2, 8, 20)
        return encoding.network(encoding.start() + random.normal(0, 0.3, encoding.start().size))
    if name == "relu":
        sizes = (24, 9, 7, 3)
        layers = tuple((random.normal(0, 1, pair), random.normal(0, 1, pair[1])) for pair in pairwise(sizes))
        return Network("depth", SITUATION, layers, 9, (1, 4, 9), 20, "relu", mean=[0.5] * 24, scale=[2.0] * 24)
    if name == "move":
        sizes = (30, 12, 8)
        layers = tuple((random.normal(0, 1, pair), random.normal(0, 1, pair[1])) for pair in pairwise(sizes))
        return Network(MOVE, tuple(f"goal_{k}" for k in range(30)), layers, 1, activation="relu", moves=8)
    return load_exportable(FILES / name if "." in name else name)


TREES = ("tree", "history", "deepen.json", "forest", "boosting", "constant")
NETWORKS = ("deepen", "depth", "think.npz", "depth and goal", "relu", "move")


def wanted(policy: Policy | Network, rows: Any) -> tuple[Any, dict[str, Any]]:
    scores = scores_of(policy, rows)
    return scores, decisions_of(policy, scores)


class TestOnnx:
    @pytest.mark.parametrize("name", [*TREES, *NETWORKS])
    def test_all_decisions_are_equal(self, name: str) -> None:
        pytest.importorskip("onnxruntime", reason="the extra export is not installed")
        pytest.importorskip("onnx", reason="the extra export is not installed")
        policy = made(name)
        rows = sample_rows(policy, ROWS, seed=1)
        scores, decisions = wanted(policy, rows)
        found = run_onnx(to_onnx(policy, "policy"), rows)
        for word in words(policy):
            assert name == "constant" or len(set(decisions[word])) > 1
            np.testing.assert_array_equal(found[word], decisions[word])
        if name in TREES:
            np.testing.assert_array_equal(found["scores"], scores)
        np.testing.assert_allclose(found["scores"], scores, rtol=1e-4, atol=1e-4)

    def test_a_file_says_what_it_is(self) -> None:
        onnx = pytest.importorskip("onnx", reason="the extra export is not installed")
        model = onnx.load_from_string(to_onnx(made("history"), "history"))
        facts = {prop.key: prop.value for prop in model.metadata_props}
        assert facts["features"] == "goal_distance,trip_distance,revisits,updates"
        assert (facts["decide"], facts["history"], facts["d_max"]) == ("depth", "20", "20")
        assert {node.domain for node in model.graph.node} == {""}


def in_c(policy: Policy | Network, folder: Path, rows: Any, *flags: str) -> tuple[Any, dict[str, Any]]:
    """Return scores and decisions of a header that is compiled, and whose test of itself finds nothing."""
    (folder / "my policy.h").write_text(to_c(policy, "my policy"))
    calls = "".join(f"d = my_policy_{word}(row); fwrite(&d, sizeof d, 1, stdout);" for word in words(policy))
    (folder / "main.c").write_text(
        '#include <stdio.h>\n#include "my policy.h"\n'
        "int main(void) { float row[MY_POLICY_FEATURES]; double s[MY_POLICY_SCORES]; int d;"
        "if (my_policy_self_test() != 0) return 3;"
        "while (fread(row, sizeof row, 1, stdin) == 1) {"
        f"my_policy_scores(row, s); fwrite(s, sizeof s, 1, stdout); {calls} }} return 0; }}\n"
    )
    assert compiler is not None
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *strict, *flags, "-o", folder / "main", folder / "main.c", "-lm"], check=True)
    done = subprocess.run([folder / "main"], input=rows.tobytes(), capture_output=True, check=True)
    width = scores_of(policy, rows[:1]).shape[1]
    found = np.frombuffer(done.stdout, [("scores", np.float64, (width,)), ("said", np.int32, (len(words(policy)),))])
    return found["scores"], {word: found["said"][:, k] for k, word in enumerate(words(policy))}


@pytest.mark.skipif(compiler is None, reason="there is no C compiler")
class TestC:
    @pytest.mark.parametrize("name", [*TREES, *NETWORKS])
    def test_all_decisions_are_equal(self, name: str, tmp_path: Path) -> None:
        policy = made(name)
        rows = sample_rows(policy, ROWS, seed=2)
        scores, decisions = wanted(policy, rows)
        found, said = in_c(policy, tmp_path, rows)
        for word in words(policy):
            np.testing.assert_array_equal(said[word], decisions[word])
        if name in TREES:
            np.testing.assert_array_equal(found, scores)
        np.testing.assert_allclose(found, scores, rtol=1e-4, atol=1e-4)

    def test_a_wrong_table_is_found_by_the_test_of_itself(self, tmp_path: Path) -> None:
        header = to_c(made("history"), "history")
        wrong = header.replace("<= history_threshold_", "> history_threshold_")
        assert wrong != header
        (tmp_path / "history.h").write_text(wrong)
        (tmp_path / "main.c").write_text('#include "history.h"\nint main(void) { return history_self_test(); }\n')
        assert compiler is not None
        subprocess.run([compiler, "-o", tmp_path / "main", tmp_path / "main.c", "-lm"], check=True)
        assert subprocess.run([tmp_path / "main"]).returncode > 0


class TestVectors:
    @pytest.mark.parametrize("name", [*TREES, *NETWORKS])
    def test_every_decision_has_one(self, name: str) -> None:
        policy = made(name)
        rows, said = clear_rows(policy, 32)
        _, decisions = wanted(policy, sample_rows(policy, 200, seed=3))
        for word in words(policy):
            np.testing.assert_array_equal(said[word], wanted(policy, rows)[1][word])
            assert len(set(said[word])) >= min(32, len(set(decisions[word])) - 1)

    @pytest.mark.parametrize(
        ("stem", "name"), [("tree", "tree"), ("a b-c", "a_b_c"), ("9", "policy_9"), ("é", "policy__")]
    )
    def test_names_are_those_that_c_takes(self, stem: str, name: str) -> None:
        assert identifier(stem) == name


class TestCommand:
    def test_both_files_are_written_and_named(self, tmp_path: Path) -> None:
        pytest.importorskip("onnxruntime", reason="the extra export is not installed")
        pytest.importorskip("onnx", reason="the extra export is not installed")
        given = ["--onnx", str(tmp_path / "t.onnx"), "--c", str(tmp_path / "t.h")]
        done = runner.invoke(app, ["train", "export", "tree", *given])
        assert done.exit_code == 0, done.output
        assert "2000 of 2000 random inputs are decided as by rt_gym" in done.stdout
        assert (tmp_path / "t.h").read_text() == to_c(made("tree"), "t")
        assert (tmp_path / "t.onnx").read_bytes() == to_onnx(made("tree"), "t")

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (["tree"], "rt-gym: say where to: --onnx FILE, --c FILE or both\n"),
            (
                ["goal", "--c", "x.h"],
                "rt-gym: goal: a goal policy scores regions of an abstraction, which other programs",
            ),
            (["genes.json", "--c", "x.h"], "rt-gym: genes.json: genes are settings of building-block-lrta, and no"),
            (["nowhere", "--c", "x.h"], "rt-gym: there is no policy nowhere; ready-made ones are history, tree"),
            (["nowhere.json", "--c", "x.h"], "rt-gym: nowhere.json: cannot be read (No such file"),
        ],
    )
    def test_what_cannot_be_exported_is_refused_in_one_sentence(
        self, given: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Genes().save("genes.json")
        done = runner.invoke(app, ["train", "export", *given])
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith(message)
        assert len(done.stderr.splitlines()) == 1
        assert not Path("x.h").exists()

    def test_a_missing_library_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "onnx", None)
        with pytest.raises(InputError, match=r"ONNX files need onnx: pip install 'rt_gym\[export\]'"):
            to_onnx(made("history"), "history")

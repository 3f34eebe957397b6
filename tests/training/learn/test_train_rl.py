"""``rt-gym train rl``: from maps to a network, tables and plots; what is missing is named at once."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agents.policies.networks import load_network
from training.cli import app
from training.learn import draw_parts
from training.learn.rl import RLConfig, train_rl
from training.runs import Draw, Workers

WHY = "the extra rl (Stable-Baselines3 and PyTorch) is not installed"
pytest.importorskip("stable_baselines3", reason=WHY)

pytestmark = pytest.mark.usefixtures("one_thread")

THINK = "RTThink-v0"


class TestCommand:
    MAPS = ("--maps", "rooms-64", "--validation", "random-48", "--test", "terrain-96", "--optimal", "20..60")
    TINY = (*MAPS, "--problems", "2", "--steps", "4000", "--episodes", "16", "--every", "2000", "--d-max", "5")

    def run(self, out: Path, *options: str) -> Any:
        return CliRunner().invoke(app, ["train", "rl", *self.TINY, "--jobs", "1", "--out", str(out), *options])

    @pytest.mark.parametrize("options", [("--teacher", "rule"), ("--algo", "cma", "--generations", "2")])
    def test_a_controller_of_the_lookahead_from_maps_to_tables(self, options: tuple[str, ...], tmp_path: Path) -> None:
        tmp_path /= "a,b=1:2 [c] 'd'"
        result = self.run(tmp_path, *options)
        assert result.exit_code == 0, result.stderr
        for text in ("On the validation maps", "lrta depth=26", "oracle-lrta", "policy-lrta", "eaderboard"):
            assert text in result.stdout
        assert {path.name for path in tmp_path.iterdir()} >= {"policy.npz", "training.png", "results.csv"}
        assert load_network(tmp_path / "policy.npz").d_max == 5
        assert all(Path(line).exists() for line in result.stdout.splitlines()[-3:])

    @pytest.mark.parametrize("options", [("--algo", "ppo"), ("--generations", "2")])
    def test_a_controller_of_depth_and_goal_from_maps_to_tables(
        self, options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("training.learn.rl.train.PROBLEMS", 6)
        result = self.run(tmp_path, "--env", "RTDepthGoal-v0", *options)
        assert result.exit_code == 0, result.stderr
        for text in ("suboptimality", "lrta depth=8", "goal=pdb", "tba", "lrta-ls-kd", "rule.npz", "policy.npz"):
            assert text in result.stdout
        network = load_network(tmp_path / "policy.npz")
        assert (network.decide, network.d_max, network.history) == ("depth and goal", 5, 50)

    def test_a_controller_of_thinking_as_json(self, tmp_path: Path) -> None:
        result = self.run(tmp_path, "--env", THINK, "--vision", "3", "--slice", "5", "--json")
        assert result.exit_code == 0, result.stderr
        document = json.loads(result.stdout)
        assert list(document["time_ratios"])[-4:] == ["until found", "rule", "mo-rts", "network"]
        assert [look[0] for look in document["looks"]][::2] == [0, 4000]
        assert load_network(tmp_path / "policy.npz").decide == "think"
        written = {"policy.npz", "settings.json", "results.csv", "training.png", "report.html"}
        assert {Path(name).name for name in document["files"]} == written
        assert written <= {path.name for path in tmp_path.iterdir()}
        settings = json.loads((tmp_path / "settings.json").read_text())
        assert (settings["env"], settings["seed"], settings["training"]["training"]["slice"]) == (THINK, 0, 5)
        assert "problems on terrain-96, in RTThink-v0" in (tmp_path / "report.html").read_text("ascii")

    def test_a_network_that_thinks_takes_as_long_in_a_comparison_of_agents(self, tmp_path: Path) -> None:
        result = self.run(tmp_path, "--env", THINK, "--vision", "3", "--slice", "5", "--teacher", "mo-rts", "--json")
        assert result.exit_code == 0, result.stderr
        ratios = json.loads(result.stdout)["time_ratios"]
        contenders = ["-a", f"think-lss:policy={tmp_path / 'policy.npz'}", "-a", "think-lss:policy=mo-rts,4"]
        problems = ["terrain-96", "--optimal", "20..60", "--problems", "2", "--vision", "3", "--budget", "5"]
        compared = CliRunner().invoke(
            app, ["compare", *problems, *contenders, "--jobs", "1", "--json", "--out", str(tmp_path / "compared")]
        )
        assert compared.exit_code == 0, compared.stderr
        found = [row["quality"]["value"] for row in json.loads(compared.stdout)["scores"]]
        assert found == pytest.approx([ratios[name] for name in ("network", "mo-rts", "slices=4")])

    def test_bad_settings_are_refused_before_anything_is_written(self, tmp_path: Path) -> None:
        result = self.run(tmp_path / "new", "--algo", "sac")
        assert (result.exit_code, result.stdout) == (2, "")
        assert "algo must be one of" in result.stderr
        assert not (tmp_path / "new").exists()

    def test_ctrl_c_says_what_is_kept(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*_: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("training.learn.rl.train_rl", interrupted)
        result = self.run(tmp_path)
        assert (result.exit_code, result.stdout) == (130, "")
        assert result.stderr.endswith(f"is kept in {tmp_path}; the same command goes on from there\n")

    @pytest.mark.parametrize(
        ("missing", "options", "says"),
        [
            ("stable_baselines3", (), "reinforcement learning needs Stable-Baselines3: pip install 'rt_gym[rl]'"),
            ("torch", (), "reinforcement learning needs Stable-Baselines3: pip install 'rt_gym[rl]'"),
            ("sb3_contrib", ("--algo", "maskable-ppo"), "maskable-ppo needs sb3-contrib: pip install 'rt_gym[rl]'"),
            ("tensorboard", ("--tensorboard", "log"), "a log for TensorBoard needs it: pip install 'rt_gym[rl]'"),
        ],
    )
    def test_a_missing_library_is_named_before_anything_is_written(
        self, missing: str, options: tuple[str, ...], says: str, tmp_path: Path, without: Any
    ) -> None:
        done = without(missing, "train", "rl", *self.TINY, "--out", str(tmp_path / "new"), *options)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"rt-gym: {says}\n")
        assert not (tmp_path / "new").exists()

    @pytest.mark.parametrize("command", [("train", "rl", "--help"), ("agents",), ("maps", "list")])
    def test_other_commands_never_miss_the_library(self, command: tuple[str, ...], without: Any) -> None:
        done = without("torch", *command)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout

    def test_evolution_needs_no_library_and_leaves_no_log(self, tmp_path: Path) -> None:
        result = self.run(tmp_path / "new", "--algo", "cma", "--tensorboard", str(tmp_path / "log"))
        assert (result.exit_code, result.stdout) == (2, "")
        assert "cma leaves no log for TensorBoard" in result.stderr


def test_the_result_of_a_training_tells_what_it_has_written(tmp_path: Path) -> None:
    parts = draw_parts({"train": ["rooms-64"], "validation": ["random-48"], "test": ["terrain-96"]}, Draw(2, 20, 60))
    result = train_rl(RLConfig(algo="cma", d_max=4, generations=2), parts, tmp_path, Workers(jobs=1))
    assert load_network(tmp_path / "policy.npz").about == result.network.about == result.document()["policy"]
    assert result.files[0] == tmp_path / "policy.npz"
    assert all(file.is_file() for file in result.files)
    assert result.document()["looks"] == result.progress.looks
    assert [look[0] for look in result.progress.looks] == [2]

"""The command as a whole: what it imports, and what becomes of errors, Ctrl-C and closed pipes."""

import errno
import importlib.metadata
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import agents
import rt_gym
import training
from training import cli

ROOT = Path(training.__file__).parents[1]
ENTRY = "from training.cli import main; main()"
runner = CliRunner()


def python(*arguments: str, cwd: Path = ROOT, path: Path = ROOT, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, with one folder of modules besides those that are installed."""
    environment = {"PYTHONPATH": str(path), "PATH": ""}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, **options)


def fail_with(error: BaseException) -> Any:
    def fail(*arguments: Any) -> None:
        raise error

    return fail


def test_importing_the_command_imports_nothing_heavy() -> None:
    result = python("-c", "import json, sys, training.cli; print(json.dumps(list(sys.modules)))")
    roots = {name.partition(".")[0] for name in json.loads(result.stdout)}
    assert "typer" in roots
    assert roots & {"numba", "numpy", "matplotlib", "scipy", "joblib", "PIL", "gymnasium", "rt_gym", "agents"} == set()


def test_help_names_every_sub_command() -> None:
    result = runner.invoke(cli.app, ["--help"])
    assert result.exit_code == 0
    for name in ("demo", "agents", "maps", "play", "compare", "reproduce", "bench"):
        assert f" {name} " in result.stdout


def test_the_version_is_that_of_the_package_and_nothing_heavy_is_imported_for_it() -> None:
    # Standard error lists what is imported.
    result = python("-X", "importtime", "-c", ENTRY, "--version")
    assert (result.returncode, result.stdout) == (0, f"rt_gym {rt_gym.__version__}\n")
    assert "| numpy" not in result.stderr
    assert importlib.metadata.version("rt_gym") == rt_gym.__version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {rt_gym.__version__}\n" in citation


@pytest.mark.parametrize("arguments", [["nonsense"], ["agents", "--nonsense"], ["maps"], ["maps", "nonsense"], []])
def test_wrong_usage_exits_with_2(arguments: list[str]) -> None:
    result = runner.invoke(cli.app, arguments)
    assert result.exit_code == 2
    assert "Usage: " in result.output


def test_a_refusal_is_one_sentence_on_standard_error() -> None:
    result = python("-c", ENTRY, "agents", "nobody")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("rt-gym: there is no agent 'nobody'")
    assert result.stderr.count("\n") == 1


def test_an_error_of_our_own_is_not_taken_for_wrong_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "ids", fail_with(ValueError("a mistake in the program")))
    assert isinstance(runner.invoke(cli.app, ["agents"]).exception, ValueError)


def test_a_full_disk_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "ids", fail_with(OSError(errno.ENOSPC, "No space left on device")))
    result = runner.invoke(cli.app, ["agents"])
    assert result.exit_code == 1
    assert result.stderr.startswith("rt-gym: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("kind", [rt_gym.BudgetExceeded, rt_gym.Fault, rt_gym.AgentFailure])
def test_a_run_that_failed_in_a_way_we_know_is_one_sentence(
    kind: type[RuntimeError], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "ids", fail_with(kind("the path is too short")))
    result = runner.invoke(cli.app, ["agents"])
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "rt-gym: the path is too short\n")


def test_other_runtime_errors_are_mistakes_in_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "ids", fail_with(RuntimeError("a mistake")))
    assert isinstance(runner.invoke(cli.app, ["agents"]).exception, RuntimeError)


def test_ctrl_c_stops_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "ids", fail_with(KeyboardInterrupt()))
    result = runner.invoke(cli.app, ["agents"])
    assert (result.exit_code, result.stderr) == (130, "stopped\n")


@pytest.mark.parametrize(
    ("module", "lines"),
    [
        (
            "llvmlite.binding",
            "def notify(signum): interrupt(signum, sys._getframe())\nfor each in signals: notify(each)",
        ),
        ("numba.core.dispatcher", "for each in signals: interrupt(each, sys._getframe())"),
    ],
    ids=["while LLVM compiles", "while Numba is imported"],
)
def test_a_signal_that_c_would_swallow_is_put_off_and_not_lost(
    module: str, lines: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    class Timer:
        def __init__(self, seconds: float, call: Any, given: list[int]) -> None:
            self.call = call, given

        def start(self) -> None:
            started.append(self.call)

    signals = [signal.SIGINT, signal.SIGTERM]
    monkeypatch.setattr(cli.threading, "Timer", Timer)
    exec(lines, {"__name__": module, "interrupt": cli._interrupt, "sys": sys, "signals": signals})
    assert started == [(cli._thread.interrupt_main, [number]) for number in signals]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_a_command_with_one_word(
    number: signal.Signals, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "ids", lambda: cli._interrupt(number, sys._getframe()))
    result = runner.invoke(cli.app, ["agents"])
    assert (result.exit_code, result.stderr) == (code, "stopped\n")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_before_the_command_begins_has_the_same_exit_code(
    number: signal.Signals, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli._Group, "make_context", lambda *_, **__: cli._interrupt(number, sys._getframe()))
    assert runner.invoke(cli.app, ["agents"]).exit_code == code


def test_a_closed_pipe_is_silent() -> None:
    command = [sys.executable, "-c", ENTRY, "agents"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_our_own_agents_pass_the_check() -> None:
    training.check_agents()


@pytest.mark.parametrize("module", ["agents/__init__.py", "agents.py"])
def test_the_agents_of_another_distribution_are_refused_in_one_sentence(module: str, tmp_path: Path) -> None:
    (tmp_path / module).parent.mkdir(exist_ok=True)
    (tmp_path / module).write_text("")
    # As if our three packages stood behind another `agents` on the path.
    entry = f"import sys; sys.path.append({str(ROOT)!r}); {ENTRY}"
    result = python("-c", entry, "agents", cwd=tmp_path, path=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"another distribution's, in {tmp_path / 'agents'}" in result.stderr
    assert "virtual environment" in result.stderr
    assert result.stderr.count("\n") == 1


THEIRS = {"__init__.py": "from .agent import Agent\n", "agent.py": "class Agent:\n    pass\n", "run.py": ""}


@pytest.mark.parametrize(
    ("unpacked", "foreign"),
    [
        (THEIRS, "__init__.py"),
        ({"lrta.py": "class Other:\n    pass\n"}, "lrta.py"),
        ({"base.py": ""}, "base.py"),
        ({"tba.py": None}, "tba.py"),
        ({"__init__.py": "_TABLE = {\n    'a': 3,\n}\n"}, "__init__.py"),
    ],
)
def test_another_distribution_unpacked_over_ours_is_refused_in_one_sentence(
    unpacked: dict[str, str | None], foreign: str, tmp_path: Path
) -> None:
    for package in ("rt_gym", "agents", "training"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, content in unpacked.items():
        if content is None:
            (tmp_path / "agents" / name).unlink()
        else:
            (tmp_path / "agents" / name).write_text(content)
    result = python("-c", ENTRY, "agents", cwd=tmp_path, path=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"mixed with another distribution's, {foreign} in {tmp_path / 'agents'} is not ours" in result.stderr
    assert result.stderr.count("\n") == 1


def test_files_besides_ours_are_no_matter(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "agents", tmp_path / "agents")
    (tmp_path / "agents" / "new_one.py").write_text("")
    assert training._foreign_file(tmp_path / "agents") is None


def test_a_missing_agents_package_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "find_spec", lambda name: None)
    result = runner.invoke(cli.app, ["agents"])
    assert result.exit_code == 2
    assert "is missing" in result.stderr

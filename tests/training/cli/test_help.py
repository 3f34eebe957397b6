"""The help of every command: how long it is, its groups, and which options commands share."""

import inspect
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from training.cli import app
from training.experiments import ids

runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
SCREEN = 50  # lines
RUNNING_JOBS = [
    "agents",
    "bench",
    "compare",
    "demo",
    "precompute knn",
    "precompute pdb",
    "precompute subgoals",
    "reproduce",
    "train baselines",
    "train blocks",
    "train depth",
    "train goal",
    "train ground",
    "train rl",
]


def all_commands(group: Any = None, *names: str) -> Iterator[tuple[str, Any]]:
    for name, command in (group or typer.main.get_command(app)).commands.items():
        if hasattr(command, "commands"):
            yield from all_commands(command, *names, name)
        else:
            yield " ".join([*names, name]), command


COMMANDS = dict(all_commands())


def help_of(name: str) -> str:
    result = runner.invoke(app, [*name.split(), "--help"])
    assert result.exit_code == 0
    return result.stdout


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_no_help_is_much_longer_than_a_screen(name: str) -> None:
    # compare has more to choose from than any other command.
    assert len(help_of(name).splitlines()) <= (SCREEN + 6 if name == "compare" else SCREEN)


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("compare", ["Problems", "Agents and budgets", "Judging", "Running"]),
        ("play", ["Problems", "Agent", "Showing"]),
        ("train dealer", ["Maps", "Agents and budgets", "Learning", "Output"]),
        ("train depth", ["Maps", "Learning", "Running", "Output"]),
        ("train goal", ["Maps", "Learning", "Running", "Output"]),
        ("train log", ["Learning", "Agents and budgets", "Maps", "Output"]),
        ("train rl", ["Maps", "Learning", "Running", "Output"]),
        ("precompute pdb", ["Knowledge", "Running"]),
        ("reproduce", ["Problems", "Running", "Output"]),
    ],
)
def test_long_options_are_in_groups(name: str, groups: list[str]) -> None:
    shown = help_of(name)
    places = [shown.find(f"─ {group} ─") for group in groups]
    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_line_of_help_is_cut(name: str) -> None:
    assert "…" not in help_of(name)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_does(name: str) -> None:
    assert all(getattr(option, "help", "") for option in COMMANDS[name].params)
    assert inspect.getdoc(COMMANDS[name].callback)


def test_whatever_runs_jobs_runs_them_on_a_cluster() -> None:
    options = {name: {option.name for option in command.params} for name, command in COMMANDS.items()}
    assert [name for name in sorted(options) if "jobs" in options[name]] == RUNNING_JOBS
    assert all({"backend", "scheduler"} <= options[name] for name in RUNNING_JOBS)


@pytest.mark.parametrize("name", RUNNING_JOBS)
def test_a_cluster_without_an_address_is_refused_by_all_alike(name: str) -> None:
    needed = {"compare": ["open-16"], "reproduce": ["tb-t1"], "agents": ["--write-docs", "docs"]}
    given = ["open-16"] if name.startswith("precompute") else needed.get(name, [])
    result = runner.invoke(app, [*name.split(), *given, "--backend", "dask"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "rt-gym: the backend dask and the address of a scheduler go together\n"


def test_experiments_are_listed() -> None:
    words = help_of("reproduce").replace(",", " ").replace(".", " ").split()
    assert set(ids()) <= set(words)

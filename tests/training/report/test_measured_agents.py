"""``docs/agents.md``: agents as they are described in the code.

The page need not list an agent for the tests to pass: ``rt-gym agents ID --write-docs docs`` adds it.
"""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import agents
from training.cli import app
from training.cli.agents import describe
from training.report.measured import AGENTS_PAGE, rows_by_id, static_part

DOCS = Path(__file__).resolve().parents[3] / "docs"
FEW = ["astar", "lrta"]

runner = CliRunner()


def ids_of(table: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)


def parts_of(folder: Path) -> tuple[str, str]:
    described, measured = (folder / AGENTS_PAGE).read_text(encoding="utf-8").split("\n## Measured\n")
    return described, measured


def not_measured(measured: str) -> list[str]:
    return re.findall(r"`([^`]+)`", measured.partition("\nNot measured yet: ")[2])


def write(folder: Path, *arguments: str) -> tuple[str, str]:
    result = runner.invoke(app, ["agents", *arguments, "--write-docs", str(folder), "--jobs", "1"])
    assert result.exit_code == 0, result.output
    return parts_of(folder)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two agents, and as few problems as there can be."""
    monkeypatch.setattr(agents, "_TABLE", {agent_id: agents._TABLE[agent_id] for agent_id in FEW})
    monkeypatch.setattr("training.report.measured.PER_MAP", 1)


def test_the_page_describes_the_agents_it_lists_as_the_code_does() -> None:
    described, _ = parts_of(DOCS)
    listed = ids_of(described)
    assert static_part(describe(agent_id) for agent_id in listed) in described
    assert listed == [agent_id for agent_id in agents.ids() if agent_id in listed]


def test_every_agent_that_is_listed_is_measured_or_said_not_to_be() -> None:
    described, measured = parts_of(DOCS)
    listed, missing = ids_of(described), not_measured(measured)
    assert ids_of(measured) == [agent_id for agent_id in listed if agent_id not in missing]
    assert missing == [agent_id for agent_id in listed if agent_id in missing]


@pytest.mark.parametrize("agent_id", agents.ids())
def test_a_source_is_a_citation_or_missing(agent_id: str) -> None:
    source = describe(agent_id)["source"]
    assert source is None or re.search(r"(19|20)\d\d", source)
    assert (source is None) == (agent_id == "rule-lrta")


@pytest.mark.usefixtures("few")
def test_the_command_writes_the_page(tmp_path: Path) -> None:
    described, measured = write(tmp_path / "docs")
    assert static_part(map(describe, FEW)) in described
    assert ids_of(measured) == FEW
    assert "the same 16 problems" in measured
    (astar,) = (line for line in measured.splitlines() if line.startswith("| `astar` |"))
    assert astar.split(" | ")[1:3] == ["1.000", "[1.000, 1.000]"]
    assert astar.endswith("| 16/16 |")


@pytest.mark.usefixtures("few")
def test_one_agent_is_measured_alone_and_the_rows_of_the_others_stay(tmp_path: Path) -> None:
    described, measured = write(tmp_path, "lrta")
    assert ids_of(described) == FEW
    assert (ids_of(measured), not_measured(measured)) == (["lrta"], ["astar"])
    page, row = tmp_path / AGENTS_PAGE, rows_by_id(measured)["lrta"]
    page.write_text(page.read_text(encoding="utf-8").replace(row, "| `lrta` | kept |"), encoding="utf-8")
    _, measured = write(tmp_path, "astar")
    assert (ids_of(measured), not_measured(measured)) == (FEW, [])
    assert rows_by_id(measured)["lrta"] == "| `lrta` | kept |"
    _, measured = write(tmp_path, "lrta")
    assert ids_of(measured) == FEW
    assert rows_by_id(measured)["lrta"] != "| `lrta` | kept |"


@pytest.mark.usefixtures("few")
def test_an_agent_that_the_page_does_not_list_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path)
    monkeypatch.setitem(agents._TABLE, "rta", ("rta", "RTA"))
    described, measured = write(tmp_path, "rta")
    assert ids_of(described) == ids_of(measured) == [*FEW, "rta"]

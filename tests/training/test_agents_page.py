"""``docs/agents.md``: all agents, as they are described in the code."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import agents
from training.cli import app
from training.commands.agents import describe
from training.experiments import agents_page
from training.experiments.agents_page import PAGE, static_part

DOCS = Path(__file__).resolve().parents[2] / "docs"
FEW = ["astar", "lrta"]

runner = CliRunner()


def ids_of(table: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)


def test_the_page_describes_the_agents_as_the_code_does() -> None:
    page = (DOCS / PAGE).read_text(encoding="utf-8")
    assert static_part(describe(agent_id) for agent_id in agents.ids()) in page


def test_the_page_lists_every_agent_once_described_and_once_measured() -> None:
    described, measured = (DOCS / PAGE).read_text(encoding="utf-8").split("\n## Measured\n")
    assert ids_of(described) == agents.ids()
    assert ids_of(measured) == agents.ids()


@pytest.mark.parametrize("agent_id", agents.ids())
def test_a_source_is_a_citation_or_missing(agent_id: str) -> None:
    source = describe(agent_id)["source"]
    assert source is None or re.search(r"(19|20)\d\d", source)
    assert (source is None) == (agent_id == "rule-lrta")


def test_the_command_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "_TABLE", {agent_id: agents._TABLE[agent_id] for agent_id in FEW})
    monkeypatch.setattr(agents_page, "PER_MAP", 1)
    result = runner.invoke(app, ["agents", "--write-docs", str(tmp_path / "docs"), "--jobs", "1"])
    assert result.exit_code == 0, result.output
    page = (tmp_path / "docs" / PAGE).read_text(encoding="utf-8")
    described, measured = page.split("\n## Measured\n")
    assert static_part(map(describe, FEW)) in described
    assert ids_of(measured) == FEW
    assert "the same 16 problems" in measured
    (astar,) = (line for line in measured.splitlines() if line.startswith("| `astar` |"))
    assert astar.split(" | ")[1:3] == ["1.000", "[1.000, 1.000]"]
    assert astar.endswith("| 16/16 |")


def test_the_page_of_one_agent_alone_is_refused(tmp_path: Path) -> None:
    result = runner.invoke(app, ["agents", "lrta", "--write-docs", str(tmp_path / "docs")])
    assert (result.exit_code, result.stdout) == (2, "")
    assert not (tmp_path / "docs").exists()

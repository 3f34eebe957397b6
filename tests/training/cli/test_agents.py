"""``rt-gym agents``."""

import json

import pytest
from typer.testing import CliRunner

import agents
from training.cli import app

runner = CliRunner()


def test_the_list_has_every_id_with_its_parameters_and_bound() -> None:
    result = runner.invoke(app, ["agents"])
    assert result.exit_code == 0
    assert all(agent_id in result.stdout for agent_id in agents.ids())
    assert "lookahead=50" in result.stdout


def test_the_list_says_who_prepares_beforehand() -> None:
    entries = json.loads(runner.invoke(app, ["agents", "--json"]).stdout)
    prepared = {entry["id"] for entry in entries if entry["precomputes"]}
    assert prepared == {"pr-lrts", "knn-lrta", "hcdps", "subgoal-lrta", "pdb-lrta", "general-lrta"}
    assert "prepares: whether it computes knowledge" in runner.invoke(app, ["agents"]).stdout
    assert "prepares itself for a map beforehand" in runner.invoke(app, ["agents", "pdb-lrta"]).stdout


def test_json_says_the_same_as_the_package() -> None:
    entries = json.loads(runner.invoke(app, ["agents", "--json"]).stdout)
    assert [entry["id"] for entry in entries] == agents.ids()
    assert [entry["parameters"] for entry in entries] == [agents.parameters(agent_id) for agent_id in agents.ids()]
    assert [entry["bound"] for entry in entries] == [agents.make(agent_id).bound for agent_id in agents.ids()]


@pytest.mark.parametrize("agent_id", agents.ids())
def test_an_id_shows_the_whole_documentation(agent_id: str) -> None:
    result = runner.invoke(app, ["agents", agent_id])
    assert result.exit_code == 0
    assert (agents.load(agent_id).__doc__ or "").split("\n")[0] in result.stdout
    assert json.loads(runner.invoke(app, ["agents", agent_id, "--json"]).stdout)["documentation"] in result.stdout


def test_the_documentation_of_an_agent_cites_its_paper() -> None:
    assert "S. Koenig, X. Sun" in runner.invoke(app, ["agents", "lss-lrta"]).stdout


def test_an_unknown_id_is_refused_with_the_nearest() -> None:
    result = runner.invoke(app, ["agents", "lss-lrt"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean lss-lrta?" in result.stderr

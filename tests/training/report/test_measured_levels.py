"""The tables of the page of levels: a row per level, from the runs themselves, put where the page has room for them."""

import re
from pathlib import Path

import pytest

import agents
from rt_gym import Problem, load_map
from rt_gym.levels import LEVELS, Level
from training.report import measured

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_has_a_row_for_every_level_known_and_in_fog() -> None:
    text = (ROOT / "docs" / measured.LEVELS_PAGE).read_text(encoding="utf-8")
    for env in ("RTPath", "RTPathFog"):
        (table,) = re.findall(rf"<!-- {env} -->\n(.*?)<!-- end -->", text, re.DOTALL)
        ids = [f"{env}-{level.kind}-{level.size}x{level.size}-v0" for level in LEVELS.values()]
        assert re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE) == ids


def test_a_table_takes_the_place_of_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / measured.LEVELS_PAGE
    page.write_text("a\n<!-- RTPath -->\n<!-- end -->\nb\n<!-- RTPathFog -->\n| old |\n<!-- end -->\nc\n")
    monkeypatch.setattr(measured, "levels_table", lambda env, levels: f"| {env} {len(levels)} |\n")
    measured.write_levels_page(tmp_path)
    assert page.read_text() == (
        "a\n<!-- RTPath -->\n| RTPath 20 |\n<!-- end -->\nb\n<!-- RTPathFog -->\n| RTPathFog 20 |\n<!-- end -->\nc\n"
    )


def test_a_row_tells_what_the_page_tells() -> None:
    row = list(measured.row_of_level("RTPath", LEVELS["random-16"]))
    text = (ROOT / "docs" / measured.LEVELS_PAGE).read_text(encoding="utf-8")
    assert f"| {' | '.join(row)} |\n" in text


def test_the_bounded_agent_is_chosen_on_the_validation_split(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def problems_of(env: str, level: Level, part: str) -> list[Problem]:
        asked.append(part)
        return [Problem(load_map("open-16"), (0, 0), (15, 15))]

    def run_all(name: str, problems: list[Problem], max_moves: int) -> list[agents.Run]:
        best = name == measured.BOUNDED[2]
        return [agents.run("astar" if best else "lrta", problems[0], max_moves=50 if best else 1)]

    monkeypatch.setattr(measured, "problems_of", problems_of)
    monkeypatch.setattr(measured, "run_all", run_all)
    assert measured.choose_bounded("RTPath", LEVELS["random-16"]) == measured.BOUNDED[2]
    assert asked == ["validation"]

"""The report of units that share a tick: what was asked, the squads one by one, and their replays."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from training.judge import Findings, find, run_squads
from training.judge.findings import Question
from training.judge.squads import make_teams
from training.judge.tables import squads_table
from training.report import write_report
from training.report.comparison import Part, describe
from training.report.replays import Attachments
from training.runs import Allowance, Draw, Plan, Workers, enlist_all, find_courses, run_plan

UNITS, TICK = 4, 1e6


@pytest.fixture(scope="module")
def findings() -> Findings:
    allowance = Allowance("7 ms", limits={"lss-lrta": 30, "astar": 30})
    courses = tuple(find_courses(["rooms-64", "random-48"], Draw(4, 15, 40)))
    plan = Plan(tuple(enlist_all(["lss-lrta", "astar"], [allowance])), courses)
    squads = run_squads(plan, UNITS, TICK)
    return find(plan, run_plan(plan, workers=Workers(jobs=1)), Question(squads=squads))


@pytest.fixture(scope="module")
def page(findings: Findings, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = write_report(tmp_path_factory.mktemp("squads") / "report.html", "", [Part("", findings)], problems=2)
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text("ascii"), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_settings_tell_units_ticks_and_squads(findings: Findings, page: dict[str, Any], tmp_path: Path) -> None:
    findings.write(tmp_path, {})
    written = json.loads((tmp_path / "settings.json").read_text())
    for settings in (written, page["comparisons"][0]["settings"], findings.document()["settings"]):
        assert (settings["units"], settings["tick_ms"]) == (UNITS, TICK)
        assert findings.squads is not None
        assert settings["squads"] == next(iter(findings.squads.scores.values())).squads


def test_a_sentence_says_what_comes_from_squads(findings: Findings, page: dict[str, Any]) -> None:
    count = page["comparisons"][0]["settings"]["squads"]
    (said,) = [text for text in page["comparisons"][0]["remarks"] if "squads" in text]
    assert said.startswith(f"Every agent led {count} squads of 4 units in ticks of 1e+06 ms: what is recommended")
    assert said in findings.remarks()


def test_squads_stand_one_by_one_and_add_up_to_the_scores(findings: Findings, page: dict[str, Any]) -> None:
    assert findings.squads is not None
    table = page["comparisons"][0]["tables"][-1]
    assert table["title"] == f"Squads one by one: {findings.squads.name}"
    for entry, score in findings.squads.scores.items():
        rows = findings.squads.rows(entry)
        assert len(rows) == score.squads
        assert sum(row.ticks for row in rows) == score.ticks
        assert sum(row.arrivals for row in rows) == score.arrivals
        assert max(row.worst_ms for row in rows) == score.worst_ms
        shown = [one["cells"] for one in table["rows"] if one["cells"][0] == entry.label]
        assert [cells[1] for cells in shown] == [row.map for row in rows]
        assert [cells[6] for cells in shown] == [f"{row.arrivals}/4" for row in rows]
    assert set(findings.squads.maps) == {"rooms-64", "random-48"}


def test_of_many_squads_the_first_have_rows(findings: Findings) -> None:
    assert findings.squads is not None
    entries, count = list(findings.squads.scores), len(findings.squads.maps)
    table = squads_table(findings.squads, entries, 2)
    assert table.title.startswith(f"Squads one by one, the first 2 of {count}: ")
    assert [row[2] for row in table.rows] == ["1", "2"] * len(entries)


def test_the_first_squad_of_every_map_is_replayed_beside_problems(findings: Findings, page: dict[str, Any]) -> None:
    replay = page["replay"]
    squads = [problem for problem in replay["problems"] if problem["units"]]
    second = findings.squads.maps.index("random-48") + 1 if findings.squads else 0
    assert [one["name"] for one in squads] == [
        "rooms-64, squad 1 of 4 units",
        f"random-48, squad {second} of 4 units",
    ]
    teams = [make_teams(group, UNITS, 0, 2)[0] for group in findings.plan.groups]
    assert [one["units"] for one in squads] == [[list(task.goal) for task in team.tasks] for team in teams]
    own = [run for run in replay["runs"] if run["problem"] == 0]
    assert {run["label"] for run in own} == {entry.label for entry in (c.entry for c in findings.plan.contenders)}
    assert {run["budget"] for run in own} == {"120 expansions per tick"}
    assert len(replay["problems"]) == 4


def test_without_squads_nothing_is_said_of_them(findings: Findings) -> None:
    alone = find(findings.plan, findings.runs)
    told = describe(Part("", alone), Attachments())
    assert not any("quad" in text for text in (*told["remarks"], *(table["title"] for table in told["tables"])))
    assert "units" not in told["settings"]

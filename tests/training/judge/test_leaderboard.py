"""The leaderboard of depth controllers: 0 for the best fixed depth, 1 for the oracle, at a price."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rt_gym import InputError
from training.cli import app
from training.judge.advice import PRICE, leaderboard_table, require_marks, score
from training.runs import Draw, Entry, Place, Plan, Result, Row, Workers, enlist_all, find_courses, run_plan
from training.runs.contenders import Allowance

# agent, setting -> cost and expansions on a problem of optimal cost 10 and on one of optimal cost 20
RUNS = {
    ("lrta", "depth=1"): [(50, 100), (100, 200)],  # 5 + 0.1, 5 + 0.1
    ("lrta", "depth=4"): [(20, 1000), (40, 2000)],  # 2 + 1, 2 + 1
    ("oracle-lrta", "d_max=9"): [(10, 500), (20, 1000)],  # 1 + 0.5, 1 + 0.5
    ("rule-lrta", "d_max=9"): [(20, 500), (30, 500)],  # 2 + 0.5, 1.5 + 0.25
}


def row(agent: str, setting: str, number: int, cost: float, expansions: int, outcome: str = "goal") -> Row:
    counts = dict.fromkeys(Result._fields, 0) | {"moves": 9, "expansions": expansions, "trials_run": 1}
    place = Place("map", "digest", number, 0, 0, 1, 1, 10.0 * (number + 1), None, "1", 1000)
    result = Result(**counts | {"outcome": outcome, "converged": False, "cost": float(cost)})
    return Row(Entry(agent, setting, "no limit", None, "expansions"), place, result)


def rows(runs: dict[tuple[str, str], list[tuple[float, int]]]) -> list[Row]:
    return [row(*name, number, *run) for name, both in runs.items() for number, run in enumerate(both)]


def scores(price: float, given: list[Row] | None = None) -> dict[str, float | None]:
    standings = score(rows(RUNS) if given is None else given, price)
    return {
        standing.entry.agent + " " + standing.entry.setting: standing.score and standing.score.value
        for standing in standings
    }


def test_scores_worked_out_by_hand() -> None:
    # Zero is depth 4 at 3, one is the oracle at 1.5; the rule costs (2.5 + 1.75) / 2 = 2.125, depth 1 costs 5.1.
    expected = {
        "oracle-lrta d_max=9": 1,
        "rule-lrta d_max=9": (3 - 2.125) / 1.5,
        "lrta depth=4": 0,
        "lrta depth=1": (3 - 5.1) / 1.5,
    }
    assert scores(0.01) == pytest.approx(expected)
    assert list(scores(0.01)) == list(expected)


def test_the_price_decides_which_fixed_depth_is_the_best() -> None:
    # At 0.1: depth 1 is 5 + 1 = 6, depth 4 2 + 10 = 12, the oracle 1 + 5 = 6, no better than depth 1.
    with pytest.raises(InputError, match=r"at a price of 0\.1 the oracle saves nothing"):
        score(rows(RUNS), 0.1)
    assert scores(0.05)["lrta depth=1"] == 0  # 5.5 against 7


def test_marks_have_no_interval_and_others_hold_their_value() -> None:
    standings = {
        standing.entry.agent: standing for standing in score(rows(RUNS), 0.01) if standing.entry.setting != "depth=1"
    }
    for agent, value in (("lrta", 0.0), ("oracle-lrta", 1.0)):
        assert standings[agent].score == pytest.approx((value, value, value))
    rule = standings["rule-lrta"].score
    assert rule is not None
    assert rule.low <= rule.value <= rule.high
    assert rule.low < rule.high


def test_a_failed_run_leaves_no_score_and_the_last_place() -> None:
    broken = [*rows(RUNS), row("rtaa", "lookahead=9", 0, 1, 1), row("rtaa", "lookahead=9", 1, 1, 1, "out of moves")]
    assert scores(0.01, broken)["rtaa lookahead=9"] is None
    assert list(scores(0.01, broken))[-1] == "rtaa lookahead=9"
    assert leaderboard_table(score(broken), PRICE).rows[-1] == ["rtaa lookahead=9", "-", "-", "-", "-"]


def test_who_prepares_itself_is_marked() -> None:
    table = leaderboard_table(score(rows(RUNS)), PRICE, {"rule-lrta"})
    names = [row[0] for row in table.rows]
    assert sum(name.endswith(", prepares") for name in names) == sum(name.startswith("rule-lrta") for name in names) > 0


def test_bad_fields_and_prices_are_refused() -> None:
    alone = {name: runs for name, runs in RUNS.items() if name[0] != "oracle-lrta"}
    with pytest.raises(InputError, match="oracle-lrta is missing"):
        score(rows(alone))
    with pytest.raises(InputError, match="lrta and oracle-lrta is missing"):
        require_marks(["rtaa"])
    with pytest.raises(InputError, match="not run on the same problems"):
        score(rows(RUNS)[:-1])
    for price in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="the price of an expansion must be 0 or more"):
            score(rows(RUNS), price)


def test_at_the_default_price_the_best_fixed_depth_of_a_test_split_is_neither_end() -> None:
    contenders = enlist_all(["lrta:depth=1,12,16,20,26", "oracle-lrta:d_max=20"], [Allowance.of(None)])
    courses = tuple(find_courses(["mixed-test"], Draw(1)))
    found = run_plan(Plan(tuple(contenders), courses), workers=Workers(1))
    best = next(standing for standing in score(found) if standing.entry.agent == "lrta")
    assert best.entry.setting in ("depth=12", "depth=16", "depth=20")


class TestCommand:
    def compare(self, out: Path, *arguments: str) -> str:
        few = ["caves-128", "--problems", "6", "--optimal", "40..90", "--jobs", "1", "--out", str(out), "--leaderboard"]
        result = CliRunner().invoke(app, ["compare", *few, *arguments])
        assert result.exit_code == (2 if "rtaa" in arguments else 0), result.stderr
        return result.stdout or result.stderr

    def test_compare_prints_a_leaderboard_and_puts_it_into_its_json(self, tmp_path: Path) -> None:
        field = ["-a", "lrta:depth=1,4,10", "-a", "oracle-lrta:d_max=10", "-a", "policy-lrta"]
        assert "Leaderboard: an expansion costs 0.02 steps" in self.compare(tmp_path, *field, "--price", "0.02")
        ranked = json.loads(self.compare(tmp_path, *field, "--json"))["leaderboard"]
        assert sorted(one["agent"].split()[0] for one in ranked) == ["lrta"] * 3 + ["oracle-lrta", "policy-lrta"]
        assert np.all(np.diff([one["cost"]["value"] for one in ranked]) >= 0)

    def test_a_field_without_the_marks_is_refused_before_anything_is_written(self, tmp_path: Path) -> None:
        assert "is missing" in self.compare(tmp_path / "new", "-a", "rtaa")
        assert not (tmp_path / "new").exists()

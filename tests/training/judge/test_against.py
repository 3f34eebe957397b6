"""What is said in the end: recommendations, verdicts against an earlier table and plots."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from rt_gym import InputError
from training.judge import (
    Arena,
    Findings,
    Question,
    find,
    judge,
    recommend,
    score_all,
)
from training.judge.plots import score_panel
from training.judge.tables import digits, too_slow
from training.runs import Allowance, Draw, Plan, Row, Runs, Workers, enlist_all, find_courses, run_plan


@pytest.fixture(scope="module")
def plan() -> Plan:
    contenders = enlist_all(["lrta", "lss-lrta", "astar"], [Allowance.of(10), Allowance.of(100)])
    return Plan(tuple(contenders), tuple(find_courses(["rooms-64"], Draw(12, 15, 60))))


@pytest.fixture(scope="module")
def findings(plan: Plan) -> Findings:
    return find(plan, run_plan(plan, workers=Workers(jobs=1)))


def changed(row: Row, **values: object) -> Row:
    return row._replace(result=row.result._replace(**values))


def timed(rows: list[Row], findings: Findings) -> Runs:
    """Return rows with the times of the runs that they were made from."""
    pairs = zip(Runs.of(rows).batches, findings.runs.batches, strict=True)
    return Runs(tuple(replace(new, columns=old.columns | new.columns) for new, old in pairs))


def words(old: Iterable[Row], new: Iterable[Row]) -> list[str]:
    return [verdict.word for verdict in judge(old, new)]


def test_the_recommendation_names_the_best_agent_of_each_budget_with_its_interval(findings: Findings) -> None:
    for text, sentence in zip(("10 expansions", "100 expansions"), findings.recommendations, strict=True):
        group = [score for score in findings.scores if score.entry.budget == text]
        best = min(group, key=lambda score: score.quality.value if score.quality else 1e9)
        assert best.quality is not None
        begin = f"At {text} per move: {best.entry.label}, suboptimality {digits(best.quality.value)} ["
        assert sentence.startswith(begin)
        assert sentence.endswith(".")


def test_an_agent_that_may_be_as_good_is_named_too(findings: Findings) -> None:
    twin = [row._replace(entry=row.entry._replace(agent="twin")) for row in findings.runs if row.entry.agent == "astar"]
    rows = [row for row in findings.runs if row.entry.agent == "astar"] + twin
    (sentence, _) = recommend(Arena(rows), score_all(rows))
    assert "(no clear difference to twin" in sentence


def test_agents_with_precomputation_are_recommended_apart(findings: Findings) -> None:
    (sentence, _) = recommend(Arena(findings.runs), findings.scores, {"astar"})
    plain, prepared = sentence.split("; with precomputation: ")
    assert "astar" not in plain
    assert prepared.startswith("astar, suboptimality")


def test_agents_with_precomputation_are_listed_apart(plan: Plan, findings: Findings) -> None:
    prepared = replace(plan, contenders=tuple(replace(c, precomputes=c.agent == "astar") for c in plan.contenders))
    (table,) = find(prepared, findings.runs).tables()
    assert [row[0] for row in table.rows[:5]] == [
        "budget 10 expansions",
        "lrta depth=2",
        "lss-lrta lookahead=10",
        "budget 10 expansions, with precomputation",
        "astar",
    ]


def test_agents_with_precomputation_are_marked_in_verdicts_and_in_the_plot(plan: Plan, findings: Findings) -> None:
    prepared = replace(plan, contenders=tuple(replace(c, precomputes=c.agent == "astar") for c in plan.contenders))
    found = find(prepared, findings.runs, Question(former=findings.runs))
    assert [row[0] for row in found.tables()[-1].rows if row[0].startswith("astar")] == ["astar, prepares"] * 2
    panel = score_panel("", found.scores, "mean", found.precomputing)
    assert {mark.agent for mark in panel.marks} == {"lrta", "lss-lrta", "astar, prepares"}


def test_nobody_is_recommended_who_failed(findings: Findings) -> None:
    rows = [changed(row, outcome="out of moves") if row.place.problem == 3 else row for row in findings.runs]
    for sentence in recommend(Arena(rows), score_all(rows)):
        assert sentence.endswith("no agent solved all 12 problems within the budget.")


def test_the_same_rows_are_the_same(findings: Findings) -> None:
    verdicts = judge(findings.runs, findings.runs)
    assert [verdict.word for verdict in verdicts] == ["same"] * 6
    assert all(verdict.difference == (0.0, 0.0, 0.0) and verdict.pairs == 12 for verdict in verdicts)


def test_a_higher_cost_on_most_problems_is_worse_and_the_reverse_better(findings: Findings) -> None:
    dearer = [changed(row, cost=row.result.cost * 1.2) if row.entry.agent == "lrta" else row for row in findings.runs]
    assert words(findings.runs, dearer) == ["worse", "same", "same", "worse", "same", "same"]
    assert words(dearer, findings.runs) == ["better", "same", "same", "better", "same", "same"]


def test_more_expansions_for_the_same_cost_are_worse(findings: Findings) -> None:
    slower = [changed(row, expansions=row.result.expansions * 2) for row in findings.runs]
    assert words(findings.runs, slower) == ["worse"] * 6
    assert words(slower, findings.runs) == ["better"] * 6


def test_a_difference_on_one_problem_alone_is_within_the_interval(findings: Findings) -> None:
    once = [changed(row, cost=row.result.cost + 1) if row.place.problem == 0 else row for row in findings.runs]
    assert words(findings.runs, once) == ["same"] * 6


def test_a_problem_that_is_no_longer_solved_is_worse_whatever_the_rest_costs(findings: Findings) -> None:
    lost = [
        changed(row, outcome="out of moves") if row.place.problem == 0 else changed(row, cost=row.result.cost / 2)
        for row in findings.runs
    ]
    verdicts = judge(findings.runs, lost)
    assert [(verdict.word, verdict.lost, verdict.difference) for verdict in verdicts] == [("worse", 1, None)] * 6
    assert [(verdict.word, verdict.gained) for verdict in judge(lost, findings.runs)] == [("better", 1)] * 6


def test_a_pair_that_failed_both_times_is_void_and_counted(findings: Findings) -> None:
    lost = [changed(row, outcome="overrun") if row.place.problem == 0 else row for row in findings.runs]
    assert [(v.word, v.void, v.pairs) for v in judge(lost, lost)] == [("same", 1, 12)] * 6


def test_only_problems_and_agents_of_both_tables_are_judged(findings: Findings) -> None:
    some = [row for row in findings.runs if row.place.problem < 5 and row.entry.agent != "astar"]
    assert [(verdict.entry.agent, verdict.pairs) for verdict in judge(some, findings.runs)] == [
        ("lrta", 5),
        ("lss-lrta", 5),
    ] * 2
    elsewhere = [row._replace(place=row.place._replace(digest="other")) for row in findings.runs]
    capped = [row._replace(place=row.place._replace(max_moves=7)) for row in findings.runs]
    for rows in (elsewhere, capped):
        with pytest.raises(InputError, match="no agent setting with a problem in common"):
            judge(rows, findings.runs)


def in_time(findings: Findings, seconds: dict[str, float]) -> Runs:
    """Return the runs at 100 expansions as if they were at a millisecond, with so long a p99 on problems 0 to 2."""
    batches = []
    for batch in findings.runs.batches:
        if batch.entry.limit == 100:
            p99 = np.where(batch.places.problem < 3, seconds.get(batch.entry.agent, 0.0), 0.0)
            entry = batch.entry._replace(budget="1 ms")
            batches.append(replace(batch, entry=entry, columns=batch.columns | {"p99": p99}))
    return Runs(tuple(batches))


def test_an_agent_with_slow_runs_is_out_where_the_budget_is_a_time(plan: Plan, findings: Findings) -> None:
    runs = in_time(findings, {"astar": 2e-3, "lrta": 0.9e-3})
    contenders = [replace(one, entry=one.entry._replace(budget="1 ms")) for one in plan.contenders[3:]]
    found = find(replace(plan, contenders=tuple(contenders)), runs)
    assert [found.overtime[batch.entry] for batch in runs.batches] == [0.0, 0.0, 0.25]
    (table,) = found.tables()
    assert [row[table.columns.index("slow\nruns")] for row in table.rows[1:]] == ["0.0 %", "0.0 %", "out, 25.0 %"]
    (sentence,) = found.recommendations
    assert "passing over astar (25.0 %) for their slow runs." in sentence
    assert not sentence.startswith("At 1 ms per move: astar")


def test_only_the_runs_of_an_agent_with_too_many_slow_ones_are_timed_again(findings: Findings) -> None:
    runs = in_time(findings, {"astar": 2e-3})
    assert [too_slow(batch).tolist() for batch in runs.batches] == [[], [], [0, 1, 2]]
    assert [too_slow(batch).size for batch in findings.runs.batches] == [0] * 6


def test_plots_are_the_same_for_the_same_scores_and_show_failures(findings: Findings, tmp_path: Path) -> None:
    rows = [
        changed(row, outcome="out of moves") if row.entry.agent == "lrta" and row.place.problem < 2 else row
        for row in findings.runs
    ]
    made = find(findings.plan, timed(rows, findings))
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        made.write(tmp_path / folder, {})
    picture = (tmp_path / "a" / "tradeoff.svg").read_text(encoding="utf-8")
    assert picture == (tmp_path / "b" / "tradeoff.svg").read_text(encoding="utf-8")
    assert "2 failed" in picture
    assert "Pareto front" in picture
    with Image.open(tmp_path / "a" / "tradeoff.png") as image:
        assert min(image.size) > 500


def test_a_plot_can_be_drawn_where_everybody_failed(findings: Findings, tmp_path: Path) -> None:
    rows = [changed(row, outcome="no path") for row in findings.runs]
    made = find(findings.plan, timed(rows, findings), Question(baseline="lrta"))
    assert len(made.write(tmp_path, {})) == 5
    assert [table.rows[1][1] for table in made.tables()] == ["12 failed", "-"]


def test_a_curve_with_cut_runs_is_said_to_give_no_ratios() -> None:
    contenders = enlist_all(["lrta:depth=1,2"], [Allowance.of(None)])
    plan = Plan(tuple(contenders), tuple(find_courses(["rooms-64"], Draw(4, 30, 60))), max_moves=5)
    (remark,) = find(plan, run_plan(plan, workers=Workers(jobs=1))).remarks()
    assert remark.startswith("No ratios: 8 runs of LRTA* with a fixed depth failed")

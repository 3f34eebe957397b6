"""Claims and their verdicts, entrants, and the parts of an experiment."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from typing import Any

import pytest

from rt_gym import InputError
from training.experiments import ls
from training.experiments.frame import (
    DIRECTION,
    FAILS,
    HOLDS,
    UNDECIDED,
    Claim,
    Finding,
    Generated,
    Ground,
    Part,
    bar_text,
    check_size,
    entrant,
    near,
    near_cost,
    sweep,
)
from training.experiments.quantities import Quantity
from training.judge import Estimate
from training.runs import Allowance, Workers, enlist_all, run_plan

AT_LEAST, AT_MOST, BAND, EXACT = (50, inf), (-inf, -0.9), (0.85, 1.15), (1, 1)


@dataclass(frozen=True)
class Known(Quantity):
    """A number that is the same whatever was run."""

    value: Estimate | None

    def estimate(self, parts: Sequence[Any]) -> Estimate | None:
        return self.value


@pytest.mark.parametrize(
    ("bar", "interval", "word"),
    [
        (AT_LEAST, (60, 90), HOLDS),
        (AT_LEAST, (50, 90), HOLDS),
        (AT_LEAST, (40, 90), UNDECIDED),
        (AT_LEAST, (40, 50), UNDECIDED),
        (AT_LEAST, (40, 49), FAILS),
        (AT_MOST, (-1, -0.95), HOLDS),
        (AT_MOST, (-1, -0.9), HOLDS),
        (AT_MOST, (-1, -0.8), UNDECIDED),
        (AT_MOST, (-0.89, -0.8), FAILS),
        (BAND, (0.9, 1.1), HOLDS),
        (BAND, (0.85, 1.15), HOLDS),
        (BAND, (0.8, 0.9), UNDECIDED),
        (BAND, (1.1, 1.2), UNDECIDED),
        (BAND, (0.5, 2), UNDECIDED),
        (BAND, (0.5, 0.8), FAILS),
        (BAND, (1.2, 2), FAILS),
        (EXACT, (1, 1), HOLDS),
        (EXACT, (0, 0), FAILS),
        (EXACT, (0.9, 1.1), UNDECIDED),
        (AT_LEAST, (nan, nan), UNDECIDED),
    ],
)
def test_a_claim_holds_if_the_whole_interval_is_within_the_bar_and_fails_if_none_of_it_is(
    bar: tuple[float, float], interval: tuple[float, float], word: str
) -> None:
    ours = Estimate(sum(interval) / 2, *interval)
    assert Claim("", "", Known(ours), *bar).judge([]) == Finding(Claim("", "", Known(ours), *bar), ours)
    assert Claim("", "", Known(ours), *bar).judge([]).verdict == word


@pytest.mark.parametrize(
    ("interval", "word"),
    [
        ((8, 18), HOLDS),
        ((8, 20), DIRECTION),
        ((1.5, 2), DIRECTION),
        ((30, 40), DIRECTION),
        ((0.9, 1.5), FAILS),
        ((0.1, 0.9), FAILS),
        ((0.9, 10), UNDECIDED),
        ((nan, nan), UNDECIDED),
    ],
)
def test_a_claim_outside_of_its_band_may_hold_in_direction(interval: tuple[float, float], word: str) -> None:
    ours = Estimate(sum(interval) / 2, *interval)
    assert Claim("", "12", Known(ours), **near(12), direction=(1, inf)).judge([]).verdict == word


@pytest.mark.parametrize(("figure", "low", "high"), [(1.11, 1.07, 1.1725), (2, 1.663333, 2.5075), (1, 1, 1.0075)])
def test_a_band_around_a_cost_is_one_around_what_is_above_the_optimum(figure: float, low: float, high: float) -> None:
    assert near_cost(figure) == pytest.approx({"low": low, "high": high}, abs=1e-6)


@pytest.mark.parametrize("bar", [AT_LEAST, AT_MOST, BAND, EXACT])
def test_a_claim_about_runs_that_failed_is_undecided(bar: tuple[float, float]) -> None:
    assert Claim("", "", Known(None), *bar).judge([]).verdict == UNDECIDED


@pytest.mark.parametrize(
    ("bar", "text"),
    [(AT_LEAST, "at least 50"), (AT_MOST, "at most -0.9"), (BAND, "0.85 to 1.15"), (EXACT, "exactly 1")],
)
def test_a_bar_is_told_in_words(bar: tuple[float, float], text: str) -> None:
    assert bar_text(*bar) == text


def test_a_size_that_no_experiment_has_is_refused() -> None:
    with pytest.raises(InputError, match="unknown size 'huge', known are smoke, record, full"):
        check_size("huge")


def test_an_entrant_is_the_contender_that_the_command_line_would_name() -> None:
    named = enlist_all(["lrta-ls-kd:k=10,40:d=2,4"], [Allowance.of(None)])
    assert [one.contender for one in sweep("lrta-ls-kd", k=(10, 40), d=(2, 4))] == named
    assert entrant("lrta-ls-kd", k=10, d=2).entry == named[0].entry


def test_entrants_with_the_same_settings_are_equal() -> None:
    assert entrant("tba", R=10) == sweep("tba", R=[10])[0]
    assert len({entrant("tba", R=10), entrant("tba", R=10), entrant("tba", R=25)}) == 2


def small(part: Part) -> Part:
    return replace(part, grounds=(Generated("maze", {"size": 31}),), problems={"smoke": 2}, optimal=(20, 300))


def test_a_part_hands_its_rules_vision_and_trials_to_its_runs() -> None:
    part = small(ls.MAZE.parts(entrant("lrta"))[1])
    plan = part.plan(tuple(part.courses("smoke", None, 1)), 1)
    assert plan.trials == "converge"
    assert {(course.vision, course.grid.connectivity, course.grid.cost) for course in plan.courses} == {(1, 4, "unit")}
    rows = run_plan(plan, workers=Workers(1))
    assert all(row.result.converged and row.result.trials_run > 1 for row in rows)


def test_every_problem_of_a_generated_ground_has_a_map_and_a_start_of_its_own() -> None:
    part = replace(ls.MAZE.parts(entrant("lrta"))[0], problems={"smoke": 8})
    courses = list(part.courses("smoke", None, 2008))
    assert [len(course.tasks) for course in courses] == [1] * 8
    assert len({course.digest for course in courses}) == 8
    assert len({course.tasks[0].start for course in courses}) == 8
    again = list(replace(part, problems={"smoke": 2}).courses("smoke", None, 2008))
    assert [course.tasks for course in again] == [course.tasks for course in courses[:2]]


def test_what_stands_in_for_a_large_map_is_smaller_and_the_same_for_all() -> None:
    (one, count), (other, _) = (next(Ground(file, 512, 171).deal(3, 0, None)) for file in ("a", "b"))
    assert (one.width, one.height, count) == (256, 171, 3)
    assert one is other


def test_a_ground_keeps_its_problems_whatever_stands_beside_it() -> None:
    part = Part((Ground("", 33, 33),), {"smoke": 2}, (entrant("lrta"),), optimal=(20, 300))
    one, two = (list(replace(part, grounds=part.grounds * n).courses("smoke", None, 3)) for n in (1, 2))
    assert one[0].tasks == two[0].tasks
    assert one[0].grid == two[0].grid

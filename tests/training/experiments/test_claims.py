"""What single experiments count and compute for their claims, beside a plain computation."""

from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rt_gym import Grid
from rt_gym.maps.generate import generate
from training.experiments import load
from training.experiments.dl import figures as dl_figures
from training.experiments.evidence import Evidence
from training.experiments.frame import Part
from training.experiments.quantities import Numbers
from training.experiments.sg import NEAREST, online, prepared
from training.experiments.tb import figures, tables
from training.precompute import Neighbours
from training.runs import run_plan
from training.runs.workers import Workers


class TestWorkPerMove:
    def test_both_averages_agree_where_all_problems_have_as_many_moves(self) -> None:
        work = [np.array([8.0, 6.0]), np.array([20.0, 30.0]), np.array([100.0, 90.0]), np.array([400.0, 300.0])]
        reached = [np.array([3.0, 3.5]), np.array([2.0, 2.0]), np.array([3.0, 3.0]), np.array([2.0, 2.2])]
        moves = [np.full(2, 5.0)] * 4
        pooled = figures._most_pooled(2, *work, *moves, *reached)
        assert pooled == pytest.approx(figures._most(2, *(each / 5 for each in work), *reached))

    def test_the_pooled_ratio_is_of_work_per_move(self) -> None:
        ratio = figures._pooled_ratio(*map(np.array, ([30.0], [10.0], [10.0], [20.0])))
        assert ratio.tolist() == [6.0]


class TestThreshold:
    def test_what_is_less_of_an_issue_is_told_by_the_difference_of_ratios(self) -> None:
        means = (np.array([value]) for value in (0.99, 1.0, 0.9, 1.0, 1.6, 2.0))
        assert tables._less_shortened(*means) == pytest.approx([0.99 - (0.9 + 0.8) / 2])

    def test_a_share_of_nothing_is_nothing(self) -> None:
        assert tables._part_of(np.array([0.0, 1.0]), np.array([0.0, 4.0])).tolist() == [0, 0.25]


def test_the_least_gain_of_the_threshold_is_a_hundredth() -> None:
    claim = load("tb-e2").claims[0]
    assert (claim.low, claim.high) == pytest.approx((0.9625, 0.99))


def test_dstar_lite_is_seen_to_search_only_after_a_cell_was_seen_to_be_blocked() -> None:
    (seen,) = dl_figures.watched(1)
    assert seen.told == seen.count > seen.blocked > 0
    assert seen.turned_blocked <= seen.turned <= seen.count
    assert 0 < seen.blocked_cells < seen.cells
    assert seen.blocked_both <= seen.expanded_both


def test_a_median_and_its_interval_ignore_a_few_huge_values() -> None:
    class Given(Numbers):
        def values(self, parts: Any) -> Any:
            return np.array([1.0, 2.0, 3.0, 1e9, 4.0, 6.0, 8.0, 8.0])

    evidence = SimpleNamespace(strata=np.repeat([0, 1], 4))
    alone = online.Median(Given()).estimate([evidence])
    assert alone is not None
    assert alone.value == 5
    assert 1 <= alone.low <= 5 <= alone.high
    assert online.Median(Given(), Given()).estimate([evidence]) == (1, 1, 1)


class TestPreparation:
    @pytest.fixture(autouse=True)
    def _ticks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let every look at the clock be one second later."""
        clock = count()
        monkeypatch.setattr(prepared, "thread_time", lambda: float(next(clock)))

    @pytest.fixture
    def evidence(self, tmp_path: Any) -> Evidence:
        grids = [generate("rooms", width=17 + n, height=17, room=5, doors=0.9, seed=n) for n in range(2)]
        part = Part((), {"smoke": 3}, (NEAREST, prepared.DATABASES[0]))
        courses = tuple(part._course(grid, 3, 0) for grid in grids)
        found = run_plan(part.plan(courses, 0), tmp_path, Workers(1))
        return Evidence(found, grids={course.name: course.grid for course in courses})

    def test_a_database_is_built_once_for_a_map(self) -> None:
        order = Neighbours(generate("rooms", width=17, height=17, room=5, doors=0.9, seed=9), records=20)
        assert prepared.build_seconds(order) == prepared.build_seconds(order) == 1

    def test_its_time_is_that_of_every_run_on_the_map(self, evidence: Evidence) -> None:
        assert prepared.Prepared(prepared.DATABASES[0]).values([evidence]).tolist() == [1] * 6

    def test_all_trees_take_as_often_as_long_as_there_are_cells(self, evidence: Evidence) -> None:
        cells = [grid.free_cells for grid in evidence.grids.values() for _ in range(3)]
        assert prepared.TREE_SECONDS.values([evidence]).tolist() == cells
        ratio = prepared._against_trees(prepared.DATABASES[0]).estimate([evidence])
        assert ratio is not None
        assert ratio.value == pytest.approx(1 / np.mean(cells))


def test_the_trees_of_a_map_are_grown_for_its_own_goals() -> None:
    grid = Grid(np.ones((6, 6)))
    assert len(prepared.tree_seconds(grid, (grid.cell((1, 1)), grid.cell((4, 4))))) == 2

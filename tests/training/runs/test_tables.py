"""Runs of a problem with other seeds, and its trials one by one."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from rt_gym import InputError, Problem
from rt_gym.views import View
from training.judge import find, score_all
from training.runs import (
    Allowance,
    Draw,
    Plan,
    Runs,
    Workers,
    enlist_all,
    find_courses,
    read_runs,
    run_plan,
    write_tables,
)

HERE = Workers(jobs=1)


def make_plan(*specs: str, maps: tuple[str, ...] = ("open-16",), **options: Any) -> Plan:
    contenders = enlist_all(specs, [Allowance.of(None)])
    return Plan(tuple(contenders), tuple(find_courses(maps, Draw(6, 5, 20))), **options)


def run(plan: Plan) -> Runs:
    return run_plan(plan, workers=HERE)


def read(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class TestRepeats:
    PLAN = ("lrta:tie=random", "lrta")

    def test_the_first_repeat_is_the_run_without_repeats_and_the_second_that_of_the_next_seed(self) -> None:
        both = list(run(make_plan(*self.PLAN, repeats=2, seed=3)))
        one, two = (list(run(make_plan(*self.PLAN, seed=seed))) for seed in (3, 4))
        assert [row.place.repeat for row in both] == ([0] * 6 + [1] * 6) * 2
        assert [row.result for row in both[:6]] == [row.result for row in one[:6]]
        assert [row.result for row in both[6:12]] == [row.result for row in two[:6]]
        assert [row.result for row in both[12:18]] == [row.result for row in both[18:]]

    def test_a_problem_counts_once_with_its_mean(self) -> None:
        plan = make_plan(*self.PLAN, repeats=3)
        runs = run(plan)
        score, _ = score_all(runs)
        means = runs.batches[0].suboptimality.reshape(3, 6).mean(axis=0)
        assert (score.problems, score.repeats, score.solved) == (6, 3, "18/18")
        assert score.quality is not None
        assert score.quality.value == pytest.approx(means.mean())
        assert find(plan, runs).title == "6 problems on open-16"

    def test_tables_have_a_column_only_where_there_are_any(self, tmp_path: Path) -> None:
        for repeats in (1, 2):
            runs = run(make_plan(*self.PLAN, repeats=repeats))
            write_tables(tmp_path, {}, runs)
            assert ("repeat" in read(tmp_path / "results.csv")[0]) == (repeats > 1)
            assert ("repeat" in read(tmp_path / "times.csv")[0]) == (repeats > 1)
            assert list(read_runs(tmp_path / "results.csv")) == list(runs)


class TestTrials:
    def test_every_trial_has_a_row_and_they_add_up_to_the_run(self, tmp_path: Path) -> None:
        runs = run(make_plan("lrta", "lrta-k:k=5", trials="converge"))
        files = write_tables(tmp_path, {}, runs)
        assert files[-1].name == "trials.csv"
        trials = read(tmp_path / "trials.csv")
        for row in runs:
            own = [t for t in trials if (t["agent"], t["problem"]) == (row.entry.agent, str(row.place.problem))]
            assert [int(trial["trial"]) for trial in own] == list(range(1, row.result.trials_run + 1))
            assert sum(int(trial["moves"]) for trial in own) == row.result.moves
            assert sum(float(trial["cost"]) for trial in own) == pytest.approx(row.result.cost)
            assert own[-1]["h_updates"] == "0"

    def test_one_trial_needs_no_table_of_trials(self, tmp_path: Path) -> None:
        assert [path.name for path in write_tables(tmp_path, {}, run(make_plan("lrta")))][-1] == "times.csv"

    def test_until_convergence_the_total_cost_ranks(self) -> None:
        plan = make_plan("lrta", "lrta-k:k=5", trials="converge")
        runs = run(plan)
        findings = find(plan, runs)
        assert [score.measure for score in findings.scores] == ["total cost"] * 2
        for score, batch in zip(findings.scores, runs.batches, strict=True):
            assert score.quality is not None
            assert score.quality.value == pytest.approx(np.mean(batch.columns["cost"] / batch.places.optimal))
        assert "total cost\nmean" in findings.tables()[0].columns
        assert "total cost: of all trials" in findings.notes()


class Learner:
    """LRTA* with lookahead one, in plain Python."""

    def reset(self, view: View, seed: int | None = None) -> None:
        self.view = view
        self.h: dict[tuple[int, int], float] = {}

    def act(self) -> int:
        at = self.view.position
        self.view.meter.charge()
        choices = [
            (cost + self.h.get(to, self.view.heuristic(to)), action) for action, to, cost in self.view.neighbours(at)
        ]
        best, action = min(choices)
        if best > self.h.get(at, self.view.heuristic(at)) + 1e-9:
            self.h[at] = best
            self.note()
        return action

    def value(self, position: tuple[int, int]) -> float:
        return self.h.get(position, self.view.heuristic(position))

    def note(self) -> None:
        """Count nothing."""


class Counting(Learner):
    """The same, and it counts what it raises."""

    def reset(self, view: View, seed: int | None = None) -> None:
        super().reset(view, seed)
        self.h_updates = 0

    def note(self) -> None:
        self.h_updates += 1


class TestOwnAgents:
    def problem(self) -> Problem:
        course = next(iter(find_courses(["random-48"], Draw(1, 20, 40))))
        return course.problem(course.tasks[0])

    def test_one_that_counts_what_it_raises_converges_to_a_shortest_path(self) -> None:
        run = agents.run(Counting(), self.problem(), trials="converge")
        assert run.converged
        assert len(run.trials) > 1
        assert run.trials[0].h_updates > 0
        assert run.trials[-1].h_updates == 0
        assert run.trials[-1].suboptimality == pytest.approx(1.0)

    def test_one_that_does_not_say_is_refused(self) -> None:
        with pytest.raises(InputError, match=r"Learner does not say .* needs an attribute h_updates"):
            agents.run(Learner(), self.problem(), trials="converge")
        assert agents.run(Learner(), self.problem(), trials=2).solved


def test_intervals_over_maps_are_those_of_whole_maps() -> None:
    runs = run(make_plan("lrta:depth=1,3", maps=("open-16", "maze-63", "rooms-64")))
    scores = score_all(runs)
    per_map = runs.batches[0].suboptimality.reshape(3, 6).mean(axis=1)
    by_maps = scores[0].by_maps["quality"]
    assert scores[0].quality is not None
    assert by_maps.value == pytest.approx(scores[0].quality.value) == pytest.approx(per_map.mean())
    assert (by_maps.low, by_maps.high) == pytest.approx((per_map.min(), per_map.max()))
    assert {"expansions_mean", "expansions_pooled", "ratio_mean", "ratio_pooled"} <= set(scores[0].by_maps)
    assert score_all(run(make_plan("lrta")))[0].by_maps == {}


def test_settings_say_with_which_commit_command_and_processor() -> None:
    document = json.loads(json.dumps(make_plan("lrta").document()))
    assert document["command"]
    assert document["processor"]
    assert document["commit"] is None or len(document["commit"].rstrip("+")) == 40

"""What TBA* and late-acting A* have in common with A*, what their parameters do, and which are refused."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import agents
from reference.plain_oracle import random_problem
from rt_gym import Budget, InputError, Problem

Settings = dict[str, Any]

EARLY: list[Settings] = [
    {"R": 2},
    {"R": 10},
    {"R": 10, "threshold": True},
    {"R": 10, "first": "length"},
    {"R": 6, "r": 0.5, "c": 1},
    {"R": 40, "c": 2},
]


def some_problems(seed: int, count: int, side: int, vision: int | None = None) -> list[Problem]:
    rng = np.random.default_rng(seed)
    return [
        Problem(*random_problem(rng, side, density=float(rng.uniform(0.1, 0.4))), vision=vision) for _ in range(count)
    ]


@pytest.mark.plain
@pytest.mark.parametrize("owner", ["tba", "late-astar"])
def test_with_all_at_once_it_is_a_star(owner: str) -> None:
    for problem in some_problems(1, 30, 10):
        run, astar = agents.run(owner, problem, R=10**9), agents.run("astar", problem)
        assert run.path.tolist() == astar.path.tolist()
        assert (run.expansions, run.scans) == (astar.expansions, astar.scans)


@pytest.mark.parametrize("settings", EARLY, ids=str)
def test_slices_expand_what_a_star_expands(settings: Settings) -> None:
    for problem in some_problems(2, 80, 20):
        run, astar = agents.run("tba", problem, **settings), agents.run("astar", problem)
        assert run.solved
        assert run.expansions == astar.expansions
        assert run.max_expansions <= agents.make("tba", **settings).bound <= settings["R"]


@pytest.mark.parametrize("settings", [*EARLY, {"R": 5, "shortcut": True}], ids=str)
@pytest.mark.parametrize("vision", [None, 1], ids=["known", "fog"])
def test_every_move_is_a_step_and_no_slice_takes_more_than_its_units(settings: Settings, vision: int | None) -> None:
    for problem in some_problems(3, 60, 16, vision):
        run = agents.run("tba", problem, **settings)
        assert run.solved
        assert run.stays == 0
        assert run.max_expansions <= settings["R"]
        steps = [np.abs(b - a).max() for a, b in pairwise(run.path)]
        assert set(steps) <= {1}


def test_late_costs_more_than_early_and_both_less_with_more_units() -> None:
    problems = some_problems(4, 200, 24)
    means = {
        (owner, R): np.mean([agents.run(owner, problem, R=R).cost for problem in problems])
        for owner in ("tba", "late-astar")
        for R in (4, 16, 64, 10_000)
    }
    for owner in ("tba", "late-astar"):
        costs = [means[owner, R] for R in (4, 16, 64, 10_000)]
        assert costs == sorted(costs, reverse=True)
    assert all(means["late-astar", R] > means["tba", R] for R in (4, 16))
    assert means["late-astar", 10_000] == means["tba", 10_000]


class TestShortcut:
    def test_it_never_costs_more_and_sometimes_less(self) -> None:
        saved = 0.0
        for problem in some_problems(5, 400, 24):
            plain, short = (agents.run("tba", problem, R=6, shortcut=shortcut) for shortcut in (False, True))
            assert short.solved
            assert short.cost <= plain.cost + 1e-9
            assert short.expansions >= plain.expansions
            saved += plain.cost - short.cost
        assert saved > 0


class TestThreshold:
    def test_it_costs_less_on_average(self) -> None:
        problems = some_problems(6, 400, 24)
        plain, kept = (
            np.mean([agents.run("tba", problem, R=6, threshold=threshold).cost for problem in problems])
            for threshold in (False, True)
        )
        assert kept < plain


class TestMeter:
    @pytest.mark.parametrize(
        "settings", [{"R": 50}, {"R": 50, "shortcut": True}, {"R": 50, "first": "length"}], ids=str
    )
    def test_a_budget_below_its_share_makes_slices_smaller(self, settings: Settings) -> None:
        for problem in some_problems(7, 30, 16):
            run = agents.run("tba", problem, budget=3, **settings)
            assert run.solved
            assert not run.overrun
            assert run.max_expansions <= 3

    def test_trace_steps_are_counted_and_bounded(self) -> None:
        for problem in some_problems(8, 30, 16):
            run = agents.run("tba", problem, R=10)
            assert run.trace_steps > 0 or run.moves == 0
            assert run.trace_steps <= 100 * max(1, run.moves)

    def test_the_budget_chooses_the_units(self) -> None:
        assert agents.make("tba", budget=100).R == agents.make("tba", budget=Budget(100, "scans")).R == 100
        assert agents.make("tba", budget=1).R == 2
        assert agents.make("tba", budget=1).bound == 1
        assert agents.make("tba", R=100).bound == 90
        assert agents.make("tba", R=100, shortcut=True).bound == 100
        assert agents.make("late-astar", budget=100).bound == 90


class TestShares:
    @pytest.mark.parametrize(
        ("R", "r", "share"), [(10, 0.9, 9), (10, 0.7, 7), (100, 0.29, 29), (25, 0.9, 22), (2, 0.9, 1), (3, 0.1, 1)]
    )
    def test_the_share_of_expansions_is_rounded_down(self, R: int, r: float, share: int) -> None:
        assert agents.make("tba", R=R, r=r).bound == agents.make("late-astar", R=R, r=r).bound == share


class TestRefusals:
    @pytest.mark.parametrize(
        ("owner", "name", "value"),
        [
            *(
                (owner, "R", value)
                for owner in ("tba", "late-astar")
                for value in (0, -5, 2.5, "9", None, True, 10**30)
            ),
            *((owner, "r", value) for owner in ("tba", "late-astar") for value in (0, 1, -1, float("nan"), "1", True)),
            *(("tba", "c", value) for value in (0, -1, 1.5, None, True, 10**30)),
            *(("tba", "threshold", value) for value in (1, 0, None, "yes")),
            *(("tba", "shortcut", value) for value in (1, 0, None, "yes")),
            *(("tba", "first", value) for value in ("min", "", None, 1)),
        ],
    )
    def test_a_value_out_of_range_is_refused_by_name_in_one_sentence(self, owner: str, name: str, value: Any) -> None:
        with pytest.raises(InputError, match=f"^{name} must be") as refusal:
            agents.make(owner, **{name: value})
        assert repr(value) in str(refusal.value)
        assert "\n" not in str(refusal.value)

    def test_units_that_leave_nothing_for_tracing_are_refused(self) -> None:
        with pytest.raises(InputError, match=r"^R=1 and r=0.9 leave nothing for tracing"):
            agents.make("tba", R=1)

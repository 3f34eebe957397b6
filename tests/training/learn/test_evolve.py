"""Evolution of networks: what candidates are worth, what voids them, and that a killed run goes on where it was."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from agents.policies.networks import BOTH, Network
from rt_gym import InputError
from training.learn import TrainingSetup, extended
from training.learn import evolve as module
from training.learn import merit as merits
from training.learn.evolve import EvolutionConfig, evolve
from training.learn.merit import DepthCurve, Walks, measure_curve, rate_networks
from training.runs import Course, Draw, Workers, find_courses

HERE = Workers(jobs=1)
QUICK = EvolutionConfig(generations=4, population=4, check=2, problems=6)


def courses(name: str = "rooms-64", count: int = 6) -> tuple[Course, ...]:
    return tuple(find_courses([name], Draw(count, 20, 60)))


def quiet(amount: float, text: str) -> None:
    """Hear of progress and say nothing."""


def evolved(folder: Path, config: EvolutionConfig = QUICK, on_progress: Any = quiet) -> Network:
    return evolve(TrainingSetup(courses(), courses("random-48"), HERE, folder), config, 6, 10, on_progress)


class TestEvolution:
    def test_it_returns_a_network_that_says_how_it_was_made_and_is_worth_what_it_says(self, tmp_path: Path) -> None:
        heard: list[str] = []
        network = evolved(tmp_path, QUICK, lambda amount, text: heard.append(text))
        assert (network.decide, network.d_max, network.history) == ("deepen", 6, 10)
        assert network.about["settings"]["seed"] == 0
        curve = measure_curve(courses("random-48"), HERE, tmp_path)
        ((mean, pooled),) = rate_networks([network], curve, HERE)
        assert network.about["validation_ratios"] == [round(float(np.exp(value)), 3) for value in (mean, pooled)]
        assert len(heard) == 1 + 4
        assert "generation 4 of 4" in heard[-1]

    @pytest.mark.parametrize(("decide", "last"), [("depth", 3), ("deepen", 1), (BOTH, 2)])
    def test_a_run_that_was_stopped_goes_on_and_ends_as_if_it_had_not(
        self, decide: str, last: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings = replace(QUICK, decide=decide)
        whole = evolved(tmp_path / "whole", settings)

        def stop(amount: float, text: str) -> None:
            if f"generation {last}" in text:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            evolved(tmp_path / "cut", settings, stop)
        walked: list[int] = []
        judge = module.rate_networks
        monkeypatch.setattr(module, "rate_networks", lambda *given: walked.append(len(given[0])) or judge(*given))
        again = evolved(tmp_path / "cut", settings)
        assert walked.count(QUICK.population) == QUICK.generations - last
        for mine, theirs in zip(whole.layers, again.layers, strict=True):
            np.testing.assert_array_equal(mine[0], theirs[0])
            np.testing.assert_array_equal(mine[1], theirs[1])

    def test_for_depth_and_goal_the_rule_that_it_begins_with_is_kept_where_nothing_is_better(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        judge, calls = module.rate_networks, []

        def worse_later(networks: Any, *rest: Any) -> Any:
            calls.append(len(networks))
            return judge(networks, *rest) if len(calls) == 1 else [(-9.0, -9.0)] * len(networks)

        monkeypatch.setattr(module, "rate_networks", worse_later)
        network = evolved(tmp_path, replace(QUICK, decide=BOTH))
        assert calls[0] == 1
        assert (network.decide, network.about["generation"]) == (BOTH, 0)
        assert (network.level, network.abstraction) == (4, "clique")

    def test_for_depth_and_goal_it_says_what_it_reached(self, tmp_path: Path) -> None:
        network = evolved(tmp_path, replace(QUICK, decide=BOTH))
        validation = Walks(extended(courses("random-48"), QUICK.problems))
        assert network.about["validation_figures"] == [
            pytest.approx(float(np.exp(-value)), abs=1e-3) for value in rate_networks([network], validation, HERE)[0]
        ]

    def test_each_generation_walks_the_next_share(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        met: list[DepthCurve] = []
        judge = module.rate_networks
        monkeypatch.setattr(module, "rate_networks", lambda *given: met.append(given[1]) or judge(*given))
        evolved(tmp_path, replace(QUICK, shares=3, check=4))
        (course,) = courses()
        assert [curve.courses[0].tasks for curve in met[:4]] == [course.tasks[k::3] for k in (0, 1, 2, 0)]

    def test_correlations_are_learned_unless_spreads_alone_are_asked_for(self, tmp_path: Path) -> None:
        made = [evolved(tmp_path, replace(QUICK, diagonal=diagonal)) for diagonal in (False, True)]
        assert not np.array_equal(made[0].layers[0][0], made[1].layers[0][0])

    def test_what_is_known_is_not_walked_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        first = evolved(tmp_path, QUICK)
        monkeypatch.setattr(merits, "NetworkRuns", None)
        assert evolved(tmp_path, QUICK).about == first.about

    def test_another_seed_evolves_another_network_and_the_same_the_same(self, tmp_path: Path) -> None:
        folders = [tmp_path / name for name in "abc"]
        settings = [QUICK, QUICK, replace(QUICK, seed=1)]
        made = [evolved(folder, one) for folder, one in zip(folders, settings, strict=True)]
        assert np.array_equal(made[0].layers[0][0], made[1].layers[0][0])
        assert not np.array_equal(made[0].layers[0][0], made[2].layers[0][0])

    def test_a_damaged_history_and_one_of_other_settings_are_begun_anew(self, tmp_path: Path) -> None:
        expected = evolved(tmp_path / "a", QUICK)
        evolved(tmp_path / "b", replace(QUICK, sigma=0.5))
        assert evolved(tmp_path / "b", QUICK).about == expected.about
        (tmp_path / "b" / "evolution-deepen-0.npz").write_bytes(b"PK")
        assert evolved(tmp_path / "b", QUICK).about == expected.about

    def test_it_stops_when_the_validation_maps_show_no_gain(self, tmp_path: Path) -> None:
        settings = replace(QUICK, generations=30, check=1, patience=1, sigma=1e-9)
        heard: list[str] = []
        evolved(tmp_path, settings, lambda amount, text: heard.append(text))
        assert len(heard) < 10

    def test_the_network_runs_as_an_agent(self, tmp_path: Path) -> None:
        evolved(tmp_path, QUICK).save(tmp_path / "n.npz")
        (course,) = courses()
        assert agents.run("policy-lrta", course.problem(course.tasks[0]), policy=str(tmp_path / "n.npz")).solved

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"decide": "jump"}, "decide must be depth, deepen or depth and goal, not 'jump'"),
            ({"hidden": 1}, "hidden must be a whole number from 2"),
            ({"population": 3}, "population must be a whole number from 4"),
            ({"shares": 0}, "shares must be a whole number from 1"),
            ({"seed": -1}, "seed must be a whole number"),
            ({"sigma": 0.0}, "sigma must be above 0"),
            ({"pooled": 1.5}, "pooled from 0 to 1"),
        ],
    )
    def test_settings_out_of_range_are_refused(self, settings: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError, match=message):
            EvolutionConfig(**settings)

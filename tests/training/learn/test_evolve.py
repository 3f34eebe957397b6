"""Evolution of networks: what candidates are worth, what voids them, and that a killed run goes on where it was."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from agents.policies.networks import Network
from reference.plain_grid import h0
from rt_gym import InputError
from training.judge import score_all
from training.learn import evolve as module
from training.learn import merit as merits
from training.learn.encoding import Encoding
from training.learn.evolve import EvolutionConfig, evolve
from training.learn.merit import DepthCurve, NetworkRuns, average, fixed_depths, measure_curve, rate_networks
from training.learn.setup import TrainingSetup, hardest, split_problems
from training.runs import Course, Draw, Workers, find_courses

HERE = Workers(jobs=1)
QUICK = EvolutionConfig(generations=4, population=4, check=2, problems=6)


def courses(name: str = "rooms-64", count: int = 6) -> tuple[Course, ...]:
    return tuple(find_courses([name], Draw(count, 20, 60)))


def quiet(amount: float, text: str) -> None:
    """Hear of progress and say nothing."""


def evolved(folder: Path, config: EvolutionConfig = QUICK, on_progress: Any = quiet) -> Network:
    return evolve(TrainingSetup(courses(), courses("random-48"), HERE, folder), config, 6, 10, on_progress)


def always(depth: int, decide: str) -> Network:
    """Return a network that looks equally far at every move; to act after the first layer is depth 1."""
    if decide == "deepen":
        return Network("deepen", ("layer",), ((np.zeros((1, 2)), np.array([1.0, 0.0])),), 20)
    return Network("depth", ("moves",), ((np.zeros((1, 1)), np.zeros(1)),), 20, (depth,))


class TestMerits:
    @pytest.mark.parametrize("decide", ["depth", "deepen"])
    def test_always_depth_one_has_a_ratio_of_exactly_one(self, decide: str, tmp_path: Path) -> None:
        curve = measure_curve(courses(), HERE, tmp_path)
        assert rate_networks([always(1, decide)], curve, HERE) == [(0.0, 0.0)]

    @pytest.mark.parametrize("depth", [2, 5, 10])
    def test_a_depth_of_the_curve_has_a_ratio_of_exactly_one(self, depth: int, tmp_path: Path) -> None:
        curve = measure_curve(courses("caves-128"), HERE, tmp_path)
        assert rate_networks([always(depth, "depth")], curve, HERE) == [(pytest.approx(0), pytest.approx(0))]

    def test_ratios_are_those_of_a_comparison(self, tmp_path: Path) -> None:
        from training.runs import Allowance, Plan, enlist, run_plan

        encoding = Encoding("deepen", 2, 20, 20)
        network, found = encoding.network(encoding.start()), courses("caves-128")
        network.save(tmp_path / "n.npz")
        own = enlist("policy-lrta", {"policy": str(tmp_path / "n.npz")}, Allowance.of(None))
        rows, _ = run_plan(Plan((*fixed_depths(), own), found), workers=HERE)
        score = score_all(rows)[-1]
        ((mean, pooled),) = rate_networks([network], measure_curve(found, HERE, tmp_path), HERE)
        assert np.exp(mean) == pytest.approx(score.ratio_mean and score.ratio_mean.value)
        assert np.exp(pooled) == pytest.approx(score.ratio_pooled and score.ratio_pooled.value)

    def test_no_run_of_the_curve_is_cut_and_a_cut_run_voids_a_candidate(self, tmp_path: Path) -> None:
        curve = measure_curve(courses(), HERE, tmp_path)
        caps = curve.max_moves, curve.max_moves - 1
        (course,) = curve.courses
        runs = [NetworkRuns(course.tasks, cap).do(course.grid, [always(1, "depth")]) for cap in caps]
        assert average(runs[0][0]) is not None
        assert average(runs[1][0]) is None
        assert curve.log_ratios(None) == (-np.inf, -np.inf)
        assert EvolutionConfig().merit(curve.log_ratios(None)) == -np.inf

    def test_fixed_depths_that_are_cut_are_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(merits, "MAX_MOVES", 30)
        with pytest.raises(InputError, match="does not reach every goal within 30 moves"):
            measure_curve(courses(), HERE, tmp_path)


class TestEncoding:
    @given(
        vector=st.lists(st.floats(-3, 3, width=32), min_size=27, max_size=27).map(np.array),
        row=st.lists(st.floats(-5, 5, width=32), min_size=24, max_size=24),
    )
    def test_the_depth_is_the_one_whose_logarithm_is_nearest(self, vector: Any, row: list[float]) -> None:
        encoding = Encoding("depth", 1, 9, 20)
        y = np.tanh(np.array(row) @ vector[:24] + vector[24]) * vector[25] + vector[26]
        gaps = np.abs(y - np.log(np.arange(1, 10)))
        chosen = int(encoding.network(vector).scores([row])[0].argmax())
        assert gaps[chosen] == pytest.approx(gaps.min(), abs=1e-4)

    def test_the_first_network_to_deepen_goes_by_what_the_layers_say(self) -> None:
        encoding = Encoding("deepen", 3, 20, 20)
        network, row = encoding.network(encoding.start()), dict.fromkeys(encoding.features, 0.0)
        seen = [{"layer_rise": 0.0}, {"layer_rise": np.log(2)}, {"layer_rise": np.log(2), "steady": np.log(5)}]
        acts = [scores[0] >= scores[1] for scores in network.scores([list((row | one).values()) for one in seen])]
        assert acts == [True, False, True]

    @pytest.mark.parametrize("decide", ["depth", "deepen"])
    def test_standardised_inputs_leave_the_first_network_as_it_is(self, decide: str) -> None:
        plain = Encoding(decide, 3, 6, 10)
        scaled = plain.standardised(courses())
        rows = np.random.default_rng(0).normal(1, 1, (20, len(plain.features)))
        expected = plain.network(plain.start()).scores(rows)
        np.testing.assert_allclose(scaled.network(scaled.start()).scores(rows), expected, atol=1e-3)
        assert not np.allclose(scaled.mean, 0)


class TestSelection:
    def test_half_are_the_hardest_and_no_map_has_more_than_its_share(self) -> None:
        drawn = (*courses("rooms-64", 30), *courses("random-48", 30))
        for course, chosen in zip(drawn, hardest(drawn, 20), strict=True):
            order = sorted(course.tasks, key=lambda task: -task.optimal_cost / h0(course.grid, task.start, task.goal))
            assert len(chosen.tasks) == len(set(chosen.tasks)) == 10
            assert set(order[:5]) <= set(chosen.tasks)

    def test_fewer_problems_than_asked_for_are_all_taken(self) -> None:
        assert [course.tasks for course in hardest(courses(), 1000)] == [course.tasks for course in courses()]

    @pytest.mark.parametrize(("shares", "made"), [(1, 1), (4, 4), (9, 6)])
    def test_every_problem_is_in_exactly_one_share_and_no_share_lacks_a_map(self, shares: int, made: int) -> None:
        drawn = (*courses("rooms-64", 6), *courses("random-48", 11))
        dealt = split_problems(drawn, shares)
        assert len(dealt) == made
        assert all(course.tasks for share in dealt for course in share)
        for number, course in enumerate(drawn):
            assert sorted(task for share in dealt for task in share[number].tasks) == sorted(course.tasks)


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

    @pytest.mark.parametrize(("decide", "last"), [("depth", 3), ("deepen", 1)])
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
            ({"decide": "jump"}, "decide must be depth or deepen, not 'jump'"),
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

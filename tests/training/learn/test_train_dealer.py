"""Evolved dealers, and the command that trains them."""

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from typer.testing import CliRunner

from rt_gym import InputError, Squad, load_map, sample_problems
from rt_gym.squad import RULES
from rt_gym.squad.envs.dealer import SquadSettings
from training.cli import app
from training.judge.think import DEALERS, dealers_table, dealt_times
from training.learn.evolve import LEARNED, DealerConfig, train_dealer

SMALL: dict[str, Any] = {"map": "random-48", "units": 4, "allowance": 20, "share": 20, "optimal": (5, 30)}
SHORT = DealerConfig(generations=2, population=4, squads=2, check=1, validation=2, test=4)


def quiet(amount: float, text: str) -> None:
    """Report nothing."""


class TestTimes:
    def test_they_are_the_returns_of_the_environment(self) -> None:
        env = gym.make("RTSquad-v0", **SMALL).unwrapped
        times = dealt_times(DEALERS["nearest"], SquadSettings(**SMALL), range(5))
        for seed, time in enumerate(times):
            env.reset(seed=seed)
            earned, over = 0.0, False
            while not over:
                _, reward, over, _, _ = env.step(RULES.index("nearest"))
                earned += float(reward)
            assert earned == -4 * time

    def test_random_dealers_deal_the_same_again(self) -> None:
        settings = SquadSettings(**SMALL)
        for name in ("random rule", "random shares"):
            once, again = (dealt_times(DEALERS[name], settings, range(3)) for _ in range(2))
            assert once.tolist() == again.tolist()

    def test_squads_that_are_cut_count_as_they_were_cut(self) -> None:
        times = dealt_times(DEALERS["equal"], SquadSettings(**SMALL, max_ticks=3), range(3))
        assert times.tolist() == [3.0] * 3

    def test_the_table_has_paired_differences_to_the_learned_one(self) -> None:
        times = {"equal": np.array([10.0, 20.0, 30.0]), LEARNED: np.array([9.0, 19.0, 29.0])}
        equal, learned = dealers_table(times, 5, LEARNED).rows
        assert equal == ["equal", "20.0", "[10.0, 30.0]", "-100.0", "+1.00", "[1.000, 1.000]", "+5.3"]
        assert learned[:4] == [LEARNED, "19.0", "[9.000, 29.0]", "-95.0"]
        assert "longer than\nlearned" not in dealers_table(times, 5).columns


class TestEvolution:
    def test_the_same_seed_gives_the_same_dealer(self) -> None:
        results = [train_dealer(SHORT, quiet, **SMALL) for _ in range(2)]
        one, other = ([layer for pair in result.policy.layers for layer in pair] for result in results)
        assert all(map(np.array_equal, one, other))
        assert {name: times.tolist() for name, times in results[0].times.items()} == {
            name: times.tolist() for name, times in results[1].times.items()
        }
        assert list(results[0].times) == [*DEALERS, LEARNED]

    def test_it_begins_with_the_nearest_first_or_with_all_alike(self) -> None:
        nearest, equal = (DealerConfig().dealer(start) for start in DealerConfig().starts())
        squad = Squad(sample_problems(load_map("random-48"), 6), "rtaa", 18, share=18)
        weights, distance = nearest(squad.situation), squad.situation.distance
        assert np.argsort(-weights, kind="stable").tolist() == np.argsort(distance, kind="stable").tolist()
        assert equal(squad.situation) == pytest.approx([3.0] * 6)

    @pytest.mark.parametrize("wrong", [{"hidden": 0}, {"generations": -1}, {"population": 3}, {"sigma": 0.0}])
    def test_settings_out_of_range_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(InputError, match=next(iter(wrong))):
            DealerConfig(**wrong)


class TestCommand:
    OPTIONS = ("--maps", "random-48", "--units", "3", "--allowance", "20", "--share", "20", "--test-squads", "3")

    def test_without_generations_it_judges_the_rules(self, tmp_path: Path) -> None:
        arguments = ["train", "dealer", *self.OPTIONS, "--generations", "0", "--out", str(tmp_path), "--json"]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0
        times = json.loads(result.stdout)["times"]
        assert list(times) == list(DEALERS)
        assert list(tmp_path.iterdir()) == []

    def test_it_writes_a_file_that_a_squad_takes(self, tmp_path: Path) -> None:
        arguments = ["train", "dealer", *self.OPTIONS, "--generations", "1", "--squads", "1", "--out", str(tmp_path)]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0
        assert all(name in result.stdout for name in (*DEALERS, LEARNED, "dealer.json"))
        problems = sample_problems(load_map("open-16"), 5)
        assert Squad(problems, "rtaa", 30, share=10, rule=str(tmp_path / "dealer.json")).run().arrived.all()

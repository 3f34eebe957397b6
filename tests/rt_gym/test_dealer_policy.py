"""Learned dealers: they can do what rules do, work for any number of units, and come back from their files."""

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from rt_gym import InputError, Squad, load_map, sample_problems
from rt_gym.features.dealing import DEALT
from rt_gym.meter import UNLIMITED
from rt_gym.squad import Situation
from rt_gym.squad.policy import DealerPolicy, load_dealer


def linear(**slopes: float) -> DealerPolicy:
    """Return a dealer whose output is a sum of features times these."""
    return DealerPolicy(((np.array([[slopes.get(name, 0.0)] for name in DEALT]), np.zeros(1)),))


def situation(ready: list[bool], distance: list[float], asks: list[int], allowance: int) -> Situation:
    none = np.zeros(len(ready), np.int64)
    return Situation(
        np.array(ready), np.array(distance), none, none, none, np.array(ready), np.array(asks, np.int64), allowance
    )


def squad(rule: Any, units: int = 8, allowance: int = 30) -> Squad:
    return Squad(sample_problems(load_map("random-48"), units), "rtaa", allowance, share=10, rule=rule)


class TestWeights:
    def test_equal_outputs_give_all_the_same(self) -> None:
        assert linear()(situation([True, True, False, True], [1, 2, 3, 4], [9] * 4, 12)).tolist() == [4, 4, 0, 4]

    def test_outputs_far_apart_serve_one_after_the_other(self) -> None:
        shares = linear(distance=-100.0)(situation([True] * 4, [8, 2, 1, 4], [10] * 4, 25))
        assert shares == pytest.approx([0, 10, 10, 5])

    def test_nobody_gets_more_than_it_asks_for_while_another_lacks_something(self) -> None:
        shares = linear(distance=-1.0)(situation([True] * 3, [0, 0, 3], [2, 30, 30], 14))
        assert shares == pytest.approx([2, 12 * 0.8, 12 * 0.2])

    def test_without_a_limit_all_get_something(self) -> None:
        assert linear()(situation([True, False], [1, 2], [3, 3], UNLIMITED)).tolist() == [1, 0]

    @given(
        st.lists(st.tuples(st.booleans(), st.floats(0, 1e6), st.integers(1, 10**6)), min_size=1, max_size=9),
        st.integers(1, 10**7),
        st.floats(-1e3, 1e3),
    )
    @examples(200)
    def test_shares_are_finite_and_within_the_allowance_and_what_is_asked_for(
        self, units: list[tuple[bool, float, int]], allowance: int, slope: float
    ) -> None:
        ready, distance, asks = (list(column) for column in zip(*units, strict=True))
        shares = linear(distance=slope)(situation(ready, distance, asks, allowance))
        assert np.isfinite(shares).all()
        assert (shares >= 0).all()
        assert (shares <= np.where(ready, asks, 0) * (1 + 1e-9)).all()
        assert shares.sum() <= allowance * (1 + 1e-9)


class TestFiles:
    def test_a_squad_takes_the_file_of_a_dealer(self, tmp_path: Path) -> None:
        policy = linear(distance=-3.0, raised=0.5)
        policy.save(tmp_path / "dealer.json")
        for rule in (str(tmp_path / "dealer.json"), tmp_path / "dealer.json"):
            one, other = squad(policy), squad(rule)
            runs = [each.run() for each in (one, other)]
            assert runs[0].arrival.tolist() == runs[1].arrival.tolist()
            assert runs[0].work_worst <= 30

    def test_one_dealer_works_for_any_number_of_units(self) -> None:
        policy = linear(distance=-3.0)
        assert all(squad(policy, units).run().arrived.all() for units in (1, 5, 17))

    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
    def test_a_copy_of_a_squad_has_the_same_dealer(self, copied: Any) -> None:
        one = squad(linear(distance=-3.0))
        for _ in range(5):
            one.tick()
        assert copied(one).run().arrival.tolist() == one.run().arrival.tolist()

    def test_what_was_saved_is_what_is_loaded(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        layers = (rng.normal(size=(2, 3)), rng.normal(size=3)), (rng.normal(size=(3, 1)), rng.normal(size=1))
        DealerPolicy(layers, ("waited", "distance"), {"seed": 3}).save(tmp_path / "a.json")
        found = load_dealer(tmp_path / "a.json")
        assert (found.features, found.about) == (("waited", "distance"), {"seed": 3})
        for ours, theirs in zip(layers, found.layers, strict=True):
            assert all(map(np.array_equal, ours, theirs))

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"kind": "tree"}, "is not a dealer"),
            ({"version": 2}, "has version 2"),
            ({"features": "distance"}, "features by words"),
            ({"features": ["luck"]}, "'luck'"),
            ({"features": ["left", "left"]}, "each of them once"),
            ({"features": []}, "must have features"),
            ({"layers": []}, "from 1 to 4 layers"),
            ({"layers": 3}, "list of layers"),
            ({"layers": [{"weights": [[1.0]], "bias": [0.0]}]}, "10 rows"),
            ({"layers": [{"weights": [["a"]] * 10, "bias": [0.0]}]}, "finite numbers"),
            ({"layers": [{"weights": [[1.0, 2.0]] * 10, "bias": [0.0, 1.0]}]}, "one output"),
            ({"layers": [{"weights": [[float("inf")]] * 10, "bias": [0.0]}]}, "finite numbers"),
            ({"about": 1}, "describe itself"),
        ],
    )
    def test_files_that_are_no_dealers_are_refused(self, tmp_path: Path, change: dict[str, Any], words: str) -> None:
        linear().save(tmp_path / "bad.json")
        document = json.loads((tmp_path / "bad.json").read_text()) | change
        (tmp_path / "bad.json").write_text(json.dumps(document))
        with pytest.raises(InputError, match=rf"bad\.json: .*{words}"):
            load_dealer(tmp_path / "bad.json")

    @pytest.mark.parametrize("rule", ["no-such-file.json", "best", 3])
    def test_what_is_no_rule_is_refused(self, rule: Any) -> None:
        with pytest.raises(InputError):
            squad(rule)

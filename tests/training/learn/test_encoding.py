"""Vectors as networks: what the numbers of a vector decide, and the network that evolution begins with."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.policies.networks import BOTH
from training.learn.evolve import DEEP, QUIET, SHALLOW, TELLING, Encoding
from training.runs import Draw, find_courses


@given(
    vector=st.lists(st.floats(-3, 3, width=32), min_size=27, max_size=27).map(np.array),
    row=st.lists(st.floats(-5, 5, width=32), min_size=24, max_size=24),
)
def test_the_depth_is_the_one_whose_logarithm_is_nearest(vector: Any, row: list[float]) -> None:
    encoding = Encoding("depth", 1, 9, 20)
    y = np.tanh(np.array(row) @ vector[:24] + vector[24]) * vector[25] + vector[26]
    gaps = np.abs(y - np.log(np.arange(1, 10)))
    chosen = int(encoding.network(vector).scores([row])[0].argmax())
    assert gaps[chosen] == pytest.approx(gaps.min(), abs=1e-4)


def test_the_first_network_to_deepen_goes_by_what_the_layers_say() -> None:
    encoding = Encoding("deepen", 3, 20, 20)
    network, row = encoding.network(encoding.start()), dict.fromkeys(encoding.features, 0.0)
    seen = [{"layer_rise": 0.0}, {"layer_rise": np.log(2)}, {"layer_rise": np.log(2), "steady": np.log(5)}]
    acts = [scores[0] >= scores[1] for scores in network.scores([list((row | one).values()) for one in seen])]
    assert acts == [True, False, True]


def test_the_first_network_for_depth_and_goal_trusts_subgoals_until_a_state_is_entered_again() -> None:
    encoding = Encoding(BOTH, 2, 16, 50)
    network, row = encoding.network(encoding.start()), dict.fromkeys(encoding.features, 0.0)
    moved = row | {"moves": np.log1p(200)}
    seen = [
        row,  # the start
        moved | {"since_return": np.log1p(50)},
        moved | {"since_return": np.log1p(2), "revisits": np.log1p(3)},
        moved | {"since_return": np.log1p(QUIET - 1), "revisits": np.log1p(3)},
        moved | {"since_return": np.log1p(QUIET + 1), "revisits": np.log1p(3)},
        moved | {"since_return": np.log1p(QUIET + 1), "revisits": np.log1p(3), "moves": np.log1p(20_000)},
    ]
    depths, goals = network.choose([list(one.values()) for one in seen]).T.tolist()
    assert goals == [1, 1, 0, 0, 1, 0]
    assert (depths[1] + 1, depths[2] + 1) == (SHALLOW, DEEP)


@given(vector=st.lists(st.floats(-3, 3, width=32), min_size=28, max_size=28).map(np.array), seed=st.integers(0, 99))
def test_depth_and_goal_follow_two_numbers_and_telling_features_only(vector: Any, seed: int) -> None:
    encoding = Encoding(BOTH, 2, 9, 20)
    row = np.random.default_rng(seed).normal(0, 2, len(encoding.features)).astype(np.float32).astype(np.float64)
    units = np.tanh(row[[encoding.features.index(name) for name in encoding.features if name in TELLING]] @ (
        vector[:20].reshape(10, 2)) + vector[20:22])  # fmt: skip
    y, z = units @ vector[22:24] + vector[24], units @ vector[25:27] + vector[27]
    ((depth, goal),) = encoding.network(vector).choose([row]).tolist()
    gaps = np.abs(y - np.log(np.arange(1, 10)))
    assert gaps[depth] == pytest.approx(gaps.min(), abs=1e-4)
    assert goal == int(z > 0) or abs(z) < 1e-4


@pytest.mark.parametrize("decide", ["depth", "deepen", BOTH])
def test_standardised_inputs_leave_the_first_network_as_it_is(decide: str) -> None:
    plain = Encoding(decide, 3, 6, 10)
    scaled = plain.standardised(tuple(find_courses(["rooms-64"], Draw(6, 20, 60))))
    rows = np.random.default_rng(0).normal(1, 1, (20, len(plain.features)))
    expected = plain.network(plain.start()).scores(rows)
    np.testing.assert_allclose(scaled.network(scaled.start()).scores(rows), expected, atol=1e-3)
    assert not np.allclose(scaled.mean, 0)

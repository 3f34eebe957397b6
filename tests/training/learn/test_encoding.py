"""Vectors as networks: what the numbers of a vector decide, and the network that evolution begins with."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.learn.evolve import Encoding
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


@pytest.mark.parametrize("decide", ["depth", "deepen"])
def test_standardised_inputs_leave_the_first_network_as_it_is(decide: str) -> None:
    plain = Encoding(decide, 3, 6, 10)
    scaled = plain.standardised(tuple(find_courses(["rooms-64"], Draw(6, 20, 60))))
    rows = np.random.default_rng(0).normal(1, 1, (20, len(plain.features)))
    expected = plain.network(plain.start()).scores(rows)
    np.testing.assert_allclose(scaled.network(scaled.start()).scores(rows), expected, atol=1e-3)
    assert not np.allclose(scaled.mean, 0)

"""Whatever happens to the bytes of a file, a reader returns what it should or refuses in one sentence with the name."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from profiles import examples
from rt_gym.errors import InputError
from rt_gym.grid import Grid
from rt_gym.maps import Scenario, load_map, load_scenarios, save_map, write_scenarios

MUTATIONS = 800
GRID = Grid(np.random.default_rng(0).random((9, 13)) < 0.7)
PROBLEMS = [Scenario(i, "some map", 13, 9, (i, 0), (12, 8), i * 1.1) for i in range(5)]
PIECES = [
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b"\t",
    b",",
    b".",
    b"-",
    b"e",
    b"1e999",
    b"nan",
    b"9" * 30,
    b"\xff",
    b"\xe2\x80\xa8",
]

Edit = tuple[str, float, bytes]

edits = st.lists(
    st.tuples(
        st.sampled_from(["replace", "insert", "delete", "repeat", "cut"]),
        st.one_of(st.floats(0, 1), st.floats(0, 0.1)),  # where; headers stand at the beginning
        st.one_of(st.binary(min_size=1, max_size=4), st.sampled_from(PIECES)),
    ),
    min_size=1,
    max_size=4,
)


def mutated(data: bytes, changes: list[Edit]) -> bytes:
    for kind, where, piece in changes:
        at = int(where * len(data))
        after = at + len(piece)
        data = {
            "replace": data[:at] + piece + data[after:],
            "insert": data[:at] + piece + data[at:],
            "delete": data[:at] + data[after:],
            "repeat": data[:at] + data[at : after + 8] + data[at:],
            "cut": data[:at],
        }[kind]
    return data


def outcome(read: Callable[[Path], Any], path: Path) -> Any:
    """Return what a reader made of a file, or None after a refusal as it should be."""
    try:
        return read(path)
    except InputError as refusal:
        message = str(refusal)
        assert message.startswith(str(path))
        assert message.isprintable()
        own_words = re.sub("'.*'|\".*\"|known are . G S", "", message.removeprefix(str(path)))
        assert ". " not in own_words
        assert len(message) < len(str(path)) + 250
        return None


@pytest.mark.parametrize("suffix", [".map", ".png", ".npy", ".npz", ".csv"])
@examples(MUTATIONS)
@given(changes=edits)
@example(changes=[])
def test_a_mutated_map_is_a_grid_or_refused(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, changes: list[Edit]
) -> None:
    path = tmp_path_factory.getbasetemp() / f"mutated{suffix}"
    save_map(GRID, path)
    path.write_bytes(mutated(path.read_bytes(), changes))
    grid = outcome(load_map, path)
    assert grid is None or isinstance(grid, Grid)
    assert changes or grid == GRID


@examples(MUTATIONS)
@given(changes=edits)
@example(changes=[])
def test_mutated_scenarios_are_scenarios_or_refused(
    tmp_path_factory: pytest.TempPathFactory, changes: list[Edit]
) -> None:
    path = tmp_path_factory.getbasetemp() / "mutated.scen"
    write_scenarios(PROBLEMS, path)
    path.write_bytes(mutated(path.read_bytes(), changes))
    problems = outcome(load_scenarios, path)
    assert problems is None or all(isinstance(problem, Scenario) for problem in problems)
    assert changes or problems == PROBLEMS


@pytest.mark.parametrize("suffix", [".map", ".png", ".npy", ".npz", ".csv"])
@given(data=st.binary(max_size=300))
def test_random_bytes_are_refused(tmp_path_factory: pytest.TempPathFactory, suffix: str, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / f"random{suffix}"
    path.write_bytes(b"\xff" + data)
    assert outcome(load_map, path) is None


@examples(MUTATIONS)
@given(
    key=st.sampled_from(["type", "height", "width", "map", "", "Width"]),
    value=st.one_of(st.integers().map(str), st.floats().map(str), st.text(max_size=12)),
    line=st.integers(0, 3),
)
def test_a_map_with_an_edited_header_line_is_a_grid_or_refused(
    tmp_path_factory: pytest.TempPathFactory, key: str, value: str, line: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "header.map"
    save_map(GRID, path)
    lines = path.read_bytes().split(b"\n")
    lines[line] = f"{key} {value}".encode()
    path.write_bytes(b"\n".join(lines))
    assert outcome(load_map, path) in (None, GRID)

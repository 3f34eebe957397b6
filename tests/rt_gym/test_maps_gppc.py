"""Scenarios of version 2: maps made of patches, the problems on them, and files that are refused."""

from pathlib import Path

import numpy as np
import pytest

import agents
from rt_gym import InputError
from rt_gym.maps import load_dynamic_scenarios
from rt_gym.maps.gppc import is_dynamic, read_patches

PATCHES = """type patch
patches 2
patch 0
height 3
width 1
map
@
T
@
patch 1
height 2
width 3
map
...
@.@
"""
SCENARIOS = """version 2
height 5
width 6
cost 1 octile
patch small.patch
commands
Q 0 0 0 5 4 6.6568542494924
P 1 0 2 1
Q 1 0 0 5 4 7.8284271247462
Q 1 2 1 5 4 1
P 2 1 0 0
P 2 1 3 3
Q 2 0 0 2 0 2
"""


def write(folder: Path, scenarios: str = SCENARIOS, patches: str = PATCHES) -> Path:
    (folder / "small.patch").write_text(patches)
    (path := folder / "small.scen").write_text(scenarios)
    return path


def test_every_map_is_the_one_before_it_with_patches_laid_over(tmp_path: Path) -> None:
    found = load_dynamic_scenarios(write(tmp_path))
    (first, _), (second, _), (third, _) = found.snapshots()
    assert first.passable.all()
    walls = ~second.passable
    assert np.argwhere(walls).tolist() == [[1, 2], [2, 2], [3, 2]]
    assert third.passable.astype(int).tolist() == [
        [1, 1, 1, 1, 1, 1],
        [0, 1, 0, 1, 1, 1],
        [1, 1, 0, 1, 1, 1],
        [1, 1, 0, 1, 1, 1],
        [1, 1, 1, 0, 1, 0],
    ]
    assert [grid.name for grid, _ in found.snapshots()] == ["small-0", "small-1", "small-3"]


def test_the_problems_are_solved_at_the_lengths_of_the_file(tmp_path: Path) -> None:
    found = load_dynamic_scenarios(write(tmp_path))
    asked = [(query, query.on(grid)) for grid, queries in found.snapshots() for query in queries if query.fits(grid)]
    assert [query.bucket for query, _ in asked] == [0, 1, 2]
    for query, problem in asked:
        assert agents.run("astar", problem).cost == pytest.approx(query.optimal)


def test_a_problem_on_a_blocked_cell_does_not_fit(tmp_path: Path) -> None:
    fits = [
        query.fits(grid) for grid, queries in load_dynamic_scenarios(write(tmp_path)).snapshots() for query in queries
    ]
    assert fits == [True, True, False, True]


def test_of_several_costs_the_octile_one_is_read(tmp_path: Path) -> None:
    text = SCENARIOS.replace("cost 1 octile", "cost 2 euclid octile").replace("P 1", "P 1")
    lines = [f"{line} 3.5" if line.startswith("Q") else line for line in text.splitlines()]
    found = load_dynamic_scenarios(write(tmp_path, "\n".join(lines)))
    assert {query.optimal for query in found.queries} == {3.5}


def test_only_version_2_is_dynamic(tmp_path: Path) -> None:
    assert is_dynamic(write(tmp_path))
    (other := tmp_path / "other.scen").write_text("version 1\n")
    assert not is_dynamic(other)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("version 2", "version 1", "small.scen, line 1: expected 'version 2', not 'version 1'"),
        ("height 5", "height -5", "small.scen, line 2: expected a whole number below 1000000000, not '-5'"),
        ("height 5", "width 5", "small.scen, line 2: expected 'height N', not 'width 5'"),
        ("width 6", "width 999999999", "small.scen, line 3: the map is too large"),
        ("cost 1 octile", "cost 1 manhattan", "small.scen, line 4: one of its costs must be octile"),
        ("patch small.patch", "patch ../other.patch", "line 5: there is no file '../other.patch' beside it"),
        ("commands", "orders", "small.scen, line 6: expected 'commands', not 'orders'"),
        ("P 1 0 2 1", "P 1 7 2 1", "small.scen, line 8: there is no patch 7, the last is 1"),
        ("P 1 0 2 1", "P 1 0 2 3", "line 8: patch 0 at (2, 3) reaches beyond the 6 x 5 map"),
        ("P 1 0 2 1", "R 1 0 2 1", "line 8: expected P with 4 numbers or Q with 6, not 'R 1 0 2 1'"),
        ("Q 1 2 1 5 4 1", "Q 1 2 1 5 9 1", "line 10: (5, 9) lies outside the 6 x 5 map"),
        ("Q 1 2 1 5 4 1", "Q 1 2 1 5 4 nan", "line 10: expected a length, not 'nan'"),
        ("Q 1 2 1 5 4 1", "Q 1 2 1 5 4 1e999", "line 10: expected a length, not '1e999'"),
    ],
)
def test_a_wrong_line_is_refused_with_its_number(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, SCENARIOS.replace(old, new, 1))
    with pytest.raises(InputError) as refusal:
        load_dynamic_scenarios(path)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("type patch", "type octile", "line 1: expected 'type patch', not 'type octile'"),
        ("patches 2", "patches 3", "line 15: expected 'patch 2', not ''"),
        ("patches 2", "patches 1", "line 10: there is more after the last patch: 'patch 1'"),
        ("patch 1", "patch 5", "line 10: expected 'patch 1', not 'patch 5'"),
        ("@.@", "@.", "line 15: the row has 2 letters, but the width is 3"),
        ("@.@", "@.?", "line 15: unknown terrain '?' in column 3"),
        ("height 2", "height 9", "line 16: the row has 0 letters, but the width is 3"),
        ("height 2", "height 99999999", "the map is too large"),
    ],
)
def test_a_wrong_patch_is_refused_with_its_line(old: str, new: str, message: str, tmp_path: Path) -> None:
    write(tmp_path, patches=PATCHES.replace(old, new, 1))
    with pytest.raises(InputError) as refusal:
        read_patches(tmp_path / "small.patch")
    assert "small.patch" in str(refusal.value)
    assert message in str(refusal.value)


def test_patches_that_would_replace_too_many_cells_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rt_gym.maps.gppc._MOST_PATCHED", 10)
    with pytest.raises(InputError, match="line 12: all patches together replace more than 10 cells"):
        load_dynamic_scenarios(write(tmp_path))

"""What is said of maps that were read, and the rule of pictures."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from rt_gym import Grid, InputError, load_map
from rt_gym.maps.remarks import islands, remarks

SWAMP = "type octile\nheight 2\nwidth 4\nmap\n.SG.\n@STS\n"


def test_islands_are_the_parts_that_no_way_leads_out_of() -> None:
    grid = Grid([[1, 1, 0, 1], [1, 0, 1, 0]], name="bits")
    assert islands(grid) == [3, 1, 1]  # corners are not cut
    assert islands(Grid([[0, 0]])) == []
    assert remarks("bits", grid) == ["bits falls into 3 islands: free cells 3, 1 and 1"]


def test_of_many_islands_the_small_ones_are_told_together() -> None:
    grid = Grid([[1, 1, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1]], name="chain")
    assert remarks("chain", grid) == ["chain falls into 5 islands: free cells 3, 2, 1 and 2 in the other 2"]


def test_swamp_is_told_of_map_files_only(tmp_path: Path) -> None:
    (path := tmp_path / "S.map").write_text(SWAMP)
    assert remarks(path, load_map(path))[0] == f"{path} has 3 cells of swamp (S), which are read as plain ground"
    assert remarks("open-16", load_map("open-16")) == []


def test_nothing_is_said_of_huge_maps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path := tmp_path / "S.map").write_text(SWAMP)
    monkeypatch.setattr("rt_gym.maps.remarks.MOST_CELLS", 7)
    assert remarks(path, load_map(path)) == []


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    """Four pixels of different light, and one that is transparent."""
    pixels = np.array([[[0, 255], [99, 255], [100, 255], [255, 255], [255, 0]]], np.uint8)
    Image.fromarray(pixels).save(path := tmp_path / "grey.png")
    return path


@pytest.mark.parametrize(
    ("options", "free"),
    [
        ({}, [0, 0, 0, 1, 0]),
        ({"wall_below": 100}, [0, 0, 1, 1, 0]),
        ({"wall_below": 1}, [0, 1, 1, 1, 0]),
        ({"invert": True}, [1, 1, 1, 0, 0]),
        ({"wall_below": 100, "invert": True}, [1, 1, 0, 0, 0]),
    ],
)
def test_which_pixels_are_walls_can_be_said(options: dict[str, int], free: list[int], picture: Path) -> None:
    assert load_map(picture, **options).passable[0].astype(int).tolist() == free


def test_the_limit_is_the_same_share_of_16_bits(tmp_path: Path) -> None:
    Image.fromarray(np.array([[25599, 25600]], np.uint16)).save(tmp_path / "deep.png")
    assert load_map(tmp_path / "deep.png", wall_below=100) == Grid([[0, 1]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wall_below": 0}, "wall_below must be a whole number from 1 to 255, not 0"),
        ({"wall_below": 256}, "wall_below must be a whole number from 1 to 255"),
        ({"invert": 1}, "invert must be True or False, not 1"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(options: dict[str, int], message: str, picture: Path) -> None:
    with pytest.raises(InputError, match=message):
        load_map(picture, **options)

"""Pictures of squads: units as discs, squares and letters, goals as rings, and what the team has seen."""

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rt_gym import Grid, InputError, Problem, Squad
from rt_gym.render import Scene, Units, close_up, frame, palette, text
from rt_gym.squad.picture import squad_scene

# Protanopia, deuteranopia and tritanopia, complete: G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, 2009.
BLIND = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def units(positions: Any, goals: Any, still: Any = None) -> Units:
    return Units(np.array(positions), np.array(goals), np.zeros(len(positions), bool) if still is None else still)


def scene(shown: Units, side: int = 8, **fields: Any) -> Scene:
    given = {"known": None, "position": (0, 0), "start": (0, 0), "goal": (0, 0), "trail": [], "layers": {}}
    return Scene(np.ones((side, side), bool), **(given | fields), units=shown)


def around(image: NDArray[np.uint8], position: tuple[int, int], pixels: int = 20) -> NDArray[np.uint8]:
    """Return the pixels of a cell in a picture without rims."""
    x, y = position
    return image[y * pixels : (y + 1) * pixels, x * pixels : (x + 1) * pixels]


def covers(image: NDArray[np.uint8], number: int) -> NDArray[np.bool_]:
    return (image == palette.UNITS[number]).all(axis=-1)


def test_a_unit_is_a_disc_and_its_goal_a_ring_of_the_same_colour() -> None:
    image = frame(scene(units([(1, 1), (1, 3)], [(5, 1), (5, 3)])), size=(160, 160))
    for number, y in enumerate((1, 3)):
        disc, ring = covers(around(image, (1, y)), number), covers(around(image, (5, y)), number)
        assert disc[10, 10]
        assert not ring[10, 10]
        assert min(disc.sum(), ring.sum()) > 40
    assert not covers(image, 2).any()


def test_a_unit_that_stands_still_is_a_square() -> None:
    goals = [(5, 1), (5, 3)]
    image = frame(scene(units([(1, 1), (1, 3)], goals, np.array([False, True]))), size=(160, 160))
    going, standing = covers(around(image, (1, 1)), 0), covers(around(image, (1, 3)), 1)
    corner = (4, 4)
    assert (going[corner], standing[corner]) == (False, True)


def test_a_unit_on_its_goal_is_a_dot_within_the_ring() -> None:
    image = around(frame(scene(units([(5, 1)], [(5, 1)])), size=(160, 160)), (5, 1))
    line = covers(image, 0)[10]
    assert line[10]
    assert line[:6].any()
    assert (np.diff(line.astype(int)) != 0).sum() >= 4


def test_agent_start_and_goal_are_not_drawn_for_themselves() -> None:
    image = frame(scene(units([(1, 1)], [(5, 1)]), goal=(7, 7)), size=(160, 160))
    drawn = {tuple(colour) for colour in image.reshape(-1, 3).tolist()}
    assert not {palette.AGENT, palette.GOAL, palette.START_EDGE} & drawn


def test_units_out_of_view_are_left_out() -> None:
    shown = scene(units([(1, 1), (7, 7)], [(2, 2), (0, 7)]))
    near = frame(shown, size=(160, 160), zoom=4)
    assert covers(near, 0).any()
    assert not covers(near, 1).any()
    for colour in (True, False):
        assert "1" not in without_colours(text(close_up(shown, 4), 20, 10, colour=colour))


@pytest.mark.parametrize("kind", ["usual", *BLIND])
def test_the_colours_of_units_differ_for_every_kind_of_colour_vision(kind: str) -> None:
    linear = (np.array([*palette.UNITS, palette.FLOOR]) / 255) ** 2.2
    shown = np.clip(linear @ np.array(BLIND.get(kind, np.eye(3))).T, 0, 1) ** (1 / 2.2) * 255
    apart = np.linalg.norm(shown[:, None] - shown, axis=-1) + 255 * np.eye(len(shown))
    assert apart.min() > 25


def without_colours(lines: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", lines)


def test_plain_text_has_digits_and_letters_for_units_and_rings_for_goals() -> None:
    ends = [(x, 1) for x in range(8)] + [(x, 3) for x in range(4)]
    starts = [(x, 0) for x in range(8)] + [(x, 2) for x in range(3)] + [(3, 3)]
    drawn = text(scene(units(starts, ends), side=8), colour=False).splitlines()
    assert drawn[:4] == ["01234567", "oooooooo", "89A.....", "ooo@...."]


def test_coloured_text_swaps_ink_and_paper_where_a_unit_stands_still() -> None:
    shown = scene(units([(0, 0), (1, 0), (2, 6)], [(0, 7), (1, 7), (2, 6)], np.array([False, True, False])))
    drawn = text(shown, 8, 4)
    dark = ";".join(map(str, palette.UNIT_EDGE))
    first, second, third = (";".join(map(str, colour)) for colour in palette.UNITS[:3])
    assert f"\x1b[38;2;{dark};48;2;{first}m0" in drawn
    assert f"\x1b[38;2;{second};48;2;{dark}m1" in drawn
    assert f"\x1b[38;2;{third};48;2;{dark}m◉" in drawn
    assert without_colours(drawn).count("○") == 2


def test_units_without_a_goal_each_are_refused() -> None:
    with pytest.raises(InputError, match="units of a scene need a goal each, not 1 for 2"):
        scene(units([(0, 0), (1, 1)], [(2, 2)]))


class TestSquad:
    GRID = Grid(np.ones((9, 12)))

    def squad(self, **options: Any) -> Squad:
        fields = {name: options.pop(name) for name in ("vision", "changes") if name in options}
        ends = [((0, 0), (11, 0)), ((0, 8), (11, 8))]
        return Squad([Problem(self.GRID, *pair, **fields) for pair in ends], "astar", **options)

    def test_its_units_and_goals_are_those_of_the_scene(self) -> None:
        squad = self.squad()
        squad.tick()
        shown = squad_scene(squad, np.array([True, False]), "words")
        assert shown.units is not None
        assert shown.units.positions.tolist() == squad.positions.tolist() == [[1, 0], [1, 8]]
        assert shown.units.goals.tolist() == [[11, 0], [11, 8]]
        assert shown.units.still.tolist() == [True, False]
        assert (shown.position, shown.goal, shown.caption, shown.known) == ((1, 0), (11, 0), "words", None)

    @pytest.mark.parametrize("shared_fog", [False, True])
    def test_what_any_unit_has_seen_is_shown(self, shared_fog: bool) -> None:
        known = squad_scene(self.squad(vision=2, shared_fog=shared_fog)).known
        assert known is not None
        assert np.argwhere(~known)[:, 0].min() == 0
        assert known[:3, :3].all()
        assert known[6:, :3].all()
        assert known.sum() == 2 * 9

    def test_cells_that_are_not_as_at_the_start_are_marked(self) -> None:
        squad = self.squad(changes=[(1, (5, 4), False), (2, (6, 4), False), (3, (6, 4), True)])
        marked = []
        for _ in range(4):
            marked.append(squad_scene(squad).changed.tolist())
            squad.tick()
        assert marked == [[], [[5, 4]], [[5, 4], [6, 4]], [[5, 4]]]
        assert not squad_scene(squad).passable[4, 5]

"""docs/watching.md: its tables of colours and signs say what is drawn."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rt_gym.render import Scene, Units, marks, palette, text
from rt_gym.render.legend import samples

PAGE = Path(__file__).resolve().parents[2] / "docs" / "watching.md"
SIDE = 12
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def rows(head: str) -> list[list[str]]:
    """Return the rows of the table whose head begins so."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith(head)) + 2
    end = next(number for number, line in enumerate(lines[begin:], begin) if not line.startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[begin:end]]


def hexes(colours: Any) -> list[str]:
    """Return one colour or several as the page writes them."""
    several = colours if isinstance(colours[0], tuple) else (colours,)
    return ["#{:02x}{:02x}{:02x}".format(*colour) for colour in several]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`(.*?)`", cell)


def is_colour(value: Any) -> bool:
    first = value[0] if isinstance(value, tuple) and value else None
    return isinstance(first, int) or (isinstance(first, tuple) and len(first) == 3)


def scene(units: Units | None = None) -> Scene:
    """Return a scene with everything in it that can be drawn."""
    passable, known = np.ones((SIDE, SIDE), bool), np.ones((SIDE, SIDE), bool)
    passable[:, 8], known[:, 11] = False, False
    trail, heat = np.array([[1, 1], [2, 2], [3, 3]]), np.zeros((SIDE, SIDE))
    heat[5, 5] = 3.0
    layers = {"h": heat, "expanded": np.array([[4, 4]]), "subgoals": np.array([[6, 6]])}
    changed = np.array([[0, 5]])
    return Scene(passable, known, (3, 3), (1, 1), (7, 7), trail, layers, "", changed=changed, units=units)


def squad() -> Scene:
    count = 37  # one more than there are signs
    places = np.array([(k % SIDE, k // SIDE) for k in range(count)])
    goals = places + np.array([0, 6])
    goals[-1] = places[-1]
    return scene(Units(places, goals, np.arange(count) % 2 == 0))


class TestColours:
    def test_every_colour_of_the_palette_has_a_row_with_its_values(self) -> None:
        told = {quoted(name)[0]: quoted(colour) for _, colour, name, _ in rows("| what |")}
        own = {name: value for name, value in vars(palette).items() if name.isupper() and is_colour(value)}
        assert told == {name: hexes(value) for name, value in own.items()}

    @pytest.mark.parametrize("drawn", [scene(), squad()], ids=["agent", "squad"])
    def test_what_a_legend_explains_has_the_word_and_the_colour_of_its_row(self, drawn: Scene) -> None:
        told = {what: quoted(colour) for what, colour, _, _ in rows("| what |")}
        for word, look in samples(drawn):
            unit = drawn.units is not None and isinstance(look, marks.Mark)
            colour = look.fill if isinstance(look, marks.Mark) else look
            assert hexes(colour)[0] in told["unit" if unit else word]

    def test_tints_are_as_strong_as_they_are_told(self) -> None:
        shares = {quoted(name)[0]: re.findall(r"(\d+) (?:to|%)", how) for _, _, name, how in rows("| what |")}
        for name in ("EXPANDED", "CHANGED"):
            assert shares[name] == [f"{100 * getattr(palette, f'{name}_BLEND'):.0f}"]
        assert shares["HEAT_STOPS"] == [f"{100 * share:.0f}" for share in palette.HEAT_BLEND]
        assert shares["REGIONS"] == [f"{100 * palette.REGION_BLEND:.0f}"]


class TestSigns:
    def told(self, column: int) -> set[str]:
        """Return the signs that are drawn in colours (1) or plain (2)."""
        found = set[str]()
        for row in rows("| sign |"):
            signs = quoted(row[0])
            if row[column]:
                ends = zip(signs[::2], signs[1::2], strict=True) if len(signs) > 1 else [(signs[0], signs[0])]
                found |= {chr(code) for low, high in ends for code in range(ord(low), ord(high) + 1)}
        return found

    @pytest.mark.parametrize(("column", "colour"), [(1, True), (2, False)], ids=["in colours", "plain"])
    def test_every_sign_that_is_drawn_has_a_row_and_the_other_way_round(self, column: int, colour: bool) -> None:
        drawn = {sign for one in (scene(), squad()) for sign in ESCAPES.sub("", text(one, colour=colour))} - {"\n"}
        assert drawn == self.told(column)

    def test_plain_signs_mean_what_the_page_says(self) -> None:
        lines = text(scene(), colour=False).splitlines()
        told = {row[3]: quoted(row[0])[0] for row in rows("| sign |")}
        drawn = {"wall": (8, 0), "free": (0, 0), "not seen": (11, 0), "expanded": (4, 4), "changed": (0, 5)}
        drawn |= {"goal": (7, 7)}
        assert {what: lines[y][x] for what, (x, y) in drawn.items()} == {what: told[what] for what in drawn}
        assert (lines[2][2], lines[3][3]) == ("o", "@")

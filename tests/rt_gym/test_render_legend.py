"""The legend below a picture: what it explains, and that it leaves the map alone."""

import numpy as np
import pytest

from rt_gym.render import Scene, Units, frame, palette
from rt_gym.render.legend import HEIGHT, legend_height, samples


def scene(units: Units | None = None, known: bool = False) -> Scene:
    free = np.ones((20, 20), bool)
    return Scene(free, free if known else None, (1, 1), (0, 0), (9, 9), np.empty((0, 2)), {}, "words", units=units)


def test_a_legend_names_what_may_be_drawn() -> None:
    words = [word for word, _ in samples(scene())]
    assert words == ["agent", "start", "goal", "subgoal", "path", "expanded", "learned", "wall", "changed"]
    assert [word for word, _ in samples(scene(known=True))][-1] == "not seen"
    squad = Units(np.array([[1, 1]]), np.array([[5, 5]]), np.array([False]))
    assert [word for word, _ in samples(scene(squad))] == ["unit", "stands still", "goal", "wall", "changed"]


def test_a_legend_stands_between_the_map_and_the_caption() -> None:
    plain, explained = frame(scene(), (640, 668)), frame(scene(), (640, 690), legend=True)
    assert np.array_equal(plain[:642], explained[:642])
    assert np.array_equal(plain[-26:], explained[-26:])
    strip = explained[642 : 642 + HEIGHT]
    for colour in (palette.TRAIL, palette.EXPANDED, palette.WALL, palette.CHANGED):
        assert (strip == colour).all(axis=2).any()


@pytest.mark.parametrize(("width", "rows"), [(640, 1), (320, 2)])
def test_a_narrow_picture_has_two_rows_of_it(width: int, rows: int) -> None:
    assert legend_height(width) == rows * HEIGHT
    image = frame(scene(), (width, 700), legend=True)[-26 - rows * HEIGHT : -26]
    drawn = (image != palette.BACKGROUND).any(axis=2)
    assert all(drawn[HEIGHT * row : HEIGHT * (row + 1)].any() for row in range(rows))


def test_a_picture_without_room_has_none() -> None:
    assert np.array_equal(frame(scene(), (64, 64)), frame(scene(), (64, 64), legend=True))

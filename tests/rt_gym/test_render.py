import re
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rt_gym import InputError
from rt_gym.render import Scene, Window, frame, palette, text

FLOOR, WALL, AGENT, TRAIL = (np.array(colour) for colour in (palette.FLOOR, palette.WALL, palette.AGENT, palette.TRAIL))


def scene(passable: Any, **fields: Any) -> Scene:
    """Return a scene with the agent at the top left and the goal at the bottom right, unless told otherwise."""
    array = np.asarray(passable, bool)
    corner = (array.shape[1] - 1, array.shape[0] - 1)
    given = {"known": None, "position": (0, 0), "start": (0, 0), "goal": corner, "trail": [], "layers": {}}
    return Scene(array, **(given | fields))


def open_scene(width: int, height: int, **fields: Any) -> Scene:
    return scene(np.ones((height, width)), **fields)


def brightness(colours: NDArray[Any]) -> NDArray[np.float64]:
    return colours @ np.array([0.299, 0.587, 0.114])


def count(image: NDArray[np.uint8], colour: palette.Colour) -> int:
    return int((image == colour).all(axis=-1).sum())


def without_colours(lines: str) -> list[str]:
    return re.sub(r"\x1b\[[0-9;]*m", "", lines).split("\n")


def test_the_four_areas_of_a_two_by_two_map_have_their_colours() -> None:
    image = frame(scene([[1, 1], [0, 1]], known=[[1, 1], [1, 0]], goal=(1, 0)), size=(64, 64))
    # The lower left corner of each area is free of marks, shadows and grid lines.
    assert tuple(image[30, 1]) == tuple(image[30, 33]) == palette.FLOOR
    assert tuple(image[62, 1]) == palette.WALL
    assert tuple(image[62, 33]) in palette.FOG


def test_a_wall_shows_its_face_and_throws_a_shadow_on_the_ground_below() -> None:
    image = frame(scene([[1, 0, 1], [1, 1, 1]]), size=(96, 64))
    assert tuple(image[16, 48]) == palette.WALL
    assert tuple(image[30, 48]) == palette.FACE
    assert brightness(image[34, 48]) < brightness(FLOOR)
    assert tuple(image[48, 48]) == palette.FLOOR


@pytest.mark.parametrize("size", [(16, 16), (17, 31), (333, 641), (640, 640)])
@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (45, 2), (2, 1500), (300, 200)])
@pytest.mark.parametrize("zoom", [None, 1, 6, 10_000])
def test_a_frame_has_the_size_asked_for(size: tuple[int, int], shape: tuple[int, int], zoom: int | None) -> None:
    image = frame(scene(np.ones(shape), caption="a caption"), size=size, zoom=zoom)
    assert image.shape == (size[1], size[0], 3)
    assert image.dtype == np.uint8
    assert count(image, palette.AGENT) > 0


def test_a_map_is_enlarged_a_whole_number_of_times_and_set_in_the_middle() -> None:
    shown = scene(np.zeros((10, 30)), position=(15, 5), start=(15, 5), goal=(20, 5))
    image = frame(shown, size=(100, 100))
    rows, columns = np.nonzero((image != palette.BACKGROUND).any(axis=-1))
    assert (rows.min(), rows.max() + 1) == (35, 65)
    assert (columns.min(), columns.max() + 1) == (5, 95)


def test_agent_and_goal_are_visible_in_an_overview_of_the_largest_map() -> None:
    image = frame(open_scene(1500, 1500, position=(750, 750), goal=(1200, 300)))
    rows, columns = np.nonzero((image == palette.AGENT).all(axis=-1))
    assert len(rows) >= 25
    assert abs(rows.mean() - 319.5) < 2
    assert abs(columns.mean() - 319.5) < 2
    assert count(image[:320, 320:], palette.GOAL) >= 25


def test_the_agent_differs_from_the_goal_in_brightness_and_stands_out_from_floor_and_wall() -> None:
    assert brightness(np.array(palette.GOAL)) - brightness(AGENT) > 100
    assert brightness(FLOOR) - brightness(AGENT) > 100
    assert brightness(np.array(palette.AGENT_EDGE)) - brightness(WALL) > 100


def test_the_goal_is_seen_around_an_agent_that_has_reached_it() -> None:
    image = frame(open_scene(9, 9, position=(8, 8)))
    assert count(image, palette.AGENT) > 0
    assert count(image, palette.GOAL) > 0


@pytest.mark.parametrize("side", [640, 200, 100])
def test_a_wall_one_cell_wide_is_visible_in_an_overview(side: int) -> None:
    passable = np.ones((512, 512), bool)
    passable[:, 300] = False
    image = frame(scene(passable), size=(side, side))
    drawn = min(side, 512)
    margin = (side - drawn) // 2
    column = margin + 300 * drawn // 512
    middle = image[margin + drawn // 4 : margin + 3 * drawn // 4]  # away from the marks in the corners
    assert (brightness(middle[:, column]) < brightness(middle[:, column - 10]) - 50).all()


def test_a_corridor_one_cell_wide_is_visible_in_an_overview() -> None:
    passable = np.zeros((1000, 1000), bool)
    passable[500] = True
    image = frame(scene(passable, position=(0, 500), goal=(999, 500)), size=(500, 500))
    assert brightness(image[250, 250]) > brightness(image[240, 250]) + 20
    assert tuple(image[240, 250]) == palette.ROCK


def test_unknown_cells_differ_from_free_cells_and_from_walls_whatever_is_believed_of_them() -> None:
    known = np.ones((8, 8), bool)
    known[:, 4:] = False
    passable = np.ones((8, 8), bool)
    believed_blocked = passable.copy()
    believed_blocked[:, 4:] = False
    fog = frame(scene(passable, known=known), size=(64, 64))
    assert np.array_equal(fog, frame(scene(believed_blocked, known=known), size=(64, 64)))
    assert abs(brightness(fog[20, 40]) - brightness(FLOOR)) > 20
    assert abs(brightness(fog[20, 40]) - brightness(WALL)) > 20


LAYERS: dict[str, Any] = {
    "h": np.pad([[20.0]], [(3, 4), (4, 3)]),
    "expanded": [[4, 3]],
    "subgoals": [[4, 3]],
    "regions": np.full((8, 8), 5),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("side", [160, 640])
def test_a_layer_changes_the_picture_where_it_says_something(name: str, side: int) -> None:
    bare, drawn = (frame(open_scene(8, 8, layers=layers), size=(side, side)) for layers in ({}, {name: LAYERS[name]}))
    cell = side // 8
    assert (bare != drawn)[3 * cell + 2 : 4 * cell, 4 * cell + 2 : 5 * cell].any()
    assert np.array_equal(bare[6 * cell : 7 * cell, :cell], drawn[6 * cell : 7 * cell, :cell]) == (name != "regions")


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_visible_where_a_pixel_stands_for_several_cells(name: str) -> None:
    small = LAYERS[name]
    layer = np.kron(small, np.ones((50, 50), int)) if name in ("h", "regions") else np.array(small) * 50
    bare, drawn = (frame(open_scene(400, 400, layers=layers), size=(100, 100)) for layers in ({}, {name: layer}))
    assert (bare != drawn).any()


def test_a_layer_of_another_name_is_ignored() -> None:
    assert np.array_equal(frame(open_scene(8, 8)), frame(open_scene(8, 8, layers={"mood": np.ones(3)})))


def test_regions_of_different_numbers_have_different_tints_and_a_negative_number_has_none() -> None:
    regions = np.repeat([[-1, 0, 1, 2]], 4, axis=0)
    image = frame(open_scene(4, 4, layers={"regions": regions}), size=(128, 128))
    tints = [tuple(image[60, column]) for column in (16, 48, 80, 112)]
    assert tints[0] == palette.FLOOR
    assert len(set(tints)) == 4


def test_cells_that_changed_are_highlighted_even_when_they_are_walls_now() -> None:
    passable = np.ones((8, 8), bool)
    passable[3, 4] = False
    quiet, loud = (frame(scene(passable, changed=cells), size=(160, 160)) for cells in ([], [[4, 3]]))
    assert (quiet != loud)[60:80, 80:100].all(axis=-1).mean() > 0.5
    assert np.array_equal(quiet[:60], loud[:60])


def test_more_heat_is_darker_on_every_ground() -> None:
    heated = palette.TABLE[: palette.WALL_CODE].reshape(-1, palette.HEATS, 3)[:, 1:]
    assert (np.diff(brightness(heated), axis=1) < 0).all()


def test_infinite_heat_is_drawn_as_the_most_and_no_number_as_none() -> None:
    h = np.array([[np.nan, np.inf, 100.0, 1.0]] * 4)
    image = frame(open_scene(4, 4, layers={"h": h}), size=(128, 128))
    none, infinite, most, little = (image[60, column] for column in (16, 48, 80, 112))
    assert tuple(none) == palette.FLOOR
    assert tuple(infinite) == tuple(most)
    assert brightness(most) < brightness(little) < brightness(FLOOR)


def test_a_trail_is_a_line_that_fades_with_age() -> None:
    trail = [(x, 4) for x in range(9)]
    image = frame(open_scene(9, 9, position=(8, 4), start=(0, 8), goal=(8, 8), trail=trail), size=(180, 180))
    along = brightness(image[90, 2 * 20 + 10 : 7 * 20 + 10 : 20])
    assert (np.diff(along) < 0).all()
    assert along[0] < brightness(FLOOR) - 30
    assert tuple(image[98, 90]) == palette.FLOOR


def test_a_jump_between_trials_is_not_joined() -> None:
    trail = [(2, 4), (3, 4), (6, 4), (7, 4)]
    image = frame(open_scene(9, 9, position=(7, 4), start=(0, 8), goal=(8, 8), trail=trail), size=(180, 180))
    assert brightness(image[90, 60]) < brightness(FLOOR) - 30
    assert brightness(image[90, 110]) == pytest.approx(brightness(FLOOR), abs=1)


def test_a_trail_of_many_cells_per_pixel_stays_visible() -> None:
    trail = [(x, 600) for x in range(1200)]
    image = frame(open_scene(1200, 1200, position=(1199, 600), goal=(1199, 1199), trail=trail), size=(200, 200))
    assert (brightness(image[100, 10:190]) < brightness(FLOOR) - 30).all()


def test_a_zoom_shows_so_many_cells_around_the_agent() -> None:
    passable = np.random.default_rng(1).random((40, 40)) < 0.5
    image = frame(scene(passable, position=(20, 30)), size=(100, 100), zoom=5)
    drawn = brightness(image[13::20, 3::20]) > 130  # near the left edge of each cell: free of faces and of the agent
    assert np.array_equal(drawn, passable[28:33, 18:23])


def test_a_zoom_near_the_edge_stays_on_the_map() -> None:
    passable = np.random.default_rng(2).random((40, 40)) < 0.5
    image = frame(scene(passable, position=(39, 0), goal=(0, 39)), size=(100, 100), zoom=5)
    drawn = brightness(image[13::20, 3::20]) > 130
    assert np.array_equal(drawn, passable[:5, 35:])


def test_fog_keeps_its_texture_when_the_view_moves() -> None:
    unknown = np.zeros((60, 60), bool)
    here, next_door = (
        frame(open_scene(60, 60, known=unknown, position=(x, 30)), size=(110, 110), zoom=11) for x in (30, 31)
    )
    assert np.array_equal(here[:40, 10:], next_door[:40, :-10])
    assert len(np.unique(here[:40].reshape(-1, 3), axis=0)) == len(palette.FOG)


def test_lines_between_cells_are_drawn_from_twelve_pixels_on() -> None:
    fine, coarse = frame(open_scene(10, 10), size=(119, 119)), frame(open_scene(10, 10), size=(120, 120))
    assert (fine[40:80, 40:80] == palette.FLOOR).all()
    assert (coarse[60, 40:80] != palette.FLOOR).all()


def test_a_caption_is_written_below_the_map_and_cut_to_the_width() -> None:
    for caption in ("lrta  move 12", "many words " * 50):
        image = frame(open_scene(64, 64, caption=caption), size=(200, 200))
        assert (image[-20:, 10:-10] != palette.BACKGROUND).any()
        assert (image[-20:, -5:] == palette.BACKGROUND).all()


def test_drawing_changes_no_array_of_the_scene_and_returns_a_new_one() -> None:
    arrays = {name: np.array(layer) for name, layer in LAYERS.items()}
    trail, changed, known = np.array([[1, 1], [2, 2]]), np.array([[4, 3]]), np.ones((8, 8), bool)
    passable = np.random.default_rng(3).random((8, 8)) < 0.7
    given = [passable, known, trail, changed, *arrays.values()]
    for array in given:
        array.flags.writeable = False
    before = [array.copy() for array in given]
    shown = Scene(passable, known, (2, 2), (1, 1), (7, 7), trail, arrays, "caption", changed)
    first = frame(shown)
    first[:] = 0
    drawings = [frame(shown), frame(shown, zoom=3), frame(shown, size=(16, 16)), text(shown), text(shown, colour=False)]
    assert all(map(np.array_equal, given, before))
    assert drawings[0].any()


def test_plain_text_has_one_letter_per_cell() -> None:
    shown = scene(
        [[1, 1, 1, 1, 1], [1, 0, 0, 0, 1], [1, 1, 1, 0, 1], [1, 1, 1, 1, 1]],
        known=[[1, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 1, 0], [0, 0, 0, 0, 0]],
        position=(2, 0),
        start=(0, 1),
        goal=(4, 3),
        trail=[(0, 1), (0, 0), (1, 0), (2, 0)],
        layers={"expanded": [[3, 0], [4, 0], [2, 0]]},
        caption="lrta  move 3",
    )
    assert text(shown, colour=False) == "oo@++\no###?\n...#?\n????G\nlrta  move 3"


@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize("room", [(80, 24), (7, 3), (1, 1), (200, 2)])
@pytest.mark.parametrize("shape", [(1, 1), (5, 9), (24, 80), (3, 700), (600, 4), (512, 512)])
def test_text_fits_the_terminal(colour: bool, room: tuple[int, int], shape: tuple[int, int]) -> None:
    for caption in ("", "a caption that is longer than some terminals are wide"):
        lines = without_colours(text(scene(np.ones(shape), caption=caption), *room, colour=colour))
        assert max(map(len, lines)) <= room[0]
        assert len(lines) <= room[1]
        assert "@" in "".join(lines)


@pytest.mark.parametrize("colour", [True, False])
def test_a_text_overview_keeps_agent_and_goal(colour: bool) -> None:
    drawn = "".join(without_colours(text(open_scene(1500, 1500, position=(3, 900)), colour=colour)))
    assert (drawn.count("@"), drawn.count("G")) == (1, 1)


def test_a_text_overview_keeps_the_trail() -> None:
    shown = open_scene(500, 500, trail=[(x, 250) for x in range(500)])
    assert max(map(len, re.findall("o+", text(shown, colour=False)))) > 40
    assert text(shown) != text(replace(shown, trail=[]))


def test_a_character_in_colour_holds_two_cells_one_above_the_other() -> None:
    shown = scene([[1, 1, 1], [1, 0, 1], [1, 1, 1], [1, 1, 1]], position=(0, 3), goal=(2, 3))
    first, second = text(shown, columns=3, rows=2).split("\n")
    floor, wall = (";".join(map(str, colour)) for colour in (palette.FLOOR, palette.WALL))
    assert f"\x1b[38;2;{floor};48;2;{wall}m▀" in first
    assert first.endswith("\x1b[0m")
    assert without_colours(first + "\n" + second) == ["▀▀▀", "@▀G"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"known": np.ones((2, 3))}, r"known .* \(3, 3\), not \(2, 3\)"),
        ({"layers": {"h": np.ones(9)}}, r"h of a scene .* \(3, 3\)"),
        ({"trail": np.ones((4, 3))}, r"trail .* n x 2"),
        ({"goal": (3, 0)}, r"goal \(3, 0\) .* 3 x 3 map"),
        ({"caption": "two\nlines"}, "one line"),
    ],
)
def test_a_scene_that_contradicts_itself_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        open_scene(3, 3, **fields)


def test_a_map_without_cells_is_refused() -> None:
    with pytest.raises(InputError, match="at least one cell"):
        Scene(np.ones((0, 3), bool), None, (0, 0), (0, 0), (0, 0), np.empty((0, 2)), {})


@pytest.mark.parametrize("size", [(640,), (15, 640), (640, 4097), (64.5, 64), "large", None])
def test_a_size_out_of_range_is_refused(size: Any) -> None:
    with pytest.raises(InputError, match="size must be"):
        frame(open_scene(3, 3), size=size)


@pytest.mark.parametrize("zoom", [0, -3, 2.5, True, "near"])
def test_a_zoom_that_is_no_number_of_cells_is_refused(zoom: Any) -> None:
    with pytest.raises(InputError, match="zoom must be"):
        frame(open_scene(3, 3), zoom=zoom)


@pytest.mark.parametrize(("columns", "rows"), [(0, 5), (5, 0), (-80, 24)])
def test_a_text_without_room_is_refused(columns: int, rows: int) -> None:
    with pytest.raises(InputError, match="at least one column and one row"):
        text(open_scene(3, 3), columns, rows)


def test_a_terminal_without_end_is_not_filled() -> None:
    lines = without_colours(text(open_scene(40, 40), 10**9, 10**9))
    assert (len(lines), len(lines[0])) == (500, 1000)


def test_a_window_opens_with_the_first_image_shows_it_and_closes() -> None:
    pygame = pytest.importorskip("pygame")
    window = Window()
    assert not pygame.display.get_init()
    image = np.random.default_rng(4).integers(0, 256, (40, 60, 3), np.uint8)
    window.show(image, "a title")
    assert np.array_equal(pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1), image)
    assert pygame.display.get_caption()[0] == "a title"
    window.show(image[:30])
    assert pygame.display.get_surface().get_size() == (60, 30)
    assert window.pump()
    window.close()
    window.close()
    assert not pygame.display.get_init()


def test_a_window_closed_by_the_user_stays_closed() -> None:
    pygame = pytest.importorskip("pygame")
    window, image = Window(), np.zeros((20, 20, 3), np.uint8)
    window.show(image)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert not window.pump()
    window.show(image)
    assert not window.pump()
    assert not pygame.display.get_init()


def test_a_window_without_pygame_names_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    window = Window()
    with pytest.raises(InputError, match=r"rt_gym\[human\]"):
        window.show(np.zeros((20, 20, 3), np.uint8))
    assert window.pump()
    window.close()


def test_a_window_that_cannot_open_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "no such driver")
    with pytest.raises(InputError, match="no window can be opened here"):
        Window().show(np.zeros((20, 20, 3), np.uint8))


@pytest.mark.parametrize("image", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((4, 4, 4), np.uint8)])
def test_a_window_refuses_what_is_no_image(image: NDArray[Any]) -> None:
    with pytest.raises(InputError, match="H x W x 3"):
        Window().show(image)

"""Maps of the editor Tiled, and maps as plain text: what they mean, and hostile ones refused."""

import base64
import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rt_gym import Grid, InputError, load_map

GIDS = [0, 4, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0]
FLIPPED = [0, 4 | 1 << 31, 0, 0, 0, 5 | 1 << 29, 0, 0, 0, 0, 0, 0]
WALLS = Grid([[1, 0, 1, 1], [1, 0, 1, 1], [1, 1, 1, 1]])
CSV = ",".join(map(str, GIDS))


def packed(gids: list[int], compression: str = "") -> str:
    pack = {"": bytes, "zlib": zlib.compress, "gzip": gzip.compress}[compression]
    return base64.b64encode(pack(np.array(gids, "<u4").tobytes())).decode()


def tmx_layer(
    data: str, attributes: str = 'encoding="csv"', name: str = "tiles", size: tuple[int, int] = (4, 3)
) -> str:
    head = f'<layer name="{name}" width="{size[0]}" height="{size[1]}">'
    return f"{head}<properties/><data {attributes}>\n{data}\n</data></layer>"


def tmx(*layers: str, before: str = "") -> bytes:
    head = f'<?xml version="1.0" encoding="UTF-8"?>{before}<map orientation="orthogonal"><tileset firstgid="1"/>'
    return f"{head}{''.join(layers)}<objectgroup><object><properties/></object></objectgroup></map>".encode()


def tmj(data: Any = GIDS, **changes: Any) -> bytes:
    layer = {"type": "tilelayer", "name": "tiles", "width": 4, "height": 3, "data": data} | changes
    return json.dumps({"type": "map", "layers": [{"type": "objectgroup", "name": "x"}, layer]}).encode()


def load(folder: Path, name: str, data: bytes, **options: Any) -> Grid:
    (folder / name).write_bytes(data)
    return load_map(folder / name, **options)


def refusal(folder: Path, name: str, data: bytes, **options: Any) -> str:
    with pytest.raises(InputError) as refused:
        load(folder, name, data, **options)
    message = str(refused.value)
    assert name in message
    assert message.isprintable()
    return message


@pytest.mark.parametrize("gids", [GIDS, FLIPPED])
@pytest.mark.parametrize("compression", ["", "zlib", "gzip"])
def test_every_encoding_of_a_layer_reads_alike(gids: list[int], compression: str, tmp_path: Path) -> None:
    how = f'encoding="base64" compression="{compression}"'
    assert load(tmp_path, "a.tmx", tmx(tmx_layer(packed(gids, compression), how))) == WALLS
    encoded = {"encoding": "base64", "compression": compression}
    assert load(tmp_path, "a.tmj", tmj(packed(gids, compression), **encoded)) == WALLS
    assert load(tmp_path, "b.tmx", tmx(tmx_layer(",\n".join(map(str, gids))))) == WALLS
    assert load(tmp_path, "a.json", tmj(gids)) == WALLS
    tiles = "".join(f'<tile gid="{gid}"/>' if gid else "<tile/>" for gid in gids)
    assert load(tmp_path, "c.tmx", tmx(tmx_layer(tiles, ""))) == WALLS


def test_only_the_tiles_that_are_named_are_walls(tmp_path: Path) -> None:
    assert load(tmp_path, "a.tmx", tmx(tmx_layer(CSV)), walls=[5, 9]).free_cells == 11
    assert load(tmp_path, "a.tmj", tmj(FLIPPED), walls={4}).passable[0].tolist() == [True, False, True, True]


def test_the_layer_is_the_one_named_else_the_only_one_else_that_of_the_walls(tmp_path: Path) -> None:
    ground = tmx_layer(",".join("1" * 12), name="ground")
    walls = f"<group>{tmx_layer(CSV, name='Walls')}</group>"
    both = tmx(ground, walls)
    assert load(tmp_path, "a.tmx", both) == WALLS
    assert load(tmp_path, "a.tmx", both, layer="ground").free_cells == 0
    message = refusal(tmp_path, "a.tmx", tmx(ground, tmx_layer(CSV, name="roof")))
    assert message.endswith("one called walls or collision, or to be named; its tile layers are 'ground', 'roof'")
    assert "has to be one called 'sky'" in refusal(tmp_path, "a.tmx", both, layer="sky")


def test_layers_in_groups_are_found_in_json(tmp_path: Path) -> None:
    layer = json.loads(tmj())["layers"][1]
    nested = {"layers": [{"type": "group", "layers": [{"type": "group", "layers": [layer | {"name": "collision"}]}]}]}
    nested["layers"].append(layer | {"name": "ground"})
    assert load(tmp_path, "a.tmj", json.dumps(nested).encode()) == WALLS


ENTITIES = '<!DOCTYPE map [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not a readable Tiled map"),
        (b"<map>", "is not a readable Tiled map"),
        (b"<map/>", "its tile layers are none"),
        (tmx(tmx_layer(CSV), before=ENTITIES), "has a document type or entities"),
        (tmx(tmx_layer(CSV), before='<!DOCTYPE map SYSTEM "file:///etc/passwd">'), "has a document type or entities"),
        (tmx(tmx_layer("&b;")), "is not a readable Tiled map"),
        (tmx(tmx_layer(CSV + ",1")), "has 13 cells, but should have 12"),
        (tmx(tmx_layer(CSV.replace("4", "x"))), "must be whole numbers with commas between them"),
        (tmx(tmx_layer(CSV.replace("4", "-4"))), "must be whole numbers with commas between them"),
        (tmx(tmx_layer(CSV.replace("4", "\u0664"))), "must be whole numbers with commas between them"),
        (tmx(tmx_layer(CSV.replace("4", ""))), "must be whole numbers with commas between them"),
        (tmx(tmx_layer(CSV.replace("4", "9" * 400))), "a tile must be a whole number from 0 to 4294967295"),
        (tmx(tmx_layer("AAAA", 'encoding="base64"')), "does not hold its 12 cells"),
        (tmx(tmx_layer("!!", 'encoding="base64"')), "is not a readable Tiled map"),
        (tmx(tmx_layer("AAAA", 'encoding="base64" compression="zstd"')), "is packed by 'zstd'; zlib, gzip and no"),
        (tmx(tmx_layer("AAAA", 'encoding="base64" compression="zlib"')), "is not a readable Tiled map"),
        (tmx(tmx_layer(packed([0] * 10**6, "zlib"), 'encoding="base64" compression="zlib"')), "does not hold its 12"),
        (tmx(tmx_layer(CSV, size=(10**6, 10**6))), "the map is too large"),
        (tmx(tmx_layer(CSV, size=(0, 3))), "is infinite or empty"),
        (tmx(tmx_layer('<chunk x="0"/>', 'encoding="csv"')), "is infinite or empty"),
        (tmx('<layer name="a" width="x" height="1"/>'), "is not a readable Tiled map"),
        (tmx('<layer name="a" width="1" height="1"/>' * 1001), "has more than 1000 layers"),
        (tmx('<layer name="a" width="1" height="1"/>'), "its data must be a list of whole numbers"),
    ],
)  # fmt: skip
def test_a_hostile_tmx_is_refused_with_the_reason(data: bytes, message: str, tmp_path: Path) -> None:
    assert message in refusal(tmp_path, "a.tmx", data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{}", "is not a readable Tiled map"),
        (b"[1", "is not a Tiled map, nor any JSON file"),
        (b'{"layers": [5]}', "is not a readable Tiled map"),
        (tmj([1.5] * 12), "its data must be a list of whole numbers"),
        (tmj([[1]] * 12), "its data must be a list of whole numbers"),
        (tmj([10**30] * 12), "its data must be a list of whole numbers"),
        (tmj([-1] * 12), "a tile must be a whole number from 0 to 4294967295"),
        (tmj([1] * 11), "has 11 cells, but should have 12"),
        (tmj(None), "its data must be a list of whole numbers"),
        (tmj(width="4"), "its width must be a whole number"),
        (tmj(chunks=[]), "is infinite or empty"),
    ],
)
def test_a_hostile_tmj_is_refused_with_the_reason(data: bytes, message: str, tmp_path: Path) -> None:
    assert message in refusal(tmp_path, "a.tmj", data)


@pytest.mark.parametrize("text", ["..#.\n#.#.\n", "..#.\r\n#.#.\r\n\r\n", "..#.\n#.#."])
def test_plain_text_has_hashes_for_walls_and_dots_for_free_cells(text: str, tmp_path: Path) -> None:
    assert load(tmp_path, "a.txt", text.encode()) == Grid([[1, 1, 0, 1], [0, 1, 0, 1]])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"..\n.\n", "line 2: the row has 1 letters, but the first has 2"),
        (b"..\n.x\n", "line 2: 'x' in column 2 is neither # (wall) nor . (free)"),
        (b"\n..\n", "line 1: the width and height of a map must be at least 1"),
        (b"\xff.\n", "line 1: byte 255 in column 1 is neither"),
    ],
)
def test_other_text_is_refused_with_the_line(data: bytes, message: str, tmp_path: Path) -> None:
    assert message in refusal(tmp_path, "a.txt", data)


@pytest.mark.parametrize(
    ("name", "option", "kinds"),
    [
        ("open-16", {"wall_below": 3}, "wall_below says how .png files are read, and open-16 is none"),
        ("a.map", {"layer": "x"}, "layer says how .tmx and .tmj and .json files are read, and a.map is none"),
        ("a.tmx", {"invert": True}, "invert says how .png files are read, and a.tmx is none"),
    ],
)
def test_an_option_for_files_of_another_kind_is_refused(name: str, option: dict[str, Any], kinds: str) -> None:
    with pytest.raises(InputError, match=kinds):
        load_map(name, **option)

"""Maps of the editor Tiled: one tile layer of a ``.tmx`` (XML), ``.tmj`` or ``.json`` (JSON) file.

The layer is the one that is named, else the only tile layer, else the one that is called *walls* or *collision*. Every
cell with a tile is a wall, or every cell with one of the tiles that are named, by their global ids: the id of a tile in
its tileset plus the ``firstgid`` of the tileset. How a tile is turned does not matter.

Tile layers may be encoded as CSV, as base64 (packed by zlib, gzip or not at all) or tile by tile. XML is read without
document types and entities. The format is described at https://doc.mapeditor.org/en/stable/reference/tmx-map-format/.
"""

import base64
import zlib
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError, quoted, whole
from rt_gym.files import PathLike, read_bytes, read_json, refusing, shown
from rt_gym.grid import Grid
from rt_gym.sizes import size_problem

_KIND = "Tiled map"
_MOST_BYTES = 1 << 27  # of a .tmx file
_MOST_LAYERS = 1000
_PER_CELL = 24  # bytes, while a layer is decoded
_USUAL = ("walls", "collision")
_ID = 0x0FFFFFFF  # the bits of a global id; those above say how the tile is turned
_ANY_PACKING = 47  # of zlib: its own header or that of gzip

Gids = NDArray[np.int64]


@dataclass
class Layer:
    """A tile layer as it is stored: its name and size, and its data with their encoding and compression."""

    name: str
    width: Any
    height: Any
    encoding: str = ""
    compression: str = ""
    data: Any = None
    pieces: list[str] = field(default_factory=list)
    chunked: bool = False


def read_tmx(
    path: PathLike, layer: str | None = None, walls: Collection[int] | None = None, **grid_options: Any
) -> Grid:
    """Return the grid of a ``.tmx`` file, named after it.

    Args:
        path: the file.
        layer: the name of the tile layer with the walls.
        walls: the global ids of the tiles that are walls; all tiles are when None.
        **grid_options: those of ``Grid``.
    """
    file, data = shown(path), read_bytes(path, _MOST_BYTES)
    with refusing(file, _KIND):
        layers = _TmxReader(file).read(data)
    return _grid(path, layers, layer, walls, grid_options)


def read_tiled_json(
    path: PathLike, layer: str | None = None, walls: Collection[int] | None = None, **grid_options: Any
) -> Grid:
    """Return the grid of a ``.tmj`` or ``.json`` file, named after it; the arguments are those of ``read_tmx``."""
    file, document = shown(path), read_json(path, f"a {_KIND}")
    with refusing(file, _KIND):
        layers = _json_layers(document["layers"])
    return _grid(path, layers, layer, walls, grid_options)


def _json_layers(found: list[dict[str, Any]]) -> list[Layer]:
    """Return the tile layers of a list, and of the groups in it."""
    layers, rest = [], list(reversed(found))
    while rest:
        entry = rest.pop()
        if entry["type"] == "group":
            rest += reversed(entry["layers"])
        elif entry["type"] == "tilelayer":
            layer = Layer(str(entry["name"]), entry["width"], entry["height"])
            layer.encoding, layer.compression = (str(entry.get(key) or "") for key in ("encoding", "compression"))
            layer.data, layer.chunked = entry.get("data"), "chunks" in entry
            layers.append(layer)
    return layers


class _TmxReader:
    """Collects the tile layers of a document while it is parsed; entities and document types are refused."""

    def __init__(self, file: str) -> None:
        self._file, self.layers, self._within = file, list[Layer](), ""
        parser = self._parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = self._refuse

    def read(self, data: bytes) -> list[Layer]:
        self._parser.Parse(data, True)
        return self.layers

    def _refuse(self, *_: Any) -> None:
        raise InputError(f"{self._file}: has a document type or entities, which no {_KIND} needs")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "layer":
            if len(self.layers) == _MOST_LAYERS:
                raise InputError(f"{self._file}: has more than {_MOST_LAYERS} layers")
            width, height = int(attributes["width"]), int(attributes["height"])
            self.layers.append(Layer(attributes.get("name", ""), width, height))
        elif self.layers and name == "data":
            layer, self._within = self.layers[-1], "data"
            layer.encoding, layer.compression = (attributes.get(key, "") for key in ("encoding", "compression"))
        elif self._within and name == "tile":
            self.layers[-1].pieces += [attributes.get("gid", "0"), ","]
        elif self._within and name == "chunk":
            self.layers[-1].chunked = True

    def _end(self, name: str) -> None:
        if name == "data" and self._within:
            layer, self._within = self.layers[-1], ""
            layer.data = "".join(layer.pieces)
            if not layer.encoding:
                layer.encoding, layer.data = "csv", layer.data.removesuffix(",").strip()

    def _text(self, text: str) -> None:
        if self._within and self.layers[-1].encoding:
            self.layers[-1].pieces.append(text)


def _grid(
    path: PathLike, layers: list[Layer], name: str | None, walls: Collection[int] | None, options: dict[str, Any]
) -> Grid:
    file = shown(path)
    layer = _chosen(file, layers, name)
    where = f"{file}, layer {quoted(layer.name)}"
    width, height = whole(f"{where}: its width", layer.width, 0), whole(f"{where}: its height", layer.height, 0)
    if layer.chunked or not (width and height):
        raise InputError(f"{where}: is infinite or empty; in Tiled, Map Properties give the map a size")
    if problem := size_problem(width, height, _PER_CELL):
        raise InputError(f"{where}: {problem}")
    with refusing(file, _KIND):
        gids = _gids(where, layer, width * height) & _ID
    wall = gids != 0 if walls is None else np.isin(gids, [whole("a tile of walls", tile, 1, _ID) for tile in walls])
    return Grid(~wall.reshape(height, width), name=Path(path).stem, **options)


def _chosen(file: str, layers: list[Layer], name: str | None) -> Layer:
    usual = [layer for layer in layers if layer.name.lower() in _USUAL]
    found = layers if name is None else [layer for layer in layers if layer.name == name]
    if name is None and len(layers) > 1:
        found = usual
    if len(found) == 1:
        return found[0]
    names = ", ".join(quoted(layer.name) for layer in layers[:8]) + ", ..." * (len(layers) > 8)
    wanted = "one called walls or collision, or to be named" if name is None else f"one called {quoted(name)}"
    raise InputError(f"{file}: the layer with the walls has to be {wanted}; its tile layers are {names or 'none'}")


def _gids(where: str, layer: Layer, cells: int) -> Gids:
    """Return the global ids of all cells, row by row."""
    if layer.encoding == "base64":
        return _unpacked(where, layer, cells)
    if isinstance(layer.data, str):
        return _from_csv(where, layer.data, cells)
    gids = np.asarray(layer.data)
    if gids.ndim != 1 or gids.dtype.kind not in "iu":
        raise InputError(f"{where}: its data must be a list of whole numbers")
    return _checked(where, gids, cells)


def _unpacked(where: str, layer: Layer, cells: int) -> Gids:
    packed = base64.b64decode("".join(layer.data.split()), validate=True)
    if layer.compression not in ("", "zlib", "gzip"):
        raise InputError(f"{where}: is packed by {quoted(layer.compression)}; zlib, gzip and no compression are read")
    if layer.compression:
        packed = zlib.decompressobj(_ANY_PACKING).decompress(packed, 4 * cells + 1)
    if len(packed) != 4 * cells:
        raise InputError(f"{where}: does not hold its {cells} cells")
    return np.frombuffer(packed, "<u4").astype(np.int64)


def _from_csv(where: str, text: str, cells: int) -> Gids:
    digits = "".join(text.split())
    if not digits.replace(",", "").isascii() or not digits.replace(",", "0").isdigit() or ",," in f",{digits},":
        raise InputError(f"{where}: its data must be whole numbers with commas between them")
    if digits.count(",") + 1 != cells:
        raise InputError(f"{where}: has {digits.count(',') + 1} cells, but should have {cells}")
    return _checked(where, np.fromstring(digits, np.float64, sep=","), cells)  # floats do not overflow


def _checked(where: str, gids: NDArray[Any], cells: int) -> Gids:
    if gids.size != cells:
        raise InputError(f"{where}: has {gids.size} cells, but should have {cells}")
    if not ((gids >= 0) & (gids < 1 << 32)).all():
        raise InputError(f"{where}: a tile must be a whole number from 0 to {(1 << 32) - 1}")
    return gids.astype(np.int64)

"""One colour per tile: ground, fog and walls, and the tints that an agent's layers lay over them."""

import numpy as np
from numpy.typing import NDArray

from rt_gym.render import palette
from rt_gym.render.pane import Pane
from rt_gym.render.scene import Scene

RELIEF_FROM = 4  # pixels of a tile from which on walls have faces and shadows; smaller ones have a lighter rim instead
_FULL_HEAT = 8.0  # the smallest learned value shown at full heat, so that the first small updates look weak


def wall_tiles(scene: Scene, pane: Pane) -> NDArray[np.float32]:
    """Return how much of a wall each tile shows, from 0 to 1.

    Where a tile stands for several cells this is the square root of their share, which keeps thin walls visible.
    """
    walls = pane.gather(scene.walls.astype(np.float32), np.add)
    return np.sqrt(walls / pane.counts()) if pane.shrunk else walls


def fog_tiles(scene: Scene, pane: Pane) -> NDArray[np.bool_]:
    """Return which tiles hold nothing that is known."""
    if scene.known is None:
        return np.zeros((pane.down, pane.across), bool)
    return ~pane.gather(scene.known, np.logical_or)


def paint_tiles(scene: Scene, pane: Pane) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the colour of every tile, down x across x 3, and which tiles are nothing but wall."""
    share = wall_tiles(scene, pane)
    walls = share == 1
    code = _grounds(scene, pane)
    if "h" in scene.layers:
        code += _heats(pane.gather(scene.layers["h"], np.fmax))
    np.copyto(code, palette.WALL_CODE, where=walls)
    if pane.side < RELIEF_FROM:
        np.copyto(code, palette.ROCK_CODE, where=_enclosed(walls))
    colours = palette.TABLE.take(code, axis=0)
    _tint(colours, pane.index(scene.layers["expanded"]), palette.EXPANDED, palette.EXPANDED_BLEND)
    if pane.shrunk:
        palette.lay(colours, palette.WALL, np.where(walls, np.float32(0), share))
    _tint(colours, pane.index(scene.changed), palette.CHANGED, palette.CHANGED_BLEND)
    return colours, walls


def _grounds(scene: Scene, pane: Pane) -> NDArray[np.uint16]:
    """Return the place in the colour table of each tile's ground: plain floor, the tint of a region, or fog."""
    ground = np.zeros((pane.down, pane.across), np.uint16)
    if "regions" in scene.layers:
        regions = pane.gather(scene.layers["regions"], np.maximum).astype(np.int32)
        np.copyto(ground, 1 + regions % len(palette.REGIONS), where=regions >= 0, casting="unsafe")
    if scene.known is not None:
        np.copyto(ground, _fog_tones(pane), where=fog_tiles(scene, pane))
    return ground * np.uint16(palette.HEATS)


def _fog_tones(pane: Pane) -> NDArray[np.uint16]:
    """Return a tone of fog for every tile, scattered without a pattern; a cell keeps its own when the view moves."""
    x = np.arange(pane.left, pane.left + pane.across, dtype=np.uint32) * np.uint32(0x9E3779B1)
    y = np.arange(pane.top, pane.top + pane.down, dtype=np.uint32) * np.uint32(0x85EBCA77)
    noise = np.bitwise_xor.outer(y ^ y >> 15, x ^ x >> 13) * np.uint32(0xC2B2AE3D) >> 16
    return (palette.FIRST_FOG + noise % len(palette.FOG)).astype(np.uint16)


def _heats(learned: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Return the heat of every tile: 0 where nothing was learned, HEATS - 1 for the most; infinite counts as most."""
    values = np.fmax(learned, 0).astype(np.float32)
    most = np.max(values, initial=_FULL_HEAT, where=np.isfinite(values))
    return np.ceil(np.sqrt(np.minimum(values, most) / most) * np.float32(palette.HEATS - 1)).astype(np.uint16)


def _enclosed(walls: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the walls with walls, or the edge of the picture, on all four sides."""
    inner = walls.copy()
    inner[1:] &= walls[:-1]
    inner[:-1] &= walls[1:]
    inner[:, 1:] &= walls[:, :-1]
    inner[:, :-1] &= walls[:, 1:]
    return inner


def _tint(
    colours: NDArray[np.uint8], where: tuple[NDArray[np.int64], ...], colour: palette.Colour, share: float
) -> None:
    colours[where] = palette.mix(colours[where].astype(float), np.array(colour, float), share).round()

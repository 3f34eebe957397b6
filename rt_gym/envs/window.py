"""The window of an observation: what is blocked, and in fog what is unknown, in the square around the agent.

A map that does not change is kept as a sheet of bits, one per cell, with a margin that window and sight do not pass.
Eight bits are turned into eight floats by one look into a table. A sheet is so small that thousands of episodes that
stand anywhere find it in the cache; with a byte or a float per cell they would wait for memory most of the time. In fog
an episode has a second sheet of what it has seen.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.grid import locate
from rt_gym.jit import kernel

# The bits of every byte as eight floats, the lowest first.
FLOATS = np.unpackbits(np.arange(256, dtype=np.uint8), bitorder="little").astype(np.float32)


FARTHEST = 28  # what is in sight in one row must fit into a word of 64 bits, wherever in a byte it begins


class Sheets(NamedTuple):
    """The sheets of one episode, in arrays that several may share; no bits where the episode has a map of its own.

    Attributes:
        blocked, seen: the bits; the second has none where the whole map is known.
        blocked_begin, seen_begin: the byte where this episode's begin.
        margin: how many cells there are around the map.
        vision: how far the agent sees, up to ``FARTHEST``; 0 where there is no fog.
    """

    blocked: NDArray[np.uint8]
    seen: NDArray[np.uint8]
    blocked_begin: int
    seen_begin: int
    margin: int
    vision: int


def make_sheet(inside: NDArray[np.bool_], margin: int) -> NDArray[np.uint8]:
    """Return an H x W array as bits with a margin of ones. Every row has a spare byte, so that two can be read."""
    padded = np.pad(inside, margin, constant_values=True)
    return np.pad(np.packbits(padded, axis=1, bitorder="little"), ((0, 0), (0, 1))).ravel()


@kernel(inline=True)
def write_window(terrain, sheets, s, x, y, radius, planes, out):
    """Write what is blocked, and with two planes what is unknown, in the square around ``s``; outside is blocked."""
    if sheets.blocked.size == 0:
        write_cells(terrain, s, radius, planes, out)
        return
    row = (terrain.offset[1] - 2 + 2 * sheets.margin + 7) // 8 + 1  # bytes
    corner = 8 * (y + sheets.margin - radius) * row + x + sheets.margin - radius
    place, seen_place = np.uint64(corner + 8 * sheets.blocked_begin), np.uint64(corner + 8 * sheets.seen_begin)
    if planes == 2:
        look_around(terrain, sheets, x, y, row)
    side, k, at_once = np.uint64(2 * radius + 1), np.uint64(0), np.uint64(min(2 * radius + 1, 8))
    for _ in range(side):
        for begin in range(np.uint64(0), side, np.uint64(8)):
            j = min(begin, side - at_once)  # the last eight of a row overlap with those before them
            wall = eight_bits(sheets.blocked, place + j)
            if planes == 2:
                seen = eight_bits(sheets.seen, seen_place + j)
                write_bits(seen ^ np.uint64(255), at_once, out, k + side * side + j)
                wall &= seen
            write_bits(wall, at_once, out, k + j)
        k += side
        place += np.uint64(8 * row)
        seen_place += np.uint64(8 * row)


@kernel
def write_cells(terrain, s, radius, planes, out):
    """Write a window cell by cell: the way for maps that change and for single environments in fog."""
    stride = terrain.offset[1]
    x, y = locate(terrain, s)
    width, height = stride - 2, terrain.free.size // stride - 2
    k = 0
    for plane in range(planes):
        for dy in range(-radius, radius + 1):
            for dx in range(-radius, radius + 1):
                if 0 <= x + dx < width and 0 <= y + dy < height:
                    cell = s + dy * stride + dx
                    seen = np.float32(terrain.known[cell])
                    wall = seen * np.float32(1 - terrain.free[cell])
                    out[k] = wall if plane == 0 else np.float32(1) - seen
                else:
                    out[k] = np.float32(1 - plane)
                k += 1


@kernel(inline=True)
def eight_bits(bits, place):
    """Return the eight bits from bit number ``place`` on. Unsigned indices need no test for counting from the end."""
    byte = place >> np.uint64(3)
    two = np.uint64(bits[byte]) | np.uint64(bits[byte + np.uint64(1)]) << np.uint64(8)
    return two >> (place & np.uint64(7)) & np.uint64(255)


@kernel(inline=True)
def write_bits(byte, count, out, k):
    """Write up to eight bits as floats; eight are read before the first is written, which makes it one instruction."""
    a, one = byte << np.uint64(3), np.uint64(1)
    if count < np.uint64(8):
        for j in range(count):
            out[k + j] = FLOATS[a + j]
        return
    v0, v1, v2, v3 = FLOATS[a], FLOATS[a + one], FLOATS[a + np.uint64(2)], FLOATS[a + np.uint64(3)]
    v4, v5 = FLOATS[a + np.uint64(4)], FLOATS[a + np.uint64(5)]
    v6, v7 = FLOATS[a + np.uint64(6)], FLOATS[a + np.uint64(7)]
    out[k], out[k + one], out[k + np.uint64(2)], out[k + np.uint64(3)] = v0, v1, v2, v3
    out[k + np.uint64(4)], out[k + np.uint64(5)] = v4, v5
    out[k + np.uint64(6)], out[k + np.uint64(7)] = v6, v7


@kernel(inline=True)
def look_around(terrain, sheets, x, y, row):
    """Mark on the sheet what is in sight from ``(x, y)``, as ``rt_gym.belief.sense`` does on a map of bytes."""
    vision = sheets.vision
    for dy in range(-vision, vision + 1):
        reach = vision if terrain.rule[0] == 8 else vision - abs(dy)
        place = np.uint64(8 * (sheets.seen_begin + (y + sheets.margin + dy) * row) + x + sheets.margin - reach)
        byte, count = place >> np.uint64(3), np.uint64(2 * reach + 1)
        word = ((np.uint64(1) << count) - np.uint64(1)) << (place & np.uint64(7))
        for k in range((count + np.uint64(14)) >> np.uint64(3)):
            sheets.seen[byte + k] |= np.uint8(word >> (k << np.uint64(3)) & np.uint64(255))

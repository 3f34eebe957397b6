"""The window of an observation: what is blocked, and in fog what is unknown, in the square around the agent.

A map that does not change is kept as a bitmap, one bit per cell, with a margin that window and sight do not pass.
Sixteen bits are turned into sixteen floats at once. A bitmap is so small that thousands of episodes that
stand anywhere find it in the cache; with a byte or a float per cell they would wait for memory most of the time. In fog
an episode has a second bitmap of what it has seen.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.grid import Grid
from rt_gym.intrinsics import write_bits, write_some_bits
from rt_gym.jit import kernel

FARTHEST = 28  # what is in sight in one row must fit into a word of 64 bits, wherever in a byte it begins


class Bitmaps(NamedTuple):
    """The bitmaps of one episode; no bits where the episode has a map of its own.

    Attributes:
        blocked: the bits of all maps.
        begin: the byte where those of this episode's map begin.
        seen: the bits of what the episode has seen; none where the whole map is known.
        margin: how many cells there are around the map.
        vision: how far the agent sees, up to ``FARTHEST``; 0 where there is no fog.
    """

    blocked: NDArray[np.uint8]
    begin: int
    seen: NDArray[np.uint8]
    margin: int
    vision: int


class MapBits(NamedTuple):
    """The maps of a batch as bitmaps, concatenated in the order of ``Maps``.

    Attributes:
        blocked: the maps; empty where episodes have maps of their own.
        unseen: what an episode in fog has seen before it begins; empty also without fog.
        begin: int64, the first byte of every map, with one entry more than there are maps.
        margin: how many cells there are around a map.
    """

    blocked: NDArray[np.uint8]
    unseen: NDArray[np.uint8]
    begin: NDArray[np.int64]
    margin: int


def make_bitmap(inside: NDArray[np.bool_], margin: int) -> NDArray[np.uint8]:
    """Return an H x W array as bits with a margin of ones, and spare bytes, so that four can be read anywhere."""
    padded = np.pad(inside, margin, constant_values=True)
    return np.pad(np.packbits(padded, axis=1, bitorder="little").ravel(), (0, 4))


def make_map_bits(grids: list[Grid], margin: int, fog: bool, private: bool) -> MapBits:
    """Return the bitmaps of maps, without any bits where episodes have maps of their own."""
    none = np.empty(0, np.uint8)
    blocked = [none if private else make_bitmap(~grid.passable, margin) for grid in grids]
    unseen = [make_bitmap(np.zeros_like(grid.passable), margin) for grid in grids if fog and not private]
    return MapBits(
        blocked=np.concatenate([none, *blocked]),
        unseen=np.concatenate([none, *unseen]),
        begin=np.cumsum([0, *(bitmap.size for bitmap in blocked)]),
        margin=margin,
    )


@kernel(inline=True)
def write_window(terrain, bitmaps, x, y, radius, planes, out):
    """Write what is blocked, and with two planes what is unknown, in the square around; outside is blocked."""
    if bitmaps.blocked.size == 0:
        write_cells(terrain, x, y, radius, planes, out)
        return
    left, top = x + bitmaps.margin - radius, y + bitmaps.margin - radius
    byte, row = byte_at(terrain, bitmaps, left, top), np.uint64(row_bytes(terrain, bitmaps))
    begin, side, shift = np.uint64(bitmaps.begin), np.uint64(2 * radius + 1), np.uint64(left & 7)
    if planes == 2:
        mark_seen(terrain, bitmaps, x, y)
    # Strips of sixteen columns, the last first: what it writes beyond the end of a row is put right by the first.
    for strip in range((side + np.uint64(15)) >> np.uint64(4)):
        j = (((side - np.uint64(1)) >> np.uint64(4)) - strip) << np.uint64(4)
        at = byte + (j >> np.uint64(3))
        if planes == 2:
            write_two(bitmaps.blocked, begin + at, bitmaps.seen, at, row, shift, side, j, out)
        else:
            write_one(bitmaps.blocked, begin + at, row, shift, side, j, out)


@kernel(inline=True)
def write_one(blocked, byte, row, shift, side, k, out):
    """Write sixteen columns of what is blocked, from ``out[k]`` on, next to which are ``side`` more per row."""
    end = side * side
    while k + np.uint64(16) <= end:
        write_bits(bits_from(blocked, byte, shift), out, k)
        k += side
        byte += row
    while k < end:
        write_some_bits(bits_from(blocked, byte, shift), out, k, end)
        k += side
        byte += row


@kernel(inline=True)
def write_two(blocked, byte, seen, seen_byte, row, shift, side, k, out):
    """Write sixteen columns of what is known to be blocked, and in the second plane of what is unknown."""
    end = side * side
    while k + np.uint64(16) <= end:
        known = bits_from(seen, seen_byte, shift)
        write_bits(bits_from(blocked, byte, shift) & known, out, k)
        write_bits(~known, out, end + k)
        k += side
        byte += row
        seen_byte += row
    while k < end:
        known = bits_from(seen, seen_byte, shift)
        write_some_bits(bits_from(blocked, byte, shift) & known, out, k, end)
        write_some_bits(~known, out, end + k, end + end)
        k += side
        byte += row
        seen_byte += row


@kernel
def write_cells(terrain, x, y, radius, planes, out):
    """Write a window, float32[planes * side**2], cell by cell: for changing maps, and for single environments."""
    stride, side = terrain.offset[1], 2 * radius + 1
    width, height, plane = stride - 2, terrain.free.size // stride - 2, side * side
    left, right = max(x - radius, 0), min(x + radius + 1, width)
    out[:plane] = 1
    out[plane : planes * plane] = 0
    for row in range(max(y - radius, 0), min(y + radius + 1, height)):
        cell = np.uint64((row + 1) * stride + left + 1)
        k = np.uint64((row - y + radius) * side + left - x + radius)
        for j in range(np.uint64(right - left)):
            seen = np.float32(terrain.known[cell + j])
            out[k + j] = seen * np.float32(1 - terrain.free[cell + j])
            if planes == 2:
                out[np.uint64(plane) + k + j] = np.float32(1) - seen


@kernel(inline=True)
def bits_from(bits, byte, shift):
    """Return at least sixteen bits, from a bit of a byte on: the compiler reads the four bytes at once."""
    low = np.uint64(bits[byte]) | np.uint64(bits[byte + np.uint64(1)]) << np.uint64(8)
    high = np.uint64(bits[byte + np.uint64(2)]) | np.uint64(bits[byte + np.uint64(3)]) << np.uint64(8)
    return (low | high << np.uint64(16)) >> shift


@kernel(inline=True)
def row_bytes(terrain, bitmaps):
    """Return how many bytes a row of the bitmaps has, margins included."""
    return (terrain.offset[1] - 2 + 2 * bitmaps.margin + 7) >> 3


@kernel(inline=True)
def byte_at(terrain, bitmaps, column, row):
    """Return which byte of a bitmap, margins included, has the bit at ``(column, row)``: bit ``column & 7`` of it."""
    return np.uint64(row * row_bytes(terrain, bitmaps) + (column >> 3))


@kernel(inline=True)
def mark_seen(terrain, bitmaps, x, y):
    """Mark on the bitmap what is in sight from ``(x, y)``, as ``rt_gym.belief.sense`` does on a map of bytes."""
    vision = bitmaps.vision
    for dy in range(-vision, vision + 1):
        reach = vision if terrain.rule[0].connectivity == 8 else vision - abs(dy)
        left = x + bitmaps.margin - reach
        byte, count = byte_at(terrain, bitmaps, left, y + bitmaps.margin + dy), np.uint64(2 * reach + 1)
        word = ((np.uint64(1) << count) - np.uint64(1)) << np.uint64(left & 7)
        for k in range((count + np.uint64(14)) >> np.uint64(3)):
            bitmaps.seen[byte + k] |= np.uint8(word >> (k << np.uint64(3)) & np.uint64(255))

"""The window of an observation: what is blocked, and in fog what is unknown, in the square around the agent.

A map that does not change is kept as a sheet of bits, one per cell, with a margin that window and sight do not pass.
Sixteen bits are turned into sixteen floats at once. A sheet is so small that thousands of episodes that
stand anywhere find it in the cache; with a byte or a float per cell they would wait for memory most of the time. In fog
an episode has a second sheet of what it has seen.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from rt_gym.jit import kernel

if config.DISABLE_JIT:

    def write_bits(bits, out, k):
        """Write the lowest sixteen bits as floats from ``out[k]`` on."""
        write_some_bits(bits, out, k, k + np.uint64(16))

    def write_some_bits(bits, out, k, end):
        """Write up to sixteen bits as floats from ``out[k]`` on, none at ``end`` or after it."""
        for j in range(min(int(end) - int(k), 16)):
            out[int(k) + j] = int(bits) >> j & 1

else:

    def _floats(builder, bits):
        lanes, floats = ir.VectorType(ir.IntType(1), 16), ir.VectorType(ir.FloatType(), 16)
        chosen = builder.bitcast(builder.trunc(bits, ir.IntType(16)), lanes)
        return builder.select(chosen, ir.Constant(floats, [1.0] * 16), ir.Constant(floats, [0.0] * 16))

    def _place(context, builder, kind, array, k):
        data = cgutils.create_struct_proxy(kind)(context, builder, array).data
        return builder.bitcast(builder.gep(data, [k]), ir.VectorType(ir.FloatType(), 16).as_pointer())

    @intrinsic
    def write_bits(typingctx, bits, out, k):
        """Write the lowest sixteen bits as floats from ``out[k]`` on."""

        def codegen(context, builder, signature, args):
            bits, array, k = args
            builder.store(_floats(builder, bits), _place(context, builder, signature.args[1], array, k), align=4)
            return context.get_dummy_value()

        return types.void(types.uint64, out, types.uint64), codegen

    @intrinsic
    def write_some_bits(typingctx, bits, out, k, end):
        """Write up to sixteen bits as floats from ``out[k]`` on, none at ``end`` or after it."""

        def codegen(context, builder, signature, args):
            bits, array, k, end = args
            word, half = ir.IntType(64), ir.IntType(16)
            left = builder.sub(end, k)
            count = builder.select(builder.icmp_unsigned("<", left, word(16)), left, word(16))
            inside = builder.sub(builder.shl(word(1), count), word(1))
            lanes = builder.bitcast(builder.trunc(inside, half), ir.VectorType(ir.IntType(1), 16))
            floats, place = _floats(builder, bits), _place(context, builder, signature.args[1], array, k)
            kind = ir.FunctionType(ir.VoidType(), [floats.type, place.type, ir.IntType(32), lanes.type])
            store = cgutils.get_or_insert_function(builder.module, kind, "llvm.masked.store.v16f32.p0")
            builder.call(store, [floats, place, ir.IntType(32)(4), lanes])
            return context.get_dummy_value()

        return types.void(types.uint64, out, types.uint64, types.uint64), codegen


FARTHEST = 28  # what is in sight in one row must fit into a word of 64 bits, wherever in a byte it begins


class Sheets(NamedTuple):
    """The sheets of one episode; no bits where the episode has a map of its own.

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


def make_sheet(inside: NDArray[np.bool_], margin: int) -> NDArray[np.uint8]:
    """Return an H x W array as bits with a margin of ones, and spare bytes, so that four can be read anywhere."""
    padded = np.pad(inside, margin, constant_values=True)
    return np.pad(np.packbits(padded, axis=1, bitorder="little").ravel(), (0, 4))


@kernel(inline=True)
def write_window(terrain, sheets, x, y, radius, planes, out):
    """Write what is blocked, and with two planes what is unknown, in the square around; outside is blocked."""
    if sheets.blocked.size == 0:
        write_cells(terrain, x, y, radius, planes, out)
        return
    left, top = x + sheets.margin - radius, y + sheets.margin - radius
    byte, row = byte_at(terrain, sheets, left, top), np.uint64(row_bytes(terrain, sheets))
    begin, side, shift = np.uint64(sheets.begin), np.uint64(2 * radius + 1), np.uint64(left & 7)
    if planes == 2:
        look_around(terrain, sheets, x, y)
    # Strips of sixteen columns, the last first: what it writes beyond the end of a row is put right by the first.
    for strip in range((side + np.uint64(15)) >> np.uint64(4)):
        j = (((side - np.uint64(1)) >> np.uint64(4)) - strip) << np.uint64(4)
        at = byte + (j >> np.uint64(3))
        if planes == 2:
            write_two(sheets.blocked, begin + at, sheets.seen, at, row, shift, side, j, out)
        else:
            write_one(sheets.blocked, begin + at, row, shift, side, j, out)


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
    """Write a window cell by cell: the way for maps that change and for single environments in fog."""
    stride = terrain.offset[1]
    width, height = stride - 2, terrain.free.size // stride - 2
    k = 0
    for plane in range(planes):
        for dy in range(-radius, radius + 1):
            for dx in range(-radius, radius + 1):
                if 0 <= x + dx < width and 0 <= y + dy < height:
                    cell = (y + dy + 1) * stride + x + dx + 1
                    seen = np.float32(terrain.known[cell])
                    wall = seen * np.float32(1 - terrain.free[cell])
                    out[k] = wall if plane == 0 else np.float32(1) - seen
                else:
                    out[k] = np.float32(1 - plane)
                k += 1


@kernel(inline=True)
def bits_from(bits, byte, shift):
    """Return at least sixteen bits, from a bit of a byte on: the compiler reads the four bytes at once."""
    low = np.uint64(bits[byte]) | np.uint64(bits[byte + np.uint64(1)]) << np.uint64(8)
    high = np.uint64(bits[byte + np.uint64(2)]) | np.uint64(bits[byte + np.uint64(3)]) << np.uint64(8)
    return (low | high << np.uint64(16)) >> shift


@kernel(inline=True)
def row_bytes(terrain, sheets):
    """Return how many bytes a row of the sheets has, margins included."""
    return (terrain.offset[1] - 2 + 2 * sheets.margin + 7) >> 3


@kernel(inline=True)
def byte_at(terrain, sheets, column, row):
    """Return which byte of a sheet, margins included, has the bit at ``(column, row)``: bit ``column & 7`` of it."""
    return np.uint64(row * row_bytes(terrain, sheets) + (column >> 3))


@kernel(inline=True)
def look_around(terrain, sheets, x, y):
    """Mark on the sheet what is in sight from ``(x, y)``, as ``rt_gym.belief.sense`` does on a map of bytes."""
    vision = sheets.vision
    for dy in range(-vision, vision + 1):
        reach = vision if terrain.rule[0].connectivity == 8 else vision - abs(dy)
        left = x + sheets.margin - reach
        byte, count = byte_at(terrain, sheets, left, y + sheets.margin + dy), np.uint64(2 * reach + 1)
        word = ((np.uint64(1) << count) - np.uint64(1)) << np.uint64(left & 7)
        for k in range((count + np.uint64(14)) >> np.uint64(3)):
            sheets.seen[byte + k] |= np.uint8(word >> (k << np.uint64(3)) & np.uint64(255))

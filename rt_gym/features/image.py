"""Where an episode has been, and the picture of it all: a plane of the flat observation, and images for convolutions.

An image is uint8[4, side, side], the square around the agent; ``CHANNELS`` says what its channels hold. Maps are read
cell by cell in rows, which the compiler turns into vector instructions.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel

CHANNELS = ("blocked", "unknown", "visited", "goal")
MOST = 8  # visits of a cell that are told apart
BRIGHT = 255


class Memory(NamedTuple):
    """What an episode remembers of its way.

    Attributes:
        visits: uint8, how often the agent has stood in each cell of the map after a step, up to ``MOST``; a batch has
            one row per episode.
        blank: uint8, an image where nothing is but the outside of a map; None if observations are flat.
    """

    visits: NDArray[np.uint8]
    blank: NDArray[np.uint8] | None


def make_memory(rows: tuple[int, ...], cells: int, image: bool, side: int) -> Memory:
    """Return the memory of one episode, or of a batch of ``rows``; images are ``side`` cells wide."""
    blank = np.zeros((len(CHANNELS), side, side), np.uint8)
    blank[0] = BRIGHT
    return Memory(np.zeros((*rows, cells), np.uint8), blank.ravel() if image else None)


@kernel(inline=True)
def memory_of(memory, i):
    """Return what episode ``i`` of a batch remembers."""
    if memory is None:
        return None
    return Memory(memory.visits[i], memory.blank)


@kernel(inline=True)
def begin_visits(memory, count, cell):
    """Forget all visits of a map of ``count`` cells but the one that begins."""
    if memory is not None:
        for k in range(count):
            memory.visits[k] = 0
        memory.visits[cell] = 1


@kernel(inline=True)
def visit(memory, cell):
    """Count that the agent stands in ``cell`` after a step."""
    if memory is not None:
        memory.visits[cell] += np.uint8(memory.visits[cell] < MOST)


class Frame(NamedTuple):
    """The part of a map that lies in the square around an agent.

    Attributes:
        left, right, top, bottom: its columns and rows, the last ones included.
        corner: the cell in its top left corner.
        stride: how many cells there are to the next row of the map.
        at: where that corner stands in a plane of the square.
        side: of the square.
    """

    left: int
    right: int
    top: int
    bottom: int
    corner: int
    stride: int
    at: int
    side: int


@kernel(inline=True)
def frame_around(stride, height, x, y, radius):
    """Return what lies around ``(x, y)`` on a map of so many rows; its cells are counted from its own first one."""
    left, right = max(x - radius, 0), min(x + radius, stride - 3)
    top, bottom = max(y - radius, 0), min(y + radius, height - 1)
    side = 2 * radius + 1
    at = (top - y + radius) * side + left - x + radius
    return Frame(left, right, top, bottom, (top + 1) * stride + left + 1, stride, at, side)


@kernel
def write_visits(visits, frame, out):
    """Write how often the cells around have been visited, float32[side**2] from 0 to 1; outside is never."""
    for k in range(frame.side * frame.side):
        out[k] = 0
    for row in range(frame.bottom - frame.top + 1):
        cell, k = np.uint64(frame.corner + row * frame.stride), np.uint64(frame.at + row * frame.side)
        for j in range(np.uint64(frame.right - frame.left + 1)):
            out[k + j] = visits[cell + j] * np.float32(1 / MOST)


@kernel
def write_image(terrain, first, memory, frame, out):
    """Write all of an image but the goal; the cells of ``terrain`` begin at ``first``, those of the memory at 0."""
    plane, count = np.uint64(frame.side * frame.side), np.uint64(frame.right - frame.left + 1)
    for k in range(np.uint64(memory.blank.size)):
        out[k] = memory.blank[k]
    for row in range(frame.bottom - frame.top + 1):
        cell, k = np.uint64(frame.corner + row * frame.stride), np.uint64(frame.at + row * frame.side)
        write_walls(terrain.free, terrain.known, np.uint64(first) + cell, count, k, out)
        write_unknown(terrain.known, np.uint64(first) + cell, count, plane + k, out)
        write_counts(memory.visits, cell, count, plane + plane + k, out)


# A loop for each channel, and unsigned indices: that is what the compiler can turn into vector instructions.


@kernel(inline=True)
def write_walls(free, known, cell, count, k, out):
    """Write a row of what is known to be blocked."""
    for j in range(count):
        out[k + j] = (known[cell + j] & (free[cell + j] ^ np.uint8(1))) * np.uint8(BRIGHT)


@kernel(inline=True)
def write_unknown(known, cell, count, k, out):
    """Write a row of what has not been seen."""
    for j in range(count):
        out[k + j] = (known[cell + j] ^ np.uint8(1)) * np.uint8(BRIGHT)


@kernel(inline=True)
def write_counts(visits, cell, count, k, out):
    """Write a row of how often cells have been visited."""
    for j in range(count):
        out[k + j] = np.uint16(visits[cell + j]) * np.uint16(BRIGHT) // np.uint16(MOST)


@kernel(inline=True)
def write_goal(dx, dy, radius, out):
    """Write where the goal is, so many columns and rows from the agent, into the last channel of an image.

    Outside of the square it stands at the edge, in its direction, and is the darker the further away it is.
    """
    far, shade = max(abs(dx), abs(dy)), np.int64(BRIGHT)
    if far > radius:
        shade = max(BRIGHT * radius // far, 1)
        dx, dy = (2 * dx * radius + far) // (2 * far), (2 * dy * radius + far) // (2 * far)
    side = 2 * radius + 1
    out[3 * side * side + (dy + radius) * side + dx + radius] = shade

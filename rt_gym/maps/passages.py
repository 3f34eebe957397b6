"""Passages between rooms: the carving of mazes and the doors of ``generate.rooms``."""

from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.bool_]
Span = tuple[int, int]


def carve_maze(size: int, rng: np.random.Generator) -> Cells:
    """Return the free cells of a maze that is a tree, carved depth first from the room in the top left corner."""
    side = size // 2
    stride = side + 2
    # Rooms are numbered row by row with a border around them, so that one list holds the border and what was visited.
    closed = np.pad(np.zeros((side, side), bool), 1, constant_values=True).ravel().tolist()
    # A draw below 12 picks fairly among 1, 2, 3 or 4 neighbours.
    draws = iter(rng.integers(12, size=side * side).tolist())
    first = stride + 1
    closed[first] = True
    trail, links = [first], [(first, first)]
    while trail:
        room = trail[-1]
        ways = [step for step in (1, stride, -1, -stride) if not closed[room + step]]
        if not ways:
            trail.pop()
            continue
        after = room + ways[next(draws) % len(ways)]
        closed[after] = True
        trail.append(after)
        links.append((room, after))
    return _open(np.array(links), size, stride)


def _open(links: NDArray[np.int64], size: int, stride: int) -> Cells:
    """Return the maze in which these pairs of rooms are joined."""
    y, x = np.divmod(links, stride)
    y, x = 2 * y - 1, 2 * x - 1
    cells = np.zeros((size, size), bool)
    cells[y, x] = True
    cells[y.sum(axis=1) // 2, x.sum(axis=1) // 2] = True
    return cells


def build_rooms(width: int, height: int, room: int, share: float, rng: np.random.Generator) -> Cells:
    """Return the free cells of rooms with walls of one cell, joined by a ``share`` of the possible doors or more."""
    columns, rows = _spans(width, room), _spans(height, room)
    cells = np.zeros((height, width), bool)
    for (top, bottom), (left, right) in product(rows, columns):
        cells[top:bottom, left:right] = True
    walls = _walls(columns, rows)
    drawn = rng.random(len(walls)) < share
    # The doors that were drawn come first; the others follow, in random order, where rooms are still apart.
    order = np.lexsort((rng.random(len(walls)), ~drawn))
    leader = list(range(len(columns) * len(rows)))
    for k in order.tolist():
        a, b, y, x = walls[k]
        a, b = _find(leader, a), _find(leader, b)
        if drawn[k] or a != b:
            leader[a] = b
            cells[rng.integers(*y), rng.integers(*x)] = True
    return cells


def _spans(length: int, room: int) -> list[Span]:
    """Return where the rooms along one axis begin and end, with a wall of one cell on either side."""
    walls = sorted({*range(0, length, room + 1), length - 1})
    return [(a + 1, b) for a, b in pairwise(walls) if b > a + 1]


def _walls(columns: list[Span], rows: list[Span]) -> list[tuple[int, int, Span, Span]]:
    """Return every wall between two rooms: the numbers of the rooms, and the rows and columns of the wall."""
    walls = []
    for (j, (top, bottom)), (i, (left, right)) in product(enumerate(rows), enumerate(columns)):
        here = j * len(columns) + i
        if i + 1 < len(columns):
            walls.append((here, here + 1, (top, bottom), (right, right + 1)))
        if j + 1 < len(rows):
            walls.append((here, here + len(columns), (bottom, bottom + 1), (left, right)))
    return walls


def _find(leader: list[int], room: int) -> int:
    """Return the room that stands for all rooms connected to this one, and shorten the way to it."""
    while leader[room] != room:
        leader[room] = leader[leader[room]]
        room = leader[room]
    return room

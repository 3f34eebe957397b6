"""Passages between rooms: the carving of mazes and the doors of ``generate.rooms``."""

from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError
from rt_gym.jit import kernel
from rt_gym.sizes import memory_problem

_PER_ROOM = 700  # bytes, while rooms and the walls between them are listed

Cells = NDArray[np.bool_]
Span = tuple[int, int]


def carve_maze(size: int, rng: np.random.Generator) -> Cells:
    """Return the free cells of a maze that is a tree, carved depth first from the room in the top left corner."""
    side = size // 2
    stride = side + 2
    # Rooms are numbered row by row with a border around them, so that one array holds the border and what was visited.
    closed = np.pad(np.zeros((side, side), np.uint8), 1, constant_values=1).ravel()
    # A draw below 12 picks fairly among 1, 2, 3 or 4 neighbours.
    draws = rng.integers(12, size=side * side).astype(np.uint8)
    cells = np.zeros((size, size), np.uint8)
    steps = np.array([[1, stride, -1, -stride], [1, size, -1, -size]])
    carve(cells.ravel(), closed, draws, np.empty(side * side, np.uint8), steps)
    return cells.view(bool)


@kernel
def carve(cells, closed, draws, trail, steps):
    """Carve a maze into the flat ``cells`` and close every room in ``closed``, both in place.

    ``steps`` is int64[2, 4]: what leads from a room, and from a cell, to the one in each direction; ``trail`` keeps the
    directions that lead back.
    """
    room, cell = steps[0, 1] + 1, steps[1, 1] + 1
    closed[room] = cells[cell] = 1
    length, drawn = 0, 0
    while True:
        ways = 0
        for d in range(4):
            ways += closed[room + steps[0, d]] == 0
        if ways == 0:
            if length == 0:
                break
            length -= 1
            d = np.int64(trail[length])
            room, cell = room - steps[0, d], cell - 2 * steps[1, d]
            continue
        left, d = draws[drawn] % ways, 0
        while closed[room + steps[0, d]] != 0 or left > 0:
            left -= closed[room + steps[0, d]] == 0
            d += 1
        cells[cell + steps[1, d]] = 1
        room, cell = room + steps[0, d], cell + 2 * steps[1, d]
        closed[room] = cells[cell] = 1
        trail[length] = d
        length, drawn = length + 1, drawn + 1


def build_rooms(width: int, height: int, room: int, share: float, rng: np.random.Generator) -> Cells:
    """Return the free cells of rooms with walls of one cell, joined by a ``share`` of the possible doors or more."""
    columns, rows = _spans(width, room), _spans(height, room)
    if problem := memory_problem(len(columns) * len(rows), _PER_ROOM):
        raise InputError(f"so many rooms {problem}")
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

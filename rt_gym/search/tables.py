"""Learned values in a hash table: for one of many episodes, or for many goals.

A cell that the table does not hold has its initial heuristic. Tables begin small, so that those of thousands of fresh
episodes fit into the cache, and grow within the room that they are given.
"""

from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel, record, typed
from rt_gym.meter import count_raise
from rt_gym.terrain import CELL_BITS, locate, span

EMPTY = 0  # no cell: number 0 is the corner of the border
FRESH = 64  # entries of a fresh table

# How many places are in use as a table, and how many of them are taken.
TABLE = record(places=int, taken=int)


class Learned(NamedTuple):
    """A hash table from cells to values.

    Attributes:
        cells, values: the entries; the first ``places`` of them are the table, a power of two.
        old_cells, old_values: room for a table that is being enlarged; several tables may share it.
        state: TABLE[1].
    """

    cells: NDArray[np.int32]
    values: NDArray[np.int64]
    old_cells: NDArray[np.int32]
    old_values: NDArray[np.int64]
    state: NDArray[np.record]


class GoalValues(NamedTuple):
    """A hash table from goals and cells to values: the same, with a goal and a cell in every entry of ``cells``."""

    cells: NDArray[np.int64]
    values: NDArray[np.int64]
    old_cells: NDArray[np.int64]
    old_values: NDArray[np.int64]
    state: NDArray[np.record]


Table = TypeVar("Table", bound=Learned | GoalValues)


def make_table(kind: type[Table], places: int, rows: tuple[int, ...] = ()) -> Table:
    """Return a table of a kind, or ``rows`` of them for a batch, with room for half as many values as places.

    Pages that are never touched cost nothing. A table is made fresh by ``forget_values``.
    """
    entry = np.int64 if kind is GoalValues else np.int32
    return kind(
        cells=np.empty((*rows, places), entry),
        values=np.empty((*rows, places), np.int64),
        old_cells=np.empty((*rows, places // 2), entry),
        old_values=np.empty((*rows, places // 2), np.int64),
        state=np.zeros((*rows, 1), TABLE),
    )


def make_goal_values(places: int = 1 << 16) -> GoalValues:
    """Return a fresh table for many goals."""
    table = make_table(GoalValues, places)
    forget_values(table)
    return table


def enlarged(table: Table) -> Table:
    """Return the same table, or the same rows of tables, with twice the room."""
    rows, places = table.cells.shape[:-1], table.cells.shape[-1]
    larger: Any = make_table(type(table), 2 * places, rows)._replace(state=table.state)
    copy_tables(
        table.state.reshape(-1, 1),
        table.cells.reshape(-1, places),
        table.values.reshape(-1, places),
        larger.cells.reshape(-1, 2 * places),
        larger.values.reshape(-1, 2 * places),
    )
    return cast(Table, larger)


@kernel
def copy_tables(state, old_cells, old_values, cells, values):
    """Copy of every row what is in use: the rest of it need not even be in memory."""
    for i in range(state.shape[0]):
        for k in range(state[i, 0].places):
            cells[i, k] = old_cells[i, k]
            values[i, k] = old_values[i, k]


def learned_towards(table: Learned | GoalValues, t: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the cells that have a learned value towards ``t``, and the values."""
    entries = table.cells[: table.state[0].places].astype(np.int64)
    mine = entries != EMPTY
    if isinstance(table, GoalValues):
        mine &= entries >> CELL_BITS == t
    return entries[mine] & ((1 << CELL_BITS) - 1), table.values[: entries.size][mine]


@kernel(inline=True)
def is_full(table, more=0):
    """Whether the next value needs a larger table: a search would no longer find its end in one without gaps.

    ``more`` is how many values a plan may enter beyond that one.
    """
    return 2 * (table.state[0].taken + more) >= table.cells.size


@kernel(inline=True)
def pair(t, cell):
    """Return the entry of a cell's value towards the goal ``t``."""
    return np.int64(t) << CELL_BITS | np.int64(cell) & (1 << CELL_BITS) - 1  # so that the compiler knows both parts


@kernel(inline=True)
def forget_values(learned):
    """Make the table fresh."""
    learned.state[0].places = FRESH
    learned.state[0].taken = 0
    learned.cells[:FRESH] = EMPTY


@kernel(inline=True)
def first_place(mask, cell):
    """Return the first place where a cell may stand.

    Four neighbours in a row have four places in a row: a lookahead then reads half as many cache lines of the table.
    What stands above the cell, the goal, only says where the rows of a goal begin.
    """
    c = np.int64(cell)
    c = c + (c >> CELL_BITS) * 0x9E3779B0 & 0x7FFFFFFF
    return ((c >> 2) * 0x9E3779B1 >> 15 << 2 | c & 3) & mask


@kernel(inline=True)
def place_of(learned, cell):
    """Return where the cell stands, or the empty place where it would."""
    mask = learned.state[0].places - 1
    k = first_place(mask, cell)
    while learned.cells[k] != EMPTY and learned.cells[k] != cell:
        k = (k + 1) & mask
    return k


@kernel
def enlarge(learned):
    """Double the table within its arrays."""
    places = learned.state[0].places
    for k in range(places):
        learned.old_cells[k] = learned.cells[k]
        learned.old_values[k] = learned.values[k]
    learned.state[0].places = 2 * places
    learned.cells[: 2 * places] = EMPTY
    for k in range(places):
        if learned.old_cells[k] != EMPTY:
            j = place_of(learned, learned.old_cells[k])
            learned.cells[j] = learned.old_cells[k]
            learned.values[j] = learned.old_values[k]


@kernel(inline=True)
def entered_value(learned, entry, terrain, cell, t):
    """Return the value of an entry of the table, or the heuristic of its cell: see ``locate``."""
    k = place_of(learned, entry)
    if learned.cells[k] != EMPTY:
        return learned.values[k]
    x, y = locate(terrain, cell)
    goal_x, goal_y = locate(terrain, t)
    return span(terrain.metric, goal_x - x, goal_y - y)


@kernel
def hashed_values(learned, terrain, cells, begin, end, t, out):
    """Write the values of so many cells; what is the same for all of them is read once."""
    stride, straight, diagonal = terrain.offset[1], terrain.metric[0].per_straight, terrain.metric[0].per_diagonal
    inverse, goal_y = 1.0 / stride, locate(terrain, t)[1] + 1
    mask = learned.state[0].places - 1
    for w in range(begin, end):
        cell = np.int64(cells[w])
        entry = entry_of(learned, cell, t)
        k = first_place(mask, entry)
        while learned.cells[k] != EMPTY and learned.cells[k] != entry:
            k = (k + 1) & mask
        row = np.int64((cell + 0.5) * inverse)
        dx, dy = abs(cell - t - (row - goal_y) * stride), abs(row - goal_y)
        low = min(dx, dy)
        first = (max(dx, dy) - low) * straight + low * diagonal
        value = learned.values[k]
        out[w] = value if learned.cells[k] == entry else first


@kernel
def raise_entered(trip, table, terrain, cell, t, value):
    """Raise the value of a cell towards ``t``, never lower it, and count the change."""
    entry = entry_of(table, cell, t)
    old = entered_value(table, entry, terrain, cell, t)
    if value > old:
        enter(table, entry, value)
        count_raise(trip, cell, old, value)


@kernel
def enter(learned, entry, value):
    """Write the value of an entry.

    A table is enlarged when it is half full. Whoever owns the arrays sees to it that they are longer than that.
    """
    k = place_of(learned, entry)
    if learned.cells[k] == EMPTY:
        if 2 * learned.state[0].taken >= learned.state[0].places and 2 * learned.state[0].places <= learned.cells.size:
            enlarge(learned)
            k = place_of(learned, entry)
        learned.cells[k] = entry
        learned.state[0].taken += 1
    learned.values[k] = value


def entry_of(table: Any, cell: int, t: int) -> Any:
    """Return the entry under which a table keeps the value of a cell towards ``t``."""
    return pair(t, cell) if isinstance(table, GoalValues) else cell


@typed(entry_of)
def _entry_of(table, cell, t):
    if table.instance_class is GoalValues:
        return lambda table, cell, t: pair(t, cell)
    return lambda table, cell, t: cell

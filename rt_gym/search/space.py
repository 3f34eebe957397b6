"""The memory of one search: its states by slot, in the order in which they were first generated.

Only ``seat`` has an entry per cell, in pages where the map is large. It holds a stamp beside the slot, so that a new
search forgets the old one by counting up instead of clearing. All other arrays are filled from the front: a lookahead
of a few hundred states stays in the first cache whatever the size of the map, and the slot number itself is the
tie-break "first generated".
"""

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import absent, kernel, record
from rt_gym.pages import Paged, arrays_for, drop_pages, make_cells, read, reset_cells, write
from rt_gym.terrain import STEPS

NONE = -1
OPEN = 0  # the role of a state that waits to be expanded; each search has its own other roles

# The current stamp, the numbers of slots and of closed states, the slot chosen in the end, the most slots that one of
# the earlier searches had, and which bits of ``behind`` count: all, or none where a detour may pay.
SEARCH = record(stamp=int, slots=int, closed=int, best=int, most=int, skip=int)

_PER_SLOT = 5 * [np.int32] + 4 * [np.int64] + 3 * [np.uint8]
_SLOT_BYTES = sum(np.dtype(kind).itemsize for kind in _PER_SLOT)

_LAST_STAMP = (1 << 31) - 1


def _tabulate_behind() -> NDArray[np.uint8]:
    """Return, by the direction of a step and the moves of the state that it leaves, the directions that lead back.

    They lead to that state or to what is one move away from it.
    """
    behind = np.zeros((8, 256), np.int64)
    for d, e in product(range(8), repeat=2):
        step = STEPS[d][0] + STEPS[e][0], STEPS[d][1] + STEPS[e][1]
        if step == (0, 0):
            behind[d] |= 1 << e
        elif step in STEPS:
            behind[d] |= (np.arange(256) >> STEPS.index(step) & 1) << e
    return behind.astype(np.uint8)


BEHIND = _tabulate_behind()


class Space(NamedTuple):
    """States of a search; ``n`` below is the largest number of states.

    Attributes:
        seat: int64 per cell of the map, stamp * 2**32 + slot; to be asked through ``seat_of``.
        cell: int32[n], which cell a slot stands for.
        g: int64[n], cheapest known cost from the root.
        h: int64[n], heuristic value when generated.
        f: int64[n], the key of the open list.
        minus_g: int64[n], its tie: of equal f, the larger g comes first.
        parent: int32[n], slot from which ``g`` was reached.
        via: uint8[n], direction of the step from the parent; in a lookahead, of the first step from the root.
        role: uint8[n], free for the search's own marks.
        behind: uint8[n], the directions that need not be looked in, one bit each: they lead to where the parent leads
            at no higher cost, and that was looked at when the parent was expanded.
        item: int32[n], the open list's heap, or any list of slots.
        at: int32[n], where in the heap a slot is, NONE if it is not there.
        rank: int32[n], the last tie-break: the slot itself, or a random number.
        random: uint64[1], state of the random ties; 0 breaks ties by the first generated.
        state: SEARCH[1], how far the search is.
    """

    seat: NDArray[np.int64] | Paged
    cell: NDArray[np.int32]
    g: NDArray[np.int64]
    h: NDArray[np.int64]
    f: NDArray[np.int64]
    minus_g: NDArray[np.int64]
    parent: NDArray[np.int32]
    via: NDArray[np.uint8]
    role: NDArray[np.uint8]
    behind: NDArray[np.uint8]
    item: NDArray[np.int32]
    at: NDArray[np.int32]
    rank: NDArray[np.int32]
    random: NDArray[np.uint64]
    state: NDArray[np.record]

    @property
    def most(self) -> int:
        """How many states the largest search had."""
        return most_slots(self.state)

    @property
    def held(self) -> int:
        """How many bytes the states of the largest search take, and the seats if they are not in pages."""
        return _SLOT_BYTES * self.most + (0 if isinstance(self.seat, Paged) else self.seat.nbytes)


def most_slots(state: NDArray[np.record]) -> int:
    """Return how many states the largest search had, by its SEARCH[1]."""
    return max(state["slots"].item(), state["most"].item())


NO_SPACE: Any = absent(Space)


def make_space(cells: int, states: int | None = None, rows: tuple[int, ...] = (), paged: bool = True) -> Space:
    """Return the arrays of a search, or ``rows`` of it for a batch. Memory that is never touched costs nothing.

    Args:
        cells: size of the flat, bordered map.
        states: the largest number of states; as many as there are cells if not given.
        rows: how many searches, as the first axes of every array.
        paged: whether the seats are kept in pages where the map is large.
    """
    slots = cells if states is None else states
    cell, parent, item, at, rank, g, h, f, minus_g, via, role, behind = (
        [np.empty((*rows, slots), kind) for kind in _PER_SLOT] if rows else arrays_for(slots, slots, *_PER_SLOT)
    )
    return Space(
        seat=make_cells(cells, np.int64) if paged and not rows else np.zeros((*rows, cells), np.int64),
        cell=cell,
        g=g,
        h=h,
        f=f,
        minus_g=minus_g,
        parent=parent,
        via=via,
        role=role,
        behind=behind,
        item=item,
        at=at,
        rank=rank,
        random=np.zeros((*rows, 1), np.uint64),
        state=np.zeros((*rows, 1), SEARCH),
    )


def begin_problem(space: Space, seed: int) -> None:
    """Forget all searches of the last problem; seed 0 breaks ties by order of generation."""
    space.random[0] = seed
    stamp, _, closed, best, _, skip = space.state.item()
    # With stamp 0, a seat that was never given would be that of slot 0.
    space.state[0] = (max(stamp, 1), 0, closed, best, 0, skip)
    if isinstance(space.seat, Paged):
        drop_pages(space.seat)


@kernel(inline=True)
def draw(random):
    """Return the next number of a xorshift generator, 31 bits."""
    x = random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    random[0] = x
    return np.int64(x >> np.uint64(33))


@kernel(inline=True)
def forget(space):
    """Begin a new search with no states and return its base: what ``seat`` holds for slot 0 of this search.

    Stamps only grow, so ``seat - base`` is the slot of a cell, or negative if this search has not generated it. Kernels
    keep the base, and the number of slots while they add some, in local variables: in arrays, the compiler would have
    to read them again after every store.
    """
    state = space.state[0]
    if state.stamp >= _LAST_STAMP:
        reset_cells(space.seat, 0)
        state.stamp = 0
    state.stamp += 1
    state.most = max(state.most, state.slots)
    state.slots = 0
    state.closed = 0
    state.best = NONE
    return state.stamp << 32


@kernel(inline=True)
def give_slot(space, base, slot, cell):
    """Give a cell the next free slot; the caller counts it and fills in the rest."""
    write(space.seat, cell, base + slot)
    space.cell[slot] = cell


@kernel(inline=True)
def seat_of(space, base, cell):
    """Return the slot of a cell in the search with this base, a negative number if it has none."""
    return read(space.seat, cell) - base


@kernel(inline=True)
def open_state(space, base, slot, cell, h):
    """Give a cell the next free slot as an open state that is in no heap yet; ``rank_of`` is its last tie-break."""
    give_slot(space, base, slot, cell)
    space.h[slot] = h
    space.role[slot] = OPEN
    space.at[slot] = NONE
    if space.random[0] != 0:
        space.rank[slot] = draw(space.random)


@kernel(inline=True)
def rank_of(space, slot):
    """Return the last tie-break of a state: the slot itself, or a random number."""
    return np.int32(slot) if space.random[0] == 0 else space.rank[slot]


@kernel(inline=True)
def discover(space, base, slot, cell, h):
    """Give a cell the next free slot as an open state whose rank can be looked up."""
    open_state(space, base, slot, cell, h)
    space.rank[slot] = rank_of(space, slot)


@kernel(inline=True)
def no_detour_pays(cost):
    """Whether two steps never cost less than one that leads to the same place, so that nothing behind gets cheaper."""
    straight, diagonal = cost[0], cost[4]
    same = (straight == cost[1]) & (straight == cost[2]) & (straight == cost[3])
    same &= (diagonal == cost[5]) & (diagonal == cost[6]) & (diagonal == cost[7])
    return same & (diagonal <= 2 * straight)


@kernel(inline=True)
def set_root(space, w, g):
    """Store that slot ``w`` is where a search begins, at cost ``g``."""
    set_parent(space, np.int64(NONE), 0, w, g, np.int64(0))
    space.behind[w] = 0


@kernel(inline=True)
def set_parent(space, u, d, w, g, moves):
    """Store what ``set_path`` does, and the tie of a heap that compares by it."""
    set_path(space, u, d, w, g, moves)
    space.minus_g[w] = -g


@kernel(inline=True)
def set_path(space, u, d, w, g, moves):
    """Store that the cheapest path to slot ``w`` comes from ``u`` in direction ``d`` at cost ``g``.

    ``moves`` are the moves out of ``u``.
    """
    space.g[w] = g
    space.f[w] = g + space.h[w]
    space.parent[w] = u
    space.via[w] = d
    space.behind[w] = BEHIND[d, moves]


@kernel(inline=True)
def slot_of(space, cell):
    """Return the slot of a cell in the current search, a negative number if it has none."""
    return seat_of(space, space.state[0].stamp << 32, cell)

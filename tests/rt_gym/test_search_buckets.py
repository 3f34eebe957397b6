"""A*'s open list: it gives the states in the order of smaller f, larger g, first generated."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt_gym import Grid
from rt_gym.cost import DIAGONAL, STRAIGHT, encode
from rt_gym.search.buckets import any_left, clear, first_slot, insert, make_buckets, pop, purge, take_out
from rt_gym.search.nodes import open_node

pytestmark = pytest.mark.plain

GRID = Grid(np.ones((6, 7), bool))
CELLS = [GRID.cell((x, y)) for y in range(6) for x in range(7)]

# Costs that lie close together, 17 straight and 12 diagonal steps, and some that do not. No state is further away from
# the one before it than two steps: the buckets are a ring.
ALIKE = encode(17) - encode(0, 12)
some_cost = st.sampled_from([0, ALIKE, 2 * ALIKE, 5 * ALIKE, STRAIGHT // 4, STRAIGHT, DIAGONAL])
# Which state, how much its f is above that of the last one taken out, and how much its g below f; or take one out.
events = st.lists(st.one_of(st.none(), st.tuples(st.integers(0, 41), some_cost, some_cost)), max_size=60)


class Model:
    """The open list as a dictionary, from slots to their g and f, and the same in buckets."""

    def __init__(self, weight: Fraction) -> None:
        self.open: dict[int, tuple[int, int]] = {}
        self.buckets: Any = make_buckets(GRID.terrain, weight)
        self.slots = 0
        clear(self.buckets, np.int64(0))

    def enter(self, g: int, h: int) -> None:
        """Let a state be generated."""
        if self.slots == len(CELLS):
            return
        space, slot = self.buckets.space, np.int64(self.slots)
        open_node(space, np.int64(1 << 32), slot, CELLS[slot], np.int64(h))
        space.g[slot], space.f[slot] = g, g + h
        insert(self.buckets, slot)
        self.open[self.slots] = g, g + h
        self.slots += 1

    def improve(self, slot: int, g: int) -> None:
        """Let a cheaper path to a state be found."""
        space = self.buckets.space
        take_out(self.buckets, np.int64(slot))
        space.g[slot], space.f[slot] = g, g + space.h[slot]
        insert(self.buckets, np.int64(slot))
        self.open[slot] = g, int(space.f[slot])

    def take_first(self) -> None:
        """Take out the first state, which both must agree on."""
        assert any_left(self.buckets) == bool(self.open)
        if self.open:
            first = min(self.open, key=lambda slot: (self.open[slot][1], -self.open[slot][0], slot))
            assert first_slot(self.buckets) == first
            pop(self.buckets)
            self.buckets.space.role[first] = 1
            del self.open[first]


@pytest.mark.parametrize("weight", [Fraction(1), Fraction(3, 2)])
@given(events=events)
def test_states_come_in_the_order_of_f_g_and_age(weight: Fraction, events: list[Any]) -> None:
    model, last = Model(weight), 100 * STRAIGHT
    lowest = last if weight == 1 else 0  # with a weight, f may fall
    clear(model.buckets, np.int64(last))
    for event in events:
        if event is None:
            last = min((f for _, f in model.open.values()), default=last)
            model.take_first()
            lowest = last if weight == 1 else 0
            continue
        slot, up, down = event
        g, f = model.open.get(slot, (0, 0))
        if f and 0 < down <= f - lowest:
            model.improve(slot, g - down)
        elif not f:
            model.enter(last + up - down, down)
    while model.open:
        model.take_first()
    model.take_first()


def test_stale_entries_make_room_when_there_is_none() -> None:
    model = Model(Fraction(1))
    for _ in CELLS:
        model.enter(0, 0)
    heap, state = model.buckets.lowest, model.buckets.state[0]
    assert state.entries == len(CELLS) < heap.size
    for _ in range(2 * heap.size):  # a cost that falls by one unit each time leaves an entry behind
        for slot in (0, 1):
            model.open[slot] = model.open[slot][0] - 1, 0
            model.improve(slot, model.open[slot][0])
    assert state.entries <= heap.size
    purge(model.buckets)
    assert state.entries == len(CELLS)
    while model.open:
        model.take_first()

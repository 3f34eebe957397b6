"""Learned values behind one face, whatever holds them.

They are an array for one goal or, on a large map, pages (``rt_gym.search.paged_values``); a hash table for one of many
episodes or for many goals (``rt_gym.search.tables``). Kernels read with ``value_at`` and write with ``raise_value``;
which of them it is, the compiler knows by the type.
"""

from typing import Any

import numpy as np

from rt_gym.jit import is_array, kernel, typed
from rt_gym.meter import count_raise, raise_h
from rt_gym.search.paged_values import PagedValues, paged_value, set_paged_value
from rt_gym.search.tables import entered_value, entry_of, hashed_values, raise_entered


@kernel(inline=True)
def gather(h, cells, begin, end, out):
    """Write the values of so many cells."""
    for w in range(begin, end):
        out[w] = h[cells[w]]


@kernel
def paged_values(h, terrain, cells, begin, end, out):
    """Write the values of so many cells."""
    for w in range(begin, end):
        out[w] = paged_value(h, terrain, np.int64(cells[w]))


@kernel
def raise_paged(trip, h, terrain, cell, value):
    """Raise the value of a cell, never lower it, and count the change."""
    old = paged_value(h, terrain, cell)
    if value > old:
        set_paged_value(h, terrain, cell, value)
        count_raise(trip, cell, old, value)


def value_at(h: Any, terrain: Any, cell: int, t: int) -> Any:
    """Return the value of a cell towards ``t``."""
    if isinstance(h, np.ndarray):
        return h[cell]
    if isinstance(h, PagedValues):
        return paged_value(h, terrain, cell)
    return entered_value(h, entry_of(h, cell, t), terrain, cell, t)


def values_at(h: Any, terrain: Any, cells: Any, begin: int, end: int, t: int, out: Any) -> None:
    """Write the values towards ``t`` of the cells from ``begin`` to ``end - 1`` of a list into ``out``."""
    if isinstance(h, np.ndarray):
        gather(h, cells, begin, end, out)
    elif isinstance(h, PagedValues):
        paged_values(h, terrain, cells, begin, end, out)
    else:
        hashed_values(h, terrain, cells, begin, end, t, out)


def raise_value(trip: Any, h: Any, terrain: Any, cell: int, t: int, value: int) -> None:
    """Raise the value of a cell towards ``t``, never lower it, and count the change."""
    if isinstance(h, np.ndarray):
        raise_h(trip, h, cell, value)
    elif isinstance(h, PagedValues):
        raise_paged(trip, h, terrain, cell, value)
    else:
        raise_entered(trip, h, terrain, cell, t, value)


def set_value(h: Any, terrain: Any, cell: int, value: int) -> None:
    """Set the value of a cell, without counting; not in a table."""
    if isinstance(h, np.ndarray):
        h[cell] = value
    else:
        set_paged_value(h, terrain, cell, value)


@typed(value_at)
def _value_at(h, terrain, cell, t):
    if is_array(h):
        return lambda h, terrain, cell, t: h[cell]
    if h.instance_class is PagedValues:
        return lambda h, terrain, cell, t: paged_value(h, terrain, cell)
    return lambda h, terrain, cell, t: entered_value(h, entry_of(h, cell, t), terrain, cell, t)


@typed(values_at)
def _values_at(h, terrain, cells, begin, end, t, out):
    if is_array(h):
        return lambda h, terrain, cells, begin, end, t, out: gather(h, cells, begin, end, out)
    if h.instance_class is PagedValues:
        return lambda h, terrain, cells, begin, end, t, out: paged_values(h, terrain, cells, begin, end, out)
    return lambda h, terrain, cells, begin, end, t, out: hashed_values(h, terrain, cells, begin, end, t, out)


@typed(raise_value)
def _raise_value(trip, h, terrain, cell, t, value):
    if is_array(h):
        return lambda trip, h, terrain, cell, t, value: raise_h(trip, h, cell, value)
    if h.instance_class is PagedValues:
        return lambda trip, h, terrain, cell, t, value: raise_paged(trip, h, terrain, cell, value)
    return lambda trip, h, terrain, cell, t, value: raise_entered(trip, h, terrain, cell, t, value)


@typed(set_value)
def _set_value(h, terrain, cell, value):
    def set_in_array(h, terrain, cell, value):
        h[cell] = value

    def set_in_pages(h, terrain, cell, value):
        set_paged_value(h, terrain, cell, value)

    return set_in_array if is_array(h) else set_in_pages

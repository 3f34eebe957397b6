"""The building blocks of one step: what is learned of the neighbours, where to go, and which states are deleted.

``memory`` is that of ``agents.building_block_lrta``; ``moves`` are directions, one bit each.
"""

import numpy as np

from agents.kernels.ahead import give_up, is_broken, note_deletion
from rt_gym.cost import INF, STRAIGHT
from rt_gym.jit import kernel
from rt_gym.meter import scan
from rt_gym.pages import read, write
from rt_gym.search.space import NONE, draw
from rt_gym.search.values import value_at
from rt_gym.terrain import h0

MIN, MEAN, MEDIAN, MAX = range(4)
CAP = INF >> 2  # of values with weights; eight of them can be added
MOST = 1000  # that is added to a weight
EAST, SOUTH, WEST, NORTH = range(4)


@kernel(inline=True)
def growth_of(terrain, memory, s, t):
    """Return what is added to w_c, times ``unit``: the growth for every whole step by which h(s) was raised."""
    if memory.growth == 0:
        return np.int64(0)
    steps = (value_at(memory.h, terrain, s, t) - h0(terrain, s, t)) // STRAIGHT
    return min(memory.growth * min(steps, np.int64(MOST)), np.int64(MOST) * memory.unit)


@kernel(inline=True)
def grown(memory, cost, more):
    """Return the part of a step's price that ``growth`` adds, rounded down."""
    return cost * more // memory.unit if more != 0 else np.int64(0)


@kernel(inline=True)
def best_move(terrain, memory, s, moves, more, t):
    """Return the move of least c + h, with ``da`` among the states raised least, and the least c + h and w_c c + h.

    ``more`` is what ``growth`` adds to w_c. Ties: larger c, then the order of directions. States of infinite value are
    left out: NONE if there are no others.
    """
    cost, h, random = terrain.cost, memory.h, memory.space.random
    y, least, f, ties = np.int64(NONE), np.int64(0), np.int64(INF), 1
    low, dear = np.int64(INF), np.int64(INF)
    for d in range(8):
        if moves >> d & 1 == 0:
            continue
        near = s + terrain.offset[d]
        value = value_at(h, terrain, near, t)
        if cost[d] + value >= INF:
            continue
        low = min(low, cost[d] + value)
        dear = min(dear, memory.price[d] + grown(memory, cost[d], more) + value)
        rise = value - h0(terrain, near, t) if memory.da != 0 else np.int64(0)
        value += cost[d]
        if y == NONE or rise < least or (rise == least and (value < f or (value == f and cost[d] > cost[y]))):
            y, least, f, ties = np.int64(d), rise, value, 1
        elif random[0] != 0 and rise == least and value == f and cost[d] == cost[y]:
            ties += 1
            if draw(random) % ties == 0:
                y = np.int64(d)
    return y, low, dear


@kernel(inline=True)
def put(first, second, n, a, b):
    """Insert ``a`` and ``b`` into two lists of ``n``: the first in rising order, of equals the larger second first."""
    k = n
    while k > 0 and (first[k - 1] > a or (first[k - 1] == a and second[k - 1] < b)):
        first[k], second[k] = first[k - 1], second[k - 1]
        k -= 1
    first[k], second[k] = a, b


@kernel
def lateral(terrain, memory, s, moves, more, t):
    """Return lop over w_c c + h of the neighbours in the beam: those with the least c + h, of equals the larger c."""
    n = np.int64(0)
    for d in range(8):
        if moves >> d & 1:
            value = value_at(memory.h, terrain, s + terrain.offset[d], t)
            if terrain.cost[d] + value < INF:
                price = memory.price[d] + grown(memory, terrain.cost[d], more)
                put(memory.near, memory.dear, n, terrain.cost[d] + value, min(price + value, CAP - 1))
                n += 1
    n = np.int64(memory.keep[n])
    if memory.lop == MEAN:
        total = np.int64(0)
        for k in range(n):
            total += memory.dear[k]
        return total // n
    for k in range(n):
        put(memory.near, memory.near, k, memory.dear[k], memory.dear[k])
    if memory.lop == MIN:
        return memory.near[0]
    return memory.near[n - 1 if memory.lop == MAX else n - 1 >> 1]


@kernel(inline=True)
def weighted(memory, value):
    """Return w times a value, rounded down, at most CAP."""
    if memory.over == memory.under:
        return min(value, np.int64(CAP))
    whole = value // memory.under
    if whole > CAP // memory.over:
        return np.int64(CAP)
    rest = value - whole * memory.under
    return min(whole * memory.over + rest * memory.over // memory.under, np.int64(CAP))


@kernel(inline=True)
def is_gone(memory, cell):
    """Whether a state has been deleted."""
    return read(memory.gone, cell) == memory.state[0].epoch


@kernel(inline=True)
def left(terrain, memory, s, moves):
    """Return those of the moves that lead to states which are not deleted."""
    if memory.expendable != 0:
        for d in range(8):
            if moves >> d & 1 and is_gone(memory, s + terrain.offset[d]):
                moves ^= 1 << d
    return moves


@kernel(inline=True)
def heed_changes(terrain, trip, memory):
    """Undo the deletions that what has changed may have made wrong: around a closed cell, all where one has opened."""
    for k in range(trip.state[0].changed):
        cell = np.int64(trip.changed[k])
        if terrain.free[cell] != 0:
            memory.state[0].epoch += 1
            return
        for d in range(8):
            if is_gone(memory, cell + terrain.offset[d]):
                write(memory.gone, cell + terrain.offset[d], 0)


@kernel
def give_up_broken(terrain, trip, memory):
    """Give up the walk ahead where a cell that has closed blocks a step of it."""
    for k in range(trip.state[0].changed):
        cell = np.int64(trip.changed[k])
        if terrain.free[cell] == 0 and is_broken(terrain, memory.walk, cell):
            give_up(memory.walk, memory.gone)
            return


@kernel(inline=True)
def corners(terrain, trip, memory, s, moves, alive):
    """Return the diagonals, as bits, round which a step or two lead from one straight neighbour of ``s`` to the next.

    With eight neighbours the moves of ``s`` tell: the cell between two straight neighbours is free, or diagonal steps
    need only one free side, which ``s`` is. With four one has to go over that cell, and the moves of the neighbours in
    the east and in the west tell whether it is free.
    """
    if terrain.rule[0].connectivity == 8:
        return moves if terrain.rule[0].corner == 0 else np.int64(240)
    found = np.int64(0)
    for side in (EAST, WEST):
        if alive >> side & 1:
            scan(trip)
            around = np.int64(terrain.mask[s + terrain.offset[side]])
            for d in (4 + side, 5 + side):  # SE, NE; SW, NW
                if around >> (SOUTH if d & 1 == 0 else NORTH) & 1 and not is_gone(memory, s + terrain.offset[d]):
                    found |= 1 << d
    return found


@kernel
def joined(terrain, trip, memory, s, moves):
    """Whether all neighbours of ``s`` that are not deleted are connected by steps among the eight cells around it."""
    alive = left(terrain, memory, s, moves)
    bends = corners(terrain, trip, memory, s, moves, alive)
    parts, links = np.int64(0), np.int64(0)
    for d in range(4):
        parts += alive >> d & 1
    for d in range(4, 8):
        one = alive >> (EAST if d < 6 else WEST) & 1
        other = alive >> (SOUTH if d & 1 == 0 else NORTH) & 1
        links += one & other & bends >> d
        parts += (alive >> d & 1) & (1 - (one | other))
    return parts - links <= 1


@kernel(inline=True)
def can_pay(terrain, trip, scans):
    """Whether a limit of scans leaves so many, and with four neighbours two more, to find out what is expendable."""
    meter = trip.meter[0]
    return meter.by_scans == 0 or meter.scans + scans + (8 - terrain.rule[0].connectivity >> 1) <= meter.limit


@kernel(inline=True)
def delete_if_joined(terrain, trip, memory, s, moves):
    """Delete ``s``, out of which ``moves`` lead, unless its neighbours need it."""
    if not is_gone(memory, s) and joined(terrain, trip, memory, s, moves):
        if memory.ahead > 1 and not note_deletion(memory.walk, s):
            return
        write(memory.gone, s, memory.state[0].epoch)

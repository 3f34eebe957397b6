"""How MPGAA* mends pointers and values after a change of the map, so that the values stay consistent.

X. Sun, S. Koenig, W. Yeoh, "Generalized Adaptive A*", AAMAS 2008. ``memory`` is the ``MPGAAMemory`` of
``agents.mpgaa``, which also says what is read into the papers.
"""

import numpy as np

from rt_gym.cost import INF
from rt_gym.jit import kernel
from rt_gym.meter import learn, scan
from rt_gym.pages import read, write
from rt_gym.search.heap import lower, pop, push
from rt_gym.search.space import discover, forget, seat_of
from rt_gym.search.values import set_value, value_at


@kernel
def insert_state(terrain, memory, base, s, t, value):
    """Lower h(s) to ``value`` if that is less; the state then loses its pointer and waits to hand that on."""
    queue, space = memory.mending.learning, memory.mending.space
    if value >= value_at(memory.h, terrain, s, t):
        return
    set_value(memory.h, terrain, s, value)
    write(memory.next, s, np.uint8(0))
    w = seat_of(space, base, s)
    if w < 0:
        w = space.state[0].slots
        space.state[0].slots += 1
        discover(space, base, w, s, value)
        space.f[w] = value
        push(queue, w)
    else:  # in the order of values no state is lowered after it was taken out
        space.f[w] = value
        lower(queue, w)


@kernel
def look_around(terrain, trip, memory, base, cell, t):
    """Take notice of a cell that has opened or closed, in itself and in the free cells around it."""
    opened = terrain.free[cell] != 0
    if not opened:
        write(memory.next, cell, np.uint8(0))
    for k in range(-1, terrain.rule[0].connectivity):
        s = cell if k < 0 else cell + terrain.offset[k]
        if terrain.free[s] == 0:
            continue
        pointer = np.int64(read(memory.next, s)) - 1
        if not opened and pointer < 0:
            continue
        scan(trip)
        moves, least = np.int64(terrain.mask[s]), np.int64(INF)
        if not opened:
            if moves >> pointer & 1 == 0:
                write(memory.next, s, np.uint8(0))
            continue
        for d in range(8):
            if moves >> d & 1:
                least = min(least, terrain.cost[d] + value_at(memory.h, terrain, s + terrain.offset[d], t))
        insert_state(terrain, memory, base, s, t, least)


@kernel
def reestablish_consistency(terrain, trip, memory, t):
    """Mend pointers and values after the changes since the last plan."""
    queue, space = memory.mending.learning, memory.mending.space
    base = forget(space)
    queue.size[0] = 0
    for k in range(trip.state[0].changed):
        look_around(terrain, trip, memory, base, np.int64(trip.changed[k]), t)
    while queue.size[0] > 0:
        u = pop(queue)
        cell, value = np.int64(space.cell[u]), space.f[u]
        learn(trip)
        moves = np.int64(terrain.mask[cell])
        for d in range(8):
            if moves >> d & 1:
                insert_state(terrain, memory, base, cell + terrain.offset[d], t, terrain.cost[d] + value)

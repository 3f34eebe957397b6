"""Learning in a space that is built around a state whose value has to change.

C. Hernández, P. Meseguer, "Improving LRTA*(k)", IJCAI 2007. How the space is selected is printed again as SelectLS in
Figure 3 of the same authors' "Combining Lookahead and Propagation in Real-Time Heuristic Search", SoCS 2008, together
with the test Changes?. The numbers in braces are the lines of these two functions.

Readings of SelectLS:
- k bounds the interior states, as in the code; the sentence that k states enter the queue says something else.
- {9} A frontier state is tested again when another of its neighbours has become interior. If it then becomes interior
  as well it leaves the frontier, which the code forgets: in both sets it would be pinned to its old value.
- {5} The goal never becomes interior: its value is 0 for good.

``h`` is an array with one value per cell, or pages of values.
"""

import numpy as np

from rt_gym.cost import INF
from rt_gym.jit import kernel
from rt_gym.meter import scan
from rt_gym.search.local import INTERIOR, frontier_update
from rt_gym.search.space import NONE, OPEN, discover, forget, seat_of
from rt_gym.search.step import best_step
from rt_gym.search.values import set_value, value_at

TO_TEST = 3  # the role of a state in the queue, not tested yet; the other roles are those of a local search


@kernel(inline=True)
def changes(terrain, h, cell, moves, w=1):
    """Changes?: whether a value is below what the best successor implies; not to be asked of a goal."""
    _, f = best_step(terrain, h, cell, moves, NONE, w)  # {1}
    return value_at(h, terrain, cell, NONE) < f  # {2}


@kernel(inline=True)
def select_ls(terrain, trip, local, h, x, t, k, w=1):
    """SelectLS {1}-{9}: find up to ``k`` interior states around ``x``, which has to change, and their frontier.

    I, F and Q are roles of states. The queue is a ring in ``space.parent``, which no search needs here. The value of an
    interior state is infinite meanwhile, so that no state is tested against it, as {4} demands.
    """
    space, queue = local.space, local.space.parent
    base = forget(space)
    discover(space, base, np.int64(0), x, value_at(h, terrain, x, t))
    space.role[0] = TO_TEST  # {1}
    queue[0] = 0
    head, tail = np.int64(0), np.int64(1)
    size, inside = np.int64(1), np.int64(0)
    while head != tail and inside < k:  # {2}
        u = np.int64(queue[head])  # {3}
        head = head + 1 if head + 1 < queue.size else np.int64(0)
        space.role[u] = OPEN  # {9}
        v = np.int64(space.cell[u])
        scan(trip)
        moves = np.int64(terrain.mask[v])
        if v == t or not changes(terrain, h, v, moves, w):  # {4}-{5}
            continue
        space.role[u] = INTERIOR  # {6}
        inside += 1
        set_value(h, terrain, v, np.int64(INF))
        for d in range(8):  # {7}
            if moves >> d & 1:
                near = v + terrain.offset[d]
                seat = seat_of(space, base, near)
                if seat < 0:
                    seat = size
                    size += 1
                    discover(space, base, seat, near, value_at(h, terrain, near, t))
                if space.role[seat] == OPEN:  # {8}
                    space.role[seat] = TO_TEST
                    queue[tail] = seat
                    tail = tail + 1 if tail + 1 < queue.size else np.int64(0)
    space.state[0].slots = size
    space.state[0].closed = inside


@kernel(inline=True)
def enclose(terrain, local, h):
    """SelectLS {10}-{11}: interior states get their values back, all others enter the learning queue, in any order."""
    space, queue = local.space, local.learning
    outside = np.int64(0)
    for u in range(space.state[0].slots):
        if space.role[u] == INTERIOR:
            set_value(h, terrain, np.int64(space.cell[u]), space.h[u])
        else:
            queue.item[outside] = u
            space.at[u] = outside
            outside += 1
    queue.size[0] = outside
    return outside


@kernel
def learn_around(terrain, trip, local, h, x, t, k, w=1):
    """Raise up to ``k`` values around ``x``, which has to change, to what the frontier around them implies.

    Steps cost ``w`` times as much as they do.

    Returns:
        How many states were interior; NONE, and nothing is learned, if no frontier was left and hence no way to ``t``.
    """
    select_ls(terrain, trip, local, h, x, t, k, w)
    if enclose(terrain, local, h) == 0:
        return np.int64(NONE)
    frontier_update(terrain, trip, local, h, NONE, w)
    return local.space.state[0].closed

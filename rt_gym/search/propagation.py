"""The best of a state's successors, and learning in a space that is built around a state whose value has to change.

C. Hernández, P. Meseguer, "Improving LRTA*(k)", IJCAI 2007, for the local learning space. How it is selected is printed
again as SelectLS in Figure 3 of the same authors' "Combining Lookahead and Propagation in Real-Time Heuristic Search",
SoCS 2008.

Readings of SelectLS:
- k bounds the interior states, as in the code; the sentence that k states enter the queue says something else.
- A frontier state is tested again when another of its neighbours has become interior. If it then becomes interior as
  well it leaves the frontier, which the code forgets: in both sets it would be pinned to its old value.
- The goal never becomes interior: its value is 0 for good.

The steps take for ``h`` anything behind ``rt_gym.search.values``, of which only a table of many goals needs to be told
``t``; the learning space takes an array.
"""

import numpy as np

from rt_gym.cost import INF
from rt_gym.jit import kernel
from rt_gym.meter import scan
from rt_gym.search.local import INTERIOR, frontier_update
from rt_gym.search.space import NONE, OPEN, discover, draw, forget
from rt_gym.search.values import value_at
from rt_gym.trip import NO_PATH

QUEUED = 3  # the role of a state that waits for its test, beside the roles of a local search


@kernel(inline=True)
def best_step(terrain, h, cell, moves, t=NONE):
    """Return the direction and the c + h of the best step among ``moves``; NONE and INF if no value is below INF.

    Ties: larger c, then the order of directions. The best straight and the best diagonal step are found apart and
    compared last, which halves the chain of comparisons; that is where the time goes.
    """
    cost, offset = terrain.cost, terrain.offset
    y, f = np.int64(NONE), np.int64(INF)
    for d in range(4):
        value = cost[d] + value_at(h, terrain, cell + offset[d], t)
        if (moves >> d & 1 != 0) & (value < f):
            y, f = np.int64(d), value
    y2, f2 = np.int64(NONE), np.int64(INF)
    for d in range(4, 8):
        value = cost[d] + value_at(h, terrain, cell + offset[d], t)
        if (moves >> d & 1 != 0) & (value < f2):
            y2, f2 = np.int64(d), value
    if f2 < f or (f2 == f and cost[4] > cost[0]):
        y, f = y2, f2
    return y, f


@kernel(inline=True)
def changes(terrain, h, cell, moves):
    """Whether a value is below what the best successor implies: the updating condition, not to be asked of a goal."""
    _, f = best_step(terrain, h, cell, moves)
    return h[cell] < f


@kernel
def any_as_good(terrain, trip, h, random, cell, y, t=NONE):
    """Return a step of the same cost and value as ``y`` at random; the neighbours are read once more."""
    scan(trip)
    moves, g = terrain.mask[cell], terrain.cost[y]
    f, ties = value_at(h, terrain, cell + terrain.offset[y], t), np.int64(0)
    for d in range(8):
        near = cell + terrain.offset[d]
        if moves >> d & 1 != 0 and terrain.cost[d] == g and value_at(h, terrain, near, t) == f:
            ties += 1
            if draw(random) % ties == 0:
                y = np.int64(d)
    return y


@kernel(inline=True)
def commit(terrain, trip, h, random, cell, y, t=NONE):
    """Commit to the step ``y``, with random ties to any as good; return 1, or NO_PATH where there is no step."""
    if y == NONE:
        return np.int64(NO_PATH)
    if random[0] != 0:
        y = any_as_good(terrain, trip, h, random, cell, y, t)
    trip.plan[0] = y
    return np.int64(1)


@kernel(inline=True)
def select_ls(terrain, trip, local, h, x, t, k):
    """Find up to ``k`` interior states around ``x``, which has to change, and the frontier that encloses them.

    They get the roles of a local search. The queue is a ring in ``space.parent``, which no search needs here. The
    value of an interior state is infinite meanwhile, so that no state is tested against it.
    """
    space, queue = local.space, local.space.parent
    base = forget(space)
    discover(space, base, np.int64(0), x, h[x])
    space.role[0] = QUEUED
    queue[0] = 0
    head, tail = np.int64(0), np.int64(1)
    size, inside = np.int64(1), np.int64(0)
    while head != tail and inside < k:
        u = np.int64(queue[head])
        head = head + 1 if head + 1 < queue.size else np.int64(0)
        space.role[u] = OPEN
        v = np.int64(space.cell[u])
        scan(trip)
        moves = np.int64(terrain.mask[v])
        if v == t or not changes(terrain, h, v, moves):
            continue
        space.role[u] = INTERIOR
        inside += 1
        h[v] = INF
        for d in range(8):
            if moves >> d & 1:
                near = v + terrain.offset[d]
                w = space.seat[near] - base
                if w < 0:
                    w = size
                    size += 1
                    discover(space, base, w, near, h[near])
                if space.role[w] == OPEN:
                    space.role[w] = QUEUED
                    queue[tail] = w
                    tail = tail + 1 if tail + 1 < queue.size else np.int64(0)
    space.state[0].slots = size
    space.state[0].closed = inside


@kernel(inline=True)
def enclose(local, h):
    """Give interior states their values back and put all others into the learning queue, in any order."""
    space, queue = local.space, local.learning
    outside = np.int64(0)
    for u in range(space.state[0].slots):
        if space.role[u] == INTERIOR:
            h[space.cell[u]] = space.h[u]
        else:
            queue.item[outside] = u
            space.at[u] = outside
            outside += 1
    queue.size[0] = outside
    return outside


@kernel
def learn_around(terrain, trip, local, h, x, t, k):
    """Raise up to ``k`` values around ``x``, which has to change, to what the frontier around them implies.

    Returns:
        How many states were interior; NONE, and nothing is learned, if no frontier was left and hence no way to ``t``.
    """
    select_ls(terrain, trip, local, h, x, t, k)
    if enclose(local, h) == 0:
        return np.int64(NONE)
    frontier_update(terrain, trip, local, h)
    return local.space.state[0].closed

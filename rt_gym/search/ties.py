"""The moves that are as good as the one a lookahead made: first steps of other cheapest paths to best states.

On a grid with diagonal steps most decisions are ties, since the straight and the diagonal steps of a path can be
taken in any order. Which of them is made depends only on the order of the directions, so two depths may make different
moves that are equally good.

Readings: a move is tied if a cheapest path inside the ball begins with it and ends in a frontier state whose value is
the smallest. Values are those that the search found, path-max along its own paths included.
"""

import numpy as np

from rt_gym.jit import kernel
from rt_gym.search.lookahead import NOT_QUEUED
from rt_gym.search.space import seat_of
from rt_gym.terrain import OPPOSITE

TIED = 2  # the role of a state on a cheapest path to a best one, until all are found


@kernel
def tied_moves(terrain, space, t):
    """Return the tied moves of a search that has ended with a layer, one bit per direction."""
    state = space.state[0]
    base, inside = state.stamp << 32, state.closed
    value, found = space.f[state.best], np.int64(0)
    for u in range(1, state.slots):
        if space.f[u] == value and (u >= inside or space.cell[u] == t):
            space.role[u] = TIED
            space.item[found] = u
            found += 1
    ties, head = np.int64(0), np.int64(0)
    while head < found:  # back to the root; every state is read once
        w = np.int64(space.item[head])
        head += 1
        cell = np.int64(space.cell[w])
        moves = terrain.mask[cell]
        for d in range(8):
            if moves >> d & 1:
                u = seat_of(space, base, cell + terrain.offset[d])
                if 0 <= u < inside and space.g[u] + terrain.cost[d] == space.g[w] and space.cell[u] != t:
                    if u == 0:
                        ties |= np.int64(1) << OPPOSITE[d]
                    elif space.role[u] != TIED:
                        space.role[u] = TIED
                        space.item[found] = u
                        found += 1
    for k in range(found):
        space.role[space.item[k]] = NOT_QUEUED
    return ties

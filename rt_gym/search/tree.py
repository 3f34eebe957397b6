"""The tree that a search leaves behind, whether its states are a ``Space`` or ``Nodes``."""

from typing import Any

import numpy as np

from rt_gym.jit import kernel, typed
from rt_gym.search.space import NONE, OPEN, Space, slot_of


def parent_of(space: Any, u: int) -> Any:
    """Return the slot from which a state was reached."""
    return space.parent[u] if isinstance(space, Space) else space.node[u].parent


def via_of(space: Any, u: int) -> Any:
    """Return the direction of the step from its parent."""
    return space.via[u] if isinstance(space, Space) else space.node[u].via


def role_of(space: Any, u: int) -> Any:
    """Return the role of a state."""
    return space.role[u] if isinstance(space, Space) else space.node[u].role


@typed(parent_of)
def _parent_of(space, u):
    if space.instance_class is Space:
        return lambda space, u: space.parent[u]
    return lambda space, u: space.node[u].parent


@typed(via_of)
def _via_of(space, u):
    if space.instance_class is Space:
        return lambda space, u: space.via[u]
    return lambda space, u: space.node[u].via


@typed(role_of)
def _role_of(space, u):
    if space.instance_class is Space:
        return lambda space, u: space.role[u]
    return lambda space, u: space.node[u].role


@kernel
def trace(space, slot, plan):
    """Write the directions from the root to ``slot`` into ``plan`` and return how many there are."""
    length = np.int64(0)
    node = slot
    while parent_of(space, node) != NONE:
        node = np.int64(parent_of(space, node))
        length += 1
    node = slot
    for k in range(length - 1, -1, -1):
        plan[k] = via_of(space, node)
        node = np.int64(parent_of(space, node))
    return length


@kernel
def outdated(terrain, trip, space):
    """Whether a cell that is no longer open, or one beside it, has changed since the last plan."""
    for k in range(trip.state[0].changed):
        cell = np.int64(trip.changed[k])
        for d in range(-1, 8):
            u = slot_of(space, cell if d < 0 else cell + terrain.offset[d])
            if u >= 0 and role_of(space, u) != OPEN:
                return True
    return False

"""Agents that ran by their id and wait for the next run, so that it finds its arrays in memory.

The arrays of an agent are as large as the map. New ones have to be fetched from the system and filled with zeros page
by page, which takes longer than a short run.
"""

from collections.abc import Hashable
from threading import Lock
from typing import Any

import numpy as np

from agents.base import KernelAgent
from rt_gym.problem import Problem

MOST_AGENTS = 8
MOST_POOL_BYTES = 1 << 28


class Pool:
    """Agents that are not in use. One that is taken out belongs to the caller until it is put back.

    Args:
        most_agents: how many agents may wait; most_bytes: how large their arrays may be together. Beyond that, the
            one that has waited longest is dropped.
    """

    def __init__(self, most_agents: int = MOST_AGENTS, most_bytes: int = MOST_POOL_BYTES) -> None:
        self.most_agents, self.most_bytes = most_agents, most_bytes
        self._waiting: list[tuple[Hashable, KernelAgent, int]] = []
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def bytes(self) -> int:
        """How large the arrays of all waiting agents are."""
        with self._lock:
            return self._size()

    def take(self, key: Hashable) -> KernelAgent | None:
        """Return an agent that was put in with this key, the last one first; None if there is none."""
        with self._lock:
            for place in range(len(self._waiting) - 1, -1, -1):
                if self._waiting[place][0] == key:
                    return self._waiting.pop(place)[1]
        return None

    def put(self, key: Hashable, agent: KernelAgent) -> None:
        """Let an agent wait for its next run; it forgets the problem of its last one."""
        agent.release()
        with self._lock:
            self._waiting.append((key, agent, _bytes_of(agent.memory)))
            while len(self._waiting) > self.most_agents or self._size() > self.most_bytes:
                self._waiting.pop(0)

    def _size(self) -> int:
        return sum(size for _, _, size in self._waiting)


POOL = Pool()


def key_of(kind: Any, settings: dict[str, Any], problem: Problem) -> Hashable | None:
    """Return a key that is equal for agents that can replace each other; None for agents that are never pooled.

    A class is pooled if its ``pooled`` is true; an agent that prepares itself for a map never is. Types are part of the
    key, because 1 and True are equal.
    """
    if not getattr(kind, "pooled", False) or getattr(kind, "precomputes", False):
        return None
    grid, values = problem.grid, tuple((name, type(value), value) for name, value in sorted(settings.items()))
    key = kind, values, grid.terrain.mask.size, grid.connectivity, grid.cost
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _bytes_of(memory: Any) -> int:
    """Return the size of all arrays in nested tuples, each counted once."""
    arrays: dict[int, int] = {}
    todo = [memory]
    while todo:
        part = todo.pop()
        if isinstance(part, tuple):
            todo.extend(part)
        elif isinstance(part, np.ndarray):
            arrays[id(part)] = part.nbytes
    return sum(arrays.values())

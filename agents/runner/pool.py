"""Agents that ran by their id and wait for the next run, so that it finds its arrays in memory.

The arrays of an agent are as large as the map. New ones have to be fetched from the system and filled with zeros page
by page, which takes longer than a short run.
"""

from collections.abc import Hashable
from threading import Lock
from typing import Any

from agents.base import KernelAgent
from rt_gym.problem import Problem

MOST_AGENTS = 8
MOST_POOL_BYTES = 1 << 28


class Pool:
    """Agents that are not in use. One that is taken out belongs to the caller until it is put back.

    Args:
        most_agents: how many agents may wait; most_bytes: how large their arrays may be together, those of the worlds
            that they keep included. Beyond that, the one that has waited longest is dropped.
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
            self._waiting.append((key, agent, agent.nbytes))
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
    if not kind.pooled or kind.precomputes:
        return None
    values: tuple[Any, ...] = ()
    if settings:
        values = tuple((name, type(value), value) for name, value in sorted(settings.items()))
        try:
            hash(values)
        except TypeError:  # what has no hash may be changed by its owner, and the agent with it
            return None
    grid = problem.grid
    return kind, values, grid.terrain.mask.size, grid.connectivity, grid.cost

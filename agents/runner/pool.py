"""Agents that ran by their id and wait for the next run, so that it finds its arrays in memory.

The arrays of an agent are as large as the map. New ones have to be fetched from the system and filled with zeros page
by page, which takes longer than a short run.
"""

from collections.abc import Hashable
from threading import Lock
from typing import Any, NamedTuple

from agents.base import KernelAgent
from rt_gym.grid import Grid
from rt_gym.meter import Budget
from rt_gym.problem import Problem

MOST_AGENTS = 8
MOST_POOL_BYTES = 1 << 30


class Place(NamedTuple):
    """An agent of the pool, how large its arrays are, and a lock that is held while it runs."""

    key: Hashable
    agent: KernelAgent
    size: int
    busy: Lock


class Recent(NamedTuple):
    """The agent of the last run by an id without settings, and what of: most runs are like the one before."""

    agent_id: str
    budget: Budget
    grid: Grid
    agent: KernelAgent
    busy: Lock


class Pool:
    """Agents that can be used again. One that is taken out belongs to the caller until it is put back or dropped.

    Its place is kept meanwhile. Most runs take the agent of the last run and put it back, which needs no more than that
    place's own lock; ``_places``, the last used first, is never changed but replaced as a whole.

    Args:
        most_agents: how many agents there may be; most_bytes: how large their arrays may be together, those of the
            worlds that they keep included. Beyond that, the one that was used longest ago is dropped.
    """

    def __init__(self, most_agents: int = MOST_AGENTS, most_bytes: int = MOST_POOL_BYTES) -> None:
        self.most_agents, self.most_bytes = most_agents, most_bytes
        self._places: tuple[Place, ...] = ()
        self._lock = Lock()
        self._recent: Recent | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def bytes(self) -> int:
        """How large the arrays of all waiting agents are."""
        return sum(place.size for place in self._waiting)

    @property
    def _waiting(self) -> list[Place]:
        return [place for place in self._places if not place.busy.locked()]

    def take_recent(self, agent_id: str, budget: Budget, grid: Grid) -> Recent | None:
        """Return the agent of the last run, if it waits and that was a run like this; to be released by the caller."""
        recent = self._recent
        if recent is None or recent.grid is not grid or recent.agent_id != agent_id:
            return None
        # Budgets take half a microsecond to compare, and most runs have the same one.
        if recent.budget is not budget and recent.budget != budget:
            return None
        return recent if recent.busy.acquire(False) else None

    def note_recent(self, agent_id: str, budget: Budget, grid: Grid, agent: KernelAgent) -> None:
        """Remember what an agent that was put in has run, if it is still there."""
        with self._lock:
            busy = next((place.busy for place in self._places if place.agent is agent), None)
            self._recent = None if busy is None else Recent(agent_id, budget, grid, agent, busy)

    def take(self, key: Hashable) -> KernelAgent | None:
        """Return an agent that was put in with this key, the last used first; None if there is none."""
        for place in self._places:
            if place.key == key and place.busy.acquire(False):
                return place.agent
        return None

    def put(self, key: Hashable, agent: KernelAgent) -> None:
        """Let an agent wait for its next run; it forgets the problem of its last one."""
        agent.release()
        places = self._places
        if places and places[0].agent is agent and places[0].size == agent.nbytes:
            places[0].busy.release()
            return
        with self._lock:
            others = [place for place in self._places if place.agent is not agent]
            kept = [Place(key, agent, agent.nbytes, Lock()), *others][: self.most_agents]
            while sum(place.size for place in kept) > self.most_bytes:
                kept.pop()
            self._places, self._recent = tuple(kept), None

    def drop(self, agent: KernelAgent) -> None:
        """Let go of an agent that was taken out, or that was never put in."""
        with self._lock:
            self._places = tuple(place for place in self._places if place.agent is not agent)
            self._recent = None


POOL = Pool()


def settings_key(kind: Any, settings: dict[str, Any]) -> Hashable | None:
    """Return the part of a key that depends on the settings; None for agents that are never pooled.

    A class is pooled if its ``pooled`` is true; an agent that prepares itself for a map never is. Types are part of the
    key, because 1 and True are equal.
    """
    if not kind.pooled or kind.precomputes:
        return None
    key = kind, tuple((name, type(value), value) for name, value in sorted(settings.items()))
    try:
        hash(key)
    except TypeError:  # what has no hash may be changed by its owner, and the agent with it
        return None
    return key


def key_of(settings: Hashable | None, problem: Problem) -> Hashable | None:
    """Return a key that is equal for agents that can replace each other; None for agents that are never pooled."""
    grid = problem.grid
    return None if settings is None else (settings, grid.terrain.mask.size, grid.connectivity, grid.cost)

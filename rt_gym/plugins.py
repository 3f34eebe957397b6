"""Agents by their ids, from the packages that provide them.

This package knows no agents. One that has some names a function ``make(agent_id, *, budget=None, **settings)`` in its
metadata, under the entry points ``rt_gym.agents``.
"""

from functools import cache
from importlib.metadata import entry_points
from typing import Any

from rt_gym.errors import InputError, MissingLibrary
from rt_gym.meter import Budget

GROUP = "rt_gym.agents"


def make_agent(agent_id: str, budget: Budget | None = None, **settings: Any) -> Any:
    """Make an agent by its id.

    Raises:
        InputError: for an id or a parameter that no package knows; the message is that of the last one asked.
    """
    refusal: InputError | None = None
    for make in _makers():
        try:
            return make(agent_id, budget=budget, **settings)
        except InputError as error:
            refusal = error
    raise refusal or MissingLibrary("no package with agents is installed: install rt_gym anew, as README.md says")


@cache
def _makers() -> tuple[Any, ...]:
    return tuple(point.load() for point in entry_points(group=GROUP))

"""What the tests of all agents share: a run for every id and its settings, and a trial driven move by move."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import agents
from reference.settings import settings_of
from rt_gym import World

Position = tuple[int, int]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with the argument ``agent_id`` for every id, and with ``settings`` beside it for every setting."""
    if "agent_id" not in metafunc.fixturenames:
        return
    if "settings" not in metafunc.fixturenames:
        metafunc.parametrize("agent_id", agents.ids())
        return
    cases = [(agent_id, settings) for agent_id in agents.ids() for settings in settings_of(agent_id)]
    names = [
        " ".join([agent_id, *(f"{key}={value}" for key, value in settings.items())]) for agent_id, settings in cases
    ]
    metafunc.parametrize(("agent_id", "settings"), cases, ids=names)


@dataclass
class Trace:
    """One trial through ``act`` and ``step``, counted from outside.

    The lists of counts have one entry per move, and one more for work after which no move was made.
    """

    outcome: str
    path: list[Position]
    expansions: list[int] = field(default_factory=list)
    scans: list[int] = field(default_factory=list)
    learning_ops: list[int] = field(default_factory=list)
    h: list[NDArray[np.int64]] = field(default_factory=list)
    plans: int = 0
    h_updates: int = 0

    def record(self) -> dict[str, Any]:
        """Return what the record of the same trial by ``agents.run`` must say."""
        steps = [(abs(a[0] - b[0]), abs(a[1] - b[1])) for a, b in pairwise(self.path)]
        return {
            "outcome": self.outcome,
            "path": self.path,
            "moves": len(steps),
            "stays": steps.count((0, 0)),
            "straights": len(steps) - steps.count((1, 1)),
            "diagonals": steps.count((1, 1)),
            "expansions": sum(self.expansions),
            "max_expansions": max(self.expansions, default=0),
            "first_move_expansions": self.expansions[0] if self.expansions else 0,
            "scans": sum(self.scans),
            "max_scans": max(self.scans, default=0),
            "learning_ops": sum(self.learning_ops),
            "plans": self.plans,
            "h_updates": self.h_updates,
        }


@pytest.fixture(scope="session")
def act_out() -> Callable[..., Trace]:
    """Drive one trial of an agent that has been reset to a world, move by move, as a user's loop would."""

    def drive(agent: Any, world: World, max_moves: int = 2000) -> Trace:
        view, meter = world.view, world.view.meter
        trace = Trace("goal", [view.position])
        while not world.done:
            if view.moves == max_moves:
                trace.outcome = "out of moves"
                break
            action = agent.act()
            trace.expansions.append(meter.expansions)
            trace.scans.append(meter.scans)
            trace.learning_ops.append(int(world.trip.meter[0].learning_ops))
            if agent.learned is not None:
                trace.h.append(agent.learned.copy())
            if meter.stuck:
                trace.outcome = "no path"
                break
            if not world.step(action) and world.budget.on_overrun == "truncate":
                trace.outcome = "overrun"
                break
            trace.path.append(view.position)
        trace.plans, trace.h_updates = int(world.trip.tally[0].plans), int(world.trip.tally[0].raises)
        return trace

    return drive


@pytest.fixture(scope="session")
def record_of() -> Callable[[agents.Run], dict[str, Any]]:
    """Return the fields of a run that ``Trace.record`` counts from outside."""

    def read(run: agents.Run) -> dict[str, Any]:
        fields = {name: getattr(run, name) for name in Trace("", []).record()}
        return fields | {"path": [(int(x), int(y)) for x, y in run.path]}

    return read

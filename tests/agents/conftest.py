"""What the tests of all agents share: the settings each id is tested with, and a trial driven move by move."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import agents
from rt_gym import World

Position = tuple[int, int]
Settings = dict[str, Any]

BY_LAYERS = str(Path(__file__).with_name("deepen.json"))  # a policy that is asked after every layer

# With which settings an id is tested. No id needs a row: without one it is tested with what it chooses for SMALL
# budgets, so that its lookahead is far below the size of the maps.
SMALL = (4, 12)
SETTINGS: dict[str, list[Settings]] = {
    "weighted-astar": [{"weight": 1}, {"weight": 1.5}, {"weight": 3}],
    "late-astar": [{"R": 100}, {"R": 1000, "r": 0.5}],
    "lrta": [{"depth": 1}, {"depth": 2}, {"depth": 4}],
    "rta": [{"depth": 1}, {"depth": 3}],
    "lss-lrta": [
        {"lookahead": 1},
        {"lookahead": 4, "commit": "all"},
        {"lookahead": 4, "commit": "one"},
        {"lookahead": 50},
    ],
    "rtaa": [{"lookahead": 1}, {"lookahead": 4, "commit": "all"}, {"lookahead": 30, "commit": "one"}],
    "lrta-k": [{"k": 1}, {"k": 12}, {"k": 12, "supports": True}],
    "lrta-k-visited": [{"k": 12}],
    "lrta-ls-k": [{"k": 1}, {"k": 6}, {"k": 40}],
    "lrta-ls-kd": [
        {"k": 5, "d": 1},
        {"k": 6, "d": 4},
        {"k": 6, "d": 4, "control": "single"},
        {"k": 6, "d": 4, "control": "several"},
        {"k": 6, "d": 4, "lookahead": "static"},
        {"k": 6, "d": 4, "lookahead": "static", "control": "single", "shared_k": True},
        {"k": 6, "d": 4, "lookahead": "static", "control": "several"},
    ],
    "lrts": [{"depth": 1}, {"depth": 3}, {"depth": 2, "gamma": 0.3, "quota": 4}, {"depth": 3, "quota": 0}],
    "pr-lrts": [
        {"level": 0, "depth": 2},
        {"level": 1, "depth": 3, "quota": 4},
        {"level": 2, "depth": 2, "gamma": 0.4, "refine": "path", "control": "dynamic"},
        {"level": 1, "depth": 1, "abstraction": "tiles"},
    ],
    "p-lrta": [{"queue": 0}, {"queue": 3}, {"queue": 40}],
    "tba": [{"R": 2}, {"R": 5, "threshold": True}, {"R": 7, "r": 0.4, "shortcut": True, "first": "length"}, {}],
    "dstar-lite": [{}, {"queue": "heap-larger-g"}, {"queue": "heap-smaller-g"}],  # {}: buckets wherever they can be
    "knn-lrta": [{"records": 0}, {"records": 25}, {"records": 40, "neighbours": 2, "cutoff": 12}],
    "subgoal-lrta": [
        {},
        {"first": "sub", "switch": "progress"},
        {"step": "lss-lrta", "lookahead": 6},
        {"step": "lrta-k", "k": 6, "first": "sub"},
    ],
    "classifier-lrta": [{"policy": "tree"}, {"policy": "history", "max_branch": 3}, {"policy": BY_LAYERS, "d_max": 6}],
    "policy-lrta": [{"policy": "deepen"}, {"policy": "depth", "d_max": 6}],
    "oracle-lrta": [{"d_max": 1}, {"d_max": 5}],
    "rule-lrta": [
        {"rule": "update", "d_max": 5},
        {"rule": "revisit", "d_max": 6},
        {"rule": "settle", "d_max": 1},
        {"rule": "settle", "d_max": 7},
    ],
    "pdb-lrta": [
        {"level": 0, "cap": 5, "mode": "G"},
        {"level": 1, "cap": 3, "mode": "GI"},
        {"level": 2, "cap": 4, "mode": "I", "abstraction": "tiles"},
        {"level": 2, "cap": 6, "mode": "I", "patience": 3},
    ],
    "general-lrta": [
        {"design": 3, "depth": 3, "level": 1, "cap": 4},
        {"design": 5, "depth": 2, "level": 1, "patience": 3},
        {"design": 11, "level": 2, "d_max": 5},
        {"depth": "policy", "goal": "pdb", "level": 2, "d_max": 4},
    ],
}


def all_settings(agent_id: str) -> list[Settings]:
    """Return the settings that an id is tested with; its defaults if a budget chooses nothing."""
    if agent_id in SETTINGS:
        return SETTINGS[agent_id]
    found: list[Settings] = []
    for limit in SMALL:
        fitting = agents.load(agent_id).fit(limit, "expansions")
        found += [fitting] if fitting not in found else []
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with the argument ``agent_id`` for every id, and with ``settings`` beside it for every setting."""
    if "agent_id" not in metafunc.fixturenames:
        return
    if "settings" not in metafunc.fixturenames:
        metafunc.parametrize("agent_id", agents.ids())
        return
    cases = [(agent_id, settings) for agent_id in agents.ids() for settings in all_settings(agent_id)]
    names = [
        " ".join([agent_id, *(f"{key}={value}" for key, value in settings.items())]) for agent_id, settings in cases
    ]
    metafunc.parametrize(("agent_id", "settings"), cases, ids=names)


@pytest.fixture(scope="session")
def settings_of() -> Callable[[str], list[Settings]]:
    """The settings that an id is tested with."""
    return all_settings


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

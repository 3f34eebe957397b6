"""The references by the ids of the agents that they are read beside."""

import importlib
from typing import Any

import agents
from reference import plain_grid
from rt_gym import Problem

OUTCOMES = {"goal": "goal", "limit": "out of moves", "stuck": "no path"}


def name_of_reference(agent_id: str) -> str:
    return f"reference.plain_{agent_id.replace('-', '_')}"


def reference_of(agent_id: str) -> Any:
    """Return the module that holds the reference of an id."""
    return importlib.import_module(name_of_reference(agent_id))


def reference_run(
    agent_id: str, problem: Problem, chosen: dict[str, Any], max_moves: int, **options: Any
) -> plain_grid.Run:
    """Run the reference with the same parameters; the order of changes at one time is that of the problem."""
    parameters = agents.parameters(agent_id) | chosen
    del parameters["tie"]
    return reference_of(agent_id).run(
        problem.grid,
        problem.start,
        problem.goal,
        vision=problem.vision,
        changes=problem.changes,
        max_moves=max_moves,
        **parameters,
        **options,
    )

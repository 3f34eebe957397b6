"""Trials that are compared with what was worked out on paper.

No expected value of such a trial was read off a run: the comments beside it are the derivation. In them 1 and r are a
straight and a diagonal step, r = 1.414; ``#k`` is the order of discovery; neighbours come in the order E, S, W, N, SE,
NE, SW, NW; ``->`` points to what is learned. Cells of a corridor go by their number, from its dead end, cell 0, to the
goal.
"""

from collections.abc import Callable
from typing import Any

import agents
from rt_gym import Problem, World
from rt_gym.cost import encode

Position = tuple[int, int]
Values = dict[Position, int]


def start(agent_id: str, problem: Problem, budget: int | None = None, **settings: Any) -> tuple[Any, World]:
    """Return an agent at the start of a problem, in a world that logs what is expanded."""
    agent, world = agents.make(agent_id, **settings), World(problem, budget, log=100)
    agent.reset(world.view)
    return agent, world


def trial(agent_id: str, problem: Problem, act_out: Callable[..., Any], trials: int = 1, **settings: Any) -> Any:
    """Return the trace of the last of so many trials, and which values each of its moves has raised, and to what."""
    agent, world = start(agent_id, problem, **settings)
    for _ in range(trials - 1):
        act_out(agent, world)
        world.begin_trial()
        agent.begin_trial()
    before, rises = agent.learned.copy(), []
    trace = act_out(agent, world)
    for h in trace.h:
        cells = [problem.grid.position(int(cell)) for cell in (h != before).nonzero()[0]]
        rises.append({cell: int(h[problem.grid.cell(cell)]) for cell in cells})
        before = h
    return trace, rises


def slices(agent_id: str, problem: Problem, **settings: Any) -> tuple[list[Position], list[int], list[int]]:
    """Return the path of a trial, and the expansions and the trace steps of every move."""
    agent, world = start(agent_id, problem, **settings)
    path, expansions, steps = [world.view.position], [], []
    while not world.done:
        action = agent.act()
        expansions.append(int(world.trip.meter[0].expansions))
        steps.append(int(world.trip.meter[0].trace_steps))
        world.step(action)
        path.append(world.view.position)
    return path, expansions, steps


def exactly(*moves: dict[Position, tuple[int, int]]) -> list[Values]:
    """Return values given as their numbers of straight and diagonal steps."""
    return [{cell: encode(*value) for cell, value in move.items()} for move in moves]


def along(corridor: list[Position], *moves: dict[int, int]) -> list[Values]:
    """Return values given by the number of the cell in the corridor, in straight steps."""
    return [{corridor[cell]: encode(value) for cell, value in move.items()} for move in moves]


def cells(corridor: list[Position], *numbers: int) -> list[Position]:
    """Return cells given by their numbers in the corridor."""
    return [corridor[number] for number in numbers]

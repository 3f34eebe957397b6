"""What a squad is made of before its first tick: the map that its units share, their records and their agents."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rt_gym.belief import first_belief
from rt_gym.errors import InputError, flag, quoted, whole
from rt_gym.grid import Grid
from rt_gym.handles import handle
from rt_gym.meter import Budget
from rt_gym.pages import reserve
from rt_gym.plugins import make_agent
from rt_gym.problem import Change, Problem
from rt_gym.squad.units import NEVER, NOBODY, TEAM, UNIT, Team
from rt_gym.terrain import Terrain
from rt_gym.trip import Trip, make_trip
from rt_gym.views import KernelView, View

MOST_UNITS = 1 << 20


class Unit:
    """One of a squad's units.

    Attributes:
        problem: its task as it was at the start.
        agent: who plans for it.
        view: what it knows, as kernels take it; the ``View`` of an agent in Python is made of it.
        inside_kernels: whether the agent's algorithm is a kernel.
    """

    def __init__(self, problem: Problem, agent: Any, terrain: Terrain, trip: Trip) -> None:
        self.problem, self.agent = problem, agent
        self.view = KernelView(problem, terrain, trip)
        self.inside_kernels = hasattr(agent, "plan") and hasattr(agent, "episode")
        trip.state["at"] = self.view.cell(problem.start)

    def reset(self, seed: int | None) -> None:
        """Let the agent begin with its problem."""
        self.agent.reset(self.view if self.inside_kernels else View(self.view), seed)

    def body(self) -> Any:
        """Return what the map and the other units do to it."""
        return handle(terrain=self.view.terrain, trip=self.view.trip)

    def episode(self) -> Any:
        """Return what its algorithm works on."""
        return self.agent.episode(None, self.view)

    def intervene(self, reason: str) -> None:
        """Drop the rest of the plan, and let the agent notice that its goal or its place is another."""
        state = self.view.trip.state[0]
        state.next = state.planned = state.verdict = 0
        self.view.interventions += 1
        if self.inside_kernels and reason == "goal":
            self.agent.carry_over(self.view)
        elif self.inside_kernels:
            self.agent.change_place()


def check_problems(problems: Any) -> tuple[Problem, ...]:
    """Return the problems of a squad, which must be on one map, with the same vision and the same changes."""
    try:
        listed = tuple(problems)
    except TypeError:
        listed = ()
    if not 0 < len(listed) <= MOST_UNITS or not all(isinstance(problem, Problem) for problem in listed):
        raise InputError(f"a squad needs from 1 to {MOST_UNITS} problems, one per unit, not {quoted(problems)}")
    first = listed[0]
    for name in ("grid", "vision", "changes"):
        if any(getattr(problem, name) != getattr(first, name) for problem in listed):
            raise InputError(f"the problems of a squad must have the same {name}")
    return listed


def check_places(problems: Sequence[Problem]) -> None:
    """Refuse units that block each other and share a start or a goal."""
    for name in ("start", "goal"):
        places = [getattr(problem, name) for problem in problems]
        if len(set(places)) < len(places):
            twice = next(place for place in places if places.count(place) > 1)
            raise InputError(f"two units that block each other cannot share the {name} {twice}")


def choose_agents(agent: Any, count: int, budget: Budget, settings: dict[str, Any]) -> list[Any]:
    """Return an agent for every unit: all by one id, or each by its own id or object."""
    if isinstance(agent, str):
        return [make_agent(agent, budget, **settings) for _ in range(count)]
    if settings:
        raise InputError(f"settings such as {next(iter(settings))} go with one id for all units")
    try:
        listed = list(agent)
    except TypeError:
        raise InputError(f"agent must be an id, or a list with one per unit, not {quoted(agent)}") from None
    if len(listed) != count:
        raise InputError(f"there are {len(listed)} agents for {count} units")
    made = [make_agent(each, budget) if isinstance(each, str) else each for each in listed]
    if len({id(each) for each in made}) < count:
        raise InputError("every unit needs an agent object of its own")
    for each in made:
        if not callable(getattr(each, "reset", None)) or not callable(getattr(each, "act", None)):
            raise InputError(f"an agent needs reset and act, which {quoted(each)} has not")
    return made


def make_units(problems: Sequence[Problem], agents: Sequence[Any], budget: Budget, team: Team) -> list[Unit]:
    """Return the units. They share what they believe, unless each sees for itself."""
    first = problems[0]
    own_maps = first.vision is not None and team.state[0].shared == 0
    shared = None if own_maps else team_belief(first, bool(first.changes) or bool(team.state[0].blocking))
    cells = first.grid.terrain.free.size
    room = cells + len(first.changes or ()) + 2 * team.seen.shape[1]
    units = []
    for problem, agent in zip(problems, agents, strict=True):
        terrain = team_belief(problem, True) if shared is None else shared
        units.append(Unit(problem, agent, terrain, make_trip(plan=cells, changed=room, budget=budget)))
    return units


def team_belief(problem: Problem, changing: bool) -> Terrain:
    """Return what is believed before anything is seen; the map's own arrays where nothing can change."""
    return first_belief(problem.grid, problem.vision, changing)


def make_team(
    problems: Sequence[Problem], blocking: bool, sight: int | None, push: bool, shared_fog: bool, seed: int
) -> Team:
    """Return what units have in common, as it is at time zero; see ``Squad`` for the arguments."""
    first, count = problems[0], len(problems)
    if sight is not None:
        whole("sight", sight, 1)
    if flag("push", push) and not blocking:
        raise InputError("push goes with blocking=True")
    if flag("shared_fog", shared_fog) and first.vision is None:
        raise InputError("shared_fog goes with problems that have a vision")
    if flag("blocking", blocking):
        check_places(problems)
    grid, vision = first.grid, first.vision or 0
    cells = grid.terrain.free.size
    reach = grid.width + grid.height if sight is None else min(sight, grid.width + grid.height)
    owner, mark = reserve(cells if blocking else 0, np.int32, np.int32)
    at = np.array([grid.cell(problem.start) for problem in problems], np.int32)
    if blocking:
        owner[at] = np.arange(1, count + 1)
    state = np.zeros(1, TEAM)
    state["vision"] = min(vision, grid.width + grid.height)
    state["sight"], state["blocking"], state["push"], state["shared"] = reach, blocking, push, shared_fog
    schedule = make_schedule(grid, first.changes or ())
    news = cells + len(first.changes or ())
    return Team(
        free=grid.terrain.free.copy() if schedule["when"].size else grid.terrain.free,
        at=at,
        owner=owner,
        mark=mark,
        seen=np.full((count, min(count, (2 * reach + 1) ** 2) if blocking else 0), NOBODY, np.int32),
        news=np.empty(news, np.int32),
        author=np.empty(news, np.int32),
        **schedule,
        random=np.array([2 * seed + 1], np.uint64),
        state=state,
    )


def with_change(team: Team, cell: int, opens: bool) -> Team:
    """Return the team with one more change of the map, which is due now, and room for its news."""
    now, due = team.state[0].tick, int(team.state[0].due)
    return team._replace(
        when=np.insert(team.when, due, now),
        where=np.insert(team.where, due, cell),
        opens=np.insert(team.opens, due, opens),
        held=np.insert(team.held, due, 0),
        news=np.append(team.news, np.int32(0)),
        author=np.append(team.author, np.int32(0)),
    )


def make_schedule(grid: Grid, changes: Sequence[Change]) -> dict[str, Any]:
    """Return scheduled changes in columns."""
    return {
        "when": np.array([change.time for change in changes], np.int64),
        "where": np.array([grid.cell(change.position) for change in changes], np.int32),
        "opens": np.array([change.free for change in changes], np.uint8),
        "held": np.zeros(len(changes), np.uint8),
    }


def make_columns(problems: Sequence[Problem]) -> Any:
    """Return UNIT per unit, as it is at time zero."""
    units = np.zeros(len(problems), UNIT)
    units["goal"] = [problem.grid.cell(problem.goal) for problem in problems]
    units["moved"] = units["first"] = NEVER
    units["arrived"] = [0 if problem.start == problem.goal else NEVER for problem in problems]
    return units

"""Contenders: an agent with its settings and what it may compute for one move.

An agent is an id of ``agents.ids()``, or a class of one's own by its dotted name, such as ``my_agents.Greedy``.
"""

import importlib
import inspect
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import agents
from rt_gym import AgentFailure, Budget, Fault, Grid, InputError, Problem
from rt_gym.errors import described, quoted
from rt_gym.files import shown
from rt_gym.specs import NUMBER, WHOLE, parse_agent, parse_sweep
from rt_gym.terrain import Position
from training.runs.rows import Entry

_POSITION = re.compile(r"(-?\d{1,9}),(-?\d{1,9})")
_ONLY_NAMED = {"oracle-lrta"}  # no real agents: they are told what an agent cannot know

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Allowance:
    """What an agent may compute for one move.

    Attributes:
        text: its name in tables, such as ``"100 expansions"`` or ``"0.5 ms"``.
        limit: the largest count per move, None without a limit.
        count: what the limit applies to, ``"expansions"`` or ``"scans"``.
        limits: the limit of each agent, for a time that different agents use differently.
    """

    text: str
    limit: int | None = None
    count: str = "expansions"
    limits: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, limit: int | None, count: str = "expansions") -> "Allowance":
        """Return the same limit for all agents."""
        return cls("no limit" if limit is None else f"{limit} {count}", limit, count)

    def budget(self, agent_id: str) -> Budget:
        """Return what the meter enforces."""
        return Budget(self.limits.get(agent_id, self.limit), self.count)


@dataclass(frozen=True)
class Contender:
    """An agent with one setting under one budget.

    Attributes:
        agent: an id, or the dotted name of a class.
        settings: the values of all its parameters.
        entry: the contender in a table, with the settings that are numbers or not the default.
        precomputes: whether it brings knowledge that was computed before the first move.
    """

    agent: str
    settings: dict[str, Any]
    entry: Entry
    precomputes: bool

    @property
    def budget(self) -> Budget:
        """What the meter enforces."""
        return Budget(self.entry.limit, self.entry.counted)

    def is_called(self, agent_id: str, given: dict[str, Any]) -> bool:
        """Whether this is the agent with, among others, these settings."""
        return agent_id == self.agent and all(self.settings.get(name) == value for name, value in given.items())


def load_agent(agent_id: str) -> Any:
    """Return the class behind an id or a dotted name; modules of one's own are found in the current folder, too."""
    module, dot, name = agent_id.rpartition(".")
    if not dot:
        return agents.load(agent_id)
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        found = vars(importlib.import_module(module))
    except (Exception, SystemExit) as error:  # a user's module may fail in any way
        raise InputError(f"agent {agent_id!r} cannot be imported ({described(error)})") from None
    if name not in found:
        raise InputError(f"agent {agent_id!r} cannot be imported (the module has no {name})")
    if not isinstance(found[name], type):
        raise InputError(f"agent {agent_id!r} is not a class")
    if not all(_is_method(found[name], wanted) for wanted in ("reset", "act")):
        raise InputError(f"agent {agent_id!r} is not a class with the methods reset and act")
    return found[name]


def _is_method(kind: type, name: str) -> bool:
    """Whether a class defines a method, found without running any code of the class."""
    found = inspect.getattr_static(kind, name, None)
    return callable(found) or isinstance(found, (staticmethod, classmethod))


def make_agent(agent_id: str, settings: dict[str, Any]) -> Any:
    """Return a new agent with these settings."""
    if "." not in agent_id:
        return agents.make(agent_id, **settings)
    kind = load_agent(agent_id)
    try:
        return kind(**settings)
    except (Exception, SystemExit) as error:  # a class of one's own may fail in any way
        raise InputError(f"agent {agent_id} cannot be made ({described(error)})") from None


@contextmanager
def blaming(agent_id: str, place: Problem | Grid) -> Iterator[None]:
    """Say of whatever a class of one's own raises which class it was and on which problem or, in a squad, which map.

    Raises:
        AgentFailure: in the place of what was raised; a fault stays one.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        if "." not in agent_id:
            raise
        kind = Fault if isinstance(error, Fault) else AgentFailure
        grid = place if isinstance(place, Grid) else place.grid
        where = f"on {shown(grid.name)}"
        where += "" if isinstance(place, Grid) else f" from {place.start} to {place.goal}"
        raise kind(f"agent {agent_id} broke down {where} ({described(error)})") from None


def enlist(agent_id: str, given: dict[str, Any], allowance: Allowance) -> Contender:
    """Return a contender: what is not given is the largest setting that fits the allowance, or the default.

    Raises:
        InputError: for an unknown agent or parameter, or a value out of range.
    """
    kind, budget = load_agent(agent_id), allowance.budget(agent_id)
    defaults = _defaults(kind)
    fit = getattr(kind, "fit", None) if budget.limit is not None else None
    settings = defaults | (fit(budget.limit, budget.count) if fit else {}) | given
    missing = [name for name, value in settings.items() if value is inspect.Parameter.empty]
    if missing:
        raise InputError(f"agent {agent_id} needs a value for {', '.join(missing)}")
    make_agent(agent_id, settings)
    shown = (f"{name}={value}" for name, value in settings.items() if _telling(value, defaults.get(name)))
    entry = Entry(agent_id, ":".join(shown), allowance.text, budget.limit, budget.count)
    return Contender(agent_id, settings, entry, bool(getattr(kind, "precomputes", False)))


def _defaults(kind: type) -> dict[str, Any]:
    parameters = inspect.signature(kind).parameters.items()
    return {name: part.default for name, part in parameters if part.kind not in (part.VAR_POSITIONAL, part.VAR_KEYWORD)}


def _telling(value: Any, default: Any) -> bool:
    """Whether a setting belongs into a label: numbers always do, switches and words where they are not the default."""
    return value != default or (isinstance(value, (int, float)) and not isinstance(value, bool))


def enlist_all(specs: Iterable[str], allowances: Iterable[Allowance]) -> list[Contender]:
    """Return the contenders of agents written as on the command line, sweeps and all, under every allowance."""
    wanted = [setting for text in specs for setting in parse_sweep(text)]
    found = (enlist(*setting, allowance) for allowance in allowances for setting in wanted)
    return list({contender.entry: contender for contender in found}.values())


def portfolio() -> list[str]:
    """Return the ids of all real agents that can be made from a budget alone."""
    found = []
    for agent_id in agents.ids():
        if agent_id in _ONLY_NAMED:
            continue
        try:
            enlist(agent_id, {}, Allowance.of(1))
        except InputError:  # it needs more than a budget: a policy, a database
            continue
        found.append(agent_id)
    return found


def choose_baseline(contenders: Sequence[Contender], text: str) -> dict[Entry, Entry]:
    """Return for every contender the one it is measured against: the named one, under the same budget where it is.

    Raises:
        InputError: if no contender, or more than one, is called so.
    """
    called = [contender for contender in contenders if contender.is_called(*parse_agent(text))]
    chosen = {}
    for contender in contenders:
        near = [other for other in called if other.entry.budget == contender.entry.budget] or called
        if len(near) != 1:
            listed = ", ".join(dict.fromkeys(other.entry.label for other in near or contenders))
            many = "more than one is" if near else "none is"
            raise InputError(f"the baseline must be one of the agents compared, but {many} {text!r}: {listed}")
        chosen[contender.entry] = near[0].entry
    return chosen


# What people write on a command line


def parse_position(name: str, text: str) -> Position:
    """Return a position written as ``x,y``.

    Example:
        >>> parse_position("start", "3,14")
        (3, 14)
    """
    match = _POSITION.fullmatch("".join(text.split()))
    if not match:
        raise InputError(f"{name} must be two whole numbers x,y, not {text!r}")
    return int(match[1]), int(match[2])


def parse_range(name: str, text: str) -> tuple[float, float]:
    """Return the two ends of a range written as ``LOW..HIGH``.

    Example:
        >>> parse_range("optimal", "60..200")
        (60.0, 200.0)
    """
    ends = [end.strip() for end in text.split("..")]
    if len(ends) != 2 or not all(NUMBER.fullmatch(end) for end in ends) or float(ends[0]) > float(ends[1]):
        raise InputError(f"{name} must be a range of numbers LOW..HIGH, not {text!r}")
    return float(ends[0]), float(ends[1])


def parse_numbers(name: str, text: str, kind: type[Number]) -> list[Number]:
    """Return the numbers of a list with commas, none for an empty text.

    Raises:
        InputError: where it is written otherwise.
    """
    try:
        return [kind(part) for part in text.split(",")] if text else []
    except ValueError:
        what = "whole numbers" if kind is int else "numbers"
        raise InputError(f"{name} must be {what} with commas between them, not {quoted(text)}") from None


def parse_trials(name: str, text: str) -> int | str:
    """Return how often a problem is solved: a whole number, or ``"converge"`` as it is.

    Example:
        >>> parse_trials("trials", "converge"), parse_trials("trials", "3")
        ('converge', 3)
    """
    if text != "converge" and not WHOLE.fullmatch(text):
        raise InputError(f"{name} must be a whole number or converge, not {quoted(text)}")
    return text if text == "converge" else int(text)

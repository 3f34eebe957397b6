"""Units of a squad by their algorithms, and how those of one act together."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from rt_gym.errors import InputError, quoted
from rt_gym.handles import kind_of, stack
from rt_gym.squad.acting import acting, finish_act
from rt_gym.squad.crowd import hide_others, show_others
from rt_gym.squad.team import Unit
from rt_gym.trip import STAY, with_room


class Group:
    """Units with one algorithm, in the order of their numbers.

    Args:
        units: all units of the squad.
        numbers: which of them belong to it.
        enlarging: what to enlarge memories in: the form that they were made in.
    """

    def __init__(self, units: Sequence[Unit], numbers: Sequence[int], enlarging: Callable[[], Any]) -> None:
        self._units, self._enlarging = [units[i] for i in numbers], enlarging
        self.numbers = np.array(numbers, np.int64)
        self._run = acting(self._units[0].agent.plan)
        self.refresh()

    def refresh(self) -> None:
        """Take notice of arrays that were replaced."""
        self._episodes = [unit.episode() for unit in self._units]
        self._stacks: dict[tuple[int, int], Any] = {}

    def act(self, bodies: Any, columns: Any, team: Any, begin: int, end: int) -> None:
        """Let some units of the group plan and move; one whose memory is full gets more and plans again."""
        while begin < end:
            stacked = self._stacks.get((begin, end))
            if stacked is None:
                stacked = self._stacks[begin, end] = stack(self._episodes[begin:end])
            done = begin + int(self._run(stacked, self.numbers[begin:end], bodies, columns, team))
            if done < end:
                self._enlarge(done)
            begin = done

    def _enlarge(self, k: int) -> None:
        unit = self._units[k]
        with self._enlarging():
            unit.agent.enlarge_memory()
        self._episodes[k] = unit.episode()
        self._stacks = {}


class PlainGroup:
    """Units whose agents are written in Python.

    Args:
        units: all units of the squad.
        numbers: which of them belong to it.
    """

    def __init__(self, units: Sequence[Unit], numbers: Sequence[int]) -> None:
        self._units, self.numbers = [units[i] for i in numbers], np.array(numbers, np.int64)
        self._actions = self._units[0].problem.grid.actions

    def refresh(self) -> None:
        """Take notice of arrays that were replaced: there are none."""

    def act(self, bodies: Any, columns: Any, team: Any, begin: int, end: int) -> None:
        """Let some units of the group act and move."""
        for k in range(begin, end):
            i, unit = int(self.numbers[k]), self._units[k]
            column = columns[i]
            if column.goal == unit.view.cell_now or column.moved == team.state[0].tick:
                continue
            action = STAY
            if column.share == 0:
                column.waits += 1
            else:
                action = self._ask(bodies, columns, team, unit, i)
            finish_act(bodies, columns, team, i, action)

    def _ask(self, bodies: Any, columns: Any, team: Any, unit: Unit, i: int) -> int:
        unit.view.trip.meter["limit"] = columns[i].share
        blocking = team.state[0].blocking
        if blocking:
            with_room(unit.view.trip, 2 * team.seen.shape[1])  # nobody forgets changes after a plan in Python
            show_others(team, bodies, columns, i)
        try:
            action = unit.agent.act()
        finally:
            if blocking:
                hide_others(team, bodies, columns, i)
        if not isinstance(action, (int, np.integer)) or not STAY <= action < self._actions:
            raise InputError(
                f"an action must be a direction from 0 to {self._actions - 1} or STAY, not {quoted(action)}"
            )
        return int(action)


def group_units(units: Sequence[Unit], in_order: bool, enlarging: Callable[[], Any]) -> list[Group | PlainGroup]:
    """Return the groups of a squad.

    Args:
        units: all of them.
        in_order: whether they act in the order of their numbers all the same, as those that block each other must.
        enlarging: see ``Group``.
    """
    kinds = [(unit.agent.plan, kind_of(unit.episode())) if unit.inside_kernels else None for unit in units]
    if in_order:
        parts = [(kind, list(numbers)) for kind, numbers in groupby(range(len(units)), key=kinds.__getitem__)]
    else:
        by_kind: dict[Any, list[int]] = {}
        for i, kind in enumerate(kinds):
            by_kind.setdefault(kind, []).append(i)
        parts = list(by_kind.items())
    return [PlainGroup(units, numbers) if kind is None else Group(units, numbers, enlarging) for kind, numbers in parts]

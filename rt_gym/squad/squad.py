"""Many units on one map, with one allowance for all of them in every tick."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.belief import first_belief
from rt_gym.cost import SQRT2, STRAIGHT
from rt_gym.errors import InputError, checked_seed, flag, whole
from rt_gym.handles import bytes_of, stack
from rt_gym.meter import UNLIMITED, Budget
from rt_gym.pages import in_pages
from rt_gym.problem import free_position, position_on
from rt_gym.squad.dealing import Dealer, Rule, Situation
from rt_gym.squad.groups import group_units
from rt_gym.squad.record import SquadRun
from rt_gym.squad.team import check_problems, choose_agents, make_columns, make_team, make_units, with_change
from rt_gym.squad.units import NEVER, change_map, end_tick, look_around_all, survey
from rt_gym.terrain import Position, positions

_DENSE = 1 << 22  # cells of all units together, up to which each may keep something for every cell


class Squad:
    """N units with starts, goals and agents of their own, which share the computation of a tick.

    In every tick the allowance is dealt over the units that must plan (see ``rt_gym.squad.dealing``), all move one
    step, the map changes if it is time, and all sense. Units pass through each other, or block each other.

    Args:
        problems: one per unit, on the same grid, with the same vision and changes.
        agent: the id of all agents, or a list with an id or an agent object per unit.
        allowance: how much all units together may compute in a tick; counted without a limit when None.
        count: what the allowance counts, ``"expansions"`` or ``"scans"``. Learning reads neighbours that no limit can
            refuse: what a tick takes beyond the allowance of scans, the next one has less.
        rule: ``"equal"``, ``"round-robin"``, ``"nearest"``, ``"neediest"``, the file of a learned dealer, or a function
            from a ``Situation`` to weights, one per unit, in proportion to which the allowance is dealt.
        share: what a unit that is served asks for. If not given: the most that the settings of its agent can use, else
            an equal part of the allowance. Agents by id are fitted to it, or to that equal part.
        blocking: whether a cell where a unit stands is an obstacle for the others.
        sight: how far units see each other, in cells; None for all.
        push: whether a unit that stands on its goal is pushed aside when it is in the way.
        shared_fog: whether units that see only a part of the map tell each other what they see.
        seed: unit ``i`` breaks random ties by ``seed + i``; the same seed, the same squad.
        threads: how many plan at a time, where units do not block each other; the result is the same.
        settings: those of all agents, by one id; one that is called as an argument above goes with agent objects.

    Attributes:
        problems, grid: what was given.
        units: the agents and what they know.
        ticks: how many ticks there were.

    Raises:
        InputError: for problems that do not fit together, and values that are not known.
    """

    def __init__(
        self,
        problems: Any,
        agent: Any = "rtaa",
        allowance: int | None = None,
        *,
        count: str = "expansions",
        rule: Rule = "equal",
        share: int | None = None,
        blocking: bool = False,
        sight: int | None = 5,
        push: bool = False,
        shared_fog: bool = False,
        seed: int | None = 0,
        threads: int = 1,
        **settings: Any,
    ) -> None:
        self.problems = check_problems(problems)
        self.grid, number = self.problems[0].grid, len(self.problems)
        self.budget = Budget(None if allowance is None else whole("allowance", allowance, 1), count, "idle")
        self._dealer = Dealer(rule, UNLIMITED if allowance is None else allowance)
        first_seed, self._threads = checked_seed(seed), whole("threads", threads, 1, 256)
        self._team = make_team(self.problems, blocking, sight, push, shared_fog, first_seed or 0)
        equal = None if allowance is None else max(1, allowance // number)
        fitted = Budget(equal if share is None else whole("share", share, 1), count)
        agents = choose_agents(agent, number, fitted, settings)
        self._columns = make_columns(self.problems)
        self.units = make_units(self.problems, agents, self.budget, self._team)
        self._form = in_pages if number * self._team.free.size > _DENSE else nullcontext
        self._situation: Situation | None = None
        self._work: list[int] = []
        self._seconds: list[float] = []
        self._refresh_bodies()
        change_map(self._team, self._bodies)
        if self._team.state[0].vision > 0:
            look_around_all(self._team, self._bodies)
        self._precompute_seconds = self._reset_agents(first_seed)
        self._groups = group_units(self.units, blocking, self._form)
        self._asks = self._asked(share, equal)
        self._pool = ThreadPoolExecutor(self._threads) if self._threads > 1 and not blocking else None

    def _reset_agents(self, seed: int | None) -> float:
        seconds = 0.0
        for i, unit in enumerate(self.units):
            prepares = getattr(unit.agent, "precomputes", False)
            with nullcontext() if prepares else self._form():
                unit.reset(None if seed is None else seed + i)
            seconds += getattr(unit.agent, "precompute_seconds", 0.0)
        return seconds

    def _asked(self, share: int | None, equal: int | None) -> NDArray[np.int64]:
        """Return what every unit asks for when it is served."""
        by_settings = self.budget.count == "expansions"
        bounds = [getattr(unit.agent, "bound", None) if by_settings else None for unit in self.units]
        return np.array([share or bound or equal or 1 for bound in bounds], np.int64)

    def _refresh_bodies(self) -> None:
        """Make the handles anew after arrays were replaced."""
        self._bodies = stack([unit.body() for unit in self.units])

    @property
    def ticks(self) -> int:
        """How many ticks there were."""
        return int(self._team.state[0].tick)

    @property
    def positions(self) -> NDArray[np.int32]:
        """Where the units stand, N x 2."""
        return positions(self.grid.terrain, self._team.at)

    @property
    def goals(self) -> NDArray[np.int32]:
        """Where the units are to go, N x 2."""
        return positions(self.grid.terrain, self._columns["goal"])

    @property
    def arrived(self) -> NDArray[np.bool_]:
        """Which units stand on their goals."""
        stand: NDArray[np.bool_] = self._team.at == self._columns["goal"]
        return stand

    @property
    def done(self) -> bool:
        """Whether all units stand on their goals."""
        return bool(self.arrived.all())

    @property
    def passable(self) -> NDArray[np.bool_]:
        """H x W copy of the true map as it is now."""
        return self.units[0].view.inner(self._team.free).astype(bool)

    @property
    def work(self) -> int:
        """What all units together spent in the last tick."""
        return self._work[-1] if self._work else 0

    @property
    def situation(self) -> Situation:
        """What is known of the units before the next tick."""
        if self._situation is None:
            survey(self._bodies, self._columns, self._team)
            columns = self._columns
            self._situation = Situation(
                ready=columns["ready"] != 0,
                distance=columns["distance"] / STRAIGHT,
                raised=columns["raised"].copy(),
                waited=columns["waits"].copy(),
                left=columns["left"].copy(),
                under_way=~self.arrived,
                asks=self._asks,
                allowance=self._dealer.allowance,
            )
        return self._situation

    def tick(self, weights: Any = None, rule: Rule | None = None) -> bool:
        """Let one tick pass; return whether all units stand on their goals now.

        Args:
            weights: deal the allowance in proportion to these, one per unit, instead of by the rule.
            rule: deal the allowance of this tick by this one, instead of the squad's own.
        """
        began = time.perf_counter()
        situation = self.situation
        self._columns["share"] = self._dealer.deal(situation, weights, rule)
        for group in self._groups:
            self._act(group)
        displaced = np.flatnonzero(self._columns["displaced"])
        for i in displaced:
            self.units[i].intervene("place")
        end_tick(self._bodies, self._team)
        self._work.append(int(self._columns["spent"].sum()))
        self._dealer.settle(self._work[-1])
        self._situation = None
        self._seconds.append(time.perf_counter() - began)
        return self.done

    def _act(self, group: Any) -> None:
        """Let the units of a group act, by as many threads as there are."""
        number = group.numbers.size
        arguments = self._bodies, self._columns, self._team
        if self._pool is None:
            group.act(*arguments, 0, number)
            return
        bounds = [number * k // self._threads for k in range(self._threads + 1)]
        parts = [(a, b) for a, b in pairwise(bounds) if a < b]
        list(self._pool.map(lambda part: group.act(*arguments, *part), parts))

    def run(self, max_ticks: int = 10_000) -> SquadRun:
        """Let time pass until all units stand on their goals, or for so many ticks; return the record of all ticks."""
        last = self.ticks + whole("max_ticks", max_ticks, 0, 10**9)
        while not self.done and self.ticks < last:
            self.tick()
        return self.record()

    def record(self) -> SquadRun:
        """Return what has happened so far."""
        columns, ticks = self._columns, self.ticks
        tally = np.concatenate([unit.view.trip.tally for unit in self.units])
        diagonal = 1.0 if self.grid.cost == "unit" else SQRT2
        return SquadRun(
            problems=self.problems,
            ticks=ticks,
            arrived=self.arrived,
            arrival=np.where(self.arrived, columns["arrived"], NEVER),
            moves=tally["moves"].copy(),
            cost=tally["moves"] - tally["diagonals"] + diagonal * tally["diagonals"],
            first_move=np.where(columns["first"] == NEVER, ticks, columns["first"]),
            stays=tally["stays"].copy(),
            waits=columns["waits"].copy(),
            overruns=tally["overruns"].copy(),
            work=np.array(self._work, np.int64),
            seconds=np.array(self._seconds),
            memory_bytes=self.memory_bytes,
            precompute_seconds=self._precompute_seconds,
        )

    @property
    def memory_bytes(self) -> int:
        """How many bytes agents, beliefs and records hold; what an agent in Python holds is not known."""
        held = sum(unit.agent.count_bytes() for unit in self.units if unit.inside_kernels)
        beliefs = {id(unit.view.terrain): unit.view.terrain for unit in self.units}
        own = [terrain[:3] for terrain in beliefs.values() if terrain is not self.grid.terrain]
        return held + sum(unit.view.trip.held for unit in self.units) + sum(map(bytes_of, own))

    def set_cell(self, position: Position, free: bool) -> None:
        """Open or close a cell of the true map; a cell that closes under a unit waits until it is left.

        Units that know the map hear of it before their next move, others when they see the cell.

        Raises:
            InputError: for a position outside the map, or what is neither True nor False.
        """
        cell, team = self.grid.cell(position_on(self.grid, "cell", position)), self._team
        flag("free", free)
        if team.free is self.grid.terrain.free:
            self._take_map()
        self._team = with_change(self._team, cell, free)
        self._refresh_bodies()
        change_map(self._team, self._bodies)
        if team.state[0].vision > 0:
            look_around_all(self._team, self._bodies)
        self._situation = None

    def _take_map(self) -> None:
        """Before the first edit, replace what is shared with all who use the grid."""
        self._team = self._team._replace(free=self._team.free.copy())
        if self.units[0].view.terrain is self.grid.terrain:
            own = first_belief(self.grid, None, True)
            for unit in self.units:
                unit.view.terrain = own
            for group in self._groups:
                group.refresh()

    def set_goal(self, unit: int, position: Position) -> None:
        """Give a unit another goal. Its agent keeps what its algorithm allows, and counts ``restarts`` otherwise.

        Raises:
            InputError: for a unit that is not there, or a position outside the map, on a cell that is blocked now or,
                with blocking units, on another one's goal.
        """
        i = whole("unit", unit, 0, len(self.units) - 1)
        goal = free_position(self.grid, self._team.free, "goal", position)
        cell, column, view = self.grid.cell(goal), self._columns[i], self.units[i].view
        if self._team.state[0].blocking and cell in np.delete(self._columns["goal"], i):
            raise InputError(f"two units that block each other cannot share the goal {goal}")
        if cell == column.goal:
            return
        column.goal = view.goal_cell = cell
        view.goal, column.lost, column.ready = goal, 0, 0
        column.arrived = self.ticks if self._team.at[i] == cell else NEVER
        self.units[i].intervene("goal")
        self._situation = None

"""One run of an agent or of a squad, moment by moment; every moment can be drawn and told in plain words."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import Agent, Run
from agents.record import Decision
from agents.runner.trials import ask
from rt_gym import Budget, Problem, Squad, SquadRun, World
from rt_gym.cost import to_float, to_floats
from rt_gym.render import Scene, close_up
from rt_gym.render.pane import make_pane
from rt_gym.search.values import values_at
from rt_gym.squad.picture import squad_scene
from rt_gym.terrain import DIRECTIONS, Position
from rt_gym.trip import STAY
from training.runs.contenders import blaming

LEGEND = (
    "A value is what an agent thinks the way from a cell to the goal will cost. Of the state that was chosen, g is the"
    " cost of getting there from where the search began, and f is g plus its value."
)

_WORDS = {"N": "north", "S": "south", "E": "east", "W": "west"}
_HEADINGS = tuple("-".join(_WORDS[letter] for letter in name) for name in DIRECTIONS)
ENDS = {
    "goal": "goal reached",
    "out of moves": "no moves left",
    "no path": "no way to the goal known",
    "overrun": "budget too small for a move",
}

FRESH = 4  # moves for which a cell that has changed is marked, be it as at the start again


@dataclass(frozen=True)
class Instant:
    """What is known of every moment.

    Attributes:
        moves: how many moves have been made.
        outcome: None, or how the run ended, one of ``ENDS``.
    """

    moves: int
    outcome: str | None = field(default=None, kw_only=True)

    def due(self, every: int) -> bool:
        """Whether this is every ``every``-th moment, or the last one."""
        return self.outcome is not None or self.moves % every == 0


@dataclass(frozen=True)
class Moment(Instant):
    """The agent has decided on a move and not made it yet, or the run is over.

    Attributes:
        position: where the agent stands.
        cost: what the moves made have cost.
        action: what it has decided; None when the run is over.
        decision: why; None when the run is over, and for an agent that does not explain itself.
        expansions, scans: the work of this decision.
    """

    position: Position
    cost: float
    action: int | None
    decision: Decision | None
    expansions: int
    scans: int


class Playback:
    """A trial that makes one move per moment asked for; its moves are those of ``agents.run``.

    Args:
        agent: any object with ``reset`` and ``act``; one with ``explain`` tells why.
        problem: what to solve.
        budget: the limit per move.
        max_moves: how many moves there may be.
        seed: for the agent.
        name: its id, to say which class of one's own it was that broke down.
        window: how many cells around the agent a scene shows, the whole map when None; in a window only, nothing takes
            time or memory that grows with the map.
    """

    def __init__(
        self,
        agent: Agent,
        problem: Problem,
        budget: Budget | int | None,
        max_moves: int,
        seed: int | None = 0,
        name: str = "",
        window: int | None = None,
    ) -> None:
        self.agent, self.problem, self.max_moves = agent, problem, max_moves
        self.name, self.window = name, window
        self.world = World(problem, budget, max_moves, log=problem.grid.terrain.free.size)
        with blaming(name, problem):
            agent.reset(self.world.view, seed)
        self._searched = np.empty((0, 2), np.int32)

    def moments(self) -> Iterator[Moment]:
        """Yield every decision before it is carried out, then the end. The world goes on when the next is asked for."""
        with blaming(self.name, self.problem):
            yield from self._moments()

    def _moments(self) -> Iterator[Moment]:
        world, view = self.world, self.world.kernel_view
        while not world.done:
            if view.moves >= self.max_moves:
                yield self._moment(outcome="out of moves")
                return
            action = ask(self.agent, world)
            if world.view.meter.expansions and view.expanded.size:
                self._searched = self.problem.grid.positions(view.expanded)
            outcome = self._refusal()
            if outcome:
                yield self._moment(outcome=outcome)
                return
            yield self._moment(action)
            world.step(action)
        yield self._moment(outcome="goal")

    def _refusal(self) -> str | None:
        """Return why the decision that was just made ends the run, if it does."""
        if self.world.view.meter.stuck:
            return "no path"
        overrun = self.world.view.meter.overrun and self.world.budget.on_overrun == "truncate"
        return "overrun" if overrun else None

    def _moment(self, action: int | None = None, outcome: str | None = None) -> Moment:
        view, diagonals = self.world.kernel_view, int(self.world.trip.tally[0].diagonals)
        explain = getattr(self.agent, "explain", None)
        return Moment(
            moves=view.moves,
            position=view.position,
            cost=view.moves - diagonals + diagonals * to_float(int(view.terrain.cost[-1])),
            action=action,
            decision=explain() if explain and action is not None else None,
            expansions=self.world.view.meter.expansions,
            scans=self.world.view.meter.scans,
            outcome=outcome,
        )

    def scene(self, moment: Moment, caption: str = "") -> Scene:
        """Return the picture of the moment that was yielded last. It holds until the next one is asked for.

        The search of the last plan stays in view while the plan is followed, and what the plan heads for is marked.
        """
        view = self.world.kernel_view
        scene = Scene(
            passable=view.passable,
            known=None if view.vision is None else view.known,
            position=moment.position,
            start=view.start,
            goal=view.goal,
            trail=self.problem.grid.positions(self.world.trip.path[: moment.moves + 1]),
            layers=self._layers(moment),
            caption=caption,
            changed=np.array(self._changed(moment.moves)),
        )
        if self.window is None:
            return scene
        learned = self._learned_around(moment.position, self.window)
        scene = close_up(scene, self.window)
        return replace(scene, layers={**scene.layers, **learned})

    def _learned_around(self, position: Position, cells: int) -> dict[str, Any]:
        """Return the layer ``h`` of so many cells around a position, if the agent learns values."""
        view, values = self.world.kernel_view, getattr(self.agent, "values", None)
        if values is None:
            return {}
        pane = make_pane(view.passable.shape, position, cells, cells, cells)
        x, y = np.arange(pane.left, pane.left + pane.columns), np.arange(pane.top, pane.top + pane.rows)[:, None]
        flat = ((y + 1) * self.problem.grid.stride + x + 1).ravel()
        now = np.empty(flat.size, np.int64)
        values_at(values, view.terrain, flat, 0, flat.size, view.goal_cell, now)
        away = np.abs(x - view.goal[0]), np.abs(y - view.goal[1])
        low, high, metric = np.minimum(*away), np.maximum(*away), view.terrain.metric[0]
        first = (high - low) * metric.per_straight + low * metric.per_diagonal
        return {"h": to_floats(now.reshape(first.shape)) - to_floats(first)}

    def _changed(self, moves: int) -> list[Position]:
        """Return the cells that are not as they were at the start, as far as is known, and those changed just now."""
        view, first = self.world.kernel_view, self.problem.grid.passable
        found = []
        for position, when in self._happened(moves).items():
            x, y = position
            if moves - when < FRESH or (view.known[y, x] and view.passable[y, x] != first[y, x]):
                found.append(position)
        return found

    def _happened(self, moves: int) -> dict[Position, int]:
        """Return the cells that have changed so far, each with the last time."""
        due = (change for change in self.problem.changes or () if change.time <= moves)
        return {change.position: change.time for change in due}

    def _layers(self, moment: Moment) -> dict[str, Any]:
        painter = self.world.kernel_view.painter
        layers: dict[str, Any] = dict(painter()) if painter and self.window is None else {}
        if len(self._searched):
            layers["expanded"] = self._searched
        target = moment.decision.target if moment.decision else None
        if target is not None and target != self.problem.goal and not _touching(target, moment.position):
            layers.setdefault("subgoals", [target])
        return layers


@dataclass(frozen=True)
class SquadMoment(Instant):
    """A tick of a squad is over, and ``moves`` of them are by now; none at the start.

    Attributes:
        arrived: how many units stand on their goals.
        work: what all units together spent in that tick.
        still: bool per unit, whether it stood still although it was under way.
        unserved: how many units had to plan and were given nothing.
    """

    arrived: int
    work: int
    still: NDArray[np.bool_]
    unserved: int


class SquadPlayback:
    """A squad that makes one tick per moment asked for.

    Args:
        squad: one that has not begun.
        max_ticks: how many ticks there may be.
    """

    def __init__(self, squad: Squad, max_ticks: int) -> None:
        self.squad, self.max_ticks = squad, max_ticks

    def moments(self) -> Iterator[SquadMoment]:
        """Yield the start, then every tick when it is over. The squad goes on when the next is asked for."""
        squad = self.squad
        still, unserved = np.zeros(len(squad.units), bool), 0
        while True:
            outcome = "goal" if squad.done else "out of moves" if squad.ticks >= self.max_ticks else None
            arrived = int(squad.arrived.sum())
            yield SquadMoment(squad.ticks, arrived, squad.work, still, unserved, outcome=outcome)
            if outcome:
                return
            at, waited = squad.positions, squad.situation.waited
            squad.tick()
            still = (squad.positions == at).all(axis=1) & ~squad.arrived
            unserved = int((squad.situation.waited > waited).sum())

    def scene(self, moment: SquadMoment, caption: str = "") -> Scene:
        """Return the picture of the moment that was yielded last. It holds until the next one is asked for."""
        return squad_scene(self.squad, moment.still, caption)


def _touching(one: Position, other: Position) -> bool:
    return max(abs(one[0] - other[0]), abs(one[1] - other[1])) <= 1


def news(problem: Problem, moves: int, span: int) -> str:
    """Return what the last ``span`` moves have changed on the map, such as ``"3 cells closed, 1 cell opened"``."""
    last = {change.position: change.free for change in problem.changes or () if moves - span < change.time <= moves}
    opened = sum(last.values())
    counts = {"closed": len(last) - opened, "opened": opened}
    return ", ".join(f"{_some(count, 'cell')} {deed}" for deed, count in counts.items() if count)


def caption(label: str, moment: Moment, run: Run) -> str:
    """Return one line about a moment: agent, move, cost, expansions, and what has just changed on the map."""
    if moment.outcome is None:
        parts = [f"move {moment.moves + 1} of {run.moves}", f"cost {number(moment.cost)}", _some(moment.expansions)]
    else:
        parts = [ENDS[moment.outcome], _some(moment.moves, "move"), f"cost {number(moment.cost)}"]
        if run.solved and run.suboptimality:
            parts.append(f"{run.suboptimality:.2f} x optimal")
    return " · ".join(filter(None, [label, *parts, news(run.problem, moment.moves, FRESH)]))


def squad_caption(label: str, moment: SquadMoment, run: SquadRun, allowance: int) -> str:
    """Return one line about a tick: agent, tick, arrivals, work, how many wait, and what has changed on the map."""
    if moment.outcome == "goal":
        parts = ["all arrived", _some(moment.moves, "tick"), f"{run.suboptimality.mean():.2f} x optimal"]
    else:
        parts = [f"tick {moment.moves} of {run.ticks}", f"{moment.arrived} of {run.units} arrived"]
        parts += [f"work {moment.work:,} of {allowance:,}"]
        unserved = f", {moment.unserved} without a share" if moment.unserved else ""
        parts += [f"{moment.still.sum()} stand still{unserved}"] if moment.still.any() else []
    return " · ".join(filter(None, [label, *parts, news(run.problems[0], moment.moves, FRESH)]))


def tell(moment: Moment, goal: Position) -> str:
    """Return sentences about a moment: where the agent stands, what it decided, and why."""
    if moment.outcome is not None:
        made = f"after {_some(moment.moves, 'move')} at a cost of {number(moment.cost)}"
        return f"The end: it stands on {moment.position} {made}, {ENDS[moment.outcome]}."
    deed = "stands still" if moment.action == STAY else f"goes {_HEADINGS[moment.action or 0]}"
    work = f" after {_some(moment.expansions)} and {_some(moment.scans, 'scan')}" if moment.scans else ""
    opening = f"Move {moment.moves + 1}: it stands on {moment.position} and {deed}{work}."
    return " ".join([opening, *(_reasons(moment.decision, goal) if moment.decision else ())])


def _reasons(decision: Decision, goal: Position) -> Iterator[str]:
    """Yield why a decision was made, as far as the agent can say."""
    target, before, after = decision.target, decision.h_before, decision.h_after
    if decision.action == STAY:
        yield "Its search is not finished and goes on with the next move."
    elif not decision.planned:
        yield f"It follows its plan{f' to {target}' if target else ''}{_rest(decision.committed)}."
    elif target is not None and decision.g is not None:
        choice = f"found the goal {goal}" if target == goal else f"chose the frontier state {target}"
        yield f"It {choice} with g {number(decision.g)} and f {number(decision.f)}{_rest(decision.committed)}."
    if before is not None and after is not None and (decision.planned or before != after):
        change = f"stays at {number(after)}" if before == after else f"rises from {number(before)} to {number(after)}"
        yield f"Its value of {decision.position} {change}."


def _rest(committed: int) -> str:
    return f"; {_some(committed, 'move')} of the plan will be left" if committed else ""


def number(value: float | None) -> str:
    """Return a number with at most two decimals."""
    return "unknown" if value is None else f"{value:,.2f}".rstrip("0").rstrip(".") if value % 1 else f"{value:,.0f}"


def _some(count: int, what: str = "expansion") -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"

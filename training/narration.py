"""Says in plain words what happens in a run: a line for the picture, sentences for a decision."""

from collections.abc import Iterator

from agents import Run
from agents.base import Decision
from rt_gym.budget import STAY
from rt_gym.grid import DIRECTIONS, Position
from training.playback import Moment

LEGEND = (
    "A value is what an agent thinks the way from a cell to the goal costs. Of the state that it heads for, g is the cost"
    " of getting there from where the search began, and f is g plus its value."
)

_WORDS = {"N": "north", "S": "south", "E": "east", "W": "west"}
_HEADINGS = tuple("-".join(_WORDS[letter] for letter in name) for name in DIRECTIONS)
_ENDS = {
    "goal": "It stands on {position}, which is the goal, after {moves} at a cost of {cost}.",
    "out of moves": "It stands on {position} after {moves} at a cost of {cost}, and no more are allowed.",
    "no path": "It stands on {position} after {moves} at a cost of {cost} and knows of no way to the goal.",
    "overrun": "It stands on {position} after {moves} at a cost of {cost} and cannot plan the next within its budget.",
}


def caption(label: str, moment: Moment, run: Run) -> str:
    """Return one line about a moment: agent, move, cost and expansions."""
    if moment.outcome is None:
        parts = [f"move {moment.moves + 1} of {run.moves}", f"cost {number(moment.cost)}", _some(moment.expansions)]
    else:
        parts = [moment.outcome, _some(moment.moves, "move"), f"cost {number(moment.cost)}"]
        if run.solved and run.suboptimality:
            parts.append(f"{number(run.suboptimality)} x optimal")
    return " · ".join([label, *parts])


def tell(moment: Moment, goal: Position) -> str:
    """Return sentences about a moment: where the agent stands, what it decided, and why."""
    if moment.outcome is not None:
        told = {"position": moment.position, "moves": _some(moment.moves, "move"), "cost": number(moment.cost)}
        return _ENDS[moment.outcome].format(**told)
    deed = "stands still" if moment.action == STAY else f"goes {_HEADINGS[moment.action or 0]}"
    work = f" after {_some(moment.expansions)} and {_some(moment.scans, 'scan')}" if moment.scans else ""
    opening = f"Move {moment.moves + 1}: it stands on {moment.position} and {deed}{work}."
    return " ".join([opening, *(_reasons(moment.decision, goal) if moment.decision else ())])


def _reasons(decision: Decision, goal: Position) -> Iterator[str]:
    target = f"the goal {goal}" if decision.target == goal else f"{decision.target}"
    if decision.action == STAY:
        yield "Its search is not finished and goes on with the next move."
    elif not decision.planned:
        yield f"It follows its plan to {target}{_rest(decision.committed)}."
    elif decision.target is not None:
        known = f", with g {number(decision.g)} and f {number(decision.f)}" if decision.g is not None else ""
        yield f"It planned and chose to head for {target}{known}{_rest(decision.committed)}."
    if decision.h_before is not None and decision.h_after is not None:
        yield _lesson(decision.position, decision.h_before, decision.h_after)


def _rest(committed: int) -> str:
    return f"; {_some(committed, 'move')} of the plan will be left" if committed else ""


def _lesson(position: Position, before: float, after: float) -> str:
    if before == after:
        return f"Its value of {position} stays at {number(after)}."
    return f"Its value of {position} rises from {number(before)} to {number(after)}."


def number(value: float | None) -> str:
    """Return a number with at most two decimals."""
    return "unknown" if value is None else f"{value:,.2f}".rstrip("0").rstrip(".") if value % 1 else f"{value:,.0f}"


def _some(count: int, what: str = "expansion") -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"

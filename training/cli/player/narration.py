"""Says in plain words what happens in a run: a line for the picture, sentences for a decision."""

from collections.abc import Iterator

from agents import Run
from agents.record import Decision
from rt_gym.terrain import DIRECTIONS, Position
from rt_gym.trip import STAY
from training.cli.player.playback import Moment

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


def caption(label: str, moment: Moment, run: Run) -> str:
    """Return one line about a moment: agent, move, cost and expansions."""
    if moment.outcome is None:
        parts = [f"move {moment.moves + 1} of {run.moves}", f"cost {number(moment.cost)}", _some(moment.expansions)]
    else:
        parts = [ENDS[moment.outcome], _some(moment.moves, "move"), f"cost {number(moment.cost)}"]
        if run.solved and run.suboptimality:
            parts.append(f"{run.suboptimality:.2f} x optimal")
    return " · ".join([label, *parts])


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

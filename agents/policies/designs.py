"""The designs of D LRTA*: what chooses the depth, what chooses the goal, and which of these can be combined.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007. What the modes mean is written in ``agents.general_lrta``.
"""

from typing import Any

from agents.knowledge.pdb import MAX_CAP, checked_mode
from rt_gym.errors import InputError, choice, quoted, whole

DEPTHS = ("pdb", "classifier", "oracle", "policy")
GOALS = ("global", "pdb", "classifier")
GLOBAL, LOOKED_UP, SCORED = range(3)  # numbers of ``GOALS``

# Depth (None for a fixed one), goal and mode of every design.
DESIGNS = {
    1: (None, "global", "G"),
    2: (None, "global", "G"),
    3: (None, "pdb", "GI"),
    4: (None, "pdb", "I"),
    5: (None, "classifier", "GI"),
    6: (None, "classifier", "I"),
    7: ("pdb", "global", "G"),
    8: ("pdb", "pdb", "GI"),
    9: ("pdb", "pdb", "I"),
    10: ("classifier", "global", "G"),
    11: ("classifier", "classifier", "GI"),
    12: ("classifier", "classifier", "I"),
}


def axes(design: int, depth: Any, goal: Any, mode: Any) -> tuple[int | str, str, str]:
    """Return depth, goal and mode of a design; what is given besides must not contradict it."""
    own_depth, own_goal, own_mode = DESIGNS[design]
    if own_depth is None and (depth is None or isinstance(depth, str)):
        raise InputError(f"depth must be a whole number in design {design}, not {quoted(depth)}")
    for name, given, own in (("depth", depth, own_depth), ("goal", goal, own_goal), ("mode", mode, own_mode)):
        if own is not None and given is not None and not (isinstance(given, (int, str)) and given == own):
            raise InputError(f"{name} must be {quoted(own)} in design {design}, not {quoted(given)}")
    return depth if own_depth is None else own_depth, own_goal, own_mode


def checked_depth(depth: Any) -> int | str:
    """Return a depth that must be a whole number or one of the words."""
    if not isinstance(depth, str):
        return whole("depth", depth, 1, MAX_CAP)
    if depth not in DEPTHS:
        raise InputError(f"depth must be a whole number or one of {', '.join(DEPTHS)}, not {quoted(depth)}")
    return depth


def checked_goal(goal: Any) -> str:
    """Return a goal that must be one of the words."""
    return choice("goal", goal, GOALS)


def modes(depth: int | str, goal: str, mode: Any, stored: bool) -> tuple[bool, str | None]:
    """Return whether the goal may be the global one where a classifier chooses it, and the mode of the database.

    The depths of a database are those towards the goal, or towards any region next to the agent's: modes G and GI.
    """
    if mode is not None:
        mode = checked_mode(mode)
    if goal == "pdb":
        return False, "I" if mode is None and not stored else mode
    wrong = ("GI", "I") if goal == "global" else ("G",)
    if mode in wrong:
        raise InputError(f"mode must not be {quoted(mode)} where the goal is {quoted(goal)}")
    return mode != "I", "G" if goal == "global" else "GI"

"""LRTA* with a hand-made rule for the depth of its lookahead: the baseline that every learned controller must beat.

The rules need two lines each:

- ``update``: look far after a move that raised a value, else two moves ahead.
- ``revisit``: look twice as far in a state that was entered again within 20 states, and no further than one after five
  quiet moves.
- ``settle``: one move ahead; if that raises a value, deepen until a layer adds nothing to it and four have not changed
  the move.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.policies.depth_control import (
    D_MAX,
    HISTORY,
    Control,
    DepthControl,
    attend,
    begin_layers,
    end_layers,
    observe,
    open_layer,
    recording,
    search,
)
from rt_gym.errors import InputError, quoted
from rt_gym.jit import kernel
from rt_gym.search.deepening import CLIMBED
from rt_gym.world import View

RULES = ("update", "revisit", "settle")
UPDATE, REVISIT, SETTLE = range(3)

CALM = 2  # the depth of ``update`` while nothing is learned
QUIET = 5  # moves after which ``revisit`` forgets
STABLE = 4  # layers for which ``settle`` wants the same move


class RuleMemory(NamedTuple):
    """What depth control shares, the rule, and the depth that ``revisit`` has reached."""

    control: Control
    rule: NDArray[np.int64]
    depth: NDArray[np.int64]


@kernel(inline=True)
def by_rule(memory):
    """Return the depth that the rules ``update`` and ``revisit`` choose."""
    d_max, notes = memory.control.state[D_MAX], memory.control.situation.notes[0]
    if memory.rule[0] == UPDATE:
        return d_max if notes.moves > 0 and notes.since_update == 0 else min(CALM, d_max)
    if notes.moves == 0 or notes.since_return >= QUIET:
        memory.depth[0] = 1
    elif notes.since_return == 0:
        memory.depth[0] = min(2 * memory.depth[0], d_max)
    return memory.depth[0]


@kernel(inline=True)
def settled(control):
    """Whether ``settle`` has seen enough."""
    ladder = control.ladder
    depth = ladder.state[0].depth
    if depth == 1 and ladder.value[1] == ladder.value[0]:
        return True
    return depth == control.state[D_MAX] or (
        ladder.state[0].flat_layers >= 1 and ladder.state[0].steady_layers >= STABLE
    )


@kernel
def plan(terrain, trip, memory, s, t):
    """Choose a depth and search, or search until the rule has seen enough."""
    control = memory.control
    if recording(control):
        observe(terrain, trip, control, s, t)
    else:
        attend(terrain, trip, control, s)
    if memory.rule[0] != SETTLE:
        return search(terrain, trip, control, s, t, by_rule(memory))
    begin_layers(terrain, control, s, t)
    while True:
        result = open_layer(terrain, trip, control, t)
        if result != CLIMBED:
            return result
        if settled(control):
            return end_layers(terrain, trip, control, s, t)


class RuleLRTA(DepthControl):
    """LRTA* with a rule for the depth.

    Args:
        rule: ``"update"``, ``"revisit"`` or ``"settle"``.
        d_max: the largest depth.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)

    def __init__(self, rule: str = "settle", d_max: int = 10, tie: str = "first") -> None:
        super().__init__(d_max, HISTORY, tie)
        if rule not in RULES:
            raise InputError(f"rule must be one of {', '.join(RULES)}, not {quoted(rule)}")
        self.rule = rule

    def make_memory(self, view: View) -> RuleMemory:
        """Return the memory for maps of this size and kind."""
        return RuleMemory(super().make_memory(view), np.array([RULES.index(self.rule)]), np.ones(1, np.int64))

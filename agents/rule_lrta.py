"""LRTA* with a hand-made rule for the depth of its lookahead: the baseline that every learned controller must beat.

The rules need two lines each:

- ``update``: look far after a move that raised a value, else two moves ahead.
- ``revisit``: look twice as far in a state that was entered again within 20 states, and no further than one after five
  quiet moves.
- ``settle``: one move ahead; if that raises a value, deepen until a layer adds nothing to it and four have not changed
  the move.

The algorithm in plain Python: tests/reference/plain_depth_control.py
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.policies.depth_control import (
    HISTORY,
    Control,
    DepthControl,
    begin_layers,
    end_layers,
    observe,
    open_layer,
    search,
)
from rt_gym.errors import choice
from rt_gym.jit import kernel, record
from rt_gym.search.deepening import LAYER_ADDED
from rt_gym.views import KernelView

RULES = ("update", "revisit", "settle")
UPDATE, REVISIT, SETTLE = range(3)

CALM = 2  # the depth of ``update`` while nothing is learned
QUIET = 5  # moves after which ``revisit`` forgets
STABLE = 4  # layers for which ``settle`` wants the same move


REACHED = record(depth=int)  # the depth that ``revisit`` has reached


class RuleMemory(NamedTuple):
    """What depth control shares, the rule as a number of ``RULES``, and REACHED[1]."""

    control: Control
    rule: int
    state: NDArray[np.record]


@kernel(inline=True)
def by_update(control):
    """Return the depth that the rule ``update`` chooses."""
    notes, d_max = control.situation.notes[0], np.int64(control.d_max)
    return d_max if notes.moves > 0 and notes.since_update == 0 else min(np.int64(CALM), d_max)


@kernel(inline=True)
def by_revisit(control, state):
    """Return the depth that the rule ``revisit`` chooses."""
    notes = control.situation.notes[0]
    if notes.moves == 0 or notes.since_return >= QUIET:
        state.depth = 1
    elif notes.since_return == 0:
        state.depth = min(2 * state.depth, control.d_max)
    return np.int64(state.depth)


@kernel(inline=True)
def settled(control):
    """Whether ``settle`` has seen enough."""
    by_depth, state = control.by_depth, control.by_depth.state[0]
    if state.depth == 1 and by_depth.value[1] == by_depth.value[0]:
        return True
    return state.depth == control.d_max or (state.flat_layers >= 1 and state.steady_layers >= STABLE)


@kernel(inline=True)
def by_settle(terrain, trip, control, s, t):
    """Open layers until the rule ``settle`` has seen enough, and commit to what they decide."""
    begin_layers(terrain, control, s, t)
    while True:
        result = open_layer(terrain, trip, control, t)
        if result != LAYER_ADDED:
            return result
        if settled(control):
            return end_layers(terrain, trip, control, s, t)


@kernel
def plan(terrain, trip, memory, s, t):
    """Choose a depth and search, or search until the rule has seen enough."""
    control = memory.control
    observe(terrain, trip, control, s, t)
    if memory.rule == SETTLE:
        return by_settle(terrain, trip, control, s, t)
    depth = by_update(control) if memory.rule == UPDATE else by_revisit(control, memory.state[0])
    return search(terrain, trip, control, s, t, depth)


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
        self.rule = choice("rule", rule, RULES)

    def make_memory(self, view: KernelView) -> RuleMemory:
        """Return the memory for maps of this size and kind."""
        control = super().make_memory(view)
        return RuleMemory(control, RULES.index(self.rule), np.ones(1, REACHED))

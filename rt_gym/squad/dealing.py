"""Rules that deal the allowance of a tick over the units that must plan.

Shares are dealt before anybody plans, so that units can plan side by side and the sum never exceeds the allowance. What
a unit does not use of its share is lost, as time is.

``"equal"`` gives the same to all who must plan. The other rules serve one unit after the other, each with what it asks
for, until too little is left; who gets nothing stands still. Their order:

- ``"round-robin"``: in turn, beginning after the one that was served last;
- ``"nearest"``: the smallest distance to the goal by the heuristic first;
- ``"neediest"``: the one whose last plan raised the most values first, of equals the one that has waited longest.

A learned dealer is a file, see ``rt_gym.squad.policy``.
"""

from collections.abc import Callable
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError, quoted
from rt_gym.meter import UNLIMITED


class Situation(NamedTuple):
    """What a rule knows of every unit, one entry each.

    Attributes:
        ready: bool, whether it must plan now.
        distance: to its goal by the heuristic, in straight steps.
        raised: how many values its last plan has raised.
        waited: how many ticks it had to plan and was given nothing.
        left: how many moves are left of its plan.
        under_way: bool, whether it is not on its goal.
        asks: int64, what it asks for when it must plan.
        allowance: what all of them together may spend, one number; UNLIMITED if that does not matter.
    """

    ready: NDArray[np.bool_]
    distance: NDArray[np.float64]
    raised: NDArray[np.int64]
    waited: NDArray[np.int64]
    left: NDArray[np.int64]
    under_way: NDArray[np.bool_]
    asks: NDArray[np.int64]
    allowance: int


Shares = NDArray[np.int64]
Rule = str | PathLike[str] | Callable[[Situation], Any]


class Dealer:
    """Deals the allowance of every tick; a rule that goes round remembers where it was.

    Args:
        rule: the name of a rule, a file, or a function from a situation to weights, one per unit.
        allowance: what all units together may spend in a tick; UNLIMITED if that does not matter.

    Raises:
        InputError: if there is no such rule.
    """

    def __init__(self, rule: Rule, allowance: int) -> None:
        self.rule, self.allowance = checked_rule(rule), allowance
        self._next, self._debt = 0, 0

    def settle(self, spent: int) -> None:
        """Take note of what a tick has taken: what was too much is missing from the next one."""
        self._debt = max(0, spent + self._debt - self.allowance)

    def deal(self, situation: Situation, weights: Any = None, rule: Rule | None = None) -> Shares:
        """Return the share of every unit, 0 for those that need not plan; by weights or another rule if given."""
        chosen = self.rule if rule is None else checked_rule(rule)
        allowance = self.allowance - (0 if self.allowance == UNLIMITED else min(self._debt, self.allowance))
        if weights is None and callable(chosen):
            weights = chosen(situation)
        if weights is not None:
            return deal_by_weights(weights, allowance, situation.ready)
        shares = np.zeros(situation.ready.size, np.int64)
        ready = np.flatnonzero(situation.ready)
        if allowance == UNLIMITED or allowance == 0 or ready.size == 0:
            shares[ready] = allowance
        elif chosen == "equal":
            self._deal_equally(shares, self._in_turn(ready), allowance)
        else:
            order = self._in_turn(ready) if chosen == "round-robin" else ready[_KEYS[str(chosen)](situation, ready)]
            self._serve(shares, order, situation.asks, allowance)
        return shares

    def _serve(self, shares: Shares, order: NDArray[np.intp], asks: NDArray[np.int64], allowance: int) -> None:
        """Give one after the other what it asks for, until too little is left."""
        wanted = np.minimum(asks[order], allowance)
        served = np.cumsum(wanted) <= allowance
        shares[order[served]] = wanted[served]
        self._next = int(order[served][-1]) + 1

    def _in_turn(self, ready: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.roll(ready, -int(np.searchsorted(ready, self._next)))

    def _deal_equally(self, shares: Shares, ready: NDArray[np.intp], allowance: int) -> None:
        """Give what does not divide to units in turn: with less than one each, all get something sometimes."""
        each, rest = divmod(allowance, ready.size)
        shares[ready] = each
        shares[ready[:rest]] += 1
        if rest:
            self._next = int(ready[rest - 1]) + 1


def checked_rule(rule: Any) -> Rule:
    """Return a rule by its name, a function, or what a file has learned.

    Raises:
        InputError: if there is no such rule.
    """
    if callable(rule) or (isinstance(rule, str) and rule in RULES):
        return rule
    if isinstance(rule, (str, PathLike)) and str(rule).endswith(".json"):
        from rt_gym.squad.policy import load_dealer

        return load_dealer(rule)
    known = ", ".join(f'"{name}"' for name in RULES)
    raise InputError(f"rule must be {known}, a .json file or a function that returns weights, not {quoted(rule)}")


def by_distance(situation: Situation, ready: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the order of ready units, the nearest to its goal first."""
    return np.argsort(situation.distance[ready], kind="stable")


def by_need(situation: Situation, ready: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the order of ready units, the one with the most raised values first, then the longest waiting."""
    return np.lexsort((-situation.waited[ready], -situation.raised[ready]))


_KEYS = {"nearest": by_distance, "neediest": by_need}
RULES = ("equal", "round-robin", *_KEYS)


def deal_by_weights(weights: Any, allowance: int, ready: NDArray[np.bool_]) -> Shares:
    """Return shares in proportion to weights, of which those of units that need not plan do not count.

    Raises:
        InputError: for weights that are not finite numbers of at least 0, one per unit.
    """
    given = np.asarray(weights)
    numeric = given.shape == ready.shape and given.dtype.kind in "fiu"
    if not numeric or not np.isfinite(given).all() or (given < 0).any():
        raise InputError(f"weights must be {ready.size} finite numbers of at least 0, not {quoted(weights)}")
    wanted = np.where(ready, given, 0.0).astype(np.float64)
    total = wanted.sum()
    if total == 0.0:
        return np.zeros(ready.size, np.int64)
    if allowance == UNLIMITED:
        return np.where(wanted > 0, np.int64(UNLIMITED), 0)
    # Rounding may lift a product above the exact one, so that the sum could exceed the allowance by a unit.
    shares = np.floor(allowance * (wanted / total)).astype(np.int64)
    excess = int(shares.sum()) - allowance
    if excess > 0:
        shares[np.argmax(shares)] -= excess
    return shares

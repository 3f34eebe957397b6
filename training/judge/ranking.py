"""Who is better: a leaderboard of depth controllers, and an agent in two comparisons of the same problems.

A leaderboard has one number each, 0 for the best fixed depth and 1 for the oracle, at a price. A run costs its moves
plus a price for every expansion, divided by the optimal cost of its problem; a controller costs the mean over problems.
What it saves compared with the fixed depth that is cheapest at that price is divided by what the cheapest oracle saves.
A controller above 1 saves more than the oracle, which is no bound: it learns with the depths it chooses. Below 0 a
fixed depth is the better choice.

By default a hundred expansions cost as much as one straight step. Then, on the test splits and on game maps, the
cheapest fixed depth is neither the shallowest nor the deepest: an agent that always searches more, or always less,
cannot win.

Intervals hold 95 %, by bootstrap over problems; all controllers meet the same resampled problems. Which fixed depth and
which oracle define 0 and 1 is decided once, on all problems.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym import InputError
from training.judge.scores import Sample, collect, collect_alike
from training.judge.stats import Estimate, Floats, estimate, resampled_sums
from training.runs.rows import Entry, Row, Runs

PRICE = 0.01  # steps that an expansion costs
FIXED, ORACLE = "lrta", "oracle-lrta"


@dataclass(frozen=True)
class Standing:
    """A controller's place.

    Attributes:
        entry: which contender.
        cost: its mean cost; None where a run failed or a move exceeded the budget.
        score: 0 for the best fixed depth, 1 for the oracle; None where there is no cost.
    """

    entry: Entry
    cost: Estimate | None
    score: Estimate | None

    def document(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        parts = {"score": self.score, "cost": self.cost}
        return {"agent": self.entry.label} | {name: part and part._asdict() for name, part in parts.items()}


def score(runs: Runs | Iterable[Row], price: float = PRICE, seed: int = 0) -> list[Standing]:
    """Return all contenders, the best first, those without a score last.

    Args:
        runs: every contender on the same problems; among them fixed depths of ``lrta`` and ``oracle-lrta``.
        price: steps that an expansion costs.
        seed: for the resamplings.

    Raises:
        InputError: if fixed depths or the oracle are missing, or the oracle saves nothing at that price.
    """
    if not (isfinite(price) and price >= 0):
        raise InputError(f"the price of an expansion must be 0 or more, not {price}")
    samples = collect_alike(runs)
    sound = {sample.entry: k for k, sample in enumerate(filter(_sound, samples))}
    if not sound:
        raise InputError("no agent reached every goal of a map that does not change, so there is nothing to rank")
    columns = np.stack([_costs(sample, price) for sample in samples if sample.entry in sound], axis=1)
    means = resampled_sums(columns, seed) / len(columns)
    costs = {entry: means[:, k] for entry, k in sound.items()}
    require_marks(entry.agent for entry in costs)
    zero, one = _cheapest(costs, FIXED), _cheapest(costs, ORACLE)
    if not one[0] < zero[0]:
        raise InputError(f"at a price of {price:g} the oracle saves nothing over the best fixed depth; try another one")
    standings = [_standing(sample, costs.get(sample.entry), zero, one) for sample in samples]
    return sorted(standings, key=lambda standing: standing.cost.value if standing.cost else float("inf"))


def require_marks(agents: Iterable[str]) -> None:
    """Refuse contenders without the fixed depths and the oracle, which define 0 and 1.

    Raises:
        InputError: if fixed depths or the oracle are missing.
    """
    missing = sorted({FIXED, ORACLE}.difference(agents))
    if missing:
        raise InputError(
            f"a leaderboard needs {FIXED} and {ORACLE} among the agents; {' and '.join(missing)} is missing"
        )


def _sound(sample: Sample) -> bool:
    return sample.comparable and not np.isnan(sample.places.optimal).any()


def _costs(sample: Sample, price: float) -> Floats:
    """Return the cost of every run, in units of its problem's optimal cost; a problem without a way to go costs one."""
    optimal = sample.places.optimal * sample.column("trials_run")
    work = np.divide(price * sample.expansions, optimal, out=np.zeros(len(optimal)), where=optimal > 0)
    return sample.suboptimality + work


def _cheapest(costs: dict[Entry, Floats], agent: str) -> Floats:
    """Return the means of the setting of an agent that costs least."""
    return min((means for entry, means in costs.items() if entry.agent == agent), key=lambda means: float(means[0]))


def _standing(sample: Sample, means: Floats | None, zero: Floats, one: Floats) -> Standing:
    if means is None:
        return Standing(sample.entry, None, None)
    problems, saved = len(sample.places), zero - one
    score = np.divide(zero - means, saved, out=np.full(len(saved), np.nan), where=saved > 0)
    known = score[np.isfinite(score)]  # in a resampling the oracle may save nothing
    return Standing(sample.entry, estimate(means, problems), estimate(known, problems))


BETTER, WORSE, SAME = "better", "worse", "same"

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Verdict:
    """One contender, now and then, on the problems of both.

    Attributes:
        entry: which contender, with its limit of now.
        word: ``"better"``, ``"worse"`` or ``"same"``.
        pairs: how many problems both comparisons have.
        lost: problems solved then and not now; gained: the reverse; void: solved neither then nor now.
        difference: the quality now minus then, over the pairs solved both times; less is better. None where there is
            no such pair, or where problems were lost or gained, which decides alone.
        expansions_difference: this difference in expansions per move.
    """

    entry: Entry
    word: str
    pairs: int
    lost: int
    gained: int
    void: int
    difference: Estimate | None
    expansions_difference: Estimate | None


def judge(then: Runs | Iterable[Row], now: Runs | Iterable[Row], seed: int = 0) -> list[Verdict]:
    """Return a verdict on every contender of both comparisons.

    A contender is worse if it fails a problem that it solved before, or if its quality or expansions per move rose by
    more than the interval of the paired difference. It is better if the reverse is true and nothing is worse.

    Raises:
        InputError: if no contender has a problem in both comparisons.
    """
    former = {_name(sample.entry): sample for sample in collect(then)}
    pairs = [(former[name], sample) for sample in collect(now) if (name := _name(sample.entry)) in former]
    verdicts = [verdict for old, new in pairs if (verdict := _verdict(old, new, seed))]
    if not verdicts:
        raise InputError("the two tables have no agent setting with a problem in common, so nothing can be judged")
    return verdicts


def _name(entry: Entry) -> tuple[str, str, str]:
    """Return what a contender is known by; the limit that a time was converted to may differ."""
    return entry.agent, entry.setting, entry.budget


def _verdict(old: Sample, new: Sample, seed: int) -> Verdict | None:
    before = {place.key: number for number, place in enumerate(old.places.rows())}
    pairs = [(before[place.key], number) for number, place in enumerate(new.places.rows()) if place.key in before]
    if not pairs:
        return None
    then, now = np.array(pairs).T
    was, now_is = old.solved[then], new.solved[now]
    lost, gained, both = int((was & ~now_is).sum()), int((now_is & ~was).sum()), was & now_is
    paired = not lost and not gained and both.any()
    differences = _differences(old, new, then[both], now[both], seed) if paired else (None, None)
    word = WORSE if lost else BETTER if gained else _word([part for part in differences if part])
    void = len(pairs) - int(both.sum()) - lost - gained
    return Verdict(new.entry, word, len(pairs), lost, gained, void, *differences)


def _differences(old: Sample, new: Sample, then: Numbers, now: Numbers, seed: int) -> tuple[Estimate, Estimate]:
    """Return by how much quality and expansions per move rose, from these problems then to those now."""
    quality = new.quality[now] - old.quality[then]
    columns = np.stack([quality, new.expansions_per_move[now] - old.expansions_per_move[then]], axis=1)
    means = resampled_sums(columns, seed) / len(columns)
    return estimate(means[:, 0], len(columns)), estimate(means[:, 1], len(columns))


def _word(differences: Sequence[Estimate]) -> str:
    if any(difference.low > 0 for difference in differences):
        return WORSE
    return BETTER if any(difference.high < 0 for difference in differences) else SAME

"""Two comparisons of the same problems: has an agent become better, worse, or stayed the same?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rt_gym import InputError
from training.judge.scores import Sample, collect
from training.judge.stats import Estimate, estimate, resampled_sums
from training.runs.rows import Entry, Row, Runs

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

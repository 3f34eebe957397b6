"""Which agent to take, in plain sentences: one per budget."""

from collections.abc import Collection, Sequence

from training.judge.scores import Arena, Score
from training.judge.stats import Estimate
from training.judge.tables import digits, interval
from training.runs.rows import Entry


def recommend(arena: Arena, scores: Sequence[Score], precomputing: Collection[str] = ()) -> list[str]:
    """Return a sentence per budget: the agent of the best mean quality among those that solved everything in budget.

    Agents that bring precomputed knowledge are named apart. Where the paired difference to the next agent is within
    its interval, the sentence says so.

    Args:
        arena: the runs.
        scores: what was made of them.
        precomputing: the ids of agents that precompute.
    """
    budgets: dict[str, list[Score]] = {}
    for score in scores:
        budgets.setdefault(score.entry.budget, []).append(score)
    return [_sentence(arena, text, group, precomputing) for text, group in budgets.items()]


def _sentence(arena: Arena, text: str, scores: list[Score], precomputing: Collection[str]) -> str:
    plain = [score for score in scores if score.entry.agent not in precomputing]
    prepared = [score for score in scores if score.entry.agent in precomputing]
    heading = "Without a limit" if text == "no limit" else f"At {text} per move"
    parts = [_pick(arena, plain)] if plain else []
    parts += [f"with precomputation: {_pick(arena, prepared)}"] if prepared else []
    return f"{heading}: {'; '.join(parts)}."


def _pick(arena: Arena, scores: list[Score]) -> str:
    """Name the best of these scores, and the next where it may be as good."""
    ranked = sorted((score for score in scores if score.quality), key=_rank)
    if not ranked:
        return f"no agent solved all {arena.problems} problems within the budget"
    best = ranked[0]
    text = f"{best.entry.label}, {best.measure} {_with_interval(best.quality)}"
    if len(ranked) > 1 and not _differ(arena, ranked[1].entry, best.entry):
        text += f" (no clear difference to {ranked[1].entry.label}, {_with_interval(ranked[1].quality)})"
    return text


def _rank(score: Score) -> tuple[float, float]:
    return score.quality.value if score.quality else 0.0, score.expansions_mean.value


def _differ(arena: Arena, one: Entry, other: Entry) -> bool:
    difference, _ = arena.differences(one, other)
    return difference is not None and difference.excludes_zero


def _with_interval(estimate: Estimate | None) -> str:
    return f"{digits(estimate.value)} {interval(estimate)}" if estimate else ""

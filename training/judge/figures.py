"""Scores as a plot: quality over expansions per move, read both ways, with intervals and fronts."""

from collections.abc import Sequence
from math import inf, isnan

from matplotlib.figure import Figure

from training.judge.plots import Mark, Panel, draw_panels
from training.judge.scores import Score
from training.judge.stats import Estimate

_PANELS = {"mean": "expansions per move, mean over problems", "pooled": "all expansions / all moves"}


def draw_scores(title: str, scores: Sequence[Score]) -> Figure:
    """Draw one panel for each way of averaging; scores without a mean stand at the upper edge and say why."""
    panels = [score_panel(f"{title}, {reading}", scores, reading) for reading in _PANELS]
    return draw_panels(panels, scores[0].measure)


def score_panel(title: str, scores: Sequence[Score], reading: str) -> Panel:
    """Return a panel of scores; ``reading`` is the way of averaging expansions, ``"mean"`` or ``"pooled"``."""
    return Panel(title, _PANELS[reading], [_mark(score, reading) for score in scores])


def _mark(score: Score, reading: str) -> Mark:
    work = score.expansions_mean if reading == "mean" else score.expansions_pooled
    return Mark(
        agent=score.entry.agent,
        size=score.entry.budget,
        x=work.value,
        y=score.quality.value if score.quality else inf,
        x_ends=_ends(work),
        y_ends=_ends(score.quality) if score.quality else None,
        note="" if score.quality else "over budget" if score.disqualified else f"{score.failed} failed",
        front=reading in score.fronts,
    )


def _ends(estimate: Estimate) -> tuple[float, float] | None:
    return None if isnan(estimate.low) else (estimate.low, estimate.high)

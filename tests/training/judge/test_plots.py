"""Plots of trade-offs: what can be drawn."""

import warnings
from math import inf
from pathlib import Path

from training.judge.plots import Mark, Panel, draw_panels, save


def test_an_agent_that_spends_nothing_and_fails_is_drawn_left_of_the_others(tmp_path: Path) -> None:
    # On a logarithmic axis its note would stand infinitely far away, and the figure have no room for anything else.
    idle, other = Mark("idle", "", 0.0, inf, note="2 of 5"), Mark("other", "", 3.0, 1.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = draw_panels([Panel("trade-off", "expansions", [idle, other])])
        assert save(figure, tmp_path / "plot.png").stat().st_size > 0
    drawn = [float(line.get_xdata()[0]) for line in figure.axes[0].lines if len(line.get_xdata())]
    assert 0 < min(drawn) < 3

"""Plots of trade-offs: what can be drawn."""

import warnings
from math import inf
from pathlib import Path

from training.judge.plots import Mark, Panel, draw_panels, save
from training.learn.rl.train import draw_validation


def test_an_agent_that_spends_nothing_and_fails_is_drawn_left_of_the_others(tmp_path: Path) -> None:
    # On a logarithmic axis its note would stand infinitely far away, and the figure have no room for anything else.
    idle, other = Mark("idle", "", 0.0, inf, note="2 of 5"), Mark("other", "", 3.0, 1.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = draw_panels([Panel("trade-off", "expansions", [idle, other])])
        assert save(figure, tmp_path / "plot.png").stat().st_size > 0
    drawn = [float(line.get_xdata()[0]) for line in figure.axes[0].lines if len(line.get_xdata())]
    assert 0 < min(drawn) < 3


def test_figures_of_different_sizes_share_a_logarithmic_axis_and_looks_that_failed_leave_gaps(tmp_path: Path) -> None:
    failed = [[0, None, None, None], [2, None, None, None]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alike = draw_validation(("ratio, mean", "ratio, pooled"), 1.0, [[0, None, 1.1, 1.2], [2, None, 2.0, 1.4]])
        apart = draw_validation(("suboptimality", "expansions"), 1.4, [[0, None, 1.4, 52.0], [2, None, None, None]])
        for number, figure in enumerate((alike, apart, draw_validation(("a", "b"), inf, failed))):
            assert save(figure, tmp_path / f"{number}.png").stat().st_size > 0
    assert [figure.axes[0].get_yscale() for figure in (alike, apart)] == ["linear", "log"]

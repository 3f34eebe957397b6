"""Figures from tables: which numbers a cell, a column and a row give, and what is refused."""

from math import isnan

import pytest

from rt_gym import InputError
from training.judge.tables import Table
from training.report.drawing import Bars, Curve, Drawing, Look, Plot, Printed, column, curve_points, draw, ends, number

LOOK = Look("#000000")
TABLE = Table(
    "Runs",
    ["\nagent", "subopt.\nmean", "95 %\ninterval", "\npaper", "exp.\nmean", "worst\nmove", "\npaper"],
    [
        ["lrta depth=2", "1.5", "[1.2, 1,800]", "1.4", "9.0", "9", "8"],
        ["lrta depth=1", "2.5", "[2.0, 3.0]", "2.4", "1,000", "1,001", "1"],
        ["lrta depth=3", "-", "-", "-", "25", "25", "-"],
        ["rule-lrta", "1.1", "[1.0, 1.2]", "-", "7", "7", "-"],
    ],
)
CURVE = Curve("LRTA*", LOOK, "subopt. mean", "exp. mean", r"lrta depth=(?P<tag>\d+)")


def plot(**changed: object) -> Drawing:
    settings = {"title": "All", "table": "Runs", "curves": (CURVE,), "x": "work", "y": "quality"} | changed
    return Drawing((Plot(**settings),), "Some runs.")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cell", "value"),
    [("1,234", 1234), ("-0.5", -0.5), ("23.3%", 23.3), ("11,416.4 ± 229.1", 11416.4), ("about 6300", 6300)],
)
def test_a_cell_has_the_first_number_in_it(cell: str, value: float) -> None:
    assert number(cell) == value


def test_a_cell_without_a_number_has_none() -> None:
    assert isnan(number("-"))
    assert isnan(number("not printed"))


def test_an_interval_may_have_thousands() -> None:
    assert ends("[1,234, 2,345,678]") == (1234, 2345678)


def test_a_column_is_found_by_its_words_whatever_their_lines() -> None:
    assert column(TABLE, "exp. mean") == 4


def test_the_paper_of_a_column_is_the_next_one_called_paper() -> None:
    assert column(TABLE, "paper of subopt. mean") == 3
    assert column(TABLE, "paper of exp. mean") == 6


def test_points_have_intervals_and_tags_and_those_without_a_number_are_left_out() -> None:
    first, second = curve_points(TABLE, CURVE)
    assert first == (9, 1.5, 1.2, 1800, "2")
    assert second == (1000, 2.5, 2, 3, "1")


def test_points_stand_in_the_order_of_their_group() -> None:
    ordered = Curve("LRTA*", LOOK, "subopt. mean", "exp. mean", r"lrta depth=(?P<order>\d+)")
    assert [point.x for point in curve_points(TABLE, ordered)] == [1000, 9]


def test_a_pattern_may_give_the_first_coordinate() -> None:
    by_depth = Curve("LRTA*", LOOK, "subopt. mean", rows=r"lrta depth=(?P<x>\d+)")
    assert [point.x for point in curve_points(TABLE, by_depth)] == [2, 1]


def test_settings_whose_worst_move_takes_too_long_are_cut_off() -> None:
    assert [point.tag for point in curve_points(TABLE, CURVE, cut_off=1000)] == ["2"]


def test_a_figure_has_a_panel_for_each_and_names_every_curve_once() -> None:
    panel = plot(printed=(Printed("paper", Look("#000000", hollow=True), ((1, 2.0), (2, 1.5))),), front=True).panels[0]
    bars = Bars("Bars", "Runs", (("two", "lrta depth=2"),), (("ours", LOOK, "subopt. mean"),), "quality")
    figure = draw(Drawing((panel, panel, bars), "Three.", across=2), [TABLE])
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["All", "All", "Bars"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["LRTA*", "paper", "Pareto front (ours)", "ours"]


def test_a_figure_can_be_drawn_of_runs_that_all_failed() -> None:
    failed = TABLE._replace(rows=[["lrta depth=2", "-", "-", "-", "9.0", "9", "-"]])
    draw(plot(front=True), [failed])


@pytest.mark.parametrize(
    "changed",
    [
        {"table": "None"},
        {"curves": (Curve("", LOOK, "missing", "exp. mean"),)},
        {"curves": (Curve("", LOOK, "paper of worst moves", "exp. mean"),)},
        {"curves": (Curve("", LOOK, "subopt. mean", "exp. mean", "tba"),)},
    ],
)
def test_what_does_not_fit_the_tables_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(InputError, match="the panel 'All' finds no such row, column or table"):
        draw(plot(**changed), [TABLE])

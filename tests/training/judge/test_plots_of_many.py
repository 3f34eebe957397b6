"""Plots of many agents: families, and names that cover neither points nor each other."""

from itertools import combinations
from math import inf
from pathlib import Path

import numpy as np
import pytest
from matplotlib.text import Annotation, Text

import agents
from training.judge.plots import MANY, Mark, Panel, draw_panels, family_styles, save
from training.judge.tables import FAMILIES, by_family, family_of


def marks(count: int, failures: int = 0) -> list[Mark]:
    rng = np.random.default_rng(1)
    made = []
    for k, agent in enumerate([f"{each}, prepares" if k % 7 == 0 else each for k, each in enumerate(agents.ids())]):
        for budget in (10, 100, 1000):
            x, y = budget * rng.uniform(0.2, 1.0), 1 + 3 / budget**0.5 * rng.lognormal(0, 0.7)
            made.append(Mark(agent, str(budget), x, inf if k < failures else y, note="1 failed" * (k < failures)))
    return made[: 3 * count]


def names(axis: object) -> list[Annotation]:
    return [child for child in axis.get_children() if isinstance(child, Annotation) and child.get_rotation() == 0]


def test_every_id_is_in_one_family_and_others_are_with_the_others() -> None:
    listed = [agent for ids in FAMILIES.values() for agent in ids]
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(agents.ids())
    assert (family_of("tba, prepares"), family_of("my_agents.Greedy")) == ("time-bounded", "others")
    assert sum(map(len, by_family(agents.ids()).values())) == len(agents.ids())


def test_no_two_agents_look_alike() -> None:
    styles = family_styles(agents.ids())
    assert len(set(styles.values())) == len(agents.ids())


@pytest.fixture(scope="module")
def crowd() -> object:
    figure = draw_panels([Panel("many", "expansions", marks(len(agents.ids()), failures=3))])
    figure.draw_without_rendering()
    return figure


def test_names_cover_neither_each_other_nor_a_point(crowd: object) -> None:
    axis = crowd.axes[0]
    boxes = [Text.get_window_extent(name) for name in names(axis)]  # without the line that leads to the point
    assert len(boxes) > len(agents.ids()) // 2
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    finite = [(mark.x, mark.y) for mark in marks(len(agents.ids()), failures=3) if mark.y < inf]
    for x, y in axis.transData.transform(finite):
        assert not any(box.contains(x, y) for box in boxes)


def test_each_agent_is_named_once_at_most_and_all_are_in_the_legend(crowd: object) -> None:
    written = [name.get_text() for name in names(crowd.axes[0])]
    assert len(set(written)) == len(written)
    (legend,) = crowd.legends
    told = {text.get_text() for text in legend.get_texts()}
    assert {mark.agent for mark in marks(len(agents.ids()))} <= told
    assert set(by_family(agents.ids())) <= told


def test_notes_of_failures_at_the_same_place_are_written_once() -> None:
    alike = [Mark(agent, "10", 5.0, inf, note="1 failed") for agent in agents.ids()]
    figure = draw_panels([Panel("failed", "expansions", [*alike, Mark("lrta", "100", 50.0, 1.5)])])
    notes = [child for child in figure.axes[0].get_children() if getattr(child, "get_text", str)() == "1 failed"]
    assert len(notes) == 1


def test_few_agents_keep_their_lines(tmp_path: Path) -> None:
    figure = draw_panels([Panel("few", "expansions", marks(MANY))])
    assert names(figure.axes[0]) == []
    assert any(len(line.get_xdata()) == 3 for line in figure.axes[0].lines)
    assert save(figure, tmp_path / "few.png").stat().st_size > 0

"""Squads beside their plain reading: the same positions after every tick, and the same work, counted on its own."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from reference import plain_grid
from reference.plain_squad import PlainSquad, Terms
from rt_gym import Grid, Problem, Squad
from rt_gym.squad import RULES

TICKS = 60


@st.composite
def squads(draw: st.DrawFn) -> tuple[Grid, list, Terms, list]:
    """Return a map, starts and goals that differ, the terms, and changes of the map."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    width, height = int(rng.integers(3, 12)), int(rng.integers(3, 12))
    grid = Grid(
        rng.random((height, width)) > draw(st.sampled_from([0.0, 0.2, 0.35])),
        connectivity=draw(st.sampled_from([4, 8])),
        cost=draw(st.sampled_from(["octile", "unit"])),
        corner=draw(st.sampled_from(["strict", "one", "free"])),
    )
    free = [(int(x), int(y)) for y, x in np.argwhere(grid.passable)]
    count = min(int(rng.integers(1, 9)), len(free))
    starts, goals = rng.permutation(len(free))[:count], rng.permutation(len(free))[:count]
    tasks = [(free[a], free[b]) for a, b in zip(starts, goals, strict=True)]
    lookahead = draw(st.integers(1, 12))
    blocking, vision = draw(st.booleans()), draw(st.sampled_from([None, 1, 2, 4]))
    terms = Terms(
        lookahead=lookahead,
        allowance=draw(st.integers(1, 4 * lookahead)),
        rule=draw(st.sampled_from(RULES)),
        blocking=blocking,
        sight=draw(st.sampled_from([None, 1, 2, 5])),
        push=blocking and draw(st.booleans()),
        vision=vision,
        shared_fog=vision is not None and draw(st.booleans()),
        seed=draw(st.integers(0, 5)),
    )
    cells, kept = plain_grid.cells(grid), set(goals)
    picks = rng.integers(len(cells), size=draw(st.sampled_from([0, 0, 4])))
    changes = sorted(
        (int(rng.integers(0, 15)), cells[pick], bool(rng.random() < 0.5))
        for pick in picks
        if cells[pick] not in {free[goal] for goal in kept}
    )
    return grid, tasks, terms, changes


def made(grid: Grid, tasks: list, terms: Terms, changes: list, **options: object) -> Squad:
    problems = [Problem(grid, a, b, terms.vision, changes, allow_unsolvable=True) for a, b in tasks]
    return Squad(
        problems,
        "rtaa",
        terms.allowance,
        rule=terms.rule,
        blocking=terms.blocking,
        sight=terms.sight,
        push=terms.push,
        shared_fog=terms.shared_fog,
        seed=terms.seed,
        lookahead=terms.lookahead,
        **options,
    )


def places(squad: Squad) -> list[tuple[int, int]]:
    return [(int(x), int(y)) for x, y in squad.positions]


@pytest.mark.plain
@examples(60)
@given(squads())
def test_a_squad_does_what_its_plain_reading_does(case: tuple) -> None:
    grid, tasks, terms, changes = case
    if not tasks:
        return
    squad, plain = made(*case), PlainSquad(grid, tasks, terms, changes)
    for _ in range(TICKS):
        squad.tick()
        work = plain.tick()
        assert places(squad) == plain.positions
        assert squad.work == work
    assert squad.record().waits.tolist() == [unit.waits for unit in plain.units]


@examples(200)
@given(squads())
def test_no_tick_takes_more_than_the_allowance_by_an_independent_count(case: tuple) -> None:
    grid, tasks, terms, changes = case
    if not tasks:
        return
    plain = PlainSquad(grid, tasks, terms, changes)
    squad = made(*case)
    for _ in range(TICKS):
        squad.tick()
        assert squad.work == plain.tick() <= terms.allowance


@examples(200)
@given(squads())
def test_blocking_units_never_share_a_cell_or_swap(case: tuple) -> None:
    _, tasks, terms, _ = case
    if not tasks:
        return
    terms.blocking = True
    squad = made(*case)
    seen = [places(squad)]
    for _ in range(TICKS):
        squad.tick()
        seen.append(places(squad))
    for before, after in pairwise(seen):
        assert len(set(after)) == len(after)
        moves = {(a, b) for a, b in zip(before, after, strict=True) if a != b}
        assert not any((b, a) in moves for a, b in moves)
        assert all(max(abs(a[0] - b[0]), abs(a[1] - b[1])) == 1 for a, b in moves)

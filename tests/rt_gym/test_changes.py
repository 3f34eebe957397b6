"""Changes by name: what each kind does to a problem, and where it is refused."""

from dataclasses import replace

import numpy as np
import pytest

from reference.plain_oracle import distances
from reference.small_maps import drawn
from rt_gym import Change, Grid, InputError, Problem, load_map, sample_problems
from rt_gym.changes import KINDS, scripted_changes, shortest_path
from rt_gym.maps.generate import caves


def after(problem: Problem, changes: tuple[Change, ...]) -> Grid:
    passable = problem.grid.passable.copy()
    for _, (x, y), free in changes:
        passable[y, x] = free
    return problem.grid.replace(passable=passable)


def some_problems(name: str, count: int = 5) -> list[Problem]:
    return sample_problems(load_map(name), count, 20, 90, seed=2)


FIELD = Problem(drawn(*["." * 20] * 20), (1, 10), (18, 10))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_changes_and_another_one_others(kind: str) -> None:
    problem = some_problems("terrain-96", 1)[0]
    schedules = [scripted_changes(problem, kind, seed) for seed in (*range(6), *range(6))]
    assert schedules[:6] == schedules[6:]
    assert len(set(schedules)) > 1
    assert all(list(changes) == sorted(changes, key=lambda change: change.time) for changes in schedules)
    assert replace(problem, changes=schedules[0]).changes == schedules[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rules", [{"connectivity": 4}, {"cost": "unit"}, {"corner": "free"}], ids=str)
def test_the_rules_of_movement_do_not_matter(kind: str, rules: dict[str, object]) -> None:
    grid = load_map("rooms-64").replace(**rules)
    assert scripted_changes(sample_problems(grid, 1, 30, 60, seed=1)[0], kind)


@pytest.mark.parametrize("name", ["random-48", "terrain-96", "maze-holes-101"])
def test_a_bridge_cuts_the_shortest_path_and_leaves_another(name: str) -> None:
    for problem in some_problems(name):
        changes = scripted_changes(problem, "bridge")
        assert not any(change.free for change in changes)
        assert {change.position for change in changes} & set(shortest_path(problem))
        assert Problem(after(problem, changes), problem.start, problem.goal).optimal_cost > problem.optimal_cost


def test_a_bridge_closes_before_anybody_can_be_there() -> None:
    for problem in some_problems("terrain-96"):
        for time, (x, y), _ in scripted_changes(problem, "bridge"):
            away = max(abs(x - problem.start[0]), abs(y - problem.start[1]))
            assert time <= away or (x, y) not in shortest_path(problem)


@pytest.mark.parametrize("name", ["rooms-64", "maze-63"])
def test_a_door_opens_a_shorter_way(name: str) -> None:
    for problem in some_problems(name):
        changes = scripted_changes(problem, "door")
        assert all(change.free for change in changes)
        assert not any(problem.grid.passable[y, x] for _, (x, y), _ in changes)
        assert Problem(after(problem, changes), problem.start, problem.goal).optimal_cost < problem.optimal_cost


@pytest.mark.parametrize("grid", [load_map("rooms-64"), caves(40, 40, 0.4, 4, 3)], ids=["rooms", "caves"])
def test_blockers_never_cut_anything_off_and_leave_nothing_behind(grid: Grid) -> None:
    problem = sample_problems(grid, 1, 15, 60, seed=4)[0]
    changes, passable = scripted_changes(problem, "blockers", 1), grid.passable.copy()
    for time in range(changes[-1].time + 1):
        for _, (x, y), free in (change for change in changes if change.time == time):
            assert grid.passable[y, x]
            assert (x, y) not in (problem.start, problem.goal)
            passable[y, x] = free
        if time % 7 == 0:
            reached = distances(grid.replace(passable=passable), problem.goal)
            assert len(reached) == len(distances(grid, problem.goal)) - (grid.passable.sum() - passable.sum())
    assert (passable == grid.passable).all()


def test_blockers_move_one_step_at_a_time() -> None:
    changes = scripted_changes(FIELD, "blockers")
    closed = {change.position for change in changes if change.time == 0}
    for time in range(1, changes[-1].time):
        now = [change for change in changes if change.time == time]
        for (_, to, free), (_, left, opened) in zip(now[::2], now[1::2], strict=True):
            assert (free, opened, np.abs(np.subtract(to, left)).sum()) == (False, True, 1)
            closed = closed - {left} | {to}
    assert {change.position for change in changes if change.time == changes[-1].time} == closed


def test_the_shortest_path_is_a_shortest_one() -> None:
    for problem in some_problems("random-48"):
        path = shortest_path(problem)
        exact = distances(problem.grid, problem.goal)
        assert (path[0], path[-1], exact[path[0]]) == (problem.start, problem.goal, problem.optimal_cost)
        assert [exact[position] for position in path] == sorted((exact[position] for position in path), reverse=True)


@pytest.mark.parametrize(
    ("problem", "kind", "says"),
    [
        (FIELD, "flood", "unknown changes 'flood', known are bridge, door, blockers"),
        (FIELD, "door", "changes door do not fit the problem from .* no wall of at most 4 cells"),
        (Problem(drawn("....."), (0, 0), (4, 0)), "bridge", "no part of its shortest path can be closed"),
        (Problem(drawn(".."), (0, 0), (1, 0)), "bridge", "no part of its shortest path can be closed"),
        (Problem(drawn("."), (0, 0), (0, 0)), "door", "no wall"),
        (Problem(drawn("....."), (0, 0), (4, 0)), "blockers", "there is no open place near its shortest path"),
        (Problem(drawn(".#."), (0, 0), (2, 0), allow_unsolvable=True), "bridge", "cannot be reached"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(problem: Problem, kind: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        scripted_changes(problem, kind)
    assert "\n" not in str(caught.value)

"""The maps and problems of a training: disjoint parts, the hardest problems, shares of them."""

import pytest

from reference.plain_grid import h0
from rt_gym import InputError, Problem, splits
from training.learn import draw_parts, extended, hardest, problems_of, split_problems
from training.runs import Course, Draw, find_courses


def courses(name: str = "rooms-64", count: int = 6) -> tuple[Course, ...]:
    return tuple(find_courses([name], Draw(count, 20, 60)))


def test_half_are_the_hardest_and_no_map_has_more_than_its_share() -> None:
    drawn = (*courses("rooms-64", 30), *courses("random-48", 30))
    for course, chosen in zip(drawn, hardest(drawn, 20), strict=True):
        order = sorted(course.tasks, key=lambda task: -task.optimal_cost / h0(course.grid, task.start, task.goal))
        assert len(chosen.tasks) == len(set(chosen.tasks)) == 10
        assert set(order[:5]) <= set(chosen.tasks)


def test_fewer_problems_than_asked_for_are_all_taken() -> None:
    assert [course.tasks for course in hardest(courses(), 1000)] == [course.tasks for course in courses()]


def test_further_problems_are_on_the_same_maps_and_no_nearer_than_those_given() -> None:
    drawn = (*courses("rooms-64", 3), *courses("random-48", 11))
    more = extended(drawn, 20)
    assert [len(course.tasks) for course in more] == [10, 11]
    for given, course in zip(drawn, more, strict=True):
        assert course.tasks[: len(given.tasks)] == given.tasks
        assert course.grid is given.grid
        assert min(task.optimal_cost for task in course.tasks) == min(task.optimal_cost for task in given.tasks)
    assert extended(drawn, 20) == more
    assert all(problem.optimal_cost == Problem(problem.grid, problem.start, problem.goal).optimal_cost
               for problem in problems_of(more))  # fmt: skip


@pytest.mark.parametrize(("shares", "made"), [(1, 1), (4, 4), (9, 6)])
def test_every_problem_is_in_exactly_one_share_and_no_share_lacks_a_map(shares: int, made: int) -> None:
    drawn = (*courses("rooms-64", 6), *courses("random-48", 11))
    dealt = split_problems(drawn, shares)
    assert len(dealt) == made
    assert all(course.tasks for share in dealt for course in share)
    for number, course in enumerate(drawn):
        assert sorted(task for share in dealt for task in share[number].tasks) == sorted(course.tasks)


def test_parts_that_are_not_given_are_the_splits_of_their_names() -> None:
    parts = draw_parts({"train": ["rooms-64"], "validation": None, "test": ["random-48"]}, Draw(2))
    assert [course.grid for course in parts.validation] == list(splits.load("mixed-validation").grids)
    assert [course.name for course in (*parts.train, *parts.test)] == ["rooms-64", "random-48"]
    assert {len(course.tasks) for course in parts.train} == {2}


def test_a_map_in_two_parts_is_refused_by_its_name() -> None:
    with pytest.raises(InputError, match="map rooms-64 is given for train and for test; they must not share maps"):
        draw_parts({"train": ["rooms-64"], "test": ["random-48", "rooms-64"]}, Draw(2))


def test_the_problems_of_courses_stand_in_the_order_of_their_tasks() -> None:
    drawn = (*courses("rooms-64", 3), *courses("random-48", 2))
    tasks = [task for course in drawn for task in course.tasks]
    assert [(one.start, one.goal) for one in problems_of(drawn)] == [(task.start, task.goal) for task in tasks]

"""Readings of ties: which depths count as deciding like the largest one, and what is learned from that."""

from dataclasses import replace

import numpy as np
import pytest

from reference import plain_depth_control, plain_grid
from reference.plain_grid import Position
from reference.plain_oracle import random_problem
from rt_gym import Grid, Problem
from training.learn.fit import cross_validate, fit_policy, predict_depths
from training.learn.log import Logging, Samples, log_samples
from training.learn.targets import LABEL_RULES, TIES, Recipe, agreement, by_layers, costs, label_by
from training.runs import Course, Draw, Task, Workers, find_courses

HERE = Workers(jobs=1)
EAST, SOUTH, WEST = 0, 1, 2
SOUTH_EAST = 4
RECIPE = Recipe(min_leaf=20, features="rich", price=0.02)


@pytest.fixture(scope="module")
def samples() -> Samples:
    courses = find_courses(["caves-128"], Draw(count=12, low=30, high=90))
    return log_samples(courses, Logging(d_max=6, per_problem=100), workers=HERE)


def made_by_hand(moves: list[int], tied: list[set[int]]) -> Samples:
    """One state: the move of every depth, and the moves that it might as well make."""
    nothing = np.zeros((1, len(moves)), np.float32)
    action = np.array([moves], np.uint8)
    return Samples(
        situation=np.zeros((1, 24), np.float32),
        label=np.array([plain_label(moves)]),
        action=action,
        rise=nothing,
        work=nothing.astype(np.int32),
        regret=nothing,
        ties=np.array([[sum(1 << move for move in some) for some in tied]], np.uint8),
        problem=np.zeros(1, np.int32),
        about={},
    )


def plain_label(moves: list[int]) -> int:
    return next(d for d in range(1, len(moves) + 1) if set(moves[d - 1 :]) == {moves[-1]})


def first_state(grid: Grid, start: Position, goal: Position, d_max: int) -> Samples:
    """Log the first state of a problem, in which nothing has been learned."""
    task = Task(start, goal, Problem(grid, start, goal).optimal_cost)
    return log_samples([Course("", grid, (task,))], Logging(d_max, per_problem=1), workers=HERE)


@pytest.mark.plain
@pytest.mark.parametrize(
    ("moves", "tied", "labels"),
    [
        ([EAST, EAST], [{EAST}, {EAST}], [1, 1, 1]),
        ([EAST, SOUTH], [{EAST}, {SOUTH}], [2, 2, 2]),
        # The move of the first depth is as good to the second one, whose first move in order it is.
        ([EAST, SOUTH], [{EAST}, {EAST, SOUTH}], [2, 1, 1]),
        # Both go south, but the second one might go east, which comes first.
        ([SOUTH, SOUTH], [{SOUTH}, {EAST, SOUTH}], [1, 2, 1]),
        # Both might go east; the first one goes west, to which the second one would not.
        ([WEST, EAST], [{EAST, WEST}, {EAST}], [2, 1, 2]),
        # Agreement of the first depth is of no use where the second one disagrees.
        ([EAST, SOUTH, EAST], [{EAST, WEST}, {SOUTH, WEST}, {EAST, WEST}], [3, 3, 3]),
        ([WEST, SOUTH, EAST], [{EAST, WEST}, {EAST, SOUTH}, {EAST, WEST}], [3, 1, 3]),
    ],
)
def test_a_reading_says_which_depths_agree(moves: list[int], tied: list[set[int]], labels: list[int]) -> None:
    sample = made_by_hand(moves, tied)
    assert [label_by(sample, ties).tolist() for ties in TIES] == [[label] for label in labels]


@pytest.mark.plain
def test_on_open_ground_every_depth_goes_the_same_way_up_to_ties() -> None:
    # Two steps east and one south-east; see the same ground in test_depth_control, where the ties are derived.
    first = first_state(Grid(np.ones((3, 5), bool)), (0, 0), (3, 1), d_max=3)
    assert first.action.tolist() == [[SOUTH_EAST, EAST, EAST]]
    assert [int(label_by(first, ties)[0]) for ties in TIES] == [2, 1, 1]


@pytest.mark.plain
def test_labels_are_those_of_searches_of_every_depth() -> None:
    rng, d_max, found = np.random.default_rng(5), 4, set()
    for _ in range(100):
        grid, start, goal = random_problem(rng, 10, density=0.25)
        if start == goal:
            continue
        first = first_state(grid, start, goal, d_max)
        view, h = plain_grid.Map.of(grid), {cell: plain_grid.h0(grid, cell, goal) for cell in plain_grid.cells(grid)}
        labels = [int(label_by(first, ties)[0]) for ties in TIES]
        assert labels == [plain_depth_control.label_by(view, start, goal, d_max, h, ties) for ties in TIES]
        found.add(tuple(labels))
    assert len(found) > 4


def test_a_label_is_where_agreement_begins_for_good(samples: Samples) -> None:
    for ties in TIES:
        for agrees, label in zip(agreement(samples, ties), label_by(samples, ties), strict=True):
            assert agrees[label - 1 :].all()
            assert label == 1 or not agrees[label - 2]
    assert (label_by(samples, "search") == samples.label).all()
    assert (label_by(samples, "tolerant") <= samples.label).all()
    assert (label_by(samples, "ordered") != samples.label).any()


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(("labels", "decide"), [("class", "depth"), ("class", "deepen"), ("cost", "depth")])
def test_what_is_learned_is_the_reading_of_the_recipe(samples: Samples, labels: str, decide: str, ties: str) -> None:
    recipe = replace(RECIPE, labels=labels, decide=decide, ties=ties)
    policy = fit_policy(samples, recipe)
    depth, truth = predict_depths(policy, samples, recipe), label_by(samples, ties)
    if labels == "cost":
        cost = costs(samples, recipe)
        assert cost[np.arange(len(samples)), depth - 1].mean() < cost.mean(axis=0).min()
    else:
        assert (depth == truth).mean() > np.bincount(truth).max() / len(samples)
    assert policy.about["recipe"]["ties"] == ties


def test_costs_and_accuracy_go_by_the_same_agreement_as_labels(samples: Samples) -> None:
    recipe = replace(RECIPE, ties="ordered")
    free = costs(samples, replace(recipe, price=0.0))
    np.testing.assert_array_equal(free == 0, agreement(samples, "ordered"))
    quality = cross_validate(samples, recipe, folds=4)
    label = label_by(samples, "ordered")
    np.testing.assert_array_equal(quality.confusion.sum(axis=1), np.bincount(label, minlength=7)[1:])
    assert quality.accuracy == pytest.approx(np.trace(quality.confusion) / len(samples))
    assert quality.accuracy <= quality.same_move
    assert quality.majority == pytest.approx(np.bincount(label).max() / len(samples))


def test_layers_show_what_the_searches_did_however_ties_are_read(samples: Samples) -> None:
    logged, *others = (by_layers(samples, replace(RECIPE, decide="deepen", ties=ties))[0] for ties in TIES)
    for other in others:
        np.testing.assert_array_equal(logged, other)


def test_the_shallowest_depth_that_agrees_is_the_label_whatever_those_between_do(samples: Samples) -> None:
    found = LABEL_RULES["shallowest"](samples).label
    for actions, label in zip(samples.action, found, strict=True):
        assert actions[label - 1] == actions[-1]
        assert actions[-1] not in actions[: label - 1]
    assert (found < samples.label).any()


def test_drawn_moves_are_tied_ones_and_the_labels_follow_from_them(samples: Samples) -> None:
    drawn = LABEL_RULES["drawn"](samples)
    assert (samples.ties >> drawn.action & 1).all()
    assert (drawn.action != samples.action).any()
    for actions, label in zip(drawn.action, drawn.label, strict=True):
        assert (actions[label - 1 :] == actions[-1]).all()
        assert label == 1 or actions[label - 2] != actions[-1]

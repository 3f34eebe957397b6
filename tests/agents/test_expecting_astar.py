"""Expecting A*: what unknown ground costs, what follows from it, and the files that say so."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import agents
from agents.policies.ground import (
    BLOCKED,
    FREE,
    MOST,
    PARTS,
    UNKNOWN,
    GroundPolicy,
    cost_of_unknown,
    load_ground_policy,
    look,
    ready_made,
)
from agents.policies.trees import LEAF, NO_TREES, Forest, join_trees
from reference import plain_expecting_astar
from reference.contract import path_of, random_problems
from rt_gym import Grid, InputError, Problem, World


def constant(price: float) -> GroundPolicy:
    """Return a policy with the same price for all unknown ground."""
    return GroundPolicy(1, NO_TREES._replace(scores=np.full((1, 1), price)))


def stump(feature: int, threshold: float, low: float, high: float) -> Forest:
    """Return a tree of one test."""
    ends = np.array([1, LEAF, LEAF], np.int32), np.array([2, LEAF, LEAF], np.int32)
    tests = np.array([feature, LEAF, LEAF], np.int32), np.array([threshold, 0.0, 0.0])
    return Forest(np.zeros(1, np.int32), *tests, *ends, np.array([[0.0], [low], [high]]))


WEST, EAST = 3, 5  # of the nine cells of a window of radius 1
TWO_TREES = GroundPolicy(1, join_trees([stump(WEST, -0.5, 3.0, 1.0), stump(EAST, 0.5, 0.3, 2.0)]))


def seen_from(passable: NDArray[np.bool_] | list[list[int]], start: tuple[int, int], goal: tuple[int, int]) -> World:
    """Return a world in fog after the first look around."""
    return World(Problem(Grid(passable), start, goal, vision=1))


@pytest.mark.plain
def test_cells_are_blocked_unknown_or_free_and_blocked_beyond_the_edge() -> None:
    terrain = seen_from([[1, 0, 1, 1], [1, 1, 1, 1]], (0, 0), (3, 1)).terrain
    assert [look(terrain, x, 0) for x in range(-1, 5)] == [BLOCKED, FREE, BLOCKED, UNKNOWN, UNKNOWN, BLOCKED]
    assert [look(terrain, 3, y) for y in (-1, 1, 2, 3)] == [BLOCKED, UNKNOWN, BLOCKED, BLOCKED]


@pytest.mark.plain
def test_the_trees_add_up_to_a_price() -> None:
    world = seen_from([[1, 0, 1, 1], [1, 1, 1, 1]], (0, 0), (3, 1))
    view = world.kernel_view
    prices = [
        int(cost_of_unknown(view.terrain, view.trip, TWO_TREES.wired(), view.cell(place)))
        for place in ((2, 0), (2, 1), (3, 0))
    ]
    # West of the first a cell is known to be blocked (3), of the others none; east of all nothing is known to be free.
    assert prices == [round(3.3 * PARTS), round(1.3 * PARTS), round(1.3 * PARTS)]


@pytest.mark.plain
@pytest.mark.parametrize(("trees", "scans"), [(0, 0), (1, 1), (8, 1), (9, 2), (16, 2), (17, 3)])
def test_eight_tests_count_as_the_scan_of_a_cell(trees: int, scans: int) -> None:
    view = seen_from([[1, 1, 1, 1]], (0, 0), (3, 0)).kernel_view
    policy = GroundPolicy(1, join_trees([stump(WEST, -0.5, 3.0, 1.0)] * trees)) if trees else constant(2.0)
    cost_of_unknown(view.terrain, view.trip, policy.wired(), view.goal_cell)
    assert view.trip.meter[0].scans == scans


@pytest.mark.plain
@pytest.mark.parametrize(("price", "times"), [(-4.0, 1), (0.9, 1), (1.0, 1), (2.5, 2.5), (1e9, MOST)])
def test_prices_lie_between_free_ground_and_the_most(price: float, times: float) -> None:
    view = seen_from([[1, 1, 1, 1]], (0, 0), (3, 0)).kernel_view
    cost = cost_of_unknown(view.terrain, view.trip, constant(price).wired(), view.goal_cell)
    assert cost == times * PARTS


@pytest.mark.parametrize("policy", ["mixed", TWO_TREES, constant(3.0), constant(1.0)])
@pytest.mark.parametrize("vision", [1, 2])
def test_other_policies_walk_as_the_reference_does(policy: str | GroundPolicy, vision: int) -> None:
    for problem in random_problems(3, 12, vision):
        plain = plain_expecting_astar.run(problem.grid, problem.start, problem.goal, policy, vision, ())
        run = agents.run("expecting-astar", problem, policy=policy)
        assert path_of(run) == plain.path
        assert (run.expansions, run.scans) == (sum(plain.expansions), sum(plain.scans))


@pytest.mark.parametrize("price", [1.0, float(MOST)])
def test_every_goal_is_reached_whatever_unknown_ground_costs(price: float) -> None:
    for problem in random_problems(5, 60, 1, max_side=14):
        assert agents.run("expecting-astar", problem, policy=constant(price)).solved


def test_dear_unknown_ground_keeps_it_on_the_rows_that_it_has_seen() -> None:
    # Its first way leads along row 4 and shows it rows 3 to 5. The way back to a goal in row 6 can leave them anywhere.
    problem = Problem(Grid(np.ones((9, 9))), (0, 4), (8, 4), vision=1)
    world, agent = World(problem), agents.make("expecting-astar", policy=constant(float(MOST)))
    agent.reset(world.view)
    walked = []
    for goal in ((8, 4), (0, 6)):
        world.set_goal(goal)
        while world.view.position != goal:
            world.step(agent.act())
            walked.append(world.view.position)
    assert len(walked) == 17  # the last step onto unknown ground is a straight one, which costs less
    assert [y for _, y in walked[:-1] if not 3 <= y <= 5] == []


def test_on_a_known_map_it_is_a_star() -> None:
    for problem in random_problems(7, 20):
        mine, theirs = agents.run("expecting-astar", problem), agents.run("astar", problem)
        assert mine.cost == theirs.cost
        assert mine.first_move_expansions == mine.expansions
        assert mine.scans == mine.expansions


def test_a_policy_comes_back_from_its_file(tmp_path: Path) -> None:
    TWO_TREES.save(tmp_path / "two.json")
    found = load_ground_policy(tmp_path / "two.json")
    assert found.radius == 1
    assert all((a == b).all() for a, b in zip(found.forest, TWO_TREES.forest, strict=True))
    assert found.branch == 1


@pytest.mark.parametrize("name", ready_made())
def test_ready_made_policies_look_a_short_way(name: str) -> None:
    policy = load_ground_policy(name)
    assert policy.forest.scores.min() >= 1
    assert policy.radius <= 8


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kind": "rt_gym.goal-policy"}, "is not a ground policy of rt_gym"),
        ({"version": 2}, "has version 2 of the format, not 1"),
        ({"radius": 0}, "tests a feature beyond the 1 that it names"),
        ({"radius": -1}, "radius must be"),
        ({"radius": 99}, "radius must be"),
        ({"forest": None}, "has no trees"),
    ],
)
def test_a_file_that_is_no_ground_policy_is_refused(tmp_path: Path, change: dict[str, object], says: str) -> None:
    TWO_TREES.save(tmp_path / "two.json")
    content = json.loads((tmp_path / "two.json").read_text())
    (tmp_path / "other.json").write_text(json.dumps(content | change))
    with pytest.raises(InputError, match=says):
        agents.make("expecting-astar", policy=str(tmp_path / "other.json"))


def test_a_name_that_there_is_not_is_refused() -> None:
    with pytest.raises(InputError, match="there is no ground policy meadows; ready-made ones are mazes, mixed"):
        agents.make("expecting-astar", policy="meadows")

"""TBA* in places made for it: the figures of its paper, and the work of every slice."""

import numpy as np
import pytest

import agents
from rt_gym import Grid, Problem, World, load_map, sample_problems

# A hall with a dead end below the goal, a corridor beside it, and an opening halfway between the two.
HALL = (
    "##############",
    "#............#",
    "############.#",
    "#..........#.#",
    "#..........#.#",
    "#..........#.#",
    "#..........#.#",
    "#............#",
    "#..........#.#",
    "#..........#.#",
    "#..........#.#",
    "#..........#.#",
    "#..........#.#",
    "#............#",
    "##############",
)
START, GOAL, OPENING = (12, 13), (1, 1), (11, 7)
PROBLEM = Problem(Grid([[letter == "." for letter in row] for row in HALL]), START, GOAL)


def walked(**settings: bool) -> list[tuple[int, int]]:
    run = agents.run("tba", PROBLEM, R=30, **settings)
    assert run.solved
    return [(int(x), int(y)) for x, y in run.path]


class TestFigureTwo:
    def test_without_a_shortcut_the_agent_returns_to_the_start(self) -> None:
        path = walked()
        assert path.count(START) == 2
        assert OPENING not in path

    def test_with_a_shortcut_it_leaves_through_the_opening(self) -> None:
        path = walked(shortcut=True)
        assert path.count(START) == 1
        assert OPENING in path
        assert len(path) < len(walked())

    def test_both_have_gone_into_the_hall_together(self) -> None:
        plain, short = walked(), walked(shortcut=True)
        parting = next(k for k, (one, other) in enumerate(zip(plain, short, strict=False)) if one != other)
        assert all(x <= 10 for x, _ in plain[2:parting])
        assert parting > 4


class TestFigureOne:
    """The most promising path changes: the agent steps back along its own until it meets the new one."""

    def test_every_step_off_the_solution_is_a_step_back(self) -> None:
        path = walked()
        turn = max(range(len(path)), key=lambda k: path[k] != START and path[k][0] <= 10 and k)
        there = path[: turn + 1]
        back = [position for position in path[turn + 1 :] if position in there]
        assert back == [position for position in reversed(there) if position in back][: len(back)]

    def test_with_all_units_at_once_it_goes_straight(self) -> None:
        assert len(agents.run("tba", PROBLEM, R=10_000).path) - 1 == agents.run("astar", PROBLEM).moves


@pytest.mark.parametrize("R", [2, 10, 40, 200])
@pytest.mark.parametrize("shortcut", [False, True])
@pytest.mark.parametrize("threshold", [False, True])
def test_no_slice_takes_more_than_its_units(R: int, shortcut: bool, threshold: bool) -> None:
    agent = agents.make("tba", R=R, shortcut=shortcut, threshold=threshold)
    for problem in [PROBLEM, *sample_problems(load_map("terrain-96"), 4, 60, 140, seed=3)]:
        world = World(problem)
        agent.reset(world.view, 0)
        while not world.done:
            action = agent.act()
            expansions, steps = world.view.meter.expansions, int(world.trip.meter[0].trace_steps)
            assert expansions <= (R if shortcut else agent.expansions) <= R
            assert shortcut or expansions + np.ceil(steps / agent.c) <= R
            world.step(action)

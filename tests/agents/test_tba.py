"""TBA*: trials worked out on paper, the figures of its paper, the work of every slice, and what it shares with A*."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import agents
from profiles import examples
from reference.checks import Settings, assert_astar, assert_refused, known_or_fog, some_problems
from reference.plain_oracle import problems
from reference.settings import draw_settings
from reference.small_maps import HOOK, ROUND_THE_HOOK, drawn
from reference.traces import slices, start
from reference.worlds import worlds
from rt_gym import Budget, InputError, Problem, World, load_map, sample_problems
from rt_gym.cost import to_float

EARLY: list[Settings] = [
    {"R": 2},
    {"R": 10},
    {"R": 10, "threshold": True},
    {"R": 10, "first": "length"},
    {"R": 6, "r": 0.5, "c": 1},
    {"R": 40, "c": 2},
]

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
PROBLEM = Problem(drawn(*HALL), START, GOAL)


def walked(**settings: bool) -> list[tuple[int, int]]:
    run = agents.run("tba", PROBLEM, R=30, **settings)
    assert run.solved
    return [(int(x), int(y)) for x, y in run.path]


@pytest.mark.plain
class TestTraces:
    def test_one_expansion_per_move_around_the_hook(self) -> None:
        # 1 traced to the start, to (1,1).  2 not through (1,1): back to (1,0).  3 over (1,1), to (1,1).
        # 4 not through (1,1): back.  5 to (1,1).  6 traced to (1,1), to (1,2).  7 traced to (1,2), to (2,2).
        # 8 traced to (2,2), to (3,2), then along the solution.
        path, expansions, steps = slices("tba", HOOK, R=2, r=0.5)
        assert path == [(1, 0), (1, 1), (1, 0), (1, 1), (1, 0), *ROUND_THE_HOOK[1:]]
        assert expansions == [1] * 8 + [0, 0]
        assert steps == [1, 1, 2, 1, 3, 3, 3, 3, 0, 0]

    def test_a_threshold_keeps_it_on_its_path(self) -> None:
        # 1 to 3 as above: (0,0) has g 1 as (1,1) has.  4: (0,1) has g r, less than the 2 of (1,2): on to (1,2).
        # 5 to 8: each path goes on from where the agent stands.
        path, expansions, steps = slices("tba", HOOK, R=2, r=0.5, threshold=True)
        assert path == [(1, 0), (1, 1), (1, 0), *ROUND_THE_HOOK[1:]]
        assert expansions == [1] * 8
        assert steps == [1, 1, 2, 1, 1, 1, 1, 1]

    def test_a_trace_of_one_step_per_move_spans_slices(self) -> None:
        # One expansion and one step per slice. In the slice after the solution was found there are two.
        # 1: (1,1) is traced, to (1,1).  2: (0,0) is traced, back to (1,0).
        # 3: the trace of (1,2) has reached (1,1); the old path leads to (0,0).
        # 4: it has reached (1,0). The agent, on (0,0), goes back to (1,0).
        # 5: the trace of (2,2) has reached (1,2); the old path leads to (1,1).
        # 6: it has reached (1,1), where the agent stands: to (1,2).
        # 7: the trace of (3,1) has reached (3,2); the path leads to (2,2).
        # 8: it has reached (2,2), where the agent stands: to (3,2); the solution is found meanwhile.
        # 9: the goal is traced over (3,1) to (3,2), to (3,1).  10: along the solution.
        path, expansions, steps = slices("tba", HOOK, R=2, r=0.5, c=1)
        assert path == [(1, 0), (1, 1), (1, 0), (0, 0), (1, 0), *ROUND_THE_HOOK[1:]]
        assert expansions == [1] * 8 + [0, 0]
        assert steps == [1, 1, 1, 1, 1, 1, 1, 1, 2, 0]

    def test_a_weight_of_two_turns_back_once_around_the_hook(self) -> None:
        # One expansion per slice; h0 counts twice: (0,0) 6, (1,1) 2+2r, (0,1) 4+2r, (1,2) 4r, (2,2) 2+2r, (3,2) 4.
        # 1: (1,1) f5.83 before (0,0) f7 and (0,1) f8.24: to (1,1).  2: (0,0) before (1,2) f7.66: back to (1,0).
        # 3: nothing new; (1,2) is traced over (1,1), to (1,1).  4: (2,2) f7.83 is traced to (1,1), to (1,2).
        # 5: (3,2) f8 still before (0,1), to (2,2).  6: (3,1) f7, to (3,2).  7: the goal, f6.  8: along the solution.
        path, expansions, steps = slices("tba", HOOK, R=2, r=0.5, weight=2)
        assert path == [(1, 0), (1, 1), (1, 0), *ROUND_THE_HOOK[1:]]
        assert expansions == [1] * 7 + [0]
        assert steps == [1, 1, 2, 2, 2, 2, 2, 0]

    @pytest.mark.parametrize(("first", "expected"), [("count", 2), ("length", 3)])
    def test_the_first_slice_is_short_enough_to_be_traced(self, first: str, expected: int) -> None:
        # Four expansions and two trace steps per slice. By count two are made. By length (1,0), (1,1) and (0,0), at
        # most one step away, are expanded; then (1,2) comes next, two steps away.
        _, expansions, steps = slices("tba", HOOK, R=6, r=0.7, c=1, first=first)
        assert expansions[0] == expected
        assert steps[0] <= 2

    def test_all_at_once_is_a_star(self) -> None:
        path, expansions, steps = slices("tba", HOOK, R=1000)
        assert path == ROUND_THE_HOOK
        assert expansions == [8, 0, 0, 0, 0, 0]
        assert steps == [6, 0, 0, 0, 0, 0]


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


@pytest.mark.plain
def test_with_all_at_once_it_is_a_star() -> None:
    assert_astar("tba")


@pytest.mark.parametrize("settings", EARLY, ids=str)
def test_slices_expand_what_a_star_expands(settings: Settings) -> None:
    for problem in some_problems(2, 80, 20):
        run, astar = agents.run("tba", problem, **settings), agents.run("astar", problem)
        assert run.solved
        assert run.expansions == astar.expansions
        assert run.max_expansions <= agents.make("tba", **settings).bound <= settings["R"]


@pytest.mark.parametrize("settings", [*EARLY, {"R": 5, "shortcut": True}], ids=str)
@known_or_fog
def test_every_move_is_a_step_and_no_slice_takes_more_than_its_units(settings: Settings, vision: int | None) -> None:
    for problem in some_problems(3, 60, 16, vision):
        run = agents.run("tba", problem, **settings)
        assert run.solved
        assert run.stays == 0
        assert run.max_expansions <= settings["R"]
        steps = [np.abs(b - a).max() for a, b in pairwise(run.path)]
        assert set(steps) <= {1}


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


def test_a_shortcut_never_costs_more_and_sometimes_less() -> None:
    saved = 0.0
    for problem in some_problems(5, 400, 24):
        plain, short = (agents.run("tba", problem, R=6, shortcut=shortcut) for shortcut in (False, True))
        assert short.solved
        assert short.cost <= plain.cost + 1e-9
        assert short.expansions >= plain.expansions
        saved += plain.cost - short.cost
    assert saved > 0


def test_a_threshold_costs_less_on_average() -> None:
    problems = some_problems(6, 400, 24)
    plain, kept = (
        np.mean([agents.run("tba", problem, R=6, threshold=threshold).cost for problem in problems])
        for threshold in (False, True)
    )
    assert kept < plain


class TestWeight:
    """TB(WA*): the same slices around weighted A*."""

    @given(problem=worlds(), chosen=draw_settings("tba"))
    @examples(60)
    def test_a_weight_of_one_is_no_weight(
        self, act_out: Callable[..., Any], problem: Problem, chosen: Settings
    ) -> None:
        del chosen["weight"]
        plain, one = (act_out(*start("tba", problem, **chosen, **more), 400) for more in ({}, {"weight": 1}))
        assert one.path == plain.path
        assert one.expansions == plain.expansions
        assert one.record() == plain.record()

    @given(case=problems(12), chosen=draw_settings("tba"))
    @examples(80)
    def test_slices_find_what_weighted_a_star_finds(self, case: Any, chosen: Settings) -> None:
        problem = Problem(*case)
        weighted = agents.run("weighted-astar", problem, weight=chosen["weight"])
        agent = agents.make("tba", **chosen | {"shortcut": False})
        run = agents.run(agent, problem)
        assert run.solved
        assert run.expansions == weighted.expansions
        if run.moves:
            space = agent.memory.space
            found = int(space.g[space.state[0].best])
            assert to_float(found) == pytest.approx(weighted.cost)
            assert problem.optimal_cost <= found <= agent.weight * problem.optimal_cost
            assert run.cost >= to_float(found) - 1e-9

    def test_with_all_at_once_it_walks_like_weighted_a_star(self) -> None:
        for problem in some_problems(11, 30, 14):
            run = agents.run("tba", problem, R=10**9, weight=2.5)
            assert run.path.tolist() == agents.run("weighted-astar", problem, weight=2.5).path.tolist()

    @pytest.mark.parametrize("shortcut", [False, True])
    @known_or_fog
    def test_it_arrives_with_any_weight(self, shortcut: bool, vision: int | None) -> None:
        for problem in some_problems(12, 30, 20, vision):
            for weight in (1.5, 4, 1000):
                assert agents.run("tba", problem, R=6, weight=weight, shortcut=shortcut).solved

    def test_a_shortcut_never_costs_more(self) -> None:
        for problem in some_problems(13, 200, 24):
            plain, short = (agents.run("tba", problem, R=6, weight=3, shortcut=shortcut) for shortcut in (False, True))
            assert short.cost <= plain.cost + 1e-9

    def test_a_weight_saves_expansions_on_average(self) -> None:
        tried = some_problems(14, 100, 24)
        plain, greedy = (
            sum(agents.run("tba", problem, R=10, weight=weight).expansions for problem in tried) for weight in (1, 3)
        )
        assert greedy < plain


class TestMeter:
    @pytest.mark.parametrize(
        "settings", [{"R": 50}, {"R": 50, "shortcut": True}, {"R": 50, "first": "length"}], ids=str
    )
    def test_a_budget_below_its_share_makes_slices_smaller(self, settings: Settings) -> None:
        for problem in some_problems(7, 30, 16):
            run = agents.run("tba", problem, budget=3, **settings)
            assert run.solved
            assert not run.overrun
            assert run.max_expansions <= 3

    def test_trace_steps_are_counted_and_bounded(self) -> None:
        for problem in some_problems(8, 30, 16):
            run = agents.run("tba", problem, R=10)
            assert run.trace_steps > 0 or run.moves == 0
            assert run.trace_steps <= 100 * max(1, run.moves)

    def test_the_budget_chooses_the_units(self) -> None:
        assert agents.make("tba", budget=100).R == agents.make("tba", budget=Budget(100, "scans")).R == 100
        assert agents.make("tba", budget=1).R == 2
        assert agents.make("tba", budget=1).bound == 1
        assert agents.make("tba", R=100).bound == 90
        assert agents.make("tba", R=100, shortcut=True).bound == 100

    @pytest.mark.parametrize(
        ("R", "r", "share"), [(10, 0.9, 9), (10, 0.7, 7), (100, 0.29, 29), (25, 0.9, 22), (2, 0.9, 1), (3, 0.1, 1)]
    )
    def test_the_share_of_expansions_is_rounded_down(self, R: int, r: float, share: int) -> None:
        assert agents.make("tba", R=R, r=r).bound == share


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *(("R", value) for value in (0, -5, 2.5, "9", None, True, 10**30)),
            *(("r", value) for value in (0, 1, -1, float("nan"), "1", True)),
            *(("c", value) for value in (0, -1, 1.5, None, True, 10**30)),
            *(("threshold", value) for value in (1, 0, None, "yes")),
            *(("shortcut", value) for value in (1, 0, None, "yes")),
            *(("first", value) for value in ("min", "", None, 1)),
            *(("weight", value) for value in (0, 0.99, 1001, float("nan"), "2", None, True)),
        ],
    )
    def test_a_value_out_of_range_is_refused_by_name_in_one_sentence(self, name: str, value: Any) -> None:
        assert_refused("tba", name, value)

    def test_units_that_leave_nothing_for_tracing_are_refused(self) -> None:
        with pytest.raises(InputError, match=r"^R=1 and r=0.9 leave nothing for tracing"):
            agents.make("tba", R=1)

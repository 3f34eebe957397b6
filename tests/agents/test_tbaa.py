"""TBAA*: a trial worked out on paper, TBA* on known maps, and what its searches gain from the ones before."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import agents
from reference import plain_grid
from reference.checks import Settings, assert_astar, assert_refused, each_rule, on_all_maps, some_problems
from reference.restless import believed, exact_g, moves
from reference.small_maps import ROUND_THE_HOOK, drawn
from reference.traces import slices, start, trial
from rt_gym import Change, Grid, InputError, Problem, generate, load_map, sample_problems
from rt_gym.cost import encode
from rt_gym.maps.generate import rooms
from rt_gym.search.distance import exact_distances

SLICES: list[Settings] = [
    {"R": 2},
    {"R": 10},
    {"R": 10, "threshold": True},
    {"R": 6, "r": 0.5, "c": 1},
    {"R": 8, "r": 0.5, "shortcut": True},
    {"R": 10**9},
]
each_slice = pytest.mark.parametrize("settings", SLICES, ids=str)

# The hook with 4 neighbours, in fog. h0: 3 2 1 0 in row 0, 4 3 2 1 in row 1, 5 4 3 2 in row 2.
FOGGY_HOOK = Problem(drawn("..#.", "..#.", "....", connectivity=4), (1, 0), (3, 0), vision=1)


@pytest.mark.plain
class TestTrace:
    # One slice is enough for a whole search. At (1,0) the agent sees that (2,0) is blocked.
    # 1: (1,0); (1,1) f 1+3 #1 before (0,0) f 1+3 #2; (2,1) f 2+2; (3,1) f 3+1; the goal comes next, f 4. To (1,1).
    # There (2,1), which was expanded, turns out to be blocked. f 4 -> h(1,0) = 4 (given: 2), h(1,1) = 4-1 as given.
    # 2: (1,1); (1,2) #1, (0,1) #2 and (1,0) #3 all f 1+4; (1,2); (2,2) f 2+3; (3,2) f 3+2; (3,1) f 4+1; the goal, f 5.
    def test_what_the_first_search_has_learned_keeps_the_second_from_turning_back(self) -> None:
        path, expansions, steps = slices("tbaa", FOGGY_HOOK, R=1000)
        assert path == ROUND_THE_HOOK
        assert expansions == [4, 5, 0, 0, 0, 0]
        assert steps == [4, 5, 0, 0, 0, 0]

    def test_values_are_raised_where_a_search_begins_anew(self, act_out: Callable[..., Any]) -> None:
        _, rises = trial("tbaa", FOGGY_HOOK, act_out, R=1000)
        assert rises == [{}, {(1, 0): encode(4)}, {}, {}, {}, {}]

    def test_without_them_it_turns_back(self) -> None:
        # 2: (1,0) has f 1+2 and is expanded, then (0,0), f 2+3, whose g is larger than that of (1,2).
        path, expansions, _ = slices("tba", FOGGY_HOOK, R=1000)
        assert path == ROUND_THE_HOOK
        assert expansions == [4, 7, 0, 0, 0, 0]


@each_slice
@each_rule
def test_on_a_known_map_it_is_tba_move_by_move(settings: Settings, rules: Settings) -> None:
    for problem in some_problems(1, 8, 12, **rules):
        assert slices("tbaa", problem, **settings) == slices("tba", problem, **settings)
        agent = agents.make("tbaa", **settings)
        run = agents.run(agent, problem)
        assert (run.h_updates, agent.count_learned()) == (0, 0)
        assert run.memory == agents.run("tba", problem, **settings).memory > 0


def test_with_one_slice_for_all_it_is_a_star() -> None:
    assert_astar("tbaa")


@each_slice
@on_all_maps
def test_the_goal_is_reached(settings: Settings, vision: int | None, rules: Settings) -> None:
    for problem in some_problems(2, 8, 12, vision, **rules):
        run = agents.run("tbaa", problem, max_moves=20_000, **settings)
        assert run.solved
        assert run.suboptimality >= 1
        assert run.max_expansions <= agents.make("tbaa", **settings).bound


@each_slice
def test_the_goal_is_reached_on_maps_that_close_and_open(settings: Settings) -> None:
    solved = 0
    for problem in some_problems(3, 12, 12):
        inside = [cell for cell in sorted(plain_grid.Map.of(problem.grid).free) if cell != problem.goal]
        closing = [Change(k, cell, False) for k, cell in enumerate(inside[::5])]
        opening = [Change(40, change.position, True) for change in closing]
        for vision in (None, 1):
            changing = Problem(problem.grid, problem.start, problem.goal, vision, closing + opening)
            run = agents.run("tbaa", changing, max_moves=20_000, **settings)
            assert run.outcome in ("goal", "no path")  # where it is shut in for a while, there is no path at that time
            solved += run.solved
    assert solved > 12


def in_fog(seed: int, **rules: Any) -> Iterator[tuple[Any, Any]]:
    """Yield an agent that searches to the end in every slice, and its world, before every move in fog."""
    for problem in some_problems(seed, 10, 10, 1, **rules):
        agent, world = start("tbaa", problem, R=10**9)
        for _ in moves(agent, world, 200):
            yield agent, world


@each_rule
def test_every_search_finds_a_shortest_path_on_the_believed_map(rules: Settings) -> None:
    searches = 0
    for agent, world in in_fog(4, **rules):
        if world.trip.meter[0].expansions:
            assert agent.space.g[agent.space.state[0].best] == exact_g(world)
            searches += 1
    assert searches > 10


@each_rule
def test_while_cells_only_close_values_are_admissible_and_consistent(rules: Settings) -> None:
    raised = 0
    for agent, world in in_fog(5, **rules):
        h, grid = agent.learned, world.problem.grid
        assert (h <= exact_distances(grid, world.problem.goal)).all()
        view = believed(world)
        for a in view.free:
            assert all(h[grid.cell(a)] <= cost + h[grid.cell(b)] for b, cost in view.neighbours(a))
        raised += agent.count_learned()
    assert raised > 0


@pytest.mark.parametrize("grid", [rooms(48, 48, 7, 0.7, 3), generate("maze", size=31, seed=7)], ids=["rooms", "maze"])
@pytest.mark.parametrize("R", [10, 10**9])
def test_learning_saves_expansions_in_fog_where_detours_are_long(grid: Grid, R: int) -> None:
    foggy = [Problem(grid, problem.start, problem.goal, 1) for problem in sample_problems(grid, 10, seed=2)]
    ours, base = (sum(agents.run(name, problem, R=R).expansions for problem in foggy) for name in ("tbaa", "tba"))
    assert ours < base


def test_a_later_trial_begins_with_the_heuristic() -> None:
    agent, world = start("tbaa", FOGGY_HOOK, R=1000)
    first = agent.learned.copy()
    for _ in moves(agent, world):
        pass
    assert (agent.learned != first).any()
    world.begin_trial()
    agent.begin_trial()
    assert (agent.learned == first).all()


def test_what_it_holds_is_its_largest_search_or_what_it_has_learned() -> None:
    foggy = sample_problems(load_map("rooms-64"), 1, low=60.0, vision=1)[0]
    agent = agents.make("tbaa")
    run = agents.run(agent, foggy)
    assert run.memory == max(agent.space.most, agent.count_learned())
    assert run.memory > agents.run("tba", foggy).memory


class TestParameters:
    def test_a_budget_is_its_r(self) -> None:
        assert agents.make("tbaa", budget=100).R == 100
        assert agents.make("tbaa", budget=1).bound == 1

    @pytest.mark.parametrize(
        ("name", "value"),
        [("R", 0), ("R", 2.5), ("r", 0), ("r", 1), ("c", 0), ("threshold", 1), ("shortcut", "no"), ("tie", "last")],
    )
    def test_a_value_out_of_range_is_refused_by_name(self, name: str, value: Any) -> None:
        assert_refused("tbaa", name, value)

    def test_no_room_for_tracing_is_refused(self) -> None:
        with pytest.raises(InputError, match="leave nothing for tracing"):
            agents.make("tbaa", R=1)

    @pytest.mark.parametrize("name", ["weight", "first"])
    def test_what_only_tba_has_is_refused(self, name: str) -> None:
        with pytest.raises(InputError, match=f"agent tbaa has no parameter '?{name}"):
            agents.make("tbaa", **{name: 1})

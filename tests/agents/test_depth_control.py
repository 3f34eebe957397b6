"""Lookaheads of all depths from one search, and the agents that choose among them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import agents
from agents.policies.depth_control import HISTORY
from agents.policies.record_depths import Record, make_record
from reference import plain_depth_control, plain_grid, plain_lrta
from reference.plain_oracle import problems, random_problem
from reference.small_maps import CUP, drawn
from rt_gym import Budget, Grid, InputError, Problem, World
from rt_gym.cost import INF, STRAIGHT
from rt_gym.features.decision import SITUATION
from rt_gym.search.deepening import (
    LAYER_ADDED,
    DepthResults,
    add_layer,
    begin_layered,
    label,
    learn_and_move,
    make_depth_results,
)
from rt_gym.search.distance import exact_distances
from rt_gym.search.lookahead import general_lrta, look_ahead
from rt_gym.search.space import NONE, make_space
from rt_gym.terrain import STEPS, fill_h0
from rt_gym.trip import CUT, NO_PATH, make_trip

Settings = dict[str, Any]
Position = tuple[int, int]

RULES = [{"connectivity": 4}, {"connectivity": 8, "cost": "unit"}, {"connectivity": 8, "cost": "octile"}]
RULE_NAMES = ["4", "8 unit", "8 octile"]
EAST, NORTH, SOUTH_EAST = 0, 3, 4
NO_TIES = np.empty(0, np.uint8)


@dataclass
class Scene:
    """Where an agent stands, where it wants to go, and what it has learned of every cell."""

    grid: Grid
    start: Position
    goal: Position
    h: NDArray[np.int64]

    @property
    def s(self) -> int:
        return self.grid.cell(self.start)

    @property
    def t(self) -> int:
        return self.grid.cell(self.goal)

    @cached_property
    def view(self) -> plain_grid.Map:
        return plain_grid.Map.of(self.grid)

    @cached_property
    def table(self) -> plain_grid.Heuristic:
        return {cell: int(self.h[self.grid.cell(cell)]) for cell in plain_grid.cells(self.grid)}


def untouched(grid: Grid, goal: Position) -> NDArray[np.int64]:
    h = np.empty(grid.terrain.mask.size, np.int64)
    fill_h0(grid.terrain, grid.cell(goal), h)
    return h


def scene(rng: np.random.Generator, grid: Grid, start: Position, goal: Position) -> Scene:
    """Return a scene whose values are fresh, or somewhere up to the true ones, or those of some trials of LRTA*."""
    h, kind = untouched(grid, goal), rng.integers(4)
    if kind == 1:
        exact = exact_distances(grid, goal)
        h += (rng.random(h.size) * np.where(exact < INF, exact - h, 0)).astype(np.int64)
    elif kind == 2:  # many ties
        h += rng.integers(3, size=h.size) * STRAIGHT
        h[grid.cell(goal)] = 0
    elif kind == 3:
        agent = agents.make("lrta", depth=int(rng.integers(1, 4)))
        agents.run(agent, Problem(grid, start, goal), trials=3, max_moves=int(rng.integers(1, 60)))
        h = agent.learned.copy()
    return Scene(grid, start, goal, h)


def some_scenes(seed: int, count: int, side: int, **rules: Any) -> Iterator[Scene]:
    """Yield scenes on random maps, most of them with a detour to the goal."""
    rng = np.random.default_rng(seed)
    while count > 0:
        drawn = [random_problem(rng, side, density=float(rng.uniform(0.1, 0.45)), **rules) for _ in range(6)]
        grid, start, goal = max(drawn, key=detour)
        if start != goal:
            count -= 1
            yield scene(rng, grid, start, goal)


def detour(problem: tuple[Grid, Position, Position]) -> int:
    """Return by how much the heuristic is wrong at the start."""
    grid, start, goal = problem
    return int(exact_distances(grid, goal)[grid.cell(start)]) - plain_grid.h0(grid, start, goal)


@st.composite
def scenes(draw: st.DrawFn, max_side: int = 9) -> Scene:
    grid, start, goal = draw(problems(max_side).filter(lambda problem: problem[1] != problem[2]))
    return scene(np.random.default_rng(draw(st.integers(0, 2**32 - 1))), grid, start, goal)


def labelled(scene: Scene, d_max: int, ties: NDArray[np.uint8] = NO_TIES) -> tuple[int, DepthResults]:
    """Label a scene by one search."""
    cells = scene.h.size
    by_depth, trip, uncharged = make_depth_results(d_max), make_trip(cells), make_trip(0)
    depth = label(
        scene.grid.terrain,
        trip,
        uncharged,
        make_space(cells),
        by_depth,
        scene.h,
        scene.s,
        scene.t,
        np.int64(d_max),
        ties,
    )
    return int(depth), by_depth


def surveyed(scene: Scene, d_max: int) -> tuple[int, list[set[int]]]:
    """Label a scene and find the tied moves of all depths, which must leave the decisions as they are."""
    ties = np.zeros(d_max + 1, np.uint8)
    depth, by_depth = labelled(scene, d_max, ties)
    assert rows(by_depth, d_max) == rows(labelled(scene, d_max)[1], d_max)
    return depth, [{k for k in range(8) if bits >> k & 1} for bits in ties[1:].tolist()]


def decided(scene: Scene, depth: int) -> tuple[int, int, int]:
    """Return action, value and expansions of a search of its own."""
    cells = scene.h.size
    trip, h = make_trip(cells), scene.h.copy()
    assert general_lrta(scene.grid.terrain, trip, make_space(cells), h, scene.s, scene.t, depth) == 1
    return int(trip.plan[0]), int(h[scene.s]), int(trip.meter[0].expansions)


def rows(by_depth: DepthResults, d_max: int) -> list[tuple[int, int, int]]:
    return [(int(by_depth.action[d]), int(by_depth.value[d]), int(by_depth.work[d])) for d in range(1, d_max + 1)]


def assert_labelled_as_by_searches_of_every_depth(scene: Scene, d_max: int) -> int:
    """Compare with the naive procedure, in plain Python and by kernels; return the label."""
    depth, by_depth = labelled(scene, d_max)
    assert depth == plain_depth_control.label(scene.view, scene.start, scene.goal, d_max, scene.table)
    decisions = [decided(scene, d) for d in range(1, d_max + 1)]
    assert rows(by_depth, d_max) == decisions
    actions = [action for action, _, _ in decisions]
    assert set(actions[depth - 1 :]) == {actions[-1]}
    assert depth == 1 or actions[depth - 2] != actions[-1]
    return depth


class TestLabel:
    @pytest.mark.plain
    @given(scene=scenes(), d_max=st.integers(1, 7))
    def test_one_search_gives_the_label_of_searches_of_every_depth(self, scene: Scene, d_max: int) -> None:
        assert_labelled_as_by_searches_of_every_depth(scene, d_max)

    @pytest.mark.parametrize("rules", RULES, ids=RULE_NAMES)
    def test_the_same_on_larger_maps_with_deeper_searches(self, rules: Settings) -> None:
        labels = [
            assert_labelled_as_by_searches_of_every_depth(scene, d_max)
            for d_max in (3, 8, 12)
            for scene in some_scenes(d_max, 40, 30, **rules)
        ]
        assert len(set(labels)) > 6  # shallow ones and deep ones

    @pytest.mark.plain
    def test_the_largest_depth_is_its_own_label_where_all_smaller_ones_differ(self) -> None:
        # One step to the east the way ends at a wall, with the goal behind it. One layer still goes there; there is no
        # second one in that direction, so all other depths go west.
        grid = Grid([[1, 1, 1, 1, 1, 0, 1], [1, 0, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 1, 1]], connectivity=4)
        scene = Scene(grid, (3, 0), (6, 0), untouched(grid, (6, 0)))
        labels = [labelled(scene, d_max)[0] for d_max in range(1, 5)]
        assert [decided(scene, d)[0] for d in range(1, 5)] == [0, 2, 2, 2]
        assert labels == [1, 2, 2, 2]

    @pytest.mark.plain
    def test_labelling_learns_nothing_and_charges_nothing_but_is_counted(self) -> None:
        for scene in some_scenes(4, 20, 10):
            h, cells = scene.h.copy(), scene.h.size
            trip, space, d_max = make_trip(cells, log=50), make_space(cells), 5
            trip.meter[0].limit = 1
            trip.meter[0].expansions = trip.meter[0].scans = 0
            space.random[0] = 1234
            before, uncharged = [array.copy() for array in (trip.meter, trip.tally, trip.plan)], make_trip(0)
            by_depth, ties = make_depth_results(d_max), np.zeros(d_max + 1, np.uint8)
            for _ in range(2):
                label(
                    scene.grid.terrain,
                    trip,
                    uncharged,
                    space,
                    by_depth,
                    scene.h,
                    scene.s,
                    scene.t,
                    np.int64(d_max),
                    ties,
                )
            assert (scene.h == h).all()
            assert trip.meter[0].scans >= 2 * by_depth.work[d_max] > 0
            trip.meter[0].scans = 0
            for array, copy in zip((trip.meter, trip.tally, trip.plan), before, strict=True):
                assert (array == copy).all()
            assert space.random[0] == 1234

    @pytest.mark.plain
    def test_random_ties_do_not_change_the_label(self) -> None:
        for scene in some_scenes(5, 15, 9, connectivity=4):
            space, by_depth, trips = make_space(scene.h.size), make_depth_results(6), (make_trip(0), make_trip(0))
            space.random[0] = 99
            depth = label(scene.grid.terrain, *trips, space, by_depth, scene.h, scene.s, scene.t, np.int64(6), NO_TIES)
            assert (depth, rows(by_depth, 6)) == (labelled(scene, 6)[0], rows(labelled(scene, 6)[1], 6))

    @pytest.mark.plain
    def test_a_goal_out_of_reach_has_the_label_zero_once_the_search_can_know(self) -> None:
        grid = Grid([[1, 1, 1, 0, 1]])
        scene = Scene(grid, (0, 0), (4, 0), untouched(grid, (4, 0)))
        assert [labelled(scene, d_max)[0] for d_max in (1, 2, 3, 9)] == [1, 1, 0, 0]
        assert plain_depth_control.label(scene.view, (0, 0), (4, 0), 3, scene.table) == 0


@pytest.mark.plain
class TestTies:
    def test_on_open_ground_the_steps_of_a_path_come_in_any_order(self) -> None:
        # Two steps east and one south-east. One layer: both begin a shortest path, and the search takes the diagonal,
        # whose g is larger. Two and three layers: both still do, and the state with the larger g, then the goal, was
        # first reached by way of the east. South never begins a shortest path.
        grid = Grid(np.ones((3, 5), bool))
        scene = Scene(grid, (0, 0), (3, 1), untouched(grid, (3, 1)))
        depth, ties = surveyed(scene, 3)
        assert [decided(scene, d)[0] for d in (1, 2, 3)] == [SOUTH_EAST, EAST, EAST]
        assert ties == [{EAST, SOUTH_EAST}] * 3
        assert depth == 2

    def test_one_way_round_a_wall_leaves_no_choice(self) -> None:
        grid = Grid([[1, 1, 1], [1, 0, 1], [1, 1, 1]], connectivity=4)
        scene = Scene(grid, (0, 1), (2, 0), untouched(grid, (2, 0)))
        assert surveyed(scene, 3)[1] == [{NORTH}] * 3

    @given(scene=scenes(7), d_max=st.integers(1, 5))
    def test_one_search_finds_the_ties_of_searches_of_every_depth_and_changes_nothing(
        self, scene: Scene, d_max: int
    ) -> None:
        depth, ties = surveyed(scene, d_max)
        assert depth == labelled(scene, d_max)[0]
        for d, moves in enumerate(ties, 1):
            wanted = plain_depth_control.tied(scene.view, scene.start, scene.goal, d, scene.table)
            assert {after(scene.start, k) for k in moves} == set(wanted)


class TestClimb:
    @pytest.mark.plain
    @given(scene=scenes(), d_max=st.integers(1, 7))
    def test_every_depth_decides_as_a_search_of_its_own(self, scene: Scene, d_max: int) -> None:
        self.climb_and_compare(scene, d_max)

    @pytest.mark.parametrize("rules", RULES, ids=RULE_NAMES)
    def test_the_same_on_larger_maps(self, rules: Settings) -> None:
        again = 0
        for scene in some_scenes(9, 60, 30, **rules):
            again += self.climb_and_compare(scene, 16)
        assert (again > 0) == (rules.get("cost") == "octile")  # longer ways that are cheaper, so states read again

    @staticmethod
    def climb_and_compare(scene: Scene, d_max: int) -> int:
        """Climb and compare with a search of every depth: states, values, first moves. Return how many are read again.

        What one depth decides is committed to copies, so that the next one can go on.
        """
        terrain, cells = scene.grid.terrain, scene.h.size
        one, by_depth, trip = make_space(cells), make_depth_results(d_max), make_trip(cells)
        begin_layered(one, by_depth, scene.s, scene.h[scene.s])
        for depth in range(1, d_max + 1):
            assert add_layer(terrain, trip, one, by_depth, scene.h, scene.t) == LAYER_ADDED
            other, own = make_space(cells), make_trip(cells)
            best = look_ahead(terrain, own, other, scene.h, scene.s, scene.t, depth)
            assert by_depth.state[0].depth == depth
            assert (one.state[0].slots, one.state[0].closed) == (other.state[0].slots, other.state[0].closed)
            slots = slice(0, other.state[0].slots)
            for name in ("cell", "g", "f", "parent"):
                assert (getattr(one, name)[slots] == getattr(other, name)[slots]).all()
            assert by_depth.action[depth] == other.via[best]
            assert by_depth.value[depth] == max(scene.h[scene.s], other.f[best]) >= by_depth.value[depth - 1]
            assert by_depth.work[depth] == own.meter[0].expansions == trip.meter[0].expansions
            learned, mine = scene.h.copy(), make_trip(cells)
            assert learn_and_move(terrain, mine, by_depth, learned, scene.s, scene.t) == 1
            assert (int(mine.plan[0]), int(learned[scene.s])) == decided(scene, depth)[:2]
            learned[scene.s] = scene.h[scene.s]
            assert (learned == scene.h).all()
        return int(trip.meter[0].scans - trip.meter[0].expansions)

    @pytest.mark.plain
    def test_a_goal_out_of_reach_is_noticed_at_the_depth_at_which_a_search_notices_it(self) -> None:
        grid = Grid([[1, 1, 1, 0, 1]])
        scene = Scene(grid, (0, 0), (4, 0), untouched(grid, (4, 0)))
        space, by_depth, trip = make_space(scene.h.size), make_depth_results(5), make_trip(0)
        begin_layered(space, by_depth, scene.s, scene.h[scene.s])
        results = [int(add_layer(grid.terrain, trip, space, by_depth, scene.h, scene.t)) for _ in range(3)]
        assert results == [LAYER_ADDED, LAYER_ADDED, NO_PATH]
        assert look_ahead(grid.terrain, make_trip(0), make_space(scene.h.size), scene.h, scene.s, scene.t, 3) == NONE
        assert trip.meter[0].expansions == 3

    @pytest.mark.plain
    def test_a_climb_is_cut_where_the_meter_refuses(self) -> None:
        grid = Grid(np.ones((9, 9)))
        scene = Scene(grid, (4, 4), (8, 8), untouched(grid, (8, 8)))
        space, by_depth, trip = make_space(scene.h.size), make_depth_results(3), make_trip(0)
        trip.meter[0].limit = 12
        begin_layered(space, by_depth, scene.s, scene.h[scene.s])
        results = [int(add_layer(grid.terrain, trip, space, by_depth, scene.h, scene.t)) for _ in range(3)]
        assert results == [LAYER_ADDED, LAYER_ADDED, CUT]  # one, then eight, then sixteen
        assert trip.meter[0].expansions == 12


@pytest.mark.plain
@pytest.mark.parametrize("rules", RULES, ids=RULE_NAMES)
@pytest.mark.parametrize("vision", [None, 1], ids=["known", "fog"])
@pytest.mark.parametrize(
    ("chooser", "settings", "depth"),
    [
        ("oracle-lrta", {"d_max": 1}, 1),
        ("rule-lrta", {"rule": "update", "d_max": 1}, 1),
        ("rule-lrta", {"rule": "update", "d_max": 2}, 2),
        ("rule-lrta", {"rule": "revisit", "d_max": 1}, 1),
        ("rule-lrta", {"rule": "settle", "d_max": 1}, 1),
    ],
    ids=str,
)
def test_without_a_choice_it_is_lrta_trial_for_trial(
    chooser: str, settings: Settings, depth: int, vision: int | None, rules: Settings
) -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        problem = Problem(*random_problem(rng, 10, density=float(rng.uniform(0.1, 0.4)), **rules), vision=vision)
        same, lrta = agents.make(chooser, **settings), agents.make("lrta", depth=depth)
        runs = [agents.run(agent, problem, trials="converge") for agent in (same, lrta)]
        trials = [run.trials or (run,) for run in runs]
        assert [trial.path.tolist() for trial in trials[0]] == [trial.path.tolist() for trial in trials[1]]
        counts = [(run.expansions, run.h_updates, run.memory) for run in runs]
        assert counts[0] == counts[1]
        labels = runs[1].expansions if chooser == "oracle-lrta" else 0  # of depth one, each an expansion once more
        assert runs[0].scans == runs[1].scans + labels
        assert (same.learned == lrta.learned).all()


@pytest.mark.plain
def test_the_oracle_moves_as_the_largest_depth_would_with_what_it_has_learned(act_out: Callable[..., Any]) -> None:
    smaller = 0
    for scene in some_scenes(12, 12, 10):
        problem = Problem(scene.grid, scene.start, scene.goal)
        agent, world = agents.make("oracle-lrta", d_max=4), World(problem)
        agent.reset(world.view)
        trace = act_out(agent, world)
        tables = [untouched(scene.grid, scene.goal), *trace.h]
        for k, position in enumerate(trace.path[:-1]):
            action, _, work = decided(Scene(scene.grid, position, scene.goal, tables[k]), 4)
            assert after(position, action) == trace.path[k + 1]
            assert trace.expansions[k] <= work
            smaller += trace.expansions[k] < work
    assert smaller > 0


@pytest.mark.plain
@pytest.mark.parametrize(("moves", "expansions"), [(19, 3), (20, 1)])
def test_revisit_knows_the_states_of_the_history_and_none_before(moves: int, expansions: int) -> None:
    # Once around a ring of 20 cells, or of 19 past a corner. The window of 20 holds the current state as well. A depth
    # of two expands the state and its two neighbours.
    ring = np.ones((6, 6), bool)
    ring[1:5, 1:5] = False
    ring[2, 2] = True  # the goal, which nobody reaches
    sides = [(x, 0) for x in range(5)], [(5, y) for y in range(5)], [(x, 5) for x in range(5, 0, -1)]
    way = [*sides[0], *sides[1], *sides[2], *((0, y) for y in range(5, -1, -1))]
    if moves == 19:
        way.remove((5, 0))
    world = World(Problem(Grid(ring, corner="free"), (0, 0), (2, 2), allow_unsolvable=True))
    agent = agents.make("rule-lrta", rule="revisit", d_max=9)
    agent.reset(world.view)
    for here, there in pairwise(way):
        agent.act()
        assert world.view.meter.expansions == 1
        world.step(STEPS.index((there[0] - here[0], there[1] - here[1])))
    assert (world.view.position, world.view.moves) == ((0, 0), moves)
    agent.act()
    assert world.view.meter.expansions == expansions


def after(position: Position, action: int) -> Position:
    return position[0] + STEPS[action][0], position[1] + STEPS[action][1]


def recorded(problem: Problem, d_max: int, record: Record, act_out: Callable[..., Any]) -> Any:
    agent, world = agents.make("oracle-lrta", d_max=d_max), World(problem)
    agent.record = record
    agent.reset(world.view)
    return act_out(agent, world)


@pytest.mark.plain
class TestRecord:
    def test_a_row_holds_what_separate_searches_say(self, act_out: Callable[..., Any]) -> None:
        d_max, labels = 5, set()
        for scene in some_scenes(13, 12, 10):
            exact = exact_distances(scene.grid, scene.goal)
            record = make_record(1000, d_max, exact)
            trace = recorded(Problem(scene.grid, scene.start, scene.goal), d_max, record, act_out)
            assert record.taken == len(trace.path) - 1
            tables = [untouched(scene.grid, scene.goal), *trace.h]
            for row, position in enumerate(trace.path[:-1]):
                now = Scene(scene.grid, position, scene.goal, tables[row])
                labels.add(int(record.label[row]))
                assert record.label[row] == plain_depth_control.label(now.view, position, now.goal, d_max, now.table)
                for d in range(1, d_max + 1):
                    self.assert_depth(record, row, d, now, exact)
        assert labels >= {1, 2, 3}

    @staticmethod
    def assert_depth(record: Record, row: int, d: int, now: Scene, exact: NDArray[np.int64]) -> None:
        plan = plain_lrta.plan(now.view, now.start, now.goal, d, dict(now.table))
        (to,) = plan.steps
        assert after(now.start, int(record.action[row, d])) == to
        rise = plan.raised.get(now.start, now.table[now.start]) - now.table[now.start]
        assert record.rise[row, d] == pytest.approx(rise / STRAIGHT, abs=1e-9)
        assert record.work[row, d] == len(plan.expanded)
        way = plain_grid.step_cost(now.grid, now.start, to) + exact[now.grid.cell(to)]
        assert record.regret[row, d] == pytest.approx((way - exact[now.s]) / STRAIGHT, abs=1e-9)
        assert record.regret[row, d] >= 0

    def test_a_row_holds_the_situation_in_which_it_was_written(self, act_out: Callable[..., Any]) -> None:
        problem = Problem(drawn(*CUP), (2, 2), (6, 2))
        record = make_record(1000, 6)
        trace = recorded(problem, 6, record, act_out)
        column = {name: record.situation[: record.taken, k] for k, name in enumerate(SITUATION)}
        moves = len(trace.path) - 1
        assert column["moves"].tolist() == list(range(moves))
        goal_distance = [plain_grid.h0(problem.grid, cell, problem.goal) / STRAIGHT for cell in trace.path[:-1]]
        assert column["goal_distance"].tolist() == pytest.approx(goal_distance, rel=1e-6)
        assert column["last_depth"].tolist() == [0, *record.label[: moves - 1]]
        assert column["last_work"].tolist() == [0, *trace.expansions[:-1]]
        assert column["last_rise"].tolist() == pytest.approx(
            [0, *(record.rise[row, record.label[row]] for row in range(moves - 1))], rel=1e-6
        )
        windows = [trace.path[max(0, k - HISTORY + 1) : k + 1] for k in range(moves)]
        assert column["revisits"].tolist() == [len(window) - len(set(window)) for window in windows]
        assert max(column["last_rise"]) > 0

    def test_ties_are_the_first_steps_of_all_cheapest_ways_to_a_best_state(self, act_out: Callable[..., Any]) -> None:
        d_max, counts = 4, []
        for scene in some_scenes(29, 12, 10):
            record = make_record(1000, d_max)
            trace = recorded(Problem(scene.grid, scene.start, scene.goal), d_max, record, act_out)
            tables = [untouched(scene.grid, scene.goal), *trace.h]
            for row, position in enumerate(trace.path[:-1]):
                now = Scene(scene.grid, position, scene.goal, tables[row])
                for d in range(1, d_max + 1):
                    moves = [k for k in range(8) if record.ties[row, d] >> k & 1]
                    assert [after(position, k) for k in moves] == plain_depth_control.tied(
                        now.view, position, now.goal, d, now.table
                    )
                    assert int(record.action[row, d]) in moves
                    counts.append(len(moves))
        assert max(counts) > 2
        assert min(counts) == 1

    def test_without_a_distance_field_there_is_no_regret(self, act_out: Callable[..., Any]) -> None:
        record = make_record(50, 3)
        recorded(Problem(drawn(*CUP), (2, 2), (6, 2)), 3, record, act_out)
        assert record.taken > 0
        assert not record.regret.any()

    @pytest.mark.parametrize("room", [0, 1, 4])
    def test_a_full_record_is_left_alone_and_the_walk_is_the_same(self, room: int, act_out: Callable[..., Any]) -> None:
        problem = Problem(drawn(*CUP), (2, 2), (6, 2))
        whole, some = make_record(1000, 6), make_record(room, 6)
        traces = [recorded(problem, 6, record, act_out) for record in (whole, some, make_record(0, 6))]
        assert traces[0].path == traces[1].path == traces[2].path
        assert traces[0].expansions == traces[1].expansions == traces[2].expansions
        assert traces[0].scans == [scans + 1 for scans in traces[2].scans]  # the neighbours, for the situation
        assert some.taken == room < whole.taken
        for mine, theirs in zip(some[:6], whole[:6], strict=True):
            assert (mine == theirs[:room]).all()

    def test_rows_go_on_over_trials_and_problems_until_no_record_is_wanted(self) -> None:
        agent, problem = agents.make("oracle-lrta", d_max=3), Problem(drawn(*CUP), (2, 2), (6, 2))
        agent.record = record = make_record(10_000, 3)
        moves = [trial.moves for trial in agents.run(agent, problem, trials=3).trials]
        assert record.taken == sum(moves)
        moves.append(agents.run(agent, problem).moves)
        assert record.taken == sum(moves)
        agent.record = None
        agents.run(agent, problem)
        assert record.taken == sum(moves)


@pytest.mark.plain
@pytest.mark.parametrize("chooser", ["oracle-lrta", "rule-lrta"])
def test_depths_out_of_range_are_refused(chooser: str) -> None:
    for d_max in (0, -1, 101, 2.5, "3", None):
        with pytest.raises(InputError, match="d_max"):
            agents.make(chooser, d_max=d_max)


@pytest.mark.plain
def test_an_unknown_rule_is_refused() -> None:
    for rule in ("", "depth", None, 1):
        with pytest.raises(InputError, match="rule must be one of update, revisit, settle"):
            agents.make("rule-lrta", rule=rule)


@pytest.mark.plain
@pytest.mark.parametrize("chooser", ["oracle-lrta", "rule-lrta"])
@pytest.mark.parametrize(("limit", "d_max"), [(1, 1), (8, 1), (9, 2), (24, 2), (25, 3), (1000, 16), (10**9, 100)])
def test_a_budget_chooses_the_largest_depth_that_it_can_pay(chooser: str, limit: int, d_max: int) -> None:
    agent = agents.make(chooser, budget=limit)
    assert agent.d_max == d_max
    assert agent.bound == (2 * d_max - 1) ** 2 <= limit


@pytest.mark.plain
@pytest.mark.parametrize("chooser", ["oracle-lrta", "rule-lrta"])
def test_a_budget_of_scans_pays_for_the_label_as_well(chooser: str) -> None:
    grid = Grid(np.ones((20, 20)))
    for limit in (2, 18, 50, 200):
        run = agents.run(chooser, Problem(grid, (10, 10), (0, 19)), budget=Budget(limit, "scans"))
        assert run.solved
        assert run.max_scans <= limit

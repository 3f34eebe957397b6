"""kNN LRTA*: what is in its database, how files of it are refused, and what its subgoals are good for."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import agents
from agents.knn_lrta import LONGEST_BUILD, PATIENCE
from agents.knowledge import knn
from agents.knowledge.nearest import find_nearest, make_tree, with_buffers
from reference.plain_grid import Map
from reference.plain_knn_lrta import as_positions, climb, distance, make_record
from reference.plain_oracle import random_grid, random_problem
from reference.small_maps import HOOK, drawn
from rt_gym import Budget, Change, Grid, InputError, Problem, World, sample_problems
from rt_gym.archive import save_archive
from rt_gym.maps.generate import rooms

RULES = [{"connectivity": 4}, {"connectivity": 8, "cost": "unit"}, {"connectivity": 8, "corner": "free"}, {}]
ROOMS = rooms(48, 48, 7, 0.7, 3)


def some_grids(seed: int, count: int, side: int) -> list[Grid]:
    rng = np.random.default_rng(seed)
    return [random_grid(rng, side, density=float(rng.uniform(0.1, 0.4)), **RULES[k % 4]) for k in range(count)]


def as_cells(grid: Grid, *positions: tuple[int, int]) -> NDArray[np.int32]:
    return np.array([grid.cell(position) for position in positions], np.int32)


def built(grid: Grid, records: int, seed: int = 0) -> knn.Records:
    return knn.build_records(grid, records, seed, 0, records)


class TestDatabase:
    @pytest.mark.plain
    def test_a_record_is_the_path_of_a_star_compressed(self) -> None:
        for grid in some_grids(1, 8, 12):
            for record in as_positions(grid, knn.build_records(grid, 12, 5, 0, 12, cutoff=6)):
                assert record == make_record(grid, record[0], record[-1], cutoff=6)

    def test_every_cell_can_be_climbed_to_from_the_one_before(self) -> None:
        for grid in some_grids(2, 8, 24):
            view = Map.of(grid)
            for record in as_positions(grid, built(grid, 40)):
                assert len(record) >= 2
                for a, b in pairwise(record):
                    assert climb(view, a, b, knn.CUTOFF)[1]

    @pytest.mark.plain
    def test_the_wall_of_the_hook_takes_one_subgoal(self) -> None:
        # From (1,0) a climb to (3,2), and to any cell of the path before it, takes the path itself. One to (3,1) ends
        # on (1,1), from where no step leads nearer. From (3,2) the goal is straight ahead.
        assert make_record(HOOK.grid, (1, 0), (3, 0), 250) == [(1, 0), (3, 2), (3, 0)]
        records = as_positions(HOOK.grid, built(HOOK.grid, 600))
        assert [(1, 0), (3, 2), (3, 0)] in records

    def test_parts_joined_are_the_whole_and_a_longer_one_begins_with_a_shorter(self) -> None:
        whole = built(ROOMS, 30, seed=7)
        parts = [knn.build_records(ROOMS, 30, 7, begin, end) for begin, end in ((0, 0), (0, 11), (11, 30), (30, 30))]
        joined = knn.join(parts)
        for other in (joined, built(ROOMS, 50, seed=7)):
            assert (other.begin[:31] == whole.begin).all()
            assert (other.cells[: whole.cells.size] == whole.cells).all()
        assert len(joined) == 30
        assert (built(ROOMS, 30, seed=8).cells[:5] != whole.cells[:5]).any()

    def test_starts_and_goals_are_spread_over_all_components_with_two_cells(self) -> None:
        grid = drawn("..#.#....", "..###....", connectivity=4)
        ends = {(record[0], record[-1]) for record in as_positions(grid, built(grid, 2000))}
        left = [(x, y) for x in (0, 1) for y in (0, 1)]
        right = [(x, y) for x in (5, 6, 7, 8) for y in (0, 1)]
        assert ends == {(a, b) for room in (left, right) for a in room for b in room if a != b}

    def test_a_map_of_single_cells_has_no_records(self) -> None:
        assert len(built(drawn(".#.", "###", ".#."), 10)) == 0

    def test_parts_of_two_maps_are_refused(self) -> None:
        with pytest.raises(InputError, match="must be of one map"):
            knn.join([built(ROOMS, 1), built(HOOK.grid, 1)])

    def test_more_records_and_more_cells_are_estimated_to_take_longer(self) -> None:
        seconds, size = knn.estimate(ROOMS, 1000)
        assert 0 < seconds < knn.estimate(ROOMS, 2000)[0] < knn.estimate(Grid(np.ones((200, 200))), 2000)[0]
        assert size == knn.estimate(HOOK.grid, 1000)[1] > 0


class TestFile:
    def test_what_is_saved_is_loaded(self, tmp_path: Path) -> None:
        records = built(ROOMS, 40)
        records.save(tmp_path / "rooms.npz")
        found = knn.load_records(tmp_path / "rooms.npz", ROOMS)
        assert (found.begin == records.begin).all()
        assert (found.cells == records.cells).all()
        problem = sample_problems(ROOMS, 1, 40, seed=1)[0]
        given = {"database": str(tmp_path / "rooms.npz")}, {"database": records}, {"records": 40}
        runs = [agents.run("knn-lrta", problem, **settings) for settings in given]
        assert len({tuple(map(tuple, run.path.tolist())) for run in runs}) == 1

    def test_a_database_of_another_map_is_refused_at_reset(self, tmp_path: Path) -> None:
        built(ROOMS, 3).save(tmp_path / "rooms.npz")
        for database in (tmp_path / "rooms.npz", built(ROOMS, 3)):
            with pytest.raises(InputError, match="belongs to another map"):
                agents.run("knn-lrta", HOOK, database=database)

    def test_another_kind_or_version_is_refused(self, tmp_path: Path) -> None:
        path, arrays = tmp_path / "other.npz", {"begin": np.array([0]), "cells": np.empty(0, np.int32)}
        for kind, version, says in (("pattern database", 1, "is not a kNN database"), ("kNN database", 9, "version 9")):
            save_archive(path, kind, version, {"map": HOOK.grid.digest}, arrays)
            with pytest.raises(InputError, match=says):
                knn.load_records(path, HOOK.grid)

    def test_a_truncated_file_is_refused_wherever_it_is_cut(self, tmp_path: Path) -> None:
        path = tmp_path / "rooms.npz"
        built(ROOMS, 20).save(path)
        data = path.read_bytes()
        for length in (0, 1, 50, len(data) // 2, len(data) - 1):
            path.write_bytes(data[:length])
            with pytest.raises(InputError, match=r"rooms\.npz: is not a readable kNN database"):
                knn.load_records(path, ROOMS)

    @pytest.mark.parametrize(
        ("begin", "cells"),
        [
            ([], []),
            ([0, 1], [7]),  # a record of one cell
            ([0, 2], [7, 8, 9]),
            ([1, 3], [7, 8, 9]),
            ([0, 4, 2, 6], [7, 8, 9, 7, 8, 9]),
            ([0, 2], [7, 1 << 30]),
            ([0, 2], [-1, 7]),
            ([0, 2], [7, 9]),  # a wall
            ([0, 2], [7, 0]),  # the border
        ],
        ids=str,
    )
    def test_records_that_the_map_does_not_have_are_refused(
        self, begin: list[int], cells: list[int], tmp_path: Path
    ) -> None:
        arrays = {"begin": np.array(begin, np.int64), "cells": np.array(cells, np.int32)}
        save_archive(tmp_path / "odd.npz", "kNN database", 1, {"map": HOOK.grid.digest}, arrays)
        with pytest.raises(InputError, match="holds cells or records that its map does not have"):
            knn.load_records(tmp_path / "odd.npz", HOOK.grid)

    @pytest.mark.parametrize("source", ["", "missing.npz", Path("."), b"\0", 3, None], ids=str)
    def test_what_is_no_file_is_refused_in_one_sentence(self, source: Any) -> None:
        with pytest.raises(InputError) as refusal:
            knn.load_records(source, HOOK.grid)
        assert "\n" not in str(refusal.value)


class TestChoice:
    @pytest.mark.plain
    def test_a_trial_around_the_hook_by_hand(self) -> None:
        # The record is (1,0) (3,2) (3,0). From (0,0) a climb to the goal (3,1) ends on (1,1): two scans. The record's
        # start is one step away, and so is the goal from its goal: one scan each. With the expansion that makes five.
        # To (1,0), then towards (3,2): from (1,0) to (1,1) h falls by r - 1 for a step of 1, from there to (1,2) by
        # 1 + r - 2: both values are raised. The goal lies on the way from (3,2) to (3,0).
        database = knn.Records(HOOK.grid.digest, np.array([0, 3]), as_cells(HOOK.grid, (1, 0), (3, 2), (3, 0)))
        agent, world = agents.make("knn-lrta", database=database), World(Problem(HOOK.grid, (0, 0), (3, 1)))
        agent.reset(world.view)
        path, scans, pursued = [world.view.position], [], []
        while not world.done:
            action = agent.act()
            scans.append(int(world.trip.meter[0].scans))
            pursued.append(world.kernel_view.position_of(agent.pursued))
            world.step(action)
            path.append(world.view.position)
        assert path == [(0, 0), (1, 0), (1, 1), (1, 2), (2, 2), (3, 2), (3, 1)]
        assert scans == [5, 1, 1, 1, 1, 1]
        assert pursued == [(1, 0), *[(3, 2)] * 4, (3, 0)]
        assert (agent.count_learned(), agent.abandoned) == (2, 0)

    def test_the_layer_of_subgoals_shows_those_still_to_come(self) -> None:
        database = knn.Records(HOOK.grid.digest, np.array([0, 3]), as_cells(HOOK.grid, (1, 0), (3, 2), (3, 0)))
        agent, world = agents.make("knn-lrta", database=database), World(Problem(HOOK.grid, (0, 0), (3, 1)))
        agent.reset(world.view)
        assert agent.layers()["subgoals"].tolist() == []
        for rest in ([[1, 0], [3, 2], [3, 0]], [[3, 2], [3, 0]]):
            action = agent.act()
            assert agent.layers()["subgoals"].tolist() == rest
            world.step(action)

    def test_the_nearest_records_are_those_of_a_full_sort(self) -> None:
        rng = np.random.default_rng(3)
        for grid in some_grids(4, 8, 16):
            records = built(grid, 600)  # on such small maps many are equally far
            plain, free = as_positions(grid, records), sorted(Map.of(grid).free)
            for most in (1, 7, 600):
                nearest = with_buffers(make_tree(records.ends(grid)), most)
                for _ in range(12):
                    start, goal = (free[k] for k in rng.integers(len(free), size=2))
                    count = find_nearest(nearest, grid.terrain.metric, *start, *goal)
                    ranked = sorted(range(len(plain)), key=lambda r: (distance(grid, plain[r], start, goal), r))
                    assert nearest.best[:count].tolist() == ranked[:most]

    def test_no_records_are_near_where_there_are_none(self) -> None:
        none = with_buffers(make_tree(np.empty((0, 4), np.int32)), 3)
        assert find_nearest(none, ROOMS.terrain.metric, 1, 1, 2, 2) == 0

    def test_a_problem_that_is_in_the_database_is_solved_at_the_optimal_cost(self) -> None:
        for grid in [*some_grids(5, 12, 20), ROOMS]:
            records = built(grid, 25)
            for record in as_positions(grid, records):
                problem = Problem(grid, record[0], record[-1])
                run = agents.run("knn-lrta", problem, database=records, clock=False)
                assert run.suboptimality == pytest.approx(1)
                assert run.max_expansions == 1

    @pytest.mark.parametrize("vision", [None, 1], ids=["known", "fog"])
    def test_without_records_it_is_lrta_trial_for_trial(self, vision: int | None) -> None:
        rng = np.random.default_rng(6)
        for _ in range(12):
            problem = Problem(*random_problem(rng, 10, density=0.3), vision=vision)
            same = agents.run("knn-lrta", problem, records=0, trials="converge")
            runs = same, agents.run("lrta", problem, depth=1, trials="converge")
            trials = [[trial.path.tolist() for trial in run.trials or (run,)] for run in runs]
            assert trials[0] == trials[1]
            counts = [(run.expansions, run.scans, run.h_updates, run.memory) for run in runs]
            assert counts[0] == counts[1]

    def test_more_records_make_shorter_paths(self, record_property: Callable[[str, object], None]) -> None:
        problems = sample_problems(ROOMS, 60, 20, seed=2)
        costs = {}
        for records in (0, 20, 200, 2000):
            agent = agents.make("knn-lrta", records=records)
            costs[records] = sum(agents.run(agent, problem, clock=False).suboptimality or 0 for problem in problems)
        record_property("mean suboptimality", {records: cost / 60 for records, cost in costs.items()})
        assert costs[0] > costs[20] > costs[200] > costs[2000]


# Two rooms and two bridges between them. Every way that was computed beforehand takes the eastern one, or the western.
ISLANDS = drawn(
    ".........",
    ".........",
    "#.#####.#",
    "#.#####.#",
    "#.#####.#",
    ".........",
    ".........",
)


class TestChanges:
    @pytest.mark.parametrize("vision", [None, 1, 3])
    @pytest.mark.parametrize("fallen", [(7, 2), (7, 3), (7, 4)], ids=str)
    def test_knn_lrta_arrives_when_a_bridge_has_fallen(self, fallen: tuple[int, int], vision: int | None) -> None:
        problem = Problem(ISLANDS, (5, 0), (5, 6), vision, [Change(2, fallen, False)])
        assert agents.run("knn-lrta", problem, records=400, trials=2, max_moves=20_000).solved

    def test_a_subgoal_that_comes_no_nearer_is_given_up_with_those_behind_it(self) -> None:
        # The record leads into the lower room by the eastern bridge, which falls when the agent is on its way.
        database = knn.Records(ISLANDS.digest, np.array([0, 3]), as_cells(ISLANDS, (7, 1), (7, 4), (5, 6)))
        problem = Problem(ISLANDS, (4, 0), (4, 6), changes=[Change(1, (7, 2), False)])
        agent, world = agents.make("knn-lrta", database=database), World(problem)
        agent.reset(world.view)
        pursued = []
        while not world.done:
            action = agent.act()
            pursued.append(world.kernel_view.position_of(agent.pursued))
            world.step(action)
        assert agent.abandoned == 2
        # Three moves to the first; of the second, one plan that came nearer and those that waited.
        assert pursued[: 4 + PATIENCE] == [(7, 1)] * 3 + [(7, 4)] * (1 + PATIENCE)
        assert set(pursued[4 + PATIENCE :]) == {(4, 6)}

    def test_blocked_subgoals_are_skipped(self) -> None:
        database = knn.Records(ISLANDS.digest, np.array([0, 3]), as_cells(ISLANDS, (7, 1), (7, 3), (5, 6)))
        problem = Problem(ISLANDS, (4, 0), (4, 6), changes=[Change(1, (7, 3), False)])
        agent, world = agents.make("knn-lrta", database=database), World(problem)
        agent.reset(world.view)
        for _ in range(4):
            action = agent.act()
            world.step(action)
        assert agent.abandoned == 1
        assert world.kernel_view.position_of(agent.pursued) == (5, 6)


class TestPreparation:
    def test_the_time_to_build_is_told_and_spent_once_per_map(self, monkeypatch: pytest.MonkeyPatch) -> None:
        knn.records_of.cache_clear()
        first, again = (agents.run("knn-lrta", sample_problems(ROOMS, 1, seed=k)[0], records=300) for k in (1, 2))
        assert first.precompute_seconds > again.precompute_seconds > 0
        monkeypatch.setattr(knn, "_solved", None)
        agents.run("knn-lrta", sample_problems(ROOMS, 1, seed=3)[0], records=300)

    def test_a_problem_is_not_solved_more_often_than_records_are_tried(self) -> None:
        for grid in some_grids(23, 6, 4):
            start, *goals = sorted(Map.of(grid).free)
            few, more = knn.records_of(grid, 3000, knn.CUTOFF, 2), built(grid, 3000)
            assert len(few) <= 2 * grid.free_cells**2
            for goal in goals:
                problem, chosen = Problem(grid, start, goal, allow_unsolvable=True), {"neighbours": 2, "max_moves": 50}
                runs = [agents.run("knn-lrta", problem, database=database, **chosen) for database in (few, more)]
                assert runs[0].path.tolist() == runs[1].path.tolist()
                assert runs[0].scans == runs[1].scans

    def test_the_published_databases_of_a_large_game_map_take_less_than_a_minute(self) -> None:
        agent = agents.make("knn-lrta")
        assert (agent.records, agent.neighbours, agent.cutoff) == (10_000, 10, 250)
        assert knn.estimate(Grid(np.ones((512, 512))), agent.records)[0] < LONGEST_BUILD

    def test_what_takes_more_than_a_minute_is_left_to_the_command(self) -> None:
        with pytest.raises(InputError, match=r"100000 records .* fewer, or .* rt-gym precompute knn") as refusal:
            agents.run("knn-lrta", Problem(Grid(np.ones((300, 300))), (0, 0), (9, 9)), records=100_000)
        assert "\n" not in str(refusal.value)

    @pytest.mark.parametrize(
        ("settings", "part"),
        [
            ({"records": -1}, "records"),
            ({"records": 1.5}, "records"),
            ({"records": 10**7}, "records"),
            ({"neighbours": 0}, "neighbours"),
            ({"cutoff": 0}, "cutoff"),
            ({"cutoff": True}, "cutoff"),
            ({"database": "x.npz", "records": 5}, "give one of the two"),
        ],
        ids=str,
    )
    def test_wrong_parameters_are_refused_by_name(self, settings: dict[str, Any], part: str) -> None:
        with pytest.raises(InputError, match=part):
            agents.make("knn-lrta", **settings)

    @pytest.mark.parametrize("limit", [50, 500, 10_000])
    def test_a_budget_of_scans_chooses_climbs_that_keep_it(self, limit: int) -> None:
        agent = agents.make("knn-lrta", budget=Budget(limit, "scans"), records=50)
        for problem in sample_problems(ROOMS, 20, seed=4):
            run = agents.run(agent, problem, budget=Budget(limit, "scans"), max_moves=3000)
            assert not run.overrun

"""Pattern databases against a second, plain reading; their files; and the agent that looks things up in them."""

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from agents.knowledge import guided, pdb
from profiles import examples
from reference import plain_pdb_lrta
from reference.plain_grid import Map
from reference.plain_oracle import grids, random_grid, random_problem
from reference.small_maps import drawn
from rt_gym import Change, Grid, InputError, Problem, World
from rt_gym.abstraction import KINDS, abstract
from rt_gym.archive import save_archive
from rt_gym.search.distance import exact_distances
from rt_gym.search.values import forget_values

modes = st.sampled_from(["G", "GI", "I"])
kinds = st.sampled_from(KINDS)

ROOMS = drawn("...#...", "...#...", ".......", "...#...", "##.####", ".......", ".......")


def built(
    grid: Grid, mode: str = "I", cap: int = 4, kind: str = "clique", level: int = 1, **options: Any
) -> pdb.Database:
    return pdb.build(grid, abstract(grid, kind, level), mode, cap, **options)


def same(one: pdb.Database, other: pdb.Database) -> bool:
    heads = [(d.digest, d.mode, d.cap, d.kind, d.level) for d in (one, other)]
    arrays = zip((one.goals, one.table, one.hops), (other.goals, other.table, other.hops), strict=True)
    return heads[0] == heads[1] and all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in arrays)


class TestEntries:
    @pytest.mark.plain
    @given(grids(max_side=8), modes, kinds, st.integers(0, 2), st.integers(1, 5))
    @examples(30)
    def test_every_entry_is_that_of_the_plain_reading(
        self, grid: Grid, mode: str, kind: str, level: int, cap: int
    ) -> None:
        database = built(grid, mode, cap, kind, level)
        known = plain_pdb_lrta.Knowledge(Map.of(grid), mode, cap, kind, level)
        regions = database.abstraction
        for goal in range(regions.regions):
            for start, entry in enumerate(database.entries(goal).tolist()):
                depth, number = known.entry(start, goal)
                if number is None:
                    assert entry == depth
                else:
                    k = int(regions.begin[start]) - 1 - entry
                    assert (int(regions.near[k]), int(database.hops[k])) == (number, depth)

    @given(grids(max_side=12), kinds, st.integers(0, 3), st.integers(1, 6))
    def test_no_depth_is_beyond_the_cap_and_none_with_subgoals_is_larger_than_without(
        self, grid: Grid, kind: str, level: int, cap: int
    ) -> None:
        plain, both = (built(grid, mode, cap, kind, level) for mode in ("G", "GI"))
        for goal in range(plain.abstraction.regions):
            depths, entries = plain.entries(goal), both.entries(goal)
            slots = both.abstraction.begin[:-1] - 1 - np.minimum(entries, -1)
            mixed = np.where(entries > 0, entries, np.append(both.hops, 0)[slots])
            assert ((depths >= 1) & (depths <= cap)).all()
            assert ((mixed >= 1) & (mixed <= depths)).all()

    @given(grids(max_side=8), modes)
    def test_tiles_of_one_cell_are_the_same_as_no_abstraction(self, grid: Grid, mode: str) -> None:
        one, other = (built(grid, mode, 4, kind, 0) for kind in KINDS)
        assert np.array_equal(one.table, other.table)
        assert np.array_equal(one.hops, other.hops)

    def test_a_cap_beyond_a_byte_makes_entries_wider_and_changes_nothing_else(self) -> None:
        narrow, wide = built(ROOMS, "GI", 127), built(ROOMS, "GI", 128)
        assert (narrow.table.itemsize, wide.table.itemsize) == (1, 2)
        for goal in range(narrow.abstraction.regions):
            assert np.array_equal(narrow.entries(goal), wide.entries(goal))

    def test_parts_make_the_whole_in_whatever_order_and_however_many_threads_there_are(self) -> None:
        regions = abstract(ROOMS, "clique", 1)
        whole = pdb.build(ROOMS, regions, "GI", 4, threads=1)
        parts = [pdb.build_columns(ROOMS, regions, "GI", 4, goals) for goals in ([4, 7], [0, 1, 2, 3], [5, 6])]
        rest = pdb.build_columns(ROOMS, regions, "GI", 4, range(8, regions.regions))
        assert same(pdb.join([*parts, rest]), whole)
        assert same(pdb.build(ROOMS, regions, "GI", 4, threads=3), whole)
        assert same(pdb.build(ROOMS, regions, "GI", 4, goals=[7, 4]), parts[0])

    def test_parts_that_do_not_belong_together_are_refused(self) -> None:
        regions = abstract(ROOMS, "clique", 1)
        part = pdb.build_columns(ROOMS, regions, "I", 4, [0])
        other = pdb.build_columns(ROOMS, regions, "I", 5, [1])
        for wrong in (other, part):
            with pytest.raises(InputError, match="same map and kind, and of different goals"):
                pdb.join([part, wrong])

    @pytest.mark.parametrize(("mode", "cap"), [("H", 4), (None, 4), ("I", 0), ("I", 1001), ("I", 2.5)])
    def test_another_mode_or_cap_is_refused(self, mode: Any, cap: Any) -> None:
        with pytest.raises(InputError, match=r"mode must be|cap must be"):
            pdb.build_columns(ROOMS, abstract(ROOMS), mode, cap, [])

    @pytest.mark.parametrize("mode", ["G", "GI", "I"])
    def test_an_estimate_knows_the_size(self, mode: str) -> None:
        database = built(ROOMS, mode)
        seconds, size = pdb.estimate(ROOMS, database.abstraction, mode, 4)
        assert seconds >= 0
        assert size >= database.table.nbytes + database.hops.nbytes
        assert pdb.estimate(Grid([[0]]), abstract(Grid([[0]])), mode, 4) == (0.0, 0)


class TestFiles:
    @pytest.mark.parametrize(("mode", "cap"), [("G", 4), ("GI", 4), ("I", 4), ("I", 300)])
    def test_what_is_saved_is_loaded(self, tmp_path: Path, mode: str, cap: int) -> None:
        database = built(ROOMS, mode, cap)
        database.save(tmp_path / "rooms.npz")
        assert same(pdb.load_database(tmp_path / "rooms.npz", ROOMS), database)
        assert pdb.load_database(database, ROOMS) is database

    def test_a_database_of_another_map_is_refused(self, tmp_path: Path) -> None:
        database = built(ROOMS)
        database.save(tmp_path / "rooms.npz")
        for source in (tmp_path / "rooms.npz", database):
            with pytest.raises(InputError, match="of another map"):
                pdb.load_database(source, ROOMS.replace(corner="free"))

    def test_a_database_survives_the_way_to_another_process_unchangeable(self) -> None:
        database = built(ROOMS)
        arrived = pickle.loads(pickle.dumps(database))
        assert same(arrived, database)
        assert not any(array.flags.writeable for array in (arrived.table, arrived.hops, arrived.abstraction.region))

    @pytest.mark.parametrize("source", [3, None, b"rooms.npz"])
    def test_what_is_no_file_is_refused(self, source: Any) -> None:
        with pytest.raises(InputError, match="database must be a file or a Database"):
            pdb.open_database(source)

    @pytest.mark.parametrize(
        "change",
        [
            {"mode": "X"},
            {"cap": 0},
            {"cap": "4"},
            {"level": 99},
            {"level": 2},
            {"abstraction": "sectors"},
            {"abstraction": None},
            {"map": 7},
            {"goals": np.array([1, 0], np.int32)},
            {"goals": np.array([0, 1 << 20], np.int32)},
            {"goals": np.array([-1, 0], np.int32)},
            {"goals": np.array([0], np.int32)},
            {"goals": np.array([0, 1], np.int64)},
            {"table": 0},
            {"table": 5},
            {"table": 128 + 100},
            {"table": np.ones((2, 3), np.uint8)},
            {"table": np.ones(8, np.uint8)},
            {"hops": np.ones(3, np.uint16)},
            {"hops": 0},
            {"hops": 5},
        ],
        ids=str,
    )
    def test_a_file_with_anything_out_of_range_is_refused_in_one_sentence(
        self, tmp_path: Path, change: dict[str, Any]
    ) -> None:
        database = built(ROOMS, goals=[0, 1])
        head = {"map": ROOMS.digest, "mode": "I", "cap": 4, "abstraction": "clique", "level": 1}
        arrays = {"goals": database.goals, "table": database.table.copy(), "hops": database.hops.copy()}
        for name, value in change.items():
            if name not in arrays:
                head[name] = value
            elif isinstance(value, int):
                arrays[name][..., 2] = value
            else:
                arrays[name] = value
        file = tmp_path / "hostile.npz"
        save_archive(file, pdb.KIND, pdb.VERSION, head, arrays)
        with pytest.raises(InputError, match=r"hostile\.npz: ") as refusal:
            pdb.load_database(file, ROOMS)
        assert "\n" not in str(refusal.value)

    def test_another_kind_another_version_and_a_part_of_a_file_are_refused(self, tmp_path: Path) -> None:
        file = tmp_path / "rooms.npz"
        built(ROOMS).save(file)
        data = file.read_bytes()
        for wrong in (data[: len(data) // 2], data[:-10], b"", b"no archive"):
            file.write_bytes(wrong)
            with pytest.raises(InputError, match=r"rooms\.npz"):
                agents.make("pdb-lrta", database=file)
        for kind, version in (("subgoal tree", pdb.VERSION), (pdb.KIND, pdb.VERSION + 1)):
            save_archive(file, kind, version, {}, {})
            with pytest.raises(InputError, match=r"is not a pattern database|version"):
                agents.make("pdb-lrta", database=file)


class TestAgent:
    def test_a_file_a_database_and_nothing_at_all_give_the_same_run(self, tmp_path: Path) -> None:
        problem, chosen = Problem(ROOMS, (0, 0), (6, 0)), {"level": 1, "cap": 4, "mode": "I"}
        database = built(ROOMS)
        database.save(tmp_path / "rooms.npz")
        runs = [agents.run("pdb-lrta", problem, database=source) for source in (tmp_path / "rooms.npz", database)]
        runs.append(agents.run("pdb-lrta", problem, **chosen))
        assert runs[0].solved
        assert all(np.array_equal(run.path, runs[0].path) for run in runs)
        assert [run.precompute_seconds > 0 for run in runs] == [False, False, True]

    def test_what_was_built_is_kept_for_the_same_map(self) -> None:
        agent = agents.make("pdb-lrta", level=1)
        prepared = []
        for goal in ((6, 0), (6, 6), (6, 0)):
            agents.run(agent, Problem(ROOMS, (0, 0), goal))
            prepared.append((agent._database.abstraction, agent._database.goals.size))
        assert [size for _, size in prepared] == [1, 2, 2]
        assert prepared[0][0] is prepared[2][0]
        agents.run(agent, Problem(ROOMS.replace(connectivity=4), (0, 0), (6, 0)))
        assert agent._database.goals.size == 1

    def test_a_database_sets_the_parameters_and_refuses_others(self) -> None:
        database = built(ROOMS, "GI", 4, "tiles", 2)
        agent = agents.make("pdb-lrta", database=database)
        assert (agent.level, agent.cap, agent.mode, agent.abstraction) == (2, 4, "GI", "tiles")
        assert agents.make("pdb-lrta", database=database, cap=2).bound == 9
        assert agents.make("pdb-lrta", database=database, cap=9).cap == 4
        for name, value in (("level", 3), ("mode", "I"), ("abstraction", "clique")):
            with pytest.raises(InputError, match=f"{name} is .* in the database, not"):
                agents.make("pdb-lrta", database=database, **{name: value})

    def test_a_goal_or_a_map_that_the_database_does_not_know_is_refused(self) -> None:
        database = built(ROOMS, goals=[0])
        with pytest.raises(InputError, match="no entries for the region of this goal"):
            agents.run("pdb-lrta", Problem(ROOMS, (0, 0), (6, 6)), database=database)
        with pytest.raises(InputError, match="of another map"):  # in the fog all that is unseen is taken for free
            agents.run("pdb-lrta", Problem(ROOMS, (6, 6), (0, 0), vision=1), database=database)

    def test_a_map_that_takes_too_long_is_left_to_the_command(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(guided, "estimate", lambda *_: (61.4, 0))
        with pytest.raises(InputError, match=r"some 61 seconds: .* rt-gym precompute pdb"):
            agents.run("pdb-lrta", Problem(ROOMS, (0, 0), (6, 0)))

    @pytest.mark.parametrize(
        "wrong",
        [{"level": -1}, {"cap": 0}, {"mode": "H"}, {"abstraction": "x"}, {"patience": 0}, {"database": 3}],
        ids=str,
    )
    def test_parameters_out_of_range_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(InputError, match=f"{next(iter(wrong))} must be"):
            agents.make("pdb-lrta", **wrong)

    def test_without_abstraction_cap_and_learning_every_path_is_optimal(self) -> None:
        rng = np.random.default_rng(3)
        for _ in range(4):
            grid, _, goal = random_problem(rng, 12, density=0.3)
            agent = agents.make("pdb-lrta", level=0, mode="G", cap=300)
            distance = exact_distances(grid, goal)
            for start in np.flatnonzero(distance < exact_distances(grid, goal).max()):
                world, walked = World(Problem(grid, grid.position(int(start)), goal)), 0
                agent.reset(world.view)
                while not world.done:
                    forget_values(agent.memory.values)
                    action = agent.act()
                    walked += int(grid.terrain.cost[action])
                    world.step(action)
                assert walked == distance[start]

    def test_without_abstraction_and_cap_paths_stay_optimal_while_learning(self) -> None:
        rng, optimal = np.random.default_rng(5), 0
        agent = agents.make("pdb-lrta", level=0, mode="G", cap=300)
        for _ in range(50):
            grid = random_grid(rng, 16, density=0.25)
            problem = Problem(grid, *_far_apart(rng, grid))
            run = agents.run(agent, problem)
            optimal += run.solved and run.suboptimality == 1.0
        assert optimal == 50

    def test_the_guard_counts_as_often_as_in_the_plain_reading_and_does_fire(self) -> None:
        rng, fired = np.random.default_rng(8), []
        for _ in range(40):
            grid = random_grid(rng, 14, density=0.3)
            start, goal = _far_apart(rng, grid)
            agent = agents.make("pdb-lrta", level=2, cap=5, mode="I", patience=2)
            assert agents.run(agent, Problem(grid, start, goal)).solved
            plain = plain_pdb_lrta.run(grid, start, goal, level=2, cap=5, mode="I", patience=2)
            assert agent.guarded == plain.memory.fired
            fired.append(agent.guarded)
        assert max(fired) > 0

    def test_layers_show_the_regions_and_the_subgoal(self) -> None:
        world, agent = World(Problem(ROOMS, (0, 0), (6, 0))), agents.make("pdb-lrta", level=1, mode="I")
        agent.reset(world.view)
        agent.act()
        layers = agent.layers()
        assert layers["regions"].shape == ROOMS.passable.shape
        assert np.array_equal(layers["regions"] >= 0, ROOMS.passable)
        assert layers["subgoals"].shape == (1, 2)
        assert tuple(layers["subgoals"][0]) != (6, 0)


class TestChanges:
    BRIDGES = drawn("...#...", ".......", "...#...", "...#...", ".......", "...#...")

    @pytest.mark.parametrize("mode", ["G", "GI", "I"])
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("vision", [None, 1])
    @pytest.mark.parametrize("when", [0, 1, 2, 3])
    def test_a_bridge_that_falls_does_not_keep_the_agent_from_the_other(
        self, mode: str, kind: str, vision: int | None, when: int
    ) -> None:
        for level in range(5):
            for bridge in ((3, 1), (3, 4)):
                problem = Problem(self.BRIDGES, (0, 1), (6, 1), vision, [Change(when, bridge, False)])
                run = agents.run("pdb-lrta", problem, level=level, mode=mode, abstraction=kind, max_moves=5000)
                assert run.solved

    def test_a_representative_that_is_blocked_or_walled_in_traps_nobody(self) -> None:
        # Tiles of 4 x 4; the second one's representative is (5, 1).
        grid = Grid(np.ones((4, 12)))
        assert grid.position(int(abstract(grid, "tiles", 2).representatives[1])) == (5, 1)
        wall = [(x, y) for x in (4, 5, 6) for y in (0, 1, 2) if (x, y) != (5, 1)]
        for closed in ([(5, 1)], wall):
            problem = Problem(grid, (0, 1), (11, 1), changes=[Change(1, cell, False) for cell in closed])
            assert agents.run("pdb-lrta", problem, level=2, abstraction="tiles", max_moves=5000).solved

    def test_a_subgoal_that_was_cut_off_is_left_to_the_guard(self) -> None:
        # The short way leads over (2, 0), which stays free while both its neighbours close. From either corner in the
        # west the database sends the agent to the other.
        grid = drawn(".......", ".#####.", ".......", connectivity=4)
        problem = Problem(grid, (0, 1), (5, 0), changes=[Change(1, (1, 0), False), Change(1, (3, 0), False)])
        agent = agents.make("pdb-lrta", level=1, abstraction="tiles")
        run = agents.run(agent, problem, max_moves=5000)
        assert run.solved
        assert agent.guarded > 0

    def test_a_subgoal_is_given_up_when_all_of_the_component_has_been_searched_for_it(self) -> None:
        # A corridor of two tiles, the goal in the nearer end of the other. Its representative (1, 0) is cut off after
        # the first move; a lookahead of 20 then finds no frontier at all. It expands 2 to 7 at first, then 3 to 7.
        grid = drawn("........")
        database = built(grid, "I", 20, "tiles", 2)
        assert grid.positions(database.abstraction.representatives).tolist() == [[1, 0], [5, 0]]
        deep = replace(database, hops=np.full(2, 20, np.uint16))
        agent = agents.make("pdb-lrta", database=deep)
        run = agents.run(agent, Problem(grid, (5, 0), (3, 0), changes=[Change(1, (2, 0), False)]))
        assert run.path.tolist() == [[5, 0], [4, 0], [3, 0]]
        assert (agent.guarded, run.expansions, run.scans) == (1, 6 + 5, 6 + 5 + 1)

    def test_ground_that_opens_is_walked_on(self) -> None:
        grid = drawn("..#..", "..#..", "..#..")
        problem = Problem(grid, (0, 0), (4, 0), changes=[Change(2, (2, 1), True)], allow_unsolvable=True)
        assert agents.run("pdb-lrta", problem, level=1, cap=1, max_moves=500).solved


def _far_apart(rng: np.random.Generator, grid: Grid) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return a random free cell and the one farthest from it."""
    cells = np.flatnonzero(grid.terrain.free)
    start = grid.position(int(rng.choice(cells)))
    distance = exact_distances(grid, start)
    return start, grid.position(int(np.where(distance < distance.max(), distance, -1).argmax()))

"""Pattern databases: entries worked out on paper and by a second, plain reading, and what a file of them may hold."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from agents.knowledge import pdb
from agents.knowledge.pdb_estimate import estimate
from agents.knowledge.pdb_file import load_database, open_database
from profiles import examples
from reference import plain_pdb_lrta
from reference.plain_grid import Map
from reference.plain_oracle import grids, random_grid
from reference.small_maps import MIRRORED, ROOMS, drawn
from rt_gym import Grid, InputError, load_map
from rt_gym.abstraction import KINDS, abstract
from rt_gym.archive import save_archive

modes = st.sampled_from(["G", "GI", "I"])
kinds = st.sampled_from(KINDS)
readings = st.sampled_from(["first", "nearer"])

# In tiles of 4 x 4 region 1 is the middle of the west, region 3 the south, region 4 the corner (5, 4). The way there
# from (1, 2), the representative of 1, leads through the south, that from (2, 4), the one of 3, over (3, 3), which is
# in 1, to (4, 3), in region 2.
TWISTED = drawn(".#.#..", "#.....", "..#.#.", "..#...", "#...#.")


def built(
    grid: Grid, mode: str = "I", cap: int = 4, kind: str = "clique", level: int = 1, **options: Any
) -> pdb.Database:
    return pdb.build(grid, abstract(grid, kind, level), mode, cap, **options)


def same(one: pdb.Database, other: pdb.Database) -> bool:
    heads = [(d.digest, d.mode, d.cap, d.subgoal, d.kind, d.level) for d in (one, other)]
    arrays = zip(*((d.goals, d.table, d.hops, d.far) for d in (one, other)), strict=True)
    return heads[0] == heads[1] and all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in arrays)


def astray(database: pdb.Database, goal: int) -> list[int]:
    """Return the regions whose chain of subgoals has no end, or in mode I another end than the goal's region."""
    ahead = database.entries(goal)[0]
    ends = np.arange(ahead.size)
    for _ in range(ahead.size):
        ends = np.where(ahead[ends] == -1, ends, ahead[ends])
    wrong = (ahead[ends] != -1) | ((ends != goal) & (database.mode == "I"))
    return np.flatnonzero((ahead != -1) & wrong).tolist()


def assert_refused(file: Path, head: dict[str, Any], arrays: dict[str, Any], grid: Grid) -> None:
    save_archive(file, pdb.KIND, pdb.VERSION, head, arrays)
    with pytest.raises(InputError, match=r"hostile\.npz: ") as refusal:
        load_database(file, grid)
    assert "\n" not in str(refusal.value)


@pytest.mark.plain
def test_the_entries_of_the_three_modes() -> None:
    # G. From 0 there is one way to go: 1. From 2 the lookahead of one prefers 1 (1+3) to 3 (1+5), that of two 0 (2+2)
    # to 4 (2+6); three actions away there is only 5: 3. From 4 both ways look equal, 1+5, then 2+4, 3+3, 4+2, and the
    # first generated is 3, to the south; five actions away there is only 9: 5. From 6, 7 (1+3) beats 5 (1+5): 1. From
    # 8, 9 beats 7: 1. In {10} nothing is far: 1.
    # I. The next regions of {8 7 9} to {2}: {10}, {8 7 9}, {6 5}, none, {2}, {4 3}. From 8, 6, 4, 0, 2 the first step
    # towards 10, 8, 6, 2, 4 looks best at once: all depths are 1.
    # Every next representative is nearer to 10.
    regions = abstract(MIRRORED.grid, "tiles", 1)
    goal = 3  # the region of the goal
    ahead = {"G": [-1] * 6, "GI": [-1, -1, 1, -1, -1, 2], "I": [3, 0, 1, -1, 5, 2]}
    depths = {"G": [1, 1, 5, 1, 1, 3], "GI": [1] * 6, "I": [1] * 6}
    for subgoal in ("first", "nearer"):
        for mode, cap in (("G", 20), ("GI", 2), ("I", 20)):
            database = pdb.build(MIRRORED.grid, regions, mode, cap, subgoal=subgoal)
            assert [part.tolist() for part in database.entries(goal)] == [ahead[mode], depths[mode]]
            assert set(database.hops.tolist()) == (set() if mode == "G" else {1})


class TestChains:
    def test_first_regions_may_send_the_agent_to_each_other_and_nearer_ones_do_not(self) -> None:
        first, nearer = (built(TWISTED, kind="tiles", level=2, subgoal=subgoal) for subgoal in ("first", "nearer"))
        assert first.entries(4)[0].tolist() == [-1, 3, 4, 1, -1]
        assert astray(first, 4) == [1, 3]
        assert nearer.entries(4)[0].tolist() == [-1, 3, 4, 2, -1]
        assert astray(nearer, 4) == []

    def test_a_subgoal_that_is_no_neighbour_is_listed_with_its_depth(self) -> None:
        database = built(TWISTED, kind="tiles", level=2)
        assert database.far.tolist() == [[3, 4, 1, 1], [4, 3, 2, 1]]
        assert (database.table == 255).sum() == 2

    @given(grids(max_side=24), kinds, st.integers(0, 4), st.sampled_from(["GI", "I"]), st.integers(1, 6))
    @examples(60)
    def test_chains_of_nearer_subgoals_end_in_the_region_of_the_goal(
        self, grid: Grid, kind: str, level: int, mode: str, cap: int
    ) -> None:
        database = built(grid, mode, cap, kind, level)
        for goal in range(database.abstraction.regions):
            assert astray(database, goal) == []

    def test_they_do_on_a_game_map(self, shared_maps: Path) -> None:
        grid = load_map(shared_maps / "wc3maps512" / "plunderisle.map")
        regions = abstract(grid, "clique", 4)
        goals = range(7, regions.regions, 97)
        first, nearer = (pdb.build(grid, regions, "I", 16, goals, subgoal=subgoal) for subgoal in ("first", "nearer"))
        assert sum(len(astray(first, goal)) for goal in goals) > 0
        assert all(astray(nearer, goal) == [] for goal in goals)


class TestEntries:
    @pytest.mark.plain
    @given(grids(max_side=8), modes, kinds, st.integers(0, 2), st.integers(1, 5), readings)
    @examples(40)
    def test_every_entry_is_that_of_the_plain_reading(
        self, grid: Grid, mode: str, kind: str, level: int, cap: int, subgoal: str
    ) -> None:
        database = built(grid, mode, cap, kind, level, subgoal=subgoal)
        known = plain_pdb_lrta.Knowledge(Map.of(grid), mode, cap, kind, level, subgoal)
        for goal in range(database.abstraction.regions):
            for start, (ahead, depth) in enumerate(zip(*database.entries(goal), strict=True)):
                assert (depth, None if ahead == -1 else ahead) == known.entry(start, goal)

    @pytest.mark.plain
    def test_entries_far_away_are_those_of_the_plain_reading(self) -> None:
        database = built(TWISTED, kind="tiles", level=2)
        known = plain_pdb_lrta.Knowledge(Map.of(TWISTED), "I", 4, "tiles", 2)
        for goal, start, ahead, depth in database.far.tolist():
            assert known.entry(start, goal) == (depth, ahead)

    @given(grids(max_side=12), kinds, st.integers(0, 3), st.integers(1, 6))
    def test_no_depth_is_beyond_the_cap_and_none_with_subgoals_is_larger_than_without(
        self, grid: Grid, kind: str, level: int, cap: int
    ) -> None:
        plain, both = (built(grid, mode, cap, kind, level) for mode in ("G", "GI"))
        for goal in range(plain.abstraction.regions):
            (_, depths), (_, mixed) = plain.entries(goal), both.entries(goal)
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
        narrow, wide = built(TWISTED, "I", 127, "tiles", 2), built(TWISTED, "I", 128, "tiles", 2)
        assert np.array_equal(narrow.entries(4)[0], wide.entries(4)[0])

    def test_parts_make_the_whole_in_whatever_order_and_however_many_threads_there_are(self) -> None:
        regions = abstract(ROOMS, "clique", 1)
        whole = pdb.build(ROOMS, regions, "GI", 4, threads=1)
        parts = [pdb.build_columns(ROOMS, regions, "GI", 4, goals) for goals in ([4, 7], [0, 1, 2, 3], [5, 6])]
        rest = pdb.build_columns(ROOMS, regions, "GI", 4, range(8, regions.regions))
        assert same(pdb.join([*parts, rest]), whole)
        assert same(pdb.build(ROOMS, regions, "GI", 4, threads=3), whole)
        assert same(pdb.build(ROOMS, regions, "GI", 4, goals=[7, 4]), parts[0])
        twisted = abstract(TWISTED, "tiles", 2)
        parts = [pdb.build_columns(TWISTED, twisted, "I", 4, goals) for goals in ([1, 4], [0, 2, 3])]
        assert [part.far[:, 0].tolist() for part in parts] == [[4], [3]]
        assert same(pdb.join(parts), pdb.build(TWISTED, twisted, "I", 4, threads=2))

    def test_parts_that_do_not_belong_together_are_refused(self) -> None:
        regions = abstract(ROOMS, "clique", 1)
        part = pdb.build_columns(ROOMS, regions, "I", 4, [0])
        others = (
            pdb.build_columns(ROOMS, regions, "I", 5, [1]),
            pdb.build_columns(ROOMS, regions, "I", 4, [1], subgoal="first"),
        )
        for wrong in (*others, part):
            with pytest.raises(InputError, match="same map and kind, and of different goals"):
                pdb.join([part, wrong])

    def test_another_reading_of_the_subgoal_is_refused(self) -> None:
        with pytest.raises(InputError, match='subgoal must be "first" or "nearer", not'):
            built(ROOMS, subgoal="last")

    @pytest.mark.parametrize(("mode", "cap"), [("H", 4), (None, 4), ("I", 0), ("I", 1001), ("I", 2.5)])
    def test_another_mode_or_cap_is_refused(self, mode: Any, cap: Any) -> None:
        with pytest.raises(InputError, match=r"mode must be|cap must be"):
            pdb.build_columns(ROOMS, abstract(ROOMS), mode, cap, [])

    def test_an_estimate_knows_about_how_many_subgoals_are_no_neighbours(self) -> None:
        grid = random_grid(np.random.default_rng(1), 60, density=0.3)
        first, nearer = (built(grid, level=3, subgoal=subgoal) for subgoal in ("first", "nearer"))
        sizes = [estimate(grid, d.abstraction, "I", 4, subgoal=d.subgoal)[1] for d in (first, nearer)]
        assert nearer.far.size > 0
        assert nearer.far.nbytes / 2 < sizes[1] - sizes[0] < nearer.far.nbytes * 2

    @pytest.mark.parametrize("mode", ["G", "GI", "I"])
    def test_an_estimate_knows_the_size(self, mode: str) -> None:
        database = built(ROOMS, mode)
        seconds, size = estimate(ROOMS, database.abstraction, mode, 4)
        assert seconds >= 0
        assert size >= database.table.nbytes + database.hops.nbytes
        assert estimate(Grid([[0]]), abstract(Grid([[0]])), mode, 4) == (0.0, 0)


class TestFiles:
    @pytest.mark.parametrize(("mode", "cap"), [("G", 4), ("GI", 4), ("I", 4), ("I", 300)])
    @pytest.mark.parametrize("subgoal", ["first", "nearer"])
    def test_what_is_saved_is_loaded(self, tmp_path: Path, mode: str, cap: int, subgoal: str) -> None:
        for grid in (ROOMS, TWISTED):
            database = built(grid, mode, cap, "tiles", 2, subgoal=subgoal)
            database.save(tmp_path / "map.npz")
            assert same(load_database(tmp_path / "map.npz", grid), database)
            assert load_database(database, grid) is database

    def test_a_file_that_does_not_name_its_reading_is_of_first_regions(self, tmp_path: Path) -> None:
        database = built(TWISTED, kind="tiles", level=2, subgoal="first")
        head = {"map": TWISTED.digest, "mode": "I", "cap": 4, "abstraction": "tiles", "level": 2}
        arrays = {"goals": database.goals, "table": database.table, "hops": database.hops}
        save_archive(tmp_path / "old.npz", pdb.KIND, pdb.VERSION, head, arrays)
        assert same(load_database(tmp_path / "old.npz", TWISTED), database)
        assert agents.make("pdb-lrta", database=tmp_path / "old.npz").subgoal == "first"

    def test_a_database_of_another_map_is_refused(self, tmp_path: Path) -> None:
        database = built(ROOMS)
        database.save(tmp_path / "rooms.npz")
        for source in (tmp_path / "rooms.npz", database):
            with pytest.raises(InputError, match="of another map"):
                load_database(source, ROOMS.replace(corner="free"))

    def test_a_database_survives_the_way_to_another_process_unchangeable(self) -> None:
        database = built(ROOMS)
        arrived = pickle.loads(pickle.dumps(database))
        assert same(arrived, database)
        assert not any(array.flags.writeable for array in (arrived.table, arrived.hops, arrived.abstraction.region))

    @pytest.mark.parametrize("source", [3, None, b"rooms.npz"])
    def test_what_is_no_file_is_refused(self, source: Any) -> None:
        with pytest.raises(InputError, match="database must be a file or a Database"):
            open_database(source)

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
        database = built(ROOMS, goals=[0, 1], subgoal="first")
        head = {"map": ROOMS.digest, "mode": "I", "cap": 4, "abstraction": "clique", "level": 1}
        arrays = {"goals": database.goals, "table": database.table.copy(), "hops": database.hops.copy()}
        for name, value in change.items():
            if name not in arrays:
                head[name] = value
            elif isinstance(value, int):
                arrays[name][..., 2] = value
            else:
                arrays[name] = value
        assert_refused(tmp_path / "hostile.npz", head, arrays, ROOMS)

    @pytest.mark.parametrize(
        "far",
        [
            [],
            [[4, 3, 2, 1]],
            [[3, 4, 1, 1], [4, 3, 2, 1], [4, 3, 2, 1]],
            [[4, 3, 2, 1], [3, 4, 1, 1]],
            [[3, 3, 1, 1], [4, 3, 2, 1]],
            [[2, 4, 1, 1], [4, 3, 2, 1]],
            [[3, 4, 5, 1], [4, 3, 2, 1]],
            [[3, 4, -1, 1], [4, 3, 2, 1]],
            [[3, 4, 4, 1], [4, 3, 2, 1]],
            [[3, 4, 1, 0], [4, 3, 2, 1]],
            [[3, 4, 1, 5], [4, 3, 2, 1]],
            [[3, 4, 1], [4, 3, 2]],
            [[0, 0, 0, 0]] * 26,
        ],
        ids=str,
    )
    def test_a_file_with_wrong_subgoals_far_away_is_refused_in_one_sentence(
        self, tmp_path: Path, far: list[list[int]]
    ) -> None:
        database = built(TWISTED, kind="tiles", level=2)
        assert database.far.tolist() == [[3, 4, 1, 1], [4, 3, 2, 1]]
        head = {"map": TWISTED.digest, "mode": "I", "cap": 4, "abstraction": "tiles", "level": 2, "subgoal": "nearer"}
        listed = np.array(far, np.int32).reshape(-1, len(far[0]) if far else 4)
        arrays = {"goals": database.goals, "table": database.table, "hops": database.hops, "far": listed}
        assert_refused(tmp_path / "hostile.npz", head, arrays, TWISTED)
        assert_refused(tmp_path / "hostile.npz", head | {"subgoal": "last"}, arrays | {"far": database.far}, TWISTED)
        assert_refused(tmp_path / "hostile.npz", head | {"subgoal": "first"}, arrays | {"far": database.far}, TWISTED)

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

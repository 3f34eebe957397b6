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
from profiles import examples
from reference import plain_pdb_lrta
from reference.plain_grid import Map
from reference.plain_oracle import grids
from reference.small_maps import MIRRORED, ROOMS
from rt_gym import Grid, InputError
from rt_gym.abstraction import KINDS, abstract
from rt_gym.archive import save_archive

modes = st.sampled_from(["G", "GI", "I"])
kinds = st.sampled_from(KINDS)


def built(
    grid: Grid, mode: str = "I", cap: int = 4, kind: str = "clique", level: int = 1, **options: Any
) -> pdb.Database:
    return pdb.build(grid, abstract(grid, kind, level), mode, cap, **options)


def same(one: pdb.Database, other: pdb.Database) -> bool:
    heads = [(d.digest, d.mode, d.cap, d.kind, d.level) for d in (one, other)]
    arrays = zip((one.goals, one.table, one.hops), (other.goals, other.table, other.hops), strict=True)
    return heads[0] == heads[1] and all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in arrays)


@pytest.mark.plain
def test_the_entries_of_the_three_modes() -> None:
    # G. From 0 there is one way to go: 1. From 2 the lookahead of one prefers 1 (1+3) to 3 (1+5), that of two 0 (2+2)
    # to 4 (2+6); three actions away there is only 5: 3. From 4 both ways look equal, 1+5, then 2+4, 3+3, 4+2, and the
    # first generated is 3, to the south; five actions away there is only 9: 5. From 6, 7 (1+3) beats 5 (1+5): 1. From
    # 8, 9 beats 7: 1. In {10} nothing is far: 1.
    # I. The next regions of {8 7 9} to {2}: {10}, {8 7 9}, {6 5}, none, {2}, {4 3}. From 8, 6, 4, 0, 2 the first step
    # towards 10, 8, 6, 2, 4 looks best at once: all depths are 1.
    # The neighbours are, by number: {8 7 9}: 1 3; {6 5}: 0 2; {4 3}: 1 5; {0 1}: 5; {2}: 2 4.
    regions = abstract(MIRRORED.grid, "tiles", 1)
    goal = 3  # the region of the goal
    expected = {"G": [1, 1, 5, 1, 1, 3], "GI": [1, 1, -1, 1, 1, -1], "I": [-2, -1, -1, 1, -1, -1]}
    for mode, cap in (("G", 20), ("GI", 2), ("I", 20)):
        database = pdb.build(MIRRORED.grid, regions, mode, cap)
        assert database.entries(goal).tolist() == expected[mode]
        assert set(database.hops.tolist()) == (set() if mode == "G" else {1})


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
        seconds, size = estimate(ROOMS, database.abstraction, mode, 4)
        assert seconds >= 0
        assert size >= database.table.nbytes + database.hops.nbytes
        assert estimate(Grid([[0]]), abstract(Grid([[0]])), mode, 4) == (0.0, 0)


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

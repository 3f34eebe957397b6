"""Lookaheads of all depths from one search: their labels, their ties, and every depth beside a search of its own."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reference import plain_depth_control
from reference.checks import each_rule
from reference.scenes import Scene, after, decided, scenes, some_scenes, untouched
from rt_gym import Grid
from rt_gym.search.deepening import (
    LAYER_ADDED,
    DepthResults,
    add_layer,
    begin_layered,
    label,
    learn_and_move,
    make_depth_results,
)
from rt_gym.search.lookahead import look_ahead
from rt_gym.search.space import NONE, make_space
from rt_gym.trip import CUT, NO_PATH, make_trip

Settings = dict[str, Any]

EAST, NORTH, SOUTH_EAST = 0, 3, 4
NO_TIES = np.empty(0, np.uint8)


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

    @each_rule
    def test_labels_are_those_of_searches_of_every_depth_on_larger_maps(self, rules: Settings) -> None:
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

    @each_rule
    def test_every_depth_decides_as_a_search_of_its_own_on_larger_maps(self, rules: Settings) -> None:
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

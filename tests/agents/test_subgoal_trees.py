"""Subgoal trees: some worked out on paper, what they are made of, and what a file of them may hold."""

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from agents.knowledge import subgoals
from agents.knowledge.small_trees import led_on, representative, without_small_branches
from agents.knowledge.subgoal_tree import grow_tree, make_tree_buffers
from agents.knowledge.subgoals import Tree, Trees, build_trees, grow, join, load_trees
from profiles import examples
from reference import plain_subgoal_lrta
from reference.plain_grid import Map, h0
from reference.plain_oracle import distances, problems
from reference.small_maps import BEHIND_THE_U, BEND, END_OF_THE_BEND, END_OF_THE_SPIRAL, SPIRAL, U, drawn
from rt_gym import Grid, InputError
from rt_gym.abstraction import abstract
from rt_gym.archive import save_archive
from rt_gym.cost import STRAIGHT
from rt_gym.maps.generate import generate

Position = tuple[int, int]

# Two rooms, one of them out of reach.
ROOMS = drawn("...#.", ".#...", ".#.#.", "##.##", "..#..")


def same(a: Trees, b: Trees) -> bool:
    arrays = ("goals", "ends", "nodes", "parents", "subs")
    return a.digest == b.digest and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in arrays)


def same_tree(a: Tree, b: Tree) -> bool:
    return np.array_equal(a.nodes, b.nodes) and np.array_equal(a.parents, b.parents)


def tree_of(grid: Grid, goal: Position) -> list[tuple[Position, Position]]:
    """Return the exits of a tree with their parents, in the order of growth."""
    trees = build_trees(grid, [goal])
    cells = [grid.position(cell) for cell in trees.nodes]
    assert cells[0] == goal
    assert trees.parents[0] == -1
    return [(cell, cells[parent]) for cell, parent in zip(cells[1:], trees.parents[1:], strict=True)]


@pytest.mark.plain
class TestTraces:
    def test_the_exits_of_the_u_are_its_western_corners(self) -> None:
        # The goal pushes S, W, N, so the lower way is one push ahead of the upper one all along.
        # (1,4), 7 steps: W (0,4) 8 as it should; N (1,3) 8, not 6, so it is an exit below the goal.
        # (1,0), 7 steps: S (1,1) 8, not 6, so it is one too; W (0,0) then is 1 step from it, as it should.
        # Everything beyond is as far from its exit as Manhattan says.
        assert tree_of(U, BEHIND_THE_U) == [((1, 4), BEHIND_THE_U), ((1, 0), BEHIND_THE_U)]

    def test_sub_of_what_is_west_of_the_u(self) -> None:
        # 8 steps: (0,4), (1,3), (1,1), (0,0) in this order. (0,4) reaches (0,3), (1,3) reaches (1,2) before (1,1) can.
        # 9 steps: (0,3), (1,2), (0,1). (0,3) reaches (0,2), (1,2) reaches (2,2), and that (3,2).
        buffers = make_tree_buffers(U.terrain.mask.size)
        grow_tree(U.terrain, buffers, U.cell(BEHIND_THE_U))
        low = [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 2), (3, 2)]
        high = [(0, 0), (0, 1), (1, 0), (1, 1)]
        for k, exit_, cells in ((1, (1, 4), low), (2, (1, 0), high)):
            for cell in cells:
                assert buffers.sub[U.cell(cell)] == k
                manhattan = abs(cell[0] - exit_[0]) + abs(cell[1] - exit_[1])
                assert buffers.g[U.cell(cell)] - buffers.g[U.cell(exit_)] == manhattan * STRAIGHT
        others = np.flatnonzero(U.terrain.free)[~np.isin(np.flatnonzero(U.terrain.free), [*map(U.cell, low + high)])]
        assert (buffers.sub[others] == 0).all()

    def test_the_spiral_has_a_chain_of_exits(self) -> None:
        # (0,1) is 8 steps from the goal, not 6: (0,0) is an exit. From there to (2,3) all is as it should. (2,2) is 6
        # from (0,0), not 4: (2,3) is an exit below (0,0).
        assert tree_of(SPIRAL, END_OF_THE_SPIRAL) == [((0, 0), (4, 3)), ((2, 3), (0, 0))]

    def test_the_bend_has_one_exit_at_its_western_end(self) -> None:
        assert tree_of(BEND, END_OF_THE_BEND) == [((0, 2), END_OF_THE_BEND)]


@pytest.mark.plain
@given(problem=problems(max_side=12))
@examples(200)
def test_a_tree_is_that_of_the_plain_reading(problem: Any) -> None:
    grid, _, goal = problem
    plain = plain_subgoal_lrta.grow(Map.of(grid), goal)
    trees = build_trees(grid, [goal], first="sub")
    nodes = [grid.position(cell) for cell in trees.nodes]
    assert nodes == [goal, *plain.parent]
    assert [nodes[parent] for parent in trees.parents[1:]] == list(plain.parent.values())
    assert trees.subs is not None
    free = [grid.position(cell) for cell in np.flatnonzero(grid.terrain.free)]
    assert {cell: nodes[k] for cell, k in zip(free, trees.subs[0], strict=True) if cell in plain.sub} == plain.sub


@pytest.mark.plain
@given(problem=problems(max_side=14))
def test_every_state_is_as_far_from_its_subgoal_as_the_heuristic_says(problem: Any) -> None:
    grid, _, goal = problem
    g = distances(grid, goal)
    trees = build_trees(grid, [goal], first="sub")
    nodes = [grid.position(cell) for cell in trees.nodes]
    assert trees.subs is not None
    for cell, k in zip(np.flatnonzero(grid.terrain.free), trees.subs[0], strict=True):
        place = grid.position(cell)
        if place in g:
            assert g[place] - g[nodes[k]] == h0(grid, place, nodes[k])
        else:
            assert k == 0
    for k in range(1, len(nodes)):
        assert 0 <= trees.parents[k] < k
        assert g[nodes[trees.parents[k]]] < g[nodes[k]]
        assert g[nodes[k]] - g[nodes[trees.parents[k]]] == h0(grid, nodes[k], nodes[trees.parents[k]])
    assert len(set(nodes)) == len(nodes)


@pytest.mark.parametrize("rules", [{"connectivity": 4}, {}, {"cost": "unit"}], ids=str)
def test_open_ground_has_no_subgoals(rules: dict[str, Any]) -> None:
    trees = build_trees(Grid(np.ones((9, 13)), **rules))
    assert trees.goals.size == 9 * 13
    assert (trees.sizes == 1).all()


def test_trees_grow_for_named_goals_or_for_all_free_cells() -> None:
    every, one = build_trees(ROOMS), build_trees(ROOMS, [(4, 0)])
    assert every.goals.tolist() == np.flatnonzero(ROOMS.terrain.free).tolist()
    goal = ROOMS.cell((4, 0))
    tree, same_tree = every.tree(goal, ROOMS.terrain), one.tree(goal, ROOMS.terrain)
    assert tree is not None
    assert same_tree is not None
    assert tree.nodes.tolist() == same_tree.nodes.tolist()
    assert tree.sub is None
    assert one.tree(ROOMS.cell((0, 0)), ROOMS.terrain) is None


@pytest.mark.parametrize("first", ["nearest", "sub"])
def test_parts_can_be_joined(first: str) -> None:
    goals = [ROOMS.position(cell) for cell in np.flatnonzero(ROOMS.terrain.free)]
    parts = [build_trees(ROOMS, goals[k : k + 4], first) for k in range(0, len(goals), 4)]
    assert same(join([pickle.loads(pickle.dumps(part)) for part in parts]), build_trees(ROOMS, None, first))


def test_sub_is_kept_in_the_smallest_type() -> None:
    maze = generate("maze", size=61, seed=1)
    few, many = (
        build_trees(grid, [grid.position(int(np.flatnonzero(grid.terrain.free)[0]))], "sub") for grid in (ROOMS, maze)
    )
    assert few.subs is not None
    assert many.subs is not None
    assert (few.subs.dtype, many.subs.dtype) == (np.uint8, np.uint16)
    assert few.sizes.max() <= 256 < many.sizes.max()
    goal = int(many.goals[0])
    tree = many.tree(goal, maze.terrain)
    assert tree is not None
    assert tree.sub is not None
    assert tree.sub[maze.terrain.free != 0].tolist() == many.subs[0].tolist()


def test_an_estimate_of_few_goals_is_exact_in_bytes() -> None:
    for first in ("nearest", "sub"):
        seconds, size = subgoals.estimate(ROOMS, [(4, 0), (0, 0)], first)
        trees = build_trees(ROOMS, [(4, 0), (0, 0)], first)
        kept = [trees.goals, trees.ends, trees.nodes, trees.parents, *([] if trees.subs is None else [trees.subs])]
        assert size == sum(array.nbytes for array in kept)
        assert seconds > 0
    all_seconds, all_size = subgoals.estimate(ROOMS)
    assert all_seconds > 0
    assert all_size > size


@pytest.mark.parametrize(
    ("goals", "first", "message"),
    [
        ([(3, 0)], "nearest", r"goal \(3, 0\) is no free cell of the map"),
        ([(0, 9)], "nearest", r"goal \(0, 9\) is no free cell"),
        ([], "nearest", "goals must be at least one free cell"),
        ([(0, 0), (0, 0)], "nearest", "none of them twice"),
        (None, "last", "first must be"),
    ],
)
def test_goals_that_do_not_fit_are_refused(goals: Any, first: str, message: str) -> None:
    for refuses in (build_trees, subgoals.estimate):
        with pytest.raises(InputError, match=message):
            refuses(ROOMS, goals, first)


def test_more_than_can_be_kept_is_refused_before_it_is_grown() -> None:
    for refuses in (build_trees, subgoals.estimate):
        with pytest.raises(InputError, match=r'goals are too many for first="sub": it would take 8 GB or more'):
            refuses(Grid(np.ones((300, 300))), None, "sub")


def test_only_trees_of_one_map_and_of_different_goals_are_joined() -> None:
    part, other = build_trees(ROOMS, [(4, 0)]), build_trees(Grid(np.ones((3, 3))), [(0, 0)])
    with pytest.raises(InputError, match="no goal has two"):
        join([part, part])
    for parts in ([], [part, other], [part, build_trees(ROOMS, [(0, 0)], "sub")]):
        with pytest.raises(InputError, match="if there are any, all of the same map"):
            join(parts)


class TestFiles:
    @pytest.mark.parametrize("first", ["nearest", "sub"])
    def test_what_is_written_comes_back(self, first: str, tmp_path: Path) -> None:
        trees = build_trees(ROOMS, None, first)
        trees.save(tmp_path / "trees.npz")
        assert same(load_trees(tmp_path / "trees.npz", ROOMS), trees)
        assert load_trees(trees, ROOMS) is trees

    def test_trees_of_another_map_or_other_rules_are_refused(self, tmp_path: Path) -> None:
        trees = build_trees(ROOMS, [(4, 0)])
        trees.save(tmp_path / "trees.npz")
        for grid in (Grid(np.ones((5, 5))), ROOMS.replace(corner="free")):
            for source in (trees, tmp_path / "trees.npz"):
                with pytest.raises(InputError, match="belong to another map"):
                    load_trees(source, grid)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"goals": np.zeros(0, np.int32), "ends": np.zeros(0, np.int64)}, "one tree for every goal"),
            ({"ends": np.array([9, 10, 11], np.int64)}, "one tree for every goal"),
            ({"ends": np.array([11, 12], np.int64)}, "one tree for every goal"),
            ({"ends": np.array([0, 10], np.int64)}, "ends before it begins"),
            ({"ends": np.array([-(2**63) + 20, 10], np.int64)}, "ends before it begins"),
            ({"nodes": {3: 0}}, "a node is no free cell"),
            ({"nodes": {3: 10**6}}, "a node is no free cell"),
            ({"nodes": {3: -8}}, "a node is no free cell"),
            ({"nodes": {0: ROOMS.cell((4, 2))}}, "a goal is not the root of one tree"),
            ({"nodes": {3: ROOMS.cell((4, 0))}}, "a cell is twice in a tree"),
            ({"parents": {2: 2}}, "a parent is no earlier node"),
            ({"parents": {1: 2}}, "a parent is no earlier node"),
            ({"parents": {2: -1}}, "a parent is no earlier node"),
            ({"parents": {0: 0}}, "a parent is no earlier node"),
            ({"parents": {4: 10**9}}, "a parent is no earlier node"),
            ({"subs": np.zeros((2, 3), np.uint8)}, "Sub of every state"),
            ({"subs": np.full((2, 16), 200, np.uint8)}, "a Sub is no node"),
        ],
        ids=str,
    )
    def test_nonsense_is_refused(self, change: dict[str, Any], message: str, tmp_path: Path) -> None:
        trees = build_trees(ROOMS, [(4, 0), (0, 2)], "sub")
        assert trees.sizes.tolist() == [5, 5]
        for name, value in change.items():
            array = getattr(trees, name).copy()
            if isinstance(value, dict):
                array[[*value]] = [*value.values()]
            trees = replace(trees, **{name: array if isinstance(value, dict) else value})
        trees.save(tmp_path / "trees.npz")
        with pytest.raises(InputError, match=rf"trees\.npz: is no file of subgoal trees: .*{message}"):
            load_trees(tmp_path / "trees.npz", ROOMS)

    @pytest.mark.parametrize("sub", ["int64", "object", 3, ["uint8"]])
    def test_sub_of_another_type_is_refused(self, sub: Any, tmp_path: Path) -> None:
        trees = build_trees(ROOMS, [(4, 0)])
        arrays = {name: getattr(trees, name) for name in ("goals", "ends", "nodes", "parents")}
        head = {"map": trees.digest, "sub": sub}
        save_archive(tmp_path / "trees.npz", "file of subgoal trees", 1, head, arrays)
        with pytest.raises(InputError, match="which is no type for it"):
            load_trees(tmp_path / "trees.npz", ROOMS)

    def test_other_kinds_other_versions_and_cut_files_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "trees.npz"
        trees = build_trees(ROOMS, [(4, 0)], "sub")
        arrays = {name: getattr(trees, name) for name in ("goals", "ends", "nodes", "parents", "subs")}
        head = {"map": trees.digest, "sub": "uint8"}
        for kind, version, message in (
            ("pattern database", 1, "is not a file of subgoal trees"),
            ("file of subgoal trees", 2, "has version 2 of the format, not 1"),
        ):
            save_archive(path, kind, version, head, arrays)
            with pytest.raises(InputError, match=message):
                load_trees(path, ROOMS)
        trees.save(path)
        data = path.read_bytes()
        for size in (0, 10, len(data) // 2, len(data) - 1):
            path.write_bytes(data[:size])
            with pytest.raises(InputError, match=r"trees\.npz: is not a readable file of subgoal trees"):
                load_trees(path, ROOMS)
        with pytest.raises(InputError, match="cannot be read"):
            load_trees(tmp_path / "none.npz", ROOMS)


class TestSmallTrees:
    def nodes(self, grid: Grid, tree: Tree) -> list[tuple[Position, Position | None]]:
        cells = [grid.position(cell) for cell in tree.nodes]
        above = [None if parent < 0 else cells[parent] for parent in tree.parents]
        return list(zip(cells, above, strict=True))

    def grown(self, grid: Grid, goal: Position) -> tuple[Tree, Any]:
        buffers = make_tree_buffers(grid.terrain.mask.size)
        return grow(grid.terrain, buffers, grid.cell(goal), "nearest"), buffers.sub

    def test_a_branch_with_too_few_states_is_left_out(self) -> None:
        # Of the exits of the U, (1,4) has eight states and (1,0) four, itself among them.
        tree, sub = self.grown(U, BEHIND_THE_U)
        for least, exits in ((4, [(1, 4), (1, 0)]), (5, [(1, 4)]), (9, [])):
            small = without_small_branches(tree, sub, least)
            assert self.nodes(U, small) == [(BEHIND_THE_U, None), *((cell, BEHIND_THE_U) for cell in exits)]

    def test_what_hangs_on_a_branch_counts_for_it(self) -> None:
        grid = generate("maze", size=21, seed=3)
        goal = grid.position(int(np.flatnonzero(grid.terrain.free)[0]))
        tree, sub = self.grown(grid, goal)
        small = without_small_branches(tree, sub, 12)
        kept = self.nodes(grid, small)
        assert 1 < len(kept) < tree.nodes.size
        assert set(kept) <= set(self.nodes(grid, tree))
        assert same_tree(without_small_branches(tree, sub, 1), tree)

    def test_the_root_of_a_shared_tree_comes_before_the_goal(self) -> None:
        tree, _ = self.grown(U, BEHIND_THE_U)
        goal = (6, 3)
        exits = [((1, 4), BEHIND_THE_U), ((1, 0), BEHIND_THE_U)]
        assert self.nodes(U, led_on(tree, U.cell(goal))) == [(goal, None), (BEHIND_THE_U, goal), *exits]

    def test_a_goal_that_is_a_node_itself_is_led_to_as_before(self) -> None:
        tree, _ = self.grown(SPIRAL, END_OF_THE_SPIRAL)
        before = self.nodes(SPIRAL, tree)
        goal = before[1][0]
        after = self.nodes(SPIRAL, led_on(tree, SPIRAL.cell(goal)))
        assert after[:2] == [(goal, None), (END_OF_THE_SPIRAL, goal)]
        assert after[2:] == before[2:]

    def test_its_own_goal_has_the_tree_as_it_is(self) -> None:
        tree, _ = self.grown(U, BEHIND_THE_U)
        assert led_on(tree, U.cell(BEHIND_THE_U)) is tree

    def test_all_goals_of_a_region_have_one_representative(self) -> None:
        regions = abstract(ROOMS, "clique", 2)
        for cell in np.flatnonzero(ROOMS.terrain.free).tolist():
            assert representative(ROOMS, cell, 2) == regions.representatives[regions.region[cell]]

"""LRTA* with subgoals: trials worked out on paper, what it is without a tree, and what keeps a tree from trapping it.

In the traces neighbours come in the order E, S, W, N, and the heuristic is Manhattan's. ``test_subgoal_trees.py`` has
the trees of the same maps.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from agents.knowledge.subgoals import build_trees
from profiles import examples
from reference import plain_grid, plain_subgoal_lrta
from reference.checks import each_rule, some_problems
from reference.plain_oracle import problems
from reference.small_maps import (
    BEHIND_THE_U,
    BEND,
    END_OF_THE_BEND,
    END_OF_THE_SPIRAL,
    HOOK,
    HORSESHOE,
    SPIRAL,
    U,
    drawn,
)
from rt_gym import Change, Grid, InputError, Problem, World, sample_problems
from rt_gym.abstraction import abstract
from rt_gym.search.tables import learned_towards, make_goal_values

Position = tuple[int, int]

TWINS = [("lrta", {"depth": 1}), ("lss-lrta", {"lookahead": 7}), ("lrta-k", {"k": 7})]


@pytest.mark.plain
class TestTraces:
    def trial(self, problem: Problem, act_out: Callable[..., Any], **settings: Any) -> tuple[Any, Any]:
        agent, world = agents.make("subgoal-lrta", **settings), World(problem)
        agent.reset(world.view)
        trace = act_out(agent, world)
        assert trace.outcome == "goal"
        assert trace.expansions == trace.scans == [1] * (len(trace.path) - 1)
        return trace, agent

    def test_along_the_spiral(self, act_out: Callable[..., Any]) -> None:
        # From (2,2) the goal is 3 away, (0,0) 4, (2,3) 1: that is pursued, then (0,0), then the goal. At (2,3) W and N
        # are equal towards (0,0), at (0,0) E and S towards the goal; the first of them is right.
        trace, agent = self.trial(Problem(SPIRAL, (2, 2), END_OF_THE_SPIRAL), act_out)
        west = [(2, 2), (2, 3), (1, 3), (0, 3), (0, 2), (0, 1), (0, 0)]
        assert trace.path == [*west, (1, 0), (2, 0), (3, 0), (4, 0), (4, 1), (4, 2), (4, 3)]
        assert (trace.h_updates, agent.guarded) == (0, 0)

    def test_out_of_the_u_by_sub_of_the_start(self, act_out: Callable[..., Any]) -> None:
        # Sub of (3,2) is (1,4). At (5,4) E and N are equal towards the goal.
        trace, _ = self.trial(Problem(U, (3, 2), BEHIND_THE_U), act_out, first="sub")
        assert trace.path == [
            (3, 2),
            (2, 2),
            (1, 2),
            (1, 3),
            (1, 4),
            (2, 4),
            (3, 4),
            (4, 4),
            (5, 4),
            (6, 4),
            (6, 3),
            (6, 2),
        ]
        assert trace.h_updates == 0

    def test_out_of_the_u_by_the_nearest_node(self, act_out: Callable[..., Any]) -> None:
        # From (3,2) the goal is 3 away, both exits are 4: the goal is pursued, and the pocket has to be filled.
        # (3,2): W gives 5.                       -> 5
        # (2,2): E and W give 6.                  -> 6, E
        # (3,2): W gives 7.                       -> 7
        # (2,2): W gives 6.                          W
        # (1,2): E, S, W and N give 7.            -> 7, E
        # (2,2): E and W give 8.                  -> 8, E
        # (3,2): W gives 9.                       -> 9
        # (2,2): W gives 8.                          W
        # (1,2): S, W and N give 7.                  S
        # (1,3): S, W and N give 8.               -> 8, S
        # (1,4) is a node, the next goal is the one that is pursued already. From here on the values are exact.
        trace, agent = self.trial(Problem(U, (3, 2), BEHIND_THE_U), act_out)
        assert trace.path[:11] == [(3, 2), (2, 2)] * 2 + [(1, 2), (2, 2), (3, 2), (2, 2), (1, 2), (1, 3), (1, 4)]
        assert trace.path[11:] == [(2, 4), (3, 4), (4, 4), (5, 4), (6, 4), (6, 3), (6, 2)]
        assert trace.h_updates == agents.run(agent, Problem(U, (3, 2), BEHIND_THE_U)).h_updates == 7

    @pytest.mark.parametrize(("first", "entries"), [("nearest", 3), ("sub", 3)])
    def test_the_first_move_reads_every_node_of_the_tree(self, first: str, entries: int) -> None:
        agent, world = agents.make("subgoal-lrta", first=first), World(Problem(SPIRAL, (2, 2), END_OF_THE_SPIRAL))
        agent.reset(world.view)
        read = []
        while not world.done:
            action = agent.act()
            read.append(int(world.trip.meter[0].trace_steps))
            world.step(action)
        assert read == [entries, *[0] * 12]


@pytest.mark.plain
class TestGuard:
    def test_a_blocked_subgoal_is_left_out(self, act_out: Callable[..., Any]) -> None:
        # The pursued exit (1,4) closes when the agent is at (1,2). Its parent, the goal, comes next; on the way out of
        # the depression the agent may meet the other exit.
        problem = Problem(U, (3, 2), BEHIND_THE_U, changes=[Change(2, (1, 4), False)])
        agent, world = agents.make("subgoal-lrta", first="sub"), World(problem)
        agent.reset(world.view)
        trace = act_out(agent, world)
        assert trace.path[:3] == [(3, 2), (2, 2), (1, 2)]
        assert (trace.outcome, agent.guarded) == ("goal", 1)
        assert (1, 0) in trace.path

    @pytest.mark.parametrize("switch", ["any", "progress"])
    def test_who_is_lost_heads_for_the_goal(self, switch: str, act_out: Callable[..., Any]) -> None:
        # The tree has the exit (0,2). It is pursued from (3,2) and is cut off by the first move, while the eastern end
        # opens. Filling the corridor would take more than a hundred moves; patience ends after 29.
        agent, world = agents.make("subgoal-lrta", switch=switch), World(cut_off((3, 2)))
        agent.reset(world.view)
        trace = act_out(agent, world)
        assert (trace.outcome, agent.guarded) == ("goal", 1)
        assert 30 < len(trace.path) < 60

    def test_a_search_that_sees_everything_needs_no_patience(self, act_out: Callable[..., Any]) -> None:
        # One move to (2,2) is walked before the subgoal is cut off; from there the goal is 13 steps away.
        agent, world = agents.make("subgoal-lrta", step="lss-lrta", lookahead=100), World(cut_off((3, 2)))
        agent.reset(world.view)
        trace = act_out(agent, world)
        assert (trace.outcome, agent.guarded) == ("goal", 1)
        assert len(trace.path) - 1 == 1 + 13


def cut_off(start: Position) -> Problem:
    """Return the bend whose exit is cut off by the first move, while its eastern end opens."""
    changes = [Change(1, (1, 2), False), Change(1, (0, 1), False), Change(1, (13, 1), True)]
    return Problem(BEND, start, END_OF_THE_BEND, changes=changes)


class TestEqualities:
    @pytest.mark.plain
    @each_rule
    @pytest.mark.parametrize(("step", "given"), TWINS)
    def test_with_an_empty_tree_it_is_its_step_move_for_move(
        self, step: str, given: dict[str, Any], rules: dict[str, Any]
    ) -> None:
        # In fog nothing is known to be blocked when the tree grows, but what is seen from the start.
        empty = 0
        for problem in some_problems(1, 25, 10, vision=1, **rules):
            mine = {} if step == "lrta" else given
            agent = agents.make("subgoal-lrta", step=step, **mine)
            runs = [agents.run(agent, problem, trials=3), agents.run(step, problem, trials=3, **given)]
            if agent.memory.tree.state[0].nodes > 1:
                continue
            empty += 1
            assert [t.path.tolist() for t in runs[0].trials] == [t.path.tolist() for t in runs[1].trials]
            counts = [(r.expansions, r.scans, r.learning_ops, r.h_updates) for r in runs]
            assert counts[0] == counts[1]
        assert empty > 5

    @given(problem=problems(max_side=10), step=st.sampled_from(["lrta", "lss-lrta", "lrta-k"]))
    @examples(60)
    def test_values_towards_every_goal_are_those_of_the_plain_reading(self, problem: Any, step: str) -> None:
        grid, start, goal = problem
        plain = plain_subgoal_lrta.run(grid, start, goal, step=step).memory
        agent = agents.make("subgoal-lrta", step=step)
        agents.run(agent, Problem(grid, start, goal))
        learned = 0
        for pursued, h in plain.h.items():
            first = plain_grid.initial_heuristic(grid, pursued)
            rose = {cell: value for cell, value in h.items() if value != first[cell]}
            cells, values = learned_towards(agent.memory.values, grid.cell(pursued))
            assert {grid.position(int(c)): int(v) for c, v in zip(cells, values, strict=True)} == rose
            learned += len(rose)
        assert agent.count_learned() == learned

    def test_a_table_that_must_grow_changes_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        grid = drawn(*["." * 30] * 14, "." + "#" * 29, *["." * 30] * 3)
        problem = Problem(grid, (20, 10), (29, 17), vision=1)
        for step in ("lrta", "lss-lrta", "lrta-k"):
            given: dict[str, Any] = {"step": step} | {"lss-lrta": {"lookahead": 200}, "lrta-k": {"k": 200}}.get(
                step, {}
            )
            expected = agents.run("subgoal-lrta", problem, **given)
            with monkeypatch.context() as small:
                small.setattr("agents.subgoal_lrta.make_goal_values", lambda: make_goal_values(128))
                agent = agents.make("subgoal-lrta", **given)
                run = agents.run(agent, problem)
            assert run.path.tolist() == expected.path.tolist()
            assert (run.memory, run.scans) == (expected.memory, expected.scans)
            assert agent.memory.values.cells.size > 128


class TestTrees:
    @pytest.mark.parametrize("first", ["nearest", "sub"])
    def test_trees_that_are_given_lead_the_way_of_trees_that_are_grown(self, first: str, tmp_path: Path) -> None:
        grid = max((problem.grid for problem in some_problems(3, 9, 24)), key=lambda grid: grid.free_cells)
        trees = build_trees(grid, None, "sub")
        trees.save(tmp_path / "trees.npz")
        givens = [agents.make("subgoal-lrta", trees=t, first=first) for t in (trees, str(tmp_path / "trees.npz"))]
        grown = agents.make("subgoal-lrta", first=first)
        for problem in sample_problems(grid, 10, low=5.0):
            paths = [agents.run(agent, problem).path.tolist() for agent in (grown, *givens)]
            assert paths[0] == paths[1] == paths[2]

    def test_growing_is_precomputation_once(self) -> None:
        agent = agents.make("subgoal-lrta")
        runs = [agents.run(agent, HORSESHOE), agents.run(agent, HORSESHOE), agents.run(agent, HOOK)]
        assert [run.precompute_seconds > 0 for run in runs] == [True, False, True]
        given = agents.run("subgoal-lrta", HOOK, trees=build_trees(HOOK.grid))
        assert given.precompute_seconds == 0

    def test_goals_of_a_region_share_what_was_grown(self) -> None:
        grid = HORSESHOE.grid
        regions = abstract(grid, "clique", 2)
        cells = np.flatnonzero(regions.region == np.argmax(regions.sizes)).tolist()
        agent, start = agents.make("subgoal-lrta", share=2), HORSESHOE.start
        ends = [grid.position(cell) for cell in cells if grid.position(cell) != start]
        assert len(ends) > 1
        runs = [agents.run(agent, Problem(grid, start, end)) for end in ends]
        assert [run.outcome for run in runs] == ["goal"] * len(ends)
        assert [run.precompute_seconds > 0 for run in runs] == [True, *[False] * (len(ends) - 1)]

    @pytest.mark.parametrize("smaller", [{"least": 3}, {"share": 1}])
    @pytest.mark.parametrize("other", [{"first": "sub"}, {"trees": build_trees(HOOK.grid)}])
    def test_smaller_trees_are_grown_and_neither_given_nor_kept_with_sub(
        self, smaller: dict[str, int], other: dict[str, Any]
    ) -> None:
        with pytest.raises(InputError, match="least and share must be None where trees are given"):
            agents.make("subgoal-lrta", **smaller, **other)

    def test_what_the_trees_do_not_hold_is_refused(self) -> None:
        trees = build_trees(HOOK.grid, [(0, 0)])
        with pytest.raises(InputError, match=r"trees must have one for the goal \(3, 0\)"):
            agents.run("subgoal-lrta", HOOK, trees=trees)
        with pytest.raises(InputError, match='trees must keep Sub of every state for first="sub"'):
            agents.run("subgoal-lrta", HOOK, trees=build_trees(HOOK.grid), first="sub")
        with pytest.raises(InputError, match="belong to another map"):
            agents.run("subgoal-lrta", HORSESHOE, trees=trees)

    @pytest.mark.parametrize("trees", [7, True, (1.5, 2), np.array(3), b"trees.npz"])
    def test_what_is_neither_a_file_nor_trees_is_refused(self, trees: Any) -> None:
        with pytest.raises(InputError, match="trees must be a file or Trees, not "):
            agents.run("subgoal-lrta", HOOK, trees=trees)

    @pytest.mark.parametrize(
        "bad",
        [
            {"first": "last"},
            {"switch": "never"},
            {"step": "rta"},
            {"lookahead": 0},
            {"k": 0},
            {"step": None},
            {"k": 1.5},
        ],
        ids=str,
    )
    def test_parameters_out_of_range_are_refused(self, bad: dict[str, Any]) -> None:
        with pytest.raises(InputError, match=f"{next(iter(bad))} must be"):
            agents.make("subgoal-lrta", **bad)

    def test_the_layer_of_subgoals_is_the_way_up_the_tree(self) -> None:
        spiral = drawn(".....", ".###.", ".#.#.", "...#.", connectivity=4)
        agent, world = agents.make("subgoal-lrta"), World(Problem(spiral, (2, 2), (4, 3)))
        agent.reset(world.view)
        assert agent.layers()["subgoals"].shape == (0, 2)
        world.step(agent.act())
        assert agent.layers()["subgoals"].tolist() == [[2, 3], [0, 0]]
        world.step(agent.act())
        assert agent.layers()["subgoals"].tolist() == [[0, 0]]


class TestChanges:
    # A room in a hook, and two bridges over a river; the tree leads over the nearer one.
    RIVER = drawn(
        "..........",
        ".########.",
        ".#......#.",
        ".....#....",
        "##.####.##",
        "##.####.##",
        "..........",
        "..........",
    )

    @pytest.mark.parametrize("settings", [{}, {"first": "sub"}, {"switch": "progress"}, {"step": "lss-lrta"}], ids=str)
    def test_a_bridge_that_falls_on_the_way_does_not_keep_it_from_arriving(self, settings: dict[str, Any]) -> None:
        rng = np.random.default_rng(4)
        for fallen in ((2, 4), (7, 4), (2, 5), (7, 5)):
            for when in range(1, 9):
                start, goal = (int(rng.integers(10)), 0), (int(rng.integers(10)), 7)
                problem = Problem(self.RIVER, start, goal, changes=[Change(when, fallen, False)])
                run = agents.run("subgoal-lrta", problem, max_moves=5000, **settings)
                assert run.solved

    @pytest.mark.parametrize("vision", [None, 1])
    @pytest.mark.parametrize("switch", ["any", "progress"])
    def test_random_maps_that_change_are_crossed_where_a_way_is_left(self, vision: int | None, switch: str) -> None:
        guarded = 0
        rng = np.random.default_rng(6)
        agent = agents.make("subgoal-lrta", switch=switch)
        for problem in some_problems(7, 60, 12):
            cells = [cell for cell in plain_grid.cells(problem.grid) if cell not in (problem.start, problem.goal)]
            picks = rng.choice(len(cells), min(6, len(cells)), replace=False)
            changes = [Change(int(rng.integers(1, 6)), cells[pick], False) for pick in picks]
            closed = np.array(problem.grid.passable)
            for change in changes:
                closed[change.position[1], change.position[0]] = False
            after = Grid(closed, problem.grid.connectivity, problem.grid.cost, problem.grid.corner)
            run = agents.run(
                agent, Problem(problem.grid, problem.start, problem.goal, vision, changes), max_moves=50_000
            )
            where = run.path[min(6, len(run.path) - 1)]
            if after.labels[after.cell(where)] == after.labels[after.cell(problem.goal)] != 0:
                assert run.solved
            guarded += agent.guarded
        assert guarded > 0 or vision is not None

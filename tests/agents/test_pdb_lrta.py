"""D LRTA*: trials worked out on paper, what it looks up in its database, and what keeps that from trapping it.

The map of the traces is a corridor of 11 cells with 4 neighbours, from its dead end, cell 0, to the goal, cell 10:

    8 7 6 5 4
    9 # # # 3
    10 # 0 1 2

h0 to the goal is 2 3 4 5 6 5 4 3 2 1 0. Tiles of level 1 are squares of 2 x 2 cells; their regions are, in order,
{8 7 9}, {6 5}, {4 3}, {10}, {0 1}, {2}, and their representatives 8, 6, 4, 10, 0, 2: the centroid of {8 7 9} is nearest
to 8, of two cells the first in reading order is taken. Neighbours come in the order E, S, W, N.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from agents.knowledge import guided, pdb
from profiles import examples
from reference import plain_pdb_lrta
from reference.plain_oracle import problems, random_grid, random_problem
from reference.small_maps import ALONG_THE_MIRRORED as CORRIDOR
from reference.small_maps import MIRRORED, ROOMS, drawn
from rt_gym import Change, Grid, InputError, Problem, World
from rt_gym.abstraction import KINDS, abstract
from rt_gym.cost import encode
from rt_gym.search.distance import exact_distances
from rt_gym.search.tables import forget_values, learned_towards

READINGS = ("first", "nearer")
SUBGOALS = [2, 2, 4, 6, 6, 8, 8, 10, 10, 10]  # of cells 0 to 9 in mode I: the representative of the next region


def built(
    grid: Grid, mode: str = "I", cap: int = 4, kind: str = "clique", level: int = 1, **options: Any
) -> pdb.Database:
    return pdb.build(grid, abstract(grid, kind, level), mode, cap, **options)


def trial(act_out: Callable[..., Any], **settings: Any) -> tuple[Any, dict[int, int]]:
    """Return the trace of a trial, and the learned values towards the goal by the number of the cell, in steps."""
    agent, world = agents.make("pdb-lrta", **{"level": 1, "abstraction": "tiles"} | settings), World(MIRRORED)
    agent.reset(world.view)
    trace = act_out(agent, world)
    cells, values = learned_towards(agent.memory.values, world.kernel_view.goal_cell)
    learned = {
        CORRIDOR.index(MIRRORED.grid.position(int(cell))): int(value) for cell, value in zip(cells, values, strict=True)
    }
    assert (agent.guarded, agent.guarded_expansions) == (0, 0)
    return trace, learned


@pytest.mark.plain
class TestTraces:
    def test_with_a_subgoal_in_every_region_nothing_has_to_be_learned(self) -> None:
        # Towards the subgoals above h0 is exact in every cell that the agent enters, so one look around is enough.
        agent, world = agents.make("pdb-lrta", level=1, abstraction="tiles", mode="I"), World(MIRRORED)
        agent.reset(world.view)
        for cell, subgoal in enumerate(SUBGOALS):
            assert world.view.position == CORRIDOR[cell]
            action = agent.act()
            assert world.kernel_view.position_of(agent.pursued) == CORRIDOR[subgoal]
            assert world.view.meter.expansions == 1
            world.step(action)
        assert world.done
        assert agent.count_learned() == 0

    def test_the_depths_towards_the_goal_lead_straight_out_of_the_dead_end(self, act_out: Callable[..., Any]) -> None:
        # 0, depth 1: only 1, 1+3; h 4. 1, depth 1: 2 is 1+4, 0 is 1+4, east comes first; h 5.
        # 2, depth 3: 5 alone is three actions away, F(3) = 6, F(4) = 2+6, F(5) = 8; expanded 2 1 3 0 4; h 8.
        # 3, depth 5: 8 alone is five away, F(4) = 1+6 and no more behind it; expanded 3 2 4 1 5 0 6 7; h 7.
        # 4, depth 5: 9 alone is five away, F = 6 = h; expanded 4 3 5 2 6 1 7 0 8. Then depth 1, and h0 is exact.
        trace, learned = trial(act_out, mode="G", cap=20)
        assert trace.path == CORRIDOR
        assert trace.expansions == trace.scans == [1, 1, 5, 8, 9, 1, 1, 1, 1, 1]
        assert learned == {0: encode(4), 1: encode(5), 2: encode(8), 3: encode(7)}
        assert trace.h_updates == 4

    def test_beyond_the_cap_a_subgoal_takes_the_place_of_the_goal(self, act_out: Callable[..., Any]) -> None:
        # 0 and 1 as above. From 2 and 4 the goal needs more than two: subgoals 4, then 6, exact as in mode I.
        trace, learned = trial(act_out, mode="GI", cap=2)
        assert trace.path == CORRIDOR
        assert trace.expansions == trace.scans == [1] * 10
        assert learned == {0: encode(4), 1: encode(5)}
        assert trace.h_updates == 2

    def test_where_it_has_been_before_it_looks_twice_as_deep(self, act_out: Callable[..., Any]) -> None:
        # One region, whose representative 6 sees the way to all others at once: depth 1, and the goal is kept.
        # 0: 1+3. 1: 2 is 1+4, 0 is 1+4, east comes first; h 5. 2: 1 and 3 are 1+5, west comes first; h 6.
        # 1, depth 2: 3 alone is two away, F(2) = 1+6, F(3) = 2+5; expanded 1 2 0; h 7. 2, depth 2: 0, over F(1) = 1+7,
        # and 4, 2+6, both 8, west comes first; h 8. 1, depth 4: 5 alone is four away, F(2) = 1+8; expanded 1 2 0 3 4;
        # h 9. 2, depth 4: 6 alone is four away, F(4) = 2+6; expanded 2 1 3 0 4 5; h 8 as before.
        # 3: 4 is 1+6, 2 is 1+8; h 7. 4: 5 is 1+5. From there h0 is exact.
        trace, learned = trial(act_out, abstraction="tiles", level=3, cap=8)
        assert [CORRIDOR.index(cell) for cell in trace.path] == [0, 1, 2, 1, 2, 1, *range(2, 11)]
        assert trace.expansions == trace.scans == [1, 1, 1, 3, 3, 5, 6, 1, 1, 1, 1, 1, 1, 1]
        assert learned == {0: encode(4), 1: encode(9), 2: encode(8), 3: encode(7)}
        assert trace.h_updates == 7


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
        assert [agents.make("pdb-lrta", database=built(ROOMS, subgoal=s)).subgoal for s in READINGS] == list(READINGS)
        assert agents.make("pdb-lrta", database=database, cap=2).bound == 9
        assert agents.make("pdb-lrta", database=database, cap=9).cap == 4
        for name, value in (("level", 3), ("mode", "I"), ("abstraction", "clique"), ("subgoal", "first")):
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
        [
            {"level": -1},
            {"cap": 0},
            {"mode": "H"},
            {"abstraction": "x"},
            {"subgoal": "last"},
            {"keep": 1},
            {"patience": 0},
            {"guard": None},
            {"database": 3},
        ],
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

    def test_layers_show_the_regions_and_the_subgoal(self) -> None:
        world, agent = World(Problem(ROOMS, (0, 0), (6, 0))), agents.make("pdb-lrta", level=1, mode="I")
        agent.reset(world.view)
        agent.act()
        layers = agent.layers()
        assert layers["regions"].shape == ROOMS.passable.shape
        assert np.array_equal(layers["regions"] >= 0, ROOMS.passable)
        assert layers["subgoals"].shape == (1, 2)
        assert tuple(layers["subgoals"][0]) != (6, 0)


class TestKeptSubgoals:
    def test_even_on_an_open_field_two_entries_may_lead_back_and_forth(self) -> None:
        # The region of (1, 1) holds the goal and all around (3, 2), but not (3, 2) itself, whose entry is (1, 1). From
        # there the way leads over (2, 1), where the entry is the goal, and the way to it leads over (3, 2).
        problem = Problem(Grid(np.ones((4, 5))), (4, 1), (3, 3))
        regions = abstract(problem.grid, "clique", 2)
        around = [(2, 1), (3, 1), (2, 2), (2, 3), (3, 3)]
        assert {int(regions.region[problem.grid.cell(cell)]) for cell in around} == {0}
        assert regions.region[problem.grid.cell((3, 2))] == 1
        run = agents.run("pdb-lrta", problem, level=2, keep=False, guard=False, max_moves=200)
        assert not run.solved
        assert run.h_updates == 0
        assert agents.run("pdb-lrta", problem, level=2, guard=False).moves == 3

    @pytest.mark.plain
    def test_a_subgoal_is_kept_until_its_region_is_entered_and_the_goal_from_its_region_on(self) -> None:
        grid, rng = random_grid(np.random.default_rng(3), 20, density=0.2), np.random.default_rng(4)
        regions, seen = abstract(grid, "clique", 2), 0
        world, agent = World(Problem(grid, *_far_apart(rng, grid))), agents.make("pdb-lrta", level=2)
        agent.reset(world.view)
        pursued, home = -1, regions.region[world.kernel_view.goal_cell]
        while not world.done:
            here = regions.region[grid.cell(world.view.position)]
            action = agent.act()
            if pursued == world.kernel_view.goal_cell or (pursued >= 0 and here not in (regions.region[pursued], home)):
                assert agent.pursued == pursued
                seen += 1
            else:
                assert agent.pursued != pursued
            pursued = agent.pursued
            world.step(action)
        assert pursued == world.kernel_view.goal_cell
        assert seen > 0

    @given(problems(max_side=20), st.sampled_from(KINDS), st.integers(0, 4), st.integers(1, 6))
    @examples(60)
    def test_without_a_guard_nearer_subgoals_that_are_kept_lead_to_every_goal(
        self, problem: tuple[Grid, Any, Any], kind: str, level: int, cap: int
    ) -> None:
        settings = {"level": level, "cap": cap, "abstraction": kind, "guard": False}
        assert agents.run("pdb-lrta", Problem(*problem), **settings, max_moves=100_000).solved


class TestGuard:
    # The two regions of TWISTED that are each other's subgoals on the way to (5, 4): see test_pattern_databases.py.
    TWISTED = Problem(drawn(".#.#..", "#.....", "..#.#.", "..#...", "#...#."), (1, 2), (5, 4))
    AS_TEXT: ClassVar = {"level": 2, "abstraction": "tiles", "subgoal": "first", "keep": False}

    def test_it_can_be_switched_off_and_then_a_cycle_has_no_end(self) -> None:
        for settings, solved in ((self.AS_TEXT, True), (self.AS_TEXT | {"guard": False}, False)):
            agent = agents.make("pdb-lrta", **settings)
            assert agents.run(agent, self.TWISTED, max_moves=1000).solved == agent.complete == solved
            assert (agent.guarded > 0) == (agent.guarded_expansions > 0) == solved

    def test_its_counts_are_those_of_all_trials_since_reset(self) -> None:
        agent = agents.make("pdb-lrta", **self.AS_TEXT)
        agents.run(agent, self.TWISTED)
        once = agent.guarded, agent.guarded_expansions
        agents.run(agent, self.TWISTED, trials=2)
        assert (agent.guarded > once[0], agent.guarded_expansions > once[1]) == (True, True)
        agents.run(agent, self.TWISTED)
        assert (agent.guarded, agent.guarded_expansions) == once

    @pytest.mark.parametrize("subgoal", READINGS)
    @pytest.mark.parametrize("keep", [False, True])
    def test_it_counts_as_in_the_plain_reading_and_does_act(self, subgoal: str, keep: bool) -> None:
        rng, fired = np.random.default_rng(8), []
        settings = {"level": 2, "cap": 5, "mode": "I", "patience": 1 if keep else 2, "subgoal": subgoal, "keep": keep}
        for _ in range(40):
            grid = random_grid(rng, 14, density=0.3)
            start, goal = _far_apart(rng, grid)
            agent = agents.make("pdb-lrta", **settings)
            assert agents.run(agent, Problem(grid, start, goal)).solved
            plain = plain_pdb_lrta.run(grid, start, goal, **settings).memory
            assert (agent.guarded, agent.guarded_expansions) == (plain.fired, plain.fired_expansions)
            fired.append(agent.guarded)
        assert max(fired) > 0


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
        agent = agents.make("pdb-lrta", level=1, abstraction="tiles", subgoal="first", keep=False)
        run = agents.run(agent, problem, max_moves=5000)
        assert run.solved
        assert agent.guarded > 0
        for subgoal in READINGS:
            assert agents.run("pdb-lrta", problem, level=1, abstraction="tiles", subgoal=subgoal).solved

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

"""Goals that change and agents that are put elsewhere: what each agent keeps, and that it starts anew where it must."""

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config

import agents
from agents.base import Searcher
from agents.knowledge import knn, pdb, subgoals
from agents.knowledge.goal_seeker import GoalSeeker
from profiles import examples
from reference import plain_grid
from reference.plain_oracle import distances, problems, scipy_distances
from reference.small_maps import CUP, drawn
from rt_gym import Budget, Grid, InputError, Problem, World
from rt_gym.abstraction import abstract
from rt_gym.cost import to_float

Settings = dict[str, Any]
Position = tuple[int, int]
Event = tuple[str, int, bool]

MOST = 5000
GRID = drawn(*CUP)
OPTIMAL = ["dstar-lite", "mpgaa", "astar", "repeated-astar"]


def started(agent_id: str, problem: Problem, settings: Settings, budget: int | None = None) -> tuple[Any, World]:
    agent, world = agents.make(agent_id, **settings), World(problem, Budget(budget, free_reads=True))
    agent.reset(world.view, 0)
    return agent, world


def walk(agent: Any, world: World, most: int = MOST) -> list[Position]:
    """Act until the goal, a dead end or so many moves; return where the agent was."""
    path = [world.view.position]
    for _ in range(most):
        action = agent.act()
        if world.done or world.view.meter.stuck:
            break
        world.step(action)
        path.append(world.view.position)
    return path


def map_now(world: World) -> Grid:
    grid = world.problem.grid
    return grid.replace(passable=grid.inner(world.truth.free).astype(bool))


def kept(agent: Any) -> tuple[bool, bool]:
    """Return whether an agent should keep what it has after a new goal, and after a new place."""
    searches = isinstance(agent, Searcher) or agent.forgets
    return isinstance(agent, GoalSeeker), not searches


class TestEveryAgent:
    @pytest.mark.parametrize("vision", [None, 1])
    def test_it_reaches_goals_that_change_from_places_that_change_on_a_map_that_changes(
        self, agent_id: str, settings: Settings, vision: int | None
    ) -> None:
        agent, world = started(agent_id, Problem(GRID, (2, 2), (6, 2), vision), settings)
        walk(agent, world, 3)
        world.set_goal((0, 0))
        walk(agent, world, 4)
        world.place((3, 3))
        world.set_cell((4, 1), True)
        walk(agent, world, 2)
        world.set_cell((4, 3), True)
        world.set_goal((4, 3))
        walk(agent, world, 1)
        world.set_cell((0, 2), False)
        world.place((6, 5))
        world.set_goal((0, 0))
        walk(agent, world)
        assert world.done or not agent.complete
        assert int(world.trip.tally[0].bumps) == 0

    def test_it_says_when_it_starts_anew(self, agent_id: str, settings: Settings) -> None:
        agent, world = started(agent_id, Problem(GRID, (2, 2), (6, 2)), settings)
        keeps_goal, keeps_place = kept(agent)
        walk(agent, world, 2)
        assert agent.restarts == Counter()
        world.place((0, 5))
        walk(agent, world, 2)
        assert agent.restarts == ({} if keeps_place else {"place": 1})
        world.set_goal((6, 0))
        walk(agent, world, 2)
        assert agent.restarts == ({} if keeps_place else {"place": 1}) | ({} if keeps_goal else {"goal": 1})
        agent.reset(world.view)
        assert agent.restarts == Counter()

    def test_it_walks_to_a_new_goal_like_one_that_begins_there(self, agent_id: str, settings: Settings) -> None:
        if kept(agents.make(agent_id, **settings))[0]:
            pytest.skip("it has values of other goals as well, whose table may be larger")
        agent, world = started(agent_id, Problem(GRID, (2, 2), (6, 2)), settings)
        walk(agent, world, 5)
        world.set_goal((0, 5))
        world.set_cell((5, 0), False)
        there = Problem(map_now(world), world.view.position, (0, 5))
        fresh = started(agent_id, there, settings)
        if agents.load(agent_id).precomputes:
            agent.reset(world.view, 0)  # what was prepared is of the map as it was
        assert walk(agent, world) == walk(*fresh)

    def test_a_new_place_keeps_the_values(self, agent_id: str, settings: Settings) -> None:
        agent, world = started(agent_id, Problem(GRID, (2, 2), (6, 2)), settings)
        if agent.learned is None or agent.forgets:
            pytest.skip("it has no values, or forgets them")
        walk(agent, world, 8)
        before = agent.learned.copy()
        world.place((0, 0))
        walk(agent, world, 8)
        assert (agent.learned >= before).all()

    def test_several_interventions_between_two_moves_are_one(self, agent_id: str, settings: Settings) -> None:
        agent, world = started(agent_id, Problem(GRID, (2, 2), (6, 2)), settings)
        walk(agent, world, 2)
        for goal in [(0, 0), (6, 5), (0, 5)]:
            world.set_goal(goal)
            world.place((1, 0))
        walk(agent, world, 1)
        assert agent.restarts == ({} if kept(agent)[0] else {"goal": 1})

    @pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
    def test_a_map_of_its_own_needs_no_kernel_of_its_own(self, agent_id: str, settings: Settings) -> None:
        agent, world = started(agent_id, Problem(GRID, (2, 2), (6, 2)), settings)
        walk(agent, world, 2)
        compiled = len(agent.decide_kernel.signatures)
        world.set_cell((5, 0), False)
        walk(agent, world, 2)
        assert world.terrain is not GRID.terrain
        assert len(agent.decide_kernel.signatures) == compiled > 0

    def test_a_run_finds_the_world_of_its_agent_clean(self, agent_id: str, settings: Settings) -> None:
        agent, problem = agents.make(agent_id, **settings), Problem(GRID, (2, 2), (6, 2))
        first = agents.run(agent, problem, max_moves=MOST)
        world = agent.world
        world.set_cell((5, 0), False)
        world.set_cell((5, 5), False)
        world.set_goal((0, 0))
        world.place((0, 5))
        again = agents.run(agent, problem, max_moves=MOST)
        assert agent.world is world
        assert (again.path.tolist(), again.expansions) == (first.path.tolist(), first.expansions)


def test_in_fog_a_goal_that_was_seen_blocked_has_no_path_until_it_is_seen_to_be_open() -> None:
    agent, world = started("astar", Problem(drawn("......"), (3, 0), (0, 0), vision=1), {})
    world.set_cell((4, 0), False)
    world.place((1, 0))
    world.set_cell((4, 0), True)
    world.set_goal((4, 0))
    assert (walk(agent, world), world.view.meter.stuck) == ([(1, 0)], True)
    world.place((3, 0))
    assert walk(agent, world) == [(3, 0), (4, 0)]


class TestCutSearches:
    @pytest.mark.parametrize("name", [*OPTIMAL, "tba", "late-astar"])
    def test_a_search_that_was_cut_off_does_not_go_on_from_the_old_place(self, name: str) -> None:
        agent, world = started(name, Problem(GRID, (2, 2), (6, 2)), {}, budget=3)
        walk(agent, world, 2)
        world.place((0, 5))
        walk(agent, world)
        assert (world.done, int(world.trip.tally[0].bumps)) == (True, 0)
        assert agent.restarts == {"place": 1}

    def test_dstar_lite_keeps_a_search_that_is_complete(self) -> None:
        agent, world = started("dstar-lite", Problem(GRID, (2, 2), (6, 2)), {})
        walk(agent, world, 2)
        world.place((0, 2))
        before = int(world.trip.tally[0].expansions)
        walk(agent, world, 1)
        fresh = started("dstar-lite", Problem(GRID, (0, 2), (6, 2)), {})
        walk(*fresh, 1)
        assert int(world.trip.tally[0].expansions) - before < int(fresh[1].trip.tally[0].expansions)
        assert agent.restarts == {}


@st.composite
def games(draw: st.DrawFn) -> tuple[Problem, list[Event]]:
    """Draw a problem on a known map, and interventions with a number of moves before each."""
    event = st.tuples(st.sampled_from(["cell", "cell", "place", "goal"]), st.integers(0, 999), st.booleans())
    return Problem(*draw(problems(max_side=8))), draw(st.lists(event, min_size=1, max_size=6))


def intervene(world: World, event: Event) -> None:
    kind, number, free = event
    open_cells = sorted(plain_grid.Map.of(map_now(world)).free)
    spots = plain_grid.cells(world.problem.grid) if kind == "cell" else open_cells
    spot = spots[number % len(spots)]
    if kind == "cell":
        world.set_cell(spot, free)
    elif kind == "place":
        world.place(spot)
    else:
        world.set_goal(spot)


class TestAgainstDijkstra:
    @pytest.mark.parametrize("name", OPTIMAL)
    @given(game=games(), data=st.data())
    @examples(60)
    def test_what_is_walked_after_the_last_intervention_is_a_shortest_path(
        self, name: str, game: tuple[Problem, list[Event]], data: st.DataObject
    ) -> None:
        problem, events = game
        agent, world = started(name, problem, {})
        if name != "dstar-lite":  # A* does not look for ways that open while it follows a path
            events = [*events, ("goal", 1, True), ("goal", 0, True)]
        for event in events:
            walk(agent, world, data.draw(st.integers(0, 4)))
            intervene(world, event)
        start, goal, now = world.view.position, world.view.goal, map_now(world)
        path = walk(agent, world)
        shortest = scipy_distances(now, goal)[start[1], start[0]]
        if now.passable[start[1], start[0]] and np.isfinite(shortest):
            assert world.done
            assert to_float(plain_grid.path_cost(now, path)) == pytest.approx(shortest)
            assert plain_grid.path_cost(now, path) == distances(now, goal)[start]
        else:
            assert world.view.meter.stuck or start == goal
            assert len(path) == 1
        assert all(a != b for a, b in pairwise(path))


class TestPreparedKnowledge:
    """Files and databases are of the map as it was: they are still of use after an edit."""

    def made(self, name: str) -> Settings:
        goals = [(6, 2), (0, 0)]
        return {
            "pdb-lrta": lambda: {"database": pdb.build(GRID, abstract(GRID, "clique", 1), "G", 5)},
            "subgoal-lrta": lambda: {"trees": subgoals.build_trees(GRID, goals, first="sub"), "first": "sub"},
            "knn-lrta": lambda: {"database": knn.records_of(GRID, 20, 50, 10)},
        }[name]()

    @pytest.mark.parametrize("name", ["pdb-lrta", "subgoal-lrta", "knn-lrta"])
    def test_a_new_goal_on_an_edited_map_is_reached(self, name: str) -> None:
        agent, world = started(name, Problem(GRID, (2, 2), (6, 2)), self.made(name))
        walk(agent, world, 3)
        world.set_cell((0, 3), False)
        world.set_cell((4, 2), True)
        world.set_goal((0, 0))
        walk(agent, world)
        assert (world.done, agent.restarts) == (True, {})

    def test_values_of_all_goals_are_kept(self) -> None:
        agent, world = started("knn-lrta", Problem(GRID, (2, 2), (6, 2)), {"records": 0})
        walk(agent, world)
        learned = agent.count_learned()
        world.set_goal((2, 2))
        walk(agent, world, 1)
        assert agent.count_learned() >= learned > 0

    def test_a_goal_that_a_file_does_not_know_is_refused_until_it_changes(self) -> None:
        agent, world = started("subgoal-lrta", Problem(GRID, (2, 2), (6, 2)), self.made("subgoal-lrta"))
        world.set_goal((3, 0))
        for _ in range(2):
            with pytest.raises(InputError, match=r"trees must have one for the goal \(3, 0\)"):
                agent.act()
        world.set_goal((0, 0))
        walk(agent, world)
        assert world.done


class Chaser:
    """An agent in plain Python: walks along the heuristic, and notices interventions by their count."""

    def reset(self, view: Any, seed: int | None = None) -> None:
        self.view, self.noticed, self.goals = view, view.interventions, [view.goal]

    def act(self) -> int:
        if self.view.interventions != self.noticed:
            self.noticed = self.view.interventions
            self.goals.append(self.view.goal)
        moves = self.view.expand(self.view.position)
        return int(min(moves, key=lambda move: move[2] + self.view.heuristic(move[1]))[0])


def test_an_agent_in_plain_python_sees_another_goal_and_can_notice_it() -> None:
    world, agent = World(Problem(Grid(np.ones((5, 5))), (0, 0), (4, 4))), Chaser()
    agent.reset(world.view)
    world.step(agent.act())
    world.set_goal((4, 0))
    while not world.done:
        world.step(agent.act())
    assert (agent.goals, world.view.position, world.view.moves) == ([(4, 4), (4, 0)], (4, 0), 4)

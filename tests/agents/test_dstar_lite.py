"""D* Lite on maps that close and open: exact values, the right vertices in the queue, and no way is given up too early.

The exact values are those of Dijkstra's algorithm in plain Python, on the map as the agent believes it to be.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from agents.kernels.dstar_queue import BUCKETS, NO_VERTEX
from profiles import examples
from reference import plain_grid
from reference.plain_oracle import distances, problems, random_problem
from reference.small_maps import drawn
from rt_gym import STAY, Change, Grid, InputError, Problem, World
from rt_gym.cost import INF, encode
from rt_gym.maps.generate import maze_with_holes
from rt_gym.terrain import MAX_CELLS

QUEUES = ("buckets", "heap-larger-g", "heap-smaller-g")


@st.composite
def restless(draw: st.DrawFn, unit: bool = False) -> Problem:
    """Draw a map most of whose cells close and open again and again, known or in fog."""
    grid, start, goal = draw(problems(8))
    if unit:
        grid = grid.replace(cost="unit")
    cells = [cell for cell in plain_grid.cells(grid) if cell != goal]
    times = st.lists(st.tuples(st.integers(0, 15), st.sampled_from(cells)), min_size=30, max_size=90)
    free, changes = set(plain_grid.Map.of(grid).free), []
    for time, cell in sorted(draw(times)):
        free ^= {cell}
        changes.append(Change(time, cell, cell in free))
    return Problem(grid, start, goal, draw(st.sampled_from([None, None, 1, 2])), changes)


def fit_for(queue: str) -> st.SearchStrategy[Problem]:
    """Draw such a map with costs that the queue can take."""
    return restless(unit=queue == "buckets")


def start(problem: Problem, queue: str | None = None, budget: int | None = None) -> tuple[Any, World]:
    """Return an agent at the start of a problem."""
    agent, world = agents.make("dstar-lite", queue=queue), World(problem, budget)
    agent.reset(world.view)
    return agent, world


def moves(agent: Any, world: World, limit: int = 40) -> Iterator[None]:
    """Let the agent plan, yield, and let it move; where it knows no way, the world goes on without it."""
    for _ in range(limit):
        if world.done:
            return
        action = agent.act()
        yield
        world.step(action)


def believed(world: World) -> plain_grid.Map:
    """Return the map that the agent plans on."""
    free = [(int(x), int(y)) for y, x in np.argwhere(world.view.passable)]
    return plain_grid.Map(world.problem.grid, free)


def exact_g(world: World) -> int:
    """Return the exact distance from the agent to the goal on the map that it plans on."""
    view, goal = believed(world), world.problem.goal
    return distances(view, goal).get(world.view.position, INF) if goal in view.free else INF


def g_of(agent: Any, world: World) -> int:
    return int(agent.memory.queue.vertex[int(world.trip.state[0].at)].g)


def waiting(queue: Any) -> list[int]:
    """Return the cells in a queue."""
    if queue.state[0].order != BUCKETS:
        return [int(tie) & (MAX_CELLS - 1) for tie in queue.heap["tie"][: queue.state[0].vertices]]
    found = []
    for head in queue.head[queue.head != NO_VERTEX]:
        cell = int(head)
        while cell != NO_VERTEX:
            found.append(cell)
            cell = int(queue.vertex[cell].after)
    return found


def assert_sound(agent: Any, world: World) -> None:
    """Check rhs against the g of all successors, and the queue against the inconsistent vertices."""
    grid, vertex, view = world.problem.grid, agent.memory.queue.vertex, believed(world)
    for cell in plain_grid.cells(grid):
        values = [cost + int(vertex[grid.cell(near)].g) for near, cost in view.neighbours(cell)]
        least = 0 if cell == world.problem.goal else min([INF, *values])
        assert vertex[grid.cell(cell)].rhs == least
    assert sorted(waiting(agent.memory.queue)) == np.flatnonzero(vertex["g"] != vertex["rhs"]).tolist()
    assert agent.memory.queue.state[0].vertices == len(waiting(agent.memory.queue))


@pytest.mark.parametrize("queue", QUEUES)
class TestValues:
    @given(data=st.data())
    @examples(100)
    def test_after_every_search_g_of_the_start_is_exact(self, queue: str, data: st.DataObject) -> None:
        problem = data.draw(fit_for(queue))
        agent, world = start(problem, queue)
        for _ in moves(agent, world):
            assert g_of(agent, world) == exact_g(world)
            assert world.view.meter.stuck == (exact_g(world) == INF)

    @given(data=st.data())
    @examples(60)
    def test_rhs_is_always_right_and_the_queue_holds_exactly_the_inconsistent(
        self, queue: str, data: st.DataObject
    ) -> None:
        problem = data.draw(fit_for(queue))
        agent, world = start(problem, queue, data.draw(st.sampled_from([None, 1, 4])))
        for _ in moves(agent, world):
            assert_sound(agent, world)

    @given(data=st.data())
    @examples(60)
    def test_an_agent_that_is_pushed_about_still_knows_the_way(self, queue: str, data: st.DataObject) -> None:
        problem, budget = data.draw(fit_for(queue)), data.draw(st.sampled_from([None, 3]))
        agent, world = start(problem, queue, budget)
        for _ in range(25):
            if world.done:
                break
            action = agent.act()
            if action != STAY or world.view.meter.stuck:
                assert g_of(agent, world) == exact_g(world)
            world.step(data.draw(st.sampled_from([action, *range(problem.grid.actions)])))

    def test_large_maps_in_fog_as_well(self, queue: str) -> None:
        grid = maze_with_holes(31, 40, 5).replace(connectivity=4)
        agent, world = start(Problem(grid, (1, 1), (29, 29), vision=1), queue)
        for _ in moves(agent, world, 2000):
            assert g_of(agent, world) == exact_g(world)
        assert world.done
        assert agent.reinsertions > 0

    def test_the_last_step_before_k_m_would_overflow_is_a_new_beginning(self, queue: str) -> None:
        problem = Problem(drawn("....", ".##.", "....", connectivity=4), (0, 0), (3, 2), vision=1)
        agent, world = start(problem, queue)
        world.step(agent.act())
        agent.memory.state[0].k_m = INF // 2
        agent.act()
        assert agent.memory.state[0].k_m == 0
        assert g_of(agent, world) == exact_g(world)
        assert_sound(agent, world)


class TestVariants:
    @given(problem=restless(unit=True))
    def test_all_have_the_same_g_at_equal_positions(self, problem: Problem) -> None:
        # All three go where the first one wants to.
        trio = [start(problem, queue) for queue in QUEUES]
        for _ in range(30):
            if trio[0][1].done:
                break
            actions = [agent.act() for agent, _ in trio]
            assert len({g_of(agent, world) for agent, world in trio}) == 1
            for _, world in trio:
                world.step(actions[0])

    def test_mean_expansions_on_published_mazes_are_within_eight_per_cent(self) -> None:
        rng, mean = np.random.default_rng(1), dict.fromkeys(QUEUES, 0.0)
        for seed in range(40):
            maze = maze_with_holes(201, 750, seed).replace(connectivity=4)
            a, b = (maze.position(cell) for cell in rng.choice(np.flatnonzero(maze.terrain.free), 2, replace=False))
            for queue in QUEUES:
                mean[queue] += agents.run("dstar-lite", Problem(maze, a, b, vision=1), queue=queue).expansions / 40
        assert max(mean.values()) <= 1.08 * min(mean.values())


@pytest.mark.parametrize("queue", QUEUES)
class TestNoPath:
    def test_a_goal_out_of_reach(self, queue: str) -> None:
        problem = Problem(drawn("..#.", "..#.", connectivity=4), (0, 0), (3, 0), allow_unsolvable=True)
        run = agents.run("dstar-lite", problem, queue=queue)
        assert (run.outcome, run.moves, run.expansions) == ("no path", 0, 2)

    def test_a_goal_that_fog_turns_out_to_hide_for_good(self, queue: str) -> None:
        # All of the wall has to be seen: from the start to its other end.
        problem = Problem(drawn("..#.", "..#.", "..#.", connectivity=4), (0, 0), (3, 0), 1, allow_unsolvable=True)
        run = agents.run("dstar-lite", problem, queue=queue)
        assert (run.outcome, run.path.tolist()[-1]) == ("no path", [1, 2])

    def test_a_way_that_closes_and_one_that_opens_again(self, queue: str) -> None:
        # The corridor is closed after one move and open after three. The run ends; an agent asked again goes on.
        problem = Problem(
            drawn(".....", connectivity=4), (0, 0), (4, 0), changes=[(1, (3, 0), False), (3, (3, 0), True)]
        )
        run = agents.run("dstar-lite", problem, queue=queue)
        assert (run.outcome, run.moves) == ("no path", 1)
        agent, world = start(problem, queue)
        stuck = [world.view.meter.stuck for _ in moves(agent, world)]
        assert stuck == [False, True, True, False, False, False]
        assert world.done

    def test_a_goal_that_is_closed_itself(self, queue: str) -> None:
        problem = Problem(
            drawn("....", connectivity=4), (0, 0), (3, 0), changes=[(1, (3, 0), False), (2, (3, 0), True)]
        )
        agent, world = start(problem, queue)
        assert [world.view.meter.stuck for _ in moves(agent, world)] == [False, True, False, False]
        assert world.done


class TestBudget:
    @pytest.mark.parametrize("queue", QUEUES)
    def test_a_search_in_pieces_expands_the_same_as_in_one(self, queue: str) -> None:
        rng = np.random.default_rng(3)
        for _ in range(10):
            grid, a, b = random_problem(rng, 14, connectivity=4)
            whole = agents.run("dstar-lite", Problem(grid, a, b), queue=queue)
            for limit in (1, 3, 10):
                cut = agents.run("dstar-lite", Problem(grid, a, b), queue=queue, budget=limit)
                assert (cut.expansions, cut.solved, cut.overrun) == (whole.expansions, True, False)
                assert cut.stays == (whole.expansions - 1) // limit if a != b else cut.stays == 0

    def test_nothing_is_expanded_where_nothing_has_changed(self) -> None:
        run = agents.run("dstar-lite", Problem(drawn(*["......"] * 6), (0, 0), (5, 5)))
        assert run.expansions == run.first_move_expansions
        assert run.scans == run.expansions + run.moves


class TestQueue:
    @pytest.mark.parametrize(
        ("rules", "order"),
        [
            ({"connectivity": 4}, 0),
            ({"cost": "unit"}, 0),
            ({"connectivity": 4, "cost": "unit"}, 0),
            ({}, 1),
        ],
    )
    def test_the_default_is_buckets_wherever_every_step_costs_the_same(self, rules: dict[str, Any], order: int) -> None:
        agent, _ = start(Problem(drawn("...", "...", **rules), (0, 0), (2, 1)))
        assert agent.memory.queue.state[0].order == order

    def test_buckets_are_refused_on_octile_costs(self) -> None:
        with pytest.raises(InputError, match='queue "buckets" needs a map where every step costs the same'):
            agents.run("dstar-lite", Problem(drawn("...", "..."), (0, 0), (2, 1)), queue="buckets")

    def test_an_agent_that_was_refused_one_map_takes_another(self) -> None:
        agent = agents.make("dstar-lite", queue="buckets")
        octile, unit = (Problem(drawn("...", "...", cost=cost), (0, 0), (2, 1)) for cost in ("octile", "unit"))
        assert agents.run(agent, unit).solved
        with pytest.raises(InputError, match="buckets"):
            agents.run(agent, octile)
        assert agents.run(agent, unit).solved

    @pytest.mark.parametrize("value", ["heap", "", 1, True, ["buckets"], {}])
    def test_any_other_queue_is_refused(self, value: Any) -> None:
        with pytest.raises(InputError, match="queue must be buckets, heap-larger-g, heap-smaller-g or None") as refusal:
            agents.make("dstar-lite", queue=value)
        assert repr(value) in str(refusal.value)


class TestAgent:
    @pytest.mark.parametrize("queue", QUEUES)
    @pytest.mark.parametrize("goal", [(3, 2), (39, 39)])
    def test_a_search_of_a_few_vertices_and_one_of_many_are_both_forgotten(
        self, queue: str, goal: tuple[int, int]
    ) -> None:
        grid = Grid(np.ones((40, 40)), connectivity=4)
        agent, world = start(Problem(grid, (0, 0), goal, vision=1), queue)
        agent.act()
        few = agent.memory.queue.state[0].touched <= agent.memory.queue.touched.size
        assert few == (goal == (3, 2))
        agent.reset(world.view)
        vertex = agent.memory.queue.vertex
        assert (vertex["g"] == INF).all()
        assert (vertex["rhs"] == INF).all()
        assert waiting(agent.memory.queue) == []

    def test_it_tells_the_way_it_still_has_to_go(self) -> None:
        problem = Problem(drawn("..#.", "..#.", "...."), (1, 0), (3, 0))
        agent, _ = start(problem)
        agent.act()
        decision = agent.explain()
        assert (decision.target, decision.g, decision.f, decision.planned) == ((3, 0), 6.0, 6.0, True)

    def test_it_tells_nothing_before_it_knows_the_way(self) -> None:
        agent, _ = start(Problem(drawn("...."), (0, 0), (3, 0)), budget=1)
        assert agent.act() == STAY
        assert agent.explain().target is None

    def test_reinsertions_are_those_of_the_trial(self) -> None:
        grid = maze_with_holes(31, 40, 5).replace(connectivity=4)
        agent, world = start(Problem(grid, (1, 1), (29, 29), vision=1))
        assert agent.run_trial(world, 10_000) == 0
        assert agent.reinsertions > 0
        agent.begin_trial()
        assert agent.reinsertions == 0


class TestRepeatedAStar:
    @given(problem=restless())
    def test_it_is_astar(self, problem: Problem) -> None:
        one, other = (agents.run(agent_id, problem, max_moves=60) for agent_id in ("repeated-astar", "astar"))
        assert one.path.tolist() == other.path.tolist()
        assert (one.outcome, one.expansions, one.plans) == (other.outcome, other.expansions, other.plans)

    @given(problem=restless())
    def test_the_path_of_every_plan_is_a_shortest_one(self, problem: Problem) -> None:
        agent, world = agents.make("repeated-astar"), World(problem)
        agent.reset(world.view)
        trip, diagonal = world.trip, problem.grid.cost == "octile"
        for _ in moves(agent, world):
            if trip.state[0].next == 1 and not world.view.meter.stuck:
                steps = trip.plan[: trip.state[0].planned]
                slanted = int((steps >= 4).sum()) if diagonal else 0
                assert encode(len(steps) - slanted, slanted) == exact_g(world)
            assert world.view.meter.stuck <= (exact_g(world) == INF)

    def test_in_fog_it_goes_as_far_as_dstar_lite_up_to_ties(self) -> None:
        # Both follow a shortest path on what they believe, so their costs differ by chance alone.
        rng = np.random.default_rng(8)
        problems = [Problem(*random_problem(rng, 24, density=0.3, connectivity=4), vision=1) for _ in range(400)]
        costs = [[agents.run(name, problem).cost for problem in problems] for name in ("repeated-astar", "dstar-lite")]
        difference = np.subtract(*costs)
        assert np.any(difference != 0)
        assert abs(difference.mean()) <= 3 * difference.std() / np.sqrt(len(problems))

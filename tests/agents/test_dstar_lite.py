"""D* Lite: trials worked out on paper; exact values and the right vertices in its queue on maps that close and open.

The exact values are those of Dijkstra's algorithm in plain Python, on the map as the agent believes it to be.

In the traces 1 and r are a straight and a diagonal step, r = 1.414; neighbours come in the order E, S, W, N, SE, NE,
SW, NW. A vertex in the queue is written with f = min(g, rhs) + h + k_m, and ``-`` or ``+`` for under- or
overconsistent; of equal f the ``-`` come first. Scans are expansions, rhs values computed anew, and one for the choice
of a move.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from agents.kernels.dstar_queue import BUCKETS, NO_VERTEX
from agents.kernels.dstar_vertices import SMALL
from profiles import examples
from reference import plain_grid, traces
from reference.plain_oracle import random_problem
from reference.restless import believed, exact_g, moves, restless
from reference.small_maps import ALONG_THE_HORSESHOE, HOOK, HORSESHOE, ROUND_THE_HOOK, drawn
from rt_gym import STAY, Grid, InputError, Problem, World
from rt_gym.cost import INF
from rt_gym.maps.generate import maze_with_holes
from rt_gym.pages import in_pages

Position = tuple[int, int]

QUEUES = ("buckets", "heap-larger-g", "heap-smaller-g")

FOGGY = Problem(HORSESHOE.grid, HORSESHOE.start, HORSESHOE.goal, vision=1)

# A short cut that opens after one move, and is closed further on after another; 4 neighbours, and the map is known.
GATE = Problem(drawn("..#..", ".....", connectivity=4), (0, 0), (4, 0), changes=[(1, (2, 0), True), (2, (3, 0), False)])


def fit_for(queue: str) -> st.SearchStrategy[Problem]:
    """Draw such a map with costs that the queue can take."""
    return restless(unit=queue == "buckets")


def start(problem: Problem, queue: str | None = None, budget: int | None = None) -> tuple[Any, World]:
    """Return an agent at the start of a problem."""
    return traces.start("dstar-lite", problem, budget, queue=queue)


def expanded(problem: Problem, queue: str, moves: int) -> list[Position]:
    """Return what is expanded for the move after so many."""
    agent, world = start(problem, queue)
    for _ in range(moves):
        world.step(agent.act())
    agent.act()
    return [world.kernel_view.position_of(int(cell)) for cell in world.kernel_view.expanded]


def g_of(agent: Any, world: World) -> int:
    return int(agent.memory.queue.vertex[int(world.trip.state[0].at)].g)


def waiting(queue: Any) -> list[int]:
    """Return the cells in a queue."""
    if queue.state[0].order != BUCKETS:
        return [int(tie) & SMALL for tie in queue.heap["tie"][: queue.state[0].vertices]]
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


@pytest.mark.plain
class TestHook:
    # h from (1,0): (3,0) 2, (3,1) 1+r, (3,2) 2r, (2,2) 1+r, (1,2) 2, (1,1) 1, (0,1) r, (0,2) 1+r, (0,0) 1.
    # (3,0) f2: (3,1) f1+(1+r).  (3,1): (3,2) f2+2r; no diagonal step past (2,1).  (3,2): (2,2) f3+(1+r).
    # (2,2): (1,2) f4+2.  (1,2) f6: W (0,2) f5+(1+r), N (1,1) f5+1, NW (0,1) f(4+r)+r.
    # (1,1) f6: N (1,0) f6, NW (0,0) f(5+r)+1; nothing cheaper for the others.  (1,0), the start: all else has f > 6.
    EXPANDED = ((3, 0), (3, 1), (3, 2), (2, 2), (1, 2), (1, 1), (1, 0))

    @pytest.mark.parametrize("queue", QUEUES[1:])
    def test_one_search_and_then_a_look_around_per_move(self, queue: str, act_out: Callable[..., Any]) -> None:
        agent, world = start(HOOK, queue)
        trace = act_out(agent, world)
        assert trace.path == ROUND_THE_HOOK
        assert trace.expansions == [7, 0, 0, 0, 0, 0]
        assert trace.scans == [8, 1, 1, 1, 1, 1]
        assert expanded(HOOK, queue, 0) == list(self.EXPANDED)


@pytest.mark.plain
class TestHorseshoeInFog:
    # From (2,2) the walls (3,2) and (2,1) are seen, all else is taken for free.
    # (4,2) f2: N (4,1) f4+.  (4,1): W (3,1) f4+, N (4,0) f6+.  (3,1): N (3,0) f6+.
    # At f6 are (4,0), g 2, and, put in later, (3,0), g 3, which will add (2,0) f6+, g 4.
    # Then (2,0): W (1,0) f8+.  (1,0): S (1,1) f8+, W (0,0) f10+.  (1,1), a wall not yet seen: S (1,2) f8+, W (0,1)
    # f10+.  (1,2): E (2,2) f8+, W (0,2) f10+.  (2,2), the start, g 8: ten.
    FIRST: ClassVar = {
        "buckets": [(4, 2), (4, 1), (3, 1), (3, 0), (2, 0), (4, 0), (1, 0), (1, 1), (1, 2), (2, 2)],
        "heap-larger-g": [(4, 2), (4, 1), (3, 1), (3, 0), (2, 0), (4, 0), (1, 0), (1, 1), (1, 2), (2, 2)],
        "heap-smaller-g": [(4, 2), (4, 1), (3, 1), (4, 0), (3, 0), (2, 0), (1, 0), (1, 1), (1, 2), (2, 2)],
    }
    # (1,2) sees the wall (1,1); k_m = 1. Its rhs becomes infinite: g 6, f8-. S (1,2): rhs was 1 + 6, is 9 over (2,2):
    # g 7, f8-. W (0,1): rhs was 1 + 6, is infinite like its g: out of the queue. N (1,0) has its rhs from elsewhere.
    # Three values computed.
    # (1,2): g infinite, rhs 9: f10+. E (2,2), which had its rhs from here: infinite, g 8: f10-. W (0,2): likewise, out
    #        of the queue. Two values computed.
    # (1,1): g infinite, out of the queue.
    # (2,2): g infinite, out; W (1,2), which had its rhs from here: infinite, out. One value computed.
    # (0,0) g 6 f10+, (0,1) g 7, (0,2) g 8, (1,2), the start, g 9; that gives (2,2) f12+: seven, with six values.
    # Of the two at f8- the buckets take (1,2), put in last, the heaps (1,1), with g 6 against 7. At f10 are (0,0)+ with
    # 6, (1,2)+ with 9 and (2,2)- with 8: the last comes first but for the smaller g, where it meets (0,2) with g 8, the
    # first on the map. (1,2) then gets its rhs 9 from (0,2), whatever (2,2) does: again one value computed.
    SECOND: ClassVar = {
        "buckets": [(1, 2), (1, 1), (2, 2), (0, 0), (0, 1), (0, 2), (1, 2)],
        "heap-larger-g": [(1, 1), (1, 2), (2, 2), (0, 0), (0, 1), (0, 2), (1, 2)],
        "heap-smaller-g": [(1, 1), (1, 2), (0, 0), (0, 1), (0, 2), (2, 2), (1, 2)],
    }
    # (3,0) sees the wall (3,1); k_m = 1 + 4. Its rhs becomes infinite: g 2, f2+1+5 -. E (4,1) has its rhs from the
    # goal; N (3,0) had 1 + 2 from here and has it from (4,0) too. Two values computed, and (3,1), before the start's
    # f3+5 +, is the one vertex expanded.

    @pytest.mark.parametrize("queue", QUEUES)
    def test_the_path_and_the_work_of_every_move(self, queue: str, act_out: Callable[..., Any]) -> None:
        agent, world = start(FOGGY, queue)
        trace = act_out(agent, world)
        assert trace.path == ALONG_THE_HORSESHOE
        assert trace.expansions == [10, 7, 0, 0, 0, 0, 0, 1, 0, 0]
        assert trace.scans == [11, 14, 1, 1, 1, 1, 1, 4, 1, 1]
        assert agent.reinsertions == 0

    @pytest.mark.parametrize("queue", QUEUES)
    def test_the_order_of_expansion(self, queue: str) -> None:
        assert expanded(FOGGY, queue, 0) == self.FIRST[queue]
        assert expanded(FOGGY, queue, 1) == self.SECOND[queue]
        assert expanded(FOGGY, queue, 7) == [(3, 1)]


@pytest.mark.plain
class TestGate:
    # (0,0): (4,0) f4: S (4,1) f6+, W (3,0) f4+.  (3,0): S (3,1) f6+, put in after (4,1).  (3,1): W (2,1) f6+.
    # (2,1): W (1,1) f6+.  (1,1), g 4: W (0,1) f6+, N (1,0) f6+.  (1,0), g 5: W (0,0) f6+.  (0,0), g 6. Left at f6+:
    # (4,1) and (0,1).
    FIRST = ((4, 0), (3, 0), (3, 1), (2, 1), (1, 1), (1, 0), (0, 0))
    # (1,0): (2,0) opens; k_m = 1. Computed: its rhs 2 over (3,0), f2+1+1 +; and those of three neighbours, as before.
    # (2,0), g 2: W (1,0) rhs 3, f4+.  (1,0), g 3, the start: W (0,0) rhs 4, f6+.
    SECOND = ((2, 0), (1, 0))
    # (2,0): (3,0) closes; k_m = 2. Computed: (3,0) infinite, g 1, f4-; S (3,1) rhs 4 over (2,1), g 2, f6-; W (2,0)
    # rhs 4, g 2, f4-.
    # (2,0): f6+. Computed: S (2,1) 3, as before; W (1,0) 5 over (1,1), g 3, f6-.   (3,0): out of the queue.
    # (1,0): f8+. Computed: E (2,0) 4 and S (1,1) 4, as before; W (0,0) infinite, g 6, f10-.
    # (3,1): f8+. Computed: W (2,1) 5 over (1,1), g 3, f6-.
    # (2,1): f8+. Computed: E (3,1) infinite, out; W (1,1) infinite, g 4, f8-; N (2,0) infinite, out.
    # At f6+: (0,1), where it was put before the gate opened; now it has 5+3+2 and goes back: one reinsertion.
    # (4,1), g 1, 1+3+2: W (3,1) rhs 2.  (3,1), g 2: W (2,1) rhs 3.  (2,1), g 3: W (1,1) rhs 4, like its g, out; N
    # (2,0) rhs 4.  (2,0), the start, g 4. Nine expanded, and 3 + 2 + 3 + 1 + 3 values computed.
    THIRD = ((2, 0), (3, 0), (1, 0), (3, 1), (2, 1), (4, 1), (3, 1), (2, 1), (2, 0))

    def test_a_gate_that_opens_and_one_that_closes(self, act_out: Callable[..., Any]) -> None:
        agent, world = start(GATE, "buckets")
        trace = act_out(agent, world)
        assert trace.path == [(0, 0), (1, 0), (2, 0), (2, 1), (3, 1), (4, 1), (4, 0)]
        assert trace.expansions == [7, 2, 9, 0, 0, 0]
        assert trace.scans == [8, 4 + 2 + 1, 12 + 9 + 1, 1, 1, 1]
        assert agent.reinsertions == 1

    def test_the_order_of_expansion(self) -> None:
        for made, cells in enumerate((self.FIRST, self.SECOND, self.THIRD)):
            assert expanded(GATE, "buckets", made) == list(cells)


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

    def test_g_of_the_start_is_exact_on_large_maps_in_fog_as_well(self, queue: str) -> None:
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
    def test_all_queues_have_the_same_g_at_equal_positions(self, problem: Problem) -> None:
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
    def test_a_goal_out_of_reach_is_known_at_once(self, queue: str) -> None:
        problem = Problem(drawn("..#.", "..#.", connectivity=4), (0, 0), (3, 0), allow_unsolvable=True)
        run = agents.run("dstar-lite", problem, queue=queue)
        assert (run.outcome, run.moves, run.expansions) == ("no path", 0, 2)

    def test_a_goal_that_fog_hides_for_good_is_given_up_when_all_of_the_wall_is_seen(self, queue: str) -> None:
        # All of the wall has to be seen: from the start to its other end.
        problem = Problem(drawn("..#.", "..#.", "..#.", connectivity=4), (0, 0), (3, 0), 1, allow_unsolvable=True)
        run = agents.run("dstar-lite", problem, queue=queue)
        assert (run.outcome, run.path.tolist()[-1]) == ("no path", [1, 2])

    def test_a_way_that_closes_ends_a_run_and_one_that_opens_again_is_taken(self, queue: str) -> None:
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

    def test_a_goal_that_is_closed_itself_is_reached_when_it_opens_again(self, queue: str) -> None:
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

    def test_dstar_lite_tells_the_way_it_still_has_to_go(self) -> None:
        problem = Problem(drawn("..#.", "..#.", "...."), (1, 0), (3, 0))
        agent, _ = start(problem)
        agent.act()
        decision = agent.explain()
        assert (decision.target, decision.g, decision.f, decision.planned) == ((3, 0), 6.0, 6.0, True)

    def test_dstar_lite_tells_nothing_before_it_knows_the_way(self) -> None:
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


def test_vertices_in_pages_serve_a_small_map() -> None:
    with in_pages():  # as in a squad of many units
        agent = agents.make("dstar-lite")
        run = agents.run(agent, FOGGY)
    assert agent.memory.queue.pages is not None
    assert run.path.tolist() == agents.run("dstar-lite", FOGGY).path.tolist()

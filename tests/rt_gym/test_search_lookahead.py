"""Local search and lookahead against the plain references, and ties that are broken at random."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from profiles import examples
from reference import plain_astar, plain_grid, plain_lrta, plain_lss_lrta
from reference.flat_arrays import Position, flat, logging_trip, positions, walked
from reference.plain_oracle import Problem as PlainProblem
from reference.plain_oracle import problems, random_problem
from reference.small_maps import drawn
from rt_gym import Grid, Problem
from rt_gym.cost import STRAIGHT
from rt_gym.search.local import bounded_astar, frontier_update, make_local
from rt_gym.search.lookahead import general_lrta, look_ahead
from rt_gym.search.space import NONE, make_space
from rt_gym.terrain import STEPS, Terrain
from rt_gym.trip import CUT


@pytest.fixture
def priced(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give every direction a price of its own, to the reference by this fixture and to kernels by what it returns."""

    def set_prices(grid: Grid, prices: list[int]) -> Terrain:
        table = dict(zip(STEPS, prices, strict=True))
        monkeypatch.setattr(plain_grid, "step_cost", lambda _, a, b: table[b[0] - a[0], b[1] - a[1]])
        return grid.terrain._replace(cost=np.array(prices, np.int64))

    return set_prices


def assert_local_search_of_the_reference(
    terrain: Terrain, problem: PlainProblem, h: dict[Position, int], lookahead: int
) -> None:
    grid, start, goal = problem
    table, trip, view = flat(grid, h), logging_trip(grid), plain_grid.Map.of(grid)
    local = make_local(make_space(table.size))
    best = int(bounded_astar(terrain, trip, local, table, grid.cell(start), grid.cell(goal), lookahead))
    plain = plain_astar.a_star(view, start, goal, lambda cell: h[cell], lookahead)
    assert positions(grid, trip.log[: trip.meter[0].logged]) == plain.closed
    assert local.space.state[0].closed == len(plain.closed)
    assert local.space.state[0].slots == len(plain.order)
    assert grid.position(int(local.space.cell[best])) == plain.best
    found, popped = plain_lss_lrta.frontier_update(view, plain, h)
    frontier_update(terrain, trip, local, table)
    assert trip.meter[0].learning_ops == len(popped)
    assert table.tolist() == flat(grid, {cell: max(h[cell], found.get(cell, 0)) for cell in h}).tolist()


class TestLocal:
    @given(problems(max_side=12), st.integers(1, 60), st.integers(0, 2**32 - 1))
    @examples(80)
    def test_search_and_learning_are_those_of_the_reference(
        self, problem: PlainProblem, lookahead: int, seed: int
    ) -> None:
        # With random values on top of the heuristic, so that neither search can rely on consistency.
        grid, start, goal = problem
        if start == goal:
            return
        rng = np.random.default_rng(seed)
        extra = rng.integers(0, 4, size=(grid.height, grid.width))
        h = {
            cell: value + int(extra[cell[1], cell[0]]) * STRAIGHT * (cell != goal)
            for cell, value in plain_grid.initial_heuristic(grid, goal).items()
        }
        assert_local_search_of_the_reference(grid.terrain, problem, h, lookahead)

    def test_any_prices_give_the_values_of_the_reference(self, priced: Any) -> None:
        # With prices from 1 to 9 per direction values in the queue fall by more than the gap to their neighbours.
        rng = np.random.default_rng(14)
        for _ in range(250):
            problem = random_problem(rng, 11, density=float(rng.uniform(0, 0.3)), connectivity=8)
            grid, start, goal = problem
            if start == goal:
                continue
            terrain = priced(grid, [int(price) for price in rng.integers(1, 10, size=8)])
            values = rng.integers(0, 15, size=(grid.height, grid.width))
            h = {(x, y): int(values[y, x]) * ((x, y) != goal) for x, y in plain_grid.cells(grid)}
            assert_local_search_of_the_reference(terrain, problem, h, int(rng.integers(1, 50)))

    def test_a_refusing_meter_stops_the_search_where_it_is(self) -> None:
        grid = drawn(*["......"] * 6)
        trip, h = logging_trip(grid), flat(grid, plain_grid.initial_heuristic(grid, (5, 5)))
        trip.meter[0].limit = 3
        local = make_local(make_space(h.size))
        assert bounded_astar(grid.terrain, trip, local, h, grid.cell((0, 0)), grid.cell((5, 5)), 10) != NONE
        assert local.space.state[0].closed == trip.meter[0].expansions == 3

    def test_an_empty_open_list_has_no_best(self) -> None:
        grid = drawn("..#.")
        trip, h = logging_trip(grid), flat(grid, plain_grid.initial_heuristic(grid, (3, 0)))
        local = make_local(make_space(h.size))
        assert bounded_astar(grid.terrain, trip, local, h, grid.cell((0, 0)), grid.cell((3, 0)), 10) == NONE


class TestLookahead:
    def test_any_prices_give_the_step_of_the_reference(self, priced: Any) -> None:
        # With whole prices from 1 to 5 per direction and random values, states that were already expanded are reached
        # again at a lower or at the same cost all the time, which real prices do rarely.
        rng, again = np.random.default_rng(4), 0
        for _ in range(400):
            grid, start, goal = random_problem(rng, 9, density=float(rng.uniform(0, 0.35)), connectivity=8)
            if start == goal:
                continue
            depth = int(rng.integers(1, 8))
            terrain = priced(grid, [int(price) for price in rng.integers(1, 6, size=8)])
            values = rng.integers(0, 12, size=(grid.height, grid.width))
            h = {(x, y): int(values[y, x]) * ((x, y) != goal) for x, y in plain_grid.cells(grid)}
            table, trip = flat(grid, h), logging_trip(grid)
            space = make_space(table.size)
            found = general_lrta(terrain, trip, space, table, grid.cell(start), grid.cell(goal), depth)
            plan = plain_lrta.plan(plain_grid.Map.of(grid), start, goal, depth, h)
            assert positions(grid, trip.log[: trip.meter[0].logged]) == plan.expanded
            assert table.tolist() == flat(grid, h).tolist()
            assert found == len(plan.steps)
            assert walked(start, trip.plan[: max(0, int(found))]) == plan.steps
            again += int(trip.meter[0].scans - trip.meter[0].expansions)
        assert again > 100

    def test_any_prices_give_the_costs_and_values_of_the_reference(self, priced: Any) -> None:
        # Few different prices and a deep search make many equal costs, whose parents change late and far ahead.
        rng = np.random.default_rng(5)
        for _ in range(300):
            grid, start, goal = random_problem(rng, 10, density=float(rng.uniform(0, 0.3)), connectivity=8)
            if start == goal:
                continue
            depth = int(rng.integers(3, 10))
            terrain = priced(grid, [int(price) for price in rng.integers(1, int(rng.integers(3, 7)), size=8)])
            values = rng.integers(0, 20, size=(grid.height, grid.width))
            h = {(x, y): int(values[y, x]) for x, y in plain_grid.cells(grid)}
            space, trip = make_space(terrain.mask.size), logging_trip(grid)
            look_ahead(terrain, trip, space, flat(grid, h), grid.cell(start), grid.cell(goal), depth)
            ball = plain_lrta.look_ahead(plain_grid.Map.of(grid), start, goal, depth)
            g = plain_lrta.cheapest(ball)
            parent = plain_lrta.canonical_parents(ball, g)
            f = plain_lrta.path_max(ball, g, parent, h)
            size = int(space.state[0].slots)
            states = positions(grid, space.cell[:size])
            assert states == ball.discovered
            assert space.g[:size].tolist() == [g[cell] for cell in states]
            assert [states[slot] for slot in space.parent[1:size]] == [parent[cell] for cell in states[1:]]
            assert space.f[1:size].tolist() == [f[cell] for cell in states[1:]]

    @given(problems(max_side=12), st.integers(1, 7))
    @examples(60)
    def test_real_prices_give_the_costs_of_the_reference(self, problem: PlainProblem, depth: int) -> None:
        grid, start, goal = problem
        if start == goal:
            return
        space, trip = make_space(grid.terrain.mask.size), logging_trip(grid)
        h = flat(grid, plain_grid.initial_heuristic(grid, goal))
        look_ahead(grid.terrain, trip, space, h, grid.cell(start), grid.cell(goal), depth)
        ball = plain_lrta.look_ahead(plain_grid.Map.of(grid), start, goal, depth)
        g = plain_lrta.cheapest(ball)
        states = positions(grid, space.cell[: space.state[0].slots])
        assert states == ball.discovered
        assert space.g[: len(states)].tolist() == [g[cell] for cell in states]

    @pytest.mark.parametrize("depth", [5, 30, 1000])
    def test_a_depth_beyond_the_component_sees_the_whole_way(self, depth: int) -> None:
        grid = drawn("....", ".##.", ".#..", connectivity=4)
        run = agents.run("lrta", Problem(grid, (0, 2), (2, 2)), depth=depth)
        assert run.suboptimality == 1.0
        assert run.first_move_expansions == (5 if depth == 5 else 8)

    @pytest.mark.parametrize("depth", [3, 4, 1000])
    def test_a_component_without_the_goal_is_seen_through(self, depth: int) -> None:
        problem = Problem(drawn("...#."), (0, 0), (4, 0), allow_unsolvable=True)
        run = agents.run("lrta", problem, depth=depth)
        assert (run.outcome, run.moves, run.expansions) == ("no path", 0, 3)

    @pytest.mark.parametrize(("limit", "cut"), [(24, True), (25, False), (26, False)])
    def test_a_refusing_meter_cuts_the_plan(self, limit: int, cut: bool) -> None:
        grid = drawn(*["......."] * 7)
        trip, h = logging_trip(grid), flat(grid, plain_grid.initial_heuristic(grid, (0, 6)))
        before = h.copy()
        trip.meter[0].limit = limit
        space = make_space(h.size)
        found = general_lrta(grid.terrain, trip, space, h, grid.cell((3, 3)), grid.cell((0, 6)), 3)
        assert found == (CUT if cut else 1)
        assert trip.meter[0].expansions == min(limit, 25)
        assert not cut or (h == before).all()


class TestRandomTies:
    """With all values equal and four neighbours, all states at the edge of a lookahead are equally good."""

    GRID = drawn(*["......."] * 7, connectivity=4)

    # Depth two draws among eight states: two steps E, S, W, N, and the diagonal cells. Of these SE and NE were first
    # reached over E, SW over S and NW over W, so that the first moves E, S, W, N stand for 3, 2, 2 and 1 of them.
    @pytest.mark.parametrize(
        ("agent_id", "options", "shares"),
        [
            ("lrta", {"depth": 1}, (2, 2, 2, 2)),
            ("lrta", {"depth": 2}, (3, 2, 2, 1)),
            ("lss-lrta", {"lookahead": 1}, (2, 2, 2, 2)),
        ],
    )
    def test_every_equal_state_gets_its_share(
        self, agent_id: str, options: dict[str, Any], shares: tuple[int, ...]
    ) -> None:
        agent = agents.make(agent_id, tie="random", **options)
        problem = Problem(self.GRID, (3, 3), (0, 6))
        counts = [0, 0, 0, 0]
        for seed in range(800):
            agent.reset(problem.view(), seed)
            agent.learned[:] = 0
            counts[agent.act()] += 1
        expected = [100 * share for share in shares]
        assert all(abs(count - mean) < 50 for count, mean in zip(counts, expected, strict=True))

    @pytest.mark.parametrize(
        ("agent_id", "options"), [("lrta", {"depth": 1}), ("lrta", {"depth": 2}), ("lss-lrta", {"lookahead": 1})]
    )
    def test_without_chance_the_first_of_equal_moves_is_east(self, agent_id: str, options: dict[str, Any]) -> None:
        agent = agents.make(agent_id, **options)
        agent.reset(Problem(self.GRID, (3, 3), (0, 6)).view())
        agent.learned[:] = 0
        assert agent.act() == 0

    @pytest.mark.parametrize("agent_id", ["astar", "weighted-astar"])
    def test_both_first_moves_of_a_star_are_taken(self, agent_id: str) -> None:
        agent = agents.make(agent_id, tie="random")
        problem = Problem(self.GRID, (0, 0), (6, 6))
        counts = [0, 0]
        for seed in range(100):
            agent.reset(problem.view(), seed)
            counts[agent.act()] += 1
        assert min(counts) > 25

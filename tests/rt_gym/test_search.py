"""The shared search kernels against sorted lists, SciPy, and the plain references."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import agents
from profiles import examples
from reference import plain_astar, plain_grid, plain_lrta, plain_lss_lrta
from reference.plain_oracle import Problem as PlainProblem
from reference.plain_oracle import distances, grids, problems, random_problem, scipy_distances
from reference.small_maps import drawn
from rt_gym import Grid, InputError, Problem, distance_field
from rt_gym.cost import INF, STRAIGHT
from rt_gym.meter import UNLIMITED
from rt_gym.search.astar import (
    EXHAUSTED,
    FOUND,
    INTERRUPTED,
    Buckets,
    begin_astar,
    make_buckets,
    resume_astar,
    shortest_cost,
)
from rt_gym.search.distance import exact_distances
from rt_gym.search.heap import Heap, heapify, lower, pop, push
from rt_gym.search.local import bounded_astar, frontier_update, make_local
from rt_gym.search.lookahead import general_lrta, look_ahead
from rt_gym.search.space import NONE, Space, draw, forget, give_slot, make_space, trace
from rt_gym.terrain import STEPS, Terrain
from rt_gym.trip import CUT, Trip, make_trip

Position = tuple[int, int]

LAST_STAMP = 2**31 - 1


def positions(grid: Grid, cells: Any) -> list[Position]:
    return [grid.position(int(cell)) for cell in cells]


def walked(grid: Grid, start: Position, plan: Any) -> list[Position]:
    """Return the cells reached from ``start`` by a plan's directions."""
    path = []
    x, y = start
    for d in plan:
        x, y = x + STEPS[d][0], y + STEPS[d][1]
        path.append((x, y))
    return path


def flat(grid: Grid, values: dict[Position, int]) -> NDArray[np.int64]:
    """Return values by position as the flat, bordered array of kernels."""
    h = np.zeros(grid.terrain.mask.size, np.int64)
    for cell, value in values.items():
        h[grid.cell(cell)] = value
    return h


def logging_trip(grid: Grid) -> Trip:
    return make_trip(grid.terrain.mask.size, log=grid.terrain.mask.size)


class TestHeap:
    def make(self, keys: list[tuple[int, int, int]]) -> Heap:
        columns = np.array(keys, np.int64).reshape(-1, 3).T
        room = len(keys)
        return Heap(
            item=np.empty(room, np.int32),
            at=np.full(room, NONE, np.int32),
            key=columns[0].copy(),
            tie=columns[1].copy(),
            rank=columns[2].astype(np.int32),
            size=np.zeros(1, np.int64),
        )

    KEYS = st.lists(st.tuples(st.integers(-3, 3), st.integers(-2, 2)), min_size=1, max_size=40)

    @pytest.mark.plain
    @given(KEYS)
    def test_slots_come_out_by_key_then_tie_then_rank(self, pairs: list[tuple[int, int]]) -> None:
        keys = [(*pair, rank) for rank, pair in enumerate(pairs)]
        for fill in ("push", "heapify"):
            heap = self.make(keys)
            if fill == "push":
                for slot in range(len(keys)):
                    push(heap, np.int64(slot))
            else:
                heap.item[:] = np.arange(len(keys))
                heap.size[0] = len(keys)
                heapify(heap)
            out = [int(pop(heap)) for _ in keys]
            assert out == sorted(range(len(keys)), key=lambda slot: keys[slot])
            assert heap.size[0] == 0
            assert (heap.at == NONE).all()

    @pytest.mark.plain
    @given(KEYS, st.randoms(use_true_random=False))
    def test_lowered_keys_and_mixed_pops_keep_the_order(self, pairs: list[tuple[int, int]], random: Any) -> None:
        keys = {slot: (*pair, slot) for slot, pair in enumerate(pairs)}
        heap = self.make(list(keys.values()))
        inside: set[int] = set()
        for slot in keys:
            push(heap, np.int64(slot))
            inside.add(slot)
            chosen = random.choice(sorted(inside))
            fall = random.randrange(3)
            keys[chosen] = (keys[chosen][0] - fall, keys[chosen][1], keys[chosen][2])
            heap.key[chosen] -= fall
            lower(heap, np.int64(chosen))
            if random.random() < 0.3:
                first = int(pop(heap))
                assert first == min(inside, key=lambda other: keys[other])
                inside.remove(first)
            for place in range(int(heap.size[0])):
                assert heap.at[heap.item[place]] == place
        assert [int(pop(heap)) for _ in range(len(inside))] == sorted(inside, key=lambda other: keys[other])


class TestSpace:
    def test_a_new_search_forgets_the_old_one(self) -> None:
        space = make_space(10)
        base = forget(space)
        give_slot(space, base, np.int64(0), np.int64(4))
        assert space.seat[4] - base == 0
        base = forget(space)
        assert (space.seat - base < 0).all()

    @pytest.mark.plain
    def test_stamps_start_again_at_their_end(self) -> None:
        space = make_space(10)
        space.state[0].stamp = LAST_STAMP - 2
        for _ in range(5):
            base = forget(space)
            assert base > 0
            assert (space.seat - base < 0).all()
            for slot in range(10):
                give_slot(space, base, np.int64(slot), np.int64(9 - slot))
            assert (space.seat - base).tolist() == list(range(9, -1, -1))
        assert space.state[0].stamp < 10

    @pytest.mark.parametrize(
        ("agent_id", "options"),
        [("astar", {}), ("weighted-astar", {}), ("lrta", {"depth": 3}), ("lss-lrta", {"lookahead": 6})],
    )
    def test_agents_do_not_notice_the_end_of_the_stamps(self, agent_id: str, options: dict[str, Any]) -> None:
        rng = np.random.default_rng(2)
        for _ in range(8):
            grid, start, goal = random_problem(rng, 12, density=0.3)
            problem = Problem(grid, start, goal, vision=1)
            fresh, old = agents.make(agent_id, **options), agents.make(agent_id, **options)
            expected = agents.run(fresh, problem)
            agents.run(old, problem)
            space = next(part for part in parts(old.memory) if isinstance(part, Space))
            space.state[0].stamp = LAST_STAMP - 3
            run = agents.run(old, problem)
            assert run.path.tolist() == expected.path.tolist()
            assert (run.expansions, run.scans) == (expected.expansions, expected.scans)

    def test_random_numbers_have_31_bits_and_spread(self) -> None:
        random = np.array([1], np.uint64)
        numbers = [int(draw(random)) for _ in range(4096)]
        assert all(0 <= number < 2**31 for number in numbers)
        assert random[0] != 0
        counts = np.bincount([number >> 27 for number in numbers], minlength=16)
        assert counts.min() > 180  # 256 on average
        assert counts.max() < 340

    @pytest.mark.plain
    def test_random_numbers_are_those_of_the_published_generator(self) -> None:
        # Marsaglia's xorshift with the shifts 13, 7, 17, in Python's own whole numbers.
        random, state = np.array([88172645463325252], np.uint64), 88172645463325252
        for _ in range(20):
            state ^= state << 13 & 2**64 - 1
            state ^= state >> 7
            state ^= state << 17 & 2**64 - 1
            assert int(draw(random)) == state >> 33


def parts(value: Any) -> list[Any]:
    """Return a nested tuple's parts, those of parts included."""
    found = [value]
    if isinstance(value, tuple) and not isinstance(value, Space):
        for part in value:
            found.extend(parts(part))
    return found


class TestDistances:
    @given(grids(), st.data())
    @examples(80)
    def test_the_field_is_that_of_scipy_and_of_the_exact_oracle(self, grid: Grid, data: st.DataObject) -> None:
        goal = data.draw(st.sampled_from(sorted(plain_grid.Map.of(grid).free)))
        np.testing.assert_allclose(distance_field(grid, goal), scipy_distances(grid, goal), rtol=1e-9)
        oracle, found = distances(grid, goal), exact_distances(grid, goal)
        for cell in plain_grid.cells(grid):
            assert found[grid.cell(cell)] == oracle.get(cell, INF)

    @pytest.mark.plain
    def test_a_field_by_hand(self) -> None:
        field = distance_field(drawn("..#", ".#.", "..."), (0, 0))
        assert field.tolist() == [[0, 1, np.inf], [1, np.inf, 5], [2, 3, 4]]

    @pytest.mark.parametrize("goal", [(1, 0), (3, 0), (0, -1)])
    def test_a_goal_that_is_no_free_cell_is_refused(self, goal: Position) -> None:
        with pytest.raises(InputError, match="no free cell"):
            distance_field(drawn(".#."), goal)


class AStarSearch:
    """One A* search, step by step."""

    def __init__(self, grid: Grid, start: Position, goal: Position, weight: Fraction = Fraction(1)) -> None:
        self.grid, self.start, self.goal = grid, grid.cell(start), grid.cell(goal)
        self.buckets: Buckets = make_buckets(grid.terrain, weight)
        self.trip = logging_trip(grid)
        begin_astar(grid.terrain, self.buckets, self.start, self.goal)

    def resume(self, limit: int = UNLIMITED) -> int:
        return int(resume_astar(self.grid.terrain, self.trip, self.buckets, self.goal, limit))

    @property
    def expanded(self) -> list[Position]:
        return positions(self.grid, self.trip.log[: self.trip.meter[0].logged])

    @property
    def path(self) -> list[Position]:
        plan = np.empty(self.grid.terrain.mask.size, np.uint8)
        length = trace(self.buckets.space, np.int64(self.buckets.lowest.item[0]), plan)
        return walked(self.grid, self.grid.position(self.start), plan[:length])


WEIGHTS = st.sampled_from([Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(5), Fraction(1000)])


class TestAStar:
    @given(problems())
    @examples(80)
    def test_cost_and_order_are_those_of_the_reference(self, problem: PlainProblem) -> None:
        grid, start, goal = problem
        search = AStarSearch(grid, start, goal)
        assert search.resume() == FOUND
        plain = plain_astar.plan(plain_grid.Map.of(grid), start, goal)
        assert search.expanded == plain.expanded
        assert search.path == plain.steps
        assert search.trip.meter[0].expansions == search.trip.meter[0].scans == len(plain.expanded)

    @given(problems(max_side=16), WEIGHTS)
    @examples(80)
    def test_weighted_order_is_that_of_the_reference(self, problem: PlainProblem, weight: Fraction) -> None:
        grid, start, goal = problem
        search = AStarSearch(grid, start, goal, weight)
        assert search.resume() == FOUND
        plain = plain_astar.plan(plain_grid.Map.of(grid), start, goal, float(weight))
        assert search.expanded == plain.expanded
        assert search.path == plain.steps
        cost = plain_grid.path_cost(grid, [start, *search.path])
        assert cost <= weight * distances(grid, goal)[start]

    @given(problems())
    @examples(80)
    def test_no_state_is_expanded_twice_or_beyond_the_solution_cost(self, problem: PlainProblem) -> None:
        grid, start, goal = problem
        search = AStarSearch(grid, start, goal)
        search.resume()
        solution, near_start = distances(grid, goal)[start], distances(grid, start)
        assert len(set(search.expanded)) == len(search.expanded)
        assert goal not in search.expanded
        assert all(near_start[cell] + plain_grid.h0(grid, cell, goal) <= solution for cell in search.expanded)
        assert plain_grid.path_cost(grid, [start, *search.path]) == solution == shortest_cost(grid, start, goal)

    @given(problems(max_side=14), WEIGHTS, st.lists(st.integers(0, 9), min_size=1, max_size=12))
    @examples(60)
    def test_interruptions_change_nothing(self, problem: PlainProblem, weight: Fraction, portions: list[int]) -> None:
        grid, start, goal = problem
        whole, pieces, metered = (AStarSearch(grid, start, goal, weight) for _ in range(3))
        whole.resume()
        for portion in portions:
            done = len(pieces.expanded)
            if pieces.resume(portion) == FOUND:
                break
            assert len(pieces.expanded) == done + portion
        for portion in portions:
            metered.trip.meter[0].limit = metered.trip.meter[0].expansions + portion
            if metered.resume() == FOUND:
                break
            assert metered.trip.meter[0].expansions == metered.trip.meter[0].limit
        metered.trip.meter[0].limit = UNLIMITED
        for search in (pieces, metered):
            assert search.resume() == search.resume() == FOUND
            assert (search.expanded, search.path) == (whole.expanded, whole.path)

    def test_an_interrupted_search_says_so(self) -> None:
        search = AStarSearch(drawn("....."), (0, 0), (4, 0))
        assert [search.resume(limit) for limit in (0, 1, 2, 0, 1, 0)] == [INTERRUPTED] * 4 + [FOUND] * 2
        assert search.expanded == [(0, 0), (1, 0), (2, 0), (3, 0)]

    def test_without_a_way_everything_in_reach_is_expanded(self) -> None:
        search = AStarSearch(drawn("..#.", "..#."), (0, 0), (3, 0))
        assert search.resume() == search.resume() == EXHAUSTED
        assert sorted(search.expanded) == [(0, 0), (0, 1), (1, 0), (1, 1)]
        assert shortest_cost(search.grid, (0, 0), (3, 0)) == INF

    @pytest.mark.plain
    def test_a_search_can_be_begun_again_in_the_same_memory(self) -> None:
        rng = np.random.default_rng(6)
        grid, start, goal = random_problem(rng, 14, density=0.3)
        used = AStarSearch(grid, start, goal)
        used.resume(5)
        begin_astar(grid.terrain, used.buckets, used.goal, used.start)
        used.trip.meter[0].logged = 0
        assert resume_astar(grid.terrain, used.trip, used.buckets, used.start, UNLIMITED) == FOUND
        fresh = AStarSearch(grid, goal, start)
        fresh.resume()
        assert used.expanded == fresh.expanded


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
            assert walked(grid, start, trip.plan[: max(0, int(found))]) == plan.steps
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

"""PR LRTS: what it has in common with LRTS, its corridors, its guards, and which parameters are refused."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agents
from agents.kernels.pr_corridor import begin_corridor, lead_to_region, resume_corridor, widen
from agents.knowledge.region_graph import search_regions
from agents.knowledge.regions import prepare
from agents.pr_lrts import PATIENCE
from reference import plain_lrts, plain_pr_lrts
from reference.plain_grid import Map, Plan, Position, learner_trial
from reference.plain_oracle import distances, random_problem
from reference.plain_pr_lrts import Graph, refine
from reference.small_maps import HOOK, ROUND_THE_HOOK, drawn
from rt_gym import Budget, Change, Grid, InputError, Problem, World, sample_problems
from rt_gym.maps.generate import rooms
from rt_gym.meter import UNLIMITED
from rt_gym.search.astar import EXHAUSTED, FOUND
from rt_gym.search.space import NONE
from rt_gym.trip import make_trip

RULES = [{"connectivity": 4}, {"connectivity": 8, "cost": "unit"}, {"connectivity": 8, "cost": "octile"}]
ROOMS = rooms(48, 48, 7, 0.7, 3)


def some_problems(seed: int, count: int, side: int) -> list[Problem]:
    rng = np.random.default_rng(seed)
    return [
        Problem(*random_problem(rng, side, density=float(rng.uniform(0.1, 0.35)), **RULES[k % 3])) for k in range(count)
    ]


def trials_of(agent_id: str, problem: Problem, **settings: Any) -> list[Any]:
    run = agents.run(agent_id, problem, trials=4, max_moves=20_000, **settings)
    return [(trial.path.tolist(), trial.h_updates) for trial in run.trials or (run,)]


class TestLevelZero:
    @pytest.mark.parametrize("quota", [None, 0, 5])
    @pytest.mark.parametrize("gamma", [1, 0.5])
    def test_with_one_layer_it_is_lrts_trial_for_trial(self, gamma: float, quota: float | None) -> None:
        for problem in some_problems(1, 15, 12):
            same = trials_of("pr-lrts", problem, level=0, depth=1, gamma=gamma, quota=quota)
            assert same == trials_of("lrts", problem, depth=1, gamma=gamma, quota=quota)

    @pytest.mark.parametrize("kind", ["clique", "tiles"])
    @pytest.mark.parametrize("quota", [None, 0, 5])
    @pytest.mark.parametrize(("depth", "gamma"), [(2, 1), (3, 0.5), (5, 1)])
    def test_whole_ways_are_those_of_lrts(self, depth: int, gamma: float, quota: float | None, kind: str) -> None:
        for problem in some_problems(2, 15, 12):
            settings = {"depth": depth, "gamma": gamma, "quota": quota}
            same = trials_of("pr-lrts", problem, level=0, refine="path", abstraction=kind, **settings)
            assert same == trials_of("lrts", problem, **settings)

    @pytest.mark.parametrize(("depth", "gamma"), [(2, 1.0), (3, 0.5), (4, 1.0)])
    def test_first_steps_are_those_of_lrts_with_one_move_per_plan_until_that_goes_in_circles(
        self, depth: int, gamma: float
    ) -> None:
        compared = whole = 0
        for problem in some_problems(3, 30, 12):
            theirs, rounds = one_move_per_plan(problem, depth, gamma)
            run = agents.run("pr-lrts", problem, level=0, depth=depth, gamma=gamma)
            ours = [tuple(cell) for cell in run.path.tolist()]
            assert run.solved
            assert ours[: rounds + 1] == theirs[: rounds + 1]
            compared += rounds
            whole += ours == theirs
        assert compared > 100
        assert whole > 10


def one_move_per_plan(problem: Problem, depth: int, gamma: float) -> tuple[list[Position], int]:
    """Return the path of LRTS that makes one move per plan, and how many moves it makes before it goes in circles."""
    agent = plain_lrts.Agent(problem.grid, problem.goal, depth, gamma, None)
    planned: dict[Position, int] = {}
    rises, moves, circles = 0, 0, False

    def first_step(view: Map, s: Position, h: dict[Position, int]) -> Plan:
        nonlocal rises, moves, circles
        agent.steps = []
        plan = agent.plan(view, s, h)
        rises += len(plan.raised)
        circles = circles or (not plan.raised and planned.get(s) == rises)
        planned[s] = rises
        moves += not circles
        return Plan(plan.steps[:1], plan.expanded, raised=plan.raised)

    run = learner_trial(problem.grid, problem.start, problem.goal, first_step, None, (), 300, None)
    return run.path, moves


class Fenced(Map):
    """A map on which only some cells may be entered; the others still do not stand in the way of a diagonal step."""

    def __init__(self, grid: Grid, fence: set[Position]) -> None:
        super().__init__(grid, Map.of(grid).free)
        self.fence = fence

    def neighbours(self, cell: Position) -> list[tuple[Position, int]]:
        """Return the steps that stay inside."""
        return [(near, cost) for near, cost in super().neighbours(cell) if near in self.fence]


class TestCorridor:
    def test_a_search_between_neighbouring_regions_finds_the_cheapest_way_inside(self) -> None:
        for problem in some_problems(4, 20, 16):
            grid = problem.grid
            graph, agent = Graph(grid, "clique", 2), agents.make("pr-lrts", level=2)
            agent.reset(problem.view())
            corridor, trip = agent.memory.corridor, make_trip(grid.terrain.free.size)
            for a, others in graph.near.items():
                s = min(graph.nodes[a])
                for b in others:
                    lead_to_region(corridor, b)
                    widen(corridor, a)
                    begin_corridor(grid.terrain, corridor, grid.cell(s))
                    assert resume_corridor(grid.terrain, trip, corridor, 0) == FOUND
                    inside = Fenced(grid, graph.nodes[a] | graph.nodes[b])
                    way = min(cost for cell, cost in distances(inside, s).items() if cell in graph.nodes[b])
                    space = corridor.local.space
                    assert space.g[space.state[0].best] == way
                    assert refine(Map.of(grid), graph, s, {a, b}, set(graph.nodes[b]))[0]

    def test_outside_of_the_corridor_there_is_no_way(self) -> None:
        agent = agents.make("pr-lrts", level=0)
        agent.reset(HOOK.view())
        corridor, trip = agent.memory.corridor, make_trip(HOOK.grid.terrain.free.size)
        lead_to_region(corridor, int(agent.regions.abstraction.region[HOOK.grid.cell((3, 0))]))
        begin_corridor(HOOK.grid.terrain, corridor, HOOK.grid.cell((1, 0)))
        assert resume_corridor(HOOK.grid.terrain, trip, corridor, 0) == EXHAUSTED

    def test_with_a_small_budget_it_stands_still_and_walks_the_same_way(self) -> None:
        for problem in sample_problems(ROOMS, 10, 30, seed=1):
            free = agents.run("pr-lrts", problem, level=4, depth=1)
            small = agents.run("pr-lrts", problem, level=4, depth=1, budget=Budget(2))
            assert small.solved
            assert (small.max_expansions, small.overrun) == (2, False)
            walked = [
                cell for k, cell in enumerate(small.path.tolist()) if k == 0 or cell != small.path[k - 1].tolist()
            ]
            assert walked == free.path.tolist()
            assert small.stays > 0

    @pytest.mark.parametrize("vision", [None, 1, 3])
    @pytest.mark.parametrize("count", ["scans", "expansions"])
    def test_no_limit_is_overrun_and_every_goal_is_reached(self, count: str, vision: int | None) -> None:
        # In fog A* may find no way on a move that it has used up: the next lookahead is for the next move.
        for limit in (1, 2, 3, 7, 10, 20, 30, 60, 100):
            for problem in sample_problems(ROOMS, 6, 30, seed=2, vision=vision):
                for settings in ({}, {"level": 1, "depth": 3}):
                    run = agents.run("pr-lrts", problem, budget=Budget(limit, count), max_moves=100_000, **settings)
                    assert (run.solved, run.overrun) == (True, False), (limit, settings)


class TestLookahead:
    def test_under_any_limit_costs_are_those_of_a_free_search_of_as_many_layers(self) -> None:
        # With more than one layer a region may turn out to be nearer by a longer way, and is then read again: what the
        # limit of scans does not allow of that must not be left half done.
        agent, problem = agents.make("pr-lrts", level=2, depth=6), sample_problems(ROOMS, 1, seed=3)[0]
        agent.reset(problem.view())
        memory = agent.memory
        outcomes = Counter[int]()

        def costs(a: int, depth: int, budget: Budget) -> tuple[int, dict[int, int], int]:
            trip = make_trip(0, budget=budget)
            search = (memory.graph, trip, memory.space, memory.layers, memory.values, 0, a, NONE, depth)
            count, space = int(search_regions(*search)), memory.space
            found = {int(space.cell[u]): int(space.g[u]) for u in range(space.state[0].slots)}
            return count, found, int(trip.meter[0].scans)

        for a in range(0, memory.values.size, 5):
            for limit in range(1, 60, 3):
                count, found, scans = costs(a, 6, Budget(limit, "scans"))
                outcomes[count] += 1
                assert scans <= limit
                assert found == costs(a, count, Budget())[1]
        assert outcomes.keys() == {1, 2, 3, 4, 5, 6}


@pytest.mark.plain
class TestTraces:
    def test_two_rooms_and_a_door(self) -> None:
        # At level 1 the four cells on the left make region 0, the four on the right region 1, and the door region 2:
        # it is a neighbour of both. Centroids: (0.5, 0.5), (3.5, 0.5) and (2, 1). The distance of 0 and 1 is 3, that of
        # the door to each 1.5 + 0.5 (r - 1) = 1.707 with r = 1.414.
        # From (0,0): one region is near. Its value 1.707, with the step 3.414, is more than the 3 of region 0: learned.
        # A* to the door, the box of one cell: (0,0) and (1,1), one diagonal and one straight step.
        # From the door region 1 has 1.707 + 0, which is the door's value: nothing is learned. A* to its nearest cell,
        # (3,1), takes one expansion, and so does A* to the goal from there.
        problem = Problem(drawn("..#..", "....."), (0, 0), (4, 0))
        agent, world = agents.make("pr-lrts", level=1, depth=1), World(problem)
        agent.reset(world.view)
        assert agent.regions.abstraction.sizes.tolist() == [4, 4, 1]
        path, expansions = [world.view.position], []
        while not world.done:
            action = agent.act()
            expansions.append(int(world.trip.meter[0].expansions))
            world.step(action)
            path.append(world.view.position)
        assert path == [(0, 0), (1, 1), (2, 1), (3, 1), (4, 0)]
        assert expansions == [1 + 2, 0, 1 + 1, 1]
        assert agent.count_learned() == 1

    def test_level_0_around_the_hook(self) -> None:
        # (1,0) goes to (1,1) by 1 + (1 + r), its neighbours to the west having 1 + 3 and r + (2 + r). (1,1) goes on to
        # (1,2) by 1 + 2r, as the way back costs 1 + (2 + r). From there it is straight on. Every plan has one expansion
        # among the regions, which are the cells, and one in the corridor of two cells.
        run = agents.run("pr-lrts", HOOK, level=0, depth=1)
        assert [tuple(cell) for cell in run.path.tolist()] == ROUND_THE_HOOK
        assert (run.expansions, run.plans) == (2 * 6, 6)


class TestGuards:
    def test_no_agent_goes_in_circles(self, record_property: Callable[[str, object], None]) -> None:
        # Before the guard a tenth of such runs never ended.
        problems = sample_problems(ROOMS, 30, 30, seed=7)
        for level in (0, 1, 2, 3):
            for control in ("fixed", "dynamic"):
                agent = agents.make("pr-lrts", level=level, depth=5, control=control)
                runs = [agents.run(agent, problem, max_moves=100_000, clock=False) for problem in problems]
                assert all(run.solved for run in runs)
                mean = sum(run.suboptimality or 0 for run in runs) / len(runs)
                record_property(f"suboptimality at level {level}, {control}", round(mean, 3))

    @pytest.mark.parametrize("vision", [None, 1, 3])
    @pytest.mark.parametrize("refine", ["first", "path"])
    @pytest.mark.parametrize("level", [0, 1, 2, 4])
    def test_pr_lrts_arrives_when_a_bridge_has_fallen(self, level: int, refine: str, vision: int | None) -> None:
        islands = drawn(*["." * 13] * 3, *["#.#########.#"] * 3, *["." * 13] * 3)
        for fallen in ((11, 3), (11, 4), (11, 5)):
            problem = Problem(islands, (9, 0), (9, 8), vision, [Change(3, fallen, False)])
            run = agents.run("pr-lrts", problem, level=level, depth=3, refine=refine, trials=2, max_moves=20_000)
            assert run.solved

    def test_a_step_that_cannot_be_refined_is_closed_and_another_one_taken(self) -> None:
        # Two ways around a block, at level 0 of equal length; the upper one closes when the agent is in it.
        grid = drawn(".....", ".###.", ".....", connectivity=4)
        problem = Problem(grid, (0, 1), (4, 1), changes=[Change(2, (2, 0), False)])
        agent = agents.make("pr-lrts", level=0, depth=1)
        run = agents.run(agent, problem)
        assert run.solved
        assert agent.closed > 0 or (2, 2) in [tuple(cell) for cell in run.path.tolist()]

    def test_where_nothing_can_be_refined_it_is_lrta_among_the_cells(self) -> None:
        # The whole map is one region, and a wall cuts it in two but for a gap at the far end.
        grid = drawn(*["." * 9] * 5)
        wall = [Change(1, (4, y), False) for y in range(4)]
        agent = agents.make("pr-lrts", level=6)
        assert agents.run(agent, Problem(grid, (0, 0), (8, 0), changes=wall)).solved
        assert not agent.grounded  # the way round lies within the region
        assert (agent.guarded, agent.guarded_expansions) == (0, 0)
        run = agents.run(agent, Problem(grid, (0, 0), (8, 0), changes=[*wall, Change(1, (4, 4), False)]), max_moves=500)
        assert (run.outcome, agent.grounded) == ("out of moves", True)
        assert agent.guarded == 1
        assert agent.guarded_expansions >= 490  # one for every move but the first ones

    def test_guards_count_as_in_the_plain_reading(self) -> None:
        counted = []
        for problem in sample_problems(ROOMS, 5, 30, seed=7):
            agent = agents.make("pr-lrts", level=2, depth=5)
            agents.run(agent, problem)
            plain = plain_pr_lrts.run(problem.grid, problem.start, problem.goal, level=2, depth=5).memory
            assert (agent.guarded, agent.guarded_expansions) == (plain.fired, plain.fired_expansions)
            counted.append(agent.guarded)
        assert max(counted) > 0

    def test_their_counts_are_those_of_all_trials_since_reset(self) -> None:
        problem, agent, counts = sample_problems(ROOMS, 18, 30, seed=7)[17], agents.make("pr-lrts", level=1), []
        for trials in (1, 2, 1):
            agents.run(agent, problem, trials=trials)
            counts.append((agent.guarded, agent.guarded_expansions))
        assert counts[0] == counts[2]
        assert counts[1] > counts[0] > (0, 0)

    def test_a_door_that_opens_is_found(self) -> None:
        problem = Problem(
            drawn("..#..", "..#.."), (0, 0), (4, 0), changes=[Change(9, (2, 1), True)], allow_unsolvable=True
        )
        assert agents.run("pr-lrts", problem, level=1, max_moves=200).solved
        assert PATIENCE > 9


class TestControl:
    def test_dynamic_depths_are_at_most_the_depth_and_lower_where_less_is_enough(self) -> None:
        problem = sample_problems(ROOMS, 1, 40, seed=2)[0]
        agent = agents.make("pr-lrts", level=1, depth=6, control="dynamic")
        agent.reset(problem.view())
        depths = agent.memory.depths
        assert (depths >= 1).all()
        assert (depths <= 6).all()
        assert len(set(depths.tolist())) > 2

    def test_with_a_depth_of_one_both_controls_are_the_same(self) -> None:
        for problem in some_problems(5, 10, 12):
            fixed, dynamic = (
                trials_of("pr-lrts", problem, level=1, depth=1, control=control) for control in ("fixed", "dynamic")
            )
            assert fixed == dynamic

    def test_dynamic_control_takes_fewer_expansions(self, record_property: Callable[[str, object], None]) -> None:
        problems = sample_problems(ROOMS, 40, 30, seed=3)
        spent = {}
        for control in ("fixed", "dynamic"):
            agent = agents.make("pr-lrts", level=1, depth=6, control=control)
            spent[control] = sum(agents.run(agent, problem, clock=False).expansions_per_move for problem in problems)
        record_property("expansions per move", {control: total / 40 for control, total in spent.items()})
        assert spent["dynamic"] < spent["fixed"]


class TestPreparation:
    def test_regions_are_found_once_per_map_and_timed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        prepare.cache_clear()
        problems = sample_problems(ROOMS, 3, seed=4)
        first, again = (agents.run("pr-lrts", problem, level=3) for problem in problems[:2])
        assert first.precompute_seconds > again.precompute_seconds > 0
        monkeypatch.setattr("agents.knowledge.regions.abstract", None)
        assert agents.run("pr-lrts", problems[2], level=3).solved

    def test_the_layer_of_regions_tells_neighbours_apart(self) -> None:
        agent = agents.make("pr-lrts", level=2)
        problem = sample_problems(ROOMS, 1, seed=5)[0]
        agents.run(agent, problem)
        layers, region = agent.layers(), ROOMS.inner(agent.regions.abstraction.region)
        assert ((layers["regions"] < 0) == ~ROOMS.passable).all()
        beside = ROOMS.passable[:, 1:] & ROOMS.passable[:, :-1] & (region[:, 1:] != region[:, :-1])
        assert (layers["regions"][:, 1:] != layers["regions"][:, :-1])[beside].all()
        assert layers["h"].shape == ROOMS.passable.shape

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *(("level", value) for value in (-1, 15, 1.5, "4", True)),
            *(("depth", value) for value in (0, None)),
            *(("gamma", value) for value in (0, 1.1)),
            *(("refine", value) for value in ("all", "", None, 1)),
            *(("abstraction", value) for value in ("cliques", None)),
            *(("control", value) for value in ("oracle", True)),
        ],
    )
    def test_wrong_parameters_are_refused_by_name(self, name: str, value: Any) -> None:
        with pytest.raises(InputError, match=name) as refusal:
            agents.make("pr-lrts", **{name: value})
        assert "\n" not in str(refusal.value)

    def test_an_open_map_of_any_size_is_one_region_in_the_end(self) -> None:
        run = agents.run("pr-lrts", Problem(Grid(np.ones((20, 20))), (0, 0), (19, 7)), level=8)
        assert run.suboptimality == pytest.approx(1)
        assert run.plans == 1
        assert run.max_expansions < UNLIMITED

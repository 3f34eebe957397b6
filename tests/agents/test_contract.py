"""What holds for every agent, whatever its algorithm; ``reference/settings.py`` says with which settings.

What an algorithm does not promise its class says (``forgets``, ``converges``, ``restless``, ``backward`` and
``by_waypoints`` of ``agents.base.KernelAgent``). There is no table of ids to keep here: ``CONSISTENT`` asks for more
than the contract does.
"""

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import agents
from reference import plain_grid
from reference.plain_oracle import distances, random_problem
from reference.small_maps import CUP, drawn
from rt_gym import STAY, Budget, BudgetExceeded, Change, Grid, Problem, World
from rt_gym.cost import INF, STRAIGHT, encode, to_floats
from rt_gym.search.distance import exact_distances

Settings = dict[str, Any]

# How much an agent knows: a known map, a known map that changes, fog, fog over a map that changes.
KNOWLEDGE = [(None, False), (None, True), (1, False), (2, False), (1, True), (2, True)]
knowledge = pytest.mark.parametrize(("vision", "changing"), KNOWLEDGE)

# Settings under which the values stay consistent after every move (not so for a deeper LRTA*).
CONSISTENT: list[tuple[str, Settings]] = [
    ("lrta", {"depth": 1}),
    ("lss-lrta", {"lookahead": 1}),
    ("lss-lrta", {"lookahead": 5, "commit": "all"}),
    ("lss-lrta", {"lookahead": 5, "commit": "one"}),
    ("lss-lrta", {"lookahead": 30}),
    ("rtaa", {"lookahead": 1}),
    ("rtaa", {"lookahead": 8, "commit": "all"}),
    ("rtaa", {"lookahead": 8, "commit": "one"}),
    ("lrta-k", {"k": 10}),
    ("lrta-k", {"k": 10, "supports": True}),
    ("lrta-k-visited", {"k": 10}),
    ("lrta-ls-k", {"k": 1}),
    ("lrta-ls-k", {"k": 10}),
    *(
        ("lrta-ls-kd", {"k": 10, "d": 8, "lookahead": lookahead, "control": control})
        for lookahead in ("dynamic", "static")
        for control in ("dynamic", "single", "several")
    ),
    ("lrta-ls-kd", {"k": 10, "d": 8, "lookahead": "static", "shared_k": True}),
    ("lrts", {"depth": 1}),
    ("p-lrta", {"queue": 5}),
    ("p-lrta", {"queue": 40}),
    ("oracle-lrta", {"d_max": 1}),
]


@cache
def random_problems(
    seed: int, count: int, vision: int | None = None, changing: bool = False, max_side: int = 9
) -> list[Problem]:
    """Return solvable problems under random rules, most with a detour; changes may make them unsolvable on the way."""
    rng, problems = np.random.default_rng(seed), []
    for _ in range(count):
        grid, start, goal = max((random_problem(rng, max_side) for _ in range(4)), key=detour)
        problems.append(Problem(grid, start, goal, vision, schedule(rng, grid, goal) if changing else None))
    return problems


def detour(problem: tuple[Grid, tuple[int, int], tuple[int, int]]) -> tuple[int, int]:
    """Return by how much the heuristic is wrong at the start, then how far the goal is: harder problems have more."""
    grid, start, goal = problem
    distance = distances(grid, goal)[start]
    return distance - plain_grid.h0(grid, start, goal), distance


def schedule(rng: np.random.Generator, grid: Grid, goal: tuple[int, int]) -> list[Change]:
    """Return random changes in the first moves, of any cell but the goal."""
    cells = [cell for cell in plain_grid.cells(grid) if cell != goal]
    picks = rng.integers(len(cells), size=6)
    return [Change(int(rng.integers(0, 12)), cells[pick], bool(rng.random() < 0.4)) for pick in picks]


def by_waypoints(agent_id: str, settings: Settings) -> bool:
    """Whether an agent goes by subgoals that may lie off every shortest path."""
    return bool(agents.make(agent_id, **settings).by_waypoints)


def path_of(run: agents.Run) -> list[tuple[int, int]]:
    return [(int(x), int(y)) for x, y in run.path]


def assert_legal(problem: Problem, path: list[tuple[int, int]]) -> None:
    """Walk the path again in the plain world, which refuses a step that the true map does not allow at that time."""
    world = plain_grid.World(problem.grid, problem.start, None, problem.changes or ())
    assert path[0] == problem.start
    for a, b in pairwise(path):
        dx, dy = abs(a[0] - b[0]), abs(a[1] - b[1])
        assert max(dx, dy) <= 1
        assert dx + dy <= 1 or problem.grid.connectivity == 8
        world.move(b)


def exact_cost(run: agents.Run) -> int:
    """Return the cost of a run in exact arithmetic."""
    if run.problem.grid.cost == "unit":
        return encode(run.straights + run.diagonals)
    return encode(run.straights, run.diagonals)


def learner(agent_id: str, problem: Problem, settings: Settings) -> tuple[Any, World]:
    """Return an agent with learned values, reset to a world; skip the test for one without."""
    agent, world = agents.make(agent_id, **settings), World(problem)
    agent.reset(world.view, seed=0)
    if agent.learned is None:
        pytest.skip("learns no values")
    return agent, world


def skip_forgetful(agent_id: str) -> None:
    """Skip a test of what trials learn from each other."""
    if agents.load(agent_id).forgets:
        pytest.skip("its values serve one trial only")


class TestMoves:
    @knowledge
    def test_every_move_is_a_legal_step_or_a_stay(
        self, agent_id: str, settings: Settings, vision: int | None, changing: bool
    ) -> None:
        for problem in random_problems(1, 12, vision, changing):
            run = agents.run(agent_id, problem, max_moves=300, **settings)
            assert_legal(problem, path_of(run))
            assert run.moves == len(run.path) - 1

    @knowledge
    def test_no_agent_walks_into_a_wall_that_it_can_know_of(
        self, agent_id: str, settings: Settings, vision: int | None, changing: bool
    ) -> None:
        # Where the path stands still the agent must have chosen to. Small budgets let the map change while it thinks.
        for problem in random_problems(8, 12, vision, changing):
            for budget in (None, 1, Budget(3, on_overrun="idle")):
                run = agents.run(agent_id, problem, budget=budget, max_moves=150, **settings)
                assert run.stays == sum(a == b for a, b in pairwise(path_of(run)))

    @pytest.mark.parametrize("vision", [None, 1, 2])
    def test_the_goal_is_reached_where_there_is_a_way(
        self, agent_id: str, settings: Settings, vision: int | None
    ) -> None:
        for problem in random_problems(2, 15, vision, max_side=12):
            run = agents.run(agent_id, problem, max_moves=100_000, **settings)
            assert run.solved
            assert path_of(run)[-1] == problem.goal
            assert exact_cost(run) >= problem.optimal_cost

    @knowledge
    def test_act_and_run_walk_the_same_path_with_the_same_counts(
        self,
        agent_id: str,
        settings: Settings,
        vision: int | None,
        changing: bool,
        act_out: Callable[..., Any],
        record_of: Callable[..., dict[str, Any]],
    ) -> None:
        for problem in random_problems(3, 8, vision, changing):
            for budget in (None, 5, Budget(5, on_overrun="idle"), Budget(12, "scans")):
                runner, actor = agents.make(agent_id, **settings), agents.make(agent_id, **settings)
                run = agents.run(runner, problem, budget=budget, max_moves=150)
                world = World(problem, budget)
                actor.reset(world.view, seed=0)
                assert act_out(actor, world, 150).record() == record_of(run)
                assert same(actor.learned, runner.learned)

    def test_act_and_run_agree_over_several_trials_with_random_ties(
        self,
        agent_id: str,
        settings: Settings,
        act_out: Callable[..., Any],
        record_of: Callable[..., dict[str, Any]],
    ) -> None:
        for problem in random_problems(4, 4, vision=1, changing=True):
            run = agents.run(agent_id, problem, trials=3, seed=9, tie="random", max_moves=150, **settings)
            agent, world = agents.make(agent_id, tie="random", **settings), World(problem)
            agent.reset(world.view, seed=9)
            for trial in run.trials or [run]:
                assert act_out(agent, world, 150).record() == record_of(trial)
                world.begin_trial()
                agent.begin_trial()

    def test_the_same_seed_gives_the_same_trace(self, agent_id: str, settings: Settings) -> None:
        for problem in random_problems(5, 6):
            runs = [agents.run(agent_id, problem, seed=4, tie="random", **settings) for _ in range(2)]
            assert path_of(runs[0]) == path_of(runs[1])
            assert (runs[0].expansions, runs[0].scans) == (runs[1].expansions, runs[1].scans)

    def test_other_seeds_sooner_or_later_give_another_path(self, agent_id: str, settings: Settings) -> None:
        # On open ground with four neighbours nearly every step is a tie of two equal ones.
        problem = Problem(drawn(*["." * 16] * 16, connectivity=4), (0, 0), (15, 15))
        paths = {
            tuple(path_of(agents.run(agent_id, problem, seed=seed, tie="random", **settings))) for seed in range(12)
        }
        assert len(paths) > 1 or by_waypoints(agent_id, settings)  # irregular regions leave few ties

    def test_without_random_ties_the_seed_changes_nothing(self, agent_id: str, settings: Settings) -> None:
        for problem in random_problems(6, 4):
            paths = [path_of(agents.run(agent_id, problem, seed=seed, **settings)) for seed in (0, 1, None)]
            assert paths[0] == paths[1] == paths[2]

    def test_an_agent_used_again_is_as_good_as_new(self, agent_id: str, settings: Settings) -> None:
        # Among them maps of one size with other rules, and maps of other sizes. Each time it is first stopped in the
        # middle of its thoughts, on the same map the other way round.
        used = agents.make(agent_id, **settings)
        square = [
            Problem(drawn(*CUP, connectivity=connectivity, cost=cost), (2, 2), (6, 2))
            for connectivity, cost in ((8, "octile"), (4, "octile"), (8, "unit"), (8, "octile"))
        ]
        turned = Problem(Grid(np.array(drawn(*CUP).passable).T), (2, 2), (2, 6))
        for problem in [*square, turned, *random_problems(7, 6)]:
            agents.run(used, Problem(problem.grid, problem.goal, problem.start), budget=1, max_moves=2)
            again, fresh = agents.run(used, problem), agents.run(agent_id, problem, **settings)
            assert path_of(again) == path_of(fresh)
            assert (again.expansions, again.scans, again.memory) == (fresh.expansions, fresh.scans, fresh.memory)


class TestCorners:
    def test_a_start_on_the_goal_takes_nothing(self, agent_id: str, settings: Settings) -> None:
        for vision in (None, 1):
            run = agents.run(agent_id, Problem(drawn(*CUP), (3, 3), (3, 3), vision), **settings)
            assert (run.solved, run.moves, run.cost, run.expansions, run.scans) == (True, 0, 0.0, 0, 0)
            assert (run.plans, run.first_move_expansions, run.max_expansions) == (0, 0, 0)
            assert (run.suboptimality, path_of(run)) == (1.0, [(3, 3)])

    def test_act_on_the_goal_stands_still_and_pays_nothing(self, agent_id: str, settings: Settings) -> None:
        world = World(Problem(drawn(*CUP), (3, 3), (3, 3)))
        agent = agents.make(agent_id, **settings)
        agent.reset(world.view)
        assert agent.act() == STAY
        assert (world.view.meter.expansions, world.view.meter.scans) == (0, 0)

    def test_a_single_free_cell(self, agent_id: str, settings: Settings) -> None:
        run = agents.run(agent_id, Problem(drawn("."), (0, 0), (0, 0)), **settings)
        assert (run.outcome, run.moves, run.expansions) == ("goal", 0, 0)

    @pytest.mark.parametrize("goal", [(2, 1), (1, 2), (0, 1), (1, 0), (2, 2), (2, 0), (0, 2), (0, 0)])
    def test_a_goal_next_to_the_start_is_one_move_away(
        self, agent_id: str, settings: Settings, goal: tuple[int, int]
    ) -> None:
        for vision in (None, 1):
            run = agents.run(agent_id, Problem(drawn(*["..."] * 3), (1, 1), goal, vision), **settings)
            assert run.solved
            assert path_of(run) == [(1, 1), goal] or by_waypoints(agent_id, settings)

    @pytest.mark.parametrize("connectivity", [4, 8])
    @pytest.mark.parametrize("cost", ["octile", "unit"])
    def test_open_ground_is_crossed_on_a_shortest_path(
        self, agent_id: str, settings: Settings, connectivity: int, cost: str
    ) -> None:
        # The goal is inside the lookahead of some settings, and beyond that of others.
        grid = drawn(*["......."] * 7, connectivity=connectivity, cost=cost)
        for goal in ((4, 3), (3, 5), (5, 5), (6, 0), (0, 1)):
            problem = Problem(grid, (3, 3), goal)
            run = agents.run(agent_id, problem, **settings)
            assert run.solved
            assert exact_cost(run) == problem.optimal_cost or by_waypoints(agent_id, settings)

    @pytest.mark.parametrize("vision", [None, 1, 2])
    def test_a_dead_end_longer_than_any_lookahead_is_left(
        self, agent_id: str, settings: Settings, vision: int | None
    ) -> None:
        # The goal is behind the eastern end of a corridor of 60 cells; the way out is its western end.
        width = 62
        grid = drawn("." * width, "." + "#" * (width - 1), "." * width, connectivity=4)
        problem = Problem(grid, (60, 0), (61, 2), vision)
        run = agents.run(agent_id, problem, max_moves=1_000_000, **settings)
        assert run.solved
        assert run.optimal == 60 + 2 + 61

    @pytest.mark.parametrize("vision", [None, 1])
    @pytest.mark.parametrize("corner", ["strict", "one", "free"])
    def test_a_goal_out_of_reach_is_a_clean_failure(
        self, agent_id: str, settings: Settings, vision: int | None, corner: str
    ) -> None:
        grid = drawn("....#.", ".##.#.", "....##", "..#...", corner=corner, connectivity=4)
        problem = Problem(grid, (0, 0), (5, 0), vision, allow_unsolvable=True)
        run = agents.run(agent_id, problem, max_moves=80, **settings)
        assert run.outcome in ("no path", "out of moves")
        assert (run.solved, run.suboptimality, run.overrun) == (False, None, False)
        assert run.moves <= 80
        assert_legal(problem, path_of(run))

    def test_a_start_without_any_exit_is_known_at_once(self, agent_id: str, settings: Settings) -> None:
        run = agents.run(agent_id, Problem(drawn(".#."), (0, 0), (2, 0), allow_unsolvable=True), **settings)
        assert (run.outcome, run.moves) == ("no path", 0)
        assert run.expansions == run.max_expansions == run.first_move_expansions <= 1

    def test_a_run_ends_after_the_last_move_allowed(self, agent_id: str, settings: Settings) -> None:
        problem = Problem(drawn(*CUP), (2, 2), (6, 2))
        run = agents.run(agent_id, problem, max_moves=3, **settings)
        assert (run.outcome, run.moves, len(run.path)) == ("out of moves", 3, 4)


class TestBudget:
    @pytest.mark.parametrize("limit", [1, 6, 30])
    @pytest.mark.parametrize("vision", [None, 1])
    def test_no_move_takes_more_expansions_than_the_limit(
        self, agent_id: str, settings: Settings, limit: int, vision: int | None
    ) -> None:
        for problem in random_problems(11, 8, vision, changing=vision is None):
            for mode in ("truncate", "idle"):
                budget = Budget(limit, on_overrun=mode)
                run = agents.run(agent_id, problem, budget=budget, max_moves=200, **settings)
                assert run.max_expansions <= limit

    @pytest.mark.parametrize("limit", [1, 12, 40])
    def test_scans_past_the_limit_are_an_overrun(self, agent_id: str, settings: Settings, limit: int) -> None:
        for problem in random_problems(12, 10):
            run = agents.run(agent_id, problem, budget=Budget(limit, "scans"), max_moves=200, **settings)
            assert run.overrun or run.max_scans <= limit
            assert run.overrun == (run.outcome == "overrun")

    def test_the_bound_of_an_agent_is_enough_for_every_move(self, agent_id: str, settings: Settings) -> None:
        bound = agents.make(agent_id, **settings).bound
        if bound is None:
            pytest.skip("has no bound per move")
        for problem in [*random_problems(13, 8), Problem(drawn(*["." * 12] * 12), (6, 6), (0, 11))]:
            free, limited = (agents.run(agent_id, problem, budget=limit, **settings) for limit in (None, bound))
            assert free.max_expansions <= bound
            assert path_of(limited) == path_of(free)
            assert not limited.overrun

    @pytest.mark.parametrize("count", ["expansions", "scans"])
    @pytest.mark.parametrize("limit", [1, 4, 20])
    def test_truncate_raise_and_idle_see_the_same_overrun(
        self, agent_id: str, settings: Settings, limit: int, count: str
    ) -> None:
        for problem in random_problems(14, 8):
            budgets = [Budget(limit, count, mode) for mode in ("truncate", "idle", "raise")]
            truncated, idle = (agents.run(agent_id, problem, budget=b, max_moves=60, **settings) for b in budgets[:2])
            assert truncated.overrun == (truncated.outcome == "overrun")
            assert idle.outcome != "overrun"
            assert idle.moves >= truncated.moves
            if truncated.overrun:
                assert idle.overrun
                assert path_of(idle)[truncated.moves] == path_of(truncated)[-1]
                assert idle.stays > 0
                with pytest.raises(BudgetExceeded, match=f"move {truncated.moves + 1} .* {limit} {count}"):
                    agents.run(agent_id, problem, budget=budgets[2], max_moves=60, **settings)
            else:
                run = agents.run(agent_id, problem, budget=budgets[2], max_moves=60, **settings)
                assert path_of(run) == path_of(idle) == path_of(truncated)

    def test_a_meter_that_is_used_up_is_no_proof_that_there_is_no_path(self, agent_id: str, settings: Settings) -> None:
        world, agent = World(Problem(drawn(*CUP), (2, 2), (6, 2)), 3), agents.make(agent_id, **settings)
        agent.reset(world.view)
        world.view.meter.charge(3)
        assert (agent.act() == STAY) == (not agents.load(agent_id).restless)
        assert not world.view.meter.stuck
        assert world.view.meter.expansions == 3

    def test_a_budget_alone_chooses_a_setting_that_keeps_it(self, agent_id: str) -> None:
        for limit in (1, 9, 50, 1000):
            for problem in random_problems(15, 5):
                run = agents.run(agent_id, problem, budget=limit, max_moves=20_000)
                assert run.solved
                assert not run.overrun
                assert run.max_expansions <= limit

    def test_expansions_never_outnumber_scans(self, agent_id: str, settings: Settings) -> None:
        for problem in random_problems(16, 8, vision=2, changing=True):
            run = agents.run(agent_id, problem, max_moves=200, **settings)
            assert run.scans >= run.expansions + run.learning_ops
            assert run.max_scans >= run.max_expansions >= run.first_move_expansions


class TestLearning:
    @pytest.mark.parametrize("vision", [None, 1])
    def test_values_stay_admissible_never_fall_and_are_zero_on_the_goal(
        self, agent_id: str, settings: Settings, vision: int | None, act_out: Callable[..., Any]
    ) -> None:
        kind = agents.load(agent_id)
        for problem in random_problems(21, 10, vision):
            agent, world = learner(agent_id, problem, settings)
            exact = exact_distances(problem.grid, problem.goal)
            last = agent.learned.copy()
            for _ in range(2):
                for h in act_out(agent, world, 100_000).h:
                    assert (h <= exact).all() or kind.forgets or not kind.converges
                    assert (h >= last).all()
                    assert h[world.view.goal_cell] == 0
                    last = h
                world.begin_trial()
                agent.begin_trial()
                last = agent.learned.copy() if kind.forgets else last

    def test_a_map_that_opens_or_closes_never_lowers_a_value(
        self, agent_id: str, settings: Settings, act_out: Callable[..., Any]
    ) -> None:
        for problem in random_problems(22, 8, vision=1, changing=True):
            agent, world = learner(agent_id, problem, settings)
            last = agent.learned.copy()
            for h in act_out(agent, world, 200).h:
                assert (h >= last).all()
                last = h

    def test_values_never_pass_infinity(self, agent_id: str, settings: Settings, act_out: Callable[..., Any]) -> None:
        # In a closed room values grow without end. Millions of moves are left out: the table starts near the end.
        problem = Problem(drawn("......#."), (0, 0), (7, 0), allow_unsolvable=True)
        agent, world = learner(agent_id, problem, settings)
        agent.learned[: world.view.goal_cell] = INF - 3 * STRAIGHT
        trace = act_out(agent, world, 60)
        assert trace.outcome in ("no path", "out of moves")
        assert (agent.learned >= 0).all()
        assert (agent.learned <= INF).all()

    @pytest.mark.parametrize("case", CONSISTENT, ids=str)
    def test_values_stay_consistent(self, case: tuple[str, Settings], act_out: Callable[..., Any]) -> None:
        agent_id, settings = case
        for problem in random_problems(23, 6, max_side=8):
            agent, world = learner(agent_id, problem, settings)
            grid, view = problem.grid, plain_grid.Map.of(problem.grid)
            edges = [(grid.cell(a), grid.cell(b), price) for a in sorted(view.free) for b, price in view.neighbours(a)]
            here, there, price = np.array(edges, np.int64).reshape(-1, 3).T
            for h in act_out(agent, world, 100_000).h:
                assert (h[here] <= price + h[there]).all()

    @pytest.mark.parametrize("vision", [None, 1])
    def test_trials_converge_to_the_optimal_cost(self, agent_id: str, settings: Settings, vision: int | None) -> None:
        skip_forgetful(agent_id)
        if not agents.load(agent_id).converges:
            pytest.skip("no paper promises that it converges to the optimum")
        gamma, learned_something = settings.get("gamma", 1), False
        for problem in [*random_problems(24, 10, vision, max_side=8), Problem(drawn(*CUP), (2, 2), (6, 2), vision)]:
            agent, _ = learner(agent_id, problem, settings)
            run = agents.run(agent, problem, trials="converge")
            last = run.trials[-1] if run.trials else run
            assert run.converged
            assert last.h_updates == 0
            if gamma < 1:  # the weighted price of every move is rounded down, by less than 1
                assert gamma * exact_cost(last) <= problem.optimal_cost + last.moves
            else:
                assert exact_cost(last) == problem.optimal_cost == agent.learned[problem.grid.cell(problem.start)]
            learned_something |= run.h_updates > 0
        assert learned_something

    def test_what_is_learned_survives_trials_and_not_problems(self, agent_id: str, settings: Settings) -> None:
        skip_forgetful(agent_id)
        problem = Problem(drawn(*CUP), (2, 2), (6, 2))
        agent, world = learner(agent_id, problem, settings)
        first = agent.learned.copy()
        run = agents.run(agent, problem, trials=3)
        assert len(run.trials) == 3
        memories = [trial.memory for trial in run.trials]
        assert memories == sorted(memories)
        assert memories[0] > 0
        values = agent.learned.copy()
        single = agents.run(agent, problem)
        assert path_of(single) == path_of(run.trials[0])
        assert (agent.learned <= values).all()
        agent.reset(world.view)
        assert same(agent.learned, first)

    @pytest.mark.parametrize("vision", [None, 2])
    def test_memory_counts_the_free_cells_whose_value_is_no_longer_the_heuristic(
        self, agent_id: str, settings: Settings, vision: int | None
    ) -> None:
        for problem in random_problems(25, 8, vision):
            agent, _ = learner(agent_id, problem, settings)
            run = agents.run(agent, problem)
            first = plain_grid.initial_heuristic(problem.grid, problem.goal)
            raised = [cell for cell, value in first.items() if agent.learned[problem.grid.cell(cell)] != value]
            assert run.memory == len(raised) > 0 or not run.h_updates
            assert run.memory <= run.h_updates

    def test_an_agent_that_learned_nothing_says_so(self, agent_id: str, settings: Settings) -> None:
        # On open ground the heuristic is exact.
        skip_forgetful(agent_id)
        run = agents.run(agent_id, Problem(drawn(*["....."] * 4), (0, 0), (4, 2)), trials="converge", **settings)
        assert (run.trials, run.converged, run.h_updates, run.memory) == ((), True, 0, 0)

    def test_the_layer_h_is_how_much_was_learned(self, agent_id: str, settings: Settings) -> None:
        for problem in random_problems(26, 10):
            agent, _ = learner(agent_id, problem, settings)
            agents.run(agent, problem)
            first = plain_grid.initial_heuristic(problem.grid, problem.goal)
            grid = problem.grid
            expected = to_floats(agent.learned)
            for cell, value in first.items():
                expected[grid.cell(cell)] -= to_floats(np.array([value], np.int64))[0]
            np.testing.assert_allclose(agent.layers()["h"], grid.inner(expected), atol=1e-9)

    def test_the_layer_expanded_shows_the_cells_expanded_for_the_move(self, agent_id: str, settings: Settings) -> None:
        problem = Problem(drawn(*CUP), (2, 2), (6, 2))
        world, agent = World(problem, log=100), agents.make(agent_id, **settings)
        agent.reset(world.view)
        agent.act()
        expanded = [tuple(position) for position in agent.layers()["expanded"].tolist()]
        assert len(expanded) == world.view.meter.expansions > 0
        assert expanded[0] == (problem.goal if agents.load(agent_id).backward else problem.start)
        assert set(expanded) <= set(distances(problem.grid, problem.goal))


def same(a: NDArray[np.int64] | None, b: NDArray[np.int64] | None) -> bool:
    """Whether two tables of values are equal, or both missing."""
    if a is None or b is None:
        return a is b
    return bool((a == b).all())

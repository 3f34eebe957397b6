"""What holds for every agent, whatever its algorithm; ``reference/settings.py`` says with which settings.

What an algorithm does not promise its class says (``complete``, ``forgets``, ``converges``, ``restless``, ``pauses``,
``backward`` and ``by_waypoints`` of ``agents.base.KernelAgent``). There is no table of ids to keep here.
``test_contract_budget.py`` and ``test_contract_learning.py`` are the other two parts.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import agents
from reference.contract import (
    MOST_MOVES,
    Settings,
    assert_legal,
    cost_of_steps,
    exact_cost,
    gave_up,
    overestimates,
    path_of,
    random_problems,
    same,
    walked,
)
from reference.plain_oracle import distances
from reference.small_maps import CUP, drawn
from rt_gym import STAY, Budget, Grid, Problem, World

# How much an agent knows: a known map, a known map that changes, fog, fog over a map that changes.
KNOWLEDGE = [(None, False), (None, True), (1, False), (2, False), (1, True), (2, True)]
knowledge = pytest.mark.parametrize(("vision", "changing"), KNOWLEDGE)


def by_waypoints(agent_id: str, settings: Settings) -> bool:
    """Whether an agent goes by subgoals that may lie off every shortest path."""
    return bool(agents.make(agent_id, **settings).by_waypoints)


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
            assert run.outcome == "goal" or gave_up(run, agent_id, settings)
            assert (path_of(run)[-1] == problem.goal) == run.solved
            assert exact_cost(run) >= problem.optimal_cost or not run.solved

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
            options = {"seed": 4, "tie": "random", "max_moves": MOST_MOVES, **settings}
            runs = [agents.run(agent_id, problem, **options) for _ in range(2)]
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
            options = {"max_moves": MOST_MOVES, **settings}
            paths = [path_of(agents.run(agent_id, problem, seed=seed, **options)) for seed in (0, 1, None)]
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
            again = agents.run(used, problem, max_moves=MOST_MOVES)
            fresh = agents.run(agent_id, problem, max_moves=MOST_MOVES, **settings)
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

    def test_on_a_single_free_cell_there_is_nothing_to_do(self, agent_id: str, settings: Settings) -> None:
        run = agents.run(agent_id, Problem(drawn("."), (0, 0), (0, 0)), **settings)
        assert (run.outcome, run.moves, run.expansions) == ("goal", 0, 0)

    @pytest.mark.parametrize("goal", [(2, 1), (1, 2), (0, 1), (1, 0), (2, 2), (2, 0), (0, 2), (0, 0)])
    def test_a_goal_next_to_the_start_is_one_move_away(
        self, agent_id: str, settings: Settings, goal: tuple[int, int]
    ) -> None:
        for vision in (None, 1):
            run = agents.run(agent_id, Problem(drawn(*["..."] * 3), (1, 1), goal, vision), **settings)
            assert run.solved
            assert walked(run, agent_id) == [(1, 1), goal] or by_waypoints(agent_id, settings)

    @pytest.mark.parametrize("connectivity", [4, 8])
    @pytest.mark.parametrize("cost", ["octile", "unit"])
    def test_open_ground_is_crossed_on_a_shortest_path(
        self, agent_id: str, settings: Settings, connectivity: int, cost: str
    ) -> None:
        # The goal is inside the lookahead of some settings, and beyond that of others. A search whose own learning
        # overestimates raises states ahead of the agent, too, and may then lead round them.
        misled = overestimates(agent_id, settings) and settings.get("lookahead", 1) > 1
        grid = drawn(*["......."] * 7, connectivity=connectivity, cost=cost)
        for goal in ((4, 3), (3, 5), (5, 5), (6, 0), (0, 1)):
            problem = Problem(grid, (3, 3), goal)
            run = agents.run(agent_id, problem, **settings)
            assert run.solved
            assert cost_of_steps(run, agent_id) == problem.optimal_cost or by_waypoints(agent_id, settings) or misled

    @pytest.mark.parametrize("vision", [None, 1, 2])
    def test_a_dead_end_longer_than_any_lookahead_is_left(
        self, agent_id: str, settings: Settings, vision: int | None
    ) -> None:
        # The goal is behind the eastern end of a corridor of 60 cells; the way out is its western end.
        width = 62
        grid = drawn("." * width, "." + "#" * (width - 1), "." * width, connectivity=4)
        problem = Problem(grid, (60, 0), (61, 2), vision)
        run = agents.run(agent_id, problem, max_moves=1_000_000, **settings)
        assert run.outcome == "goal" or gave_up(run, agent_id, settings)
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

    def test_the_layer_expanded_shows_the_cells_expanded_for_the_move(self, agent_id: str, settings: Settings) -> None:
        problem = Problem(drawn(*CUP), (2, 2), (6, 2))
        world, agent = World(problem, log=100), agents.make(agent_id, **settings)
        agent.reset(world.view)
        action = agent.act()
        while agents.load(agent_id).restless and world.view.meter.expansions == 0:  # moves before it has to search
            world.step(action)
            action = agent.act()
        expanded = [tuple(position) for position in agent.layers()["expanded"].tolist()]
        assert len(expanded) == world.view.meter.expansions > 0
        assert expanded[0] == (problem.goal if agents.load(agent_id).backward else world.view.position)
        assert set(expanded) <= set(distances(problem.grid, problem.goal))


class TestOutlines:
    def test_an_agent_after_an_outline_says_after_which(self, agent_id: str) -> None:
        kind = agents.load(agent_id)
        says = "Built after an outline" in kind.__doc__ or "Built after outlines" in kind.__doc__
        assert says == kind.after_outline

    def test_what_is_known_from_outlines_is_marked(self) -> None:
        marked = {agent_id for agent_id in agents.ids() if agents.load(agent_id).after_outline}
        assert {"p-lrta", "pr-lrts", "knn-lrta"} <= marked

"""What holds for every agent that learns values; ``CONSISTENT`` asks for more than the contract does."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agents
from agents import KernelAgent
from agents.base import Searcher
from reference import plain_grid
from reference.contract import (
    Settings,
    cost_of_steps,
    exact_cost,
    learner,
    overestimates,
    path_of,
    random_problems,
    same,
)
from reference.small_maps import CUP, drawn
from rt_gym import Problem
from rt_gym.cost import INF, STRAIGHT, to_floats
from rt_gym.search.distance import exact_distances

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


def skip_forgetful(agent_id: str) -> None:
    """Skip a test of what trials learn from each other."""
    if agents.load(agent_id).forgets:
        pytest.skip("its values serve one trial only")


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
                    assert (h <= exact).all() or kind.forgets or kind.overestimates
                    assert (h >= last).all()
                    assert h[world.kernel_view.goal_cell] == 0
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
                assert (h >= last).all() or agent.lowers
                last = h

    def test_values_never_pass_infinity(self, agent_id: str, settings: Settings, act_out: Callable[..., Any]) -> None:
        # In a closed room values grow without end. Millions of moves are left out: the table starts near the end.
        problem = Problem(drawn("......#."), (0, 0), (7, 0), allow_unsolvable=True)
        agent, world = learner(agent_id, problem, settings)
        agent.learned[: world.kernel_view.goal_cell] = INF - 3 * STRAIGHT
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
                assert (
                    cost_of_steps(last, agent_id)
                    == problem.optimal_cost
                    == agent.learned[problem.grid.cell(problem.start)]
                )
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
            free = agent.view.terrain.free  # as believed: a lookahead raises cells that turn out to be blocked
            cells = {problem.grid.cell(cell): value for cell, value in first.items()}
            raised = [cell for cell, value in cells.items() if free[cell] and agent.learned[cell] != value]
            learned = agent.count_learned()
            assert learned == len(raised) > 0 or not run.h_updates
            assert learned <= run.h_updates
            assert run.memory == (max(agent.space.most, learned) if isinstance(agent, Searcher) else learned)

    def test_an_agent_that_learned_nothing_says_so(self, agent_id: str, settings: Settings) -> None:
        # On open ground the heuristic is exact.
        skip_forgetful(agent_id)
        if overestimates(agent_id, settings):
            pytest.skip("it learns where the heuristic is exact, too")
        run = agents.run(agent_id, Problem(drawn(*["....."] * 4), (0, 0), (4, 2)), trials="converge", **settings)
        assert (run.trials, run.converged, run.h_updates) == ((), True, 0)
        held = agents.load(agent_id).count_states is not KernelAgent.count_states  # states of a search, not values
        assert (run.memory > 0) == held

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

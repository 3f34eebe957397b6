"""Agents that run by their id are used again, and nobody can tell but by the clock."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import agents
from agents.runner.pool import Pool, key_of, settings_key
from reference.plain_oracle import random_problem
from rt_gym import Budget, BudgetExceeded, Grid, InputError, Problem

TIMES = ("seconds", "planning_seconds", "move_seconds", "precompute_seconds", "path", "trials")
COUNTED = [field.name for field in fields(agents.Run) if field.name not in TIMES]
SOME: list[tuple[str, dict[str, Any]]] = [
    ("astar", {}),
    ("weighted-astar", {"weight": 2}),
    ("late-astar", {"R": 20}),
    ("lrta", {"depth": 3}),
    ("lss-lrta", {"lookahead": 6}),
    ("lrta-k", {"k": 9, "supports": True}),
    ("lrta-k-visited", {"k": 9}),
    ("lrta-ls-k", {"k": 6}),
    ("lrta-ls-kd", {"k": 6, "d": 4, "lookahead": "static"}),
    ("lrts", {"depth": 2, "quota": 3}),
    ("p-lrta", {"queue": 5}),
    ("tba", {"R": 7, "shortcut": True}),
    ("dstar-lite", {}),
]


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Pool:
    """Return an empty pool in the place of the one that all runs share."""
    fresh = Pool()
    monkeypatch.setattr(agents, "POOL", fresh)
    return fresh


def some_problems(seed: int, count: int, **options: Any) -> list[Problem]:
    rng = np.random.default_rng(seed)
    return [Problem(*random_problem(rng, 12, density=0.3), **options) for _ in range(count)]


def facts(run: agents.Run) -> list[Any]:
    return [*(getattr(run, name) for name in COUNTED), run.path.tolist(), *map(facts, run.trials)]


class TestSameResults:
    @pytest.mark.parametrize("case", SOME, ids=str)
    @pytest.mark.parametrize("tie", ["first", "random"])
    def test_by_id_and_with_an_agent_of_its_own(self, case: tuple[str, dict[str, Any]], tie: str, pool: Pool) -> None:
        agent_id, settings = case
        for seed, problem in enumerate(some_problems(3, 12, vision=1)):
            options: dict[str, Any] = {"trials": 2, "seed": seed, "max_moves": 3000}
            fresh = agents.run(agents.make(agent_id, **settings, tie=tie), problem, **options)
            for _ in range(2):  # the second one with the arrays of the first
                assert facts(agents.run(agent_id, problem, **settings, tie=tie, **options)) == facts(fresh)
        assert len(pool) > 0

    def test_from_two_threads_at_once(self, pool: Pool) -> None:
        problems = some_problems(5, 6)
        expected = [facts(agents.run(agents.make("lrta"), problem)) for problem in problems]
        barrier = Barrier(2)

        def run_all(_: int) -> list[list[Any]]:
            barrier.wait()
            return [facts(agents.run("lrta", problem)) for _ in range(20) for problem in problems]

        with ThreadPoolExecutor(2) as threads:
            for found in threads.map(run_all, range(2)):
                assert found == expected * 20
        assert 0 < len(pool) <= pool.most_agents

    def test_two_that_run_at_once_do_not_share_an_agent(self, pool: Pool) -> None:
        (problem,) = some_problems(7, 1)
        agents.run("lrta", problem)
        key = key_of(settings_key(agents.load("lrta"), {}), problem)
        assert pool.take(key) is not None
        assert pool.take(key) is None

    def test_values_that_are_equal_but_not_the_same_are_told_apart(self, pool: Pool) -> None:
        (problem,) = some_problems(8, 1)
        agents.run("lrta-k", problem, supports=True)
        with pytest.raises(InputError, match=r"^supports must be"):
            agents.run("lrta-k", problem, supports=1)


class TestWhatWaits:
    def test_an_agent_forgets_the_problem(self, pool: Pool) -> None:
        (problem,) = some_problems(9, 1)
        agents.run("lss-lrta", problem)
        agent = pool.take(key_of(settings_key(agents.load("lss-lrta"), {}), problem))
        assert agent is not None
        assert not hasattr(agent, "view")

    def test_an_agent_finds_the_arrays_of_its_last_world_on_the_same_map_only(self, pool: Pool) -> None:
        (one,), (other,) = some_problems(9, 1), some_problems(8, 1)
        back, fog = Problem(one.grid, one.goal, one.start), Problem(one.grid, one.start, one.goal, vision=1)
        agent, seen = agents.make("lrta"), []
        for problem in (one, back, fog, other, one):
            assert agents.run(agent, problem).cost == agents.run(agents.make("lrta"), problem).cost
            seen.append(id(agent.world))
        assert seen[0] == seen[1] == seen[2]
        assert seen[3] != seen[2]

    def test_an_agent_whose_run_raised_does_not_wait(self, pool: Pool) -> None:
        problem = Problem(Grid(np.ones((9, 9))), (0, 0), (8, 8))
        with pytest.raises(BudgetExceeded):
            agents.run("lrta", problem, budget=Budget(5, on_overrun="raise"), depth=4)
        assert len(pool) == 0
        with pytest.raises(InputError, match="max_moves"):
            agents.run("lrta", problem, max_moves=0)
        assert len(pool) == 0
        assert agents.run("lrta", problem, depth=4).solved
        assert len(pool) == 1

    def test_what_reads_files_or_prepares_itself_does_not_wait(self, pool: Pool) -> None:
        (problem,) = some_problems(10, 1)
        for agent_id in ("pr-lrts", "subgoal-lrta", "classifier-lrta", "policy-lrta", "pdb-lrta", "knn-lrta"):
            agents.run(agent_id, problem)
        assert len(pool) == 0

    def test_settings_without_a_hash_are_not_kept(self) -> None:
        assert settings_key(agents.load("lrta"), {"depth": []}) is None

    def test_a_map_of_another_kind_takes_another_agent(self, pool: Pool) -> None:
        grid = np.ones((6, 6))
        kinds = [Grid(grid), Grid(grid, connectivity=4), Grid(grid, cost="unit"), Grid(np.ones((6, 7)))]
        keys = [key_of(settings_key(agents.load("astar"), {}), Problem(kind, (0, 0), (5, 5))) for kind in kinds]
        assert len(set(keys)) == len(kinds)


class TestBounds:
    def test_the_one_that_has_waited_longest_makes_room(self) -> None:
        pool, (problem,) = Pool(most_agents=3), some_problems(12, 1)
        for key in range(5):
            agent = agents.make("lrta")
            agents.run(agent, problem)
            pool.put(key, agent)
        assert len(pool) == 3
        assert [pool.take(key) is not None for key in range(5)] == [False, False, True, True, True]

    def test_bytes_are_bounded_and_those_of_the_kept_world_count(self) -> None:
        (problem,) = some_problems(13, 1)
        options: dict[str, Any] = {"max_moves": 50_000, "clock": False}
        agent = agents.make("lss-lrta")
        agents.run(agent, problem, **options)
        probe = Pool()
        probe.put(0, agent)
        cells, path = problem.grid.terrain.mask.size, 4 * 50_001
        assert 76 * cells < probe.bytes - path < 120 * cells  # 60 to 100 of the agent, 16 of its world
        pool = Pool(most_bytes=2 * probe.bytes)
        for key in range(4):
            other = agents.make("lss-lrta")
            agents.run(other, problem, **options)
            pool.put(key, other)
        assert (len(pool), pool.bytes) == (2, 2 * probe.bytes)

    def test_an_agent_larger_than_the_pool_does_not_wait(self) -> None:
        pool, (problem,) = Pool(most_bytes=100), some_problems(14, 1)
        agent = agents.make("lrta")
        agents.run(agent, problem)
        pool.put(0, agent)
        assert (len(pool), pool.bytes) == (0, 0)


class TestRunsLikeTheLast:
    """Without settings, on the same map, under the same budget."""

    def test_they_take_its_agent_and_give_what_a_fresh_one_gives(self, pool: Pool) -> None:
        grid = some_problems(5, 1)[0].grid
        cells = [(int(x), int(y)) for y, x in np.argwhere(grid.labels.reshape(grid.height + 2, -1)[1:-1, 1:-1] == 1)]
        for start, goal in zip(cells, reversed(cells), strict=True):
            problem = Problem(grid, start, goal)
            assert facts(agents.run("lrta", problem)) == facts(agents.run(agents.make("lrta"), problem))
            assert len(pool) == 1

    def test_another_budget_has_another_setting(self, pool: Pool) -> None:
        (problem,) = some_problems(6, 1)
        for limit in (100, 10, 100):
            expected = agents.run(agents.make("lrta", budget=limit), problem, budget=limit)
            assert facts(agents.run("lrta", problem, budget=limit)) == facts(expected)

    def test_one_that_raised_is_dropped(self, pool: Pool) -> None:
        (problem,) = some_problems(7, 1)
        budget = Budget(1, "scans", on_overrun="raise")
        for _ in range(3):
            with pytest.raises(BudgetExceeded):
                agents.run("lss-lrta", problem, budget=budget)
            assert len(pool) == 0

    def test_threads_that_run_other_ids_on_the_same_map_do_not_meet(self, pool: Pool) -> None:
        (problem,) = some_problems(8, 1)
        wanted = {name: facts(agents.run(agents.make(name), problem)) for name in ("lrta", "astar", "rtaa", "tba")}

        def work(name: str) -> bool:
            return all(facts(agents.run(name, problem)) == wanted[name] for _ in range(40))

        with ThreadPoolExecutor(8) as threads:
            assert all(threads.map(work, [*wanted] * 4))

"""Agents on large maps: with pages they walk, count and learn as they do with an array of all cells.

Small maps are declared large, so that every algorithm is compared on the same problems. To compile all agents once more
would take minutes: with the compiler there are three, one with values, one with a search, one with vertices.
"""

from typing import Any

import numpy as np
import pytest
from numba import config

import agents
from reference.contract import MOST_MOVES, Settings, path_of, random_problems
from reference.settings import settings_of
from rt_gym import Grid, Problem, World, pages
from rt_gym.search.paged_values import PagedValues

pytestmark = pytest.mark.plain

COMPARED = agents.ids() if config.DISABLE_JIT else ["lss-lrta", "astar", "dstar-lite"]
CASES = [(each, settings_of(each)[-1]) for each in COMPARED]
KNOWLEDGE = [(None, False), (None, True), (2, False), (2, True)]


def anew(problem: Problem) -> Problem:
    """Return the same problem on a grid that was made just now, and so as large or small as it is declared."""
    grid = Grid(np.array(problem.grid.passable), problem.grid.connectivity, problem.grid.cost, problem.grid.corner)
    return Problem(grid, problem.start, problem.goal, problem.vision, problem.changes)


def counts(agent_id: str, problem: Problem, settings: Settings, **options: Any) -> tuple[Any, ...]:
    agent = agents.make(agent_id, **settings)  # by its id, an agent that was made for arrays might be used again
    run = agents.run(agent, anew(problem), max_moves=400, **options)
    assert (agent.view.terrain.xy is None) == (pages.LARGE == 0)
    work = run.expansions, run.scans, run.max_scans, run.learning_ops, run.trace_steps, run.h_updates, run.memory
    return run.outcome, path_of(run), work


@pytest.mark.parametrize(("vision", "changing"), KNOWLEDGE)
@pytest.mark.parametrize(("algorithm", "settings"), CASES, ids=COMPARED)
def test_runs_with_pages_are_those_with_arrays(
    monkeypatch: pytest.MonkeyPatch, algorithm: str, settings: Settings, vision: int | None, changing: bool
) -> None:
    problems = random_problems(21, 6, vision, changing)
    expected = [counts(algorithm, problem, settings, seed=k) for k, problem in enumerate(problems)]
    monkeypatch.setattr(pages, "LARGE", 0)
    assert [counts(algorithm, problem, settings, seed=k) for k, problem in enumerate(problems)] == expected


@pytest.mark.parametrize(("algorithm", "settings"), CASES, ids=COMPARED)
def test_an_agent_that_is_used_again_has_forgotten_all(
    monkeypatch: pytest.MonkeyPatch, algorithm: str, settings: Settings
) -> None:
    monkeypatch.setattr(pages, "LARGE", 0)
    problems = [anew(problem) for problem in random_problems(22, 4)]
    kept = agents.make(algorithm, **settings)
    for problem in [*problems, *problems]:
        fresh = agents.run(agents.make(algorithm, **settings), problem, max_moves=MOST_MOVES)
        again = agents.run(kept, problem, max_moves=MOST_MOVES)
        assert (path_of(again), again.scans, again.memory) == (path_of(fresh), fresh.scans, fresh.memory)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="such maps take too long without the compiler")
def test_memory_grows_with_what_is_touched_and_not_with_the_map() -> None:
    held = {}
    for side in (800, 1600):
        grid = Grid(np.ones((side, side), bool))
        run = agents.run("lss-lrta", Problem(grid, (700, 700), (720, 706)), lookahead=20)
        assert isinstance(agents_values("lss-lrta", grid), PagedValues)
        held[side] = run.memory_bytes
    assert held[800] == held[1600] < 100_000


def agents_values(agent_id: str, grid: Grid) -> Any:
    agent = agents.make(agent_id)
    agent.reset(World(Problem(grid, (0, 0), (1, 1))).view)
    return agent.values


@pytest.mark.parametrize("searcher", ["astar", "tba", "dstar-lite"])
def test_a_searcher_says_how_many_states_it_holds(searcher: str) -> None:
    grid = Grid(np.ones((9, 9), bool))
    run = agents.run(searcher, Problem(grid, (0, 4), (8, 4)))
    assert run.expansions <= run.memory <= 81
    assert run.memory_bytes > 0

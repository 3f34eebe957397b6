"""Long use: batched steps, resets, threads and processes, with constant memory and the results of one thread."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np

import agents
import rt_gym
from fuzz.case import Case
from fuzz.reads import record_of
from fuzz.watch import memory
from rt_gym import Grid, Problem
from rt_gym.envs import ids

_GROWTH = 24.0  # megabytes that a stretch may add after one that warmed up: the allocator keeps some
_EPISODES = 64
_STEPS = 50_000  # of all episodes of a batch together, per case
_RESETS = 500
_RUNS = 500


@cache
def maps() -> list[Grid]:
    """Return twenty maps of one size."""
    return [rt_gym.generate("random", width=30, height=30, density=0.3, seed=seed) for seed in range(20)]


@cache
def problems() -> list[Problem]:
    """Return problems on one grid, in fog and without."""
    grid = maps()[0]
    return rt_gym.sample_problems(grid, 25, 5) + rt_gym.sample_problems(grid, 25, 5, seed=1, vision=2)


def steady(stretch: Callable[[], None]) -> None:
    """Do something twice, and check that the second time adds no memory."""
    stretch()
    before = memory()
    stretch()
    grown = memory() - before
    assert grown < _GROWTH, f"memory grew by {grown:.0f} MB"


def _batched_steps(case: Case) -> None:
    """Step a batch at random; the memory stays."""
    env_id = case.pick(*ids())
    case.story.update(env=env_id)
    env = gym.make_vec(env_id, _EPISODES, "vector_entry_point", map=maps(), pool=60)
    env.reset(seed=case.number)
    env.action_space.seed(case.number)

    def stretch() -> None:
        for _ in range(_STEPS // _EPISODES // 2):
            env.step(env.action_space.sample())

    steady(stretch)
    env.close()
    case.counts["batched steps"] += _STEPS // _EPISODES // 2 * 2 * _EPISODES


def _resets(case: Case) -> None:
    """Reset an environment over twenty maps; the memory stays."""
    env_id = case.pick(*ids())
    case.story.update(env=env_id)
    env = gym.make(env_id, map=maps(), pool=200)

    def stretch() -> None:
        for _ in range(_RESETS // 2):
            env.reset()
            env.step(env.action_space.sample())

    steady(stretch)
    env.close()
    case.counts["resets over 20 maps"] += _RESETS


def solve(number: int) -> dict[str, Any]:
    """Return the record of the run with this number: all agents and problems in turn."""
    chosen = agents.ids()[number % len(agents.ids())]
    run = agents.run(chosen, problems()[number // 7 % len(problems())], budget=30, max_moves=300, seed=number)
    return record_of(run)


def _threads(case: Case) -> None:
    """Run agents in four threads on one grid: each run is what it is in one thread."""
    numbers = [case.whole(0, 10**6) for _ in range(_RUNS)]
    alone = [solve(number) for number in numbers]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(solve, numbers))
    assert together == alone
    case.counts["runs in threads on one grid"] += _RUNS


def _processes(case: Case) -> None:
    """Run agents in processes that were forked or spawned: each run is what it is here."""
    method = case.pick("fork", "spawn")
    case.story.update(method=method)
    numbers = [case.whole(0, 10**6) for _ in range(60)]
    with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        assert list(pool.map(solve, numbers)) == [solve(number) for number in numbers]
    case.counts[f"runs in processes, {method}"] += len(numbers)


def _asynchronous(case: Case) -> None:
    """Step environments in processes of Gymnasium's: they are what they are one after the other."""
    env_id, results = case.pick(*ids()), []
    case.story.update(env=env_id)
    for mode in ("sync", "async"):
        env = gym.make_vec(env_id, 2, mode, map=maps()[:2], pool=20)
        env.action_space.seed(case.number)
        found = [env.reset(seed=case.number)[0]]
        for _ in range(100):
            found += list(env.step(env.action_space.sample())[:4])
        env.close()
        results.append(found)
    assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True))
    case.counts["steps of AsyncVectorEnv"] += 200


# Of a hundred cases: 20 of steps (10^6), 20 of resets (10^4), 20 of threads (10^4), and the others.
_TURNS = (_batched_steps, _resets, _threads, _processes, _asynchronous)


def check_soak(case: Case) -> None:
    """Use something for long; the kinds take turns."""
    _TURNS[case.number % len(_TURNS)](case)

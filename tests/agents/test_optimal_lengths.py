"""A* against published optimal lengths where the public maps are there, and against SciPy on our own maps always."""

from pathlib import Path

import numpy as np
import pytest

import agents
from reference.plain_oracle import scipy_distances
from rt_gym import Problem, load_map, load_scenarios
from rt_gym.maps import names
from training.judge.speed import scenario_files, tolerance


def test_a_sample_of_the_published_optimal_lengths_is_reproduced(shared_maps: Path) -> None:
    files = scenario_files(shared_maps)
    agent, checked = agents.make("astar"), 0
    for path in files:
        grid, scenarios = load_map(path.with_suffix("")), load_scenarios(path)
        share = -(-200 // len(files))
        for scenario in (scenarios[k * len(scenarios) // share] for k in range(share)):
            run = agents.run(agent, scenario.on(grid), clock=False)
            assert run.solved
            assert abs(run.cost - scenario.optimal) <= tolerance(scenario.optimal), (path.name, scenario)
            checked += 1
    assert checked >= 200


@pytest.mark.parametrize("name", names())
def test_astar_is_optimal_on_the_bundled_maps(name: str) -> None:
    grid, rng = load_map(name), np.random.default_rng(7)
    free = [(int(x), int(y)) for y, x in np.argwhere(grid.passable)]
    for goal in (free[k] for k in rng.integers(len(free), size=2)):
        distance = scipy_distances(grid, goal)
        reachable = [
            (x, y) for x, y in (free[k] for k in rng.integers(len(free), size=20)) if np.isfinite(distance[y, x])
        ]
        assert reachable
        for start in reachable:
            run = agents.run("astar", Problem(grid, start, goal), clock=False)
            assert run.cost == pytest.approx(distance[start[1], start[0]], rel=1e-9, abs=1e-9)

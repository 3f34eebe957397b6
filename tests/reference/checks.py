"""What the tests of several algorithms check in the same way, and the random problems they check it on."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agents
from reference.by_id import reference_run
from reference.plain_oracle import random_problem
from rt_gym import Budget, Grid, InputError, Problem, World

Settings = dict[str, Any]

RULES: list[Settings] = [
    {"connectivity": 4},
    {"connectivity": 8, "cost": "unit"},
    {"connectivity": 8, "cost": "octile"},
]
each_rule = pytest.mark.parametrize("rules", RULES, ids=["4", "8 unit", "8 octile"])
each_depth = pytest.mark.parametrize(
    ("limit", "d_max"), [(1, 1), (8, 1), (9, 2), (24, 2), (25, 3), (1000, 16), (10**9, 100)]
)
known_or_fog = pytest.mark.parametrize("vision", [None, 1], ids=["known", "fog"])


def on_all_maps(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test with 4 and 8 neighbours, unit and octile costs, on known maps and in fog."""
    return known_or_fog(each_rule(test))


def some_problems(seed: int, count: int, side: int, vision: int | None = None, **rules: Any) -> list[Problem]:
    """Return random problems that can be solved."""
    rng = np.random.default_rng(seed)
    return [
        Problem(*random_problem(rng, side, density=float(rng.uniform(0.1, 0.4)), **rules), vision=vision)
        for _ in range(count)
    ]


def assert_lrta(agent_id: str, settings: Settings, problem: Problem, depth: int = 1) -> list[agents.Run]:
    """Run an agent and LRTA* until nothing more is learned, compare trial for trial, and return both runs."""
    same, lrta = agents.make(agent_id, **settings), agents.make("lrta", depth=depth)
    runs = [agents.run(agent, problem, trials="converge") for agent in (same, lrta)]
    paths = [[trial.path.tolist() for trial in run.trials or (run,)] for run in runs]
    assert paths[0] == paths[1]
    counts = [(run.expansions, run.h_updates, run.memory) for run in runs]
    assert counts[0] == counts[1]
    assert (same.learned == lrta.learned).all()
    return runs


def assert_astar(agent_id: str) -> None:
    """Check that an agent in slices is A* where one slice is enough for all."""
    for problem in some_problems(1, 30, 10):
        run, astar = agents.run(agent_id, problem, R=10**9), agents.run("astar", problem)
        assert run.path.tolist() == astar.path.tolist()
        assert (run.expansions, run.scans) == (astar.expansions, astar.scans)


def assert_refused(agent_id: str, name: str, value: Any) -> None:
    """Check that a value of a parameter is refused by its name, in one sentence that quotes it."""
    with pytest.raises(InputError, match=f"^{name} must be") as refusal:
        agents.make(agent_id, **{name: value})
    assert repr(value) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def assert_overrun_leaves_values_alone(agent_id: str) -> None:
    """Check that depth three is cut by 24 expansions before it learns, and is not by 25."""
    problem = Problem(Grid(np.ones((9, 9))), (4, 4), (0, 8))
    for limit, fits in ((24, False), (25, True)):
        run = agents.run(agent_id, problem, depth=3, budget=limit)
        assert run.solved == fits
        assert run.overrun != fits
        assert fits or (run.h_updates, run.plans) == (0, 1)


def assert_scans_are_kept(agent_id: str, limit: int, tie: str) -> None:
    """Check that a setting chosen for a budget of scans keeps it."""
    for problem in some_problems(9, 12, 14):
        run = agents.run(agent_id, problem, budget=Budget(limit, "scans"), tie=tie)
        assert run.solved
        assert not run.overrun


def most_per_move(
    agent_id: str, problem: Problem, act_out: Callable[..., Any], **settings: Any
) -> tuple[int, int, int, int]:
    """Return the most expansions, learning operations, scans and raised values of any move."""
    agent, world = agents.make(agent_id, **settings), World(problem)
    agent.reset(world.view)
    before, rises = agent.learned.copy(), [0]
    trace = act_out(agent, world, 10_000)
    for h in trace.h:
        rises.append(int((h != before).sum()))
        before = h
    expansions, learning_ops, scans, raised = (
        max(count, default=0) for count in (trace.expansions, trace.learning_ops, trace.scans, rises)
    )
    return expansions, learning_ops, scans, raised


def assert_no_way_is_found_out_early(agent_id: str, **settings: Any) -> None:
    """Check that values do not climb to infinity step by step where a wall cuts off the goal."""
    grid = Grid([[1, 1, 1, 0, 1]] * 5)
    run = assert_as_plain(agent_id, Problem(grid, (0, 0), (4, 0), allow_unsolvable=True), **settings)
    assert run.outcome == "no path"
    assert 0 < run.h_updates <= (grid.width * grid.height) ** 2


def assert_as_plain(agent_id: str, problem: Problem, **settings: Any) -> agents.Run:
    """Check that an agent walks and learns as its reference does; return its run."""
    agent = agents.make(agent_id, **settings)
    run, plain = agents.run(agent, problem), reference_run(agent_id, problem, settings, 1000)
    assert [tuple(cell) for cell in run.path.tolist()] == plain.path
    assert (run.scans, run.learning_ops) == (sum(plain.scans), sum(plain.learning_ops))
    assert all(agent.learned[problem.grid.cell(cell)] == value for cell, value in plain.h.items())
    return run


def assert_more_costs_less(agent_id: str) -> None:
    """Check that propagating further makes paths cheaper on average."""
    problems = some_problems(8, 120, 24, vision=1)
    costs = [np.mean([agents.run(agent_id, problem, k=k).cost for problem in problems]) for k in (1, 6, 40)]
    assert costs[0] > costs[1] > costs[2]


def assert_depths_out_of_range_are_refused(agent_id: str) -> None:
    """Check which largest depths of a depth control are refused."""
    for d_max in (0, -1, 101, 2.5, "3", None):
        with pytest.raises(InputError, match="d_max"):
            agents.make(agent_id, d_max=d_max)


def assert_budget_chooses_depth(agent_id: str, limit: int, d_max: int) -> None:
    """Check that a budget chooses the largest depth whose bound it can pay."""
    agent = agents.make(agent_id, budget=limit)
    assert agent.d_max == d_max
    assert agent.bound == (2 * d_max - 1) ** 2 <= limit


def assert_scans_pay_for_labels(agent_id: str) -> None:
    """Check that a depth chosen for a budget of scans leaves enough of them for the choice itself."""
    grid = Grid(np.ones((20, 20)))
    for limit in (2, 18, 50, 200):
        run = agents.run(agent_id, Problem(grid, (10, 10), (0, 19)), budget=Budget(limit, "scans"))
        assert run.solved
        assert run.max_scans <= limit

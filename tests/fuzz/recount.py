"""Random runs under random budgets, recounted: by what they read, by the references, and by what every run must be."""

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

import agents
from fuzz.case import Case
from fuzz.draws import draw_agent, draw_budget, draw_problem
from fuzz.reads import Recount, Recounter, Task, record_of
from reference import plain_grid
from reference.by_id import OUTCOMES, reference_of, reference_run
from reference.contract import assert_legal
from reference.plain_oracle import distances, scipy_distances
from rt_gym import BudgetExceeded

_MAX_MOVES = 60


@cache
def recounter() -> Recounter:
    """Return the process that recounts for this one."""
    return Recounter()


def check_run(case: Case) -> None:
    """Run an agent under a budget and recount it."""
    agent_id, settings = draw_agent(case)
    if case.chance(0.2):
        settings = settings | {"tie": "random"}
    task = Task(agent_id, settings, draw_problem(case), draw_budget(case), _MAX_MOVES, case.whole(0, 9))
    case.story.update(agent=agent_id, settings=settings, problem=describe(task.problem), budget=task.budget)
    mine, recounted = recount_here(task), recounter()(task)
    assert mine.raised == recounted.raised
    assert mine.record == recounted.record
    limit, raised = task.budget.limit or 0, bool(mine.raised)
    overrun = any(work.cut or spent(work, task) > limit for work in recounted.work.values())
    case.counts[f"{task.budget.count}, {task.budget.on_overrun}"] += 1
    case.counts["overruns"] += overrun
    assert overrun == (raised or bool(mine.record and mine.record["overrun"])), (
        "the flag overrun is not what was recounted"
    )
    if task.budget.on_overrun == "raise":
        assert overrun == raised
    if mine.record is not None:
        check_counts(mine.record, recounted, task)
        check_record(mine.record, task)
        if settings.get("tie") != "random":
            case.counts["compared with the reference"] += check_reference(mine.record, recounted, task)


def describe(problem: Any) -> str:
    """Return all there is to a problem, in one line that can be pasted."""
    rows = ["".join(".@"[not free] for free in row) for row in problem.grid.passable]
    return f"{rows} {problem.grid!r} {problem.start} {problem.goal} {problem.vision} {problem.changes}"


def recount_here(task: Task) -> Recount:
    """Return the record of a task by the kernels."""
    try:
        return Recount(record=record_of(task.run()))
    except BudgetExceeded as error:
        return Recount(raised=str(error))


def spent(work: Any, task: Task) -> int:
    """Return what was spent on a move, under the count that the limit is for."""
    return work.reads if task.budget.count == "scans" else work.expansions


def check_counts(record: dict[str, Any], recounted: Recount, task: Task) -> None:
    """Check the counts of a record against what was read, and its maxima against the limit."""
    work = recounted.work.values()
    assert record["scans"] == sum(each.reads for each in work)
    assert record["max_scans"] == max((each.reads for each in work), default=0)
    assert record["expansions"] == sum(each.expansions for each in work)
    assert record["max_expansions"] == max((each.expansions for each in work), default=0)
    assert record["overrun"] or record[f"max_{task.budget.count}"] <= (task.budget.limit or 0)
    assert record["max_expansions"] <= (task.budget.limit or 0) or task.budget.count == "scans"


def check_record(record: dict[str, Any], task: Task) -> None:
    """Check what every run must be: legal, as costly as its steps, never below the optimum, honest about its end."""
    problem, path = task.problem, record["path"]
    world = assert_legal(problem, path)
    diagonals = sum(a[0] != b[0] and a[1] != b[1] for a, b in pairwise(path))
    assert (record["straights"], record["diagonals"]) == (len(path) - 1 - diagonals, diagonals)
    assert record["moves"] == len(path) - 1 <= task.max_moves
    check_outcome(record, task, world)


def check_outcome(record: dict[str, Any], task: Task, world: plain_grid.World) -> None:
    """Check that a run ended as it says: on the goal, out of moves, with no way left in what it knew, or by overrun."""
    problem, outcome = task.problem, record["outcome"]
    assert (outcome == "goal") == (record["path"][-1] == problem.goal)
    assert outcome != "out of moves" or record["moves"] == task.max_moves
    assert outcome != "overrun" or (record["overrun"] and task.budget.on_overrun == "truncate")
    assert outcome == "overrun" or not record["overrun"] or task.budget.on_overrun == "idle"
    if outcome == "no path":
        assert world.position not in distances(world.believed, problem.goal)
    if outcome == "goal" and not problem.changes:
        optimal = scipy_distances(problem.grid, problem.goal)[problem.start[1], problem.start[0]]
        cost = record["straights"] + record["diagonals"] * (np.sqrt(2) if problem.grid.cost == "octile" else 1)
        assert cost >= optimal - 1e-9


def check_reference(record: dict[str, Any], recounted: Recount, task: Task) -> bool:
    """Compare with the reference, which knows no budget, for as long as no move takes all of it; whether it could be.

    The agent may read more than the reference where that says so; such a move is left out too.
    """
    kind = agents.load(task.agent_id)
    chosen = kind.fit(task.budget.limit, task.budget.count) | task.settings
    plain = reference_run(task.agent_id, task.problem, chosen, _MAX_MOVES)
    limit, counts = task.budget.limit or 0, plain.scans if task.budget.count == "scans" else plain.expansions
    free = 0
    while free < len(counts) and counts[free] < limit and spent_at(recounted, free, task) < limit:
        free += 1
    steps = min(free, len(plain.path) - 1)
    assert record["path"][: steps + 1] == plain.path[: steps + 1]
    mine = [recounted.work[move].expansions if move in recounted.work else 0 for move in range(free)]
    assert mine == plain.expansions[:free]
    reads = [recounted.work[move].reads if move in recounted.work else 0 for move in range(free)]
    again = getattr(reference_of(task.agent_id), "READS_AGAIN", False)
    assert reads == plain.scans[:free] or (again and all(a >= b for a, b in zip(reads, plain.scans, strict=False)))
    if free == len(counts):
        assert record["outcome"] == OUTCOMES[plain.outcome]
        assert record["path"] == plain.path
    return free > 0


def spent_at(recounted: Recount, move: int, task: Task) -> int:
    """Return what was spent on a move by its number, 0 where nothing was planned."""
    return spent(recounted.work[move], task) if move in recounted.work else 0

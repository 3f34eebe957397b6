"""Runs a plan: what is on disk already is read, the rest is computed, and the table comes out the same either way."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from training.runs.jobs import Job, Outcome, run_job
from training.runs.plan import Plan
from training.runs.rows import Row, Timing
from training.runs.store import Store
from training.runs.workers import Workers


def run_plan(
    plan: Plan, folder: Path | None = None, workers: Workers | None = None, advance: Callable[[int], Any] | None = None
) -> tuple[list[Row], list[Timing]]:
    """Run what is not yet on disk and return a row and the times of every run, contender by contender.

    Args:
        plan: what to run.
        folder: where finished jobs are kept and looked for; nothing is kept without one.
        workers: what runs the jobs; all cores of this machine by default.
        advance: called with how many runs have become available, those that were on disk included.
    """
    report = advance or (lambda runs: None)
    store, jobs = Store(folder), list(plan.jobs())
    found = {job.key: outcomes for job, _ in jobs if (outcomes := store.read(job)) is not None}
    report(sum(map(len, found.values())))
    missing: dict[str, Job] = {job.key: job for job, _ in jobs if job.key not in found}
    with closing((workers or Workers()).run(list(missing.values()), run_job)) as finished:
        for key, outcomes in finished:
            store.keep(key, outcomes)
            found[key] = outcomes
            report(len(outcomes))
    return _assemble(plan, found)


def _assemble(plan: Plan, found: dict[str, list[Outcome]]) -> tuple[list[Row], list[Timing]]:
    """Put the results of all jobs into the order of the plan."""
    rows, timings = [], []
    for job, heads in plan.jobs():
        for head, (result, timing) in zip(heads, found[job.key], strict=True):
            rows.append(Row(*head, result))
            timings.append(timing)
    return rows, timings

"""Scoring a comparison: CPU time for many problems and for ten times as many, the table written, and memory."""

import resource
import sys
import time
from dataclasses import replace

import numpy as np
from measure import Row, at_most, digits, heading, print_rows

from training.judge import Arena
from training.judge.scores import score_arena
from training.runs import Allowance, Draw, Plan, Runs, Workers, enlist_all, find_courses, run_plan
from training.runs.rows import Batch, Places
from training.runs.tables import format_results

RUN, FEW, MANY = 1000, 100_000, 1_000_000
_KILOBYTE = 1 if sys.platform == "darwin" else 1024


def real_runs() -> Runs:
    """Two agents on a thousand problems."""
    contenders = enlist_all(["lrta:depth=1", "lss-lrta:lookahead=10"], [Allowance.of(100)])
    plan = Plan(tuple(contenders), tuple(find_courses(["open-16"], Draw(count=RUN))))
    return run_plan(plan, workers=Workers(1))


def enlarged(runs: Runs, problems: int) -> Runs:
    """Return the same runs over and over, as if of so many problems."""
    places = tiled_places(runs.batches[0].places, problems // RUN)
    return Runs(tuple(tiled(batch, places, problems // RUN) for batch in runs.batches))


def tiled_places(places: Places, times: int) -> Places:
    return replace(places.repeated(times), repeat=np.zeros(times * len(places), np.int64))


def tiled(batch: Batch, places: Places, times: int) -> Batch:
    return replace(batch, places=places, columns={name: np.tile(a, times) for name, a in batch.columns.items()})


def scoring_seconds(runs: Runs) -> float:
    began = time.process_time()
    score_arena(Arena(runs))
    return time.process_time() - began


def writing_seconds(runs: Runs) -> tuple[float, int]:
    began = time.process_time()
    size = sum(map(len, format_results(runs)))
    return time.process_time() - began, size


def rows() -> list[Row]:
    few, many = (enlarged(real_runs(), problems) for problems in (FEW, MANY))
    scoring_seconds(few)  # warms up
    short, long = scoring_seconds(few), scoring_seconds(many)
    written, size = writing_seconds(few)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KILOBYTE
    return [
        at_most(f"2 x {FEW:,} problems", "scores with intervals, CPU", short, 30.0, "s"),
        at_most(f"2 x {MANY:,} problems", f"{digits(long)} s of CPU, beside the first", long / short, 11.0, "x"),
        Row(f"results.csv of 2 x {FEW:,}", f"{size / 1e6:.0f} MB, written in pieces", f"{written:.3g} s"),
        at_most("peak memory", "everything above", peak / 1e9, 2.0, "GB"),
    ]


if __name__ == "__main__":
    heading("Scoring")
    print_rows(rows())

"""Problems x agents -> jobs -> rows: what every command that runs agents is made of.

Example:
    >>> from training.runs import Allowance, Draw, Plan, Workers, enlist_all, find_courses, run_plan
    >>> contenders = enlist_all(["lrta:depth=1,2"], [Allowance.of(100)])
    >>> courses = find_courses(["rooms-64"], Draw(count=3, low=20, high=60))
    >>> runs = run_plan(Plan(tuple(contenders), tuple(courses)), workers=Workers(jobs=1))
    >>> [row.entry.label for row in list(runs)[::3]]
    ['lrta depth=1', 'lrta depth=2']
"""

from training.runs.contenders import Allowance, Contender, choose_baseline, enlist, enlist_all, portfolio
from training.runs.courses import Course, Draw, Task, changes_for, choose_changes, find_courses, read_changes
from training.runs.execution import run_plan, time_again
from training.runs.plan import Plan
from training.runs.rows import Entry, Place, Result, Row, Runs, Timing
from training.runs.tables import read_runs, write_tables
from training.runs.workers import Workers

__all__ = [
    "Allowance",
    "Contender",
    "Course",
    "Draw",
    "Entry",
    "Place",
    "Plan",
    "Result",
    "Row",
    "Runs",
    "Task",
    "Timing",
    "Workers",
    "changes_for",
    "choose_baseline",
    "choose_changes",
    "enlist",
    "enlist_all",
    "find_courses",
    "portfolio",
    "read_changes",
    "read_runs",
    "run_plan",
    "time_again",
    "write_tables",
]

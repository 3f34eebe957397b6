"""Paired comparisons: plan -> jobs -> rows -> scores -> tables, plots and recommendations.

Example:
    >>> from training.compare import Allowance, Draw, Plan, Workers, enlist_all, find_courses, run_plan, score_all
    >>> contenders = enlist_all(["lrta:depth=1,2"], [Allowance.of(100)])
    >>> courses = find_courses(["rooms-64"], Draw(count=3, low=20, high=60))
    >>> rows, times = run_plan(Plan(tuple(contenders), tuple(courses)), workers=Workers(jobs=1))
    >>> [score.entry.label for score in score_all(rows)]
    ['lrta depth=1', 'lrta depth=2']
"""

from training.compare.against import Verdict, judge
from training.compare.calibrate import Calibration, late_ticks
from training.compare.changes import changes_for, choose_changes, read_changes
from training.compare.contenders import Allowance, Contender, choose_baseline, enlist, enlist_all, portfolio
from training.compare.courses import Course, Draw, Task, find_courses
from training.compare.findings import Findings, Question, find
from training.compare.plan import Plan
from training.compare.recommend import recommend
from training.compare.rows import Entry, Place, Result, Row, Timing, read_rows
from training.compare.runs import run_plan
from training.compare.scores import Arena, Score, advantage, score_all
from training.compare.stats import Estimate
from training.compare.store import write_tables
from training.compare.workers import Workers

__all__ = [
    "Allowance",
    "Arena",
    "Calibration",
    "Contender",
    "Course",
    "Draw",
    "Entry",
    "Estimate",
    "Findings",
    "Place",
    "Plan",
    "Question",
    "Result",
    "Row",
    "Score",
    "Task",
    "Timing",
    "Verdict",
    "Workers",
    "advantage",
    "changes_for",
    "choose_baseline",
    "choose_changes",
    "enlist",
    "enlist_all",
    "find",
    "find_courses",
    "judge",
    "late_ticks",
    "portfolio",
    "read_changes",
    "read_rows",
    "recommend",
    "run_plan",
    "score_all",
    "write_tables",
]

"""Rows -> scores -> tables, plots and recommendations: what the runs of a comparison are worth."""

from training.judge.advice import recommend
from training.judge.findings import Findings, Limits, Question, Verdict, find, judge
from training.judge.scores import Arena, Score, score_all
from training.judge.speed import Calibration
from training.judge.squads import SquadArena, SquadScore, run_squads
from training.judge.stats import Estimate

__all__ = [
    "Arena",
    "Calibration",
    "Estimate",
    "Findings",
    "Limits",
    "Question",
    "Score",
    "SquadArena",
    "SquadScore",
    "Verdict",
    "find",
    "judge",
    "recommend",
    "run_squads",
    "score_all",
]

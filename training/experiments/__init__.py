"""The experiments of the papers, by the name of their figure or table.

An experiment is a module with an ``EXPERIMENT`` of frozen settings and claims, and a row of the table below. A new
agent gets a row in ``entrants``, and what the paper says of it becomes a claim.
"""

import importlib
from typing import TYPE_CHECKING

from rt_gym.errors import InputError, quoted

if TYPE_CHECKING:
    from training.experiments.frame import Experiment

# id -> module, imported on demand
_TABLE = {
    "tb-t1": "tb.t1",
    "tb-f3": "tb.f3",
    "tb-f4": "tb.f4",
    "tb-e1": "tb.e1",
    "tb-e2": "tb.e2",
    "dl-t1": "dl.t1",
    "dl-f2": "dl.f2",
    "sg-f2": "sg.f2",
    "sg-pre": "sg.pre",
    "sg-knn": "sg.knn",
    "dc-f5": "dc.f5",
    "dc-f5-learned": "dc.f5_learned",
    "dc-f6": "dc.f6",
    "dc-f7": "dc.f7",
    "rl-controllers": "rl.controllers",
    "rl-ppo": "rl.ppo",
    "dc-f7-learned": "dc.f7_learned",
    "dc-f8": "dc.f8",
    "dc-n": "dc.n",
    "dc-accuracy": "dc.accuracy",
    "ls-f4": "ls.f4",
    "ls-f4b": "ls.f4b",
    "ls-t1": "ls.t1",
    "ls-v6": "ls.v6",
}


def ids() -> list[str]:
    """Return the ids of all experiments."""
    return list(_TABLE)


def load(experiment_id: str) -> "Experiment":
    """Return an experiment by its id, in small or capital letters.

    Raises:
        InputError: if there is none of that name.
    """
    name = experiment_id.lower()
    if name not in _TABLE:
        raise InputError(f"unknown experiment {quoted(experiment_id)}, known are {', '.join(_TABLE)}")
    found: Experiment = importlib.import_module(f"{__package__}.{_TABLE[name]}").EXPERIMENT
    return found

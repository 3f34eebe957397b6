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
    "tb-t1": "tb_t1",
    "tb-f3": "tb_f3",
    "tb-f4": "tb_f4",
    "tb-e1": "tb_e1",
    "tb-e2": "tb_e2",
    "dl-t1": "dl_t1",
    "dl-f2": "dl_f2",
    "sg-f2": "sg_f2",
    "sg-pre": "sg_pre",
    "sg-knn": "sg_knn",
    "dc-f5": "dc_f5",
    "dc-f5-learned": "dc_f5_learned",
    "dc-f6": "dc_f6",
    "dc-f7": "dc_f7",
    "rl-controllers": "rl_controllers",
    "rl-ppo": "rl_ppo",
    "dc-f7-learned": "dc_f7_learned",
    "dc-f8": "dc_f8",
    "dc-n": "dc_n",
    "dc-accuracy": "dc_accuracy",
    "ls-f4": "ls_f4",
    "ls-f4b": "ls_f4b",
    "ls-t1": "ls_t1",
    "ls-v6": "ls_v6",
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

"""The experiments of the papers, by the name of their figure or table; a folder per paper, which holds its constants.

An experiment is a frozen value of settings and claims, and a row of the table below.

Example:
    >>> from training import experiments
    >>> experiments.load("tb-t1").title
    'Acting early and acting late'
"""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from training.experiments.frame import Experiment

# id -> module and name, imported on demand
_TABLE = {
    "tb-t1": "tb.tables:T1",
    "tb-f3": "tb.figures:F3",
    "tb-f4": "tb.figures:F4",
    "tb-e1": "tb.tables:E1",
    "tb-e2": "tb.tables:E2",
    "tb-wa": "tb.figures:WA",
    "dl-t1": "dl.figures:T1",
    "dl-f2": "dl.figures:F2",
    "sg-f2": "sg.online:F2",
    "sg-pre": "sg.prepared:PRE",
    "sg-knn": "sg.prepared:KNN",
    "sg-dlrta": "sg.prepared:DLRTA",
    "sg-under": "sg.online:UNDER",
    "sg-smaller": "sg.online:SMALLER",
    "dc-f5": "dc.depths:F5",
    "dc-f5-learned": "dc.depths:F5_LEARNED",
    "dc-f6": "dc.databases:F6",
    "dc-f7": "dc.sizes:F7",
    "rl-controllers": "rl:CONTROLLERS",
    "rl-ppo": "rl:PPO",
    "dc-f7-learned": "dc.depths:F7_LEARNED",
    "dc-f8": "dc.databases:F8",
    "dc-n": "dc.classifier:N",
    "dc-accuracy": "dc.classifier:ACCURACY",
    "dc-designs": "dc.classifier:DESIGNS_EXPERIMENT",
    "dc-pr": "dc.databases:PR",
    "dc-rta": "dc.depths:RTA",
    "dc-tiles": "dc.sizes:TILES",
    "dc-stored": "dc.stored:STORED_INSTEAD",
    "ls-f4": "ls.figures:F4",
    "ls-f4-maze": "ls.figures:F4_MAZE",
    "ls-f4-bg": "ls.figures:F4_BG",
    "ls-f4b": "ls.figures:F4B",
    "ls-t1": "ls.figures:T1",
    "ls-v6": "ls.figures:V6",
    "ex-changing": "ex:CHANGING",
    "ex-ablations": "ex:ABLATIONS",
    "ex-successors": "rivals:BESIDE_BASES",
    "ex-limits": "rivals:LIMITED",
    "ex-limits-games": "rivals:LIMITED_GAMES",
    "ex-limits-two": "rivals:AT_TWO_SCANS",
}


def ids() -> list[str]:
    """Return the ids of all experiments."""
    return list(_TABLE)


def load(experiment_id: str) -> "Experiment":
    """Return an experiment by its id, in small or capital letters.

    Raises:
        InputError: if there is none of that name.
    """
    from rt_gym.errors import InputError, quoted  # here, so that the table of ids can be had at once

    name = experiment_id.lower()
    if name not in _TABLE:
        raise InputError(f"unknown experiment {quoted(experiment_id)}, known are {', '.join(_TABLE)}")
    module, attribute = _TABLE[name].split(":")
    found: Experiment = getattr(importlib.import_module(f"{__package__}.{module}"), attribute)
    return found


def run(experiment_id: str, size: str = "smoke", maps: str | Path | None = None, **options: Any) -> dict[str, Any]:
    """Run an experiment and return what it found, as JSON takes it; options are those of ``conduct.conduct``.

    Args:
        experiment_id: such as ``"tb-t1"``.
        size: ``"smoke"``, ``"record"`` or ``"full"``.
        maps: the folder of the public maps; without one, generated maps stand in for them.
        **options: ``out``, ``workers`` and ``progress``.
    """
    from training.experiments.conduct import conduct

    return conduct(load(experiment_id), size, None if maps is None else Path(maps), **options)

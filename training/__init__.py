"""Learns and judges: comparisons, learned depth control, and the ``rt-gym`` command.

Nothing is imported here before it is asked for, so that the command answers ``--help`` at once.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

_OURS = (Path(__file__).parents[1] / "agents").resolve()


def check_agents() -> None:
    """Make sure that ``import agents`` finds the package beside this one.

    Raises:
        ImportError: if it would find that of another distribution, or none; the message is one sentence.
    """
    spec = find_spec("agents")
    places = [] if spec is None else [*(spec.submodule_search_locations or [spec.origin or ""])]
    if [Path(place).resolve() for place in places] != [_OURS]:
        where = f"is another distribution's, in {places[0]}" if places else "is missing"
        raise ImportError(f"the package 'agents' {where}: install rt_gym into a fresh virtual environment")


def __getattr__(name: str) -> Any:
    """Return the estimator ``J48Classifier``."""
    if name != "J48Classifier":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from training.j48 import J48Classifier

    return J48Classifier

"""The Gymnasium home of real-time heuristic search: grid pathfinding with a metered compute budget per move."""

from typing import TYPE_CHECKING, Any

from rt_gym import envs, splits
from rt_gym.envs import view
from rt_gym.errors import AgentFailure, BudgetExceeded, Fault, InputError
from rt_gym.grid import Grid
from rt_gym.maps import load_map, load_scenarios, save_map
from rt_gym.maps.generate import generate
from rt_gym.meter import Budget, Meter
from rt_gym.problem import Change, Problem
from rt_gym.sample import sample_problems
from rt_gym.search.distance import distance_field
from rt_gym.squad import Squad, SquadRun
from rt_gym.terrain import DIRECTIONS
from rt_gym.trip import STAY
from rt_gym.version import __version__
from rt_gym.views import View
from rt_gym.world import World

if TYPE_CHECKING:
    from rt_gym.evaluation import Evaluation, evaluate

envs.register()

__all__ = [
    "DIRECTIONS",
    "STAY",
    "AgentFailure",
    "Budget",
    "BudgetExceeded",
    "Change",
    "Evaluation",
    "Fault",
    "Grid",
    "InputError",
    "Meter",
    "Problem",
    "Squad",
    "SquadRun",
    "View",
    "World",
    "__version__",
    "distance_field",
    "evaluate",
    "generate",
    "load_map",
    "load_scenarios",
    "sample_problems",
    "save_map",
    "splits",
    "view",
]


def __getattr__(name: str) -> Any:
    """Import what needs all environments when it is asked for, and not before."""
    if name not in ("Evaluation", "evaluate"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rt_gym import evaluation

    return getattr(evaluation, name)

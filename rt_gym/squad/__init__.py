"""Many units on one map that share the computation of a tick."""

from rt_gym.squad.dealing import RULES, Situation
from rt_gym.squad.record import SquadRun
from rt_gym.squad.squad import Squad

__all__ = ["RULES", "Situation", "Squad", "SquadRun"]

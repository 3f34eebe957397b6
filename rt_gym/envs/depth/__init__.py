"""RTDepth-v0, RTDeepen-v0 and RTDepthGoal-v0: the agent is General LRTA*, and an action controls how deep it searches.

In the last it also controls where to: to the goal, or to the next region on the way there.
"""

from rt_gym.envs.depth.env import RTDeepenEnv, RTDepthEnv, RTDepthGoalEnv
from rt_gym.envs.depth.settings import DeepenSettings, DepthGoalSettings, DepthSettings
from rt_gym.envs.depth.vector import RTDeepenVectorEnv, RTDepthGoalVectorEnv, RTDepthVectorEnv

__all__ = [
    "DeepenSettings",
    "DepthGoalSettings",
    "DepthSettings",
    "RTDeepenEnv",
    "RTDeepenVectorEnv",
    "RTDepthEnv",
    "RTDepthGoalEnv",
    "RTDepthGoalVectorEnv",
    "RTDepthVectorEnv",
]

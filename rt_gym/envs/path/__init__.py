"""RTPath-v0 and RTPathFog-v0: one step is one move on the grid."""

from rt_gym.envs.path.env import PathSettings, RTPathEnv, RTPathVectorEnv

__all__ = ["PathSettings", "RTPathEnv", "RTPathVectorEnv"]

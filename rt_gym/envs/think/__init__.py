"""RTThink-v0: one step is one slice of time, of thinking or of walking."""

from rt_gym.envs.think.env import RTThinkEnv, RTThinkVectorEnv, ThinkSettings

__all__ = ["RTThinkEnv", "RTThinkVectorEnv", "ThinkSettings"]

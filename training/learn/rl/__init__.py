"""Controllers of a planner learned by reinforcement with Stable-Baselines3, and given back to agents as plain networks.

Only ``model`` imports Stable-Baselines3 and PyTorch, and only when a training begins: whatever reads
the settings works without them.
"""

from training.learn.rl.course import ALGORITHMS, ENVIRONMENTS, TEACHERS, Progress, RLConfig
from training.learn.rl.train import NetworkResult, train_network, train_rl

__all__ = [
    "ALGORITHMS",
    "ENVIRONMENTS",
    "TEACHERS",
    "NetworkResult",
    "Progress",
    "RLConfig",
    "train_network",
    "train_rl",
]

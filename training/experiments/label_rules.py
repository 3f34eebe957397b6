"""Logs as other rules would have labelled them, beside the readings of ties in ``training.learn.labels``."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from training.learn.labels import listed
from training.learn.log import Samples, settled

Rule = Callable[[Samples], Samples]


def as_logged(samples: Samples) -> Samples:
    """The paper's: the smallest depth from which on all depths make the move of the largest."""
    return samples


def shallowest(samples: Samples) -> Samples:
    """The smallest depth that makes the move of the largest, whatever those between do."""
    agrees = samples.action == samples.action[:, -1:]
    return replace(samples, label=np.argmax(agrees, axis=1) + 1)


def drawn(samples: Samples) -> Samples:
    """The paper's, where every depth draws one of its tied moves."""
    ties = listed(samples.ties)
    action = np.argmax(ties * np.random.default_rng(0).random(ties.shape), axis=2)
    return replace(samples, action=action.astype(np.uint8), label=settled(action == action[:, -1:]))


RULES: dict[str, Rule] = {"paper": as_logged, "shallowest": shallowest, "drawn": drawn}

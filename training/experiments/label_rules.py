"""Other readings of the depth label: which depths count as deciding like the largest one.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007, does not say how ties between moves are broken, which decides most labels.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from training.collect import Samples, settled

Rule = Callable[[Samples], Samples]


def as_logged(samples: Samples) -> Samples:
    """The paper's: the smallest depth from which on all depths make the move of the largest."""
    return samples


def shallowest(samples: Samples) -> Samples:
    """The smallest depth that makes the move of the largest, whatever those between do."""
    agrees = samples.action == samples.action[:, -1:]
    return replace(samples, label=np.argmax(agrees, axis=1) + 1)


def tolerant(samples: Samples) -> Samples:
    """As the paper's, but a move agrees if the largest depth might as well make it."""
    own = np.uint8(1) << samples.action
    return replace(samples, label=settled(own & samples.ties[:, -1:] > 0))


def ordered(samples: Samples) -> Samples:
    """The paper's, where every depth makes the first of its tied moves in the order of the directions."""
    return _remade(samples, np.argmax(_listed(samples.ties), axis=2))


def drawn(samples: Samples) -> Samples:
    """The paper's, where every depth draws one of its tied moves."""
    listed = _listed(samples.ties)
    return _remade(samples, np.argmax(listed * np.random.default_rng(0).random(listed.shape), axis=2))


def _listed(ties: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a last axis with a 1 for every direction that ties."""
    return np.unpackbits(ties[:, :, None], axis=2, bitorder="little")


def _remade(samples: Samples, action: NDArray[np.int64]) -> Samples:
    return replace(samples, action=action.astype(np.uint8), label=settled(action == action[:, -1:]))


RULES: dict[str, Rule] = {
    "paper": as_logged,
    "shallowest": shallowest,
    "tolerant": tolerant,
    "ordered": ordered,
    "drawn": drawn,
}
NEED_TIES = ("tolerant", "ordered", "drawn")

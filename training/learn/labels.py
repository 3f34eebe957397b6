"""Readings of the depth label: which depths count as deciding like the largest one.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007, labels a state with the smallest depth from which on all depths make the move of the
largest. It does not say how ties between moves are broken, which decides most labels. Readings:

- ``search``: every depth makes the move that its search finds, which is the one that agents make.
- ``ordered``: every depth makes the first of its tied moves in the order of the directions.
- ``tolerant``: a move agrees if it is one of the tied moves of the largest depth.

Agents move as their searches say, whatever they have learned from: a reading changes what is taught and nothing else.
"""

import numpy as np
from numpy.typing import NDArray

from training.learn.log import Samples, settled

TIES = ("search", "ordered", "tolerant")


def moves(samples: Samples, ties: str) -> NDArray[np.uint8]:
    """Return the move of each depth, by a reading of ties."""
    return np.argmax(listed(samples.ties), axis=2).astype(np.uint8) if ties == "ordered" else samples.action


def agreement(samples: Samples, ties: str) -> NDArray[np.bool_]:
    """Return whether each depth decides as the largest, by a reading of ties."""
    if ties == "tolerant":
        return (np.uint8(1) << samples.action) & samples.ties[:, -1:] > 0
    made = moves(samples, ties)
    return made == made[:, -1:]


def label_by(samples: Samples, ties: str) -> NDArray[np.int64]:
    """Return the smallest depth from which on all depths agree, by a reading of ties."""
    return samples.label if ties == "search" else settled(agreement(samples, ties))


def listed(ties: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a last axis with a 1 for every direction that ties."""
    return np.unpackbits(ties[:, :, None], axis=2, bitorder="little")

"""LRTA*(k) as first published: only states of the trial's own path are looked at again.

C. Hernández, P. Meseguer, "LRTA*(k)", IJCAI 2005.

The later form is ``agents.lrta_k``. There are no numbered lines to refer to. The algorithm in plain Python:
``tests/reference/plain_lrta_k.py`` with ``visited_only``.

Reading: a state is on the path if this trial has planned there, the current one included.
"""

from typing import ClassVar

from agents.lrta_k import LRTAK


class LRTAKVisited(LRTAK):
    """LRTA*(k) for visited states.

    Args:
        k: how many states it may update per move, at least 1.
        supports: whether a risen value concerns only those states whose best successor it belonged to.
        tie: ``"first"`` or ``"random"``.
    """

    visited_only: ClassVar[bool] = True

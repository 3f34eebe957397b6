"""What a dealer sees of every unit of a squad, before the allowance of a tick is dealt.

Numbers without a bound are given as log(1 + x), so that distances and counts are of one size. The last features are
those of the whole squad, the same for every unit: what is right for one depends on how many others want something.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.squad.dealing import Situation

Numbers = NDArray[np.float64]


class Dealt(NamedTuple):
    """The features, one number per unit."""

    ready: Numbers  # 1 if it must plan now
    under_way: Numbers  # 1 if it is not on its goal
    distance: Numbers  # log, to its goal by the heuristic, in straight steps
    left: Numbers  # log, how many moves are left of its plan
    raised: Numbers  # log, how many values its last plan has raised
    waited: Numbers  # log, how many ticks it had to plan and was given nothing
    asks: Numbers  # log, what it asks for when it must plan
    planners: Numbers  # log, how many units must plan now
    travellers: Numbers  # log, how many units are not on their goals
    enough: Numbers  # which part of what it asks for it would get if all that must plan got the same, at most 1


DEALT = Dealt._fields


def see(situation: Situation) -> NDArray[np.float32]:
    """Return the features of all units, one row each."""
    one, planners = np.ones(situation.ready.size), int(situation.ready.sum())
    features = Dealt(
        ready=one * situation.ready,
        under_way=one * situation.under_way,
        distance=np.log1p(situation.distance),
        left=np.log1p(situation.left),
        raised=np.log1p(situation.raised),
        waited=np.log1p(situation.waited),
        asks=np.log1p(situation.asks),
        planners=one * np.log1p(planners),
        travellers=one * np.log1p(situation.under_way.sum()),
        enough=np.minimum(1.0, situation.allowance / (situation.asks * max(planners, 1.0))),
    )
    return np.stack(features, axis=1).astype(np.float32)

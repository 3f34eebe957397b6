"""A yard of rooms, a trap, and how much of a map an agent may know."""

from typing import Any

import numpy as np

from rt_gym import Grid, Problem
from rt_gym.maps.generate import generate

YARD = generate("rooms", width=22, height=20, room=4, doors=0.7, seed=3)
START, GOAL = (1, 1), (18, 17)
KNOWLEDGE: dict[str, dict[str, Any]] = {
    "known": {},
    "fog": {"vision": 1},
    "wide fog": {"vision": 3},
    "changes": {"changes": [(k, (5 * (k % 4), 5 * (k // 4 % 4)), k % 3 == 0) for k in range(1, 30)]},
    "fog and changes": {"vision": 2, "changes": [(k, (4 + k % 12, 9), k % 2 == 0) for k in range(40)]},
}

# A pocket in the way: with little lookahead it takes many moves, and many values, to get out of it.
TRAP = np.ones((31, 31), bool)
TRAP[5, 5:25] = TRAP[25, 5:25] = TRAP[5:26, 24] = False
POCKET = Problem(Grid(TRAP, name="trap"), (20, 15), (29, 15))

# Problems without a way: the goal is behind a wall, or the agent is.
CUT_OFF = Problem(Grid([[1, 1, 0, 1]]), (0, 0), (3, 0), allow_unsolvable=True)
LONELY = Problem(Grid([[1, 0, 1]]), (0, 0), (2, 0), allow_unsolvable=True)

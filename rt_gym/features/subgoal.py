"""What a controller of the goal sees of the next subgoal. Distances are heuristic ones, in steps."""

from typing import NamedTuple

from rt_gym.cost import STRAIGHT
from rt_gym.jit import kernel, write_fields
from rt_gym.search.space import NONE
from rt_gym.terrain import h0, locate


class Subgoal(NamedTuple):
    """The next subgoal; all 0 where there is none."""

    has_subgoal: int  # 1 if there is one
    subgoal_distance: float  # to it
    subgoal_dx: int  # how many columns it is to the east
    subgoal_dy: int  # how many rows it is to the south
    subgoal_beyond: float  # from it to the goal
    subgoal_pursued: int  # 1 if the last decision headed for it


SUBGOAL = Subgoal._fields


@kernel(inline=True)
def write_subgoal(terrain, subgoal, pursued, s, t, out):
    """Write what is known of a subgoal, NONE if there is none, and of what the last decision headed for."""
    out[:] = 0
    if subgoal != NONE:
        x, y = locate(terrain, s)
        goal_x, goal_y = locate(terrain, subgoal)
        features = Subgoal(
            has_subgoal=1,
            subgoal_distance=h0(terrain, s, subgoal) / STRAIGHT,
            subgoal_dx=goal_x - x,
            subgoal_dy=goal_y - y,
            subgoal_beyond=h0(terrain, subgoal, t) / STRAIGHT,
            subgoal_pursued=pursued == subgoal,
        )
        write_fields(features, out, 0)

"""What there is to draw of a squad."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.render.scene import Scene, Units
from rt_gym.squad.squad import Squad


def squad_scene(squad: Squad, still: NDArray[np.bool_] | None = None, caption: str = "") -> Scene:
    """Return the moment of a squad: the true map as far as any unit has seen it, all units and all goals.

    Args:
        squad: what to draw.
        still: which units stood still in the last tick although they were under way; none when None.
        caption: a line of text.
    """
    passable, known, at, goals = squad.passable, seen(squad), squad.positions, squad.goals
    changed = passable != squad.grid.passable
    return Scene(
        passable=passable,
        known=known,
        position=_pair(at[0]),
        start=squad.problems[0].start,
        goal=_pair(goals[0]),
        trail=np.empty((0, 2)),
        layers={},
        caption=caption,
        changed=np.argwhere(changed if known is None else changed & known)[:, ::-1],
        units=Units(at, goals, np.zeros(len(at), bool) if still is None else still),
    )


def seen(squad: Squad) -> NDArray[np.bool_] | None:
    """Return H x W, true where any unit has seen the cell by now; None when the map is known."""
    views = {id(unit.view.terrain): unit.view for unit in squad.units}
    first, *others = views.values()
    if first.vision is None:
        return None
    known = first.known.copy()
    for view in others:
        known |= view.known
    return known


def _pair(position: NDArray[Any]) -> tuple[int, int]:
    return int(position[0]), int(position[1])

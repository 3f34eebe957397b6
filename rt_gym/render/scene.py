"""What there is to draw, as plain data that knows neither worlds nor agents."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError
from rt_gym.render.pane import make_pane
from rt_gym.terrain import Position

GRID_LAYERS, POSITION_LAYERS = ("h", "regions"), ("expanded", "subgoals")


def _no_positions() -> NDArray[np.int64]:
    return np.empty((0, 2), np.int64)


class Units(NamedTuple):
    """The units of a squad, one entry each.

    Attributes:
        positions: n x 2, where they stand.
        goals: n x 2, where they want to go.
        still: bool, whether they stood still in the last tick although they were under way.
    """

    positions: NDArray[Any]
    goals: NDArray[Any]
    still: NDArray[np.bool_]

    @property
    def arrived(self) -> NDArray[np.bool_]:
        """Which of them stand on their goals."""
        return np.asarray((self.positions == self.goals).all(axis=1))


@dataclass(frozen=True, eq=False)
class Scene:
    """One moment of an episode. Positions are ``(x, y)``; drawing only reads the arrays.

    Attributes:
        passable: H x W, true where a cell is free: the true map, or the believed one.
        known: H x W, true where a cell has been seen, the rest is drawn as fog; None when everything is known.
        position: where the agent stands.
        start: where it began.
        goal: where it wants to go.
        trail: n x 2 positions walked so far, oldest first.
        layers: what an agent has to show. ``h``: H x W, how much of the heuristic was learned; ``expanded``: n x 2
            positions; ``subgoals``: n x 2 positions; ``regions``: H x W region numbers, negative where there is none.
            Other names are ignored.
        caption: a line of text.
        changed: n x 2 positions of cells that changed lately.
        units: those of a squad, which are drawn instead of the agent, its start and its goal; the agent is the one of
            them that a zoom follows.
    """

    passable: NDArray[np.bool_]
    known: NDArray[np.bool_] | None
    position: Position
    start: Position
    goal: Position
    trail: NDArray[Any]
    layers: Mapping[str, NDArray[Any]]
    caption: str = ""
    changed: NDArray[Any] = field(default_factory=_no_positions)
    units: Units | None = None

    def __post_init__(self) -> None:
        passable = np.asarray(self.passable, bool)
        if passable.ndim != 2 or passable.size == 0:
            raise InputError(f"a scene needs an H x W array of at least one cell, not shape {passable.shape}")
        for name in ("position", "start", "goal"):
            _check_inside(name, getattr(self, name), passable.shape)
        if "\n" in self.caption:
            raise InputError(f"the caption of a scene is one line, not {self.caption!r}")
        known = None if self.known is None else _grid("known", np.asarray(self.known, bool), passable.shape)
        layers = {name: _grid(name, self.layers[name], passable.shape) for name in GRID_LAYERS if name in self.layers}
        layers |= {name: _positions(name, self.layers.get(name, ())) for name in POSITION_LAYERS}
        checked: dict[str, Any] = {"passable": passable, "known": known, "layers": layers}
        checked |= {name: _positions(name, getattr(self, name)) for name in ("trail", "changed")}
        checked["units"] = self.units and _checked_units(self.units)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def walls(self) -> NDArray[np.bool_]:
        """Where a wall has been seen."""
        return ~self.passable if self.known is None else self.known & ~self.passable

    @property
    def nbytes(self) -> int:
        """How many bytes its arrays take."""
        arrays = [self.passable, self.trail, self.changed, *self.layers.values(), *(self.units or ())]
        return sum(array.nbytes for array in arrays) + (0 if self.known is None else self.known.nbytes)


def frozen(scene: Scene) -> Scene:
    """Return a scene that stays as it is, whatever becomes of the arrays that it was made of."""
    known = None if scene.known is None else scene.known.copy()
    layers = {name: layer.copy() for name, layer in scene.layers.items()}
    return replace(scene, passable=scene.passable.copy(), known=known, layers=layers)


def _check_inside(name: str, position: Position, shape: tuple[int, ...]) -> None:
    x, y = position
    if not (0 <= x < shape[1] and 0 <= y < shape[0]):
        raise InputError(f"the {name} ({x}, {y}) of a scene lies outside its {shape[1]} x {shape[0]} map")


def _grid(name: str, values: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    array = np.asarray(values)
    if array.shape != shape:
        raise InputError(f"{name} of a scene must have the shape of its map, {shape}, not {array.shape}")
    return array


def _positions(name: str, values: Any) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.size == 0:
        return _no_positions()
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(f"{name} of a scene must be an n x 2 array of positions (x, y), not shape {array.shape}")
    return array.astype(np.int64)


def _checked_units(units: Units) -> Units:
    positions, goals = _positions("units", units.positions), _positions("goals", units.goals)
    still = np.asarray(units.still, bool)
    if len(positions) != len(goals) or still.shape != (len(goals),):
        raise InputError(f"units of a scene need a goal each, not {len(goals)} for {len(positions)}")
    return Units(positions, goals, still)


def close_up(scene: Scene, cells: int) -> Scene:
    """Return the part of a scene that is at most ``cells`` wide and high, around the agent.

    Start and goal are moved to the nearest edge where they are out of sight, and so show the way. Units out of sight
    stay where they are, outside the part.
    """
    pane = make_pane(scene.passable.shape, scene.position, cells, cells, cells)
    corner, last, units = np.array([pane.left, pane.top]), np.array([pane.columns - 1, pane.rows - 1]), scene.units

    def moved(positions: NDArray[np.int64]) -> NDArray[np.int64]:
        return positions[pane.inside(positions)] - corner

    def edged(position: Position) -> Position:
        x, y = np.clip(np.array(position) - corner, 0, last)
        return int(x), int(y)

    return Scene(
        passable=pane.cut(scene.passable),
        known=None if scene.known is None else pane.cut(scene.known),
        position=edged(scene.position),
        start=edged(scene.start),
        goal=edged(scene.goal),
        trail=moved(scene.trail),
        layers={name: (pane.cut if name in GRID_LAYERS else moved)(layer) for name, layer in scene.layers.items()},
        caption=scene.caption,
        changed=moved(scene.changed),
        units=units and units._replace(positions=units.positions - corner, goals=units.goals - corner),
    )

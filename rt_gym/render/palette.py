"""Every colour, in one place. Things that must look different differ in lightness or shape, not in hue alone.

The tiles of a picture take their colours from ``TABLE``, so that painting a map is one lookup: ``HEATS`` steps of
learned heat over each ground (floor, tints of regions, tones of fog), then wall, then rock, which is wall without any
open ground beside it.
"""

import numpy as np
from numpy.typing import NDArray

Colour = tuple[int, int, int]
Colours = NDArray[np.float64]

BACKGROUND: Colour = (34, 39, 48)
CAPTION: Colour = (206, 211, 218)
FLOOR: Colour = (238, 232, 219)
WALL: Colour = (78, 89, 104)
ROCK: Colour = (64, 74, 88)
FACE: Colour = (52, 60, 73)  # the side of a wall that looks south
FOG: tuple[Colour, ...] = ((168, 177, 188), (164, 173, 185), (172, 181, 191), (161, 170, 182))
EXPANDED: Colour = (110, 218, 214)
EXPANDED_BLEND = 0.6
CHANGED: Colour = (255, 64, 129)
CHANGED_BLEND = 0.65
TRAIL: Colour = (24, 62, 140)
# Agent: dark with a light edge, round. Goal: bright with a dark edge, a star. Start: a ring. Subgoals: diamonds.
AGENT: Colour = (14, 36, 96)
AGENT_EDGE: Colour = (255, 255, 255)
GOAL: Colour = (255, 202, 40)
GOAL_EDGE: Colour = (43, 33, 24)
START: Colour = (250, 250, 250)
START_EDGE: Colour = TRAIL
SUBGOAL: Colour = (171, 71, 188)
SUBGOAL_EDGE: Colour = (255, 255, 255)
# Units of a squad, in turn: discs, squares where they stand still; their goals are rings of the same colour.
# The colours of M. Okabe and K. Ito, which people with any kind of colour vision can tell apart, without black.
UNITS: tuple[Colour, ...] = (
    (230, 159, 0), (86, 180, 233), (0, 158, 115), (240, 228, 66), (0, 114, 178), (213, 94, 0), (204, 121, 167),
)  # fmt: skip
UNIT_EDGE: Colour = (20, 24, 32)

# From barely learned to most learned: lightness falls steadily, so the order survives without hue.
HEAT_STOPS: tuple[Colour, ...] = ((250, 222, 150), (247, 178, 103), (238, 127, 94), (214, 84, 106), (166, 56, 118))
HEAT_BLEND = (0.5, 0.9)  # how much the weakest and the strongest heat cover the ground

REGIONS: tuple[Colour, ...] = (
    (141, 182, 205), (222, 170, 136), (160, 196, 150), (196, 164, 204), (226, 205, 130), (150, 190, 190),
    (214, 158, 170), (178, 186, 226), (190, 200, 140), (205, 180, 160), (140, 200, 175), (225, 185, 205),
)  # fmt: skip
REGION_BLEND = 0.45

HEATS = 32
FIRST_FOG = 1 + len(REGIONS)  # the number of a ground; floor has 0
WALL_CODE = (FIRST_FOG + len(FOG)) * HEATS
ROCK_CODE = WALL_CODE + 1


def mix(under: Colours, over: Colours, share: float | Colours) -> Colours:
    """Return colours between two others."""
    return under + (over - under) * share


def lay(picture: NDArray[np.uint8], colour: Colour, cover: NDArray[np.float32]) -> None:
    """Lay a colour over a picture, H x W x 3, in place, as thick as ``cover`` says, H x W from 0 to 1.

    Channel by channel: many times faster than pixel by pixel.
    """
    for channel, value in enumerate(colour):
        under = picture[..., channel].astype(np.float32)
        picture[..., channel] = under + (value - under) * cover + np.float32(0.5)


def _heated(ground: Colours) -> Colours:
    """Return the colours of one ground at every heat; heat 0 is the bare ground."""
    steps = np.linspace(0, 1, HEATS - 1)
    stops = np.linspace(0, 1, len(HEAT_STOPS))
    heat = np.stack([np.interp(steps, stops, channel) for channel in np.array(HEAT_STOPS).T], axis=1)
    cover = np.interp(steps, (0, 1), HEAT_BLEND)[:, None]
    return np.vstack([ground, mix(ground, heat, cover)])


def _table() -> NDArray[np.uint8]:
    floor = np.array(FLOOR, float)
    regions = mix(floor, np.array(REGIONS, float), REGION_BLEND)
    grounds = np.vstack([floor, regions, np.array(FOG, float)])
    return np.vstack([*map(_heated, grounds), WALL, ROCK]).round().astype(np.uint8)


TABLE = _table()

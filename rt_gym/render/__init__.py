"""Pictures of an episode: an image, a text for the terminal, a window. All of them draw a ``Scene``, which is data."""

from rt_gym.render.image import frame
from rt_gym.render.scene import Scene, Units, close_up, frozen
from rt_gym.render.terminal import text
from rt_gym.render.window import Window

__all__ = ["Scene", "Units", "Window", "close_up", "frame", "frozen", "text"]

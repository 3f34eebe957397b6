"""Pictures of an episode, for every single environment."""

import shutil
from abc import ABC, abstractmethod
from typing import Any

import gymnasium as gym

from rt_gym.envs.settings import frame_size
from rt_gym.errors import InputError, quoted, whole


class Pictured(ABC):
    """An environment that can be drawn: as a frame, as text, or in a window."""

    metadata: dict[str, Any] = {"render_modes": ["human", "rgb_array", "ansi"], "render_fps": 15}  # noqa: RUF012

    def _set_up_pictures(self, render_mode: str | None, render_size: Any, zoom: int | None) -> None:
        """Take the arguments that pictures have."""
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise InputError(
                f"render_mode must be one of {self.metadata['render_modes']} or None, not {quoted(render_mode)}"
            )
        self.render_mode, self.render_size, self.zoom = render_mode, frame_size(render_size), zoom
        if zoom is not None:
            whole("zoom", zoom, 1)
        self._window: Any = None

    @abstractmethod
    def _scene(self) -> Any:
        """Return what there is to draw."""

    def render(self) -> Any:
        """Draw the current state with the agent's layers: a frame, a text, or a window."""
        if self.render_mode is None:
            gym.logger.warn("render was called without a render_mode; give one to gym.make")
            return None
        from rt_gym import render

        scene = self._scene()
        if self.render_mode == "ansi":
            columns, rows = shutil.get_terminal_size()
            return render.text(scene, columns, rows - 1)
        frame = render.frame(scene, self.render_size, self.zoom)
        if self.render_mode == "rgb_array":
            return frame
        if self._window is None:
            self._window = render.Window()
        self._window.show(frame, scene.caption)
        return None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_window": None}  # a copy opens a window of its own

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

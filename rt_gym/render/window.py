"""A window on the screen. pygame-ce comes with the extra ``human`` and is imported when a window opens."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError


def _pygame() -> Any:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # its greeting would end up in machine-readable output
    try:
        import pygame
    except ImportError as error:
        raise InputError(
            'a window needs pygame-ce, which is not installed; pip install "rt_gym[human]" brings it'
        ) from error
    return pygame


class Window:
    """Shows images. It opens with the first of them; once the user has closed it, later ones are ignored.

    A process has one window: that is how pygame works.
    """

    def __init__(self) -> None:
        self._screen: Any = None
        self._dismissed = False

    def show(self, image: NDArray[np.uint8], caption: str = "") -> None:
        """Show an image.

        Args:
            image: height x width x 3, uint8; the window takes its size.
            caption: the window's title.

        Raises:
            InputError: if pygame-ce is missing, no window can be opened here, or the array is not an image.
        """
        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
            raise InputError(f"a window shows H x W x 3 arrays of uint8, not {image.dtype} of shape {image.shape}")
        if self._dismissed:
            return
        pygame = _pygame()
        size = (image.shape[1], image.shape[0])
        if self._screen is None or self._screen.get_size() != size:
            self._screen = _open(pygame, size)
        pygame.display.set_caption(caption or "rt_gym")
        self._screen.blit(pygame.image.frombuffer(image.tobytes(), size, "RGB"), (0, 0))
        pygame.display.flip()
        self.pump()

    def pump(self) -> bool:
        """Answer the window system, which takes a window for hung otherwise; return False once the user closed it."""
        if self._screen is not None:
            pygame = _pygame()
            if any(event.type == pygame.QUIT for event in pygame.event.get()):
                self._dismissed = True
                self.close()
        return not self._dismissed

    def close(self) -> None:
        """Close the window, if it is open."""
        if self._screen is not None:
            self._screen = None
            _pygame().display.quit()


def _open(pygame: Any, size: tuple[int, int]) -> Any:
    try:
        pygame.display.init()
        return pygame.display.set_mode(size)
    except pygame.error as error:
        raise InputError(f'no window can be opened here ({error}); render_mode="rgb_array" needs none') from error

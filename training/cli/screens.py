"""Where a run is watched: in the terminal or in a window, steered by single keys."""

import os
import sys
import textwrap
import time
from contextlib import ExitStack
from dataclasses import dataclass
from math import inf
from types import TracebackType
from typing import Any, Self

from rich.console import Console

from rt_gym.render import Scene, Window, close_up, frame, text
from training.cli.terminal import in_known_colours

if sys.platform == "win32":
    import msvcrt
else:
    import select
    import termios
    import tty

END = "\x04"  # what Ctrl-D types, and what a terminal that is gone is taken for
_GLANCE = 0.02  # seconds between two looks at a keyboard that cannot be waited for
_NEXT, _STOP = ("\r", "\n"), ("q", "Q", END)
_TICK = 0.03  # seconds between two looks at the window or at the size of the terminal
_LEAST = 3  # lines of a terminal that the picture keeps
_BELOW = 8  # lines left for the summary below the last picture
_LAST = 2.0  # seconds for which the last picture stays in a window when there is no keyboard


class Keys:
    """Reads keys while it is open.

    Attributes:
        listening: whether standard input is a terminal; otherwise there are no keys.
    """

    def __init__(self) -> None:
        self.listening = sys.stdin.isatty()
        self._before: Any = None

    def __enter__(self) -> "Keys":
        if self.listening and sys.platform != "win32":
            self._before = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None and sys.platform != "win32":
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)

    def read(self, seconds: float) -> str:
        """Return the next key, or an empty text if none is pressed in this time."""
        if not self.listening:
            time.sleep(seconds)
            return ""
        if sys.platform == "win32":
            end = time.monotonic() + seconds
            while not msvcrt.kbhit() and time.monotonic() < end:
                time.sleep(_GLANCE)
            return msvcrt.getwch() if msvcrt.kbhit() else ""
        if not select.select([sys.stdin], [], [], seconds)[0]:
            return ""
        return os.read(sys.stdin.fileno(), 1).decode("latin-1") or END


class Screen:
    """Shows scenes and listens to the keyboard, between entering and leaving it.

    Args:
        zoom: how many cells around the agent are shown; the whole map when None.

    Attributes:
        tells: whether words can be read on it.
    """

    tells = False

    def __init__(self, zoom: int | None) -> None:
        self._zoom = zoom
        self._shown = 0.0
        self._keys = Keys()
        self._open = ExitStack()

    def __enter__(self) -> Self:
        self._open.enter_context(self._keys)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def show(self, scene: Scene, story: str = "", hint: str = "") -> None:
        """Show a scene with words below it, if it tells words."""
        self._shown = time.monotonic()

    def wait(self, seconds: float | None) -> bool:
        """Wait until the last scene was shown this long, or for Enter when None; False if the user wants to stop."""
        end = inf if seconds is None else self._shown + seconds
        while self._attend():
            key = self._keys.read(min(_TICK, max(0.0, end - time.monotonic())))
            if key in _STOP:
                return False
            if (seconds is None and key in _NEXT) or time.monotonic() >= end:
                return True
        return False

    def linger(self) -> None:
        """Leave the last scene where it is for a while."""

    def _attend(self) -> bool:
        """Do what is due while waiting; return whether the screen is still there."""
        return True


class TerminalScreen(Screen):
    """The whole terminal, drawn over in place; what was there before comes back at the end."""

    tells = True

    def __init__(self, zoom: int | None) -> None:
        super().__init__(zoom)
        self._console = Console()
        self._content: tuple[Scene, str, str] | None = None
        self._words = 0

    def __enter__(self) -> Self:
        self._open.enter_context(self._console.screen())
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the last picture where the terminal can be scrolled back to it."""
        super().__exit__(kind, error, trace)
        if error is None and self._content:
            self._write(self._draw(self._content[0], self._console.height - _BELOW) + "\n")

    def show(self, scene: Scene, story: str = "", hint: str = "") -> None:
        """Show a scene with its caption, and the words below."""
        super().show(scene)
        self._content = scene, story, hint
        self._size = self._console.size
        lines = self._wrapped(story, hint)
        lines = [*self._draw(scene, self._size.height - len(lines)).splitlines(), *lines]
        # Each line is wiped before it is written: after its last column a terminal would wipe that as well.
        self._write("\x1b[H" + "\n".join(f"\x1b[2K{line}" for line in lines) + "\x1b[J")

    def _wrapped(self, story: str, hint: str) -> list[str]:
        """Return the lines below the picture; they become more but never fewer, so that the picture keeps its size."""
        columns, room = self._size.width, max(0, self._size.height - _LEAST)
        words = textwrap.wrap(story, columns)
        self._words = max(self._words, len(words))
        words += [""] * (self._words - len(words))
        return [*words[: room - 1], f"\x1b[2m{hint[:columns]}\x1b[0m"] if room else []

    def _draw(self, scene: Scene, rows: int) -> str:
        """Return a scene as text that fits into ``rows`` lines of this terminal, in the colours that it knows."""
        scene = scene if self._zoom is None else close_up(scene, self._zoom)
        size = self._console.width, max(1, rows)
        return in_known_colours(self._console, lambda colour: text(scene, *size, colour=colour))

    def _attend(self) -> bool:
        if self._content and self._console.size != self._size:
            self._words = 0
            self.show(*self._content)
        return True

    def _write(self, words: str) -> None:
        self._console.file.write(words)
        self._console.file.flush()


class WindowScreen(Screen):
    """A window of its own.

    Args:
        zoom: how many cells around the agent are shown; the whole map when None.
        size: width and height in pixels.
    """

    def __init__(self, zoom: int | None, size: tuple[int, int]) -> None:
        super().__init__(zoom)
        self._frame_size = size
        self._window = Window()
        self._open.callback(self._window.close)

    def show(self, scene: Scene, story: str = "", hint: str = "") -> None:
        """Show a scene; a window shows no words."""
        super().show(scene)
        self._window.show(frame(scene, self._frame_size, self._zoom), scene.caption)

    def linger(self) -> None:
        """Wait until the window is closed or Enter is pressed, if there is a keyboard."""
        if self._keys.listening:
            print("The run is over: close the window, or press Enter here.", file=sys.stderr)
        self.wait(None if self._keys.listening else _LAST)

    def _attend(self) -> bool:
        return self._window.pump()


@dataclass(frozen=True)
class Look:
    """How a run is shown.

    Attributes:
        window: whether in a window rather than in the terminal.
        step: whether every decision is explained, with a pause if there is a keyboard.
        fps: pictures per second, otherwise.
        every: one of how many moves is shown.
        zoom: how many cells around the agent are shown; the whole map when None.
        silent: whether nothing is drawn in the terminal, because a document is printed there.
    """

    window: bool
    step: bool
    fps: float
    every: int
    zoom: int | None
    silent: bool

    @property
    def asks(self) -> bool:
        """Whether there is a pause at every move, which a key ends."""
        return self.step and sys.stdin.isatty()

    def screen(self, size: tuple[int, int]) -> Screen | None:
        """Return where the run is watched, None if standard output is a pipe; ``size`` is that of a frame."""
        if self.window:
            return WindowScreen(self.zoom, size)
        unseen = self.silent or not sys.stdout.isatty() or (self.step and not sys.stdin.isatty())
        return None if unseen else TerminalScreen(self.zoom)

"""Where a run is watched: in the terminal or in a window, steered by single keys."""

import os
import sys
import textwrap
import time
from abc import ABC, abstractmethod
from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass
from math import inf
from types import TracebackType
from typing import Any, NamedTuple, Self

from rich.console import Console

from rt_gym.render import Scene, Window, close_up, frame, frozen, text
from training.cli.terminal import in_known_colours

if sys.platform == "win32":
    import msvcrt
else:
    import select
    import termios
    import tty

END = "\x04"  # what Ctrl-D types, and what a terminal that is gone is taken for
_GLANCE = 0.02  # seconds between two looks at a keyboard that cannot be waited for
LEFT, RIGHT = "left", "right"  # what Keys reads where an arrow is pressed
_NEXT, _BACK, _PAUSE, _STOP = ("\r", "\n", "n", RIGHT), ("b", "B", LEFT), " ", ("q", "Q", END)
_ARROWS = {b"\x1b[D": LEFT, b"\x1b[C": RIGHT, b"\x1bOD": LEFT, b"\x1bOC": RIGHT}
_WINDOWS_ARROWS = {"K": LEFT, "M": RIGHT}
_PAUSED = "paused   space: go on   Enter: next move   b: back   q: stop"
_MOST_KEPT = 1 << 26  # bytes of the scenes that can be gone back to
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
            key = msvcrt.getwch() if msvcrt.kbhit() else ""
            return _WINDOWS_ARROWS.get(msvcrt.getwch(), "") if key in ("\0", "\xe0") else key
        key = self._byte(seconds)
        if key != b"\x1b":
            return key.decode("latin-1")
        return _ARROWS.get(key + self._byte(0) + self._byte(0), "")

    @staticmethod
    def _byte(seconds: float) -> bytes:
        """Return what is typed next, Ctrl-D where the terminal is gone, nothing if nothing is typed in this time."""
        ready = select.select([sys.stdin], [], [], seconds)[0]
        return (os.read(sys.stdin.fileno(), 1) or END.encode()) if ready else b""


class Content(NamedTuple):
    """What is to be seen on a screen: a scene, words about it, and what to press."""

    scene: Scene
    story: str
    hint: str


class Past:
    """The last contents of a screen, as many as fit into bounded memory."""

    def __init__(self) -> None:
        self._kept: deque[tuple[int, Content]] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, back: int) -> Content:
        """Return the content so many before the last one."""
        return self._kept[-1 - back][1]

    def keep(self, content: Content) -> None:
        """Keep a copy of a content, because its arrays change with the next move, and let go of the oldest ones."""
        scene = frozen(content.scene)
        self._kept.append((scene.nbytes, content._replace(scene=scene)))
        self._bytes += scene.nbytes
        while self._bytes > _MOST_KEPT and len(self._kept) > 1:
            self._bytes -= self._kept.popleft()[0]


class Screen(ABC):
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
        self._past = Past()
        self._back = 0  # how many scenes before the last one is shown
        self._paused = False

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
        content = Content(scene, story, hint)
        if self._keys.listening:
            self._past.keep(content)
        self._present(content)

    def _present(self, content: "Content") -> None:
        self.draw(content._replace(hint=_PAUSED) if self._paused else content)

    @abstractmethod
    def draw(self, content: "Content") -> None:
        """Draw what is to be seen now, the last scene or an earlier one."""

    def wait(self, seconds: float | None) -> bool:
        """Wait until the last scene was shown this long, or for Enter when None; False if the user wants to stop.

        A space stops the time and lets it go on; who goes back stops it as well.
        """
        while self._attend():
            end = inf if seconds is None or self._paused else self._shown + seconds
            key = self._keys.read(min(_TICK, max(0.0, end - time.monotonic())))
            if key in _STOP:
                return False
            if key and self._react(key, seconds is None or self._paused):
                return True
            if not self._paused and time.monotonic() >= end:
                return True
        return False

    def _react(self, key: str, by_hand: bool) -> bool:
        """Do what a key asks for; return whether the next scene is wanted that has not been shown yet."""
        if key in _BACK:
            self._turn(self._back + 1)
        elif key in _NEXT and by_hand:
            if not self._back:
                return True
            self._turn(self._back - 1)
        elif key == _PAUSE:
            self._turn(0 if self._paused else self._back, not self._paused)
        return False

    def _turn(self, back: int, paused: bool = True) -> None:
        """Show the scene so many before the last one, if there is one, and stop the time or let it go on."""
        self._back, self._paused = min(back, max(0, len(self._past) - 1)), paused
        if len(self._past):
            self._present(self._past[self._back])

    def linger(self) -> None:
        """Leave the last scene where it is for a while: whoever has paused may still go back."""
        if self._paused:
            self.wait(None)

    def _attend(self) -> bool:
        """Do what is due while waiting; return whether the screen is still there."""
        return True


class TerminalScreen(Screen):
    """The whole terminal, drawn over in place; what was there before comes back at the end."""

    tells = True

    def __init__(self, zoom: int | None) -> None:
        super().__init__(zoom)
        self._console = Console()
        self._content: Content | None = None
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
            self._write(self._draw(self._content.scene, self._console.height - _BELOW) + "\n")

    def draw(self, content: Content) -> None:
        """Show a scene with its caption, and the words below."""
        self._content = content
        scene, story, hint = content
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
            self.draw(self._content)
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

    def draw(self, content: Content) -> None:
        """Show a scene; a window shows no words."""
        scene = content.scene
        self._window.show(frame(scene, self._frame_size, self._zoom, legend=True), scene.caption)

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

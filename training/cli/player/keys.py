"""Single keys from a terminal, without waiting for Enter."""

import os
import sys
import time
from types import TracebackType
from typing import Any

if sys.platform == "win32":
    import msvcrt
else:
    import select
    import termios
    import tty

END = "\x04"  # what Ctrl-D types, and what a terminal that is gone is taken for
_TICK = 0.02


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
                time.sleep(_TICK)
            return msvcrt.getwch() if msvcrt.kbhit() else ""
        if not select.select([sys.stdin], [], [], seconds)[0]:
            return ""
        return os.read(sys.stdin.fileno(), 1).decode("latin-1") or END

"""How long a case takes, and how much memory it adds."""

import time
from contextlib import suppress
from pathlib import Path

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Watch:
    """Measures processor time and peak memory from its making on; memory is 0 where the system does not tell."""

    def __init__(self) -> None:
        self._before = _reset_peak()
        self._began = time.process_time()

    def read(self) -> tuple[float, float]:
        """Return seconds of processor time, and megabytes of the peak above where it began."""
        return time.process_time() - self._began, max(0.0, memory("VmHWM") - self._before)


def _reset_peak() -> float:
    """Let the system forget the highest memory so far, and return what is used now."""
    with suppress(OSError):
        _CLEAR.write_text("5")
    return memory("VmRSS")


def memory(name: str = "VmRSS") -> float:
    """Return the memory of this process in megabytes, as the system counts it under this name; 0 if it does not."""
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:")), 0.0)

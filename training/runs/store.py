"""The folder of a comparison: its finished jobs, then its tables. Every file is there as a whole or not at all."""

import json
from pathlib import Path
from typing import Any

from rt_gym import InputError
from rt_gym.files import atomic_write, read_bytes, shown
from training.runs.jobs import Job, Outcome
from training.runs.rows import Result, Row, Timing, format_rows, format_times


class Store:
    """The finished jobs of a folder, each in a file named by its key.

    A key depends on all that the results depend on, so a folder may serve any number of comparisons.

    Args:
        folder: where to keep them; None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder / "jobs"

    def read(self, job: Job) -> list[Outcome] | None:
        """Return the results of a job, None if it is not finished or its file is damaged."""
        if self._folder is None or not (path := self._path(job.key)).exists():
            return None
        try:
            outcomes = [(Result(*result), Timing(*timing)) for result, timing in json.loads(read_bytes(path))]
        except (ValueError, TypeError):  # not ours, or not whole: it is run again
            return None
        return outcomes if len(outcomes) == len(job.tasks) else None

    def keep(self, key: str, outcomes: list[Outcome]) -> None:
        """Write the results of a finished job."""
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{shown(self._folder)}: the folder cannot be made ({error.strerror})") from None
        atomic_write(self._path(key), json.dumps(outcomes).encode())

    def _path(self, key: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{key}.json"


def write_tables(folder: Path, settings: dict[str, Any], rows: list[Row], timings: list[Timing]) -> list[Path]:
    """Write the settings, the rows and the times of a comparison, and return where they are.

    ``settings.json`` and ``results.csv`` are the same for the same seed and sources; times are only in ``times.csv``.
    """
    contents = {
        "settings.json": (json.dumps(settings, indent=2, default=str) + "\n").encode(),
        "results.csv": format_rows(rows),
        "times.csv": format_times(rows, timings),
    }
    for name, content in contents.items():
        atomic_write(folder / name, content)
    return [folder / name for name in contents]

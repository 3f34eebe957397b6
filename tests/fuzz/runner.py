"""Tries the cases of a part in processes of its own, which may crash or hang without taking the others along."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from fuzz.case import Part

_START = 300.0  # seconds for a worker to be ready
_FAILURES = 50  # of one part, after which it is given up: more say nothing new
_SOURCES = Path(__file__).parents[2]
WORKER = ["-m", "fuzz.worker"]


@dataclass
class Report:
    """What the cases of a part gave.

    Attributes:
        cases: how many were tried.
        counts: how many checks of each kind were made in them.
        failures: the number, the story and the message of each that went wrong.
        slowest, largest: the most seconds and megabytes of any case.
        seconds: how long it took, by the clock on the wall.
    """

    name: str
    seed: int
    cases: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)
    slowest: float = 0.0
    largest: float = 0.0
    seconds: float = 0.0

    def add(self, answer: dict[str, Any]) -> None:
        """Take the answer of a worker about one case."""
        self.cases += 1
        self.counts.update(answer["counts"])
        self.slowest = max(self.slowest, answer["seconds"])
        self.largest = max(self.largest, answer["megabytes"])
        if answer["failure"] is not None:
            self.failures.append({key: answer[key] for key in ("case", "story", "failure")})


class Worker:
    """A process that tries every so-many-th case; ``answers`` ends with None when it has ended."""

    def __init__(self, name: str, seed: int, first: int, stride: int, cases: int, keep: Path) -> None:
        self.next, self.stride = first, stride
        self._errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115
        paths = os.pathsep.join([str(_SOURCES), str(_SOURCES / "tests")])
        command = [sys.executable, *WORKER, name, *map(str, (seed, first, stride, cases)), str(keep)]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            stdin=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"PYTHONPATH": paths},
        )
        self.ready, self.heard = False, time.monotonic()
        self.answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        assert self.process.stdout is not None
        threading.Thread(target=self._listen, args=(self.process.stdout,), daemon=True).start()

    def _listen(self, lines: TextIO) -> None:
        for line in lines:
            self.answers.put(line)
        self.answers.put(None)

    def stop(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.wait()

    def last_words(self) -> str:
        """Return the end of what it wrote to standard error."""
        self._errors.seek(0)
        return self._errors.read()[-2000:]


def run_part(name: str, part: Part, seed: int, cases: int, deadline: float, workers: int, keep: Path) -> Report:
    """Try the cases of a part until there are enough, the time is over, or too many fail."""
    report, began = Report(name, seed), time.monotonic()
    stride = min(workers, part.workers or workers, cases)
    alive = [Worker(name, seed, first, stride, cases, keep) for first in range(stride)]
    try:
        while alive and time.monotonic() < deadline and len(report.failures) < _FAILURES:
            heard = sum(_hear(worker, report) for worker in alive)
            alive = list(_renewed(alive, part, report, cases, keep))
            time.sleep(0 if heard else 0.02)
    finally:
        for worker in alive:
            worker.stop()
    report.seconds = time.monotonic() - began
    return report


def _hear(worker: Worker, report: Report) -> int:
    """Take the answers that a worker has given, and return how many."""
    heard = 0
    while not worker.answers.empty() and (line := worker.answers.get()) is not None:
        answer, worker.ready, worker.heard = json.loads(line), True, time.monotonic()
        if answer:
            report.add(answer)
            worker.next = answer["case"] + worker.stride
        heard += 1
    return heard


def _renewed(alive: list[Worker], part: Part, report: Report, cases: int, keep: Path) -> Iterator[Worker]:
    """Yield the workers that go on; one that died or hangs has failed its case, and another goes on after it."""
    for worker in alive:
        silent = time.monotonic() - worker.heard
        code = worker.process.poll()
        if code is None and silent < (part.patience if worker.ready else _START):
            yield worker
            continue
        worker.stop()
        time.sleep(0.05)  # for its last answers
        _hear(worker, report)
        if worker.next >= cases:
            continue
        ended = f"no answer for {part.patience:g} s" if code is None else f"the process ended with {code}"
        report.add(_silence(worker, f"{ended}\n{worker.last_words()}"))
        if worker.next + worker.stride < cases:
            yield Worker(report.name, report.seed, worker.next + worker.stride, worker.stride, cases, keep)


def _silence(worker: Worker, message: str) -> dict[str, Any]:
    return {"case": worker.next, "counts": {}, "seconds": 0.0, "megabytes": 0.0, "story": {}, "failure": message}

"""What does the jobs: this process, other processes of this machine (through joblib), or a Dask cluster.

A map goes to a worker once: as a file that processes of this machine read and keep, and in a cluster as a task of its
own, whose result the scheduler passes on and makes again where it was lost with its worker.
"""

import os
import pickle
import signal
import threading
import time
import traceback
import warnings
from collections import OrderedDict
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import joblib

from rt_gym import Grid, InputError
from rt_gym.errors import quoted
from training.runs.jobs import Done, Job, run_job

BACKENDS = ("loky", "dask")
_PATIENCE = 10.0  # seconds that a scheduler has to answer
_WAIT = 30.0  # seconds that a cluster may be without workers
_BEAT = 1.0  # seconds between two looks at a cluster from which nothing comes, and at the parent of a worker
_KEPT_MAPS = 4

# Workers keep the maps and tables of their jobs. Where one has grown by some hundred megabytes, joblib begins a new one
# in its place and warns of a leak; no job is lost.
warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)


class Pool(Protocol):
    """Workers that are ready."""

    @property
    def size(self) -> int:
        """How many jobs are done at a time."""

    def run(self, jobs: Iterator[Job]) -> Generator[Done, None, None]:
        """Do jobs and yield each as soon as it is finished, in any order; jobs are asked for as late as can be."""


@dataclass(frozen=True)
class Workers:
    """Processes of this machine (``"loky"``) or of a Dask cluster (``"dask"``).

    Args:
        jobs: how many processes of this machine; -1 takes one per core, 1 works in this process.
        backend: ``"loky"`` or ``"dask"``.
        scheduler: the address of the Dask scheduler, such as ``tcp://10.0.0.5:8786``.
    """

    jobs: int = -1
    backend: str = "loky"
    scheduler: str | None = None

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise InputError(f"the backend must be {' or '.join(BACKENDS)}, not {quoted(self.backend)}")
        if (self.backend == "dask") != bool(self.scheduler) or self.scheduler == "":
            raise InputError("the backend dask and the address of a scheduler go together")
        if self.jobs != -1 and self.jobs < 1:
            raise InputError(f"the number of jobs at a time must be at least 1, not {self.jobs}")

    @contextmanager
    def open(self, grids: Mapping[str, Grid], most: int) -> Iterator[Pool]:
        """Make workers ready for a while.

        Args:
            grids: the maps of the jobs, by their digests.
            most: how many jobs there can be.
        """
        if self.scheduler is not None:
            with _connected(self.scheduler) as client:
                yield _Cluster(client, self.scheduler, grids)
            return
        count = min(most, joblib.cpu_count() if self.jobs == -1 else self.jobs)
        if count == 1:
            yield _Here(grids)
            return
        with TemporaryDirectory(prefix="rt_gym-maps-") as folder:
            yield _Processes(count, grids, Path(folder))


@dataclass(frozen=True)
class _Here:
    """This process alone."""

    grids: Mapping[str, Grid]
    size = 1

    def run(self, jobs: Iterator[Job]) -> Generator[Done, None, None]:
        for job in jobs:
            yield run_job(job, self.grids.get(job.map or ""))


@dataclass(frozen=True)
class _Processes:
    """Other processes of this machine; ``folder`` is where they find the maps."""

    size: int
    grids: Mapping[str, Grid]
    folder: Path

    def run(self, jobs: Iterator[Job]) -> Generator[Done, None, None]:
        for digest, grid in self.grids.items():
            (self.folder / digest).write_bytes(pickle.dumps(grid))
        parallel = joblib.Parallel(n_jobs=self.size, batch_size=1, return_as="generator_unordered")
        try:
            with _signals_held():
                finished = parallel(joblib.delayed(_run_with_file)(job, self.folder, os.getpid()) for job in jobs)
            with _quietly_closed(finished):
                for done in finished:  # noqa: UP028  yield from would close it first
                    yield done
        except BrokenProcessPool:
            raise ChildProcessError("a worker process was ended from outside, perhaps for lack of memory") from None


@contextmanager
def _quietly_closed(finished: Generator[Done, None, None]) -> Iterator[None]:
    """Cancel at the end what is not finished; joblib would warn that it does, after a command has said its last."""
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*tasks which were still being processed", UserWarning)
            finished.close()


@contextmanager
def _signals_held() -> Iterator[None]:
    """Hold Ctrl-C and SIGTERM back while workers are started.

    They inherit it, for good: a terminal sends its signals to all processes, and what becomes of workers is for the one
    that started them to say. The threads that start others in the place of workers inherit it, too.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # when it is started with the workers, it lets signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_maps: OrderedDict[str, Grid] = OrderedDict()  # of this worker, the last used one last


def _run_with_file(job: Job, folder: Path, parent: int) -> Done:
    if parent != os.getpid():
        _end_with(parent)
    return run_job(job, None if job.map is None else _kept_map(job.map, folder))


@cache
def _end_with(parent: int) -> None:
    """Let this worker end soon after the process that started it, which may be killed without a word to anybody."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_BEAT)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _kept_map(digest: str, folder: Path) -> Grid:
    """Return a map that this process has read before, or read it; its tables are kept with it."""
    if digest not in _maps:
        _maps[digest] = pickle.loads((folder / digest).read_bytes())
        while len(_maps) > _KEPT_MAPS:
            _maps.popitem(last=False)
    _maps.move_to_end(digest)
    return _maps[digest]


class _Cluster:
    """The workers of a Dask cluster, of which some may be lost on the way, and others come."""

    def __init__(self, client: Any, address: str, grids: Mapping[str, Grid]) -> None:
        self._client, self._address = client, address
        try:
            client.wait_for_workers(1, timeout=_WAIT)
        except TimeoutError:
            raise InputError(f"the Dask cluster at {address} has no workers: start some with dask worker") from None
        self._maps = {
            digest: client.submit(pickle.loads, pickle.dumps(grid), key=f"rt_gym-map-{digest}")
            for digest, grid in grids.items()
        }
        self._seen = time.monotonic()

    @property
    def size(self) -> int:
        return max(1, self._threads())

    def run(self, jobs: Iterator[Job]) -> Generator[Done, None, None]:
        finished: SimpleQueue[Any] = SimpleQueue()
        running: set[Any] = set()

        def send(count: int) -> None:
            for job in islice(jobs, count):
                grid = None if job.map is None else self._maps[job.map]
                future = self._client.submit(_attempt, job, grid, pure=False)
                running.add(future)
                future.add_done_callback(finished.put)

        send(2 * self.size)
        try:
            while running:
                try:
                    future = finished.get(timeout=_BEAT)
                except Empty:
                    self._look()
                    send(max(0, 2 * self.size - len(running)))  # workers may have come
                    continue
                running.discard(future)
                yield self._result(future)
                send(1)
        finally:
            self._client.cancel(list(running))

    def _threads(self) -> int:
        try:
            return sum(self._client.nthreads().values())
        except OSError:
            raise ChildProcessError(f"the Dask scheduler at {self._address} no longer answers") from None

    def _look(self) -> None:
        """Give up on a cluster that has been without workers for a while."""
        if self._threads():
            self._seen = time.monotonic()
        elif time.monotonic() - self._seen > _WAIT:
            raise ChildProcessError(f"the Dask cluster at {self._address} has lost all its workers")

    def _result(self, future: Any) -> Done:
        self._seen = time.monotonic()
        try:
            found = future.result()
        except Exception as error:  # what a job itself raises comes back as a value, see _attempt
            raise self._refusal(error) from None
        if isinstance(found, Exception):
            raise found
        return found

    def _refusal(self, error: Exception) -> Exception:
        from distributed import KilledWorker

        reason = " ".join(f"{type(error).__name__}: {error}".split())
        if isinstance(error, KilledWorker):
            return ChildProcessError(f"a job has ended several workers, perhaps for lack of memory ({reason})")
        first, _, _ = reason.partition(". ")  # the others are advice about environments
        return InputError(f"the cluster cannot read its jobs: install the same version everywhere ({first})")


def _attempt(job: Job, grid: Grid | None) -> Done | Exception:
    """Do a job, and return what it raises: what Dask raises then comes from a worker that does not know our modules."""
    try:
        return run_job(job, grid)
    except Exception as error:
        error.add_note(traceback.format_exc())
        return error


@contextmanager
def _connected(scheduler: str) -> Iterator[Any]:
    """Connect to a Dask cluster for a while."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError("the backend dask needs the extra cluster: pip install 'rt_gym[cluster]'") from None
    try:
        client = Client(scheduler, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"no Dask scheduler answers at {quoted(scheduler)} ({reason})") from None
    with client:
        yield client

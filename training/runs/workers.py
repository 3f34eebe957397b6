"""What runs the jobs: processes of this machine, or a Dask cluster, both through joblib."""

import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import joblib

from rt_gym import InputError
from rt_gym.errors import quoted

BACKENDS = ("loky", "dask")
_PATIENCE = 10.0  # seconds that a scheduler has to answer

# Workers keep the maps and tables of their jobs. Where one has grown by some hundred megabytes, joblib begins a new one
# in its place and warns of a leak; no job is lost.
warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)


class Keyed(Protocol):
    """A piece of work that is known by a key."""

    @property
    def key(self) -> str:
        """What its result is kept under."""


J = TypeVar("J", bound=Keyed)
R = TypeVar("R")


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
        if (self.backend == "dask") != (self.scheduler is not None):
            raise InputError("the backend dask and the address of a scheduler go together")
        if self.jobs != -1 and self.jobs < 1:
            raise InputError(f"the number of jobs at a time must be at least 1, not {self.jobs}")

    def run(self, jobs: Sequence[J], work: Callable[[J], R]) -> Generator[tuple[str, R], None, None]:
        """Do the work of every job and yield its key and result as soon as it is finished, in any order."""
        if not jobs:
            return
        count = min(len(jobs), joblib.cpu_count() if self.jobs == -1 else self.jobs)
        with self._ready():
            parallel = joblib.Parallel(n_jobs=count, batch_size=1, return_as="generator_unordered")
            try:
                yield from parallel(joblib.delayed(_finish)(job, work) for job in jobs)
            except BrokenProcessPool:
                raise ChildProcessError("a worker process was ended from outside, perhaps for lack of memory") from None

    def _ready(self) -> AbstractContextManager[Any]:
        return nullcontext() if self.scheduler is None else _connected(self.scheduler)


def _finish(job: J, work: Callable[[J], R]) -> tuple[str, R]:
    return job.key, work(job)


@contextmanager
def _connected(scheduler: str) -> Iterator[None]:
    """Let joblib use a Dask cluster for a while."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError("the backend dask needs the extra cluster: pip install 'rt_gym[cluster]'") from None
    try:
        client = Client(scheduler, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"no Dask scheduler answers at {quoted(scheduler)} ({reason})") from None
    with client, joblib.parallel_config(backend="dask", client=client):
        yield

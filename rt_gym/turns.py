"""One thread at a time: kernels run without Python's lock, and two threads in the same arrays could crash all."""

from threading import RLock
from typing import Any

from rt_gym.errors import InputError


class Turn:
    """Who is using an object now: ``with turn:`` refuses all threads but one, which may take it again.

    A copy of the object has a turn of its own, which nobody has taken. Where a tenth of a microsecond counts, call
    ``acquire(False)`` and ``release`` of the lock; what refuses otherwise is ``refusal``.

    Args:
        kind: what messages call the object.
    """

    __slots__ = ("_kind", "acquire", "release")

    def __init__(self, kind: str) -> None:
        lock = RLock()
        self._kind, self.acquire, self.release = kind, lock.acquire, lock.release

    def __reduce__(self) -> tuple[Any, ...]:
        return Turn, (self._kind,)

    def __enter__(self) -> None:
        """Take the turn.

        Raises:
            InputError: if another thread has it.
        """
        if not self.acquire(False):
            raise self.refusal()

    def __exit__(self, *error: object) -> None:
        self.release()

    def refusal(self) -> InputError:
        """Return what a thread that comes second is told."""
        return InputError(f"this {self._kind} is in use by another thread: give each thread one of its own")

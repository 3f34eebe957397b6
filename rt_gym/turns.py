"""One thread at a time: kernels run without Python's lock, and two threads in the same arrays could crash all."""

from threading import Lock, get_ident
from typing import Any

from rt_gym.errors import InputError


class Turn:
    """Who is using an object now. A copy of the object has a turn of its own, which nobody has taken.

    Args:
        kind: what messages call the object.
    """

    __slots__ = ("_acquire", "_again", "_kind", "_owner", "_release", "locked")

    def __init__(self, kind: str) -> None:
        lock = Lock()
        self._acquire, self._release, self.locked = lock.acquire, lock.release, lock.locked
        self._kind, self._owner, self._again = kind, 0, 0

    def __reduce__(self) -> tuple[Any, ...]:
        return Turn, (self._kind,)

    def take(self) -> bool:
        """Take the turn; False if anybody has it, the caller included."""
        if not self._acquire(False):
            return False
        self._owner = get_ident()
        return True

    def __enter__(self) -> None:
        """Take the turn, or go on with it in the thread that has it.

        Raises:
            InputError: if another thread has it.
        """
        if self._acquire(False):
            self._owner = get_ident()
        elif self._owner == get_ident():
            self._again += 1
        else:
            raise InputError(f"this {self._kind} is in use by another thread: give each thread one of its own")

    def __exit__(self, *error: object) -> None:
        if self._again:
            self._again -= 1
        else:
            self.end()

    def end(self) -> None:
        """Give the turn back."""
        self._owner = 0
        self._release()

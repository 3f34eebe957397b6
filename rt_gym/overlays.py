"""Copies of large arrays that take memory, and time to renew, only where they were written to.

The arrays are kept once, in a file that has no name and lies in memory. A copy is a private mapping of it: all copies
share its pages, and a page becomes a copy's own with the first write to it. To renew a copy is to map the file over it
once more. Python's own mappings would hold a descriptor of the file each, of which a process may have about a thousand;
so the system is asked directly. Where it has no private mappings, copies are ordinary ones.
"""

import ctypes
import mmap
import os
import tempfile
import weakref
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

_OVER = 0x10  # MAP_FIXED of Linux, macOS and the BSDs, which Python does not name: map over what is there
_FAILED = ctypes.c_void_p(-1).value


def _system() -> Any:
    """Return the system's mmap and munmap, None where there are no private mappings."""
    if not hasattr(mmap, "MAP_PRIVATE"):
        return None
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_int64)
    library.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    return library


_SYSTEM = _system()


class Original:
    """Arrays of bytes that copies are made of.

    Args:
        arrays: one-dimensional, ``uint8``, and never written to.
    """

    def __init__(self, *arrays: NDArray[np.uint8]) -> None:
        self._arrays = arrays
        rounded = [-(-array.size // mmap.PAGESIZE) * mmap.PAGESIZE for array in arrays]
        self._begins, self._size = [0, *accumulate(rounded[:-1])], sum(rounded)
        if _SYSTEM is None:
            return
        self._file = _file_in_memory()
        weakref.finalize(self, os.close, self._file)
        os.truncate(self._file, self._size)
        for array, begin in zip(arrays, self._begins, strict=True):
            os.pwrite(self._file, array.data, begin)

    def copies(self) -> list[NDArray[np.uint8]]:
        """Return arrays with the same content, of which nobody else sees what is written to them."""
        if _SYSTEM is None:
            return [array.copy() for array in self._arrays]
        address = self._map(None, mmap.MAP_PRIVATE)
        memory: Any = (ctypes.c_uint8 * self._size).from_address(address)
        # The copies keep ``memory`` alive, and that keeps the file open, which may be mapped over them again.
        weakref.finalize(memory, _release, address, self._size, self)
        bounds = zip(self._arrays, self._begins, strict=True)
        return [np.frombuffer(memory, np.uint8, array.size, begin) for array, begin in bounds]

    def renew(self, copies: Sequence[NDArray[np.uint8]]) -> None:
        """Bring copies back to what they were when they were made."""
        if _is_mapped(copies[0]):
            self._map(copies[0].ctypes.data, mmap.MAP_PRIVATE | _OVER)
            return
        for copy, array in zip(copies, self._arrays, strict=True):  # such as a copy of a copy
            copy[:] = array

    def _map(self, address: int | None, flags: int) -> int:
        rights = mmap.PROT_READ | mmap.PROT_WRITE
        found = _SYSTEM.mmap(address, self._size, rights, flags, self._file, 0)
        if found == _FAILED:
            raise MemoryError(f"no room for a copy of {self._size} bytes: {os.strerror(ctypes.get_errno())}")
        return int(found)


def _file_in_memory() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("rt_gym", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _release(address: int, size: int, _original: Original) -> None:
    _SYSTEM.munmap(address, size)


def _is_mapped(array: NDArray[np.uint8]) -> bool:
    return isinstance(getattr(array.base, "obj", array.base), ctypes.Array)

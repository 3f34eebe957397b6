"""Columns of numbers as text that a page can hold and a browser unpacks with what it brings.

Whole numbers are stored as the differences of neighbours, zigzag coded so that small ones of either sign have small
codes; fractions as float32. The bytes of a column are stored plane by plane, first the lowest of all numbers: the upper
planes are then mostly zeros, which deflate takes out. ``assets/unpack.js`` does the reverse.
"""

import base64
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = (1 << 30) - 1  # the largest whole number: differences of two still fit into 32 bits


class Attachments:
    """The packed columns of a page, in the order in which they were added."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    @property
    def size(self) -> int:
        """How many bytes they take in the page."""
        return sum(map(len, self.texts))

    def add(self, columns: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
        """Pack columns and return how the page finds them: the number of the attachment, then name, kind and length."""
        self.texts.append(pack(columns))
        heads = [[name, "f" if column.dtype.kind == "f" else "i", column.size] for name, column in columns.items()]
        return {"attachment": len(self.texts) - 1, "columns": heads}


def pack(columns: Mapping[str, NDArray[Any]]) -> str:
    """Return columns as one text."""
    planes = b"".join(_floats(column) if column.dtype.kind == "f" else _wholes(column) for column in columns.values())
    return base64.b64encode(zlib.compress(planes, 6)).decode("ascii")


def _floats(column: NDArray[Any]) -> bytes:
    return _planes(column.astype("<f4"))


def _wholes(column: NDArray[Any]) -> bytes:
    """Return the planes of whole numbers; what is beyond ``MOST`` is taken for it."""
    steps: Any = np.diff(np.clip(column.ravel().astype(np.int64), -MOST, MOST), prepend=0)
    return _planes(((steps << 1) ^ (steps >> 63)).astype("<u4"))


def _planes(column: NDArray[Any]) -> bytes:
    return np.ascontiguousarray(column).view(np.uint8).reshape(-1, 4).T.tobytes()

"""Work files, what a command keeps to go on from: sealed, and made again, with a line that says so, if damaged."""

import sys
from hashlib import sha256
from pathlib import Path

from rt_gym.files import shown

_LENGTH = 64  # of the digest in hexadecimal digits, which stands at the end


def seal(content: bytes) -> bytes:
    """Return content with its digest behind it; readers of archives do not mind."""
    return content + sha256(content).hexdigest().encode()


def unseal(data: bytes) -> bytes:
    """Return what was sealed.

    Raises:
        ValueError: if it is not whole, or was changed.
    """
    content, digest = data[:-_LENGTH], data[-_LENGTH:]
    if sha256(content).hexdigest().encode() != digest:
        raise ValueError("the digest is that of another content")
    return content


def say_damaged(path: Path, again: str) -> None:
    """Tell the user that a work file, or some in a folder, count for nothing, and what is done ``again``."""
    print(f"{shown(path)}: damaged, {again} again", file=sys.stderr)

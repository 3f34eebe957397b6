"""The disk cache of kernels: machine code kept under a stamp of all that it depends on.

Why not plain ``numba.njit(cache=True)``? Its cache looks at the kernel's own file only. Edit a kernel that is called
from another file, or the options, and the caller goes on running the old machine code: a search by rules that are no
longer in the source. It also trips, in every later run, over a cache file that a crash left half written, and refuses
to import where no folder is writable. So a kernel here is compiled by Numba but kept under a *stamp* of all that its
machine code depends on: sources, options and versions. Another stamp is a miss, and the old files are overwritten.

What counts as source: the kernel's own file and whatever it imports from ``rt_gym``, ``agents`` and ``training``,
directly or not. Work on one agent, or on a module without kernels, leaves the compiled kernels of the others alone. A
kernel in any other file may import anything from anywhere; it is compiled anew in each process.

Reaching into Numba's cache means using names that Numba does not promise to keep. All of them are in this file, and
where one is gone kernels still run, only uncached (``tests/rt_gym/test_jit.py`` notices).
"""

import ast
import hashlib
import os
import pickle
import stat
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba import config

try:
    from numba.core.caching import FunctionCache, IndexDataCacheFile
    from numba.core.options import DefaultOptions as DefaultOptions
    from numba.core.serialize import dumps
except ImportError:  # an object is no cache and knows no option: making the one fails and is caught, asking is harmless
    FunctionCache = IndexDataCacheFile = DefaultOptions = object

# The packages are found as neighbours on the disk, not by import: some other `agents` on the path must not count.
_HOME = Path(__file__).absolute().parent.parent
_FOLLOWED = ("rt_gym", "agents", "training")


def stamp(files: Iterable[str | Path], options: dict[str, Any]) -> str:
    """Describe all that the machine code of a kernel in these files depends on, or raise where that is unknown.

    Two settings of Numba's environment are in it because Numba leaves them out: a run with ``NUMBA_BOUNDSCHECK=1``
    would otherwise be served code without checks.
    """
    versions = numba.__version__, np.__version__, llvmlite.__version__
    settings = sorted(options.items()), config.OPT, config.BOUNDSCHECK
    return repr((source_closure([__file__, *files]), versions, settings))


def source_closure(files: Iterable[str | Path]) -> list[tuple[str, str]]:
    """Return name and hash of these files and of all they import from our packages.

    Names are relative to the common folder: a checkout that was moved keeps its cache. Other people's files raise.
    """
    todo, found = [Path(file).absolute() for file in files], {}
    for file in todo:
        if file.relative_to(_HOME).parts[0] not in _FOLLOWED:
            raise ValueError(f"the imports of {file} may lead anywhere")
    while todo:
        file = todo.pop()
        if file not in found:
            # The time is part of the question: a module edited and reloaded in a running session is read again.
            found[file], imported = _read(file, file.stat().st_mtime_ns)
            todo.extend(imported)
    return sorted(found.values())


@cache
def _read(file: Path, _modified: int) -> tuple[tuple[str, str], list[Path]]:
    """Return name and hash of a source file, and the files of the followed packages that it imports."""
    source = file.read_bytes()
    identity = file.relative_to(_HOME).as_posix(), hashlib.sha256(source).hexdigest()
    return identity, [path for path in _imports(file, source) if path.is_file()]


def _imports(file: Path, source: bytes) -> Iterator[Path]:
    """Yield where the imported modules would be; a name imported from a package may be a module or a value in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            folder, names = _HOME, [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            folder = file.parents[node.level - 1] if node.level else _HOME
            stem = node.module or ""
            names = [stem, *(f"{stem}.{alias.name}".lstrip(".") for alias in node.names)]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if folder != _HOME or parts[0] in _FOLLOWED:
                yield folder.joinpath(*parts[:-1], f"{parts[-1]}.py")
                yield folder.joinpath(*parts, "__init__.py")


class SealedFile(IndexDataCacheFile):
    """Numba's pair of files, an index and the data it points to, where the data tell what they are.

    The two are written one after the other. Processes that start together can so leave one's code under the other's
    index entry: code of older sources, for another signature, or for the processor of another machine on a shared
    disk. And a power cut can leave a file of the right length full of zeros; running that would be a crash.
    """

    def save(self, key: Any, data: Any) -> None:
        """Write data that tell what they are."""
        content = dumps((self._source_stamp, key, data))
        super().save(key, (hashlib.sha256(content).digest(), content))

    def load(self, key: Any) -> Any:
        """Return what was saved under this key, None if it is not, or not ours."""
        entry = super().load(key)
        if entry is None or hashlib.sha256(entry[1]).digest() != entry[0]:
            return None
        stamp, owner, data = pickle.loads(entry[1])
        return data if (stamp, owner) == (self._source_stamp, key) else None

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:  # unpickling garbage can raise anything; an unreadable index is an empty one
            return {}


@cache
def _is_ours(folder: Path) -> bool:
    """Whether only those who could change our sources anyway can put code into a folder, or it in another's place.

    What is cached is pickled, and runs code when it is read. Folders of Windows are private unless made otherwise, and
    their modes say nothing.
    """
    if os.name == "nt":
        return True
    trusted = {0, os.geteuid(), _HOME.joinpath("rt_gym").stat().st_uid}
    path = folder.resolve()
    # In a folder that all may write to, such as /tmp, the sticky bit keeps others from moving what is ours.
    sealed = [stat.S_IWOTH, *[stat.S_IWOTH | stat.S_ISVTX] * len(path.parents)]
    for place, bits in zip((path, *path.parents), sealed, strict=True):
        found = place.stat()
        if found.st_uid not in trusted or found.st_mode & bits == stat.S_IWOTH:
            says = f"others can write to {place}: kernels are compiled anew in each process"
            warnings.warn(f"{says}; let NUMBA_CACHE_DIR be a folder of your own", RuntimeWarning, stacklevel=2)
            return False
    return True


class KernelCache(FunctionCache):
    """Numba's cache of one function, in the folder Numba chooses, under our stamp; its failures are misses.

    Args:
        func: the function.
        stamp: see ``stamp``.
        kind: what is added to the name of its files, where the same function is compiled with two sets of options.
    """

    _cache_file: Any

    def __init__(self, func: Callable[..., Any], stamp: str, kind: str = "") -> None:
        super().__init__(func)
        if not _is_ours(Path(self._cache_path)):
            raise PermissionError(self._cache_path)
        # In the place of Numba's stamp, not in the keys of the index: stale entries are then replaced, not collected.
        both = (self._cache_file._source_stamp, stamp)
        self._cache_file = SealedFile(self._cache_path, self._impl.filename_base + kind, both)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code of a signature, None if there is none."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the compiled code of a signature."""
        try:
            super().save_overload(sig, data)
        except Warning:  # Numba says that it cannot cache this kernel, and someone has made warnings errors
            raise
        except Exception:
            self.disable()

"""Sets of public maps: fetched as archives, compared with known digests, and unpacked.

A set is two archives as the MovingAI benchmarks have them, ``SET-map.zip`` and ``SET-scen.zip``; the latter may be
missing. They come from a folder or from an address. Their digests are kept in a file of lines ``NAME sha256:DIGEST``:
the first time they are written there, from then on an archive with another digest is refused.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rt_gym.archive import open_zip
from rt_gym.errors import InputError, MissingLibrary, described, quoted
from rt_gym.files import PathLike, atomic_write, digest_file, make_folder, read_bytes, shown

_PARTS = ("map", "scen")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}")
_LINE = re.compile(r"([A-Za-z0-9_.-]{1,80}) sha256:([0-9a-f]{64})")
_MOST_ARCHIVE, _MOST_FILE, _MOST_FILES = 1 << 28, 1 << 26, 5000  # bytes, bytes and members
_MOST_DIGESTS = 1 << 20
_NOT_FOUND = 404
_SECONDS = 30  # without a word from the other side


class Fetched(NamedTuple):
    """What has come: how many maps and scenario files, and the digests file if it was written now, else None."""

    maps: int
    scenarios: int
    recorded: Path | None


def fetch(name: str, source: str, folder: Path, digests: Path | None = None) -> Fetched:
    """Fetch a set of maps and unpack it.

    Args:
        name: of the set, such as ``dao``.
        source: the folder or the address that holds its archives.
        folder: where maps and scenario files are put; the archives stay there as well, and are not fetched again.
        digests: the file of known digests; ``digests.txt`` in the folder when None.

    Raises:
        InputError: if the archives cannot be had, are not what the digests say, or hold no maps.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"the name of a set has letters, digits, dots and dashes, as in dao, not {quoted(name)}")
    record = digests or folder / "digests.txt"
    known = read_digests(record) if digests or record.exists() else {}
    places = _places(name, source)
    pooch = _pooch()
    make_folder(folder)
    archives = [path for place in places for path in _archive(pooch, place, folder, known)]
    fresh = {path.name: digest_file(path) for path in archives if path.name not in known}
    unpacked = [file for path in archives for file in unpack(path, folder)]
    if fresh:
        lines = [f"{file} sha256:{digest}\n" for file, digest in sorted((known | fresh).items())]
        atomic_write(record, "".join(lines).encode())
    counts = [sum(file.endswith(ending) for file in unpacked) for ending in (".map", ".scen")]
    if not counts[0]:
        raise InputError(f"{shown(source)}: the archives of {name} hold no maps")
    return Fetched(counts[0], counts[1], record if fresh else None)


def read_digests(path: PathLike) -> dict[str, str]:
    """Return the digests in a file by the names of the archives."""
    known = {}
    for number, line in enumerate(read_bytes(path, _MOST_DIGESTS).decode("ascii", "replace").splitlines(), start=1):
        match = _LINE.fullmatch(line.strip())
        if not match:
            raise InputError(f"{shown(path)}, line {number}: expected NAME sha256:DIGEST, not {quoted(line)}")
        known[match[1]] = match[2]
    return known


def unpack(path: PathLike, folder: Path) -> Iterator[str]:
    """Write the maps and scenario files of an archive into a folder, from whatever folders; yield their names."""
    file = shown(path)
    with open_zip(path, "archive of maps", _MOST_ARCHIVE, _MOST_FILES) as archive:
        for member in archive.infolist():
            name = member.filename.rpartition("/")[2]
            if not name.lower().endswith((".map", ".scen")) or name.startswith("."):
                continue
            if member.file_size > _MOST_FILE or not name.isprintable() or "\\" in name:
                raise InputError(f"{file}: its member {quoted(name)} is too large or has no possible name")
            atomic_write(folder / name, archive.read(member))  # no more than the size that it declares
            yield name


def _places(name: str, source: str) -> list[str]:
    """Return where the archives of a set are; of a folder, that of the maps must be there."""
    files = [f"{name}-{part}.zip" for part in _PARTS]
    if "://" in source:
        return [f"{source.rstrip('/')}/{file}" for file in files]
    found = [path for path in (Path(source) / file for file in files) if path.is_file()]
    if not found or found[0].name != files[0]:
        wanted = Path(source) / files[0]
        raise InputError(f"{shown(wanted)}: there is no such archive; a set is fetched from the folder that holds it")
    return list(map(str, found))


def _archive(pooch: Any, place: str, folder: Path, known: dict[str, str]) -> Iterator[Path]:
    """Yield the path of an archive once it is here; none where an address has no archive of scenarios."""
    file = place.rpartition("/")[2] if "://" in place else Path(place).name
    download = pooch.HTTPDownloader(timeout=_SECONDS) if "://" in place else _copy
    digest = known.get(file)
    try:
        pooch.retrieve(place, digest and f"sha256:{digest}", file, folder, downloader=download)
    except ValueError as error:
        other = "hash" in str(error)
        why = f"is not the archive whose digest is known, {digest}" if other else f"is no address ({described(error)})"
        raise InputError(f"{shown(place)}: {why}") from None
    except OSError as error:  # those of requests are of this kind as well
        if file.endswith("-scen.zip") and getattr(getattr(error, "response", None), "status_code", 0) == _NOT_FOUND:
            return
        raise InputError(_unreachable(place, error)) from None
    yield folder / file


def _unreachable(place: str, error: OSError) -> str:
    why = type(error).__name__ if error.strerror is None else error.strerror
    hint = "without a network, name a folder that holds the archive"
    return f"{shown(place)}: cannot be fetched ({why}); {hint}"


def _copy(place: str, target: str, _: Any) -> None:
    shutil.copyfile(place, target)


def _pooch() -> Any:
    try:
        import pooch
    except ImportError:
        missing = 'fetching maps needs pooch, which is not installed; pip install "rt_gym[fetch]" brings it'
        raise MissingLibrary(missing) from None
    pooch.get_logger().setLevel("WARNING")
    return pooch

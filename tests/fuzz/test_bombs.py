"""Small files that claim to be huge are refused at once, in a process that may not have much memory."""

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from fuzz.kinds import KINDS, ROOT

pytest.importorskip("resource", reason="memory cannot be limited here")

BY_NAME = {kind.name: kind for kind in KINDS}
PACKED = [
    "map .npz", "network depth", "pattern database I", "subgoal trees sub", "kNN database", "samples", "evolution",
    "job file of runs",
]  # fmt: skip
ADDRESSES = 4 << 30
MORE = 350 << 20  # bytes that refusals may take beside what imports and whole files have taken
ZEROS = 1 << 29  # more than that
PIECE = 1 << 20
SCRIPT = f"""
import resource, sys
from pathlib import Path
sys.path.insert(0, {str(ROOT / "tests")!r})
from fuzz.kinds import KINDS
from rt_gym import InputError
kinds = {{kind.name: kind for kind in KINDS}}
asked = [(kinds[name], Path(path)) for name, path in zip(sys.argv[2::2], sys.argv[3::2], strict=True)]
for k, (kind, _) in enumerate(asked):
    (folder := Path(sys.argv[1], str(k))).mkdir()
    kind.read(kind.make(folder))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
resource.setrlimit(resource.RLIMIT_AS, ({ADDRESSES}, {ADDRESSES}))
for kind, path in asked:
    try:
        found = kind.read(path)
        word = "refused" if kind.role != "input" else "read"
    except InputError:
        word = "refused"
    print(word, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, kind.name)
"""


def assert_refused(bombs: list[tuple[str, Path]], folder: Path) -> None:
    """Check that each of some files is refused, all in one process, and that this takes little memory.

    Args:
        bombs: kinds and files.
        folder: where whole files of these kinds are written, and read first.
    """
    command = [sys.executable, "-c", SCRIPT, str(folder), *(str(each) for bomb in bombs for each in bomb)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    for (name, _), line in zip(bombs, done.stdout.splitlines(), strict=True):
        word, kilobytes = line.split()[:2]
        assert (name, word) == (name, "refused")
        assert int(kilobytes) * 1024 < MORE, name


def members_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def blow_up(path: Path) -> None:
    """Let the largest array become half a gigabyte of zeros, in the first of its dimensions."""
    members = members_of(path)
    name = max((name for name in members if name != "head.npy"), key=lambda name: len(members[name]))
    array, header = np.load(io.BytesIO(members.pop(name))), io.BytesIO()
    shape = ZEROS // (int(np.prod(array.shape[1:])) * array.dtype.itemsize), *array.shape[1:]
    descr = np.lib.format.dtype_to_descr(array.dtype)
    np.lib.format.write_array_header_1_0(header, {"descr": descr, "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for other, content in members.items():
            archive.writestr(other, content)
        with archive.open(name, "w") as stream:
            stream.write(header.getvalue())
            for _ in range(int(np.prod(shape)) * array.dtype.itemsize // PIECE):
                stream.write(bytes(PIECE))


def test_what_unpacks_to_half_a_gigabyte_is_refused_without_being_unpacked(tmp_path: Path) -> None:
    bombs = []
    for k, name in enumerate(PACKED):
        (folder := tmp_path / f"bomb{k}").mkdir()
        blow_up(path := BY_NAME[name].make(folder))
        assert path.stat().st_size < 2 << 20
        bombs.append((name, path))
    assert_refused(bombs, tmp_path)


def test_neither_hidden_members_nor_empty_lists_are_unpacked(tmp_path: Path) -> None:
    (folder := tmp_path / "bomb").mkdir()
    archive = BY_NAME["network depth"].make(folder)
    hidden = members_of(archive) | {f"{k}.npy": b"" for k in range(20_000)}
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.comment = b"x" * 65535  # behind which the list of members is looked for
        for name, content in hidden.items():
            file.writestr(name, content)
    policy = folder / "policy.json"
    policy.write_text(json.dumps({"kind": "rt_gym.depth-policy", "about": [[]] * 5_000_000}, separators=(",", ":")))
    assert_refused([("network depth", archive), ("depth policy tree", policy)], tmp_path)


def test_a_bundled_policy_is_read_where_addresses_are_few() -> None:
    script = "from agents.policies.networks import load_network; import resource; "
    script += f"resource.setrlimit(resource.RLIMIT_AS, ({ADDRESSES}, {ADDRESSES})); print(load_network('depth').decide)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "depth\n"), done.stderr

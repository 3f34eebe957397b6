"""Small files that claim to be huge are refused at once, in a process that may not have much memory."""

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
MORE = 350 << 20  # bytes that a refusal may take beside what the imports have taken
ZEROS = 1 << 30
SCRIPT = f"""
import resource, sys
from pathlib import Path
sys.path.insert(0, {str(ROOT / "tests")!r})
from fuzz.kinds import KINDS
from rt_gym import InputError
kind = {{kind.name: kind for kind in KINDS}}[sys.argv[1]]
kind.read(kind.make(Path(sys.argv[3])))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
resource.setrlimit(resource.RLIMIT_AS, ({ADDRESSES}, {ADDRESSES}))
try:
    found = kind.read(Path(sys.argv[2]))
    print("refused" if kind.role != "input" else "read", end=" ")
except InputError:
    print("refused", end=" ")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def refused_within(name: str, path: Path, folder: Path) -> int:
    """Return how many bytes the refusal of a file took."""
    command = [sys.executable, "-c", SCRIPT, name, str(path), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    word, kilobytes = done.stdout.split()
    assert word == "refused"
    return int(kilobytes) * 1024


def repacked(path: Path, change: Callable[[dict[str, bytes]], None], comment: bytes = b"") -> None:
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    change(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = comment
        for name, content in members.items():
            archive.writestr(name, content)


def zeros(shape: list[int], kind: np.dtype[Any]) -> bytes:
    """Return an array that begins with a gigabyte of zeros, or claims to."""
    stream = io.BytesIO()
    descr = np.lib.format.dtype_to_descr(kind)
    np.lib.format.write_array_header_1_0(stream, {"descr": descr, "fortran_order": False, "shape": tuple(shape)})
    return stream.getvalue() + bytes(min(ZEROS, int(np.prod(shape)) * kind.itemsize))


def blow_up(members: dict[str, bytes]) -> None:
    """Let the largest array become a gigabyte of zeros, in the first of its dimensions."""
    name = max((name for name in members if name != "head.npy"), key=lambda name: len(members[name]))
    array = np.load(io.BytesIO(members[name]))
    row = int(np.prod(array.shape[1:])) * array.dtype.itemsize
    members[name] = zeros([ZEROS // row, *array.shape[1:]], array.dtype)


@pytest.mark.parametrize("name", PACKED)
def test_a_packed_gigabyte_is_refused_without_being_unpacked(name: str, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    repacked(path := BY_NAME[name].make(tmp_path), blow_up)
    assert path.stat().st_size < 2 << 20
    assert refused_within(name, path, tmp_path / "own") < MORE


def test_a_comment_hides_no_members(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    path = BY_NAME["network depth"].make(tmp_path)
    repacked(path, lambda members: members.update({f"{k}.npy": b"" for k in range(200_000)}), b"x" * 65535)
    assert refused_within("network depth", path, tmp_path / "own") < MORE


def test_json_of_empty_lists_is_refused_unparsed(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    path = tmp_path / "policy.json"
    path.write_text(json.dumps({"kind": "rt_gym.depth-policy", "about": [[]] * 5_000_000}, separators=(",", ":")))
    assert refused_within("depth policy tree", path, tmp_path / "own") < MORE


def test_a_bundled_policy_is_read_where_addresses_are_few() -> None:
    script = "from agents.policies.networks import load_network; import resource; "
    script += f"resource.setrlimit(resource.RLIMIT_AS, ({ADDRESSES}, {ADDRESSES})); print(load_network('depth').decide)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "depth\n"), done.stderr

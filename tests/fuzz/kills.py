"""Commands that are killed at a random moment, once or twice: the next run goes on and ends as if nothing had been."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fuzz.case import Case

_SOURCES = Path(__file__).parents[2]
_SECONDS = 240  # for a command that is not disturbed
_MAPS = "--maps rooms-64 --validation maze-63 --test open-16"
_COURSE = "terrain-96 -a lrta:depth=1..6 --problems 200 --optimal 20..90"
_DASK = "dask"  # in a line: the options of a local cluster

# What is run in an empty folder. Each takes seconds, and what it must leave behind at least.
LINES: dict[str, tuple[str, str]] = {
    "compare": (
        f"compare {_COURSE} --jobs 1 --out out",
        "results.csv",
    ),
    "compare, two workers": (
        f"compare {_COURSE} -a tba:R=5,50 --jobs 2 --out out",
        "results.csv",
    ),
    "compare, dask": (
        f"compare {_COURSE} {_DASK} --out out",
        "results.csv",
    ),
    "precompute pdb": ("precompute pdb rooms-64 --level 2 --cap 8 --jobs 1 --yes --out out.npz", "out.npz"),
    "precompute subgoals": ("precompute subgoals open-16 --jobs 2 --yes --out out.npz", "out.npz"),
    "precompute knn": ("precompute knn rooms-64 --records 3000 --jobs 1 --yes --out out.npz", "out.npz"),
    "train depth": (f"train depth {_MAPS} --problems 10 --d-max 4 --dagger 1 --jobs 1 --out out", ".json"),
    "train goal": (
        "train goal --maps rooms-64 --test open-16 --problems 10 --states 9 --jobs 1 --out out",
        ".json",
    ),
    "train rl, cma": (f"train rl {_MAPS} --problems 2 --algo cma --generations 4 --d-max 5 --jobs 1 --out out", ".npz"),
    "train rl, ppo": (
        f"train rl {_MAPS} --problems 2 --steps 6000 --every 1500 --episodes 16 --d-max 5 --jobs 1 --out out",
        ".npz",
    ),
    "reproduce": ("reproduce tb-t1 --size smoke --jobs 1 --out out", ".csv"),
}


class Whole(NamedTuple):
    """What a command leaves when it is not disturbed: what is the same each time, and how long it takes."""

    files: dict[str, bytes]
    seconds: float


@cache
def cluster() -> Any:
    """Return a cluster of one worker on this machine, which lives as long as this process."""
    from distributed import LocalCluster

    return LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)


def start(name: str, folder: Path) -> subprocess.Popen[str]:
    """Start a command in a folder, in a session of its own."""
    words = shlex.split(LINES[name][0])
    if _DASK in words:
        at = words.index(_DASK)
        words[at : at + 1] = ["--backend", "dask", "--scheduler", cluster().scheduler_address]
    errors = (folder.parent / f"{folder.name}.err").open("w")
    with errors:
        return subprocess.Popen(
            [sys.executable, "-m", "training.cli", *words],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            stdin=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"PYTHONPATH": str(_SOURCES)},
            start_new_session=True,
        )


def finish(name: str, folder: Path) -> float:
    """Run a command to its end and return how long it took."""
    began = time.monotonic()
    process = start(name, folder)
    code = process.wait(_SECONDS)
    errors = said(folder)
    assert code == 0, f"the next run ended with {code}: {errors[-1500:]}"
    return time.monotonic() - began


def said(folder: Path) -> str:
    """Return what the last command in a folder wrote to standard error."""
    return (folder.parent / f"{folder.name}.err").read_text(encoding="utf-8", errors="replace")


def left(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder, those apart that a command keeps only to go on from."""
    work = ("jobs", "parts", "out.npz.parts")
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    files = {path.relative_to(folder).as_posix(): path for path in found}
    return {name: path.read_bytes() for name, path in files.items() if not set(Path(name).parts) & set(work)}


@cache
def whole(name: str) -> Whole:
    """Run a command twice, and return the files that are the same in both runs: the others tell of times."""
    base = Path(tempfile.mkdtemp(prefix="rt-gym-fuzz-whole-"))
    runs, seconds = [], 0.0
    for number in ("one", "two"):
        (base / number).mkdir()
        seconds = finish(name, base / number)
        runs.append(left(base / number))
    same = {file: data for file, data in runs[0].items() if runs[1].get(file) == data}
    assert any(file.endswith(LINES[name][1]) for file in same), f"{name} is not the same twice: {sorted(runs[0])}"
    shutil.rmtree(base)
    return Whole(same, seconds)


def check_kill(case: Case) -> None:
    """Kill a command once or twice, run it again, and compare what it leaves; the commands take turns."""
    name = list(LINES)[case.number % len(LINES)]
    expected = whole(name)
    folder = case.folder / "run"
    folder.mkdir()
    for _ in range(case.pick(1, 1, 2)):
        blow = case.pick(signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
        after = float(case.rng.uniform(0.3, max(1.0, expected.seconds)))
        case.story.update({f"{name}, signal {len(case.story)}": f"{blow.name} after {after:.3f} s"})
        case.counts[f"{name}, {blow.name}"] += 1
        strike(name, folder, blow, after)
    finish(name, folder)
    found = left(folder)
    changed = [file for file, data in expected.files.items() if found.get(file) != data]
    assert not changed, f"not as in a run that was not disturbed: {changed}"
    litter = [path.name for path in folder.rglob("*") if ".tmp" in path.name]
    assert not litter, f"left behind: {litter}"


def strike(name: str, folder: Path, blow: signal.Signals, after: float) -> None:
    """Start a command, send it a signal, and check how it ends.

    A command that can answer a signal ends by itself, with 128 and its number. It cannot answer SIGKILL, nor SIGTERM
    before it has said what is to be done then, a moment after its start: the system ends it with minus that number.
    Ctrl-C is answered by Python until then, and ends in the same way.
    """
    process, ends = start(name, folder), {0}
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        answers = blow == signal.SIGTERM and catches(process.pid, blow)
        ends |= {128 + blow} if answers else {-blow, 128 + blow}
        process.send_signal(blow)
    code = process.wait(60)
    assert code in ends, f"after {blow.name} it ended with {code}, not {ends}: {said(folder)[-1500:]}"
    assert "Traceback" not in said(folder), f"after {blow.name}: {said(folder)[-1500:]}"


def catches(pid: int, blow: signal.Signals) -> bool:
    """Whether a process has said what is to be done at a signal; False where the system does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = next((line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")), "0")
    return bool(int(caught, 16) >> (blow - 1) & 1)

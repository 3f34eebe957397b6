"""Ctrl-C, SIGTERM and SIGKILL: what is done is kept, one line says so, and no process or half a file stays behind."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import training
from training.cli import app
from training.cli.terminal import Terminated

ROOT = Path(training.__file__).parents[1]
LONG = "terrain-512 -a lrta:depth=5..9 -a lss-lrta --problems 400 --optimal 100..600"
KILLED = """
import os, sys
from rt_gym import files

os.fsync = lambda file: os._exit(9)
files.atomic_write(sys.argv[1], b"a part")
"""
MOST = 60.0  # seconds that something is waited for


def wait_for(found: Any) -> None:
    end = time.monotonic() + MOST
    while not found():
        assert time.monotonic() < end
        time.sleep(0.02)


@contextmanager
def comparing(out: Path, jobs: int) -> Iterator[subprocess.Popen[str]]:
    """A comparison that has finished its first job, in a group of processes of its own."""
    command = [sys.executable, "-m", "training.cli", "compare", *shlex.split(LONG), "--jobs", str(jobs)]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # What a shell runs in the background ignores interruptions, and so would all that it starts.
    own: dict[str, Any] = {
        "start_new_session": True,
        "preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    }
    with subprocess.Popen([*command, "--out", str(out)], cwd=ROOT, **own, **pipes) as process:
        try:
            wait_for(lambda: list(out.glob("jobs/*/*.npz")) or process.poll() is not None)
            yield process
        finally:
            if group_lives(process.pid):
                os.killpg(process.pid, signal.SIGKILL)


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_signal_to_all_processes_is_one_line_and_keeps_what_is_done(
    number: signal.Signals, code: int, jobs: int, tmp_path: Path
) -> None:
    with comparing(tmp_path, jobs) as process:
        os.killpg(process.pid, number)
        out, told = process.communicate(timeout=MOST)
        wait_for(lambda: not group_lives(process.pid))
    assert (process.returncode, out) == (code, "")
    assert told.startswith("stopped: ")
    assert told.endswith(f"of 2400 runs are kept in {tmp_path}; the same command goes on from there\n")
    assert told.count("\n") == 1
    assert list(tmp_path.rglob("*.tmp")) == []


def test_sigterm_to_the_command_alone_ends_its_workers(tmp_path: Path) -> None:
    with comparing(tmp_path, 2) as process:
        process.terminate()
        assert process.communicate(timeout=MOST)[1].count("\n") == 1
        wait_for(lambda: not group_lives(process.pid))
    assert process.returncode == 143


def test_workers_end_soon_after_a_command_that_was_killed(tmp_path: Path) -> None:
    with comparing(tmp_path, 2) as process:
        process.kill()
        process.communicate(timeout=MOST)
        wait_for(lambda: not group_lives(process.pid))
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    "line",
    [
        "compare open-16 -a lrta --problems 2 --jobs 1",
        "precompute pdb open-16 --jobs 1",
        "precompute subgoals open-16 --jobs 1",
        "precompute knn open-16 --records 5 --jobs 1",
        "train depth --maps rooms-64 --validation random-48 --test terrain-96 --problems 12 --jobs 1",
        "train goal --maps rooms-64 --test terrain-96 --problems 4 --level 2 --jobs 1",
        "train rl --algo cma --maps rooms-64 --validation random-48 --test terrain-96 --problems 2 --jobs 1",
        "reproduce tb-t1 --jobs 1",
        "demo --jobs 1",
        "agents lrta --write-docs docs --jobs 1",
    ],
)
def test_every_command_that_works_long_stops_with_143(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise Terminated

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("training.runs.workers.run_job", stop)
    result = CliRunner().invoke(app, shlex.split(line))
    assert (result.exit_code, result.stdout) == (143, "")
    assert result.stderr.startswith("stopped")
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.rglob("*.tmp")) == []


def test_what_a_killed_command_has_left_half_written_is_removed_by_the_next(tmp_path: Path) -> None:
    words = ["compare", "open-16", "-a", "lrta", "--problems", "1", "--jobs", "1", "--out", str(tmp_path)]
    assert CliRunner().invoke(app, words).exit_code == 0
    (shard,) = tmp_path.glob("jobs/*/*.npz")
    for place in (tmp_path, shard.parent):
        subprocess.run([sys.executable, "-c", KILLED, place / "x"], cwd=ROOT)
    assert len(list(tmp_path.rglob("*.tmp"))) == 2
    assert CliRunner().invoke(app, words).exit_code == 0
    assert list(tmp_path.rglob("*.tmp")) == []

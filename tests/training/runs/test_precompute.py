"""Preparing knowledge: the same whoever does it and whenever it is stopped, refused where it must be."""

import os
import re
import time
from collections.abc import Callable
from dataclasses import fields
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import agents
from agents.knowledge import knn, pdb, subgoals
from rt_gym import Grid, InputError, Problem, load_map
from rt_gym.abstraction import abstract
from training.cli import app
from training.cli import maps as command
from training.precompute import Neighbours, Order, Patterns, Subgoals, precompute
from training.runs import Workers
from training.runs.execution import Store
from training.runs.jobs import run_job

GRID = Grid(np.random.default_rng(3).random((11, 16)) < 0.75)
GOALS = ((1, 1), (5, 4), (6, 4))
ORDERS: list[Order] = [
    Patterns(GRID, level=2, mode="I"),
    Patterns(GRID, level=3, mode="I", subgoal="first"),
    Patterns(GRID, level=1, cap=3, mode="GI", abstraction="tiles", goals=GOALS),
    Subgoals(GRID),
    Subgoals(GRID, "sub", GOALS),
    Neighbours(GRID, records=30, seed=4),
]
each_order = pytest.mark.parametrize("order", ORDERS, ids=lambda order: f"{order.agent} {len(order.work())}")


def arrays(knowledge: Any) -> list[Any]:
    values = [getattr(knowledge, field.name) for field in fields(knowledge)]
    return [value for value in values if isinstance(value, np.ndarray)]


def same(one: Any, other: Any) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(arrays(one), arrays(other), strict=True))


def directly(order: Order) -> Any:
    """Return the same knowledge without jobs and files."""
    if isinstance(order, Patterns):
        regions = abstract(order.grid, order.abstraction, order.level)
        return pdb.build(order.grid, regions, order.mode, order.cap, order.work(), subgoal=order.subgoal)
    if isinstance(order, Subgoals):
        return subgoals.build_trees(order.grid, sorted(order.goals, key=order.grid.cell) or None, order.first)
    assert isinstance(order, Neighbours)
    return knn.build_records(order.grid, order.records, order.seed, 0, order.records)


@each_order
def test_jobs_together_make_what_one_call_makes(order: Order, tmp_path: Path) -> None:
    finished: list[int] = []
    made = precompute(order, tmp_path / "all.npz", Workers(1), finished.append)
    assert same(made, directly(order))
    assert same(order.load(tmp_path / "all.npz"), made)
    assert sum(finished) == len(order.work()) > 1
    assert os.listdir(tmp_path) == ["all.npz"]


@each_order
def test_finished_jobs_are_not_done_again(order: Order, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    series, store = order.series(), Store(tmp_path / "all.npz.parts")
    last = len(series.items) - 1
    for begin, end in ((0, 1), (1, last)):
        store.keep(series, run_job(series.job(0, begin, end), order.grid))
    broken = min((tmp_path / "all.npz.parts").rglob("*.npz"), key=lambda path: path.stat().st_mtime_ns)
    broken.write_bytes(b"broken")
    done: list[int] = []
    build: Callable[..., Any] = type(order).build
    monkeypatch.setattr(type(order), "build", lambda self, part: done.extend(part) or build(self, part))
    made = precompute(order, tmp_path / "all.npz", Workers(1))
    assert sorted(done) == sorted([series.items[0], series.items[last]])
    assert same(made, directly(order))


def test_two_orders_do_not_take_each_others_jobs() -> None:
    others = [Patterns(GRID, level=2, mode="G"), Neighbours(GRID, records=30, seed=5)]
    keys = [order.series().key for order in ORDERS + others]
    assert len(set(keys)) == len(keys)


def shards(folder: Path) -> list[Path]:
    """Return the finished parts in a folder, none if it is removed meanwhile because all is done."""
    try:
        return list(folder.rglob("*.npz"))
    except FileNotFoundError:
        return []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a forked process")
def test_fifty_kills_leave_no_broken_file_and_no_lost_job(tmp_path: Path) -> None:
    order, path = Patterns(load_map("rooms-64"), level=2, mode="GI", cap=8), tmp_path / "all.npz"
    wanted = directly(order)
    began = time.perf_counter()
    precompute(order, tmp_path / "timed.npz", Workers(1))
    whole = time.perf_counter() - began
    rng, kept, grew = np.random.default_rng(0), 0, 0
    folder = tmp_path / "all.npz.parts"
    for number in range(50):
        child = get_context("fork").Process(target=precompute, args=(order, path, Workers(1)))
        child.start()
        while number % 2 and child.is_alive() and len(shards(folder)) <= kept:
            time.sleep(0.001)  # every other process is left alone until it has kept something
        time.sleep(rng.random() * whole / 8)
        child.kill()
        child.join()
        parts = shards(folder)
        assert path.exists() or len(parts) >= kept
        grew += len(parts) > kept
        kept = len(parts)
        for part in parts:
            np.load(part)
        if path.exists():
            assert same(order.load(path), wanted)
            path.unlink()
            kept = 0
    assert grew > 10
    assert same(precompute(order, path, Workers(1)), wanted)


class TestCommand:
    def run(self, *arguments: str) -> Any:
        return CliRunner().invoke(app, ["precompute", *arguments])

    def test_what_it_writes_serves_the_agents(self, tmp_path: Path) -> None:
        grid = load_map("terrain-96")
        problem = Problem(grid, *[(int(x), int(y)) for y, x in np.argwhere(grid.passable)[[50, 4000]]])
        for kind, agent_id, name, more in (
            ("pdb", "pdb-lrta", "database", ["--level", "3"]),
            ("pdb", "pdb-lrta", "database", ["--level", "3", "--subgoal", "first"]),
            ("subgoals", "subgoal-lrta", "trees", []),
            ("knn", "knn-lrta", "database", ["--records", "50"]),
        ):
            goal = [] if kind == "knn" else ["--goals", f"{problem.goal[0]},{problem.goal[1]}"]
            file = tmp_path / f"{kind}.npz"
            result = self.run(kind, "terrain-96", "--out", str(file), "--jobs", "1", "--json", *more, *goal)
            assert result.exit_code == 0, result.output
            assert f'"bytes": {file.stat().st_size}' in result.stdout
            run = agents.run(agent_id, problem, **{name: str(file)})
            assert run.solved

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["pdb", "no-such-map"], "no-such-map"),
            (["pdb", "open-16", "--mode", "X"], 'mode must be "G", "GI" or "I", not \'X\''),
            (["pdb", "open-16", "--subgoal", "last"], 'subgoal must be "first" or "nearer", not \'last\''),
            (["pdb", "open-16", "--abstraction", "cubes"], 'abstraction must be "clique" or "tiles"'),
            (["pdb", "open-16", "--level", "99"], "level must be a whole number from 0 to"),
            (["pdb", "open-16", "--goals", "99,99"], r"goal \(99, 99\) is no free cell of the map"),
            (["subgoals", "open-16", "--first", "last"], 'first must be "nearest" or "sub"'),
            (["subgoals", "open-16", "--goals", "one"], "--goals"),
            (["knn", "open-16", "--records", "99999999999"], "records must be a whole number from 1 to"),
        ],
    )
    def test_bad_input_is_refused_in_one_sentence(self, arguments: list[str], message: str, tmp_path: Path) -> None:
        result = self.run(*arguments, "--jobs", "1", "--out", str(tmp_path / "x.npz"))
        assert result.exit_code == 2
        assert "Traceback" not in result.output
        assert re.search(message, result.output)
        assert not (tmp_path / "x.npz").exists()

    def test_what_takes_long_is_not_begun_without_a_yes(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(command, "_LONG", 0.0)
        result = self.run("knn", "open-16", "--records", "10", "--jobs", "1", "--out", str(tmp_path / "x.npz"))
        assert result.exit_code == 2
        assert "add --yes to do it" in result.output
        assert not (tmp_path / "x.npz").exists()
        result = self.run("knn", "open-16", "--records", "10", "--jobs", "1", "--out", str(tmp_path / "x.npz"), "--yes")
        assert result.exit_code == 0
        assert (tmp_path / "x.npz").exists()


def test_a_file_of_another_map_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    precompute(Patterns(GRID, level=1), path, Workers(1))
    other = Grid(~GRID.passable)
    with pytest.raises(InputError, match=r"x\.npz: is a pattern database of another map"):
        agents.run("pdb-lrta", Problem(other, *_two_cells(other)), database=path)


def _two_cells(grid: Grid) -> list[tuple[int, int]]:
    cell = int(np.flatnonzero(grid.terrain.free)[0])
    near = grid.labels == grid.labels[cell]
    return [grid.position(int(found)) for found in np.flatnonzero(near)[[0, -1]]]


def test_what_else_lies_in_the_folder_of_parts_stays(tmp_path: Path) -> None:
    folder = tmp_path / "all.npz.parts"
    (folder / "jobs").mkdir(parents=True)
    for mine in (folder / "notes.txt", folder / "jobs" / "mine.npz"):
        mine.write_text("mine")
    precompute(Neighbours(GRID, records=3), tmp_path / "all.npz", Workers(1))
    left = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    assert sorted(left) == ["jobs/mine.npz", "notes.txt"]


def test_no_records_are_refused() -> None:
    with pytest.raises(InputError, match="records must be a whole number from 1 to"):
        Neighbours(GRID, records=0)

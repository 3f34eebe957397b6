"""Running a plan: the same table whoever runs it, however often it is stopped, and whatever is on disk."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import training
from rt_gym import InputError
from training.runs import Allowance, Draw, Plan, Runs, Workers, enlist_all, find_courses, run_plan, time_again
from training.runs import jobs as jobs_module
from training.runs.execution import Store
from training.runs.jobs import run_job
from training.runs.rows import Batch, Result
from training.runs.tables import COLUMNS, format_results, read_runs

ROOT = Path(training.__file__).parents[1]
HERE = Workers(jobs=1)


@pytest.fixture(scope="module")
def plan() -> Plan:
    contenders = enlist_all(["lrta:depth=1,2", "lss-lrta", "lrta:depth=1:tie=random"], [Allowance.of(50)])
    courses = find_courses(["rooms-64", "random-48"], Draw(count=30, low=10, high=50))
    return Plan(tuple(contenders), tuple(courses))


@pytest.fixture(scope="module")
def table(plan: Plan) -> bytes:
    return as_table(run_plan(plan, workers=HERE))


def as_table(runs: Runs) -> bytes:
    return b"".join(format_results(runs))


def run_here(plan: Plan, folder: Path, **options) -> Runs:
    return run_plan(plan, folder, HERE, **options)


def test_the_table_has_a_row_per_contender_and_problem_in_the_order_of_the_plan(plan: Plan, table: bytes) -> None:
    lines = table.decode().splitlines()
    assert lines[0].split(",") == list(COLUMNS)
    assert len(lines) == 1 + plan.runs == 1 + 4 * 60
    assert [line.split(",")[1] for line in lines[1::60]] == [c.entry.setting for c in plan.contenders]


def test_every_contender_meets_the_same_problems(plan: Plan, tmp_path: Path) -> None:
    rows = list(run_here(plan, tmp_path))
    places = [[row.place for row in rows[k * 60 : (k + 1) * 60]] for k in range(4)]
    assert places == [places[0]] * 4


def test_two_processes_make_the_same_table_as_one(plan: Plan, table: bytes, tmp_path: Path) -> None:
    assert as_table(run_plan(plan, tmp_path, Workers(jobs=2))) == table


def test_a_plan_that_was_stopped_goes_on_and_makes_the_same_table(
    plan: Plan, table: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []

    def stop_at_the_third(runs: int) -> None:
        done.append(runs)
        if len(done) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_here(plan, tmp_path, advance=stop_at_the_third)
    kept = sum(done)
    assert len(list((tmp_path / "jobs").rglob("*.npz"))) == 3
    started: list[int] = []
    monkeypatch.setattr(
        "training.runs.workers.run_job", lambda job, grid: started.append(job.end - job.begin) or run_job(job, grid)
    )
    assert as_table(run_here(plan, tmp_path)) == table
    assert sum(started) == plan.runs - kept
    assert as_table(run_here(plan, tmp_path)) == table
    assert sum(started) == plan.runs - kept


def test_a_command_that_was_killed_goes_on_and_makes_the_same_files(tmp_path: Path) -> None:
    specs = ["terrain-96", "-a", "lrta:depth=1..6", "--problems", "200", "--optimal", "20..90", "--jobs", "1"]
    command = [sys.executable, "-c", "from training.cli import main; main()", "compare", *specs, "--out"]
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    with subprocess.Popen([*command, str(killed)], cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        while not list(killed.glob("jobs/*/*.npz")):
            assert process.poll() is None
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not (killed / "results.csv").exists()
    for folder in (killed, whole):
        subprocess.run([*command, str(folder)], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    for name in ("results.csv", "tradeoff.svg"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()
    settings = [json.loads((folder / "settings.json").read_text()) for folder in (killed, whole)]
    assert [one.pop("command").endswith(str(folder)) for one, folder in zip(settings, (killed, whole), strict=True)]
    assert settings[0] == settings[1]


@pytest.mark.parametrize("content", [b"", b"[]", b"[[1]]", b"{}", b'[["goal"], [1]]', b"\xff"])
def test_a_damaged_job_is_run_again(content: bytes, plan: Plan, table: bytes, tmp_path: Path) -> None:
    run_here(plan, tmp_path)
    for path in (tmp_path / "jobs").rglob("*.npz"):
        path.write_bytes(content)
    assert as_table(run_here(plan, tmp_path)) == table


def test_a_job_that_would_unpack_to_too_much_is_run_again(
    plan: Plan, table: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_here(plan, tmp_path)
    monkeypatch.setattr("training.runs.execution.MOST_BYTES", 1000)
    assert as_table(run_here(plan, tmp_path)) == table
    assert "damaged, the work of" in capsys.readouterr().err


def test_other_sources_or_settings_are_other_jobs(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    series = plan.series()[0]
    values = {"seed": 1, "max_moves": 7, "trials": 2, "vision": 3, "settings": {"depth": 9}}
    keys = {replace(series, work=replace(series.work, **{name: value})).key for name, value in values.items()}
    keys.add(replace(series, grid=plan.courses[1].grid).key)
    assert len(keys | {series.key}) == 2 + len(values)
    assert replace(series).key == series.key
    monkeypatch.setattr(jobs_module, "source_stamp", lambda agent: "other")
    assert replace(series).key not in keys | {series.key}


def test_a_worker_with_other_sources_refuses_the_job(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    series = plan.series()[0]
    job = series.job(0, 0, 1)
    monkeypatch.setattr(jobs_module, "source_stamp", lambda agent: "other")
    with pytest.raises(InputError, match="other sources"):
        run_job(job, series.grid)


def test_a_worker_without_a_module_of_ours_has_other_sources(plan: Plan) -> None:
    job = replace(plan.series()[0].job(0, 0, 1), module="training.no_such_module")
    with pytest.raises(InputError, match="other sources"):
        run_job(job, None)


def test_a_class_of_ones_own_that_a_worker_cannot_import_is_named(plan: Plan) -> None:
    job = replace(plan.series()[0].job(0, 0, 1), agents=("my_agents.Greedy",))
    with pytest.raises(InputError, match=r"agent 'my_agents.Greedy' cannot be imported .*a worker must find it, too"):
        run_job(job, None)


def test_a_job_travels_as_plain_values_and_without_its_map(plan: Plan) -> None:
    content = pickle.dumps(plan.series()[0].job(0, 0, 1))
    assert b"numba" not in content
    assert b"KernelAgent" not in content
    assert plan.courses[0].grid.passable.tobytes()[:64] not in content


def test_a_worker_that_is_replaced_because_it_has_grown_alarms_nobody(tmp_path: Path) -> None:
    script = """
import sys, time
from dataclasses import dataclass
from training.runs.execution import run_all
from training.runs.jobs import Series, Work
from training.runs.workers import Workers

@dataclass(frozen=True)
class Growing(Work):
    agents = ()

    def do(self, grid, items):
        sys.kept = getattr(sys, "kept", []) + [b"x" * 200_000_000]
        time.sleep(0.6 * len(items))
        return list(items)

def main():
    import training.runs.execution as execution
    execution._SECONDS = 0.6
    parts, = run_all([Series(Growing(), None, tuple(range(8)))], workers=Workers(2))
    print(sorted(item for part in parts for item in part))
"""
    (tmp_path / "growing.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "-c", "import growing; growing.main()"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == (f"{list(range(8))}\n", "")


def test_a_folder_that_cannot_be_made_is_one_sentence(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(InputError, match="the folder cannot be made"):
        run_here(plan, tmp_path / "file")


def test_nothing_is_kept_without_a_folder(plan: Plan) -> None:
    series, store = plan.series()[0], Store(None)
    store.keep(series, run_job(series.job(0, 0, 1), series.grid))
    assert store.find(series) == []


def test_rows_can_be_read_back(plan: Plan, table: bytes, tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_bytes(table)
    found = read_runs(tmp_path / "results.csv")
    assert as_table(found) == table
    assert list(found) == list(run_plan(plan, workers=HERE))


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda text: b"", "is not a table of results"),
        (lambda text: b"agent,cost\nlrta,3\n", "is not a table of results"),
        (lambda text: b"\xff\xfe\x00", "is not a table of results"),
        (lambda text: text + b"lrta,1,2\n", "line 242: is not a row of results"),
        (lambda text: text.replace(b",goal,1,", b",goal,one,", 1), "line 2: is not a row of results"),
        (lambda text: text.replace(b",False,", b",no,", 1), "is not a row of results"),
    ],
)
def test_other_tables_are_refused(change, part: str, table: bytes, tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_bytes(change(table))
    with pytest.raises(InputError, match=part):
        read_runs(tmp_path / "old.csv")


def test_the_seed_decides_over_random_ties_and_nothing_else(plan: Plan, table: bytes) -> None:
    other = Plan(plan.contenders, plan.courses, seed=5)
    lines = as_table(run_plan(other, workers=HERE)).splitlines()
    assert lines[: 1 + 3 * 60] == table.splitlines()[: 1 + 3 * 60]
    assert lines != table.splitlines()


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"jobs": 0}, "at least 1"),
        ({"jobs": -2}, "at least 1"),
        ({"backend": "threads"}, "must be loky or dask"),
        ({"backend": "dask"}, "go together"),
        ({"scheduler": "tcp://127.0.0.1:1"}, "go together"),
    ],
)
def test_workers_that_cannot_be_are_refused(options: dict[str, object], part: str) -> None:
    with pytest.raises(InputError, match=part):
        Workers(**options)


@pytest.mark.parametrize("options", [{"trials": 0}, {"trials": "often"}, {"max_moves": 0}, {"contenders": ()}])
def test_plans_that_cannot_be_are_refused(options: dict[str, object], plan: Plan) -> None:
    with pytest.raises(InputError):
        Plan(**{"contenders": plan.contenders, "courses": plan.courses} | options)


def test_the_document_of_a_plan_has_settings_seed_and_versions(plan: Plan) -> None:
    document = json.loads(json.dumps(plan.document()))
    assert document["seed"] == 0
    assert document["contenders"][0]["settings"] == {"depth": 1, "tie": "first"}
    assert {"rt_gym", "numpy", "numba", "python"} <= set(document["versions"])
    assert [entry["problems"] for entry in document["maps"]] == [30, 30]


def test_columns_of_times_are_in_no_row() -> None:
    assert not any("second" in name or name in ("p50", "p99") for name in COLUMNS)
    assert set(Result._fields) <= set(COLUMNS)


def test_runs_that_are_timed_again_count_with_their_least_time(plan: Plan) -> None:
    runs = run_plan(plan, workers=HERE)
    slow = [
        replace(b, columns=b.columns | {"p99": np.full(len(b), 1e9), "max": np.zeros(len(b))}) for b in runs.batches
    ]
    asked: list[int] = []

    def choose(batch: Batch) -> np.ndarray:
        asked.append(len(batch))
        wanted = np.array([0, 29, 30, 59]) if batch.entry.agent == "lss-lrta" else np.empty(0, int)
        return wanted if len(asked) <= 4 else np.empty(0, int)

    again = time_again(plan, Runs(tuple(slow)), choose)
    assert [(batch.columns["p99"] < 1e9).nonzero()[0].tolist() for batch in again.batches] == [
        [],
        [],
        [0, 29, 30, 59],
        [],
    ]
    assert all((batch.columns["max"] == 0).all() for batch in again.batches)
    assert as_table(again) == as_table(runs)


def test_times_are_measured_again_and_not_read_from_the_disk(plan: Plan, tmp_path: Path) -> None:
    one = replace(plan, contenders=plan.contenders[:1])
    runs = run_here(one, tmp_path)
    kept = set(tmp_path.rglob("*.npz"))
    time_again(
        one, runs, lambda batch: np.arange(2) if set(tmp_path.rglob("*.npz")) == kept else np.empty(0, int), tmp_path
    )
    assert set(tmp_path.rglob("*.npz")) > kept

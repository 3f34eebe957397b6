"""Every kind of file that is read here: how a small valid one is made, what reads it, and where that is used.

An *input* is what somebody names: what is wrong with it is refused by an ``InputError``. A *work file* is what a
command keeps to go on from: a damaged one counts for nothing, and its work is done again. So ``read`` returns, or
raises an ``InputError``; whatever else it raises is a failure. It does with a file what its users do, as far as that
takes milliseconds: what is accepted must also work.

No reader is needed for ``settings.json``, ``times.csv``, ``trials.csv`` and samples as ``.csv``: they are only written.
The ``.zip`` files of Stable-Baselines3 hold pickles, which can run code. They are refused unless the caller trusts
them. A damaged one that is trusted is refused as well, but that is all that can be promised of it.
"""

import shutil
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import agents
from agents.knowledge import knn, pdb, subgoals
from agents.policies.goals import load_goal_policy
from agents.policies.networks import load_network
from agents.policies.trees import load_policy
from fuzz.kind import INPUT, WORK_FILE, Kind, small_grid
from fuzz.map_kinds import MAP_KINDS
from rt_gym import InputError, Problem, Squad
from rt_gym.abstraction import abstract
from rt_gym.squad.policy import load_dealer
from training.judge import judge, scores, speed
from training.learn import evolve, goal, keep_settings, log
from training.precompute import Neighbours, Patterns, Subgoals
from training.report import measured, results_page
from training.runs import Allowance, Course, Draw, Plan, Workers, enlist_all, find_courses, read_runs, run_plan
from training.runs.execution import Store
from training.runs.jobs import Series, run_job
from training.runs.tables import write_tables

ROOT = Path(__file__).resolve().parents[2]
HERE = Workers(jobs=1)
MAX_MOVES = 200
DOCUMENT = "tb-e2"


@cache
def _problem() -> Problem:
    return Problem(small_grid(), (0, 0), (12, 8))


def _run(agent: str, **settings: Any) -> Any:
    return agents.run(agent, _problem(), max_moves=MAX_MOVES, clock=False, **settings)


# What agents follow


def _depth_policy(name: str) -> Kind:
    def make(folder: Path) -> Path:
        load_policy(name).save(path := folder / "policy.json")
        return path

    def read(path: Path) -> Any:
        return _run("classifier-lrta", policy=load_policy(path))

    return Kind(f"depth policy {name}", INPUT, "classifier-lrta policy=FILE", make, read)


def _make_goal_policy(folder: Path) -> Path:
    load_goal_policy("goal").save(path := folder / "goal.json")
    return path


def _read_goal_policy(path: Path) -> Any:
    return _run("general-lrta", design=6, depth=2, goal_policy=load_goal_policy(path))


def _make_dealer(folder: Path) -> Path:
    (config := evolve.DealerConfig()).dealer(config.starts()[0]).save(path := folder / "dealer.json")
    return path


def _read_dealer(path: Path) -> Any:
    return Squad([_problem()] * 3, "rtaa", 10, share=5, rule=load_dealer(path)).run(50)


def _network(name: str) -> Kind:
    def make(folder: Path) -> Path:
        load_network(name).save(path := folder / "network.npz")
        return path

    def read(path: Path) -> Any:
        return _run("policy-lrta", policy=load_network(path))

    return Kind(f"network {name}", INPUT, "policy-lrta policy=FILE", make, read)


def _database(mode: str) -> Kind:
    def make(folder: Path) -> Path:
        pdb.build(small_grid(), abstract(small_grid(), "clique", 2), mode, 6, threads=1).save(
            path := folder / "pdb.npz"
        )
        return path

    return Kind(f"pattern database {mode}", INPUT, "pdb-lrta database=FILE", make, _read_database)


def _read_database(path: Path) -> Any:
    return _run("pdb-lrta", database=str(path))


def _trees(first: str) -> Kind:
    def make(folder: Path) -> Path:
        subgoals.build_trees(small_grid(), [(12, 8), (3, 0)], first).save(path := folder / "trees.npz")
        return path

    def read(path: Path) -> Any:
        return _run("subgoal-lrta", trees=str(path), first=first)

    return Kind(f"subgoal trees {first}", INPUT, "subgoal-lrta trees=FILE", make, read)


def _make_records(folder: Path) -> Path:
    knn.build_records(small_grid(), 20, 0, 0, 20).save(path := folder / "knn.npz")
    return path


def _read_records(path: Path) -> Any:
    return _run("knn-lrta", database=str(path))


# What experiments, comparisons and trainings leave behind


@cache
def _courses() -> tuple[Course, ...]:
    return tuple(find_courses(["rooms-64"], Draw(3, 20, 60)))


@cache
def _plan() -> Plan:
    return Plan(tuple(enlist_all(["lrta:depth=1,2"], [Allowance.of(None)])), _courses(), trials=2)


def _make_results(folder: Path) -> Path:
    write_tables(folder, {}, run_plan(_plan(), workers=HERE))
    return folder / "results.csv"


def _read_results(path: Path) -> Any:
    runs = read_runs(path)
    try:
        return scores.score_all(runs), judge(runs, runs)
    except InputError as refusal:  # of runs, which may come from anywhere
        raise InputError(f"{path.name}: {refusal}") from None


def _make_document(folder: Path) -> Path:
    (documents := results_page.documents_folder(folder)).mkdir()
    return Path(shutil.copy(results_page.documents_folder(ROOT / "docs") / f"{DOCUMENT}.json", documents))


def _read_document(path: Path) -> Any:
    return results_page.render(path.parent.parent)


def _make_agents_page(folder: Path) -> Path:
    return Path(shutil.copy(ROOT / "docs" / measured.AGENTS_PAGE, folder))


@cache
def _log_series() -> Series:
    (course,) = _courses()
    return Series(log.DepthLogging(log.Logging(d_max=4, per_problem=20, max_moves=50), None), course.grid, course.tasks)


def _make_samples(folder: Path) -> Path:
    samples = log.log_samples(_courses(), log.Logging(d_max=4, per_problem=20, max_moves=50), workers=HERE)
    samples.save(path := folder / "samples.npz")
    return path


def _read_samples(path: Path) -> Any:
    samples = log.load_samples(path)
    return samples.capped(2) + samples.capped(2)


# Work files


@cache
def _goal_series() -> Series:
    (course,) = _courses()
    return Series(goal.GoalLogging(2, "clique", 2, 5, 20, None), course.grid, course.tasks)


_SERIES: dict[str, Callable[[], Series]] = {
    "runs": cache(lambda: _plan().series()[0]),
    "logged states": _log_series,
    "logged goals": _goal_series,
    "pattern database": cache(lambda: Patterns(small_grid(), level=2, cap=6).series()),
    "subgoal trees": cache(lambda: Subgoals(small_grid(), "nearest", ((12, 8), (3, 0))).series()),
    "kNN records": cache(lambda: Neighbours(small_grid(), records=20).series()),
}


@cache
def _done(name: str) -> Any:
    series = _SERIES[name]()
    return run_job(series.job(0, 0, len(series.items)), series.grid)


def _job(name: str) -> Kind:
    def make(folder: Path) -> Path:
        Store(folder).keep(_SERIES[name](), _done(name))
        (path,) = (folder / "jobs").rglob("*.npz")
        return path

    def read(path: Path) -> Any:
        found = Store(path.parents[2]).find(_SERIES[name]())
        for stretch in found:
            assert (stretch.begin, stretch.end) == (0, _done(name).end), "a job file was believed to be another"
            for column, values in _done(name).result.items():
                np.testing.assert_array_equal(stretch.result[column], values, "a damaged job file was believed")
        return found

    return Kind(f"job file of {name}", WORK_FILE, "Store.find, in whatever goes through run_all", make, read)


def _make_calibration(folder: Path) -> Path:
    calibration = speed.Calibration(_courses(), folder)
    calibration.allowance(["lrta"], 1.0)
    calibration.keep()
    return folder / "calibration.json"


def _read_calibration(path: Path) -> Any:
    return speed.Calibration(_courses(), path.parent)


_KEY = "0123456789abcdef"
_SHAPE = 4, 30  # candidates of a generation, and numbers of each


def _make_history(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    history = evolve.History(folder / "evolution.npz", _KEY)
    history.candidates, history.losses = list(rng.random((3, *_SHAPE))), list(rng.random((3, _SHAPE[0])))
    history.centres, history.merits = list(rng.random((1, _SHAPE[1]))), [(0.1, 0.2)]
    history.keep()
    return history.path


def _read_history(path: Path) -> Any:
    return evolve.History.of(path, _KEY, _SHAPE)


@cache
def _learner() -> Any:
    from training.learn.rl import RLConfig
    from training.learn.rl.model import make_env, make_model

    config = RLConfig(steps=1024, episodes=16, every=256, d_max=4, max_moves=60, hidden=(8,))
    return make_model(config, make_env(config, [_problem()]))


def _make_checkpoint(folder: Path) -> Path:
    from training.learn.rl.model import save_checkpoint

    save_checkpoint(path := folder / "learner.pt", _learner(), {"looks": [[0, None, 1.0, 1.0]], "idle": 0})
    return path


def _read_checkpoint(path: Path) -> Any:
    from training.learn.rl.model import load_checkpoint

    return load_checkpoint(path, _learner())


def _make_model(folder: Path) -> Path:
    _learner().save(path := folder / "model.zip")
    return path


def _read_model(path: Path) -> Any:
    from training.learn.rl.model import import_zip

    return _run("policy-lrta", policy=import_zip(path, "deepen", 4, trusted=True))


def _keep_training(folder: Path) -> Path:
    return keep_settings(folder, "train depth", {"d_max": 5})


def _read_training(path: Path) -> Any:
    return _keep_training(path.parent)


_LEARNERS = (
    Kind("checkpoint", WORK_FILE, "train rl, going on", _make_checkpoint, _read_checkpoint),
    Kind("model of Stable-Baselines3", INPUT, "import_zip(..., trusted=True)", _make_model, _read_model),
)

KINDS = (
    *MAP_KINDS,
    *map(_depth_policy, ("tree", "history")),
    Kind("goal policy", INPUT, "general-lrta goal_policy=FILE", _make_goal_policy, _read_goal_policy),
    Kind("dealer", INPUT, "Squad rule=FILE", _make_dealer, _read_dealer),
    *map(_network, ("depth", "deepen")),
    *map(_database, ("G", "I")),
    *map(_trees, subgoals.FIRSTS),
    Kind("kNN database", INPUT, "knn-lrta database=FILE", _make_records, _read_records),
    Kind("samples", INPUT, "load_samples", _make_samples, _read_samples),
    Kind("results", INPUT, "compare --against", _make_results, _read_results),
    Kind("document of an experiment", INPUT, "reproduce --pages", _make_document, _read_document),
    Kind("page of agents", INPUT, "agents --write-docs", _make_agents_page, measured.kept_rows),
    *map(_job, _SERIES),
    Kind("calibration", WORK_FILE, "compare --ms", _make_calibration, _read_calibration),
    Kind("evolution", WORK_FILE, "train rl --algo cma, going on", _make_history, _read_history),
    Kind("settings of a training", WORK_FILE, "train, going on", _keep_training, _read_training),
    *(_LEARNERS if find_spec("stable_baselines3") else ()),
)

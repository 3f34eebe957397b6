"""Every stored run of Weka 3.9.7, where the folder with them lies beside the repository."""

import csv
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from reference import plain_j48
from training.j48 import J48Classifier
from training.j48.growth import confidence_limits, extra_errors

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "j48"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="no folder shared/j48 beside the repository")

SWITCHES: dict[str, tuple[str, bool]] = {
    "-U": ("unpruned", True),
    "-S": ("subtree_raising", False),
    "-O": ("collapse", False),
    "-J": ("mdl", False),
    "-doNotMakeSplitPointActualValue": ("split_point_actual_value", False),
}


class Reference(NamedTuple):
    rows: np.ndarray
    labels: np.ndarray
    new_rows: np.ndarray
    new_labels: np.ndarray
    folds: np.ndarray
    runs: dict[str, dict[str, Any]]
    predictions: dict[str, list[int]]


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    data = np.genfromtxt(FOLDER / f"{name}.csv.gz", delimiter=",", skip_header=1)
    return data[:, :-1], data[:, -1].astype(int)


@cache
def load(name: str) -> Reference:
    with gzip.open(FOLDER / f"{name}.json.gz") as file:
        stored = json.load(file)
    with gzip.open(FOLDER / f"{name}.pred.csv.gz", "rt") as file:
        lines = list(csv.reader(file))
    columns = zip(lines[0], zip(*lines[1:], strict=True), strict=True)
    return Reference(
        *table(f"{name}.train"),
        *table(f"{name}.test"),
        np.array([int(fold) for fold in stored["cv_fold_of_train_row"]]),
        {run["config"]: run for run in stored["runs"]},
        {config: [int(label) for label in column] for config, column in columns},
    )


def classifier(options: str) -> J48Classifier:
    """Return the estimator that Weka's options describe."""
    parameters: dict[str, Any] = {}
    words = iter(options.split())
    for word in words:
        if word == "-C":
            parameters["confidence_factor"] = float(next(words))
        elif word == "-M":
            parameters["min_num_obj"] = int(next(words))
        else:
            name, value = SWITCHES[word]
            parameters[name] = value
    return J48Classifier(**parameters)


def stored_runs() -> list[dict[str, str]]:
    path = FOLDER / "summary.csv"
    return list(csv.DictReader(path.read_text().splitlines())) if path.is_file() else []


RUNS = [pytest.param(run["dataset"], run["config"], id=f"{run['dataset']}-{run['config']}") for run in stored_runs()]
VALIDATED = [
    pytest.param(
        run["dataset"],
        run["config"],
        id=f"{run['dataset']}-{run['config']}",
        marks=[pytest.mark.slow] if int(run["n_train"]) > 10_000 else [],
    )
    for run in stored_runs()
    if run["cv10_correct"]
]


@pytest.mark.parametrize(("name", "config"), RUNS)
def test_tree_predictions_and_probabilities_are_those_of_weka(name: str, config: str) -> None:
    reference = load(name)
    run = reference.runs[config]
    tree = classifier(run["options"]).fit(reference.rows, reference.labels)
    assert tree.export_text() == run["tree_text"]
    assert (tree.get_n_leaves(), tree.get_n_nodes()) == (run["leaves"], run["tree_size"])
    assert (tree.predict(reference.rows) == reference.labels).sum() == run["train_correct"]
    predicted = tree.predict(reference.new_rows)
    assert predicted.tolist() == reference.predictions[config]
    assert (predicted == reference.new_labels).sum() == run["test_correct"]
    first = reference.new_rows[:10]
    assert tree.predict_proba(first) == pytest.approx(np.array(run["proba_first10"]), abs=1e-12)
    tree.set_params(laplace=True)
    assert tree.predict_proba(first) == pytest.approx(np.array(run["proba_laplace_first10"]), abs=1e-12)


@pytest.mark.parametrize(("name", "config"), VALIDATED)
def test_every_fold_of_a_cross_validation_is_that_of_weka(name: str, config: str) -> None:
    reference = load(name)
    run = reference.runs[config]
    correct, leaves = [], []
    for fold in range(10):
        held_out = reference.folds == fold
        tree = classifier(run["options"]).fit(reference.rows[~held_out], reference.labels[~held_out])
        correct.append(int((tree.predict(reference.rows[held_out]) == reference.labels[held_out]).sum()))
        leaves.append(tree.get_n_leaves())
    stored = run["cv10_seed1"]
    assert (correct, leaves) == (stored["fold_correct"], stored["fold_leaves"])


def test_extra_errors_are_those_of_weka() -> None:
    rows = np.genfromtxt(FOLDER / "adderrs.csv", delimiter=",", skip_header=1)
    ours = [extra_errors(n, e, *confidence_limits(confidence)) for n, e, confidence, _ in rows]
    plain = [plain_j48.extra_errors(n, e, confidence) for n, e, confidence, _ in rows]
    assert len(rows) == 120
    assert ours == pytest.approx(rows[:, 3], rel=1e-12, abs=1e-12)
    assert plain == pytest.approx(rows[:, 3], rel=1e-9, abs=1e-9)

"""J48 beside scikit-learn's entropy tree, which is grown to the end and not pruned."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measure import ROOT, Row, alternate, at_most, duration, heading, print_rows, ratio
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from training.j48 import J48Classifier

STORED = ROOT.parent / "shared" / "j48" / "search140k.train.csv.gz"
ROWS, FEW, CLASSES = 140_000, 20_000, 20


class Data(NamedTuple):
    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]

    def first(self, count: int) -> "Data":
        return Data(self.name, self.X[:count], self.y[:count])


def load(path: Path) -> Data:
    table = np.genfromtxt(path, delimiter=",", skip_header=1)
    return Data(path.name, table[:, :-1], table[:, -1].astype(np.int64))


def make() -> Data:
    """Four features of few values and a noisy depth that depends on them, like the log of a search."""
    random = np.random.default_rng(0)
    far = np.round(random.random(ROWS) * 80, 1)
    X = np.column_stack([far, random.integers(0, 16, ROWS), random.poisson(2, ROWS), random.poisson(5, ROWS)])
    depth = 4 + X[:, 3] - X[:, 1] / 4 + (X[:, 2] > 2) * (far > 25) * 3 + random.normal(0, 3, ROWS)
    return Data("a made-up log", X, np.clip(np.round(depth), 1, CLASSES).astype(np.int64))


def fits(data: Data, aim: float, **parameters: Any) -> list[Row]:
    """Train both on all rows, with the same least number of rows in a leaf."""
    ours = J48Classifier(**parameters)
    theirs = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=parameters["min_num_obj"], random_state=0)
    seconds, other = alternate(lambda: ours.fit(data.X, data.y), lambda: theirs.fit(data.X, data.y))
    settings = f"{len(data.y):,} rows, -C {parameters['confidence_factor']} -M {parameters['min_num_obj']}"
    return [
        at_most(f"fit, {settings}", duration(seconds), seconds, aim, "s"),
        ratio("  beside scikit-learn", seconds, "scikit-learn", other),
        Row("  leaves", f"scikit-learn {theirs.get_n_leaves():,}", f"{ours.get_n_leaves():,}"),
        ratio("  predict the same rows", *predictions(ours.predict, theirs.predict, data.X)),
    ]


def predictions(
    ours: Callable[[Any], Any], theirs: Callable[[Any], Any], X: NDArray[np.float64]
) -> tuple[float, str, float]:
    seconds, other = alternate(lambda: ours(X), lambda: theirs(X))
    return seconds, "scikit-learn", other


def main() -> None:
    data = load(STORED) if STORED.is_file() else make()
    heading(f"{__doc__} On {data.name}.")
    print_rows(
        fits(data, 1.0, confidence_factor=0.05, min_num_obj=200)
        + fits(data.first(FEW), 5.0, confidence_factor=0.25, min_num_obj=2)
    )


if __name__ == "__main__":
    main()

"""J48, Weka's C4.5 for numeric features, as a scikit-learn classifier.

R. Quinlan, "C4.5: Programs for Machine Learning", 1993, as implemented by Weka 3.9.7 (M. Hall, E. Frank, G. Holmes,
B. Pfahringer, P. Reutemann, I. Witten, "The WEKA Data Mining Software: An Update", SIGKDD Explorations 11(1), 2009).
Trees, thresholds, class weights and predictions are those of Weka. What Weka leaves open or does otherwise:

- A label must not be missing; Weka drops such rows.
- A row of weight 0 counts as absent. Other weights multiply a row's share in all sums; as in Weka, the test whether a
  node has rows enough for a feature counts rows, not weights.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from rt_gym.errors import InputError, quoted, whole
from training.j48 import (
    NONE,
    TrainingSet,
    Tree,
    add_probabilities,
    depth,
    fill_classes,
    importances,
    probabilities,
)
from training.j48.export import Stored, check_names, from_json, python_source, to_json, weka_text
from training.j48.growth import collapse, grow, prune

_SWITCHES = ("unpruned", "subtree_raising", "collapse", "mdl", "split_point_actual_value", "laplace")


class J48Classifier(ClassifierMixin, BaseEstimator):
    """A decision tree grown and pruned exactly as Weka's J48 does it.

    Features are numbers; NaN stands for a missing value, which sends a row down both branches in parts.

    Its ``score`` is the accuracy, which means something beside the share of the most frequent class only: a tree of one
    leaf reaches that.

    Args:
        confidence_factor: the smaller, the more is pruned (Weka's ``-C``); above 0 and below 1. Above 0.5 the training
            errors are taken as they are.
        min_num_obj: the least weight of a branch (``-M``), except in large nodes, where 25 is always enough.
        unpruned: leave the tree as grown, but for collapsing (``-U``).
        subtree_raising: let a branch take the place of its parent (``-S`` if not).
        collapse: remove what saves no training errors, even if unpruned (``-O`` if not).
        mdl: let a gain pay for the choice among many thresholds (``-J`` if not).
        split_point_actual_value: take thresholds from the training set (``-doNotMakeSplitPointActualValue`` if not).
        laplace: smooth the probabilities with one more row of each class (``-A``).

    Attributes:
        classes_: the labels, ascending.
        n_features_in_: how many features there are.
        feature_names_in_: their names, if they were given as a table with text headers.
        tree_: the tree as flat arrays, see ``training.j48.Tree``.

    Example:
        >>> from training.j48 import J48Classifier
        >>> tree = J48Classifier(min_num_obj=1).fit([[1], [2], [3], [4]], ["low", "low", "high", "high"])
        >>> tree.predict([[2.5], [0]]).tolist()
        ['high', 'low']
        >>> print(tree.export_text(["size"]))
        J48 pruned tree
        ------------------
        <BLANKLINE>
        size <= 2: low (2.0)
        size > 2: high (2.0)
        ...
    """

    def __init__(
        self,
        confidence_factor: float = 0.25,
        min_num_obj: int = 2,
        unpruned: bool = False,
        subtree_raising: bool = True,
        collapse: bool = True,
        mdl: bool = True,
        split_point_actual_value: bool = True,
        laplace: bool = False,
    ) -> None:
        self.confidence_factor = confidence_factor
        self.min_num_obj = min_num_obj
        self.unpruned = unpruned
        self.subtree_raising = subtree_raising
        self.collapse = collapse
        self.mdl = mdl
        self.split_point_actual_value = split_point_actual_value
        self.laplace = laplace

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow and prune the tree.

        Args:
            X: rows of features, NaN where a value is missing.
            y: the class of every row.
            sample_weight: how much every row counts; 1 if not given.

        Raises:
            InputError: for parameters out of range, no rows, infinite values, lengths that differ, negative weights.
        """
        self._check_parameters()
        table = self._read_table(X, y, sample_weight)
        tree = grow(table, int(self.min_num_obj), bool(self.mdl), bool(self.split_point_actual_value))
        if self.collapse:
            tree = collapse(tree)
        if not self.unpruned:
            tree = prune(tree, table, self.confidence_factor, bool(self.subtree_raising))
        self.tree_: Tree = tree
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of every row; of near equals the first, whatever ``laplace`` says."""
        parts = self._probabilities(X, laplace=False)
        classes = np.empty(len(parts), np.int64)
        fill_classes(parts, classes)
        return self.classes_[classes]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of every class, in the order of ``classes_``, for every row."""
        return self._probabilities(X, bool(self.laplace))

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return int((self._fitted().feature == NONE).sum())

    def get_n_nodes(self) -> int:
        """Return the number of all nodes, which Weka calls the size of the tree."""
        return int(self._fitted().feature.size)

    def get_depth(self) -> int:
        """Return the largest number of tests on the way to a leaf."""
        return depth(self._fitted())

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much of the class entropy that the tree takes away is taken away by each feature; their sum is 1."""
        return importances(self._fitted(), self.n_features_in_)

    def export_text(self, feature_names: list[str] | None = None) -> str:
        """Return the tree as Weka prints it."""
        tree = self._fitted()
        return weka_text(tree, self._names(feature_names), self.classes_.tolist(), not self.unpruned)

    def export_python(self, feature_names: list[str] | None = None, function_name: str = "classify") -> str:
        """Return Python source of a function with one argument per feature, for rows without missing values."""
        tree = self._fitted()
        return python_source(tree, self._names(feature_names), self.classes_.tolist(), function_name)

    def to_json(self) -> dict[str, Any]:
        """Return the fitted classifier as lists and numbers that JSON can hold."""
        tree, names = self._fitted(), getattr(self, "feature_names_in_", None)
        parameters = {name: _plain(value) for name, value in self.get_params().items()}
        listed = None if names is None else names.tolist()
        return to_json(Stored(parameters, self.classes_, self.n_features_in_, listed, tree))

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Return a classifier from what ``to_json`` made.

        Raises:
            InputError: if it is something else, or of another version, or no tree.
        """
        stored = from_json(data)
        known = cls().get_params()
        if stored.parameters.keys() != known.keys():
            raise InputError(f"the parameters must be {', '.join(known)}, not {quoted(list(stored.parameters))}")
        result = cls(**stored.parameters)
        result._check_parameters()
        result.classes_, result.n_features_in_, result.tree_ = stored.classes, stored.features, stored.tree
        if stored.feature_names is not None:
            result.feature_names_in_ = np.array(stored.feature_names, dtype=object)
        return result

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _check_parameters(self) -> None:
        value = self.confidence_factor
        # Weka computes in single precision, where what is too near to 0 or 1 becomes 0 or 1.
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 < np.float32(1) - np.float32(value) < 1:
            raise InputError(f"confidence_factor must be a number above 0 and below 1, not {quoted(value)}")
        whole("min_num_obj", self.min_num_obj, 1)
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise InputError(f"{name} must be True or False, not {quoted(getattr(self, name))}")

    def _read_table(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> TrainingSet:
        """Return the training set; the classes are learned here."""
        with _refusing():
            rows, labels = validate_data(self, X, y, dtype=np.float64, ensure_all_finite=False)
            check_classification_targets(labels)
            weight = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
        _check_finite(rows)
        with np.errstate(over="ignore"):
            weights = weight.sum()
        if not 0 < weights < np.inf:
            raise InputError(f"sample_weight must have a positive and finite sum, not {weights}")
        used = weight > 0
        self.classes_, label = np.unique(labels[used], return_inverse=True)
        return TrainingSet(np.ascontiguousarray(rows[used].T), label.astype(np.int32), weight[used], self.classes_.size)

    def _probabilities(self, X: ArrayLike, laplace: bool) -> NDArray[np.float64]:
        tree = self._fitted()
        with _refusing():
            rows = validate_data(self, X, dtype=np.float64, order="C", ensure_all_finite=False, reset=False)
        _check_finite(rows)
        room = tree.feature.size
        result = np.zeros((len(rows), self.classes_.size))
        nodes, weight = np.empty(room, np.int64), np.empty(room)
        add_probabilities(tree, probabilities(tree, laplace), rows, nodes, weight, result)
        return result

    def _fitted(self) -> Tree:
        check_is_fitted(self)
        return self.tree_

    def _names(self, given: list[str] | None) -> list[str]:
        if given is not None:
            return check_names(list(given), self.n_features_in_)
        own = getattr(self, "feature_names_in_", None)
        return [f"f{i}" for i in range(self.n_features_in_)] if own is None else own.tolist()


def _plain(value: Any) -> Any:
    """Return a parameter without NumPy's type, which JSON cannot hold."""
    return value.item() if isinstance(value, np.generic) else value


def _check_finite(X: NDArray[np.float64]) -> None:
    if np.isinf(X).any():
        row, column = np.argwhere(np.isinf(X))[0]
        raise InputError(f"row {row} of X is infinite in column {column}: a value is finite, or NaN if it is missing")


@contextmanager
def _refusing() -> Iterator[None]:
    """Turn scikit-learn's refusals into ours, in one line."""
    try:
        yield
    except ValueError as error:
        raise InputError(" ".join(str(error).split())) from None

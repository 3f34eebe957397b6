"""Growing a tree: depth first, left before right, until nothing is worth splitting."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel
from training.j48.samples import NodeRows, TrainingSet, all_rows, divided
from training.j48.split import best_feature, make_scratch
from training.j48.tree import NONE, Tree


def grow(table: TrainingSet, min_num_obj: int, mdl: bool, actual_value: bool) -> Tree:
    """Return the full tree of a training set.

    Args:
        table: the training set.
        min_num_obj: the least weight of a branch, but for the exception in large nodes.
        mdl: whether a gain pays for the choice among many thresholds.
        actual_value: whether thresholds are values of the training set; otherwise midpoints between two of them.
    """
    root, scratch = all_rows(table), make_scratch(table)
    columns = _sorted_columns(table, root) if actual_value else None
    side = np.empty(table.label.size, np.uint8)
    nodes = _Nodes()
    todo = [(root, NONE)]
    del root  # the rows of a node are given up as soon as its children have theirs
    while todo:
        sample, parent = todo.pop()
        counts = np.zeros(table.classes)
        count_classes(table.label, sample.order[0], sample.weight, counts)
        node = nodes.add(counts, parent)
        feature = best_feature(table, sample, counts, min_num_obj, mdl, scratch)
        if feature == NONE:
            continue
        threshold = scratch.threshold[feature]
        if columns is not None:
            threshold = _largest_up_to(columns[feature], threshold)
        left, right, share = divided(sample, table.values[feature], threshold, side)
        nodes.split(node, feature, threshold, share)
        todo += [(right, node), (left, NONE)]
    return nodes.tree()


class _Nodes:
    """The nodes so far, in the order in which they are met: a left child follows its parent at once."""

    def __init__(self) -> None:
        self._tests: list[list[Any]] = []
        self._counts: list[NDArray[np.float64]] = []

    def add(self, counts: NDArray[np.float64], parent: int) -> int:
        """Add a leaf, as the right child of a parent unless that is NONE."""
        number = len(self._tests)
        if parent != NONE:
            self._tests[parent][3] = number
        self._tests.append([NONE, 0.0, NONE, NONE, 0.0])
        self._counts.append(counts)
        return number

    def split(self, node: int, feature: int, threshold: float, share: float) -> None:
        """Make a leaf an inner node whose left child will be the next node."""
        self._tests[node] = [feature, threshold, node + 1, NONE, share]

    def tree(self) -> Tree:
        feature, threshold, left, right, share = zip(*self._tests, strict=True)
        return Tree(
            np.array(feature, np.int32), np.array(threshold), np.array(left, np.int32), np.array(right, np.int32),
            np.array(share), np.array(self._counts),
        )  # fmt: skip


def _sorted_columns(table: TrainingSet, root: NodeRows) -> list[NDArray[np.float64]]:
    """Return the sorted values of every feature, without the missing."""
    columns = np.take_along_axis(table.values, root.order, axis=1)
    return [column[: np.count_nonzero(~np.isnan(column))] for column in columns]


def _largest_up_to(column: NDArray[np.float64], limit: float) -> float:
    """Return the largest value of a sorted column that is not above a limit."""
    return float(column[np.searchsorted(column, limit, side="right") - 1])


@kernel
def count_classes(label, rows, weight, out):
    """Add the weights of ``rows``, int32[n], to ``out``, float64[classes]; ``label`` is that of the training set."""
    for i in range(rows.size):
        out[label[rows[i]]] += weight[i]

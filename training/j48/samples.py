"""The rows of a node, how a test sends them to its children, and how real numbers are compared.

A row without a value of the tested feature goes down both branches, in parts, so that a row has a weight of its own in
every node. Growing keeps the rows of a node sorted by each feature. Sorting is done once: dividing keeps the order.

Weights are compared with a slack nearly everywhere, as Weka does, so that rounding does not decide between equals.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel

EPS = 1e-6  # the slack of comparisons
LEFT, RIGHT, UNKNOWN = 1, 2, 4  # bits: a row whose value is not known may go both ways


class TrainingSet(NamedTuple):
    """The training set.

    Attributes:
        values: float64[features, rows], NaN where a value is missing.
        label: int32[rows], the class of every row.
        weight: float64[rows].
        classes: how many classes there are.
    """

    values: NDArray[np.float64]
    label: NDArray[np.int32]
    weight: NDArray[np.float64]
    classes: int


class NodeRows(NamedTuple):
    """The rows of one node.

    Attributes:
        order: int32[features, rows here], the rows sorted by each feature, those without a value last.
        weight: float64[rows here], the weights here of the rows in ``order[0]``.
    """

    order: NDArray[np.int32]
    weight: NDArray[np.float64]


def all_rows(table: TrainingSet) -> NodeRows:
    """Return all rows of the training set."""
    order = np.argsort(table.values, axis=1, kind="stable").astype(np.int32)
    return NodeRows(order, table.weight[order[0]])


def divided(
    sample: NodeRows, column: NDArray[np.float64], threshold: float, side: NDArray[np.uint8]
) -> tuple[NodeRows, NodeRows, float]:
    """Return the rows that go left, those that go right, and the share of the known weight that goes left.

    ``side`` is a buffer, a byte per row of the training set.
    """
    lefts, rights, share = choose_sides(column, sample.order[0], sample.weight, threshold, side)
    features = len(sample.order)
    left = NodeRows(np.empty((features, lefts), np.int32), np.empty(lefts))
    right = NodeRows(np.empty((features, rights), np.int32), np.empty(rights))
    copy_side(sample, side, LEFT, share, left)
    copy_side(sample, side, RIGHT, 1.0 - share, right)
    return left, right, share


@kernel
def choose_sides(column, rows, weight, threshold, side):
    """Write to which sides the rows go; return how many go left, how many right, and the left share of the known."""
    left, right = 0.0, 0.0
    for i in range(rows.size):
        value = column[rows[i]]
        if value <= threshold:
            left += weight[i]
        elif value > threshold:
            right += weight[i]
    share = left / (left + right)
    unknown = UNKNOWN | (LEFT if share > EPS else 0) | (RIGHT if 1.0 - share > EPS else 0)
    lefts, rights = 0, 0
    for i in range(rows.size):
        value = column[rows[i]]
        bits = LEFT if value <= threshold else RIGHT if value > threshold else unknown
        side[rows[i]] = bits
        lefts += bits & LEFT
        rights += (bits & RIGHT) >> 1
    return lefts, rights, share


@kernel
def copy_side(sample, side, bit, share, out):
    """Copy the rows of one side in every order; those without a value carry a share of their weight."""
    for a in range(sample.order.shape[0]):
        rows, copied = sample.order[a], out.order[a]
        n = 0
        for i in range(rows.size):
            bits = side[rows[i]]
            if bits & bit:
                copied[n] = rows[i]
                if a == 0:
                    out.weight[n] = sample.weight[i] * share if bits & UNKNOWN else sample.weight[i]
                n += 1


@kernel(inline=True)
def greater(a, b):
    """Return whether ``a`` is clearly greater than ``b``."""
    return a - b > EPS


@kernel(inline=True)
def at_least(a, b):
    """Return whether ``a`` is greater than ``b`` or not clearly smaller."""
    return a > b - EPS or a >= b


@kernel(inline=True)
def equal(a, b):
    """Return whether two numbers differ by less than the slack."""
    return abs(a - b) < EPS


@kernel
def first_maximum(values):
    """Return the index of the first of the largest values, 0 if none is clearly above zero.

    A holder is replaced by what is clearly greater only: of near equals the first one wins.
    """
    best, held = np.int64(0), 0.0
    for i in range(values.size):
        if greater(values[i], held):
            best, held = np.int64(i), values[i]
    return best


@kernel
def total(values):
    """Return the sum of an array, added up from its beginning."""
    result = 0.0
    for i in range(values.size):
        result += values[i]
    return result


@kernel
def training_errors(counts):
    """Return the weight of all classes but the one that a leaf with these class weights stands for."""
    return total(counts) - counts[first_maximum(counts)]

"""The solved problems nearest to one: SciPy's k-d tree over their two ends, laid out flat and searched in a kernel.

J. L. Bentley, "Multidimensional Binary Search Trees Used for Associative Searching", Communications of the ACM 18(9),
1975. The points have four coordinates: column and row of a start and of a goal. How far two problems are from each
other is the heuristic between the starts or between the goals, whichever is larger. It does not fall where a coordinate
moves away, so no point of a node is nearer than its box.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel
from rt_gym.terrain import span

LEAF = 16  # points


class Nearest(NamedTuple):
    """A k-d tree, its nodes in preorder: the first child of an inner node follows it.

    Attributes:
        points: int32[n, 4].
        order: int64[n], the numbers of the points, leaf by leaf.
        low, high: int32[nodes, 4], the box of the points of a node.
        begin, end: int64[nodes], which of ``order`` belong to a node.
        second: int64[nodes], the second child, 0 in a leaf.
        stack: int64[nodes], a buffer for the nodes that a search has still to visit.
        best, far: int64[m], buffers for what it finds: m points, the nearest first, and how far they are.
    """

    points: NDArray[np.int32]
    order: NDArray[np.int64]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    second: NDArray[np.int64]
    stack: NDArray[np.int64]
    best: NDArray[np.int64]
    far: NDArray[np.int64]


def with_buffers(tree: Nearest, most: int) -> Nearest:
    """Return a tree that others may search too, with buffers of its own for up to ``most`` points."""
    best = np.empty(min(most, len(tree.points)), np.int64)
    return tree._replace(stack=np.empty_like(tree.begin), best=best, far=best.copy())


def make_tree(points: NDArray[np.int32]) -> Nearest:
    """Return the tree of some points, without buffers for a search."""
    from scipy.spatial import cKDTree

    nodes: list[tuple[int, int, int]] = []

    def enter(node: Any) -> int:
        number = len(nodes)
        nodes.append((node.start_idx, node.end_idx, 0))
        if node.lesser is not None:
            enter(node.lesser)
            nodes[number] = node.start_idx, node.end_idx, enter(node.greater)
        return number

    tree = cKDTree(points, leafsize=LEAF)
    enter(tree.tree)
    begin, end, second = np.array(nodes, np.int64).T.copy()
    order = tree.indices.astype(np.int64)
    low, high = _boxes(points[order], begin, second)
    none = np.empty(0, np.int64)
    return Nearest(points, order, low, high, begin, end, second, stack=none, best=none, far=none)


def _boxes(points: NDArray[np.int32], begin: NDArray[np.int64], second: NDArray[np.int64]) -> tuple[Any, Any]:
    """Return the smallest and the largest coordinates of the nodes, from those of the leaves upwards."""
    low, high = np.zeros((2, begin.size, 4), np.int32)
    leaves = np.flatnonzero(second == 0)
    if len(points):
        low[leaves], high[leaves] = (merge.reduceat(points, begin[leaves]) for merge in (np.minimum, np.maximum))
    for node in np.flatnonzero(second)[::-1]:
        children = [node + 1, second[node]]
        low[node], high[node] = low[children].min(axis=0), high[children].max(axis=0)
    return low, high


@kernel
def find_nearest(nearest, metric, x, y, goal_x, goal_y):
    """Write the points nearest to a problem, of equally far ones the earlier first; return how many there are."""
    points, order, best, far, stack = nearest.points, nearest.order, nearest.best, nearest.far, nearest.stack
    count, waiting = np.int64(0), np.int64(best.size > 0)
    stack[0] = 0
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if count == best.size and gap_to_node(nearest, metric, node, x, y, goal_x, goal_y) > far[count - 1]:
            continue
        second = nearest.second[node]
        if second != 0:  # the nearer child is searched first
            swap = gap_to_node(nearest, metric, second, x, y, goal_x, goal_y) < gap_to_node(
                nearest, metric, node + 1, x, y, goal_x, goal_y
            )
            stack[waiting] = node + 1 if swap else second
            stack[waiting + 1] = second if swap else node + 1
            waiting += 2
            continue
        for k in range(nearest.begin[node], nearest.end[node]):
            r = order[k]
            gap = problem_gap(metric, points[r, 0] - x, points[r, 1] - y, points[r, 2] - goal_x, points[r, 3] - goal_y)
            count = insert(best, far, count, r, gap)
    return count


@kernel(inline=True)
def problem_gap(metric, dx, dy, goal_dx, goal_dy):
    """Return how far two problems are from each other, given the columns and rows between their starts and goals."""
    return max(span(metric, dx, dy), span(metric, goal_dx, goal_dy))


@kernel
def gap_to_node(nearest, metric, node, x, y, goal_x, goal_y):
    """Return how far a problem is from the box of a node."""
    low, high = nearest.low[node], nearest.high[node]
    return problem_gap(
        metric,
        max(low[0] - x, x - high[0], 0),
        max(low[1] - y, y - high[1], 0),
        max(low[2] - goal_x, goal_x - high[2], 0),
        max(low[3] - goal_y, goal_y - high[3], 0),
    )


@kernel(inline=True)
def insert(best, far, count, r, gap):
    """Put a point in its place among the best so far and return how many these are now."""
    if count == best.size:
        if gap > far[count - 1] or (gap == far[count - 1] and r > best[count - 1]):
            return count
        count -= 1
    k = count
    while k > 0 and (far[k - 1] > gap or (far[k - 1] == gap and best[k - 1] > r)):
        best[k], far[k] = best[k - 1], far[k - 1]
        k -= 1
    best[k], far[k] = r, gap
    return count + 1

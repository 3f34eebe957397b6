"""A tree for readers: the text that Weka prints, and Python source."""

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from keyword import iskeyword
from typing import Any, NamedTuple

from rt_gym.errors import InputError, quoted
from training.j48.tolerance import first_maximum, greater, total, training_errors
from training.j48.tree import NONE, Tree, depth

RULE = "-" * 18
DEEPEST = 98  # Python allows a hundred levels of indentation; the function and its last return take two


class Branch(NamedTuple):
    """One of the two ways out of a node."""

    node: int
    child: int
    level: int


def branches(tree: Tree) -> Iterator[Branch]:
    """Yield the branches of a tree as they are read: depth first, the left one of a node before the right one."""
    todo = _both(tree, 0, 0)
    while todo:
        branch = todo.pop()
        yield branch
        todo += _both(tree, branch.child, branch.level + 1)


def _both(tree: Tree, node: int, level: int) -> list[Branch]:
    children = int(tree.right[node]), int(tree.left[node])
    return [Branch(node, child, level) for child in children if child != NONE]


def weka_text(tree: Tree, names: Sequence[str], labels: Sequence[Any], pruned: bool) -> str:
    """Return a tree as Weka prints it, with title and size."""
    lines = [f"J48 {'pruned' if pruned else 'unpruned'} tree", RULE]
    if tree.feature[0] == NONE:
        lines.append(_leaf(tree, 0, labels))
    else:
        lines.append("")
        lines += [_branch_line(tree, branch, names, labels) for branch in branches(tree)]
    leaves = int((tree.feature == NONE).sum())
    lines += ["", f"Number of Leaves  : \t{leaves}", "", f"Size of the tree : \t{tree.feature.size}", ""]
    return "\n".join(lines)


def _branch_line(tree: Tree, branch: Branch, names: Sequence[str], labels: Sequence[Any]) -> str:
    node, child, level = branch
    sign = "<=" if child == tree.left[node] else ">"
    test = f"{names[tree.feature[node]]} {sign} {six_decimals(float(tree.threshold[node]))}"
    return "|   " * level + test + (_leaf(tree, child, labels) if tree.feature[child] == NONE else "")


def _leaf(tree: Tree, node: int, labels: Sequence[Any]) -> str:
    counts = tree.counts[node]
    errors = training_errors(counts)
    shown = f"/{two_decimals(errors)}" if greater(errors, 0.0) else ""
    return f": {labels[first_maximum(counts)]} ({two_decimals(total(counts))}{shown})"


def six_decimals(value: float) -> str:
    """Return a number with at most six decimals, halves rounded away from zero."""
    scaled = abs(value) * 1e6
    if scaled >= 2.0**63:
        return java_double(value)
    whole, rest = divmod(math.floor(scaled + 0.5), 10**6)
    sign = "-" if value < 0 and (whole or rest) else ""
    return f"{sign}{whole}.{rest:06}".rstrip("0").rstrip(".")


def two_decimals(value: float) -> str:
    """Return a weight as Java shows it, rounded to two decimals."""
    return java_double(math.floor(value * 100 + 0.5) / 100)


def java_double(value: float) -> str:
    """Return a number as Java shows it: like Python, but with another form for the small and the large."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    first, *others = map(str, digits)
    return f"{'-' * sign}{first}.{''.join(others) or '0'}E{len(digits) - 1 + int(exponent)}"


def python_source(tree: Tree, names: Sequence[str], labels: Sequence[Any], function_name: str) -> str:
    """Return a Python function that takes the features one by one and returns the class; it knows no missing values."""
    for name in [function_name, *names]:
        if not name.isidentifier() or iskeyword(name):
            raise InputError(f"{quoted(name)} cannot be a name in Python source: use letters, digits and underscores")
    if len(set(names)) < len(names):
        raise InputError(f"two features have the same name in {quoted(names)}: arguments need distinct ones")
    if depth(tree) > DEEPEST:
        raise InputError(
            f"the tree has {depth(tree)} levels, and Python source can be nested {DEEPEST} levels deep only"
        )
    lines = [f"def {function_name}({', '.join(names)}):"]
    if tree.feature[0] == NONE:
        lines.append(_return(tree, 0, labels, 1))
    for node, child, level in branches(tree):
        test = f"if {names[tree.feature[node]]} <= {float(tree.threshold[node])!r}:"
        lines.append("    " * (level + 1) + (test if child == tree.left[node] else "else:"))
        if tree.feature[child] == NONE:
            lines.append(_return(tree, child, labels, level + 2))
    return "\n".join([*lines, ""])


def _return(tree: Tree, node: int, labels: Sequence[Any], level: int) -> str:
    return f"{'    ' * level}return {labels[first_maximum(tree.counts[node])]!r}"

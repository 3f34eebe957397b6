"""Policies for the depth of a lookahead: trees over named features, as data in a JSON file, never as code.

A policy adds up the scores of the leaves that its trees lead to. One that decides the *depth* takes the depth with the
largest sum; one that decides layer by layer to *deepen* or to act acts when the sum reaches a threshold.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError, quoted, whole
from rt_gym.features.decision import LAYERS, SITUATION
from rt_gym.file_cache import FILES
from rt_gym.files import PathLike, atomic_write, read_json, require_path, shown
from rt_gym.jit import kernel

KIND, VERSION = "rt_gym.depth-policy", 1
_LARGEST = 1e300  # a threshold; whole numbers of more digits are no floats
LEAF = -1
DECISIONS = ("depth", "deepen")
READY_MADE = files("agents").joinpath("policies")
INPUTS = (*SITUATION, *LAYERS)

Made = TypeVar("Made")


class Forest(NamedTuple):
    """Trees as kernels take them; the nodes of all trees are concatenated.

    Attributes:
        root: int32[trees], where each tree begins.
        feature: int32[n], the input that a node tests; LEAF at leaves.
        threshold: float64[n], the largest value that goes left.
        left, right: int32[n], the children, after their parent; at leaves they mean nothing.
        scores: float64[n, outputs], what a node says; inner nodes too, for when a branch is cut short.
    """

    root: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    scores: NDArray[np.float64]


NO_TREES = Forest(  # kernels need some: one leaf that says nothing
    root=np.zeros(1, np.int32),
    feature=np.full(1, LEAF, np.int32),
    threshold=np.zeros(1),
    left=np.full(1, LEAF, np.int32),
    right=np.full(1, LEAF, np.int32),
    scores=np.zeros((1, 1)),
)


def join_trees(trees: list[Forest]) -> Forest:
    """Return one forest of several."""
    begins = np.cumsum([0, *(tree.feature.size for tree in trees)])[:-1]

    def moved(name: str) -> NDArray[np.int32]:
        parts = [
            np.where(tree.feature == LEAF, LEAF, getattr(tree, name) + b) for tree, b in zip(trees, begins, strict=True)
        ]
        return np.concatenate(parts).astype(np.int32)

    return Forest(
        root=np.concatenate([tree.root + b for tree, b in zip(trees, begins, strict=True)]).astype(np.int32),
        feature=np.concatenate([tree.feature for tree in trees]),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        left=moved("left"),
        right=moved("right"),
        scores=np.concatenate([tree.scores for tree in trees]),
    )


@kernel
def add_scores(forest, inputs, branch, out):
    """Write the sums of the scores, float64[outputs]; no tree is followed for more than ``branch`` tests."""
    out[:] = 0.0
    for k in range(forest.root.size):
        node = np.int64(forest.root[k])
        tests = 0
        while forest.feature[node] >= 0 and tests < branch:
            below = inputs[forest.feature[node]] <= forest.threshold[node]
            node = np.int64(forest.left[node] if below else forest.right[node])
            tests += 1
        for c in range(out.size):
            out[c] += forest.scores[node, c]


@kernel(inline=True)
def largest(scores):
    """Return the index of the largest score, the first of equal ones."""
    best = 0
    for c in range(1, scores.size):
        if scores[c] > scores[best]:
            best = c
    return best


@dataclass(frozen=True)
class Policy:
    """A trained policy.

    Attributes:
        decide: ``"depth"`` or ``"deepen"``.
        features: the names of the inputs, in the order in which the trees number them.
        history: how many steps back the features reach.
        d_max: the largest depth.
        depths: the depth that each score stands for; empty for ``"deepen"``, which has one score, that of acting.
        threshold: from which score on to act, for ``"deepen"``.
        forest: the trees.
        about: how it was made: learner, settings, maps, seed; for people.
    """

    decide: str
    features: tuple[str, ...]
    history: int
    d_max: int
    depths: tuple[int, ...]
    threshold: float
    forest: Forest
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def branch(self) -> int:
        """The largest number of tests on the way to a leaf."""
        return longest_branch(self.forest)

    def wired(self) -> Forest:
        """Return the forest with the numbers that agents give to the features."""
        return wire(self.forest, self.features, INPUTS)

    def save(self, path: PathLike) -> None:
        """Write the policy to a JSON file."""
        head = {"kind": KIND, "version": VERSION, "decide": self.decide, "features": list(self.features)}
        numbers = {"history": self.history, "d_max": self.d_max, "depths": list(self.depths)}
        write_policy(path, head | numbers | {"threshold": self.threshold, "about": self.about}, self.forest)


def longest_branch(forest: Forest) -> int:
    """Return the largest number of tests on the way to a leaf."""
    levels = np.zeros(forest.feature.size, np.int64)
    for node in np.flatnonzero(forest.feature != LEAF):  # children stand after their parents
        levels[[forest.left[node], forest.right[node]]] = levels[node] + 1
    return int(levels.max())


def wire(forest: Forest, features: tuple[str, ...], inputs: tuple[str, ...]) -> Forest:
    """Return a forest whose features are numbered as those of a row of inputs."""
    numbers = np.array([*(inputs.index(name) for name in features), LEAF], np.int32)
    return forest._replace(feature=numbers[forest.feature])


def write_policy(path: PathLike, head: dict[str, Any], forest: Forest) -> None:
    """Write what a policy says of itself, and its trees, to a JSON file."""
    content = head | {"forest": {name: _listed(array) for name, array in forest._asdict().items()}}
    atomic_write(path, json.dumps(content, separators=(",", ":")).encode() + b"\n")


def _listed(array: NDArray[Any]) -> list[Any]:
    """Return an array as lists, whole numbers without a point: most scores of a single tree are 0 or 1."""
    whole_numbers = array.astype(np.int64)
    return (whole_numbers if (whole_numbers == array).all() else array).tolist()


def load_policy(source: PathLike | Policy) -> Policy:
    """Return a policy: one that is already there, from a file, or by the name of one that comes with the package."""
    if isinstance(source, Policy):
        return source
    return read_policy("policy", source, KIND, _checked)


def read_policy(parameter: str, source: PathLike, kind: str, check: Callable[[Any], Made]) -> Made:
    """Return what a file describes, or one that comes with the package; refusals name the parameter or the file.

    It is shared by all who ask for it.
    """
    require_path(parameter, source, "a file or a name")
    for path in _bundled():
        if path.name == f"{source}.json":
            with as_file(path) as file:
                return _shared(file, str(source), kind, check)
    if not os.path.lexists(source):
        raise InputError(f"there is no policy {shown(source)}; ready-made ones are {', '.join(ready_made(kind))}")
    return _shared(source, shown(source), kind, check)


def _shared(path: PathLike, name: str, kind: str, check: Callable[[Any], Made]) -> Made:
    return FILES.load(path, kind, lambda: _parse(read_json(path, "a policy"), name, check))


def ready_made(kind: str = KIND) -> list[str]:
    """Return the names of the policies of a kind that come with the package."""
    own = (path for path in _bundled() if json.loads(path.read_text())["kind"] == kind)
    return sorted(path.name.removesuffix(".json") for path in own)


def _bundled() -> list[Any]:
    return [path for path in READY_MADE.iterdir() if path.name.endswith(".json")]


def _parse(data: Any, name: str, check: Callable[[Any], Made]) -> Made:
    """Return the policy that a file describes, or say what is wrong with it."""
    try:
        return check(data)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _checked(data: Any) -> Policy:
    check_head(data, KIND, VERSION, "a depth policy")
    decide = data.get("decide")
    if decide not in DECISIONS:
        raise InputError(f"must decide {' or '.join(DECISIONS)}, not {quoted(decide)}")
    features = check_features(data, INPUTS if decide == "deepen" else SITUATION, decide)
    d_max = whole("d_max", data.get("d_max"), 1, 100)
    depths = tuple(whole("every depth", depth, 1, d_max) for depth in _list(data, "depths"))
    if (decide == "depth") != bool(depths):
        raise InputError("must list depths if and only if it decides the depth")
    threshold = data.get("threshold")
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not abs(threshold) <= _LARGEST:
        raise InputError(f"must have a finite threshold, not {quoted(threshold)}")
    history = whole("history", data.get("history"), 1, 10_000)
    forest = check_forest(data.get("forest"), len(features), max(1, len(depths)))
    return Policy(decide, features, history, d_max, depths, float(threshold), forest, data.get("about", {}))


def check_head(data: Any, kind: str, version: int, what: str) -> None:
    """Refuse what is of another kind or version, or describes itself in another way."""
    if not isinstance(data, dict) or data.get("kind") != kind:
        raise InputError(f"is not {what} of rt_gym")
    if data.get("version") != version:
        raise InputError(f"has version {quoted(data.get('version'))} of the format, not {version}")
    if not isinstance(data.get("about", {}), dict):
        raise InputError(f"must describe itself by names and values, not {quoted(data['about'])}")


def check_features(data: dict[str, Any], known: tuple[str, ...], decide: str) -> tuple[str, ...]:
    """Return the names of the inputs, all of which must be known."""
    features = _list(data, "features")
    for feature in features:
        if feature not in known:
            raise InputError(f"has the feature {quoted(feature)}, which a policy for the {decide} cannot know")
    return tuple(features)


def _list(data: dict[str, Any], name: str) -> list[Any]:
    if not isinstance(data.get(name), list):
        raise InputError(f"must have a list of {name}")
    return data[name]


def _column(data: dict[str, Any], name: str, kind: type[Any], dimensions: int = 1) -> NDArray[Any]:
    """Return a list of a tree's entries as an array, none of which may change by that."""
    values = _list(data, name)
    try:
        found = np.array(values)
        known = not found.size or found.dtype.kind in ("iuf" if kind is np.float64 else "iu")
    except (ValueError, OverflowError):  # rows of different lengths, or nested deeper than arrays can be
        known = False
    entries = found.astype(kind) if known else np.empty(0)
    if not known or found.ndim != dimensions or (kind is np.int32 and (entries != found).any()):
        raise InputError("has a tree with entries that are no numbers, or too large ones")
    return entries


def check_forest(data: Any, features: int, outputs: int) -> Forest:
    """Return the trees; every child must stand after its parent, which rules out cycles."""
    if not isinstance(data, dict):
        raise InputError("has no trees")
    root, feature, left, right = (_column(data, name, np.int32) for name in ("root", "feature", "left", "right"))
    threshold, scores = _column(data, "threshold", np.float64), _column(data, "scores", np.float64, 2)
    forest = Forest(root, feature, threshold, left, right, scores)
    nodes = forest.feature.size
    if not nodes or any(column.shape[0] != nodes for column in forest[1:]) or forest.scores.shape != (nodes, outputs):
        raise InputError(f"must have equally many entries per node, and {outputs} scores")
    if not np.isfinite(forest.threshold).all() or not np.isfinite(forest.scores).all():
        raise InputError("has a threshold or a score that is not finite")
    if ((forest.feature < LEAF) | (forest.feature >= features)).any():
        raise InputError(f"tests a feature beyond the {features} that it names")
    inner = np.flatnonzero(forest.feature != LEAF)
    children = np.concatenate([forest.left[inner], forest.right[inner]])
    if (children <= np.concatenate([inner, inner])).any() or (children >= nodes).any():
        raise InputError("has a node whose child is missing or stands before it")
    parents = np.bincount(np.concatenate([children, forest.root.clip(0, nodes - 1)]), minlength=nodes)
    if not forest.root.size or ((forest.root < 0) | (forest.root >= nodes)).any() or (parents != 1).any():
        raise InputError("has a node that belongs to no tree or to two")
    return forest

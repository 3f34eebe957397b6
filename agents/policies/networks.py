"""Small neural networks as policies, mostly for the depth of a lookahead: weights in an ``.npz`` file, for a kernel.

A network reads an observation of RTDepth-v0, RTDepthGoal-v0, RTDeepen-v0 or RTThink-v0, or some of its features: every
number as sign(x) log(1 + abs(x)), then standardised by a mean and a scale of its own. The largest output decides, the
first of equal ones: which depth, or whether to act (output 0) or to deepen or think on (output 1). One for depth and
goal has two heads: the largest output of a depth decides, and the larger of the last two, goal or subgoal. One for the
move reads the flat observation of a path environment as it is, and has an output for every action. Sums are made in
float64, so that their order does not matter for the decision.
"""

import os
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.policies.forward import ACTIVATIONS, Net, forward_all
from rt_gym.abstraction import KINDS, MAX_LEVEL
from rt_gym.archive import Shapes, load_archive, save_archive
from rt_gym.errors import InputError, quoted, whole
from rt_gym.features.decision import LAYERS, SITUATION
from rt_gym.features.subgoal import SUBGOAL
from rt_gym.features.thinking import THOUGHTS
from rt_gym.file_cache import FILES
from rt_gym.files import PathLike, require_path, shown

KIND, VERSION = "depth network", 1
LAYOUT = dict.fromkeys(("mean", "scale", "weights", "bias"), (np.float32, 1)) | {"width": (np.int64, 1)}
DECISIONS = {"depth": SITUATION, "deepen": (*SITUATION, *LAYERS)}  # of a lookahead, with the features each can know
BOTH = "depth and goal"
KNOWN = DECISIONS | {BOTH: (*SITUATION, *SUBGOAL), "think": THOUGHTS}  # the last in RTThink-v0, for think-lss
MOVE = "move"  # in path environments, whose observations depend on their settings
ACT, DEEPEN = range(2)  # the outputs of a network that decides to deepen, as the actions of RTDeepen-v0
MAX_WIDTH, MAX_LAYERS, MAX_WEIGHTS = 4096, 16, 1 << 25
READY_MADE = files("agents").joinpath("policies")

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Network:
    """A policy.

    Args:
        decide: ``"depth"`` or ``"depth and goal"`` before the search, ``"deepen"`` after every layer, ``"think"``
            after every slice, or the ``"move"`` itself.
        features: the names of the inputs, in their order; those of the layers only for ``"deepen"``.
        layers: weights (inputs x outputs) and bias of every layer, the last one's outputs being the actions.
        d_max: the largest depth; 1 where there is none.
        depths: the depth that each output stands for; only where it decides one. The other outputs are the actions of
            their environment: to act, and to go on; after the depths, to head for the goal, and for the subgoal.
        history: how many steps back the features reach.
        activation: ``"tanh"`` or ``"relu"``, after every layer but the last.
        moves: how many actions there are; only where it decides the move.
        settings: of the environment that shows what it reads, such as ``{"window": 11}``; likewise.
        level, abstraction: of the regions whose subgoals it knows, see ``rt_gym.abstraction``; 0 and "" without.
        mean, scale: what is taken away from every input, and what the rest is divided by; 0 and 1 if None.
        about: how it was made: command, settings, maps, seed; for people.

    Raises:
        InputError: if these do not fit together.
    """

    decide: str
    features: tuple[str, ...]
    layers: tuple[tuple[NDArray[Any], NDArray[Any]], ...]
    d_max: int
    depths: tuple[int, ...] = ()
    history: int = 20
    activation: str = "tanh"
    moves: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    level: int = 0
    abstraction: str = ""
    mean: NDArray[Any] | None = None
    scale: NDArray[Any] | None = None
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_words()
        self._set("d_max", whole("d_max", self.d_max, 1, 100))
        self._set("history", whole("history", self.history, 1, 10_000))
        self._set("depths", tuple(whole("every depth", depth, 1, self.d_max) for depth in self.depths))
        if (self.decide in ("depth", BOTH)) != bool(self.depths):
            raise InputError("must list depths if and only if it decides the depth")
        self._set(
            "moves", whole("moves", self.moves, 4, 9) if self.decide == MOVE else whole("moves", self.moves, 0, 0)
        )
        self._set("level", whole("level", self.level, 0, MAX_LEVEL if self.decide == BOTH else 0))
        inputs = len(self.features)
        self._set("mean", _numbers("mean", np.zeros(inputs) if self.mean is None else self.mean, (inputs,)))
        self._set("scale", _numbers("scale", np.ones(inputs) if self.scale is None else self.scale, (inputs,)))
        if not np.asarray(self.scale).all():
            raise InputError("has a scale of zero, which nothing can be divided by")
        self._set("layers", tuple(_checked_layers(self.layers, inputs, self.outputs)))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_words(self) -> None:
        if not isinstance(self.decide, str) or self.decide not in (*KNOWN, MOVE):
            raise InputError(f"must decide {', '.join(KNOWN)} or {MOVE}, not {quoted(self.decide)}")
        for feature in self.features:
            if feature not in KNOWN.get(self.decide, self.features):
                raise InputError(f"has the feature {quoted(feature)}, which a policy for the {self.decide} cannot know")
        if not self.features or len(set(self.features)) < len(self.features):
            raise InputError("must have features, and each of them once")
        kinds = KINDS if self.decide == BOTH else ("",)
        if self.abstraction not in kinds:
            raise InputError(f"must have the abstraction {' or '.join(kinds)}, not {quoted(self.abstraction)}")
        if self.activation not in ACTIVATIONS:
            raise InputError(f"must have the activation {' or '.join(ACTIVATIONS)}, not {quoted(self.activation)}")
        for described in (self.about, self.settings):
            if not isinstance(described, dict):
                raise InputError(f"must describe itself by names and values, not {quoted(described)}")

    @property
    def outputs(self) -> int:
        """How many actions there are, of both heads together."""
        return len(self.depths) + 2 if self.decide == BOTH else self.moves or len(self.depths) or 2

    @property
    def widest(self) -> int:
        """The width of the widest layer, inputs included."""
        return max(width for weights, _ in self.layers for width in weights.shape)

    def wired(self, names: tuple[str, ...]) -> Net:
        """Return the network for rows with these features."""
        (weights, bias), *others = [(w.astype(np.float64), b.astype(np.float64)) for w, b in self.layers]
        weights = weights / np.asarray(self.scale, np.float64)[:, None]
        layers = [(weights, bias - np.asarray(self.mean, np.float64) @ weights), *others]
        return Net(
            place=np.array([names.index(name) for name in self.features], np.int64),
            width=self._width,
            weights=np.concatenate([weights.ravel() for weights, _ in layers]),
            bias=np.concatenate([bias for _, bias in layers]),
            activation=ACTIVATIONS.index(self.activation),
        )

    @property
    def _width(self) -> NDArray[np.int64]:
        return np.array([len(self.features), *(bias.size for _, bias in self.layers)], np.int64)

    def scores(self, observations: ArrayLike) -> NDArray[np.float64]:
        """Return the outputs for observations, one in each row; their columns are the features, as environments do."""
        rows = _numbers("observations", observations, (None, len(self.features)))
        net, buffer, out = self.wired(self.features), np.empty((2, self.widest)), np.empty((len(rows), self.outputs))
        forward_all(net, rows, buffer, out)
        return out

    def choose(self, observations: ArrayLike, masks: ArrayLike | None = None) -> NDArray[np.int64]:
        """Return the actions for observations, one in each row; with action masks only those that are not 0 there.

        For depth and goal an action is a row of two numbers.
        """
        scores = self.scores(observations)
        if masks is not None:
            possible = np.asarray(masks, np.bool_)
            if possible.shape != scores.shape:
                raise InputError(f"must have {scores.shape[0]} x {scores.shape[1]} numbers as masks")
            scores[~possible] = -np.inf
        if self.decide == BOTH:
            heads = np.split(scores, [len(self.depths)], axis=1)
            return np.stack([head.argmax(axis=1) for head in heads], axis=1)
        return scores.argmax(axis=1)

    def save(self, path: PathLike) -> None:
        """Write the network to an ``.npz`` file."""
        words = {"decide": self.decide, "features": list(self.features), "activation": self.activation}
        numbers: dict[str, Any] = {"d_max": self.d_max, "depths": list(self.depths), "history": self.history}
        if self.decide == BOTH:
            numbers |= {"level": self.level, "abstraction": self.abstraction}
        if self.decide == MOVE:
            numbers |= {"moves": self.moves, "settings": self.settings}
        arrays = {
            "mean": self.mean,
            "scale": self.scale,
            "width": self._width,
            "weights": np.concatenate([weights.ravel() for weights, _ in self.layers]),
            "bias": np.concatenate([bias for _, bias in self.layers]),
        }
        save_archive(path, KIND, VERSION, words | numbers | {"about": self.about}, arrays)


def _numbers(name: str, values: Any, shape: tuple[int | None, ...]) -> Floats:
    """Return finite numbers of a shape; None stands for any length."""
    try:
        array = np.asarray(values)
        fits = array.dtype.kind in "fiu" and len(array.shape) == len(shape)
        fits = fits and all(want in (None, have) for want, have in zip(shape, array.shape, strict=True))
    except ValueError:  # rows of different lengths
        fits = False
    if not fits:
        wanted = " x ".join("any" if want is None else str(want) for want in shape)
        raise InputError(f"must have {wanted} numbers as {name}")
    with np.errstate(over="ignore"):
        narrow = array.astype(np.float32, copy=False)
    if not np.isfinite(narrow).all():
        raise InputError(f"has a number in {name} that is not finite")
    return narrow


def _checked_layers(layers: Any, inputs: int, outputs: int) -> list[tuple[Floats, Floats]]:
    """Return layers, each of which takes what the one before gives, from all inputs to all outputs."""
    if not 1 <= len(layers) <= MAX_LAYERS:
        raise InputError(f"must have from 1 to {MAX_LAYERS} layers, not {len(layers)}")
    checked, width = [], inputs
    for number, (weights, bias) in enumerate(layers):
        matrix = _numbers(f"weights {number}", weights, (width, None))
        width = whole(f"the width of layer {number}", matrix.shape[1], 1, MAX_WIDTH)
        checked.append((matrix, _numbers(f"bias {number}", bias, (width,))))
    if width != outputs:
        raise InputError(f"must have {outputs} outputs, one for each action, not {width}")
    if sum(matrix.size for matrix, _ in checked) > MAX_WEIGHTS:
        raise InputError(f"must have at most {MAX_WEIGHTS} weights")
    return checked


def load_network(source: PathLike | Network) -> Network:
    """Return a network: one that is already there, from a file, or by the name of one that comes with the package.

    What comes from a file is shared by all who ask for it.

    Raises:
        InputError: if there is none, or it is of another kind or version, truncated, or does not fit together.
    """
    if isinstance(source, Network):
        return source
    require_path("policy", source, "a file or a name")
    if source in ready_made():
        with as_file(READY_MADE.joinpath(f"{source}.npz")) as path:
            return _load(path, str(source))
    if not os.path.lexists(source):
        raise InputError(f"there is no network {shown(source)}; ready-made ones are {', '.join(ready_made())}")
    return _load(source, shown(source))


def _load(path: PathLike, name: str) -> Network:
    return FILES.load(path, KIND, lambda: _read(path, name))


def ready_made() -> list[str]:
    """Return the names of the networks that come with the package."""
    return sorted(path.name.removesuffix(".npz") for path in READY_MADE.iterdir() if path.name.endswith(".npz"))


def _read(path: PathLike, name: str) -> Network:
    def accept(head: dict[str, Any], shapes: Shapes) -> None:
        units, most = (MAX_LAYERS + 1) * MAX_WIDTH, {"width": MAX_LAYERS + 1, "weights": MAX_WEIGHTS}
        for part, (length,) in shapes.items():
            if length > most.get(part, units):
                raise InputError(f"{name}: has {length} numbers as {part}, more than any network")

    head, arrays = load_archive(path, KIND, VERSION, LAYOUT, accept)
    try:
        return _assembled(head, arrays)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _assembled(head: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Network:
    """Return the network that a file describes, or say what is wrong with it."""
    for name in ("features", "depths"):
        if not isinstance(head.get(name), list):
            raise InputError(f"must have a list of {name}")
    if not all(isinstance(name, str) for name in head["features"]):
        raise InputError("must name its features by words")
    return Network(
        decide=head.get("decide", ""),
        features=tuple(head["features"]),
        layers=_cut(arrays["width"], arrays["weights"], arrays["bias"]),
        d_max=head.get("d_max", 0),
        depths=tuple(head["depths"]),
        history=head.get("history", 0),
        activation=head.get("activation", ""),
        moves=head.get("moves", 0),
        settings=head.get("settings", {}),
        level=head.get("level", 0),
        abstraction=head.get("abstraction", ""),
        mean=arrays["mean"],
        scale=arrays["scale"],
        about=head.get("about", {}),
    )


def _cut(width: NDArray[np.int64], weights: Floats, bias: Floats) -> tuple[tuple[Floats, Floats], ...]:
    """Return the layers, whose weights and biases are concatenated."""
    if not 2 <= width.size <= MAX_LAYERS + 1 or not ((width >= 1) & (width <= MAX_WIDTH)).all():
        raise InputError(f"must have from 1 to {MAX_LAYERS} layers, each from 1 to {MAX_WIDTH} wide")
    sizes = width[:-1] * width[1:]
    if (weights.size, bias.size) != (sizes.sum(), width[1:].sum()):
        raise InputError("must have as many weights and biases as its layers are wide")
    matrices, biases = np.split(weights, np.cumsum(sizes)[:-1]), np.split(bias, np.cumsum(width[1:])[:-1])
    shapes = zip(matrices, width[:-1], width[1:], strict=True)
    return tuple(zip((matrix.reshape(a, b) for matrix, a, b in shapes), biases, strict=True))

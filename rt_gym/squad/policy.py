"""Learned dealers: a small network that looks at every unit by itself, and says how urgent it is.

The same network serves every unit, so that a dealer works for any number of them; what it knows of the others are the
features of the whole squad. Its output y becomes a weight, exp(y), in proportion to which the allowance is dealt, but
nobody gets more than it asks for while another one lacks something. So a dealer can do what the rules do: where outputs
are far apart it serves one unit after the other, where they are equal it gives all the same.

Policies are data: a JSON file with the names of the features, the layers, and how they were learned.
"""

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError, quoted
from rt_gym.features.dealing import DEALT, see
from rt_gym.file_cache import FILES
from rt_gym.files import PathLike, atomic_write, read_json, shown
from rt_gym.meter import UNLIMITED
from rt_gym.squad.dealing import Situation

KIND, VERSION = "dealer", 1
MAX_LAYERS, MAX_WIDTH = 4, 256
_LEAST = -600.0  # the least logarithm of a weight: that of 0 would end all comparison

Floats = NDArray[np.float64]
Layer = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class DealerPolicy:
    """A rule for ``rt_gym.Squad``.

    Args:
        layers: weights (inputs x outputs) and bias of every layer; tanh comes after every one but the last, which has
            one output.
        features: what it sees, some of ``rt_gym.features.dealing.DEALT``, in this order.
        about: how it was made, for people.

    Raises:
        InputError: if these do not fit together.
    """

    layers: tuple[Layer, ...]
    features: tuple[str, ...] = DEALT
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.features:
            if name not in DEALT:
                raise InputError(f"has the feature {quoted(name)}, which a dealer cannot know")
        if not self.features or len(set(self.features)) < len(self.features):
            raise InputError("must have features, and each of them once")
        if not isinstance(self.about, dict):
            raise InputError(f"must describe itself by names and values, not {quoted(self.about)}")
        object.__setattr__(self, "layers", _checked_layers(self.layers, len(self.features)))

    def urgency(self, seen: NDArray[Any]) -> Floats:
        """Return the output for rows of all features."""
        values = seen[:, [DEALT.index(name) for name in self.features]].astype(np.float64)
        for weights, bias in self.layers[:-1]:
            values = np.tanh(values @ weights + bias)
        weights, bias = self.layers[-1]
        return np.asarray((values @ weights + bias)[:, 0])

    def __call__(self, situation: Situation) -> Floats:
        """Return the weights of all units in a situation, which are the shares that they are to get."""
        weights, ready = np.zeros(situation.ready.size), np.flatnonzero(situation.ready)
        if ready.size == 0 or situation.allowance == UNLIMITED:
            weights[ready] = 1.0
            return weights
        output = self.urgency(see(situation))[ready]
        urgent = np.exp(np.maximum(output - output.max(), _LEAST))
        weights[ready] = _poured(urgent, situation.asks[ready].astype(np.float64), float(situation.allowance))
        return weights

    def save(self, path: PathLike) -> None:
        """Write the policy to a JSON file."""
        document = {
            "kind": KIND,
            "version": VERSION,
            "features": list(self.features),
            "layers": [{"weights": weights.tolist(), "bias": bias.tolist()} for weights, bias in self.layers],
            "about": self.about,
        }
        atomic_write(path, (json.dumps(document, indent=1) + "\n").encode())


def _poured(weights: Floats, asks: Floats, allowance: float) -> Floats:
    """Return shares in proportion to weights, none above what is asked for while others lack something."""
    order = np.argsort(asks / weights, kind="stable")  # in this order they have enough
    # Sums from the least weight on: to take a large one away from the sum of all would leave nothing of small ones.
    behind = np.cumsum(weights[order[::-1]])[::-1]
    poured, left = np.zeros_like(weights), allowance
    for k, rest in zip(order, behind, strict=True):
        poured[k] = min(asks[k], left * (weights[k] / rest))
        left -= poured[k]
    return poured


def load_dealer(path: PathLike) -> DealerPolicy:
    """Return a policy from its file, shared by all who ask for it.

    Raises:
        InputError: if there is none, or it is of another kind or version, or does not fit together.
    """
    return FILES.load(path, KIND, lambda: _read(path))


def _read(path: PathLike) -> DealerPolicy:
    document = read_json(path, "a dealer")
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise InputError(f"{shown(path)}: is not a dealer")
    if document.get("version") != VERSION:
        raise InputError(f"{shown(path)}: has version {quoted(document.get('version'))}, and {VERSION} is known")
    try:
        return DealerPolicy(_listed_layers(document), _listed_features(document), document.get("about", {}))
    except InputError as error:
        raise InputError(f"{shown(path)}: {error}") from None


def _listed_features(document: dict[str, Any]) -> tuple[str, ...]:
    features = document.get("features")
    if not isinstance(features, list) or not all(isinstance(name, str) for name in features):
        raise InputError("must name its features by words")
    return tuple(features)


def _listed_layers(document: dict[str, Any]) -> tuple[Any, ...]:
    layers = document.get("layers")
    if not isinstance(layers, list) or not all(isinstance(layer, dict) for layer in layers):
        raise InputError("must have a list of layers")
    return tuple((layer.get("weights"), layer.get("bias")) for layer in layers)


def _checked_layers(layers: tuple[Any, ...], inputs: int) -> tuple[Layer, ...]:
    """Return layers, each of which takes what the one before gives, from all inputs to one output."""
    if not 1 <= len(layers) <= MAX_LAYERS:
        raise InputError(f"must have from 1 to {MAX_LAYERS} layers, not {len(layers)}")
    checked, width = [], inputs
    for number, (weights, bias) in enumerate(layers):
        matrix, offset = _numbers(weights, 2), _numbers(bias, 1)
        if matrix.shape[0] != width or matrix.shape[1:] != offset.shape or not 1 <= offset.size <= MAX_WIDTH:
            raise InputError(f"must have {width} rows of weights, and a bias for every column, in layer {number}")
        checked.append((matrix, offset))
        width = offset.size
    if width != 1:
        raise InputError(f"must have one output, not {width}")
    return tuple(checked)


def _numbers(values: Any, axes: int) -> Floats:
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    if array.ndim != axes or array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        raise InputError("must have finite numbers as weights and bias")
    return array.astype(np.float64)

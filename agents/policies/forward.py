"""A small neural network as kernels take it, and its evaluation."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel

ACTIVATIONS = ("tanh", "relu")
TANH, RELU = range(2)


class Net(NamedTuple):
    """A network as kernels take it.

    Attributes:
        place: int64[n], where each input stands in the row that is read.
        width: int64[layers + 1], of the inputs and of every layer.
        weights: float64, the matrices of all layers, row by row; a row belongs to an input of the layer.
        bias: float64, of all layers. The first layer's numbers take the mean and the scale of the inputs into account.
        activation: TANH or RELU, after every layer but the last.
    """

    place: NDArray[np.int64]
    width: NDArray[np.int64]
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]
    activation: int


@kernel
def forward(net, inputs, buffer, out):
    """Write the outputs of one row of ``inputs`` into ``out``; ``buffer`` is float64[2, widest layer]."""
    here, there = buffer[0], buffer[1]
    for i in range(net.place.size):
        here[i] = inputs[net.place[i]]
    row, base = 0, 0
    for layer in range(1, net.width.size):
        width = net.width[layer]
        for j in range(width):
            there[j] = net.bias[base + j]
        base += width
        for i in range(net.width[layer - 1]):
            for j in range(width):
                there[j] += here[i] * net.weights[row + j]
            row += width
        if layer < net.width.size - 1:
            activate(there[:width], net.activation)
        here, there = there, here
    for j in range(out.size):
        out[j] = here[j]


@kernel(inline=True)
def activate(units, activation):
    """Apply the activation to every unit of a layer."""
    for j in range(units.size):
        units[j] = np.tanh(units[j]) if activation == TANH else max(units[j], 0.0)


@kernel
def forward_all(net, rows, buffer, out):
    """Write the outputs of every row, float64[n, outputs]; ``buffer`` as in ``forward``."""
    for i in range(len(rows)):
        forward(net, rows[i], buffer, out[i])

"""A policy as an ONNX model of standard operators: ``features`` in, ``scores`` and decisions out, for rows at a time.

Trees are walked by gathering: every row holds the node of each tree where it stands, and moves on as often as the
longest branch has tests; leaves lead to themselves. No operator of the domain ``ai.onnx.ml`` is needed.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.policies.networks import BOTH, MOVE, Network
from agents.policies.trees import LEAF, Forest, Policy, longest_branch
from rt_gym.errors import MissingLibrary
from training.export import (
    Decisions,
    Rows,
    decisions_of,
    first_count,
    float32_thresholds,
    sample_rows,
    scores_of,
    summary,
    words,
)

OPSET, IR = 17, 8  # of 2022, so that older runtimes read the file
_MISSING = "ONNX files need onnx: pip install 'rt_gym[export]'"
CHECKED = 2000  # random rows that a file is tried on


def to_onnx(policy: Policy | Network, name: str) -> bytes:
    """Return the model as the bytes of its file.

    Raises:
        MissingLibrary: if onnx is not installed.
    """
    try:
        from onnx import TensorProto, checker, helper
    except ImportError:
        raise MissingLibrary(_MISSING) from None

    graph = _Graph(helper)
    scores = _network(graph, policy) if isinstance(policy, Network) else _trees(graph, policy.forest)
    graph.add("Identity", scores, out="scores")
    _decide(graph, policy)
    outputs = [helper.make_tensor_value_info("scores", TensorProto.DOUBLE, ["rows", _width(policy)])]
    outputs += [helper.make_tensor_value_info(word, TensorProto.INT64, ["rows"]) for word in words(policy)]
    inputs = [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["rows", len(policy.features)])]
    made = helper.make_graph(graph.nodes, name, inputs, outputs, graph.constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    model.producer_name = "rt_gym"
    helper.set_model_props(model, summary(policy))
    checker.check_model(model, full_check=True)
    content: bytes = model.SerializeToString()
    return content


def run_onnx(content: bytes, rows: Rows) -> Decisions:
    """Return what a model says of rows, by the names of its outputs.

    Raises:
        MissingLibrary: if onnxruntime is not installed.
    """
    try:
        import onnxruntime
    except ImportError:
        raise MissingLibrary("to run ONNX files takes onnxruntime: pip install 'rt_gym[export]'") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"features": rows}), strict=True))


def count_equal(policy: Policy | Network, content: bytes) -> int:
    """Return in how many of CHECKED random rows a model decides as our kernels do.

    Raises:
        MissingLibrary: if onnxruntime is not installed.
    """
    rows = sample_rows(policy, CHECKED)
    said, wanted = run_onnx(content, rows), decisions_of(policy, scores_of(policy, rows))
    return int(np.logical_and.reduce([said[word] == wanted[word] for word in wanted]).sum())


def _width(policy: Policy | Network) -> int:
    return policy.outputs if isinstance(policy, Network) else policy.forest.scores.shape[1]


@dataclass
class _Graph:
    """Operators and constants so far; every value has a name."""

    helper: Any
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def constant(self, value: Any) -> str:
        """Return the name of an array that is stored in the file."""
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, order="C"), name))
        return name

    def add(self, operator: str, *inputs: str, out: str = "", **attributes: Any) -> str:
        """Return the name of what an operator makes of its inputs."""
        name = out or f"value_{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operator, list(inputs), [name], **attributes))
        return name


def _trees(graph: _Graph, forest: Forest) -> str:
    """Add the walk from the roots to the leaves, and the sum of what these say."""
    leaf, own = forest.feature == LEAF, np.arange(forest.feature.size)
    feature = graph.constant(np.where(leaf, 0, forest.feature).astype(np.int64))
    threshold = graph.constant(np.where(leaf, np.float32(0), float32_thresholds(forest)))
    left, right = (graph.constant(np.where(leaf, own, child).astype(np.int64)) for child in (forest.left, forest.right))
    node = _at_the_roots(graph, forest.root)
    for _ in range(longest_branch(forest)):
        value = graph.add("GatherElements", "features", graph.add("Gather", feature, node), axis=1)
        below = graph.add("LessOrEqual", value, graph.add("Gather", threshold, node))
        node = graph.add("Where", below, graph.add("Gather", left, node), graph.add("Gather", right, node))
    said = graph.add("Gather", graph.constant(forest.scores), node, axis=0)
    return _last_sum(graph, said, forest.root.size)


def _at_the_roots(graph: _Graph, root: NDArray[np.int32]) -> str:
    """Add that every row stands at the roots of all trees."""
    rows = graph.add("Gather", graph.add("Shape", "features"), graph.constant(np.array([0])))
    shape = graph.add("Concat", rows, graph.constant(np.array([root.size])), axis=0)
    return graph.add("Expand", graph.constant(root.astype(np.int64)[None, :]), shape)


def _last_sum(graph: _Graph, said: str, trees: int) -> str:
    """Add the sum over trees, one after the other as our kernels do: the last of their running sums."""
    if trees > 1:
        said = graph.add("CumSum", said, graph.constant(np.array(1)))
    return graph.add("Gather", said, graph.constant(np.array(trees - 1)), axis=1)


def _network(graph: _Graph, network: Network) -> str:
    """Add the scaling of the features, then layer after layer."""
    from onnx import TensorProto

    scaled = "features" if network.decide == MOVE else _squashed(graph)
    units = graph.add("Cast", scaled, to=TensorProto.DOUBLE)
    for number, (weights, bias) in enumerate(matrices(network)):
        if number:
            units = graph.add({"tanh": "Tanh", "relu": "Relu"}[network.activation], units)
        units = graph.add("Add", graph.add("MatMul", units, graph.constant(weights)), graph.constant(bias))
    return units


def _squashed(graph: _Graph) -> str:
    """Add the logarithms of the features."""
    from onnx import TensorProto

    size = graph.add("Add", graph.add("Abs", "features"), graph.constant(np.array(1, np.float32)))
    # The logarithm of a float64, rounded, is the correct one of a float32 nearly always: so is that of our kernels.
    exact = graph.add("Log", graph.add("Cast", size, to=TensorProto.DOUBLE))
    return graph.add("Mul", graph.add("Sign", "features"), graph.add("Cast", exact, to=TensorProto.FLOAT))


def matrices(network: Network) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return weights and bias of every layer as kernels use them, the first with mean and scale of the inputs."""
    net = network.wired(network.features)
    sizes = net.width[:-1] * net.width[1:]
    weights, bias = np.split(net.weights, np.cumsum(sizes)[:-1]), np.split(net.bias, np.cumsum(net.width[1:])[:-1])
    return [(own.reshape(-1, added.size), added) for own, added in zip(weights, bias, strict=True)]


def _decide(graph: _Graph, policy: Policy | Network) -> None:
    """Add what the scores decide."""
    first, *others = words(policy)
    if isinstance(policy, Policy) and policy.decide == "deepen":
        from onnx import TensorProto

        less = graph.add("Less", "scores", graph.constant(np.array(policy.threshold, np.float64)))
        number = graph.add("Cast", less, to=TensorProto.INT64)
        graph.add("Gather", number, graph.constant(np.array(0)), axis=1, out=first)
        return
    count, head = first_count(policy), "scores"
    if policy.decide == BOTH:
        head = graph.add("Gather", "scores", graph.constant(np.arange(count)), axis=1)
        goals = graph.add("Gather", "scores", graph.constant(np.arange(count, count + 2)), axis=1)
        graph.add("ArgMax", goals, axis=1, keepdims=0, out=others[0])
    best = graph.add("ArgMax", head, axis=1, keepdims=0, out="" if policy.depths else first)
    if policy.depths:
        graph.add("Gather", graph.constant(np.array(policy.depths)), best, out=first)

"""A policy in the two formats that other programs read: an ONNX model, and a C99 header.

The ONNX model is of standard operators: ``features`` in, ``scores`` and decisions out, for rows at a time. Trees are
walked by gathering: every row holds the node of each tree where it stands, and moves on as often as the longest branch
has tests; leaves lead to themselves. No operator of the domain ``ai.onnx.ml`` is needed.

The header has constants, a function per decision, and vectors by which it tests itself. It needs nothing but
``math.h``, allocates nothing, and keeps no state. C++ takes it, too. Every name begins with that of the file, so that a
program may have several policies.
"""

import re
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.policies.networks import BOTH, MOVE, Network
from agents.policies.trees import LEAF, Forest, Policy, longest_branch
from rt_gym.errors import MissingLibrary
from training.export import (
    Decisions,
    Rows,
    clear_rows,
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


VECTORS = 32  # by which a header tests itself
_WIDTH = 110  # of a line of numbers
_TREES = """\
static const int {name}_root_[] = {root};
static const int {name}_feature_[] = {feature}; /* -1 at leaves */
static const float {name}_threshold_[] = {threshold};
static const int {name}_left_[] = {left};
static const int {name}_right_[] = {right};
static const int {name}_says_[] = {says}; /* the row of scores of a leaf */
static const double {name}_score_[] = {score};

/* Write the sums of the scores of all trees. */
static inline void {name}_scores(const float *features, double *scores) {{
    int k, c;
    for (c = 0; c < {NAME}_SCORES; ++c) scores[c] = 0.0;
    for (k = 0; k < {trees}; ++k) {{
        int node = {name}_root_[k];
        while ({name}_feature_[node] >= 0) {{
            const int below = features[{name}_feature_[node]] <= {name}_threshold_[node];
            node = below ? {name}_left_[node] : {name}_right_[node];
        }}
        for (c = 0; c < {NAME}_SCORES; ++c) scores[c] += {name}_score_[{name}_says_[node] * {NAME}_SCORES + c];
    }}
}}
"""
_NETWORK = """\
static const int {name}_width_[] = {width};
static const double {name}_weight_[] = {weight}; /* layer by layer, a row for every input of the layer */
static const double {name}_bias_[] = {bias};

/* Write the outputs of the network. */
static inline void {name}_scores(const float *features, double *scores) {{
    double buffer[2][{widest}], *here = buffer[0], *there = buffer[1], *swap;
    const double *weight = {name}_weight_, *bias = {name}_bias_;
    int layer, i, j;
    for (i = 0; i < {NAME}_FEATURES; ++i)
        here[i] = {scaled};
    for (layer = 1; layer <= {layers}; ++layer) {{
        const int inputs = {name}_width_[layer - 1], outputs = {name}_width_[layer];
        for (j = 0; j < outputs; ++j) there[j] = *bias++;
        for (i = 0; i < inputs; ++i)
            for (j = 0; j < outputs; ++j) there[j] += here[i] * *weight++;
        if (layer < {layers})
            for (j = 0; j < outputs; ++j) there[j] = {activation};
        swap = here, here = there, there = swap;
    }}
    for (j = 0; j < {NAME}_SCORES; ++j) scores[j] = here[j];
}}
"""
_SQUASHED = "features[i] != 0.0f ? copysignf(logf(1.0f + fabsf(features[i])), features[i]) : 0.0f"
_BEST = """\

/* {text} */
static inline int {name}_{word}(const float *features) {{
{table}    double scores[{NAME}_SCORES];
    int c, best = {begin};
    {name}_scores(features, scores);
    for (c = {begin} + 1; c < {end}; ++c)
        if (scores[c] > scores[best]) best = c;
    return {result};
}}
"""
_THRESHOLD = """\

/* {text} */
static inline int {name}_{word}(const float *features) {{
    double scores[{NAME}_SCORES];
    {name}_scores(features, scores);
    return scores[0] < {threshold};
}}
"""
_SELF_TEST = """\

/* Return how many of {count} known decisions come out differently here: 0 if all is well. */
static inline int {name}_self_test(void) {{
    static const float rows[{count}][{NAME}_FEATURES] = {{
{rows}
    }};
    static const int wanted[{count}][{decisions}] = {wanted};
    int k, wrong = 0;
    for (k = 0; k < {count}; ++k)
        wrong += {differs};
    return wrong;
}}
"""
_TEXTS = {
    "depth": "Return how deep to look ahead.",
    "subgoal": "Return 1 to head for the next subgoal, 0 for the goal.",
    "deepen": "Return 1 to open one more layer of the lookahead, 0 to act.",
    "think": "Return 1 to think for one more slice, 0 to act.",
    "move": "Return the number of a direction, as docs/environments.md numbers them.",
}
_HEAD = """\
/* {title}
 *
 * Written by rt_gym from a policy: edit that, not this file.
 * {facts}
 * The features are numbers in steps and counts, as docs/environments.md of rt_gym defines them: features[{NAME}_...].
 */
#ifndef {NAME}_H
#define {NAME}_H

#include <math.h>

enum {{
{enum},
    {NAME}_FEATURES
}};
enum {{ {NAME}_HISTORY = {history}, {NAME}_D_MAX = {d_max}, {NAME}_SCORES = {scores} }};

"""


def to_c(policy: Policy | Network, stem: str) -> str:
    """Return the header; ``stem`` is the name of its file without the ending."""
    name = identifier(stem)
    shared = {"name": name, "NAME": name.upper()}
    body = _NETWORK.format(**shared, **_network_parts(policy)) if isinstance(policy, Network) else ""
    if isinstance(policy, Policy):
        body = _TREES.format(**shared, **_tree_parts(policy.forest))
    decisions = "".join(_decision(policy, word, shared) for word in words(policy))
    return _head(policy, shared) + body + decisions + _self_test(policy, shared) + "\n#endif\n"


def identifier(stem: str) -> str:
    """Return a name that C takes.

    Example:
        >>> identifier("my policy-2"), identifier("3rd")
        ('my_policy_2', 'policy_3rd')
    """
    name = re.sub(r"[^A-Za-z0-9_]", "_", stem)
    return name if re.match(r"[A-Za-z]", name) else f"policy_{name}"


def _head(policy: Policy | Network, shared: dict[str, str]) -> str:
    lines = [f"    {shared['NAME']}_{feature.upper()}" for feature in policy.features]
    facts = ", ".join(
        f"{name} {value}" for name, value in summary(policy).items() if name not in ("features", "decide")
    )
    scores = policy.outputs if isinstance(policy, Network) else policy.forest.scores.shape[1]
    kind = "neural network" if isinstance(policy, Network) else "policy of trees"
    return _HEAD.format(
        **shared, title=f"A {kind} that decides: {policy.decide}.", facts=facts.capitalize() + ".",
        enum=",\n".join(lines), history=policy.history, d_max=policy.d_max, scores=scores,
    )  # fmt: skip


def _tree_parts(forest: Forest) -> dict[str, Any]:
    """Return the tables of the trees; leaves that say the same share a row of scores."""
    leaf = forest.feature == LEAF
    score, says = np.unique(forest.scores[leaf], axis=0, return_inverse=True)
    index = np.zeros(leaf.size, np.int64)
    index[leaf] = says.reshape(-1)
    return {
        "trees": forest.root.size,
        "root": _table(forest.root),
        "feature": _table(forest.feature),
        "threshold": _table(np.where(leaf, np.float32(0), float32_thresholds(forest))),
        "left": _table(np.where(leaf, 0, forest.left)),
        "right": _table(np.where(leaf, 0, forest.right)),
        "says": _table(index),
        "score": _table(score),
    }


def _network_parts(network: Network) -> dict[str, Any]:
    layers = matrices(network)
    return {
        "layers": len(layers),
        "widest": network.widest,
        "width": _table(np.array([len(network.features), *(bias.size for _, bias in layers)])),
        "weight": _table(np.concatenate([weights.ravel() for weights, _ in layers])),
        "bias": _table(np.concatenate([bias for _, bias in layers])),
        "scaled": "features[i]" if network.decide == MOVE else _SQUASHED,
        "activation": {"tanh": "tanh(there[j])", "relu": "there[j] > 0.0 ? there[j] : 0.0"}[network.activation],
    }


def _decision(policy: Policy | Network, word: str, shared: dict[str, str]) -> str:
    text = _TEXTS[word]
    if isinstance(policy, Policy) and word == "deepen":
        return _THRESHOLD.format(**shared, word=word, text=text, threshold=_number(np.float64(policy.threshold)))
    count = first_count(policy)
    begin, end = (count, count + 2) if word == "subgoal" else (0, count)
    table = f"    static const int depth[] = {_table(np.array(policy.depths))};\n" if word == "depth" else ""
    result = "depth[best]" if word == "depth" else f"best - {begin}" if begin else "best"
    return _BEST.format(**shared, word=word, text=text, table=table, begin=begin, end=end, result=result)


def _self_test(policy: Policy | Network, shared: dict[str, str]) -> str:
    rows, said = clear_rows(policy, VECTORS)
    name, lines = shared["name"], [f"        {_table(row)}" for row in rows]
    differs = " || ".join(f"{name}_{word}(rows[k]) != wanted[k][{k}]" for k, word in enumerate(said))
    wanted = "{" + ", ".join(_table(row) for row in np.stack(list(said.values()), axis=1)) + "}"
    return _SELF_TEST.format(
        **shared, count=len(rows), rows=",\n".join(lines), decisions=len(said), wanted=wanted, differs=differs
    )  # fmt: skip


def _table(values: NDArray[Any]) -> str:
    """Return numbers in braces, in lines that are not too long."""
    listed = ", ".join(map(_number, values.ravel()))
    return f"{{{fill(listed, _WIDTH, subsequent_indent='    ', break_on_hyphens=False)}}}"


def _number(value: Any) -> str:
    """Return a number so that C reads exactly the same one."""
    if isinstance(value, np.integer):
        return str(value)
    if not np.isfinite(value):  # a threshold below all float32
        return "-INFINITY"
    text = str(value.item() if isinstance(value, np.float64) else value)
    return f"{text}f" if isinstance(value, np.float32) else text

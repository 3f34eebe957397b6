"""A policy as one C99 header: constants, a function per decision, and vectors by which it tests itself.

It needs nothing but ``math.h``, allocates nothing, and keeps no state. C++ takes it, too. Every name begins with that
of the file, so that a program may have several policies.
"""

import re
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.policies.networks import MOVE, Network
from agents.policies.trees import LEAF, Forest, Policy
from training.export import clear_rows, first_count, float32_thresholds, summary, words
from training.export.onnx_file import matrices

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

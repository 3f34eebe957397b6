"""Behaviour cloning: a network begins by doing what a teacher would.

States come from the walks of the oracle, or of the ready-made tree, on the training maps. What the teacher would choose
there follows from the samples: the oracle's label, the tree's depth, or the depth at which the hand rule ``settle``
would stop. In RTThink-v0 the teacher is the hand rule of ``training.judge.think``, which walks itself.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from agents.policies.trees import INPUTS, add_scores, largest, load_policy
from agents.rule_lrta import STABLE
from rt_gym.features.decision import LAYERS, SITUATION, squash
from rt_gym.jit import kernel
from training.judge.think import follow_rule
from training.learn.log import Logging, Samples, log_samples
from training.learn.rl.course import RLConfig, balanced
from training.learn.targets import Recipe, by_layers
from training.runs import Course, Workers

STATES = 300  # of a problem
SIDE_BY_SIDE, STEPS = 64, 1500  # episodes in which the rule of RTThink-v0 walks, and their steps
EPOCHS, BATCH, RATE = 20, 4096, 3e-3

_LAYER, _RISE, _FLAT, _STEADY = (LAYERS.index(name) for name in ("layer", "layer_rise", "flat", "steady"))


class Examples(NamedTuple):
    """Observations, one in each row, and the action that the teacher takes."""

    rows: NDArray[np.float32]
    actions: NDArray[np.int64]


def teacher_examples(config: RLConfig, courses: Sequence[Course], workers: Workers) -> Examples:
    """Return what the teacher of a training does on some maps."""
    if config.decide == "think":
        return thinking_examples(config, courses)
    logging = Logging(config.d_max, config.history, STATES, seed=config.seed)
    walker = load_policy("tree") if config.teacher == "tree" else None
    samples = log_samples(courses, logging, walker, workers)
    recipe = Recipe(decide="deepen", features="rich")
    rows, sample, depth = by_layers(samples, recipe)
    wanted = {"oracle": samples.label, "tree": tree_depths(samples), "rule": settled_depths(samples)}[config.teacher]
    if config.decide == "depth":
        return Examples(squashed(samples.situation), wanted - 1)
    asked = depth <= wanted[sample]  # a layer that the teacher would not have opened shows nothing
    return Examples(squashed(rows[asked]), (depth < wanted[sample])[asked].astype(np.int64))


def thinking_examples(config: RLConfig, courses: Sequence[Course]) -> Examples:
    """Return what the hand rule of RTThink-v0 does on its own walks."""
    batch: Any = gym.make_vec(
        config.env, SIDE_BY_SIDE, vectorization_mode="vector_entry_point", autoreset_mode=AutoresetMode.SAME_STEP,
        **config.env_settings(balanced(courses)),
    )  # fmt: skip
    seen, _ = batch.reset(seed=config.seed)
    rows, actions = [], []
    for _ in range(STEPS):
        rows.append(seen)
        actions.append(follow_rule(seen))
        seen, *_ = batch.step(actions[-1])
    return Examples(np.concatenate(rows), np.concatenate(actions))


def tree_depths(samples: Samples) -> NDArray[np.int64]:
    """Return the depth that the ready-made tree chooses in every sample."""
    policy = load_policy("tree")
    depths = np.empty(len(samples), np.int64)
    inputs = np.zeros((len(samples), len(INPUTS)), np.float32)
    inputs[:, : len(SITUATION)] = samples.situation
    choose_depths(policy.wired(), np.array(policy.depths), inputs, policy.branch, np.zeros(len(policy.depths)), depths)
    return np.minimum(depths, samples.d_max)


@kernel
def choose_depths(forest, known, inputs, branch, scores, out):
    """Write the depth that a forest chooses for every row."""
    for i in range(out.size):
        add_scores(forest, inputs[i], branch, scores)
        out[i] = known[largest(scores)]


def settled_depths(samples: Samples) -> NDArray[np.int64]:
    """Return the depth at which the rule ``settle`` of ``agents.rule_lrta`` stops in every sample."""
    rows, _, _ = by_layers(samples, Recipe(decide="deepen", features="rich"))
    layers = rows[:, len(SITUATION) :].reshape(len(samples), -1, len(LAYERS))
    idle = (layers[:, :, _LAYER] == 1) & (layers[:, :, _RISE] == 0)
    stops = idle | ((layers[:, :, _FLAT] >= 1) & (layers[:, :, _STEADY] >= STABLE))
    return np.where(stops.any(axis=1), stops.argmax(axis=1) + 1, samples.d_max)


def squashed(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return features as environments show them."""
    shown = np.ascontiguousarray(rows, np.float32).copy()
    squash(shown.reshape(-1))
    return shown


def clone(model: Any, examples: Examples, seed: int) -> float:
    """Let the policy of a model of Stable-Baselines3 imitate the examples; return how often it agrees in the end."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    rows, actions = torch.from_numpy(examples.rows), torch.from_numpy(examples.actions)
    policy = model.policy
    optimiser = torch.optim.Adam(policy.parameters(), RATE)
    policy.set_training_mode(True)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(rows), generator=generator).split(BATCH):
            chance = policy.get_distribution(rows[batch]).distribution.logits
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(chance, actions[batch]).backward()
            optimiser.step()
    policy.set_training_mode(False)
    with torch.no_grad():
        chosen = policy.get_distribution(rows).distribution.logits.argmax(dim=1)
    return float((chosen == actions).float().mean())

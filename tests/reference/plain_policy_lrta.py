"""LRTA* led by a neural network, read plainly: NumPy matrices, features by their definitions, a search per depth."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agents.policies.networks import Network, load_network
from reference import plain_lrta
from reference.plain_depth_control import would
from reference.plain_grid import MAX_MOVES, Change, Heuristic, Map, Plan, Position, Run, learner_trial
from reference.plain_situation import Story, by_definition, layers_by_definition
from rt_gym.features.decision import LAYERS, SITUATION
from rt_gym.features.history import FEATURES
from rt_gym.grid import Grid

READS_AGAIN = True  # the agent may read a state again when a longer way turns out to be the cheaper one


def seen(features: Sequence[float]) -> NDArray[np.float32]:
    """Return features as an environment shows them."""
    row = np.array(features, np.float32)
    return np.sign(row) * np.log1p(np.abs(row))


def outputs(network: Network, observation: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return what a network says, layer by layer as matrix products."""
    values = (observation.astype(np.float64) - network.mean) / network.scale
    for number, (weights, bias) in enumerate(network.layers):
        values = values @ weights.astype(np.float64) + bias
        if number < len(network.layers) - 1:
            values = np.tanh(values) if network.activation == "tanh" else np.maximum(values, 0)
    return values


def chosen_depth(story: Story, network: Network, d_max: int) -> int:
    """Return the depth that a network chooses, or reaches layer by layer; the layer without a way ends it, too."""
    known = by_definition(story, network.history)
    if network.decide == "depth":
        said = outputs(network, seen([known[name] for name in network.features]))
        return min(network.depths[int(np.argmax(said))], d_max)
    for depth in range(1, d_max):
        if not would(story.believed, story.states[-1], story.goal, depth, story.h).steps:
            return depth
        known |= dict(zip(LAYERS, layers_by_definition(story, depth), strict=True))
        act, deepen = outputs(network, seen([known[name] for name in network.features]))
        if act >= deepen:
            return depth
    return d_max


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    policy: str | Network,
    d_max: int | None,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial; ``after`` is the trial whose heuristic and believed map it goes on with."""
    network = load_network(policy)
    cap = min(d_max or network.d_max, network.d_max)
    looks = any(name in SITUATION and name not in FEATURES for name in network.features)
    story = Story(grid, goal, [], {})

    def learner(view: Map, s: Position, h: Heuristic) -> Plan:
        story.states.append(s)
        story.view, story.h = view, h
        depth, before = chosen_depth(story, network, cap), h[s]
        plan = plain_lrta.plan(view, s, goal, depth, h)
        plan.scanned = [s] * looks
        story.raises.append(len(plan.raised))
        story.decisions.append((depth, len(plan.expanded), h[s] - before))
        return plan

    return learner_trial(grid, start, goal, learner, vision, changes, max_moves, after)

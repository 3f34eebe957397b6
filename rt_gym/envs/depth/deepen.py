"""One step of RTDeepen-v0: one more layer of General LRTA*'s lookahead, or the move that the layers so far decide.

The first layer is opened on arrival, whatever the policy does. An observation is the features of where the agent stands
and those of the layers. Otherwise all is as in ``rt_gym.envs.depth.episode``.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rt_gym.envs.depth.episode import Control, begin_control, make_control, move_on, report, update_inputs, write_inputs
from rt_gym.envs.step import gained
from rt_gym.features.decision import note_decision, squash, write_layers
from rt_gym.jit import kernel
from rt_gym.meter import spent
from rt_gym.search.deepening import (
    LAYER_ADDED,
    DepthResults,
    add_layer,
    begin_layered,
    learn_and_move,
    make_depth_results,
)
from rt_gym.search.space import Space
from rt_gym.search.values import value_at
from rt_gym.trip import CUT, adopt

if TYPE_CHECKING:
    from rt_gym.envs.depth.settings import DepthSettings

ACT, DEEPEN = range(2)  # the actions


class Deepening(NamedTuple):
    """What an episode knows beside its map, and what the layers of its lookahead decide."""

    control: Control
    by_depth: DepthResults


def make_deepening(settings: "DepthSettings", space: Space, rows: tuple[int, ...] = ()) -> Deepening:
    """Return the memory of one episode, or of ``rows`` of them, that searches in ``space``."""
    return Deepening(make_control(settings, space, rows), make_depth_results(settings.d_max, rows))


@kernel(inline=True)
def begin_deepening(terrain, trip, deepening, terms, t, out):
    """Begin an episode in a world that has been set up, and write its first observation."""
    begin_control(terrain, trip, deepening.control, None, terms, t)
    open_first_layer(terrain, trip, deepening, t)
    write_layered(deepening, out)


@kernel(inline=True)
def step_layer(truth, terrain, trip, deepening, terms, t, action, unit, out):
    """Open a layer, or act; write the next observation.

    A verdict that stands from before, as of a first layer that could not be opened, comes first, and at ``d_max`` there
    is nothing left but to act.

    Returns:
        What ``step_decision`` returns; the depth is that of the layers.
    """
    state, control, by_depth = trip.state[0], deepening.control, deepening.by_depth
    s, depth = state.at, np.int64(0)
    free = state.verdict == 0 and s != t
    deepens = free and action == DEEPEN and by_depth.state[0].depth < terms.d_max
    if deepens:
        open_layer(terrain, trip, deepening, t)
        depth = by_depth.state[0].depth
    elif free:
        depth = act(terrain, trip, deepening, s, t)
    if deepens and state.verdict == 0:
        reward, flags = gained(terrain, terms.rules, s, s, t), np.int64(0)
    else:
        reward, flags = move_on(truth, terrain, trip, control, terms, t)
        update_inputs(terrain, trip, control, None, terms, t)
        open_first_layer(terrain, trip, deepening, t)
    write_layered(deepening, out)
    cost, expansions, scans = report(trip, control, terms)
    return (reward - cost) * unit, flags, depth, expansions, scans


@kernel(inline=True)
def act(terrain, trip, deepening, s, t):
    """Plan the move that the open layers decide; return their number."""
    control, by_depth = deepening.control, deepening.by_depth
    depth = by_depth.state[0].depth
    adopt(trip, learn_and_move(terrain, trip, by_depth, control.learned, s, t))
    note_decision(control.situation, depth, by_depth.work[depth], by_depth.value[depth] - by_depth.value[0])
    return depth


@kernel
def open_layer(terrain, trip, deepening, t):
    """Search one layer deeper; where there is none, or no budget for it, the trip has a verdict afterwards."""
    control, meter = deepening.control, trip.meter[0]
    result = add_layer(terrain, trip, control.space, deepening.by_depth, control.learned, t)
    if result == LAYER_ADDED and spent(meter) > meter.limit:
        result = np.int64(CUT)
    if result != LAYER_ADDED:
        adopt(trip, result)


@kernel(inline=True)
def open_first_layer(terrain, trip, deepening, t):
    """Begin a lookahead from where the agent stands."""
    s, control = trip.state[0].at, deepening.control
    begin_layered(control.space, deepening.by_depth, s, value_at(control.learned, terrain, s, t))
    if s != t:
        open_layer(terrain, trip, deepening, t)


@kernel(inline=True)
def write_layered(deepening, out):
    """Write an observation."""
    write_inputs(deepening.control, out)
    layers = out[deepening.control.inputs.size :]
    write_layers(deepening.by_depth, layers)
    squash(layers)


@kernel
def begin(episode, out):
    """Begin an episode in a world that has been set up, and write its first observation."""
    begin_deepening(episode.terrain, episode.trip, episode.control, episode.terms, episode.task[0].goal, out)


@kernel
def step(episode, action, out):
    """Make one step and write the next observation; see ``step_layer`` for what is returned."""
    truth, terrain, trip, task = episode.truth, episode.terrain, episode.trip, episode.task[0]
    return step_layer(truth, terrain, trip, episode.control, episode.terms, task.goal, action, task.unit, out)

"""The simplest policy there is: walk to the neighbour that is nearest to the goal by the heuristic."""

import numpy as np

from rt_gym.envs.path.batch import terrain_of
from rt_gym.jit import kernel
from rt_gym.terrain import h0


@kernel(inline=True)
def nearest_step(terrain, s, t):
    """Return the legal move from ``s`` to the cell nearest to ``t``, the first of several; 0 where there is none."""
    best, least = np.int64(0), np.int64(-1)
    for d in range(8):
        if terrain.mask[s] >> d & 1:
            h = h0(terrain, s + terrain.offset[d], t)
            if least < 0 or h < least:
                best, least = np.int64(d), h
    return best


@kernel
def greedy_step(episode):
    """Return the greedy move of a single environment."""
    return nearest_step(episode.terrain, episode.trip.state[0].at, episode.task[0].goal)


@kernel
def greedy_steps(handle, out):
    """Write the greedy move of every episode of a batch into ``out``, int64."""
    batch, own = handle.batch, handle.own
    for k in range(out.size):
        i = np.uint64(k)
        p = np.uint64(batch.episodes.common.problem[i])
        terrain = terrain_of(batch, own, np.uint64(batch.problems.map[p]), i)
        out[i] = nearest_step(terrain, batch.episodes.at[i], batch.problems.goal[p])

"""An observation of one's own beside those that are built in, for a single environment and for a batch.

    python examples/own_observation.py                   # seconds: three weights are chosen, by evolution
    python examples/own_observation.py --generations 30  # the same weights: the best was among the first eight guesses

The own one is a row for each of the eight moves: what the step costs, how far it is from there to the goal by the
heuristic, how often that cell was visited. It is a function of the built-in observation, so that the same function
serves a wrapper, a batch, and ``rt_gym.evaluate``, which makes environments of its own. A policy of three weights is
all that it needs: it takes the move with the least weighted sum. It is the observation that does the work here, not
the learner. What no observation holds, a wrapper around a single environment can read from ``rt_gym.view(env)``; a
batch has no view.
"""

import argparse
from typing import Any

import cma
import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import rt_gym

LEVEL, TRAIN, TEST = "RTPath-Random-16x16-v0", "random-16-train", "random-16-test"
SIDE, WINDOW = 16, 11  # of the maps, and of the square that is observed
SEEN = {"visits": True, "window": WINDOW}
STEPS = np.array(
    [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)]
)  # the moves, see environments.md
OWN = gym.spaces.Box(0.0, 2.0 * SIDE, (8, 3), np.float32)


def moves_ahead(observation: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return cost, distance to the goal and visits for every move, of one observation or of a batch of them."""
    way = np.rint(observation[..., None, :2] * SIDE) - STEPS  # from the cells around to the goal
    straight, diagonal = np.abs(way).max(axis=-1), np.abs(way).min(axis=-1)
    cost = np.broadcast_to(np.hypot(*STEPS.T), straight.shape)
    middle = WINDOW // 2
    around = (middle + STEPS[:, 1]) * WINDOW + middle + STEPS[:, 0]
    visits = observation[..., -(WINDOW**2) :][..., around] * 8  # they are divided by 8, and at most 1
    return np.stack([cost, straight + (2**0.5 - 1) * diagonal, visits], axis=-1).astype(np.float32)


def show_built_in() -> None:
    """Print what can be observed without any wrapper, alone and in a batch; docs/levels.md says what it holds."""
    for name, settings in {
        "flat": {},
        "wider window": {"window": 2 * SIDE - 1},  # all of the map, from anywhere
        "visits": {"visits": True},
        "image": {"observation": "image"},
    }.items():
        one, many = gym.make(LEVEL, **settings), made_batch(**settings)
        print(f"{name:12} {one.observation_space.shape}, in a batch {many.reset(seed=0)[0].shape}")


def made_batch(**settings: Any) -> gym.vector.VectorEnv:
    """Return a batch of 64 episodes."""
    return gym.make_vec(LEVEL, 64, vectorization_mode="vector_entry_point", **settings)


def show_own() -> None:
    """Print the own observation, through Gymnasium's wrappers for single environments and for batches."""
    one = gym.wrappers.TransformObservation(gym.make(LEVEL, **SEEN), moves_ahead, OWN)
    many = gym.wrappers.vector.TransformObservation(made_batch(**SEEN), moves_ahead, single_observation_space=OWN)
    alone, together = one.reset(seed=0)[0], many.reset(seed=0)[0]
    assert alone in one.observation_space
    assert together in many.observation_space
    assert np.array_equal(alone, together[0])  # episode 0 of a batch has the seed of the batch
    print(f"{'own':12} {alone.shape}, in a batch {together.shape}")


def policy(weights: NDArray[np.float64]) -> Any:
    """Return a policy: of the moves that lead somewhere the one with the least weighted sum."""

    def choose(observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        return np.where(masks == 1, moves_ahead(observations) @ weights, np.inf).argmin(axis=1)

    return choose


def evolved(generations: int, seed: int) -> NDArray[np.float64]:
    """Return weights by CMA-ES: whole walks are judged by their cost, which is high where they are cut."""
    problems = rt_gym.splits.load(TRAIN).problems[:64]
    evolution = cma.CMAEvolutionStrategy(np.ones(3), 1.0, {"popsize": 8, "seed": seed + 1, "verbose": -9})
    for _ in range(generations):
        tried = evolution.ask()
        found = [rt_gym.evaluate(LEVEL, policy(weights), problems, max_moves=128, **SEEN) for weights in tried]
        evolution.tell(tried, [float((one["cost"] / one["optimal"]).mean()) for one in found])
    return evolution.result.xbest


def main() -> None:
    """Show what can be seen, evolve a policy that sees the own observation, and judge it."""
    parser = argparse.ArgumentParser(description="An observation of one's own")
    parser.add_argument("--generations", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0, help="of evolution")
    options = parser.parse_args()
    show_built_in()
    show_own()
    weights = evolved(options.generations, options.seed)
    found = {name: rt_gym.evaluate(LEVEL, name, TEST) for name in ("random", "greedy")}
    found["own"] = rt_gym.evaluate(LEVEL, policy(weights), TEST, **SEEN)
    for name, one in found.items():
        print(f"{name:6} walks {one.summary.suboptimality.value:5.2f} times the optimal cost where it arrives")
    reached = ", ".join(f"{name} {one.summary.solved.value:.0%}" for name, one in found.items())
    print(f"solved of {TEST}: {reached} with weights {np.round(weights / weights[0], 2)}")


if __name__ == "__main__":
    main()

"""The environments beside Gymnasium's CartPole-v1, single and batched."""

import math
import resource
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv
from measure import (
    Row,
    alternate,
    arguments,
    at_least,
    at_most,
    digits,
    heading,
    least,
    print_rows,
    ratio,
    wall_seconds,
)

import agents
from rt_gym import Grid, World, load_map, sample_problems

STEPS = 20_000
BATCHED_STEPS = 200_000  # over all episodes of a batch
RESETS = 500
ENDURANCE = 1_000_000
EPISODES = 16  # of the endurance run
SMALL = "rooms-64"  # in fog every episode has maps of its own: 16,384 of 512 x 512 would fill most machines
SLACK = 1.0  # MB
THINKERS = 64  # episodes of a batch that thinks or acts: on large maps each takes megabytes
DECISIONS = 256  # episodes of a batch that controls its depth
MOVES = 50_000  # of LRTA* beside them
MEMORY = Path("/proc/self/statm")

random = np.random.default_rng(0)


def drive(env: gym.Env[Any, Any], actions: list[int]) -> None:
    """Step through prepared actions and store every observation, as a learner does."""
    stored = np.empty((len(actions), *env.observation_space.shape), np.float32)
    env.reset(seed=0)
    for k, action in enumerate(actions):
        stored[k], _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()


def balance(cartpole: gym.Env[Any, Any]) -> None:
    """Time CartPole with a pole that is kept upright, so that there are few resets."""
    stored = np.empty((STEPS, 4), np.float32)
    stored[0], _ = cartpole.reset(seed=0)
    for k in range(1, STEPS):
        stored[k], _, terminated, truncated, _ = cartpole.step(int(stored[k - 1, 2] + stored[k - 1, 3] > 0))
        if terminated or truncated:
            stored[k], _ = cartpole.reset()


def single(grid: Grid) -> list[Row]:
    """One environment through gym.make with all its wrappers, and without."""
    env, cartpole = gym.make("RTPath-v0", map=grid, window=11), gym.make("CartPole-v1")
    moves, pushes = random.integers(8, size=STEPS).tolist(), random.integers(2, size=STEPS).tolist()
    ours, theirs, upright, bare, their_bare = (
        seconds / STEPS
        for seconds in alternate(
            partial(drive, env, moves),
            partial(drive, cartpole, pushes),
            partial(balance, cartpole),
            partial(drive, env.unwrapped, moves),
            partial(drive, cartpole.unwrapped, pushes),
        )
    )
    return [
        ratio("RTPath-v0, a step", ours, "CartPole", theirs, 1.5),
        ratio("  CartPole kept upright", ours, "CartPole", upright, 1.5),
        ratio("  without wrappers", bare, "CartPole", their_bare),
    ]


def depth_control(grid: Grid) -> list[Row]:
    """One environment that searches: at depth one, at depth five, and with five layers one by one."""
    depth, deepen, cartpole = (gym.make(env_id, **more) for env_id, more in (
        ("RTDepth-v0", {"map": grid}), ("RTDeepen-v0", {"map": grid}), ("CartPole-v1", {})
    ))  # fmt: skip
    ones, fives, layers = [0] * STEPS, [4] * STEPS, [1, 1, 1, 1, 0] * (STEPS // 5)
    one, five, layered, theirs = (
        seconds / STEPS
        for seconds in alternate(
            partial(drive, depth, ones),
            partial(drive, depth, fives),
            partial(drive, deepen, layers),
            partial(drive, cartpole, random.integers(2, size=STEPS).tolist()),
        )
    )
    return [
        ratio("RTDepth-v0, a step at depth 1", one, "CartPole", theirs, 0.7),
        ratio("  at depth 5", five, "CartPole", theirs),
        ratio("RTDeepen-v0, a step, 5 layers", layered, "CartPole", theirs),
    ]


def thinking(grid: Grid) -> list[Row]:
    """One environment that thinks or acts at random, and a batch of them, on the known map and in fog."""
    places: list[dict[str, Any]] = [{"map": grid}, {"map": grid, "vision": 3}]
    envs = [gym.make("CartPole-v1"), *(gym.make("RTThink-v0", **place) for place in places)]
    batches = [batch("CartPole-v1", THINKERS), *(batch("RTThink-v0", THINKERS, **place) for place in places)]
    steps = BATCHED_STEPS // THINKERS
    actions, rows = random.integers(2, size=STEPS).tolist(), random.integers(2, size=(steps, THINKERS))
    theirs, known, fog = alternate(*(partial(drive, env, actions) for env in envs))
    their_batch, known_batch, fog_batch = alternate(*(partial(drive_batch, each, True, rows) for each in batches))
    return [
        ratio("RTThink-v0, a step", known / STEPS, "CartPole", theirs / STEPS),
        ratio("  in fog", fog / STEPS, "CartPole", theirs / STEPS),
        ratio(f"RTThink-v0, {THINKERS} episodes", known_batch / steps, "CartPole", their_batch / steps),
        ratio("  in fog", fog_batch / steps, "CartPole", their_batch / steps),
    ]


def decisions(grid: Grid) -> list[Row]:
    """Batches that control their depth, beside LRTA* inside a kernel."""
    settings: dict[str, Any] = {"map": grid, "autoreset_mode": gym.vector.AutoresetMode.SAME_STEP}
    depth, deepen = batch("RTDepth-v0", DECISIONS, **settings), batch("RTDeepen-v0", DECISIONS, **settings)
    steps = BATCHED_STEPS // DECISIONS
    fives, mixed = np.full((steps, DECISIONS), 4), random.integers(9, size=(steps, DECISIONS))
    layers = (random.random((steps, DECISIONS)) < 0.8).astype(np.int64)  # four of five: five layers on average
    agent, world = agents.make("lrta", depth=5), World(sample_problems(grid, 1, low=100.0)[0])
    five, mix, layer, theirs = alternate(
        partial(drive_batch, depth, True, fives),
        partial(drive_batch, depth, True, mixed),
        partial(drive_batch, deepen, True, layers),
        partial(wander, agent, world),
    )
    two = batch("RTDepth-v0", DECISIONS, threads=2, **settings)
    (both,) = least(partial(wall_seconds, partial(drive_batch, two, True, fives)))
    name, count = f"{DECISIONS} episodes of {grid.width} x {grid.height}", steps * DECISIONS
    return [
        at_least(f"RTDepth-v0, {name}", "depth 5, two threads, wall", count / both, 300_000, "decisions/s"),
        Row("  one thread", "", f"{digits(count / five)} decisions/s"),
        ratio("  a decision", five / count, "LRTA*", theirs / MOVES),
        Row("  depths 1 to 9", "", f"{digits(count / mix)} decisions/s"),
        Row(f"RTDeepen-v0, {name}", "5 layers", f"{digits(count / layer)} steps/s"),
    ]


def wander(agent: Any, world: World) -> None:
    """Walk this many moves, in as many trials as needed, each with nothing learned."""
    left = MOVES
    while left > 0:
        world.begin_trial()
        agent.reset(world.view, 0)
        agent.run_trial(world, left)
        left -= world.view.moves


def resets(grid: Grid) -> list[Row]:
    """Resets that choose from the prepared pool."""
    ids = ("RTPath-v0", "RTPathFog-v0", "RTDepth-v0", "RTDeepen-v0", "RTDepthGoal-v0", "RTThink-v0")
    envs = [gym.make(env_id, map=grid) for env_id in ids]
    times = alternate(*(partial(reset_often, env) for env in envs))
    return [
        at_most(f"{env_id}, a reset", "from its pool", seconds / RESETS * 1e6, 1000, "us")
        for env_id, seconds in zip(ids, times, strict=True)
    ]


def reset_often(env: gym.Env[Any, Any]) -> None:
    for _ in range(RESETS):
        env.reset()


def batch(env_id: str, count: int, **settings: Any) -> VectorEnv[Any, Any, Any]:
    env = gym.make_vec(env_id, count, vectorization_mode="vector_entry_point", **settings)
    env.reset(seed=0)
    return env


def drive_batch(env: VectorEnv[Any, Any, Any], store: bool, actions: Any) -> None:
    stored = np.empty(env.observation_space.shape, np.float32)
    for action in actions:
        observation = env.step(action)[0]
        if store:
            stored[:] = observation


def batched(env_id: str, count: int, grid: Grid, aim: float | None = None) -> list[Row]:
    """A batch against CartPole's own batched version, with and without storing the observations."""
    env, cartpole = batch(env_id, count, map=grid, window=11), batch("CartPole-v1", count)
    steps = BATCHED_STEPS // count
    moves, pushes = random.integers(8, size=(steps, count)), random.integers(2, size=(steps, count))
    ours, theirs, ours_stored, theirs_stored = alternate(
        partial(drive_batch, env, False, moves),
        partial(drive_batch, cartpole, False, pushes),
        partial(drive_batch, env, True, moves),
        partial(drive_batch, cartpole, True, pushes),
        repeats=9,
    )
    name = f"{env_id}, {count:,} episodes of {grid.width} x {grid.height}"
    return [
        ratio(f"{name}, stored", ours_stored / steps, "CartPole", theirs_stored / steps, aim),
        ratio("  not stored", ours / steps, "CartPole", theirs / steps, aim),
        Row("  the same", "", f"{digits(steps * count / ours / 1e6)} million steps/s"),
    ]


def endurance(env_id: str) -> list[Row]:
    """A million steps of a batch whose episodes are short, and the memory of the process before and after."""
    env = batch(env_id, EPISODES, map=SMALL, max_moves=100)
    actions = random.integers(env.single_action_space.n, size=(1000, EPISODES))
    rounds = ENDURANCE // len(actions)
    drive_batch(env, True, actions)
    before = megabytes()
    for _ in range(rounds):
        drive_batch(env, True, actions)
    after = megabytes()
    what, detail = f"{env_id}, {ENDURANCE:,} steps of {EPISODES} episodes", f"{before:.1f} MB, then {after:.1f} MB"
    return [at_most(what, detail, after - before, SLACK, "MB more")]


def megabytes() -> float:
    """Return the resident memory of this process, as Linux tells it; not a number elsewhere."""
    return int(MEMORY.read_text().split()[1]) * resource.getpagesize() / 1e6 if MEMORY.is_file() else math.nan


def main() -> None:
    grid = load_map(arguments(__doc__).parse_args().map)
    heading(f"{__doc__} On {grid.name}.")
    # First, while the process is small: memory that others left behind would hide a leak.
    print_rows(endurance("RTPathFog-v0") + endurance("RTDeepen-v0"))
    print_rows(single(grid) + depth_control(grid) + resets(grid))
    print_rows(thinking(grid))
    print_rows(decisions(grid))
    print_rows(
        batched("RTPath-v0", 1024, grid, 1.0)
        + batched("RTPathFog-v0", 1024, grid, 0.5)
        + batched("RTPath-v0", 16_384, grid)
        + batched("RTPathFog-v0", 16_384, load_map(SMALL))
    )


if __name__ == "__main__":
    main()

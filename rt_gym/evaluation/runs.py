"""Every problem of a pool once, in a single environment or in a batch: what came of it, in columns."""

from collections.abc import Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.evaluation.policies import Policy

Columns = dict[str, NDArray[Any]]

_KINDS: dict[str, Any] = {
    "solved": np.bool_,
    "cost": np.float64,
    "moves": np.int64,
    "steps": np.int64,
    "return": np.float64,
    "expansions": np.int64,
    "scans": np.int64,
    "seconds": np.float64,
}
_NO_STEPS = (np.empty(0, np.int64), np.empty((0, 2), np.int32), np.empty(0, np.int64), np.empty(0, np.int64))
_IDLE = -1  # the number of an episode for which no problem is left
_WORK = ("expansions", "scans")
_COUNTED = ("steps", "return", *_WORK)  # what is summed up step by step


def make_columns(count: int) -> Columns:
    """Return the columns for so many problems."""
    return {name: np.zeros(count, kind) for name, kind in _KINDS.items()}


class Walk(NamedTuple):
    """The beginning of an episode, step by step, ``n`` steps in all.

    Attributes:
        path: int32[n + 1, 2], the positions, the start first; a step that thinks, waits or hits a wall stays in place.
        expansions, scans: int64[n], what was counted for every step.
    """

    path: NDArray[np.int32]
    expansions: NDArray[np.int64]
    scans: NDArray[np.int64]


class Walks:
    """Takes down the first steps of episodes.

    Args:
        starts: where those of all problems begin.
        most: how many steps of an episode are taken down.
    """

    def __init__(self, starts: Sequence[tuple[int, int]], most: int) -> None:
        self._starts, self._room = np.array(starts, np.int32), np.full(len(starts), most)
        self._steps: list[tuple[NDArray[Any], ...]] = []

    def enter(self, problems: NDArray[np.int64], positions: NDArray[Any], info: dict[str, Any]) -> None:
        """Take down a step in the episodes of these problems: where it has led, and what was counted for it."""
        kept = self._room[problems] > 0
        self._room[problems] -= 1
        if kept.any():
            work = (np.broadcast_to(info.get(name, 0), kept.shape)[kept] for name in _WORK)
            self._steps.append((problems[kept], positions[kept], *work))

    def close(self) -> tuple[Walk, ...]:
        """Return what was taken down, in the order of the problems."""
        problems, positions, *work = map(np.concatenate, zip(*self._steps, strict=True)) if self._steps else _NO_STEPS
        order, count = np.argsort(problems, kind="stable"), len(self._starts)
        cuts = np.cumsum(np.bincount(problems, minlength=count))[:-1]
        parts = (np.split(values[order], cuts) for values in (positions, *work))
        return tuple(
            Walk(np.vstack([start, path]), *counts) for start, path, *counts in zip(self._starts, *parts, strict=True)
        )


def counts_of(info: dict[str, Any], chosen: NDArray[np.bool_]) -> dict[str, Any]:
    """Return what was counted in some episodes of a batch, where anything was."""
    return {name: info[name][chosen] for name in _WORK if name in info}


def path_cost(env: Any, moves: Any, diagonals: Any) -> Any:
    """Return the cost of so many moves, standing still and bumps included, of which some were diagonal."""
    return moves + (env.settings.rules().diagonal - 1.0) * diagonals


def run_single(env: Any, policy: Policy, seed: int, walks: Walks | None = None) -> Columns:
    """Walk every problem of a single environment's pool."""
    columns = make_columns(len(env.settings.pool))
    for k in range(len(env.settings.pool)):
        row = _run_one(env, policy, k, {"index": k}, seed, walks)
        tally = env.kernel_view.trip.tally[0]
        row |= {"moves": int(tally.moves), "cost": path_cost(env, int(tally.moves), int(tally.diagonals))}
        for name, value in row.items():
            columns[name][k] = value
    return columns


def _run_one(
    env: Any, policy: Policy, k: int, options: dict[str, Any], seed: int, walks: Walks | None = None
) -> dict[str, Any]:
    """Walk one episode and return what was counted step by step; ``seconds`` is what the policy took."""
    row: dict[str, Any] = dict.fromkeys((*_COUNTED, "seconds"), 0)
    observation, info = env.reset(seed=seed + k, options=options)
    terminated = truncated = False
    began = perf_counter()
    policy.begin(np.ones(1, np.bool_), np.array([k]))
    while not (terminated or truncated):
        action = policy.act(observation, info.get("action_mask"))
        row["seconds"] += perf_counter() - began
        observation, reward, terminated, truncated, info = env.step(action)
        if walks:
            walks.enter(np.array([k]), np.array([env.kernel_view.position]), info)
        began = perf_counter()
        row["steps"] += 1
        row["return"] += reward
        row["expansions"] += info.get("expansions", 0)
        row["scans"] += info.get("scans", 0)
    return row | {"solved": terminated}


class BatchRun:
    """Every problem of a batch's pool once; an episode that ends is given the next problem that is left.

    Args:
        env: the batch, whose ended episodes wait for ``reset``.
        policy: what decides.
        seed: of the first problem, whose successors have the next ones.
        walks: takes down the steps, if anything.
    """

    def __init__(self, env: Any, policy: Policy, seed: int, walks: Walks | None = None) -> None:
        self._env, self._policy, self._seed, self._walks = env, policy, seed, walks
        self._number = np.arange(env.num_envs)
        self._left = self._going = env.num_envs  # the first problem nobody has been given; episodes that are not idle
        self._counts = {name: np.zeros(env.num_envs, _KINDS[name]) for name in (*_COUNTED, "moves")}
        self._diagonals = np.zeros(env.num_envs, np.int64)
        self._columns = make_columns(len(env.settings.pool))

    def run(self) -> Columns:
        """Walk all of them. What single episodes took in seconds cannot be told apart."""
        observation, info = self._env.reset(seed=self._seed, options={"index": self._number})
        self._policy.begin(np.ones(self._env.num_envs, np.bool_), self._number)
        while self._going:
            actions = np.asarray(self._policy.act(observation, info["action_mask"]))
            if self._going < self._env.num_envs:
                actions = np.where((self._number == _IDLE).reshape(-1, *[1] * (actions.ndim - 1)), 0, actions)
            observation, reward, terminated, truncated, info = self._env.step(actions)
            self._count(actions, reward, info)
            over = terminated | truncated
            if over.any():
                self._close(over, terminated)
                observation, info = self._begin(over)
        self._columns["seconds"][:] = np.nan
        return self._columns

    def _count(self, actions: NDArray[Any], reward: NDArray[np.float64], info: dict[str, Any]) -> None:
        counts = self._counts
        counts["steps"] += 1
        counts["return"] += reward
        if "expansions" in info:
            counts["expansions"] += info["expansions"]
            counts["scans"] += info["scans"]
        self._env.count_moves(actions, info, counts["moves"], self._diagonals)
        if self._walks:
            mine = self._number != _IDLE
            self._walks.enter(self._number[mine], self._env.positions()[mine], counts_of(info, mine))

    def _close(self, over: NDArray[np.bool_], terminated: NDArray[np.bool_]) -> None:
        """Enter what came of the episodes that have ended."""
        mine = over & (self._number != _IDLE)
        rows = self._number[mine]
        self._columns["solved"][rows] = terminated[mine]
        self._columns["cost"][rows] = path_cost(self._env, self._counts["moves"], self._diagonals)[mine]
        for name, counted in self._counts.items():
            self._columns[name][rows] = counted[mine]
            counted[over] = 0
        self._diagonals[over] = 0

    def _begin(self, over: NDArray[np.bool_]) -> tuple[Any, dict[str, Any]]:
        """Give the episodes that have ended the next problems; those for which none is left walk on idly."""
        places, count = np.flatnonzero(over), len(self._columns["solved"])
        following = self._left + np.arange(places.size)
        self._number[places] = np.where(following < count, following, _IDLE)
        self._left += places.size
        self._going = int(np.count_nonzero(self._number != _IDLE))
        options = {"reset_mask": over, "index": np.maximum(self._number, 0)}
        observation, info = self._env.reset(options=options)
        self._policy.begin(over, np.maximum(self._number, 0))
        return observation, info


def run_squads(env: Any, policy: Policy, groups: Sequence[Sequence[int]], seed: int) -> Columns:
    """Let squads walk, one after the other, each with a group of problems; a row is what one unit did.

    Steps, return and seconds are those of the whole squad.
    """
    columns = make_columns(len(env.settings.pool))
    for k, group in enumerate(groups):
        shared = _run_one(env, policy, k, {"index": list(group)}, seed)
        enter_squad(columns, env.squad, group, shared)
    return columns


def run_squad_batch(env: Any, policy: Policy, groups: Sequence[Sequence[int]], seed: int) -> Columns:
    """Let squads walk side by side, as many at a time as the batch has; see ``run_squads``."""
    columns, n = make_columns(len(env.settings.pool)), env.num_envs
    for first in range(0, len(groups), n):
        chosen = [min(first + i, len(groups) - 1) for i in range(n)]
        squads, rows = _walk_together(env, policy, groups, np.array(chosen), seed)
        for i, k in enumerate(chosen[: len(groups) - first]):
            enter_squad(columns, squads[i], groups[k], {name: values[i] for name, values in rows.items()})
    return columns


def _walk_together(
    env: Any, policy: Policy, groups: Sequence[Sequence[int]], chosen: NDArray[np.int64], seed: int
) -> tuple[list[Any], Columns]:
    """Return the squads at the end of their episodes, and what was counted for each."""
    rows = make_columns(env.num_envs)
    rows["seconds"][:] = np.nan
    squads: list[Any] = [None] * env.num_envs
    going = np.ones(env.num_envs, np.bool_)
    options = {"index": [list(groups[k]) for k in chosen]}
    observation, info = env.reset(seed=(seed + chosen).tolist(), options=options)
    policy.begin(going, chosen)
    while going.any():
        observation, reward, terminated, truncated, info = env.step(policy.act(observation, info.get("action_mask")))
        rows["steps"][going] += 1
        rows["return"][going] += reward[going]
        over = terminated | truncated
        for i in np.flatnonzero(over & going):
            squads[i] = env.squads[i]
        going &= ~over
        if over.any() and going.any():
            observation, info = env.reset(options=options | {"reset_mask": over})
            policy.begin(over, chosen)
    return squads, rows


def enter_squad(columns: Columns, squad: Any, group: Sequence[int], shared: dict[str, Any]) -> None:
    """Enter what the units of a squad did, and what its episode was."""
    run, tallies = squad.record(), [unit.view.trip.tally[0] for unit in squad.units]
    entries = {
        "solved": run.arrived,
        "cost": run.cost,
        "moves": run.moves,
        "expansions": [int(tally.expansions) for tally in tallies],
        "scans": [int(tally.scans) for tally in tallies],
    }
    for name, values in (shared | entries).items():
        columns[name][list(group)] = values

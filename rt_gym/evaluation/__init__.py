"""Judging any policy on any problems, in every environment of this package."""

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import load_env_creator

from rt_gym import splits
from rt_gym.envs import own_id
from rt_gym.envs.path import PathSettings
from rt_gym.envs.pool import Sources
from rt_gym.envs.think import ThinkSettings
from rt_gym.errors import InputError, checked_seed, flag, quoted, whole
from rt_gym.evaluation.policies import is_agent, make_policy, name_of
from rt_gym.evaluation.result import COLUMNS, Comparison, Evaluation, Summary
from rt_gym.evaluation.runs import BatchRun, Columns, Walk, Walks, run_single, run_squad_batch, run_squads
from rt_gym.problem import Problem
from rt_gym.squad.envs.dealer import SquadSettings

__all__ = ["COLUMNS", "Comparison", "Evaluation", "Summary", "Walk", "evaluate"]

_SIDE_BY_SIDE = 256
_OURS = ("autoreset_mode", "max_episode_steps", *Sources._fields)  # what evaluate settles itself


def evaluate(
    env_id: str,
    policy: Any,
    split: str | Sequence[Problem],
    *,
    seed: int = 0,
    num_envs: int | None = None,
    max_moves: int | None = None,
    deterministic: bool = True,
    record: int = 0,
    **settings: Any,
) -> Evaluation:
    """Let a policy meet every problem of a split once, and return what came of it.

    Args:
        env_id: an id of this package.
        policy: a function from an observation to an action, or from all observations of a batch to its actions, which
            is given the action masks too if it takes a second argument or the keyword ``masks``; a model of
            Stable-Baselines3 or sb3-contrib; ``"random"``, among the actions that lead somewhere; ``"greedy"``, to the
            neighbour nearest to the goal by the heuristic, where a step is a move; or an agent, by its id and settings
            (``"rtaa:lookahead=50"``) or as an object with ``reset`` and ``act``, likewise.
        split: the name of a split of ``rt_gym.splits``, or a list of problems.
        seed: of random actions, of random ties of agents, and of squads.
        num_envs: how many episodes run side by side, 256 by default; 1, the default for agents, is a single
            environment, and a function then maps one observation to one action.
        max_moves: after how many moves, or ticks of a squad, an episode is cut; that of the environment if None.
        deterministic: whether a model takes its best action instead of a random one.
        record: of how many steps of every episode the walk is kept, at most, where a step is a move or a thought.
        settings: those of the environment.

    Example:
        >>> import rt_gym
        >>> found = rt_gym.evaluate("RTPath-Random-16x16-v0", "greedy", "random-16-test")
        >>> len(found), found.summary.unsolved
        (128, 63)

    Raises:
        InputError: for an unknown id or split, something that is no policy, or a setting that cannot be.
    """
    problems, name = _problems(split)
    seed = checked_seed(seed) or 0
    batched, count = _how_many(policy, num_envs)
    began = perf_counter()
    env = _made(env_id, problems, batched, count, max_moves, settings)
    walks = _walks(env, whole("record", record, 0))
    columns = _run(env, policy, batched, seed, flag("deterministic", deterministic), walks)
    seconds = perf_counter() - began
    limit = env.settings.max_ticks if isinstance(env.settings, SquadSettings) else env.settings.max_moves
    pool = tuple(env.settings.pool)
    env.close()
    return Evaluation(
        env_id,
        name_of(policy),
        name,
        limit,
        pool,
        _judged(columns, pool),
        seconds,
        settings,
        walks.close() if walks else (),
    )


def _problems(split: Any) -> tuple[list[Problem], str]:
    if isinstance(split, str):
        return list(splits.load(split).problems), split
    if not isinstance(split, Sequence) or not split or not all(isinstance(one, Problem) for one in split):
        raise InputError(f"split must be the name of a split or a list of problems, not {quoted(split)}")
    return list(split), ""


def _how_many(policy: Any, num_envs: int | None) -> tuple[bool, int]:
    """Return whether to use a batch, and how many episodes run side by side."""
    if num_envs is None:
        return (False, 1) if is_agent(policy) else (True, _SIDE_BY_SIDE)
    return num_envs != 1, whole("num_envs", num_envs, 1, 1_000_000)


def _made(
    env_id: Any, problems: list[Problem], batched: bool, count: int, max_moves: int | None, settings: dict[str, Any]
) -> Any:
    """Return the environment, without any wrappers."""
    known = own_id(env_id)
    for name in _OURS:
        if name in settings:
            raise InputError(
                f"{name} cannot be given to evaluate: split says what the problems are, and max_moves the end"
            )
    spec: Any = gym.spec(known)
    given = {name: value for name, value in spec.kwargs.items() if name not in Sources._fields} | settings
    squad = "Squad" in known
    if max_moves is not None:
        given["max_ticks" if squad else "max_moves"] = max_moves
    if not batched:
        return load_env_creator(str(spec.entry_point))(problems=problems, **given)
    side_by_side = min(count, max(1, len(problems) // given.get("units", 1)) if squad else len(problems))
    return load_env_creator(str(spec.vector_entry_point))(
        num_envs=side_by_side, autoreset_mode=gym.vector.AutoresetMode.DISABLED, problems=problems, **given
    )


def _walks(env: Any, most: int) -> Walks | None:
    """Return what takes the walks down; None if nobody asks for them."""
    if not most:
        return None
    if not isinstance(env.settings, (PathSettings, ThinkSettings)):
        raise InputError("record must be left out where a step is neither a move nor a thought")
    return Walks([problem.start for problem in env.settings.pool], most)


def _run(env: Any, policy: Any, batched: bool, seed: int, deterministic: bool, walks: Walks | None) -> Columns:
    decides = make_policy(policy, env, seed, deterministic)
    if isinstance(env.settings, SquadSettings):
        groups = _groups(env.settings)
        return (run_squad_batch if batched else run_squads)(env, decides, groups, seed)
    return BatchRun(env, decides, seed, walks).run() if batched else run_single(env, decides, seed, walks)


def _groups(settings: SquadSettings) -> list[list[int]]:
    """Return the numbers of the problems of every squad: those of one map, in their order."""
    maps: dict[Any, list[int]] = {}
    for k, problem in enumerate(settings.pool):
        maps.setdefault(problem.grid, []).append(k)
    units = settings.units
    for grid, numbers in maps.items():
        if len(numbers) % units:
            raise InputError(
                f"units must divide the number of problems of every map, and {units} does not divide the"
                f" {len(numbers)} of map {grid.name or 'without a name'}"
            )
    return [numbers[k : k + units] for numbers in maps.values() for k in range(0, len(numbers), units)]


def _judged(columns: Columns, problems: Sequence[Problem]) -> Columns:
    """Return the columns with the optimal costs and, of what was solved, the suboptimality."""
    optimal = np.array([problem.optimal for problem in problems], np.float64)  # nan for None
    cost, known = columns["cost"], columns["solved"] & np.isfinite(optimal)
    reached = np.divide(cost, optimal, out=np.ones_like(cost), where=optimal > 0)
    return columns | {"optimal": optimal, "suboptimality": np.where(known, reached, np.nan)}

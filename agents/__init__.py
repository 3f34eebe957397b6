"""Real-time heuristic search algorithms, one per file, each reading like its paper.

Example:
    >>> import agents, rt_gym
    >>> grid = rt_gym.Grid([[1, 1, 1], [1, 0, 1], [1, 0, 1]])
    >>> run = agents.run("lrta", rt_gym.Problem(grid, (0, 2), (2, 2)), depth=2, budget=1000)
    >>> run.solved, run.cost, run.suboptimality
    (True, 6.0, 1.0)
"""

import importlib
import inspect
from collections.abc import Hashable
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Any

from agents.base import Agent, KernelAgent
from agents.log import Log
from agents.record import Decision, MoveSeconds, Run
from agents.runner.logged import Recorder, head_of
from agents.runner.pool import POOL, key_of, settings_key
from agents.runner.trials import run_agent
from rt_gym.errors import InputError, flag, quoted
from rt_gym.meter import Budget
from rt_gym.problem import Problem

__all__ = ["Agent", "Decision", "KernelAgent", "Log", "MoveSeconds", "Run", "ids", "load", "make", "parameters", "run"]

# id -> (module, class), imported on demand
_TABLE = {
    "astar": ("astar", "AStar"),
    "weighted-astar": ("astar", "WeightedAStar"),
    "repeated-astar": ("repeated_astar", "RepeatedAStar"),
    "expecting-astar": ("expecting_astar", "ExpectingAStar"),
    "late-astar": ("late_astar", "LateAStar"),
    "capped-astar": ("capped_astar", "CappedAStar"),
    "lrta": ("lrta", "LRTA"),
    "rta": ("rta", "RTA"),
    "lss-lrta": ("lss_lrta", "LSSLRTA"),
    "a-lss-lrta": ("a_lss_lrta", "ALSSLRTA"),
    "da-lss-lrta": ("da_lss_lrta", "DALSSLRTA"),
    "w-lss-lrta": ("w_lss_lrta", "WLSSLRTA"),
    "think-lss": ("think_lss", "ThinkLSS"),
    "building-block-lrta": ("building_block_lrta", "BuildingBlockLRTA"),
    "rtaa": ("rtaa", "RTAA"),
    "a-rtaa": ("a_rtaa", "ARTAA"),
    "da-rtaa": ("da_rtaa", "DARTAA"),
    "lrta-k": ("lrta_k", "LRTAK"),
    "lrta-k-visited": ("lrta_k_visited", "LRTAKVisited"),
    "lrta-ls-k": ("lrta_ls_k", "LRTALSK"),
    "w-lrta-ls-k": ("w_lrta_ls_k", "WLRTALSK"),
    "lrta-ls-kd": ("lrta_ls_kd", "LRTALSKD"),
    "lrts": ("lrts", "LRTS"),
    "p-lrta": ("p_lrta", "PLRTA"),
    "pr-lrts": ("pr_lrts", "PRLRTS"),
    "tba": ("tba", "TBA"),
    "tbaa": ("tbaa", "TBAA"),
    "frit": ("frit", "FRIT"),
    "dstar-lite": ("dstar_lite", "DStarLite"),
    "mpgaa": ("mpgaa", "MPGAA"),
    "knn-lrta": ("knn_lrta", "KNNLRTA"),
    "hcdps": ("hcdps", "HCDPS"),
    "subgoal-lrta": ("subgoal_lrta", "SubgoalLRTA"),
    "classifier-lrta": ("classifier_lrta", "ClassifierLRTA"),
    "policy-lrta": ("policy_lrta", "PolicyLRTA"),
    "oracle-lrta": ("oracle_lrta", "OracleLRTA"),
    "rule-lrta": ("rule_lrta", "RuleLRTA"),
    "pdb-lrta": ("pdb_lrta", "PDBLRTA"),
    "general-lrta": ("general_lrta", "GeneralLRTA"),
}


def ids() -> list[str]:
    """Return the ids of all agents."""
    return list(_TABLE)


def load(agent_id: str) -> Any:
    """Return the class behind an id."""
    if not isinstance(agent_id, str) or agent_id not in _TABLE:
        near = get_close_matches(str(agent_id), _TABLE, 1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise InputError(f"there is no agent {quoted(agent_id)}{hint}; the agents are {', '.join(_TABLE)}")
    return _imported(*_TABLE[agent_id])


@cache
def _imported(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"{__package__}.{module}"), name)


def parameters(agent_id: str) -> dict[str, Any]:
    """Return the parameters of an agent with their defaults."""
    return dict(_defaults(load(agent_id)))


@cache
def _defaults(kind: Any) -> dict[str, Any]:
    """Return the parameters of a class with their defaults."""
    return {name: parameter.default for name, parameter in inspect.signature(kind).parameters.items()}


def make(agent_id: str, *, budget: Budget | int | None = None, **settings: Any) -> Any:
    """Make an agent.

    Args:
        agent_id: one of ``ids()``.
        budget: choose the largest setting whose bound per move fits into this budget, for what is not given.
        settings: the agent's own parameters.

    Raises:
        InputError: for an unknown id or parameter, or a value out of range; the message lists what is known.
    """
    kind, settings = _chosen(agent_id, Budget.of(budget), settings)
    return kind(**settings)


def _chosen(agent_id: str, budget: Budget, settings: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the class of an agent and its settings, those that the budget chooses among them.

    Raises:
        InputError: for an unknown id or parameter.
    """
    kind = load(agent_id)
    known = _defaults(kind)
    for name in settings:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise InputError(f"agent {agent_id} has no parameter {quoted(name)}; its parameters are {listed}")
    return kind, settings if budget.limit is None else kind.fit(budget.limit, budget.count) | settings


def run(
    agent: str | Agent,
    problem: Problem,
    *,
    budget: Budget | int | None = None,
    trials: int | str = 1,
    max_moves: int = 10_000_000,
    seed: int | None = 0,
    clock: bool = True,
    log: bool = False,
    **settings: Any,
) -> Run:
    """Run whole trials of an agent on a problem, inside kernels for our own agents.

    Args:
        agent: an id, or any object with ``reset`` and ``act``.
        problem: what to solve.
        budget: the limit per move; counted without a limit when None. With an id it also chooses the agent's setting
            where none is given.
        trials: how many times to go from start to goal, or ``"converge"`` until nothing more is learned,
            which needs a map that stays as it is; ``converged`` is False after 100,000 trials that did not suffice.
        max_moves: how many moves a trial may take.
        seed: for random ties and for the agent's own use.
        clock: time every move, which takes some 20 ns.
        log: keep what the agent did for every move (``Run.log``, see ``agents.log``). The run is the same, but walked
            move by move in Python, which takes much longer. Logs of more than 256 MiB are refused.
        settings: parameters of the agent, with an id.
    """
    options = Budget.of(budget), trials, max_moves, seed, clock
    if flag("log", log):
        return _run_logged(agent, problem, settings, options)
    if isinstance(agent, str):
        return _run_by_id(agent, problem, settings, options)
    return _run_in_turn(_checked(agent, settings), problem, options)


def _run_in_turn(agent: Agent, problem: Problem, options: tuple[Any, ...], recorder: Recorder | None = None) -> Run:
    """Run an agent that other threads may know, and refuse it to them meanwhile."""
    if not isinstance(agent, KernelAgent):
        return run_agent(agent, problem, *options, recorder=recorder)
    if not agent.turn.acquire(False):
        raise agent.turn.refusal()
    try:
        return run_agent(agent, problem, *options, recorder=recorder)
    finally:
        agent.turn.release()


def _checked(agent: Any, settings: dict[str, Any]) -> Agent:
    """Return an object that must be an agent, and that has its settings already."""
    if settings:
        raise InputError(f"settings {', '.join(settings)} go with an id, not with an agent that is already made")
    if not callable(getattr(agent, "reset", None)) or not callable(getattr(agent, "act", None)):
        raise InputError(f"an agent is an id or an object with reset and act, not {quoted(agent)}")
    return agent


def _run_logged(agent: str | Agent, problem: Problem, settings: dict[str, Any], options: tuple[Any, ...]) -> Run:
    """Run an agent and log what it does. One that is made for it is used for nothing else."""
    budget, seed = options[0], options[3]
    if isinstance(agent, str):
        kind, settings = _chosen(agent, budget, settings)
        name, made = agent, kind(**settings)
        settings = _defaults(kind) | settings
    else:
        kind, made = type(agent), _checked(agent, settings)
        name = _id_of(kind) or f"{kind.__module__}.{kind.__qualname__}"
        settings = {key: getattr(agent, key) for key in _defaults(kind) if hasattr(agent, key)}
    recorder = Recorder(head_of(name, settings, problem, budget, seed))
    return _run_in_turn(made, problem, options, recorder)


def _id_of(kind: Any) -> str | None:
    """Return the id of a class, None for one that is not ours."""
    place = kind.__module__, kind.__qualname__
    return next((known for known, (module, name) in _TABLE.items() if place == (f"{__package__}.{module}", name)), None)


@lru_cache(maxsize=256)
def _by_default(agent_id: str, limit: int | None, count: str) -> tuple[Any, dict[str, Any], Hashable | None]:
    """Return what a run without settings needs to know each time: class, settings, and their part of the pool's key."""
    kind, settings = _chosen(agent_id, Budget(limit, count), {})
    return kind, settings, settings_key(kind, settings)


def _run_by_id(agent_id: str, problem: Problem, settings: dict[str, Any], options: tuple[Any, ...]) -> Run:
    """Run an agent that has run before with these settings on such a map, or a new one. One that raised is dropped."""
    budget, plain = options[0], not settings
    if plain and (recent := POOL.take_recent(agent_id, budget, problem.grid)) is not None:
        try:
            return run_agent(recent.agent, problem, *options)
        except BaseException:
            POOL.drop(recent.agent)
            raise
        finally:
            recent.busy.release()
    if settings:
        kind, settings = _chosen(agent_id, budget, settings)
        key = key_of(settings_key(kind, settings), problem)
    else:
        kind, settings, shared_key = _by_default(agent_id, budget.limit, budget.count)
        key = key_of(shared_key, problem)
    if key is None:
        return run_agent(kind(**settings), problem, *options)
    return _run_pooled(key, POOL.take(key) or kind(**settings), problem, options, agent_id if plain else None)


def _run_pooled(
    key: Hashable, agent: KernelAgent, problem: Problem, options: tuple[Any, ...], agent_id: str | None
) -> Run:
    """Run an agent and let it wait for the next run; ``agent_id`` is that of a run without settings."""
    try:
        record = run_agent(agent, problem, *options)
    except BaseException:
        POOL.drop(agent)
        raise
    POOL.put(key, agent)
    if agent_id is not None:
        POOL.note_recent(agent_id, options[0], problem.grid, agent)
    return record

"""Runs trials and writes their records: inside kernels where the agent has them, move by move otherwise."""

import time
from dataclasses import replace
from operator import sub
from typing import Any, NamedTuple

from agents.base import Agent, KernelAgent
from agents.record import MoveSeconds, Run, total
from agents.runner.logged import Recorder
from agents.runner.loop import GOAL, OUT_OF_MOVES
from rt_gym.clock import TIMES, quantiles, start_clock, time_move, time_plan
from rt_gym.errors import BudgetExceeded, InputError, checked_seed, flag, whole
from rt_gym.jit import fields_of
from rt_gym.meter import METER, OVERRUN, STUCK, TALLY, Budget
from rt_gym.problem import Problem
from rt_gym.world import World

MOST_POSITIONS = 1 << 22  # of the paths that the trials of one run keep together
MOST_TRIALS = 100_000  # until convergence

_Meter, _Tally, _Ticks = fields_of(METER), fields_of(TALLY), fields_of(TIMES)
# Where the processor's time is only told to some milliseconds, that on the wall has to do.
_processor_time = time.thread_time if time.get_clock_info("thread_time").resolution < 1e-6 else time.perf_counter
_OUTCOMES = {GOAL: "goal", OUT_OF_MOVES: "out of moves", STUCK: "no path", OVERRUN: "overrun"}


def run_agent(
    agent: Agent,
    problem: Problem,
    budget: Budget,
    trials: int | str,
    max_moves: int,
    seed: int | None,
    clock: bool,
    *,
    recorder: Recorder | None = None,
) -> Run:
    """Run trials until their number is reached, nothing more is learned, or one fails. See ``agents.run``.

    The caller sees to it that no other thread uses the agent.
    """
    most = whole("max_moves", max_moves, 1, 10**9)
    wanted = 0 if isinstance(trials, str) and trials == "converge" else whole("trials", trials, 1)
    flag("clock", clock)
    if not wanted:
        _require_convergence(agent, problem)
    return _run_trials(agent, problem, budget, wanted, most, seed, clock, recorder)


def _require_convergence(agent: Agent, problem: Problem) -> None:
    """Refuse to wait for the end of learning where it need not come."""
    if getattr(agent, "forgets", False):
        raise InputError(f"{type(agent).__name__} forgets what it learned after every trial: it does not converge")
    if problem.changes:
        raise InputError('trials="converge" needs a map that stays as it is: give a number of trials where it changes')


def _run_trials(
    agent: Agent,
    problem: Problem,
    budget: Budget,
    wanted: int,
    most: int,
    seed: int | None,
    clock: bool,
    recorder: Recorder | None,
) -> Run:
    if recorder is None:
        world = _world_for(agent, problem, budget, most, clock)
    else:
        world = recorder.world(problem, budget, most, clock)
    began = time.perf_counter()
    if isinstance(agent, KernelAgent):
        agent.reset(world.kernel_view, checked_seed(seed))
    else:
        agent.reset(world.view, checked_seed(seed))
    if not wanted and not isinstance(agent, KernelAgent):
        _require_count(agent)
    prepared = getattr(agent, "precompute_seconds", 0.0)
    ready = time.perf_counter() - began
    records, kept = [_run_trial(agent, world, most, min(prepared, ready), recorder)], 0
    while records[-1].solved and not _finished(records, wanted):
        world.begin_trial()
        getattr(agent, "begin_trial", lambda: None)()
        if (kept := kept + len(records[-1].path)) > MOST_POSITIONS:
            records[-1] = records[-1].without_path()
        records.append(_run_trial(agent, world, most, 0.0, recorder))
    if recorder is not None:
        recorder.release(agent, world)
    return total(records)


def _require_count(agent: Agent) -> None:
    """Refuse an agent of one's own that does not count what it learns: it would converge after one trial."""
    if not hasattr(agent, "h_updates"):
        name = type(agent).__name__
        says = "an attribute h_updates that counts how often a learned value was raised since reset"
        raise InputError(f'{name} does not say whether it still learns: trials="converge" needs {says}')


def _world_for(agent: Agent, problem: Problem, budget: Budget, max_moves: int, clock: bool) -> World:
    """Return the world of a run. An agent with kernels keeps it, and with it the arrays and their handle."""
    kept = agent.world if isinstance(agent, KernelAgent) else None
    if kept is not None and kept.fits(problem, budget, max_moves, clock):
        kept.restart(problem)
        return kept
    world = World(problem, budget, max_moves, clock=clock)
    if isinstance(agent, KernelAgent):
        agent.world = world
    return world


def _finished(records: list[Run], wanted: int) -> bool:
    return len(records) == (wanted or MOST_TRIALS) or (not wanted and records[-1].converged)


def _run_trial(agent: Agent, world: World, max_moves: int, precompute_seconds: float, recorder: Recorder | None) -> Run:
    kernels = agent if isinstance(agent, KernelAgent) and recorder is None else None
    if kernels is not None:
        kernels.compile(world)
    before = _own_counts(agent)
    began, worked = time.perf_counter(), _processor_time()
    end = _act_trial(agent, world, max_moves, recorder) if kernels is None else kernels.run_trial(world, max_moves)
    times = Times(time.perf_counter() - began, _processor_time() - worked, precompute_seconds)
    if end == STUCK:
        _refuse_long_path(world.problem)
    if end == OVERRUN and world.budget.on_overrun == "raise":
        raise BudgetExceeded(f"move {world.kernel_view.moves + 1} {world.excess}")
    counts = OwnCounts(*map(sub, _own_counts(agent), before))
    record = _record(agent, world, end, times, counts)
    return record if recorder is None else replace(record, log=recorder.finish(world))


def _refuse_long_path(problem: Problem) -> None:
    """Refuse to say that there is no path where there is one, but too long for an exact cost."""
    if problem.vision is None and not problem.changes and problem.connected:
        _ = problem.optimal_cost


class Times(NamedTuple):
    """How long a trial took: by the clock on the wall, by that of the processor, and to prepare for it."""

    elapsed: float
    worked: float
    precompute: float


class OwnCounts(NamedTuple):
    """What an agent counts itself, since its reset or in a trial; see ``Run``. Kernels count their updates."""

    updates: int
    guarded: int
    guarded_expansions: int


def _own_counts(agent: Agent) -> OwnCounts:
    if isinstance(agent, KernelAgent):
        return OwnCounts(0, agent.guarded, agent.guarded_expansions)
    return OwnCounts(whole("h_updates", getattr(agent, "h_updates", 0), 0), 0, 0)


def _act_trial(agent: Agent, world: World, max_moves: int, recorder: Recorder | None) -> int:
    """Walk one trial in Python, for agents without kernels and for the sake of a log."""
    start_clock(world.trip.clock)
    while not world.done:
        if world.kernel_view.moves >= max_moves:
            return OUT_OF_MOVES
        action = ask(agent, world)
        time_plan(world.trip.clock)
        if recorder is not None:
            recorder.note(agent, world, action)
        if world.view.meter.stuck:
            return STUCK
        if not world.step(action):
            return OVERRUN
        time_move(world.trip.clock)
    # On the goal there is no move to pay for what was spent since.
    return OVERRUN if world.view.meter.overrun and world.budget.on_overrun != "idle" else GOAL


def ask(agent: Agent, world: World) -> int:
    """Return what an agent decides, after a look at whether it did no more than that.

    Raises:
        InputError: if it is no action.
        Fault: if the agent has changed its position, its meter or its totals.
    """
    seal = world.seal()
    action = agent.act()
    world.check_seal(seal)
    return world.checked_action(action)


def _record(agent: Agent, world: World, end: int, times: Times, own: OwnCounts) -> Run:
    """Read the record of the trial that has just ended off the world; ``own`` is what the agent has counted in it."""
    tally = _Tally._make(world.trip.tally.item())
    moves = tally.moves
    last = _Meter._make(world.trip.meter.item())  # what was spent on a move that was never made
    return Run(
        problem=world.problem,
        outcome=_OUTCOMES[end],
        straights=moves - tally.diagonals,
        diagonals=tally.diagonals,
        moves=moves,
        stays=tally.stays,
        path=world.problem.grid.positions(world.trip.path[: moves + 1]),
        expansions=tally.expansions + last.expansions,
        max_expansions=max(tally.max_expansions, last.expansions),
        scans=tally.scans + last.scans,
        max_scans=max(tally.max_scans, last.scans),
        learning_ops=tally.learning_ops + last.learning_ops,
        trace_steps=tally.trace_steps + last.trace_steps,
        first_move_expansions=tally.first_expansions if moves else last.expansions,
        plans=tally.plans,
        seconds=times.elapsed,
        planning_seconds=_planning_seconds(world, times.worked),
        move_seconds=_move_seconds(world, times.elapsed),
        precompute_seconds=times.precompute,
        memory=agent.count_states() if isinstance(agent, KernelAgent) else 0,
        memory_bytes=agent.count_bytes() if isinstance(agent, KernelAgent) else 0,
        h_updates=tally.raises + own.updates,
        guarded=own.guarded,
        guarded_expansions=own.guarded_expansions,
        overrun=tally.overruns > 0 or end == OVERRUN or _past_limit(last),
    )


def _past_limit(meter: Any) -> bool:
    """Whether a move that was never made has taken more than its budget."""
    return bool((meter.scans if meter.by_scans else meter.expansions) > meter.limit)


def _move_seconds(world: World, seconds: float) -> MoveSeconds | None:
    clock = world.trip.clock
    if not clock.bins.size:
        return None
    times = _Ticks._make(clock.times.item())
    tick = seconds / max(1, times.total)
    p50, p99 = quantiles(clock, 0.5, 0.99)
    return MoveSeconds(p50 * tick, p99 * tick, times.longest * tick)


def _planning_seconds(world: World, worked: float) -> float | None:
    clock = world.trip.clock
    if not clock.bins.size:
        return None
    times = _Ticks._make(clock.times.item())
    return worked * min(1.0, times.planning / max(1, times.total))

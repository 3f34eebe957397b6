"""Every agent against its plain-Python reference, and both counts of the meter against what was really read.

The references are a second reading of the papers (``tests/reference``). They are compared move by move: the path, the
expansions, scans and learning operations of each move, and the learned values at its end.

The reference of an id is the function ``run`` of the module ``reference.plain_<id>``, with ``_`` for every ``-``. It
takes the problem (``grid``, ``start``, ``goal``, ``vision``, ``changes``, ``max_moves``) and the agent's own parameters
by their names, ``tie`` left out; with ``after``, the trial before, it can be asked for later trials. Two constants of
the module say what it does not count. With ``READS_AGAIN`` the agent may scan more often: it may read a state again
without expanding it, when a longer way turns out to be the cheaper one. That is no part of the paper; the counting map
below recounts it. With ``RAISES_AGAIN`` the agent may raise a value several times in one plan, where the reference
notes once how far it rose.
"""

import importlib.util
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config

import agents
from profiles import examples
from reference import plain_grid
from reference.by_id import OUTCOMES, name_of_reference, reference_of, reference_run
from reference.contract import CountingMask, CountingThresholds
from reference.plain_oracle import distances, random_grid, random_problem
from reference.settings import draw_settings
from reference.worlds import worlds
from rt_gym import Budget, Change, Grid, Problem, World
from rt_gym.search.lookahead import general_lrta
from rt_gym.trip import STAY, adopt, must_plan, take

Settings = dict[str, Any]

MAX_MOVES = 400


def table(agent: Any, problem: Problem) -> dict[tuple[int, int], int]:
    """Return the learned values by position, as references keep them; empty for agents without."""
    if agent.learned is None:
        return {}
    return {cell: int(agent.learned[problem.grid.cell(cell)]) for cell in plain_grid.cells(problem.grid)}


def assert_same_trial(agent_id: str, agent: Any, trace: Any, plain: plain_grid.Run, problem: Problem) -> None:
    assert trace.outcome == OUTCOMES[plain.outcome]
    assert trace.path == plain.path
    assert trace.expansions == plain.expansions
    assert trace.learning_ops == plain.learning_ops
    assert_same_rises(agent_id, trace.h_updates, plain)
    assert table(agent, problem) == plain.h
    one_price = problem.grid.cost == "unit" or problem.grid.connectivity == 4
    if one_price or not getattr(reference_of(agent_id), "READS_AGAIN", False):
        assert trace.scans == plain.scans
    else:
        assert all(mine >= theirs for mine, theirs in zip(trace.scans, plain.scans, strict=True))


def assert_same_rises(agent_id: str, h_updates: int, plain: plain_grid.Run) -> None:
    cells = sum(map(len, plain.raised))
    again = getattr(reference_of(agent_id), "RAISES_AGAIN", False)
    assert h_updates == cells or (again and h_updates > cells > 0)


def test_every_agent_has_a_reference(agent_id: str) -> None:
    assert importlib.util.find_spec(name_of_reference(agent_id)), f"write tests/{name_of_reference(agent_id)}"
    assert callable(reference_of(agent_id).run)


@given(data=st.data())
@examples(250)
def test_a_trial_is_the_trial_of_the_reference(agent_id: str, data: st.DataObject, act_out: Callable[..., Any]) -> None:
    problem, chosen = data.draw(worlds()), data.draw(draw_settings(agent_id))
    plain = reference_run(agent_id, problem, chosen, MAX_MOVES)
    agent, world = agents.make(agent_id, **chosen), World(problem)
    agent.reset(world.view)
    assert_same_trial(agent_id, agent, act_out(agent, world, MAX_MOVES), plain, problem)


@given(data=st.data())
@examples(100)
def test_the_record_of_a_run_is_that_of_the_reference(agent_id: str, data: st.DataObject) -> None:
    problem, chosen = data.draw(worlds()), data.draw(draw_settings(agent_id))
    plain = reference_run(agent_id, problem, chosen, MAX_MOVES)
    run = agents.run(agent_id, problem, max_moves=MAX_MOVES, **chosen)
    assert run.outcome == OUTCOMES[plain.outcome]
    assert [(int(x), int(y)) for x, y in run.path] == plain.path
    assert (run.expansions, run.max_expansions) == (sum(plain.expansions), max(plain.expansions, default=0))
    assert run.learning_ops == sum(plain.learning_ops)
    assert_same_rises(agent_id, run.h_updates, plain)
    assert run.cost == pytest.approx(plain.cost / plain_grid.STRAIGHT, rel=1e-9)


@given(data=st.data())
@examples(60)
def test_later_trials_go_on_with_what_was_learned_and_seen(
    agent_id: str, data: st.DataObject, act_out: Callable[..., Any]
) -> None:
    if "after" not in inspect.signature(reference_of(agent_id).run).parameters:
        pytest.skip("its reference has one trial only")
    problem, chosen = data.draw(worlds(max_side=8)), data.draw(draw_settings(agent_id))
    agent, world = agents.make(agent_id, **chosen), World(problem)
    agent.reset(world.view)
    plain = None
    for _ in range(3):
        plain = reference_run(agent_id, problem, chosen, MAX_MOVES, after=plain)
        assert_same_trial(agent_id, agent, act_out(agent, world, MAX_MOVES), plain, problem)
        world.begin_trial()
        agent.begin_trial()


def test_hard_problems_give_the_trial_of_the_reference(agent_id: str, act_out: Callable[..., Any]) -> None:
    # Larger than what is drawn above, with the goal at the other end: ties and detours are many.
    rng = np.random.default_rng(17)
    agent = agents.make(agent_id)
    for trial in range(40):
        grid = random_grid(rng, 18, density=float(rng.uniform(0, 0.35)))
        start = max(plain_grid.Map.of(grid).free)
        reach = distances(grid, start)
        goal = max(reach, key=lambda cell: (reach[cell], cell))
        problem = Problem(grid, start, goal, vision=(None, 1, 2, 3)[trial % 4])
        plain = reference_run(agent_id, problem, {}, MAX_MOVES)
        world = World(problem)
        agent.reset(world.view)
        assert_same_trial(agent_id, agent, act_out(agent, world, MAX_MOVES), plain, problem)


def test_a_lookahead_deep_enough_for_longer_ways_to_be_cheaper(act_out: Callable[..., Any]) -> None:
    # Three diagonal steps cost more than four straight ones, so the first way found is not always the cheapest.
    rng, again = np.random.default_rng(1), 0
    for _ in range(30):
        grid, start, goal = random_problem(rng, 24, density=0.25, connectivity=8, cost="octile")
        problem = Problem(grid, start, goal)
        plain = reference_run("lrta", problem, {"depth": 16}, MAX_MOVES)
        agent, world = agents.make("lrta", depth=16), World(problem)
        agent.reset(world.view)
        trace = act_out(agent, world, MAX_MOVES)
        assert_same_trial("lrta", agent, trace, plain, problem)
        again += sum(trace.scans) - sum(trace.expansions)
    assert again > 0


@pytest.mark.plain
@pytest.mark.skipif(not config.DISABLE_JIT, reason="kernels take no counting map unless NUMBA_DISABLE_JIT=1")
class TestCounts:
    @pytest.mark.parametrize("budget", [None, Budget(7, on_overrun="idle"), Budget(15, "scans", "idle")], ids=str)
    @pytest.mark.parametrize(("vision", "changing"), [(None, False), (None, True), (1, False), (2, True)])
    def test_scans_are_the_neighbourhoods_really_read(
        self, agent_id: str, settings: Settings, vision: int | None, changing: bool, budget: Budget | None
    ) -> None:
        rng = np.random.default_rng(5)
        planned = 0
        for _ in range(4):
            grid, start, goal = random_problem(rng, 8, corner="strict")
            changes = [Change(k, (k % grid.width, k % grid.height), False) for k in range(4)] if changing else ()
            changes = [change for change in changes if change.position != goal]
            world = World(Problem(grid, start, goal, vision, changes), budget, max_moves=60, log=1000)
            planned += count_plans(world, agents.make(agent_id, **settings))
        assert planned > 0

    def test_states_read_again_are_counted(self) -> None:
        # East at the price of five steps: the eastern neighbour is expanded first, then reached again from the south.
        grid = Grid(np.ones((7, 7)))
        world, agent = World(Problem(grid, (3, 3), (0, 6))), agents.make("lrta", depth=3)
        agent.reset(world.view)
        prices = world.terrain.cost.copy()
        prices[0] *= 5
        mask = CountingMask(world.terrain.mask)
        terrain, trip, memory = world.terrain._replace(mask=mask, cost=prices), world.trip, agent.memory
        general_lrta(terrain, trip, memory.space, memory.h, trip.state[0].at, world.kernel_view.goal_cell, 3)
        assert trip.meter[0].expansions == 25
        assert mask.reads == trip.meter[0].scans > 25


def count_plans(world: World, agent: Any) -> int:
    """Drive a trial, compare the reads of every plan with the meter, and return how many plans there were."""
    agent.reset(world.view)
    plan = agent.decide_kernel.__globals__["plan"]
    trip, meter, plans = world.trip, world.trip.meter[0], 0
    mask, graph = CountingMask(world.terrain.mask), getattr(agent.memory, "graph", None)
    terrain, memory = world.terrain._replace(mask=mask), agent.memory
    if graph is not None:  # of regions, whose neighbours are read between where they begin and where they end
        ends = CountingMask(graph.begin)
        memory = memory._replace(graph=graph._replace(begin=ends))
    ground, thresholds = getattr(agent.memory, "ground", None), None
    if ground is not None:  # of trees, which test the cells around one that is unknown
        thresholds = CountingThresholds(ground.forest)
        memory = memory._replace(ground=ground._replace(forest=thresholds.forest))
    while not world.done and world.view.moves < 60:
        if must_plan(world.terrain, trip, trip.state[0].at):
            before, mask.reads = meter.copy(), 0
            if graph is not None:
                ends.reads = 0
            if thresholds is not None:
                thresholds.tests.clear()
            adopt(trip, plan(terrain, trip, memory, trip.state[0].at, world.kernel_view.goal_cell))
            expansions, scans = meter.expansions - before.expansions, meter.scans - before.scans
            learning_ops = meter.learning_ops - before.learning_ops
            others = ends.reads // 2 if graph is not None else thresholds.scans if thresholds is not None else 0
            assert mask.reads + others == scans
            if expansions:  # otherwise the view still shows those of the last move
                assert len(world.kernel_view.expanded) == expansions
            assert scans >= expansions + learning_ops
            plans += 1
        if world.view.meter.stuck:
            break
        world.step(max(STAY, int(take(trip))))
    return plans

"""What holds for the work of every agent: no move takes more than its budget, and what it takes is counted."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from profiles import examples
from reference import plain_grid
from reference.contract import MOST_MOVES, Settings, gave_up, path_of, random_problems
from reference.plain_oracle import grids
from reference.settings import draw_settings
from reference.small_maps import CUP, drawn
from rt_gym import STAY, Budget, BudgetExceeded, Change, Problem, World

MOST = 60


@st.composite
def any_problems(draw: st.DrawFn) -> Problem:
    """Draw a problem that may have no solution, on a known map or in fog, with or without changes."""
    grid = draw(grids(6))
    free = sorted(plain_grid.Map.of(grid).free)
    start, goal = draw(st.sampled_from(free)), draw(st.sampled_from(free))
    change = st.builds(Change, st.integers(0, 9), st.sampled_from(plain_grid.cells(grid)), st.booleans())
    changes = draw(st.one_of(st.just([]), st.lists(change, max_size=4)))
    return Problem(grid, start, goal, draw(st.sampled_from([None, 1, 2])), changes, allow_unsolvable=True)


def recounted(trace: Any, count: str, limit: int) -> bool:
    """Whether a move took more than the limit, by what was seen of every move from outside."""
    return any(spent > limit for spent in getattr(trace, count))


class TestBudget:
    @pytest.mark.parametrize("limit", [1, 6, 30])
    @pytest.mark.parametrize("vision", [None, 1])
    def test_no_move_takes_more_expansions_than_the_limit(
        self, agent_id: str, settings: Settings, limit: int, vision: int | None
    ) -> None:
        for problem in random_problems(11, 8, vision, changing=vision is None):
            for mode in ("truncate", "idle"):
                budget = Budget(limit, on_overrun=mode)
                run = agents.run(agent_id, problem, budget=budget, max_moves=200, **settings)
                assert run.max_expansions <= limit

    @pytest.mark.parametrize("limit", [1, 12, 40])
    def test_scans_past_the_limit_are_an_overrun(self, agent_id: str, settings: Settings, limit: int) -> None:
        for problem in random_problems(12, 10):
            run = agents.run(agent_id, problem, budget=Budget(limit, "scans"), max_moves=200, **settings)
            assert run.overrun or run.max_scans <= limit
            assert run.overrun == (run.outcome == "overrun")

    def test_the_bound_of_an_agent_is_enough_for_every_move(self, agent_id: str, settings: Settings) -> None:
        bound = agents.make(agent_id, **settings).bound
        if bound is None:
            pytest.skip("has no bound per move")
        for problem in [*random_problems(13, 8), Problem(drawn(*["." * 12] * 12), (6, 6), (0, 11))]:
            options = {"max_moves": MOST_MOVES, **settings}
            free, limited = (agents.run(agent_id, problem, budget=limit, **options) for limit in (None, bound))
            assert free.max_expansions <= bound
            assert path_of(limited) == path_of(free)
            assert not limited.overrun

    @pytest.mark.parametrize("count", ["expansions", "scans"])
    @pytest.mark.parametrize("limit", [1, 4, 20])
    def test_truncate_raise_and_idle_see_the_same_overrun(
        self, agent_id: str, settings: Settings, limit: int, count: str
    ) -> None:
        for problem in random_problems(14, 8):
            budgets = [Budget(limit, count, mode) for mode in ("truncate", "idle", "raise")]
            truncated, idle = (agents.run(agent_id, problem, budget=b, max_moves=60, **settings) for b in budgets[:2])
            assert truncated.overrun == (truncated.outcome == "overrun")
            assert idle.outcome != "overrun"
            assert idle.moves >= truncated.moves
            if truncated.overrun:
                assert idle.overrun
                assert path_of(idle)[truncated.moves] == path_of(truncated)[-1]
                assert idle.stays > 0
                with pytest.raises(BudgetExceeded, match=f"move {truncated.moves + 1} .* {limit} {count}"):
                    agents.run(agent_id, problem, budget=budgets[2], max_moves=60, **settings)
            else:
                run = agents.run(agent_id, problem, budget=budgets[2], max_moves=60, **settings)
                assert path_of(run) == path_of(idle) == path_of(truncated)

    @pytest.mark.parametrize("learner_id", ["lrta-ls-k", "lrta-ls-kd"])
    @pytest.mark.parametrize("mode", ["truncate", "idle", "raise"])
    def test_finding_no_path_too_late_is_an_overrun(self, learner_id: str, mode: str) -> None:
        # Both cells have to change, so that no frontier is left; finding that out takes more scans than there are.
        problem = Problem(drawn("..#."), (0, 0), (3, 0), allow_unsolvable=True)
        budget = Budget(2, "scans", mode)
        if mode == "raise":
            with pytest.raises(BudgetExceeded, match=r"move \d needs more than its budget of 2 scans"):
                agents.run(learner_id, problem, budget=budget)
            return
        run = agents.run(learner_id, problem, budget=budget)
        assert (run.outcome, run.overrun) == ("overrun" if mode == "truncate" else "no path", True)
        assert run.max_scans > 2

    def test_a_meter_that_is_used_up_is_no_proof_that_there_is_no_path(self, agent_id: str, settings: Settings) -> None:
        world, agent = World(Problem(drawn(*CUP), (2, 2), (6, 2)), 3), agents.make(agent_id, **settings)
        agent.reset(world.view)
        world.view.meter.charge(3)
        assert (agent.act() == STAY) == (not agents.load(agent_id).restless)
        assert not world.view.meter.stuck
        assert world.view.meter.expansions == 3

    def test_a_budget_alone_chooses_a_setting_that_keeps_it(self, agent_id: str) -> None:
        for limit in (1, 9, 50, 1000):
            for problem in random_problems(15, 5):
                run = agents.run(agent_id, problem, budget=limit, max_moves=MOST_MOVES)
                assert run.outcome == "goal" or gave_up(run, agent_id, {"budget": limit})
                assert not run.overrun
                assert run.max_expansions <= limit

    def test_expansions_never_outnumber_scans(self, agent_id: str, settings: Settings) -> None:
        for problem in random_problems(16, 8, vision=2, changing=True):
            run = agents.run(agent_id, problem, max_moves=200, **settings)
            assert run.scans >= run.expansions + run.learning_ops
            assert run.max_scans >= run.max_expansions >= run.first_move_expansions


@given(data=st.data())
@examples(60)
def test_no_work_past_the_limit_is_hidden(agent_id: str, data: st.DataObject, act_out: Callable[..., Any]) -> None:
    problem, chosen = data.draw(any_problems()), data.draw(draw_settings(agent_id))
    count, limit = data.draw(st.sampled_from(["expansions", "scans"])), data.draw(st.integers(1, 30))
    cut, idle, strict = (Budget(limit, count, mode) for mode in ("truncate", "idle", "raise"))
    for budget in (cut, idle):
        run = agents.run(agent_id, problem, budget=budget, max_moves=MOST, **chosen)
        world, agent = World(problem, budget), agents.make(agent_id, **chosen)
        agent.reset(world.view, seed=0)
        trace = act_out(agent, world, MOST)
        assert (run.outcome, path_of(run)) == (trace.outcome, trace.path)
        assert getattr(run, f"max_{count}") == max(getattr(trace, count), default=0)
        assert run.overrun or not recounted(trace, count, limit)
        if budget is cut:
            assert run.overrun == (run.outcome == "overrun")
    run = agents.run(agent_id, problem, budget=cut, max_moves=MOST, **chosen)
    if run.overrun:
        with pytest.raises(BudgetExceeded, match=f"move {run.moves + 1} .* {limit} {count}"):
            agents.run(agent_id, problem, budget=strict, max_moves=MOST, **chosen)
    else:
        assert path_of(agents.run(agent_id, problem, budget=strict, max_moves=MOST, **chosen)) == path_of(run)

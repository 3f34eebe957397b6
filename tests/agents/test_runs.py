"""``agents.run`` and its record: trials, totals, measures, and what is refused."""

import math
from typing import Any

import numpy as np
import pytest

import agents
from agents.runner import trials as runner
from reference.corridor import place_after, winding_corridor
from reference.small_maps import drawn
from rt_gym import Budget, BudgetExceeded, Grid, InputError, Problem
from rt_gym.cost import MOST_STEPS, SQRT2

# 4 neighbours: a corridor bent twice, 10 steps from its dead end to the goal.
HORSESHOE = Problem(drawn(".....", ".###.", "...#.", connectivity=4), (2, 2), (4, 2))
# 8 neighbours: two diagonal and three straight steps on open ground.
MEADOW = Problem(drawn("......", "......", "......"), (0, 0), (5, 2))


class TestRecord:
    def test_costs_are_counted_in_straight_and_diagonal_steps(self) -> None:
        run = agents.run("astar", MEADOW)
        assert (run.straights, run.diagonals, run.moves, run.stays) == (3, 2, 5, 0)
        assert run.cost == run.optimal == 3 + 2 * SQRT2
        assert run.suboptimality == 1.0

    def test_a_diagonal_step_at_unit_cost_is_one(self) -> None:
        run = agents.run("astar", Problem(MEADOW.grid.replace(cost="unit"), (0, 0), (5, 2)))
        assert (run.moves, run.cost, run.optimal) == (5, 5.0, 5.0)

    def test_the_path_is_an_array_of_x_and_y(self) -> None:
        run = agents.run("astar", HORSESHOE)
        assert run.path.shape == (11, 2)
        assert run.path[0].tolist() == [2, 2]
        assert run.path[-1].tolist() == [4, 2]

    def test_standing_still_costs_as_much_as_a_straight_step(self) -> None:
        # 11 cells of the corridor, the goal is not expanded: 10 expansions at 4 per move, so two moves of waiting.
        run = agents.run("astar", HORSESHOE, budget=4)
        assert (run.expansions, run.stays, run.moves, run.cost) == (10, 2, 12, 12.0)
        assert run.suboptimality == 1.2
        assert run.max_expansions == run.first_move_expansions == 4

    def test_suboptimality_and_scrubbing_of_a_detour(self) -> None:
        # Depth 2 goes back once, (2,2) (1,2) (0,2) (1,2) (0,2) and on: 12 moves, 13 visits of 11 cells (see traces).
        run = agents.run("lrta", HORSESHOE, depth=2)
        assert (run.moves, run.optimal, run.suboptimality) == (12, 10.0, 1.2)
        assert run.scrubbing == 13 / 11
        assert (run.h_updates, run.memory) == (5, 4)
        assert run.expansions_per_move == 34 / 12

    def test_a_run_without_moves_has_no_average(self) -> None:
        run = agents.run("lrta", Problem(MEADOW.grid, (1, 1), (1, 1)))
        assert (run.expansions_per_move, run.scrubbing, run.suboptimality) == (0.0, 1.0, 1.0)

    def test_there_is_no_optimum_on_a_map_that_changes(self) -> None:
        run = agents.run("astar", Problem(MEADOW.grid, (0, 0), (5, 2), changes=[(3, (0, 2), False)]))
        assert (run.solved, run.optimal, run.suboptimality) == (True, None, None)

    def test_the_optimum_of_an_unsolvable_problem_is_infinite(self) -> None:
        run = agents.run("astar", Problem(drawn(".#."), (0, 0), (2, 0), allow_unsolvable=True))
        assert (run.optimal, run.suboptimality, run.outcome) == (math.inf, None, "no path")

    def test_the_optimum_in_fog_is_that_of_the_true_map(self) -> None:
        fog = Problem(HORSESHOE.grid, HORSESHOE.start, HORSESHOE.goal, vision=1)
        assert agents.run("lrta", fog).optimal == 10.0

    def test_times_are_there_when_asked_for_and_in_order(self) -> None:
        run = agents.run("lrta", HORSESHOE)
        assert run.move_seconds is not None
        assert 0 < run.move_seconds.p50 <= run.move_seconds.p99 <= run.move_seconds.max <= run.seconds
        assert run.precompute_seconds == 0.0

    @pytest.mark.parametrize("trials", [1, 3])
    def test_planning_is_timed_by_itself(self, trials: int) -> None:
        run = agents.run("lrta", HORSESHOE, trials=trials)
        assert run.planning_seconds is not None
        assert run.planning_seconds > 0
        assert agents.run("lrta", HORSESHOE, trials=trials, clock=False).planning_seconds is None

    def test_the_clock_changes_nothing_but_the_times(self) -> None:
        run, timed = agents.run("lrta", HORSESHOE, clock=False), agents.run("lrta", HORSESHOE)
        assert run.move_seconds is None
        assert run.path.tolist() == timed.path.tolist()


class TestTrials:
    def test_one_trial_has_no_list_of_trials(self) -> None:
        assert agents.run("lrta", HORSESHOE).trials == ()

    def test_counts_are_summed_and_maxima_kept(self) -> None:
        run = agents.run("lss-lrta", HORSESHOE, lookahead=2, trials=3)
        trials = run.trials
        assert len(trials) == 3
        sums = ("moves", "straights", "diagonals", "stays", "expansions", "scans", "learning_ops", "plans", "h_updates")
        for name in sums:
            assert getattr(run, name) == sum(getattr(trial, name) for trial in trials)
        assert run.cost == sum(trial.cost for trial in trials)
        for name in ("max_expansions", "max_scans"):
            assert getattr(run, name) == max(getattr(trial, name) for trial in trials)
        assert run.first_move_expansions == trials[0].first_move_expansions
        assert run.path.tolist() == trials[-1].path.tolist()
        assert run.memory == trials[-1].memory
        assert run.suboptimality == pytest.approx(run.cost / 30)

    def test_converge_stops_after_the_first_trial_that_raises_nothing(self) -> None:
        run = agents.run("lrta", HORSESHOE, trials="converge")
        raised = [trial.h_updates for trial in run.trials]
        assert raised[-1] == 0
        assert all(raised[:-1])
        assert run.converged
        assert run.trials[-1].cost == 10.0

    def test_a_single_trial_that_raised_something_has_not_converged(self) -> None:
        assert not agents.run("lrta", HORSESHOE).converged

    def test_a_failed_trial_is_the_last(self) -> None:
        run = agents.run("lrta", HORSESHOE, trials=5, max_moves=4)
        assert (run.outcome, run.moves, run.trials, run.converged) == ("out of moves", 4, (), False)

    def test_fog_lifts_for_good(self) -> None:
        # A* walks into the fog once; in the second trial it knows the way and plans once.
        fog = Problem(HORSESHOE.grid, HORSESHOE.start, HORSESHOE.goal, vision=1)
        first, second = agents.run("astar", fog, trials=2).trials
        assert first.plans == 2
        assert second.plans == 1

    def test_overrun_in_any_trial_is_told(self) -> None:
        run = agents.run("lrta", HORSESHOE, depth=3, budget=2, trials=2)
        assert (run.outcome, run.overrun, run.trials) == ("overrun", True, ())

    def test_more_than_four_million_straight_moves_do_not_overflow(self) -> None:
        # An agent that idles: 2**22 straight steps would reach the infinity of exact costs.
        moves = 2**22 + 10
        budget = Budget(1, on_overrun="idle")
        run = agents.run("lrta", HORSESHOE, depth=2, budget=budget, max_moves=moves, clock=False)
        assert (run.outcome, run.moves, run.stays, run.cost) == ("out of moves", moves, moves, float(moves))


class TestOverrun:
    # Depth 3 needs 3 expansions at the dead end of the horseshoe, then 4, then 5.
    def test_truncate_ends_the_run_before_the_move(self) -> None:
        run = agents.run("lrta", HORSESHOE, depth=3, budget=4)
        assert (run.outcome, run.overrun, run.moves, run.max_expansions) == ("overrun", True, 2, 4)
        assert run.expansions == 3 + 4 + 4

    def test_raise_names_the_move_and_the_budget(self) -> None:
        with pytest.raises(BudgetExceeded, match="move 3 needs more than its budget of 4 expansions"):
            agents.run("lrta", HORSESHOE, depth=3, budget=Budget(4, on_overrun="raise"))

    def test_idle_stands_still_until_the_moves_are_used_up(self) -> None:
        run = agents.run("lrta", HORSESHOE, depth=3, budget=Budget(4, on_overrun="idle"), max_moves=20)
        assert (run.outcome, run.overrun, run.moves, run.stays) == ("out of moves", True, 20, 18)
        assert run.expansions == 3 + 4 + 18 * 4

    def test_idle_loses_a_move_and_keeps_the_late_plan(self) -> None:
        # Lookahead 2 from the dead end: 2 expansions and 3 learning pops, 5 scans, against 4. The plan is walked after
        # a lost move, and so are the next two with 6 scans.
        budget = Budget(4, "scans", "idle")
        run = agents.run("lss-lrta", HORSESHOE, lookahead=2, budget=budget)
        assert (run.outcome, run.overrun) == ("goal", True)
        assert run.path.tolist()[:3] == [[2, 2], [2, 2], [1, 2]]
        assert run.stays == run.plans == 6
        assert run.moves == 10 + 6

    def test_a_limit_on_scans_counts_learning(self) -> None:
        # The plans need 5, 6 and 6 scans, then 5 (see the traces).
        assert agents.run("lss-lrta", HORSESHOE, lookahead=2, budget=Budget(6, "scans")).solved
        run = agents.run("lss-lrta", HORSESHOE, lookahead=2, budget=Budget(5, "scans"))
        assert (run.outcome, run.moves) == ("overrun", 2)

    def test_without_a_budget_everything_is_counted_and_nothing_overruns(self) -> None:
        run = agents.run("lss-lrta", HORSESHOE, lookahead=2)
        assert (run.overrun, run.max_scans, run.expansions) == (False, 6, 12)


class TestRefusals:
    @pytest.mark.parametrize("trials", [np.array([1, 2]), 0, -1, 1.5, "often", None, True])
    def test_trials_that_are_no_number_are_refused(self, trials: Any) -> None:
        with pytest.raises(InputError, match="trials"):
            agents.run("lrta", HORSESHOE, trials=trials)

    @pytest.mark.parametrize("max_moves", [0, -1, 2.5, "all", None, True, 10**12, 10**30])
    def test_a_number_of_moves_that_cannot_be_is_refused(self, max_moves: Any) -> None:
        with pytest.raises(InputError, match="max_moves"):
            agents.run("lrta", HORSESHOE, max_moves=max_moves)

    @pytest.mark.parametrize("seed", [-1, 1.5, "x", True])
    @pytest.mark.parametrize("tie", ["first", "random"])
    def test_a_seed_that_is_none_is_refused(self, seed: Any, tie: str) -> None:
        with pytest.raises(InputError, match="seed"):
            agents.run("lrta", HORSESHOE, seed=seed, tie=tie)

    def test_settings_with_an_agent_that_is_already_made_are_refused(self) -> None:
        with pytest.raises(InputError, match="depth"):
            agents.run(agents.make("lrta"), HORSESHOE, depth=3)

    @pytest.mark.parametrize("agent", [object(), 3, None, ["lrta"]])
    def test_what_is_no_agent_is_refused(self, agent: Any) -> None:
        with pytest.raises(InputError, match="reset and act"):
            agents.run(agent, HORSESHOE)

    def test_numpy_whole_numbers_are_taken(self) -> None:
        run = agents.run("lrta", HORSESHOE, trials=np.int64(2), max_moves=np.int32(500), seed=np.uint8(3))
        assert len(run.trials) == 2


def test_an_agent_that_forgets_between_trials_cannot_converge() -> None:
    problem = Problem(Grid(np.ones((3, 3))), (0, 0), (2, 2))
    with pytest.raises(InputError, match="RTA forgets what it learned after every trial: it does not converge"):
        agents.run("rta", problem, trials="converge")


def test_convergence_is_refused_where_the_map_changes() -> None:
    problem = Problem(MEADOW.grid, (0, 0), (5, 2), changes=[(3, (0, 2), False)])
    with pytest.raises(InputError, match='trials="converge" needs a map that stays as it is: give a number of trials'):
        agents.run("lrta", problem, trials="converge")


def test_convergence_is_given_up_after_the_most_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "MOST_TRIALS", 1)
    run = agents.run("lrta", HORSESHOE, trials="converge")
    assert (run.solved, run.h_updates > 0, run.trials, run.converged) == (True, True, (), False)


def test_paths_of_many_trials_are_dropped_but_for_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = agents.run("lrta", HORSESHOE, trials=6)
    monkeypatch.setattr(runner, "MOST_POSITIONS", len(whole.trials[0].path))
    lean = agents.run("lrta", HORSESHOE, trials=6)
    lengths = [len(trial.path) for trial in lean.trials]
    assert lengths == [len(whole.trials[0].path), 0, 0, 0, 0, len(whole.trials[5].path)]
    assert [trial.scrubbing for trial in lean.trials] == [trial.scrubbing for trial in whole.trials]
    assert lean.path.tolist() == whole.path.tolist()


@pytest.mark.parametrize("name", ["astar", "tba"])
def test_a_path_too_long_for_exact_costs_is_refused_and_not_said_to_be_missing(name: str) -> None:
    corridor = winding_corridor()
    problem = Problem(corridor, (0, 0), place_after(corridor, MOST_STEPS + 9))
    with pytest.raises(InputError, match=r"a shortest path from .* takes 4194304 steps or more, for which"):
        agents.run(name, problem, max_moves=10**8)

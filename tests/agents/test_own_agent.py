"""A user's own agent: a class in plain Python with ``reset`` and ``act``, run, metered and judged like ours."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agents
from reference import plain_grid
from reference.plain_astar import a_star
from reference.plain_lss_lrta import frontier_update
from reference.plain_oracle import random_problem
from reference.small_maps import drawn
from rt_gym import STAY, Budget, BudgetExceeded, InputError, Problem, View
from rt_gym.cost import to_float
from rt_gym.terrain import STEPS

CORRIDOR = Problem(drawn("....."), (0, 0), (4, 0))
# A pocket, so that there is something to learn.
POCKET = Problem(drawn(".....", "..##.", "...#.", ".###.", "....."), (2, 2), (4, 2))


class OwnLRTA:
    """LRTA* with lookahead one in floats, as a user would write it: larger c first, then the first neighbour."""

    def reset(self, view: View, seed: int | None = None) -> None:
        self.view, self.h = view, {}

    def value(self, position: tuple[int, int]) -> float:
        return self.h.get(position, self.view.heuristic(position))

    def act(self) -> int:
        position = self.view.position
        moves = self.view.expand(position)
        if not moves:
            return STAY
        action, near, cost = min(moves, key=lambda move: (round(move[2] + self.value(move[1]), 6), -move[2]))
        self.h[position] = max(self.value(position), cost + self.value(near))
        return action


class Believed:
    """A map as the references take it, read through a view: every reading is an expansion, or a scan."""

    def __init__(self, read: Callable[[tuple[int, int]], Any]) -> None:
        self.read = read

    def neighbours(self, position: tuple[int, int]) -> list[tuple[tuple[int, int], int]]:
        return [(near, cost) for _, near, cost in self.read(position)]


class OwnValues(dict[tuple[int, int], Any]):
    """Learned values, which begin as the heuristic."""

    def __init__(self, heuristic: Callable[[tuple[int, int]], Any]) -> None:
        self.heuristic = heuristic

    def __missing__(self, position: tuple[int, int]) -> Any:
        return self.heuristic(position)


class OwnLSSLRTA:
    """LSS-LRTA* on a view, with exact costs or with floats; it walks all of its plan, or the first step."""

    def __init__(self, lookahead: int, commit: str, exact: bool = True) -> None:
        self.lookahead, self.commit, self.exact = lookahead, commit, exact

    def reset(self, view: View, seed: int | None = None) -> None:
        self.view, self.steps = view, []
        expand, scan = (view.expand_exact, view.neighbours_exact) if self.exact else (view.expand, view.neighbours)
        self.expanded, self.scanned = Believed(expand), Believed(scan)
        self.h = OwnValues(view.heuristic_exact if self.exact else view.heuristic)

    def act(self) -> int:
        x, y = self.view.position
        if not self.steps:
            self.steps = self.plan()
        near = self.steps.pop(0)
        return STEPS.index((near[0] - x, near[1] - y))

    def plan(self) -> list[tuple[int, int]]:
        view, h = self.view, self.h
        search = a_star(self.expanded, view.position, view.goal, lambda s: h[s], self.lookahead)
        found, _ = frontier_update(self.scanned, search, h)
        h.update({state: value for state, value in found.items() if value > h[state]})
        steps = search.steps_to(search.best)
        return steps if self.commit == "all" else steps[:1]


class Scripted:
    """An agent that does what it is told: before each move it spends, then it goes in the next direction."""

    def __init__(self, *actions: Any, spend: Callable[[View], None] = lambda view: None) -> None:
        self.actions, self.spend, self.trials = actions, spend, 0

    def reset(self, view: View, seed: int | None = None) -> None:
        self.view, self.seed = view, seed
        self.begin_trial()

    def begin_trial(self) -> None:
        self.trials += 1
        self.left = list(self.actions)

    def act(self) -> Any:
        self.spend(self.view)
        return self.left.pop(0)


EAST, WEST, NORTH = 0, 2, 3


class TestWalking:
    @pytest.mark.parametrize("vision", [None, 1])
    def test_an_own_lrta_walks_and_pays_like_ours(self, vision: int | None) -> None:
        rng = np.random.default_rng(3)
        for _ in range(20):
            grid, start, goal = random_problem(rng, 9)
            problem = Problem(grid, start, goal, vision)
            own, ours = agents.run(OwnLRTA(), problem), agents.run("lrta", problem, depth=1)
            assert own.path.tolist() == ours.path.tolist()
            assert (own.expansions, own.max_expansions, own.scans) == (ours.expansions, ours.max_expansions, ours.scans)
            assert (own.straights, own.diagonals, own.solved) == (ours.straights, ours.diagonals, True)

    def test_with_exact_costs_an_own_lss_lrta_ties_as_ours_in_all_of_300_runs(self) -> None:
        rng, in_floats = np.random.default_rng(4), 0
        for k in range(300):
            grid, start, goal = random_problem(rng, 16, connectivity=8, cost="octile")
            problem = Problem(grid, start, goal, vision=(None, 2)[k % 2])
            settings = {"lookahead": (1, 4, 9, 25)[k // 2 % 4], "commit": ("all", "one")[k % 2]}
            ours, own = agents.run("lss-lrta", problem, **settings), agents.run(OwnLSSLRTA(**settings), problem)
            assert own.path.tolist() == ours.path.tolist()
            assert (own.expansions, own.max_expansions, own.scans) == (ours.expansions, ours.max_expansions, ours.scans)
            by_floats = agents.run(OwnLSSLRTA(**settings, exact=False), problem, max_moves=1000)
            in_floats += by_floats.path.tolist() == ours.path.tolist()
        assert in_floats < 300

    def test_a_scripted_walk_is_recorded(self) -> None:
        run = agents.run(Scripted(EAST, STAY, EAST, WEST, EAST, EAST, EAST), CORRIDOR)
        assert run.path[:, 0].tolist() == [0, 1, 1, 2, 1, 2, 3, 4]
        assert (run.outcome, run.moves, run.stays, run.cost, run.suboptimality) == ("goal", 7, 1, 7.0, 7 / 4)
        assert (run.expansions, run.scans, run.memory, run.h_updates) == (0, 0, 0, 0)

    def test_walking_into_a_wall_takes_a_move(self) -> None:
        run = agents.run(Scripted(NORTH, WEST, EAST, EAST, EAST, EAST), CORRIDOR)
        assert run.path[:, 0].tolist() == [0, 0, 0, 1, 2, 3, 4]
        assert (run.moves, run.cost) == (6, 6.0)

    @pytest.mark.parametrize("action", [8, -2, 1.0, "E", None, 10**30])
    def test_an_action_that_is_none_is_refused(self, action: Any) -> None:
        with pytest.raises(InputError, match="an action must be a direction from 0 to 7 or STAY"):
            agents.run(Scripted(action), CORRIDOR)

    def test_with_four_neighbours_a_diagonal_is_no_action(self) -> None:
        four = Problem(drawn("..", "..", connectivity=4), (0, 0), (1, 1))
        with pytest.raises(InputError, match="from 0 to 3"):
            agents.run(Scripted(4), four)

    def test_numpy_actions_are_taken(self) -> None:
        assert agents.run(Scripted(*[np.int64(EAST)] * 4), CORRIDOR).solved

    def test_moves_run_out(self) -> None:
        run = agents.run(Scripted(*[STAY] * 9), CORRIDOR, max_moves=9)
        assert (run.outcome, run.moves, run.stays) == ("out of moves", 9, 9)

    def test_a_start_on_the_goal_asks_for_no_action(self) -> None:
        run = agents.run(Scripted(), Problem(CORRIDOR.grid, (2, 0), (2, 0)))
        assert (run.outcome, run.moves) == ("goal", 0)

    def test_the_seed_is_handed_on(self) -> None:
        agent = Scripted(*[EAST] * 4)
        agents.run(agent, CORRIDOR, seed=31)
        assert agent.seed == 31

    def test_an_error_of_its_own_is_not_hidden(self) -> None:
        with pytest.raises(IndexError):
            agents.run(Scripted(EAST), CORRIDOR)


class TestMeter:
    def test_work_is_counted_move_by_move(self) -> None:
        work = iter([3, 0, 5, 1])
        agent = Scripted(*[EAST] * 4, spend=lambda view: view.meter.charge(next(work)))
        run = agents.run(agent, CORRIDOR)
        assert (run.expansions, run.max_expansions, run.first_move_expansions, run.scans) == (9, 5, 3, 9)

    def test_scans_are_counted_apart(self) -> None:
        def look(view: View) -> None:
            view.neighbours(view.position)
            view.meter.scan(2)

        run = agents.run(Scripted(*[EAST] * 4, spend=look), CORRIDOR)
        assert (run.expansions, run.scans, run.max_scans) == (0, 12, 3)

    def test_a_refused_charge_is_not_counted_and_no_overrun(self) -> None:
        answers = []
        agent = Scripted(*[EAST] * 4, spend=lambda view: answers.extend([view.meter.charge(3), view.meter.charge(3)]))
        run = agents.run(agent, CORRIDOR, budget=5)
        assert answers == [True, False] * 4
        assert (run.solved, run.overrun, run.expansions, run.max_expansions) == (True, False, 12, 3)

    def test_an_own_search_within_its_budget_gets_what_is_left(self) -> None:
        left: list[Any] = []

        def spend(view: View) -> None:
            left.append(view.meter.left)
            while view.expand(view.position) is not None:
                left.append(view.meter.left)

        agents.run(Scripted(*[EAST] * 4, spend=spend), CORRIDOR, budget=2)
        assert left == [2, 1, 0] * 4

    @pytest.mark.parametrize("count", [-1, 1.5, "2", None])
    def test_work_cannot_be_taken_back(self, count: Any) -> None:
        for spend in (lambda view: view.meter.charge(count), lambda view: view.meter.scan(count)):
            with pytest.raises(InputError, match="count"):
                agents.run(Scripted(EAST, spend=spend), CORRIDOR)

    def test_scans_past_the_limit_truncate(self) -> None:
        work = iter([2, 3, 4])
        agent = Scripted(*[EAST] * 4, spend=lambda view: view.meter.scan(next(work)))
        run = agents.run(agent, CORRIDOR, budget=Budget(3, "scans"))
        assert (run.outcome, run.overrun, run.moves, run.scans, run.max_scans) == ("overrun", True, 2, 9, 4)

    def test_scans_past_the_limit_raise(self) -> None:
        agent = Scripted(EAST, spend=lambda view: view.meter.scan(9))
        with pytest.raises(BudgetExceeded, match="move 1 needs more than its budget of 3 scans"):
            agents.run(agent, CORRIDOR, budget=Budget(3, "scans", "raise"))

    def test_scans_past_the_limit_lose_the_move(self) -> None:
        work = iter([2, 9, 3, 3, 3])
        agent = Scripted(*[EAST] * 5, spend=lambda view: view.meter.scan(next(work)))
        run = agents.run(agent, CORRIDOR, budget=Budget(3, "scans", "idle"))
        assert run.path[:, 0].tolist() == [0, 1, 1, 2, 3, 4]
        assert (run.outcome, run.overrun, run.stays) == ("goal", True, 1)

    def test_scans_do_not_count_against_a_limit_on_expansions(self) -> None:
        agent = Scripted(*[EAST] * 4, spend=lambda view: view.meter.scan(50))
        assert agents.run(agent, CORRIDOR, budget=3).solved


class TestTrials:
    def test_what_it_learned_is_its_own_to_keep(self) -> None:
        own, ours = (agents.run(agent, POCKET, trials=6) for agent in (OwnLRTA(), agents.make("lrta", depth=1)))
        assert [trial.path.tolist() for trial in own.trials] == [trial.path.tolist() for trial in ours.trials]
        assert own.expansions == ours.expansions

    def test_begin_trial_is_called_where_there_is_one(self) -> None:
        agent = Scripted(*[EAST] * 4)
        run = agents.run(agent, CORRIDOR, trials=3)
        assert agent.trials == len(run.trials) == 3
        assert run.moves == 12

    def test_a_failure_in_a_later_trial_ends_the_run_and_is_its_outcome(self) -> None:
        class Tired(Scripted):
            def begin_trial(self) -> None:
                super().begin_trial()
                if self.trials == 2:
                    self.left = [STAY] * 10

        run = agents.run(Tired(*[EAST] * 4), CORRIDOR, trials=3, max_moves=10)
        assert (run.outcome, run.solved, run.moves, len(run.trials)) == ("out of moves", False, 14, 2)

    def test_until_convergence_it_must_say_what_it_raised(self) -> None:
        with pytest.raises(InputError, match=r"does not say whether it still learns.*h_updates"):
            agents.run(Scripted(*[EAST] * 4), CORRIDOR, trials="converge")

    def test_one_trial_that_raised_nothing_has_converged(self) -> None:
        agent = Scripted(*[EAST] * 4)
        agent.h_updates = 0
        assert agents.run(agent, CORRIDOR, trials="converge").trials == ()


class TestView:
    def test_changed_cells_are_told_once(self) -> None:
        told: list[list[tuple[int, int]]] = []
        changes = [(1, (1, 1), False), (2, (2, 1), False), (2, (3, 1), False)]
        problem = Problem(drawn(".....", "....."), (0, 0), (4, 0), changes=changes)
        agents.run(Scripted(*[EAST] * 4, spend=lambda view: told.append(view.take_changes())), problem)
        assert told == [[], [(1, 1)], [(2, 1), (3, 1)], []]

    def test_a_map_put_back_for_the_next_trial_is_a_change_too(self) -> None:
        told: list[list[tuple[int, int]]] = []
        problem = Problem(drawn(".....", "....."), (0, 0), (4, 0), changes=[(1, (1, 1), False)])
        agents.run(Scripted(*[EAST] * 4, spend=lambda view: told.append(view.take_changes())), problem, trials=2)
        assert told == [[], [(1, 1)], [], [], [(1, 1)], [(1, 1)], [], []]

    def test_an_agent_sees_no_more_than_the_fog_allows(self) -> None:
        seen: list[int] = []
        fog = Problem(CORRIDOR.grid, (0, 0), (4, 0), vision=1)
        agents.run(Scripted(*[EAST] * 4, spend=lambda view: seen.append(int(view.known.sum()))), fog)
        assert seen == [2, 3, 4, 5]

    def test_neighbours_and_costs_are_those_of_the_believed_map(self) -> None:
        rng = np.random.default_rng(12)
        for _ in range(20):
            grid, start, goal = random_problem(rng, 7)
            view = Problem(grid, start, goal, vision=1).view()
            passable = [(x, y) for y, x in np.argwhere(view.passable)]
            believed = plain_grid.Map(grid, passable)
            for cell in passable:
                plain = believed.neighbours(cell)
                assert [near for _, near, _ in view.neighbours(cell)] == [near for near, _ in plain]
                costs = [cost for _, _, cost in view.neighbours(cell)]
                assert costs == pytest.approx([cost / plain_grid.STRAIGHT for _, cost in plain])

    def test_exact_costs_are_those_of_the_kernels_and_charged_like_floats(self) -> None:
        rng = np.random.default_rng(13)
        for _ in range(20):
            grid, start, goal = random_problem(rng, 7)
            view, believed = Problem(grid, start, goal).view(), plain_grid.Map.of(grid)
            exact = view.expand_exact(start)
            assert [move[1:] for move in exact or []] == believed.neighbours(start)
            assert (view.meter.expansions, view.meter.scans) == (1, 1)
            assert view.neighbours_exact(start) == exact
            assert (view.meter.expansions, view.meter.scans) == (1, 2)
            assert view.heuristic_exact(start) == plain_grid.h0(grid, start, goal)
            assert view.heuristic_exact(goal, start) == plain_grid.h0(grid, goal, start)
            assert view.expand(start) == [(action, near, to_float(cost)) for action, near, cost in exact or []]

    def test_an_exact_expansion_beyond_the_budget_is_none_and_not_counted(self) -> None:
        view = CORRIDOR.view(budget=1)
        assert view.expand_exact((0, 0)) is not None
        assert view.expand_exact((0, 0)) is None
        assert view.meter.expansions == 1


class Spender:
    """An agent that spends before its first move, and then stands still."""

    def reset(self, view: View, seed: int | None = None) -> None:
        view.meter.scan(9)

    def act(self) -> int:
        return STAY


@pytest.mark.parametrize("goal", [(0, 0), (1, 0)])
@pytest.mark.parametrize("mode", ["truncate", "idle", "raise"])
def test_what_is_spent_before_the_first_move_is_no_secret(goal: tuple[int, int], mode: str) -> None:
    problem, budget = Problem(drawn(".."), (0, 0), goal), Budget(5, "scans", mode)
    if mode == "raise":
        with pytest.raises(BudgetExceeded):
            agents.run(Spender(), problem, budget=budget, max_moves=3)
        return
    run = agents.run(Spender(), problem, budget=budget, max_moves=3)
    assert (run.overrun, run.max_scans) == (True, 9)
    assert (run.outcome == "overrun") == (mode == "truncate")

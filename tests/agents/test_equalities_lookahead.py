"""What RTA*, LRTS and P LRTA* have in common with LRTA*, what their parameters do, and which are refused."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import agents
from reference.plain_oracle import random_problem
from reference.small_maps import drawn
from rt_gym import Budget, Grid, InputError, Problem, World
from rt_gym.cost import STRAIGHT, encode
from rt_gym.search.distance import exact_distances

Settings = dict[str, Any]

RULES = [{"connectivity": 4}, {"connectivity": 8, "cost": "unit"}, {"connectivity": 8, "cost": "octile"}]
RULE_NAMES = ["4", "8 unit", "8 octile"]


def some_problems(seed: int, count: int, side: int, vision: int | None, **rules: Any) -> list[Problem]:
    rng = np.random.default_rng(seed)
    return [
        Problem(*random_problem(rng, side, density=float(rng.uniform(0.1, 0.4)), **rules), vision=vision)
        for _ in range(count)
    ]


@pytest.mark.plain
@pytest.mark.parametrize("rules", RULES, ids=RULE_NAMES)
@pytest.mark.parametrize("vision", [None, 1], ids=["known", "fog"])
@pytest.mark.parametrize(
    ("twin", "settings"),
    [("lrts", {"depth": 1, "gamma": 1, "quota": None}), ("lrts", {"quota": float("inf")}), ("p-lrta", {"queue": 0})],
    ids=str,
)
def test_the_smallest_setting_is_lrta_trial_for_trial(
    twin: str, settings: Settings, vision: int | None, rules: Settings
) -> None:
    for problem in some_problems(1, 12, 10, vision, **rules):
        same, lrta = agents.make(twin, **settings), agents.make("lrta", depth=1)
        runs = [agents.run(agent, problem, trials="converge") for agent in (same, lrta)]
        trials = [run.trials or (run,) for run in runs]
        assert [trial.path.tolist() for trial in trials[0]] == [trial.path.tolist() for trial in trials[1]]
        counts = [(run.expansions, run.scans, run.h_updates, run.memory) for run in runs]
        assert counts[0] == counts[1]
        assert (same.learned == lrta.learned).all()


class TestRTA:
    @pytest.mark.parametrize("vision", [None, 1], ids=["known", "fog"])
    def test_it_arrives_and_differs_from_lrta_the_less_the_deeper_it_looks(
        self, vision: int | None, record_property: Callable[[str, object], None]
    ) -> None:
        # By how much is reported, not demanded: it depends on the maps.
        differences = {}
        for depth in (1, 2, 3, 5, 8):
            cost = {"rta": 0.0, "lrta": 0.0}
            for problem in some_problems(2, 400, 24, vision):
                for agent_id in cost:
                    run = agents.run(agent_id, problem, depth=depth, clock=False)
                    assert run.solved
                    cost[agent_id] += run.cost
            differences[depth] = cost["rta"] / cost["lrta"] - 1
            record_property(f"cost of rta against lrta, depth {depth}, vision {vision}", f"{differences[depth]:+.1%}")
        assert abs(differences[8]) < abs(differences[1])

    @pytest.mark.parametrize("rules", RULES, ids=RULE_NAMES)
    @pytest.mark.parametrize("depth", [1, 2, 4])
    def test_its_first_move_is_that_of_lrta_and_its_value_no_smaller(self, depth: int, rules: Settings) -> None:
        for problem in some_problems(3, 40, 14, None, **rules):
            first = []
            for agent_id in ("rta", "lrta"):
                agent, world = agents.make(agent_id, depth=depth), World(problem)
                agent.reset(world.view)
                first.append((agent.act(), world.view.meter.expansions, agent.learned.copy()))
            assert first[0][:2] == first[1][:2]
            assert (first[0][2] >= first[1][2]).all()

    def test_later_trials_begin_with_nothing(self) -> None:
        problem = Problem(drawn("..#.", "..#.", "...."), (1, 0), (3, 0))
        run = agents.run("rta", problem, trials=3)
        assert [trial.path.tolist() for trial in run.trials] == [run.trials[0].path.tolist()] * 3
        assert len({trial.h_updates for trial in run.trials}) == 1


class TestLRTS:
    @pytest.mark.parametrize("vision", [None, 1], ids=["known", "fog"])
    @pytest.mark.parametrize(
        "settings",
        [
            {"depth": 2, "gamma": 0.5},
            {"depth": 1, "gamma": 0.2, "quota": 0},
            {"depth": 3, "gamma": 0.7, "quota": 10},
            {"depth": 4, "gamma": 1e-9},
            {"depth": 5},
        ],
        ids=str,
    )
    def test_converged_paths_cost_at_most_the_optimum_divided_by_gamma(
        self, settings: Settings, vision: int | None
    ) -> None:
        gamma = Fraction(float(settings.get("gamma", 1)))
        for problem in some_problems(4, 25, 12, vision):
            agent = agents.make("lrts", **settings)
            run = agents.run(agent, problem, trials="converge")
            last = run.trials[-1] if run.trials else run
            octile = problem.grid.cost == "octile"
            cost = encode(last.straights, last.diagonals) if octile else encode(last.moves)
            assert run.converged
            # The price of every move is rounded down, by less than 1 in units of 2**-40.
            assert gamma * cost < problem.optimal_cost + max(1, last.moves)
            assert (agent.learned <= exact_distances(problem.grid, problem.goal)).all()

    @pytest.mark.plain
    def test_quota_zero_sends_it_back_after_every_change(self) -> None:
        # With one move per plan the way back is that of the last forward move, and the stack can be kept here.
        turns = 0
        for problem in some_problems(5, 60, 12, None):
            agent, world = agents.make("lrts", depth=1, quota=0), World(problem)
            agent.reset(world.view)
            stack: list[Any] = []
            while not world.done:
                before, raised = world.view.position, int(world.trip.tally[0].raises)
                world.step(agent.act())
                if int(world.trip.tally[0].raises) > raised and stack:
                    assert world.view.position == stack.pop()
                    turns += 1
                else:
                    stack.append(before)
        assert turns > 20

    def test_a_quota_never_used_up_changes_nothing(self) -> None:
        for problem in some_problems(6, 30, 12, 1):
            free, ample = (agents.run("lrts", problem, depth=3, quota=quota) for quota in (None, 1_000_000))
            assert free.path.tolist() == ample.path.tolist()
            assert (free.scans, free.h_updates) == (ample.scans, ample.h_updates)

    def test_a_trail_longer_than_the_map_is_forgotten(self) -> None:
        # In a closed room of three cells values rise for ever; 15 cells with the border, so the trail is full again and
        # again before the quota is used up, and after that the agent goes back.
        problem = Problem(drawn("...#."), (0, 0), (4, 0), allow_unsolvable=True)
        agent = agents.make("lrts", quota=200)
        run = agents.run(agent, problem, max_moves=2000)
        assert (run.outcome, run.moves) == ("out of moves", 2000)
        assert agent.memory.trail.direction.size == 21
        assert run.scans > run.expansions

    def test_a_blocked_way_back_is_forgotten(self) -> None:
        # It goes from 0 to 1, where both neighbours are 5: a change, but the way back is closed by then.
        rows = (".....", ".###.", ".#...")
        problem = Problem(drawn(*rows, connectivity=4), (2, 2), (0, 2), changes=[(1, (2, 2), False)])
        run = agents.run("lrts", problem, quota=0)
        assert run.solved
        assert [tuple(position) for position in run.path[:3].tolist()] == [(2, 2), (3, 2), (4, 2)]

    def test_prices_are_exact_and_gamma_one_changes_none(self) -> None:
        for gamma in (1, 0.5, 0.3, 1e-30):
            agent, world = agents.make("lrts", gamma=gamma), World(Problem(drawn("..."), (0, 0), (2, 0)))
            agent.reset(world.view)
            expected = [max(1, int(Fraction(float(gamma)) * int(cost))) for cost in world.terrain.cost]
            assert agent.memory.prices.tolist() == expected
            assert gamma < 1 or expected == world.terrain.cost.tolist()


class TestPLRTA:
    @pytest.mark.parametrize("rules", RULES, ids=RULE_NAMES)
    def test_no_move_updates_more_than_the_queue(self, rules: Settings) -> None:
        for problem in some_problems(7, 20, 14, 1, **rules):
            for queue in (1, 7, 30):
                run = agents.run("p-lrta", problem, queue=queue)
                assert run.max_expansions <= queue + 1
                assert run.max_scans <= queue + 2

    def test_a_queue_cut_by_the_meter_waits_for_the_next_move(self) -> None:
        for problem in some_problems(8, 20, 12, None):
            run = agents.run("p-lrta", problem, queue=30, budget=4)
            assert run.solved
            assert not run.overrun
            assert run.max_expansions <= 4

    @pytest.mark.parametrize("limit", [1, 2, 3, 20])
    def test_a_queue_chosen_for_scans_keeps_them(self, limit: int) -> None:
        for problem in some_problems(9, 10, 12, None):
            run = agents.run("p-lrta", problem, budget=Budget(limit, "scans"))
            assert run.solved
            assert not run.overrun

    def test_a_longer_queue_costs_less_on_average(self) -> None:
        problems = some_problems(10, 150, 24, None)
        costs = [np.mean([agents.run("p-lrta", problem, queue=n).cost for problem in problems]) for n in (0, 5, 40)]
        assert costs[0] > costs[1] > costs[2]


class TestRefusals:
    @pytest.mark.parametrize(
        ("owner", "name", "value"),
        [
            *((owner, "depth", value) for owner in ("rta", "lrts") for value in (0, -1, 1001, 1.5, "3", None, True)),
            *(("rta", "depth", value) for value in (float("nan"), float("inf"), 10**30)),
            *(("lrts", "gamma", value) for value in (0, -0.5, 1.01, float("nan"), float("inf"), "1", None, True, 1j)),
            *(("lrts", "quota", value) for value in (-1, -1e-9, float("nan"), float("-inf"), "inf", True, [1], 10**30)),
            *(("p-lrta", "queue", value) for value in (-1, 2.5, "all", None, False, float("nan"), 10**30)),
        ],
    )
    def test_a_value_out_of_range_is_refused_by_name_in_one_sentence(self, owner: str, name: str, value: Any) -> None:
        with pytest.raises(InputError, match=f"^{name} must be") as refusal:
            agents.make(owner, **{name: value})
        assert repr(value) in str(refusal.value)
        assert "\n" not in str(refusal.value)

    def test_numbers_of_any_kind_are_taken(self) -> None:
        agent = agents.make("lrts", depth=np.int64(2), gamma=np.float32(0.5), quota=Fraction(7, 2))
        assert (agent.depth, agent.gamma, agent.quota) == (2, 0.5, 3.5)
        assert agents.make("lrts", quota=np.inf).quota is None
        assert agents.make("p-lrta", queue=np.uint8(9)).queue == 9

    def test_a_quota_counts_straight_steps(self) -> None:
        agent, world = agents.make("lrts", quota=2.5), World(Problem(drawn("..."), (0, 0), (2, 0)))
        agent.reset(world.view)
        assert agent.memory.trail.quota == 5 * STRAIGHT // 2


class TestFit:
    def test_a_budget_chooses_depth_and_queue(self) -> None:
        assert agents.make("rta", budget=100).depth == agents.make("lrts", budget=100).depth == 5
        assert agents.make("rta", budget=Budget(300, "scans")).depth == 5
        assert agents.make("p-lrta", budget=100).queue == 99
        assert agents.make("p-lrta", budget=Budget(100, "scans")).queue == 98
        assert agents.make("p-lrta", budget=1).queue == agents.make("p-lrta", budget=Budget(1, "scans")).queue == 0

    @pytest.mark.parametrize("owner", ["rta", "lrts"])
    def test_one_expansion_too_few_is_an_overrun_that_leaves_the_values_alone(self, owner: str) -> None:
        problem = Problem(Grid(np.ones((9, 9))), (4, 4), (0, 8))
        for limit, fits in ((24, False), (25, True)):
            run = agents.run(owner, problem, depth=3, budget=limit)
            assert run.solved == fits
            assert run.overrun != fits
            assert fits or (run.h_updates, run.plans) == (0, 1)

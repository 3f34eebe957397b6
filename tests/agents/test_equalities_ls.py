"""What RTAA*, LRTA*(k) and LRTA*_LS share with LRTA* and LSS-LRTA*, what their parameters do, and which are refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agents
from reference.plain_oracle import random_problem
from rt_gym import Budget, Grid, InputError, Problem, World

Settings = dict[str, Any]

RULES = [{"connectivity": 4}, {"connectivity": 8, "cost": "unit"}, {"connectivity": 8, "cost": "octile"}]
rules_and_sight = [
    pytest.mark.parametrize("rules", RULES, ids=["4", "8 unit", "8 octile"]),
    pytest.mark.parametrize("vision", [None, 1], ids=["known", "fog"]),
]

OPEN = Problem(Grid(np.ones((19, 19))), (9, 9), (0, 18))


def on_all_maps(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test with 4 and 8 neighbours, unit and octile costs, on known maps and in fog."""
    for mark in rules_and_sight:
        test = mark(test)
    return test


def some_problems(seed: int, count: int, side: int, vision: int | None = None, **rules: Any) -> list[Problem]:
    rng = np.random.default_rng(seed)
    return [
        Problem(*random_problem(rng, side, density=float(rng.uniform(0.1, 0.4)), **rules), vision=vision)
        for _ in range(count)
    ]


class TestEqualities:
    @pytest.mark.plain
    @on_all_maps
    @pytest.mark.parametrize(
        ("twin", "settings"),
        [
            *((twin, {"lookahead": 1, "commit": commit}) for twin in ("lss-lrta", "rtaa") for commit in ("all", "one")),
            ("lrta-k", {"k": 1}),
            ("lrta-k-visited", {"k": 1, "supports": True}),
            ("lrta-ls-k", {"k": 1}),
        ],
        ids=str,
    )
    def test_the_smallest_setting_is_lrta_trial_for_trial(
        self, twin: str, settings: Settings, vision: int | None, rules: Settings
    ) -> None:
        for problem in some_problems(1, 10, 10, vision, **rules):
            same, lrta = agents.make(twin, **settings), agents.make("lrta", depth=1)
            runs = [agents.run(agent, problem, trials="converge") for agent in (same, lrta)]
            trials = [run.trials or (run,) for run in runs]
            assert [trial.path.tolist() for trial in trials[0]] == [trial.path.tolist() for trial in trials[1]]
            counts = [(run.expansions, run.h_updates, run.memory) for run in runs]
            assert counts[0] == counts[1]
            assert (same.learned == lrta.learned).all()

    @on_all_maps
    def test_from_equal_values_rtaa_learns_no_more_than_lss_lrta(self, vision: int | None, rules: Settings) -> None:
        # Both plan every move; RTAA* is led along the path of LSS-LRTA* and given its values before every plan.
        less = 0
        for problem in some_problems(2, 20, 14, vision, **rules):
            lss, rtaa = (agents.make(agent_id, lookahead=9, commit="one") for agent_id in ("lss-lrta", "rtaa"))
            leader, led = World(problem), World(problem)
            lss.reset(leader.view)
            rtaa.reset(led.view)
            while not leader.done:
                rtaa.learned[:] = lss.learned
                action = lss.act()
                assert rtaa.act() == action
                assert led.view.meter.expansions == leader.view.meter.expansions
                assert (rtaa.learned <= lss.learned).all()
                less += int((rtaa.learned < lss.learned).sum())
                leader.step(action)
                led.step(action)
        assert less > 0

    @pytest.mark.parametrize("rules", RULES, ids=str)
    def test_rtaa_with_no_bound_walks_the_path_of_a_star(self, rules: Settings) -> None:
        for problem in some_problems(3, 30, 16, **rules):
            run, astar = agents.run("rtaa", problem, lookahead=10_000), agents.run("astar", problem)
            assert run.path.tolist() == astar.path.tolist()
            assert run.expansions == astar.expansions

    def test_a_lookahead_of_one_may_also_learn_from_the_best_successor(self) -> None:
        # LRTA*_LS(k, 1) tests the best successor of the current state as well: that is all it has beyond LRTA*_LS(k).
        problems = some_problems(4, 60, 14)
        differing = [
            agents.run("lrta-ls-kd", problem, k=10, d=1).path.tolist()
            != agents.run("lrta-ls-k", problem, k=10).path.tolist()
            for problem in problems
        ]
        assert 0 < sum(differing) < len(problems)

    def test_the_six_versions_walk_six_ways(self) -> None:
        paths = set()
        for lookahead in ("dynamic", "static"):
            for control in ("dynamic", "single", "several"):
                settings = {"k": 10, "d": 8, "lookahead": lookahead, "control": control}
                runs = [agents.run("lrta-ls-kd", problem, **settings) for problem in some_problems(5, 40, 16)]
                paths.add(tuple(run.path.tobytes() for run in runs))
        assert len(paths) == 6

    def test_one_k_for_all_changes_nothing_with_a_dynamic_lookahead(self) -> None:
        static_differs = False
        for problem in some_problems(6, 40, 14):
            own, shared = (agents.run("lrta-ls-kd", problem, k=5, d=8, shared_k=shared) for shared in (False, True))
            assert own.path.tolist() == shared.path.tolist()
            own, shared = (
                agents.run("lrta-ls-kd", problem, k=5, d=8, lookahead="static", shared_k=shared)
                for shared in (False, True)
            )
            static_differs |= own.h_updates != shared.h_updates
        assert static_differs


class TestBounds:
    @on_all_maps
    def test_no_move_does_more_than_its_parameters_say(
        self, vision: int | None, rules: Settings, act_out: Callable[..., Any]
    ) -> None:
        def most(agent_id: str, problem: Problem, **settings: Any) -> tuple[int, int, int, int]:
            agent, world = agents.make(agent_id, **settings), World(problem)
            agent.reset(world.view)
            before, rises = agent.learned.copy(), [0]
            trace = act_out(agent, world, 10_000)
            for h in trace.h:
                rises.append(int((h != before).sum()))
                before = h
            counts = trace.expansions, trace.learning_ops, trace.scans, rises
            return tuple(max(count, default=0) for count in counts)

        for problem in some_problems(7, 8, 14, vision, **rules):
            for k in (1, 5, 30):
                expansions, learning_ops, scans, _ = most("lrta-k", problem, k=k)
                assert expansions <= 1
                assert learning_ops <= k - 1
                assert scans <= k + 1
                expansions, learning_ops, scans, rises = most("lrta-ls-k", problem, k=k)
                assert expansions <= 1
                assert rises <= k
                assert learning_ops <= 5 * k + 4
                assert scans < 13 * k
                expansions, _, scans, rises = most("lrta-ls-kd", problem, k=k, d=6)
                assert expansions <= 6
                assert rises <= k
                assert scans <= 13 * k + 6
                assert most("lrta-ls-kd", problem, k=k, d=6, lookahead="static", shared_k=True)[3] <= k

    def test_more_propagation_costs_fewer_moves_on_average(self) -> None:
        problems = some_problems(8, 120, 24, vision=1)
        for agent_id in ("lrta-k", "lrta-ls-k"):
            costs = [np.mean([agents.run(agent_id, problem, k=k).cost for problem in problems]) for k in (1, 6, 40)]
            assert costs[0] > costs[1] > costs[2]

    @pytest.mark.parametrize("settings", [{}, {"lookahead": "static"}], ids=str)
    def test_a_lookahead_cut_by_the_meter_is_as_large_as_it_got(self, settings: Settings) -> None:
        for limit in (1, 4, 8):
            cut = agents.run("lrta-ls-kd", OPEN, d=8, budget=limit, **settings)
            small = agents.run("lrta-ls-kd", OPEN, d=limit, **settings)
            assert (cut.solved, cut.overrun) == (True, False)
            assert cut.path.tolist() == small.path.tolist()
            assert cut.expansions == small.expansions


class TestFit:
    def test_a_budget_chooses_what_bounds_a_move(self) -> None:
        assert agents.make("rtaa", budget=100).lookahead == 100
        assert agents.make("rtaa", budget=Budget(100, "scans")).lookahead == 100
        assert agents.make("lrta-k", budget=100).k == agents.parameters("lrta-k")["k"]
        assert agents.make("lrta-k", budget=Budget(100, "scans")).k == 98
        assert agents.make("lrta-ls-k", budget=100).k == agents.parameters("lrta-ls-k")["k"]
        assert agents.make("lrta-ls-k", budget=Budget(130, "scans")).k == 10
        both = agents.make("lrta-ls-kd", budget=100)
        assert (both.k, both.d) == (agents.parameters("lrta-ls-kd")["k"], 100)
        both = agents.make("lrta-ls-kd", budget=Budget(140, "scans"))
        assert (both.k, both.d) == (10, 10)

    @pytest.mark.parametrize("owner", ["rtaa", "lrta-k", "lrta-ls-k", "lrta-ls-kd"])
    @pytest.mark.parametrize("tie", ["first", "random"])
    @pytest.mark.parametrize("limit", [14, 30, 75, 300])
    def test_a_setting_chosen_for_scans_keeps_them(self, owner: str, tie: str, limit: int) -> None:
        for problem in some_problems(9, 12, 14):
            run = agents.run(owner, problem, budget=Budget(limit, "scans"), tie=tie)
            assert run.solved
            assert not run.overrun


class TestRefusals:
    @pytest.mark.parametrize(
        ("owner", "name", "value"),
        [
            *(("rtaa", "lookahead", value) for value in (0, -7, 2.5, "all", None, False, 10**30)),
            *(("rtaa", "commit", value) for value in ("two", "", None, 1)),
            *(
                (owner, "k", value)
                for owner in ("lrta-k", "lrta-k-visited", "lrta-ls-k", "lrta-ls-kd")
                for value in (0, -1, 1.5, 2.0, "3", None, True, 10**30)
            ),
            *((owner, "supports", value) for owner in ("lrta-k", "lrta-k-visited") for value in (0, 1, "true", None)),
            *(("lrta-ls-kd", "d", value) for value in (0, -1, 1.5, "3", None, True, 10**30)),
            *(("lrta-ls-kd", "lookahead", value) for value in ("single", "", None, 5)),
            *(("lrta-ls-kd", "control", value) for value in ("static", "", None, 5)),
            *(("lrta-ls-kd", "shared_k", value) for value in (0, 1, "yes", None)),
        ],
    )
    def test_a_value_out_of_range_is_refused_by_name_in_one_sentence(self, owner: str, name: str, value: Any) -> None:
        with pytest.raises(InputError, match=f"^{name} must be") as refusal:
            agents.make(owner, **{name: value})
        assert repr(value) in str(refusal.value)
        assert "\n" not in str(refusal.value)

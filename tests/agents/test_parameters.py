"""Making agents: their parameters, what is refused and how, and which setting a budget chooses."""

import inspect
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import agents
from rt_gym import Budget, Grid, InputError, Problem

OPEN = Problem(Grid(np.ones((9, 9))), (4, 4), (0, 8))


class TestMake:
    def test_an_unknown_id_is_refused_with_the_known_ones(self) -> None:
        with pytest.raises(InputError) as refusal:
            agents.make("lrta-star")
        assert all(agent_id in str(refusal.value) for agent_id in agents.ids())

    def test_a_near_miss_gets_a_hint(self) -> None:
        with pytest.raises(InputError, match="did you mean lss-lrta"):
            agents.make("lss_lrta")

    @pytest.mark.parametrize("value", [None, 3, ["lrta"], {"lrta": 1}, ""])
    def test_what_is_no_id_is_refused(self, value: Any) -> None:
        with pytest.raises(InputError, match="there is no agent"):
            agents.make(value)

    def test_every_id_makes_an_agent_with_its_defaults(self, agent_id: str) -> None:
        agent = agents.make(agent_id)
        assert agent.learned is None
        assert callable(agent.reset)
        assert callable(agent.act)

    def test_every_parameter_has_a_default_that_can_be_given(self, agent_id: str) -> None:
        parameters = agents.parameters(agent_id)
        assert inspect.Parameter.empty not in parameters.values()
        assert type(agents.make(agent_id, **parameters)) is agents.load(agent_id)

    def test_an_unknown_parameter_is_refused_with_the_known_ones(self, agent_id: str) -> None:
        with pytest.raises(InputError, match="has no parameter 'colour'") as refusal:
            agents.make(agent_id, colour="red")
        assert all(name in str(refusal.value) for name in agents.parameters(agent_id))

    def test_every_agent_breaks_ties_by_order_or_at_random(self, agent_id: str) -> None:
        assert agents.parameters(agent_id)["tie"] == "first"
        assert agents.make(agent_id, tie="random").tie == "random"

    @pytest.mark.parametrize("tie", ["last", "", None, 1, True])
    def test_any_other_tie_is_refused(self, agent_id: str, tie: Any) -> None:
        with pytest.raises(InputError, match='tie must be "first" or "random"'):
            agents.make(agent_id, tie=tie)

    @pytest.mark.parametrize(
        ("owner", "name", "value"),
        [
            *(("lrta", "depth", value) for value in (0, -1, 1001, 1.5, 2.0, "3", None, True, 10**30)),
            *(("lss-lrta", "lookahead", value) for value in (0, -7, 2.5, "all", None, False, 10**30)),
            *(("lss-lrta", "commit", value) for value in ("two", "", None, 1, True)),
            *(
                ("weighted-astar", "weight", value)
                for value in (0, 0.99, -2, 1001, float("nan"), float("inf"), "2", None, True, 2j)
            ),
        ],
    )
    def test_a_value_out_of_range_is_refused_by_name(self, owner: str, name: str, value: Any) -> None:
        with pytest.raises(InputError, match=name) as refusal:
            agents.make(owner, **{name: value})
        assert repr(value) in str(refusal.value)
        assert "\n" not in str(refusal.value)

    def test_numpy_numbers_are_numbers(self) -> None:
        assert agents.make("lrta", depth=np.int64(3)).depth == 3
        assert agents.make("lss-lrta", lookahead=np.uint8(30)).lookahead == 30
        assert agents.make("weighted-astar", weight=np.float32(1.5)).weight == Fraction(3, 2)
        assert agents.make("weighted-astar", weight=np.int64(2)).weight == 2

    def test_a_weight_is_the_fraction_it_was_written_as(self) -> None:
        assert agents.make("weighted-astar", weight=1.1).weight == Fraction(11, 10)
        assert agents.make("weighted-astar", weight=Fraction(4, 3)).weight == Fraction(4, 3)


class TestFit:
    def test_a_budget_of_100_gives_lrta_depth_5(self) -> None:
        assert agents.make("lrta", budget=100).depth == 5  # (2 * 5 - 1)**2 = 81, and 11**2 = 121 is too much

    @pytest.mark.parametrize("depth", [1, 2, 3, 10, 16])
    def test_a_depth_is_chosen_from_its_bound_on(self, depth: int) -> None:
        bound = (2 * depth - 1) ** 2
        assert agents.make("lrta", budget=bound).depth == depth
        assert agents.make("lrta", budget=bound + 1).depth == depth
        if depth > 1:
            assert agents.make("lrta", budget=bound - 1).depth == depth - 1

    def test_a_lookahead_is_the_budget(self) -> None:
        assert agents.make("lss-lrta", budget=37).lookahead == 37

    def test_what_is_given_goes_before_what_fits(self) -> None:
        assert agents.make("lrta", budget=100, depth=7).depth == 7
        assert agents.make("lss-lrta", budget=100, lookahead=3).lookahead == 3

    def test_a_budget_without_a_limit_chooses_nothing(self, agent_id: str) -> None:
        for budget in (None, Budget()):
            assert agents.make(agent_id, budget=budget).bound == agents.make(agent_id).bound

    @pytest.mark.parametrize("limit", [1, 2, 8, 9, 10, 100, 999, 4_004_000, 4_004_001, 10**9, 2**62])
    @pytest.mark.parametrize("count", ["expansions", "scans"])
    def test_the_chosen_setting_fits_whatever_the_budget(self, agent_id: str, limit: int, count: str) -> None:
        bound = agents.make(agent_id, budget=Budget(limit, count)).bound
        assert bound is None or 1 <= bound <= limit

    @pytest.mark.parametrize("limit", [10, 17, 24, 50, 200])
    def test_a_lookahead_chosen_for_scans_keeps_them(self, limit: int) -> None:
        run = agents.run("lss-lrta", OPEN, budget=Budget(limit, "scans"))
        assert run.solved
        assert not run.overrun
        assert run.max_scans <= limit

    @pytest.mark.parametrize("budget", [0, -1, 2.5, "100", True, float("inf")])
    def test_a_budget_that_is_no_number_is_refused(self, agent_id: str, budget: Any) -> None:
        with pytest.raises(InputError, match="budget must be a whole number"):
            agents.make(agent_id, budget=budget)


class TestBounds:
    """On open ground, with the goal out of sight, a lookahead of depth d expands exactly (2 d - 1)**2 states."""

    def test_the_bound_of_depth_three_is_25(self) -> None:
        assert agents.make("lrta", depth=3).bound == 25
        assert agents.run("lrta", OPEN, depth=3).max_expansions == 25

    @pytest.mark.parametrize(("limit", "fits"), [(24, False), (25, True), (26, True)])
    def test_one_expansion_too_few_is_an_overrun(self, limit: int, fits: bool) -> None:
        run = agents.run("lrta", OPEN, depth=3, budget=limit)
        assert run.solved == fits
        assert run.overrun != fits
        assert run.max_expansions == min(limit, 25)
        assert run.moves == (4 if fits else 0)

    def test_with_four_neighbours_it_is_2d2_minus_2d_plus_1(self) -> None:
        four = Problem(Grid(np.ones((9, 9)), connectivity=4), (4, 4), (0, 8))
        assert [agents.run("lrta", four, depth=d).first_move_expansions for d in (1, 2, 3, 4)] == [1, 5, 13, 25]

    def test_a_refused_plan_leaves_the_values_alone(self) -> None:
        agent = agents.make("lrta", depth=3)
        run = agents.run(agent, OPEN, budget=24)
        assert (run.h_updates, run.memory, run.plans) == (0, 0, 1)

    @pytest.mark.parametrize("limit", [1, 4, 5, 6])
    def test_a_local_search_cut_by_the_meter_is_as_large_as_it_got(self, limit: int) -> None:
        cut = agents.run("lss-lrta", OPEN, lookahead=5, budget=limit)
        small = agents.run("lss-lrta", OPEN, lookahead=min(5, limit))
        assert (cut.solved, cut.overrun) == (True, False)
        assert cut.path.tolist() == small.path.tolist()
        assert (cut.expansions, cut.scans) == (small.expansions, small.scans)

"""Making agents: their parameters, what is refused and how, and which setting a budget chooses."""

import inspect
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import agents
from rt_gym import Budget, InputError

ODD = [np.array([1, 2]), np.zeros((2, 2)), np.array("first"), float("nan"), [], {}, b"x", 10**30, -1, 0.5, "", (1, 2)]


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

    @pytest.mark.parametrize("value", ODD, ids=repr)
    def test_any_value_of_any_parameter_is_taken_or_refused(self, agent_id: str, value: Any) -> None:
        for name in agents.parameters(agent_id):
            with suppress(InputError):
                assert agents.make(agent_id, **{name: value}).memory is None

    def test_numpy_numbers_are_numbers(self) -> None:
        assert agents.make("lrta", depth=np.int64(3)).depth == 3
        assert agents.make("lss-lrta", lookahead=np.uint8(30)).lookahead == 30
        assert agents.make("weighted-astar", weight=np.float32(1.5)).weight == Fraction(3, 2)
        assert agents.make("weighted-astar", weight=np.int64(2)).weight == 2


class TestFit:
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

    @pytest.mark.parametrize("budget", [0, -1, 2.5, "100", True, float("inf")])
    def test_a_budget_that_is_no_number_is_refused(self, agent_id: str, budget: Any) -> None:
        with pytest.raises(InputError, match="budget must be a whole number"):
            agents.make(agent_id, budget=budget)

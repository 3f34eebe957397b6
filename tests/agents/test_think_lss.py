"""think-lss: trials worked out on paper, the episodes of RTThink-v0, what its rules amount to, and what is refused."""

from collections.abc import Callable
from itertools import groupby
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import agents
import rt_gym
from agents.policies.networks import Network, load_network
from reference.checks import assert_refused, assert_scans_are_kept, on_all_maps, some_problems
from reference.settings import THINKS
from reference.small_maps import CUP, drawn
from reference.traces import trial
from rt_gym import STAY, Budget, Grid, InputError, Problem, World, load_map, sample_problems
from rt_gym.search.slices import ACT, THINK
from training.judge.think import COMMITTED, FixedSlices, follow_rule

CORRIDOR = drawn("......")
POLICIES: dict[Any, Callable[..., Any]] = {
    "rule": follow_rule,
    1: FixedSlices(1),
    4: FixedSlices(4),
    THINKS: lambda seen: load_network(THINKS).choose(seen),
}


def along(*columns: int) -> list[tuple[int, int]]:
    return [(x, 0) for x in columns]


def without_stays(path: Any) -> list[Any]:
    return [cell for cell, _ in groupby(path.tolist())]


@pytest.mark.plain
class TestOnPaper:
    def test_on_a_known_map_the_rule_thinks_until_the_goal_is_found(self, act_out: Callable[..., Any]) -> None:
        # 0 and 1 are expanded, then 2 and 3, then 4: the goal comes next. Learning pops all of them, the goal first.
        trace, rises = trial("think-lss", Problem(CORRIDOR, (0, 0), (5, 0)), act_out, slice=2)
        assert trace.path == along(0, 0, 0, 0, 1, 2, 3, 4, 5)
        assert trace.expansions == [2, 2, 1, 0, 0, 0, 0, 0]
        assert trace.learning_ops == [0, 0, 0, 6, 0, 0, 0, 0]
        assert rises == [{}] * 8

    def test_in_fog_the_rule_thinks_until_the_way_leads_to_what_it_has_not_seen(
        self, act_out: Callable[..., Any]
    ) -> None:
        # In 0 it has seen 1: the best open state is 2. In 2 it has seen 3: the best is 4. In 4 it sees the goal.
        trace, _ = trial("think-lss", Problem(CORRIDOR, (0, 0), (5, 0), vision=1), act_out, slice=2)
        assert trace.path == along(0, 0, 1, 2, 2, 3, 4, 4, 5)
        assert trace.expansions == [2, 0, 0, 2, 0, 0, 1, 0]

    def test_with_one_way_to_go_mo_rts_has_nothing_to_gain(self, act_out: Callable[..., Any]) -> None:
        # After a step there is the way back as well, whose f is larger by two; but f has not risen.
        trace, _ = trial("think-lss", Problem(CORRIDOR, (0, 0), (5, 0)), act_out, slice=2, policy="mo-rts")
        assert trace.path == along(0, 0, 1, 2, 2, 3, 4, 4, 5)

    def test_a_number_of_slices_is_counted_for_every_commitment(self, act_out: Callable[..., Any]) -> None:
        trace, _ = trial("think-lss", Problem(CORRIDOR, (0, 0), (5, 0)), act_out, slice=1, policy=2)
        assert trace.path == along(0, 0, 0, 1, 2, 2, 2, 3, 4, 4, 5)
        assert trace.expansions == [1, 1, 0, 0, 1, 1, 0, 0, 1, 0]


class TestTheEnvironment:
    @staticmethod
    def problems() -> list[Problem]:
        named = [load_map(name) for name in ("random-48", "rooms-64", "caves-128")]
        return [problem for grid in named for problem in sample_problems(grid, 2, low=12.0, high=60.0, seed=5)]

    @pytest.mark.parametrize("vision", [None, 1, 3])
    @pytest.mark.parametrize("policy", POLICIES, ids=["rule", "1", "4", "network"])
    def test_it_thinks_and_walks_there_as_here(self, policy: Any, vision: int | None) -> None:
        problems = self.problems()
        env = gym.make("RTThink-v0", problems=problems, vision=vision, slice=7, history=self.history(policy))
        again = 0
        for k, problem in enumerate(problems):
            seen, _ = env.reset(options={"index": k})
            path, time, expansions, over = [problem.start], 0.0, 0, False
            while not over:
                committed = seen[COMMITTED] > 0
                seen, reward, terminated, truncated, info = env.step(int(POLICIES[policy](seen[None])[0]))
                path.append(rt_gym.view(env).position)
                time, expansions, over = time - float(reward), expansions + info["expansions"], terminated or truncated
                again += int(committed and info["thought"])
            same = Problem(problem.grid, problem.start, problem.goal, vision)
            run = agents.run("think-lss", same, slice=7, policy=policy, max_moves=10_000)
            assert [tuple(cell) for cell in run.path.tolist()] == path
            assert run.cost == pytest.approx(time)
            assert run.expansions == expansions
        assert (again > 0) == (policy == THINKS)

    @staticmethod
    def history(policy: Any) -> int:
        return load_network(policy).history if policy == THINKS else 20

    @pytest.mark.parametrize("vision", [None, 1, 3])
    def test_where_mo_rts_leads_the_environment_it_comes_to_the_same_places(self, vision: int | None) -> None:
        for problem in self.problems():
            same = Problem(problem.grid, problem.start, problem.goal, vision)
            world, agent = World(same), agents.make("think-lss", slice=7, policy="mo-rts")
            agent.reset(world.view)
            env = gym.make("RTThink-v0", problems=[same], slice=7)
            env.reset(seed=0)
            while not world.done:
                action = agent.act()
                expansions = world.view.meter.expansions
                world.step(action)
                info = env.step(THINK if action == STAY else ACT)[4]
                assert (info["thought"], info["expansions"]) == (action == STAY, expansions)
                assert rt_gym.view(env).position == world.view.position


@on_all_maps
@pytest.mark.parametrize("slices", [1, 3])
def test_a_number_of_slices_walks_as_lss_lrta_with_as_large_a_lookahead(
    slices: int, vision: int | None, rules: dict[str, Any]
) -> None:
    for problem in some_problems(3, 10, 12, vision, **rules):
        run = agents.run("think-lss", problem, slice=4, policy=slices)
        base = agents.run("lss-lrta", problem, lookahead=4 * slices)
        assert without_stays(run.path) == base.path.tolist()
        assert (run.expansions, run.learning_ops, run.h_updates) == (base.expansions, base.learning_ops, base.h_updates)
        assert run.cost == pytest.approx(base.cost + run.stays)
        assert base.plans <= run.stays <= slices * base.plans


def test_on_a_known_map_the_rule_is_a_star_and_then_the_walk() -> None:
    for problem in some_problems(4, 12, 16):
        run, astar = agents.run("think-lss", problem, slice=5), agents.run("astar", problem)
        assert run.expansions == astar.expansions
        assert run.cost == pytest.approx(problem.optimal + -(-astar.expansions // 5))


def test_none_is_the_rule() -> None:
    for problem in some_problems(5, 4, 12, vision=1):
        paths = [agents.run("think-lss", problem, slice=3, policy=policy).path.tolist() for policy in (None, "rule")]
        assert paths[0] == paths[1]


def test_mo_rts_thinks_longer_where_the_heuristic_misleads() -> None:
    # On open ground f does not rise. In a cup it does, and there are several ways to go.
    field, cup = Problem(Grid(np.ones((6, 7))), (2, 2), (6, 2)), Problem(drawn(*CUP), (2, 2), (6, 2))
    runs = [agents.run("think-lss", problem, slice=1, policy="mo-rts") for problem in (field, cup)]
    assert longest_stay(runs[0]) == 1 < longest_stay(runs[1])


def longest_stay(run: agents.Run) -> int:
    return max(len(list(same)) for _, same in groupby(run.path.tolist())) - 1


@pytest.mark.parametrize("policy", ["rule", "mo-rts", 3, THINKS], ids=["rule", "mo-rts", "3", "network"])
def test_a_budget_smaller_than_a_slice_makes_it_a_smaller_slice(policy: Any) -> None:
    for problem in some_problems(6, 6, 12, vision=2):
        cut = agents.run("think-lss", problem, slice=9, policy=policy, budget=4)
        assert (cut.outcome, cut.overrun) == ("goal", False)
        assert cut.path.tolist() == agents.run("think-lss", problem, slice=4, policy=policy).path.tolist()


def test_a_move_spent_elsewhere_is_no_search_to_act_on() -> None:
    world, agent = World(Problem(drawn(*CUP), (2, 2), (6, 2)), 3), agents.make("think-lss", policy=1)
    agent.reset(world.view)
    world.view.meter.charge(3)
    for _ in range(2):
        action = agent.act()
        assert (action, world.view.meter.stuck) == (STAY, False)
        world.step(action)
    assert agent.act() != STAY


@pytest.mark.parametrize("limit", [9, 15, 40, 200])
@pytest.mark.parametrize("tie", ["first", "random"])
def test_a_limit_of_scans_chooses_one_slice_whose_learning_keeps_it(limit: int, tie: str) -> None:
    assert agents.make("think-lss", budget=Budget(limit, "scans")).policy == 1
    assert_scans_are_kept("think-lss", limit, tie)


class TestRefusals:
    @pytest.mark.parametrize(
        ("parameter", "value"),
        [
            ("slice", 0),
            ("slice", 2.5),
            ("policy", 0),
            ("policy", True),
            ("policy", 1.5),
            ("policy", [1]),
            ("tie", "last"),
        ],
    )
    def test_a_value_out_of_range_is_refused_by_name(self, parameter: str, value: Any) -> None:
        assert_refused("think-lss", parameter, value)

    def test_a_word_that_is_neither_a_rule_nor_a_file_is_refused_with_what_is_known(self) -> None:
        with pytest.raises(InputError, match=r"policy must be rule, mo-rts, a number of slices or a .*, not 'rul'"):
            agents.make("think-lss", policy="rul")

    def test_a_network_that_decides_something_else_is_refused(self) -> None:
        weights = ((np.zeros((1, 2)), np.zeros(2)),)
        with pytest.raises(InputError, match="that decides to think; this one decides the deepen: train one in RTThi"):
            agents.make("think-lss", policy=Network("deepen", ("revisits",), weights, 5))

"""Agents in environments: any agent in any environment, through any wrapper, on the meter and against the clock."""

import copy
import pickle
import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import pytest

import agents
import rt_gym
from reference.yard import GOAL, KNOWLEDGE, START, YARD
from rt_gym import STAY, Budget, BudgetExceeded, Grid, Problem
from rt_gym.cost import SQRT2
from rt_gym.envs.path import RTPathEnv
from rt_gym.views import kernel_view

each_agent = pytest.mark.parametrize("agent_id", agents.ids())
PATHS = [env_id for env_id in rt_gym.envs.ids() if env_id.startswith("RTPath")]  # in the others the agent is built in

WALL = [[1, 1, 1, 1, 1, 1], [1, 1, 0, 0, 1, 1], [1, 1, 1, 0, 1, 1], [1, 1, 1, 0, 1, 1], [1, 1, 1, 1, 1, 1]]
POCKET = Problem(Grid(WALL), (2, 2), (5, 2))  # the way leads out of a pocket, backwards


class Step(NamedTuple):
    """One move: what the agent had spent when it chose, and what the environment answered."""

    action: int
    spent: tuple[int, int]
    observation: Any
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]
    position: tuple[int, int]


def steps(env: gym.Env[Any, Any], agent: Any) -> Iterator[Step]:
    """Let an agent that has been reset act until the end of the episode."""
    view = rt_gym.view(env)
    over = False
    while not over:
        action = agent.act()
        spent = view.meter.expansions, view.meter.scans
        answer = env.step(action)
        over = answer[2] or answer[3]
        yield Step(action, spent, *answer, view.position)


def begin(env: gym.Env[Any, Any], agent: Any, **reset: Any) -> list[Step]:
    """Run one episode and return its steps."""
    env.reset(**reset)
    agent.reset(rt_gym.view(env), seed=0)
    return list(steps(env, agent))


class Walker:
    """Follows a list of actions, doing some work before each."""

    def __init__(self, *actions: int, expansions: int = 0, scans: int = 0, seconds: float = 0.0) -> None:
        self.actions, self.work, self.seconds = actions, (expansions, scans), seconds

    def reset(self, view: rt_gym.View, seed: int | None = None) -> None:
        self.meter, self.left = view.meter, iter(self.actions)
        self.granted: list[bool] = []

    def act(self) -> int:
        self.granted.append(self.meter.charge(self.work[0]))
        self.meter.scan(self.work[1])
        time.sleep(self.seconds)
        return next(self.left)


def corridor(**settings: Any) -> gym.Env[Any, Any]:
    """Return an environment in which three steps to the east lead to the goal."""
    return gym.make("RTPath-v0", problems=[Problem(Grid(np.ones((1, 4))), (0, 0), (3, 0))], **settings)


class TestAnyAgentAnywhere:
    @each_agent
    @pytest.mark.parametrize("env_id", PATHS)
    def test_the_usual_loop_reaches_the_goal(self, agent_id: str, env_id: str) -> None:
        env = gym.make(env_id)
        agent = agents.make(agent_id)
        _observation, info = env.reset(seed=7)
        agent.reset(rt_gym.view(env), seed=0)
        goal = info["goal"]
        terminated = truncated = False
        while not (terminated or truncated):
            _observation, _reward, terminated, truncated, info = env.step(agent.act())
        assert terminated
        assert rt_gym.view(env).position == goal

    @each_agent
    @pytest.mark.parametrize("knowledge", KNOWLEDGE)
    def test_the_loop_walks_the_path_of_agents_run(self, agent_id: str, knowledge: str) -> None:
        problem = Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge])
        env = gym.make("RTPathFog-v0", map=YARD, pool=1, max_moves=3000)
        walked = begin(env, agents.make(agent_id), options={"problem": problem})
        run = agents.run(agents.make(agent_id), problem, budget=1000, max_moves=3000)
        assert [START, *(step.position for step in walked)] == [tuple(cell) for cell in run.path.tolist()]
        assert walked[-1].terminated == run.solved
        assert sum(step.reward for step in walked) == pytest.approx(-run.cost)
        assert sum(step.info["expansions"] for step in walked) == run.expansions
        assert sum(step.info["scans"] for step in walked) == run.scans

    @each_agent
    def test_a_second_episode_owes_nothing_to_the_first(self, agent_id: str) -> None:
        env, agent = gym.make("RTPathFog-v0", map=YARD, pool=5), agents.make(agent_id)
        first, second = ([s.position for s in begin(env, agent, options={"index": 2})] for _ in range(2))
        assert first == second

    def test_an_agent_in_plain_python_is_as_good(self) -> None:
        env = corridor(budget=Budget(5))
        walked = begin(env, Walker(0, 0, 0, expansions=2, scans=1))
        assert [step.terminated for step in walked] == [False, False, True]
        assert [(step.info["expansions"], step.info["scans"]) for step in walked] == [(2, 3)] * 3

    @pytest.mark.parametrize("agent_id", ["lrta", "lss-lrta"])
    def test_agent_and_environment_are_copied_together(self, agent_id: str) -> None:
        env, agent = gym.make("RTPathFog-v0", map=YARD, pool=1), agents.make(agent_id)
        env.reset(options={"start": START, "goal": GOAL})
        agent.reset(rt_gym.view(env), seed=0)
        for _ in range(12):
            env.step(agent.act())
        twins = [copy.deepcopy((env, agent)), pickle.loads(pickle.dumps((env, agent)))]
        ahead = [[step.position for step in steps(*pair)] for pair in (*twins, (env, agent))]
        assert ahead[0] == ahead[1] == ahead[2]
        assert ahead[0][-1] == GOAL

    def test_a_picture_shows_what_the_agent_hands_over(self) -> None:
        settings = {"problems": [POCKET], "render_mode": "rgb_array", "render_size": (96, 96)}
        thinking, bare = gym.make("RTPath-v0", **settings), gym.make("RTPath-v0", **settings)
        agent = agents.make("lrta", depth=2)
        thinking.reset(seed=0)
        bare.reset(seed=0)
        agent.reset(rt_gym.view(thinking), seed=0)
        for _ in range(3):
            action = agent.act()
            thinking.step(action)
            bare.step(action)
        assert not np.array_equal(thinking.render(), bare.render())


class TestView:
    def test_the_view_is_found_through_any_wrapper(self) -> None:
        bare = gym.make("RTPathFog-v0", map=YARD, pool=3)
        wrapped: gym.Env[Any, Any] = gym.wrappers.TimeLimit(bare, 100)
        wrapped = gym.wrappers.OrderEnforcing(gym.wrappers.RecordEpisodeStatistics(wrapped))
        wrapped = gym.wrappers.TransformReward(gym.wrappers.FlattenObservation(wrapped), lambda reward: reward / 2)
        wrapped.reset(seed=0)
        assert rt_gym.view(wrapped) is rt_gym.view(bare) is rt_gym.view(bare.unwrapped)

    def test_an_agent_runs_through_all_wrappers(self) -> None:
        env: gym.Env[Any, Any] = gym.make("RTPath-v0", map=YARD, pool=3, max_episode_steps=500)
        env = gym.wrappers.NormalizeReward(gym.wrappers.RecordEpisodeStatistics(env))
        walked = begin(env, agents.make("lss-lrta"), seed=1)
        assert walked[-1].terminated
        assert walked[-1].info["episode"]["l"] == len(walked)

    def test_a_view_shows_the_episode_and_nothing_of_the_future(self) -> None:
        env = gym.make("RTPath-v0", problems=[Problem(YARD, START, GOAL, 2, [(5, (8, 8), False)])], budget=70)
        env.reset(seed=0)
        view = rt_gym.view(env)
        assert (view.position, view.start, view.goal, view.vision, view.moves) == (START, START, GOAL, 2, 0)
        assert view.meter.limit == view.meter.left == 70
        assert not any("change" in name and name != "changed" for name in vars(kernel_view(view)))
        assert not kernel_view(view).known.all()


class TestRewards:
    @pytest.mark.parametrize("count", ["expansions", "scans"])
    def test_the_price_is_paid_for_every_count_of_the_meter(self, count: str) -> None:
        env = gym.make("RTPath-v0", problems=[Problem(YARD, START, GOAL)], budget=Budget(500, count), price=0.25)
        walked = begin(env, agents.make("lss-lrta", lookahead=7), seed=0)
        assert sum(step.info[count] for step in walked) > 30
        for before, step in zip([START, *(s.position for s in walked)], walked, strict=False):
            diagonal = before[0] != step.position[0] and before[1] != step.position[1]
            cost = SQRT2 if diagonal else 1.0
            assert (step.info["expansions"], step.info["scans"]) == step.spent
            assert step.reward == pytest.approx(-cost - 0.25 * step.info[count], abs=1e-12)

    def test_the_price_is_divided_by_the_optimal_cost_as_well(self) -> None:
        rewards = {
            name: [s.reward for s in begin(self.priced(name), agents.make("lrta", depth=2), seed=0)]
            for name in ("cost", "normalised")
        }
        optimal = POCKET.optimal
        assert rewards["normalised"] == pytest.approx([reward / optimal for reward in rewards["cost"]])

    @staticmethod
    def priced(reward: str) -> gym.Env[Any, Any]:
        return gym.make("RTPath-v0", problems=[POCKET], reward=reward, price=0.1)


class TestObservations:
    @pytest.mark.parametrize("history", [2, 5])
    def test_the_history_counts_the_steps_that_raised_a_value(self, history: int) -> None:
        env = gym.make("RTPath-v0", problems=[POCKET], history=history, observation="dict")
        agent = agents.make("lrta", depth=2)
        env.reset(seed=0)
        view = rt_gym.view(env)
        agent.reset(view, seed=0)
        raises, observed = [0], []
        for step in steps(env, agent):
            raises.append(int(kernel_view(view).trip.tally[0].raises))
            observed.append(float(step.observation["history"][3]))
        raised = [after > before for before, after in pairwise(raises)]
        expected = [sum(raised[max(0, k - history + 1) : k + 1]) / history for k in range(len(raised))]
        assert observed == pytest.approx(expected)
        assert 0 < sum(raised) < len(raised)

    def test_the_budget_part_is_the_share_that_the_last_move_left(self) -> None:
        for budget, left in ((8, 0.25), (Budget(8, "scans"), 0.125), (None, 1.0)):
            env = corridor(budget=budget, observation="dict")
            assert env.reset(seed=0)[0]["budget"] == [1]
            agent = Walker(0, 0, 0, expansions=6, scans=1)
            agent.reset(rt_gym.view(env))
            assert [float(step.observation["budget"][0]) for step in steps(env, agent)] == [left] * 3


class TestBudgets:
    def test_a_planner_that_cannot_do_within_the_budget_ends_the_episode(self) -> None:
        env = gym.make("RTPath-v0", problems=[POCKET], budget=4)
        last = begin(env, agents.make("lrta", depth=3), seed=0)[-1]
        assert (last.terminated, last.truncated, last.info["overrun"]) == (False, True, True)
        assert (last.position, rt_gym.view(env).moves) == (POCKET.start, 0)  # the move was not made
        assert last.reward == -1.0

    def test_a_planner_that_thinks_on_keeps_the_budget_and_reaches_the_goal(self) -> None:
        env = gym.make("RTPath-v0", problems=[POCKET], budget=4)
        walked = begin(env, agents.make("astar"), seed=0)
        assert walked[-1].terminated
        assert walked[0].action == STAY
        assert max(step.info["expansions"] for step in walked) == 4
        assert not any(step.info["overrun"] for step in walked)

    def test_work_past_the_limit_truncates_by_default(self) -> None:
        env = corridor(budget=Budget(5, "scans"))
        walked = begin(env, Walker(0, 0, 0, scans=6), seed=0)
        assert [(s.truncated, s.info["overrun"], s.position) for s in walked] == [(True, True, (0, 0))]

    def test_work_past_the_limit_may_raise_instead(self) -> None:
        env = corridor(budget=Budget(5, "scans", on_overrun="raise"))
        with pytest.raises(BudgetExceeded, match="move 1 needs more than its budget of 5 scans"):
            begin(env, Walker(0, 0, 0, scans=6), seed=0)
        assert len(begin(env, Walker(0, 0, 0, scans=5), seed=0)) == 3

    def test_work_past_the_limit_may_let_the_agent_stand_still_while_the_world_goes_on(self) -> None:
        env = corridor(budget=Budget(5, "scans", on_overrun="idle"), max_moves=4, price=1.0)
        walked = begin(env, Walker(0, 0, 0, 0, scans=6), seed=0)
        assert [(s.reward, s.info["overrun"], s.position) for s in walked] == [(-7.0, True, (0, 0))] * 4
        assert [step.truncated for step in walked] == [False, False, False, True]
        assert rt_gym.view(env).moves == 4

    def test_a_planner_that_cannot_do_within_the_budget_idles_for_ever(self) -> None:
        env = gym.make("RTPath-v0", problems=[POCKET], budget=Budget(4, on_overrun="idle"), max_moves=5)
        walked = begin(env, agents.make("lrta", depth=3), seed=0)
        assert [step.info["overrun"] for step in walked] == [True] * 5
        assert {step.position for step in walked} == {POCKET.start}

    def test_a_refused_charge_is_no_overrun(self) -> None:
        agent = Walker(0, 0, 0, expansions=6)
        walked = begin(corridor(budget=5), agent, seed=0)
        assert agent.granted == [False] * 3
        assert walked[-1].terminated
        assert [step.info["expansions"] for step in walked] == [0] * 3

    def test_without_a_limit_the_meter_only_counts(self) -> None:
        walked = begin(corridor(budget=None), Walker(0, 0, 0, expansions=10**6), seed=0)
        assert [step.info["expansions"] for step in walked] == [10**6] * 3

    def test_the_default_is_a_thousand_expansions(self) -> None:
        env = corridor()
        env.reset(seed=0)
        assert rt_gym.view(env).meter.limit == 1000

    def test_an_agent_that_knows_no_way_ends_the_episode(self) -> None:
        cut_off = Problem(Grid([[1, 0, 1]]), (0, 0), (2, 0), allow_unsolvable=True)
        env = gym.make("RTPath-v0", problems=[cut_off])
        last = begin(env, agents.make("astar"), seed=0)[-1]
        assert (last.truncated, last.info["no_path"], last.info["overrun"]) == (True, True, False)


class TestClock:
    def test_a_move_that_takes_too_long_truncates(self) -> None:
        walked = begin(corridor(budget=Budget(seconds=0.01)), Walker(0, 0, 0, seconds=0.03), seed=0)
        assert [(s.truncated, s.info["overrun"], s.position) for s in walked] == [(True, True, (0, 0))]

    def test_a_move_that_takes_too_long_may_raise_with_the_seconds_in_the_message(self) -> None:
        env = corridor(budget=Budget(1000, on_overrun="raise", seconds=0.01))
        with pytest.raises(BudgetExceeded, match=r"move 1 took more than 0\.01 seconds"):
            begin(env, Walker(0, 0, 0, seconds=0.03), seed=0)

    def test_a_move_that_takes_too_long_may_be_lost(self) -> None:
        env = corridor(budget=Budget(seconds=0.01, on_overrun="idle"), max_moves=2)
        walked = begin(env, Walker(0, 0, seconds=0.03), seed=0)
        assert [(s.info["overrun"], s.position) for s in walked] == [(True, (0, 0))] * 2

    def test_an_agent_in_time_notices_nothing(self) -> None:
        walked = begin(corridor(budget=Budget(seconds=60.0)), Walker(0, 0, 0, seconds=0.001), seed=0)
        assert walked[-1].terminated

    def test_without_a_limit_an_agent_may_take_its_time(self) -> None:
        assert begin(corridor(), Walker(0, 0, 0, seconds=0.02), seed=0)[-1].terminated

    def test_the_time_of_the_environment_itself_does_not_count(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(RTPathEnv, "render", lambda env: time.sleep(0.6))  # as a window that waits for its turn
        env = corridor(budget=Budget(seconds=0.5), render_mode="human")
        env.reset(seed=0)
        assert [env.step(0)[4]["overrun"] for _ in range(2)] == [False, False]

"""The judge of policies that think or act."""

from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import agents
from rt_gym import Grid, InputError, Problem, load_map, sample_problems
from training.judge.think import (
    BY_HAND,
    COMMITTED,
    SIDE_BY_SIDE,
    FixedSlices,
    contest,
    evaluate,
    fixed_times,
    gain,
    times_table,
)


@cache
def some_problems() -> list[Problem]:
    """Return problems, which take long to draw without the compiler: not before they are asked for."""
    return sample_problems(load_map("random-48"), SIDE_BY_SIDE + 9, low=5.0, high=40.0, seed=4)


class TestEvaluate:
    @pytest.mark.parametrize("vision", [None, 3])
    @pytest.mark.parametrize("slices", [1, 3, 10**6])
    def test_every_problem_is_solved_once_as_lss_lrta_would(self, vision: int | None, slices: int) -> None:
        times = evaluate(FixedSlices(slices), some_problems(), vision=vision, slice=8)
        for k in (0, 1, SIDE_BY_SIDE - 1, SIDE_BY_SIDE, len(some_problems()) - 1):
            problem = Problem(some_problems()[k].grid, some_problems()[k].start, some_problems()[k].goal, vision)
            run = agents.run("lss-lrta", problem, lookahead=min(8 * slices, 2500))
            assert times.expansions[k] == run.expansions
            assert times.time[k] == pytest.approx(run.cost + times.thought[k])
        assert times.solved.all()
        assert times.optimal.tolist() == [problem.optimal for problem in some_problems()]

    @pytest.mark.parametrize("goal_moves", [None, 4])
    def test_times_are_those_of_single_episodes(self, goal_moves: int | None) -> None:
        policy, chosen = FixedSlices(2), some_problems()[-5:]
        times = evaluate(policy, chosen, vision=2, slice=5, goal_moves=goal_moves)
        env = gym.make("RTThink-v0", problems=chosen, vision=2, slice=5, goal_moves=goal_moves)
        for k in range(5):
            observation, _ = env.reset(seed=k, options={"index": k})
            earned, over = 0.0, False
            while not over:
                observation, reward, terminated, truncated, _ = env.step(policy(observation[None])[0])
                earned, over = earned + reward, terminated or truncated
            assert times.time[k] == pytest.approx(-earned)
        assert times.ratio == pytest.approx(np.mean(times.time / times.optimal))

    def test_a_goal_that_moves_walks_the_same_way_before_every_policy(self) -> None:
        settings = {"slice": 4, "goal_moves": 3}
        times = evaluate(BY_HAND["rule"], some_problems(), **settings)
        assert times.solved.all()
        assert times.time.tolist() == evaluate(FixedSlices(10**6), some_problems(), **settings).time.tolist()
        assert times.time.tolist()[:7] == evaluate(BY_HAND["rule"], some_problems()[:7], **settings).time.tolist()

    def test_a_policy_may_be_any_function_of_the_observations(self) -> None:
        times = evaluate(lambda seen: np.zeros(len(seen), np.int64), some_problems(), slice=6)
        assert times.time.tolist() == evaluate(FixedSlices(1), some_problems(), slice=6).time.tolist()

    def test_an_episode_that_is_cut_is_not_solved(self) -> None:
        times = evaluate(FixedSlices(1), some_problems(), slice=8, max_moves=20)
        assert 0 < times.solved.sum() < len(some_problems())
        assert times.time[~times.solved].min() >= 20
        assert times.ratio is None

    def test_a_table_has_no_mean_over_episodes_that_were_cut(self) -> None:
        times = contest({}, some_problems()[:20], slice=8, max_moves=20)
        lines = {row[0]: row for row in times_table(times).rows}
        assert lines["slices=1"][1] == f"{times['slices=1'].cut} cut"
        assert all(row[2] == "-" for name, row in lines.items() if times[name].cut)

    @pytest.mark.parametrize("name", ["observation", "reward", "price", "shaping", "autoreset_mode"])
    def test_what_the_judge_must_choose_is_refused(self, name: str) -> None:
        with pytest.raises(InputError, match=f"{name} is not the judge's to choose"):
            evaluate(FixedSlices(1), some_problems(), **{name: 1})

    @pytest.mark.parametrize(
        "problem",
        [
            Problem(Grid([[1, 1]]), (0, 0), (0, 0)),
            Problem(Grid([[1, 0, 1]]), (0, 0), (2, 0), allow_unsolvable=True),
            Problem(Grid([[1, 1]]), (0, 0), (1, 0), changes=[(1, (1, 0), True)]),
        ],
    )
    def test_problems_without_a_time_to_compare_with_are_refused(self, problem: Problem) -> None:
        with pytest.raises(InputError, match="problems must have a goal that can be reached"):
            evaluate(FixedSlices(1), [problem])


class TestFixedSlices:
    @pytest.mark.parametrize("slices", [0, -1, 1.5, None])
    def test_less_than_one_slice_is_refused(self, slices: Any) -> None:
        with pytest.raises(InputError, match="slices must be a whole number"):
            FixedSlices(slices)

    def test_committed_moves_are_made_and_slices_counted(self) -> None:
        seen = np.zeros((4, 21), np.float32)
        seen[1, COMMITTED] = np.log(2)
        seen[2:, 4] = np.log([3, 4])  # two slices, and three
        assert FixedSlices(3)(seen).tolist() == [1, 0, 1, 0]

    def test_numbers_are_compared_on_the_same_problems(self) -> None:
        times = fixed_times([1, 4], some_problems()[:6], slice=4)
        assert list(times) == [1, 4]
        assert times[4].time.tolist() == evaluate(FixedSlices(4), some_problems()[:6], slice=4).time.tolist()


class TestRules:
    @pytest.mark.parametrize("vision", [None, 3])
    @pytest.mark.parametrize("name", BY_HAND)
    def test_a_rule_takes_the_time_of_the_agent_that_follows_it(self, name: str, vision: int | None) -> None:
        times = evaluate(BY_HAND[name], some_problems(), vision=vision, slice=6)
        for k, one in enumerate(some_problems()):
            problem = Problem(one.grid, one.start, one.goal, vision)
            run = agents.run("think-lss", problem, slice=6, policy=name, max_moves=10_000)
            assert (times.time[k], times.thought[k]) == (pytest.approx(run.cost), run.stays)

    def test_a_contest_has_them_and_says_how_far_a_policy_is_ahead_of_each(self) -> None:
        times = contest({"own": BY_HAND["rule"]}, some_problems()[:20], vision=2, slice=4)
        assert list(times)[-3:] == ["rule", "mo-rts", "own"]
        ahead, even = (gain(times, "own", [rival]) for rival in ("mo-rts", "rule"))
        assert ahead is not None
        assert even is not None
        assert ahead.value == pytest.approx(times["mo-rts"].ratio / times["own"].ratio)
        assert (even.value, even.low, even.high) == (1, 1, 1)
        table = times_table(times)
        columns = [column.replace("\n", " ") for column in table.columns]
        assert columns[2::2][:3] == ["best fixed over it", "rule over it", "mo-rts over it"]
        assert table.rows[-1][4] == "1.000"

"""Problems of the path environment: sampled, ready-made, by options, and from files."""

from pathlib import Path
from typing import Any

import gymnasium as gym

import rt_gym
from reference.small_maps import drawn
from rt_gym import Problem
from rt_gym.maps import Scenario, write_scenarios

CORRIDOR = drawn(".....", "#####", ".....")


def make(*problems: Problem, **settings: Any) -> gym.Env[Any, Any]:
    return gym.make("RTPath-v0", problems=list(problems), disable_env_checker=True, **settings)


class TestProblems:
    def test_sampled_problems_keep_the_range_of_optimal_costs(self) -> None:
        env = gym.make("RTPath-v0", map="open-16", optimal=(4, 6), pool=20)
        optimal = [env.reset(seed=seed)[1]["optimal"] for seed in range(40)]
        assert 4 <= min(optimal) < max(optimal) <= 6

    def test_the_pool_has_as_many_problems_as_asked_for_and_its_seed_settles_them(self) -> None:
        def pool(**settings: Any) -> list[Problem]:
            env = gym.make("RTPath-v0", map="open-16", **settings)
            infos = [env.reset(options={"index": k})[1] for k in range(settings["pool"])]
            return [(info["position"], info["goal"]) for info in infos]

        assert len(set(pool(pool=30))) > 20
        assert pool(pool=8, pool_seed=1) == pool(pool=8, pool_seed=1) != pool(pool=8, pool_seed=2)

    def test_options_name_a_problem_of_the_pool_or_a_map_or_bring_their_own(self) -> None:
        small, large = drawn("...", "...", name="small"), drawn("....", "....", name="large")
        env = gym.make("RTPath-v0", map=[small, large], pool=6)
        observations = [env.reset(options={"index": 0})[0].tolist() for _ in range(3)]
        assert observations[0] == observations[1] == observations[2]
        assert {env.reset(options={"map": 1})[1]["map"] for _ in range(5)} == {"large"}
        info = env.reset(options={"map": 1, "start": (0, 0), "goal": (3, 1)})[1]
        assert (info["map"], info["position"], info["goal"]) == ("large", (0, 0), (3, 1))
        info = env.reset(options={"start": (2, 1), "goal": (0, 0)})[1]
        assert (info["map"], info["position"], info["goal"]) == ("small", (2, 1), (0, 0))
        other = drawn("..", name="guest")
        assert env.reset(options={"problem": Problem(other, (0, 0), (1, 0))})[1]["map"] == "guest"

    def test_ready_made_problems_take_vision_and_changes_where_they_have_none(self) -> None:
        shut = [(0, (1, 0), False)]
        own = Problem(CORRIDOR, (0, 0), (4, 0), vision=3, changes=[(9, (4, 0), False)])
        problems = [Problem(CORRIDOR, (0, 0), (4, 0)), own]
        env = gym.make("RTPathFog-v0", problems=problems, changes=shut)
        for index, vision, ways in ((0, 1, 0), (1, 3, 1)):
            _, info = env.reset(options={"index": index})
            assert (rt_gym.view(env).vision, info["action_mask"].sum()) == (vision, ways)

    def test_a_start_and_a_goal_by_options_keep_the_vision_of_ready_made_problems(self) -> None:
        env = make(Problem(CORRIDOR, (0, 0), (4, 0), vision=2))
        env.reset(options={"start": (1, 0), "goal": (3, 0)})
        assert rt_gym.view(env).vision == 2

    def test_a_start_and_a_goal_by_options_keep_the_vision_and_the_changes(self) -> None:
        env = gym.make("RTPath-v0", map=CORRIDOR, pool=2, vision=1, changes=[(0, (1, 0), False)])
        _, info = env.reset(options={"start": (0, 0), "goal": (4, 0)})
        assert rt_gym.view(env).vision == 1
        assert info["action_mask"].sum() == 0

    def test_coordinates_are_divided_by_the_longest_side_of_all_maps(self) -> None:
        small, long = drawn(".."), drawn("........")
        env = gym.make("RTPath-v0", map=[small, long], pool=2, observation="dict")
        observation, _ = env.reset(options={"start": (0, 0), "goal": (1, 0)})
        assert observation["goal"].tolist() == [1 / 8, 0]

    def test_lists_nest_and_mix_names_grids_and_generators(self) -> None:
        caves = {"family": "caves", "width": 20, "height": 12, "density": 0.4, "steps": 2, "seed": 5, "count": 3}
        env = gym.make("RTPath-v0", map=["open-16", [drawn("....", name="mine"), caves]], pool=5)
        names = [env.reset(options={"map": k})[1]["map"] for k in range(5)]
        assert names == ["open-16", "mine", *(f"caves-20x12-s{seed}" for seed in (5, 6, 7))]

    def test_a_scenario_file_gives_the_problems_of_one_map(self, tmp_path: Path) -> None:
        grid = drawn("....", "....")
        rt_gym.maps.save_map(grid, tmp_path / "field.map")
        entries = [Scenario(0, "field.map", 4, 2, (0, 0), goal, 0.0) for goal in ((3, 0), (3, 1))]
        write_scenarios(entries, tmp_path / "field.scen")
        env = gym.make("RTPath-v0", map=tmp_path / "field.map", problems=str(tmp_path / "field.scen"), vision=1)
        assert [env.reset(options={"index": k})[1]["goal"] for k in range(2)] == [(3, 0), (3, 1)]
        assert rt_gym.view(env).vision == 1

    def test_a_problem_of_an_equal_map_uses_that_map(self) -> None:
        env = make(Problem(drawn("...", "..."), (0, 0), (2, 0)))
        env.reset(seed=0)
        env.reset(options={"problem": Problem(drawn("...", "..."), (2, 1), (0, 0))})
        assert rt_gym.view(env).position == (2, 1)

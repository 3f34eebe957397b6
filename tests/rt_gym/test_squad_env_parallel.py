"""RTSquadParallel: PettingZoo's own checks, moves that never collide, rewards of RTPath-v0, planners with a budget."""

import copy
import pickle
import subprocess
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from textwrap import dedent
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
import rt_gym
from profiles import examples
from reference.small_maps import drawn
from rt_gym import Budget, InputError, Problem, Squad, View
from rt_gym.squad.envs.parallel import RTSquadParallel, parallel_env

needs_pettingzoo = pytest.mark.skipif(find_spec("pettingzoo") is None, reason="the extra multi is not installed")

E, S, W, N, STILL = 0, 1, 2, 3, 8
SMALL: dict[str, Any] = {"map": "open-16", "units": 6, "window": 5, "max_ticks": 60}
CORRIDOR = drawn(".....", "##.##")


def begin(problems: list[Problem], **settings: Any) -> Any:
    """Return an environment with these units, and what it said at first."""
    env = RTSquadParallel(units=len(problems), problems=problems, window=5, **settings)
    return env, *env.reset(seed=0, options={"problems": problems})


def on_corridor(*ways: tuple[int, int], **more: Any) -> list[Problem]:
    """Return problems on the upper row of ``CORRIDOR``, from column to column."""
    return [Problem(CORRIDOR, (start, 0), (goal, 0), **more) for start, goal in ways]


def steered(env: Any, agent_id: str = "rtaa", **settings: Any) -> dict[str, Any]:
    """Return an agent for every unit."""
    team = {name: agents.make(agent_id, **settings) for name in env.agents}
    for k, name in enumerate(team):
        team[name].reset(env.view(name), seed=k)
    return team


@needs_pettingzoo
@pytest.mark.filterwarnings("error")
class TestPettingZoo:
    @pytest.mark.parametrize(
        "settings",
        [{}, {"observation": "dict", "vision": 2}, {"on_arrival": "stay", "push": True}, {"blocking": False}],
        ids=["box", "dict in fog", "stay", "pass through"],
    )
    def test_its_api_test_and_its_seed_test_pass(self, settings: dict[str, Any]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the tests import a game of theirs in a way that they warn of
            test = import_module("pettingzoo.test")
        test.parallel_api_test(parallel_env(**SMALL, **settings), num_cycles=100)
        test.parallel_seed_test(lambda: parallel_env(**SMALL, **settings), num_cycles=40)

    def test_the_name_and_the_spaces_are_these(self) -> None:
        env = rt_gym.envs.RTSquadParallel(**SMALL)
        assert str(env) == "rt_squad_parallel_v0"
        assert env.possible_agents == [f"unit_{k}" for k in range(6)]
        assert env.action_space("unit_3") == gym.spaces.Discrete(9)
        assert env.observation_space("unit_3").shape == (9 + 2 * 5 * 5,)
        named = RTSquadParallel(**SMALL, vision=1, observation="dict").observation_space("unit_0")
        assert {name: part.shape[0] for name, part in named.items()} == {
            "goal": 2, "position": 2, "history": 4, "budget": 1, "window": 50, "others": 25,
        }  # fmt: skip

    @pytest.mark.parametrize("settings", [{}, {"vision": 1}, {"on_arrival": "stay", "push": True}])
    def test_observations_lie_in_their_space(self, settings: dict[str, Any]) -> None:
        env = RTSquadParallel(**SMALL, **settings)
        observations, _ = env.reset(seed=3)
        while env.agents:
            assert all(env.observation_space(name).contains(seen) for name, seen in observations.items())
            observations, *_ = env.step({name: env.action_space(name).sample() for name in env.agents})

    def test_a_copy_goes_on_from_where_the_original_stands(self) -> None:
        env = RTSquadParallel(**SMALL, vision=2, shared_fog=True)
        env.reset(seed=1)
        env.view("unit_2").expand((0, 0))
        env.step(dict.fromkeys(env.agents, 4))
        for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            ours, theirs = (
                copy.deepcopy(env).step(dict.fromkeys(env.agents, 1)),
                twin.step(dict.fromkeys(env.agents, 1)),
            )
            assert all(np.array_equal(ours[0][name], theirs[0][name]) for name in env.possible_agents)
            assert str(ours[1:]) == str(theirs[1:])
            assert twin.view("unit_2").position == theirs[4]["unit_2"]["position"] != env.view("unit_2").position


@needs_pettingzoo
class TestMoves:
    @examples(40)
    @given(st.data())
    def test_no_two_units_share_a_cell_or_swap(self, data: Any) -> None:
        side, units = data.draw(st.integers(3, 7)), data.draw(st.integers(2, 5))
        stay, seed = data.draw(st.booleans()), data.draw(st.integers(0, 1000))
        rng = np.random.default_rng(seed)
        corner = data.draw(st.sampled_from(["strict", "one", "free"]))
        grid = rt_gym.Grid(rng.random((side, side)) < 0.8 + 0.2 * (np.arange(side) == 0), corner=corner)
        env = RTSquadParallel(
            map=grid,
            units=units,
            pool=60,
            window=3,
            max_ticks=25,
            vision=data.draw(st.sampled_from([None, 1])),
            on_arrival="stay" if stay else "leave",
            push=stay and data.draw(st.booleans()),
        )
        _, infos = env.reset(seed=seed)
        before = {name: info["position"] for name, info in infos.items()}
        while env.agents:
            there = list(env.agents)
            *_, infos = env.step({name: int(rng.integers(9)) for name in there})
            after = {name: infos[name]["position"] for name in there}
            assert len(set(after.values())) == len(there)
            for one in there:
                assert grid.passable[after[one][::-1]]
                assert max(abs(a - b) for a, b in zip(before[one], after[one], strict=True)) <= 1
                swapped = [two for two in there if after[one] == before[two] and after[two] == before[one]]
                assert swapped in ([], [one])
            before = {name: after[name] for name in env.agents}

    @pytest.mark.plain
    def test_one_moves_after_the_other_into_cells_that_are_free_then(self) -> None:
        env, _, _ = begin(on_corridor((1, 4), (0, 3)))
        *_, infos = env.step({"unit_0": E, "unit_1": E})  # the first makes room for the second
        assert [infos[name]["position"] for name in env.agents] == [(2, 0), (1, 0)]
        env, _, _ = begin(on_corridor((0, 3), (1, 4)))
        _, rewards, _, _, infos = env.step({"unit_0": E, "unit_1": E})
        assert [infos[name]["position"] for name in env.agents] == [(0, 0), (2, 0)]
        assert [infos[name]["bumped"] for name in env.agents] == [True, False]
        assert rewards == {"unit_0": -1.0, "unit_1": -1.0}

    def test_who_arrives_leaves_the_map_and_makes_room(self) -> None:
        env, _, _ = begin(on_corridor((1, 2), (0, 4)))
        _, _, terminated, truncated, infos = env.step({"unit_0": E, "unit_1": E})
        assert (terminated, truncated) == ({"unit_0": True, "unit_1": False}, {"unit_0": False, "unit_1": False})
        assert (infos["unit_0"]["arrived"], env.agents) == (True, ["unit_1"])
        observations, *_ = env.step({"unit_1": E})
        assert not observations["unit_1"][9 + 25 :].any()
        *_, infos = env.step({"unit_1": E})
        assert infos["unit_1"]["position"] == (3, 0)

    def test_who_stays_on_its_goal_is_in_the_way_and_pays_nothing_until_all_are_there(self) -> None:
        env, _, _ = begin(on_corridor((1, 2), (0, 4)), on_arrival="stay")
        _, rewards, terminated, _, infos = env.step({"unit_0": E, "unit_1": E})
        assert (rewards["unit_0"], infos["unit_0"]["arrived"], any(terminated.values())) == (-1.0, True, False)
        _, rewards, _, _, infos = env.step({"unit_0": STILL, "unit_1": E})
        assert (rewards, infos["unit_1"]["bumped"]) == ({"unit_0": 0.0, "unit_1": -1.0}, True)
        for first, second in [(S, E), (STILL, E), (STILL, E)]:
            _, rewards, terminated, _, _ = env.step({"unit_0": first, "unit_1": second})
        assert (rewards["unit_0"], any(terminated.values())) == (-1.0, False)  # it made room, and must go back
        _, _, terminated, _, _ = env.step({"unit_0": N, "unit_1": STILL})
        assert (list(terminated.values()), env.agents) == ([True, True], [])

    def test_a_unit_on_its_goal_is_pushed_aside_and_pays_for_that(self) -> None:
        for ways, sitter, pusher in (((2, 2), (1, 4)), "unit_0", "unit_1"), (((1, 4), (2, 2)), "unit_1", "unit_0"):
            env, _, first = begin(on_corridor(*ways), on_arrival="stay", push=True)
            assert first[sitter]["arrived"]
            _, rewards, _, _, infos = env.step({sitter: STILL, pusher: E})
            assert infos[pusher]["position"] == (2, 0)
            assert (infos[sitter]["arrived"], infos[sitter]["bumped"], rewards[sitter]) == (False, False, -1.0)
            assert env.view(sitter).interventions == 1

    def test_the_end_of_time_truncates_those_that_are_under_way(self) -> None:
        for how, left in (("leave", ["unit_1"]), ("stay", ["unit_0", "unit_1"])):
            env, _, _ = begin(on_corridor((1, 2), (0, 4)), on_arrival=how, max_ticks=2)
            env.step({"unit_0": E, "unit_1": STILL})
            assert env.agents == left
            _, _, terminated, truncated, _ = env.step(dict.fromkeys(left, STILL))
            assert (terminated["unit_1"], truncated["unit_1"], env.agents) == (False, True, [])
            assert {name for name in left if terminated[name]} == set(left) - {"unit_1"}


@needs_pettingzoo
class TestObservations:
    @pytest.mark.parametrize("settings", [{}, {"vision": 2}, {"reward": "normalised", "shaping": 0.9, "price": 0.1}])
    def test_one_unit_sees_and_gains_what_it_would_in_rtpath(self, settings: dict[str, Any]) -> None:
        problem = rt_gym.sample_problems(rt_gym.load_map("rooms-64"), 1, 10, 20, vision=settings.get("vision"))[0]
        ours, ours_seen, _ = begin([problem], **(settings | {"budget": Budget(50)}))
        single = gym.make("RTPath-v0", problems=[problem], window=5, stay=True, budget=50, **settings)
        their_seen, _ = single.reset(options={"problem": problem})
        rng = np.random.default_rng(0)
        for _ in range(60):
            assert np.array_equal(ours_seen["unit_0"][: their_seen.size], their_seen)
            action = int(rng.integers(9))
            ours.view("unit_0").meter.charge(action)
            rt_gym.view(single).meter.charge(action)
            ours_seen, rewards, *_, infos = ours.step({"unit_0": action})
            their_seen, reward, *_, info = single.step(action)
            assert rewards["unit_0"] == pytest.approx(reward, rel=1e-12)
            assert infos["unit_0"]["bumped"] == info["blocked"]
            for key in ("expansions", "scans", "overrun", "no_path"):
                assert infos["unit_0"][key] == info[key]
            assert np.array_equal(infos["unit_0"]["action_mask"], info["action_mask"])

    def test_others_are_shown_where_they_are_as_far_as_they_are_in_sight(self) -> None:
        env, seen, _ = begin(on_corridor((0, 3), (1, 4), (2, 0)), sight=1)
        others = {name: seen[name][9 + 25 :].reshape(5, 5) for name in env.agents}
        assert [list(zip(*np.nonzero(plane), strict=True)) for plane in others.values()] == [
            [(2, 3)], [(2, 1), (2, 3)], [(2, 1)],
        ]  # fmt: skip

    def test_what_one_unit_sees_the_others_know_where_fog_is_shared(self) -> None:
        problems = on_corridor((0, 1), (4, 3), vision=1)
        alone, _, _ = begin(problems, budget=None)
        together, _, _ = begin(problems, budget=None, shared_fog=True)
        assert alone.view("unit_0").known.sum() == 4
        assert together.view("unit_0").known.sum() == 8
        assert (4, 1) in together.view("unit_0").take_changes()

    def test_who_has_left_sees_no_more_for_the_others(self) -> None:
        grid = drawn(*["." * 9] * 5)
        env, _, _ = begin(
            [Problem(grid, (7, 3), (8, 4), vision=1), Problem(grid, (4, 2), (0, 0), vision=1)],
            shared_fog=True,
            budget=None,
        )
        env.step({"unit_0": 4, "unit_1": STILL})
        known = env.view("unit_1").known.sum()
        env.step({"unit_1": STILL})
        assert env.view("unit_1").known.sum() == known == 9 + 9


class Greedy:
    """Steps to the neighbour that looks nearest to the goal, in plain Python, by one expansion."""

    def reset(self, view: View, seed: int | None = None) -> None:
        self.view = view

    def act(self) -> int:
        moves = self.view.expand(self.view.position) or [(rt_gym.STAY, self.view.position, 1.0)]
        return min(moves, key=lambda move: self.view.heuristic(move[1]))[0]


@needs_pettingzoo
class TestPlanners:
    def test_32_units_steered_by_rtaa_reach_their_goals_on_rooms_with_push(self) -> None:
        env = RTSquadParallel(map="rooms-64", units=32, on_arrival="stay", push=True, budget=50, max_ticks=3000)
        env.reset(seed=0)
        team = steered(env, lookahead=50)
        while env.agents:
            _, _, terminated, _, infos = env.step({name: team[name].act() for name in env.agents})
            assert all(info["expansions"] <= 50 for info in infos.values())
        assert list(terminated.values()) == [True] * 32

    @pytest.mark.parametrize("vision", [None, 2])
    def test_units_that_pass_through_each_other_walk_as_in_a_squad(self, vision: int | None) -> None:
        problems = rt_gym.sample_problems(rt_gym.load_map("random-48"), 6, 10, 30, seed=1, vision=vision)
        squad = Squad(problems, "rtaa", lookahead=20)
        env, _, infos = begin(problems, blocking=False, budget=None)
        team = steered(env, lookahead=20)
        while env.agents:
            *_, infos = env.step({name: team[name].act() for name in env.agents})
            squad.tick()
            assert {name: tuple(squad.positions[int(name[5:])].tolist()) for name in infos} == {
                name: info["position"] for name, info in infos.items()
            }
        assert squad.done

    def test_a_planner_sees_others_as_obstacles_and_goes_round_them(self) -> None:
        grid = drawn(".....", ".....")
        env, _, _ = begin([Problem(grid, (0, 0), (4, 0)), Problem(grid, (2, 0), (3, 0))], on_arrival="stay")
        agent = agents.make("astar")
        agent.reset(env.view("unit_0"))
        moves = [position for _, position, _ in env.view("unit_0").neighbours((1, 0))]
        assert (2, 0) not in moves
        assert (2, 0) in [position for _, position, _ in env.view("unit_1").neighbours((2, 1))]
        path = []
        while env.view("unit_0").position != (4, 0):
            *_, infos = env.step({"unit_0": agent.act(), "unit_1": STILL})
            path.append(infos["unit_0"]["position"])
        assert path == [(1, 1), (2, 1), (3, 1), (4, 0)]  # past a unit no diagonal step is legal, as past a wall

    def test_the_whole_map_is_read_without_the_units_on_it(self) -> None:
        env, _, _ = begin(on_corridor((0, 3), (1, 4)), budget=None)
        view = env.view("unit_0")
        assert view.neighbours((0, 0)) == []
        assert np.array_equal(view.passable, CORRIDOR.passable)
        assert view.neighbours((0, 0)) == []

    def test_a_policy_of_plain_python_is_metered(self) -> None:
        env, _, _ = begin(on_corridor((0, 3), (4, 2)), budget=1)
        team = {name: Greedy() for name in env.agents}
        for name, agent in team.items():
            agent.reset(env.view(name))
        *_, infos = env.step({name: agent.act() for name, agent in team.items()})
        assert [infos[name]["expansions"] for name in team] == [1, 1]
        assert env.view("unit_0").expand((1, 0)) is not None
        assert env.view("unit_0").expand((1, 0)) is None

    def test_who_overruns_a_budget_stands_still_or_leaves_or_raises(self) -> None:
        assert RTSquadParallel(**SMALL, budget=2).budget == Budget(2, on_overrun="idle")
        for end in ("idle", "truncate", "raise"):
            env, _, _ = begin(on_corridor((0, 3), (4, 2)), budget=Budget(2, "scans", end))
            env.view("unit_0").meter.scan(3)
            if end == "raise":
                with pytest.raises(rt_gym.BudgetExceeded, match="unit_0 needs more than its budget of 2 scans"):
                    env.step({"unit_0": E, "unit_1": STILL})
                continue
            _, _, _, truncated, infos = env.step({"unit_0": E, "unit_1": STILL})
            assert (infos["unit_0"]["overrun"], infos["unit_0"]["position"]) == (True, (0, 0))
            assert truncated == {"unit_0": end == "truncate", "unit_1": False}
            assert ("unit_0" in env.agents) == (end == "idle")

    def test_changes_that_an_agent_never_reads_are_not_lost_for_want_of_room(self) -> None:
        env, _, _ = begin(on_corridor((2, 4), (3, 0)), budget=None)
        view = env.view("unit_0")
        for action in [E, W] * 40:
            view.neighbours((2, 0))
            env.step({"unit_0": STILL, "unit_1": E if action == E else W})
        assert set(view.take_changes()) == {(3, 0), (4, 0)}


class TestRefusals:
    @needs_pettingzoo
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"units": 0}, "units must be a whole number from 1"),
            ({"units": 9, "pool": 5}, "units: map open-16 has 5 problems with different starts and goals for 9 units"),
            ({"push": True}, 'push goes with blocking=True and on_arrival="stay"'),
            ({"shared_fog": True}, "shared_fog goes with a vision"),
            ({"on_arrival": "vanish"}, 'on_arrival must be "leave" or "stay"'),
            ({"stay": True}, "RTSquadParallel has no argument 'stay'; it has blocking, budget"),
            ({"max_moves": 7}, "RTSquadParallel has no argument 'max_moves'"),
            ({"render_mode": "human"}, 'render_mode must be "rgb_array" or None'),
            ({"budget": Budget(seconds=1.0)}, "a budget of seconds is for single environments"),
        ],
    )
    def test_arguments_that_make_no_sense(self, settings: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError, match=message):
            RTSquadParallel(**({"map": "open-16"} | settings))

    @needs_pettingzoo
    def test_actions_units_and_problems_that_do_not_exist(self) -> None:
        env = RTSquadParallel(**SMALL)
        for call in (lambda: env.step({}), lambda: env.view("unit_0")):
            with pytest.raises(gym.error.ResetNeeded):
                call()
        env.reset(seed=0)
        with pytest.raises(InputError, match="actions must be a dict with an action for each of"):
            env.step({"unit_0": 0})
        with pytest.raises(InputError, match="the action of unit_5 must be a whole number from 0 to 8, not 9"):
            env.step(dict.fromkeys(env.agents, 0) | {"unit_5": 9})
        with pytest.raises(InputError, match="there is no unit 'unit_6'; they are unit_0 to unit_5"):
            env.view("unit_6")
        with pytest.raises(InputError, match="must hold 6 problems, one per unit, not 2"):
            env.reset(options={"problems": on_corridor((0, 1), (2, 3))})
        with pytest.raises(InputError, match=r"every unit of this environment has a view of its own"):
            rt_gym.view(env)

    def test_without_pettingzoo_the_message_names_the_extra_and_the_rest_works(self) -> None:
        script = """
            import sys
            sys.modules["pettingzoo"] = None
            import rt_gym, gymnasium
            gymnasium.make("RTPath-v0", map="open-16").reset()
            try:
                rt_gym.envs.RTSquadParallel(units=2)
            except rt_gym.errors.MissingLibrary as error:
                print(error)
        """
        assert run(script) == "RTSquadParallel needs PettingZoo: pip install 'rt_gym[multi]'"

    def test_the_package_itself_never_imports_pettingzoo(self) -> None:
        assert run("import sys, rt_gym; print('pettingzoo' in sys.modules)") == "False"


def run(script: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", dedent(script)], capture_output=True, check=True, text=True
    ).stdout.strip()


@needs_pettingzoo
def test_a_frame_shows_where_units_are() -> None:
    env = RTSquadParallel(**SMALL, render_mode="rgb_array", render_size=(200, 160))
    env.reset(seed=0)
    first = env.render()
    env.step(dict.fromkeys(env.agents, 4))
    assert first is not None
    assert first.shape == (160, 200, 3)
    assert not np.array_equal(first, env.render())

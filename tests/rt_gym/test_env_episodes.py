"""Episodes of the path environment beside the same episodes in plain Python: moves, rewards, observations, ends."""

import copy
import itertools
import math
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rt_gym
from profiles import examples
from reference import plain_grid
from reference.plain_oracle import distances, problems
from reference.small_maps import drawn
from rt_gym import STAY, Change, Grid, Problem
from rt_gym.cost import SQRT2, to_float
from rt_gym.maps import Scenario, write_scenarios

EAST, SOUTH, WEST, NORTH, SOUTH_EAST = range(5)

Position = tuple[int, int]


def make(*problems: Problem, **settings: Any) -> gym.Env[Any, Any]:
    return gym.make("RTPath-v0", problems=list(problems), disable_env_checker=True, **settings)


class PlainEpisode:
    """One episode in plain Python; ``side`` is the longest side of any map of the environment."""

    def __init__(self, problem: Problem, window: int, history: int, side: int) -> None:
        self.problem, self.grid, self.history, self.side = problem, problem.grid, history, side
        self.reach = range(-(window // 2), window // 2 + 1)
        self.world = plain_grid.World(self.grid, problem.start, problem.vision, problem.changes or ())
        self.states = [problem.start]
        self.seen: set[Position] = set()
        self._look()

    def _look(self) -> None:
        x, y = self.world.position
        measure = max if self.grid.connectivity == 8 else sum
        radius = math.inf if self.problem.vision is None else self.problem.vision
        self.seen |= {c for c in plain_grid.cells(self.grid) if measure((abs(c[0] - x), abs(c[1] - y))) <= radius}

    def target(self, action: int) -> Position:
        """Return where an action leads: where it began if it leads nowhere."""
        x, y = self.world.position
        if action in (STAY, self.grid.connectivity):
            return x, y
        dx, dy = plain_grid.STEPS[action]
        return (x + dx, y + dy) if self.world.truth.can_step((x, y), (x + dx, y + dy)) else (x, y)

    def step(self, action: int) -> tuple[float, bool]:
        """Make one move; return its cost and whether a wall was in the way."""
        before, after = self.world.position, self.target(action)
        self.world.move(after)
        self.states.append(after)
        self._look()
        cost = 1.0 if before == after else to_float(plain_grid.step_cost(self.grid, before, after))
        return cost, before == after and action not in (STAY, self.grid.connectivity)

    def mask(self) -> list[int]:
        return [int(self.target(d) != self.world.position) for d in range(self.grid.connectivity)]

    def h(self, a: Position, b: Position) -> float:
        return to_float(plain_grid.h0(self.grid, a, b))

    def observation(self, planes: int) -> list[float]:
        (x, y), (goal_x, goal_y), now = self.world.position, self.problem.goal, len(self.states) - 1
        recent = self.states[max(0, now - self.history + 1) :]
        past = self.states[max(0, now - self.history)]
        return [
            (goal_x - x) / self.side,
            (goal_y - y) / self.side,
            x / self.side,
            y / self.side,
            self.h((x, y), self.problem.goal) / self.side,
            self.h((x, y), past) / self.side,
            (len(recent) - len(set(recent))) / self.history,
            0.0,
            1.0,
            *[value for plane in range(planes) for value in self._plane(x, y, plane)],
        ]

    def _plane(self, x: int, y: int, plane: int) -> Iterator[float]:
        for dy, dx in itertools.product(self.reach, self.reach):
            cell = x + dx, y + dy
            if not self.grid.contains(cell):
                yield 1.0 - plane  # blocked, and known to be
            else:
                yield float(cell not in (self.world.believed.free if plane == 0 else self.seen))


class Journey(NamedTuple):
    """A problem, how it is observed, and what is done."""

    problem: Problem
    window: int
    history: int
    actions: list[int]


@st.composite
def journeys(draw: st.DrawFn, changing: bool = True) -> Journey:
    grid, start, goal = draw(problems(max_side=7))
    change = st.builds(Change, st.integers(0, 8), st.sampled_from(plain_grid.cells(grid)), st.booleans())
    changes = draw(st.lists(change, max_size=5)) if changing else None
    problem = Problem(grid, start, goal, draw(st.sampled_from([None, 1, 2, 50])), changes)
    actions = draw(st.lists(st.integers(STAY, grid.actions), max_size=14))
    return Journey(problem, draw(st.sampled_from([1, 3, 5, 17])), draw(st.integers(1, 5)), actions)


class Moment(NamedTuple):
    """What a step returned, and what it should have."""

    observation: Any
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]
    plain: PlainEpisode
    cost: float
    blocked: bool


def travel(journey: Journey, **more: Any) -> tuple[gym.Env[Any, Any], Iterator[Moment]]:
    """Return an environment and the moments of a journey in it, the reset first, with no cost."""
    problem, window, history, actions = journey
    env = make(problem, window=window, history=history, stay=True, **more)

    def moments() -> Iterator[Moment]:
        plain = PlainEpisode(problem, window, history, max(problem.grid.width, problem.grid.height))
        observation, info = env.reset(seed=0)
        yield Moment(observation, 0.0, False, False, info, plain, 0.0, False)
        for action in actions:
            step = env.step(action)
            yield Moment(*step, plain, *plain.step(action))
            if step[2] or step[3]:
                return

    return env, moments()


class TestAgainstPlainEpisodes:
    @given(journeys())
    @examples(100)
    def test_every_number_of_every_observation(self, journey: Journey) -> None:
        _, moments = travel(journey)
        for moment in moments:
            expected = moment.plain.observation(planes=1 if journey.problem.vision is None else 2)
            assert moment.observation.tolist() == pytest.approx(expected, rel=1e-6)

    @given(journeys())
    @examples(80)
    def test_position_mask_bumps_and_ends(self, journey: Journey) -> None:
        env, moments = travel(journey, max_moves=10)
        for moves, moment in enumerate(moments):
            position = moment.plain.world.position
            assert rt_gym.view(env).position == position
            assert moment.info["action_mask"].tolist() == [*moment.plain.mask(), 1]
            assert env.unwrapped.action_masks().tolist() == [*moment.plain.mask(), 1]
            assert moment.info.get("blocked", False) == moment.blocked
            assert moment.terminated == (moves > 0 and position == journey.problem.goal)
            assert moment.truncated == (moves == 10 and not moment.terminated)

    @given(journeys())
    @examples(60)
    def test_the_reward_is_minus_the_cost_of_the_move(self, journey: Journey) -> None:
        _, moments = travel(journey)
        for moment in moments:
            assert moment.reward == pytest.approx(-moment.cost, abs=1e-9)

    @given(journeys(), st.sampled_from([1.0, 0.99, 0.5]))
    @examples(60)
    def test_shaping_adds_the_fall_of_the_discounted_heuristic(self, journey: Journey, discount: float) -> None:
        _, moments = travel(journey, shaping=discount)
        goal = journey.problem.goal
        for moment in itertools.islice(moments, 1, None):
            before, after = (moment.plain.h(state, goal) for state in moment.plain.states[-2:])
            assert moment.reward == pytest.approx(-moment.cost + before - discount * after, abs=1e-9)


@st.composite
def walks_to_the_goal(draw: st.DrawFn) -> Journey:
    """Draw a walk that strays, bumps and stands still, and then takes a shortest path to the goal."""
    journey = draw(journeys(changing=False))
    problem = journey.problem
    assume(problem.start != problem.goal)
    left = distances(problem.grid, problem.goal)
    plain = PlainEpisode(problem, 1, 1, 1)
    actions = []
    for action in itertools.chain(journey.actions, itertools.repeat(None)):
        directions = range(problem.grid.connectivity)
        best = min(directions, key=lambda d: (plain.target(d) == plain.world.position, left[plain.target(d)]))
        actions.append(best if action is None else action)
        plain.step(actions[-1])
        if plain.world.position == problem.goal:
            return journey._replace(actions=actions)
    raise AssertionError("the walk has no end")


class TestReturns:
    @given(walks_to_the_goal())
    @examples(60)
    def test_normalised_the_return_is_minus_the_suboptimality(self, journey: Journey) -> None:
        _, moments = travel(journey, reward="normalised")
        walked = list(moments)
        problem = journey.problem
        suboptimality = sum(m.cost for m in walked) / to_float(distances(problem.grid, problem.goal)[problem.start])
        assert walked[-1].terminated
        assert sum(m.reward for m in walked) == pytest.approx(-suboptimality, abs=1e-9)

    @given(walks_to_the_goal(), st.sampled_from([1.0, 0.9]), st.sampled_from(["cost", "normalised"]))
    @examples(60)
    def test_shaping_telescopes(self, journey: Journey, discount: float, reward: str) -> None:
        problem = journey.problem
        plain, shaped = (
            [moment.reward for moment in travel(journey, reward=reward, shaping=shaping)[1]][1:]
            for shaping in (None, discount)
        )
        gained = sum(discount**t * (more - less) for t, (less, more) in enumerate(zip(plain, shaped, strict=True)))
        worth = 1.0 if reward == "cost" else 1.0 / to_float(distances(problem.grid, problem.goal)[problem.start])
        first = to_float(plain_grid.h0(problem.grid, problem.start, problem.goal))
        assert gained == pytest.approx(first * worth, abs=1e-9)  # the goal's own heuristic is zero

    def test_without_an_optimal_cost_to_divide_by_rewards_stay_as_they_are(self) -> None:
        field = drawn("...", "...")
        for problem in (
            Problem(field, (0, 0), (2, 0), changes=[(9, (0, 1), False)]),
            Problem(drawn(".#."), (0, 0), (2, 0), allow_unsolvable=True),
            Problem(field, (0, 0), (0, 0)),
        ):
            env = make(problem, reward="normalised")
            env.reset(seed=0)
            assert env.step(STAY)[1] == -1.0

    def test_a_discount_of_zero_is_no_shaping(self) -> None:
        problem = Problem(drawn("..."), (0, 0), (2, 0))
        for shaping in (None, 0, 0.0):
            env = make(problem, shaping=shaping)
            env.reset(seed=0)
            assert env.step(EAST)[1] == -1.0


class TestMoves:
    def test_bumping_into_walls_edges_and_corners_costs_a_straight_step(self) -> None:
        grid = drawn("..", "#.")
        env = make(Problem(grid, (0, 0), (1, 1)))
        env.reset(seed=0)
        for action in (WEST, NORTH, SOUTH, SOUTH_EAST):  # edge, edge, wall, and a corner that may not be cut
            _, reward, _, _, info = env.step(action)
            assert (reward, info["blocked"], rt_gym.view(env).position) == (-1.0, True, (0, 0))
        assert env.step(EAST)[4]["blocked"] is False
        assert env.step(SOUTH)[2]

    @pytest.mark.parametrize("stay", [False, True])
    def test_standing_still_is_always_accepted_and_costs_a_straight_step(self, stay: bool) -> None:
        env = make(Problem(drawn("..."), (0, 0), (2, 0)), stay=stay)
        env.reset(seed=0)
        for action in (STAY, 8) if stay else (STAY,):
            _, reward, terminated, truncated, info = env.step(action)
            assert (reward, terminated, truncated, info["blocked"]) == (-1.0, False, False, False)
            assert rt_gym.view(env).position == (0, 0)

    def test_standing_still_can_be_an_action_of_its_own_the_last_and_always_legal(self) -> None:
        env = make(Problem(drawn("..."), (0, 0), (2, 0)), stay=True)
        _, info = env.reset(seed=0)
        assert env.action_space == gym.spaces.Discrete(9)
        assert info["action_mask"].tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 1]

    def test_with_four_neighbours_there_are_four_actions(self) -> None:
        env = make(Problem(drawn("..", "..", connectivity=4), (0, 0), (1, 1)))
        _, info = env.reset(seed=0)
        assert env.action_space == gym.spaces.Discrete(4)
        assert info["action_mask"].tolist() == [1, 1, 0, 0]

    @pytest.mark.parametrize(("cost", "reward"), [("octile", -SQRT2), ("unit", -1.0)])
    def test_a_diagonal_step_costs_what_the_cost_model_says(self, cost: str, reward: float) -> None:
        env = make(Problem(drawn("..", "..", cost=cost), (0, 0), (1, 1)))
        env.reset(seed=0)
        assert env.step(SOUTH_EAST)[1] == pytest.approx(reward)

    @pytest.mark.parametrize("action", [np.int64(0), np.int8(0), np.array(0), np.uint8(0)])
    def test_whole_numbers_of_any_type_are_actions(self, action: Any) -> None:
        env = make(Problem(drawn("..."), (0, 0), (2, 0)))
        env.reset(seed=0)
        env.step(action)
        assert rt_gym.view(env).position == (1, 0)


class TestEnds:
    def test_the_goal_terminates(self) -> None:
        env = make(Problem(drawn("..."), (0, 0), (2, 0)))
        env.reset(seed=0)
        assert env.step(EAST)[2:4] == (False, False)
        assert env.step(EAST)[2:4] == (True, False)

    def test_the_last_move_truncates(self) -> None:
        env = make(Problem(drawn("..."), (0, 0), (2, 0)), max_moves=3)
        env.reset(seed=0)
        assert [env.step(WEST)[2:4] for _ in range(3)] == [(False, False), (False, False), (False, True)]

    def test_reaching_the_goal_with_the_last_move_is_no_truncation(self) -> None:
        env = make(Problem(drawn("..."), (0, 0), (2, 0)), max_moves=2)
        env.reset(seed=0)
        env.step(EAST)
        assert env.step(EAST)[2:4] == (True, False)

    def test_after_an_end_the_next_episode_counts_its_moves_anew(self) -> None:
        env = make(Problem(drawn("..."), (0, 0), (2, 0)), max_moves=2)
        for _ in range(3):
            env.reset()
            assert [env.step(WEST)[3] for _ in range(2)] == [False, True]

    def test_a_time_limit_from_outside_works_as_well(self) -> None:
        env = gym.make("RTPath-v0", problems=[Problem(drawn("..."), (0, 0), (2, 0))], max_episode_steps=2)
        env.reset(seed=0)
        assert [env.step(WEST)[3] for _ in range(2)] == [False, True]


class TestInfo:
    def test_a_reset_tells_the_problem(self) -> None:
        grid = drawn("...", "...", name="yard")
        _, info = make(Problem(grid, (0, 0), (2, 1))).reset(seed=0)
        assert list(info) == ["action_mask", "position", "goal", "map", "optimal"]
        assert (info["position"], info["goal"], info["map"]) == ((0, 0), (2, 1), "yard")
        assert info["optimal"] == pytest.approx(1 + SQRT2)

    def test_the_optimal_cost_of_a_changing_map_is_not_known(self) -> None:
        problem = Problem(drawn("..."), (0, 0), (2, 0), changes=[(1, (1, 0), True)])
        assert make(problem).reset(seed=0)[1]["optimal"] is None

    def test_a_step_tells_what_was_spent_and_what_went_wrong(self) -> None:
        env = make(Problem(drawn("..."), (0, 0), (2, 0)))
        env.reset(seed=0)
        info = env.step(EAST)[4]
        assert list(info) == ["action_mask", "blocked", "expansions", "scans", "overrun", "no_path"]
        assert [type(value) for value in list(info.values())[1:]] == [bool, int, int, bool, bool]
        assert list(info.values())[1:] == [False, 0, 0, False, False]
        assert info["action_mask"].dtype == np.int8


CORRIDOR = drawn(".....", "#####", ".....")


class TestChangesAndFog:
    @pytest.mark.parametrize("vision", [None, 1])
    def test_a_door_closes_for_two_moves_and_bars_the_way(self, vision: int | None) -> None:
        door = [(1, (2, 0), False), (3, (2, 0), True)]
        env = make(Problem(CORRIDOR, (0, 0), (4, 0), vision, door))
        env.reset(seed=0)
        assert [env.step(EAST)[4]["blocked"] for _ in range(6)] == [False, True, True, False, False, False]
        assert rt_gym.view(env).position == (4, 0)

    @pytest.mark.parametrize("vision", [None, 1])
    def test_a_new_episode_begins_with_the_map_as_it_was(self, vision: int | None) -> None:
        env = make(Problem(CORRIDOR, (0, 0), (4, 0), vision, [(1, (1, 0), False)]), window=5)
        episodes = []
        for _ in range(3):
            seen = [env.reset(seed=0)[0].tolist()]
            seen += [env.step(action)[0].tolist() for action in (STAY, EAST, EAST)]
            episodes.append(seen)
        assert episodes[0] == episodes[1] == episodes[2]
        assert episodes[0][0] != episodes[0][1]

    def test_in_fog_only_the_surroundings_are_known_at_first(self) -> None:
        env = make(Problem(Grid(np.ones((9, 9))), (4, 4), (8, 8), vision=1), window=5, observation="dict")
        unknown = env.reset(seed=0)[0]["window"].reshape(2, 5, 5)[1]
        expected = np.ones((5, 5))
        expected[1:4, 1:4] = 0
        assert unknown.tolist() == expected.tolist()

    def test_unseen_walls_are_taken_for_open_ground(self) -> None:
        env = make(Problem(drawn("..#.", "...."), (0, 0), (3, 0), vision=1), window=5, observation="dict")
        window = env.reset(seed=0)[0]["window"].reshape(2, 5, 5)
        assert (window[0, 2, 4], window[1, 2, 4]) == (0, 1)
        window = env.step(EAST)[0]["window"].reshape(2, 5, 5)
        assert (window[0, 2, 3], window[1, 2, 3]) == (1, 0)

    def test_nothing_seen_in_one_episode_is_known_in_the_next(self) -> None:
        problem = Problem(Grid(np.ones((9, 9))), (0, 0), (8, 8), vision=1)
        env = make(problem)
        env.reset(seed=0)
        for _ in range(5):
            env.step(SOUTH_EAST)
        env.reset()
        assert rt_gym.view(env).known.sum() == 4

    def test_the_fog_id_sees_one_cell_far_and_as_far_as_it_is_told(self) -> None:
        for vision in (1, 3):
            env = gym.make("RTPathFog-v0", map=Grid(np.ones((9, 9))), pool=1, vision=vision)
            env.reset(options={"start": (4, 4), "goal": (8, 8)})
            assert rt_gym.view(env).vision == vision
            assert rt_gym.view(env).known.sum() == (2 * vision + 1) ** 2


KNOWLEDGE = {
    "known": {},
    "fog": {"vision": 1},
    "changes": {"changes": [(k, (k % 5, 0), k % 3 > 0) for k in range(12)]},
    "fog and changes": {"vision": 2, "changes": [(k, (k % 5, 0), k % 3 > 0) for k in range(12)]},
}


class TestCopies:
    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
    @pytest.mark.parametrize("knowledge", KNOWLEDGE)
    def test_a_copy_of_any_moment_goes_on_as_the_original_did(self, knowledge: str, copied: Any) -> None:
        field = Grid(np.random.default_rng(0).random((5, 6)) < 0.8)
        env = gym.make("RTPath-v0", map=field, pool=5, max_moves=9, window=3, stay=True, **KNOWLEDGE[knowledge])
        env.reset(seed=1)
        actions = np.random.default_rng(2).integers(9, size=30)
        copies, steps = [], []
        for action in actions:
            copies.append(copied(env))
            steps.append(step(env, action))
        for k, twin in enumerate(copies):
            assert [step(twin, action) for action in actions[k:]] == steps[k:]


def step(env: gym.Env[Any, Any], action: int) -> list[Any]:
    observation, reward, terminated, truncated, info = env.step(action)
    if terminated or truncated:
        env.reset()
    return [observation.tolist(), reward, terminated, truncated, info["action_mask"].tolist()]


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

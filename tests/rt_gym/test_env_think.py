"""Thinking or acting as an environment: walks, their time, what is observed, batches, and what is refused."""

import copy
import itertools
import math
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import agents
import rt_gym
from profiles import examples
from reference.plain_oracle import problems, scatter
from reference.plain_think import Thinker
from rt_gym import Budget, Grid, InputError, Problem
from rt_gym.envs.think import env as think_env
from rt_gym.features.thinking import THOUGHTS
from rt_gym.maps.generate import generate

ACT, THINK = range(2)

YARD = generate("rooms", width=22, height=20, room=4, doors=0.7, seed=3)
START, GOAL = (1, 1), (18, 17)
KNOWLEDGE: dict[str, dict[str, Any]] = {
    "known": {},
    "fog": {"vision": 1},
    "wide fog": {"vision": 3},
    "changes": {"changes": [(k, (5 * (k % 4), 5 * (k // 4 % 4)), k % 3 == 0) for k in range(1, 30)]},
    "fog and changes": {"vision": 2, "changes": [(k, (4 + k % 12, 9), k % 2 == 0) for k in range(40)]},
}
TINY = Grid(np.ones((2, 2)), name="tiny")
ROOM = Grid(np.ones((9, 9)), name="room")
WALLED = Problem(Grid([[1, 1, 0, 1]]), (0, 0), (3, 0), allow_unsolvable=True)

Step = tuple[Any, ...]


def make(*chosen: Problem, **more: Any) -> gym.Env[Any, Any]:
    return gym.make("RTThink-v0", problems=list(chosen), disable_env_checker=True, **more)


def run(env: gym.Env[Any, Any], actions: Iterable[int]) -> Iterator[Step]:
    """Yield what every step returns, and where the agent stands after it, until the episode ends."""
    for action in actions:
        step = env.step(action)
        yield *step, rt_gym.view(env).position
        if step[2] or step[3]:
            return


def fixed(env: gym.Env[Any, Any], slices: int) -> Iterator[Step]:
    """Think so many slices whenever nothing is committed, then walk to the end of the path."""
    state = env.unwrapped._memory.state

    def actions() -> Iterator[int]:
        while True:
            searching = state[0].searching != 0
            yield THINK if searching and state[0].slices < slices else ACT  # to act with nothing known is to think

    return run(env, actions())


def path(problem: Problem, walked: list[Step]) -> list[Any]:
    return [problem.start, *(step[5] for step in walked if not step[4]["thought"])]


def cells(record: Any) -> list[Any]:
    return [tuple(cell) for cell in record.path.tolist()]


@st.composite
def any_problem(draw: st.DrawFn) -> Problem:
    vision = draw(st.sampled_from([None, 1, 2]))
    return Problem(*draw(problems(max_side=9)), vision=vision)


class TestWalks:
    @pytest.mark.plain
    @given(problems(max_side=9), st.integers(1, 12))
    @examples(80)
    def test_thinking_until_the_goal_is_found_is_astar_and_its_slices(self, drawn: Any, slice: int) -> None:
        problem = Problem(*drawn)
        env = make(problem, slice=slice)
        env.reset(seed=0)
        if problem.start == problem.goal:
            return
        walked = list(run(env, itertools.repeat(THINK)))
        optimal = agents.run("astar", problem)
        slices = max(1, -(-optimal.expansions // slice))
        assert path(problem, walked) == cells(optimal)
        assert sum(step[4]["expansions"] for step in walked) == optimal.expansions
        assert sum(step[4]["thought"] for step in walked) == slices
        assert sum(step[1] for step in walked) == pytest.approx(-problem.optimal - slices)

    @pytest.mark.parametrize("knowledge", ["known", "fog", "wide fog"])
    @pytest.mark.parametrize(("slices", "slice"), [(1, 1), (1, 20), (3, 7), (2, 50), (10**6, 30)])
    def test_a_fixed_number_of_slices_walks_as_lss_lrta_does(self, knowledge: str, slices: int, slice: int) -> None:
        problem = Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge])
        env = make(problem, slice=slice)
        env.reset(seed=0)
        walked = list(fixed(env, slices))
        told = agents.run("lss-lrta", problem, lookahead=min(slices * slice, 4000))
        thought = sum(step[4]["thought"] for step in walked)
        assert walked[-1][2]
        assert path(problem, walked) == cells(told)
        assert sum(step[4]["expansions"] for step in walked) == told.expansions
        assert sum(step[1] for step in walked) == pytest.approx(-told.cost - thought)

    @given(any_problem(), st.integers(1, 3), st.integers(1, 9))
    @examples(80)
    def test_so_it_does_on_random_grids(self, problem: Problem, slices: int, slice: int) -> None:
        env = make(problem, slice=slice)
        env.reset(seed=0)
        if problem.start == problem.goal:
            return
        assert path(problem, list(fixed(env, slices))) == cells(
            agents.run("lss-lrta", problem, lookahead=slices * slice)
        )

    @pytest.mark.parametrize("knowledge", ["known", "fog", "wide fog"])
    def test_always_acting_thinks_one_slice_at_a_time(self, knowledge: str) -> None:
        problem = Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge])
        one, other = make(problem, slice=9), make(problem, slice=9)
        one.reset(seed=0)
        other.reset(seed=0)
        always, singly = list(run(one, itertools.repeat(ACT))), list(fixed(other, 1))
        assert always[-1][2]
        assert [plain(step) for step in always] == [plain(step) for step in singly]

    @pytest.mark.parametrize("knowledge", KNOWLEDGE)
    @pytest.mark.parametrize("pattern", [(THINK, ACT), (THINK, THINK, ACT), (THINK, ACT, ACT)])
    def test_policies_that_alternate_reach_the_goal(self, knowledge: str, pattern: tuple[int, ...]) -> None:
        env = make(Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge]), slice=15)
        env.reset(seed=0)
        walked = list(run(env, itertools.cycle(pattern)))
        assert walked[-1][2]
        assert rt_gym.view(env).moves == len(walked)

    @pytest.mark.parametrize("slice", [1, 13, 2000])
    def test_a_slice_expands_no_more_than_it_may_and_acting_expands_nothing(self, slice: int) -> None:
        env = make(Problem(YARD, START, GOAL, vision=2), slice=slice, budget=40)
        env.reset(seed=0)
        walked = list(run(env, itertools.cycle([THINK, ACT])))
        assert {step[4]["expansions"] for step in walked if not step[4]["thought"]} == {0}
        assert max(step[4]["expansions"] for step in walked) <= min(slice, 40)
        assert min(step[4]["expansions"] for step in walked if step[4]["thought"]) >= 1


class TestAgainstThePlainReading:
    @pytest.mark.parametrize("knowledge", KNOWLEDGE)
    @pytest.mark.parametrize("chance", [0.3, 0.6, 0.9])
    def test_random_actions_in_a_yard(self, knowledge: str, chance: float) -> None:
        random = np.random.default_rng(int(10 * chance))
        actions = (int(random.random() < chance) for _ in itertools.count())
        self.compare(Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge]), 6, actions)

    @pytest.mark.plain
    @given(any_problem(), st.integers(1, 9), st.data())
    @examples(60)
    def test_random_actions_on_random_grids(self, problem: Problem, slice: int, data: Any) -> None:
        assume(problem.start != problem.goal)
        self.compare(problem, slice, (data.draw(st.integers(0, 1)) for _ in itertools.count()))

    def compare(self, problem: Problem, slice: int, actions: Iterable[int], history: int = 4) -> None:
        changes = [(change.time, change.position, change.free) for change in problem.changes or ()]
        told = Thinker(problem.grid, problem.start, problem.goal, problem.vision, changes, slice)
        env = make(problem, slice=slice, history=history, max_moves=300)
        observation, info = env.reset(seed=0)
        for action in itertools.chain([None], itertools.islice(actions, 300)):
            if action is not None:
                thinks = told.step(action)
                observation, _, terminated, truncated, info = env.step(action)
                assert rt_gym.view(env).position == told.world.position
                assert (info["thought"], info["expansions"], info["scans"]) == (thinks, told.expansions, told.scans)
                assert (terminated, info["no_path"]) == (told.world.position == problem.goal, told.stuck)
                if terminated or truncated:
                    return
            features = told.features(history)
            assert list(features) == list(THOUGHTS)
            assert observation.tolist() == pytest.approx([log(value) for value in features.values()], rel=1e-5)
            assert info["action_mask"].tolist() == told.possible


def log(value: float) -> float:
    return math.copysign(math.log1p(abs(value)), value)


class TestSteps:
    def test_masks_say_when_an_action_is_the_other_one(self) -> None:
        env = make(Problem(ROOM, (0, 0), (8, 8)), slice=4)
        _, info = env.reset(seed=0)
        masks, thoughts = [info["action_mask"].tolist()], []
        for action in (ACT, ACT, ACT, THINK, THINK, THINK, THINK, THINK):
            info = env.step(action)[4]
            masks.append(env.unwrapped.action_masks().tolist())
            thoughts.append(info["thought"])
            assert (masks[-1], info["action_mask"].dtype) == (info["action_mask"].tolist(), np.int8)
        # Nothing known; a search; committed twice; a search on the way, which has found the goal at the second slice.
        assert masks == [[0, 1], [1, 1], [1, 1], [1, 1], [1, 1], [1, 0], [1, 0], [1, 0], [1, 0]]
        assert thoughts == [True, False, False, True, True, False, False, False]
        assert info["found"]

    def test_thinking_on_the_way_drops_the_committed_path(self) -> None:
        env = make(Problem(ROOM, (0, 0), (8, 8)), slice=4, observation="dict")
        env.reset(seed=0)
        env.step(THINK)
        committed = [math.expm1(env.step(action)[0]["path"][0]) for action in (ACT, THINK, ACT)]
        assert committed == pytest.approx([3, 0, 3])

    def test_a_slice_costs_a_straight_step_and_acting_the_move(self) -> None:
        env = make(Problem(ROOM, (0, 0), (8, 8)), price=0.25, slice=4)
        env.reset(seed=0)
        assert [env.step(action)[1] for action in (THINK, THINK, ACT)] == [-2.0, -2.0, pytest.approx(-math.sqrt(2))]

    def test_rewards_can_be_divided_by_the_optimal_cost(self) -> None:
        problem = Problem(YARD, START, GOAL)
        env = make(problem, reward="normalised", slice=50)
        env.reset(seed=0)
        walked = list(run(env, itertools.repeat(THINK)))
        slices = sum(step[4]["thought"] for step in walked)
        assert sum(step[1] for step in walked) == pytest.approx(-1 - slices / problem.optimal)

    def test_shaping_knows_of_standing_still(self) -> None:
        env = make(Problem(ROOM, (0, 0), (0, 8)), shaping=0.5, slice=9)
        env.reset(seed=0)
        assert [env.step(action)[1] for action in (THINK, ACT)] == [-1 + 8 - 4.0, -1 + 8 - 3.5]

    def test_a_search_that_runs_empty_ends_the_episode(self) -> None:
        env = make(WALLED)
        env.reset(seed=0)
        _, reward, terminated, truncated, info = env.step(THINK)
        assert (reward, terminated, truncated, info["no_path"], info["expansions"]) == (-1.0, False, True, True, 2)

    def test_an_episode_that_begins_at_its_goal_ends_with_the_first_step(self) -> None:
        for action in (ACT, THINK):
            env = make(Problem(YARD, START, START))
            env.reset(seed=0)
            _, reward, terminated, _, info = env.step(action)
            assert (reward, terminated, info["thought"], info["expansions"]) == (-1.0, True, False, 0)

    def test_the_largest_number_of_moves_counts_slices(self) -> None:
        env = make(Problem(YARD, START, GOAL), max_moves=7, slice=1)
        env.reset(seed=0)
        walked = list(run(env, itertools.repeat(THINK)))
        assert (len(walked), walked[-1][2], walked[-1][3]) == (7, False, True)

    @pytest.mark.parametrize(("on_overrun", "cut"), [("truncate", True), ("idle", False)])
    def test_learning_past_a_budget_of_scans_is_an_overrun(self, on_overrun: str, cut: bool) -> None:
        env = make(Problem(YARD, START, GOAL), slice=50, budget=Budget(20, "scans", on_overrun))
        env.reset(seed=0)
        assert env.step(THINK)[4]["expansions"] == 20
        _, _, _, truncated, info = env.step(ACT)
        assert (truncated, info["overrun"], rt_gym.view(env).position) == (cut, True, START)
        if not cut:
            assert not env.step(ACT)[4]["overrun"]
            assert rt_gym.view(env).position != START

    def test_a_policy_that_takes_too_long_loses_the_episode(self) -> None:
        env = make(Problem(YARD, START, GOAL), budget=Budget(seconds=1e-9))
        env.reset(seed=0)
        _, _, _, truncated, info = env.step(THINK)
        assert (truncated, info["overrun"], info["thought"], info["expansions"]) == (True, True, False, 0)

    def test_a_door_that_opens_is_worth_another_thought(self) -> None:
        wall = np.ones((3, 9), bool)
        wall[:2, 4] = False
        problem = Problem(Grid(wall), (0, 0), (8, 0), changes=[(3, (4, 0), True)])
        env = make(problem, slice=100)
        env.reset(seed=0)
        masks = [env.step(action)[4]["action_mask"].tolist() for action in (THINK, ACT, ACT)]
        assert masks == [[1, 0], [1, 0], [1, 1]]

    def test_a_change_beside_what_was_expanded_voids_the_search(self) -> None:
        for cell, kept in (((5, 5), True), ((1, 1), False)):
            env = make(Problem(ROOM, (0, 0), (8, 0), changes=[(2, cell, False)]), slice=2)
            env.reset(seed=0)
            env.step(THINK)
            assert env.step(THINK)[4]["action_mask"].tolist() == [int(kept), 1]

    def test_the_information_has_plain_types(self) -> None:
        env = make(Problem(YARD, START, GOAL))
        assert list(env.reset(seed=0)[1]) == ["action_mask", "position", "goal", "map", "optimal"]
        info = env.step(0)[4]
        assert list(info) == ["action_mask", "thought", "found", "expansions", "scans", "overrun", "no_path"]
        assert [type(value) for value in list(info.values())[1:]] == [bool, bool, int, int, bool, bool]

    def test_the_picture_shows_what_was_learned_and_all_of_the_search(self) -> None:
        env = make(Problem(YARD, START, GOAL, vision=1), slice=5, render_mode="rgb_array", render_size=(96, 96))
        env.reset(seed=0)
        counts = []
        for _ in range(3):
            counts.append(len(rt_gym.view(env).painter()["expanded"]))
            env.step(THINK)
        assert counts == [0, 5, 10]
        list(itertools.islice(run(env, itertools.repeat(ACT)), 20))
        layers = rt_gym.view(env).painter()
        assert layers["h"].shape == YARD.passable.shape
        assert layers["h"].max() > 0 <= layers["h"].min()
        shown = env.render()
        rt_gym.view(env).painter = None
        assert not np.array_equal(shown, env.render())

    def test_a_problem_by_options_may_stand_on_a_smaller_map(self) -> None:
        env = make(Problem(YARD, START, GOAL), slice=50)
        guest = Problem(Grid(np.ones((3, 12))), (0, 0), (11, 2))
        env.reset(options={"problem": guest})
        walked = list(run(env, itertools.repeat(THINK)))
        assert sum(step[1] for step in walked) == pytest.approx(-guest.optimal - 1)

    @pytest.mark.parametrize("knowledge", KNOWLEDGE)
    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
    def test_a_copy_of_any_moment_goes_on_as_the_original_did(self, knowledge: str, copied: Callable[..., Any]) -> None:
        env = make(Problem(YARD, START, GOAL, **KNOWLEDGE[knowledge]), slice=4)
        env.reset(seed=1)
        chosen = np.random.default_rng(2).integers(2, size=24).tolist()
        copies, told = [], []
        for action in chosen:
            copies.append(copied(env))
            told.append(plain(env.step(action)))
        for k in range(0, 24, 5):
            assert [plain(copies[k].step(action)) for action in chosen[k:]] == told[k:]


def plain(step: Step) -> list[Any]:
    return [step[0].tolist(), *step[1:4], {name: np.asarray(value).tolist() for name, value in step[4].items()}]


COUNT = 5
FIELD = Grid(scatter(np.random.default_rng(1), 9, 8, 0.25), name="field")
TALL = Grid(scatter(np.random.default_rng(2), 3, 11, 0.1), name="tall")
CASES: dict[str, dict[str, Any]] = {
    "known": {},
    "fog": {"vision": 1},
    "wide fog, several maps": {"vision": 3, "map": [FIELD, TALL, TINY], "reward": "normalised"},
    "changes": {"changes": [(k, (k % 7, k % 6), k % 2 == 0) for k in range(1, 20)], "shaping": 0.9},
    "fog and changes": {"vision": 1, "changes": [(k, (k % 7, k % 6), k % 2 == 0) for k in range(1, 20)]},
    "several maps": {"map": [FIELD, TALL, TINY], "observation": "dict"},
    "four neighbours": {"map": FIELD.replace(connectivity=4), "vision": 2},
    "unit costs": {"map": FIELD.replace(cost="unit", corner="free"), "price": 0.5},
    "scans": {"budget": Budget(6, "scans", "idle"), "price": 0.1},
    "truncated scans": {"budget": Budget(6, "scans")},
    "all kinds of problems": {
        "problems": [
            WALLED, Problem(TINY, (0, 0), (0, 0)),
            Problem(TALL, (0, 1), (2, 9), vision=1), Problem(TALL, (0, 1), (2, 9)),
        ]
    },
}  # fmt: skip
KEYS = ("action_mask", "thought", "found", "expansions", "scans", "overrun", "no_path")


def make_batch(mode: AutoresetMode, count: int = COUNT, **given: Any) -> Any:
    return gym.make_vec("RTThink-v0", count, vectorization_mode="vector_entry_point", autoreset_mode=mode, **given)


def make_singles(mode: AutoresetMode, **given: Any) -> SyncVectorEnv:
    return SyncVectorEnv([lambda: gym.make("RTThink-v0", **given)] * COUNT, autoreset_mode=mode)


def bytes_taken(env: Any) -> int:
    return think_env.bytes_of_episodes(env._episodes, env._own, *env._threads)


def arguments(case: str) -> dict[str, Any]:
    return {"map": FIELD, "pool": 9, "max_moves": 16, "history": 4, "slice": 5} | CASES[case]


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return bool(np.array_equal(one, other))


def some_actions(env: Any, count: int) -> NDArray[np.int64]:
    return np.random.default_rng(7).integers(2, size=(count, env.num_envs))


@pytest.mark.parametrize("case", CASES)
class TestBatchAgainstSingles:
    @pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
    def test_the_same_seeds_give_the_same_trajectories(self, case: str, mode: AutoresetMode) -> None:
        batch, singles = (maker(mode, **arguments(case)) for maker in (make_batch, make_singles))
        (ours, info), (theirs, their_info) = batch.reset(seed=5), singles.reset(seed=5)
        assert same(ours, theirs)
        assert np.array_equal(info["action_mask"], their_info["action_mask"])
        ends = 0
        for actions in some_actions(batch, 80):
            (ours, *our_rest, info), (theirs, *their_rest, their_info) = batch.step(actions), singles.step(actions)
            assert same(ours, theirs)
            assert all(map(np.array_equal, our_rest, their_rest))
            over = our_rest[1] | our_rest[2]
            ends += int(over.sum())
            if mode == AutoresetMode.NEXT_STEP:
                nothing = np.zeros(COUNT)
                assert all(np.array_equal(info[key], their_info.get(key, nothing)) for key in KEYS)
            elif over.any():
                assert np.array_equal(info["_final_obs"], their_info["_final_obs"])
                assert all(same(info["final_obs"][i], their_info["final_obs"][i]) for i in np.flatnonzero(over))
        assert ends > 0

    def test_without_autoreset_the_chosen_episodes_begin_anew(self, case: str) -> None:
        batch, singles = (maker(AutoresetMode.DISABLED, **arguments(case)) for maker in (make_batch, make_singles))
        assert same(batch.reset(seed=3)[0], singles.reset(seed=3)[0])
        for actions in some_actions(batch, 60):
            (ours, *our_rest, _), (theirs, *their_rest, _) = batch.step(actions), singles.step(actions)
            assert same(ours, theirs)
            assert all(map(np.array_equal, our_rest, their_rest))
            over = our_rest[1] | our_rest[2]
            if over.any():
                again, their_again = (envs.reset(options={"reset_mask": over.copy()})[0] for envs in (batch, singles))
                assert same(again, their_again)

    @pytest.mark.parametrize("threads", [2, COUNT + 3])
    def test_threads_change_nothing(self, case: str, threads: int) -> None:
        mode = AutoresetMode.SAME_STEP
        alone, together = make_batch(mode, **arguments(case)), make_batch(mode, threads=threads, **arguments(case))
        assert same(alone.reset(seed=1)[0], together.reset(seed=1)[0])
        for actions in some_actions(alone, 40):
            (ours, *our_rest, _), (theirs, *their_rest, _) = alone.step(actions), together.step(actions)
            assert same(ours, theirs)
            assert all(map(np.array_equal, our_rest, their_rest))


class TestBatch:
    def test_episodes_do_not_depend_on_how_many_others_there_are(self) -> None:
        few, many = (make_batch(AutoresetMode.SAME_STEP, count, map="open-16", vision=2) for count in (4, 512))
        assert np.array_equal(few.reset(seed=0)[0], many.reset(seed=0)[0][:4])
        for actions in some_actions(many, 12):
            assert np.array_equal(few.step(actions[:4])[0], many.step(actions)[0][:4])

    def test_more_episodes_than_the_memory_can_hold_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(think_env, "machine_memory", lambda: 4e6)
        words = (
            r"num_envs must be at most \d\d here: an episode on maps of this size may take 0\.\d MB, and this machine"
        )
        with pytest.raises(InputError, match=words):
            make_batch(AutoresetMode.SAME_STEP, 100, map="random-48")
        make_batch(AutoresetMode.SAME_STEP, 10, map="random-48")

    @pytest.mark.parametrize(("vision", "per_cell"), [(None, 68), (2, 72)])
    def test_an_episode_takes_as_many_bytes_per_cell_as_is_documented(self, vision: Any, per_cell: int) -> None:
        small, large = (
            make_batch(AutoresetMode.SAME_STEP, 3, map=Grid(np.ones((side, side))), vision=vision, pool=1)
            for side in (18, 38)
        )
        grown = bytes_taken(large.unwrapped) - bytes_taken(small.unwrapped)
        shared = 12  # of ranks and ties, for all episodes of a thread together
        assert grown == (40**2 - 20**2) * (3 * per_cell + shared)

    @pytest.mark.parametrize(
        ("name", "value", "words"),
        [
            ("budget", Budget(9, on_overrun="raise"), 'budget of a batch may not have on_overrun="raise" or seconds'),
            ("budget", Budget(9, seconds=1.0), "budget of a batch may not"),
            ("render_mode", "ansi", "a batched environment does not render"),
        ],
    )
    def test_what_a_batch_refuses(self, name: str, value: Any, words: str) -> None:
        with pytest.raises(InputError, match=words):
            make_batch(AutoresetMode.NEXT_STEP, **{"map": FIELD, "pool": 3, name: value})

    def test_a_step_before_reset_and_wrong_actions_are_refused(self) -> None:
        batch = make_batch(AutoresetMode.NEXT_STEP, 2, map=FIELD, pool=3)
        with pytest.raises(gym.error.ResetNeeded):
            batch.step([0, 0])
        batch.reset(seed=0)
        with pytest.raises(InputError, match="actions must lie from 0 to 1, not 2 as for episode 1"):
            batch.step([0, 2])


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "value", "words"),
        [
            ("slice", 0, "slice must be a whole number from 1 to 4194304, not 0"),
            ("slice", 2.5, "slice must be"),
            ("slice", None, "slice must be"),
            ("vision", 0, "vision must be"),
            ("price", -1, "price must be a number from 0"),
            ("observation", "image", 'observation must be "box" or "dict"'),
            ("reward", "gold", 'reward must be "cost" or "normalised"'),
            ("max_moves", 0, "max_moves must be a whole number from 1"),
            ("budget", 0, "budget must be a whole number of at least 1"),
        ],
    )
    def test_a_value_that_cannot_be(self, name: str, value: Any, words: str) -> None:
        given = {"map": FIELD, "pool": 3, name: value}
        for maker in (gym.make, lambda _, **more: make_batch(AutoresetMode.NEXT_STEP, **more)):
            with pytest.raises(InputError, match=words) as refusal:
                maker("RTThink-v0", **given)
            assert "\n" not in str(refusal.value)

    def test_arguments_of_other_environments_are_unknown(self) -> None:
        for name in ("window", "d_max"):
            with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
                gym.make("RTThink-v0", **{name: 5})

    @pytest.mark.parametrize("action", [-1, 2, 1.0, None, "think", [0]])
    def test_an_action_outside_the_space_is_refused_and_nothing_happens(self, action: Any) -> None:
        env, twin = (make(Problem(YARD, START, GOAL)).unwrapped for _ in range(2))
        env.reset(seed=0)
        twin.reset(seed=0)
        with pytest.raises(InputError, match="action must be a whole number from 0 to 1, not "):
            env.step(action)
        assert same(env.step(1)[0], twin.step(1)[0])

"""Depth and goal control: walks of General LRTA* to the goal and to subgoals, what is observed, batches, refusals."""

import copy
import itertools
import math
import pickle
import re
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import agents
import rt_gym
from profiles import examples
from reference import plain_grid, plain_lrta, plain_pdb_lrta
from reference.batches import make_batch, make_singles, same, step_both, with_case
from reference.plain_grid import Position, h0
from reference.plain_oracle import distances, problems, scatter
from reference.yard import GOAL, POCKET, START, TRAP, YARD
from rt_gym import Budget, Grid, InputError, Problem
from rt_gym.cost import STRAIGHT
from rt_gym.envs.depth import DepthGoalSettings
from rt_gym.search.tables import FRESH

ID = "RTDepthGoal-v0"
TO_GOAL, TO_SUBGOAL = range(2)
ACROSS = Problem(YARD, START, GOAL)
KNOWLEDGE: dict[str, dict[str, Any]] = {
    "known": {},
    "fog": {"vision": 2},
    "changes": {"changes": [(k, (5 * (k % 4), 5 * (k // 4 % 4)), k % 3 == 0) for k in range(1, 30)]},
}


def make(*chosen: Problem, env_id: str = ID, **more: Any) -> gym.Env[Any, Any]:
    return gym.make(env_id, problems=list(chosen), disable_env_checker=True, **more)


class Told:
    """A walk on a known map told by its definitions: regions, shortest paths and lookaheads are searched anew."""

    def __init__(self, problem: Problem, kind: str, level: int) -> None:
        self.goal, self.states, self.pursued = problem.goal, [problem.start], problem.start
        self.map = plain_grid.Map.of(problem.grid)
        self.knowledge = plain_pdb_lrta.Knowledge(self.map, "I", 1, kind, level)
        self.tables: dict[Position, Any] = {}

    @property
    def subgoal(self) -> Position | None:
        known = self.knowledge
        here, there = known.region[self.states[-1]], known.region[self.goal]
        if here == there or known.representatives[here] not in distances(self.map, known.representatives[there]):
            return None
        return known.representatives[known.next_region(here, there)]

    def decide(self, depth: int, which: int) -> int:
        """Walk on and return how many states were expanded."""
        self.pursued = (self.subgoal if which == TO_SUBGOAL else None) or self.goal
        h = self.tables.setdefault(self.pursued, plain_grid.initial_heuristic(self.map.grid, self.pursued))
        plan = plain_lrta.plan(self.map, self.states[-1], self.pursued, depth, h)
        self.states.append(plan.steps[0])
        return len(plan.expanded)

    def observed(self) -> list[float]:
        goal, (x, y), grid = self.subgoal, self.states[-1], self.map.grid
        if goal is None:
            return [0.0] * 6
        near, beyond = h0(grid, (x, y), goal) / STRAIGHT, h0(grid, goal, self.goal) / STRAIGHT
        told = [1, near, goal[0] - x, goal[1] - y, beyond, len(self.states) > 1 and self.pursued == goal]
        return [math.copysign(math.log1p(abs(value)), value) for value in told]


@st.composite
def known_problems(draw: st.DrawFn) -> Problem:
    return Problem(*draw(problems(max_side=9)))


class TestWalks:
    @pytest.mark.parametrize("knowledge", KNOWLEDGE)
    @pytest.mark.parametrize("features", ["rich", "paper"])
    def test_always_to_the_goal_it_is_depth_control_step_for_step(self, knowledge: str, features: str) -> None:
        problem = Problem(YARD, (1, 1), (18, 17), **KNOWLEDGE[knowledge])
        ours, theirs = (
            make(problem, env_id=env_id, features=features, price=0.25, max_moves=300) for env_id in (ID, "RTDepth-v0")
        )
        assert ours.reset(seed=0)[0][:-6].tolist() == theirs.reset(seed=0)[0].tolist()
        over, rng = False, np.random.default_rng(0)
        while not over:
            depth = int(rng.integers(16))
            (one, *rest, info), (other, *their_rest, their_info) = ours.step((depth, TO_GOAL)), theirs.step(depth)
            over = rest[1] or rest[2]
            assert one[:-6].tolist() == other.tolist()
            assert rest == their_rest
            assert rt_gym.view(ours).position == rt_gym.view(theirs).position
            del info["action_mask"], their_info["action_mask"]
            assert info == their_info

    @pytest.mark.parametrize(("kind", "level"), [("clique", 2), ("clique", 4), ("tiles", 2), ("tiles", 3)])
    @pytest.mark.parametrize("depth", [1, 4, 9])
    def test_a_fixed_depth_walks_from_region_to_region(self, kind: str, level: int, depth: int) -> None:
        env = make(ACROSS, abstraction=kind, level=level, max_moves=60)
        env.reset(seed=0)
        told, over = Told(ACROSS, kind, level), False
        while not over:
            _, _, terminated, truncated, info = env.step((depth - 1, TO_SUBGOAL))
            assert info["expansions"] == told.decide(depth, TO_SUBGOAL)
            assert info["depth"] == depth
            assert rt_gym.view(env).position == told.states[-1]
            over = terminated or truncated
        assert len({told.knowledge.region[state] for state in told.states}) > 2

    @pytest.mark.parametrize(("kind", "level"), [("clique", 2), ("clique", 4), ("tiles", 3)])
    @pytest.mark.parametrize("depth", [1, 4, 9])
    def test_subgoals_lead_as_general_lrta_goes_with_the_goals_of_a_database(
        self, kind: str, level: int, depth: int
    ) -> None:
        env = make(ACROSS, abstraction=kind, level=level, max_moves=60)
        env.reset(seed=0)
        walked, over = [ACROSS.start], False
        while not over:
            _, _, terminated, truncated, _ = env.step((depth - 1, TO_SUBGOAL))
            walked.append(rt_gym.view(env).position)
            over = terminated or truncated
        chosen = {"design": 4, "depth": depth, "abstraction": kind, "level": level, "guard": False}
        run = agents.run("general-lrta", ACROSS, max_moves=60, subgoal="first", keep=False, **chosen)
        assert walked == [tuple(cell) for cell in run.path.tolist()]

    @pytest.mark.plain
    @given(known_problems(), st.sampled_from(["clique", "tiles"]), st.integers(0, 3), st.data())
    @examples(60)
    def test_mixed_actions_walk_and_show_what_the_definitions_say(
        self, problem: Problem, kind: str, level: int, data: Any
    ) -> None:
        env = make(problem, abstraction=kind, level=level, d_max=4, max_moves=12, observation="dict")
        (observation, info), told = env.reset(seed=0), Told(problem, kind, level)
        over = problem.start == problem.goal
        while not over:
            assert observation["subgoal"].tolist() == pytest.approx(told.observed(), abs=2e-6)
            assert info["action_mask"].tolist() == [1] * 5 + [int(told.subgoal is not None)]
            depth, which = data.draw(st.tuples(st.integers(1, 4), st.integers(0, 1)))
            expanded = told.decide(depth, which)
            observation, _, terminated, truncated, info = env.step((depth - 1, which))
            assert info["expansions"] == expanded
            assert rt_gym.view(env).position == told.states[-1]
            over = terminated or truncated

    def test_subgoals_lead_out_of_a_pocket_in_which_the_goal_holds_the_agent(self) -> None:
        moves = []
        for which in (TO_GOAL, TO_SUBGOAL):
            env = make(POCKET)
            env.reset(seed=0)
            moves.append(next(k for k in itertools.count(1) if env.step((2, which))[2]))
        assert moves[TO_GOAL] > 5 * moves[TO_SUBGOAL]


STRIP = Grid(np.ones((3, 24)))
FAR = Problem(STRIP, (0, 1), (23, 1))
TILED: dict[str, Any] = {"abstraction": "tiles", "level": 3}  # three regions of 8 x 3 cells


def subgoal_of(env: gym.Env[Any, Any]) -> Position | None:
    marks = rt_gym.view(env).painter()["subgoals"].tolist()
    return tuple(marks[0]) if marks else None


class TestSubgoals:
    def test_there_is_one_until_the_region_of_the_goal_is_entered(self) -> None:
        env = make(FAR, **TILED)
        env.reset(seed=0)
        seen = [subgoal_of(env)]
        masks = []
        for _ in range(23):
            _, _, terminated, _, info = env.step((0, TO_SUBGOAL))
            seen.append(subgoal_of(env))
            masks.append(info["action_mask"][-1])
        assert terminated
        assert seen == [(11, 1)] * 8 + [(19, 1)] * 8 + [None] * 8
        assert masks == [1] * 15 + [0] * 8
        assert env.unwrapped.action_masks().tolist() == [1] * 17 + [0]

    def test_one_that_is_blocked_is_left_out(self) -> None:
        env = make(Problem(STRIP, (0, 1), (23, 1), changes=[(2, (11, 1), False)]), **TILED)
        env.reset(seed=0)
        infos = [env.step((0, TO_SUBGOAL))[4] for _ in range(3)]
        assert [info["action_mask"][-1] for info in infos] == [1, 0, 0]
        assert subgoal_of(env) is None
        assert rt_gym.view(env).position[0] == 3

    def test_one_that_cannot_be_reached_is_given_up_for_the_goal(self) -> None:
        walls = [(1, (x, y), False) for x in (4, 5, 6) for y in (0, 1, 2) if (x, y) != (5, 1)]
        problem = Problem(Grid(np.ones((4, 12))), (0, 1), (11, 1), changes=walls)
        env = make(problem, abstraction="tiles", level=2, observation="dict")
        env.reset(seed=0)
        assert env.step((0, TO_SUBGOAL))[0]["subgoal"][-1] > 0
        assert subgoal_of(env) == (5, 1)
        observation, *_, info = env.step((15, TO_SUBGOAL))
        assert info["expansions"] == 48 - len(walls) - 1 + 1  # all but what is shut in, and then one
        assert (info["no_path"], observation["subgoal"][-1]) == (False, 0)
        assert any(env.step((15, TO_SUBGOAL))[2] for _ in range(100))

    def test_in_fog_the_regions_are_those_of_open_ground(self) -> None:
        passable = np.ones((3, 24), bool)
        passable[:2, 11] = False
        fog, clear = Problem(Grid(passable), (0, 1), (23, 1), vision=1), Problem(Grid(passable), (0, 1), (23, 1))
        env = make(fog, clear, **TILED)
        env.reset(options={"index": 0})
        assert subgoal_of(env) == (11, 1)  # nobody has seen that there is a wall
        env.reset(options={"index": 1})
        assert subgoal_of(env) == (12, 1)

    def test_no_way_at_all_ends_the_episode(self) -> None:
        env = make(Problem(Grid([[1, 1, 0, 1]]), (0, 0), (3, 0), allow_unsolvable=True), level=0)
        assert env.reset(seed=0)[1]["action_mask"][-1] == 0
        *_, truncated, info = env.step((3, TO_SUBGOAL))
        assert truncated
        assert info["no_path"]

    def test_problems_with_goals_in_one_region_share_what_was_prepared(self) -> None:
        pool = [FAR, Problem(STRIP, (1, 1), (22, 2)), Problem(STRIP, (20, 0), (1, 1))]
        made = DepthGoalSettings(problems=pool, **TILED)
        one, other, third = (made.subgoals(problem) for problem in pool)
        assert one is other
        assert third is not one
        assert third.region is one.region
        assert len(made._subgoals) == 2

    def test_a_guest_is_prepared_for_at_reset_and_not_kept(self) -> None:
        env = make(FAR, **TILED)
        for guest in (Problem(STRIP, (23, 0), (0, 0)), Problem(Grid(np.ones((2, 17))), (0, 0), (16, 1))):
            env.reset(options={"problem": guest})
            assert subgoal_of(env) is not None
            assert any(env.step((3, TO_SUBGOAL))[2] for _ in range(40))
        assert len(env.unwrapped.settings._subgoals) == len(env.unwrapped.settings._regions) == 1

    def test_the_picture_shows_regions_and_what_was_learned_towards_what_is_pursued(self) -> None:
        env = make(POCKET, render_mode="rgb_array", render_size=(96, 96))
        env.reset(seed=0)
        assert rt_gym.view(env).painter()["h"].max() == 0
        risen = []
        for k in range(60):
            env.step((0, int(k % 12 == 0)))
            risen.append(rt_gym.view(env).painter()["h"].max())
        layers = rt_gym.view(env).painter()
        assert layers["regions"].shape == layers["h"].shape == TRAP.shape
        assert ((layers["regions"] >= 0) == TRAP).all()
        assert max(risen) > 0 <= min(risen)
        assert env.render().shape == (96, 96, 3)

    def test_what_was_learned_outgrows_every_table(self) -> None:
        env, told = make(POCKET), Told(POCKET, "clique", 4)
        env.reset(seed=0)
        for k in range(150):
            which = int(k % 12 == 0)
            told.decide(1, which)
            env.step((0, which))
            assert rt_gym.view(env).position == told.states[-1]
        assert env.unwrapped.control.learned.cells.size > FRESH


FIELD = Grid(scatter(np.random.default_rng(1), 12, 11, 0.2), name="field")
TALL = Grid(scatter(np.random.default_rng(2), 3, 16, 0.1), name="tall")
CASES: dict[str, dict[str, Any]] = {
    "known": {},
    "tiles": {"abstraction": "tiles", "level": 2, "observation": "dict"},
    "several maps": {"map": [FIELD, TALL, YARD], "price": 0.1, "shaping": 0.9},
    "paper, lost moves": {"features": "paper", "budget": Budget(12, on_overrun="idle")},
    "learning much": {"problems": [POCKET], "max_moves": 150, "d_max": 1, "level": 4},
}


def arguments(case: str) -> dict[str, Any]:
    return with_case({"map": FIELD, "pool": 9, "max_moves": 11, "history": 4, "d_max": 4, "level": 2}, CASES[case])


def some_actions(env: Any, count: int) -> NDArray[np.int64]:
    sizes = env.single_action_space.nvec
    return np.random.default_rng(7).integers(sizes, size=(count, env.num_envs, 2))


class TestBatch:
    @pytest.mark.parametrize("case", CASES)
    @pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
    def test_the_same_seeds_give_the_same_trajectories(self, case: str, mode: AutoresetMode) -> None:
        batch = make_batch(ID, mode, **arguments(case))
        singles = make_singles(ID, mode, **arguments(case))
        (ours, info), (theirs, their_info) = batch.reset(seed=5), singles.reset(seed=5)
        assert same(ours, theirs)
        assert same(info["action_mask"], their_info["action_mask"])
        ends, much = 0, case == "learning much"
        for k, actions in enumerate(some_actions(batch, 320 if much else 60)):
            actions[:, 1] &= not much or k % 12 == 0
            over, info, their_info = step_both(batch, singles, actions)
            assert same(info["action_mask"], their_info["action_mask"])
            ends += int(over.sum())
        assert ends > 0
        if much:
            assert batch.unwrapped._episodes.control.learned.cells.shape[1] > FRESH

    @pytest.mark.parametrize("changed", ["threads", "deepcopy", "pickle"])
    def test_neither_threads_nor_copies_change_anything(self, changed: str) -> None:
        given, mode = arguments("several maps"), AutoresetMode.SAME_STEP
        one, other = (
            make_batch(ID, mode, **given),
            make_batch(ID, mode, threads=3 if changed == "threads" else 1, **given),
        )
        assert same(one.reset(seed=1)[0], other.reset(seed=1)[0])
        for k, actions in enumerate(some_actions(one, 50)):
            if k == 20 and changed != "threads":
                other = copy.deepcopy(one) if changed == "deepcopy" else pickle.loads(pickle.dumps(one))
            step_both(one, other, actions)

    def test_wrong_actions_are_refused(self) -> None:
        batch = make_batch(ID, AutoresetMode.NEXT_STEP, 2, map=FIELD, pool=3, d_max=3)
        batch.reset(seed=0)
        for wrong in ([0, 0], [[0, 0]], [[0.0, 0.0]] * 2, [[0, 0, 0]] * 2, [[0, 0], [0]], None):
            with pytest.raises(InputError, match="actions must be 2 pairs of whole numbers, not "):
                batch.step(wrong)
        for pair in ((3, 0), (0, 2), (-1, 0), (0, -1)):
            with pytest.raises(InputError, match=re.escape(f"must be below (3, 2), not {pair} as for episode 1")):
                batch.step([(2, 1), pair])


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "value", "words"),
        [
            ("level", -1, "level must be a whole number from 0 to 14, not -1"),
            ("level", 15, "level must be"),
            ("level", "four", "level must be"),
            ("abstraction", "rooms", 'abstraction must be "clique" or "tiles", not \'rooms\''),
            ("abstraction", None, "abstraction must be"),
            ("d_max", 0, "d_max must be a whole number from 1 to 100, not 0"),
        ],
    )
    def test_an_argument_that_cannot_be_is_refused(self, name: str, value: Any, words: str) -> None:
        for maker in (gym.make, lambda _, **more: make_batch(ID, AutoresetMode.NEXT_STEP, **more)):
            with pytest.raises(InputError, match=words) as refusal:
                maker(ID, **{"map": FIELD, "pool": 3, name: value})
            assert "\n" not in str(refusal.value)

    @pytest.mark.parametrize("action", [0, (4, 0), (0, 2), (-1, 0), (0, -1), (1.0, 0), (0,), (0, 0, 0), None, "ab"])
    def test_an_action_outside_the_space_is_refused_and_nothing_happens(self, action: Any) -> None:
        env, twin = (make(ACROSS, d_max=4).unwrapped for _ in range(2))
        env.reset(seed=0)
        twin.reset(seed=0)
        with pytest.raises(InputError, match="action must be two whole numbers below 4 and 2, not "):
            env.step(action)
        assert same(env.step((1, 1))[0], twin.step((1, 1))[0])


class TestExample:
    """The rule of docs/environments.md: subgoals until the agent strays, then the goal, with a deep search."""

    RULES: ClassVar[dict[str, Any]] = {
        "shown": lambda strayed: (11, TO_GOAL) if strayed else (2, TO_SUBGOAL),
        "inverse": lambda strayed: (2, TO_SUBGOAL) if strayed else (11, TO_GOAL),
    }

    @staticmethod
    def reached(rule: Any) -> int:
        env, reached = gym.make(ID, map="caves-128", max_moves=6000), 0
        for seed in range(24):
            seen, over = env.reset(seed=seed)[0], False
            while not over:
                seen, _, terminated, truncated, _ = env.step(rule(seen[2] > 0))
                over = terminated or truncated
            reached += terminated
        return reached

    def test_it_reaches_every_goal_and_its_inverse_does_not(self) -> None:
        reached = {name: self.reached(rule) for name, rule in self.RULES.items()}
        assert reached["shown"] == 24 > reached["inverse"]

"""Episodes of the path environment beside the same episodes in plain Python: observations, rewards and returns."""

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import gymnasium as gym
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rt_gym
from profiles import examples
from reference import plain_grid
from reference.plain_oracle import distances, problems
from reference.small_maps import drawn
from rt_gym import STAY, Change, Problem
from rt_gym.cost import to_float

EAST = 0

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
    def test_every_number_of_every_observation_is_that_of_the_plain_episode(self, journey: Journey) -> None:
        _, moments = travel(journey)
        for moment in moments:
            expected = moment.plain.observation(planes=1 if journey.problem.vision is None else 2)
            assert moment.observation.tolist() == pytest.approx(expected, rel=1e-6)

    @given(journeys())
    @examples(80)
    def test_position_mask_bumps_and_ends_are_those_of_the_plain_episode(self, journey: Journey) -> None:
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

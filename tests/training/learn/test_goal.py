"""Learning goals: what is labelled on a walk, and what is learned from it."""

import numpy as np
import pytest

from agents.policies.candidates import CANDIDATE
from reference.plain_grid import Map
from reference.plain_oracle import distances
from rt_gym import InputError
from rt_gym.abstraction import abstract
from training.learn import goal
from training.learn.goal import GoalConfig, GoalSamples, cross_validate_goals, fit_goals, joined, log_goals, top
from training.runs import Course, Draw, Workers, find_courses

HERE = Workers(jobs=1)
CONFIG = GoalConfig(level=2, depth=4, states=20, min_leaf=10)


@pytest.fixture(scope="module")
def courses() -> list[Course]:
    return list(find_courses(["rooms-64"], Draw(count=12, low=20, high=60)))


@pytest.fixture(scope="module")
def samples(courses: list[Course]) -> GoalSamples:
    return log_goals(courses, CONFIG, None, HERE)


class TestSamples:
    def test_the_candidates_of_a_state_are_the_regions_around_it_and_at_most_one_is_right(
        self, samples: GoalSamples, courses: list[Course]
    ) -> None:
        degrees = np.diff(abstract(courses[0].grid, "clique", 2).begin)
        right, around = np.bincount(samples.state, samples.label), np.bincount(samples.state)
        assert (right == 1).all()
        assert set(around.tolist()) <= set(degrees.tolist())
        assert np.bincount(samples.problem).size == 12
        assert samples.rows.shape == (len(samples), len(CANDIDATE))

    def test_the_first_state_is_labelled_with_the_region_that_a_shortest_path_enters_first(
        self, samples: GoalSamples, courses: list[Course]
    ) -> None:
        grid, regions = courses[0].grid, abstract(courses[0].grid, "clique", 2)
        view = Map.of(grid)
        for number, task in enumerate(courses[0].tasks):
            away, cell = distances(grid, task.goal), task.start
            home = regions.region[grid.cell(cell)]
            if home == regions.region[grid.cell(task.goal)]:
                continue
            while regions.region[grid.cell(cell)] == home:
                cell = next(near for near, cost in view.neighbours(cell) if cost + away[near] == away[cell])
            near = regions.near[regions.begin[home] : regions.begin[home + 1]]
            first = np.flatnonzero(samples.problem == number)[: near.size]
            assert near[samples.label[first] == 1].tolist() == [regions.region[grid.cell(cell)]]
            assert (samples.rows[first, CANDIDATE.index("candidate_visits")] == 0).all()
            assert samples.rows[first, CANDIDATE.index("candidate_size")].tolist() == regions.sizes[near].tolist()

    def test_states_are_numbered_on_where_samples_are_joined(self, samples: GoalSamples) -> None:
        both = joined([samples, samples])
        count = samples.state.max() + 1
        assert both.state[len(samples)] == count
        assert both.state.max() == 2 * count - 1

    def test_without_problems_there_is_nothing_to_log(self, courses: list[Course]) -> None:
        with pytest.raises(InputError, match="no problems to log"):
            log_goals([Course("empty", courses[0].grid, ())], CONFIG, None, HERE)


class TestLearning:
    def test_a_policy_scores_by_the_frequency_in_its_leaves(self, samples: GoalSamples) -> None:
        policy = fit_goals(samples, CONFIG, {})
        score = goal.scores(policy.forest, samples)
        assert ((score >= 0) & (score <= 1)).all()
        for value in np.unique(score):
            leaf = score == value
            assert samples.label[leaf].mean() == pytest.approx(value, abs=1e-3)

    def test_the_best_score_then_the_shorter_way_then_the_first_is_on_top(self) -> None:
        rows = np.zeros((6, len(CANDIDATE)), np.float32)
        rows[:, 0] = [3, 1, 2, 5, 5, 9]
        samples = GoalSamples(rows, np.zeros(6, np.int64), np.array([0, 0, 0, 1, 1, 1]), np.zeros(6, np.int64))
        assert top(samples, np.array([0.5, 0.2, 0.5, 0.1, 0.1, 0.1])).tolist() == [2, 3]

    def test_a_round_of_its_own_states_adds_samples_of_walks_that_the_policy_leads(
        self, samples: GoalSamples, courses: list[Course]
    ) -> None:
        own = log_goals(courses, CONFIG, fit_goals(samples, CONFIG, {}), HERE)
        assert np.unique(own.problem).tolist() == np.unique(samples.problem).tolist()
        assert len(own) != len(samples) or (own.rows != samples.rows).any()

    def test_cross_validation_knows_the_shares(self, samples: GoalSamples) -> None:
        quality = cross_validate_goals(samples, CONFIG)
        assert (quality.samples, quality.states) == (len(samples), int(samples.state.max()) + 1)
        assert quality.majority == pytest.approx(1 - samples.label.mean())
        assert 0 < quality.top <= 1
        assert 0 < quality.by_heuristic <= 1
        with pytest.raises(InputError, match="needs at least 13 problems"):
            cross_validate_goals(samples, CONFIG, folds=13)

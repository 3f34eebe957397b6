"""Learners: the flat trees decide as the models they come from, and logs without anything to learn are refused."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from agents.policies.trees import add_scores
from rt_gym import InputError
from rt_gym.features.decision import LAYERS, SITUATION
from training.learn.convert import merged
from training.learn.fit import (
    cross_validate,
    describe_quality,
    fit_depth_cost,
    fit_policy,
    importances,
    learning_curve,
    make_classifier,
    predict_depths,
)
from training.learn.log import Logging, Samples, log_samples
from training.learn.targets import DECISIONS, LABELS, LEARNERS, Recipe, by_layers, costs, inputs
from training.runs import Draw, Workers, find_courses

RECIPE = Recipe(min_leaf=20, trees=25, features="rich", price=0.02)


@pytest.fixture(scope="module")
def samples() -> Samples:
    courses = find_courses(["caves-128"], Draw(count=12, low=30, high=90))
    return log_samples(courses, Logging(d_max=6, per_problem=100), workers=Workers(jobs=1))


class TestPolicies:
    @pytest.mark.parametrize("decide", DECISIONS)
    @pytest.mark.parametrize("labels", LABELS)
    @pytest.mark.parametrize("learner", LEARNERS)
    def test_every_recipe_beats_always_the_same_depth(
        self, samples: Samples, learner: str, labels: str, decide: str
    ) -> None:
        threshold = 0.0 if labels == "cost" else 0.5
        recipe = replace(RECIPE, learner=learner, labels=labels, decide=decide, threshold=threshold)
        policy = fit_policy(samples, recipe)
        depth = predict_depths(policy, samples, recipe)
        if labels == "cost":
            cost = costs(samples, recipe)
            assert cost[np.arange(len(samples)), depth - 1].mean() < cost.mean(axis=0).min()
        else:
            assert (depth == samples.label).mean() > np.bincount(samples.label).max() / len(samples)
        assert policy.features == SITUATION + (LAYERS if decide == "deepen" else ())

    @pytest.mark.parametrize("learner", LEARNERS)
    def test_flat_trees_classify_as_the_model_does(self, samples: Samples, learner: str) -> None:
        recipe = replace(RECIPE, learner=learner)
        model: Any = make_classifier(recipe).fit(inputs(samples, recipe), samples.label)
        depth = predict_depths(fit_policy(samples, recipe), samples, recipe)
        np.testing.assert_array_equal(depth, model.predict(inputs(samples, recipe)))

    def test_the_four_features_of_the_paper_are_enough_for_a_policy(self, samples: Samples) -> None:
        policy = fit_policy(samples, replace(RECIPE, features="paper"))
        assert policy.features == ("goal_distance", "trip_distance", "revisits", "updates")

    def test_the_same_log_gives_the_same_policy(self, samples: Samples) -> None:
        first, second = (fit_policy(samples, replace(RECIPE, learner="forest")) for _ in range(2))
        for mine, theirs in zip(first.forest, second.forest, strict=True):
            np.testing.assert_array_equal(mine, theirs)

    def test_merging_branches_changes_no_decision(self, samples: Samples) -> None:
        recipe = replace(RECIPE, labels="cost")
        rows, forest = np.ascontiguousarray(inputs(samples, recipe)), fit_depth_cost(samples, recipe)[0]
        small, before, after = merged(forest), np.zeros(6), np.zeros(6)
        assert small.feature.size < forest.feature.size
        for row in rows:
            add_scores(forest, row, 100, before)
            add_scores(small, row, 100, after)
            assert np.argmax(before) == np.argmax(after)


class TestLayers:
    def test_a_row_per_layer_holds_what_the_search_had_found(self, samples: Samples) -> None:
        rows, sample, depth = by_layers(samples, RECIPE)
        assert rows.shape == (5 * len(samples), len(SITUATION) + len(LAYERS))
        for k in np.random.default_rng(0).integers(len(rows), size=200):
            i, d = sample[k], depth[k]
            actions, rises = samples.action[i, :d], np.concatenate([[0], samples.rise[i, :d]])
            steady = next((n for n in range(d) if n == d - 1 or actions[d - 2 - n] != actions[-1]), 0)
            flat = next((n for n in range(d + 1) if n == d or rises[d - 1 - n] != rises[d]), 0)
            before = samples.work[i, d - 2] if d > 1 else 0
            expected = [d, rises[d], rises[d] - rises[d - 1], flat, steady, samples.work[i, d - 1] - before]
            np.testing.assert_allclose(rows[k, len(SITUATION) :], expected, rtol=1e-5, atol=1e-5)


class TestRefusals:
    def test_an_empty_log(self, samples: Samples) -> None:
        with pytest.raises(InputError, match="no samples to learn from"):
            fit_policy(samples.take(np.arange(0)), RECIPE)

    def test_a_log_with_one_label_only(self, samples: Samples) -> None:
        same = samples.take(np.flatnonzero(samples.label == 1))
        with pytest.raises(InputError, match="every sample has the label 1: there is nothing to learn"):
            fit_policy(same, RECIPE)

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"learner": "oak"}, "learner must be one of j48, cart, forest, boosting, not 'oak'"),
            ({"labels": "rank"}, "labels must be one of class, cost"),
            ({"decide": "jump"}, "decide must be one of depth, deepen"),
            ({"features": "all"}, "features must be one of paper, rich"),
            ({"ties": "random"}, "ties must be one of search, ordered, tolerant, not 'random'"),
            ({"threshold": 1.5}, "threshold must be a probability"),
        ],
    )
    def test_words_that_no_recipe_knows(self, wrong: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError, match=message):
            Recipe(**wrong)


class TestValidation:
    def test_every_sample_is_predicted_once(self, samples: Samples) -> None:
        quality = cross_validate(samples, RECIPE, folds=4)
        assert quality.confusion.sum() == len(samples)
        np.testing.assert_array_equal(quality.confusion.sum(axis=1), np.bincount(samples.label, minlength=7)[1:])
        assert quality.accuracy == pytest.approx(np.trace(quality.confusion) / len(samples))
        assert quality.accuracy <= quality.same_move
        assert len(quality.folds) == 4
        assert describe_quality(quality)["accuracy"] == quality.accuracy

    def test_more_folds_than_problems_are_refused(self, samples: Samples) -> None:
        with pytest.raises(InputError, match="13-fold cross-validation needs at least 13 problems, not 12"):
            cross_validate(samples, RECIPE, folds=13)

    def test_shuffled_folds_may_be_as_many_as_samples(self, samples: Samples) -> None:
        few = samples.take(np.arange(0, len(samples), 20))
        assert cross_validate(few, replace(RECIPE, min_leaf=2), folds=13, by_problem=False).confusion.sum() == len(few)

    def test_the_learning_curve_has_a_row_per_part(self, samples: Samples) -> None:
        curve = learning_curve(samples, RECIPE, parts=(0.3, 1.0))
        assert curve.shape == (2, 3)
        assert curve[0, 0] < curve[1, 0]
        assert ((curve[:, 1:] >= 0) & (curve[:, 1:] <= 1)).all()
        cheaper = learning_curve(samples, replace(RECIPE, labels="cost"), parts=(1.0,))
        assert cheaper[0, 1] < costs(samples, RECIPE).mean(axis=0).min()

    def test_a_feature_that_no_tree_tests_does_not_matter(self, samples: Samples) -> None:
        weights = importances(samples, RECIPE)
        assert set(weights) == set(SITUATION)
        assert max(weights.values()) > 0

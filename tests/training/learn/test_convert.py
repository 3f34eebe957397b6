"""Models of scikit-learn as policies: they decide as the model predicts, and run as agents from their files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import agents
import training
from agents.policies.networks import Network
from agents.policies.trees import Policy
from rt_gym import InputError
from rt_gym.features.decision import SITUATION
from rt_gym.features.history import FEATURES
from rt_gym.features.scaling import squashed, unsquashed
from training import J48Classifier, to_policy
from training.learn.fit import predict_depths
from training.learn.log import Logging, Samples, log_samples
from training.learn.targets import Recipe, costs
from training.runs import Course, Draw, Workers, find_courses

RICH = Recipe(features="rich")


@pytest.fixture(scope="module")
def courses() -> list[Course]:
    return list(find_courses(["caves-128"], Draw(count=8, low=30, high=90)))


@pytest.fixture(scope="module")
def samples(courses: list[Course]) -> Samples:
    return log_samples(courses, Logging(d_max=6, history=30, per_problem=100), workers=Workers(jobs=1))


def chosen(policy: Any, samples: Samples) -> Any:
    """Return the depth that a policy of all features chooses in every sample."""
    if isinstance(policy, Policy):
        return predict_depths(policy, samples, RICH)
    return np.array(policy.depths)[policy.choose(squashed(samples.situation))]


def networks(model: Any, standard: bool = True) -> Any:
    return make_pipeline(FunctionTransformer(squashed), *([StandardScaler()] if standard else []), model)


CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "tree": lambda: DecisionTreeClassifier(min_samples_leaf=10, random_state=0),
    "j48": lambda: J48Classifier(min_num_obj=10),
    "forest": lambda: RandomForestClassifier(9, min_samples_leaf=5, random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(9, min_samples_leaf=5, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=4, random_state=0),
    "boosting from nothing": lambda: GradientBoostingClassifier(n_estimators=4, init="zero", random_state=0),
    "histogram boosting": lambda: HistGradientBoostingClassifier(max_iter=5, early_stopping=False),
    "network": lambda: networks(MLPClassifier(hidden_layer_sizes=(8,), max_iter=20, random_state=0)),
    "deep network": lambda: networks(MLPClassifier((6, 5), "tanh", max_iter=20, random_state=0), standard=False),
}
REGRESSORS: dict[str, Callable[[], Any]] = {
    "tree": lambda: DecisionTreeRegressor(min_samples_leaf=10, random_state=0),
    "forest": lambda: RandomForestRegressor(9, min_samples_leaf=5, random_state=0),
    "boosting": lambda: GradientBoostingRegressor(n_estimators=10, random_state=0),
    "histogram boosting": lambda: HistGradientBoostingRegressor(max_iter=10, early_stopping=False),
    "network": lambda: networks(MLPRegressor(hidden_layer_sizes=(8,), max_iter=20, random_state=0)),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
class TestDecisions:
    @pytest.mark.parametrize("name", CLASSIFIERS)
    def test_a_classifier_of_the_depth_decides_as_it_predicts(self, samples: Samples, name: str) -> None:
        model = CLASSIFIERS[name]().fit(samples.situation, samples.label)
        policy = to_policy(model, samples)
        assert (policy.features, policy.history, policy.d_max) == (SITUATION, 30, 6)
        np.testing.assert_array_equal(chosen(policy, samples), model.predict(samples.situation))

    @pytest.mark.parametrize("name", CLASSIFIERS)
    def test_two_classes_are_enough(self, samples: Samples, name: str) -> None:
        label = np.where(samples.label > 1, 5, 2)
        model = CLASSIFIERS[name]().fit(samples.situation, label)
        policy = to_policy(model)
        assert (policy.depths, policy.d_max, policy.history) == ((2, 5), 5, 20)
        np.testing.assert_array_equal(chosen(policy, samples), model.predict(samples.situation))

    @pytest.mark.parametrize("name", REGRESSORS)
    def test_a_regressor_of_the_depth_decides_for_the_nearest_one(self, samples: Samples, name: str) -> None:
        model = REGRESSORS[name]().fit(samples.situation, samples.label)
        predicted = model.predict(samples.situation)
        clear = np.abs(predicted % 1 - 0.5) > 1e-4  # halves are between two depths
        wanted = np.clip(np.rint(predicted), 1, 6)
        assert clear.mean() > 0.9
        assert len(set(wanted)) > 1
        np.testing.assert_array_equal(chosen(to_policy(model, samples), samples)[clear], wanted[clear])

    @pytest.mark.parametrize("name", ["tree", "forest", "network"])
    def test_a_regressor_of_costs_decides_for_the_least(self, samples: Samples, name: str) -> None:
        model = REGRESSORS[name]().fit(samples.situation, costs(samples, RICH))
        wanted = 1 + model.predict(samples.situation).argmin(axis=1)
        np.testing.assert_array_equal(chosen(to_policy(model), samples), wanted)


class TestUse:
    def test_a_table_tells_the_features_and_a_file_runs_as_the_agent(
        self, samples: Samples, courses: list[Course], tmp_path: Path
    ) -> None:
        frame = pytest.importorskip("pandas").DataFrame(samples.columns())
        names = ["exits", "revisits", "surplus"]
        policy = to_policy(DecisionTreeClassifier(max_depth=4).fit(frame[names], frame["label"]), samples)
        assert policy.features == tuple(names)
        policy.save(tmp_path / "mine.json")
        problem = courses[0].problem(courses[0].tasks[0])
        run = agents.run("classifier-lrta", problem, policy=str(tmp_path / "mine.json"))
        assert run.solved
        assert run.path.tolist() == agents.run("classifier-lrta", problem, policy=policy).path.tolist()

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_a_network_runs_as_the_agent_and_keeps_the_names_of_its_features(
        self, samples: Samples, courses: list[Course], tmp_path: Path
    ) -> None:
        rows = samples.situation[:, :4]
        policy = to_policy(networks(MLPClassifier((4,), max_iter=20, random_state=0)).fit(rows, samples.label), samples)
        assert isinstance(policy, Network)
        assert policy.features == FEATURES
        policy.save(tmp_path / "mine.npz")
        problem = courses[0].problem(courses[0].tasks[0])
        run = agents.run("policy-lrta", problem, policy=str(tmp_path / "mine.npz"), max_moves=100_000)
        assert run.solved

    def test_features_may_be_named(self, samples: Samples) -> None:
        model = DecisionTreeClassifier(max_depth=2).fit(samples.situation[:, [5, 0]], samples.label)
        named = to_policy(model, features=(SITUATION[5], SITUATION[0]))
        assert named.features == (SITUATION[5], SITUATION[0])

    def test_nothing_else_hides_in_the_package(self) -> None:
        with pytest.raises(AttributeError, match="has no attribute 'to_polices'"):
            _ = training.to_polices


class TestRefusals:
    @pytest.mark.parametrize(
        ("model", "message"),
        [
            (
                AdaBoostClassifier(n_estimators=2),
                "no policy can be made of AdaBoostClassifier, only of trees, forests,",
            ),
            (make_pipeline(StandardScaler(), DecisionTreeClassifier()), "without steps before it"),
            (MLPClassifier((2,), max_iter=2), "a network reads scaled features: fit a pipeline of Function"),
            (make_pipeline(StandardScaler(), MLPClassifier((2,), max_iter=2)), "reads scaled features"),
            (make_pipeline(FunctionTransformer(np.log1p), MLPClassifier((2,), max_iter=2)), "reads scaled features"),
            (networks(make_pipeline(MinMaxScaler(), MLPClassifier((2,), max_iter=2))), "made of Pipeline"),
            (networks(MLPClassifier((2,), "logistic", max_iter=2)), "activation must be tanh or relu, not 'logistic'"),
            (GradientBoostingClassifier(n_estimators=1, init=DecisionTreeClassifier()), "must begin with a constant"),
            (HistGradientBoostingRegressor(loss="poisson", max_iter=1), "another loss than 'poisson'"),
            (HistGradientBoostingClassifier(max_iter=1, categorical_features=[3]), "features that are categories"),
        ],
        ids=lambda given: given if isinstance(given, str) else type(given).__name__,
    )
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::RuntimeWarning")
    def test_a_model_that_no_policy_can_be(self, model: Any, message: str) -> None:
        rows = np.random.default_rng(0).integers(0, 5, (200, 4)).astype(np.float32)
        model.fit(rows, 1 + (rows[:, 3] == 2) + (rows[:, 0] > 3))
        with pytest.raises(InputError, match=message):
            to_policy(model)

    def test_a_model_that_is_not_fitted(self) -> None:
        with pytest.raises(InputError, match="the DecisionTreeClassifier must be fitted first"):
            to_policy(DecisionTreeClassifier())

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            (["shallow", "deep"], r"depths, whole numbers from 1 to 100, not .*'deep'"),
            ([0, 1], "not .*0"),
            ([1, 101], "not .*101"),
        ],
    )
    def test_classes_that_are_no_depths(self, labels: list[Any], message: str) -> None:
        model = DecisionTreeClassifier().fit([[0.0] * 4, [1.0] * 4], labels)
        with pytest.raises(InputError, match=message):
            to_policy(model)

    def test_features_that_do_not_fit(self) -> None:
        five = DecisionTreeClassifier().fit([[0.0] * 5, [1.0] * 5], [1, 2])
        with pytest.raises(InputError, match="has 5 features without names: fit it on a DataFrame, or name its"):
            to_policy(five)
        with pytest.raises(InputError, match="has the feature 'colour', which a policy for the depth cannot know"):
            to_policy(five, features=["colour"] * 5)
        with pytest.raises(InputError, match="has 5 features, which take as many different names"):
            to_policy(five, features=SITUATION[:4])

    def test_depths_that_the_log_does_not_know(self, samples: Samples) -> None:
        model = DecisionTreeClassifier().fit([[0.0] * 4, [1.0] * 4], [1, 9])
        with pytest.raises(InputError, match="knows the depth 9, and the samples only those up to 6"):
            to_policy(model, samples)

    def test_one_number_without_a_largest_depth(self) -> None:
        model = DecisionTreeRegressor().fit([[0.0] * 4, [1.0] * 4], [1, 9])
        with pytest.raises(InputError, match="predicts one number needs the samples"):
            to_policy(model)

    def test_several_labels_at_a_time(self) -> None:
        model = DecisionTreeClassifier().fit([[0.0] * 4, [1.0] * 4], [[1, 2], [2, 1]])
        with pytest.raises(InputError, match="says one depth, and the model has several labels"):
            to_policy(model)


def test_scaled_features_can_be_scaled_back() -> None:
    rows = np.random.default_rng(0).normal(0, 300, (50, 4)).astype(np.float32)
    rows[0] = 0
    np.testing.assert_allclose(unsquashed(squashed(rows)), rows, rtol=1e-5)

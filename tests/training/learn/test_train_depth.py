"""``rt-gym train depth``: from maps to a policy, tables and plots, in one command that can be stopped."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import agents
import training.learn.select
from agents.policies.trees import load_policy
from rt_gym import load_map, sample_problems
from training.cli import app
from training.learn import draw_parts
from training.learn.log import Logging, load_samples
from training.learn.select import PRICES, THRESHOLDS, DepthConfig, train_depth
from training.learn.targets import Recipe
from training.runs import Draw, Workers

MAPS = ("--maps", "rooms-64", "--validation", "random-48", "--test", "terrain-96")
TINY = (*MAPS, "--optimal", "20..60", "--problems", "12", "--d-max", "5", "--min-leaf", "20", "--jobs", "1")


def train(out: Path, *options: str) -> Any:
    return CliRunner().invoke(app, ["train", "depth", *TINY, "--out", str(out), *options])


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--labels", "class", "--features", "paper", "--ties", "ordered", "--dagger", "0"),
        ("--learner", "cart", "--decide", "deepen", "--dagger", "1", "--price", "0.01", "--threshold", "0"),
    ],
    ids=["as it comes", "the paper's tree", "to deepen"],
)
def test_a_policy_from_maps_to_tables(options: tuple[str, ...], tmp_path: Path) -> None:
    result = train(tmp_path, *options)
    assert result.exit_code == 0, result.stderr
    for text in (
        "The policy",
        "An accuracy of ",
        "longest branch",
        "What it goes by",
        "lrta depth=26",
        "oracle-lrta",
        "classifier-lrta",
    ):
        assert text in result.stdout
    assert all(Path(line).exists() for line in result.stdout.splitlines()[-3:])
    policy = load_policy(tmp_path / "policy.json")
    assert policy.d_max == 5
    (problem,) = sample_problems(load_map("caves-128"), 1, low=30.0, high=60.0)
    run = agents.run(agents.make("classifier-lrta", policy=tmp_path / "policy.json"), problem, max_moves=100_000)
    assert run.solved


def test_the_folder_may_have_any_name(tmp_path: Path) -> None:
    folder = tmp_path / "a,b=1:2 [c] $x$ 'd'"
    result = train(folder, "--dagger", "0", "--price", "0.002")
    assert result.exit_code == 0, result.stderr
    given = ["--problems", "2", "--jobs", "1", "--out", str(tmp_path / "new")]
    written = f'classifier-lrta:policy="{folder / "policy.json"}"'
    result = CliRunner().invoke(app, ["compare", "open-16", "-a", written, "--baseline", written, *given])
    assert result.exit_code == 0, result.stderr


def test_the_document_tells_what_the_tables_tell(tmp_path: Path) -> None:
    result = train(tmp_path, "--json", "--csv", "--dagger", "1")
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    policy, samples = load_policy(tmp_path / "policy.json"), load_samples(tmp_path / "samples.npz")
    assert document["policy"]["nodes"] == policy.forest.feature.size
    assert document["policy"]["branch"] == policy.branch
    assert 0 < document["cross_validation"]["accuracy"] <= 1
    assert set(document["importances"]) == set(policy.features)
    prices = [one["price"] for one in document["candidates"]]
    assert len(set(prices)) == len(prices) > 1
    ratios = [one["validation_ratios"] for one in document["candidates"]]
    products = [mean * pooled for mean, pooled in ratios if None not in (mean, pooled)]
    assert products == sorted(products, reverse=True)
    with (tmp_path / "samples.csv").open() as file:
        assert sum(1 for _ in csv.reader(file)) == 1 + len(samples)
    assert all(Path(path).exists() for path in document["files"])


def test_a_stopped_training_goes_on_to_the_same_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, done = training.learn.select.log_samples, []

    def interrupted(*given: Any, **named: Any) -> Any:
        if len(done) == 1:
            raise KeyboardInterrupt
        done.append(real(*given, **named))
        return done[-1]

    monkeypatch.setattr(training.learn.select, "log_samples", interrupted)
    assert train(tmp_path / "stopped", "--dagger", "1").exit_code == 130
    assert not (tmp_path / "stopped" / "policy.json").exists()
    monkeypatch.undo()
    for name in ("stopped", "whole"):
        assert train(tmp_path / name, "--dagger", "1").exit_code == 0
    for name in ("policy.json", "samples.npz"):
        assert (tmp_path / "stopped" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--learner", "id3"), "learner must be one of j48, cart, forest, boosting, not 'id3'"),
        (("--labels", "depth"), "labels must be one of class, cost, not 'depth'"),
        (("--decide", "width"), "decide must be one of depth, deepen, not 'width'"),
        (("--features", "all"), "features must be one of paper, rich, not 'all'"),
        (("--ties", "none"), "ties must be one of search, ordered, tolerant, not 'none'"),
        (("--confidence", "1"), "confidence must be above 0 and below 1, not 1.0"),
        (("--problems", "9"), "to cross-validate takes at least 10 problems on the maps to learn on, not 9"),
        (("--maps", "no-such-map"), "no-such-map"),
        (("--test", "rooms-64"), "map rooms-64 is given for train and for test; they must not share maps"),
        (("--optimal", "9..3"), "--optimal"),
        (("--optimal", "100000..200000"), "optimal cost"),
    ],
)
def test_wrong_input_is_refused_in_one_sentence(options: tuple[str, ...], says: str, tmp_path: Path) -> None:
    result = train(tmp_path / "new", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "new" / "policy.json").exists()


def test_the_result_of_a_training_tells_what_it_has_written(tmp_path: Path) -> None:
    given = {"train": ["rooms-64"], "validation": ["random-48"], "test": ["terrain-96"]}
    config = DepthConfig(Recipe(labels="cost", features="rich", min_leaf=20), Logging(d_max=4), price=0.002)
    result = train_depth(config, draw_parts(given, Draw(12, 20, 60)), tmp_path, Workers(jobs=1))
    assert load_policy(tmp_path / "policy.json").about == result.policy.about
    assert [path.name for path in result.files[:2]] == ["policy.json", "samples.npz"]
    assert all(path.is_file() for path in result.files)
    assert [one.document() for one in result.candidates] == [
        {"price": 0.002, "threshold": 0.5, "validation_ratios": None}
    ]
    assert result.findings.scores[-1].entry.agent == "classifier-lrta"


@pytest.mark.parametrize(
    ("recipe", "given", "chosen_among"),
    [
        (Recipe(), {}, [(0.001, 0.5)]),
        (Recipe(labels="cost"), {}, [(price, 0.5) for price in PRICES]),
        (Recipe(labels="cost"), {"price": 0.1}, [(0.1, 0.5)]),
        (Recipe(decide="deepen"), {}, [(0.001, threshold) for threshold in THRESHOLDS]),
        (Recipe(decide="deepen", labels="cost"), {"price": 0.1}, [(0.1, 0.0)]),
    ],
)
def test_what_is_not_given_is_chosen(recipe: Recipe, given: dict[str, float], chosen_among: list[Any]) -> None:
    recipes = DepthConfig(recipe, Logging(), **given).recipes()
    assert [(one.price, one.threshold) for one in recipes] == chosen_among

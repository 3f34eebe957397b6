"""All experiments of the table: what is fixed in their modules, and what was found with it."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from training import experiments
from training.experiments import ids, load
from training.experiments.frame import SIZES, Claim
from training.experiments.ls import DS, KS, curves
from training.experiments.quantities import Quantity
from training.report.results_page import claims_table

DOCS = Path(__file__).resolve().parents[3] / "docs"
HOME = Path(experiments.__file__).parent
HOLDERS = {place.partition(":")[0] for place in experiments._TABLE.values()}  # modules that hold an experiment
MODULES = sorted({*HOME.glob("*/*.py"), *(HOME / f"{name.replace('.', '/')}.py" for name in HOLDERS)})


@pytest.mark.parametrize("experiment_id", ids())
def test_the_settings_of_an_experiment_are_complete(experiment_id: str) -> None:
    experiment = load(experiment_id)
    assert experiment.id == experiment_id
    for part in experiment.parts:
        assert tuple(part.problems) == SIZES
        counts = list(part.problems.values())
        assert counts == sorted(counts)
        contenders = [contender.entry for contender in part.contenders()]
        assert len(contenders) == len(set(contenders)) > 0


@pytest.mark.parametrize("experiment_id", ids())
def test_claims_are_values_with_a_bar_and_a_quantity_and_one_is_a_headline(experiment_id: str) -> None:
    claims = load(experiment_id).claims
    assert isinstance(claims, tuple)
    assert all(isinstance(claim, Claim) and isinstance(claim.quantity, Quantity) for claim in claims)
    assert all(claim.text and claim.paper and claim.low <= claim.high for claim in claims)
    assert all(np.isfinite([claim.low, claim.high]).any() for claim in claims)
    assert len({claim.text for claim in claims}) == len(claims)
    assert any(claim.headline for claim in claims)


@pytest.mark.parametrize("experiment_id", ids())
def test_the_weaker_bar_contains_a_part_of_the_other_and_more(experiment_id: str) -> None:
    for claim in load(experiment_id).claims:
        if claim.direction is not None:
            low, high = claim.direction
            assert low <= high
            assert max(low, claim.low) <= min(high, claim.high)
            assert low < claim.low or high > claim.high


def dotted(path: Path) -> str:
    """Return a module's name as the table has it; that of a package ends with its file."""
    return ".".join(path.relative_to(HOME).with_suffix("").parts)


def imported(path: Path) -> Iterator[str]:
    """Yield what a module imports of the experiments, as the table names modules."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(experiments.__name__):
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
            yield from (name.removeprefix(f"{experiments.__name__}.") for name in names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(HOME).as_posix())
def test_no_experiment_is_imported_by_another_and_of_other_papers_only_the_constants(path: Path) -> None:
    found = set(imported(path)) & {dotted(module) for module in MODULES}
    assert not found & HOLDERS
    assert {name.partition(".")[0] for name in found} <= {path.parent.name}


@pytest.mark.parametrize("experiment_id", ids())
def test_a_stored_document_is_of_the_experiment_as_it_stands(experiment_id: str) -> None:
    experiment = load(experiment_id)
    document = json.loads((DOCS / "results" / f"{experiment_id}.json").read_bytes())
    assert document["public_maps"]
    assert document["seed"] == experiment.seed
    for found, part in zip(document["parts"], experiment.parts, strict=True):
        assert found["name"] == part.name
        assert [place["map"] for place in found["maps"]] == [ground.name for ground in part.grounds]
        assert found["problems_per_map"] == part.problems[document["size"]]
    assert document["notes"] == list(experiment.notes)
    assert document["changes"] == list(experiment.changes)
    for found, claim in zip(document["claims"], experiment.claims, strict=True):
        bar = [end if np.isfinite(end) else None for end in (claim.low, claim.high)]
        assert (found["paper"], [found["low"], found["high"]]) == (claim.paper, bar)
    verdicts = [row[-1] for row in claims_table(document).rows]
    assert [word.removeprefix("check: ") for word in verdicts] == [claim["verdict"] for claim in document["claims"]]
    assert [word.startswith("check: ") for word in verdicts] == [claim.check for claim in experiment.claims]


class TestCurves:
    """What claims about LS-F4 make of means: one resampling x curves x lookaheads."""

    SHAPE = (1, len(KS) + 2, len(DS))

    def test_the_margin_is_below_one_where_another_setting_is_both_cheaper_and_quicker(self) -> None:
        cost, time = np.ones(self.SHAPE), np.full(self.SHAPE, 2.0)
        time[0, 1, 0] = 1.0  # the quickest, with k = 40 and d = 2
        assert curves.margin(cost, time).tolist() == [2.0]
        cost[0, -1, 3], time[0, -1, 3] = 0.5, 0.8
        assert curves.margin(cost, time).tolist() == [0.8]

    def test_a_fall_is_compared_with_the_least_of_the_others(self) -> None:
        cost = np.ones(self.SHAPE)
        cost[0, :, 0] = [9.0, 2.0, 3.0, 12.0, 6.0]  # k = 10 does not count
        assert curves.fall_over_others(cost).tolist() == [0.5]

    def test_settings_that_are_set_aside_are_on_neither_side(self) -> None:
        time = np.full(self.SHAPE, 8.0)
        time[0, 2, 0], time[0, 2, 6], time[0, 4, 6] = 1.0, 2.0, 4.0
        assert curves.least_over_rest((curves.RTAA_HIGH,), (), time).tolist() == [4.0]
        assert curves.least_over_rest((curves.RTAA_HIGH,), (curves.LRTA_LS_160,), time).tolist() == [0.5]

    def test_a_decrement_before_d_8_does_not_count_for_growth_from_there_on(self) -> None:
        time = np.tile([3.0, 2.0, 1.0, 4.0, 5.0, 6.0, 7.0], (1, len(KS) + 2, 1))
        assert curves.least_trend(curves.LRTA_LS_CURVES, curves.FROM_8, time) == pytest.approx([1.0])
        assert curves.least_trend(curves.LRTA_LS_CURVES, curves.ALL, time)[0] < curves.MONOTONE
        assert curves.first_fall(curves.LRTA_LS_CURVES, slice(1, 3), time).tolist() == [1 / 3]

    def test_k_counts_for_more_than_d_where_its_factor_is_larger(self) -> None:
        cost = np.ones(self.SHAPE)
        cost[0, 0], cost[0, 1] = 6.0, 3.0
        cost[0, :3, 0] *= 2
        assert curves.k_over_d(cost).tolist() == [3.0]


@pytest.mark.parametrize("name", ids())
def test_the_documents_mark_the_headlines_and_changes_that_the_experiment_has(name: str) -> None:
    document = json.loads((DOCS / "results" / f"{name}.json").read_text(encoding="utf-8"))
    experiment = load(name)
    marked = [claim.text for claim in experiment.claims if claim.headline]
    assert [claim["claim"] for claim in document["claims"] if claim["headline"]] == marked
    assert document["changes"] == list(experiment.changes)


@pytest.mark.parametrize("name", ["tb-t1", "tb-e1", "tb-e2"])
def test_a_table_over_many_limits_has_three_headlines(name: str) -> None:
    assert sum(claim.headline for claim in load(name).claims) == 3

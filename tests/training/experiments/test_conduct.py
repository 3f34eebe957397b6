"""Every experiment from its problems to its document, on maps that are small and generated."""

import json
from dataclasses import replace
from math import isfinite
from pathlib import Path

import pytest

from rt_gym import InputError
from training import experiments
from training.experiments import ids, load
from training.experiments.conduct import conduct
from training.experiments.frame import DIRECTION, FAILS, HOLDS, UNDECIDED, Experiment, Generated, Ground, Part, Split
from training.report.drawing import draw
from training.report.figures import FIGURES
from training.report.results_page import claims_table, remarks, tables
from training.runs import Workers

SIDE = 33
SMALL = {"size": 31, "width": SIDE, "height": SIDE, "holes": 20}
UNTRAINED = [name for name in ids() if not any(part.policies for part in load(name).parts)]


def shrunk_ground(ground: Ground | Generated | Split) -> Ground | Generated:
    if not isinstance(ground, Generated):
        return Ground("", SIDE, SIDE)
    return Generated(ground.family, {name: SMALL.get(name, value) for name, value in ground.parameters.items()})


def shrunk_part(part: Part) -> Part:
    """Return a part with its first map, small, and two problems."""
    grounds = (shrunk_ground(part.grounds[0]),)
    return replace(part, grounds=grounds, problems={"smoke": 2, "record": 2, "full": 3}, optimal=(20, 300))


def shrunk(experiment: Experiment) -> Experiment:
    return replace(experiment, parts=tuple(map(shrunk_part, experiment.parts)))


@pytest.mark.parametrize("experiment_id", UNTRAINED)
def test_an_experiment_runs_without_public_maps(experiment_id: str, tmp_path: Path) -> None:
    experiment = shrunk(load(experiment_id))
    document = conduct(experiment, "smoke", None, tmp_path, Workers(1))
    json.dumps(document, allow_nan=False)
    assert len(document["parts"]) == len(experiment.parts)
    assert all(claim["ours"] is not None and isfinite(claim["ours"][0]) for claim in document["claims"])
    assert len(claims_table(document).rows) == len(document["claims"]) > 0
    for table in document["tables"]:
        assert all(len(row) == len(table["columns"]) for row in table["rows"])
    figure = draw(FIGURES[experiment_id], [claims_table(document), *tables(document)])
    assert len(figure.axes) >= len(FIGURES[experiment_id].panels)
    assert len(remarks(document)) >= 2 * len(experiment.parts)
    assert (tmp_path / experiment_id / "smoke" / "results.csv").exists()


def test_experiments_share_the_runs_that_they_have_in_common(tmp_path: Path) -> None:
    experiment = shrunk(load("tb-t1"))
    for each in (experiment, replace(experiment, id="another")):
        conduct(each, "smoke", None, tmp_path, Workers(1))
    times = [(tmp_path / name / "smoke" / "times.csv").read_bytes() for name in ("tb-t1", "another")]
    assert times[0] == times[1]  # to the last digit: nothing was run again


def test_an_experiment_is_run_from_python(tmp_path: Path) -> None:
    document = experiments.run("tb-t1", size="smoke", out=tmp_path, workers=Workers(1))
    experiment = load("tb-t1")
    assert (document["id"], document["size"], document["public_maps"]) == ("tb-t1", "smoke", False)
    assert [found["claim"] for found in document["claims"]] == [claim.text for claim in experiment.claims]
    assert [found["headline"] for found in document["claims"]] == [claim.headline for claim in experiment.claims]
    assert {found["verdict"] for found in document["claims"]} <= {HOLDS, DIRECTION, FAILS, UNDECIDED}
    with pytest.raises(InputError, match="unknown size 'huge'"):
        experiments.run("tb-t1", size="huge", out=tmp_path)
    with pytest.raises(InputError, match="unknown experiment 'tb-t2', known are tb-t1, "):
        experiments.run("tb-t2", out=tmp_path)

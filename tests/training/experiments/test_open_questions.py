"""What the experiments on open questions need beside the others: changing maps, evidence map by map, shares."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rt_gym import InputError
from training.experiments.conduct import conduct
from training.experiments.dc.classifier import DESIGNS, DESIGNS_EXPERIMENT
from training.experiments.dc.stored import Arrived
from training.experiments.evidence import Evidence
from training.experiments.ex import CHANGING, ShareOfMaps
from training.experiments.frame import Experiment, Generated, Ground, Part, entrant
from training.experiments.quantities import Column, Mean
from training.runs import Draw, Plan, Workers, find_courses, run_plan

LRTA, ASTAR = entrant("lrta", depth=1), entrant("astar")
SIZES = {"smoke": 2, "record": 3, "full": 3}


def changing(kind: str, *grounds: Ground | Generated) -> Part:
    return Part(grounds or (Ground("", 64, 64),), SIZES, (LRTA,), optimal=(30, 300), changes=kind)


class TestChanges:
    @pytest.mark.parametrize("kind", ["bridge", "door", "blockers"])
    def test_every_problem_has_changes_of_its_own_and_a_larger_size_begins_with_the_smaller(self, kind: str) -> None:
        part = changing(kind)
        few, more = (list(part.courses(size, None, 3)) for size in ("smoke", "record"))
        assert [len(course.tasks) for course in more] == [1, 1, 1]
        assert all(course.changes for course in more)
        assert [(course.tasks, course.changes) for course in few] == [
            (course.tasks, course.changes) for course in more[:2]
        ]

    def test_problems_that_changes_do_not_fit_are_passed_over(self) -> None:
        # On open ground no wall hides a shorter way.
        ground = Generated("random", {"width": 24, "height": 24, "density": 0.0})
        with pytest.raises(InputError, match="changes door do not fit"):
            list(changing("door", ground).courses("smoke", None, 0))

    def test_too_few_that_fit_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        part = changing("bridge")
        monkeypatch.setattr(Draw, "scripted", lambda draw, course: iter([replace(course, tasks=course.tasks[:1])]))
        with pytest.raises(InputError, match=r"bridge fits 1 of 8 problems$"):
            list(part.courses("smoke", None, 0))

    def test_a_document_names_each_map_once_and_says_how_it_changes(self, tmp_path: Path) -> None:
        parts = tuple(replace(part, grounds=(Ground("", 64, 64),) * 2, problems=SIZES) for part in CHANGING.parts[:1])
        small = replace(CHANGING, parts=tuple(replace(part, entrants=part.entrants[:2]) for part in parts))
        document = conduct(bare(small), "smoke", None, tmp_path, Workers(1))
        (part,) = document["parts"]
        assert len(part["maps"]) == 2
        assert part["rules"] == "known map, 8 neighbours, octile costs, changes: bridge"
        assert document["probe"]["runs"] == 2 * 2 * 2


def bare(experiment: Experiment) -> Experiment:
    return replace(experiment, claims=(), tables=lambda *_: [])


@pytest.fixture(scope="module")
def found() -> Evidence:
    """LRTA* and A* on two maps, where a cap on moves cuts some runs of LRTA*."""
    courses = find_courses(["rooms-64", "caves-128"], Draw(5, 50, 60))
    plan = Plan((LRTA.contender, ASTAR.contender), tuple(courses), max_moves=100)
    return Evidence(run_plan(plan, workers=Workers(jobs=1)))


def test_the_evidence_of_the_maps_is_that_of_all_taken_apart(found: Evidence) -> None:
    apart = found.by_map()
    assert list(apart) == ["rooms-64", "caves-128"]
    costs = np.concatenate([one.numbers(ASTAR, "cost") for one in apart.values()])
    assert costs.tolist() == found.numbers(ASTAR, "cost").tolist()


def test_the_share_of_maps_counts_whole_intervals_within_the_bar_and_no_map_without_one(found: Evidence) -> None:
    work = Mean(Column(ASTAR, "expansions"))
    less, more = sorted((work.estimate([one]) or (0.0, 0.0, 0.0))[2] for one in found.by_map().values())
    assert ShareOfMaps(0, work, high=less).estimate([found]) == (0.5, 0.5, 0.5)
    assert ShareOfMaps(0, work, high=more).estimate([found]) == (1, 1, 1)
    failing = ShareOfMaps(0, Mean(Column(LRTA, "suboptimality"))).estimate([found])
    assert failing is not None
    assert failing.value < 1


def test_who_arrived_is_one_and_who_did_not_is_zero(found: Evidence) -> None:
    arrived = Arrived(LRTA).values([found])
    assert set(arrived.tolist()) == {0.0, 1.0}
    assert (arrived == 1).tolist() == np.isfinite(found.numbers(LRTA, "cost")).tolist()


def test_all_twelve_designs_take_part() -> None:
    (part,) = DESIGNS_EXPERIMENT.parts
    designs = {dict(one.settings).get("design") for one in part.entrants} - {None}
    assert designs == set(range(1, 13)) == {1, 2, *DESIGNS}

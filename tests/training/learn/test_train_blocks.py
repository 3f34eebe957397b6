"""Evolution of genes: which candidates there are, what voids them, and that a run that was stopped goes on."""

import json
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import agents
from agents.policies.genes import Genes, load_genes
from profiles import examples
from rt_gym import Budget, InputError
from training.cli import app
from training.learn import Parts, TrainingSetup, extended, problems_of
from training.learn import blocks as module
from training.learn.blocks import BlocksConfig, Breeder, Candidate, GeneRuns, evolve_genes, rivals, train_blocks
from training.runs import Course, Draw, Workers, find_courses

HERE = Workers(jobs=1)
QUICK = BlocksConfig(limit=4, generations=2, population=4, finalists=3, shares=2, max_moves=20_000)


def courses(name: str, count: int = 4, vision: int | None = None) -> tuple[Course, ...]:
    return tuple(find_courses([name], Draw(count, 20, 60, vision=vision)))


def setup(folder: Path, vision: int | None = None) -> TrainingSetup:
    return TrainingSetup(courses("rooms-64", vision=vision), courses("random-48", vision=vision), HERE, folder)


def quiet(amount: float, text: str) -> None:
    """Hear of progress and say nothing."""


class TestBreeder:
    @given(limit=st.integers(1, 300), count=st.sampled_from(["scans", "expansions"]), seed=st.integers(0, 1000))
    @examples(200)
    def test_no_child_can_break_the_limit_by_its_settings(self, limit: int, count: str, seed: int) -> None:
        breeder = Breeder(BlocksConfig(limit, count, seed=seed))
        parents = breeder.first()
        for genes in (*parents, *(breeder.child(parents) for _ in range(20))):
            assert max(genes.lookahead, genes.ahead) <= limit
            if count == "scans" and genes.lookahead > 1 and genes.learning == "frontier":
                assert 7 * genes.lookahead + 3 <= limit

    def test_the_same_seed_makes_the_same_children(self) -> None:
        made = [Breeder(replace(QUICK, seed=seed)) for seed in (1, 1, 2)]
        children = [[one.child(one.first()) for _ in range(10)] for one in made]
        assert children[0] == children[1] != children[2]

    def test_the_first_generation_has_the_published_designs(self) -> None:
        first = Breeder(BlocksConfig(limit=10)).first()
        assert len(set(first)) == len(first)
        for genes in ({}, {"da": True}, {"lookahead": 10, "learning": "best", "da": True}, {"ahead": 10}):
            assert Genes(**genes) in first


class TestRuns:
    def test_a_candidate_is_worth_what_its_runs_are(self) -> None:
        (course,) = courses("rooms-64", vision=1)
        genes = [Genes(), Genes(ahead=4, expendable=True)]
        work = GeneRuns(course.tasks, 1, 4, "scans", 20_000)
        found = work.do(course.grid, genes)
        for row, one in zip(found, genes, strict=True):
            runs = [
                agents.run("building-block-lrta", problem, budget=Budget(4, "scans"), policy=one)
                for problem in problems_of([course])
            ]
            assert row.tolist() == [run.suboptimality for run in runs]
        assert np.array_equal(work.unpack(work.pack(found)), found)

    def test_who_misses_a_goal_or_breaks_the_limit_is_out(self) -> None:
        (course,) = courses("rooms-64")
        found = GeneRuns(course.tasks, None, 4, "scans", 5).do(course.grid, [Genes()])
        assert (found == inf).all()
        found = GeneRuns(course.tasks, None, 2, "scans", 20_000).do(course.grid, [Genes(lookahead=2)])
        assert (found == inf).all()


class TestEvolution:
    def test_the_finalists_are_sorted_by_what_they_are_worth_on_the_validation_maps(self, tmp_path: Path) -> None:
        here = setup(tmp_path)
        heard: list[str] = []
        found = evolve_genes(here, QUICK, lambda amount, text: heard.append(text))
        assert 1 <= len(found) <= QUICK.finalists
        assert [one.validation for one in found] == sorted(one.validation for one in found)
        (given,) = here.validation
        (course,) = extended(here.validation, QUICK.validation_factor * len(given.tasks))
        assert len(course.tasks) == 6 * len(given.tasks)
        row = GeneRuns(course.tasks, None, 4, "scans", QUICK.max_moves).do(course.grid, [found[0].genes])
        assert found[0].validation == float(row.mean())
        assert len(heard) == QUICK.generations

    @pytest.mark.parametrize("last", [1, 2])
    def test_a_run_that_was_stopped_goes_on_and_ends_as_if_it_had_not(
        self, last: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = evolve_genes(setup(tmp_path / "whole"), QUICK, quiet)

        def stop(amount: float, text: str) -> None:
            if f"generation {last}" in text:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            evolve_genes(setup(tmp_path / "cut"), QUICK, stop)
        walked: list[Genes] = []
        before = GeneRuns.do
        monkeypatch.setattr(GeneRuns, "do", lambda self, grid, items: walked.extend(items) or before(self, grid, items))
        assert evolve_genes(setup(tmp_path / "cut"), QUICK, quiet) == whole
        assert not set(walked) & set(Breeder(QUICK).first()) - {one.genes for one in whole}

    def test_maps_that_nobody_solves_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"no candidate reached every goal of the training maps within 3 moves"):
            evolve_genes(setup(tmp_path), replace(QUICK, max_moves=3), quiet)

    @pytest.mark.parametrize(("name", "value"), [("limit", 0), ("generations", 0), ("count", "moves"), ("seed", -1)])
    def test_a_setting_out_of_range_is_refused_by_name(self, name: str, value: Any) -> None:
        with pytest.raises(InputError, match=name):
            replace(QUICK, **{name: value})


class TestTraining:
    def test_the_file_that_it_writes_is_what_was_compared(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "rivals", lambda: ["lrta", "tba"])
        parts = Parts(courses("rooms-64", vision=1), courses("caves-128", vision=1), courses("random-48", vision=1))
        result = train_blocks(QUICK, parts, tmp_path, HERE)
        assert load_genes(tmp_path / "genes.json") == result.genes
        about = json.loads((tmp_path / "genes.json").read_text())["about"]
        assert (about["limit"], about["count"], about["vision"]) == (4, "scans", 1)
        own = result.findings.scores[-1]
        runs = [
            agents.run("building-block-lrta", problem, budget=Budget(4, "scans"), policy=tmp_path / "genes.json")
            for problem in problems_of(parts.test)
        ]
        assert own.quality is not None
        assert own.quality.value == pytest.approx(np.mean([run.suboptimality for run in runs]))
        lrta = result.findings.scores[0].quality
        assert lrta is not None
        entry, ratio = result.ratios["the best without a search of the whole map"]
        assert entry.agent == "lrta"
        assert ratio.value == pytest.approx(own.quality.value / lrta.value)
        assert result.genes.sentence in result.remarks()
        assert {path.name for path in result.files} >= {"genes.json", "results.csv", "tradeoff.png"}

    def test_the_rivals_need_neither_policy_nor_preparation(self) -> None:
        assert {"rtaa", "tba", "tbaa", "da-rtaa", "p-lrta"} <= set(rivals())
        assert not {"pdb-lrta", "classifier-lrta", "policy-lrta", "building-block-lrta", "hcdps"} & set(rivals())

    def test_who_keeps_a_search_of_the_whole_map_is_known(self) -> None:
        found = {name for name in rivals() if module.searches_everywhere(name)}
        assert {"tba", "tbaa", "astar", "weighted-astar", "dstar-lite", "mpgaa"} <= found
        assert not {"lrta", "rtaa", "da-rtaa", "p-lrta", "lrta-ls-kd"} & found

    def test_a_finalist_that_missed_a_goal_is_said_to_have(self) -> None:
        candidates, nothing = [Candidate(Genes(), 2.0, 3.0), Candidate(Genes(da=True), 1.0)], Any
        result = module.BlocksResult(candidates, nothing, {}, [])
        assert [row[-1] for row in result.table().rows] == ["3.000", "missed a goal"]


class TestCommand:
    def test_a_wrong_count_is_refused_before_anything_is_written(self, tmp_path: Path) -> None:
        done = CliRunner().invoke(app, ["train", "blocks", "--count", "moves", "--out", str(tmp_path / "out")])
        assert done.exit_code == 2
        assert "count must be" in done.output
        assert not (tmp_path / "out").exists()

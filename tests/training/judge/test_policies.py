"""Policies of an environment on the same problems: files, settings, and the report that shows them as agents."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rt_gym import evaluate
from training.judge import policies, think
from training.judge.policies import NETWORK, PolicyFindings
from training.learn import problems_of
from training.report import Recorder, write_report
from training.report.comparison import Part, describe
from training.report.replays import Attachments
from training.runs import Course, Draw, find_courses

LEVEL = "RTPath-Random-16x16-v0"
ASKED: dict[str, Any] = {"seed": 3, "training": {"env": LEVEL}}


@pytest.fixture(scope="module")
def courses() -> tuple[Course, ...]:
    return tuple(find_courses(["rooms-64", "random-48"], Draw(3, 10, 30)))


@pytest.fixture(scope="module")
def thinking(courses: tuple[Course, ...]) -> PolicyFindings:
    times = think.contest({NETWORK: think.follow_rule}, problems_of(courses), vision=2, slice=5)
    return think.judged(times, courses, ASKED)


@pytest.fixture(scope="module")
def walking() -> PolicyFindings:
    courses = tuple(find_courses(["random-16-test"], Draw(1)))[:4]
    given = {"random": "random", NETWORK: "greedy", "astar": "astar"}
    found = {name: evaluate(LEVEL, policy, problems_of(courses), record=99) for name, policy in given.items()}
    return policies.judged(found, courses, ASKED)


class TestFiles:
    def test_results_have_a_row_for_every_policy_and_problem(self, thinking: PolicyFindings, tmp_path: Path) -> None:
        thinking.write(tmp_path)
        with (tmp_path / "results.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 6 * len(thinking.runs)
        own = [row for row in rows if row["policy"] == NETWORK]
        assert [(row["map"], int(row["problem"])) for row in own] == [
            (name, number) for name in ("rooms-64", "random-48") for number in range(3)
        ]
        ratios = [float(row["time"]) / float(row["optimal"]) for row in own]
        assert ratios == pytest.approx(thinking.runs[NETWORK].quality.tolist())

    def test_time_is_what_was_walked_and_thought(self, thinking: PolicyFindings) -> None:
        for run in thinking.runs.values():
            walked = run.columns["time"] - run.columns["thought"]
            assert (run.moves <= walked + 1e-9).all()
            assert (walked <= run.moves * np.sqrt(2) + 1e-9).all()

    def test_settings_say_what_was_asked_for_and_with_what(self, walking: PolicyFindings, tmp_path: Path) -> None:
        walking.write(tmp_path)
        settings = json.loads((tmp_path / "settings.json").read_text())
        assert (settings["env"], settings["seed"], settings["max_moves"]) == (LEVEL, 3, 256)
        assert settings["policies"] == ["random", NETWORK, "astar"]
        assert [one["problems"] for one in settings["maps"]] == [1] * 4
        assert {"commit", "command", "processor", "versions", "training"} <= settings.keys()

    def test_the_same_runs_give_the_same_results(self, walking: PolicyFindings, tmp_path: Path) -> None:
        again = {}
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            walking.write(tmp_path / name)
            again[name] = (tmp_path / name / "results.csv").read_bytes()
        assert again["one"] == again["two"]
        assert b"seconds" not in again["one"]


class TestReport:
    def test_it_shows_policies_as_agents_without_a_budget(self, thinking: PolicyFindings) -> None:
        told = describe(Part("", thinking), Attachments())
        assert [entry["label"] for entry in told["entries"]] == list(thinking.runs)
        assert {entry["budget"] for entry in told["entries"]} == {"RTThink-v0"}
        assert told["tables"][0]["title"] == thinking.table.title
        assert [one["name"] for one in told["maps"]] == ["rooms-64", "random-48"]
        best = told["cards"][0]["picks"][0]["ranked"][0]["entry"]
        means = [run.quality.mean() for run in thinking.runs.values()]
        assert means[best] == min(means)
        assert told["entries"][told["featured"]]["quality"][0] == pytest.approx(thinking.runs[NETWORK].quality.mean())

    def test_a_walk_that_fails_lacks_everything_and_a_shortest_one_nothing(self, walking: PolicyFindings) -> None:
        assert walking.runs["astar"].quality.tolist() == [0.0] * 4
        failed = ~walking.runs["random"].solved
        assert (walking.runs["random"].quality[failed] == 1.0).all()
        assert walking.ranked()[0] == "astar"

    def test_the_remark_says_where_the_network_stands(self, walking: PolicyFindings) -> None:
        place = walking.ranked().index(NETWORK) + 1
        says = f"By 1 - weighted share the network is number {place} of 3, and astar is the best."
        assert walking.remarks() == [says]

    def test_policies_that_failed_are_named_and_have_no_mean(self, courses: tuple[Course, ...]) -> None:
        times = think.contest({NETWORK: think.follow_rule}, problems_of(courses), vision=2, slice=5, max_moves=5)
        findings = think.judged(times, courses, ASKED)
        assert findings.remarks() == ["The network has no mean time / optimal: it failed 6 problems."]
        told = describe(Part("", findings), Attachments())
        assert {entry["failed"] for entry in told["entries"]} == {"6 failed"}
        (pick,) = told["cards"][0]["picks"]
        assert (pick["ranked"], pick["text"]) == ([], "every policy has failed a problem")

    def test_walks_can_be_replayed_the_network_first_and_what_is_cut_off_is_told(
        self, walking: PolicyFindings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("training.report._MOVES", 60)
        recorder = Recorder(Attachments(), problems=2)
        recorder.add_policies("", walking)
        replay = recorder.reel.document()
        assert [run["label"] for run in replay["runs"]] == [NETWORK, "astar", "random"] * 2
        assert replay["missing"] == ["3 of 3 policies on 2 of 4 problems can be replayed, the network first."]
        names = [f"{one.name}, problem 1: {one.tasks[0].start} to {one.tasks[0].goal}" for one in walking.courses]
        for run in replay["runs"]:
            k, own = names.index(replay["problems"][run["problem"]]["name"]), walking.runs[run["label"]]
            assert (run["moves"], run["cost"]) == (own.columns["steps"][k], own.columns["cost"][k])
            assert run["outcome"] == ("goal" if own.solved[k] else "cut")
            (recorded,) = (length for name, _, length in run["data"]["columns"] if name == "step")
            assert recorded == min(20, own.columns["steps"][k])

    def test_a_thought_stays_in_place_and_takes_as_long_as_a_straight_step(self, thinking: PolicyFindings) -> None:
        for run in thinking.runs.values():
            assert run.walked is not None
            for walk, time, thought in zip(run.walked.walks, run.columns["time"], run.columns["thought"], strict=True):
                steps = np.abs(np.diff(walk.path, axis=0)).sum(axis=1)
                assert (steps == 0).sum() == thought
                assert np.sqrt(steps.clip(1)).sum() == pytest.approx(time)

    def test_a_page_says_that_nothing_was_recorded(self, walking: PolicyFindings, tmp_path: Path) -> None:
        runs = {name: replace(run, walked=None) for name, run in walking.runs.items()}
        part = Part("", replace(walking, runs=runs))
        page = write_report(tmp_path / "report.html", "A training", [part]).read_text("ascii")
        assert '"title":"A training"' in page
        assert "the walks of the policies were not recorded" in page

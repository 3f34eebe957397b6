"""Logging: what is labelled where the oracle or a policy walks, its file, and going on after a kill."""

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from agents.oracle_lrta import OracleLRTA
from agents.policies.record_depths import make_record
from rt_gym import InputError, splits
from rt_gym.features.decision import SITUATION
from training.learn.fit import fit_policy
from training.learn.log import DepthLogging, Logging, Samples, load_samples, log_samples
from training.learn.targets import Recipe
from training.runs import Course, Draw, Task, Workers, find_courses

HERE = Workers(jobs=1)
LOGGING = Logging(d_max=6, per_problem=150)


@pytest.fixture(scope="module")
def courses() -> list[Course]:
    return list(find_courses(["caves-128", "rooms-64"], Draw(count=7, low=30, high=90)))


@pytest.fixture(scope="module")
def samples(courses: list[Course]) -> Samples:
    return log_samples(courses, LOGGING, workers=HERE)


class TestSamples:
    def test_every_problem_is_logged_up_to_the_limit(self, samples: Samples, courses: list[Course]) -> None:
        counts = np.bincount(samples.problem)
        assert len(counts) == 14
        assert counts.min() > 0
        assert counts.max() <= 150
        assert samples.situation.shape == (len(samples), len(SITUATION))

    def test_labels_are_the_smallest_depths_that_agree_with_all_deeper_ones(self, samples: Samples) -> None:
        for actions, label in zip(samples.action, samples.label, strict=True):
            assert (actions[label - 1 :] == actions[-1]).all()
            assert label == 1 or actions[label - 2] != actions[-1]

    def test_work_grows_with_the_depth_and_rises_never_fall_below_nothing(self, samples: Samples) -> None:
        assert (samples.work[:, 0] == 1).all()
        assert (np.diff(samples.work, axis=1) >= 0).all()
        assert (samples.rise >= 0).all()

    def test_the_move_of_a_depth_is_one_of_its_tied_moves(self, samples: Samples) -> None:
        assert (samples.ties >> samples.action & 1).all()
        assert (samples.ties != np.uint8(1) << samples.action).any()
        assert samples.capped(2).ties.shape == (len(samples), 2)

    def test_regret_is_never_negative_and_often_nothing(self, samples: Samples) -> None:
        assert (samples.regret >= -1e-4).all()
        assert (np.abs(samples.regret[:, -1]) < 1e-4).mean() > 0.3

    def test_the_oracle_walks_as_the_agent_of_that_name(self, courses: list[Course]) -> None:
        course = courses[0]
        agent = OracleLRTA(d_max=6)
        agent.record_states(make_record(150, 6), history=20)
        run = agents.run(agent, course.problem(course.tasks[0]))
        plain = agents.run("oracle-lrta", course.problem(course.tasks[0]), d_max=6)
        assert run.path.tolist() == plain.path.tolist()
        assert run.expansions == plain.expansions

    def test_an_agent_that_is_used_again_records_as_a_new_one(self, courses: list[Course]) -> None:
        problem, used = courses[0].problem(courses[0].tasks[0]), OracleLRTA(d_max=4)
        for d_max, history in ((6, 20), (3, 5), (3, 20)):
            again, fresh = make_record(50, d_max), make_record(50, d_max)
            for agent, record in ((used, again), (OracleLRTA(d_max), fresh)):
                agent.record_states(record, history)
                agents.run(agent, problem)
            assert again.taken == fresh.taken > 0
            np.testing.assert_array_equal(again.situation, fresh.situation)
            np.testing.assert_array_equal(again.action, fresh.action)

    def test_a_smaller_largest_depth_has_the_labels_of_a_log_of_its_own(self, courses: list[Course]) -> None:
        # In the first state of every problem nothing has been learned, so both logs stand in the same state.
        deep, shallow = (log_samples(courses, Logging(d_max=d, per_problem=1), workers=HERE) for d in (6, 3))
        assert deep.capped(3).label.tolist() == shallow.label.tolist()
        np.testing.assert_array_equal(deep.capped(3).action, shallow.action)
        with pytest.raises(InputError, match="know the depths 1 to 6, not 7"):
            deep.capped(7)

    def test_a_policy_may_walk_and_its_states_are_labelled(self, samples: Samples, courses: list[Course]) -> None:
        policy = fit_policy(samples, Recipe(min_leaf=20, features="rich"))
        own = log_samples(courses, LOGGING, policy, HERE)
        assert own.situation.tolist() != samples.situation.tolist()
        both = samples + own
        assert len(both) == len(samples) + len(own)
        with pytest.raises(InputError, match="do not go together"):
            samples + own.capped(3)

    def test_nothing_to_log_is_refused(self) -> None:
        with pytest.raises(InputError, match="no problems to log"):
            log_samples([], LOGGING, workers=HERE)

    def test_splits_are_courses_with_their_own_problems(self) -> None:
        found = list(find_courses(["caves-validation"], Draw(count=2)))
        assert [course.grid for course in found] == list(splits.load("caves-validation").grids)
        assert {len(course.tasks) for course in found} == {2}


class TestFiles:
    def test_samples_survive_their_file(self, samples: Samples, tmp_path: Path) -> None:
        samples.save(tmp_path / "s.npz")
        again = load_samples(tmp_path / "s.npz")
        assert again.about == samples.about
        np.testing.assert_array_equal(again.situation, samples.situation)
        np.testing.assert_array_equal(again.work, samples.work)
        np.testing.assert_array_equal(again.ties, samples.ties)

    def test_a_table_has_a_line_per_sample(self, samples: Samples, tmp_path: Path) -> None:
        samples.save(tmp_path / "s.csv")
        lines = (tmp_path / "s.csv").read_text().splitlines()
        assert lines[0].startswith("goal_distance,trip_distance,")
        assert lines[0].endswith(",label")
        assert len(lines) == 1 + len(samples)
        assert lines[1].split(",")[-1] == str(samples.label[0])

    def test_a_table_has_every_column_of_every_depth(self, samples: Samples, tmp_path: Path) -> None:
        samples.save(tmp_path / "s.csv")
        with (tmp_path / "s.csv").open() as file:
            rows = list(csv.DictReader(file))
        for name in ("action", "rise", "work", "regret", "ties"):
            for depth in range(1, 7):
                kept = getattr(samples, name)[:, depth - 1]
                np.testing.assert_array_equal(np.array([row[f"{name}_{depth}"] for row in rows], kept.dtype), kept)
        assert [int(row["problem"]) for row in rows] == samples.problem.tolist()

    def test_a_data_frame_has_the_columns_of_the_table(self, samples: Samples) -> None:
        pytest.importorskip("pandas", reason="the extra offline is not installed")
        frame = samples.frame()
        assert frame.shape == (len(samples), len(SITUATION) + 2 + 5 * samples.d_max)
        np.testing.assert_array_equal(frame[list(SITUATION)].to_numpy(), samples.situation)
        np.testing.assert_array_equal(frame["regret_6"], samples.regret[:, 5])

    def test_a_data_frame_without_pandas_is_refused(self, samples: Samples, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(InputError, match=r"a DataFrame needs pandas: pip install 'rt_gym\[offline\]'"):
            samples.frame()

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"\x93NUMPY"])
    def test_what_is_no_file_of_samples_is_refused(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "s.npz").write_bytes(content)
        with pytest.raises(InputError, match=r"s\.npz: is not a readable file of samples"):
            load_samples(tmp_path / "s.npz")

    def test_a_pickled_array_is_never_loaded(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "s.npz", head=np.array([object()], object))
        with pytest.raises(InputError, match=r"s\.npz: its array head is not what this version of rt_gym keeps there"):
            load_samples(tmp_path / "s.npz")

    def test_a_log_that_was_killed_goes_on_with_what_is_there(
        self, courses: list[Course], samples: Samples, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real, walked, begun = DepthLogging.do, list[Task](), []

        def dies_at_the_third_job(self: DepthLogging, grid: Any, items: Sequence[Task]) -> Any:
            begun.append(items)
            if len(begun) == 3:
                raise KeyboardInterrupt
            return real(self, grid, items)

        def is_watched(self: DepthLogging, grid: Any, items: Sequence[Task]) -> Any:
            walked.extend(items)
            return real(self, grid, items)

        monkeypatch.setattr(DepthLogging, "do", dies_at_the_third_job)
        with pytest.raises(KeyboardInterrupt):
            log_samples(courses, LOGGING, workers=HERE, folder=tmp_path)
        damaged, *whole = sorted(tmp_path.rglob("*.npz"))
        damaged.write_bytes(b"half of it")
        monkeypatch.setattr(DepthLogging, "do", is_watched)
        found = log_samples(courses, LOGGING, workers=HERE, folder=tmp_path)
        tasks = [task for course in courses for task in course.tasks]
        assert len(whole) == 1
        assert 0 < len(set(walked)) == len(walked) < len(tasks)
        np.testing.assert_array_equal(found.situation, samples.situation)
        np.testing.assert_array_equal(found.label, samples.label)
        walked.clear()
        log_samples(courses, LOGGING, workers=HERE, folder=tmp_path)
        assert walked == []

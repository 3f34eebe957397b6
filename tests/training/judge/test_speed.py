"""Times on this processor: how many expansions fit into milliseconds, and how well that is known."""

import json
from collections.abc import Iterator
from itertools import chain, count, repeat
from pathlib import Path

import numpy as np
import pytest

from rt_gym import InputError
from training.judge import Calibration, speed
from training.judge.speed import BAR, Pass, fitting, settle, speed_of
from training.runs import Allowance, Course, Draw, find_courses


def timed(speed: float, slow: float = 1e-9) -> Pass:
    """A pass of two parts at so many expansions per second."""
    return Pass(1000, np.full(2, 500 / speed), np.full(2, slow))


@pytest.fixture(scope="module")
def courses() -> list[Course]:
    return list(find_courses(["rooms-64"], Draw(12, 15, 60)))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Agents that always expand the same in a second, and who was measured under which limit."""
    found: list[tuple[str, int]] = []

    def time_runs(agent_id: str, problems: object, limit: int, seconds: float) -> Iterator[Pass]:
        found.append((agent_id, limit))
        return repeat(timed({"lrta": 2e6, "astar": 9e6}[agent_id]))

    monkeypatch.setattr(speed, "time_runs", time_runs)
    return found


def test_a_time_per_move_becomes_what_the_agent_expands_in_it(
    courses: list[Course], tmp_path: Path, asked: list[tuple[str, int]]
) -> None:
    calibration = Calibration(courses, tmp_path)
    allowance = calibration.allowance(["lrta", "astar"], 0.25)
    assert allowance == Allowance("0.25 ms", limits={"lrta": 500, "astar": 2250})
    assert asked == [("lrta", 100), ("lrta", 500), ("astar", 100), ("astar", 2250)]
    assert calibration.allowance(["lrta"], 1e-6).limits == {"lrta": 1}


def test_what_was_measured_is_remembered_with_its_interval(
    courses: list[Course], tmp_path: Path, asked: list[tuple[str, int]]
) -> None:
    first = Calibration(courses, tmp_path)
    first.allowance(["lrta"], 0.25)
    first.keep()
    again = Calibration(courses, tmp_path)
    assert again.allowance(["lrta"], 0.25).limits == {"lrta": 500}
    assert again.paces == first.paces
    assert again.paces["lrta", "0.25 ms"].speed == pytest.approx((2e6, 2e6, 2e6))
    assert len(asked) == 2


def test_calibration_measures_this_processor(courses: list[Course], tmp_path: Path) -> None:
    calibration = Calibration(
        courses, tmp_path, clock=count(0, 1e9).__next__
    )  # no time for more than the fewest passes
    assert calibration.allowance(["lrta"], 1.0).limits["lrta"] > 10
    pace = calibration.paces["lrta", "1 ms"]
    assert pace.passes == 5
    assert 0 < pace.speed.low < pace.speed.high
    assert pace.slow > 0


def test_a_steady_speed_is_measured_five_times() -> None:
    assert len(settle(repeat(timed(1e6)), count().__next__)) == 5


def test_an_unsteady_speed_is_measured_until_its_interval_is_narrow() -> None:
    passes = map(timed, chain([0.5e6, 1.5e6, 0.7e6, 0.6e6, 0.5e6], repeat(1.5e6)))
    found = settle(passes, repeat(0.0).__next__)
    assert 5 < len(found) < 60
    width = [(part.high - part.low) / 2 / part.value for part in map(speed_of, (found[:-1], found))]
    assert width[0] > BAR >= width[1]


@pytest.mark.parametrize(("tick", "passes"), [(0.0, 60), (0.5, 12)])
def test_a_busy_machine_is_not_waited_for_without_end(tick: float, passes: int) -> None:
    wild = (timed(1e6 * (1 + number % 20)) for number in count())
    assert len(settle(wild, count(0, tick).__next__)) == passes


def test_what_disturbs_a_part_in_one_pass_does_not_slow_it_in_the_others() -> None:
    quiet = timed(1e6)
    disturbed = [quiet._replace(seconds=quiet.seconds + np.eye(2)[k % 2]) for k in range(10)]
    assert speed_of([quiet] * 10 + disturbed).value == pytest.approx(1e6)


def test_the_slow_end_of_the_speed_is_taken() -> None:
    pace = fitting(100, [timed(value) for value in (1e6, 1.1e6, 0.9e6, 1.05e6, 0.95e6)], 1e-3)
    assert pace.limit == int(pace.speed.low * 1e-3) < int(pace.speed.value * 1e-3)
    assert 0.9e6 <= pace.speed.low < pace.speed.value


def test_an_agent_whose_slow_moves_take_too_long_gets_less() -> None:
    quick, slow = (fitting(100, [timed(1e6, seconds)] * 5, 1.001e-4) for seconds in (0.9e-4, 1.8e-4))
    assert (quick.limit, slow.limit) == (100, 50)


@pytest.mark.parametrize(
    "content",
    [
        "[1]", "{", '"x"', '{"a": {}}', '{"a": null}', '{"a": "x"}',
        '{"a": {"limit": 0, "speed": [1, 1, 1], "slow": 0, "passes": 5, "prepared": 0}}',
        '{"a": {"limit": 1, "speed": [1, 2, 3], "slow": 0, "passes": 5, "prepared": 0}}',
        '{"a": {"limit": 1, "speed": [1, 0, 1], "slow": 0, "passes": 5, "prepared": 0}}',
        '{"a": {"limit": 1, "speed": [NaN, 1, 1], "slow": 0, "passes": 5, "prepared": 0}}',
        '{"a": {"limit": 1, "speed": [1, 1, 1], "slow": 0, "passes": 5, "prepared": -1}}',
        '{"a": {"limit": 1, "speed": [1, 1, 1], "slow": 0, "passes": 5}}',
        '{"a": {"limit": 1, "speed": [1, 1], "slow": 0, "passes": 5, "prepared": 0}}',
        '{"a": {"limit": 1, "speed": [1, 1, 1], "slow": Infinity, "passes": 5, "prepared": 0}}',
        '{"a": {"limit": 1, "speed": [1, 1, 1], "slow": 1%s, "passes": 5, "prepared": 0}}' % (400 * "0"),
    ],
)  # fmt: skip
def test_a_damaged_calibration_is_made_anew(
    content: str, courses: list[Course], tmp_path: Path, asked: object, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "calibration.json").write_text(content)
    assert Calibration(courses, tmp_path).allowance(["lrta"], 1.0).limits == {"lrta": 2000}
    assert capsys.readouterr().err.endswith("calibration.json: damaged, everything is measured again\n")


def test_limits_of_a_calibration_without_intervals_are_measured_again(
    courses: list[Course], tmp_path: Path, asked: list[object], capsys: pytest.CaptureFixture[str]
) -> None:
    first, path = Calibration(courses, tmp_path), tmp_path / "calibration.json"
    first.allowance(["lrta"], 1.0)
    first.keep()
    path.write_text(json.dumps(dict.fromkeys(json.loads(path.read_text()), 7)))
    assert Calibration(courses, tmp_path).allowance(["lrta"], 1.0).limits == {"lrta": 2000}
    assert (len(asked), capsys.readouterr().err) == (4, "")


def test_a_class_of_ones_own_has_no_time_per_move(courses: list[Course], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="only agents with an id are calibrated"):
        Calibration(courses, tmp_path).allowance(["agents.lrta.LRTA"], 1.0)

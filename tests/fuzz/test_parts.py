"""A seeded part of what ``make fuzz`` tries, and the fuzzer itself: whatever goes wrong in a case is reported."""

import atexit
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from fuzz import commands, figures, parts, runner
from fuzz.case import Case, Part
from fuzz.parts import PARTS
from fuzz.recount import recounter
from fuzz.worker import try_case


@pytest.fixture(scope="module", autouse=True)
def _end_the_recounter() -> object:
    yield
    if recounter.cache_info().currsize:
        recounter().close()
        recounter.cache_clear()


@pytest.mark.parametrize("name", [name for name, part in PARTS.items() if part.sample])
def test_the_first_cases_hold(name: str, tmp_path: Path) -> None:
    part = PARTS[name]._replace(seconds=None, megabytes=None)  # the first one may compile
    for number in range(part.sample):
        answer = try_case(part, 0, number, tmp_path)
        assert answer["failure"] is None, f"python -m fuzz {name} --case {number}: {answer['story']}"
        assert answer["counts"] or name in ("options", "properties")


def test_a_case_is_the_same_whenever_it_is_tried() -> None:
    drawn = [[Case(3, number, Path()).whole(0, 10**9) for number in (1, 2)] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert drawn[0][0] != drawn[0][1]


def fail(case: Case) -> None:
    (file := case.folder / "damaged").write_text("x")
    case.kept.append(file)
    case.story["drawn"] = 7
    raise KeyError("lost")


def test_a_failure_keeps_its_story_and_its_file(tmp_path: Path) -> None:
    answer = try_case(Part("", fail, 1, 1), 5, 9, tmp_path / "kept")
    assert "KeyError" in answer["failure"]
    assert answer["story"] == {"drawn": "7"}
    assert (tmp_path / "kept" / "5-9-damaged").read_text() == "x"


class Speechless:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


def fail_without_words(case: Case) -> None:
    case.story["drawn"] = {"depth": [Speechless()]}
    raise KeyError("lost")


def test_the_story_of_a_failure_tells_what_has_no_text() -> None:
    answer = try_case(Part("", fail_without_words, 1, 1), 0, 0)
    assert "KeyError" in answer["failure"]
    assert answer["story"]["drawn"].startswith("{'depth': [<Speechless instance at ")


def leave_something_for_the_end() -> None:
    atexit.register(lambda: print("cleared up", file=sys.stderr))
    raise SystemExit(130)


def test_a_command_line_ends_as_a_process_of_its_own_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "main", leave_something_for_the_end)
    (folder := tmp_path / "here").mkdir()
    assert commands.run(["play"], folder) == (130, "", "cleared up\n")


def test_too_much_time_or_memory_is_a_failure() -> None:
    def use(case: Case) -> None:
        held = bytearray(os.urandom(1 << 20) * 40)
        while not case.watch.read()[0] > 0.01:
            held[0] ^= 1

    assert "s of processor time" in try_case(Part("", use, 1, 1, seconds=0.01), 0, 0)["failure"]
    assert "MB" in try_case(Part("", use, 1, 1, megabytes=20), 0, 0)["failure"]
    assert try_case(Part("", use, 1, 1, seconds=60, megabytes=500), 0, 0)["failure"] is None


def die(case: Case) -> None:
    if case.number == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    while case.number == 2:
        time.sleep(1)
    case.counts["lived"] += 1


def test_a_case_that_kills_its_worker_or_hangs_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "WORKER", ["-c", "import fuzz.test_parts as t; t.work()"])
    part = Part("", die, 5, 1, patience=5)
    report = runner.run_part("die", part, 0, 5, time.monotonic() + 200, 1, tmp_path)
    assert report.cases == 5
    assert report.counts == {"lived": 3}
    assert [failure["case"] for failure in report.failures] == [1, 2]
    assert "ended with -11" in report.failures[0]["failure"]
    assert "no answer for 5 s" in report.failures[1]["failure"]


def work() -> None:
    """Be a worker whose table has the part above."""
    from fuzz import worker

    parts.PARTS["die"] = Part("", die, 5, 1)
    worker.main()


def test_figures_are_kept_and_written_to_the_page(tmp_path: Path) -> None:
    report = runner.Report("recount", 0)
    report.add({"case": 0, "counts": {"overruns": 2}, "seconds": 1.0, "megabytes": 3.0, "failure": None, "story": {}})
    page, file = tmp_path / "page.md", tmp_path / "figures.json"
    page.write_text(f"above\n{figures.BEGIN}\nold\n| recount | old |\n| kills | kept |\n{figures.END}\nbelow\n")
    figures.write_page(page, figures.merge(file, [report]))
    text = page.read_text()
    assert text.startswith("above\n")
    assert text.endswith("below\n")
    assert "| recount | 1 cases: 2 overruns | 0 |" in text
    assert "\n| kills | kept |\n" in text
    assert "old" not in text
    again = figures.merge(file, [runner.Report("files", 1)])
    assert set(again["parts"]) == {"recount", "files"} == set(json.loads(file.read_text())["parts"])

"""``rt-gym play``: pausing, going back, changes of the map in words, the path as JSON, and traces."""

import io
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import agents
from rt_gym import Problem, load_map
from rt_gym.render import Scene
from training.cli import app, screens
from training.cli.playback import news
from training.cli.screens import LEFT, RIGHT, Keys, TerminalScreen

runner = CliRunner()
TRIP = ["open-16", "--start", "1,1", "--goal", "9,9", "--agent", "lrta"]
PROBLEM = Problem(load_map("open-16"), (1, 1), (9, 9))


class Typist:
    """A keyboard on which some keys are pressed, one after the other."""

    listening = True

    def __init__(self, *keys: str) -> None:
        self.keys = list(keys)

    def __enter__(self) -> "Typist":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, seconds: float) -> str:
        return self.keys.pop(0) if self.keys else "q"


class Watched(TerminalScreen):
    """A terminal that remembers the captions and hints of what it drew."""

    def __init__(self, *keys: str) -> None:
        super().__init__(None)
        self._console = Console(file=io.StringIO(), force_terminal=True, width=60, height=20)
        self._keys: Any = Typist(*keys)
        self.drawn: list[str] = []
        self.hints: list[str] = []

    def draw(self, content: screens.Content) -> None:
        self.drawn.append(content.scene.caption)
        self.hints.append(content.hint)
        super().draw(content)


def scene(number: int, free: np.ndarray | None = None) -> Scene:
    cells = np.ones((5, 5), bool) if free is None else free
    return Scene(cells, None, (0, 0), (0, 0), (4, 4), np.empty((0, 2)), {}, f"picture {number}")


def shown(*keys: str, seconds: float | None, count: int = 3) -> Watched:
    """Show some pictures, each until the screen lets the next one come or the user has seen enough."""
    screen = Watched(*keys)
    with screen:
        for number in range(count):
            screen.show(scene(number), hint="hint")
            if not screen.wait(seconds):
                break
    return screen


def test_enter_asks_for_the_next_picture_and_back_for_the_last_one() -> None:
    screen = shown("\n", "b", "\n", "\n", "q", seconds=None)
    assert screen.drawn == ["picture 0", "picture 1", "picture 0", "picture 1", "picture 2"]


@pytest.mark.parametrize(("back", "on"), [("b", "\n"), (LEFT, RIGHT), ("B", "n")])
def test_arrows_and_letters_do_the_same(back: str, on: str) -> None:
    screen = shown(on, on, back, back, back, on, "q", seconds=None)
    assert screen.drawn == [f"picture {number}" for number in (0, 1, 2, 1, 0, 0, 1)]


def test_a_space_stops_the_time_until_the_next_one() -> None:
    screen = shown(" ", "\n", " ", "", seconds=0.0)
    assert screen.drawn == ["picture 0", "picture 0", "picture 1", "picture 1", "picture 2"]
    assert ["paused" in hint for hint in screen.hints] == [False, True, True, False, False]


def test_enter_does_nothing_while_the_time_goes_on() -> None:
    assert shown("\n", "q", seconds=60.0).drawn == ["picture 0"]


def test_who_has_gone_back_sees_the_last_picture_again_when_time_goes_on() -> None:
    screen = shown(" ", "\n", "b", " ", "", seconds=0.0)
    assert screen.drawn == [f"picture {number}" for number in (0, 0, 1, 0, 1, 2)]


def test_what_is_gone_back_to_is_as_it_was() -> None:
    free, screen = np.ones((5, 5), bool), Watched("\n", "b", "q")
    with screen:
        screen.show(scene(0, free))
        screen.wait(None)
        free[:] = False
        screen.show(scene(1, free))
        screen.wait(None)
        assert screen._content is not None
        assert screen._content.scene.caption == "picture 0"
        assert screen._content.scene.passable.all()


def test_only_so_many_pictures_are_kept_as_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screens, "_MOST_KEPT", 60)  # a picture takes 25 bytes
    screen = shown("\n", "\n", "b", "b", "b", "q", seconds=None)
    assert screen.drawn[3:] == ["picture 1"] * 3


def test_whoever_has_paused_can_still_go_back_at_the_end() -> None:
    screen = shown(" ", "\n", "\n", "\n", seconds=0.0)
    screen._keys = Typist("b", "q")
    screen.linger()
    assert screen.drawn[-1] == "picture 1"


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")
def test_arrows_are_read_as_one_key(monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = os.openpty()
    monkeypatch.setattr("sys.stdin", os.fdopen(slave))
    with Keys() as keys:
        os.write(master, b"\x1b[Dx\x1bOC\x1b[Z q")
        assert [keys.read(5.0) for _ in range(6)] == [LEFT, "x", RIGHT, "", " ", "q"]
        assert keys.read(0.0) == ""
    os.close(master)


@pytest.mark.parametrize(
    ("moves", "span", "words"),
    [
        (0, 1, ""),
        (2, 1, "2 cells closed"),
        (3, 1, "1 cell closed, 1 cell opened"),
        (3, 2, "2 cells closed, 1 cell opened"),
        (9, 4, ""),
    ],
)
def test_the_cells_that_changed_are_counted_by_what_they_are_now(moves: int, span: int, words: str) -> None:
    changes = [(2, (5, 5), False), (2, (6, 5), False), (3, (5, 5), True), (3, (7, 5), False)]
    assert news(replace(PROBLEM, changes=changes), moves, span) == words


@pytest.fixture
def changes(tmp_path: Path) -> str:
    path = tmp_path / "changes.csv"
    path.write_text("time,x,y,free\n2,12,12,0\n2,13,12,0\n5,12,12,1\n")
    return str(path)


def play(*arguments: str) -> str:
    result = runner.invoke(app, ["play", *TRIP, *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_story_has_a_line_whenever_the_map_changes(changes: str) -> None:
    lines = play("--step", "--changes", changes).splitlines()
    told = {lines[k + 1].split(":")[0]: line for k, line in enumerate(lines) if line.startswith("The map")}
    assert told == {
        "Move 3": "The map has changed: 2 cells closed.",
        "Move 6": "The map has changed: 1 cell opened.",
    }
    assert lines[-1].split() == ["changes", "3", "of", "3", "that", "the", "map", "was", "to", "have"]
    few = play("--step", "--every", "4", "--changes", changes).splitlines()
    assert [line for line in few if line.startswith("The map")] == [
        "The map has changed: 2 cells closed.",
        "The map has changed: 1 cell opened.",
    ]


def test_the_document_has_the_path() -> None:
    told = json.loads(play("--json"))
    assert told["path"] == agents.run("lrta", PROBLEM).path.tolist()


def test_a_trace_is_written_beside_the_rest(tmp_path: Path) -> None:
    path, picture = tmp_path / "run.trace.json", tmp_path / "run.png"
    told = json.loads(play("--json", "--trace", str(path), "--save", str(picture)))
    assert told["files"] == [str(picture), str(path)]
    events = json.loads(path.read_text())["events"]
    assert sum(event.get("spent", 0) for event in events) == told["expansions"]
    assert sum(event["type"] == "moving" for event in events) == told["moves"]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--trace", "run.json"], "run.json: a trace is written to a path that ends in .trace.json or .trace.yaml"),
        (["--trace", "none/run.trace.json"], "cannot be written, because its folder is missing"),
        (["--trace", "run.trace.json", "--units", "3"], "--trace tells what one agent does"),
    ],
)
def test_a_trace_that_cannot_be_is_refused_before_anything_is_run(
    arguments: list[str], part: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    refuse: Callable[..., None] = pytest.fail
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(agents, "run", lambda *_, **__: refuse("it was run"))
    result = runner.invoke(app, ["play", "open-16", *arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert part in result.stderr
    assert list(tmp_path.iterdir()) == []

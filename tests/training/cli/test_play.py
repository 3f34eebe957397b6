"""``rt-gym play``: the summary, the story, the films, the terminal and the window."""

import io
import json
import os
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from rich.console import Console
from typer.testing import CliRunner

import agents
from rt_gym import Problem, load_map, sample_problems
from rt_gym.render import Window, film
from training import cli
from training.cli import screens
from training.cli.playback import Playback
from training.cli.screens import TerminalScreen
from training.cli.terminal import with_256_colours

runner = CliRunner()
TRIP = ["rooms-64", "--start", "5,5", "--goal", "20,20"]
PROBLEM = Problem(load_map("rooms-64"), (5, 5), (20, 20))


def play(*arguments: str) -> Any:
    result = runner.invoke(cli.app, ["play", *arguments])
    assert result.exit_code == 0, result.output
    return result


def document(*arguments: str) -> dict[str, Any]:
    return json.loads(play(*arguments, "--json").stdout)


class TestSummary:
    @pytest.mark.parametrize("agent_id", agents.ids())
    def test_it_says_the_same_as_the_record_of_the_run(self, agent_id: str) -> None:
        run, told = agents.run(agent_id, PROBLEM), document(*TRIP, "--agent", agent_id)
        for name in ("outcome", "cost", "optimal", "suboptimality", "moves", "expansions", "max_expansions", "scans"):
            assert told[name] == getattr(run, name)
        assert told["expansions_per_move"] == run.expansions / run.moves
        assert (told["start"], told["goal"], told["map"]) == ([5, 5], [20, 20], "rooms-64")
        assert told["seconds"] > 0

    def test_without_a_terminal_it_is_all_that_is_printed(self) -> None:
        lines = play(*TRIP, "--agent", "lss-lrta:lookahead=50").stdout.splitlines()
        assert lines[0] == "lss-lrta lookahead=50 on rooms-64 from (5, 5) to (20, 20): goal reached"
        assert [line.split()[0] for line in lines[1:]] == ["cost", "moves", "expansions", "scans", "time"]
        run = agents.run("lss-lrta", PROBLEM, lookahead=50)
        assert lines[1].split() == f"cost {run.cost:.2f} {run.suboptimality:.3f} times the optimal 31.66".split()

    def test_settings_of_the_agent_come_with_its_id(self) -> None:
        told = document(*TRIP, "--agent", "lss-lrta:lookahead=7,commit=one")
        assert told["settings"] == {"lookahead": 7, "commit": "one", "tie": "first"}
        assert told["max_expansions"] == 7

    def test_a_budget_limits_every_move_and_chooses_the_settings_that_are_not_given(self) -> None:
        told = document(*TRIP, "--agent", "lrta:tie=random", "--budget", "100")
        assert (told["budget"], told["settings"]) == (100, {"depth": 5, "tie": "random"})
        assert told["max_expansions"] <= 100

    def test_a_run_that_fails_says_so_and_has_no_suboptimality(self) -> None:
        told = document(*TRIP, "--agent", "lrta:depth=9", "--budget", "5")
        assert (told["outcome"], told["suboptimality"], told["moves"]) == ("overrun", None, 0)
        shown = play(*TRIP, "--agent", "lrta", "--max-moves", "3").stdout
        assert ": no moves left\n" in shown
        assert "optimal" not in shown

    def test_a_problem_is_drawn_with_the_seed_and_within_the_range(self) -> None:
        first, second = (document("rooms-64", "--seed", seed, "--optimal", "60..80") for seed in ("3", "4"))
        expected = sample_problems(load_map("rooms-64"), 1, 60, 80, seed=3)[0]
        assert (first["start"], first["goal"]) == (list(expected.start), list(expected.goal))
        assert 60 <= first["optimal"] <= 80
        assert first["start"] != second["start"]

    def test_fog_hides_the_map(self) -> None:
        told = document(*TRIP, "--agent", "astar", "--vision", "2")
        assert told["vision"] == 2
        assert told["cost"] > told["optimal"] == document(*TRIP, "--agent", "astar")["cost"]


class TestStory:
    def test_every_move_is_told_without_waiting_where_nobody_can_answer(self) -> None:
        lines = play(*TRIP, "--step", "--agent", "lss-lrta:lookahead=50").stdout.splitlines()
        moves = agents.run("lss-lrta", PROBLEM, lookahead=50).moves
        told = [line for line in lines if line.startswith("Move ")]
        assert [line.split(":")[0] for line in told] == [f"Move {number}" for number in range(1, moves + 1)]
        assert told[0].startswith("Move 1: it stands on (5, 5) and goes east after 50 expansions")
        assert lines[moves + 1].startswith("The end: it stands on (20, 20) ")
        assert lines[moves + 2].endswith(": goal reached")

    def test_only_some_moves_are_told_on_demand(self) -> None:
        lines = play(*TRIP, "--step", "--every", "10", "--agent", "astar").stdout.splitlines()
        assert [line.split(":")[0] for line in lines[1:5]] == ["Move 1", "Move 11", "Move 21", "The end"]

    def test_a_story_is_no_document(self) -> None:
        result = runner.invoke(cli.app, ["play", *TRIP, "--step", "--json"])
        assert (result.exit_code, result.stdout) == (2, "")
        assert "--json" in result.stderr


class TestFilms:
    def test_a_picture_shows_the_end(self, tmp_path: Path) -> None:
        path = tmp_path / "run.png"
        told = document(*TRIP, "--save", str(path))
        assert told["files"] == [str(path)]
        with Image.open(path) as picture:
            assert picture.size == (640, 688)
            # The middle of the goal's cell is that of the agent: it has arrived.
            assert picture.convert("RGB").getpixel((20 * 10 + 5, 20 * 10 + 5)) == (14, 36, 96)

    def test_a_film_has_a_frame_for_every_move_and_stays_at_the_end(self, tmp_path: Path) -> None:
        path = tmp_path / "run.GIF"
        told = document(*TRIP, "--save", str(path), "--agent", "lss-lrta", "--fps", "20")
        with Image.open(path) as picture:
            assert picture.n_frames == told["moves"] + 1
            assert picture.info["duration"] == 50
            picture.seek(picture.n_frames - 1)
            assert picture.info["duration"] == 2000

    def test_fewer_moves_can_be_drawn_from_nearer(self, tmp_path: Path) -> None:
        path = tmp_path / "run.gif"
        told = document(*TRIP, "--save", str(path), "--every", "8", "--zoom", "10")
        with Image.open(path) as picture:
            assert picture.n_frames == -(-told["moves"] // 8) + 1
            assert picture.size == (640, 688)

    def test_a_long_run_is_thinned_out_and_that_is_said(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(film.Gif, "most", 10)
        path = tmp_path / "run.gif"
        result = play(*TRIP, "--save", str(path), "--agent", "lss-lrta")
        assert "run.gif: one move in 4 is drawn, because 10 frames are the most\n" in result.stderr
        assert result.stdout.endswith(f"saved {path}\n")
        with Image.open(path) as picture:
            assert 5 < picture.n_frames <= 10

    @pytest.mark.parametrize("moves", [0, 1, 8, 9, 10, 11, 99, 100, 12345])
    @pytest.mark.parametrize("every", [1, 3, 50])
    def test_a_stride_never_makes_more_frames_than_there_may_be(self, moves: int, every: int) -> None:
        class Short(film.Gif):
            most = 10

        stride = Short(Path("x.gif"), 15).stride(moves, every)
        assert stride % every == 0
        assert len({*range(0, moves + 1, stride), moves}) <= 10

    def test_a_video_is_written_where_there_is_an_encoder(self, tmp_path: Path) -> None:
        reader = pytest.importorskip("imageio_ffmpeg", reason="no encoder: the extra video is not installed")
        path = tmp_path / "run.mp4"
        told = document(*TRIP, "--save", str(path), "--fps", "10")
        frames, seconds = reader.count_frames_and_secs(str(path))
        assert frames == told["moves"] + 1 + 20
        assert seconds == pytest.approx(frames / 10, abs=0.2)
        assert next(reader.read_frames(str(path)))["size"] == (640, 688)

    def test_without_an_encoder_the_extra_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
        result = runner.invoke(cli.app, ["play", *TRIP, "--save", str(tmp_path / "run.mp4")])
        assert (result.exit_code, result.stdout) == (2, "")
        assert 'pip install "rt_gym[video]"' in result.stderr

    def test_several_files_come_from_one_run_and_nothing_else_is_left(self, tmp_path: Path) -> None:
        paths = [tmp_path / "a.png", tmp_path / "b.gif", tmp_path / "a.png"]
        told = document(*TRIP, *(part for path in paths for part in ("--save", str(path))))
        assert told["files"] == [str(path) for path in paths[:2]]
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "b.gif"]

    def test_ctrl_c_leaves_the_old_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "run.gif"
        path.write_bytes(b"old")
        monkeypatch.setattr(Playback, "scene", _interrupt)
        result = runner.invoke(cli.app, ["play", *TRIP, "--save", str(path)])
        assert (result.exit_code, result.stderr) == (130, "stopped\n")
        assert path.read_bytes() == b"old"
        assert [path.name for path in tmp_path.iterdir()] == ["run.gif"]


def _interrupt(*arguments: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["nowhere"], "no bundled map is called nowhere"),
        (["rooms-64", "--agent", "lss-lrt"], "did you mean lss-lrta?"),
        (["rooms-64", "--agent", "lrta:dept=3"], "agent lrta has no parameter 'dept'; its parameters are depth, tie"),
        (["rooms-64", "--agent", "lrta:depth"], "must be written as ID or ID:name=value,name=value"),
        (["rooms-64", "--agent", "lrta:depth=0"], "depth must be a whole number from 1 to 1000, not 0"),
        (["rooms-64", "--agent", "lrta:depth=2.5"], "depth must be a whole number from 1 to 1000, not 2.5"),
        (["rooms-64", "--start", "0,0", "--goal", "5,5"], "start (0, 0) is a blocked cell"),
        (["rooms-64", "--start", "5,5", "--goal", "64,5"], "goal (64, 5) lies outside the map of 64 x 64"),
        (["rooms-64", "--start", "5,5"], "--start and --goal go together"),
        (["rooms-64", "--start", "5;5", "--goal", "5,5"], "--start must be two whole numbers x,y, not '5;5'"),
        (["rooms-64", "--start", "5,5", "--goal", "6,6", "--optimal", "1..9"], "--start and --goal are given"),
        (["rooms-64", "--optimal", "60"], "--optimal must be a range of numbers LOW..HIGH, not '60'"),
        (["rooms-64", "--optimal", "9..1"], "--optimal must be a range of numbers LOW..HIGH, not '9..1'"),
        (["rooms-64", "--optimal", "5000..6000"], "with an optimal cost from 5000 to 6000"),
        (["rooms-64", "--save", "run.avi"], "run.avi: a run is saved to a path that ends in .gif, .mp4, .png"),
        (["rooms-64", "--save", "none/run.png"], "none/run.png: cannot be written, because its folder is missing"),
        (["rooms-64", "--save", "folder.png"], "folder.png: is not a regular file"),
        (["rooms-64", "--save", "x" * 300 + ".png"], ".png: cannot be written (File name too long)"),
        (["split.csv", "--start", "0,0", "--goal", "2,0"], "goal (2, 0) cannot be reached from start (0, 0)"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(
    arguments: list[str], part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.png").mkdir()
    Path("split.csv").write_text("1,0,1\n")
    result = runner.invoke(cli.app, ["play", "--save", "kept.png", *arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert part in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(os.listdir()) in (["folder.png", "split.csv"], ["folder.png", "kept.png", "split.csv"])
    assert "x.png" in "".join(arguments) or not Path("kept.png").exists()


@pytest.mark.parametrize(
    "option",
    ["--budget=0", "--vision=0", "--fps=0", "--fps=99", "--every=0", "--zoom=0", "--max-moves=0", "--seed=-1"],
)
def test_a_number_out_of_range_is_wrong_usage(option: str) -> None:
    result = runner.invoke(cli.app, ["play", *TRIP, option])
    assert result.exit_code == 2
    assert option.split("=")[0] in result.stderr


class Terminal:
    """A terminal of 60 x 30 characters that this process believes to be its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.master, slave = os.openpty()
        self.seen = b""
        self._typed = self._after = b""
        self.streams = [os.fdopen(os.dup(slave), mode, encoding="utf-8") for mode in "rw"]
        os.close(slave)
        self._patch = monkeypatch
        for name, value in {"COLUMNS": "60", "LINES": "30", "TERM": "xterm-256color", "COLORTERM": "truecolor"}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("NO_COLOR", raising=False)

    def play(self, *arguments: str, keys: bytes = b"", after: bytes = b"") -> str:
        """Run the command, press keys once something was seen, and return all that was written."""
        for name, stream in zip(("stdin", "stdout"), self.streams, strict=True):
            self._patch.setattr(sys, name, stream)  # only now: pytest puts its own in place before every phase
        self._typed, self._after = keys, after
        reader = threading.Thread(target=self._read)
        reader.start()
        try:
            self.code = cli.app(["play", *TRIP, "--fps", "50", *arguments], standalone_mode=False)
        finally:
            self.streams[1].close()  # ends the reader
            self.streams[0].close()
            reader.join(30)
        return self.seen.decode().replace("\r\n", "\n")

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self.master, 65536)
            except OSError:  # what Linux says when nobody holds the other end any more
                part = b""
            if not part:
                return
            self.seen += part
            if self._typed and self._after in self.seen:
                os.write(self.master, self._typed)
                self._typed = b""

    def restored(self) -> bool:
        """Whether the cursor and the old screen came back, once each, after they were taken away."""
        signs = re.findall(rb"\x1b\[\?(25l|25h|1049h|1049l)", self.seen)
        return sorted(signs) == [b"1049h", b"1049l", b"25h", b"25l"] and set(signs[:2]) == {b"1049h", b"25l"}


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    if not hasattr(os, "openpty"):
        pytest.skip("this system has no pseudo-terminals")
    made = Terminal(monkeypatch)
    yield made
    os.close(made.master)


class TestTerminal:
    def test_a_run_is_drawn_in_place_and_the_last_picture_stays_above_the_summary(self, terminal: Terminal) -> None:
        seen = terminal.play("--agent", "astar")
        moves = agents.run("astar", PROBLEM).moves
        assert terminal.restored()
        drawn, _, after = seen.partition("\x1b[?1049l")
        assert drawn.count("\x1b[H") >= moves + 1
        assert f"astar · move 12 of {moves} · cost " in drawn
        assert "\x1b[38;2;" in drawn
        assert after.index("▀") < after.index("astar · goal reached") < after.index("astar on rooms-64")

    def test_pictures_fit(self, terminal: Terminal) -> None:
        frames = terminal.play("--agent", "astar").partition("\x1b[?1049l")[0].split("\x1b[H")[2:]
        assert all(frame.count("\n") <= 29 for frame in frames)
        assert all(line.count("▀") <= 60 for frame in frames for line in frame.split("\n"))

    def test_q_stops_and_the_film_ends_there(self, terminal: Terminal, tmp_path: Path) -> None:
        save = ["--save", str(tmp_path / "run.gif")]
        seen = terminal.play("--agent", "astar", "--step", *save, keys=b"\nzq", after=b"Enter: next move")
        assert terminal.restored()
        assert "Move 2: " in seen
        assert "Move 3: " not in seen
        assert "astar on rooms-64 from (5, 5) to (20, 20): goal reached" in seen
        with Image.open(tmp_path / "run.gif") as picture:
            assert picture.n_frames == 2

    def test_enter_goes_on_to_the_end(self, terminal: Terminal) -> None:
        moves = agents.run("astar", PROBLEM).moves
        seen = terminal.play("--agent", "astar", "--step", keys=b"\n" * moves, after=b"Enter: next move")
        assert all(f"Move {number}: it stands on" in seen for number in range(1, moves + 1))
        assert "The end: it stands on (20, 20)" in seen

    def test_ctrl_c_gives_the_terminal_back(self, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(TerminalScreen, "wait", _interrupt)
        terminal.play("--agent", "astar")
        assert terminal.code == 130
        assert terminal.restored()
        assert b"goal reached" not in terminal.seen

    def test_no_colour_is_used_where_none_is_wanted(self, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NO_COLOR", "1")
        seen = terminal.play("--agent", "astar", "--zoom", "9")
        assert "38;2;" not in seen
        assert "@" in seen.partition("\x1b[?1049l")[2]

    def test_json_is_not_drawn(self, terminal: Terminal) -> None:
        assert json.loads(terminal.play("--agent", "astar", "--json"))["outcome"] == "goal"

    def test_a_new_size_is_drawn_at_once(self) -> None:
        playback = Playback(agents.make("astar"), PROBLEM, None, 100)
        screen = TerminalScreen(None)
        screen._console = Console(file=io.StringIO(), force_terminal=True, width=60, height=30)
        with screen:
            screen.show(playback.scene(next(playback.moments()), "c" * 200), "words " * 20, "hint")
            screen._console.size = (20, 12)
            assert screen.wait(0.1)
            last = screen._console.file.getvalue().split("\x1b[H")[-1]
        assert f"\x1b[2K{'c' * 20}\n" in last
        assert last.count("\n") <= 11

    def test_a_terminal_of_one_line_is_enough(self, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LINES", "1")
        monkeypatch.setenv("COLUMNS", "3")
        frames = terminal.play("--agent", "astar", "--every", "20").partition("\x1b[?1049l")[0].split("\x1b[H")[2:]
        assert all("\n" not in frame for frame in frames)


@pytest.mark.parametrize(
    ("exact", "nearest"),
    [("0;0;0", 16), ("255;255;255", 231), ("238;232;219", 254), ("255;95;0", 202), ("78;89;104", 240)],
)
def test_colours_are_replaced_by_the_nearest_of_256(exact: str, nearest: int) -> None:
    assert with_256_colours(f"\x1b[38;2;{exact};48;2;{exact}mx") == f"\x1b[38;5;{nearest};48;5;{nearest}mx"


class TestWindow:
    @pytest.fixture(autouse=True)
    def _pygame(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("pygame", reason="no window: the extra human is not installed")
        monkeypatch.setattr(screens, "_LAST", 0.0)

    def test_every_moment_is_shown(self, monkeypatch: pytest.MonkeyPatch) -> None:
        shown: list[str] = []
        show = Window.show
        monkeypatch.setattr(Window, "show", lambda self, image, words: [shown.append(words), show(self, image, words)])
        told = document(*TRIP, "--window", "--fps", "50", "--agent", "astar")
        assert len(shown) == told["moves"] + 1
        assert "goal reached" in shown[-1]

    def test_closing_it_stops_the_show(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Window, "pump", lambda self: False)
        result = play(*TRIP, "--window", "--agent", "astar")
        assert result.stderr.endswith("stopped at move 1 of 30; the summary tells of the whole run\n")
        assert "goal reached" in result.stdout

    def test_the_story_is_told_beside_it(self) -> None:
        lines = play(
            *TRIP, "--window", "--step", "--every", "20", "--fps", "50", "--agent", "astar"
        ).stdout.splitlines()
        assert [line.split(":")[0] for line in lines[1:4]] == ["Move 1", "Move 21", "The end"]

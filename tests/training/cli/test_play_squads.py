"""``rt-gym play --units``: the record of a squad, its moments, films and pictures in the terminal, and refusals."""

import json
import os
import re
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from rt_gym import Grid, Problem, Squad, SquadRun, load_map, sample_problems
from rt_gym.render import palette
from training import cli
from training.cli.playback import SquadMoment, SquadPlayback, squad_caption

runner = CliRunner()
NEAR = ["rooms-64", "--agent", "rtaa", "--optimal", "5..12"]


def play(*arguments: str) -> Any:
    result = runner.invoke(cli.app, ["play", *arguments])
    assert result.exit_code == 0, result.output
    return result


def document(*arguments: str) -> dict[str, Any]:
    return json.loads(play(*arguments, "--json").stdout)


def problems(count: int, seed: int = 0, **options: Any) -> list[Problem]:
    return sample_problems(load_map("rooms-64"), count, 5, 12, seed, distinct=True, **options)


def corridor() -> list[Problem]:
    """Return problems of two units that meet in a corridor, which none of them can leave."""
    grid = Grid(np.ones((1, 7)))
    return [Problem(grid, (0, 0), (6, 0)), Problem(grid, (6, 0), (0, 0))]


class TestRecord:
    def run(self, **options: Any) -> SquadRun:
        return Squad(problems(6), "rtaa", 300, **options).run()

    def test_json_has_the_record_of_the_squad(self) -> None:
        told, run = document(*NEAR, "--units", "6"), self.run()
        assert (told["units"], told["allowance"], told["rule"]) == (6, 300, "equal")
        assert told["settings"]["lookahead"] == 50
        for name in ("ticks", "arrivals", "sum_of_costs", "spread", "work_p99", "work_worst"):
            assert told[name] == getattr(run, name), name
        for name in ("arrival", "cost", "optimal", "first_move", "stays", "waits", "overruns"):
            assert told[name] == getattr(run, name).tolist(), name
        assert told["suboptimality"] == run.suboptimality.mean()
        assert told["memory_bytes"] > 0
        assert 0 < told["ms_p99"] <= told["ms_worst"]
        assert told["starts"] == [list(problem.start) for problem in problems(6)]

    @pytest.mark.parametrize(
        ("options", "settings"),
        [
            (["--rule", "nearest", "--allowance", "40"], {"rule": "nearest", "allowance": 40}),
            (["--blocking", "--push"], {"blocking": True, "push": True}),
            (["--seed", "3"], {"seed": 3}),
        ],
    )
    def test_the_options_are_those_of_a_squad(self, options: list[str], settings: dict[str, Any]) -> None:
        told = document(*NEAR, "--units", "6", *options)
        allowance, seed = settings.pop("allowance", 300), settings.pop("seed", 0)
        run = Squad(problems(6, seed), "rtaa", allowance, seed=seed, **settings).run()
        assert (told["ticks"], told["cost"], told["waits"]) == (run.ticks, run.cost.tolist(), run.waits.tolist())
        assert settings.items() <= told.items()

    @pytest.mark.parametrize("shared", [False, True])
    def test_units_in_fog_share_what_they_see_on_demand(self, shared: bool) -> None:
        told = document(*NEAR, "--units", "6", "--vision", "2", *["--shared-fog"] * shared)
        run = Squad(problems(6, vision=2), "rtaa", 300, shared_fog=shared).run()
        assert (told["vision"], told["shared_fog"], told["ticks"]) == (2, shared, run.ticks)
        assert told["cost"] == run.cost.tolist()

    def test_the_map_changes_alike_for_all_units(self, tmp_path: Path) -> None:
        changes = tmp_path / "walls.csv"
        changes.write_text("time,x,y,free\n0,30,30,0\n3,30,30,1\n")
        assert document(*NEAR, "--units", "6", "--changes", str(changes))["changes"] == 2

    def test_the_summary_has_a_line_for_every_part_of_it(self) -> None:
        first, *lines = play(*NEAR, "--units", "6").stdout.splitlines()
        run = self.run()
        assert first == f"6 x rtaa lookahead=50 on rooms-64: 6 of 6 arrived, {run.ticks} ticks"
        assert [line[2:12].strip() for line in lines] == ["cost", "first step", "stays", "work", "time", "memory"]
        assert f"{run.suboptimality.mean():.3f} times the optimal, spread {run.spread:.3f}" in lines[0]
        assert lines[3].endswith(f"{run.work_worst:,} in the worst, 300 allowed")

    def test_a_squad_that_does_not_arrive_has_no_quality(self) -> None:
        told = document("rooms-64", "--units", "2", "--optimal", "40..60", "--max-moves", "3", "--agent", "rtaa")
        assert (told["arrivals"], told["ticks"], told["suboptimality"], told["spread"]) == (0, 3, None, None)
        assert told["arrival"] == [-1, -1]


class TestMoments:
    def watch(self, squad: Squad, max_ticks: int = 100) -> list[SquadMoment]:
        return list(SquadPlayback(squad, max_ticks).moments())

    def test_they_are_the_ticks_of_the_same_squad(self) -> None:
        run = Squad(problems(6), "rtaa", 300).run()
        moments = self.watch(Squad(problems(6), "rtaa", 300))
        assert [moment.moves for moment in moments] == list(range(run.ticks + 1))
        assert [moment.work for moment in moments[1:]] == run.work.tolist()
        assert [moment.outcome for moment in moments] == [None] * run.ticks + ["goal"]
        assert moments[-1].arrived == 6

    def test_those_that_stand_still_are_counted_where_the_record_counts_them(self) -> None:
        squad = Squad(corridor(), "astar", blocking=True)
        moments = self.watch(squad, 12)
        still = sum(moment.still.astype(int) for moment in moments)
        assert moments[-1].outcome == "out of moves"
        assert still.tolist() == squad.record().stays.tolist()
        assert still.sum() > 0

    def test_those_that_were_given_nothing_are_counted_where_the_record_counts_them(self) -> None:
        squad = Squad(problems(6), "rtaa", 50, rule="round-robin", lookahead=50)
        moments = self.watch(squad)
        assert sum(moment.unserved for moment in moments) == squad.record().waits.sum() > 0

    def test_a_scene_shows_who_stands_still(self) -> None:
        playback = SquadPlayback(Squad(corridor(), "astar", blocking=True), 12)
        for moment in playback.moments():
            units = playback.scene(moment, "words").units
            assert units is not None
            assert units.still.tolist() == moment.still.tolist()
            assert units.positions.tolist() == playback.squad.positions.tolist()

    def test_a_caption_has_tick_arrivals_work_and_who_waits(self) -> None:
        run = Squad(problems(6), "rtaa", 300).run()
        moment = SquadMoment(4, 2, 1234, np.array([True, False, True]), 1)
        expected = (
            f"rtaa · tick 4 of {run.ticks} · 2 of 6 arrived · work 1,234 of 1,600 · 2 stand still, 1 without a share"
        )
        assert squad_caption("rtaa", moment, run, 1600) == expected
        quiet = SquadMoment(4, 2, 30, np.zeros(3, bool), 0)
        assert squad_caption("rtaa", quiet, run, 1600).endswith(" · work 30 of 1,600")

    def test_a_caption_of_the_end_says_how_it_ended(self) -> None:
        run = Squad(problems(6), "rtaa", 300).run()
        end = SquadMoment(run.ticks, 6, 0, np.zeros(6, bool), 0, outcome="goal")
        ratio = run.suboptimality.mean()
        assert squad_caption("x", end, run, 300) == f"x · all arrived · {run.ticks} ticks · {ratio:.2f} x optimal"
        cut = SquadMoment(run.ticks, 2, 0, np.zeros(6, bool), 0, outcome="out of moves")
        words = f"x · tick {run.ticks} of {run.ticks} · 2 of 6 arrived · work 0 of 300"
        assert squad_caption("x", cut, run, 300) == words


class TestPictures:
    def test_a_film_has_a_frame_for_every_tick(self, tmp_path: Path) -> None:
        path = tmp_path / "squad.gif"
        told = document(*NEAR, "--units", "6", "--save", str(path))
        assert told["files"] == [str(path)]
        with Image.open(path) as picture:
            assert picture.n_frames == told["ticks"] + 1

    def test_the_last_picture_shows_units_on_their_goals(self, tmp_path: Path) -> None:
        path = tmp_path / "squad.png"
        told = document(*NEAR, "--units", "6", "--save", str(path))
        with Image.open(path) as picture:
            image = np.asarray(picture.convert("RGB"))
        for number, (x, y) in enumerate(told["goals"]):
            assert tuple(image[10 * y + 5, 10 * x + 5]) == palette.UNITS[number]

    def test_a_zoom_follows_the_first_unit(self, tmp_path: Path) -> None:
        path = tmp_path / "squad.png"
        play(*NEAR, "--units", "6", "--zoom", "1", "--save", str(path))
        with Image.open(path) as picture:
            assert picture.convert("RGB").getpixel((320, 320)) == palette.UNITS[0]

    def test_it_is_drawn_in_the_terminal_with_a_line_of_state(self, monkeypatch: pytest.MonkeyPatch) -> None:
        if not hasattr(os, "openpty"):
            pytest.skip("this system has no pseudo-terminals")
        seen = in_terminal(monkeypatch, "--blocking", "--units", "6")
        assert re.search(r"rtaa lookahead=50 · tick 2 of \d+ · \d of 6 arrived · work \d+ of 300", seen)
        plain = re.sub(r"\x1b\[[0-9;]*m", "", seen)
        assert "○" in plain
        assert all(number in plain for number in "012345")
        assert "\x1b[?1049l" in seen
        assert seen.rstrip().endswith("MB")


def in_terminal(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """Return what the command writes to a terminal of 100 x 40 characters."""
    master, slave = os.openpty()
    for name, value in {"COLUMNS": "100", "LINES": "40", "TERM": "xterm-256color", "COLORTERM": "truecolor"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    seen: list[bytes] = []

    def read() -> None:
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # what Linux says when nobody holds the other end any more
                return
            if not part:
                return
            seen.append(part)

    reader = threading.Thread(target=read)
    reader.start()
    with os.fdopen(slave, "w", encoding="utf-8") as screen:
        monkeypatch.setattr(sys, "stdout", screen)
        cli.app(["play", *NEAR, "--fps", "50", *arguments], standalone_mode=False)
        monkeypatch.undo()
    reader.join(30)
    os.close(master)
    return b"".join(seen).decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--units", "4", "--start", "5,5", "--goal", "9,9"], "--start and --goal are those of one agent"),
        (["--units", "4", "--goal", "9,9"], "--start and --goal are those of one agent"),
        (["--units", "4", "--budget", "50"], "what units may expand together is --allowance"),
        (["--units", "4", "--step"], "--step tells why one agent moves as it does"),
        (["--units", "4", "--push"], "--push goes with --blocking"),
        (["--units", "4", "--shared-fog"], "--shared-fog goes with --vision"),
        (["--units", "4", "--rule", "loudest"], 'rule must be "equal", "round-robin", "nearest", "neediest"'),
        (["--units", "4", "--rule", ""], 'rule must be "equal"'),
        (["--units", "4", "--agent", "lss-lrt"], "did you mean lss-lrta?"),
        (["--units", "4", "--changes", "flood"], "there are no changes 'flood'"),
        (["--units", "4", "--optimal", "5000..6000"], "with an optimal cost from 5000 to 6000"),
        (["--allowance", "100"], "--allowance goes with --units"),
        (["--rule", ""], "--rule goes with --units"),
        (["--rule", "nearest"], "--rule goes with --units"),
        (["--blocking"], "--blocking goes with --units"),
        (["--push"], "--push goes with --units"),
        (["--shared-fog", "--vision", "3"], "--shared-fog goes with --units"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_sentence(
    arguments: list[str], sentence: str, tmp_path: Path
) -> None:
    result = runner.invoke(cli.app, ["play", "rooms-64", "--save", str(tmp_path / "kept.png"), *arguments])
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert sentence in result.stderr
    assert not any(tmp_path.iterdir())


def test_a_map_with_too_little_room_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "small.csv"
    path.write_text("1,1\n1,1\n")
    result = runner.invoke(cli.app, ["play", str(path), "--units", "5"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "rt-gym: no more than 4 problems were found that share no start and no goal\n"


@pytest.mark.parametrize("option", ["--units=0", "--units=10001", "--allowance=0", f"--allowance={10**13}"])
def test_a_number_out_of_range_is_wrong_usage(option: str) -> None:
    result = runner.invoke(cli.app, ["play", "open-16", option])
    assert result.exit_code == 2
    assert option.split("=")[0] in result.stderr


def test_a_class_of_ones_own_leads_units_and_is_blamed_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("squad_members.py").write_text(
        "class Greedy:\n"
        "    def reset(self, view, seed=None):\n"
        "        self.view = view\n"
        "    def act(self):\n"
        "        moves = self.view.expand(self.view.position)\n"
        "        return min(moves, key=lambda move: move[2] + self.view.heuristic(move[1]))[0]\n"
        "class Broken(Greedy):\n"
        "    def act(self):\n"
        "        raise KeyError('lost')\n"
    )
    for options in ([], ["--blocking", "--push"]):
        told = document("open-16", "--units", "3", "--agent", "squad_members.Greedy", *options)
        assert (told["arrivals"], told["suboptimality"]) == (3, pytest.approx(1))
    result = runner.invoke(cli.app, ["play", "open-16", "--units", "3", "--agent", "squad_members.Broken"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "rt-gym: agent squad_members.Broken broke down on open-16 (KeyError: 'lost')\n"

"""``--changes`` by name: what is played, compared and drawn."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import agents
from rt_gym import Grid, InputError, Problem, load_map, sample_problems
from rt_gym.changes import KINDS, scripted_changes
from rt_gym.render import frame, palette, text
from training import cli
from training.cli.playback import FRESH, Playback
from training.runs import Draw, choose_changes, find_courses

runner = CliRunner()
TRIP = ["rooms-64", "--start", "5,5", "--goal", "40,40"]
PROBLEM = Problem(load_map("rooms-64"), (5, 5), (40, 40), vision=3)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def document(*arguments: str) -> dict[str, Any]:
    result = runner.invoke(cli.app, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


class TestPlay:
    @pytest.mark.parametrize("kind", KINDS)
    def test_changes_by_name_are_those_of_the_seed(self, kind: str) -> None:
        told = document("play", *TRIP, "--agent", "dstar-lite", "--vision", "3", "--changes", kind, "--seed", "4")
        changes = scripted_changes(PROBLEM, kind, 4)
        run = agents.run("dstar-lite", replace(PROBLEM, changes=changes), max_moves=10_000, seed=4)
        assert (told["changes"], told["outcome"], told["moves"]) == (len(changes), "goal", run.moves)
        assert told["optimal"] is None

    def test_a_file_is_read_as_for_compare(self) -> None:
        Path("walls.csv").write_text("time,x,y,free\n0,6,6,0\n3,6,6,1\n")
        assert document("play", *TRIP, "--changes", "walls.csv")["changes"] == 2

    @pytest.mark.parametrize(
        ("changes", "part"),
        [
            ("flood", "there are no changes 'flood'; known are bridge, door, blockers, .json and .csv files"),
            ("missing.json", "missing.json: cannot be read"),
        ],
    )
    @pytest.mark.parametrize("command", ["play", "compare"])
    def test_anything_else_is_refused_in_one_sentence(self, command: str, changes: str, part: str) -> None:
        result = runner.invoke(cli.app, [command, "rooms-64", "--changes", changes])
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
        assert part in result.stderr

    def test_a_name_that_does_not_fit_is_refused(self) -> None:
        result = runner.invoke(cli.app, ["play", "maze-63", "--changes", "bridge"])
        assert result.exit_code == 2
        assert "changes bridge do not fit the problem" in result.stderr


class TestCompare:
    def test_every_problem_has_changes_of_its_own(self) -> None:
        few = ("-a", "dstar-lite", "-a", "repeated-astar", "--problems", "4", "--optimal", "25..60", "--jobs", "1")
        found = document("compare", "rooms-64", *few, "--changes", "blockers", "--vision", "2")
        assert {(score["measure"], score["problems"]) for score in found["scores"]} == {("cost", 4)}
        assert len({json.dumps(course["changes"]) for course in found["settings"]["maps"]}) == 4

    def test_problems_that_the_changes_do_not_fit_are_left_out(self) -> None:
        courses = list(find_courses(["caves-128"], Draw(12, 20, 60, seed=1, changes="bridge")))
        problems = sample_problems(load_map("caves-128"), 12, 20, 60, seed=1)
        assert 0 < len(courses) < 12
        assert {(course.tasks[0].start, course.tasks[0].goal) for course in courses} <= {
            (problem.start, problem.goal) for problem in problems
        }
        assert all(course.changes for course in courses)

    def test_a_map_none_of_whose_problems_they_fit_is_refused(self) -> None:
        with pytest.raises(InputError, match="changes bridge do not fit"):
            list(find_courses(["maze-63"], Draw(3, changes="bridge")))

    def test_a_schedule_of_ones_own_is_the_same_for_all_problems(self) -> None:
        Path("walls.csv").write_text("time,x,y,free\n0,30,30,0\n")
        (course,) = find_courses(["rooms-64"], Draw(3, changes=choose_changes("walls.csv")))
        assert (len(course.tasks), len(course.changes)) == (3, 1)
        assert choose_changes(None) == ()


class TestPicture:
    # The wall closes behind the agent and opens again; the door stays open.
    GRID = Grid([[1] * 12, [1] * 12, [0] * 12])
    CHANGES = ((2, (0, 0), False), (9, (0, 0), True), (3, (4, 2), True))

    def scenes(self, vision: int | None) -> list[Any]:
        problem = Problem(self.GRID, (1, 1), (11, 1), vision, self.CHANGES)
        playback = Playback(agents.make("dstar-lite"), problem, None, 100)
        return [playback.scene(moment) for moment in playback.moments()]

    def test_a_change_is_marked_when_it_happens_and_as_long_as_it_lasts(self) -> None:
        marked = [set(map(tuple, scene.changed.tolist())) for scene in self.scenes(None)]
        assert marked[:2] == [set(), set()]
        assert marked[2] == {(0, 0)}
        assert all(each == {(0, 0), (4, 2)} for each in marked[3:9])

    def test_what_is_out_of_sight_is_marked_for_a_while_only(self) -> None:
        marked = [set(map(tuple, scene.changed.tolist())) for scene in self.scenes(1)]
        assert all((0, 0) in each for each in marked[2 : 2 + FRESH])
        assert all((0, 0) not in each for each in marked[2 + FRESH : 9])

    def test_the_mark_is_seen_in_frames_and_in_letters(self) -> None:
        scene = self.scenes(None)[6]
        assert text(scene, colour=False).splitlines()[0][0] == "*"
        tint = np.array(palette.CHANGED)
        image = frame(scene, (240, 120)).astype(int)
        without = frame(replace(scene, changed=np.empty((0, 2))), (240, 120)).astype(int)
        changed = (image != without).any(axis=2)
        assert changed.any()
        nearer = np.abs(image - tint).sum(axis=2) < np.abs(without - tint).sum(axis=2)
        assert nearer[changed].all()

"""Runs moment by moment: what is walked, drawn and told."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import agents
from agents.record import Decision
from rt_gym import STAY, Grid, Problem, View, load_map, sample_problems
from rt_gym.maps.generate import random_obstacles
from rt_gym.render import Scene, close_up, frame, text
from rt_gym.render.film import frame_size
from training import cli
from training.cli.playback import LEGEND, Moment, Playback, caption, tell

POCKET = Grid(
    [
        [1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 1, 0, 1],
        [1, 1, 1, 1, 1, 0, 1],
        [1, 1, 1, 1, 1, 0, 1],
        [1, 0, 0, 0, 0, 0, 1],
        [1, 1, 1, 1, 1, 1, 1],
    ],
    name="pocket",
)
PROBLEM = Problem(POCKET, (1, 3), (6, 3))
EAST = 0


class Walker:
    """Goes east, thinks a little, and explains nothing."""

    def reset(self, view: View, seed: int | None = None) -> None:
        self.view = view

    def act(self) -> int:
        self.view.meter.charge(2)
        return EAST


def watch(agent: Any, problem: Problem = PROBLEM, budget: int | None = None, max_moves: int = 1000) -> list[Moment]:
    return list(Playback(agent, problem, budget, max_moves).moments())


def stories(agent: Any, problem: Problem = PROBLEM, **options: Any) -> list[str]:
    return [tell(moment, problem.goal) for moment in watch(agent, problem, **options)]


@pytest.mark.parametrize("agent_id", agents.ids())
@pytest.mark.parametrize(("budget", "vision"), [(None, None), (10, None), (10, 2)])
def test_every_agent_is_played_as_it_is_run(agent_id: str, budget: int | None, vision: int | None) -> None:
    problem = sample_problems(load_map("rooms-64"), 1, 40, 80, seed=5, vision=vision)[0]
    agent = agents.make(agent_id, budget=budget)
    run = agents.run(agent, problem, budget=budget, max_moves=500)
    moments = watch(agent, problem, budget, 500)
    assert [moment.position for moment in moments] == [tuple(position) for position in run.path.tolist()]
    assert moments[-1].outcome == run.outcome
    assert moments[-1].cost == pytest.approx(run.cost)
    assert sum(moment.expansions for moment in moments) == run.expansions
    assert sum(moment.scans for moment in moments) == run.scans
    assert all(moment.outcome is None and moment.decision for moment in moments[:-1])


@pytest.mark.parametrize(
    ("agent", "budget", "max_moves", "outcome"),
    [("lrta", None, 3, "out of moves"), ("astar", None, 100, "goal"), ("lrta:9", 5, 100, "overrun")],
)
def test_a_run_has_an_end_that_says_how_it_ended(agent: str, budget: int | None, max_moves: int, outcome: str) -> None:
    agent_id, _, depth = agent.partition(":")
    made = agents.make(agent_id, **({"depth": int(depth)} if depth else {}))
    *decisions, end = watch(made, PROBLEM, budget, max_moves)
    assert (end.outcome, end.action, end.decision) == (outcome, None, None)
    assert end.moves == len(decisions) == agents.run(made, PROBLEM, budget=budget, max_moves=max_moves).moves


def test_an_agent_that_finds_itself_walled_in_ends_the_run() -> None:
    cell = Problem(Grid([[1, 0, 1]]), (0, 0), (2, 0), allow_unsolvable=True)
    assert [moment.outcome for moment in watch(agents.make("astar"), cell)] == ["no path"]
    assert "no way to the goal known" in stories(agents.make("astar"), cell)[-1]


def test_a_start_on_the_goal_is_one_moment() -> None:
    assert [moment.outcome for moment in watch(agents.make("lrta"), Problem(POCKET, (2, 2), (2, 2)))] == ["goal"]


def test_unit_costs_are_counted_as_such() -> None:
    problem = Problem(POCKET.replace(cost="unit"), (1, 3), (6, 3))
    agent = agents.make("lss-lrta", lookahead=5)
    assert watch(agent, problem)[-1].cost == agents.run(agent, problem).cost == watch(agent, problem)[-1].moves


def test_moments_are_due_at_regular_distances_and_at_the_end() -> None:
    moments = watch(agents.make("lss-lrta", lookahead=5))
    due = [moment.moves for moment in moments if moment.due(4)]
    assert due == [*range(0, len(moments) - 1, 4), *([len(moments) - 1] if (len(moments) - 1) % 4 else [])]


class TestScenes:
    def test_the_search_stays_in_view_while_its_plan_is_followed(self) -> None:
        playback = Playback(agents.make("lss-lrta", lookahead=8), PROBLEM, None, 100)
        shown = [(moment, playback.scene(moment).layers["expanded"]) for moment in playback.moments()]
        planned = [moment.decision is not None and moment.decision.planned for moment, _ in shown]
        assert planned[:3] == [True, False, False]
        assert shown[0][1].tolist() == shown[1][1].tolist() == shown[2][1].tolist()
        assert len(shown[0][1]) == shown[0][0].expansions == 8

    def test_what_a_plan_heads_for_is_marked_unless_it_is_the_goal_or_the_next_cell(self) -> None:
        playback = Playback(agents.make("lss-lrta", lookahead=8), PROBLEM, None, 100)
        for moment in playback.moments():
            marked = playback.scene(moment).layers["subgoals"].tolist()
            target = moment.decision.target if moment.decision else None
            near = target is None or max(abs(target[0] - moment.position[0]), abs(target[1] - moment.position[1])) < 2
            assert marked == ([] if near or target in (None, PROBLEM.goal) else [list(target)])

    def test_a_scene_shows_the_moment_and_the_trail_up_to_it(self) -> None:
        playback = Playback(agents.make("lrta"), PROBLEM, None, 100)
        run = agents.run("lrta", PROBLEM)
        for number, moment in enumerate(playback.moments()):
            scene = playback.scene(moment, "words")
            assert scene.trail.tolist() == run.path[: number + 1].tolist()
            assert (scene.position, scene.start, scene.goal) == (moment.position, (1, 3), (6, 3))
            assert (scene.known, scene.caption) == (None, "words")

    def test_fog_lifts_as_the_agent_walks(self) -> None:
        playback = Playback(agents.make("lss-lrta"), replace(PROBLEM, vision=1), None, 100)
        seen = [int(playback.scene(moment).known.sum()) for moment in playback.moments()]
        assert seen[0] == 9
        assert seen == sorted(seen)
        assert seen[-1] > seen[0]

    def test_an_agent_with_nothing_to_draw_is_drawn_alone(self) -> None:
        playback = Playback(Walker(), PROBLEM, None, 2)
        layers = [playback.scene(moment).layers for moment in playback.moments()]
        assert [sorted(name for name, layer in shown.items() if len(layer)) for shown in layers] == [[], [], []]


class TestCloseUp:
    def scene(self) -> Scene:
        playback = Playback(agents.make("lss-lrta", lookahead=12), PROBLEM, None, 100)
        return playback.scene(next(playback.moments()), "words")

    def test_it_holds_what_is_around_the_agent(self) -> None:
        whole, part = self.scene(), close_up(self.scene(), 3)
        assert part.passable.tolist() == whole.passable[2:5, 0:3].tolist()
        assert part.layers["h"].tolist() == whole.layers["h"][2:5, 0:3].tolist()
        assert (part.position, part.start, part.caption) == ((1, 1), (1, 1), "words")
        near = {(x, y - 2) for x, y in whole.layers["expanded"].tolist() if x < 3 and 2 <= y < 5}
        assert {tuple(position) for position in part.layers["expanded"].tolist()} == near

    def test_a_goal_out_of_sight_is_at_the_edge(self) -> None:
        assert close_up(self.scene(), 3).goal == (2, 1)
        assert close_up(self.scene(), 100).goal == (6, 3)

    def test_the_whole_map_is_the_largest(self) -> None:
        assert text(close_up(self.scene(), 10**9), 80, 24) == text(self.scene(), 80, 24)

    @pytest.mark.parametrize("cells", [1, 2, 5])
    def test_it_can_be_drawn(self, cells: int) -> None:
        assert len(text(close_up(self.scene(), cells), 20, 10, colour=False).splitlines()) <= 10


class TestWords:
    def test_a_plan_is_told_with_its_choice_and_its_lesson(self) -> None:
        # East and twice north-east cost 3.83; from (4, 1) two diagonal steps, 2.83, would be left on open ground.
        assert stories(agents.make("lss-lrta", lookahead=8))[0] == (
            "Move 1: it stands on (1, 3) and goes east after 8 expansions and 22 scans."
            " It chose the frontier state (4, 1) with g 3.83 and f 6.66; 2 moves of the plan will be left."
            " Its value of (1, 3) rises from 5 to 6.66."
        )

    def test_the_numbers_are_those_of_the_decision(self) -> None:
        moments = watch(agents.make("lss-lrta", lookahead=8))
        decision = moments[0].decision
        assert decision is not None
        assert f"with g {decision.g:.2f} and f {decision.f:.2f}; {decision.committed} moves" in tell(moments[0], (6, 3))

    def test_following_a_plan_is_told_as_such(self) -> None:
        assert stories(agents.make("lss-lrta", lookahead=8))[1] == (
            "Move 2: it stands on (2, 3) and goes north-east. It follows its plan to (4, 1);"
            " 1 move of the plan will be left."
        )

    def test_a_search_that_needs_more_moves_says_so(self) -> None:
        first = stories(agents.make("astar"), budget=4)[0]
        assert first == (
            "Move 1: it stands on (1, 3) and stands still after 4 expansions and 4 scans."
            " Its search is not finished and goes on with the next move."
        )

    def test_a_found_goal_is_told_with_its_cost(self) -> None:
        first = stories(agents.make("astar"))[0]
        optimal = PROBLEM.optimal
        assert f"It found the goal (6, 3) with g {optimal:.2f} and f {optimal:.2f}; " in first
        assert "value" not in first

    def test_the_end_is_told_with_moves_and_cost(self) -> None:
        run = agents.run("astar", PROBLEM)
        last = stories(agents.make("astar"))[-1]
        assert (
            last == f"The end: it stands on (6, 3) after {run.moves} moves at a cost of {run.cost:.2f}, goal reached."
        )

    def test_an_agent_that_explains_nothing_is_told_by_what_it_does(self) -> None:
        first = stories(Walker(), max_moves=2)[0]
        assert first == "Move 1: it stands on (1, 3) and goes east after 2 expansions and 2 scans."

    def test_an_agent_that_explains_little_is_told_as_far_as_it_goes(self) -> None:
        decision = Decision((1, 3), EAST, True, 0, None, None, None, None, None)
        moment = Moment(4, (1, 3), 4.0, EAST, decision, 1, 1)
        assert tell(moment, (6, 3)) == "Move 5: it stands on (1, 3) and goes east after 1 expansion and 1 scan."
        follows = replace(moment, decision=replace(decision, planned=False), expansions=0, scans=0)
        assert tell(follows, (6, 3)) == "Move 5: it stands on (1, 3) and goes east. It follows its plan."

    @pytest.mark.parametrize("agent_id", agents.ids())
    def test_every_move_of_every_agent_makes_sentences(self, agent_id: str) -> None:
        for moment, story in zip(watch(agents.make(agent_id)), stories(agents.make(agent_id)), strict=True):
            assert story.startswith("The end: " if moment.outcome else f"Move {moment.moves + 1}: ")
            assert story.endswith(".")
            assert "None" not in story

    def test_the_legend_explains_the_letters(self) -> None:
        assert all(f" {letter} is " in LEGEND for letter in "gf")

    def test_a_caption_has_the_agent_the_move_the_cost_and_the_expansions(self) -> None:
        run = agents.run("lss-lrta", PROBLEM, lookahead=8)
        moments = watch(agents.make("lss-lrta", lookahead=8))
        assert caption("lss", moments[0], run) == f"lss · move 1 of {run.moves} · cost 0 · 8 expansions"
        end = f"lss · goal reached · {run.moves} moves · cost {run.cost:.2f} · {run.suboptimality:.2f} x optimal"
        assert caption("lss", moments[-1], run) == end


@pytest.mark.parametrize(
    ("columns", "rows", "zoom", "size"),
    [
        (64, 64, None, (640, 688)),
        (16, 16, None, (640, 688)),
        (512, 512, None, (512, 592)),
        (2000, 1000, None, (640, 368)),
        (1000, 1, None, (640, 192)),
        (1, 1000, None, (320, 720)),
        (512, 512, 20, (640, 688)),
        (10, 5, 20, (640, 368)),
    ],
)
def test_frames_fit_the_map_and_a_codec(columns: int, rows: int, zoom: int | None, size: tuple[int, int]) -> None:
    assert frame_size(columns, rows, zoom) == size
    scene = Scene(np.ones((rows, columns), bool), None, (0, 0), (0, 0), (0, 0), np.empty((0, 2)), {}, "words")
    assert frame(scene, size, zoom, legend=True).shape == (size[1], size[0], 3)


def test_standing_still_is_an_action_of_its_own() -> None:
    assert watch(agents.make("astar"), budget=4)[0].action == STAY


class TestWindow:
    @pytest.mark.parametrize("agent_id", ["lss-lrta", "lrta-k", "astar"])
    @pytest.mark.parametrize("side", [64, 800])  # in an array, and in pages
    def test_it_shows_what_a_part_of_the_whole_scene_shows(self, agent_id: str, side: int) -> None:
        grid = random_obstacles(side, side, 0.35, seed=2)
        problem = sample_problems(grid, 1, 30, 40, seed=1)[0]
        whole, near = (Playback(agents.make(agent_id), problem, 50, 500, window=window) for window in (None, 21))
        for moment, _ in zip(whole.moments(), near.moments(), strict=True):
            one, other = close_up(whole.scene(moment), 21), near.scene(moment)
            assert other.passable.shape == (21, 21)
            for name in ("passable", "trail"):
                assert np.array_equal(getattr(one, name), getattr(other, name))
            assert (one.position, one.start, one.goal) == (other.position, other.start, other.goal)
            assert {name: layer.tolist() for name, layer in one.layers.items()} == {
                name: layer.tolist() for name, layer in other.layers.items()
            }

    def test_a_huge_map_is_shown_in_one_unless_more_is_asked_for(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        command = ["play", "rooms-64", "--start", "5,5", "--goal", "20,20", "--save"]

        def picture(name: str, *options: str) -> bytes:
            result = CliRunner().invoke(cli.app, [*command, str(tmp_path / name), *options])
            assert result.exit_code == 0, result.output
            return (tmp_path / name).read_bytes()

        whole = picture("whole.png")
        shown = import_module("training.cli.play")
        monkeypatch.setattr(shown, "_MOST_SHOWN", 64 * 64 - 1)
        monkeypatch.setattr(shown, "_CLOSE", 20)
        assert picture("huge.png") == picture("near.png", "--zoom", "20") != whole
        assert picture("all.png", "--zoom", "64") == whole

"""Agents with stored actions or values: optimal without abstraction, and lost with it, as the paper says."""

import numpy as np
import pytest

import agents
from reference.checks import some_problems
from reference.small_maps import drawn
from rt_gym import Budget, Change, Grid, InputError, Problem, sample_problems
from rt_gym.maps.generate import generate
from training.experiments.dc.stored import StoredActions, StoredValues
from training.runs.contenders import load_agent, make_agent

# Two tiles of four by four. The representative of the left one is (1,1), that of the right one (5,1).
WALLED = drawn("........", "........", "...#....", "...#....")
GOAL = (6, 2)
BOTH = [StoredActions, StoredValues]
both = pytest.mark.parametrize("kind", BOTH)


def path_of(run: agents.Run) -> list[tuple[int, int]]:
    return [(int(x), int(y)) for x, y in run.path]


@both
def test_without_abstraction_every_path_is_optimal(kind: type) -> None:
    for problem in some_problems(1, 30, 14):
        run = agents.run(kind(level=0), problem, max_moves=500)
        assert run.solved
        assert run.cost == pytest.approx(problem.optimal)


class TestActions:
    def test_the_action_of_the_representative_leads_to_the_goals_region(self) -> None:
        # East from (1,1), so east from every cell of the tile. From (4,1) LRTA* goes over (5,2), 1 + r, or over (5,1),
        # which costs as much: the longer step first.
        run = agents.run(StoredActions(2, "tiles"), Problem(WALLED, (0, 1), GOAL))
        assert path_of(run) == [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (5, 2), GOAL]
        assert run.expansions == run.moves == 6

    def test_it_stands_still_for_good_where_that_action_leads_into_a_wall(self) -> None:
        # Figure 2, left: east of (2,3) is a wall that the representative does not see.
        run = agents.run(StoredActions(2, "tiles"), Problem(WALLED, (2, 3), GOAL), max_moves=1000)
        assert run.outcome == "out of moves"
        assert run.stays == run.moves == 1000
        assert agents.run("pdb-lrta", run.problem, level=2, abstraction="tiles").solved

    def test_it_goes_in_circles_where_two_regions_send_it_to_each_other(self) -> None:
        grid = generate("rooms", width=49, height=49, room=6, doors=0.8, seed=1)
        problems = sample_problems(grid, 20, 10, seed=3)
        runs = [agents.run(StoredActions(1), problem, max_moves=1000) for problem in problems]
        assert any(run.outcome == "out of moves" and run.stays == 0 for run in runs)

    def test_on_open_ground_it_arrives(self) -> None:
        for problem in sample_problems(Grid(np.ones((16, 16))), 30, seed=2):
            assert agents.run(StoredActions(2, "tiles"), problem, max_moves=500).solved


class TestValues:
    # Three tiles, the goal in the left one. In the right one, whose value is 8, east comes first, then south; in the
    # corner (11,3) neither is possible: west, and east again.
    PROBLEM = Problem(Grid(np.ones((4, 12))), (10, 1), (1, 1))

    def test_without_learning_it_has_no_sense_of_direction(self) -> None:
        run = agents.run(StoredValues(2, "tiles"), self.PROBLEM, max_moves=1000)
        assert path_of(run)[:6] == [(10, 1), (11, 1), (11, 2), (11, 3), (10, 3), (11, 3)]
        assert run.outcome == "out of moves"
        assert set(path_of(run)[3:]) == {(11, 3), (10, 3)}

    def test_with_learning_it_arrives(self) -> None:
        assert agents.run(StoredValues(2, "tiles", learn=True), self.PROBLEM, max_moves=1000).solved
        for problem in some_problems(3, 30, 14):
            assert agents.run(StoredValues(2, learn=True), problem, max_moves=20_000).solved

    def test_it_expands_one_state_per_move(self) -> None:
        run = agents.run(StoredValues(2, learn=True), self.PROBLEM)
        assert run.max_expansions == 1
        assert run.expansions == run.moves


class TestRules:
    @both
    def test_a_comparison_takes_it_by_its_name(self, kind: type) -> None:
        name = f"training.experiments.dc.stored.{kind.__name__}"
        assert load_agent(name).precomputes
        assert make_agent(name, {"level": 2, "abstraction": "tiles"}).level == 2

    @both
    def test_to_prepare_is_timed_and_not_charged(self, kind: type) -> None:
        run = agents.run(kind(1), Problem(WALLED, (0, 1), GOAL), budget=Budget(1), max_moves=50)
        assert run.precompute_seconds > 0
        assert run.max_expansions <= 1
        assert not run.overrun

    @both
    @pytest.mark.parametrize("vision", [None, 1])
    def test_every_move_is_legal_in_fog_and_on_maps_that_change(self, kind: type, vision: int | None) -> None:
        for problem in some_problems(4, 10, 10, vision):
            walls = [(int(x), int(y)) for y, x in np.argwhere(~problem.grid.passable)][:3]
            opened = [Change(2, cell, True) for cell in walls]
            changed = Problem(problem.grid, problem.start, problem.goal, vision, opened)
            run = agents.run(kind(1), changed, max_moves=200)
            assert run.outcome in ("goal", "out of moves")

    @both
    def test_wrong_settings_are_refused_by_name(self, kind: type) -> None:
        for settings, name in (({"level": -1}, "level"), ({"abstraction": "hexagons"}, "abstraction")):
            with pytest.raises(InputError, match=f"^{name} must be"):
                kind(**settings)
        with pytest.raises(InputError, match=r"^learn must be"):
            StoredValues(learn=1)

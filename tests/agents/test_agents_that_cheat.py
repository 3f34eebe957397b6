"""Agents in Python that write to what they are handed, turn back their meter, teleport, or read without paying."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import agents
from reference.small_maps import drawn
from rt_gym import Budget, Fault, InputError, Problem, View, World
from rt_gym.terrain import Terrain

EAST = 0
CORRIDOR = Problem(drawn("......"), (0, 0), (5, 0))
WALL = Problem(drawn("...", ".#.", "..."), (0, 1), (2, 1))

Deed = Callable[[View], Any]


class East:
    """Walks east, after it has done something with its view."""

    def __init__(self, deed: Deed) -> None:
        self.deed = deed

    def reset(self, view: View, seed: int | None = None) -> None:
        self.view = view

    def act(self) -> int:
        self.deed(self.view)
        return EAST


def arrays_of(view: View) -> list[np.ndarray]:
    return [view.passable, view.known, view.as_grid().passable, *view.as_grid().terrain]


class TestMaps:
    @pytest.mark.parametrize("vision", [None, 1])
    def test_no_array_of_a_view_can_be_made_writeable(self, vision: int | None) -> None:
        problem = replace(WALL, vision=vision)
        for array in arrays_of(problem.view()):
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.flags.writeable = True

    def test_no_array_of_a_grid_can_be_made_writeable_not_even_by_its_base(self) -> None:
        grid = WALL.grid
        for array in (grid.passable, grid.labels, *grid.terrain, *grid.open_ground):
            bases = [array]
            while isinstance(bases[-1], np.ndarray):
                with pytest.raises(ValueError, match="WRITEABLE"):
                    bases[-1].flags.writeable = True
                bases.append(bases[-1].base)
            assert isinstance(bases[-1], bytes)

    def test_the_map_that_a_view_gives_away_is_not_the_one_that_others_use(self) -> None:
        grid = WALL.view().as_grid()
        assert grid == WALL.grid
        assert grid is not WALL.grid

    def test_an_agent_that_breaks_into_its_view_still_cannot_move_walls(self) -> None:
        def open_everything(view: View) -> None:
            view._inside.terrain.mask[:] = 255

        with pytest.raises(ValueError, match="read-only"):
            agents.run(East(open_everything), WALL)
        assert agents.run("astar", WALL).cost == WALL.optimal == 4

    def test_a_view_hands_out_neither_terrain_nor_trip(self) -> None:
        view = WALL.view()
        handed_out = [getattr(view, name) for name in dir(view) if not name.startswith("_")]
        assert not [part for part in handed_out if isinstance(part, (Terrain, tuple)) and hasattr(part, "_fields")]

    @pytest.mark.parametrize("name", ["goal", "start", "position", "vision", "meter", "moves", "terrain", "anything"])
    def test_nothing_of_a_view_can_be_set(self, name: str) -> None:
        with pytest.raises(InputError, match=f"view.{name} cannot be set"):
            setattr(WALL.view(), name, (2, 1))

    def test_a_painter_can_be_set_as_ever(self) -> None:
        world = World(WALL)
        world.view.painter = dict
        assert world.view.painter is world.kernel_view.painter is dict


def turn_back(view: View) -> None:
    view.meter.charge(3)
    view._inside.trip.meter["expansions"] = 0


def hide_scans(view: View) -> None:
    view.meter.scan(3)
    view._inside.trip.meter["scans"] = 1


def lift_limit(view: View) -> None:
    view._inside.trip.meter["limit"] = 1 << 40


def teleport(view: View) -> None:
    view._inside.trip.state["at"] = view._inside.goal_cell - 1


def add_stays(view: View) -> None:
    view._inside.trip.tally["stays"] = 1


class TestTheWorldsOwn:
    @pytest.mark.parametrize("deed", [turn_back, hide_scans, lift_limit, teleport, add_stays])
    def test_what_only_the_world_writes_is_sealed_while_an_agent_thinks(self, deed: Deed) -> None:
        with pytest.raises(Fault, match="before move 1 the agent has changed its position, its meter or its totals"):
            agents.run(East(deed), CORRIDOR, budget=10)

    def test_an_honest_agent_and_one_that_asks_another_are_left_alone(self) -> None:
        class Wrapped(East):
            def reset(self, view: View, seed: int | None = None) -> None:
                super().reset(view, seed)
                self.inner = agents.make("lss-lrta", lookahead=3)
                self.inner.reset(view, seed)

            def act(self) -> int:
                return int(self.inner.act())

        run, ours = agents.run(Wrapped(lambda view: None), WALL), agents.run("lss-lrta", WALL, lookahead=3)
        assert run.path.tolist() == ours.path.tolist()
        assert (run.expansions, run.scans) == (ours.expansions, ours.scans)

    @pytest.mark.parametrize("count", [-1, 0.5, True])
    def test_a_meter_only_goes_up(self, count: Any) -> None:
        meter = CORRIDOR.view(10).meter
        meter.charge(4)
        for spend in (meter.charge, meter.scan):
            with pytest.raises(InputError, match="count must be a whole number"):
                spend(count)
        assert (meter.expansions, meter.scans) == (4, 4)


class TestCosts:
    def test_a_path_below_the_optimum_is_a_fault(self) -> None:
        run = agents.run("astar", CORRIDOR)
        assert run.suboptimality == 1
        with pytest.raises(Fault, match="a path of cost 4 is shorter than the shortest one, of cost 5"):
            _ = replace(run, straights=4).suboptimality

    def test_so_is_one_among_several_trials(self) -> None:
        run = agents.run("lrta", CORRIDOR, trials=3)
        short = replace(run.trials[1], straights=1)
        with pytest.raises(Fault, match="shorter than the shortest one"):
            replace(run, trials=(run.trials[0], short, run.trials[2])).check_cost()

    def test_a_run_that_was_cut_may_have_cost_less(self) -> None:
        run = agents.run("astar", CORRIDOR, max_moves=2)
        run.check_cost()
        assert run.cost == 2

    def test_where_the_map_changes_there_is_no_optimum_to_fall_below(self) -> None:
        run = agents.run("astar", replace(WALL, changes=[(0, (1, 1), True)]))
        run.check_cost()
        assert (run.solved, run.cost) == (True, 2)


READS: dict[str, Deed] = {
    "passable": lambda view: view.passable,
    "known": lambda view: view.known,
    "as_grid": lambda view: view.as_grid(),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
class TestReadingTheWholeMap:
    def test_it_is_an_expansion_of_every_cell(self, read: Deed) -> None:
        run = agents.run(East(read), CORRIDOR)
        assert (run.expansions, run.scans, run.max_expansions) == (30, 30, 6)

    @pytest.mark.parametrize("count", ["expansions", "scans"])
    def test_it_is_refused_where_the_limit_leaves_no_room(self, count: str, read: Deed) -> None:
        with pytest.raises(InputError, match="counts as an expansion of each of its 6 cells, for which a limit of 5"):
            agents.run(East(read), CORRIDOR, budget=Budget(5, count))

    def test_it_is_counted_against_a_limit_with_room(self, read: Deed) -> None:
        run = agents.run(East(read), CORRIDOR, budget=6)
        assert (run.max_expansions, run.overrun) == (6, False)

    def test_a_budget_may_allow_it(self, read: Deed) -> None:
        run = agents.run(East(read), CORRIDOR, budget=Budget(5, free_reads=True))
        assert (run.solved, run.expansions) == (True, 0)


def test_a_position_outside_the_map_is_refused() -> None:
    view = CORRIDOR.view()
    for read in (view.expand, view.neighbours, view.heuristic):
        with pytest.raises(InputError, match=r"position \(9, 0\) lies outside the map of 6 x 1"):
            read((9, 0))

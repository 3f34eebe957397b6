"""Squads: a squad of one is a run, agents of all kinds, threads, maps that are edited, records and refusals."""

from typing import Any

import numpy as np
import pytest
from numba import config

import agents
from reference.contract import path_of, random_problems
from reference.settings import settings_of
from reference.small_maps import ROOMS, drawn
from rt_gym import STAY, Budget, Grid, InputError, Problem, Squad, View, generate, load_map, sample_problems
from rt_gym.search.paged_values import PagedValues

LIMIT, MOST = 60, 400
# Every algorithm has a kernel of its own to be compiled; without the compiler all are compared.
COMPARED = agents.ids() if config.DISABLE_JIT else ["rtaa", "tba", "dstar-lite", "rule-lrta"]


class Greedy:
    """Steps to the neighbour with the smallest heuristic, one expansion a move."""

    def reset(self, view: View, seed: int | None = None) -> None:
        self.view = view

    def act(self) -> int:
        moves = self.view.expand(self.view.position)
        assert moves is not None
        return min(moves, key=lambda move: self.view.heuristic(move[1]))[0]


def units_of(grid: Grid, count: int, seed: int = 0, **options: Any) -> list[Problem]:
    """Return problems whose starts and whose goals differ."""
    free = [(int(x), int(y)) for y, x in np.argwhere(grid.passable)]
    rng = np.random.default_rng(seed)
    starts, goals = rng.permutation(len(free))[:count], rng.permutation(len(free))[:count]
    return [Problem(grid, free[a], free[b], **options) for a, b in zip(starts, goals, strict=True)]


def walked(squad: Squad, ticks: int) -> list[list[tuple[int, int]]]:
    """Return the path of every unit."""
    paths = [[tuple(map(int, place))] for place in squad.positions]
    while not squad.done and squad.ticks < ticks:
        squad.tick()
        for path, place in zip(paths, squad.positions, strict=True):
            path.append(tuple(map(int, place)))
    return paths


class TestASquadOfOne:
    @pytest.mark.parametrize("vision", [None, 2])
    @pytest.mark.parametrize("changing", [False, True])
    @pytest.mark.plain
    @pytest.mark.parametrize("agent_id", COMPARED)
    def test_walks_as_a_run_does(self, agent_id: str, vision: int | None, changing: bool) -> None:
        settings = settings_of(agent_id)[0]
        for problem in random_problems(11, 4, vision, changing):
            run = agents.run(agent_id, problem, budget=Budget(LIMIT, on_overrun="idle"), max_moves=MOST, **settings)
            squad = Squad([problem], [agents.make(agent_id, budget=LIMIT, **settings)], LIMIT)
            (path,) = walked(squad, run.moves)
            assert path == path_of(run)
            record = squad.record()
            assert record.cost[0] == pytest.approx(run.cost)
            assert record.stays[0] == run.stays
            # A run that ends without a path has paid for finding that out; the squad has not come to it yet.
            if run.solved:
                assert record.work.sum() == run.expansions
                assert record.work.max(initial=0) == run.max_expansions

    def test_is_fitted_to_its_allowance_as_a_run_is_to_its_budget(self) -> None:
        problem = sample_problems(load_map("terrain-96"), 1, seed=3)[0]
        run = agents.run("lss-lrta", problem, budget=Budget(35, on_overrun="idle"))
        assert walked(Squad([problem], "lss-lrta", 35), run.moves)[0] == path_of(run)


class TestManyUnits:
    grid = generate("rooms", width=32, height=32, room=7, doors=0.8, seed=4)

    def test_that_pass_through_each_other_walk_as_they_would_alone(self) -> None:
        problems = units_of(self.grid, 12)
        paths = walked(Squad(problems, "rtaa", 12 * 20, lookahead=20), 5000)
        for problem, path in zip(problems, paths, strict=True):
            alone = path_of(agents.run("rtaa", problem, lookahead=20))
            assert path[: len(alone)] == alone
            assert set(path[len(alone) :]) <= {problem.goal}

    @pytest.mark.parametrize("rule", ["equal", "nearest"])
    @pytest.mark.parametrize("tie", ["first", "random"])
    def test_are_the_same_with_any_number_of_threads(self, rule: str, tie: str) -> None:
        problems = units_of(self.grid, 17)
        one, two, five = (
            walked(Squad(problems, "rtaa", 100, rule=rule, lookahead=10, tie=tie, seed=7, threads=threads), 200)
            for threads in (1, 2, 5)
        )
        assert one == two == five

    def test_differ_with_the_seed_of_their_ties(self) -> None:
        problems = units_of(self.grid, 8)
        one, two = (walked(Squad(problems, "rtaa", lookahead=10, tie="random", seed=seed), 100) for seed in (0, 1))
        assert one != two

    def test_in_pages_walk_as_with_arrays(self, monkeypatch: pytest.MonkeyPatch) -> None:
        problems = units_of(self.grid, 6)
        dense = Squad(problems, "lss-lrta", 6 * 15)
        monkeypatch.setattr("rt_gym.squad.squad._DENSE", 0)
        paged = Squad(problems, "lss-lrta", 6 * 15)
        assert isinstance(paged.units[0].agent.memory.h, PagedValues)
        assert walked(paged, 500) == walked(dense, 500)

    @pytest.mark.parametrize("blocking", [False, True])
    def test_may_have_an_agent_of_its_own_each(self, blocking: bool) -> None:
        problems = units_of(self.grid, 6)
        chosen = ["rtaa", "tba", agents.make("lrta", depth=2), "dstar-lite", "rtaa", Greedy()]
        squad = Squad(problems, chosen, 600, blocking=blocking)
        record = squad.run(300)
        assert record.arrived[[0, 4]].all()
        assert (record.work <= 600).all()
        assert isinstance(squad.units[5].agent, Greedy)

    def test_an_agent_in_python_spends_from_its_share(self) -> None:
        open_map = Grid(np.ones((9, 9)))
        problems = [Problem(open_map, (0, y), (8, y)) for y in range(4)]
        squad = Squad(problems, [Greedy() for _ in problems], 4)
        record = squad.run(20)
        assert record.arrival.tolist() == [8, 8, 8, 8]
        assert record.work.tolist() == [4] * 8

    def test_that_must_plan_and_get_nothing_stand_still(self) -> None:
        open_map = Grid(np.ones((3, 9)))
        problems = [Problem(open_map, (0, y), (8, y)) for y in range(3)]
        record = Squad(problems, "lrta", 1, rule="round-robin", share=1).run(100)
        assert record.ticks == 24
        assert record.work.tolist() == [1] * 24
        assert sorted(record.first_move.tolist()) == [0, 1, 2]
        assert (record.waits == record.stays).all()
        assert (record.cost == record.moves).all()

    def test_what_scans_take_beyond_the_allowance_the_next_tick_has_less(self) -> None:
        problems = units_of(self.grid, 4)
        # Learning cannot be refused, so that a search of 20 states reads more than 30 neighbours.
        squad = Squad(problems, "lss-lrta", 30, count="scans", rule="round-robin", share=30, lookahead=20)
        record = squad.run(300)
        assert record.work.max() > 30
        spare = np.cumsum(record.work - 30)
        assert spare.max() <= record.work.max()

    @pytest.mark.parametrize("agent_id", ["lss-lrta", "rtaa", "lrta", "lrta-ls-k", "tba"])
    def test_fitted_to_scans_no_tick_takes_more(self, agent_id: str) -> None:
        record = Squad(units_of(self.grid, 5), agent_id, 5 * 40, count="scans").run(300)
        assert 0 < record.work.max() <= 200
        assert not record.overruns.any()


class TestLostUnits:
    def test_a_unit_that_knows_no_way_costs_nothing_more(self) -> None:
        grid = drawn("..#..", "..#..")
        apart = Problem(grid, (0, 0), (4, 0), allow_unsolvable=True)
        near = Problem(grid, (0, 1), (1, 1), allow_unsolvable=True)
        squad = Squad([apart, near], "astar")
        record = squad.run(50)
        assert record.arrived.tolist() == [False, True]
        assert np.count_nonzero(record.work) == 1

    def test_it_goes_on_when_a_way_opens(self) -> None:
        grid = drawn("..#..", "..#..")
        squad = Squad([Problem(grid, (0, 0), (4, 0), allow_unsolvable=True)], "astar")
        for _ in range(3):
            squad.tick()
        squad.set_cell((2, 0), True)
        assert squad.run(10).arrived.all()
        assert not grid.passable[0, 2]


class TestEdits:
    @pytest.mark.parametrize("agent_id", ["rtaa", "dstar-lite", "tba"])
    @pytest.mark.parametrize("vision", [None, 2])
    def test_a_door_that_closes_is_walked_round(self, agent_id: str, vision: int | None) -> None:
        problems = [Problem(ROOMS, (x, 1), (x + 4, 1), vision) for x in range(3)]
        squad = Squad(problems, agent_id, allowance=300)
        squad.set_cell((3, 2), False)
        squad.set_cell((3, 3), True)
        paths = walked(squad, 200)
        assert squad.done
        assert all((3, 2) not in path and (3, 3) in path for path in paths)
        assert ROOMS.passable[2, 3]
        assert not squad.passable[2, 3]

    def test_a_cell_that_closes_under_a_unit_waits(self) -> None:
        grid = Grid(np.ones((3, 5)))
        squad = Squad([Problem(grid, (0, 1), (4, 1))], "rtaa")
        squad.set_cell((0, 1), False)
        assert squad.passable[1, 0]
        squad.tick()
        assert not squad.passable[1, 0]

    @pytest.mark.parametrize("agent_id", ["rtaa", "dstar-lite", "tba", "astar"])
    def test_a_unit_heads_for_its_new_goal(self, agent_id: str) -> None:
        squad = Squad(units_of(ROOMS, 3), agent_id)
        squad.tick()
        squad.set_goal(1, (6, 6))
        assert squad.run(200).arrived.all()
        assert tuple(squad.positions[1]) == (6, 6)

    def test_a_unit_that_has_arrived_sets_out_again(self) -> None:
        squad = Squad([Problem(ROOMS, (0, 0), (1, 0))], "rtaa")
        assert squad.run().arrival.tolist() == [1]
        squad.set_goal(0, (0, 0))
        assert not squad.done
        assert squad.run().arrival.tolist() == [2]


class TestFog:
    def test_what_one_has_seen_all_know_where_fog_is_shared(self) -> None:
        # The second unit stands at the dead end and sees that it is closed; the first one need not go there.
        grid = drawn("#######.", ".......#", "#.#####.", "#.......")
        scout, walker = Problem(grid, (6, 1), (5, 1), vision=1), Problem(grid, (0, 1), (7, 3), vision=1)
        alone = Squad([scout, walker], "astar").run(100)
        told = Squad([scout, walker], "astar", shared_fog=True).run(100)
        assert told.arrived.all()
        assert told.cost[1] < alone.cost[1]

    def test_units_that_share_fog_share_a_map_and_others_do_not(self) -> None:
        problems = units_of(ROOMS, 3, vision=2)
        shared, own = Squad(problems, "rtaa", shared_fog=True), Squad(problems, "rtaa")
        assert len({id(unit.view.terrain) for unit in shared.units}) == 1
        assert len({id(unit.view.terrain) for unit in own.units}) == 3
        assert shared.memory_bytes < own.memory_bytes


class TestRecords:
    def test_what_is_counted(self) -> None:
        grid = Grid(np.ones((5, 5)))
        record = Squad([Problem(grid, (0, 0), (4, 4)), Problem(grid, (2, 2), (2, 2))], "astar").run()
        assert (record.units, record.ticks, record.arrivals) == (2, 4, 2)
        assert record.suboptimality.tolist() == pytest.approx([1.0, 1.0])
        assert record.arrival.tolist() == [4, 0]
        assert record.first_move.tolist() == [0, 4]
        assert record.sum_of_costs == pytest.approx(4 * 2**0.5)
        assert record.work.sum() == record.work_worst == 4
        assert record.seconds.shape == (4,)
        assert record.late(0.0) == 1.0
        assert record.late(1e9) == 0.0
        assert record.memory_bytes > 0

    def test_a_unit_that_never_moves_has_waited_all_the_time(self) -> None:
        grid = drawn(".#.")
        record = Squad([Problem(grid, (0, 0), (2, 0), allow_unsolvable=True)], "rtaa").run(5)
        assert record.first_move.tolist() == [5]
        assert np.isnan(record.spread)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"problems": []}, "a squad needs from 1"),
        ({"problems": 3}, "a squad needs from 1"),
        ({"problems": [Problem(ROOMS, (0, 0), (1, 0)), Problem(Grid([[1, 1]]), (0, 0), (1, 0))]}, "same grid"),
        ({"problems": [Problem(ROOMS, (0, 0), (1, 0)), Problem(ROOMS, (0, 0), (1, 0), 2)]}, "same vision"),
        ({"agent": "rtaaa"}, "there is no agent"),
        ({"agent": 3}, "agent must be an id"),
        ({"agent": ["rtaa"]}, "1 agents for 2 units"),
        ({"agent": [3, 4]}, "needs reset and act"),
        ({"agent": [Greedy()] * 2}, "an agent object of its own"),
        ({"agent": ["rtaa", "rtaa"], "lookahead": 5}, "go with one id"),
        ({"lookahed": 5}, "has no parameter"),
        ({"allowance": 0}, "allowance must be"),
        ({"count": "steps"}, "count must be"),
        ({"rule": "richest"}, "rule must be"),
        ({"share": 0}, "share must be"),
        ({"sight": 0}, "sight must be"),
        ({"push": True}, "push goes with blocking"),
        ({"shared_fog": True}, "shared_fog goes with"),
        ({"blocking": 1}, "blocking must be"),
        ({"seed": -1}, "seed must be"),
        ({"threads": 0}, "threads must be"),
        ({"blocking": True, "problems": [Problem(ROOMS, (0, 0), (1, 0)), Problem(ROOMS, (0, 0), (2, 0))]}, "start"),
        ({"blocking": True, "problems": [Problem(ROOMS, (0, 0), (1, 0)), Problem(ROOMS, (2, 0), (1, 0))]}, "goal"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(wrong: dict[str, Any], message: str) -> None:
    options = {"problems": units_of(ROOMS, 2), "agent": "rtaa"} | wrong
    with pytest.raises(InputError, match=message):
        Squad(**options)


def test_wrong_edits_are_refused() -> None:
    squad = Squad(units_of(ROOMS, 2), "rtaa", blocking=True)
    for position, free in (((99, 0), True), ((0, 0), 1)):
        with pytest.raises(InputError):
            squad.set_cell(position, free)  # type: ignore[arg-type]
    other = tuple(map(int, squad.goals[1]))
    for unit, position in ((2, (0, 0)), (0, (3, 0)), (0, other)):
        with pytest.raises(InputError):
            squad.set_goal(unit, position)


def test_an_action_that_is_none_is_refused() -> None:
    class Wrong(Greedy):
        def act(self) -> int:
            return 8

    with pytest.raises(InputError, match="an action must be"):
        Squad([Problem(ROOMS, (0, 0), (2, 2))], [Wrong()]).tick()


def test_standing_still_is_an_action() -> None:
    class Idle(Greedy):
        def act(self) -> int:
            return STAY

    squad = Squad([Problem(ROOMS, (0, 0), (2, 2))], [Idle()])
    squad.tick()
    assert squad.record().stays.tolist() == [1]

"""Squads of a comparison: the same for all contenders, judged by ticks, arrivals and costs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rt_gym import Change, SquadRun
from training.judge import SquadArena, find, run_squads
from training.judge.advice import advise_squads
from training.judge.findings import Question
from training.judge.speed import Pace
from training.judge.squads import SquadRuns, Team, busy, count_squads, make_teams, share
from training.judge.stats import Estimate
from training.runs import Allowance, Draw, Plan, Workers, enlist_all, find_courses, run_plan

UNITS, TICK = 6, 1e6


@pytest.fixture(scope="module")
def plan() -> Plan:
    contenders = enlist_all(["lss-lrta", "astar"], [Allowance("7 ms", limits={"lss-lrta": 30, "astar": 30})])
    return Plan(tuple(contenders), tuple(find_courses(["rooms-64"], Draw(8, 15, 60))))


@pytest.fixture(scope="module")
def arena(plan: Plan) -> SquadArena:
    return run_squads(plan, UNITS, TICK)


def columns(late: int, ratio: float, first: int = 0, ticks: int = 1000, spread: float = 0.0) -> dict[str, Any]:
    """What a squad of ten units leaves behind that takes so many ticks, some of them of two seconds."""
    costs = 10 * (ratio + spread * np.arange(10))
    units = {"cost": costs, "optimal": np.full(10, 10.0), "arrived": np.ones(10, bool)}
    units |= {name: np.full(10, first) for name in ("first_move", "stays", "waits")} | {"arrival": np.full(10, ticks)}
    squads = {name: np.array([value]) for name, value in (("ticks", ticks), ("units", 10), ("memory_bytes", 1000))}
    spent = {"seconds": np.repeat([2.0, 0.5], [late, ticks - late]), "work": np.ones(ticks, int)}
    parts = (("unit.", units), ("squad.", squads), ("tick.", spent))
    return {prefix + name: array for prefix, part in parts for name, array in part.items()}


def advise(records: Sequence[dict[str, Any]], width: float = 0.0) -> str:
    """Return what is recommended, of agents called a, b and so on, for ticks of a second."""
    (entry,) = (contender.entry for contender in enlist_all(["lrta"], [Allowance("100 ms", limits={"lrta": 30})]))
    named = {entry._replace(agent=chr(97 + k), setting=""): record for k, record in enumerate(records)}
    paces = {one: Pace(30, Estimate(1.0, 1 - width, 1 + width), 0.0, 5) for one in named}
    (advice,) = advise_squads(SquadArena(10, 1000.0, named, np.arange(10), 0, ["a map"]), (), paces)
    sentence = advice.sentence
    return sentence.removeprefix("For 10 units in ticks of 1000 ms: ")


def test_all_problems_are_given_out_in_turn(plan: Plan) -> None:
    (group,) = plan.groups
    teams = make_teams(group, UNITS, seed=5)
    assert {len(team.tasks) for team in teams} == {UNITS}
    assert [task for team in teams for task in team.tasks][:8] == list(group[0].tasks)
    assert teams[1].tasks[2] == group[0].tasks[0]
    assert [team.seed for team in teams] == list(range(5, 5 + len(teams)))
    assert count_squads(plan, UNITS) == 2 * len(teams)


def test_short_ways_make_more_squads() -> None:
    near, far = (list(find_courses(["rooms-64"], Draw(3, *ends))) for ends in ((3, 5), (50, 80)))
    assert len(make_teams(near, 3, 0)) > 2 * len(make_teams(far, 3, 0)) >= 6


def test_units_whose_goal_is_closed_in_the_end_are_left_out(plan: Plan) -> None:
    (course,) = plan.courses
    closed = replace(course, changes=(Change(3, course.tasks[2].goal, False),))
    tasks = {task for team in make_teams([closed], 4, 0) for task in team.tasks}
    assert course.tasks[2] not in tasks
    assert course.tasks[1] in tasks


def test_a_squad_costs_what_its_units_cost_alone_where_the_allowance_is_enough(plan: Plan) -> None:
    free = replace(plan, contenders=plan.contenders[:1])
    (score,) = run_squads(free, 8, TICK).scores.values()
    batch = run_plan(free, workers=Workers(jobs=1)).batches[0]
    assert score.quality is not None
    assert score.quality.value == pytest.approx(float(batch.suboptimality.mean()))


def test_scores_tell_arrivals_delays_stays_and_memory(arena: SquadArena) -> None:
    walker, thinker = arena.scores.values()
    for score in (walker, thinker):
        assert score.arrivals == score.units == score.squads * UNITS
        assert score.memory_bytes > 0
        assert (score.late.value, score.punctual) == (0.0, True)
        assert 0 < score.p99_ms <= score.worst_ms
    assert (walker.first_move, walker.stays) == (0.0, 0.0)
    assert thinker.first_move > 1
    assert thinker.stays > 0


def test_ticks_count_while_half_of_the_units_are_under_way() -> None:
    arrived, arrival = np.array([True, True, True, False]), np.array([2, 3, 5, -1])
    assert busy(arrived, arrival, 8).tolist() == [True] * 5 + [False] * 3


def test_a_tick_is_late_that_is_late_every_time(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def run_squad(grid: object, team: Team, members: object, allowance: int, vision: None, max_ticks: int) -> SquadRun:
        made.append(max_ticks)
        seconds = np.array([2.0, 2.0, 0.5, 9.0])
        seconds[len(made) % 2] = 0.5  # every other time the first, or the second
        zeros = np.zeros(1, np.int64)
        return SquadRun(
            problems=(), ticks=4, arrived=zeros == 0, arrival=zeros + 3, moves=zeros, cost=zeros + 1.0,
            first_move=zeros, stays=zeros, waits=zeros, overruns=zeros, work=np.zeros(4, np.int64), seconds=seconds,
            memory_bytes=0, precompute_seconds=0.0,
        )  # fmt: skip

    monkeypatch.setattr("training.judge.squads.run_squad", run_squad)
    work = SquadRuns("lrta", {"depth": 1}, 9, None, 100, tick_seconds=1.0)
    run = work._run(plan.courses[0].grid, Team((), (), 0), [])
    assert run.seconds.tolist() == [0.5, 0.5, 0.5, 9.0]  # the last one has fewer than half of the units under way
    assert made == [100, 1]  # again no further than to the last late tick


def test_what_is_kept_of_squads_is_read_or_refused(plan: Plan) -> None:
    work = SquadRuns("lrta", {"depth": 1}, 9, None, 100, 1.0)
    whole = columns(0, 1.0) | {"unit.cost": np.ones(10)}
    assert work.unpack(work.pack(whole)).keys() == whole.keys()
    for name in ("unit.cost", "tick.seconds"):
        part = {other: array[:-1] if other.startswith(name[:5]) else array for other, array in whole.items()}
        with pytest.raises(ValueError, match="not as many units and ticks"):
            work.unpack(part)


def test_a_share_has_the_interval_of_wilson() -> None:
    assert share(5, 100) == pytest.approx((0.05, 0.02154, 0.11175), abs=1e-4)
    assert share(0, 100)[:2] == (0.0, 0.0)


def test_an_agent_with_late_ticks_is_passed_over_and_said_to_be() -> None:
    said = advise([columns(687, 1.0), columns(0, 1.5)])
    assert said.startswith("b, cost / optimum 1.500 [1.500, 1.500], 0.0 % late ticks, first step after 0.000 ticks, ")
    assert "the only agent that brought all units to their goals in time" in said
    assert said.endswith("passing over a (68.7 %) for their late ticks.")


def test_an_agent_that_may_be_late_gives_way_to_one_that_is_not() -> None:
    said = advise([columns(45, 1.0), columns(1, 1.1)])
    assert said.startswith("b, ")
    assert "passing over a (4.5 %)" in said


def test_if_nobody_keeps_the_time_the_nearest_is_named() -> None:
    said = advise([columns(900, 1.0), columns(300, 1.5), columns(600, 1.2)])
    assert said.startswith("no agent kept the time; b, cost / optimum 1.500")


def test_nobody_is_recommended_whose_units_do_not_arrive() -> None:
    lost = columns(0, 1.0)
    lost["unit.arrived"][3] = False
    assert advise([lost, columns(0, 2.0)]).startswith("b, cost / optimum 2.000")
    assert advise([lost]) == "no agent brought all units to their goals, a the most (90.0 %)."


def test_between_equals_the_one_that_moves_first_is_taken_and_both_are_named() -> None:
    said = advise([columns(0, 1.5, first=20), columns(0, 1.5, first=2)])
    assert said.startswith("b, ")
    assert "the first to move off of 2 that cost about the same, the least of 2 that brought all units" in said
    assert "(no clear difference to a, 1.500 [1.500, 1.500])" in said


@pytest.mark.parametrize(("width", "clear"), [(0.01, True), (0.1, False)])
def test_a_difference_within_the_noise_of_the_calibration_is_no_difference(width: float, clear: bool) -> None:
    # What both lose to the optimum, times what the slow end lacks of the fast one: 0.02 or 0.20 of 1.1.
    said = advise([columns(0, 1.5, first=9), columns(0, 1.6)], width)
    assert ("no clear difference" not in said) == clear
    assert said.startswith("a, " if clear else "b, ")


@pytest.mark.parametrize(("ratio", "clear"), [(1.04, False), (1.06, True)])
def test_a_cost_of_five_percent_more_is_no_difference(ratio: float, clear: bool) -> None:
    said = advise([columns(0, 1.0, first=9), columns(0, ratio)])
    assert said.startswith("a, " if clear else "b, ")


def test_the_best_five_are_named_in_order() -> None:
    said = advise([columns(0, ratio) for ratio in (1.6, 1.1, 1.3, 1.2, 1.5, 1.4)])
    assert said.startswith("b, cost / optimum 1.100")
    assert "the least of 6 agents that brought all units to their goals in time" in said
    assert ", then d, 1.200 [1.200, 1.200], c, 1.300 [1.300, 1.300], f, 1.400" in said
    assert "a, 1.600" not in said


def test_findings_have_a_table_of_squads_and_no_slow_runs(plan: Plan, arena: SquadArena) -> None:
    runs = run_plan(plan, workers=Workers(jobs=1))
    found = find(plan, runs, Question(squads=arena))
    _, table = found.tables()
    assert table.title == "Squads: 6 units in ticks of 1e+06 ms"
    assert [row[0] for row in table.rows] == ["budget 7 ms", "lss-lrta lookahead=30", "astar"]
    assert found.overtime == {}
    assert [entry["arrivals"] for entry in found.document()["squads"]] == [s.arrivals for s in arena.scores.values()]

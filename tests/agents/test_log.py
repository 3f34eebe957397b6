"""The log of a run: the same run, and all that was done for every move of it."""

import json
import math
from dataclasses import fields
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from agents.knowledge import knn
from agents.knowledge.goal_seeker import GoalSeeker
from agents.log import REASONS
from agents.record import Run
from agents.runner.logged import Recorder
from agents.runner.pool import POOL
from agents.runner.trials import run_agent
from reference import plain_grid
from reference.contract import Settings, random_problems
from reference.small_maps import CUP, drawn
from rt_gym import STAY, Budget, BudgetExceeded, Fault, InputError, Problem, View, World
from rt_gym.search.tables import learned_towards
from rt_gym.terrain import STEPS

HOOK = Problem(drawn(*CUP), (2, 2), (6, 2))
CORRIDOR = Problem(drawn("....."), (0, 0), (4, 0))
KNOWLEDGE = [(None, False), (None, True), (1, False), (2, True)]
TIMES = ("seconds", "planning_seconds", "move_seconds", "precompute_seconds")
NOT_COUNTS = {"problem", "path", "trials", "log", *TIMES}


def facts(run: Run) -> dict[str, Any]:
    """Return all that a record says, but for times."""
    counts = {field.name: getattr(run, field.name) for field in fields(run) if field.name not in NOT_COUNTS}
    return counts | {"path": run.path.tolist(), "trials": [facts(trial) for trial in run.trials]}


def assert_log_adds_up(run: Run) -> None:
    """Compare the log of one trial with its record."""
    log, ended_early = run.log, run.outcome in ("overrun", "no path")
    assert log is not None
    assert len(log) == run.moves + ended_early
    assert log.position.tolist() == run.path[: len(log)].tolist()
    for k, (here, there) in enumerate(pairwise(run.path.tolist())):
        dx, dy = (0, 0) if log.action[k] == STAY else STEPS[log.action[k]]
        assert [here[0] + dx, here[1] + dy] == there
    assert (int(log.expansions.sum()), int(log.scans.sum())) == (run.expansions, run.scans)
    assert np.diff(log.expanded_begin).tolist() == log.expansions.tolist()
    assert len(log.expanded) == run.expansions
    assert len(log.raised) == log.raised_begin[-1] == run.h_updates
    assert (log.raised_new > log.raised_old).all()
    reasons = [REASONS[code] for code in log.reason]
    assert reasons.count("no path") == (run.outcome == "no path")
    if not run.overrun:
        assert reasons.count("planned") + reasons.count("no path") == run.plans
    assert ("overrun" in reasons) == run.overrun


class TestEveryAgent:
    @pytest.mark.parametrize(("vision", "changing"), KNOWLEDGE)
    def test_a_logged_run_is_the_run_number_for_number(
        self, agent_id: str, settings: Settings, vision: int | None, changing: bool
    ) -> None:
        for problem in random_problems(21, 5, vision, changing):
            for budget in (None, 5, Budget(5, on_overrun="idle"), Budget(12, "scans")):
                plain, logged = (
                    agents.run(agent_id, problem, budget=budget, max_moves=120, log=log, **settings)
                    for log in (False, True)
                )
                assert facts(logged) == facts(plain)
                assert plain.log is None
                assert_log_adds_up(logged)

    def test_trials_with_random_ties_have_a_log_each(self, agent_id: str, settings: Settings) -> None:
        for problem in random_problems(22, 3, vision=1, changing=True):
            options = {"trials": 3, "seed": 9, "tie": "random", "max_moves": 150, **settings}
            plain, logged = (agents.run(agent_id, problem, log=log, **options) for log in (False, True))
            assert facts(logged) == facts(plain)
            for number, trial in enumerate(logged.each, start=1):
                assert_log_adds_up(trial)
                assert trial.log is not None
                assert trial.log.head["trial"] == number
            assert logged.log is logged.each[-1].log

    @pytest.mark.parametrize("vision", [None, 1])
    def test_what_was_raised_adds_up_to_what_was_learned(
        self, agent_id: str, settings: Settings, vision: int | None
    ) -> None:
        for problem in random_problems(23, 6, vision, max_side=12):
            agent = agents.make(agent_id, **settings)
            run = agents.run(agent, problem, max_moves=300, log=True)
            assert run.log is not None
            known: dict[tuple[Any, Any], int] = {}
            goals = np.repeat(run.log.goal, np.diff(run.log.raised_begin), axis=0).tolist()
            raised = zip(goals, run.log.raised.tolist(), run.log.raised_old, run.log.raised_new, strict=True)
            for goal, position, old, new in raised:
                first = plain_grid.h0(problem.grid, tuple(position), tuple(goal))
                if agent_id != "pr-lrts":  # whose values are those of regions
                    assert old == known.get((tuple(goal), tuple(position)), first)
                known[tuple(goal), tuple(position)] = int(new)
            assert_learned(agent, problem, known)

    def test_a_record_of_a_move_says_what_explain_says(self, agent_id: str, settings: Settings) -> None:
        agent = agents.make(agent_id, **settings)
        run = agents.run(agent_id, HOOK, max_moves=300, log=True, **settings)
        world = World(HOOK)
        agent.reset(world.view, seed=0)
        assert run.log is not None
        for move in run.log:
            action, decision = agent.act(), agent.explain()
            assert (move.action, move.position, move.target) == (action, decision.position, decision.target)
            assert (move.reason == "planned") == decision.planned
            assert (move.committed, move.g, move.f) == (decision.committed, decision.g, decision.f)
            assert (move.h_before, move.h_after) == (decision.h_before, decision.h_after)
            world.step(action)


def assert_learned(agent: Any, problem: Problem, known: dict[tuple[Any, Any], int]) -> None:
    """Compare what a log says was learned with the tables of the agent."""
    grid = problem.grid
    if isinstance(agent, GoalSeeker):
        for goal in {goal for goal, _ in known}:
            cells, values = learned_towards(agent.memory.values, grid.cell(goal))
            mine = {grid.position(cell): value for cell, value in zip(cells.tolist(), values.tolist(), strict=True)}
            assert mine == {position: value for (towards, position), value in known.items() if towards == goal}
        assert agent.count_learned() == len(known)
    elif agent.learned is not None and len(agent.learned) == grid.terrain.mask.size:
        for position in plain_grid.cells(grid):
            first = plain_grid.h0(grid, position, problem.goal)
            assert agent.value_of(grid.cell(position)) == known.get((problem.goal, position), first)


class TestLog:
    @pytest.mark.plain
    def test_a_move_can_be_read(self) -> None:
        log = agents.run("lrta", HOOK, depth=1, log=True).log
        assert log is not None
        first = log[0]
        assert (first.position, first.reason, first.expanded, first.goal) == ((2, 2), "planned", [(2, 2)], (6, 2))
        assert (first.expansions, first.scans, first.committed) == (1, 1, 0)
        assert log[-1] == log[len(log) - 1]
        assert [move.position for move in log] == [tuple(position) for position in log.position.tolist()]
        rises = [rise for move in log for rise in move.raised]
        assert rises[0].new > rises[0].old
        with pytest.raises(IndexError):
            log[len(log)]

    def test_it_is_written_as_lines_of_json(self, tmp_path: Path) -> None:
        run = agents.run("lss-lrta", HOOK, lookahead=4, budget=10, seed=3, log=True)
        assert run.log is not None
        run.log.save(tmp_path / "run.jsonl")
        head, *moves = map(json.loads, (tmp_path / "run.jsonl").read_text().splitlines())
        assert (head["agent"], head["seed"], head["budget"]["limit"], head["trial"]) == ("lss-lrta", 3, 10, 1)
        assert head["settings"] == {"lookahead": 4, "commit": "all", "tie": "first"}
        assert head["problem"]["digest"] == HOOK.grid.digest
        assert (head["problem"]["start"], head["problem"]["goal"]) == ([2, 2], [6, 2])
        assert [move["move"] for move in moves] == list(range(1, run.moves + 1))
        for k, move in enumerate(moves):
            assert move == json.loads(json.dumps({"move": k + 1} | run.log[k]._asdict()))

    def test_whatever_an_agent_was_made_with_can_be_written(self, tmp_path: Path) -> None:
        database = knn.build_records(HOOK.grid, 5, 0, 0, 5)
        settings = [("lrts", {"quota": math.inf}), ("weighted-astar", {"weight": Fraction(3, 2)})]
        said = []
        for agent_id, chosen in [*settings, ("knn-lrta", {"database": database})]:
            log = agents.run(agent_id, HOOK, seed=np.int64(4), budget=np.int32(9000), log=True, **chosen).log
            assert log is not None
            log.save(tmp_path / "run.jsonl")
            head = json.loads((tmp_path / "run.jsonl").read_text().splitlines()[0])
            assert (head["seed"], head["budget"]["limit"]) == (4, 9000)
            said.append([head["settings"][name] for name in chosen])
        assert said == [["inf"], ["3/2"], ["Records"]]

    def test_a_value_without_end_is_null_in_json(self, tmp_path: Path) -> None:
        # RTA* keeps the value of the second best way: out of a dead end there is none.
        log = agents.run("rta", Problem(drawn("....", ".###"), (3, 0), (0, 1)), log=True).log
        assert log is not None
        assert log[0].raised[0].new == math.inf
        log.save(tmp_path / "run.jsonl")
        assert json.loads((tmp_path / "run.jsonl").read_text().splitlines()[1])["raised"][0][2] is None

    def test_a_made_agent_is_named_by_its_id_with_its_settings(self) -> None:
        log = agents.run(agents.make("lrta", depth=3), HOOK, log=True).log
        assert log is not None
        assert (log.head["agent"], log.head["settings"]) == ("lrta", {"depth": 3, "tie": "first"})

    def test_a_start_on_the_goal_has_an_empty_log(self, tmp_path: Path) -> None:
        log = agents.run("lrta", Problem(HOOK.grid, (2, 2), (2, 2)), log=True).log
        assert log is not None
        assert (len(log), len(log.expanded), log.raised_begin.tolist()) == (0, 0, [0])
        log.save(tmp_path / "run.jsonl")
        assert len((tmp_path / "run.jsonl").read_text().splitlines()) == 1

    def test_an_overrun_that_raises_raises_with_a_log_too(self) -> None:
        for log in (False, True):
            with pytest.raises(BudgetExceeded, match="move 1 needs more than its budget of 1 expansions"):
                agents.run("lrta", HOOK, depth=3, budget=Budget(1, on_overrun="raise"), log=log)

    def test_a_log_beyond_its_bound_is_refused(self) -> None:
        options = HOOK, Budget(), 3, 1000, 0, True
        run = run_agent(agents.make("lrta", depth=1), *options)
        assert [trial.solved for trial in run.trials] == [True] * 3
        with pytest.raises(InputError, match=r"the log takes more than 2000 bytes after \d+ moves of trial \d: lower"):
            run_agent(agents.make("lrta", depth=1), *options, recorder=Recorder({}, most_bytes=2000))

    def test_a_bound_holds_for_what_one_move_expands(self) -> None:
        with pytest.raises(InputError, match="more than 100 bytes after 0 moves of trial 1"):
            run_agent(agents.make("astar"), HOOK, Budget(), 1, 1000, 0, True, recorder=Recorder({}, most_bytes=100))

    def test_an_agent_that_was_logged_waits_for_no_other_run(self) -> None:
        before = len(POOL)
        agents.run("lrta", HOOK, depth=4, log=True)
        assert len(POOL) == before

    def test_an_agent_runs_on_without_a_log(self) -> None:
        agent = agents.make("lrta", depth=2)
        runs = [agents.run(agent, HOOK, log=log) for log in (False, True, False)]
        assert facts(runs[0]) == facts(runs[1]) == facts(runs[2])
        assert [run.log is None for run in runs] == [True, False, True]

    def test_an_agent_keeps_no_room_for_a_log_that_is_over(self) -> None:
        logged, other = agents.make("lrta", depth=2), agents.make("lrta", depth=2)
        agents.run(logged, HOOK, log=True)
        agents.run(other, HOOK)
        assert logged.nbytes == other.nbytes

    @pytest.mark.parametrize("log", [1, "yes", None])
    def test_it_is_asked_for_or_not(self, log: Any) -> None:
        with pytest.raises(InputError, match="log must be True or False"):
            agents.run("lrta", HOOK, log=log)


class East:
    """Goes east; before that it expands where it stands, and charges what it does not show."""

    def __init__(self, **explained: Any) -> None:
        self.explained = explained

    def reset(self, view: View, seed: int | None = None) -> None:
        self.view = view

    def act(self) -> int:
        if self.view.moves < 2:
            self.view.expand(self.view.position)
            self.view.meter.charge(2)
        return 0


class TellingEast(East):
    """The same, with words."""

    def explain(self) -> Any:
        return agents.Decision(self.view.position, 0, planned=True, **self.explained)


class TestOwnAgents:
    def test_what_it_expands_through_its_view_is_in_the_log(self) -> None:
        run = agents.run(East(), CORRIDOR, log=True)
        assert run.log is not None
        assert [move.expanded for move in run.log] == [[(0, 0)], [(1, 0)], [], []]
        assert [move.expansions for move in run.log] == [3, 3, 0, 0]
        assert [move.reason for move in run.log] == ["planned", "planned", "committed", "committed"]
        assert run.log[0].target is None
        assert run.log.head["agent"].endswith("East")
        assert facts(run) == facts(agents.run(East(), CORRIDOR))

    def test_what_it_explains_is_in_the_log(self) -> None:
        raised = [((1, 0), CORRIDOR.view().heuristic_exact((1, 0)), CORRIDOR.view().heuristic_exact((0, 0)))]
        log = agents.run(TellingEast(target=(3, 0), raised=raised), CORRIDOR, log=True).log
        assert log is not None
        assert (log[2].target, log[2].raised, log[2].reason) == ((3, 0), [((1, 0), 3.0, 4.0)], "planned")

    @pytest.mark.parametrize(
        ("explained", "says"),
        [
            ({"target": (9, 9)}, "target must be a position on the map"),
            ({"target": "east"}, "target must be a position on the map"),
            ({"raised": [((0, 1), 1, 2)]}, "raised must be a position on the map"),
            ({"raised": [((0, 0), 1.0, 2.5)]}, "raised must have exact costs"),
        ],
    )
    def test_what_cannot_be_logged_is_refused(self, explained: dict[str, Any], says: str) -> None:
        with pytest.raises(InputError, match=says):
            agents.run(TellingEast(**explained), CORRIDOR, log=True)

    def test_an_explanation_of_another_kind_is_refused(self) -> None:
        agent = East()
        agent.explain = lambda: "because"
        with pytest.raises(InputError, match=r"explain must return an agents.Decision or None, not 'because'"):
            agents.run(agent, CORRIDOR, log=True)

    def test_a_search_to_explain_itself_is_found_out(self) -> None:
        agent = East()
        agent.explain = lambda: agent.view.meter.scan()
        with pytest.raises(Fault, match="before move 1 the agent has searched on"):
            agents.run(agent, CORRIDOR, log=True)

"""Who takes part: settings that fit a budget, the portfolio, and classes of one's own."""

from pathlib import Path

import pytest
from joblib.externals.loky import get_reusable_executor
from typer.testing import CliRunner

import agents
from rt_gym import AgentFailure, Fault, InputError
from training.cli import app
from training.runs import Allowance, Draw, Plan, Workers, enlist, enlist_all, find_courses, portfolio, run_plan

GREEDY = """
class Greedy:
    def __init__(self, patience, tired=3):
        self.patience = patience

    def reset(self, view, seed=None):
        self.view, self.visits = view, {}

    def act(self):
        here = self.view.position
        self.visits[here] = self.visits.get(here, 0) + 1
        moves = self.view.expand(here)
        return min(moves, key=lambda m: (self.visits.get(m[1], 0), m[2] + self.view.heuristic(m[1])))[0]

class Broken(Greedy):
    def act(self):
        return 1 // 0

class Moody(Greedy):
    runs = 0

    def reset(self, view, seed=None):
        super().reset(view, seed)
        Moody.runs += 1

    def act(self):
        return super().act() if Moody.runs < 2 else 1 // 0

class Vandal(Greedy):
    def act(self):
        try:
            self.view._inside.terrain.mask[:] = 255
        except ValueError:
            pass
        return super().act()

class Jumper(Greedy):
    def act(self):
        self.view._inside.trip.state["at"] = self.view._inside.goal_cell
        return super().act()

class Leaving(Greedy):
    def act(self):
        raise SystemExit(7)

class Silent(Exception):
    def __str__(self):
        raise ValueError

class Mute(Greedy):
    def reset(self, view, seed=None):
        raise Silent

class Verbose(Greedy):
    def act(self):
        raise ValueError("a b" * 10_000)

class Wrong(Greedy):
    def act(self):
        return "up"

class Unmade(Greedy):
    def __init__(self, patience):
        raise KeyError("patience")

def call(*_, **named):
    open("called", "w").close()

class Anything(type):
    def __getattr__(cls, name):
        return call

class Posing(metaclass=Anything):
    def __init__(self, patience):
        call()

class Valued:
    reset, act = 1, 2

    def __init__(self, patience):
        call()

def __getattr__(name):
    call()
    return Greedy

thing = 3
"""


@pytest.fixture(autouse=True)
def _module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_agents_for_tests.py").write_text(GREEDY)
    (tmp_path / "broken_module_for_tests.py").write_text("nonsense nonsense\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def test_what_is_not_given_is_fitted_to_the_budget() -> None:
    found = enlist_all(["lrta", "lss-lrta:commit=one", "lrta:depth=2"], [Allowance.of(10), Allowance.of(100)])
    assert [contender.entry.label for contender in found] == [
        "lrta depth=2",
        "lss-lrta lookahead=10 commit=one",
        "lrta depth=5",
        "lss-lrta lookahead=100 commit=one",
        "lrta depth=2",
    ]
    assert [contender.entry.budget for contender in found] == ["10 expansions"] * 2 + ["100 expansions"] * 3


def test_without_a_limit_settings_are_the_defaults() -> None:
    contender = enlist("lss-lrta", {}, Allowance.of(None))
    assert contender.settings == agents.parameters("lss-lrta")
    assert contender.entry == ("lss-lrta", "lookahead=50", "no limit", None, "expansions")


def test_an_allowance_in_time_has_a_limit_per_agent() -> None:
    allowance = Allowance("0.5 ms", limits={"lrta": 30, "lss-lrta": 40})
    found = enlist_all(["lrta", "lss-lrta"], [allowance])
    assert [(c.entry.label, c.entry.budget, c.entry.limit) for c in found] == [
        ("lrta depth=3", "0.5 ms", 30),
        ("lss-lrta lookahead=40", "0.5 ms", 40),
    ]


def test_the_portfolio_has_all_real_agents_that_a_budget_is_enough_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert portfolio() == [agent_id for agent_id in agents.ids() if agent_id != "oracle-lrta"]
    monkeypatch.setitem(agents._TABLE, "needy", ("own", "Needy"))
    real = agents.load

    class Needy:
        def __init__(self, policy: str) -> None:
            """Needs more than a budget."""

    monkeypatch.setattr(agents, "load", lambda name: Needy if name == "needy" else real(name))
    assert "needy" in agents.ids()
    assert "needy" not in portfolio()


@pytest.mark.parametrize("agent_id", ["pdb-lrta", "general-lrta", "knn-lrta", "hcdps", "subgoal-lrta", "pr-lrts"])
def test_an_agent_that_prepares_itself_is_marked(agent_id: str) -> None:
    assert enlist(agent_id, {}, Allowance.of(100)).precomputes


def test_an_agent_that_prepares_nothing_is_not_marked() -> None:
    assert not enlist("lss-lrta", {}, Allowance.of(100)).precomputes


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("lss-lrt", "did you mean lss-lrta"),
        ("lrta:width=3", "no parameter 'width'; its parameters are depth, tie"),
        ("lrta:depth=0", "depth must be a whole number"),
        ("lrta:depth=deep", "depth must be a whole number"),
        ("no_such_module.Agent", "cannot be imported"),
        ("broken_module_for_tests.Agent", "cannot be imported \\(SyntaxError"),
        ("own_agents_for_tests.Nobody", "cannot be imported"),
        ("own_agents_for_tests.thing", "is not a class"),
        ("own_agents_for_tests.Greedy", "needs a value for patience"),
        ("own_agents_for_tests.Greedy:patience=1:size=3", "cannot be made"),
    ],
)
def test_agents_and_settings_that_are_not_there_are_refused(spec: str, part: str) -> None:
    with pytest.raises(InputError, match=part):
        enlist_all([spec], [Allowance.of(100)])


def test_a_class_of_ones_own_runs_beside_the_others() -> None:
    contenders = enlist_all(["own_agents_for_tests.Greedy:patience=1", "lrta"], [Allowance.of(10)])
    plan = Plan(tuple(contenders), tuple(find_courses(["open-16"], Draw(3))), max_moves=5000)
    rows = list(run_plan(plan, workers=Workers(jobs=1)))
    assert contenders[0].entry.label == "own_agents_for_tests.Greedy patience=1 tired=3"
    assert [row.result.outcome for row in rows] == ["goal"] * 6
    assert all(row.expansions_per_move == 1 for row in rows[:3])


def test_a_class_of_ones_own_that_breaks_down_is_named_with_the_problem() -> None:
    contenders = enlist_all(["own_agents_for_tests.Broken:patience=1"], [Allowance.of(None)])
    plan = Plan(tuple(contenders), tuple(find_courses(["open-16"], Draw(1))))
    with pytest.raises(AgentFailure, match=r"Broken broke down on open-16 from .* \(ZeroDivisionError"):
        run_plan(plan, workers=Workers(jobs=1))


def course_of(*specs: str) -> Plan:
    contenders = enlist_all(
        [f"own_agents_for_tests.{spec}:patience=1" for spec in specs] + ["astar"], [Allowance.of(None)]
    )
    return Plan(tuple(contenders), tuple(find_courses(["rooms-64"], Draw(3))))


def test_a_class_that_writes_to_the_map_changes_nothing_for_the_others() -> None:
    rows = run_plan(course_of("Vandal"), workers=Workers(jobs=1))
    assert [row.suboptimality for row in rows if row.entry.agent == "astar"] == [1.0] * 3


def test_a_class_that_teleports_has_no_row() -> None:
    with pytest.raises(Fault, match=r"Jumper broke down on rooms-64 .* \(Fault: before move 1 the agent has"):
        run_plan(course_of("Jumper"), workers=Workers(jobs=1))


RAISED = {
    "Broken": "ZeroDivisionError: integer division or modulo by zero",
    "Leaving": "SystemExit: 7",
    "Mute": "Silent: unprintable",
    "Verbose": "ValueError: " + "a b" * 100 + "...",
    "Wrong": "InputError: an action must be a direction from 0 to 7 or STAY, not 'up'",
}


def assert_one_sentence(command: str, name: str, says: str) -> None:
    result = CliRunner().invoke(app, [*command.split(), "--agent", f"own_agents_for_tests.{name}:patience=1"])
    assert (result.exit_code, result.stdout) == (1, ""), result.stderr
    assert result.stderr.startswith(f"rt-gym: agent own_agents_for_tests.{name} broke down on open-16 from (")
    assert result.stderr.endswith(f" ({says})\n")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(("name", "says"), RAISED.items())
def test_whatever_it_raises_is_one_sentence_of_play(name: str, says: str) -> None:
    assert_one_sentence("play open-16", name, says)


def test_what_it_raises_while_it_is_shown_is_one_sentence_of_play() -> None:
    assert_one_sentence("play open-16 --save run.png", "Moody", RAISED["Broken"])


def test_whatever_it_raises_in_a_worker_is_one_sentence_of_compare() -> None:
    get_reusable_executor().shutdown(wait=True)  # workers of earlier tests do not know this folder
    for name, says in RAISED.items():
        assert_one_sentence(f"compare open-16 --problems 2 --jobs 2 --out {name}", name, says)


def test_a_class_that_cannot_be_made_is_refused_whatever_it_raises() -> None:
    with pytest.raises(InputError, match=r"Unmade cannot be made \(KeyError: 'patience'\)"):
        enlist_all(["own_agents_for_tests.Unmade:patience=1"], [Allowance.of(None)])


@pytest.mark.parametrize("name", ["Posing", "Valued", "lazy"])
def test_nothing_is_called_that_is_not_a_class_with_both_methods(name: str) -> None:
    with pytest.raises(InputError, match=r"is not a class with the methods reset and act|the module has no lazy"):
        enlist_all([f"own_agents_for_tests.{name}:patience=1"], [Allowance.of(None)])
    assert not Path("called").exists()


def test_a_command_is_not_run_as_an_agent() -> None:
    with pytest.raises(InputError, match="is not a class with the methods reset and act"):
        enlist_all(["subprocess.Popen:args=touch called:shell=true"], [Allowance.of(None)])
    assert not Path("called").exists()

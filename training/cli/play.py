"""``rt-gym play``: one run of an agent or of a squad, to watch, to step through, or to save as a film."""

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from training.cli.terminal import (
    PROBLEMS,
    AsJson,
    Changes,
    Group,
    Seed,
    Vision,
    named,
    optimal_range,
    print_json,
    progress,
    tell_remarks,
)

if TYPE_CHECKING:
    from rt_gym import Grid, Problem
    from training.cli.show import Piece, Solo, Team

_MOST_SHOWN = 1 << 22  # cells of a map that is shown as a whole, unless a part of it is asked for
_CLOSE = 256  # cells along each side of what is shown of a larger one

_PER_UNIT = 50  # expansions per tick and unit, where no allowance is given
_RULE = "equal"

_AGENT, _SQUAD, _SHOWING = Group("Agent"), Group("Squad"), Group("Showing")

MapName = Annotated[str, typer.Argument(metavar="MAP", help="A bundled map or a file, see rt-gym maps.")]
Start = Annotated[str | None, PROBLEMS.option("X,Y", "Where to begin; goes with --goal.")]
Goal = Annotated[str | None, PROBLEMS.option("X,Y", "Where to go.")]
Optimal = Annotated[str | None, PROBLEMS.option("LOW..HIGH", "Draw a problem with an optimal cost in this range.")]
MaxMoves = Annotated[int, PROBLEMS.option("N", "Give up after this many moves.", min=1, max=10_000_000)]
Agent = Annotated[str, _AGENT.option("ID[:NAME=VALUE,...]", "The agent and its settings, see rt-gym agents.")]
Budget = Annotated[int | None, _AGENT.option("N", "Expansions per move; fits the settings that are not given.", min=1)]
Units = Annotated[int | None, _SQUAD.option("N", "How many units go at once, each with an agent.", min=1, max=10_000)]
_OF_ALL = f"Expansions per tick for all together; {_PER_UNIT} per unit if not given."
AllowanceOfAll = Annotated[int | None, _SQUAD.option("N", _OF_ALL, min=1, max=10**12)]
Rule = Annotated[str | None, _SQUAD.option("NAME", "equal, round-robin, nearest or neediest.")]
Blocking = Annotated[bool, _SQUAD.option(None, "Units are in each other's way.", "--blocking")]
Push = Annotated[bool, _SQUAD.option(None, "Units on their goals are pushed out of the way.", "--push")]
SharedFog = Annotated[bool, _SQUAD.option(None, "Units tell each other what they see.", "--shared-fog")]
Window = Annotated[bool, _SHOWING.option(None, "Open a window instead of drawing in the terminal.", "--window")]
Step = Annotated[bool, _SHOWING.option(None, "Stop at every move and say what was decided and why.", "--step")]
Fps = Annotated[float, _SHOWING.option("N", "Pictures per second.", min=0.1, max=50)]
Every = Annotated[int, _SHOWING.option("N", "Show one of this many moves.", min=1)]
Zoom = Annotated[int | None, _SHOWING.option("N", "Show this many cells around the agent; 256 on huge maps.", min=1)]
Trace = Annotated[
    Path | None, _SHOWING.option("FILE", "A search trace for Posthoc (.trace.json, .trace.yaml).", parser=named)
]
Html = Annotated[Path | None, _SHOWING.option("FILE", "Write a page that replays the run.", parser=named)]
Beside = Annotated[str | None, _SHOWING.option("ID[:...]", "A second agent, for --html.")]
Save = Annotated[
    list[Path] | None, _SHOWING.option("FILE", "A film (.gif, .mp4) or the last picture (.png); repeatable.")
]


@dataclass(frozen=True)
class _Task:
    """What is to be solved, as it was asked for."""

    map_name: str
    start: str | None
    goal: str | None
    optimal: str | None
    vision: int | None
    changes: str | None
    seed: int

    def problem(self) -> "Problem":
        """Return the problem that was asked for, or a random one, on a map that changes if that was asked for."""
        from training.runs import changes_for, choose_changes

        problem = self._drawn(1)[0] if self.start is None and self.goal is None else self._given()
        if self.changes is None:
            return problem
        return replace(problem, changes=changes_for(problem, choose_changes(self.changes), self.seed))

    def problems(self, units: int) -> "list[Problem]":
        """Return random problems for units; the map changes as it does for the first of them."""
        from training.runs import changes_for, choose_changes

        if self.start is not None or self.goal is not None:
            _refuse("--start and --goal are those of one agent: units begin and end at random places")
        with progress("drawing problems", 1):
            drawn = self._drawn(units)
        if self.changes is None:
            return drawn
        schedule = changes_for(drawn[0], choose_changes(self.changes), self.seed)
        return [replace(problem, changes=schedule) for problem in drawn]

    def _drawn(self, count: int) -> "list[Problem]":
        from rt_gym import load_map, sample_problems

        bounds = optimal_range(self.optimal)
        return sample_problems(load_map(self.map_name), count, *bounds, self.seed, self.vision, distinct=True)

    def _given(self) -> "Problem":
        from rt_gym import InputError, Problem, load_map
        from training.runs.contenders import parse_position

        if self.start is None or self.goal is None:
            raise InputError("--start and --goal go together")
        if self.optimal is not None:
            raise InputError("--optimal chooses a start and a goal, but --start and --goal are given")
        ends = parse_position("--start", self.start), parse_position("--goal", self.goal)
        return Problem(load_map(self.map_name), *ends, self.vision)


@dataclass(frozen=True)
class _Order:
    """The squad that was asked for."""

    units: int | None
    allowance: int | None
    rule: str | None
    blocking: bool
    push: bool
    shared_fog: bool

    def check(self, budget: int | None, vision: int | None, step: bool) -> None:
        """Refuse options that do not go together."""
        if self.units is None:
            for option in fields(self):
                if getattr(self, option.name) not in (None, False):
                    _refuse(f"--{option.name.replace('_', '-')} goes with --units")
        elif budget is not None:
            _refuse("--budget is for the moves of one agent: what units may expand together is --allowance")
        elif step:
            _refuse("--step tells why one agent moves as it does: it does not go with --units")
        elif self.push and not self.blocking:
            _refuse("--push goes with --blocking")
        elif self.shared_fog and vision is None:
            _refuse("--shared-fog goes with --vision")

    def options(self) -> dict[str, Any]:
        """Return what a squad takes besides its problems and agents."""
        rule = _RULE if self.rule is None else self.rule
        own = {"allowance": self.allowance or _PER_UNIT * (self.units or 1), "rule": rule}
        return own | {name: getattr(self, name) for name in ("blocking", "push", "shared_fog")}


def _refuse(sentence: str) -> NoReturn:
    from rt_gym import InputError

    raise InputError(sentence)


def play(
    map_name: MapName,
    start: Start = None,
    goal: Goal = None,
    optimal: Optimal = None,
    vision: Vision = None,
    changes: Changes = None,
    max_moves: MaxMoves = 10_000,
    agent: Agent = "lss-lrta",
    budget: Budget = None,
    units: Units = None,
    allowance: AllowanceOfAll = None,
    rule: Rule = None,
    blocking: Blocking = False,
    push: Push = False,
    shared_fog: SharedFog = False,
    window: Window = False,
    step: Step = False,
    fps: Fps = 15,
    every: Every = 1,
    zoom: Zoom = None,
    save: Save = None,
    trace: Trace = None,
    html: Html = None,
    beside: Beside = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Watch an agent or a squad on its way, in the terminal or in a window."""
    from training.cli.screens import Look
    from training.cli.show import Solo, perform

    if step and as_json:
        _refuse("--step tells a story and --json prints one document: only one of them can be had")
    order = _Order(units, allowance, rule, blocking, push, shared_fog)
    order.check(budget, vision, step)
    if trace is not None:
        _check_trace(trace, units)
    _check_html(html, beside, units)
    task, files = _Task(map_name, start, goal, optimal, vision, changes, seed), list(dict.fromkeys(save or ()))
    ways = agent, max_moves, seed
    piece, zoom = _solo(task, zoom, budget, *ways) if units is None else _team(task, zoom, order, *ways)
    pieces: list[Piece] = [piece]
    if beside is not None:
        pieces.append(_solo(task, None, budget, beside, max_moves, seed)[0])
    tell_remarks(map_name, piece.grid)
    perform(piece, Look(window, step, fps, every, zoom, as_json or html is not None), files)
    if trace is not None and isinstance(piece, Solo):
        piece.write_trace(trace)
        files.append(trace)
    if html is not None:
        files.append(_write_html(html, pieces))
    if as_json:
        rival = {"beside": pieces[1].document()} if len(pieces) > 1 else {}
        print_json(piece.document() | rival | {"files": [str(path) for path in files]})
    else:
        typer.echo("\n".join([*(line for one in pieces for line in one.summary()), *map(_saved, files)]))


def _check_trace(path: Path, units: int | None) -> None:
    """Refuse a trace of several units, and a place where none can be written, before anything is run."""
    from agents.trace import check_ending
    from rt_gym.files import require_writable

    if units is not None:
        _refuse("--trace tells what one agent does: it does not go with --units")
    check_ending(path)
    require_writable(path)


def _check_html(path: Path | None, beside: str | None, units: int | None) -> None:
    """Refuse a second agent that is shown nowhere, and a place where no page can be written, before anything is run."""
    from rt_gym.files import require_writable

    if beside is not None and path is None:
        _refuse("--beside goes with --html")
    if beside is not None and units is not None:
        _refuse("--beside is a second agent on the same problem: it does not go with --units")
    if path is not None:
        require_writable(path)


def _write_html(path: Path, pieces: "list[Piece]") -> Path:
    """Write the page that replays runs, the first of which has been measured."""
    from training.cli.show import Solo, Team
    from training.report import write_replay

    first, *others = pieces
    title = f"{' and '.join(one.label for one in pieces)} on {first.grid.name}"
    with progress("recording", 1):
        for other in others:
            other.measure()
        if isinstance(first, Team):
            return write_replay(path, title, f"{first.run.units} units on {first.grid.name}", first.recording())
        name = f"{first.grid.name}, {first.problem.start} to {first.problem.goal}"
        return write_replay(path, title, name, [one.recording() for one in pieces if isinstance(one, Solo)])


def _solo(
    task: _Task, zoom: int | None, budget: int | None, spec: str, max_moves: int, seed: int
) -> "tuple[Solo, int | None]":
    """Return the run of one agent, and how many cells around it are shown."""
    from rt_gym.specs import parse_agent
    from training.cli.show import Solo
    from training.runs import Allowance, enlist

    problem = task.problem()
    zoom, huge = _near(problem.grid, zoom)
    contender = enlist(*parse_agent(spec), Allowance.of(budget))
    return Solo(contender, problem, max_moves, seed, zoom if huge else None), zoom


def _team(
    task: _Task, zoom: int | None, order: _Order, spec: str, max_moves: int, seed: int
) -> "tuple[Team, int | None]":
    """Return the run of a squad, and how many cells around its first unit are shown."""
    from rt_gym.specs import parse_agent
    from training.cli.show import Team
    from training.runs import Allowance, enlist

    problems, options = task.problems(order.units or 1), order.options()
    zoom, _ = _near(problems[0].grid, zoom)
    contender = enlist(*parse_agent(spec), Allowance.of(max(1, options["allowance"] // len(problems))))
    return Team(contender, problems, max_moves, seed, options), zoom


def _near(grid: "Grid", zoom: int | None) -> tuple[int | None, bool]:
    """Return how many cells are shown, not all of a huge map unless asked for, and whether it is one."""
    huge = grid.passable.size > _MOST_SHOWN
    return _CLOSE if huge and zoom is None else zoom, huge


def _saved(path: Path) -> str:
    from rt_gym.files import shown

    return f"saved {shown(path)}"

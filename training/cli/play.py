"""``rt-gym play``: one run to watch, to step through, or to save as a film."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.cli.options import PROBLEMS, AsJson, Changes, Group, Seed, Vision, optimal_range
from training.cli.terminal import print_json, progress

if TYPE_CHECKING:
    from agents import Run
    from rt_gym import Problem
    from training.cli.screens import Look
    from training.runs import Contender

_MOST_SHOWN = 1 << 22  # cells of a map that is shown as a whole, unless a part of it is asked for
_CLOSE = 256  # cells along each side of what is shown of a larger one

_AGENT, _SHOWING = Group("Agent"), Group("Showing")

MapName = Annotated[str, typer.Argument(metavar="MAP", help="A bundled map or a file, see rt-gym maps.")]
Start = Annotated[str | None, PROBLEMS.option("X,Y", "Where to begin; goes with --goal.")]
Goal = Annotated[str | None, PROBLEMS.option("X,Y", "Where to go.")]
Optimal = Annotated[str | None, PROBLEMS.option("LOW..HIGH", "Draw a problem with an optimal cost in this range.")]
MaxMoves = Annotated[int, PROBLEMS.option("N", "Give up after this many moves.", min=1, max=10_000_000)]
Agent = Annotated[str, _AGENT.option("ID[:NAME=VALUE,...]", "The agent and its settings, see rt-gym agents.")]
Budget = Annotated[int | None, _AGENT.option("N", "Expansions per move; fits the settings that are not given.", min=1)]
Window = Annotated[bool, _SHOWING.option(None, "Open a window instead of drawing in the terminal.", "--window")]
Step = Annotated[bool, _SHOWING.option(None, "Stop at every move and say what was decided and why.", "--step")]
Fps = Annotated[float, _SHOWING.option("N", "Pictures per second.", min=0.1, max=50)]
Every = Annotated[int, _SHOWING.option("N", "Show one of this many moves.", min=1)]
Zoom = Annotated[int | None, _SHOWING.option("N", "Show this many cells around the agent; 256 on huge maps.", min=1)]
Save = Annotated[
    list[Path] | None, _SHOWING.option("FILE", "Write a film (.gif, .mp4) or the last picture (.png); can be repeated.")
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

        problem = self._drawn() if self.start is None and self.goal is None else self._given()
        if self.changes is None:
            return problem
        return replace(problem, changes=changes_for(problem, choose_changes(self.changes), self.seed))

    def _drawn(self) -> "Problem":
        from rt_gym import load_map, sample_problems

        return sample_problems(load_map(self.map_name), 1, *optimal_range(self.optimal), self.seed, self.vision)[0]

    def _given(self) -> "Problem":
        from rt_gym import InputError, Problem, load_map
        from training.runs.contenders import parse_position

        if self.start is None or self.goal is None:
            raise InputError("--start and --goal go together")
        if self.optimal is not None:
            raise InputError("--optimal chooses a start and a goal, but --start and --goal are given")
        ends = parse_position("--start", self.start), parse_position("--goal", self.goal)
        return Problem(load_map(self.map_name), *ends, self.vision)


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
    window: Window = False,
    step: Step = False,
    fps: Fps = 15,
    every: Every = 1,
    zoom: Zoom = None,
    save: Save = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Watch an agent on its way, in the terminal or in a window."""
    from rt_gym import InputError
    from training.cli.screens import Look
    from training.runs import Allowance, enlist
    from training.runs.contenders import parse_agent

    if step and as_json:
        raise InputError("--step tells a story and --json prints one document: only one of them can be had")
    problem = _Task(map_name, start, goal, optimal, vision, changes, seed).problem()
    contender = enlist(*parse_agent(agent), Allowance.of(budget))
    huge = problem.grid.passable.size > _MOST_SHOWN
    zoom = _CLOSE if huge and zoom is None else zoom
    look, files = Look(window, step, fps, every, zoom, as_json), list(dict.fromkeys(save or ()))
    run = _show(contender, problem, look, files, {"max_moves": max_moves, "seed": seed})
    if as_json:
        asked = {"agent": contender.agent, "settings": contender.settings, "budget": budget, "seed": seed}
        print_json(asked | _document(run) | {"files": [str(path) for path in files]})
    else:
        typer.echo("\n".join(_summary(contender.entry.label, run, files)))


def _show(contender: "Contender", problem: "Problem", look: "Look", save: list[Path], bounds: dict[str, Any]) -> "Run":
    """Run an agent, then show the same run and write its films; return the record."""
    import agents
    from training.cli.film import Show, open_film
    from training.cli.playback import Playback
    from training.runs.contenders import blaming, make_agent

    agent = make_agent(contender.agent, contender.settings)
    with ExitStack() as stack:
        films = [stack.enter_context(closing(open_film(path, look.fps))) for path in save]
        with progress("measuring", 1), blaming(contender.agent, problem):
            run = agents.run(agent, problem, budget=contender.budget, **bounds)
        show = Show(look, contender.entry.label, run, films)
        screen = look.screen(show.size)
        if screen or films or look.step:
            window = look.zoom if problem.grid.passable.size > _MOST_SHOWN else None
            playback = Playback(agent, problem, contender.budget, **bounds, name=contender.agent, window=window)
            show.play(playback, screen)
    return run


def _summary(name: str, run: "Run", files: "list[Path]") -> Iterator[str]:
    """Yield the lines that end the show."""
    from rt_gym.files import shown
    from training.cli.playback import ENDS, number

    problem, spent = run.problem, run.move_seconds
    yield f"{name} on {shown(problem.grid.name)} from {problem.start} to {problem.goal}: {ENDS[run.outcome]}"
    ratio = run.suboptimality if run.solved else None
    slowest = f", {_short(spent.max * 1e6)} µs for the slowest move" if spent and run.moves else ""
    rows = (
        ("cost", number(run.cost), f"{ratio:.3f} times the optimal {number(run.optimal)}" if ratio else ""),
        ("moves", f"{run.moves:,}", f"{run.stays:,} of them standing still" if run.stays else ""),
        ("expansions", number(run.expansions_per_move), f"per move, {run.max_expansions:,} for the hardest"),
        ("scans", number(run.scans / max(1, run.moves)), f"per move, {run.max_scans:,} for the hardest"),
        ("time", _short(run.seconds * 1e3), f"ms{slowest}"),
    )
    for what, value, note in rows:
        yield f"  {what:10}{value:>12}  {note}".rstrip()
    for path in files:
        yield f"saved {shown(path)}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _document(run: "Run") -> dict[str, Any]:
    """Return the summary as JSON takes it."""
    plain = ("outcome", "cost", "optimal", "moves", "stays", "expansions", "expansions_per_move", "max_expansions")
    return {
        "map": run.problem.grid.name,
        "start": run.problem.start,
        "goal": run.problem.goal,
        "vision": run.problem.vision,
        "changes": len(run.problem.changes or ()),
        **{name: getattr(run, name) for name in (*plain, "scans", "seconds")},
        "suboptimality": run.suboptimality if run.solved else None,
        "move_seconds": run.move_seconds and run.move_seconds._asdict(),
    }

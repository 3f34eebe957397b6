"""``rt-gym play``: one run to watch, to step through, or to save as a film."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.cli.terminal import AsJson, Seed, print_json, progress

if TYPE_CHECKING:
    from agents import Run
    from rt_gym import Problem
    from training.cli.player.screens import Screen


def play(
    map_name: Annotated[str, typer.Argument(metavar="MAP", help="A bundled map or a file, see rt-gym maps.")],
    agent: Annotated[
        str, typer.Option(metavar="ID[:NAME=VALUE,...]", help="The agent and its settings, see rt-gym agents.")
    ] = "lss-lrta",
    budget: Annotated[
        int | None, typer.Option(min=1, help="Expansions per move; chooses the settings that are not given, too.")
    ] = None,
    start: Annotated[str | None, typer.Option(metavar="X,Y", help="Where to begin; goes with --goal.")] = None,
    goal: Annotated[str | None, typer.Option(metavar="X,Y", help="Where to go.")] = None,
    optimal: Annotated[
        str | None, typer.Option(metavar="LOW..HIGH", help="Draw a problem with an optimal cost within this range.")
    ] = None,
    seed: Seed = 0,
    vision: Annotated[int | None, typer.Option(min=1, help="How many cells far the agent sees.")] = None,
    changes: Annotated[
        str | None,
        typer.Option(
            metavar="bridge|door|blockers|FILE",
            help="How the map changes under way: a wall closes, a wall opens, obstacles move, or as a .json or .csv"
            " file says in rows of time, x, y, free.",
        ),
    ] = None,
    max_moves: Annotated[int, typer.Option(min=1, max=10_000_000, help="Give up after this many moves.")] = 10_000,
    window: Annotated[bool, typer.Option("--window", help="Open a window instead of drawing in the terminal.")] = False,
    step: Annotated[bool, typer.Option("--step", help="Stop at every move and say what was decided and why.")] = False,
    fps: Annotated[float, typer.Option(min=0.1, max=50, help="Pictures per second.")] = 15,
    every: Annotated[int, typer.Option(min=1, help="Show one of this many moves.")] = 1,
    zoom: Annotated[int | None, typer.Option(min=1, help="Show this many cells around the agent.")] = None,
    save: Annotated[
        list[Path] | None, typer.Option(help="Write a film (.gif, .mp4) or the last picture (.png); can be repeated.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Watch an agent on its way, in the terminal or in a window."""
    import agents
    from rt_gym import InputError
    from training.cli.player.film import frame_size, open_film
    from training.cli.player.playback import Playback
    from training.cli.player.show import Show
    from training.judge.speed import label, settings_of
    from training.runs.specs import parse_agent

    if step and as_json:
        raise InputError("--step tells a story and --json prints one document: only one of them can be had")
    problem = _changing(_problem(map_name, start, goal, optimal, seed, vision), changes, seed)
    agent_id, given = parse_agent(agent)
    player = agents.make(agent_id, budget=budget, **given)
    settings = settings_of(agent_id, player)
    name = label(agent_id, settings)
    size = frame_size(problem.grid.width, problem.grid.height, zoom)
    with ExitStack() as stack:
        films = [stack.enter_context(closing(open_film(path, fps))) for path in dict.fromkeys(save or ())]
        with progress("measuring", 1):
            run = agents.run(player, problem, budget=budget, max_moves=max_moves, seed=seed)
        screen = _screen(window, step, as_json, zoom, size)
        if screen or films or step:
            show = Show(name, run, films, step, fps, every, zoom, size)
            show.play(Playback(player, problem, budget, max_moves, seed), screen)
    files = [film.path for film in films]
    if as_json:
        asked = {"agent": agent_id, "settings": settings, "budget": budget, "seed": seed}
        print_json(asked | _document(run) | {"files": [str(path) for path in files]})
    else:
        typer.echo("\n".join(_summary(name, run, files)))


def _problem(
    map_name: str, start: str | None, goal: str | None, optimal: str | None, seed: int, vision: int | None
) -> "Problem":
    """Return the problem that was asked for, or a random one."""
    from rt_gym import InputError, Problem, load_map, sample_problems
    from training.runs.specs import parse_position, parse_range

    if (start is None) != (goal is None):
        raise InputError("--start and --goal go together")
    if start is None or goal is None:
        low, high = parse_range("--optimal", optimal) if optimal is not None else (1.0, float("inf"))
        return sample_problems(load_map(map_name), 1, low, high, seed, vision)[0]
    if optimal is not None:
        raise InputError("--optimal chooses a start and a goal, but --start and --goal are given")
    positions = parse_position("--start", start), parse_position("--goal", goal)
    return Problem(load_map(map_name), *positions, vision)


def _changing(problem: "Problem", changes: str | None, seed: int) -> "Problem":
    """Return the problem on a map that changes as was asked for."""
    from training.runs import changes_for, choose_changes

    if changes is None:
        return problem
    return replace(problem, changes=changes_for(problem, choose_changes(changes), seed))


def _screen(window: bool, step: bool, as_json: bool, zoom: int | None, size: tuple[int, int]) -> "Screen | None":
    """Return where the run is to be watched, None if standard output is a pipe."""
    from training.cli.player.screens import TerminalScreen, WindowScreen

    if window:
        return WindowScreen(zoom, size)
    if as_json or not sys.stdout.isatty() or (step and not sys.stdin.isatty()):
        return None
    return TerminalScreen(zoom)


def _summary(name: str, run: "Run", files: "list[Path]") -> Iterator[str]:
    """Yield the lines that end the show."""
    from rt_gym.files import shown
    from training.cli.player.narration import ENDS, number

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
    return {
        "map": run.problem.grid.name,
        "start": run.problem.start,
        "goal": run.problem.goal,
        "vision": run.problem.vision,
        "changes": len(run.problem.changes or ()),
        "outcome": run.outcome,
        "cost": run.cost,
        "optimal": run.optimal,
        "suboptimality": run.suboptimality if run.solved else None,
        "moves": run.moves,
        "stays": run.stays,
        "expansions": run.expansions,
        "expansions_per_move": run.expansions_per_move,
        "max_expansions": run.max_expansions,
        "scans": run.scans,
        "seconds": run.seconds,
        "move_seconds": run.move_seconds and run.move_seconds._asdict(),
    }

"""``rt-gym play``: one run to watch, to step through, or to save as a film."""

import sys
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.commands.terminal import AsJson, Seed, print_json, progress

if TYPE_CHECKING:
    from agents import Run
    from rt_gym import Problem
    from rt_gym.render import Scene
    from training.commands.screens import Screen
    from training.film import Film
    from training.playback import Moment, Playback

_HINT, _STEP_HINT, _LAST_HINT = "q: stop", "Enter: next move   q: stop", "Enter: end"
_LAST = 2.0  # seconds for which the last picture stays in a window when nobody can be asked


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
    vision: Annotated[int | None, typer.Option(min=1, help="See only so many cells far.")] = None,
    max_moves: Annotated[int, typer.Option(min=1, max=10_000_000, help="Give up after so many moves.")] = 10_000,
    window: Annotated[bool, typer.Option("--window", help="Open a window instead of drawing in the terminal.")] = False,
    step: Annotated[bool, typer.Option("--step", help="Stop at every move and say what was decided and why.")] = False,
    fps: Annotated[float, typer.Option(min=0.1, max=50, help="Pictures per second.")] = 15,
    every: Annotated[int, typer.Option(min=1, help="Show every so many moves.")] = 1,
    zoom: Annotated[int | None, typer.Option(min=1, help="Show so many cells around the agent.")] = None,
    save: Annotated[
        list[Path] | None, typer.Option(help="Write a film (.gif, .mp4) or the last picture (.png); can be repeated.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Watch an agent on its way, in the terminal or in a window."""
    import agents
    from rt_gym import InputError
    from training.bench import label, settings_of
    from training.film import frame_size, open_film
    from training.playback import Playback
    from training.specs import parse_agent

    if step and as_json:
        raise InputError("--step tells a story and --json prints one document: only one of them can be had")
    problem = _problem(map_name, start, goal, optimal, seed, vision)
    agent_id, given = parse_agent(agent)
    player = agents.make(agent_id, budget=budget, **given)
    settings = settings_of(agent_id, player)
    name = label(agent_id, settings)
    cells = min(zoom or problem.grid.width, problem.grid.width), min(zoom or problem.grid.height, problem.grid.height)
    with ExitStack() as stack:
        films = [stack.enter_context(closing(open_film(path, fps))) for path in dict.fromkeys(save or ())]
        with progress(f"{name} on {problem.grid.name}", 1):  # kernels may have to be compiled
            run = agents.run(player, problem, budget=budget, max_moves=max_moves, seed=seed)
            playback = Playback(player, problem, budget, max_moves, seed)
        show = _Show(name, run, films, step, fps, every, zoom, frame_size(*cells))
        show.go(playback, _screen(window, step, as_json, zoom, show.size))
    if as_json:
        files = [str(film.path) for film in films]
        print_json(_document(run, agent_id, settings, budget, seed) | {"files": files})
    else:
        typer.echo("\n".join(_summary(name, run)))


def _problem(
    map_name: str, start: str | None, goal: str | None, optimal: str | None, seed: int, vision: int | None
) -> "Problem":
    """Return the problem that was asked for, or a random one."""
    from rt_gym import InputError, Problem, load_map, sample_problems
    from training.specs import parse_position, parse_range

    if (start is None) != (goal is None):
        raise InputError("--start and --goal go together")
    if start is None or goal is None:
        low, high = parse_range("--optimal", optimal) if optimal is not None else (1.0, float("inf"))
        return sample_problems(load_map(map_name), 1, low, high, seed, vision)[0]
    if optimal is not None:
        raise InputError("--optimal chooses a start and a goal, but --start and --goal are given")
    positions = parse_position("--start", start), parse_position("--goal", goal)
    return Problem(load_map(map_name), *positions, vision)


def _screen(window: bool, step: bool, as_json: bool, zoom: int | None, size: tuple[int, int]) -> "Screen | None":
    """Return where the run is to be watched, if anywhere: nobody watches a pipe."""
    from training.commands.screens import TerminalScreen, WindowScreen

    if window:
        return WindowScreen(zoom, size)
    if as_json or not sys.stdout.isatty() or (step and not _interactive()):
        return None
    return TerminalScreen(zoom)


def _interactive() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


@dataclass(frozen=True)
class _Show:
    """How a run is shown, told and saved."""

    label: str
    run: "Run"
    films: "list[Film]"
    step: bool
    fps: float
    every: int
    zoom: int | None
    size: tuple[int, int]

    def go(self, playback: "Playback", screen: "Screen | None") -> None:
        """Play the run on a screen, if there is one, and write the films. It need not be played if nobody looks."""
        if screen is None and not self.films and not self.step:
            return
        for film in self.films:
            self._announce(film)
        last = self._play(playback, screen)
        for film in self.films:
            film.write()
        if screen is not None and screen.tells:
            pass
        if last.outcome is None:
            typer.echo(f"stopped at move {last.moves + 1} of {self.run.moves}; the summary is that of the whole run")

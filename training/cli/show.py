"""Measures a run of an agent or of a squad, and shows it on a screen, in words and in films."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import typer

import agents
from agents import Run
from agents.trace import save_trace
from rt_gym import Grid, Problem, Squad, SquadRun
from rt_gym.files import shown
from rt_gym.render import Scene, frame
from rt_gym.render.film import Film, frame_size, open_film
from training.cli.playback import (
    ENDS,
    FRESH,
    LEGEND,
    Instant,
    Playback,
    SquadPlayback,
    caption,
    news,
    number,
    squad_caption,
    tell,
)
from training.cli.screens import Look, Screen
from training.cli.terminal import progress
from training.report.replays import Recording, SquadRecording, record_squad
from training.runs import Contender
from training.runs.contenders import blaming, make_agent
from training.runs.jobs import provenance

_HINT = "space: pause   b: back   q: stop"
_STEP_HINT = "Enter: next move   b: back   q: stop   g: cost from where the search began   f: g + value"

Row = tuple[str, str, str]  # of a summary: what, how much, and a note


class Piece(ABC):
    """A run that is measured, and then shown as often as one likes.

    Args:
        contender: who makes it.
        grid: the map.
        max_moves: how many moves, or ticks, there may be.
        seed: for the agents.

    Attributes:
        grid: the map.
        label: what the agent is called.
    """

    def __init__(self, contender: Contender, grid: Grid, max_moves: int, seed: int) -> None:
        self.contender, self.grid, self.max_moves, self.seed = contender, grid, max_moves, seed
        self.label = contender.entry.label

    @abstractmethod
    def measure(self) -> None:
        """Make the run, without a show. All that follows tells of it."""

    @property
    @abstractmethod
    def moves(self) -> int:
        """How many moves, or ticks, it has."""

    @abstractmethod
    def replay(self) -> Playback | SquadPlayback:
        """Return the same run, moment by moment."""

    @abstractmethod
    def caption(self, moment: Any) -> str:
        """Return one line about a moment."""

    @property
    @abstractmethod
    def problem(self) -> Problem:
        """What is solved, or the first of several; its map changes as those of all."""

    def news(self, moment: Any, span: int) -> str:
        """Return a sentence about what the last ``span`` moves have changed on the map, if they have."""
        changed = news(self.problem, moment.moves, span)
        return f"The map has changed: {changed}." if changed else ""

    def story(self, moment: Any) -> str:
        """Return sentences about a moment."""
        return ""

    @abstractmethod
    def summary(self) -> Iterator[str]:
        """Yield the lines that end the show."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Return what was asked for and what came out, as JSON takes it."""


class Solo(Piece):
    """A run of one agent.

    Args:
        contender, max_moves, seed: see ``Piece``.
        problem: what to solve.
        window: how many cells around the agent are looked at; the whole map when None.
    """

    def __init__(self, contender: Contender, problem: Problem, max_moves: int, seed: int, window: int | None) -> None:
        super().__init__(contender, problem.grid, max_moves, seed)
        self._problem, self._window = problem, window
        self._agent = make_agent(contender.agent, contender.settings)

    @property
    def problem(self) -> Problem:
        """What is solved."""
        return self._problem

    def measure(self) -> None:
        """Make the run."""
        self.run = self._made()

    def write_trace(self, path: Path) -> None:
        """Make the run once more, with a log, and write it as a trace."""
        save_trace(self._made(log=True), path)

    def recording(self) -> Recording:
        """Make the run once more, with a log, to be replayed in a page."""
        run = self._made(log=True)
        return Recording(self.contender, run, run.moves, run.cost, run.outcome, provenance()["command"])

    def _made(self, log: bool = False) -> Run:
        limit, moves, seed = self.contender.budget, self.max_moves, self.seed
        with blaming(self.contender.agent, self.problem):
            return agents.run(self._agent, self.problem, budget=limit, max_moves=moves, seed=seed, log=log)

    @property
    def moves(self) -> int:
        """How many moves it has."""
        return self.run.moves

    def replay(self) -> Playback:
        """Return the same run, move by move."""
        who, budget = self.contender.agent, self.contender.budget
        return Playback(self._agent, self.problem, budget, self.max_moves, self.seed, who, self._window)

    def caption(self, moment: Any) -> str:
        """Return one line about a moment."""
        return caption(self.label, moment, self.run)

    def story(self, moment: Any) -> str:
        """Return sentences about a moment."""
        return tell(moment, self.problem.goal)

    def summary(self) -> Iterator[str]:
        """Yield the lines that end the show."""
        run, problem, spent = self.run, self.problem, self.run.move_seconds
        yield f"{self.label} on {shown(self.grid.name)} from {problem.start} to {problem.goal}: {ENDS[run.outcome]}"
        ratio = run.suboptimality if run.solved else None
        slowest = f", {_short(spent.max * 1e6)} µs for the slowest move" if spent and run.moves else ""
        yield from _lines(
            ("cost", number(run.cost), f"{ratio:.3f} times the optimal {number(run.optimal)}" if ratio else ""),
            ("moves", f"{run.moves:,}", f"{run.stays:,} of them standing still" if run.stays else ""),
            ("expansions", number(run.expansions_per_move), f"per move, {run.max_expansions:,} for the hardest"),
            ("scans", number(run.scans / max(1, run.moves)), f"per move, {run.max_scans:,} for the hardest"),
            ("time", _short(run.seconds * 1e3), f"ms{slowest}"),
            *_changes_row(problem, run.moves),
        )

    def document(self) -> dict[str, Any]:
        """Return what was asked for and what came out."""
        run, problem, contender = self.run, self.problem, self.contender
        plain = ("outcome", "cost", "optimal", "moves", "stays", "expansions", "expansions_per_move", "max_expansions")
        return {
            "agent": contender.agent,
            "settings": contender.settings,
            "budget": contender.entry.limit,
            "seed": self.seed,
            "map": self.grid.name,
            "start": problem.start,
            "goal": problem.goal,
            "vision": problem.vision,
            "changes": len(problem.changes or ()),
            **{name: getattr(run, name) for name in (*plain, "scans", "seconds")},
            "suboptimality": run.suboptimality if run.solved else None,
            "move_seconds": run.move_seconds and run.move_seconds._asdict(),
            "path": run.path.tolist(),
        }


class Team(Piece):
    """A run of a squad whose units have the same agent.

    Args:
        contender, max_moves, seed: see ``Piece``.
        problems: one per unit.
        options: what a squad takes besides, with an ``allowance``.
    """

    def __init__(
        self, contender: Contender, problems: Sequence[Problem], max_moves: int, seed: int, options: dict[str, Any]
    ) -> None:
        super().__init__(contender, problems[0].grid, max_moves, seed)
        self.problems, self._options, self._allowance = problems, options, options["allowance"]
        self._members = [make_agent(contender.agent, contender.settings) for _ in problems]

    @property
    def problem(self) -> Problem:
        """What the first unit solves."""
        return self.problems[0]

    def _squad(self, units: int | None = None) -> Squad:
        return Squad(self.problems[:units], self._members[:units], seed=self.seed, **self._options)

    def measure(self) -> None:
        """Make the run."""
        with blaming(self.contender.agent, self.grid):
            self._squad(1).run(2)  # loads the kernels, so that no tick of the run has to
            self.run: SquadRun = self._squad().run(self.max_moves)

    @property
    def moves(self) -> int:
        """How many ticks it has."""
        return self.run.ticks

    def recording(self) -> SquadRecording:
        """Make the run once more, to be replayed in a page."""
        with blaming(self.contender.agent, self.grid):
            return record_squad(self.label, self._squad(), self._allowance, self.max_moves, provenance()["command"])

    def replay(self) -> SquadPlayback:
        """Return the same run, tick by tick."""
        return SquadPlayback(self._squad(), self.max_moves)

    def caption(self, moment: Any) -> str:
        """Return one line about a tick."""
        return squad_caption(self.label, moment, self.run, self._allowance)

    def summary(self) -> Iterator[str]:
        """Yield the lines that end the show."""
        run = self.run
        arrived = f"{run.arrivals} of {run.units} arrived, {run.ticks:,} tick{'' if run.ticks == 1 else 's'}"
        yield f"{run.units} x {self.label} on {shown(self.grid.name)}: {arrived}"
        ratio = f"{run.suboptimality.mean():.3f} times the optimal, spread {run.spread:.3f}" if run.arrivals else ""
        unserved = f", {run.waits.sum():,} of them without a share" if run.waits.any() else ""
        worst = f"{run.work_worst:,} in the worst, {self._allowance:,} allowed"
        slowest = f"{_short(run.seconds_worst * 1e3)} in the worst"
        yield from _lines(
            ("cost", number(run.sum_of_costs), ratio),
            ("first step", number(float(run.first_move.mean())), f"ticks on average, {run.first_move.max():,} at most"),
            ("stays", f"{run.stays.sum():,}", f"ticks of units that were under way{unserved}"),
            ("work", number(run.work_p99), f"expansions in 99 % of the ticks, {worst}"),
            (
                "time",
                _short(run.seconds_p99 * 1e3),
                f"ms in 99 % of the ticks, {slowest}",
            ),
            ("memory", _short(run.memory_bytes / 2**20), "MB"),
            *_changes_row(self.problem, run.ticks),
        )

    def document(self) -> dict[str, Any]:
        """Return what was asked for and what came out; lists have an entry per unit."""
        run, first, contender = self.run, self.problems[0], self.contender
        each = ("arrival", "cost", "optimal", "first_move", "stays", "waits", "overruns")
        return {
            "agent": contender.agent,
            "settings": contender.settings,
            **self._options,
            "seed": self.seed,
            "map": self.grid.name,
            "vision": first.vision,
            "changes": len(first.changes or ()),
            **{name: getattr(run, name) for name in ("units", "ticks", "arrivals", "sum_of_costs")},
            "suboptimality": float(run.suboptimality.mean()) if run.arrivals else None,
            "spread": run.spread if run.arrivals else None,
            "work_p99": run.work_p99,
            "work_worst": run.work_worst,
            "ms_p99": run.seconds_p99 * 1e3,
            "ms_worst": run.seconds_worst * 1e3,
            "memory_bytes": run.memory_bytes,
            "starts": [problem.start for problem in self.problems],
            "goals": [problem.goal for problem in self.problems],
            **{name: getattr(run, name).tolist() for name in each},
        }


def _lines(*rows: Row) -> Iterator[str]:
    for what, value, note in rows:
        yield f"  {what:10}{value:>12}  {note}".rstrip()


def _changes_row(problem: Problem, moves: int) -> Iterator[Row]:
    """Yield a row about the changes that a run has seen, if the map changes."""
    if problem.changes:
        seen = sum(change.time <= moves for change in problem.changes)
        yield "changes", f"{seen:,}", f"of {len(problem.changes):,} that the map was to have"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def perform(piece: Piece, look: Look, save: list[Path]) -> None:
    """Measure a run, then show the same run and write its films."""
    with ExitStack() as stack:
        films = [stack.enter_context(closing(open_film(path, look.fps))) for path in save]
        with progress("measuring", 1):
            piece.measure()
        show = Show(look, piece, films)
        screen = look.screen(show.size)
        if screen or films or look.step:
            show.play(screen)


@dataclass(frozen=True)
class Show:
    """A run that is shown.

    Attributes:
        look: how.
        piece: the run, which has been measured.
        films: what is to be written.
    """

    look: Look
    piece: Piece
    films: list[Film]

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of a frame."""
        return frame_size(self.piece.grid.width, self.piece.grid.height, self.look.zoom)

    def play(self, screen: Screen | None) -> None:
        """Play a run to its end, or until the user has seen enough, and write the films of what was played."""
        self._announce(screen)
        playback = self.piece.replay()
        moments = playback.moments()
        with progress("preparing", 1):
            first = next(moments)  # outside the screen, because kernels may have to be compiled for it
        with screen or nullcontext():
            last = self._play(chain([first], moments), playback, screen)
        with progress("writing", len(self.films)) as advance:
            for film in self.films:
                film.write()
                advance()
        if last.outcome is None:
            notice = f"stopped at move {last.moves + 1} of {self.piece.moves}; the summary tells of the whole run"
            typer.echo(notice, err=True)

    def _announce(self, screen: Screen | None) -> None:
        """Say beforehand which frames are left out, and what to press where the screen has no words."""
        if screen and not screen.tells and self.look.asks:
            typer.echo(_STEP_HINT, err=True)
        for film in self.films:
            stride = self._stride(film)
            if film.most > 1 and stride > self.look.every:
                notice = f"{shown(film.path)}: one move in {stride} is drawn, because {film.most} frames are the most"
                typer.echo(notice, err=True)

    def _stride(self, film: Film) -> int:
        return film.stride(self.piece.moves, self.look.every)

    def _play(self, moments: Iterable[Instant], playback: Any, screen: Screen | None) -> Instant:
        quiet = nullcontext(lambda: None) if screen or self.look.step else progress("drawing", self.piece.moves + 1)
        with quiet as advance:
            for moment in moments:
                going = self._present(moment, playback, screen) if moment.due(self.look.every) else True
                self._film(moment, playback, not going)
                advance()
                if not going:
                    break
        return moment

    def _present(self, moment: Instant, playback: Any, screen: Screen | None) -> bool:
        """Show and tell a moment; return whether the show goes on."""
        told = [self.piece.news(moment, self.look.every), self.piece.story(moment)] if self.look.step else []
        story = "\n".join(filter(None, told))
        if story and not (screen and screen.tells):
            typer.echo(story if moment.moves else f"{LEGEND}\n{story}")
        if screen is None:
            return True
        words = story or self.piece.news(moment, max(FRESH, self.look.every))
        screen.show(self._scene(moment, playback), words, _STEP_HINT if self.look.asks else _HINT)
        if moment.outcome is None:
            return screen.wait(None if self.look.asks else 1 / self.look.fps)
        screen.linger()
        return True

    def _film(self, moment: Instant, playback: Any, last: bool) -> None:
        """Give the films that want it, or all of them if it is the last, a frame of a moment."""
        films = [film for film in self.films if last or moment.due(self._stride(film))]
        if films:
            image = frame(self._scene(moment, playback), self.size, self.look.zoom, legend=True)
            for film in films:
                film.add(image)

    def _scene(self, moment: Instant, playback: Any) -> Scene:
        return playback.scene(moment, self.piece.caption(moment))

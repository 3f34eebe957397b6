"""Shows a run: on a screen, in words, and in films."""

import sys
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain

import typer

from agents import Run
from rt_gym.files import shown
from rt_gym.render import Scene, frame
from training.cli.player.film import Film
from training.cli.player.narration import LEGEND, caption, tell
from training.cli.player.playback import Moment, Playback
from training.cli.player.screens import Screen
from training.cli.terminal import progress

_HINT = "q: stop"
_STEP_HINT = "Enter: next move   q: stop   g: cost from where the search began   f: g + value"


@dataclass(frozen=True)
class Show:
    """How a run is shown.

    Attributes:
        label: what the agent is called.
        run: the same run, measured without a show.
        films: what is to be written.
        step: whether every decision is explained, with a pause if there is a keyboard.
        fps: pictures per second, otherwise.
        every: one of how many moves is shown.
        zoom: how many cells around the agent are shown; the whole map when None.
        size: width and height of frames.
    """

    label: str
    run: Run
    films: list[Film]
    step: bool
    fps: float
    every: int
    zoom: int | None
    size: tuple[int, int]

    def play(self, playback: Playback, screen: Screen | None) -> None:
        """Play a run to its end, or until the user has seen enough, and write the films of what was played."""
        self._announce(screen)
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
            notice = f"stopped at move {last.moves + 1} of {self.run.moves}; the summary tells of the whole run"
            typer.echo(notice, err=True)

    def _announce(self, screen: Screen | None) -> None:
        """Say beforehand which frames are left out, and what to press where the screen has no words."""
        if screen and not screen.tells and self._asks:
            typer.echo(_STEP_HINT, err=True)
        for film in self.films:
            stride = self._stride(film)
            if film.most > 1 and stride > self.every:
                notice = f"{shown(film.path)}: one move in {stride} is drawn, because {film.most} frames are the most"
                typer.echo(notice, err=True)

    def _stride(self, film: Film) -> int:
        return film.stride(self.run.moves, self.every)

    def _play(self, moments: Iterable[Moment], playback: Playback, screen: Screen | None) -> Moment:
        quiet = nullcontext(lambda: None) if screen or self.step else progress("drawing", self.run.moves + 1)
        with quiet as advance:
            for moment in moments:
                going = self._present(moment, playback, screen) if moment.due(self.every) else True
                self._film(moment, playback, not going)
                advance()
                if not going:
                    break
        return moment

    def _present(self, moment: Moment, playback: Playback, screen: Screen | None) -> bool:
        """Show and tell a moment; return whether the show goes on."""
        story = tell(moment, playback.problem.goal) if self.step else ""
        if story and not (screen and screen.tells):
            typer.echo(story if moment.moves else f"{LEGEND}\n{story}")
        if screen is None:
            return True
        screen.show(self._scene(moment, playback), story, _STEP_HINT if self._asks else _HINT)
        if moment.outcome is None:
            return screen.wait(None if self._asks else 1 / self.fps)
        screen.linger()
        return True

    @property
    def _asks(self) -> bool:
        return self.step and sys.stdin.isatty()

    def _film(self, moment: Moment, playback: Playback, last: bool) -> None:
        """Give the films that want it, or all of them if it is the last, a frame of a moment."""
        films = [film for film in self.films if last or moment.due(self._stride(film))]
        if films:
            image = frame(self._scene(moment, playback), self.size, self.zoom)
            for film in films:
                film.add(image)

    def _scene(self, moment: Moment, playback: Playback) -> Scene:
        return playback.scene(moment, caption(self.label, moment, self.run))

"""What sub-commands share: options and their groups in the help, tables, JSON, progress bars, folders, and reports."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from rt_gym import Grid
    from training.judge import Findings
    from training.judge.policies import PolicyFindings
    from training.judge.tables import Table
    from training.learn import Parts
    from training.report.comparison import Part
    from training.runs import Draw, Workers

T = TypeVar("T")


class Terminated(KeyboardInterrupt):
    """SIGTERM has come: all is done as after Ctrl-C, but for the exit code."""


def exit_code(error: KeyboardInterrupt) -> int:
    """Return the exit code of a command that was stopped, as shells count: 128 and the number of the signal."""
    return 143 if isinstance(error, Terminated) else 130


_WIDTH_IN_A_FILE, _ENDLESS = 120, 10_000
_EXACT = re.compile(r"([34]8);2;(\d+);(\d+);(\d+)")
_CUBE = (0, 95, 135, 175, 215, 255)  # the levels of colours 16 to 231, six to the power of three
_GREYS = range(8, 248, 10)  # those of colours 232 to 255


def print_json(document: Any) -> None:
    """Print one JSON document; infinite numbers are not JSON and must have been replaced."""
    typer.echo(json.dumps(document, indent=2, allow_nan=False))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
    """Print a table whose first ``left`` columns hold words and the others numbers.

    A row of one cell is the heading of a group. Words are wrapped where the terminal is narrow, numbers never. In a
    file a table whose only words are names is as wide as it has to be, unless the environment names a width; but never
    so narrow that a number or a word would be cut.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from training.judge.tables import Alarm

    console = Console()
    table = Table(title=Text(title, "bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        words = number < left
        table.add_column(column, justify="left" if words else "right", no_wrap=not words)
    for row in rows:
        heading = len(row) == 1
        if heading:
            table.add_section()
        table.add_row(
            *(Text(cell, "bold red" if isinstance(cell, Alarm) else "") for cell in row), style="bold" * heading
        )
    least, wide = console.measure(table, options=console.options.update(max_width=_ENDLESS))
    if not console.is_terminal:
        asked = os.environ.get("COLUMNS", "").isdigit()
        enough = console.width if asked else max(_WIDTH_IN_A_FILE, wide if left == 1 else 0)
        console = Console(width=max(enough, least))  # in a file nothing has to be cut
    if wide > console.width:
        table.padding = (0, 0)  # rather than words in two lines
    console.print(table)


def print_tables(tables: "Iterable[Table]") -> None:
    """Print tables that judges have made."""
    for table in tables:
        print_table(table.title, table.columns, table.rows)


@contextmanager
def progress(text: str, total: float) -> Iterator[Callable[..., Any]]:
    """Show a progress bar on standard error if that is a terminal; yields ``advance(amount=1, text=None)``."""
    if not sys.stderr.isatty():
        yield lambda amount=1, text=None: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(text, total=total)
        yield lambda amount=1, text=None: bar.update(task, advance=amount, description=text)


def gather(text: str, items: Iterable[T], total: float) -> list[T]:
    """Return all items, with a progress bar while they are made."""
    gathered = []
    with progress(text, total) as advance:
        for item in items:
            gathered.append(item)
            advance()
    return gathered


@contextmanager
def interruptible(kept: str | Callable[[], str], folder: Path) -> Iterator[None]:
    """Say after Ctrl-C or SIGTERM what is kept in a folder, and that the same command goes on from there."""
    from rt_gym.files import shown

    try:
        yield
    except KeyboardInterrupt as error:
        said = kept if isinstance(kept, str) else kept()
        typer.echo(f"stopped: {said} in {shown(folder)}; the same command goes on from there", err=True)
        raise typer.Exit(exit_code(error)) from None


@contextmanager
def resumable(text: str, total: int, what: str, folder: Path) -> Iterator[Callable[[int], Any]]:
    """Show a progress bar, and say after Ctrl-C or SIGTERM how many of ``what``, such as runs, are kept in a folder."""
    done = 0
    with progress(text, total) as advance, interruptible(lambda: f"{done} of {total} {what} are kept", folder):

        def count(amount: int) -> None:
            nonlocal done
            done += amount
            advance(amount)

        yield count


def tell_remarks(source: str, grid: "Grid") -> None:
    """Say on standard error what somebody should know of a map that was read."""
    from rt_gym.maps.remarks import remarks

    for remark in remarks(source, grid):
        typer.echo(f"note: {remark}", err=True)


def make_folder(path: Path) -> None:
    """Make sure that files can be put into a folder, before any work is done for them."""
    from rt_gym import files

    files.make_folder(path)
    files.remove_stale(path)


def begin_training(out: Path, command: str, config: Any, parts: "Parts", force: bool, free: Sequence[str] = ()) -> None:
    """Make the folder of a training, and refuse one that holds another training, unless that may be replaced.

    Fields of the config that are ``free`` may differ.
    """
    from training.learn import keep_settings, settings_of

    make_folder(out)
    keep_settings(out, command, settings_of(config, parts, free), force)


def print_findings(tables: "Sequence[Table]", remarks: Sequence[str], files: Sequence[Path]) -> None:
    """Print what a training found, and where it has written."""
    print_tables(tables)
    typer.echo("\n".join(["", *remarks, *map(str, files)]))


def in_known_colours(console: "Console", draw: Callable[[bool], str]) -> str:
    """Return what ``draw(colour)`` draws, in the colours that a terminal knows: all, 256, or none."""
    colours = console.color_system
    if console.no_color or colours in (None, "windows"):
        return draw(False)
    return draw(True) if colours == "truecolor" else with_256_colours(draw(True))


def with_256_colours(drawn: str) -> str:
    """Return a text with each of its 24-bit colours replaced by the nearest that every terminal has."""
    return _EXACT.sub(lambda match: f"{match[1]};5;{_nearest(*map(int, match.groups()[1:]))}", drawn)


@cache
def _nearest(*colour: int) -> int:
    levels = [min(range(6), key=lambda level: abs(_CUBE[level] - part)) for part in colour]
    cube = 16 + 36 * levels[0] + 6 * levels[1] + levels[2]
    grey = min(range(24), key=lambda number: abs(_GREYS[number] - sum(colour) / 3))
    off_cube = sum((_CUBE[level] - part) ** 2 for level, part in zip(levels, colour, strict=True))
    off_grey = sum((_GREYS[grey] - part) ** 2 for part in colour)
    return cube if off_cube <= off_grey else 232 + grey


@dataclass(frozen=True)
class Group:
    """A group of options in the help."""

    title: str

    def option(self, metavar: str | None, text: str, *names: str, **limits: Any) -> Any:
        """Return an option of this group.

        Args:
            metavar: what the help shows for its value; None for a flag.
            text: what the help says.
            names: how it is written, if not like the parameter.
            limits: ``min`` and ``max``.
        """
        check = _refuse_nan if limits else None
        return typer.Option(*names, metavar=metavar, help=text, rich_help_panel=self.title, callback=check, **limits)


def _refuse_nan(value: Any) -> Any:
    """Return a value that has limits; not every version of Typer sees that nan is within none."""
    if isinstance(value, float) and isnan(value):
        raise typer.BadParameter("nan is not a number.")
    return value


def named(text: str) -> Path:
    """Return the path of an output; an empty text, which would be the current folder, is refused."""
    if not text:
        raise typer.BadParameter("the name of a file or folder is wanted, not an empty text.")
    return Path(text)


PROBLEMS, AGENTS, JUDGING = Group("Problems"), Group("Agents and budgets"), Group("Judging")
MAPS, LEARNING, RUNNING, OUTPUT = Group("Maps"), Group("Learning"), Group("Running"), Group("Output")

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="The same seed gives the same result.")]

_CHANGES = "How the map changes: bridge, door, blockers, or a .json or .csv file with rows of time, x, y, free."
_RANGE = "LOW..HIGH", "The range of their optimal costs."
Changes = Annotated[str | None, PROBLEMS.option("KIND|FILE", _CHANGES)]
Optimal = Annotated[str, PROBLEMS.option(*_RANGE)]
Vision = Annotated[int | None, PROBLEMS.option("N", "How many cells far the agent sees.", min=1)]

Jobs = Annotated[int, RUNNING.option("N", "Processes at a time; -1 for one per core.", min=-1)]
Backend = Annotated[str, RUNNING.option("NAME", "loky (this machine) or dask.")]
Scheduler = Annotated[str | None, RUNNING.option("ADDRESS", "The Dask scheduler, such as tcp://10.0.0.5:8786.")]

Maps = Annotated[list[str] | None, MAPS.option("MAP", "To learn on: names, files, folders, splits; repeatable.")]
Validation = Annotated[list[str] | None, MAPS.option("MAP", "The same, to choose on.")]
Test = Annotated[list[str] | None, MAPS.option("MAP", "The same, to be judged on.")]
PerMap = Annotated[int, MAPS.option("N", "Problems per map.", min=1, max=10**6)]
OptimalOfMaps = Annotated[str, MAPS.option(*_RANGE)]
TrainingOut = Annotated[Path, OUTPUT.option("FOLDER", "For policy, checkpoints, tables and plots.", parser=named)]
Force = Annotated[bool, OUTPUT.option(None, "Replace a training with other settings.", "--force")]


def make_workers(jobs: int, backend: str, scheduler: str | None) -> "Workers":
    """Return what runs the jobs, or refuse options that do not go together."""
    from training.runs import Workers

    return Workers(jobs, backend, scheduler)


def optimal_range(text: str | None) -> tuple[float, float]:
    """Return the range of ``--optimal``, that of all costs where it is not given."""
    from training.runs.contenders import parse_range

    return parse_range("--optimal", text) if text else (1.0, float("inf"))


def read_draw(problems: int, optimal: str, seed: int) -> "Draw":
    """Return which problems are drawn from every map of a training."""
    from training.runs import Draw

    return Draw(problems, *optimal_range(optimal), seed)


_NAME = "report.html"
_STOPPED = (
    "Stopped before the end: nothing is judged yet. What was done is kept in this folder, and the same command goes on"
    " from there. Tables and plots beside this page, if there are any, are those of an earlier run."
)


def leave_report(folder: Path, title: str, parts: "Sequence[Part]", **more: Any) -> Path:
    """Write the report of comparisons into a folder and return where it is; ``more`` as in ``write_report``."""
    from training.report import write_report

    with interruptible("all results are kept", folder), progress("writing the report", 1):
        return write_report(folder / _NAME, title, parts, **more)


def leave_training(
    folder: Path, what: str, findings: "Findings | PolicyFindings", files: list[Path], tables: "Sequence[Table]" = ()
) -> None:
    """Write the report of a training, and name it among its files."""
    from training.report.comparison import Part

    part = Part(findings.title, findings, tables)
    files.append(leave_report(folder, f"rt-gym train {what}: judged by {findings.title}", [part]))


def unfinished_training(folder: Path, what: str) -> AbstractContextManager[None]:
    """Leave a report that says what is missing if a training is stopped."""
    from training.runs.jobs import provenance

    return unfinished_report(folder, f"rt-gym train {what}", provenance)


@contextmanager
def unfinished_report(folder: Path, title: str, settings: Callable[[], dict[str, Any]]) -> Iterator[None]:
    """Leave a report that says what is missing if a command is stopped by Ctrl-C or SIGTERM."""
    try:
        yield
    except typer.Exit:
        from training.report import write_unfinished

        write_unfinished(folder / _NAME, title, _STOPPED, settings())
        raise

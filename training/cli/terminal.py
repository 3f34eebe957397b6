"""What the sub-commands share: common options, tables, JSON, progress bars, and folders for what they write."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

_WIDTH_IN_A_FILE, _WIDE = 120, 100

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")]


def print_json(document: Any) -> None:
    """Print one JSON document; infinite numbers are not JSON and must have been replaced."""
    typer.echo(json.dumps(document, indent=2, allow_nan=False))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
    """Print a table whose first ``left`` columns hold words and the others numbers.

    A row of one cell is the heading of a group. Words are wrapped where the terminal is narrow, numbers never.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from training.judge.tables import Alarm

    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH_IN_A_FILE)
    gap = (0, 1) if console.width >= _WIDE else (0, 0)
    table = Table(title=Text(title, "bold"), title_justify="left", box=box.SIMPLE_HEAD, padding=gap, pad_edge=False)
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
    console.print(table)


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


def make_folder(path: Path) -> None:
    """Make sure that files can be put into a folder, before any work is done for them."""
    from rt_gym import files

    files.make_folder(path)

"""The report that commands leave beside their tables."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from training.cli.terminal import interruptible, progress

if TYPE_CHECKING:
    from training.judge import Findings
    from training.judge.policies import PolicyFindings
    from training.judge.tables import Table
    from training.report.comparison import Part

_NAME = "report.html"
_STOPPED = (
    "Stopped before the end: nothing is judged yet. What was done is kept in this folder, and the same command goes on"
    " from there. Tables and plots beside this page, if there are any, are those of an earlier run."
)


def leave_report(folder: Path, title: str, parts: "Sequence[Part]", **more: Any) -> Path:
    """Write the report of comparisons into a folder and return where it is; ``more`` as in ``write_report``."""
    from training.report.html import write_report

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
        from training.report.html import write_unfinished

        write_unfinished(folder / _NAME, title, _STOPPED, settings())
        raise

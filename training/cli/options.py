"""The options that sub-commands share, and the groups in which the help shows options."""

from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from training.runs import Draw, Workers


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

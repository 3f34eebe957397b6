"""The maps of a training on the command line: some to learn on, some to choose on, some to be judged on."""

from math import inf
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from training.runs import Draw

Sources = Annotated[
    list[str] | None, typer.Option(metavar="MAP", help="Bundled names, files, folders or splits; can be repeated.")
]
PerMap = Annotated[int, typer.Option(min=1, help="Problems per map.")]
Optimal = Annotated[str, typer.Option(metavar="LOW..HIGH", help="The range of their optimal costs.")]


def read_draw(problems: int, optimal: str, seed: int) -> "Draw":
    """Return which problems are drawn from every map."""
    from training.runs import Draw
    from training.runs.specs import parse_range

    low, high = parse_range("--optimal", optimal) if optimal else (1.0, inf)
    return Draw(problems, low, high, seed)

"""The maps of a training on the command line: some to learn on, some to choose on, some to be judged on."""

from typing import TYPE_CHECKING

from training.cli.options import OptimalOfMaps as Optimal
from training.cli.options import PerMap, Sources, optimal_range

if TYPE_CHECKING:
    from training.runs import Course

__all__ = ["Optimal", "PerMap", "Sources", "draw_parts"]


def draw_parts(
    given: dict[str, list[str] | None], problems: int, optimal: str, seed: int
) -> "dict[str, tuple[Course, ...]]":
    """Return the maps of every part with problems on them."""
    from training.runs import Draw, find_parts

    return find_parts(given, Draw(problems, *optimal_range(optimal), seed))

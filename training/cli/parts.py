"""The maps of a training on the command line: some to learn on, some to choose on, some to be judged on."""

from math import inf
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from training.runs import Course

Sources = Annotated[
    list[str] | None, typer.Option(metavar="MAP", help="Bundled names, files, folders or splits; can be repeated.")
]
PerMap = Annotated[int, typer.Option(min=1, help="Problems per map.")]
Optimal = Annotated[str, typer.Option(metavar="LOW..HIGH", help="The range of their optimal costs.")]

Given = dict[str, list[str] | None]


def draw_parts(given: Given, problems: int, optimal: str, seed: int) -> "dict[str, tuple[Course, ...]]":
    """Return the maps of every part with problems on them; what is not given is the split mixed of that name.

    Raises:
        InputError: for maps that stand in two parts: a policy must be judged on maps that it has not seen.
    """
    from rt_gym import InputError
    from training.runs import Draw, find_courses
    from training.runs.specs import parse_range

    low, high = parse_range("--optimal", optimal) if optimal else (1.0, inf)
    draw, owner = Draw(problems, low, high, seed), dict[str, str]()
    parts = {part: tuple(find_courses(maps or [f"mixed-{part}"], draw)) for part, maps in given.items()}
    for part, courses in parts.items():
        for course in courses:
            other = owner.setdefault(course.digest, part)
            if other != part:
                raise InputError(f"map {course.name} is given for {other} and for {part}; they must not share maps")
    return parts

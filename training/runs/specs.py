"""What people write on a command line: an agent with its settings, a sweep of settings, a position, a range."""

import re
from itertools import product
from math import prod
from typing import Any, TypeVar

from rt_gym.errors import InputError, quoted
from rt_gym.terrain import Position

# No more digits than an int64 surely holds; a longer number becomes a float, which no whole number accepts.
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_POSITION = re.compile(r"(-?\d{1,9}),(-?\d{1,9})")
_SPAN = re.compile(r"(-?\d{1,9})\.\.(-?\d{1,9})")
_BETWEEN = re.compile(r":|,(?=\s*[^\W\d]\w*\s*=)")  # two parameters; a comma also parts the values of one
_WORDS = {"true": True, "false": False}
_MOST = 10_000  # settings of one sweep

Number = TypeVar("Number", int, float)


def parse_agent(text: str) -> tuple[str, dict[str, Any]]:
    """Return the id and the settings of an agent written as ``ID`` or ``ID:name=value,name=value``.

    Parameters may be parted by colons as well. Values are whole numbers, other numbers, ``true`` or ``false``, or else
    words. Whether there is such an agent with such parameters is for ``agents.make`` to say.

    Raises:
        InputError: where the text is not written so, or is a sweep of several settings.

    Example:
        >>> parse_agent("lss-lrta:lookahead=50,commit=one")
        ('lss-lrta', {'lookahead': 50, 'commit': 'one'})
    """
    settings = parse_sweep(text)
    if len(settings) > 1:
        raise InputError(f"agent {text!r} is a sweep of {len(settings)} settings, where one is wanted")
    return settings[0]


def parse_sweep(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Return an id with every combination of the values that each parameter has: ``ID:name=value,low..high:...``.

    Example:
        >>> parse_sweep("lrta:depth=1,3..5")
        [('lrta', {'depth': 1}), ('lrta', {'depth': 3}), ('lrta', {'depth': 4}), ('lrta', {'depth': 5})]
    """
    agent_id, colon, rest = text.partition(":")
    values: dict[str, list[Any]] = {}
    for part in _BETWEEN.split(rest) if colon else ():
        name, _, listed = (piece.strip() for piece in part.partition("="))
        if not name.isidentifier() or not listed:
            raise InputError(f"agent {text!r} must be written as ID or ID:name=value,name=value, which {part!r} is not")
        if name in values:
            raise InputError(f"agent {text!r} has the parameter {name} twice")
        values[name] = [value for item in listed.split(",") for value in _values(text, item.strip())]
    if prod(map(len, values.values())) > _MOST:
        raise InputError(f"agent {text!r} is a sweep of more than {_MOST} settings")
    return [(agent_id.strip(), dict(zip(values, chosen, strict=True))) for chosen in product(*values.values())]


def _values(text: str, item: str) -> list[Any]:
    """Return the values of one item of a sweep: the whole numbers of a span, or the value itself."""
    if not item:
        raise InputError(f"agent {text!r} has a comma without a value beside it")
    span = _SPAN.fullmatch(item)
    if not span:
        return [_value(item)]
    low, high = int(span[1]), int(span[2])
    if not 0 <= high - low < _MOST:
        raise InputError(f"agent {text!r}: {item} must rise, over at most {_MOST} whole numbers")
    return list(range(low, high + 1))


def _value(text: str) -> Any:
    if _WHOLE.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    return _WORDS.get(text.lower(), text)


def parse_position(name: str, text: str) -> Position:
    """Return a position written as ``x,y``.

    Example:
        >>> parse_position("start", "3,14")
        (3, 14)
    """
    match = _POSITION.fullmatch("".join(text.split()))
    if not match:
        raise InputError(f"{name} must be two whole numbers x,y, not {text!r}")
    return int(match[1]), int(match[2])


def parse_range(name: str, text: str) -> tuple[float, float]:
    """Return the two ends of a range written as ``LOW..HIGH``.

    Example:
        >>> parse_range("optimal", "60..200")
        (60.0, 200.0)
    """
    ends = [end.strip() for end in text.split("..")]
    if len(ends) != 2 or not all(_NUMBER.fullmatch(end) for end in ends) or float(ends[0]) > float(ends[1]):
        raise InputError(f"{name} must be a range of numbers LOW..HIGH, not {text!r}")
    return float(ends[0]), float(ends[1])


def parse_numbers(name: str, text: str, kind: type[Number]) -> list[Number]:
    """Return the numbers of a list with commas, none for an empty text.

    Raises:
        InputError: where it is written otherwise.
    """
    try:
        return [kind(part) for part in text.split(",")] if text else []
    except ValueError:
        what = "whole numbers" if kind is int else "numbers"
        raise InputError(f"{name} must be {what} with commas between them, not {quoted(text)}") from None


def parse_trials(name: str, text: str) -> int | str:
    """Return how often a problem is solved: a whole number, or ``"converge"`` as it is.

    Example:
        >>> parse_trials("trials", "converge"), parse_trials("trials", "3")
        ('converge', 3)
    """
    if text != "converge" and not _WHOLE.fullmatch(text):
        raise InputError(f"{name} must be a whole number or converge, not {quoted(text)}")
    return text if text == "converge" else int(text)

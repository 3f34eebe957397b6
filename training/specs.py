"""What people write on a command line: an agent with its settings, a position, a range."""

import re
from typing import Any

from rt_gym.errors import InputError
from rt_gym.grid import Position

# No more digits than an int64 surely holds; a longer number becomes a float, which no whole number accepts.
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_POSITION = re.compile(r"(-?\d{1,9}),(-?\d{1,9})")
_WORDS = {"true": True, "false": False}


def parse_agent(text: str) -> tuple[str, dict[str, Any]]:
    """Return the id and the settings of an agent written as ``ID`` or ``ID:name=value,name=value``.

    Values are whole numbers, other numbers, ``true`` or ``false``, or else words. Whether there is such an agent with
    such parameters is for ``agents.make`` to say.

    Raises:
        InputError: where the text is not written so.

    Example:
        >>> parse_agent("lss-lrta:lookahead=50,commit=one")
        ('lss-lrta', {'lookahead': 50, 'commit': 'one'})
    """
    agent_id, colon, rest = text.partition(":")
    settings: dict[str, Any] = {}
    for part in rest.split(",") if colon else ():
        name, _, value = (piece.strip() for piece in part.partition("="))
        if not name.isidentifier() or not value:
            raise InputError(f"agent {text!r} must be written as ID or ID:name=value,name=value, which {part!r} is not")
        if name in settings:
            raise InputError(f"agent {text!r} has the parameter {name} twice")
        settings[name] = _value(value)
    return agent_id.strip(), settings


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

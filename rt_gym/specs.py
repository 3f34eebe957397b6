"""Agents as people write them in one line: an id and its settings."""

import re
from itertools import product
from math import prod
from typing import Any

from rt_gym.errors import InputError

# No more digits than an int64 surely holds; a longer number becomes a float, which no whole number accepts.
WHOLE = re.compile(r"[+-]?\d{1,18}")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_SPAN = re.compile(r"(-?\d{1,9})\.\.(-?\d{1,9})")
_BETWEEN = re.compile(r":|,(?=\s*[^\W\d]\w*\s*=)")  # two parameters; a comma also parts the values of one
# A value in quotes, between what may stand before and after a value: nothing in it parts anything.
_QUOTED = re.compile(r"""(?:^|(?<=[=,]))\s*(?:'([^']*)'|"([^"]*)")\s*(?=[:,]|$)""")
_COMMA = re.compile(",")
_WORDS = {"true": True, "false": False}
_MOST = 10_000  # settings of one sweep


def parse_agent(text: str) -> tuple[str, dict[str, Any]]:
    """Return the id and the settings of an agent written as ``ID`` or ``ID:name=value,name=value``.

    Parameters may be parted by colons as well. Values are whole numbers, other numbers, ``true`` or ``false``, or else
    words; in quotes, single or double, they are words whatever is in them, such as paths with commas. Whether there is
    such an agent with such parameters is for ``agents.make`` to say.

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
    for part in _split(_BETWEEN, rest) if colon else ():
        name, _, listed = (piece.strip() for piece in part.partition("="))
        if not name.isidentifier() or not listed:
            raise InputError(f"agent {text!r} must be written as ID or ID:name=value,name=value, which {part!r} is not")
        if name in values:
            raise InputError(f"agent {text!r} has the parameter {name} twice")
        values[name] = [value for item in _split(_COMMA, listed) for value in _values(text, item.strip())]
    if prod(map(len, values.values())) > _MOST:
        raise InputError(f"agent {text!r} is a sweep of more than {_MOST} settings")
    return [(agent_id.strip(), dict(zip(values, chosen, strict=True))) for chosen in product(*values.values())]


def _split(separator: re.Pattern[str], text: str) -> list[str]:
    """Return the pieces of a text between separators that are not in quotes."""
    quotes = [match.span() for match in _QUOTED.finditer(text)]
    pieces, at = [], 0
    for match in separator.finditer(text):
        if not any(begin <= match.start() < end for begin, end in quotes):
            pieces.append(text[at : match.start()])
            at = match.end()
    return [*pieces, text[at:]]


def _values(text: str, item: str) -> list[Any]:
    """Return the values of one item of a sweep: the whole numbers of a span, or the value itself."""
    if not item:
        raise InputError(f"agent {text!r} has a comma without a value beside it")
    if quotes := _QUOTED.fullmatch(item):
        return [quotes[1] or quotes[2] or ""]
    span = _SPAN.fullmatch(item)
    if not span:
        return [_value(item)]
    low, high = int(span[1]), int(span[2])
    if not 0 <= high - low < _MOST:
        raise InputError(f"agent {text!r}: {item} must rise, over at most {_MOST} whole numbers")
    return list(range(low, high + 1))


def _value(text: str) -> Any:
    if WHOLE.fullmatch(text):
        return int(text)
    if NUMBER.fullmatch(text):
        return float(text)
    return _WORDS.get(text.lower(), text)

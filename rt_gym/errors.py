"""The errors that callers may want to catch, and the checks that every package makes of its arguments."""

import reprlib
from collections.abc import Iterable
from numbers import Integral
from typing import Any

_MOST_WORDS = 300  # characters of what others say in an error


class InputError(ValueError):
    """Input was refused; the message is one sentence that names what and why."""


class MissingLibrary(InputError):
    """What was asked for needs a library that is not installed; the message says how to get it."""


class BudgetExceeded(RuntimeError):
    """An agent used more than its budget for one move and ``on_overrun="raise"`` was asked for."""


class Fault(RuntimeError):
    """A run cannot be right.

    Something was written that only the world may write, or a path is shorter than the shortest one.
    """


class AgentFailure(RuntimeError):
    """An agent class of one's own raised something; the message names the class, the problem and what it raised."""


def quoted(value: Any) -> str:
    """Return a value for a message: short, and on one line, whatever its own ``repr`` does."""
    try:
        return " ".join(reprlib.repr(value).split())
    except Exception:  # a number of more digits than Python prints, or a foreign object
        return f"an unprintable {type(value).__name__}"


def described(error: BaseException) -> str:
    """Return somebody else's error for a message: its class and its words, on one line, not too long."""
    try:
        words = " ".join(str(error).split())
    except Exception:
        words = "unprintable"
    name = type(error).__name__
    return f"{name}: {words if len(words) <= _MOST_WORDS else words[:_MOST_WORDS] + '...'}" if words else name


def whole(name: str, value: Any, low: int, high: int = (1 << 62)) -> int:
    """Return a parameter that must be a whole number within a range."""
    known = type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))
    if not known or not low <= int(value) <= high:
        span = f"of at least {low}" if high == 1 << 62 else f"from {low} to {high}"
        raise InputError(f"{name} must be a whole number {span}, not {quoted(value)}")
    return int(value)


def choice(name: str, value: Any, known: Iterable[str]) -> str:
    """Return a parameter that must be one of some words."""
    words = [f'"{word}"' for word in known]
    if not isinstance(value, str) or f'"{value}"' not in words:
        raise InputError(f"{name} must be {', '.join(words[:-1])} or {words[-1]}, not {quoted(value)}")
    return value


def flag(name: str, value: Any) -> bool:
    """Return a parameter that must be True or False."""
    if not isinstance(value, bool):
        raise InputError(f"{name} must be True or False, not {quoted(value)}")
    return value


def checked_seed(seed: Any) -> int | None:
    """Return a seed that must be None or a whole number of at least 0."""
    return None if seed is None else whole("seed", seed, 0)

"""What a reader types to run an agent of a comparison again."""

import re
import shlex
from typing import Any

from rt_gym import Problem
from rt_gym.maps import names
from training.runs import Contender

_PARTING = re.compile(r"[\s,:='\"]")  # what would part a value
_ELSEWHERE = "MAP"  # for a map that goes by no name: the reader puts the file there


def spec_of(contender: Contender) -> str:
    """Return an agent as the option ``--agent`` takes it, with the settings that tables show."""
    rest, told = contender.entry.setting, []
    for name, value in contender.settings.items():
        piece = f"{name}={value}"
        if rest == piece or rest.startswith(f"{piece}:"):
            rest = rest[len(piece) + 1 :]
            told.append(f"{name}={_written(value)}")
    return ":".join([contender.agent, *told])


def _written(value: Any) -> str:
    """Return a value as it is written in a setting: in quotes if something in it would part it."""
    text = str(value)
    mark = '"' if "'" in text else "'"
    return f"{mark}{text}{mark}" if _PARTING.search(text) else text


def play_command(contender: Contender, map_name: str, problem: Problem | None = None, seed: int = 0) -> str:
    """Return the command that shows an agent at work, on a problem of a comparison or on any.

    A limit on scans, or changes of the map, are nothing that ``rt-gym play`` takes from a line: they are left out.
    """
    words = ["rt-gym", "play", map_name if map_name in names() else _ELSEWHERE, "--agent", spec_of(contender)]
    if contender.entry.limit is not None and contender.entry.counted == "expansions":
        words += ["--budget", str(contender.entry.limit)]
    if problem is not None:
        words += ["--start", "{},{}".format(*problem.start), "--goal", "{},{}".format(*problem.goal)]
        words += ["--vision", str(problem.vision)] if problem.vision else []
    return shlex.join(words + (["--seed", str(seed)] if seed else []))

"""The settings of a training, kept in its folder, so that one with other settings does not replace the policy there.

What a policy depends on is compared: how it is trained, and the problems to learn and to choose on. Maps to be judged
on, workers and output may change, and how long an evolution goes on: the policy is judged again, or gone on with.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from textwrap import shorten
from typing import Any

from rt_gym import InputError
from rt_gym.errors import quoted
from rt_gym.files import atomic_write, read_json, shown
from training.learn import Parts
from training.runs import Course
from training.runs.execution import say_damaged

KIND, VERSION = "rt_gym training", 1
FILE = "training.json"
POLICIES = ("policy.json", "policy.npz", "goal.json", "genes.json", "ground.json", "dealer.json")
_MOST = 160  # letters that tell of a difference
_WAY_OUT = "give another --out, or --force to replace it"


def keep_settings(folder: Path, command: str, settings: Mapping[str, Any], force: bool = False) -> Path:
    """Write into a folder what is trained there, and return the file; refuse a folder in which something else was.

    Args:
        folder: where the policy will be.
        command: what trains, such as ``"train depth"``.
        settings: all that the policy depends on, by names, as JSON takes it.
        force: whether a training with other settings may be replaced.

    Raises:
        InputError: if the folder has a policy of other or unknown settings; the message names the difference.
    """
    path = folder / FILE
    new: dict[str, Any] = json.loads(json.dumps({"command": command, "settings": dict(settings)}, default=str))
    old = None if force else _read(path)
    if old is not None and old != new:
        raise InputError(f"{shown(path)}: tells of a training {_difference(old, new)}; {_WAY_OUT}")
    if old is None and not force and (found := [name for name in POLICIES if (folder / name).exists()]):
        raise InputError(f"{shown(folder)}: holds {found[0]}, and no {FILE} says how it was trained; {_WAY_OUT}")
    if old is None:
        atomic_write(path, (json.dumps({"kind": KIND, "version": VERSION, **new}, indent=1) + "\n").encode())
    return path


def settings_of(config: Any, parts: Parts, free: Sequence[str] = ()) -> dict[str, Any]:
    """Return what a policy depends on: the fields of a config, except for free ones, and the problems.

    Args:
        config: a dataclass; fields of dataclasses in it count as its own, unless it has one of that name.
        parts: the maps, of which those to be judged on make no difference.
        free: names of fields that may change while the training stays the same.
    """
    found = {"vision": parts.train[0].vision} | _flat(asdict(config))
    problems = {"train": _problems(parts.train), "validation": _problems(parts.validation)}
    return {name: value for name, value in found.items() if name not in free} | problems


def _flat(fields: dict[str, Any]) -> dict[str, Any]:
    nested = [part for part in fields.values() if isinstance(part, dict)]
    inner = {name: value for part in nested for name, value in part.items()}
    return inner | {name: value for name, value in fields.items() if not isinstance(value, dict)}


def _problems(courses: tuple[Course, ...]) -> dict[str, Any]:
    """Return how many problems there are, and a hash of them."""
    content = repr([(course.digest, course.tasks) for course in courses])
    tasks = sum(len(course.tasks) for course in courses)
    return {"maps": len(courses), "problems": tasks, "digest": sha256(content.encode()).hexdigest()[:16]}


def _read(path: Path) -> dict[str, Any] | None:
    """Return what a folder holds; None if that is not known."""
    if not path.exists():
        return None
    try:
        document = read_json(path, "the settings of a training")
        if document.get("kind") != KIND or document.get("version") != VERSION:
            raise InputError("is of another kind or version")
        found = {name: document[name] for name in ("command", "settings")}
        if not isinstance(found["settings"], dict):
            raise InputError("has no settings")
    except (InputError, AttributeError, KeyError):  # what is no object has neither
        say_damaged(path, "it is written")
        return None
    return found


def _difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Say in what two trainings differ, in a few words."""
    if old["command"] != new["command"]:
        return f"by {quoted(old['command'])}"
    told = ", ".join(_differences(old["settings"], new["settings"]))
    return f"with other settings: {shorten(told, _MOST, placeholder=' ...')}"


def _differences(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    for name in dict.fromkeys([*new, *old]):
        was, now = old.get(name), new.get(name)
        if was == now:
            continue
        if isinstance(was, dict) and isinstance(now, dict):
            yield _other_problems(name, was, now)
        else:
            yield f"{name if name.isidentifier() else quoted(name)} {_text(was)} instead of {_text(now)}"


def _text(value: Any) -> str:
    return "none" if value is None else quoted(value)


def _other_problems(part: str, was: dict[str, Any], now: dict[str, Any]) -> str:
    """Say that the problems of a part are others: by their number, if that differs."""
    purpose = "to learn on" if part == "train" else "to choose on"
    sizes = [f"{_text(one.get('problems'))} problems (maps: {_text(one.get('maps'))})" for one in (was, now)]
    return f"other problems {purpose}" if sizes[0] == sizes[1] else f"{sizes[0]} {purpose} instead of {sizes[1]}"

"""Pages that open in a browser without a network: one file with data, style and script.

Whatever comes from outside (names of agents, maps and files) is in one JSON text, in which no ``<`` is left, and the
script puts it into the page as text only. The page allows its own script and no other.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib import resources
from math import isfinite
from pathlib import Path
from typing import Any

from rt_gym.files import atomic_write
from rt_gym.render import palette
from training.judge.policies import PolicyFindings
from training.judge.tables import Table
from training.report.chosen import PROBLEMS, Recorder
from training.report.comparison import Part, describe, describe_table
from training.report.packing import Attachments
from training.report.replays import Recording, Reel, SquadRecording

_SCRIPTS = (
    "unpack.js", "elements.js", "film.js", "pane.js", "replay.js", "plot.js", "tables.js", "comparison.js", "page.js",
)  # fmt: skip


def write_page(path: Path, data: dict[str, Any], attachments: Attachments) -> Path:
    """Write a page, all at once or not at all, and return where it is."""
    atomic_write(path, format_page(data | {"palette": _colours()}, attachments).encode("ascii"))
    return path


def format_page(data: dict[str, Any], attachments: Attachments) -> str:
    """Return the text of a page, which is plain ASCII whatever the data."""
    script = "\n".join(map(_asset, _SCRIPTS))
    packed = (
        f'<script type="text/plain" id="attachment-{k}">{text}</script>' for k, text in enumerate(attachments.texts)
    )
    parts = {
        "HASH": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "STYLE": _asset("page.css"),
        "DATA": embedded(data),
        "ATTACHMENTS": "\n".join(packed),
        "SCRIPT": script,
    }
    pieces = _asset("page.html").split("%%")  # text and names by turns
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def embedded(data: Any) -> str:
    """Return data as JSON that cannot end the element it stands in."""
    return json.dumps(_plain(data), separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _plain(value: Any) -> Any:
    """Return a value as JSON takes it: what it does not know, and numbers without end, as text."""
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    known = value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and isfinite(value))
    return value if known else str(value)


def _asset(name: str) -> str:
    return (resources.files("training.report") / "assets" / name).read_text(encoding="ascii")


def _colours() -> dict[str, Any]:
    """Return the colours of maps and marks, which are those of all other pictures."""
    names = (
        "WALL EXPANDED CHANGED TRAIL AGENT AGENT_EDGE GOAL GOAL_EDGE START START_EDGE SUBGOAL SUBGOAL_EDGE UNIT_EDGE"
    )
    own = {name.lower(): getattr(palette, name) for name in names.split()}
    lists = {"fog": palette.FOG, "units": palette.UNITS, "ground": palette.TABLE[: palette.HEATS].tolist()}
    return own | lists | {"expanded_blend": palette.EXPANDED_BLEND, "changed_blend": palette.CHANGED_BLEND}


def write_replay(path: Path, title: str, name: str, runs: Sequence[Recording] | SquadRecording) -> Path:
    """Write a page that replays runs on one problem, or a squad.

    Args:
        path: where to.
        title: of the page.
        name: what the problem is called.
        runs: one or more.
    """
    attachments = Attachments()
    reel = Reel(attachments)
    if isinstance(runs, SquadRecording):
        reel.add_squads(name, [runs])
    else:
        reel.add(name, runs)
    return write_page(path, {"title": title, "comparisons": [], "replay": reel.document()}, attachments)


def write_report(
    path: Path,
    title: str,
    parts: Sequence[Part],
    problems: int = PROBLEMS,
    *,
    intro: Sequence[str] = (),
    tables: Sequence[Table] = (),
) -> Path:
    """Write the report of one or more comparisons.

    Args:
        path: where to.
        title: of the page.
        parts: the comparisons.
        problems: how many problems of each can be replayed.
        intro: sentences below the title.
        tables: what is shown before the comparisons, such as the claims of an experiment.
    """
    attachments = Attachments()
    recorder = Recorder(attachments, problems)
    comparisons = [describe(part, attachments) for part in parts]
    for part in parts:
        head = part.title if len(parts) > 1 else ""
        if isinstance(part.findings, PolicyFindings):
            recorder.add_policies(head, part.findings)
        else:
            recorder.add(head, part.findings)
    data = {"title": title, "intro": list(intro), "tables": [describe_table(table) for table in tables]}
    return write_page(path, data | {"comparisons": comparisons, "replay": recorder.reel.document()}, attachments)


def write_unfinished(path: Path, title: str, sentence: str, settings: dict[str, Any]) -> Path:
    """Write the report of a comparison that was stopped: what is missing, and how to go on."""
    data = {"title": title, "warning": sentence, "settings": settings, "comparisons": []}
    return write_page(path, data, Attachments())

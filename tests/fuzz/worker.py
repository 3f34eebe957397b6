"""One process that tries cases and writes a line of JSON about each; when it dies, the case without a line did it."""

import json
import os
import reprlib
import resource
import shutil
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from fuzz.case import Case, Part


def try_case(part: Part, seed: int, number: int, keep: Path | None = None) -> dict[str, Any]:
    """Try one case; return its number, counts, time and memory, and what went wrong, None if nothing did.

    Args:
        part: what to try.
        seed: of all cases.
        number: of this one.
        keep: the folder that gets the files of a failure.
    """
    answer = _try(part, seed, number, keep)
    slow = part.seconds is not None and answer["seconds"] > part.seconds
    return _try(part, seed, number, keep) if slow else answer  # the first time it may have compiled something


def _try(part: Part, seed: int, number: int, keep: Path | None) -> dict[str, Any]:
    folder = Path(tempfile.mkdtemp(prefix="rt-gym-fuzz-"))
    case = Case(seed, number, folder)
    try:
        part.check(case)
        failure = None
    except Exception:
        failure = traceback.format_exc()
    seconds, megabytes = case.watch.read()
    if failure is None and part.seconds is not None and seconds > part.seconds:
        failure = f"it took {seconds:.1f} s of processor time, and may take {part.seconds:g} s"
    if failure is None and part.megabytes is not None and megabytes > part.megabytes:
        failure = f"it took {megabytes:.0f} MB, and may take {part.megabytes} MB"
    if failure is not None and keep is not None:
        _keep(case, keep)
    shutil.rmtree(folder, ignore_errors=True)
    story = {name: told(value) for name, value in case.story.items()} if failure else {}
    measured = {"seconds": seconds, "megabytes": megabytes}
    return {"case": number, "counts": dict(case.counts), "failure": failure, "story": story, **measured}


def told(value: Any) -> str:
    """Return what was drawn as text, whatever the ``repr`` of a value in it does."""
    teller = reprlib.Repr()
    teller.maxstring = teller.maxother = teller.maxlong = 400
    teller.maxlist = teller.maxtuple = teller.maxdict = teller.maxset = 40
    return (value if isinstance(value, str) else teller.repr(value))[:2000]


def _keep(case: Case, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for file in case.kept:
        if file.is_file():
            shutil.copy(file, folder / f"{case.seed}-{case.number}-{file.name}")


def main() -> None:
    """Try the cases ``first``, ``first + stride``, ... below ``cases``, until the parent goes away."""
    name, *numbers, keep = sys.argv[1:]
    seed, first, stride, cases = map(int, numbers)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever is printed goes elsewhere
    from fuzz.parts import PARTS

    part = PARTS[name]
    if part.address is not None:
        resource.setrlimit(resource.RLIMIT_AS, (part.address, part.address))
    print("{}", file=answers)  # ready
    for number in range(first, cases, stride):
        print(json.dumps(try_case(part, seed, number, Path(keep))), file=answers)


if __name__ == "__main__":
    main()

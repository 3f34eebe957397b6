"""What seeded commands write: three comparisons, a trained depth policy, and the verdicts of all experiments.

They say that nothing has changed since they were taken. ``tests/test_digests.py`` compares comparisons and policy;
``python tests/digests/commands.py --check`` compares the experiments at smoke size, too, which takes minutes. Without
``--check`` all are written anew, where they change on purpose.
"""

import csv
import hashlib
import io
import json
import subprocess
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path
from typing import Any

from training.learn.merit import STRONGEST

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(__file__).with_name("commands.json")

COMPARISONS = {
    "budget": "rooms-64 caves-128 -a lrta:depth=1,3 -a lss-lrta:lookahead=10 -a tba -a astar"
    " --problems 10 --budget 100",
    "fog": "terrain-96 -a dstar-lite -a rtaa:lookahead=10 -a lrta:tie=random"
    " --problems 12 --vision 3 --changes blockers",
    "converge": "open-16 random-48 -a lrta:depth=1,2 -a lrta-k:k=10 --problems 8 --trials converge --seed 4",
}
DEPTH = (
    "--maps rooms-64 --maps terrain-96 --validation random-48 --test maze-63"
    " --d-max 6 --problems 12 --dagger 1 --seed 5"
)
# The agents among them that learn no values; the digests are older than the count of the states that they hold.
SEARCHERS = ("astar", "tba", "dstar-lite")
# What depends on the machine or on the names of sources.
TIMED = "a time"  # in place of a number that depends on the machine
VOLATILE = {"versions", "sources", "commit", "command", "processor"}


def run(*arguments: str) -> str:
    """Run ``rt-gym`` and return what it prints."""
    command = [sys.executable, "-m", "training.cli", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def digest(content: Any) -> str:
    """Return a hash of bytes, or of a value as JSON has it."""
    data = content if isinstance(content, bytes) else json.dumps(content, sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()[:16]


def comparison(name: str) -> dict[str, str]:
    """Return digests of the table and of the settings of a comparison, but for what depends on the machine."""
    with tempfile.TemporaryDirectory() as folder:
        run("compare", *COMPARISONS[name].split(), "--jobs", "2", "--out", folder)
        rows = older_columns(Path(folder, "results.csv").read_text())
        settings = json.loads(Path(folder, "settings.json").read_text())
    known = {key: value for key, value in settings.items() if key not in VOLATILE}
    return {"results": digest(rows), "settings": digest(known)}


ADDED = ("memory_bytes", "guarded", "guarded_expansions")


def older_columns(text: str) -> list[list[str]]:
    """Return a table without what was added since, and with learned values alone as its states, as it once was."""
    head, *rows = csv.reader(io.StringIO(text))
    states, agent = head.index("memory"), head.index("agent")
    for row in rows:
        row[states] = "0" if row[agent] in SEARCHERS else row[states]
    kept = [number for number, name in enumerate(head) if name not in ADDED]
    return [[row[number] for number in kept] for row in (head, *rows)]


def depth() -> dict[str, str]:
    """Return digests of the policy and of the table of a training."""
    with tempfile.TemporaryDirectory() as folder:
        run("train", "depth", *DEPTH.split(), "--jobs", "2", "--out", folder)
        policy = json.loads(Path(folder, "policy.json").read_text())
        results = Path(folder, "results.csv").read_text().replace(folder, "FOLDER")  # a setting is the policy's path
        rows = io.StringIO(newline="")
        older = [row for row in older_columns(results) if row[0] not in STRONGEST]  # who takes part since
        csv.writer(rows, lineterminator="\n").writerows(older)
        return {"policy": digest(policy), "results": digest(rows.getvalue().encode())}


def verdicts() -> dict[str, list[Any]]:
    """Return paper's figure, bar, value and verdict of all claims of all experiments, on generated maps."""
    with tempfile.TemporaryDirectory() as folder:
        found = json.loads(run("reproduce", "all", "--size", "smoke", "--json", "--out", folder))
    names = "paper", "low", "high", "ours", "verdict"
    return {document["id"]: [[claim[name] for name in names] for claim in document["claims"]] for document in found}


def differences(then: dict[str, list[Any]], now: dict[str, list[Any]]) -> list[str]:
    """Return a line for every claim that is not what it was; of claims about times only the bar is compared."""
    lines = [f"{name}: is new or gone" for name in then.keys() ^ now.keys()]
    for name in then.keys() & now.keys():
        if len(then[name]) != len(now[name]):
            lines.append(f"{name}: has {len(now[name])} claims instead of {len(then[name])}")
        for number, (old, new) in enumerate(zip(then[name], now[name], strict=False)):
            same = old[:3] == new[:3] if old[3] == TIMED else old == new
            lines += [] if same else [f"{name}, claim {number}: {old} became {new}"]
    return lines


def main() -> None:
    """Write all digests, or compare them."""
    current: dict[str, Any] = {name: comparison(name) for name in COMPARISONS} | {"depth": depth()}
    stored, judged = json.loads(FILE.read_text()), verdicts()
    if "--check" in sys.argv:
        wrong = [f"{name} has changed" for name in current if current[name] != stored[name]]
        wrong += differences(stored["verdicts"], judged)
        print("\n".join(wrong) or "all are what they were")
        sys.exit(bool(wrong))
    for name, claims in judged.items():
        timed = [old[3] == TIMED for old in stored["verdicts"].get(name, [])]
        judged[name] = [[*new[:3], TIMED, None] if time else new for time, new in zip_longest(timed, claims)]
    FILE.write_text(json.dumps(current | {"verdicts": judged}, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""What seeded commands write: three comparisons, a trained depth policy, and the verdicts of all experiments.

``tests/test_digests.py`` compares the first two with what they were. ``python tests/digests/commands.py`` writes them
anew, where they change on purpose; ``--check`` compares all of them, the experiments included, which take minutes.
"""

import csv
import hashlib
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

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
# What depends on the machine or on the names of sources.
VOLATILE = {"versions", "sources", "commit", "command", "processor"}


def run(*arguments: str) -> str:
    """Run ``rt-gym`` and return what it prints; 1 is the exit code of a comparison that got worse."""
    done = subprocess.run(
        [sys.executable, "-m", "training.cli", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def digest(content: Any) -> str:
    """Return a hash of bytes, or of a value as JSON has it."""
    data = content if isinstance(content, bytes) else json.dumps(content, sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()[:16]


def comparison(name: str) -> dict[str, str]:
    """Return digests of the table and of the settings of a comparison; new columns and settings are left out."""
    with tempfile.TemporaryDirectory() as folder:
        run("compare", *COMPARISONS[name].split(), "--jobs", "2", "--out", folder)
        rows = csv.reader(io.StringIO(Path(folder, "results.csv").read_text()))
        settings = json.loads(Path(folder, "settings.json").read_text())
    known = {key: value for key, value in settings.items() if key not in VOLATILE}
    return {"results": digest(list(rows)), "settings": digest(known)}


def depth() -> dict[str, str]:
    """Return digests of the policy and of the table of a training."""
    with tempfile.TemporaryDirectory() as folder:
        run("train", "depth", *DEPTH.split(), "--jobs", "2", "--out", folder)
        policy = json.loads(Path(folder, "policy.json").read_text())
        return {"policy": digest(policy), "results": digest(Path(folder, "results.csv").read_bytes())}


def verdicts() -> dict[str, list[Any]]:
    """Return claim, bar, value and verdict of all claims of all experiments, with generated maps."""
    with tempfile.TemporaryDirectory() as folder:
        found = json.loads(run("reproduce", "all", "--size", "smoke", "--json", "--out", folder))
    names = "claim", "paper", "low", "high", "ours", "verdict"
    return {document["id"]: [[claim[name] for name in names] for claim in document["claims"]] for document in found}


if __name__ == "__main__":
    current: dict[str, Any] = {name: comparison(name) for name in COMPARISONS} | {"depth": depth()}
    print(json.dumps(current, indent=1))
    current["verdicts"] = verdicts()
    if "--out" in sys.argv:
        Path(sys.argv[sys.argv.index("--out") + 1]).write_text(json.dumps(current, indent=1) + "\n")

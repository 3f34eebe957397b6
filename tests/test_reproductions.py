"""Published results through the public command, on the public maps at full size: minutes each, so only with -m slow."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]


def said_by(*arguments: str) -> Any:
    """Return what the command prints as JSON."""
    command = [sys.executable, "-m", "training.cli", *arguments, "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def verdicts(claims: list[dict[str, Any]]) -> dict[str, str]:
    return {claim["claim"]: claim["verdict"] for claim in claims}


def test_astar_finds_every_published_optimal_length(shared_maps: Path) -> None:
    checked = said_by("bench", "--scen", str(shared_maps))
    assert checked["matching"] == checked["problems"] > 0


@pytest.mark.parametrize("experiment", ["tb-t1"])
def test_every_claim_that_holds_on_record_still_holds(experiment: str, shared_maps: Path, tmp_path: Path) -> None:
    record = json.loads((ROOT / "docs" / "results" / f"{experiment}.json").read_text(encoding="utf-8"))
    size, maps = ("--size", record["size"]), ("--maps", str(shared_maps))
    again = said_by("reproduce", experiment, *size, *maps, "--jobs", "2", "--out", str(tmp_path))
    held = {claim for claim, verdict in verdicts(record["claims"]).items() if verdict == "holds"}
    now = verdicts(again[0]["claims"])
    assert held
    assert {claim: now[claim] for claim in held} == dict.fromkeys(held, "holds")

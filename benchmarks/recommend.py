"""What ``rt-gym compare --units --tick-ms`` recommends, again and again: is it in time, and is it the same?

The same question is asked anew, calibration included, on a map that is known, and in fog where a bridge falls. No agent
may be recommended with more than 5 % late ticks while another has fewer at no worse cost.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from measure import ROOT, Row, at_least, at_most, heading, print_rows

from training.runs import Entry

MAP = ROOT.parent / "shared" / "maps" / "wc3maps512" / "battleground.map"
CASES = {"known map": [], "fog 8, bridge": ["--vision", "8", "--changes", "bridge"]}
MOST_LATE = 0.05


def ask(source: str, units: int, tick_ms: float, more: Sequence[str]) -> dict[str, Any]:
    """Return what the command answers, with nothing remembered from the last time."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "training.cli", "compare", source, "--units", str(units)]
        command += ["--tick-ms", str(tick_ms), "--out", folder, "--json", *more]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def recommended(answer: dict[str, Any]) -> str:
    """Return the label of the first agent in the recommendation, of those that prepare nothing."""
    (sentence,) = answer["recommendations"]
    return re.split(r", cost / optimum|; ", sentence.partition(": ")[2])[0]


def better(answer: dict[str, Any], label: str) -> list[str]:
    """Return who has fewer late ticks at no worse cost than a recommended agent with too many."""
    scores = {Entry(**score["entry"]).label: score for score in answer["squads"]}
    chosen = scores.get(label)
    if chosen is None or chosen["late"]["value"] <= MOST_LATE:
        return []
    return [name for name, score in scores.items() if _beats(score, chosen)]


def _beats(one: dict[str, Any], other: dict[str, Any]) -> bool:
    costs = [float("inf") if score["quality"] is None else score["quality"]["value"] for score in (one, other)]
    return one["late"]["value"] < other["late"]["value"] and costs[0] <= costs[1]


def family(label: str) -> str:
    """Return the id of an agent; variants of A* are one family."""
    name = label.split(" ")[0]
    return "astar" if name.endswith("astar") else name


def repeat(case: str, source: str, args: argparse.Namespace) -> Iterator[Row]:
    """Ask as often as wanted, and say how often the answer was the same."""
    named, families, wrong = Counter[str](), Counter[str](), 0
    for _ in range(args.repetitions):
        answer = ask(source, args.units, args.tick_ms, [*CASES[case], "--problems", str(args.problems), *args.more])
        label = recommended(answer)
        beaten = better(answer, label)
        wrong += bool(beaten)
        named[label.split(" ")[0]] += 1
        families[family(label)] += 1
        late = [f"{one['entry']['agent']} {100 * one['late']['value']:.1f} %" for one in answer["squads"]]
        print(f"# {case}: {answer['recommendations'][0]}\n#   late: {', '.join(late)}", flush=True)
    most, times = families.most_common(1)[0]
    detail = f"{most}: {', '.join(f'{name} {count}' for name, count in named.items())}"
    yield at_least(f"{case}: the same family", detail, times, args.repetitions * 4 // 5)
    yield at_most(f"{case}: late, although another is not", "", wrong, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--map", default=str(MAP) if MAP.is_file() else "terrain-512")
    parser.add_argument("--units", type=int, default=50)
    parser.add_argument("--tick-ms", type=float, default=2.0)
    parser.add_argument("--problems", type=int, default=50)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("more", nargs="*", help="further options of the command, after --")
    args = parser.parse_args()
    heading("What is recommended to a game engineer")
    print_rows(row for case in CASES for row in repeat(case, args.map, args))


if __name__ == "__main__":
    main()

"""``python -m fuzz``: try what is promised on random cases, for some minutes; see docs/reliability.md."""

import argparse
import sys
import time
from pathlib import Path

from fuzz.figures import merge, write_page
from fuzz.parts import PARTS
from fuzz.runner import Report, run_part
from fuzz.worker import try_case


def parsed() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"all without any: {', '.join(PARTS)}")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same cases")
    parser.add_argument("--minutes", type=float, default=10.0, help="for all parts together")
    parser.add_argument("--cases", type=int, help="of each part; else as many as are on record")
    parser.add_argument("--case", type=int, help="only this one, in this process")
    parser.add_argument("--workers", type=int, default=2, help="processes at a time")
    parser.add_argument("--out", type=Path, default=Path("rt-gym-fuzz"), help="for figures and the files of failures")
    parser.add_argument("--write-docs", type=Path, help="the page whose table is written")
    options = parser.parse_args()
    unknown = [name for name in options.parts if name not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]}; the parts are {', '.join(PARTS)}")
    if options.case is not None and len(options.parts) != 1:
        parser.error("--case goes with one part")
    options.parts = options.parts or list(PARTS)
    return options


def try_all(options: argparse.Namespace) -> list[Report]:
    """Try the parts one after the other; what time one leaves goes to the others, by their weights."""
    reports, end = [], time.monotonic() + 60 * options.minutes
    for k, name in enumerate(options.parts):
        part, now = PARTS[name], time.monotonic()
        share = part.weight / sum(PARTS[later].weight for later in options.parts[k:])
        cases, keep = options.cases or part.cases, options.out / name
        report = run_part(name, part, options.seed, cases, now + share * (end - now), options.workers, keep)
        reports.append(report)
        tell(report, cases)
    return reports


def tell(report: Report, wanted: int) -> None:
    """Print what a part gave, and how to see each failure again."""
    short = "" if report.cases >= wanted else f" of {wanted:,}"
    failed = f"{len(report.failures)} failures"
    print(f"{report.name}: {report.cases:,}{short} cases, {failed}, {report.seconds:.0f} s", flush=True)
    print("  " + ", ".join(f"{kind}: {count:,}" for kind, count in sorted(report.counts.items())), flush=True)
    for failure in report.failures:
        message = failure["failure"].strip().splitlines()[-1]
        print(f"  python -m fuzz {report.name} --seed {report.seed} --case {failure['case']}  # {message[:200]}")


def main() -> int:
    """Run the command; 1 if anything failed."""
    options = parsed()
    if options.case is not None:
        answer = try_case(PARTS[options.parts[0]], options.seed, options.case, options.out / options.parts[0])
        print(*(f"{name}: {value}" for name, value in answer["story"].items()), answer["failure"] or "passed", sep="\n")
        return int(answer["failure"] is not None)
    reports = try_all(options)
    figures = merge(options.out / "figures.json", reports)
    if options.write_docs:
        write_page(options.write_docs, figures)
    return int(any(report.failures for report in reports))


if __name__ == "__main__":
    sys.exit(main())

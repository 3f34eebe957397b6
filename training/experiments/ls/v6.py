"""LS-V6: the six versions of LRTA*_LS(k, d), of which the paper tells in words which is best at what.

The bars were set before the first full run.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np

from training.experiments.evidence import Evidence, bootstrap, mean, ratio, with_interval
from training.experiments.frame import Claim, Experiment
from training.experiments.ls.benchmarks import BALDURS_GATE, MAZE, NOTES, PAPER, SEED
from training.judge import Estimate
from training.judge.stats import Floats
from training.judge.tables import Table

K, D = 40, 16
LOOKAHEADS, CONTROLS = ("dynamic", "static"), ("dynamic", "single", "several")

# What was changed after the first full run, and why.
CHANGES: tuple[str, ...] = ()


def _label(lookahead: str, control: str) -> str:
    parts = [
        f"{name}={value}" for name, value in (("lookahead", lookahead), ("control", control)) if value != "dynamic"
    ]
    return " ".join([f"lrta-ls-kd k={K} d={D}", *parts])


BOTH = _label("dynamic", "dynamic")
SINGLE, SEVERAL = ([_label(lookahead, control) for lookahead in LOOKAHEADS] for control in CONTROLS[1:])
ALL = [_label(*version) for version in product(LOOKAHEADS, CONTROLS)]


def _best(evidence: Evidence, name: str, best: Sequence[str]) -> Estimate | None:
    """Return the least of some versions over the least of all others."""
    others = [label for label in ALL if label not in best]

    def over(*means: Floats) -> Floats:
        return np.min(means[: len(best)], axis=0) / np.min(means[len(best) :], axis=0)

    return bootstrap(over, *(evidence.numbers(label, name) for label in (*best, *others)))


def _over(evidence: Evidence, name: str, control: str) -> Estimate | None:
    return ratio(evidence.numbers(BOTH, name), evidence.numbers(_label("dynamic", control), name))


def _claims_of(name: str, evidence: Evidence) -> list[Claim]:
    found = {
        "a version with single moves costs least: over the least of all others": _best(evidence, "cost", SINGLE),
        "a version with several moves takes least time: over the least of all others": _best(
            evidence, "seconds", SEVERAL
        ),
        "dynamic control lies between, and costs no more than several moves: the ratio": _over(
            evidence, "cost", "several"
        ),
        "dynamic control lies between, and takes no longer than single moves: the ratio": _over(
            evidence, "seconds", "single"
        ),
    }
    return [Claim(f"{name}: {text}", "not printed", ours, high=1) for text, ours in found.items()]


def _claims(*evidence: Evidence) -> list[Claim]:
    return [claim for part, found in zip(PARTS, evidence, strict=True) for claim in _claims_of(part.name, found)]


def _tables(*evidence: Evidence) -> list[Table]:
    columns = ["lookahead", "control", "cost", "95 % interval", "time in ms", "95 % interval"]
    return [
        Table(part.name, columns, [_line(found, *version) for version in product(LOOKAHEADS, CONTROLS)])
        for part, found in zip(PARTS, evidence, strict=True)
    ]


def _line(evidence: Evidence, lookahead: str, control: str) -> list[str]:
    label = _label(lookahead, control)
    found = evidence.numbers(label, "cost"), 1000 * evidence.numbers(label, "seconds")
    return [lookahead, control, *(cell for column in found for cell in with_interval(mean(column)))]


_SPEC = f"lrta-ls-kd:k={K}:d={D}:lookahead={','.join(LOOKAHEADS)}:control={','.join(CONTROLS)}"
PARTS = (*MAZE.parts(_SPEC), *BALDURS_GATE.parts(_SPEC))

EXPERIMENT = Experiment(
    id="ls-v6",
    title="Six versions of LRTA*_LS(k, d)",
    paper=f"{PAPER}, the experiments' first paragraph",
    parts=PARTS,
    seed=SEED,
    claims=_claims,
    tables=_tables,
    notes=(
        f"The paper tells this in words, without k and d; here k = {K} and d = {D}, the middle of its values.",
        "In a static lookahead every state that has to change is learned from with a k of its own.",
        *NOTES,
    ),
    changes=CHANGES,
)

"""DC-N: how far back the history of the depth classifier has to reach.

The paper tries one history, of 20 steps, and supposes that longer ones and more descriptive features are needed where
its trees fall behind the oracle, at large depths. Fixed before the first full run: the histories, one d_max at which
its tree is good and the one at which it is not, and the claims, whose bars ask for more than a trace: one label in a
hundred, a tenth of the expansions.
"""

from training.experiments.dc.f5_learned import DEPTHS, TAUGHT_ON, UNSEEN
from training.experiments.evidence import Evidence, bootstrap, exam_table
from training.experiments.frame import Claim, Experiment, Part
from training.experiments.trained import CrossValidation
from training.judge import advantage
from training.judge.stats import Estimate
from training.judge.tables import Table
from training.learn.targets import Recipe
from training.runs import Allowance

HISTORIES = (5, 10, 20, 40, 80)
OURS = 20  # the paper's
LARGEST = (10, 20)

# What was changed after the first full run, and why.
CHANGES: tuple[str, ...] = ()


def _exams() -> tuple[CrossValidation, ...]:
    histories = [CrossValidation(f"d{d_max}-n{n}", d_max, history=n) for d_max in LARGEST for n in HISTORIES]
    features = [
        CrossValidation(f"d{d_max}-features", d_max, Recipe(labels="class", features="rich")) for d_max in LARGEST
    ]
    return (*histories, *features)


def _claims(evidence: Evidence) -> list[Claim]:
    return [
        claim
        for d_max in LARGEST
        for longer in (n for n in HISTORIES if n > OURS)
        for claim in _claims_of(evidence, d_max, f"d{d_max}-n{longer}", f"a history of {longer} steps")
    ] + [
        claim
        for d_max in LARGEST
        for claim in _claims_of(evidence, d_max, f"d{d_max}-features", f"24 features, history of {OURS} steps")
    ]


def _claims_of(evidence: Evidence, d_max: int, name: str, what: str) -> list[Claim]:
    usual = f"d{d_max}-n{OURS}"
    beside = f"beside the four features of {OURS} steps, d_max {d_max}"
    better = advantage(evidence.rows, *(f"classifier-lrta policy={policy}" for policy in (name, usual)))
    return [
        Claim(f"{what} {beside}: accuracy gained", "likely needed", _gain(evidence, name, usual), low=0.01),
        Claim(f"{what} {beside}: quotient of the ratios (mean)", "likely needed", better, low=1.1),
    ]


def _gain(evidence: Evidence, name: str, usual: str) -> Estimate | None:
    """Return by how much more labels are predicted; the states are the same, as the oracle walks in any case."""
    more, fewer = evidence.marks[name], evidence.marks[usual]
    return bootstrap(lambda one, other, all: (one - other) / all, more.hits, fewer.hits, more.states)


def _tables(evidence: Evidence) -> list[Table]:
    return [exam_table("Accuracy on maps it learned on, ratio on unseen maps", evidence)]


EXPERIMENT = Experiment(
    id="dc-n",
    title="The length of the history that a depth is chosen by",
    paper="Bulitko, Björnsson, Luštrek, Schaeffer, Sigmundarson, Dynamic Control in Path-Planning with Real-Time"
    " Heuristic Search, ICAPS 2007, the remark on Figure 5",
    parts=(
        Part(
            grounds=UNSEEN,
            problems={"smoke": 2, "record": 100, "full": 200},
            entrants=((f"lrta:depth={DEPTHS}", Allowance.of(None)),),
            optimal=(90, 100),
            exams=_exams(),
            taught_on=TAUGHT_ON,
        ),
    ),
    seed=2007,
    claims=_claims,
    tables=_tables,
    notes=(
        "The paper has n = 20 alone. It says that longer histories and more descriptive features are likely needed, and"
        " tries neither.",
        "Accuracy: ten folds that keep the states of a problem together, on the six maps of DC-F5-LEARNED; the oracle"
        " walks, so that every history is judged in the same states. Ratio: the expansions that fixed depths need for"
        " the same suboptimality, over those of the policy, on maps that it has not seen.",
    ),
    changes=CHANGES,
)

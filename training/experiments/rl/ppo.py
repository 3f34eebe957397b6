"""Networks that PPO has trained to deepen or to act, on unseen maps: three seeds, none chosen.

A network first imitates the tree that comes with the package, which has learned on generated maps; then PPO improves it
by its return, and what is best on validation maps is kept. The bar, above 1 by both averages, was set before the first
full run. The tree as teacher, rather than a hand rule, was chosen on the validation maps.
"""

from training.experiments.dc.f5_learned import CHOSEN_ON, DEPTHS, TAUGHT_ON, UNSEEN
from training.experiments.evidence import Evidence
from training.experiments.frame import Claim, Experiment, Part
from training.experiments.rl.controllers import tables_of
from training.experiments.trained import RLTraining
from training.judge import score_all
from training.learn.rl import RLConfig
from training.runs import Allowance

D_MAX = 20
STEPS = 500_000
SEEDS = range(3)
LESSONS = tuple(
    RLTraining(f"ppo-{seed}", RLConfig(teacher="tree", steps=STEPS, every=50_000, d_max=D_MAX, seed=seed))
    for seed in SEEDS
)
ENTRANTS = tuple(
    (spec, Allowance.of(None))
    for spec in (
        f"lrta:depth={DEPTHS}",
        f"rule-lrta:rule=update,revisit,settle:d_max={D_MAX}",
        f"oracle-lrta:d_max={D_MAX}",
        "classifier-lrta",
    )
)

# What was changed after the first full run, and why.
CHANGES: tuple[str, ...] = ()


def _claims(evidence: Evidence) -> list[Claim]:
    scores = {one.entry.label: one for one in score_all(evidence.rows)}
    found = [(lesson.name, scores[f"policy-lrta policy={lesson.name}"]) for lesson in LESSONS]
    text = "on unseen maps, the expansions that fixed depths need for the same suboptimality, over its own"
    return [
        claim
        for name, one in found
        for claim in (
            Claim(f"{name}: {text}, mean", "above 1; 1.5 hoped for", one.ratio_mean, low=1),
            Claim(f"{name}: the same, pooled", "above 1; 1.1 hoped for", one.ratio_pooled, low=1),
        )
    ]


EXPERIMENT = Experiment(
    id="rl-ppo",
    title="Networks trained by PPO that control the lookahead, on unseen maps",
    paper="No paper: the setting is that of Bulitko, Björnsson, Luštrek, Schaeffer, Sigmundarson, Dynamic Control in"
    " Path-Planning with Real-Time Heuristic Search, ICAPS 2007, the learner PPO of Stable-Baselines3",
    parts=(
        Part(
            name="unseen maps",
            grounds=UNSEEN,
            problems={"smoke": 4, "record": 100, "full": 200},
            entrants=ENTRANTS,
            optimal=(90, 100),
            max_moves=1_000_000,
            lessons=LESSONS,
            taught_on=TAUGHT_ON,
            chosen_on=CHOSEN_ON,
        ),
    ),
    seed=2007,
    claims=_claims,
    tables=tables_of,
    notes=(
        "All three seeds are shown; none was chosen. Problems to learn on and to choose on are drawn on other maps than"
        " those of the test, with other seeds.",
        "It needs the extra rl: pip install 'rt_gym[rl]'.",
    ),
    changes=CHANGES,
)

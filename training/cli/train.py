"""``rt-gym train``: learn how deep to look ahead, from labels or by reinforcement."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.cli.parts import Optimal, PerMap, Sources, draw_parts
from training.cli.terminal import AsJson, Seed, make_folder, print_json, print_table, progress
from training.cli.train_goal import goal
from training.cli.train_rl import rl

if TYPE_CHECKING:
    from training.learn.select import Candidate, School
    from training.learn.validate import Quality
    from training.runs import Course

app = typer.Typer(help="Learn how deep to look ahead, and where to.", no_args_is_help=True)

Learner = Annotated[str, typer.Option(help="j48, cart, forest or boosting.")]
Labels = Annotated[str, typer.Option(help="class (the smallest depth that decides as the largest) or cost.")]
Decide = Annotated[str, typer.Option(help="depth (before the search) or deepen (after every layer).")]
Features = Annotated[str, typer.Option(help="paper (four, of the history) or rich (24).")]
Ties = Annotated[str, typer.Option(help="Which moves count as that of the largest depth: search, ordered, tolerant.")]
Price = Annotated[
    float | None, typer.Option(min=0.0, help="Steps that an expansion is worth, for --labels cost; else chosen.")
]
Threshold = Annotated[float | None, typer.Option(help="From which score on to act, for --decide deepen; else chosen.")]


app.command()(goal)
app.command()(rl)


@app.command()
def depth(
    maps: Sources = None,
    validation: Sources = None,
    test: Sources = None,
    d_max: Annotated[int, typer.Option(min=1, max=100, help="The largest depth.")] = 20,
    history: Annotated[int, typer.Option(min=1, max=10_000, help="How many steps back features reach.")] = 20,
    learner: Learner = "j48",
    labels: Labels = "cost",
    decide: Decide = "depth",
    features: Features = "rich",
    ties: Ties = "search",
    dagger: Annotated[int, typer.Option(min=0, max=100, help="Rounds of labelling its own states.")] = 2,
    price: Price = None,
    threshold: Threshold = None,
    min_leaf: Annotated[int, typer.Option(min=1, help="The smallest number of samples in a leaf.")] = 200,
    confidence: Annotated[float, typer.Option(help="J48's pruning confidence.")] = 0.05,
    problems: PerMap = 16,
    optimal: Optimal = "",
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="The folder for policy, samples, tables and plots.")] = Path("rt-gym-depth"),
    csv: Annotated[bool, typer.Option("--csv", help="Write the samples as a table, too.")] = False,
    jobs: Annotated[int, typer.Option(min=-1, help="Processes at a time; -1 for one per core.")] = -1,
    as_json: AsJson = False,
) -> None:
    """Log, label, learn, cross-validate, and compare with fixed depths, rules and the oracle on unseen maps.

    Without maps it learns on the split mixed-train, chooses on mixed-validation and is judged on mixed-test. Finished
    jobs are kept in the folder: the same command goes on where it was stopped.
    """
    from rt_gym import InputError
    from training.learn.fit import Recipe
    from training.learn.log import Logging
    from training.learn.select import School, candidates, choose
    from training.learn.validate import FOLDS
    from training.runs import Workers

    recipe = Recipe(learner, labels, decide, features, ties, min_leaf=min_leaf, confidence=confidence, seed=seed)
    recipes = candidates(recipe, price, threshold)
    courses = draw_parts({"train": maps, "validation": validation, "test": test}, problems, optimal, seed)
    drawn = sum(len(course.tasks) for course in courses["train"])
    if drawn < FOLDS:
        raise InputError(f"--problems: to cross-validate takes at least {FOLDS} on the maps to learn on, not {drawn}")
    make_folder(out)
    school = School(
        courses["train"], courses["validation"], Logging(d_max, history, seed=seed), dagger, Workers(jobs), out
    )
    with progress("", (1 + dagger) * len(recipes) + 1) as advance:
        ranked = choose(school, recipes, lambda amount, text: advance(amount, text))
    best = ranked[0]
    best.policy.save(out / "policy.json")
    best.samples.save(out / "samples.npz")
    if csv:
        best.samples.save(out / "samples.csv")
    _report(school, ranked, courses["test"], out, as_json)


def _report(school: "School", ranked: "list[Candidate]", test: "tuple[Course, ...]", out: Path, as_json: bool) -> None:
    """Cross-validate, run the comparison on unseen maps, and tell about both."""
    from training.judge import find
    from training.judge.plots import save
    from training.learn.plots import draw_training
    from training.learn.select import MAX_MOVES, contend, fixed_depths, opponents
    from training.learn.validate import cross_validate, document, importances, learning_curve
    from training.runs import Plan, run_plan

    best = ranked[0]
    with progress("cross-validating", 3) as advance:
        quality = cross_validate(best.samples, best.recipe)
        advance(1, "shuffling features")
        weights = importances(best.samples, best.recipe)
        advance(1, "learning from less")
        curve = learning_curve(best.samples, best.recipe)
        advance()
    own = contend([best.policy], out / "test")
    contenders = (*fixed_depths(), *opponents(best.policy.d_max), *own)
    plan = Plan(contenders, test, max_moves=MAX_MOVES)
    with progress("running on unseen maps", plan.runs) as advance:
        rows, timings = run_plan(plan, out / "test", school.workers, advance)
    findings = find(plan, rows, timings)
    files = [out / "policy.json", out / "samples.npz", *findings.write(out, {"recipe": best.policy.about["recipe"]})]
    measure = "accuracy" if best.recipe.labels == "class" else "mean cost of a decision, in steps"
    files.append(save(draw_training(quality, weights, curve, measure), out / "training.png"))
    if as_json:
        print_json(
            findings.document()
            | {
                "policy": best.policy.about | {"nodes": best.policy.forest.feature.size, "branch": best.policy.branch},
                "cross_validation": document(quality),
                "importances": weights,
                "learning_curve": curve.tolist(),
                "candidates": [_described(one) for one in ranked],
                "files": [str(path) for path in files],
            }
        )
        return
    _tell_training(ranked, quality, weights)
    for table in findings.tables():
        print_table(table.title, table.columns, table.rows)
    typer.echo("\n".join(["", *findings.remarks(), *map(str, files)]))


def _described(candidate: "Candidate") -> dict[str, Any]:
    score = candidate.score
    ratios = None if score is None else [score.ratio_mean, score.ratio_pooled]
    values = None if ratios is None else [None if part is None else part.value for part in ratios]
    return {"price": candidate.recipe.price, "threshold": candidate.recipe.threshold, "validation_ratios": values}


def _tell_training(ranked: "list[Candidate]", quality: "Quality", weights: dict[str, float]) -> None:
    best = ranked[0]
    if len(ranked) > 1:
        rows = [[f"{one.recipe.price:g}", f"{one.recipe.threshold:g}", *_ratios(one)] for one in ranked]
        print_table("Chosen on the validation maps: the first", ["price", "threshold", "ratio mean", "pooled"], rows, 0)
    size = [
        ["samples", f"{len(best.samples):,}"],
        ["nodes", str(best.policy.forest.feature.size)],
        ["longest branch", str(best.policy.branch)],
        ["accuracy, 10 folds of problems", f"{100 * quality.accuracy:.1f} %"],
        ["  always the most frequent label", f"{100 * quality.majority:.1f} %"],
        ["  the move of the largest depth", f"{100 * quality.same_move:.1f} %"],
        ["mean error of the depth", f"{quality.depth_error:.2f}"],
    ]
    print_table("The policy", ["", ""], size)
    top = sorted(weights.items(), key=lambda pair: -pair[1])[:8]
    print_table("What it goes by", ["feature", "cost when shuffled"], [[name, f"{value:+.4f}"] for name, value in top])


def _ratios(candidate: "Candidate") -> list[str]:
    score = candidate.score
    parts = (None, None) if score is None else (score.ratio_mean, score.ratio_pooled)
    return ["failed" if part is None else f"{part.value:.2f}" for part in parts]

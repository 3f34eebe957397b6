"""``rt-gym train``: learn how deep to look ahead, from labels or by reinforcement."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli.parts import Optimal, PerMap, Sources, read_draw
from training.cli.terminal import AsJson, Seed, make_folder, print_json, print_table, progress
from training.cli.train_goal import goal
from training.cli.train_rl import rl

if TYPE_CHECKING:
    from training.learn.select import Candidate, DepthResult

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
    from training.learn.log import Logging
    from training.learn.select import DepthConfig, train_depth
    from training.learn.setup import draw_parts
    from training.learn.targets import Recipe
    from training.runs import Workers

    recipe = Recipe(learner, labels, decide, features, ties, min_leaf=min_leaf, confidence=confidence, seed=seed)
    config = DepthConfig(recipe, Logging(d_max, history, seed=seed), dagger, price, threshold)
    config.recipes()  # refuses a price or threshold that does not fit
    given = {"train": maps, "validation": validation, "test": test}
    parts = draw_parts(given, read_draw(problems, optimal, seed))
    make_folder(out)
    result = train_depth(config, parts, out, Workers(jobs), progress, csv)
    if as_json:
        print_json(result.document())
        return
    _print_training(result)
    for table in result.findings.tables():
        print_table(table.title, table.columns, table.rows)
    typer.echo("\n".join(["", *result.findings.remarks(), *map(str, result.files)]))


def _print_training(result: "DepthResult") -> None:
    best, quality = result.best, result.quality
    if len(result.candidates) > 1:
        rows = [[f"{one.recipe.price:g}", f"{one.recipe.threshold:g}", *_ratios(one)] for one in result.candidates]
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
    top = sorted(result.importances.items(), key=lambda pair: -pair[1])[:8]
    print_table("What it goes by", ["feature", "cost when shuffled"], [[name, f"{value:+.4f}"] for name, value in top])


def _ratios(candidate: "Candidate") -> list[str]:
    return ["failed" if ratio is None else f"{ratio:.2f}" for ratio in candidate.ratios or (None, None)]

"""``rt-gym train``: learn how deep to look ahead, where to, and who may, from labels, by reinforcement or evolution."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli import data
from training.cli.baselines import baselines
from training.cli.dealer import dealer
from training.cli.ground import ground
from training.cli.reporting import leave_training, unfinished_training
from training.cli.terminal import (
    AGENTS,
    LEARNING,
    OUTPUT,
    AsJson,
    Backend,
    Force,
    Jobs,
    Maps,
    OptimalOfMaps,
    PerMap,
    Scheduler,
    Seed,
    Test,
    Validation,
    begin_training,
    interruptible,
    make_workers,
    named,
    print_json,
    print_table,
    print_tables,
    progress,
    read_draw,
)

if TYPE_CHECKING:
    from training.judge.tables import Table
    from training.learn.goal import GoalResult
    from training.learn.select import Candidate, DepthResult

app = typer.Typer(help="Learn how deep to look ahead, and where to.", no_args_is_help=True)

History = Annotated[int, LEARNING.option("N", "How many steps back features reach.", min=1, max=10_000)]
LargestDepth = Annotated[int, LEARNING.option("N", "The largest depth.", min=1, max=100)]
MinLeaf = Annotated[int, LEARNING.option("N", "The smallest number of samples in a leaf.", min=1)]
Confidence = Annotated[float, LEARNING.option("SHARE", "J48's pruning confidence.")]
Rounds = Annotated[int, LEARNING.option("N", "Rounds of labelling its own states.", min=0, max=100)]
Out = Annotated[Path, OUTPUT.option("FOLDER", "For policy, checkpoints, tables and plots.", parser=named)]

Learner = Annotated[str, LEARNING.option("NAME", "j48, cart, forest or boosting.")]
Labels = Annotated[str, LEARNING.option("NAME", "class (the smallest depth that decides as the largest) or cost.")]
Decide = Annotated[str, LEARNING.option("NAME", "depth (before the search) or deepen (after every layer).")]
Features = Annotated[str, LEARNING.option("NAME", "paper (four, of the history) or rich (24).")]
Ties = Annotated[str, LEARNING.option("NAME", "Moves that count as the largest depth's: search, ordered, tolerant.")]
Price = Annotated[
    float | None, LEARNING.option("STEPS", "What an expansion costs with --labels cost; else chosen.", min=0.0)
]
Threshold = Annotated[float | None, LEARNING.option("SCORE", "From where on --decide deepen acts; else chosen.")]
Csv = Annotated[bool, OUTPUT.option(None, "Write the samples as a table, too.", "--csv")]


@app.command()
def depth(
    maps: Maps = None,
    validation: Validation = None,
    test: Test = None,
    problems: PerMap = 16,
    optimal: OptimalOfMaps = "",
    d_max: LargestDepth = 20,
    history: History = 20,
    learner: Learner = "j48",
    labels: Labels = "cost",
    decide: Decide = "depth",
    features: Features = "rich",
    ties: Ties = "search",
    dagger: Rounds = 2,
    price: Price = None,
    threshold: Threshold = None,
    min_leaf: MinLeaf = 200,
    confidence: Confidence = 0.05,
    jobs: Jobs = -1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
    out: Out = Path("rt-gym-depth"),
    force: Force = False,
    csv: Csv = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Log, label, learn, choose on other maps, and compare with fixed depths on unseen ones.

    Without maps: the splits mixed-train, mixed-validation and mixed-test.
    Finished jobs are kept in the folder: the same command goes on where it was stopped.
    """
    from rt_gym import InputError
    from training.learn import draw_parts
    from training.learn.log import Logging
    from training.learn.select import DepthConfig, train_depth
    from training.learn.targets import Recipe

    workers = make_workers(jobs, backend, scheduler)
    if price is not None and labels != "cost":
        raise InputError("--price goes with --labels cost")
    if threshold is not None and decide != "deepen":
        raise InputError("--threshold goes with --decide deepen")
    recipe = Recipe(learner, labels, decide, features, ties, min_leaf=min_leaf, confidence=confidence, seed=seed)
    config = DepthConfig(recipe, Logging(d_max, history, seed=seed), dagger, price, threshold)
    config.recipes()  # refuses a price or threshold that does not fit
    given = {"train": maps, "validation": validation, "test": test}
    parts = draw_parts(given, read_draw(problems, optimal, seed))
    begin_training(out, "train depth", config, parts, force)
    with unfinished_training(out, "depth"), interruptible("finished jobs are kept", out):
        result = train_depth(config, parts, out, workers, progress, csv)
    leave_training(out, "depth", result.findings, result.files)
    if as_json:
        print_json(result.document())
        return
    _print_training(result)
    _print_findings(result.findings.tables(), result.findings.remarks(), result.files)


def _print_training(result: "DepthResult") -> None:
    from training.learn.fit import beside_majority

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
    typer.echo(beside_majority(quality.accuracy, quality.majority, "always saying the most frequent label"))
    top = sorted(result.importances.items(), key=lambda pair: -pair[1])[:8]
    print_table("What it goes by", ["feature", "cost when shuffled"], [[name, f"{value:+.4f}"] for name, value in top])


def _ratios(candidate: "Candidate") -> list[str]:
    return ["failed" if ratio is None else f"{ratio:.2f}" for ratio in candidate.ratios or (None, None)]


def _print_findings(tables: "Sequence[Table]", remarks: Sequence[str], files: Sequence[Path]) -> None:
    print_tables(tables)
    typer.echo("\n".join(["", *remarks, *map(str, files)]))


Level = Annotated[int, LEARNING.option("N", "How coarse the regions are.", min=0, max=11)]
Abstraction = Annotated[str, LEARNING.option("NAME", "clique or tiles.")]
FixedDepth = Annotated[int, LEARNING.option("N", "The fixed depth of the agents that walk.", min=1, max=100)]
VisitHistory = Annotated[int, LEARNING.option("N", "How many steps back visits count.", min=1, max=10_000)]
States = Annotated[int, LEARNING.option("N", "The most states of a walk.", min=1)]


@app.command()
def goal(
    maps: Maps = None,
    test: Test = None,
    problems: PerMap = 8,
    optimal: OptimalOfMaps = "",
    level: Level = 4,
    abstraction: Abstraction = "clique",
    depth: FixedDepth = 8,
    history: VisitHistory = 20,
    states: States = 100,
    rounds: Rounds = 0,
    min_leaf: MinLeaf = 200,
    confidence: Confidence = 0.05,
    jobs: Jobs = -1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
    out: Out = Path("rt-gym-goal"),
    force: Force = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Log, label by exact distances, learn where to go, and compare its designs on unseen maps.

    Without maps: the splits mixed-train and mixed-test.
    Finished jobs are kept in the folder: the same command goes on where it was stopped.
    """
    from training.learn import draw_parts
    from training.learn.goal import GoalConfig, train_goal

    workers = make_workers(jobs, backend, scheduler)
    config = GoalConfig(level, abstraction, depth, history, states, rounds, min_leaf, confidence, seed)
    parts = draw_parts({"train": maps, "test": test}, read_draw(problems, optimal, seed))
    begin_training(out, "train goal", config, parts, force)
    about = {"maps": maps or ["mixed-train"], "problems": problems, "seed": seed, "command": "rt-gym train goal"}
    with unfinished_training(out, "goal"), interruptible("finished jobs are kept", out):
        result = train_goal(config, parts, out, workers, about, progress)
    leave_training(out, "goal", result.findings, result.files)
    if as_json:
        print_json(result.document())
        return
    _print_policy(result)
    _print_findings(result.findings.tables(), result.findings.remarks(), result.files)


def _print_policy(result: "GoalResult") -> None:
    from training.learn.fit import beside_majority

    quality = result.quality
    shares: list[tuple[str, float]] = [
        ("accuracy, 10 folds of problems", quality.accuracy),
        ("  always no", quality.majority),
        ("best candidate is right", quality.top),
        ("  the nearest by the heuristic", quality.by_heuristic),
        ("best score reaches a half", quality.sure),
        ("  and is right then", quality.top_if_sure),
    ]
    lines = [["samples", f"{quality.samples:,}"], ["states", f"{quality.states:,}"]]
    lines += [[name, str(value)] for name, value in result.size.items()]
    print_table("The policy", ["", ""], [*lines, *([name, f"{100 * share:.1f} %"] for name, share in shares)])
    typer.echo(beside_majority(quality.accuracy, quality.majority, "always saying no"))


Env = Annotated[str, LEARNING.option("ID", "RTDepth, RTDeepen, RTDepthGoal, RTThink, RTPath, a level.")]
Algorithm = Annotated[str | None, LEARNING.option("NAME", "ppo, a2c, dqn, maskable-ppo or cma; else the usual one.")]
Steps = Annotated[int, LEARNING.option("N", "Steps of all episodes, in whole rounds.", min=1)]
Generations = Annotated[
    int | None, LEARNING.option("N", "Generations of cma, at most; 40, or 24 in RTDepthGoal-v0.", min=1)
]
Teacher = Annotated[str | None, LEARNING.option("NAME", "Imitated first: none, oracle, tree, rule, mo-rts.")]
RLDepth = Annotated[int | None, LEARNING.option("N", "The largest depth; 20, or 16 in RTDepthGoal-v0.", min=1, max=100)]
RLHistory = Annotated[
    int | None,
    LEARNING.option("N", "Steps back that features reach; 20, 50 in RTDepthGoal-v0.", min=1, max=10_000),
]
RewardPrice = Annotated[float | None, LEARNING.option("STEPS", "What an expansion costs in the reward; 0.02.", min=0.0)]
Rate = Annotated[float | None, LEARNING.option("RATE", "The learning rate; 1e-4, or 1e-3 in RTPath.")]
Window = Annotated[int | None, LEARNING.option("N", "Side of what RTPath shows; 11.", min=3, max=255)]
ThinkVision = Annotated[int | None, LEARNING.option("N", "How far RTThink-v0 sees; else the map is known.", min=0)]
GoalMoves = Annotated[int | None, LEARNING.option("N", "Moves between two steps of its goal; else it stays.", min=1)]
Slice = Annotated[int | None, LEARNING.option("N", "States that RTThink-v0 expands at a time; 20.", min=1)]
Hidden = Annotated[str, LEARNING.option("N[,N]", "Widths of hidden layers; 32, cma 2, RTPath 64,64.")]
Episodes = Annotated[int, LEARNING.option("N", "How many run side by side.", min=1)]
Every = Annotated[int, LEARNING.option("N", "Steps between two validations.", min=1)]
Patience = Annotated[int | None, LEARNING.option("N", "Validations without progress to end; 5, or 20.", min=1)]
Tensorboard = Annotated[Path | None, OUTPUT.option("FOLDER", "For the logs of TensorBoard.")]


@app.command()
def rl(
    maps: Maps = None,
    validation: Validation = None,
    test: Test = None,
    problems: PerMap = 16,
    optimal: OptimalOfMaps = "",
    env: Env = "RTDeepen-v0",
    algo: Algorithm = None,
    steps: Steps = 500_000,
    generations: Generations = None,
    teacher: Teacher = None,
    price: RewardPrice = None,
    rate: Rate = None,
    d_max: RLDepth = None,
    history: RLHistory = None,
    vision: ThinkVision = None,
    slice: Slice = None,
    goal_moves: GoalMoves = None,
    window: Window = None,
    hidden: Hidden = "",
    episodes: Episodes = 256,
    every: Every = 50_000,
    patience: Patience = None,
    jobs: Jobs = -1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
    out: Out = Path("rt-gym-rl"),
    force: Force = False,
    tensorboard: Tensorboard = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Train a network on some maps, keep what is best on others, and compare on unseen ones.

    Without maps: mixed-train, -validation and -test, or the level's. Goes on if stopped.
    """
    from rt_gym import InputError
    from training.learn import draw_parts
    from training.learn.rl import RLConfig, train_rl
    from training.learn.rl.course import level_of
    from training.learn.rl.model import check_installed
    from training.runs.contenders import parse_numbers

    workers = make_workers(jobs, backend, scheduler)
    config = RLConfig.usual(
        env=env, algo=algo, steps=steps, generations=generations, price=price, d_max=d_max, history=history,
        slice=slice, vision=vision, goal_moves=goal_moves, window=window,
        hidden=tuple(parse_numbers("--hidden", hidden, int)) or None,
        episodes=episodes, teacher=teacher, rate=rate, every=every, patience=patience, seed=seed,
    )  # fmt: skip
    check_installed(config, tensorboard)
    given = {"train": maps, "validation": validation, "test": test}
    if level_of(env) and any(given.values()):
        raise InputError(f"{env} has maps of its own: leave out --maps, --validation and --test, or take another --env")
    parts = draw_parts(given, read_draw(problems, optimal, seed), config.splits)
    begin_training(out, "train rl", config, parts, force, config.free)
    kept = "what was learned until the last look at the validation maps is kept"
    with unfinished_training(out, "rl"), interruptible(kept, out):
        result = train_rl(config, parts, out, workers, progress, tensorboard)
    leave_training(out, "rl", result.findings, result.files, result.tables[len(result.findings.tables()) :])
    if as_json:
        print_json(result.document())
        return
    columns = ["generations" if config.algo == "cma" else "steps", "mean return", *result.progress.names]
    print_table("On the validation maps", columns, result.progress.table(), 0)
    _print_findings(result.tables, result.remarks, result.files)


MoveLimit = Annotated[int, AGENTS.option("N", "What a move may take.", min=1)]
Counted = Annotated[str, AGENTS.option("NAME", "What the limit counts: scans or expansions.")]
Seen = Annotated[int | None, AGENTS.option("N", "How far the agent sees; else the map is known.", min=0)]
GeneGenerations = Annotated[int, LEARNING.option("N", "How many generations.", min=1, max=10_000)]
Population = Annotated[int, LEARNING.option("N", "Children of each.", min=1, max=100_000)]


@app.command()
def blocks(
    maps: Maps = None,
    validation: Validation = None,
    test: Test = None,
    problems: PerMap = 16,
    optimal: OptimalOfMaps = "",
    limit: MoveLimit = 10,
    count: Counted = "scans",
    vision: Seen = None,
    generations: GeneGenerations = 8,
    population: Population = 16,
    jobs: Jobs = -1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
    out: Out = Path("rt-gym-blocks"),
    force: Force = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Evolve the building blocks of an agent for a limit per move, and compare it on unseen maps.

    Without maps: the splits mixed-train, mixed-validation and mixed-test.
    Finished work is kept in the folder: the same command goes on where it was stopped.
    """
    from dataclasses import replace

    from training.learn import draw_parts
    from training.learn.blocks import BlocksConfig, train_blocks

    workers = make_workers(jobs, backend, scheduler)
    config = BlocksConfig(limit, count, generations, population, seed=seed)
    given = {"train": maps, "validation": validation, "test": test}
    parts = draw_parts(given, replace(read_draw(problems, optimal, seed), vision=vision))
    begin_training(out, "train blocks", config, parts, force)
    with unfinished_training(out, "blocks"), interruptible("finished work is kept", out):
        result = train_blocks(config, parts, out, workers, progress)
    leave_training(out, "blocks", result.findings, result.files, [result.table()])
    if as_json:
        print_json(result.document())
        return
    print_tables([result.table()])
    _print_findings(result.findings.tables(), [*result.findings.remarks(), *result.remarks()], result.files)


app.command()(dealer)
app.command()(data.log)
app.command()(data.export)
app.command()(baselines)
app.command()(ground)

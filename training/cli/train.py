"""``rt-gym train``: learn how deep to look ahead, where to, and who may, from labels, by reinforcement or evolution.

Here is what learns from labels: depths, goals, the price of unknown ground; and what was learned from, and what was
learned, for other programs. What learns by trial is in ``training.cli.train_by_trial``.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli.terminal import (
    AGENTS,
    LEARNING,
    MAPS,
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
    TrainingOut,
    Validation,
    begin_training,
    interruptible,
    leave_training,
    make_folder,
    make_workers,
    named,
    print_findings,
    print_json,
    print_table,
    print_tables,
    progress,
    read_draw,
    unfinished_training,
)
from training.cli.train_by_trial import baselines, blocks, dealer, rl

if TYPE_CHECKING:
    from agents.policies.networks import Network
    from agents.policies.trees import Policy
    from training.learn.goal import GoalResult
    from training.learn.select import Candidate, DepthResult

app = typer.Typer(help="Learn how deep to look ahead, and where to.", no_args_is_help=True)

History = Annotated[int, LEARNING.option("N", "How many steps back features reach.", min=1, max=10_000)]
LargestDepth = Annotated[int, LEARNING.option("N", "The largest depth.", min=1, max=100)]
MinLeaf = Annotated[int, LEARNING.option("N", "The smallest number of samples in a leaf.", min=1)]
Confidence = Annotated[float, LEARNING.option("SHARE", "J48's pruning confidence.")]
Rounds = Annotated[int, LEARNING.option("N", "Rounds of labelling its own states.", min=0, max=100)]

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
    out: TrainingOut = Path("rt-gym-depth"),
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
    print_findings(result.findings.tables(), result.findings.remarks(), result.files)


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
    out: TrainingOut = Path("rt-gym-goal"),
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
    print_findings(result.findings.tables(), result.findings.remarks(), result.files)


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


Vision = Annotated[int, AGENTS.option("N", "How far the agent sees.", min=1)]
Radius = Annotated[int, LEARNING.option("N", "How far around an unknown cell the tree looks.", min=1, max=16)]
Leaves = Annotated[int, LEARNING.option("N", "The most leaves of the tree.", min=2, max=100_000)]
GroundOut = Annotated[Path, OUTPUT.option("FOLDER", "For policy, tables and plots.", parser=named)]


def ground(
    maps: Maps = None,
    validation: Validation = None,
    test: Test = None,
    problems: PerMap = 16,
    optimal: OptimalOfMaps = "",
    vision: Vision = 1,
    radius: Radius = 4,
    leaves: Leaves = 300,
    jobs: Jobs = -1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
    out: GroundOut = Path("rt-gym-ground"),
    force: Force = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Learn what unknown ground costs on maps of a kind, and compare on unseen ones in fog.

    Without maps: the splits mixed-train, mixed-validation and mixed-test.
    Finished work is kept in the folder: the same command goes on where it was stopped.
    """
    from dataclasses import replace

    from training.learn import draw_parts
    from training.learn.ground import GroundConfig, train_ground

    workers = make_workers(jobs, backend, scheduler)
    config = GroundConfig(radius, leaves=leaves, seed=seed)
    given = {"train": maps, "validation": validation, "test": test}
    parts = draw_parts(given, replace(read_draw(problems, optimal, seed), vision=vision))
    begin_training(out, "train ground", config, parts, force)
    with unfinished_training(out, "ground"), interruptible("finished work is kept", out):
        result = train_ground(config, parts, out, workers, progress)
    leave_training(out, "ground", result.findings, result.files, [result.table()])
    if as_json:
        print_json(result.document())
        return
    print_tables([result.table(), *result.findings.tables()])
    typer.echo("\n".join(["", *result.findings.remarks(), *result.remarks(), *map(str, result.files)]))


Env = Annotated[str, LEARNING.option("ID", "Where, see above.")]
Agent = Annotated[str, AGENTS.option("ID[:NAME=VALUE]", "Who decides, see above.")]
SplitName = Annotated[str | None, MAPS.option("NAME", "Whose problems are walked; mixed-train, or that of the level.")]
WalkedPerMap = Annotated[int, MAPS.option("N", "Problems per map, at most.", min=1, max=10**6)]
Sight = Annotated[int | None, MAPS.option("N", "How far the agent sees, in RTPath-v0 and RTThink-v0.", min=0)]
MaxMoves = Annotated[int, LEARNING.option("N", "Where an episode is cut.", min=1, max=10**9)]
Minari = Annotated[str | None, OUTPUT.option("NAME", "Write this Minari dataset, such as rtdepth/oracle-v0.")]
TableFile = Annotated[Path | None, OUTPUT.option("FILE", "Write every column to this .csv or .npz.", parser=named)]


def log(
    env: Env = "RTDepth-v0",
    agent: Agent = "oracle-lrta",
    split: SplitName = None,
    problems: WalkedPerMap = 16,
    vision: Sight = None,
    max_moves: MaxMoves = 10_000,
    minari: Minari = None,
    out: TableFile = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Log episodes of an agent in an environment, step by step, for offline learning.

    RTPath-v0, RTPathFog-v0, levels such as RTPath-Maze-32x32-v0: any agent, or random.
    RTDepth-v0, RTDeepen-v0: rule-lrta, oracle-lrta, classifier-lrta or policy-lrta, or random.
    RTDepthGoal-v0: rule, general-lrta:policy=FILE with a network, or random.
    RTThink-v0: think-lss:policy=rule, mo-rts, N or FILE, or random.
    """
    from rt_gym import InputError
    from training.learn.episodes import check_minari_name, log_episodes

    if minari is None and out is None:
        raise InputError("say where to: --minari NAME, --out FILE or both")
    if minari is not None:
        check_minari_name(minari)
    if out is not None:
        _check_table(out)
    episodes = log_episodes(env, agent, split, problems, seed, max_moves, vision, progress)
    if out is not None:
        episodes.save(out)
    if minari is not None:
        episodes.to_minari(minari)
    reached = int(episodes.terminated.sum())
    facts = {"episodes": len(episodes), "steps": len(episodes.reward), "reached": reached}
    if as_json:
        print_json(facts | {"minari": minari, "file": None if out is None else str(out)})
        return
    written = "\n".join(str(place) for place in (minari, out) if place is not None)
    typer.echo(f"{len(episodes)} episodes, {facts['steps']:,} steps, {reached} goals reached\n{written}")


def _check_table(path: Path) -> None:
    """Refuse a place where no table can be written, before any work is done for it."""
    from rt_gym import InputError
    from rt_gym.files import shown

    if path.suffix not in (".csv", ".npz") or path.is_dir():
        raise InputError(f"--out must be a file that ends in .csv or .npz, not {shown(path)}")
    make_folder(path.parent)


PolicyFile = Annotated[
    str, typer.Argument(metavar="POLICY", help="A .json with trees, an .npz with a network, a name.")
]
OnnxFile = Annotated[Path | None, OUTPUT.option("FILE", "Write an ONNX model.", parser=named)]
CFile = Annotated[Path | None, OUTPUT.option("FILE", "Write a C99 header.", "--c", parser=named)]


def export(policy: PolicyFile, onnx: OnnxFile = None, c: CFile = None) -> None:
    """Write a policy for other programs: trees or a network as an ONNX model, or as a C header.

    Both take features as they are, in steps and counts, and decide as the agent does.
    """
    from rt_gym import InputError
    from training.export import load_exportable

    loaded = load_exportable(policy)
    if onnx is None and c is None:
        raise InputError("say where to: --onnx FILE, --c FILE or both")
    for file in filter(None, (onnx, c)):
        make_folder(file.parent)
    if onnx is not None:
        _write_onnx(loaded, onnx)
    if c is not None:
        from rt_gym.files import atomic_write
        from training.export.formats import VECTORS, to_c

        atomic_write(c, to_c(loaded, c.stem).encode())
        typer.echo(f"{c}: tests itself on {VECTORS} inputs")


def _write_onnx(policy: "Policy | Network", path: Path) -> None:
    from rt_gym.errors import MissingLibrary
    from rt_gym.files import atomic_write
    from training.export.formats import CHECKED, count_equal, to_onnx

    content = to_onnx(policy, path.stem)
    try:
        said = f"{count_equal(policy, content)} of {CHECKED} random inputs are decided as by rt_gym"
    except MissingLibrary as missing:
        said = f"not tried ({missing})"
    atomic_write(path, content)
    typer.echo(f"{path}: {said}")


app.command()(rl)
app.command()(blocks)
app.command()(dealer)
app.command()(log)
app.command()(export)
app.command()(baselines)
app.command()(ground)

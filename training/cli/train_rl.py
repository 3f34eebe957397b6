"""``rt-gym train rl``: learn a controller by reinforcement or evolution."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.cli.parts import Optimal, PerMap, Sources, draw_parts
from training.cli.terminal import AsJson, Seed, make_folder, print_json, print_table, progress

if TYPE_CHECKING:
    from agents.policies.networks import Network
    from training.judge import Findings
    from training.judge.tables import Table
    from training.learn.rl import Progress, Training
    from training.runs import Course, Workers

Env = Annotated[str, typer.Option(help="RTDepth-v0, RTDeepen-v0 or RTThink-v0.")]
Algorithm = Annotated[str, typer.Option(help="ppo, a2c, dqn, maskable-ppo, or cma (evolution; not for RTThink-v0).")]
Teacher = Annotated[
    str, typer.Option(help="Whom to imitate first: none, oracle, tree or rule; in RTThink-v0 none or rule.")
]
Hidden = Annotated[str, typer.Option(metavar="N[,N]", help="Widths of the hidden layers; 32, or 2 for cma.")]
Vision = Annotated[int | None, typer.Option(min=0, help="How far RTThink-v0 sees; without it the map is known.")]
Slice = Annotated[int, typer.Option(min=1, help="States that RTThink-v0 expands in a slice of thinking.")]
Out = Annotated[Path, typer.Option(help="The folder for policy, checkpoints, tables and plots.")]


def rl(
    env: Env = "RTDeepen-v0",
    algo: Algorithm = "ppo",
    steps: Annotated[int, typer.Option(min=1, help="Steps of all episodes together.")] = 500_000,
    generations: Annotated[int, typer.Option(min=1, help="Of cma, at most.")] = 40,
    maps: Sources = None,
    validation: Sources = None,
    test: Sources = None,
    teacher: Teacher = "none",
    price: Annotated[float, typer.Option(min=0.0, help="Steps that an expansion is worth in the reward.")] = 0.02,
    rate: Annotated[float, typer.Option(help="The learning rate.")] = 1e-4,
    d_max: Annotated[int, typer.Option(min=1, max=100, help="The largest depth.")] = 20,
    history: Annotated[int, typer.Option(min=1, max=10_000, help="How many steps back features reach.")] = 20,
    vision: Vision = None,
    slice: Slice = 20,
    hidden: Hidden = "",
    episodes: Annotated[int, typer.Option(min=1, help="How many run side by side.")] = 256,
    every: Annotated[int, typer.Option(min=1, help="Steps between looks at the validation maps.")] = 50_000,
    patience: Annotated[int, typer.Option(min=1, help="Looks without a better network before it ends.")] = 5,
    problems: PerMap = 16,
    optimal: Optimal = "",
    seed: Seed = 0,
    out: Out = Path("rt-gym-rl"),
    tensorboard: Annotated[Path | None, typer.Option(help="A folder for the logs of TensorBoard.")] = None,
    jobs: Annotated[int, typer.Option(min=-1, help="Processes at a time; -1 for one per core.")] = -1,
    as_json: AsJson = False,
) -> None:
    """Train a network on some maps, keep what is best on others, and compare it with its rivals on unseen ones.

    Without maps it learns on the split mixed-train, chooses on mixed-validation and is judged on mixed-test.
    Checkpoints are kept in the folder: the same command goes on where it was stopped.
    """
    from rt_gym.files import shown
    from training.learn.rl import Training, train
    from training.learn.rl.model import check_installed
    from training.runs import Workers
    from training.runs.specs import parse_numbers

    training = Training(
        env=env, algo=algo, steps=steps, generations=generations, price=price, d_max=d_max, history=history,
        slice=slice, vision=vision, hidden=tuple(parse_numbers("--hidden", hidden, int)) if hidden else (),
        episodes=episodes, teacher=teacher, rate=rate, every=every, patience=patience, seed=seed,
    )  # fmt: skip
    check_installed(training, tensorboard)
    courses = draw_parts({"train": maps, "validation": validation, "test": test}, problems, optimal, seed)
    make_folder(out)
    workers = Workers(jobs)
    with progress("beginning", generations if algo == "cma" else steps) as advance:
        try:
            network, went = train(
                training, courses["train"], courses["validation"], out / "checkpoints", workers,
                lambda amount, text: advance(amount, text), tensorboard,
            )  # fmt: skip
        except KeyboardInterrupt:
            kept = f"what was learned until the last look at the validation maps is kept in {shown(out)}"
            typer.echo(f"stopped: {kept}; the same command goes on from there", err=True)
            raise typer.Exit(130) from None
    network.save(out / "policy.npz")
    _report(training, network, went, courses["test"], out, workers, as_json)


def _report(
    training: "Training",
    network: "Network",
    went: "Progress",
    test: "tuple[Course, ...]",
    out: Path,
    workers: "Workers",
    as_json: bool,
) -> None:
    """Compare the network with its rivals on unseen maps."""
    from training.judge.plots import save
    from training.learn.rl.plot import draw_looks

    if training.decide == "think":
        document, tables, remarks, files = _beside_slices(training, network, test)
    else:
        document, tables, remarks, files = _beside_depths(network, test, out, workers)
    files = [out / "policy.npz", *files, save(draw_looks(went), out / "training.png")]
    if as_json:
        extra = {"policy": network.about, "looks": went.looks, "files": [str(path) for path in files]}
        print_json(document | extra)
        return
    steps = "generations" if training.algo == "cma" else "steps"
    print_table("On the validation maps", [steps, "mean return", *went.names], went.table(), 0)
    for table in tables:
        print_table(table.title, table.columns, table.rows)
    typer.echo("\n".join(["", *remarks, *map(str, files)]))


_Report = tuple[dict[str, Any], "list[Table]", list[str], list[Path]]  # a document, tables, remarks, files


def _beside_slices(training: "Training", network: "Network", test: "tuple[Course, ...]") -> _Report:
    """Return how fixed numbers of slices, the rule and the network do."""
    from training.judge.think import contest, times_table
    from training.learn.rl.course import problems_of

    times = contest({"network": network.choose}, problems_of(test), **training.thinking)
    table = times_table(times)
    ratios = {name: time.ratio if time.solved.all() else None for name, time in times.items()}
    return {"time_ratios": ratios}, [table], [], []


def _beside_depths(network: "Network", test: "tuple[Course, ...]", out: Path, workers: "Workers") -> _Report:
    """Return how fixed depths, rules, the ready-made tree, the oracle and the network do, and their leaderboard."""
    from rt_gym import InputError
    from training.judge.leaderboard import PRICE, leaderboard_table, score

    findings = _judged(out / "policy.npz", network.d_max, test, out, workers)
    document, tables, remarks = findings.document(), findings.tables(), findings.remarks()
    try:
        standings = score(findings.rows)
        document["leaderboard"] = [standing.document() for standing in standings]
        tables.append(leaderboard_table(standings, PRICE))
    except InputError as error:  # on easy maps the oracle saves nothing
        remarks.append(f"There is no leaderboard: {error}.")
    return document, tables, remarks, findings.write(out, {"training": network.about})


def _judged(policy: Path, d_max: int, test: "tuple[Course, ...]", out: Path, workers: "Workers") -> "Findings":
    from training.judge import find
    from training.learn.select import MAX_MOVES, fixed_depths, opponents
    from training.runs import Allowance, Plan, enlist_all, run_plan

    own = enlist_all(["classifier-lrta", f"policy-lrta:policy={policy}"], [Allowance.of(None)])
    plan = Plan((*fixed_depths(), *opponents(d_max), *own), test, max_moves=MAX_MOVES)
    with progress("running on unseen maps", plan.runs) as advance:
        rows, timings = run_plan(plan, out / "test", workers, advance)
    return find(plan, rows, timings)

"""``rt-gym train rl``: learn a controller of the lookahead by reinforcement."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.commands.parts import Optimal, PerMap, Sources, draw_parts
from training.commands.terminal import AsJson, Seed, make_folder, print_json, print_table, progress

if TYPE_CHECKING:
    from agents.network import Network
    from training.compare import Course, Findings, Workers
    from training.rl import Progress

Algorithm = Annotated[str, typer.Option(help="ppo, a2c, dqn or maskable-ppo.")]
Teacher = Annotated[str, typer.Option(help="Whom to imitate first: none, oracle, tree or rule.")]
Hidden = Annotated[str, typer.Option(metavar="N[,N]", help="Widths of the hidden layers.")]
Out = Annotated[Path, typer.Option(help="The folder for policy, checkpoints, tables and plots.")]


def rl(
    env: Annotated[str, typer.Option(help="RTDepth-v0 or RTDeepen-v0.")] = "RTDeepen-v0",
    algo: Algorithm = "ppo",
    steps: Annotated[int, typer.Option(min=1, help="Steps of all episodes together.")] = 500_000,
    maps: Sources = None,
    validation: Sources = None,
    test: Sources = None,
    teacher: Teacher = "none",
    price: Annotated[float, typer.Option(min=0.0, help="Steps that an expansion is worth in the reward.")] = 0.002,
    d_max: Annotated[int, typer.Option(min=1, max=100, help="The largest depth.")] = 20,
    history: Annotated[int, typer.Option(min=1, max=10_000, help="How many steps back features reach.")] = 20,
    hidden: Hidden = "32",
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
    from training.compare import Workers
    from training.rl import Training, train
    from training.specs import parse_numbers

    training = Training(
        env=env, algo=algo, steps=steps, price=price, d_max=d_max, history=history,
        hidden=tuple(parse_numbers("--hidden", hidden, int)),
        episodes=episodes, teacher=teacher, every=every, patience=patience, seed=seed,
    )  # fmt: skip
    courses = draw_parts({"train": maps, "validation": validation, "test": test}, problems, optimal, seed)
    make_folder(out)
    workers = Workers(jobs)
    with progress("beginning", steps) as advance:
        network, went = train(
            training, courses["train"], courses["validation"], out / "checkpoints", workers,
            lambda amount, text: advance(amount, text), tensorboard,
        )  # fmt: skip
    network.save(out / "policy.npz")
    _report(network, went, courses["test"], out, workers, as_json)


def _report(
    network: "Network", went: "Progress", test: "tuple[Course, ...]", out: Path, workers: "Workers", as_json: bool
) -> None:
    """Compare the network with fixed depths, rules, the ready-made tree and the oracle on unseen maps."""
    from training.plots import save
    from training.rl.plot import draw_looks

    findings = _judged(out / "policy.npz", network.d_max, test, out, workers)
    files = [out / "policy.npz", *findings.write(out, {"training": network.about})]
    files.append(save(draw_looks(went.looks), out / "training.png"))
    if as_json:
        extra = {"policy": network.about, "looks": went.looks, "files": [str(path) for path in files]}
        print_json(findings.document() | extra)
        return
    rows = [[f"{steps:,.0f}", *(_cell(figure) for figure in figures)] for steps, *figures in went.looks]
    print_table("On the validation maps", ["steps", "mean return", "subopt.", "ratio mean", "pooled"], rows, 0)
    for table in findings.tables():
        print_table(table.title, table.columns, table.rows)
    typer.echo("\n".join(["", *findings.remarks(), *map(str, files)]))


def _judged(policy: Path, d_max: int, test: "tuple[Course, ...]", out: Path, workers: "Workers") -> "Findings":
    from training.compare import Allowance, Plan, enlist_all, find, run_plan
    from training.depth import MAX_MOVES, fixed_depths, opponents

    own = enlist_all(["classifier-lrta", f"policy-lrta:policy={policy}"], [Allowance.of(None)])
    plan = Plan((*fixed_depths(), *opponents(d_max), *own), test, max_moves=MAX_MOVES)
    with progress("running on unseen maps", plan.runs) as advance:
        rows, timings = run_plan(plan, out / "test", workers, advance)
    return find(plan, rows, timings)


def _cell(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.2f}"

"""``rt-gym train rl``: learn a controller by reinforcement or evolution."""

from pathlib import Path
from typing import Annotated

import typer

from training.cli.parts import Optimal, PerMap, Sources, read_draw
from training.cli.terminal import AsJson, Seed, make_folder, print_json, print_table, progress

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
    from training.learn.rl import RLConfig, train_rl
    from training.learn.rl.model import check_installed
    from training.learn.setup import draw_parts
    from training.runs import Workers
    from training.runs.specs import parse_numbers

    config = RLConfig(
        env=env, algo=algo, steps=steps, generations=generations, price=price, d_max=d_max, history=history,
        slice=slice, vision=vision, hidden=tuple(parse_numbers("--hidden", hidden, int)) if hidden else (),
        episodes=episodes, teacher=teacher, rate=rate, every=every, patience=patience, seed=seed,
    )  # fmt: skip
    check_installed(config, tensorboard)
    given = {"train": maps, "validation": validation, "test": test}
    parts = draw_parts(given, read_draw(problems, optimal, seed))
    make_folder(out)
    try:
        result = train_rl(config, parts, out, Workers(jobs), progress, tensorboard)
    except KeyboardInterrupt:
        kept = f"what was learned until the last look at the validation maps is kept in {shown(out)}"
        typer.echo(f"stopped: {kept}; the same command goes on from there", err=True)
        raise typer.Exit(130) from None
    if as_json:
        print_json(result.document())
        return
    columns = ["generations" if algo == "cma" else "steps", "mean return", *result.progress.names]
    print_table("On the validation maps", columns, result.progress.table(), 0)
    for table in result.tables:
        print_table(table.title, table.columns, table.rows)
    typer.echo("\n".join(["", *result.remarks, *map(str, result.files)]))

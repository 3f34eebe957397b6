"""``rt-gym train goal``: learn which of the regions around it an agent should head for next."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli.parts import Optimal, PerMap, Sources, read_draw
from training.cli.terminal import AsJson, Seed, make_folder, print_json, print_table, progress

if TYPE_CHECKING:
    from training.learn.goal import GoalResult


def goal(
    maps: Sources = None,
    test: Sources = None,
    level: Annotated[int, typer.Option(min=0, max=11, help="How coarse the regions are.")] = 4,
    abstraction: Annotated[str, typer.Option(help="clique or tiles.")] = "clique",
    depth: Annotated[int, typer.Option(min=1, max=100, help="The fixed depth of the agents that walk.")] = 8,
    history: Annotated[int, typer.Option(min=1, max=10_000, help="How many steps back visits count.")] = 20,
    states: Annotated[int, typer.Option(min=1, help="The most states of a walk.")] = 100,
    rounds: Annotated[int, typer.Option(min=0, max=100, help="Rounds of labelling its own states.")] = 0,
    min_leaf: Annotated[int, typer.Option(min=1, help="The smallest number of samples in a leaf.")] = 200,
    confidence: Annotated[float, typer.Option(help="J48's pruning confidence.")] = 0.05,
    problems: PerMap = 8,
    optimal: Optimal = "",
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="The folder for policy and tables.")] = Path("rt-gym-goal"),
    jobs: Annotated[int, typer.Option(min=-1, help="Processes at a time; -1 for one per core.")] = -1,
    as_json: AsJson = False,
) -> None:
    """Log, label by exact distances, learn, cross-validate, and compare the designs it serves on unseen maps.

    Without maps it learns on the split mixed-train and is judged on mixed-test. Finished jobs are kept in the folder:
    the same command goes on where it was stopped.
    """
    from training.learn.goal import train_goal
    from training.learn.goal_log import GoalConfig
    from training.learn.setup import draw_parts
    from training.runs import Workers

    config = GoalConfig(level, abstraction, depth, history, states, rounds, min_leaf, confidence, seed)
    parts = draw_parts({"train": maps, "test": test}, read_draw(problems, optimal, seed))
    make_folder(out)
    about = {"maps": maps or ["mixed-train"], "problems": problems, "seed": seed, "command": "rt-gym train goal"}
    result = train_goal(config, parts, out, Workers(jobs), about, progress)
    if as_json:
        print_json(result.document())
        return
    _print_policy(result)
    for table in result.findings.tables():
        print_table(table.title, table.columns, table.rows)
    typer.echo("\n".join(["", *result.findings.remarks(), *map(str, result.files)]))


def _print_policy(result: "GoalResult") -> None:
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

"""``rt-gym train goal``: learn which of the regions around it an agent should head for next."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli.parts import Optimal, PerMap, Sources, draw_parts
from training.cli.terminal import AsJson, Seed, make_folder, print_json, print_table, progress

if TYPE_CHECKING:
    from agents.policies.goals import GoalPolicy
    from training.judge import Findings
    from training.learn.goal import Quality
    from training.runs import Course, Workers


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

    Without maps it learns on the split mixed-train and is judged on mixed-test.
    """
    from training.learn.goal import Schooling, cross_validate, train
    from training.runs import Workers

    schooling = Schooling(level, abstraction, depth, history, states, rounds, min_leaf, confidence, seed)
    courses = draw_parts({"train": maps, "test": test}, problems, optimal, seed)
    make_folder(out)
    workers = Workers(jobs)
    about = {"maps": maps or ["mixed-train"], "problems": problems, "seed": seed, "command": "rt-gym train goal"}
    with progress("walking", rounds + 2) as advance:
        policy, samples = train(courses["train"], schooling, workers, about, lambda amount, text: advance(amount, text))
        quality = cross_validate(samples, schooling)
        advance()
    policy.save(out / "goal.json")
    _report(policy, quality, _judged(out, schooling.depth, policy, courses["test"], workers), out, as_json)


def _judged(out: Path, depth: int, policy: "GoalPolicy", test: "tuple[Course, ...]", workers: "Workers") -> "Findings":
    from training.judge import find
    from training.learn.goal import MAX_MOVES, rivals
    from training.runs import Plan, run_plan

    contenders = rivals(out / "goal.json", depth, policy.level, policy.abstraction)
    plan = Plan(tuple(contenders), test, max_moves=MAX_MOVES)
    with progress("running on unseen maps", plan.runs) as advance:
        rows, timings = run_plan(plan, out / "test", workers, advance)
    return find(plan, rows, timings)


def _report(policy: "GoalPolicy", quality: "Quality", findings: "Findings", out: Path, as_json: bool) -> None:
    """Tell what the policy is like and how the designs did."""
    files = [out / "goal.json", *findings.write(out, {"training": policy.about})]
    size = {"nodes": policy.forest.feature.size, "branch": policy.branch}
    if as_json:
        extra = {"policy": policy.about | size, "cross_validation": asdict(quality), "files": [str(p) for p in files]}
        print_json(findings.document() | extra)
        return
    shares: list[tuple[str, float]] = [
        ("accuracy, 10 folds of problems", quality.accuracy),
        ("  always no", quality.majority),
        ("best candidate is right", quality.top),
        ("  the nearest by the heuristic", quality.by_heuristic),
        ("best score reaches a half", quality.sure),
        ("  and is right then", quality.top_if_sure),
    ]
    lines = [["samples", f"{quality.samples:,}"], ["states", f"{quality.states:,}"]]
    lines += [[name, str(value)] for name, value in size.items()]
    print_table("The policy", ["", ""], [*lines, *([name, f"{100 * share:.1f} %"] for name, share in shares)])
    for table in findings.tables():
        print_table(table.title, table.columns, table.rows)
    typer.echo("\n".join(["", *findings.remarks(), *map(str, files)]))

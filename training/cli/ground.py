"""``rt-gym train ground``: what unknown ground costs on maps of a kind, for planning in fog."""

from pathlib import Path
from typing import Annotated

import typer

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
    print_tables,
    progress,
    read_draw,
)

Vision = Annotated[int, AGENTS.option("N", "How far the agent sees.", min=1)]
Radius = Annotated[int, LEARNING.option("N", "How far around an unknown cell the tree looks.", min=1, max=16)]
Leaves = Annotated[int, LEARNING.option("N", "The most leaves of the tree.", min=2, max=100_000)]
Out = Annotated[Path, OUTPUT.option("FOLDER", "For policy, tables and plots.", parser=named)]


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
    out: Out = Path("rt-gym-ground"),
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

"""``rt-gym train baselines``: what learners reach on levels, beside chance, rules and agents that search."""

from pathlib import Path
from typing import Annotated

import typer

from training.cli.terminal import (
    LEARNING,
    MAPS,
    OUTPUT,
    AsJson,
    Backend,
    Jobs,
    Scheduler,
    interruptible,
    make_folder,
    make_workers,
    named,
    print_json,
    print_tables,
    progress,
)

Levels = Annotated[list[str] | None, MAPS.option("ID", "Levels such as RTPath-Random-16x16-v0; repeatable.")]
Learners = Annotated[
    list[str] | None,
    LEARNING.option("NAME", "PPO, MaskablePPO, RecurrentPPO or recipe; repeatable, all if nothing is said."),
]
Seeds = Annotated[int, LEARNING.option("N", "Trainings of every learner.", min=1, max=1000)]
Steps = Annotated[int, LEARNING.option("N", "Steps of every training.", min=64)]
Out = Annotated[Path, OUTPUT.option("FOLDER", "For finished trainings.", parser=named)]
Docs = Annotated[Path | None, OUTPUT.option("FOLDER", "Also write FOLDER/baselines.md and FOLDER/baselines/.")]


def baselines(
    level: Levels = None,
    learner: Learners = None,
    seeds: Seeds = 5,
    steps: Steps = 200_000,
    jobs: Jobs = -1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
    out: Out = Path("rt-gym-baselines"),
    write_docs: Docs = None,
    as_json: AsJson = False,
) -> None:
    """Train PPO, MaskablePPO, RecurrentPPO and the recipe on levels, beside chance, rules and agents that search.

    Without --level: random obstacles and rooms of 16 x 16 cells, known and in fog. A training takes a minute or two.
    Finished trainings are kept in the folder: the same command goes on where it was stopped.
    """
    from training.learn.rl.baselines import BaselineConfig, run_baselines
    from training.report.measured import level_table, overall_table, write_baselines

    workers = make_workers(jobs, backend, scheduler)
    chosen = {"levels": level, "learners": learner}
    said = {name: tuple(values) for name, values in chosen.items() if values}
    config = BaselineConfig(**said, seeds=seeds, steps=steps)
    make_folder(out)
    with interruptible("finished trainings are kept", out), progress("beginning", config.count) as advance:
        documents = run_baselines(config, out, workers, lambda *told: advance(*told))
    options = "".join(f" --{name[:-1]} {value}" for name, values in said.items() for value in values)
    command = f"rt-gym train baselines{options} --seeds {seeds} --steps {steps} --write-docs docs"
    written = write_baselines(write_docs, documents, command) if write_docs else []
    if as_json:
        print_json(documents)
        return
    print_tables([overall_table(documents), *map(level_table, documents)])
    typer.echo("\n".join(map(str, written)))

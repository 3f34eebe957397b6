"""What ``rt-gym train`` learns by trial: networks, by reinforcement or evolution, genes, dealers, and baselines."""

from pathlib import Path
from typing import Annotated

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
    out: TrainingOut = Path("rt-gym-rl"),
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
    from training.learn.rl import RLConfig, level_of, train_rl
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
    print_findings(result.tables, result.remarks, result.files)


MoveLimit = Annotated[int, AGENTS.option("N", "What a move may take.", min=1)]
Counted = Annotated[str, AGENTS.option("NAME", "What the limit counts: scans or expansions.")]
Seen = Annotated[int | None, AGENTS.option("N", "How far the agent sees; else the map is known.", min=0)]
GeneGenerations = Annotated[int, LEARNING.option("N", "How many generations.", min=1, max=10_000)]
Population = Annotated[int, LEARNING.option("N", "Children of each.", min=1, max=100_000)]


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
    out: TrainingOut = Path("rt-gym-blocks"),
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
    print_findings(result.findings.tables(), [*result.findings.remarks(), *result.remarks()], result.files)


SquadMaps = Annotated[list[str] | None, MAPS.option("MAP", "Names, files, folders, splits; repeatable.")]
Units = Annotated[int, MAPS.option("N", "Units of a squad.", min=1, max=1 << 16)]
Agent = Annotated[str, AGENTS.option("ID", "The agent of every unit.")]
Allowance = Annotated[int, AGENTS.option("N", "Expansions of all units together in a tick.", min=1)]
Share = Annotated[int, AGENTS.option("N", "What a unit that is served asks for.", min=1)]
DealerGenerations = Annotated[int, LEARNING.option("N", "Generations; 0 only judges the rules.", min=0, max=10_000)]
Squads = Annotated[int, LEARNING.option("N", "Squads that each generation is tried on.", min=1, max=10_000)]
TestSquads = Annotated[int, LEARNING.option("N", "Squads to be judged on.", min=1, max=10_000)]
DealerOut = Annotated[Path, OUTPUT.option("FOLDER", "For the policy.", parser=named)]


def dealer(
    maps: SquadMaps = None,
    units: Units = 20,
    agent: Agent = "rtaa",
    allowance: Allowance = 100,
    share: Share = 100,
    generations: DealerGenerations = 20,
    squads: Squads = 8,
    test_squads: TestSquads = 64,
    out: DealerOut = Path("rt-gym-dealer"),
    force: Force = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Evolve a network that deals the allowance of a squad, and compare it with the rules.

    Without maps: rooms-64. The network is chosen and judged on problems that it was not tried on.
    """
    from dataclasses import asdict, replace

    from training.judge.think import dealers_table
    from training.learn import keep_settings
    from training.learn.evolve import LEARNED, DealerConfig, train_dealer
    from training.runs import Draw, find_courses

    config = DealerConfig(generations=generations, squads=squads, test=test_squads, seed=seed)
    grids = [course.grid for course in find_courses(maps or ["rooms-64"], Draw(1))]
    settings = {"units": units, "agent": agent, "allowance": allowance, "share": share}
    make_folder(out)
    if generations:
        kept = asdict(replace(config, test=1)) | settings  # the squads to be judged on make no other policy
        keep_settings(out, "train dealer", kept | {"maps": [grid.digest for grid in grids]}, force)
    with progress("squads", generations + 7) as advance:
        result = train_dealer(config, advance, map=grids, **settings)
    if result.policy:
        result.policy.save(out / "dealer.json")
    if as_json:
        print_json({"units": units, "times": {name: times.tolist() for name, times in result.times.items()}})
        return
    print_tables([dealers_table(result.times, units, LEARNED if result.policy else None)])
    if result.policy:
        typer.echo(f"\n{out / 'dealer.json'}")


Levels = Annotated[list[str] | None, MAPS.option("ID", "Levels such as RTPath-Random-16x16-v0; repeatable.")]
Learners = Annotated[
    list[str] | None,
    LEARNING.option("NAME", "PPO, MaskablePPO, RecurrentPPO or recipe; repeatable, all if nothing is said."),
]
Seeds = Annotated[int, LEARNING.option("N", "Trainings of every learner.", min=1, max=1000)]
StepsOfEach = Annotated[int, LEARNING.option("N", "Steps of every training.", min=64)]
BaselinesOut = Annotated[Path, OUTPUT.option("FOLDER", "For finished trainings.", parser=named)]
Docs = Annotated[Path | None, OUTPUT.option("FOLDER", "Also write FOLDER/baselines.md and FOLDER/baselines/.")]


def baselines(
    level: Levels = None,
    learner: Learners = None,
    seeds: Seeds = 5,
    steps: StepsOfEach = 200_000,
    jobs: Jobs = -1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
    out: BaselinesOut = Path("rt-gym-baselines"),
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

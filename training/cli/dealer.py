"""``rt-gym train dealer``: a network that deals the allowance of a squad over its units."""

from pathlib import Path
from typing import Annotated

import typer

from training.cli.terminal import (
    AGENTS,
    LEARNING,
    MAPS,
    OUTPUT,
    AsJson,
    Force,
    Seed,
    make_folder,
    named,
    print_json,
    print_tables,
    progress,
)

SquadMaps = Annotated[list[str] | None, MAPS.option("MAP", "Names, files, folders, splits; repeatable.")]
Units = Annotated[int, MAPS.option("N", "Units of a squad.", min=1, max=1 << 16)]
Agent = Annotated[str, AGENTS.option("ID", "The agent of every unit.")]
Allowance = Annotated[int, AGENTS.option("N", "Expansions of all units together in a tick.", min=1)]
Share = Annotated[int, AGENTS.option("N", "What a unit that is served asks for.", min=1)]
DealerGenerations = Annotated[int, LEARNING.option("N", "Generations; 0 only judges the rules.", min=0, max=10_000)]
Squads = Annotated[int, LEARNING.option("N", "Squads that each generation is tried on.", min=1, max=10_000)]
TestSquads = Annotated[int, LEARNING.option("N", "Squads to be judged on.", min=1, max=10_000)]
Out = Annotated[Path, OUTPUT.option("FOLDER", "For the policy.", parser=named)]


def dealer(
    maps: SquadMaps = None,
    units: Units = 20,
    agent: Agent = "rtaa",
    allowance: Allowance = 100,
    share: Share = 100,
    generations: DealerGenerations = 20,
    squads: Squads = 8,
    test_squads: TestSquads = 64,
    out: Out = Path("rt-gym-dealer"),
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

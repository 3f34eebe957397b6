"""Squads: ticks per second of a thousand units, beside the same units one by one; units that block each other."""

from collections.abc import Callable
from functools import partial

import numpy as np
from measure import Row, arguments, at_least, at_most, digits, heading, holds, load, print_rows, ratio, wall_seconds

import agents
from rt_gym import Grid, Problem, Squad, World, load_map, sample_problems

UNITS, SHARE, TICKS = 1000, 50, 200
CROWD, SEEDS, MOST_TICKS = 32, 10, 3000


def thousand(grid: Grid) -> list[Row]:
    """Units of RTAA* that may each expand fifty states in a tick."""
    problems = sample_problems(grid, UNITS, seed=0)
    seconds: dict[int, float] = {}
    for threads in (1, 2):
        make: Callable[[], Squad] = partial(Squad, problems, "rtaa", UNITS * SHARE, lookahead=SHARE, threads=threads)
        make().run(1)  # compiles
        squad = make()
        seconds[threads] = wall_seconds(partial(squad.run, TICKS)) / TICKS
    record = squad.record()
    apart = one_by_one(problems)
    return [
        at_least("ticks per second", f"{UNITS} units, {grid.name}, one thread", 1 / seconds[1], 200),
        Row("  with two threads", "", digits(1 / seconds[2])),
        ratio("  a tick", seconds[1], "a loop over worlds and agents", apart),
        at_most("  most work of a tick", "expansions", record.work_worst, UNITS * SHARE),
        Row("  memory", f"{record.arrivals} have arrived", f"{record.memory_bytes / 2**20:.0f} MB"),
    ]


def one_by_one(problems: list[Problem]) -> float:
    """Return the seconds of a tick where every unit is a world and an agent of its own, in a loop in Python."""
    pairs = [(World(problem, SHARE), agents.make("rtaa", lookahead=SHARE)) for problem in problems[:200]]
    for world, agent in pairs:
        agent.reset(world.view, 0)

    def tick() -> None:
        for world, agent in pairs:
            if not world.done:
                world.step(agent.act())

    tick()
    return wall_seconds(lambda: [tick() for _ in range(50)]) / 50 * len(problems) / len(pairs)


def crowd() -> list[Row]:
    """Units that block each other on rooms-64: how many arrive, with and without pushing."""
    rows = []
    for agent_id, push, aim in (("rtaa", True, 0.95), ("rtaa", False, None), ("astar", True, None)):
        arrived, apart = 0, True
        for seed in range(SEEDS):
            squad = Squad(
                scattered(load_map("rooms-64"), seed), agent_id, CROWD * SHARE, blocking=True, push=push, seed=seed
            )
            while not squad.tick() and squad.ticks < MOST_TICKS:
                apart &= len(np.unique(squad.positions, axis=0)) == CROWD
            arrived += int(squad.arrived.sum())
        share, detail = arrived / (CROWD * SEEDS), f"{CROWD} units, {SEEDS} seeds, {MOST_TICKS} ticks"
        what = f"{agent_id} {'with' if push else 'without'} push: arrived"
        rows += [Row(what, detail, digits(share)) if aim is None else at_least(what, detail, share, aim)]
        rows += [holds("  never two in a cell", "", apart)]
    return rows


def scattered(grid: Grid, seed: int) -> list[Problem]:
    """Return problems whose starts and whose goals differ."""
    free, rng = np.argwhere(grid.passable)[:, ::-1].tolist(), np.random.default_rng(seed)
    places = (rng.permutation(len(free))[:CROWD] for _ in range(2))
    return [Problem(grid, tuple(free[a]), tuple(free[b])) for a, b in zip(*places, strict=True)]


def main() -> None:
    grid, _ = load(arguments(__doc__).parse_args().map)
    heading(thousand.__doc__ or "")
    print_rows(thousand(grid))
    heading(crowd.__doc__ or "")
    print_rows(crowd())


if __name__ == "__main__":
    main()

"""D* Lite with buckets beside its heaps and repeated A*, in mazes of 201 x 201 with 750 holes and sight of one cell."""

import argparse
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from measure import Row, at_least, at_most, digits, heading, holds, least, print_rows, trial_seconds
from numpy.typing import NDArray

import agents
from rt_gym import Problem
from rt_gym.maps.generate import maze_with_holes

SIZE, HOLES = 201, 750
TIMED, REPEATS = 100, 9  # mazes, and how often each
QUEUES = ("buckets", "heap-larger-g", "heap-smaller-g")
# Mean expansions in Table 1 of Likhachev & Koenig 2006, over 5000 mazes.
PUBLISHED = {"buckets": 11_632.5, "heap-larger-g": 11_416.4}
LOW, HIGH = 10_500, 13_000


class Work(NamedTuple):
    """What planning and walking took; the least of several is the one that took the least time."""

    seconds: float
    expansions: int

    @property
    def speed(self) -> float:
        """Million expansions per second."""
        return self.expansions / self.seconds / 1e6


def problems() -> Iterator[Problem]:
    """Yield a random start and goal in one maze after the other."""
    rng, seed = np.random.default_rng(0), 0
    while True:
        maze = maze_with_holes(SIZE, HOLES, seed).replace(connectivity=4)
        start, goal = rng.choice(np.flatnonzero(maze.terrain.free), 2, replace=False)
        yield Problem(maze, maze.position(start), maze.position(goal), vision=1)
        seed += 1


def counts(contenders: dict[str, agents.KernelAgent], mazes: int) -> dict[str, NDArray[np.int64]]:
    """Return the expansions, reinsertions and moves of every agent, summed up per maze; n x 3."""
    found: dict[str, list[tuple[int, int, int]]] = {name: [] for name in contenders}
    for problem in islice(problems(), mazes):
        for name, agent in contenders.items():
            run = agents.run(agent, problem, clock=False)
            found[name].append((run.expansions, getattr(agent, "reinsertions", 0), run.moves))
    return {name: np.array(rows) for name, rows in found.items()}


def work(agent: agents.KernelAgent, maze: Problem) -> Work:
    seconds, world = trial_seconds(agent, maze)
    return Work(seconds, int(world.trip.tally[0].expansions))


def least_works(contenders: dict[str, agents.KernelAgent], mazes: Iterable[Problem]) -> dict[str, Work]:
    """Return the sums over all mazes of the least that each took: a disturbance then spoils one maze only."""
    rounds = [least(*(partial(work, agent, maze) for agent in contenders.values()), repeats=REPEATS) for maze in mazes]
    columns = zip(*rounds, strict=True)
    return {name: Work(*map(sum, zip(*each, strict=True))) for name, each in zip(contenders, columns, strict=True)}


def between(what: str, detail: str, value: float, low: float, high: float) -> Row:
    aim = f"{digits(low)} to {digits(high)}"
    return Row(what, detail, digits(value), aim, "yes" if low <= value <= high else "NO")


def counted(contenders: dict[str, agents.KernelAgent], mazes: int) -> list[Row]:
    """What a maze takes on average, beside the paper."""
    rows, mean = [], {}
    for name, each in counts(contenders, mazes).items():
        mean[name], reinsertions, moves = each.mean(axis=0)
        spread = 1.96 * each[:, 0].std() / np.sqrt(mazes)
        detail = f"+- {digits(spread)}; {digits(reinsertions)} reinsertions, {digits(moves)} moves"
        if name in PUBLISHED:
            detail += f"; paper {digits(PUBLISHED[name])}"
            rows.append(between(f"{name}: expansions", detail, mean[name], LOW, HIGH))
        else:
            rows.append(Row(f"{name}: expansions", detail, digits(mean[name])))
    ratio = mean["buckets"] / mean["heap-larger-g"]
    return [
        *rows,
        between("  buckets / larger g", "paper 1.02", ratio, 0.97, 1.07),
        holds("  smaller g expands no fewer than larger g", "", mean["heap-smaller-g"] >= mean["heap-larger-g"]),
    ]


def timed(contenders: dict[str, agents.KernelAgent], mazes: int) -> list[Row]:
    """How long planning and walking take."""
    done = least_works(contenders, islice(problems(), mazes))
    buckets, heap = done["buckets"], done["heap-larger-g"]
    return [
        *(Row(f"{name}: time", "", f"{1e3 * each.seconds / mazes:.3f} ms") for name, each in done.items()),
        at_most("  buckets / larger g", "paper 0.43", buckets.seconds / heap.seconds, 0.45),
        at_least("  speed of larger g", "", heap.speed, 5, "million expansions/s"),
        at_least("  speed of buckets", "", buckets.speed, 12, "million expansions/s"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mazes", type=int, default=1000, help="how many are counted; the paper has 5000")
    mazes = parser.parse_args().mazes
    heading(f"{__doc__} Means over {mazes} mazes, times over {TIMED}, the least of {REPEATS} each.")
    contenders = {queue: agents.make("dstar-lite", queue=queue) for queue in QUEUES}
    contenders["repeated-astar"] = agents.make("repeated-astar")
    print_rows([*counted(contenders, mazes), *timed(contenders, TIMED)])


if __name__ == "__main__":
    main()

"""This checkout beside another one of the same project: the seconds of the other, divided by ours.

They take turns, and of every call the least time counts. Each has several processes, because where machine code and
arrays happen to lie can cost a tenth. Only ids and public names are used, which both checkouts have.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cache, lru_cache, partial
from itertools import cycle, groupby, islice
from pathlib import Path
from statistics import fmean
from subprocess import DEVNULL, PIPE, CalledProcessError, Popen, run
from time import process_time
from timeit import timeit
from typing import Any

import gymnasium as gym
import numpy as np

if WORKER := "--worker" in sys.argv:
    sys.path[0] = sys.argv[-1]  # the packages of that checkout; `measure` would load those beside it
else:
    from measure import ROOT, Row, heading, print_rows, ratio, wall_seconds

import agents
from rt_gym import Grid, Problem, World, load_map, sample_problems
from rt_gym.maps.generate import generate

Call = Callable[[], Any]
PROCESSES = 5  # of each checkout, unless told otherwise
SECONDS = 0.2  # of a turn: calls are repeated or left out until they take about as long
PARTS = 10  # calls into which steps and resets are divided
STEPS, BATCHED_STEPS, RESETS, MOVES = 20_000, 200_000, 500, 2_000  # those of a batch over all its episodes
AIM, AIM_BY_ID = 0.97, 0.97
DOUBT = 0.02  # where the sides differ by more, they have up to five times as many turns
FASTER = {"RTPath-v0, a step": 1.15, "RTDepth-v0, a step at depth 1": 1.15}
ENVS = ("RTPath-v0", "RTPathFog-v0", "RTDepth-v0", "RTDeepen-v0", "RTDepthGoal-v0", "RTThink-v0")
BATCHES = (*((name, count) for name in ENVS[:2] for count in (1024, 64)), ("RTDeepen-v0", 256), ("RTThink-v0", 64))
TERRAIN, WIDE = "terrain-512", "1000 x 1000"
PLACES = ("open-16", "rooms-64", TERRAIN, WIDE)  # maps of runs that are short on all of them
LRTA = 'import agents, rt_gym; agents.run("lrta", rt_gym.sample_problems(rt_gym.load_map("rooms-64"), 1)[0])'
COLD = {"lrta, first run": ("-c", LRTA), "rt-gym demo, compiling": ("-m", "training.cli", "demo", "--out")}


@cache
def grid(name: str = TERRAIN) -> Grid:
    return generate("random", width=1000, height=1000, density=0.1, seed=0) if name == WIDE else load_map(name)


def steps(env_id: str, actions: list[int] | None = None) -> list[Call]:
    """2,000 steps of one environment, by given actions or at random."""
    env = gym.make(env_id, map=grid())
    env.action_space.seed(0)
    chosen = np.array([env.action_space.sample() for _ in range(STEPS)] if actions is None else actions)
    return [partial(drive, env, part.tolist() if part.ndim == 1 else list(part)) for part in np.split(chosen, PARTS)]


def drive(env: gym.Env[Any, Any], actions: list[Any]) -> None:
    stored = np.empty((len(actions), *env.observation_space.shape), np.float32)
    env.reset(seed=0)
    for k, action in enumerate(actions):
        stored[k], _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()


def resets(env_id: str) -> list[Call]:
    """50 resets of one environment."""
    env = gym.make(env_id, map=grid())
    env.reset(seed=0)
    return [lambda: [env.reset() for _ in range(RESETS // PARTS)]] * PARTS


def batch(env_id: str, count: int, action: int | None = None) -> list[Call]:
    """20,000 steps over all episodes of a batch, by one action or at random."""
    env = gym.make_vec(env_id, count, vectorization_mode="vector_entry_point", map=grid())
    env.reset(seed=0)
    stored = np.empty(env.observation_space.shape, np.float32)
    drawn = np.random.default_rng(0).integers(env.single_action_space.n, size=(BATCHED_STEPS // count, count))

    def drive_batch(actions: Any) -> None:
        for row in actions:
            stored[:] = env.step(row)[0]

    chosen = drawn if action is None else np.full_like(drawn, action)
    return [partial(drive_batch, part) for part in np.array_split(chosen, PARTS)]


def runs(agent_id: str, fog: bool = False, **settings: Any) -> list[Call]:
    """A whole run of a kept agent."""
    place = grid().replace(connectivity=4, cost="unit") if fog else grid()
    whole = partial(agents.run, agents.make(agent_id, **settings), clock=False, max_moves=20_000, seed=0)
    return [partial(whole, problem) for problem in sample_problems(place, 10, low=100.0, vision=1 if fog else None)]


def short_runs(agent_id: str, place: str, kept: bool = False) -> list[Call]:
    """A short run, by the id or with a kept agent."""
    agent = agents.make(agent_id) if kept else agent_id
    return [partial(agents.run, agent, problem) for problem in sample_problems(grid(place), 10, high=40.0)]


def acts(agent_id: str, **settings: Any) -> list[Call]:
    """2,000 moves that are asked for one by one."""
    agent = agents.make(agent_id, **settings)
    return [partial(act, agent, problem) for problem in sample_problems(grid(), 10, low=100.0)]


def act(agent: Any, problem: Problem) -> None:
    world = None
    for _ in range(MOVES):
        if world is None or world.done:
            world = World(problem)
            agent.reset(world.view, 0)
        world.step(agent.act())


def tasks() -> dict[str, partial[list[Call]]]:
    """Return what makes the calls of each task. The table of a task has its docstring for a title."""
    return {
        **{f"{name}, a step": partial(steps, name) for name in ENVS if name not in ("RTDepth-v0", "RTDeepen-v0")},
        **{f"RTDepth-v0, a step at depth {d}": partial(steps, "RTDepth-v0", [d - 1] * STEPS) for d in (1, 5)},
        "RTDeepen-v0, a step, 5 layers": partial(steps, "RTDeepen-v0", [1, 1, 1, 1, 0] * (STEPS // 5)),
        **{f"{name}, a reset": partial(resets, name) for name in ENVS},
        **{f"{name}, {count} episodes": partial(batch, name, count) for name, count in BATCHES},
        "RTDepth-v0, 256 episodes at depth 5": partial(batch, "RTDepth-v0", 256, 4),
        **{f"{name}, a run": partial(runs, name) for name in agents.ids()},
        **{f"lrta depth {depth}, a run": partial(runs, "lrta", depth=depth) for depth in (1, 5, 10)},
        **{f"lss-lrta lookahead {count}, a run": partial(runs, "lss-lrta", lookahead=count) for count in (10, 100)},
        "rtaa lookahead 100, a run": partial(runs, "rtaa", lookahead=100),
        **{f"tba R {R}, a run": partial(runs, "tba", R=R) for R in (10, 100)},
        "dstar-lite, a run with 4 neighbours in fog": partial(runs, "dstar-lite", fog=True),
        **{f"{name}, act": partial(acts, name) for name in agents.ids()},
        "lrta depth 5, act": partial(acts, "lrta", depth=5),
        "lss-lrta lookahead 10, act": partial(acts, "lss-lrta", lookahead=10),
        **{f"astar by id, {place}": partial(short_runs, "astar", place) for place in PLACES},
        **{f"astar kept, {place}": partial(short_runs, "astar", place, kept=True) for place in PLACES},
        "lrta by id, open-16": partial(short_runs, "lrta", "open-16"),
    }


@lru_cache(maxsize=2)  # two tasks may take turns; more of them would fill the memory with batches
def calls_of(name: str) -> list[Call]:
    return tasks()[name]()


def work(checkout: Path) -> None:
    """Tell the tasks and their titles, then answer each line: a task, and how many calls to make (None: each once)."""
    answers = sys.stdout
    with redirect_stdout(sys.stderr):
        print(json.dumps({name: make.func.__doc__ for name, make in tasks().items()}), file=answers, flush=True)
        for line in sys.stdin:
            print(json.dumps(answer(*json.loads(line))), file=answers, flush=True)
            for name, module in sys.modules.items():
                if name.split(".")[0] in ("rt_gym", "agents", "training"):
                    assert Path(str(module.__file__)).is_relative_to(checkout), module


def answer(name: str, count: int | None) -> list[float] | str:
    """Return the least CPU seconds of every call, or what went wrong."""
    try:
        calls = calls_of(name)
        seconds = [timeit(call, timer=process_time, number=1) for call in islice(cycle(calls), count or len(calls))]
        return [min(seconds[k :: len(calls)]) for k in range(min(len(calls), len(seconds)))]
    except Exception as error:
        return f"{type(error).__name__}: {error}"


class Checkout:
    """A folder and its processes, of which one runs at a time. They end with this one."""

    def __init__(self, folder: Path, processes: int) -> None:
        command = [sys.executable, __file__, "--worker", str(folder)]
        start = partial(Popen, command, cwd=folder, stdin=PIPE, stdout=PIPE, text=True)
        self.folder, self.workers = folder, [start() for _ in range(processes)]
        self.tasks, *_ = [self._read(worker) for worker in self.workers]

    def ask(self, turn: int, name: str, count: int | None = None) -> list[float]:
        worker = self.workers[turn % len(self.workers)]
        print(json.dumps([name, count]), file=worker.stdin, flush=True)
        if isinstance(reply := self._read(worker), str):
            raise LookupError(f"{self.folder}: {reply}")
        return reply

    def _read(self, worker: Any) -> Any:
        return json.loads(worker.stdout.readline() or sys.exit(f"a process of {self.folder} has ended"))


def contest(repeats: int, *sides: tuple[Checkout, str]) -> tuple[float, float]:
    """Return the mean seconds of a call on both sides, after two warm-ups; the first tells how many calls to make."""
    warm, _ = ([side.ask(turn, name) for turn in range(2 * len(side.workers))][-1] for side, name in sides)
    count, rounds = max(1, round(len(warm) * SECONDS / sum(warm))), []
    theirs = ours = 1.0
    while not rounds or (abs(theirs / ours - 1) > DOUBT and len(rounds) < 5 * repeats):
        turns = range(len(rounds), len(rounds) + repeats)
        rounds += [[side.ask(turn, name, count) for side, name in sides] for turn in turns]
        theirs, ours = (fmean(map(min, zip(*answers, strict=True))) for answers in zip(*rounds, strict=True))
    return theirs, ours


def cold(arguments: tuple[str, ...], checkout: Path) -> float:
    """Return the wall-clock seconds of a fresh process that compiles everything, and may write into a folder."""
    with tempfile.TemporaryDirectory() as folder:
        command, environment = [sys.executable, *arguments, folder], os.environ | {"NUMBA_CACHE_DIR": folder}
        return wall_seconds(partial(run, command, env=environment, cwd=checkout, stdout=DEVNULL, check=True))


def matches(old: Checkout, new: Checkout, repeats: int, also_cold: bool) -> Iterator[tuple[str, Any]]:
    """Yield the title of a table and what ``compared`` takes."""
    for name, title in (old.tasks | new.tasks).items():
        measure = partial(contest, repeats, (old, name), (new, name))
        yield title, (name, old.folder.name, FASTER.get(name, AIM), measure)
    for place in PLACES:
        measure = partial(contest, repeats, (new, f"astar kept, {place}"), (new, f"astar by id, {place}"))
        yield "This checkout only.", (f"astar by id beside a kept agent, {place}", "the kept agent", AIM_BY_ID, measure)
    for name, arguments in COLD.items() if also_cold else ():
        measure = partial(map, partial(cold, arguments), (old.folder, new.folder))
        yield "A fresh process, by the clock on the wall.", (name, old.folder.name, AIM, measure)


def compared(what: str, other: str, aim: float, measure: Callable[[], Any]) -> "Row":
    try:
        theirs, ours = measure()
    except (LookupError, CalledProcessError) as missing:
        return Row(what, str(missing), "missing")
    return ratio(what, ours, other, theirs, aim)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path, help="the folder of the other one")
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD", help="tasks whose names have one of these")
    parser.add_argument("--repeats", type=int, default=9, help="turns of each checkout")
    parser.add_argument("--processes", type=int, default=PROCESSES, help="processes of each checkout")
    parser.add_argument("--cold", action="store_true", help="also compile into an empty cache: a minute or more")
    given = parser.parse_args()
    heading(f"{__doc__}\n{ROOT} beside {given.checkout}, {given.repeats} turns.")
    sides = [Checkout(folder, given.processes) for folder in (given.checkout.resolve(), ROOT)]
    wanted = (match for match in matches(*sides, given.repeats, given.cold) if has_one_of(given.only, match[1][0]))
    for title, table in groupby(wanted, key=lambda match: match[0]):
        print(title, flush=True)
        print_rows([told(compared(*match)) for _, match in table])


def has_one_of(words: list[str], name: str) -> bool:
    return any(word in name for word in words)


def told(row: "Row") -> "Row":
    """Show a row at once, for who waits."""
    print(row.what, row.measured, file=sys.stderr, flush=True)
    return row


if __name__ == "__main__":
    work(Path(sys.argv[-1])) if WORKER else main()

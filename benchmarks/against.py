"""This checkout beside another one of the same project: the seconds of the other, divided by ours.

Each has a process of its own, and they take turns, so that what else happens on the machine happens to both. Of every
call the least time counts. The tasks use only what both have: ids of environments and agents, and public names.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, redirect_stdout
from functools import cache, lru_cache, partial
from itertools import cycle, islice
from pathlib import Path
from statistics import fmean
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

SECONDS = 0.2  # of a turn: calls are repeated or left out until they take about as long
PARTS = 10  # calls into which steps and resets are divided
STEPS, BATCHED_STEPS, RESETS = 20_000, 200_000, 500  # those of a batch over all its episodes
MOVES, MAX_MOVES = 2_000, 20_000  # asked for one by one, and of a run
AIM, AIM_BY_ID = 0.97, 0.95
FASTER = {"RTPath-v0, a step": 1.15, "RTDepth-v0, a step at depth 1": 1.15}
ENVS = ("RTPath-v0", "RTPathFog-v0", "RTDepth-v0", "RTDeepen-v0", "RTDepthGoal-v0", "RTThink-v0")
LRTA = 'import agents, rt_gym; agents.run("lrta", rt_gym.sample_problems(rt_gym.load_map("rooms-64"), 1)[0])'
# Both are given a folder at the end; the first has no use for it.
COLD = {"lrta, first run": ("-c", LRTA), "rt-gym demo, compiling": ("-m", "training.cli", "demo", "--out")}


@cache
def terrain() -> Grid:
    return load_map("terrain-512")


@cache
def wide() -> Grid:
    return generate("random", width=1000, height=1000, density=0.1, seed=0)


def steps(env_id: str, actions: list[int] | None = None) -> list[Call]:
    """Steps of one environment, by these actions over and over, or at random."""
    env = gym.make(env_id, map=terrain())
    drawn = np.random.default_rng(0).integers(env.action_space.n, size=STEPS)
    chosen = drawn if actions is None else np.resize(actions, STEPS)
    return [partial(drive, env, part.tolist()) for part in np.split(chosen, PARTS)]


def drive(env: gym.Env[Any, Any], actions: list[int]) -> None:
    stored = np.empty((len(actions), *env.observation_space.shape), np.float32)
    env.reset(seed=0)
    for k, action in enumerate(actions):
        stored[k], _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()


def resets(env_id: str) -> list[Call]:
    env = gym.make(env_id, map=terrain())
    env.reset(seed=0)
    return [lambda: [env.reset() for _ in range(RESETS // PARTS)]] * PARTS


def batch(env_id: str, count: int, action: int | None = None) -> list[Call]:
    """Steps of a batch, by one action or at random."""
    env = gym.make_vec(env_id, count, vectorization_mode="vector_entry_point", map=terrain())
    env.reset(seed=0)
    stored = np.empty(env.observation_space.shape, np.float32)
    drawn = np.random.default_rng(0).integers(env.single_action_space.n, size=(BATCHED_STEPS // count, count))
    chosen = drawn if action is None else np.full_like(drawn, action)
    return [partial(drive_batch, env, stored, part) for part in np.array_split(chosen, PARTS)]


def drive_batch(env: gym.vector.VectorEnv[Any, Any, Any], stored: Any, actions: Any) -> None:
    for row in actions:
        stored[:] = env.step(row)[0]


def runs(agent_id: str, fog: bool = False, **settings: Any) -> list[Call]:
    """Whole runs of a kept agent, on the known octile map, or in fog with four neighbours."""
    grid = terrain().replace(connectivity=4, cost="unit") if fog else terrain()
    problems = sample_problems(grid, 10, low=100.0, vision=1 if fog else None)
    run = partial(agents.run, agents.make(agent_id, **settings), clock=False, max_moves=MAX_MOVES, seed=0)
    return [partial(run, problem) for problem in problems]


def short_runs(agent_id: str, kept: bool, grid: Callable[[], Grid]) -> list[Call]:
    """Runs that search little, by the id or with a kept agent."""
    agent = agents.make(agent_id) if kept else agent_id
    return [partial(agents.run, agent, problem) for problem in sample_problems(grid(), 10, low=1.0, high=40.0)]


def acts(agent_id: str, **settings: Any) -> list[Call]:
    agent = agents.make(agent_id, **settings)
    return [partial(act, agent, problem) for problem in sample_problems(terrain(), 10, low=100.0)]


def act(agent: Any, problem: Problem) -> None:
    """Ask for the moves one by one, from the start again when the goal is reached."""
    left = MOVES
    while left:
        world = World(problem)
        agent.reset(world.view, 0)
        while left and not world.done:
            world.step(agent.act())
            left -= 1


def tasks() -> dict[str, dict[str, Callable[[], list[Call]]]]:
    """Return what makes the calls of each task, by the title of its table and its name."""
    return {
        f"One environment, {STEPS // PARTS:,} steps": {
            "RTPath-v0, a step": partial(steps, "RTPath-v0"),
            "RTPathFog-v0, a step": partial(steps, "RTPathFog-v0"),
            "RTDepth-v0, a step at depth 1": partial(steps, "RTDepth-v0", [0]),
            "RTDepth-v0, a step at depth 5": partial(steps, "RTDepth-v0", [4]),
            "RTDeepen-v0, a step, 5 layers": partial(steps, "RTDeepen-v0", [1, 1, 1, 1, 0]),
            "RTDepthGoal-v0, a step": partial(steps, "RTDepthGoal-v0"),
            "RTThink-v0, a step": partial(steps, "RTThink-v0"),
        },
        f"One environment, {RESETS // PARTS} resets": {f"{name}, a reset": partial(resets, name) for name in ENVS},
        f"Batches, {BATCHED_STEPS // PARTS:,} steps over all episodes": {
            "RTPath-v0, 1,024 episodes": partial(batch, "RTPath-v0", 1024),
            "RTPath-v0, 64 episodes": partial(batch, "RTPath-v0", 64),
            "RTPathFog-v0, 1,024 episodes": partial(batch, "RTPathFog-v0", 1024),
            "RTPathFog-v0, 64 episodes": partial(batch, "RTPathFog-v0", 64),
            "RTDepth-v0, 256 episodes at depth 5": partial(batch, "RTDepth-v0", 256, 4),
            "RTDeepen-v0, 256 episodes": partial(batch, "RTDeepen-v0", 256),
            "RTThink-v0, 64 episodes": partial(batch, "RTThink-v0", 64),
        },
        "A run of a kept agent": {
            **{f"{agent_id}, a run": partial(runs, agent_id) for agent_id in agents.ids()},
            **{f"lrta depth {depth}, a run": partial(runs, "lrta", depth=depth) for depth in (1, 5, 10)},
            **{f"lss-lrta lookahead {each}, a run": partial(runs, "lss-lrta", lookahead=each) for each in (10, 100)},
            "rtaa lookahead 100, a run": partial(runs, "rtaa", lookahead=100),
            **{f"tba R {R}, a run": partial(runs, "tba", R=R) for R in (10, 100)},
            "dstar-lite, a run with 4 neighbours in fog": partial(runs, "dstar-lite", fog=True),
        },
        f"{MOVES:,} moves through act": {
            "lrta depth 5, act": partial(acts, "lrta", depth=5),
            "lss-lrta lookahead 10, act": partial(acts, "lss-lrta", lookahead=10),
            "tba, act": partial(acts, "tba"),
        },
        "A short run": {
            "astar by id, terrain-512": partial(short_runs, "astar", False, terrain),
            "astar kept, terrain-512": partial(short_runs, "astar", True, terrain),
            "astar by id, 1000 x 1000": partial(short_runs, "astar", False, wide),
            "astar kept, 1000 x 1000": partial(short_runs, "astar", True, wide),
            "lrta by id, open-16": partial(short_runs, "lrta", False, partial(load_map, "open-16")),
        },
    }


@lru_cache(maxsize=2)  # two tasks may take turns; more of them would fill the memory with batches
def calls_of(name: str) -> list[Call]:
    return {name: make for table in tasks().values() for name, make in table.items()}[name]()


def work(checkout: Path) -> None:
    """Tell the names of the tasks, then answer each line: a name, and how many calls to make (None for each once)."""
    answers = sys.stdout
    with redirect_stdout(sys.stderr):
        print(json.dumps({title: list(table) for title, table in tasks().items()}), file=answers, flush=True)
        for line in sys.stdin:
            print(json.dumps(answer(*json.loads(line))), file=answers, flush=True)
            for name, module in sys.modules.items():
                if name.split(".")[0] in ("rt_gym", "agents", "training"):
                    assert Path(str(module.__file__)).is_relative_to(checkout), module


def answer(name: str, count: int | None) -> list[float] | str:
    """Return the CPU seconds of every call, or what went wrong."""
    try:
        calls = calls_of(name)
        gc.collect()
        return [cpu_seconds(call) for call in islice(cycle(calls), count or len(calls))]
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def cpu_seconds(call: Call) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


class Worker:
    """A checkout and its process."""

    def __init__(self, checkout: Path, processes: ExitStack) -> None:
        command = [sys.executable, __file__, "--worker", str(checkout)]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.checkout = checkout
        self.process = processes.enter_context(subprocess.Popen(command, cwd=checkout, **pipes))
        self.tables: dict[str, list[str]] = self._read()

    def ask(self, name: str, count: int | None = None) -> list[float]:
        print(json.dumps([name, count]), file=self.process.stdin, flush=True)
        if isinstance(reply := self._read(), str):
            raise LookupError(f"{self.checkout}: {reply}")
        return reply

    def _read(self) -> Any:
        if not (line := self.process.stdout.readline()):
            sys.exit(f"the process of {self.checkout} has ended")
        return json.loads(line)


def contest(repeats: int, *sides: tuple[Worker, str]) -> list[float]:
    """Return the mean seconds of a call on both sides; how many calls a turn has depends on the first side only."""
    warm, _ = ([worker.ask(name) for _ in range(2)][-1] for worker, name in sides)
    count = max(1, round(len(warm) * SECONDS / sum(warm)))
    rounds = [[worker.ask(name, count) for worker, name in sides] for _ in range(repeats)]
    return [fmean(map(min, zip(*turns, strict=True))) for turns in zip(*rounds, strict=True)]


def row(what: str, other: str, aim: float, measure: Callable[[], Any]) -> "Row":
    try:
        theirs, ours = measure()
    except (LookupError, subprocess.CalledProcessError) as missing:
        return Row(what, str(missing), "missing")
    return ratio(what, ours, other, theirs, aim)


def cold(arguments: tuple[str, ...], checkout: Path) -> float:
    """Return the wall-clock seconds of a fresh process that has to compile everything."""
    with tempfile.TemporaryDirectory() as folder:
        command, environment = [sys.executable, *arguments, folder], os.environ | {"NUMBA_CACHE_DIR": folder}
        start = partial(subprocess.run, command, env=environment, cwd=checkout, capture_output=True, check=True)
        return wall_seconds(start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path, help="the folder of the other one")
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD", help="tasks whose names have one of these")
    parser.add_argument("--repeats", type=int, default=9, help="turns of each checkout")
    parser.add_argument("--cold", action="store_true", help="also compile into an empty cache: a minute or more")
    given = parser.parse_args()
    heading(f"{__doc__}\n{ROOT} beside {given.checkout}, {given.repeats} turns.")
    compare(given.checkout.resolve(), given.repeats, given.cold, lambda name: any(word in name for word in given.only))


def compare(other: Path, repeats: int, also_cold: bool, wanted: Callable[[str], bool]) -> None:
    with ExitStack() as processes:
        old, new = Worker(other, processes), Worker(ROOT, processes)
        for title, ours in new.tables.items():
            names = filter(wanted, dict.fromkeys(old.tables[title] + ours))
            show(title, [
                row(name, other.name, FASTER.get(name, AIM), partial(contest, repeats, (old, name), (new, name)))
                for name in names
            ])  # fmt: skip
        show("This checkout alone", [
            row(
                f"astar by id beside a kept agent, {place}", "the kept agent", AIM_BY_ID,
                partial(contest, repeats, (new, f"astar kept, {place}"), (new, f"astar by id, {place}")))
            for place in ("terrain-512", "1000 x 1000") if wanted(f"astar by id beside a kept agent, {place}")
        ])  # fmt: skip
    if also_cold:
        show("A fresh process, by the clock on the wall", [
            row(name, other.name, AIM, partial(map, partial(cold, arguments), (other, ROOT)))
            for name, arguments in COLD.items() if wanted(name)
        ])  # fmt: skip


def show(title: str, rows: "list[Row]") -> None:
    if rows:
        print(title)
        print_rows(rows)


if __name__ == "__main__":
    work(Path(sys.argv[-1])) if WORKER else main()

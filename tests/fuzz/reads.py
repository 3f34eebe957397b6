"""A recount of the meter: runs as plain Python, on maps that count how often the neighbours of a cell are read.

The recount needs a process without the compiler. ``Recounter`` starts one and asks it; ``main`` is that process.
"""

import os
import pickle
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import agents
from reference.contract import CountingMask, CountingThresholds
from rt_gym import Budget, BudgetExceeded, Problem
from rt_gym.trip import CUT, FULL


class Task(NamedTuple):
    """What is run: an agent with its settings on a problem, under a budget."""

    agent_id: str
    settings: dict[str, Any]
    problem: Problem
    budget: Budget
    max_moves: int
    seed: int

    def run(self, agent: Any = None) -> agents.Run:
        """Run it, by its id or with an agent that is already made."""
        options: dict[str, Any] = {"budget": self.budget, "max_moves": self.max_moves, "seed": self.seed}
        if agent is not None:
            return agents.run(agent, self.problem, **options)
        return agents.run(self.agent_id, self.problem, **options, **self.settings)


@dataclass
class Work:
    """What was done for one move: neighbourhoods read, expansions by the meter, and whether a plan was cut."""

    reads: int = 0
    expansions: int = 0
    cut: bool = False


@dataclass
class Recount:
    """What a run did, by move; its record, or the message of BudgetExceeded."""

    work: dict[int, Work] = field(default_factory=dict)
    record: dict[str, Any] | None = None
    raised: str = ""


RECORD = (
    *("outcome", "straights", "diagonals", "moves", "stays", "expansions", "max_expansions", "scans", "max_scans"),
    *("learning_ops", "trace_steps", "first_move_expansions", "plans", "memory", "h_updates", "overrun"),
)


def record_of(run: agents.Run) -> dict[str, Any]:
    """Return the fields of a run that must be the same whenever it is run."""
    return {name: getattr(run, name) for name in RECORD} | {"path": [(int(x), int(y)) for x, y in run.path]}


_work: dict[int, Work] = {}  # of the run under way


@cache
def counted(plan: Any) -> Any:
    """Return a plan that counts what it reads, of the map, of a graph of regions, and for what its trees test."""

    def counting(terrain: Any, trip: Any, memory: Any, s: Any, t: Any) -> Any:
        mask, ends, thresholds = CountingMask(terrain.mask), None, None
        terrain = terrain._replace(mask=mask)
        if getattr(memory, "graph", None) is not None:  # neighbours are read between where they begin and end
            ends = CountingMask(memory.graph.begin)
            memory = memory._replace(graph=memory.graph._replace(begin=ends))
        if getattr(memory, "ground", None) is not None:
            thresholds = CountingThresholds(memory.ground.forest)
            memory = memory._replace(ground=memory.ground._replace(forest=thresholds.forest))
        work = _work.setdefault(int(trip.tally[0].moves), Work())
        before = int(trip.meter[0].expansions)
        n = plan(terrain, trip, memory, s, t)
        work.reads += mask.reads + (ends.reads // 2 if ends else 0) + (thresholds.scans if thresholds else 0)
        work.expansions += int(trip.meter[0].expansions) - before
        work.cut |= n == CUT
        assert n >= FULL
        return n

    return counting


def recount(task: Task) -> Recount:
    """Run a task as plain Python and count for oneself."""
    agent = agents.make(task.agent_id, budget=task.budget, **task.settings)
    agent.plan = counted(agent.plan)
    _work.clear()
    try:
        return Recount(_work, record_of(task.run(agent)))
    except BudgetExceeded as error:
        return Recount(_work, raised=str(error))


class Recounter:
    """A process without the compiler, which recounts one task after the other."""

    def __init__(self) -> None:
        paths = os.pathsep.join(path for path in sys.path if path)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.reads"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths},
        )

    def __call__(self, task: Task) -> Recount:
        """Return the recount of a task; whatever went wrong is raised here."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump(tuple(task), self._process.stdin)
        self._process.stdin.flush()
        answer = pickle.load(self._process.stdout)
        if isinstance(answer, Exception):
            raise answer
        return Recount({move: Work(*work) for move, work in answer[0].items()}, *answer[1:])

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def main() -> None:
    """Answer tasks from standard input until it ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            task = Task(*pickle.load(sys.stdin.buffer))
        except EOFError:
            return
        try:
            found = recount(task)
            work = {move: (each.reads, each.expansions, each.cut) for move, each in found.work.items()}
            answer: Any = (work, found.record, found.raised)
        except Exception as error:
            answer = RuntimeError(f"in plain Python: {type(error).__name__}: {error}")
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main()

"""kNN LRTA*: follow the subgoals of the most similar problem that was solved beforehand.

V. Bulitko, Y. Björnsson, "kNN LRTA*: Simple Subgoaling for Real-Time Search", AIIDE 2009; V. Bulitko, Y. Björnsson,
R. Lawrence, "Case-Based Subgoaling in Real-Time Heuristic Search for Video Game Pathfinding", Journal of Artificial
Intelligence Research 39, 2010. The database is that of ``agents.knowledge.knn``.

The defaults are the published ones: of the two databases that are reported, of 1000 and of 10,000 records, the larger;
M = 10; climbs of at most 250 steps. They were tried on maps that no experiment has so large. Of 60 problems on
AR0700SR, a map of Baldur's Gate, 26 are solved without a record if there are 1000, 14 with 3000 and 8 with 10,000; the
median suboptimality is 1.38, 1.21 and 1.13, on AR0012SR 1.22, 1.15 and 1.10, in a generated cave 1.25, 1.20 and 1.13.
The means depend on the few problems that no record fits, which are left to LRTA*. In mazes and among many small rooms
that is most of them with any of the three sizes. With 10,000 records, to try 5, 20 or 50 of them instead of 10 changes
these medians by less than 0.01. They take 0.2 to 2.3 MB and, for maps of 512 x 512 cells, 5 to 15 seconds of one core;
a maze, where 1000 take 5.5, would take ten times that.

Readings:
- A record is as far from a problem as the farther of the two starts and the two goals, by the heuristic. Of equally
  far ones the earlier comes first. Of the M nearest the first is taken whose start can be climbed to from ours, and our
  goal from its; without any, the goal alone is pursued. See ``agents.knowledge.climb``.
- Where the goal can be climbed to at the cost of the heuristic, no record can do better, and none is looked for.
- The record is chosen within the first plan of every trial, on the map as it is then believed, so that its cost is on
  the meter: every step of a climb is a scan of the first move, at most (2 M + 1) times the cut-off. To read a record's
  two ends is no scan. They are found by a k-d tree, see ``agents.knowledge.nearest``.
- The values towards different subgoals are kept apart. The next subgoal is taken up where one is reached.
- Guard, ours: on the map of the database every subgoal is reached without a step that leads away from it. On a map that
  has changed it need not be. A subgoal that has become blocked is skipped. One that is no nearer after ``PATIENCE``
  moves is given up with all that follow, and the goal is pursued, towards which LRTA* is complete. ``abandoned`` counts
  the subgoals of both kinds.
- Without a database the agent builds one of the map as it is believed at reset, if that takes less than a minute. In
  fog that map has no obstacles, and records are of no use.

The algorithm in plain Python: tests/reference/plain_knn_lrta.py
"""

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.knowledge import knn
from agents.knowledge.climb import climb
from agents.knowledge.goal_seeker import GoalSeeker
from agents.knowledge.nearest import Nearest, find_nearest, with_buffers
from rt_gym.cost import INF
from rt_gym.errors import InputError, whole
from rt_gym.grid import Grid
from rt_gym.handles import with_parts
from rt_gym.jit import kernel, record
from rt_gym.search.lookahead import general_lrta
from rt_gym.search.space import NONE, Space, make_space
from rt_gym.search.tables import GoalValues, is_full, make_goal_values
from rt_gym.terrain import h0, locate, positions
from rt_gym.trip import FULL
from rt_gym.views import KernelView, View, kernel_view

RECORDS = 10_000
NEIGHBOURS = 10
PATIENCE = 50
LONGEST_BUILD = 60  # seconds

# The cell that is pursued; whether a record has been chosen; its next cell, and where its cells end; how near the agent
# has come to that cell, and how many plans ago; how many subgoals were given up.
PURSUIT = record(pursued=int, chosen=int, next=int, end=int, nearest=int, waited=int, abandoned=int)


class KNNMemory(NamedTuple):
    """What the plan works on.

    Attributes:
        values, space: learned values, and the arrays of a lookahead.
        begin, cells: the database, see ``agents.knowledge.knn.Records``.
        nearest: the tree in which the records nearest to a problem are found.
        cutoff: the most steps of a climb.
        state: PURSUIT[1].
    """

    values: GoalValues
    space: Space
    begin: NDArray[np.int64]
    cells: NDArray[np.int32]
    nearest: Nearest
    cutoff: int
    state: NDArray[np.record]


@kernel
def choose_record(terrain, trip, memory, s, t):
    """Choose the subgoals of this trial."""
    begin, cells, state, cutoff = memory.begin, memory.cells, memory.state[0], memory.cutoff
    state.chosen, state.nearest = 1, INF
    if begin.size == 1 or climb(terrain, trip, s, t, cutoff) == h0(terrain, s, t):
        return
    (x, y), (goal_x, goal_y) = locate(terrain, s), locate(terrain, t)
    for k in range(find_nearest(memory.nearest, terrain.metric, x, y, goal_x, goal_y)):
        r = memory.nearest.best[k]
        first, end = begin[r], begin[r + 1]
        if climb(terrain, trip, s, np.int64(cells[first]), cutoff) == NONE:
            continue
        if climb(terrain, trip, np.int64(cells[end - 1]), t, cutoff) != NONE:
            state.next, state.end = first, end
            return


@kernel
def next_subgoal(terrain, memory, s, t):
    """Return the first subgoal that is still to be reached and not blocked, or the goal."""
    state, cells = memory.state[0], memory.cells
    while state.next < state.end:
        subgoal = np.int64(cells[state.next])
        blocked = terrain.free[subgoal] == 0
        if s != subgoal and not blocked:
            return subgoal
        state.abandoned += blocked
        state.next += 1
        state.nearest = INF
    return t


@kernel
def pursue(terrain, memory, s, t):
    """Return the cell to head for: the next subgoal, or the goal where that one comes no nearer."""
    state, subgoal = memory.state[0], next_subgoal(terrain, memory, s, t)
    if state.next == state.end:
        return t
    state.waited += 1
    if h0(terrain, s, subgoal) < state.nearest:
        state.nearest, state.waited = h0(terrain, s, subgoal), 0
    if state.waited <= PATIENCE:
        return subgoal
    state.abandoned += state.end - state.next
    state.next = state.end
    return t


@kernel
def plan(terrain, trip, memory, s, t):
    """Choose a record if none has been chosen yet; commit to one move towards its next subgoal."""
    state = memory.state[0]
    if is_full(memory.values):
        return np.int64(FULL)
    if state.chosen == 0:
        choose_record(terrain, trip, memory, s, t)
    state.pursued = pursue(terrain, memory, s, t)
    return general_lrta(terrain, trip, memory.space, memory.values, s, state.pursued, 1)


class KNNLRTA(GoalSeeker):
    """kNN LRTA*.

    Built after an outline, the preliminaries and the evaluation of C. Hernández, J. A. Baier, "Fast Subgoaling for
    Pathfinding via Real-Time Search", ICAPS 2011. It pins down optimal paths between pairs of different states, that
    they are compressed and kept, that the best of the closest pairs gives the subgoals, and databases of 1000 and of
    10,000 paths. Code published by an author of the article of 2010 (R. Lawrence, ubco-db/database-pathfinding) agrees
    in the similarity, in M, in the cut-off and in that the first of the M is taken that can be climbed to and from. The
    other readings of this module and of its database are ours. That code tries the end of a path before it bisects,
    keeps no records without subgoals, looks for none where the goal can be climbed to at any cost, and cuts the way
    short before the first subgoal and behind the last.

    Args:
        database: a file that ``rt-gym precompute knn`` has written, or the ``agents.knowledge.knn.Records`` themselves.
        records: how many records to build instead, 10,000 unless given.
        neighbours: how many records are tried, the M of the paper.
        cutoff: the most steps of a climb.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    precomputes = True
    after_outline = True

    def __init__(
        self,
        database: Any = None,
        records: int | None = None,
        neighbours: int = NEIGHBOURS,
        cutoff: int = knn.CUTOFF,
        tie: str = "first",
    ) -> None:
        super().__init__(tie)
        if database is not None and records is not None:
            raise InputError("records are built where there is no database: give one of the two")
        self.database = database
        self.records = whole("records", RECORDS if records is None else records, 0, knn.MAX_RECORDS)
        self.neighbours = whole("neighbours", neighbours, 1, knn.MAX_RECORDS)
        self.cutoff = whole("cutoff", cutoff, 1, knn.MAX_CUTOFF)
        self.precompute_seconds = 0.0
        self._kept: knn.Records | None = None

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return a cut-off whose climbs keep a limit of scans; of expansions there is one per move."""
        most = knn.CUTOFF if count == "expansions" else (limit - 1) // (2 * NEIGHBOURS + 1)
        return {"cutoff": min(knn.CUTOFF, max(1, most))}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return 1

    @property
    def abandoned(self) -> int:
        """How many subgoals were given up since reset or a new goal, because they were blocked or came no nearer."""
        return int(self.memory.state[0].abandoned)

    def reset(self, view: View | KernelView, seed: int | None = None) -> None:
        """Begin a new problem; the database is loaded or built where the map is another than before."""
        began, grid = time.perf_counter(), kernel_view(view).as_grid()
        if self._kept is None or self._kept.digest != grid.digest:
            self._kept = self._prepared(grid)
            self._nearest = with_buffers(knn.tree_of(self._kept, grid), self.neighbours)
        self.precompute_seconds = time.perf_counter() - began
        super().reset(view, seed)

    def _prepared(self, grid: Grid) -> knn.Records:
        if self.database is not None:
            return knn.load_records(self.database, grid)
        seconds, _ = knn.estimate(grid, self.records)
        if seconds > LONGEST_BUILD:
            says = f"{self.records} records of a map of {grid.free_cells} cells take about {seconds:.0f} seconds"
            raise InputError(
                f"{says}: ask for fewer, or build them once with rt-gym precompute knn and give its file as database"
            )
        return knn.records_of(grid, self.records, self.cutoff, self.neighbours)

    def make_memory(self, view: KernelView) -> KNNMemory:
        """Return the memory for values, for the lookahead and for the best records."""
        return KNNMemory(
            values=make_goal_values(),
            space=make_space(view.terrain.mask.size),
            begin=np.zeros(1, np.int64),
            cells=np.empty(0, np.int32),
            nearest=self._nearest,
            cutoff=self.cutoff,
            state=np.zeros(1, PURSUIT),
        )

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Forget all values and bring in the database."""
        super().clear_memory(view, seed)
        assert self._kept is not None, "reset has prepared it"
        self.memory = with_parts(self.memory, begin=self._kept.begin, cells=self._kept.cells, nearest=self._nearest)
        self.memory.state[0].abandoned = 0
        self.begin_trial()

    def begin_trial(self) -> None:
        """Choose a record again."""
        state = self.memory.state[0]
        state.chosen = state.next = state.end = 0
        state.pursued = self.view.goal_cell

    def layers(self) -> dict[str, NDArray[Any]]:
        """Return what can be drawn; ``subgoals``, n x 2, are those still to come."""
        state = self.memory.state[0]
        rest = self.memory.cells[state.next : state.end]
        return super().layers() | {"subgoals": positions(self.view.terrain, rest)}

"""Maps of the traces of the references, and what every reference of a learner has to keep.

No expected value of such a trace was read off a run: the comments beside it are the derivation. In them 1 and r stand
for a straight and a diagonal step, ``f = g + h``, and ``#k`` is the order of discovery.
"""

from hypothesis import strategies as st

from reference.plain_grid import Position, Run, path_cost
from reference.plain_oracle import Problem, distances
from reference.small_maps import drawn
from rt_gym.cost import DIAGONAL, STRAIGHT

VISIONS = st.sampled_from([None, 1, 2])


def cost(straight: int, diagonal: int = 0) -> int:
    return straight * STRAIGHT + diagonal * DIAGONAL


def straight_values(*raised: dict[Position, int]) -> list[dict[Position, int]]:
    return [{cell: cost(value) for cell, value in each.items()} for each in raised]


# A pocket that opens to the west, with the goal behind its eastern wall. The way out is 10 steps long. 4 neighbours;
# h0 is |x - 4| + y:  (2,0) 2  (1,0) 3  (0,0) 4  (0,1) 5  (0,2) 6  (1,2) 5  (2,2) 4  (3,2) 3  (4,2) 2  (4,1) 1
POCKET = drawn(
    "...#.",
    ".###.",
    ".....",
    connectivity=4,
)
POCKET_START, POCKET_GOAL = (2, 0), (4, 0)
WAY_OUT = [(2, 0), (1, 0), (0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (4, 1), (4, 0)]

# A wall to walk around. 8 neighbours, one free side is enough for a diagonal step;
# octile h0 to (2,0):  (0,0) 2  (0,1) 1+r  (0,2) 2r  (1,2) 1+r  (2,2) 2  (2,1) 1
WALL = drawn(
    ".#.",
    ".#.",
    "...",
    corner="one",
)
WALL_START, WALL_GOAL = (0, 0), (2, 0)
AROUND_THE_WALL = [(0, 0), (0, 1), (1, 2), (2, 1), (2, 0)]

# The corner s = (0,4) is left through X = (0,2). X is discovered from P = (1,2), a detour of 4 steps, before it is
# reached over Q = (0,3) in 2. 4 neighbours; h0 is |x - 2| + y.
DETOUR = drawn(
    "...",
    ".##",
    "..#",
    "..#",
    "..#",
    connectivity=4,
)
DETOUR_START, DETOUR_GOAL = (0, 4), (2, 0)

# A post between start and goal. 4 neighbours; h0 is |x - 3| + |y - 1|.
POST = drawn(
    "....",
    "..#.",
    "....",
    connectivity=4,
)
POST_START, POST_GOAL = (0, 1), (3, 1)


def moves_and_values(run: Run) -> tuple[str, list[Position], list[dict[Position, int]]]:
    return run.outcome, run.path, run.raised


def check_convergence(problem: Problem, runs: list[Run]) -> None:
    grid, start, goal = problem
    assert all(run.outcome == "goal" for run in runs)
    assert not any(runs[-1].raised)
    assert runs[-1].cost == path_cost(grid, runs[-1].path) == runs[-1].h[start] == distances(grid, goal)[start]


def check_admissible(problem: Problem, run: Run) -> None:
    grid, _, goal = problem
    exact = distances(grid, goal)
    last = run.h_before
    for h in run.snapshots():
        assert all(h[cell] <= exact[cell] for cell in exact)
        assert all(h[cell] >= last[cell] for cell in h)
        last = h
    assert last == run.h
    assert run.h[goal] == 0

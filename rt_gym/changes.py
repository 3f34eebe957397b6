"""Maps that change, by name: schedules for a problem, the same for the same seed.

- ``"bridge"``: a wall closes across a shortest path before the agent gets there; another way remains.
- ``"door"``: a wall opens, and the way through is shorter than any other.
- ``"blockers"``: obstacles of one cell patrol around a shortest path and then vanish. They keep to places where nothing
  is cut off by them, so that the goal can be reached at any time.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import INF, STRAIGHT
from rt_gym.errors import InputError, checked_seed, quoted
from rt_gym.grid import Grid
from rt_gym.problem import Change, Problem
from rt_gym.search.astar import connected, shortest_cost
from rt_gym.search.distance import exact_distances
from rt_gym.terrain import STEPS, Position

Floats = NDArray[np.float64]

KINDS = ("bridge", "door", "blockers")

_TRIES = 8  # how many places for a bridge are compared
_THICKEST = 4  # cells of a wall that a door leads through
_PACE = 2  # moves of the agent for a step of a blocker
_LONGEST = 2000  # after how many moves blockers vanish
_APART = 3  # cells between blockers, so that what lies around one never holds another
# The cells around a cell, in a circle; the even ones lie straight beside it.
_RING = ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))


def scripted_changes(problem: Problem, kind: str, seed: int = 0) -> tuple[Change, ...]:
    """Return changes for a problem, to be put into it by ``dataclasses.replace(problem, changes=...)``.

    Args:
        problem: a start and a goal that can be reached; its own changes are not looked at.
        kind: one of ``KINDS``.
        seed: which of many such schedules.

    Raises:
        InputError: for an unknown kind, or where the map has no place for such changes.
    """
    if kind not in KINDS:
        raise InputError(f"unknown changes {quoted(kind)}, known are {', '.join(KINDS)}")
    rng = np.random.default_rng(checked_seed(seed))
    path = shortest_path(problem)
    made = {"bridge": _bridge, "door": _door, "blockers": _blockers}[kind](problem, path, rng)
    if not made:
        lacks = {
            "bridge": "no part of its shortest path can be closed so that a longer one remains",
            "door": f"no wall of at most {_THICKEST} cells lies between it and a shorter way",
            "blockers": "there is no open place near its shortest path",
        }
        where = f"from {problem.start} to {problem.goal} on {problem.grid.name or 'the map'}"
        raise InputError(f"changes {kind} do not fit the problem {where}: {lacks[kind]}")
    return tuple(sorted(made, key=lambda change: change.time))


def shortest_path(problem: Problem) -> list[Position]:
    """Return the positions of a shortest path, start and goal included.

    Raises:
        InputError: if there is none.
    """
    grid, terrain = problem.grid, problem.grid.terrain
    distance = exact_distances(grid, problem.goal)
    cell, goal = grid.cell(problem.start), grid.cell(problem.goal)
    if distance[cell] >= INF:
        raise InputError(f"goal {problem.goal} cannot be reached from start {problem.start}")
    cells = [cell]
    while cell != goal:
        ways = ((cell + int(terrain.offset[d]), int(terrain.cost[d])) for d in range(8) if terrain.mask[cell] >> d & 1)
        cell = next(near for near, cost in ways if distance[near] + cost == distance[cell])
        cells.append(cell)
    return [grid.position(cell) for cell in cells]


def _bridge(problem: Problem, path: list[Position], rng: np.random.Generator) -> list[Change]:
    """Close the wall, of several across the middle of the path, that makes for the longest detour."""
    middle = range(max(1, len(path) * 3 // 10), max(1, min(len(path) - 1, len(path) * 8 // 10)))
    best, longest = [], problem.optimal_cost
    for at in rng.permutation(middle)[:_TRIES].tolist():
        wall = _across(problem, path, at)
        passable = problem.grid.passable.copy()
        for x, y in wall:
            passable[y, x] = False
        cost = _cost(problem, problem.grid.replace(passable=passable))
        if cost is not None and cost > longest:
            best, longest = [Change(at // 2, position, False) for position in wall], cost
    return best


def _across(problem: Problem, path: list[Position], at: int) -> list[Position]:
    """Return the cells of a straight wall across the path, from rock to rock or up to a length limit."""
    grid, ends = problem.grid, (problem.start, problem.goal)
    (x, y), (x0, y0), (x1, y1) = path[at], path[max(0, at - 3)], path[min(len(path) - 1, at + 3)]
    dx, dy = (0, 1) if abs(x1 - x0) >= abs(y1 - y0) else (1, 0)
    wall, reach = [(x, y)], max(3, min(grid.width, grid.height) // 12)
    for sign in (1, -1):
        for k in range(1, reach + 1):
            position = x + sign * k * dx, y + sign * k * dy
            if not _free(grid, position) or position in ends:
                break
            wall.append(position)
    return wall


def _cost(problem: Problem, grid: Grid) -> int | None:
    """Return the cost of a shortest path on another map, None where there is none."""
    joined = connected(grid, problem.start, problem.goal)
    return shortest_cost(grid, problem.start, problem.goal) if joined else None


def _free(grid: Grid, position: Position) -> bool:
    return grid.contains(position) and bool(grid.passable[position[1], position[0]])


class _Door(NamedTuple):
    """A wall that may open: the least costs of a way through it and of getting there, and its cells."""

    cost: float
    reach: float
    cells: list[Position]


def _door(problem: Problem, path: list[Position], rng: np.random.Generator) -> list[Change]:
    """Open one of the walls whose way through saves at least half of what the best one saves."""
    grid, below = problem.grid, problem.optimal_cost
    here, there = (grid.inner(exact_distances(grid, end)).astype(float) for end in (problem.start, problem.goal))
    turned = _doors(grid.passable.T, here.T, there.T, below)
    doors = [door._replace(cells=[(y, x) for x, y in door.cells]) for door in turned]
    doors += _doors(grid.passable, here, there, below)
    most = max((below - door.cost for door in doors), default=0)
    good = [door for door in doors if below - door.cost >= most / 2]
    if not good:
        return []
    door = good[rng.integers(len(good))]
    return [Change(int(door.reach) // STRAIGHT // 3, position, True) for position in door.cells]


def _doors(free: NDArray[np.bool_], here: Floats, there: Floats, below: int) -> Iterator[_Door]:
    """Yield the walls along a row between two free cells where a way through would cost less than ``below``."""
    for thick in range(1, min(_THICKEST, free.shape[1] - 2) + 1):
        last = free.shape[1] - thick - 1
        left, right = slice(0, last), slice(thick + 1, None)
        wall = free[:, left] & free[:, right]
        for k in range(1, thick + 1):
            wall &= ~free[:, k : last + k]
        cost = np.minimum(here[:, left] + there[:, right], there[:, left] + here[:, right]) + (thick + 1) * STRAIGHT
        reach = np.minimum(here[:, left], here[:, right])
        for y, x in np.argwhere(wall & (cost < below)).tolist():
            yield _Door(float(cost[y, x]), float(reach[y, x]), [(x + k, y) for k in range(1, thick + 1)])


def _blockers(problem: Problem, path: list[Position], rng: np.random.Generator) -> list[Change]:
    """Let obstacles patrol: each goes straight on, and turns where it must."""
    spare = _spare_cells(problem.grid.passable)
    for x, y in (problem.start, problem.goal):
        spare[y, x] = False
    posts = _posts(spare, path, rng)
    headings = rng.integers(4, size=len(posts)).tolist()
    changes = [Change(0, post, False) for post in posts]
    end = min(4 * len(path), _LONGEST)
    for time in range(1, end):
        for k in range(time % _PACE, len(posts), _PACE):
            others = posts[:k] + posts[k + 1 :]
            for heading in (headings[k], *rng.permutation(4).tolist()):
                to = posts[k][0] + STEPS[heading][0], posts[k][1] + STEPS[heading][1]
                if _fits(spare, to, others):
                    changes += [Change(time, to, False), Change(time, posts[k], True)]
                    posts[k], headings[k] = to, heading
                    break
    return changes + [Change(end, post, True) for post in posts]


def _posts(spare: NDArray[np.bool_], path: list[Position], rng: np.random.Generator) -> list[Position]:
    """Return where obstacles begin: near the path, and apart from each other and from its ends."""
    posts: list[Position] = []
    wanted = min(max(3, len(path) // 8), 24)
    for k in rng.permutation(np.repeat(np.arange(len(path)), 4)).tolist():
        dx, dy = rng.integers(-4, 5, size=2).tolist()
        post = path[k][0] + dx, path[k][1] + dy
        if len(posts) < wanted and _fits(spare, post, [*posts, path[0], path[-1]]):
            posts.append(post)
    return posts


def _spare_cells(free: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the free cells without which all around them stay joined: one can walk straight from each to each."""
    (height, width), wide = free.shape, np.pad(free, 1)
    ring = [wide[1 + dy : 1 + dy + height, 1 + dx : 1 + dx + width] for dx, dy in _RING]
    # A straight neighbour begins a run of free cells unless the two before it in the circle are free as well.
    runs = np.sum([ring[k] & ~(ring[k - 1] & ring[k - 2]) for k in range(0, 8, 2)], axis=0)
    return free & (runs <= 1)


def _fits(spare: NDArray[np.bool_], position: Position, others: Sequence[Position]) -> bool:
    """Whether an obstacle may stand on a cell, given where the others are."""
    (x, y), (height, width) = position, spare.shape
    inside = 0 <= x < width and 0 <= y < height and bool(spare[y, x])
    return inside and all(max(abs(x - other[0]), abs(y - other[1])) >= _APART for other in others)

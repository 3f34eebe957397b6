"""An episode of RTThink-v0 in plain Python: a search is made anew from its definition after every slice."""

from collections.abc import Sequence
from itertools import takewhile

from reference.plain_astar import Search, a_star
from reference.plain_grid import STEPS, Change, Heuristic, Position, Run, World, cells, h0, initial_heuristic
from reference.plain_lss_lrta import frontier_update
from reference.plain_situation import Story, first_four
from rt_gym.cost import INF, STRAIGHT
from rt_gym.grid import Grid

ACT, THINK = range(2)


class Thinker:
    """What the agent knows and does.

    Args:
        grid, start, goal, vision, changes: the problem.
        slice: expansions per slice.
        after: the trial whose heuristic and believed map it goes on with.
        moving: whether the goal may move, which ``show_goal`` tells.
    """

    def __init__(
        self,
        grid: Grid,
        start: Position,
        goal: Position,
        vision: int | None = None,
        changes: Sequence[Change] = (),
        slice: int = 10,
        after: Run | None = None,
        moving: bool = False,
    ) -> None:
        self.grid, self.goal, self.aim, self.slice = grid, goal, goal, slice
        self.steady = vision is None and not changes and not moving
        self.world = World(grid, start, vision, changes, after.believed if after else None)
        self.story = Story(grid, goal, [start], dict(after.h) if after else initial_heuristic(grid, goal))
        self.h = self.story.h
        self.search: Search | None = None
        self.plan: list[Position] = []
        self.found = self.stuck = False
        self.slices = self.thought = self.before = self.expansions = self.scans = 0
        self.popped: list[Position] = []
        self.raised: Heuristic = {}
        self.seen: set[Position] = set(after.memory) if after else set()
        self.look()

    def look(self) -> None:
        """Remember what is in sight."""
        x, y = self.world.position
        vision = self.world.vision
        for cell in cells(self.grid):
            dx, dy = abs(cell[0] - x), abs(cell[1] - y)
            far = dx + dy if self.grid.connectivity == 4 else max(dx, dy)
            if vision is None or far <= vision:
                self.seen.add(cell)

    @property
    def possible(self) -> list[int]:
        """Which actions are themselves, ACT first."""
        return [int(self.search is not None or bool(self.plan)), int(not self.found or self.goal != self.aim)]

    def show_goal(self, goal: Position) -> None:
        """See where the goal is now; what is being thought or walked is still for where it was."""
        self.goal = self.story.goal = goal

    def take_aim(self) -> None:
        """Carry the values over to where the goal is now: none above the distance, if none was."""
        nearer = self.h[self.goal]
        for cell, value in self.h.items():
            if value < INF or nearer >= INF:
                self.h[cell] = max(value - nearer, h0(self.grid, cell, self.goal))
        self.aim = self.goal

    def step(self, action: int) -> bool:
        """Make one step; return whether it was a slice of thinking."""
        may_act, may_think = self.possible
        thinks = bool(may_think) if action == THINK else not may_act
        believed = set(self.world.believed.free)
        self.expansions = self.scans = 0
        if thinks:
            self.think()
            self.world.move(self.world.position)
        else:
            self.act()
        self.look()
        self.heed(believed ^ self.world.believed.free)
        return thinks

    def think(self) -> None:
        """Search on for a slice, from where the agent stands."""
        s, done = self.world.position, 0
        if self.found:
            self.search, self.found = None, False
        if self.search is None:
            self.take_aim()
            self.plan, self.slices, self.before = [], 0, self.h[s]
        else:
            done, self.before = len(self.search.closed), self.f(self.search.best)
        self.search = a_star(self.world.believed, s, self.aim, self.h.__getitem__, done + self.slice)
        self.slices += 1
        self.thought += 1
        self.expansions = self.scans = len(self.search.closed) - done
        self.stuck = self.search.best is None
        self.found = self.search.best == self.aim
        if self.stuck:
            self.search = None

    def act(self) -> None:
        """Learn from the search, if there is one, and walk one step of the way to its best state."""
        self.raised, self.popped = {}, []
        if self.search is not None:
            assert self.search.best is not None
            if not (self.found and self.steady):
                values, self.popped = frontier_update(self.world.believed, self.search, self.h)
                self.raised = {state: value for state, value in values.items() if value > self.h[state]}
                self.scans = len(self.popped)
            self.h.update(self.raised)
            self.plan = self.search.steps_to(self.search.best)
            self.search = None
        self.world.move(self.plan.pop(0))
        self.story.states.append(self.world.position)
        self.story.raises.append(len(self.raised))

    def heed(self, changed: set[Position]) -> None:
        """Drop what the changes have made void."""
        if self.search is not None:
            near = {(x + dx, y + dy) for x, y in self.search.closed for dx, dy in (*STEPS, (0, 0))}
            if changed & near:
                self.search, self.found = None, False
        elif not self.world.believed.can_walk([self.world.position, *self.plan]):
            self.plan, self.found = [], False
        elif changed & self.world.believed.free:
            self.found = False

    def f(self, state: Position | None) -> int:
        assert self.search is not None
        assert state is not None
        return self.search.g[state] + self.h[state]

    def features(self, history: int) -> dict[str, float]:
        """Return what is observed, before the logarithm."""
        s, way = self.world.position, self.plan
        told = first_four(self.story, history) | dict.fromkeys(
            ("slices", "expansions", "open", "best_f", "best_g", "best_h", "rise", "gain", "gap", "rivals"), 0.0
        )
        if self.search is not None:
            told |= self.search_features(s)
            assert self.search.best is not None
            way = self.search.steps_to(self.search.best)
        return told | {
            "found": self.found,
            "committed": len(self.plan),
            "path": len(way),
            "seen": len(list(takewhile(self.seen.__contains__, way))),
            "surplus": (self.h[s] - h0(self.grid, s, self.goal)) / STRAIGHT,
            "time": self.world.moves,
            "thought": self.thought,
        }

    def search_features(self, s: Position) -> dict[str, float]:
        search = self.search
        assert search is not None
        assert search.best is not None
        first = {state: search.steps_to(state)[0] for state in search.open}
        others = [state for state in search.open if first[state] != first[search.best]]
        best = self.f(search.best)
        gap = min(map(self.f, others)) - best if others else 0
        return {
            "slices": self.slices,
            "expansions": len(search.closed),
            "open": len(search.open),
            "best_f": best / STRAIGHT,
            "best_g": search.g[search.best] / STRAIGHT,
            "best_h": self.h[search.best] / STRAIGHT,
            "rise": (best - self.h[s]) / STRAIGHT,
            "gain": (best - self.before) / STRAIGHT,
            "gap": gap / STRAIGHT,
            "rivals": len({first[state] for state in others}),
        }

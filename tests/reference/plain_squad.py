"""A squad of RTAA* units in plain Python: a second reading of ``rt_gym.squad``, which counts its work by itself.

Sets of positions instead of arrays, a fresh map without the other units for every plan instead of one that is edited
and mended, sorting by plain keys instead of cumulated sums.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from reference.plain_grid import STEPS, Change, Heuristic, Map, Position, h0, initial_heuristic
from reference.plain_rtaa import plan
from rt_gym.grid import Grid


@dataclass
class PlainUnit:
    """One unit: where it is, what it believes, what it has learned, and what it has left to walk."""

    number: int
    position: Position
    goal: Position
    believed: Map
    h: Heuristic
    steps: list[Position] = field(default_factory=list)
    news: bool = False
    lost: bool = False
    must_plan: bool = False
    raised: int = 0
    waits: int = 0
    spent: int = 0
    moved: bool = False


@dataclass
class Terms:
    """What a squad is played by; see ``rt_gym.Squad``."""

    lookahead: int
    allowance: int
    rule: str = "equal"
    blocking: bool = False
    sight: int | None = None
    push: bool = False
    vision: int | None = None
    shared_fog: bool = False
    seed: int = 0


class PlainSquad:
    """Units that are dealt an allowance, plan, move and sense, tick after tick."""

    def __init__(
        self, grid: Grid, tasks: Sequence[tuple[Position, Position]], terms: Terms, changes: Sequence[Change] = ()
    ) -> None:
        self.grid, self.terms, self.changes = grid, terms, changes
        self.truth, self.ticks, self.turn, self.random = Map.of(grid), 0, 0, 2 * terms.seed + 1
        self.waiting: dict[Position, bool] = {}
        team = Map(grid)
        self.units = []
        for number, (start, goal) in enumerate(tasks):
            own = self.truth if terms.vision is None else team if terms.shared_fog else Map(grid)
            self.units.append(PlainUnit(number, start, goal, own, initial_heuristic(grid, goal)))
        self._let_time_pass()

    @property
    def positions(self) -> list[Position]:
        return [unit.position for unit in self.units]

    def tick(self) -> int:
        """Let one tick pass and return how many states all units have expanded."""
        for unit in self.units:
            unit.spent, unit.moved = 0, False
            self._survey(unit)
        shares = self._deal([unit for unit in self.units if unit.must_plan])
        for unit in self.units:
            if unit.position != unit.goal and not unit.lost and not unit.moved:
                self._act(unit, shares.get(unit.number, 0))
        self.ticks += 1
        self._let_time_pass()
        return sum(unit.spent for unit in self.units)

    def _survey(self, unit: PlainUnit) -> None:
        if unit.position == unit.goal:
            unit.must_plan = False
            return
        if unit.news:
            unit.lost = False
        if not unit.lost and (not unit.steps or not unit.believed.can_walk([unit.position, *unit.steps])):
            unit.must_plan = True

    def _deal(self, asking: list[PlainUnit]) -> dict[int, int]:
        """Return the shares by the numbers of the units."""
        terms = self.terms
        in_turn = sorted(asking, key=lambda unit: (unit.number < self.turn, unit.number))
        shares = {}
        if not asking:
            return shares
        if terms.rule == "equal":
            each, rest = divmod(terms.allowance, len(asking))
            for k, unit in enumerate(in_turn):
                shares[unit.number] = each + (k < rest)
            if rest:
                self.turn = in_turn[rest - 1].number + 1
            return shares
        order = {
            "round-robin": in_turn,
            "nearest": sorted(asking, key=lambda unit: h0(self.grid, unit.position, unit.goal)),
            "neediest": sorted(asking, key=lambda unit: (-unit.raised, -unit.waits)),
        }[terms.rule]
        left, wanted = terms.allowance, min(terms.lookahead, terms.allowance)
        for unit in order:
            if left < wanted:
                break
            shares[unit.number] = wanted
            left -= wanted
            self.turn = unit.number + 1
        return shares

    def _act(self, unit: PlainUnit, share: int) -> None:
        if unit.must_plan and share == 0:
            unit.waits += 1
            unit.moved = True
            return
        if unit.must_plan:
            made = plan(
                Map(self.grid, unit.believed.free - self._seen_by(unit)),
                unit.position,
                unit.goal,
                min(self.terms.lookahead, share),
                "all",
                unit.h,
            )
            unit.steps, unit.raised, unit.spent = list(made.steps), len(made.raised), len(made.expanded)
            unit.must_plan = unit.news = False
            unit.lost = not unit.steps and not self.terms.blocking
        if unit.steps:
            self._step(unit, unit.steps.pop(0))
        unit.moved = True

    def _seen_by(self, unit: PlainUnit) -> set[Position]:
        """Return the cells of other units that are obstacles for this one."""
        sight, places = self.terms.sight, set(self.positions) - {unit.position}
        if not self.terms.blocking:
            return set()
        return places if sight is None else {place for place in places if self._sees(unit.position, place, sight)}

    def _sees(self, a: Position, b: Position, radius: int) -> bool:
        dx, dy = abs(a[0] - b[0]), abs(a[1] - b[1])
        return (dx + dy if self.grid.connectivity == 4 else max(dx, dy)) <= radius

    def _step(self, unit: PlainUnit, to: Position) -> None:
        if self.terms.blocking and not self._can_move(unit, to):
            if not self.terms.push or not self._push(unit, to):
                unit.steps, unit.must_plan = [], True
                return
        assert self.truth.can_step(unit.position, to)
        unit.position = to

    def _can_move(self, unit: PlainUnit, to: Position) -> bool:
        others = {other.position for other in self.units if other is not unit}
        return Map(self.grid, self.truth.free - others).can_step(unit.position, to)

    def _push(self, unit: PlainUnit, to: Position) -> bool:
        other = next((other for other in self.units if other.position == to), None)
        if other is None or other.position != other.goal or other.moved:
            return False
        chosen, ways = None, 0
        for dx, dy in STEPS[: self.grid.connectivity]:
            aside = (to[0] + dx, to[1] + dy)
            if self._can_move(other, aside):
                ways += 1
                if self._draw() % ways == 0:
                    chosen = aside
        if chosen is None:
            return False
        other.position, other.moved, other.must_plan, other.steps = chosen, True, True, []
        return self._can_move(unit, to)

    def _draw(self) -> int:
        """Return the next number of a xorshift generator, 31 bits."""
        x = self.random
        x ^= x << 13 & (1 << 64) - 1
        x ^= x >> 7
        x ^= x << 17 & (1 << 64) - 1
        self.random = x
        return x >> 33

    def _let_time_pass(self) -> None:
        """Let the changes happen that are due, except under a unit, and let all units sense."""
        self.waiting.update({cell: free for time, cell, free in self.changes if time == self.ticks})
        for cell, free in list(self.waiting.items()):
            if free or cell not in self.positions:
                changed = free != (cell in self.truth.free)
                (self.truth.free.add if free else self.truth.free.discard)(cell)
                del self.waiting[cell]
                for unit in self.units if changed and self.terms.vision is None else ():
                    unit.news = True
        for unit in self.units if self.terms.vision is not None else ():
            self._sense(unit)

    def _sense(self, unit: PlainUnit) -> None:
        radius = self.terms.vision or 0
        near = {
            (x, y)
            for x in range(self.grid.width)
            for y in range(self.grid.height)
            if self._sees(unit.position, (x, y), radius)
        }
        seen = {cell for cell in near if (cell in self.truth.free) != (cell in unit.believed.free)}
        unit.believed.free.symmetric_difference_update(seen)
        for other in self.units if seen else ():
            if other is unit or self.terms.shared_fog:
                other.news = True

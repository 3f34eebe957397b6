"""LSS-LRTA* that chooses how long to think, in plain Python: ``Thinker`` with rules by their definitions."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import sqrt
from statistics import NormalDist

from agents.policies.networks import Network, load_network
from reference.plain_grid import MAX_MOVES, Change, Plan, Position, Run, World
from reference.plain_policy_lrta import outputs, seen
from reference.plain_think import Thinker
from rt_gym.cost import STRAIGHT
from rt_gym.grid import Grid

Decider = Callable[[Thinker], bool]


def until_unseen(thinker: Thinker) -> bool:
    """Think while all of the best path has been seen."""
    assert thinker.search is not None
    assert thinker.search.best is not None
    return all(cell in thinker.seen for cell in thinker.search.steps_to(thinker.search.best))


def while_it_pays(thinker: Thinker) -> bool:
    """Think while a slice is expected to save more than the one step that it takes."""
    told, search = thinker.features(1), thinker.search
    assert search is not None
    assert search.best is not None
    if not told["rivals"]:
        return False
    steps = len(search.steps_to(search.best))
    error = (thinker.f(search.best) - thinker.h[thinker.world.position]) / STRAIGHT / steps * told["best_h"]
    share = min(1.0, steps / thinker.slices / told["best_h"])
    if error <= 0:
        return False
    loss = NormalDist(-told["gap"], error * sqrt(2 * share))  # of going on with the first step that looks best
    return loss.mean * (1 - loss.cdf(0)) + loss.variance * loss.pdf(0) > 1


def decider_of(policy: object) -> Decider:
    """Return who is asked where there is a choice: rules while a search is open, networks at any time."""
    if isinstance(policy, int):
        return lambda thinker: thinker.search is not None and thinker.slices < policy
    if policy in (None, "rule", "mo-rts"):
        rule = while_it_pays if policy == "mo-rts" else until_unseen
        return lambda thinker: thinker.search is not None and rule(thinker)
    return Asked(load_network(str(policy)))


class Asked:
    """A network, which is asked before every move."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def __call__(self, thinker: Thinker) -> bool:
        """Whether it would rather think than act."""
        told = thinker.features(self.network.history)
        act, think = outputs(self.network, seen([told[name] for name in self.network.features]))
        return bool(think > act)


def read_again(world: World, plan: list[Position]) -> list[Position]:
    """Return the cells that are read to see whether a path is still legal, up to the first step that is not."""
    read: list[Position] = []
    for a, b in pairwise([world.position, *plan]):
        read.append(a)
        if not world.believed.can_step(a, b):
            break
    return read


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    slice: int,
    policy: object,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial; ``after`` is the trial whose heuristic and believed map it goes on with."""
    thinker, thinks_on = Thinker(grid, start, goal, vision, changes, slice, after), decider_of(policy)
    thinker.steady = False  # it learns from the search that finds the goal as well
    world, scanned = thinker.world, list[Position]()
    record = Run("goal", [start], [], [], [], [], dict(thinker.h), thinker.h, world.believed, thinker.seen)
    while world.position != goal:
        if world.moves == max_moves:
            record.outcome = "limit"
            break
        may_act, may_think = thinker.possible
        believed = set(world.believed.free)
        if not may_act or (may_think and thinks_on(thinker)):
            thinker.think()
            record.record(Plan(expanded=[start] * thinker.expansions, scanned=scanned))
            if thinker.stuck:
                record.outcome = "stuck"
                break
            world.move(world.position)
        else:
            thinker.act()
            record.record(Plan(popped=thinker.popped, raised=thinker.raised, scanned=scanned))
        thinker.look()
        changed = believed ^ world.believed.free
        scanned = read_again(world, thinker.plan) if changed and isinstance(thinks_on, Asked) else []
        thinker.heed(changed)
        record.path.append(world.position)
    return record

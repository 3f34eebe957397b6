"""Judge policies that think or act, and those that deal thinking time, by the time until goals are reached.

A policy is a function from a batch of observations of RTThink-v0 to actions. Those to beat think for a fixed number of
slices before every commitment: the best of them is what a real-time agent with a fixed lookahead can do.

A dealer lets a squad of RTSquad-v0 make one tick. Those to beat deal by the same rule in every tick.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from scipy.stats import norm

from rt_gym import InputError, Problem
from rt_gym.envs.single import seeded
from rt_gym.errors import whole
from rt_gym.evaluation.runs import Walk, Walks, counts_of
from rt_gym.features.thinking import THOUGHTS
from rt_gym.search.slices import ACT, THINK
from rt_gym.squad import RULES, Squad
from rt_gym.squad.envs.dealer import SquadSettings
from rt_gym.squad.envs.episode import SquadEpisode
from training.judge.policies import RECORDED, PolicyFindings, PolicyRuns, Walked
from training.judge.stats import Estimate, Floats, estimate, resampled_sums
from training.judge.tables import Table, digits, interval
from training.runs import Course

SIDE_BY_SIDE = 64  # episodes of the judge: more would idle while the last ones end
SLICES, FOUND, COMMITTED, PATH, SEEN = map(THOUGHTS.index, ("slices", "found", "committed", "path", "seen"))
BEST_H, RISE, GAP, RIVALS = map(THOUGHTS.index, ("best_h", "rise", "gap", "rivals"))
MAX_MOVES = 100_000  # of an episode of a contest: fixed numbers of slices walk astray for long
LONGEST_CHASE = 10_000  # moves of one where the goal moves: those who have not met it by then hardly ever will
UNTIL_FOUND = 10**9  # slices that no search takes
SLICES_TO_BEAT = (1, 2, 4, 8, 16, UNTIL_FOUND)
_FIXED = {f"slices={number}" if number < UNTIL_FOUND else "until found": number for number in SLICES_TO_BEAT}

Policy = Callable[[NDArray[np.float32]], NDArray[np.int64]]
Dealer = Callable[[Squad, np.random.Generator], Any]


class FixedSlices:
    """Think a fixed number of slices whenever nothing is committed, then walk the committed path to its end.

    A search that finds the goal earlier ends there. In fog this walks as ``lss-lrta`` with as large a lookahead does.

    Args:
        slices: at least one.
    """

    def __init__(self, slices: int) -> None:
        self.slices = whole("slices", slices, 1)
        self._enough = np.log(np.float32(self.slices + 0.5))  # features are logarithms of one more than the number

    def __call__(self, observations: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return what to do in every episode."""
        ready = (observations[:, FOUND] > 0) | (observations[:, SLICES] > self._enough)
        return np.where((observations[:, COMMITTED] > 0) | ready, ACT, THINK)


def follow_rule(observations: NDArray[np.float32]) -> NDArray[np.int64]:
    """Follow the hand rule: think until the best path leads to a cell that was never seen, or to the goal.

    Beyond that cell the search would think about what it does not know. On a known map this thinks until found.
    """
    ready = (observations[:, SEEN] < observations[:, PATH]) | (observations[:, FOUND] > 0)
    acts = (observations[:, COMMITTED] > 0) | ((observations[:, SLICES] > 0) & ready)
    return np.where(acts, ACT, THINK)


def follow_mo_rts(observations: NDArray[np.float32]) -> NDArray[np.int64]:
    """Follow the rule in the manner of Mo'RTS: think while a slice is expected to save more than it takes.

    It is that of ``agents.think_lss``, which says what is expected; here features are read, whose logarithms are short.
    """
    seen = observations.astype(np.float64)
    slices, steps, h, rise, gap, rivals = (np.expm1(seen[:, k]) for k in (SLICES, PATH, BEST_H, RISE, GAP, RIVALS))
    asked = (seen[:, SLICES] > 0) & (seen[:, FOUND] == 0) & (rivals > 0.5) & (rise > 0)
    steps, slices, h = (np.where(asked, values, 1.0) for values in (steps, slices, h))
    spread = np.where(asked, rise / steps * h * np.sqrt(2 * np.minimum(1.0, steps / (slices * h))), 1.0)
    benefit = spread * norm.pdf(gap / spread) - gap * norm.sf(gap / spread)
    acts = (seen[:, COMMITTED] > 0) | ((seen[:, SLICES] > 0) & ~(asked & (benefit > 1)))
    return np.where(acts, ACT, THINK)


BY_HAND: dict[str, Policy] = {"rule": follow_rule, "mo-rts": follow_mo_rts}


@dataclass(frozen=True)
class Times:
    """How policies did on some problems, one entry per problem.

    Attributes:
        time: until the goal was reached or the episode was cut, in straight steps: the moves' costs and the slices.
        thought: slices of it.
        expansions: states expanded.
        solved: whether the goal was reached.
        optimal: the cost of a shortest path on the true map.
        moves: the other steps: those that walked.
        problems: what was to be solved, with the sight that agents had.
        walks: the first steps of every episode, of which a slice is one that stays in place, if they were recorded.
    """

    time: NDArray[np.float64]
    thought: NDArray[np.int64]
    expansions: NDArray[np.int64]
    solved: NDArray[np.bool_]
    optimal: NDArray[np.float64]
    moves: NDArray[np.int64]
    problems: Sequence[Problem]
    walks: Sequence[Walk]

    @property
    def cut(self) -> int:
        """How many episodes were cut before the goal. Their times are too short, and so is any mean over them."""
        return int((~self.solved).sum())

    @property
    def ratio(self) -> float | None:
        """The mean of the times divided by the optimal costs; None if a run was cut, which would look quick."""
        return None if self.cut else float((self.time / self.optimal).mean())


def evaluate(policy: Policy, problems: Sequence[Problem], record: int = 0, **settings: Any) -> Times:
    """Let a policy solve every problem once, many of them side by side.

    A goal that moves walks the same way before every policy: the number of the problem is the seed of its episode.

    Args:
        policy: from an array of observations, one row per episode, to an array of actions.
        problems: what to solve; start and goal differ, and the map does not change.
        record: how many steps of every episode are kept.
        settings: of RTThink-v0, such as ``vision=3`` or ``slice=20``; rewards are minus the time.
    """
    if refused := sorted({"problems", "observation", "reward", "price", "shaping", "autoreset_mode"} & set(settings)):
        raise InputError(f"{refused[0]} is not the judge's to choose: observations are flat and rewards the time")
    if any(not problem.optimal or not np.isfinite(problem.optimal) for problem in problems):
        raise InputError("problems must have a goal that can be reached and is not the start, on maps that stay")
    size = len(problems)
    batch: Any = gym.make_vec(
        "RTThink-v0", min(size, SIDE_BY_SIDE), vectorization_mode="vector_entry_point", problems=list(problems),
        autoreset_mode=AutoresetMode.DISABLED, **settings,
    )  # fmt: skip
    time, solved = np.zeros(size + 1), np.zeros(size + 1, np.bool_)
    thought, expansions, moves = np.zeros((3, size + 1), np.int64)
    walks = Walks([problem.start for problem in problems], record)
    solving = np.arange(batch.num_envs)  # after the last problem, one that does not count
    begun = batch.num_envs
    observations, _ = batch.reset(seed=solving, options={"index": solving})
    while (solving < size).any():
        observations, rewards, terminated, truncated, info = batch.step(policy(observations))
        time[solving] -= rewards
        thought[solving] += info["thought"]
        moves[solving] += ~info["thought"]
        expansions[solving] += info["expansions"]
        solved[solving] = terminated
        if record:
            counted = solving < size
            walks.enter(solving[counted], batch.positions()[counted], counts_of(info, counted))
        over = terminated | truncated
        if over.any():
            solving[over] = np.minimum(np.arange(begun, begun + over.sum()), size)
            begun += int(over.sum())
            observations, _ = batch.reset(seed=solving, options={"index": solving % size, "reset_mask": over})
    optimal = np.array([problem.optimal for problem in problems])
    return Times(
        time=time[:-1],
        thought=thought[:-1],
        expansions=expansions[:-1],
        solved=solved[:-1],
        optimal=optimal,
        moves=moves[:-1],
        problems=batch.settings.pool,
        walks=walks.close() if record else (),
    )


def fixed_times(slices: Iterable[int], problems: Sequence[Problem], **settings: Any) -> dict[int, Times]:
    """Return how the fixed numbers of slices do."""
    return {number: evaluate(FixedSlices(number), problems, **settings) for number in slices}


def most_moves(settings: Mapping[str, Any]) -> int:
    """Return after how many moves an episode of a contest is cut."""
    return MAX_MOVES if settings.get("goal_moves") is None else LONGEST_CHASE


def contest(policies: Mapping[str, Policy], problems: Sequence[Problem], **settings: Any) -> dict[str, Times]:
    """Return how fixed numbers of slices, thinking until found, the rules and some policies do, with their walks."""
    fixed: dict[str, Policy] = {name: FixedSlices(number) for name, number in _FIXED.items()}
    shown = RECORDED if settings.get("goal_moves") is None else 0  # a page draws the goal where it is at first
    allowed = {"max_moves": most_moves(settings), "record": shown} | settings
    return {name: evaluate(one, problems, **allowed) for name, one in (fixed | BY_HAND | dict(policies)).items()}


def gain(times: Mapping[str, Times], name: str, rivals: Iterable[str] = tuple(_FIXED)) -> Estimate | None:
    """Return the mean time ratio of the best rival over that of a policy; None if a run was cut.

    Both meet the same resampled problems. Which rival is the best is decided once, on all problems. By default they are
    the fixed numbers of slices.
    """
    known = [times[rival] for rival in rivals if rival in times and not times[rival].cut]
    if not known or times[name].cut:
        return None
    best = min(known, key=lambda time: time.ratio or 0.0)
    columns = np.stack([time.time / time.optimal for time in (best, times[name])], axis=1)
    sums = resampled_sums(columns, seed=0)
    return estimate(sums[:, 0] / sums[:, 1], len(columns))


def times_table(times: Mapping[str, Times]) -> Table:
    """Return the table of all policies."""
    title = f"{len(next(iter(times.values())).time)} problems: time until the goal is reached"
    rivals = {"best fixed": tuple(_FIXED), "rule": ("rule",), "mo-rts": ("mo-rts",)}
    ahead = [column for rival in rivals for column in (f"{rival}\nover it", "95 %\ninterval")]
    columns = ["\npolicy", "time /\noptimal", *ahead, "share of\nthinking", "\nsolved"]
    return Table(title, columns, [_line(times, name, rivals.values()) for name in times])


def _line(times: Mapping[str, Times], name: str, rivals: Iterable[Iterable[str]]) -> list[str]:
    own, gains = times[name], [gain(times, name, others) for others in rivals]
    cells = [cell for one in gains for cell in (["-", "-"] if one is None else [digits(one.value), interval(one)])]
    share = own.thought.sum() / own.time.sum()
    shown = f"{own.cut} cut" if own.ratio is None else f"{own.ratio:.2f}"
    return [name, shown, *cells, f"{100 * share:.0f} %", f"{own.solved.sum()}/{own.solved.size}"]


_THINK_NOTES = """\
time / optimal: straight steps until the goal is reached, the moves' costs and the slices of thinking, divided by the
cost of a shortest path; of a goal that moves, to where it is at first. over it: the time of another, divided by that of
the row. share of thinking: of the time."""


def judged(times: Mapping[str, Times], courses: tuple[Course, ...], settings: Mapping[str, Any]) -> PolicyFindings:
    """Return times on the problems of some maps as files and pages take them."""
    runs = {
        name: PolicyRuns(
            own.solved,
            np.where(own.solved, own.time / own.optimal, np.inf),
            own.moves,
            own.expansions,
            {"optimal": own.optimal, "time": own.time, "thought": own.thought, "moves": own.moves}
            | {"expansions": own.expansions},
            Walked(own.walks, own.thought + own.moves, own.time) if own.walks else None,
        )
        for name, own in times.items()
    }
    problems = next(iter(times.values())).problems
    return PolicyFindings(
        "RTThink-v0", "time / optimal", _THINK_NOTES, courses, problems, runs, times_table(times), dict(settings)
    )


def by_rule(rule: Any) -> Dealer:
    """Return a dealer that follows the same rule in every tick: a name, a policy, or its file."""
    return lambda squad, rng: squad.tick(rule=rule)


DEALERS: dict[str, Dealer] = {
    **{rule: by_rule(rule) for rule in RULES},
    "random rule": lambda squad, rng: squad.tick(rule=RULES[rng.integers(len(RULES))]),
    "random shares": lambda squad, rng: squad.tick(weights=rng.random(len(squad.problems))),
}


def dealt_times(dealer: Dealer, settings: SquadSettings, seeds: Iterable[int]) -> Floats:
    """Return the mean goal-achievement time of the units of every squad, in ticks; cut ones count as they were cut.

    A squad is the one that RTSquad-v0 with these settings begins with after ``reset(seed=...)``. The return of its
    episode is minus this times the number of units.
    """
    episode, shown, times = SquadEpisode(settings), np.empty(settings.size, np.float32), []
    for seed in seeds:
        episode.begin(seeded(seed), settings.named(shown))
        squad, rng, under_way = episode.squad, np.random.default_rng(seed), 0
        while not squad.done and squad.ticks < settings.max_ticks:
            under_way += int((~squad.arrived).sum())
            dealer(squad, rng)
        times.append(under_way / settings.units)
    return np.array(times)


def dealers_table(times: Mapping[str, Floats], units: int, learned: str | None = None) -> Table:
    """Return the table of dealers, and how much longer the units of each are under way than those of a learned one.

    Differences are paired: all dealers have met the same squads.
    """
    title = f"{next(iter(times.values())).size} squads of {units} units: ticks until a unit reaches its goal"
    columns = ["\ndealer", "mean\ntime", "95 %\ninterval", "mean\nreturn"]
    columns += ["longer than\nlearned", "95 %\ninterval", "in\npercent"] if learned else []
    sums = resampled_sums(np.stack(list(times.values()), axis=1), seed=0)
    count = next(iter(times.values())).size
    means = dict(zip(times, sums.T / count, strict=True))
    rows = []
    for name, values in means.items():
        own = estimate(values, count)
        cells = [name, digits(own.value), interval(own), digits(-units * own.value)]
        if learned:
            gap = estimate(values - means[learned], count)
            cells += [f"{gap.value:+.2f}", interval(gap), f"{100 * gap.value / means[learned][0]:+.1f}"]
        rows.append(cells if name != learned else [*cells[:4], "", "", ""])
    return Table(title, columns, rows)

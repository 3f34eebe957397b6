"""Which agent to take: the best five for every budget, or for the units of a squad; and a leaderboard at a price.

A recommendation is in order and says why. A leaderboard has one number for each depth controller, 0 for the best fixed
depth and 1 for the oracle, at a price. A run costs its moves plus a price for every expansion, divided by the optimal
cost of its problem; a controller costs the mean over problems. What it saves compared with the fixed depth that is
cheapest at that price is divided by what the cheapest oracle saves. A controller above 1 saves more than the oracle,
which is no bound: it learns with the depths it chooses. Below 0 a fixed depth is the better choice.

By default a hundred expansions cost as much as one straight step. Then, on the test splits and on game maps, the
cheapest fixed depth is neither the shallowest nor the deepest: an agent that always searches more, or always less,
cannot win.

Intervals of a leaderboard hold 95 %, by bootstrap over problems; all controllers meet the same resampled problems.
Which fixed depth and which oracle define 0 and 1 is decided once, on all problems.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from rt_gym import InputError
from training.judge.scores import COST, Arena, Sample, Score, collect_alike
from training.judge.speed import Pace
from training.judge.squads import LATE, SquadArena, SquadScore
from training.judge.stats import Estimate, Floats, estimate, resampled_sums
from training.judge.tables import Table, digits, interval, marked, percent
from training.runs.rows import Entry, Row, Runs

_MARGIN = 0.05  # what a unit's way may cost more than another's without anybody seeing it
_NAMED = 5  # agents that a recommendation names


class Pick(NamedTuple):
    """Who is recommended.

    Attributes:
        text: a sentence without its end.
        ranked: the best in order; none where nobody can be recommended.
        why: why the first is the first.
        alike: how many of those that follow are not clearly worse.
    """

    text: str
    ranked: tuple[Entry, ...] = ()
    why: str = ""
    alike: int = 0


class Advice(NamedTuple):
    """What is recommended under one budget: among agents that prepare nothing, and among those that do."""

    heading: str
    plain: Pick | None
    prepared: Pick | None

    @property
    def sentence(self) -> str:
        """All of it, for people."""
        parts = [self.plain.text] if self.plain else []
        parts += [f"with precomputation: {self.prepared.text}"] if self.prepared else []
        return f"{self.heading}: {'; '.join(parts)}."


def recommend(
    arena: Arena,
    scores: Sequence[Score],
    precomputing: Collection[str] = (),
    overtime: Mapping[Entry, float] | None = None,
    doubts: Mapping[Entry, float] | None = None,
) -> list[str]:
    """Return a sentence per budget; arguments as in ``advise``."""
    return [advice.sentence for advice in advise(arena, scores, precomputing, overtime, doubts)]


def advise(
    arena: Arena,
    scores: Sequence[Score],
    precomputing: Collection[str] = (),
    overtime: Mapping[Entry, float] | None = None,
    doubts: Mapping[Entry, float] | None = None,
) -> list[Advice]:
    """Return for every budget the agent of the best mean quality among those that solved everything in budget.

    Agents that bring precomputed knowledge are named apart. Where the paired difference to other agents is within its
    interval, or within the noise of a calibration, the sentence says so.

    Args:
        arena: the runs.
        scores: what was made of them.
        precomputing: the ids of agents that precompute.
        overtime: the share of slow runs of those whose budget is a time, see ``Findings``.
        doubts: how well their speeds are known, see ``Pace.doubt``.
    """
    slow, known = overtime or {}, doubts or {}
    budgets: dict[str, list[Candidate]] = {}
    for score in scores:
        budgets.setdefault(score.entry.budget, []).append(_candidate(score, slow.get(score.entry), known))

    def difference(one: Entry, other: Entry) -> Estimate | None:
        return arena.differences(one, other)[0]

    contests = (Contest(_heading(text), _aim(arena, found), found, difference) for text, found in budgets.items())
    return [_advice(contest, precomputing) for contest in contests]


def advise_squads(squads: SquadArena, precomputing: Collection[str], paces: Mapping[Entry, Pace]) -> list[Advice]:
    """Return which agent the units of squads should have; arguments as in ``advise``."""
    found = [_unit_candidate(score, paces.get(score.entry)) for score in squads.scores.values()]
    aim = Aim("brought all units to their goals in time", "no agent brought all units to their goals", "late ticks")
    return [_advice(Contest(f"For {squads.name}", aim, found, squads.difference, _MARGIN), precomputing)]


@dataclass(frozen=True)
class Candidate:
    """A contender as a recommendation sees it.

    Attributes:
        entry: which contender.
        measure: what the quality is.
        quality: less is better; None for one that cannot be recommended.
        work: what decides between equal qualities.
        overtime: the share of its ticks, or runs, that took too long; None where no time was asked for.
        sure: whether that share is small enough for certain.
        noise: how far its quality may be off because its speed is known to an interval only.
        handling: what decides between agents without a clear difference in quality where time matters: reasons, with
            numbers of which less is better.
        facts: what is said of it beside its quality.
        reached: the share of units that reached their goals, where there are units.
    """

    entry: Entry
    measure: str
    quality: Estimate | None
    work: float = 0.0
    overtime: float | None = None
    sure: bool = True
    noise: float = 0.0
    handling: Mapping[str, float] = field(default_factory=dict)
    facts: str = ""
    reached: float = 0.0

    @property
    def value(self) -> float:
        """The mean quality, infinite without one."""
        return self.quality.value if self.quality else inf

    @property
    def in_time(self) -> bool:
        """Whether no more of its ticks, or runs, took too long than may."""
        return self.overtime is None or self.overtime <= LATE


class Aim(NamedTuple):
    """What candidates had to do, what is said if none did, and what those have too many of that took too long."""

    done: str
    missed: str
    late: str


class Contest(NamedTuple):
    """Candidates under one budget, and the paired difference between two of them.

    ``margin`` is how much more than another one may cost, as a share, without that being a difference.
    """

    heading: str
    aim: Aim
    candidates: Sequence[Candidate]
    difference: Callable[[Entry, Entry], Estimate | None]
    margin: float = 0.0

    def differ(self, one: Candidate, other: Candidate) -> bool:
        """Whether two qualities differ by more than their interval, the noise of the calibration, and the margin."""
        found = self.difference(one.entry, other.entry)
        least = max(one.noise + other.noise, self.margin * min(one.value, other.value))
        return found is not None and found.excludes_zero and abs(found.value) > least


def _heading(budget: str) -> str:
    return "Without a limit" if budget == "no limit" else f"At {budget} per move"


def _aim(arena: Arena, candidates: Sequence[Candidate]) -> Aim:
    within = "within the budget" if candidates[0].overtime is None else "in time"
    missed = f"no agent solved all {arena.problems} problems within the budget"
    return Aim(f"solved everything {within}", missed, "slow runs")


def _candidate(score: Score, overtime: float | None, doubts: Mapping[Entry, float]) -> Candidate:
    timed = overtime is not None
    excess = (score.quality.value if score.quality else 0.0) - (score.measure != COST)
    return Candidate(
        score.entry,
        score.measure,
        score.quality,
        score.expansions_mean.value,
        overtime,
        noise=doubts.get(score.entry, 0.0) * excess,
        handling={"who stands still least": score.stays, "who needs the least memory": score.state_bytes}
        if timed
        else {},
        facts=f", {percent(overtime)} slow runs" if overtime is not None else "",
    )


def _unit_candidate(score: SquadScore, pace: Pace | None) -> Candidate:
    prepared = pace.prepared if pace else 0.0
    facts = [
        f"{percent(score.late.value)} late ticks",
        f"first step after {digits(score.first_move)} ticks",
        f"{percent(score.stays)} stays",
        f"{digits(score.memory_bytes / 1e6)} MB",
        *([f"{digits(prepared)} s of preparation"] if prepared else []),
    ]
    return Candidate(
        score.entry,
        "cost / optimum",
        score.quality,
        overtime=score.late.value,
        sure=not score.late.high > LATE,
        noise=(pace.doubt if pace else 0.0) * (score.quality.value - 1 if score.quality else 0.0),
        handling={
            "the first to move off": round(score.first_move, 1),
            "who stands still least": round(score.stays, 3),
            "the cheapest": round(score.quality.value, 2) if score.quality else inf,
            "who needs the least memory": score.memory_bytes,
        },
        facts=", " + ", ".join(facts),
        reached=score.arrivals / score.units,
    )


def _advice(contest: Contest, precomputing: Collection[str]) -> Advice:
    plain = [one for one in contest.candidates if one.entry.agent not in precomputing]
    prepared = [one for one in contest.candidates if one.entry.agent in precomputing]
    return Advice(
        contest.heading, _pick(contest, plain) if plain else None, _pick(contest, prepared) if prepared else None
    )


def _pick(contest: Contest, candidates: list[Candidate]) -> Pick:
    """Name the best five in order, those together that may be as good, and why the first one is the first."""
    ranked = sorted((one for one in candidates if one.quality), key=lambda one: (one.value, one.work))
    if not ranked:
        most = max(candidates, key=lambda one: (one.in_time, one.reached))
        nearest = f", {most.entry.label} the most ({percent(most.reached)})"
        return Pick(contest.aim.missed + nearest * (most.reached > 0))
    punctual = [one for one in ranked if one.in_time]
    if not punctual:
        best = min(ranked, key=lambda one: one.overtime or 0.0)
        return Pick(f"no agent kept the time; {_described(best)}, was nearest to it")
    fit = [one for one in punctual if one.sure] or punctual
    alike = [one for one in fit if one is fit[0] or not contest.differ(one, fit[0])]
    alike.sort(key=lambda one: tuple(one.handling.values()))
    best, named = alike[0], (alike + [one for one in fit if one not in alike])[1:_NAMED]
    why = _why(contest, alike, fit)
    text = f"{_described(best)}, {why}"
    if equals := [one for one in named if one in alike]:
        more = len(alike) - 1 - len(equals)
        text += f" (no clear difference to {_listed(equals)}{f' and {more} more' * bool(more)})"
    if others := [one for one in named if one not in alike]:
        text += f", then {_listed(others)}"
    passed = [one for one in ranked if one not in fit and one.value <= best.value]
    text += f", passing over {_late_ones(passed)} {contest.aim.late}" if passed else ""
    return Pick(text, tuple(one.entry for one in (best, *named)), why, len(equals))


def _described(one: Candidate) -> str:
    return f"{one.entry.label}, {one.measure} {_with_interval(one.quality)}{one.facts}"


def _why(contest: Contest, alike: Sequence[Candidate], fit: Sequence[Candidate]) -> str:
    done = contest.aim.done
    if len(fit) == 1:
        return f"the only agent that {done}"
    if len(alike) > 1 and alike[0].handling:
        own = alike[0].handling
        reasons = (name for name in own if own[name] < max(one.handling[name] for one in alike))
        first = next(reasons, "the first in the list")
        return f"{first} of {len(alike)} that cost about the same, the least of {len(fit)} that {done}"
    return f"the least of {len(fit)} agents that {done}"


def _listed(candidates: Sequence[Candidate]) -> str:
    return ", ".join(f"{one.entry.label}, {_with_interval(one.quality)}" for one in candidates)


def _late_ones(candidates: Sequence[Candidate]) -> str:
    named = ", ".join(f"{one.entry.label} ({percent(one.overtime or 0.0)})" for one in candidates[:_NAMED])
    more = len(candidates) - _NAMED
    return f"{named}{f' and {more} more' * (more > 0)} for their"


def _with_interval(estimate: Estimate | None) -> str:
    return f"{digits(estimate.value)} {interval(estimate)}" if estimate else ""


PRICE = 0.01  # steps that an expansion costs
FIXED, ORACLE = "lrta", "oracle-lrta"


@dataclass(frozen=True)
class Standing:
    """A controller's place.

    Attributes:
        entry: which contender.
        cost: its mean cost; None where a run failed or a move exceeded the budget.
        score: 0 for the best fixed depth, 1 for the oracle; None where there is no cost.
    """

    entry: Entry
    cost: Estimate | None
    score: Estimate | None

    def document(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        parts = {"score": self.score, "cost": self.cost}
        return {"agent": self.entry.label} | {name: part and part._asdict() for name, part in parts.items()}


def score(runs: Runs | Iterable[Row], price: float = PRICE, seed: int = 0) -> list[Standing]:
    """Return all contenders, the best first, those without a score last.

    Args:
        runs: every contender on the same problems; among them fixed depths of ``lrta`` and ``oracle-lrta``.
        price: steps that an expansion costs.
        seed: for the resamplings.

    Raises:
        InputError: if fixed depths or the oracle are missing, or the oracle saves nothing at that price.
    """
    if not (isfinite(price) and price >= 0):
        raise InputError(f"the price of an expansion must be 0 or more, not {price}")
    samples = collect_alike(runs)
    sound = {sample.entry: k for k, sample in enumerate(filter(_sound, samples))}
    if not sound:
        raise InputError("no agent reached every goal of a map that does not change, so there is nothing to rank")
    columns = np.stack([_costs(sample, price) for sample in samples if sample.entry in sound], axis=1)
    means = resampled_sums(columns, seed) / len(columns)
    costs = {entry: means[:, k] for entry, k in sound.items()}
    require_marks(entry.agent for entry in costs)
    zero, one = _cheapest(costs, FIXED), _cheapest(costs, ORACLE)
    if not one[0] < zero[0]:
        raise InputError(f"at a price of {price:g} the oracle saves nothing over the best fixed depth; try another one")
    standings = [_standing(sample, costs.get(sample.entry), zero, one) for sample in samples]
    return sorted(standings, key=lambda standing: standing.cost.value if standing.cost else float("inf"))


def require_marks(agents: Iterable[str]) -> None:
    """Refuse contenders without the fixed depths and the oracle, which define 0 and 1.

    Raises:
        InputError: if fixed depths or the oracle are missing.
    """
    missing = sorted({FIXED, ORACLE}.difference(agents))
    if missing:
        raise InputError(
            f"a leaderboard needs {FIXED} and {ORACLE} among the agents; {' and '.join(missing)} is missing"
        )


def _sound(sample: Sample) -> bool:
    return sample.comparable and not np.isnan(sample.places.optimal).any()


def _costs(sample: Sample, price: float) -> Floats:
    """Return the cost of every run, in units of its problem's optimal cost; a problem without a way to go costs one."""
    optimal = sample.places.optimal * sample.column("trials_run")
    work = np.divide(price * sample.expansions, optimal, out=np.zeros(len(optimal)), where=optimal > 0)
    return sample.suboptimality + work


def _cheapest(costs: dict[Entry, Floats], agent: str) -> Floats:
    """Return the means of the setting of an agent that costs least."""
    return min((means for entry, means in costs.items() if entry.agent == agent), key=lambda means: float(means[0]))


def _standing(sample: Sample, means: Floats | None, zero: Floats, one: Floats) -> Standing:
    if means is None:
        return Standing(sample.entry, None, None)
    problems, saved = len(sample.places), zero - one
    score = np.divide(zero - means, saved, out=np.full(len(saved), np.nan), where=saved > 0)
    known = score[np.isfinite(score)]  # in a resampling the oracle may save nothing
    return Standing(sample.entry, estimate(means, problems), estimate(known, problems))


def leaderboard_table(standings: Sequence[Standing], price: float, precomputing: Collection[str] = ()) -> Table:
    """Return the table of all places; who prepares itself beforehand is marked."""
    columns = ["\nagent", "\nscore", "95 %\ninterval", "\ncost", "95 %\ninterval"]
    rows = [[marked(one.entry, precomputing), *_place_cells(one.score), *_place_cells(one.cost)] for one in standings]
    return Table(
        f"Leaderboard: an expansion costs {price:g} steps, 0 the best fixed depth, 1 the oracle", columns, rows
    )


def _place_cells(value: Estimate | None) -> list[str]:
    return ["-", "-"] if value is None else [digits(value.value), interval(value)]

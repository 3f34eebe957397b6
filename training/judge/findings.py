"""All that a comparison found: what terminals, files and pages are made from, and which agent to take."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple

from training.judge.ranking import WORSE, Verdict, judge
from training.judge.scores import COST, TOTAL, Arena, Score, cut_curve_runs, score_arena
from training.judge.speed import BAR, Pace
from training.judge.squads import LATE, SquadArena, SquadScore
from training.judge.stats import Estimate
from training.judge.tables import (
    Table,
    difference_table,
    digits,
    group,
    interval,
    main_table,
    percent,
    ratio_table,
    slow_moves,
    slow_runs,
    squad_table,
    verdict_table,
)
from training.runs.contenders import choose_baseline
from training.runs.plan import Plan
from training.runs.rows import Entry, Runs
from training.runs.tables import write_tables

_NOTES = """\
exp., scans, µs: expansions, scans and time per move. mean: per problem, then over problems. pooled: all work / all
moves. worst move: the most of what the budget counts. stays: moves that stood still, of all moves. kB: the most that
the agent held on a problem, without the map. front: no other setting is better in both quality and work.
Intervals hold 95 %, by bootstrap over problems."""
_MAPS = "by maps: the interval over maps, each with all its problems: for such maps, where the other is for these maps."
_TOTAL = "total cost: of all trials until nothing more is learned, in optimal costs; on a map that changes, in steps."
_RATIO = "ratio: the work that LRTA* of a fixed depth needs for the same suboptimality, divided by the agent's own."
_SLOW = f"""\
slow runs: those whose p99 move took longer than the time of the budget; above {100 * LATE:.0f} % the agent is not
recommended."""
_SQUADS = f"""\
late ticks: those that took longer than a tick may; above {100 * LATE:.0f} % the agent is not recommended while others
keep the time. ticks: counted while half of the units or more are under way. first step: ticks before it, on average.
stays: ticks in which a unit under way stood still. MB: the most that all units of a squad held. optimum: of a unit, on
the map as it was at the start. prep.: seconds that all units prepare themselves beforehand."""
_MARGIN = 0.05  # what a unit's way may cost more than another's without anybody seeing it
_NAMED = 5  # agents that a recommendation names
_PLOTS = ("tradeoff.png", "tradeoff.svg")


@dataclass(frozen=True)
class Question:
    """What is asked of the runs beyond their scores.

    Attributes:
        baseline: the contender that differences are to, written as on the command line.
        former: the runs of an earlier comparison to judge against, and former_name: its name in tables.
        paces: how fast agents were, by agents and names of budgets, where budgets are times.
        left_out: agents that would prepare the units of a squad for too long, and for how many seconds.
        squads: what became of units that share a tick.
    """

    baseline: str | None = None
    former: Runs | None = None
    former_name: str = ""
    paces: Mapping[tuple[str, str], Pace] = field(default_factory=dict)
    left_out: Mapping[str, float] = field(default_factory=dict)
    squads: SquadArena | None = None


@dataclass(frozen=True)
class Findings:
    """The runs of a plan, and everything that follows from them.

    Attributes:
        plan, runs: what was run, and what came of it.
        scores: one per contender.
        baseline: the contender that each one is compared with; empty without a baseline.
        precomputing: the ids of agents that bring precomputed knowledge; tables list them apart.
        recommendations: a sentence per budget.
        overtime: where a budget is a time for one agent, the share of runs whose p99 move took longer.
        paces: where a budget is a time, how fast contenders were.
        left_out: agents that would prepare the units of a squad for too long, and for how many seconds.
        squads: what became of units that share a tick; None where they do not.
        verdicts: what became better or worse since an earlier comparison.
        former_name: what that comparison is called.
    """

    plan: Plan
    runs: Runs = field(repr=False)
    scores: list[Score]
    baseline: Mapping[Entry, Entry]
    precomputing: frozenset[str]
    recommendations: list[str]
    overtime: Mapping[Entry, float]
    paces: Mapping[Entry, Pace]
    left_out: Mapping[str, float]
    squads: SquadArena | None
    verdicts: list[Verdict]
    former_name: str

    @property
    def title(self) -> str:
        """What was compared, in a few words."""
        names = list(dict.fromkeys(course.name for course in self.plan.courses))
        where = names[0] if len(names) == 1 else f"{len(names)} maps"
        count = sum(len(course.tasks) for course in self.plan.courses)
        return f"{count} problem{'s' * (count > 1)} on {where}"

    @property
    def regressed(self) -> bool:
        """Whether any contender is worse than in the earlier comparison."""
        return any(verdict.word == WORSE for verdict in self.verdicts)

    def remarks(self) -> list[str]:
        """Return sentences about what was converted and left out, and what cannot be said because runs were cut."""
        cut = cut_curve_runs(self.scores)
        lost = f"No ratios: {cut} runs of LRTA* with a fixed depth failed; a larger move cap may let them finish."
        out = [
            f"{agent} takes no part: its units would prepare themselves for {seconds:.0f} s."
            for agent, seconds in self.left_out.items()
        ]
        return [*self._conversions(), *self._unsteady(), *out, *([lost] if cut and not self.has_ratios else [])]

    def _unsteady(self) -> list[str]:
        """Say whose speed is not known as well as it should be, if there are such."""
        wide = {entry.agent: pace.width for entry, pace in self.paces.items() if pace.width > BAR}
        if not wide:
            return []
        named = ", ".join(f"{agent} ±{100 * width:.0f} %" for agent, width in wide.items())
        says = f"these speeds are known less well than to ±{100 * BAR:.0f} %, and were taken at their slow end"
        return [f"The machine is busy, or agents are fast and slow by turns: {says}: {named}."]

    def _conversions(self) -> list[str]:
        """Return a sentence for every budget in time: how many expansions it was taken for."""
        timed: dict[str, dict[str, int | None]] = {}
        for agent, _, budget, limit, _ in (contender.entry for contender in self.plan.contenders):
            if budget.endswith(" ms"):
                timed.setdefault(budget, {})[agent] = limit
        return [
            f"{budget} per move were calibrated on this processor: "
            + ", ".join(f"{agent} {limit:,}" for agent, limit in limits.items())
            + " expansions."
            for budget, limits in timed.items()
        ]

    @property
    def has_maps(self) -> bool:
        """Whether there is more than one map, so that intervals over maps can be given."""
        return any(score.by_maps for score in self.scores)

    @property
    def has_ratios(self) -> bool:
        """Whether there is a curve of fixed depths to measure others by."""
        return any(score.ratio_mean for score in self.scores)

    def tables(self) -> list[Table]:
        """Return the tables: scores, differences, ratios, verdicts; those that there are."""
        groups = group(self.scores, self.precomputing)
        tables = [main_table(self.title, groups, slow_moves(self.runs), self.overtime)]
        tables += [squad_table(self.squads, groups, self.paces)] if self.squads else []
        tables += [difference_table(groups, self.baseline)] if self.baseline else []
        tables += [ratio_table(groups)] if self.has_ratios else []
        return tables + ([verdict_table(self.verdicts, self.former_name, self.precomputing)] if self.verdicts else [])

    def notes(self) -> str:
        """Return what the columns of the tables mean."""
        total = any(score.measure == TOTAL for score in self.scores)
        more = *[_MAPS] * self.has_maps, *[_TOTAL] * total
        timed = *[_SLOW] * bool(self.overtime), *[_SQUADS] * (self.squads is not None)
        return "\n".join([_NOTES, *more, *[_RATIO] * self.has_ratios, *timed])

    def document(self) -> dict[str, Any]:
        """Return everything but the rows as JSON takes it; numbers that are not there are None."""
        squads = list(self.squads.scores.values()) if self.squads else []
        return {
            "settings": self.plan.document(),
            "scores": [_plain(asdict(score) | {"entry": score.entry._asdict()}) for score in self.scores],
            "remarks": self.remarks(),
            "recommendations": self.recommendations,
            "slow_runs": {f"{entry.label}, {entry.budget}": share for entry, share in self.overtime.items()},
            "calibration": [
                _plain(asdict(pace) | {"agent": entry.agent, "budget": entry.budget, "width": pace.width})
                for entry, pace in self.paces.items()
            ],
            "squads": [_plain(score.document()) for score in squads],
            "late_ticks": {score.entry.label: score.late.value for score in squads},
            "verdicts": [_plain(asdict(verdict) | {"entry": verdict.entry._asdict()}) for verdict in self.verdicts],
        }

    def write(self, folder: Path, settings: dict[str, Any]) -> list[Path]:
        """Write tables and plots into a folder, and return where they are."""
        from training.judge.plots import draw_scores, save

        files = write_tables(folder, self.plan.document() | settings, self.runs)
        figure = draw_scores(self.title, self.scores, self.precomputing)
        return files + [save(figure, folder / name) for name in _PLOTS]


def find(plan: Plan, runs: Runs, question: Question | None = None) -> Findings:
    """Return what follows from the runs of a plan."""
    asked = question or Question()
    baseline = choose_baseline(plan.contenders, asked.baseline) if asked.baseline else {}
    arena = Arena(runs, plan.seed)
    scores = score_arena(arena, baseline)
    prepared = frozenset(contender.agent for contender in plan.contenders if contender.precomputes)
    limited = any(contender.entry.limit is not None for contender in plan.contenders)
    entries = [contender.entry for contender in plan.contenders]
    paces = {entry: pace for entry in entries if (pace := asked.paces.get((entry.agent, entry.budget)))}
    overtime = {} if asked.squads else slow_runs(runs)
    if asked.squads:
        advice = recommend_squads(asked.squads, prepared, paces)
    else:
        doubts = {entry: pace.doubt for entry, pace in paces.items()}
        advice = recommend(arena, scores, prepared, overtime, doubts) if limited else []
    return Findings(
        plan=plan,
        runs=runs,
        scores=scores,
        baseline=baseline,
        precomputing=prepared,
        recommendations=advice,
        overtime=overtime,
        paces=paces,
        left_out=asked.left_out,
        squads=asked.squads,
        verdicts=judge(asked.former, runs, plan.seed) if asked.former is not None else [],
        former_name=asked.former_name,
    )


def _plain(value: Any) -> Any:
    """Return a value without infinite numbers, and with estimates as named parts."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    return None if isinstance(value, float) and not isfinite(value) else value


def recommend(
    arena: Arena,
    scores: Sequence[Score],
    precomputing: Collection[str] = (),
    overtime: Mapping[Entry, float] | None = None,
    doubts: Mapping[Entry, float] | None = None,
) -> list[str]:
    """Return a sentence per budget: the agent of the best mean quality among those that solved everything in budget.

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
    return [_sentence(contest, precomputing) for contest in contests]


def recommend_squads(squads: SquadArena, precomputing: Collection[str], paces: Mapping[Entry, Pace]) -> list[str]:
    """Return a sentence on which agent the units of squads should have; arguments as in ``recommend``."""
    found = [_unit_candidate(score, paces.get(score.entry)) for score in squads.scores.values()]
    aim = Aim("brought all units to their goals in time", "no agent brought all units to their goals", "late ticks")
    return [_sentence(Contest(f"For {squads.name}", aim, found, squads.difference, _MARGIN), precomputing)]


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


def _sentence(contest: Contest, precomputing: Collection[str]) -> str:
    plain = [one for one in contest.candidates if one.entry.agent not in precomputing]
    prepared = [one for one in contest.candidates if one.entry.agent in precomputing]
    parts = [_pick(contest, plain)] if plain else []
    parts += [f"with precomputation: {_pick(contest, prepared)}"] if prepared else []
    return f"{contest.heading}: {'; '.join(parts)}."


def _pick(contest: Contest, candidates: list[Candidate]) -> str:
    """Name the best five in order, those together that may be as good, and why the first one is the first."""
    ranked = sorted((one for one in candidates if one.quality), key=lambda one: (one.value, one.work))
    if not ranked:
        most = max(candidates, key=lambda one: (one.in_time, one.reached))
        nearest = f", {most.entry.label} the most ({percent(most.reached)})"
        return contest.aim.missed + nearest * (most.reached > 0)
    punctual = [one for one in ranked if one.in_time]
    if not punctual:
        best = min(ranked, key=lambda one: one.overtime or 0.0)
        return f"no agent kept the time; {_described(best)}, was nearest to it"
    fit = [one for one in punctual if one.sure] or punctual
    alike = [one for one in fit if one is fit[0] or not contest.differ(one, fit[0])]
    alike.sort(key=lambda one: tuple(one.handling.values()))
    best, named = alike[0], (alike + [one for one in fit if one not in alike])[1:_NAMED]
    text = f"{_described(best)}, {_why(contest, alike, fit)}"
    if equals := [one for one in named if one in alike]:
        more = len(alike) - 1 - len(equals)
        text += f" (no clear difference to {_listed(equals)}{f' and {more} more' * bool(more)})"
    if others := [one for one in named if one not in alike]:
        text += f", then {_listed(others)}"
    passed = [one for one in ranked if one not in fit and one.value <= best.value]
    return text + (f", passing over {_late_ones(passed)} {contest.aim.late}" if passed else "")


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

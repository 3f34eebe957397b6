"""What a comparison asks, and all that it found: what terminals, files and pages show, and which agent to take.

It asks under limits per move. Among what it found are verdicts on agents that were compared before, on the problems of
both comparisons. Their intervals hold 95 %, by bootstrap over problems.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym import Budget, InputError
from rt_gym.specs import parse_sweep
from training.judge.advice import Advice, advise, advise_squads
from training.judge.scores import TOTAL, Arena, Sample, Score, collect, cut_curve_runs, score_arena
from training.judge.speed import BAR, Calibration, Pace
from training.judge.squads import LATE, SquadArena
from training.judge.stats import Estimate, estimate, resampled_sums
from training.judge.tables import (
    Alarm,
    Table,
    difference_table,
    group,
    main_table,
    marked,
    ratio_table,
    signed,
    slow_moves,
    slow_runs,
    squad_table,
)
from training.runs.contenders import Allowance, Contender, choose_baseline, enlist_all
from training.runs.plan import Plan
from training.runs.rows import Entry, Row, Runs
from training.runs.tables import write_tables


@dataclass(frozen=True)
class Limits:
    """What agents may compute for one move: counts, times, or as much as they like.

    Attributes:
        counts: the largest counts, to be tried one after the other.
        count: what they count, ``"expansions"`` or ``"scans"``.
        times: milliseconds instead, which a calibration converts to expansions of each agent.
    """

    counts: Sequence[int] = ()
    count: str = "expansions"
    times: Sequence[float] = ()

    def __post_init__(self) -> None:
        for limit in self.counts or (None,):
            Budget(limit, self.count)
        if self.times and self.count != "expansions":
            raise InputError("a time is converted to expansions, so --count scans cannot be had with it")
        if not all(1e-6 <= time <= 1e6 for time in self.times):
            raise InputError(f"a time per move must be from 1e-6 to 1e6 milliseconds, not {min(self.times):g}")

    def enlist(self, specs: Sequence[str]) -> list[Contender]:
        """Return agents written as on the command line under every count; where times are to come, under none."""
        return enlist_all(specs, [Allowance.of(limit, self.count) for limit in dict.fromkeys(self.counts or (None,))])

    def enlist_calibrated(
        self, specs: Sequence[str], calibration: Calibration, advance: Callable[[], Any] = lambda: None
    ) -> list[Contender]:
        """Return agents under every count or time; ``advance`` is called after each time that was converted.

        Raises:
            InputError: if all of them would prepare the units of a squad for too long.
        """
        contenders = self.enlist(specs)
        if not self.times:
            return contenders
        names = list(dict.fromkeys(contender.agent for contender in contenders))
        allowances = []
        for milliseconds in self.times:
            allowances.append(calibration.allowance(names, milliseconds))
            advance()
        left = [spec for spec in specs if parse_sweep(spec)[0][0] not in calibration.left_out]
        if not left:
            seconds = min(calibration.left_out.values())
            raise InputError(
                f"the units of a squad would prepare themselves for {seconds:.0f} seconds or more: have fewer"
            )
        return enlist_all(left, allowances)


BETTER, WORSE, SAME = "better", "worse", "same"

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Verdict:
    """One contender, now and then, on the problems of both.

    Attributes:
        entry: which contender, with its limit of now.
        word: ``"better"``, ``"worse"`` or ``"same"``.
        pairs: how many problems both comparisons have.
        lost: problems solved then and not now; gained: the reverse; void: solved neither then nor now.
        difference: the quality now minus then, over the pairs solved both times; less is better. None where there is
            no such pair, or where problems were lost or gained, which decides alone.
        expansions_difference: this difference in expansions per move.
    """

    entry: Entry
    word: str
    pairs: int
    lost: int
    gained: int
    void: int
    difference: Estimate | None
    expansions_difference: Estimate | None


def judge(then: Runs | Iterable[Row], now: Runs | Iterable[Row], seed: int = 0) -> list[Verdict]:
    """Return a verdict on every contender of both comparisons.

    A contender is worse if it fails a problem that it solved before, or if its quality or expansions per move rose by
    more than the interval of the paired difference. It is better if the reverse is true and nothing is worse.

    Raises:
        InputError: if no contender has a problem in both comparisons.
    """
    former = {_name(sample.entry): sample for sample in collect(then)}
    pairs = [(former[name], sample) for sample in collect(now) if (name := _name(sample.entry)) in former]
    verdicts = [verdict for old, new in pairs if (verdict := _verdict(old, new, seed))]
    if not verdicts:
        raise InputError("the two tables have no agent setting with a problem in common, so nothing can be judged")
    return verdicts


def _name(entry: Entry) -> tuple[str, str, str]:
    """Return what a contender is known by; the limit that a time was converted to may differ."""
    return entry.agent, entry.setting, entry.budget


def _verdict(old: Sample, new: Sample, seed: int) -> Verdict | None:
    before = {place.key: number for number, place in enumerate(old.places.rows())}
    pairs = [(before[place.key], number) for number, place in enumerate(new.places.rows()) if place.key in before]
    if not pairs:
        return None
    then, now = np.array(pairs).T
    was, now_is = old.solved[then], new.solved[now]
    lost, gained, both = int((was & ~now_is).sum()), int((now_is & ~was).sum()), was & now_is
    paired = not lost and not gained and both.any()
    differences = _differences(old, new, then[both], now[both], seed) if paired else (None, None)
    word = WORSE if lost else BETTER if gained else _word([part for part in differences if part])
    void = len(pairs) - int(both.sum()) - lost - gained
    return Verdict(new.entry, word, len(pairs), lost, gained, void, *differences)


def _differences(old: Sample, new: Sample, then: Numbers, now: Numbers, seed: int) -> tuple[Estimate, Estimate]:
    """Return by how much quality and expansions per move rose, from these problems then to those now."""
    quality = new.quality[now] - old.quality[then]
    columns = np.stack([quality, new.expansions_per_move[now] - old.expansions_per_move[then]], axis=1)
    means = resampled_sums(columns, seed) / len(columns)
    return estimate(means[:, 0], len(columns)), estimate(means[:, 1], len(columns))


def _word(differences: Sequence[Estimate]) -> str:
    if any(difference.low > 0 for difference in differences):
        return WORSE
    return BETTER if any(difference.high < 0 for difference in differences) else SAME


def verdict_table(verdicts: Sequence[Verdict], path: str, precomputing: Collection[str] = ()) -> Table:
    """Return the table of what has become better or worse."""
    columns = ["\nagent", "\nbudget", "\nverdict", "\ndifference", "95 %\ninterval", "exp. mean\ndifference"]
    columns += ["95 %\ninterval", "\npairs", "\nlost", "\ngained", "\nvoid"]
    rows = [
        [
            marked(verdict.entry, precomputing),
            verdict.entry.budget,
            Alarm(verdict.word) if verdict.word == WORSE else verdict.word,
            *signed(verdict.difference),
            *signed(verdict.expansions_difference),
            *(str(count) for count in (verdict.pairs, verdict.lost, verdict.gained, verdict.void)),
        ]
        for verdict in verdicts
    ]
    return Table(f"Now against {path}", columns, rows)


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
        advice: whom to take, for every budget.
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
    advice: list[Advice]
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
    def settings(self) -> dict[str, Any]:
        """All settings of the plan, and of its squads if there are such, as JSON takes them."""
        return self.plan.document() | (self.squads.document() if self.squads else {})

    @property
    def recommendations(self) -> list[str]:
        """A sentence per budget on whom to take."""
        return [advice.sentence for advice in self.advice]

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
        more = [*self._about_squads(), *([lost] if cut and not self.has_ratios else [])]
        return [*self._conversions(), *self._unsteady(), *out, *more]

    def _about_squads(self) -> list[str]:
        """Say what was done by squads and what by agents alone, if there were squads."""
        if self.squads is None:
            return []
        count = len(self.squads.maps)
        led = f"Every agent led {count} squad{'s' * (count > 1)} of {self.squads.name}"
        told = "what is recommended, and what is said of squads, comes from these"
        return [f"{led}: {told}; all else is about agents that solve the same problems alone."]

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
            "settings": self.settings,
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

        files = write_tables(folder, self.settings | settings, self.runs)
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
        advice = advise_squads(asked.squads, prepared, paces)
    else:
        doubts = {entry: pace.doubt for entry, pace in paces.items()}
        advice = advise(arena, scores, prepared, overtime, doubts) if limited else []
    return Findings(
        plan=plan,
        runs=runs,
        scores=scores,
        baseline=baseline,
        precomputing=prepared,
        advice=advice,
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

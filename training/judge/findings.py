"""All that a comparison found: what terminals, files and pages are made from, and which agent to take."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from training.judge.against import WORSE, Verdict, judge
from training.judge.scores import TOTAL, Arena, Score, cut_curve_runs, score_arena
from training.judge.stats import Estimate
from training.judge.tables import (
    Table,
    difference_table,
    digits,
    group,
    interval,
    main_table,
    ratio_table,
    slow_moves,
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
_LATE = "late ticks: the share of ticks that are too short if every unit's move is as slow as its run's p99."
_PLOTS = ("tradeoff.png", "tradeoff.svg")


@dataclass(frozen=True)
class Question:
    """What is asked of the runs beyond their scores.

    Attributes:
        baseline: the contender that differences are to, written as on the command line.
        former: the runs of an earlier comparison to judge against, and former_name: its name in tables.
        units, tick_ms: how many units share a tick of how many milliseconds.
    """

    baseline: str | None = None
    former: Runs | None = None
    former_name: str = ""
    units: int | None = None
    tick_ms: float = 0.0


@dataclass(frozen=True)
class Findings:
    """The runs of a plan, and everything that follows from them.

    Attributes:
        plan, runs: what was run, and what came of it.
        scores: one per contender.
        baseline: the contender that each one is compared with; empty without a baseline.
        precomputing: the ids of agents that bring precomputed knowledge; tables list them apart.
        recommendations: a sentence per budget.
        late: the share of late ticks of each contender, where many units share one.
        verdicts: what became better or worse since an earlier comparison.
        former_name: what that comparison is called.
    """

    plan: Plan
    runs: Runs = field(repr=False)
    scores: list[Score]
    baseline: Mapping[Entry, Entry]
    precomputing: frozenset[str]
    recommendations: list[str]
    late: Mapping[Entry, float]
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
        """Return sentences about what was converted, and about what cannot be said because runs were cut."""
        cut = cut_curve_runs(self.scores)
        lost = f"No ratios: {cut} runs of LRTA* with a fixed depth failed; a larger move cap may let them finish."
        return [*self._conversions(), *([lost] if cut and not self.has_ratios else [])]

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
        tables = [main_table(self.title, groups, slow_moves(self.runs), self.late)]
        tables += [difference_table(groups, self.baseline)] if self.baseline else []
        tables += [ratio_table(groups)] if self.has_ratios else []
        return tables + ([verdict_table(self.verdicts, self.former_name)] if self.verdicts else [])

    def notes(self) -> str:
        """Return what the columns of the tables mean."""
        total = any(score.measure == TOTAL for score in self.scores)
        more = *[_MAPS] * self.has_maps, *[_TOTAL] * total
        return "\n".join([_NOTES, *more, *[_RATIO] * self.has_ratios, *[_LATE] * bool(self.late)])

    def document(self) -> dict[str, Any]:
        """Return everything but the rows as JSON takes it; numbers that are not there are None."""
        late = {entry.label: share for entry, share in self.late.items()}
        return {
            "settings": self.plan.document(),
            "scores": [_plain(asdict(score) | {"entry": score.entry._asdict()}) for score in self.scores],
            "remarks": self.remarks(),
            "recommendations": self.recommendations,
            "late_ticks": late,
            "verdicts": [_plain(asdict(verdict) | {"entry": verdict.entry._asdict()}) for verdict in self.verdicts],
        }

    def write(self, folder: Path, settings: dict[str, Any]) -> list[Path]:
        """Write tables and plots into a folder, and return where they are."""
        from training.judge.plots import draw_scores, save

        files = write_tables(folder, self.plan.document() | settings, self.runs)
        figure = draw_scores(self.title, self.scores)
        return files + [save(figure, folder / name) for name in _PLOTS]


def find(plan: Plan, runs: Runs, question: Question | None = None) -> Findings:
    """Return what follows from the runs of a plan."""
    asked = question or Question()
    baseline = choose_baseline(plan.contenders, asked.baseline) if asked.baseline else {}
    arena = Arena(runs, plan.seed)
    scores = score_arena(arena, baseline)
    prepared = frozenset(contender.agent for contender in plan.contenders if contender.precomputes)
    limited = any(contender.entry.limit is not None for contender in plan.contenders)
    return Findings(
        plan=plan,
        runs=runs,
        scores=scores,
        baseline=baseline,
        precomputing=prepared,
        recommendations=recommend(arena, scores, prepared) if limited else [],
        late={},
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


def recommend(arena: Arena, scores: Sequence[Score], precomputing: Collection[str] = ()) -> list[str]:
    """Return a sentence per budget: the agent of the best mean quality among those that solved everything in budget.

    Agents that bring precomputed knowledge are named apart. Where the paired difference to the next agent is within
    its interval, the sentence says so.

    Args:
        arena: the runs.
        scores: what was made of them.
        precomputing: the ids of agents that precompute.
    """
    budgets: dict[str, list[Score]] = {}
    for score in scores:
        budgets.setdefault(score.entry.budget, []).append(score)
    return [_sentence(arena, text, group, precomputing) for text, group in budgets.items()]


def _sentence(arena: Arena, text: str, scores: list[Score], precomputing: Collection[str]) -> str:
    plain = [score for score in scores if score.entry.agent not in precomputing]
    prepared = [score for score in scores if score.entry.agent in precomputing]
    heading = "Without a limit" if text == "no limit" else f"At {text} per move"
    parts = [_pick(arena, plain)] if plain else []
    parts += [f"with precomputation: {_pick(arena, prepared)}"] if prepared else []
    return f"{heading}: {'; '.join(parts)}."


def _pick(arena: Arena, scores: list[Score]) -> str:
    """Name the best of these scores, and the next where it may be as good."""
    ranked = sorted((score for score in scores if score.quality), key=_rank)
    if not ranked:
        return f"no agent solved all {arena.problems} problems within the budget"
    best = ranked[0]
    text = f"{best.entry.label}, {best.measure} {_with_interval(best.quality)}"
    if len(ranked) > 1 and not _differ(arena, ranked[1].entry, best.entry):
        text += f" (no clear difference to {ranked[1].entry.label}, {_with_interval(ranked[1].quality)})"
    return text


def _rank(score: Score) -> tuple[float, float]:
    return score.quality.value if score.quality else 0.0, score.expansions_mean.value


def _differ(arena: Arena, one: Entry, other: Entry) -> bool:
    difference, _ = arena.differences(one, other)
    return difference is not None and difference.excludes_zero


def _with_interval(estimate: Estimate | None) -> str:
    return f"{digits(estimate.value)} {interval(estimate)}" if estimate else ""

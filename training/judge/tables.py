"""Scores as tables of words and numbers, for a terminal or a page, and the families that agents are shown in.

First the tables of a comparison, then those of an experiment, which have a line for every contender.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import inf, isfinite, isnan, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents import KernelAgent
from training.judge.scores import COST, SUBOPTIMALITY, TOTAL, Arena, Score, score_arena, strata_of
from training.judge.speed import Pace
from training.judge.squads import LATE, SquadArena
from training.judge.stats import Estimate
from training.runs.contenders import load_agent
from training.runs.rows import Batch, Entry, Row, Runs

_DASH = "-"
MEASURES = {SUBOPTIMALITY: "subopt.", COST: "cost", TOTAL: "total cost"}


# Families of ids, for colours and the legend only; who is in none, such as a class of one's own, is with the others.
FAMILIES: dict[str, tuple[str, ...]] = {
    "A*": (
        "astar",
        "weighted-astar",
        "repeated-astar",
        "expecting-astar",
        "late-astar",
        "capped-astar",
        "dstar-lite",
        "mpgaa",
        "frit",
    ),
    "time-bounded": ("tba", "tbaa"),
    "LRTA*": ("lrta", "rta", "lrta-k", "lrta-k-visited", "lrta-ls-k", "w-lrta-ls-k", "lrta-ls-kd", "lrts", "p-lrta"),
    "local search spaces": ("lss-lrta", "a-lss-lrta", "da-lss-lrta", "w-lss-lrta", "rtaa", "a-rtaa", "da-rtaa"),
    "depth control": ("classifier-lrta", "policy-lrta", "oracle-lrta", "rule-lrta", "think-lss", "building-block-lrta"),
    "prepared": ("knn-lrta", "hcdps", "subgoal-lrta", "pdb-lrta", "general-lrta", "pr-lrts"),
}
OTHERS = "others"


class Alarm(str):
    """A cell of a table that is highlighted."""


class Table(NamedTuple):
    """A title, column names, and rows; a row of one cell is the heading of a group."""

    title: str
    columns: list[str]
    rows: list[list[str]]


Groups = Mapping[str, Sequence[Score]]


def group(scores: Sequence[Score], precomputing: Collection[str] = ()) -> Groups:
    """Return scores under headings: their budgets, and apart from the others those with precomputed knowledge."""
    groups: dict[str, list[Score]] = {}
    for budget in dict.fromkeys(score.entry.budget for score in scores):
        heading = f"budget {budget}" if budget != "no limit" else budget
        for prepared, text in ((False, heading), (True, f"{heading}, with precomputation")):
            found = [s for s in scores if s.entry.budget == budget and (s.entry.agent in precomputing) == prepared]
            groups |= {text: found} if found else {}
    return groups


def main_table(title: str, groups: Groups, slow: Mapping[Entry, float], overtime: Mapping[Entry, float]) -> Table:
    """Return the table of all scores, budget by budget.

    Args:
        title: what the table is called.
        groups: its rows, under their headings.
        slow: the median over problems of the 99th percentile of each run's moves, in seconds.
        overtime: the share of runs whose 99th percentile is beyond the time of their budget, where that is a time.
    """
    name = _measure(groups)
    work = ["exp.\nmean", "exp.\npooled", "scans\npooled", "worst\nmove", "\nstays", "\nsolved", "\nkB", "µs\np99"]
    maps = _over_maps(groups)
    columns = ["\nagent", f"{name}\nmean", "95 %\ninterval", *maps, f"{name}\nmedian", *work]
    columns += ["slow\nruns"] * bool(overtime) + ["\nfront"]

    def row(score: Score) -> list[str]:
        extra = [_overtime(overtime.get(score.entry, nan))] if overtime else []
        return [*_numbers(score, bool(maps)), digits(1e6 * slow[score.entry]), *extra, _front(score)]

    return Table(title, columns, list(_lines(groups, row)))


def squad_table(squads: SquadArena, groups: Groups, paces: Mapping[Entry, Pace]) -> Table:
    """Return the table of squads: what each contender does for units that share a tick."""
    columns = ["\nagent", "late\nticks", "p99\nms", "worst\nms", "first\nstep", "\nstays", "\narrived"]
    columns += ["cost /\noptimum", "95 %\ninterval", "\nMB", "prep.\ns", "\nticks"]

    def row(score: Score) -> list[str]:
        own, pace = squads.scores[score.entry], paces.get(score.entry)
        return [
            score.entry.label,
            _overtime(own.late.value),
            digits(own.p99_ms),
            digits(own.worst_ms),
            digits(own.first_move),
            percent(own.stays),
            f"{own.arrivals}/{own.units}",
            *([digits(own.quality.value), interval(own.quality)] if own.quality else [Alarm(_DASH), _DASH]),
            digits(own.memory_bytes / 1e6),
            digits(pace.prepared) if pace and pace.prepared else _DASH,
            f"{own.ticks:,}",
        ]

    return Table(f"Squads: {squads.name}", columns, list(_lines(groups, row)))


def squads_table(squads: SquadArena, entries: Sequence[Entry], most: int) -> Table:
    """Return the table of some contenders' squads one by one, of each at most the first ``most``."""
    columns = ["\nagent", "\nmap", "\nsquad", "\nticks", "late\nticks", "worst\nms", "\narrived", "cost /\noptimum"]
    rows = [
        [
            entry.label, row.map, str(number), f"{row.ticks:,}", str(row.late), digits(row.worst_ms),
            f"{row.arrivals}/{row.units}", digits(row.quality),
        ]
        for entry in entries
        for number, row in enumerate(squads.rows(entry)[:most], start=1)
    ]  # fmt: skip
    some = f", the first {most} of {len(squads.maps)}" if len(squads.maps) > most else ""
    return Table(f"Squads one by one{some}: {squads.name}", columns, rows)


def difference_table(groups: Groups, baseline: Mapping[Entry, Entry]) -> Table:
    """Return the table of paired differences to the baseline."""
    maps = _over_maps(groups)
    work = ["exp. mean\ndifference", "95 %\ninterval", *maps]
    columns = ["\nagent", f"{_measure(groups)}\ndifference", "95 %\ninterval", *maps, *work]
    against = ", ".join(dict.fromkeys(entry.label for entry in baseline.values()))

    def row(score: Score) -> list[str]:
        names = ("difference", "expansions_difference") if maps else (None, None)
        parts = zip((score.difference, score.expansions_difference), names, strict=True)
        return [score.entry.label, *(cell for part, name in parts for cell in (*signed(part), *_by_maps(score, name)))]

    return Table(f"Paired differences to {against}", columns, list(_lines(groups, row)))


def ratio_table(groups: Groups) -> Table:
    """Return the table of ratios to the curve of fixed depths."""
    maps = _over_maps(groups)
    columns = ["\nagent", "ratio\nmean", "95 %\ninterval", *maps, "ratio\npooled", "95 %\ninterval", *maps]

    def row(score: Score) -> list[str]:
        cells = []
        for name in ("ratio_mean", "ratio_pooled"):
            cells += _ratio(getattr(score, name), score.beyond_curve)
            cells += [_ratio(score.by_maps.get(name), False)[1]] if maps else []
        return [score.entry.label, *cells]

    return Table("Ratios to the curve of fixed depths", columns, list(_lines(groups, row)))


def marked(entry: Entry, precomputing: Collection[str]) -> str:
    """Return the label of a contender, with a mark if it prepares itself beforehand."""
    return f"{entry.label}, prepares" if entry.agent in precomputing else entry.label


def family_of(agent: str) -> str:
    """Return the family of an agent, as marks call it."""
    return next((family for family, ids in FAMILIES.items() if bare_name(agent) in ids), OTHERS)


def bare_name(agent: str) -> str:
    """Return an agent without the remark that it prepares itself."""
    return agent.partition(",")[0]


def by_family(agents: Sequence[str]) -> dict[str, list[str]]:
    """Return agents under the names of their families, in the order of these."""
    groups = {family: [agent for agent in agents if family_of(agent) == family] for family in (*FAMILIES, OTHERS)}
    return {family: members for family, members in groups.items() if members}


def slow_runs(runs: Runs) -> dict[Entry, float]:
    """Return for every contender whose budget is a time the share of runs whose p99 move took longer."""
    timed = (batch for batch in runs.batches if batch.entry.milliseconds is not None)
    return {batch.entry: float(_is_slow(batch).mean()) for batch in timed}


def too_slow(batch: Batch) -> NDArray[np.intp]:
    """Return which runs took too long, of a contender that has too many of them to be recommended."""
    slow = _is_slow(batch)
    return np.flatnonzero(slow) if slow.mean() > LATE else np.empty(0, np.intp)


def _is_slow(batch: Batch) -> NDArray[np.bool_]:
    limit = batch.entry.milliseconds
    found: NDArray[np.bool_] = batch.columns["p99"] > (inf if limit is None else limit / 1e3)
    return found


def slow_moves(runs: Runs) -> dict[Entry, float]:
    """Return for every contender the median over problems of the 99th percentile of its runs' moves, in seconds."""
    return {batch.entry: float(np.median(batch.columns["p99"])) for batch in runs.batches}


def digits(value: float) -> str:
    """Return a number with about four digits, or a dash where there is none."""
    if not isfinite(value):
        return _DASH
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 1000 else f"{value:,.0f}"


def percent(share: float) -> str:
    """Return a share in percent, or a dash where there is none."""
    return _DASH if isnan(share) else f"{100 * share:.1f} %"


def interval(estimate: Estimate) -> str:
    """Return the interval of an estimate."""
    return _DASH if isnan(estimate.low) else f"[{digits(estimate.low)}, {digits(estimate.high)}]"


def _measure(groups: Groups) -> str:
    return MEASURES[next(iter(groups.values()))[0].measure]


def _lines(groups: Groups, row: Callable[[Score], list[str]]) -> Iterator[list[str]]:
    for heading, scores in groups.items():
        yield [heading]
        yield from map(row, scores)


def _over_maps(groups: Groups) -> list[str]:
    """Return the head of the column of intervals over maps, where there is more than one map."""
    return ["by\nmaps"] if next(iter(groups.values()))[0].by_maps else []


def _by_maps(score: Score, name: str | None) -> list[str]:
    """Return the interval over maps of what a score calls so; no cell without a name."""
    return [] if name is None else [interval(score.by_maps[name]) if name in score.by_maps else _DASH]


def _numbers(score: Score, maps: bool) -> list[str]:
    return [
        score.entry.label,
        digits(score.quality.value) if score.quality else Alarm(_reason(score)),
        interval(score.quality) if score.quality else _DASH,
        *_by_maps(score, "quality" if maps else None),
        digits(score.quality_median),
        digits(score.expansions_mean.value),
        digits(score.expansions_pooled.value),
        digits(score.scans_pooled),
        Alarm(score.worst_move) if score.disqualified else str(score.worst_move),
        percent(score.stays),
        score.solved,
        digits(score.state_bytes / 1000),
    ]


def _reason(score: Score) -> str:
    """Say why a score has no mean."""
    return "over budget" if score.disqualified else f"{score.failed} failed"


def _overtime(share: float) -> str:
    """Return a share of late ticks or slow runs; one that keeps an agent from being recommended is said to be out."""
    return Alarm(f"out, {percent(share)}") if share > LATE else percent(share)


def _front(score: Score) -> str:
    return "both" if len(score.fronts) > 1 else "".join(score.fronts)


def signed(estimate: Estimate | None) -> list[str]:
    """Return a difference with its sign, and its interval, as two cells."""
    if estimate is None:
        return [_DASH, _DASH]
    return ["+" * (estimate.value > 0) + digits(estimate.value), interval(estimate)]


def _ratio(estimate: Estimate | None, beyond: bool) -> list[str]:
    if estimate is None:
        return [_DASH, _DASH]
    return [">" * beyond + f"{estimate.value:.2f}", "[{:.2f}, {:.2f}]".format(*estimate[1:])]


NO_LIMIT = "no limit"
OUTLINE = "†"  # the mark of agents that were built after outlines of their papers
_WORK = ["exp.\nmean", "95 %\ninterval", "exp.\npooled", "worst\nmove"]


def score_table(title: str, rows: Runs | Iterable[Row]) -> Table:
    """Return a table with a line for every contender: quality with its tail, both averages of work, failures, guards.

    A guard is told of as the problems in which it acted, how often it did in all of them, and the share of expansions
    that were made meanwhile.
    """
    runs = Runs.of(rows)
    scores = score_arena(Arena(runs, stratified=True))
    name = MEASURES[scores[0].measure]
    columns = ["\nagent", f"{name}\nmean", "95 %\ninterval", f"{name}\nmedian", f"{name}\n95th", f"{name}\nworst"]
    guards = [_guard(batch) for batch in runs.batches]
    guarded = any(guards)
    lines = [_line(score) + [guard] * guarded for score, guard in zip(scores, guards, strict=True)]
    return Table(title, [*columns, *_WORK, "\nsolved", *["\nguard"] * guarded], lines)


def _line(score: Score) -> list[str]:
    return [
        label(score.entry) + ("" if score.entry.budget == NO_LIMIT else f", {score.entry.budget}"),
        *with_interval(score.quality),
        *map(digits, (score.quality_median, score.quality_tail, score.quality_worst)),
        *with_interval(score.expansions_mean),
        digits(score.expansions_pooled.value),
        f"{score.worst_move:,}",
        score.solved,
    ]


def label(entry: Entry) -> str:
    """Return what a table calls a contender: its label, with a mark if its algorithm was built after an outline."""
    return f"{entry.label} {OUTLINE}" if getattr(load_agent(entry.agent), "after_outline", False) else entry.label


def _guard(batch: Batch) -> str:
    """Return where a guard acted, how often, and for which share of expansions; nothing for an agent without one."""
    if not _has_guard(batch.entry.agent):
        return ""
    times, work = batch.columns["guarded"], batch.columns["guarded_expansions"]
    share = work.sum() / max(1, batch.columns["expansions"].sum())
    return f"{int((times > 0).sum())} problems, {int(times.sum()):,} times, {percent(share)}"


@cache
def _has_guard(agent_id: str) -> bool:
    kind = load_agent(agent_id)
    return issubclass(kind, KernelAgent) and kind.guarded is not KernelAgent.guarded


def map_tables(title: str, runs: Runs) -> list[Table]:
    """Return the table of scores of every map by itself; none where there is one, or one for every problem."""
    places = runs.batches[0].places
    strata = strata_of(places)
    if not strata.any():
        return []
    names = dict.fromkeys(ground.map for ground in places.grounds)
    return [score_table(f"{title}{name}", runs.on(strata == k)) for k, name in enumerate(names)]


def curve_ratio_table(title: str, rows: Runs | Iterable[Row]) -> Table:
    """Return a table of how many times their expansions the curve of fixed depths needs for the same suboptimality."""
    columns = ["\nagent", "ratio\nmean", "95 %\ninterval", "ratio\npooled", "95 %\ninterval"]
    scores = [score for score in score_arena(Arena(rows, stratified=True)) if score.entry.agent != "lrta"]
    lines = [[label(one.entry), *with_interval(one.ratio_mean), *with_interval(one.ratio_pooled)] for one in scores]
    return Table(f"{title}: ratios to the curve of fixed depths", columns, lines)


def with_interval(ours: Estimate | None) -> list[str]:
    """Return an estimate as two cells of a table: the value and its interval."""
    return ["-", "-"] if ours is None else [digits(ours.value), interval(ours)]

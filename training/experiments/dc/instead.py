"""What DC could have cut or stored instead: tiles instead of cliques, and actions or values instead of depths.

DC-TILES: the paper uses cliques and names rectangular tiles as an alternative. DC-STORED: it says that with abstraction
neither an optimal action nor an optimal value can be stored in the place of a depth (Figure 2): such agents need not
arrive. The agents are those of ``training.experiments.dc.stored``.

The bars were set before the first run of every size.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from time import thread_time

from agents.knowledge import pdb
from rt_gym import Grid
from rt_gym.abstraction import abstract
from training.experiments import dc, tb
from training.experiments.evidence import Evidence, Strata, ratio_table, score_table, with_interval
from training.experiments.frame import Bar, Claim, Entrant, Experiment, Part, entrant, near
from training.experiments.quantities import Column, Counted, Mean, Numbers, Parts, Ratio, work_ratio
from training.judge.stats import Floats
from training.judge.tables import Table, digits

METERS = ("mean", "pooled")
SMALL, LARGE = "171 x 171", "512 x 512"
CAP = 20


def _over(above: Entrant, below: Entrant, name: str = "suboptimality", part: int = 0) -> Ratio:
    return Ratio(Column(above, name, part), Column(below, name, part))


# --- DC-TILES ---

LARGE_CAP = dc.CAP
# cliques and tiles whose numbers of regions, summed over the maps, are nearest to each other
SMALL_PAIRS, LARGE_PAIRS = ((2, 2), (3, 3), (5, 4)), ((3, 3), (5, 4))
SIMILAR = Bar(low=0.8, high=1.25)


def _database(kind: str, mode: str, level: int, cap: int) -> Entrant:
    settings = {"abstraction": kind} if kind == "tiles" else {}
    return entrant("pdb-lrta", mode=mode, level=level, cap=cap, **settings)


def _tiled(mode: str, pair: tuple[int, int], cap: int) -> tuple[Entrant, Entrant]:
    """Return tiles and the cliques that they are set against."""
    cliques, tiles = pair
    return _database("tiles", mode, tiles, cap), _database("clique", mode, cliques, cap)


TILINGS = (
    *((0, SMALL, mode, pair, CAP) for mode in ("G", "I") for pair in SMALL_PAIRS),
    *((1, LARGE, "I", pair, LARGE_CAP) for pair in LARGE_PAIRS),
)


def _tile_claims() -> Iterator[Claim]:
    for part, name, mode, pair, cap in TILINGS:
        agents = _tiled(mode, pair, cap)
        text = f"{name}, mode {mode}: tiles of level {pair[1]} over cliques of level {pair[0]}"
        ratio = _over(*agents, part=part)
        yield Claim(f"{text}: suboptimality", "alike", ratio, **SIMILAR, headline=mode == "I")
        for meter in METERS:
            work = work_ratio(*agents, meter, part)
            yield Claim(f"{text}: expansions per move, {meter}", "alike", work, **near(1))
    for part, (name, pairs, cap) in enumerate(((SMALL, SMALL_PAIRS, CAP), (LARGE, LARGE_PAIRS, LARGE_CAP))):
        pair = pairs[-1]
        text = f"{name}: tiles of level {pair[1]} over cliques of level {pair[0]}, first map"
        yield Claim(f"{text}: time to build", "no more", Counted(_Building(part, pair, cap)), high=1)


class _Building:
    """The seconds that tiles take to build over those of cliques, on the first map of a part."""

    def __init__(self, part: int, pair: tuple[int, int], cap: int) -> None:
        self.part, self.pair, self.cap = part, pair, cap

    def __call__(self, *evidence: Evidence) -> float:
        grid = next(iter(evidence[self.part].grids.values()))
        cliques, tiles = (_build(grid, *each, self.cap)[1] for each in zip(("clique", "tiles"), self.pair, strict=True))
        return tiles / cliques


@cache
def _build(grid: Grid, kind: str, level: int, cap: int) -> tuple[int, float]:
    """Return the regions of a database of mode I, and the seconds of one core that it took to build."""
    began = thread_time()
    regions = abstract(grid, kind, level)
    pdb.build_columns(grid, regions, "I", cap, range(regions.regions))
    return regions.regions, thread_time() - began


def _tile_tables(*evidence: Evidence) -> list[Table]:
    columns = ["\nregions of", "\nmap", "\nlevel", "\nregions", "build\nseconds"]
    kinds = ("clique", "tiles")
    built = (SMALL_PAIRS, CAP), (LARGE_PAIRS[-1:], LARGE_CAP)  # the others would take long
    sizes = [
        [kind, name, str(level), f"{count:,}", digits(seconds)]
        for found, (pairs, cap) in zip(evidence, built, strict=True)
        for name, grid in list(found.grids.items())[:1]
        for pair in pairs
        for kind, level in zip(kinds, pair, strict=True)
        for count, seconds in [_build(grid, kind, level, cap)]
    ]
    small, large = evidence
    return [
        score_table(f"Cliques and tiles, {SMALL}", small.rows),
        ratio_table(f"Cliques and tiles, {SMALL}", small.rows),
        score_table(f"Cliques and tiles, {LARGE}", large.rows),
        Table("Databases of mode I, first maps", columns, sizes),
    ]


def _tile_part(name: str, part: int, **settings: object) -> Part:
    agents = [one for number, _, mode, pair, cap in TILINGS if number == part for one in _tiled(mode, pair, cap)]
    fixed = dc.SPARSE if part == 0 else ()
    return Part(entrants=(*fixed, *agents), name=name, max_moves=dc.MAX_MOVES, **settings)  # type: ignore[arg-type]


TILES = Experiment(
    id="dc-tiles",
    title="Pattern databases over tiles and over cliques",
    paper=f"{dc.PAPER}, Pattern Database Approach",
    parts=(
        _tile_part(SMALL, 0, grounds=dc.MAPS, problems={"smoke": 4, "record": 100, "full": 100}, optimal=dc.RANGE),
        _tile_part(LARGE, 1, grounds=tb.MAPS, problems=dc.PROBLEMS, optimal=tb.RANGE),
    ),
    seed=dc.SEED,
    claims=tuple(_tile_claims()),
    tables=_tile_tables,
    notes=(
        "Maps and problems are those of DC-F5 and of DC-F8. The paper names tiles and uses cliques.",
        "Tiles of level l are the connected parts of squares of 2**l cells. Cliques are of the level whose number of"
        " regions, summed over the three maps, is nearest.",
        "alike: within a quarter for suboptimality, a factor of 1.5 for work. The bars are ours.",
    ),
)


# --- DC-STORED ---

STORED = "training.experiments.dc.stored.Stored"
LEVELS = range(6)
LEVEL = 4  # that of most claims


def _stored(what: str, level: int) -> Entrant:
    """Return what goes by stored actions, stored values, the same with learning, or stored depths."""
    if what == DEPTHS:
        return dc.d_lrta("G", level, CAP)
    return entrant(f"{STORED}{'Actions' if what == ACTIONS else 'Values'}", level=level, **LEARN.get(what, {}))


ACTIONS, VALUES, LEARNING, DEPTHS = "actions", "values", "values, learning", "depths"
LEARN = {LEARNING: {"learn": True}}
WHAT = (ACTIONS, VALUES, LEARNING, DEPTHS)


@dataclass(frozen=True)
class Arrived(Numbers):
    """Whether an agent reached the goal: 1 for every problem in which it did, else 0."""

    agent: Entrant

    def values(self, parts: Parts) -> Floats:
        """Return it for every run."""
        (batch,) = (one for one in parts[0].rows.batches if one.entry == self.agent.entry)
        return batch.solved.astype(float)

    def strata(self, parts: Parts) -> Strata:
        """Return the map of every run."""
        return parts[0].strata


def _stored_claims() -> Iterator[Claim]:
    for what in (ACTIONS, VALUES):
        text = f"stored {what} without abstraction: suboptimality"
        yield Claim(text, "1", Mean(Column(_stored(what, 0), "suboptimality")), low=1, high=1, check=True)
        for level in LEVELS[1:]:
            text = f"stored {what}, level {level}: share of problems in which the goal is reached"
            share = Mean(Arrived(_stored(what, level)))
            yield Claim(text, "not guaranteed", share, high=0.99, headline=level == LEVEL)
    for level in LEVELS[1:]:
        text = f"stored depths, level {level}: share of problems in which the goal is reached"
        share = Mean(Arrived(_stored(DEPTHS, level)))
        yield Claim(text, "safe at any level", share, low=1, headline=level == LEVEL)
    for level in LEVELS[1:]:
        text = f"stored values with learning, level {level}: suboptimality over that of LRTA* with depth 1"
        ratio = _over(_stored(LEARNING, level), entrant("lrta", depth=1))
        yield Claim(text, "not tested; below 1 expected", ratio, high=1)


def _stored_tables(evidence: Evidence) -> list[Table]:
    columns = ["\nlevel", *(cell for what in WHAT for cell in (f"\n{what}", "95 %\ninterval"))]
    lines = []
    for level in LEVELS:
        shares = [Mean(Arrived(_stored(what, level))).estimate([evidence]) for what in WHAT]
        lines.append([str(level), *(cell for share in shares for cell in with_interval(share))])
    title = "Share of problems in which the goal is reached, by what is stored"
    return [Table(title, columns, lines), score_table("All agents", evidence.rows)]


STORED_INSTEAD = Experiment(
    id="dc-stored",
    title="Storing actions or values instead of depths",
    paper=f"{dc.PAPER}, Figure 2",
    parts=(
        Part(
            grounds=dc.MAPS,
            problems={"smoke": 1, "record": 30, "full": 100},
            entrants=(entrant("lrta", depth=1), *(_stored(what, level) for what in WHAT for level in LEVELS)),
            optimal=dc.RANGE,
            max_moves=10_000,
        ),
    ),
    seed=dc.SEED,
    claims=tuple(_stored_claims()),
    tables=_stored_tables,
    notes=(
        "Maps and problems are those of DC-F5. What is stored for a region is that of its representative, towards the"
        " representative of the goal's region; in that region all go by the heuristic.",
        "The paper argues and does not measure. That less than 99 of 100 problems are solved is our bar for its words;"
        " a run is given up after 10,000 moves, a hundred times a shortest path.",
        "Power: 90 problems tell any share from 0.99 that is below 0.94.",
        "Values that are learned are ours: LRTA* of depth 1 that begins with the stored values instead of the"
        " heuristic.",
    ),
)

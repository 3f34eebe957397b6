"""DC-F7, the pattern databases on maps of 512 x 512, and DC-T1 and DC-T2: what they take and what they bring there.

The bars were set before the first full run. Sizes and times come from the databases themselves, which are built anew.

DC-TILES: the paper uses cliques and names rectangular tiles as an alternative. The bars were set before the first run
of every size.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import inf, log
from pathlib import Path
from tempfile import TemporaryDirectory
from time import thread_time

import numpy as np

from agents.knowledge import pdb
from rt_gym import Grid
from rt_gym.abstraction import abstract
from training.experiments import dc, tb
from training.experiments.evidence import Evidence, mean
from training.experiments.frame import Bar, Claim, Entrant, Experiment, Part, entrant, near, near_cost
from training.experiments.quantities import (
    METERS,
    Column,
    Counted,
    CurveRatio,
    Mean,
    Numbers,
    OnMap,
    Quantity,
    Ratio,
    Trend,
    work_ratio,
)
from training.judge import Estimate
from training.judge.tables import Table, curve_ratio_table, digits, score_table

CAP = 30
LEVELS = range(3, 8)


def _d_lrta(mode: str, level: int) -> Entrant:
    return dc.d_lrta(mode, level, CAP)


def _columns(name: str) -> tuple[Numbers, ...]:
    return tuple(Column(_d_lrta("I", level), name) for level in LEVELS)


@dataclass(frozen=True)
class Built:
    """A database that was built to see what it takes.

    Attributes:
        regions: how many; entries: how many pairs of them there are.
        seconds: of one core, the abstraction included.
        bytes: of its file.
        capped: the share of entries whose depth is the cap.
    """

    regions: int
    entries: int
    seconds: float = 0.0
    bytes: int = 0
    capped: float = 0.0


@cache
def build(grid: Grid, level: int, mode: str | None, cap: int) -> Built:
    """Build the database of a map; without a mode its regions only."""
    began = thread_time()
    regions = abstract(grid, "clique", level)
    count = regions.regions
    if mode is None:
        return Built(count, count**2)
    database = pdb.build_columns(grid, regions, mode, cap, range(count))
    seconds = thread_time() - began
    with TemporaryDirectory() as folder:
        database.save(path := Path(folder, "all.npz"))
        size = path.stat().st_size
    return Built(count, count**2, seconds, size, _capped(database))


def _capped(database: pdb.Database) -> float:
    """Return how many of all pairs of different regions have the cap as depth."""
    depths = np.array([database.entries(goal)[1] for goal in database.goals.tolist()])
    apart = ~np.eye(len(depths), dtype=bool)
    return float((depths[apart] == database.cap).mean()) if apart.any() else 0.0


def _first(evidence: Evidence) -> Grid:
    return next(iter(evidence.grids.values()))


def _regions(level: int, evidence: Evidence) -> float:
    return build(_first(evidence), level, None, CAP).regions / dc.REGIONS[level]


def _exponent(name: str, evidence: Evidence) -> float:
    """Return the exponent of the power law by which a number of the databases of mode I grows with their regions."""
    built = [build(_first(evidence), level, "I", CAP) for level in LEVELS]
    return _slope([one.regions for one in built], [getattr(one, name) for one in built])


def _slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the exponent of the power law through the points, by least squares on logarithms."""
    return float(np.polyfit([log(value) for value in x], [log(value) for value in y], 1)[0])


def _share_at_cap(mode: str, evidence: Evidence) -> float:
    return build(_first(evidence), 5, mode, CAP).capped


def _work_on_first(level: int, meter: str) -> Quantity:
    """Return expansions per move of mode I on the first map."""
    agent = _d_lrta("I", level)
    if meter == "mean":
        return Mean(OnMap(Column(agent, "expansions_per_move")))
    return Ratio(OnMap(Column(agent, "expansions")), OnMap(Column(agent, "moves")))


CLAIMS = (
    *(
        Claim(
            f"G at level 4 still beats fixed depths: {dc.RATIO}, {meter}",
            "above 1",
            CurveRatio(_d_lrta("G", 4), meter),
            low=1,
            headline=True,
        )
        for meter in METERS
    ),
    *(
        Claim(
            f"I at level 6: {dc.RATIO}, {meter}",
            "about 10",
            CurveRatio(_d_lrta("I", 6), meter),
            **near(10),
            headline=True,
            direction=(1, inf),
        )
        for meter in METERS
    ),
    *(
        Claim(
            f"regions of the first map at level {level}, over the paper's",
            f"{count:,}",
            Counted(partial(_regions, level)),
            low=0.7,
            high=1.3,
        )
        for level, count in dc.REGIONS.items()
    ),
    Claim(
        "entries grow with the square of the regions: exponent, levels 3 to 7",
        "2",
        Counted(partial(_exponent, "entries")),
        low=1.7,
        high=2.3,
        check=True,
    ),
    Claim(
        "the time to build grows with the regions: exponent, levels 3 to 7",
        "1",
        Counted(partial(_exponent, "seconds")),
        low=0.85,
        high=1.15,
        headline=True,
        direction=(0, inf),
    ),
    Claim(
        "the share of entries at the cap, mode G, level 5",
        "about 0.1",
        Counted(partial(_share_at_cap, "G")),
        low=0.03,
        high=0.2,
    ),
    Claim("the share of entries at the cap, mode I, level 5", "0", Counted(partial(_share_at_cap, "I")), high=0.005),
    *(
        Claim(
            f"{text} with the level: rank correlation",
            "1",
            Trend(_columns(name)),
            low=0.9,
            headline=True,
            direction=(0, 1),
        )
        for text, name in (
            ("suboptimality of I rises", "suboptimality"),
            ("expansions of I rise", "expansions_per_move"),
        )
    ),
    *(
        Claim(
            f"Table 2, first map: suboptimality of I at level {level}",
            str(quality),
            Mean(OnMap(Column(_d_lrta("I", level), "suboptimality"))),
            **near_cost(quality),
            direction=(1, near_cost(quality)["high"]),  # no worse than printed
        )
        for level, (quality, _) in dc.FOUND.items()
    ),
    *(
        Claim(
            f"Table 2, first map: expansions per move of I at level {level}, {meter}",
            str(work),
            _work_on_first(level, meter),
            **near(work),
            direction=(0, near(work)["high"]),  # no more than printed
        )
        for level, (_, work) in dc.FOUND.items()
        for meter in METERS
    ),
    Claim(
        "planning takes under a millisecond per move at level 5, where the paper has 111 expansions: milliseconds",
        "under 1",
        Ratio(Column(_d_lrta("I", 5), "planning_seconds") * 1000, Column(_d_lrta("I", 5), "moves")),
        high=1,
    ),
)

SIZES = "Mode I on the first map"


def _tables(evidence: Evidence) -> list[Table]:
    runs = [make("All settings", evidence.rows) for make in (score_table, curve_ratio_table)]
    columns = ["\nlevel", "\nregions", "paper's\nregions", "\nentries", "build\nseconds", "file\nMB", "subopt.\nof I"]
    columns += ["\npaper", "exp.\nof I", "\npaper"]
    return [*runs, Table(SIZES, columns, [_line(evidence, level) for level in LEVELS])]


def _line(evidence: Evidence, level: int) -> list[str]:
    one = build(_first(evidence), level, "I", CAP)
    sizes = [f"{one.regions:,}", f"{dc.REGIONS[level]:,}", f"{one.entries:,}"]
    names = ("suboptimality", "expansions_per_move")
    columns = (OnMap(Column(_d_lrta("I", level), name)) for name in names)
    found = [_digits(mean(column.values([evidence]))) for column in columns]
    printed = map(str, dc.FOUND[level])
    both = [cell for pair in zip(found, printed, strict=True) for cell in pair]
    return [str(level), *sizes, digits(one.seconds), digits(one.bytes / 1e6), *both]


def _digits(estimate: Estimate | None) -> str:
    return "-" if estimate is None else digits(estimate.value)


F7 = Experiment(
    id="dc-f7",
    title="Pattern databases on large maps: what they take, and what they bring",
    paper=f"{dc.PAPER}, Figure 7 and Tables 1 and 2",
    parts=(
        Part(
            grounds=tb.MAPS,
            problems=dc.PROBLEMS,
            entrants=(
                *dc.SPARSE_TO_30,
                *(_d_lrta("G", level) for level in LEVELS[1:]),
                *(_d_lrta("I", level) for level in LEVELS),
                *(dc.as_printed("I", level, CAP) for level in LEVELS[:3]),
            ),
            optimal=tb.RANGE,
            max_moves=dc.MAX_MOVES,
        ),
    ),
    seed=dc.SEED,
    claims=CLAIMS,
    tables=_tables,
    notes=(
        "Maps and the range of optimal costs are those of the TB experiments. Sizes are claimed of the first map,"
        " wc3maps512/battleground, whose 92,268 cells are nearest to the paper's 105,000 or so.",
        "Of the public maps at hand orz900d alone has 95,000 to 115,000 cells; there levels 3 to 7 have 1.4 to 1.6"
        " times the paper's regions. The order in which the abstraction reads neighbours was revised, after HOG's, when"
        " a first reading had given a third more regions.",
        "Build seconds are processor time of one core. The paper's 19, 5 and 2 hours for levels 3, 4 and 5 are of"
        " another machine; and it computes every pair by itself, where here a depth towards a neighbour is found once.",
        dc.READINGS_NOTE,
    ),
    changes=(
        "100 instead of 25 problems on each map: several intervals contained their bars. With 25, I at level 6 was"
        " undecided, and the time to build held.",
        "Table 2 is of one map, and so are its claims now, with a band around every printed number of levels 3 to 7;"
        " before, three suboptimalities were claimed of all maps, one-sidedly. Bands around ten, both averages in every"
        " claim about work, and that entries grow with the square of the regions is a check.",
        "Another reading of subgoals, with the old one beside it at levels 3 to 5.",
    ),
)


SMALL, LARGE = "171 x 171", "512 x 512"
SMALL_CAP, LARGE_CAP = 20, dc.CAP
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
    *((0, SMALL, mode, pair, SMALL_CAP) for mode in ("G", "I") for pair in SMALL_PAIRS),
    *((1, LARGE, "I", pair, LARGE_CAP) for pair in LARGE_PAIRS),
)


def _tile_claims() -> Iterator[Claim]:
    for part, name, mode, pair, cap in TILINGS:
        agents = _tiled(mode, pair, cap)
        text = f"{name}, mode {mode}: tiles of level {pair[1]} over cliques of level {pair[0]}"
        ratio = Ratio(*(Column(agent, "suboptimality", part) for agent in agents))
        yield Claim(f"{text}: suboptimality", "alike", ratio, **SIMILAR, headline=mode == "I")
        for meter in METERS:
            work = work_ratio(*agents, meter, part)
            yield Claim(f"{text}: expansions per move, {meter}", "alike", work, **near(1))
    for part, (name, pairs, cap) in enumerate(((SMALL, SMALL_PAIRS, SMALL_CAP), (LARGE, LARGE_PAIRS, LARGE_CAP))):
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
    built = (SMALL_PAIRS, SMALL_CAP), (LARGE_PAIRS[-1:], LARGE_CAP)  # the others would take long
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
        curve_ratio_table(f"Cliques and tiles, {SMALL}", small.rows),
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

"""SG-F2: A* and LRTA* with a lookahead of one. Other agents are further entrants.

The bars were set before the first full run.
"""

from training.compare import Allowance
from training.compare.stats import Floats
from training.compare.table import Table
from training.experiments.evidence import Evidence, exactly, mean, ratio, score_table, with_interval
from training.experiments.frame import Claim, Experiment, Part
from training.experiments.grounds import Ground

SIDE = 171
ASTAR, LRTA = "astar", "lrta depth=1"
# agent -> cost, microseconds of the first search, microseconds in total, as printed
PRINTED = {ASTAR: (198, 3101, 3101), LRTA: (39_232, 1, 34_446)}
# agent -> which search of a run is its first: A* makes one, and those of LRTA* are all of the same size
FIRST_SEARCH = {ASTAR: "max", LRTA: "p50"}

# What was changed after the first full run, and why.
CHANGES: tuple[str, ...] = ()


def _claims(evidence: Evidence) -> list[Claim]:
    return [
        Claim(
            "LRTA* costs many times what A* costs: mean cost over mean cost",
            "198 = 39,232 / 198",
            ratio(evidence.numbers(LRTA, "cost"), evidence.numbers(ASTAR, "cost")),
            low=50,
        ),
        Claim(
            "the first search of LRTA* is many times shorter: A*'s mean time over LRTA*'s",
            "3101 = 3.101 / 0.001",
            ratio(_first_search(evidence, ASTAR), _first_search(evidence, LRTA)),
            low=100,
        ),
        Claim(
            "LRTA* takes longer in total: its mean time over A*'s",
            "11.1 = 34.446 / 3.101",
            ratio(evidence.numbers(LRTA, "seconds"), evidence.numbers(ASTAR, "seconds")),
            low=1,
        ),
        Claim(
            "LRTA* expands one state per move: the most of any move",
            "1",
            exactly(float(evidence.numbers(LRTA, "max_expansions").max())),
            low=1,
            high=1,
        ),
    ]


def _first_search(evidence: Evidence, label: str) -> Floats:
    return evidence.numbers(label, FIRST_SEARCH[label])


def _tables(evidence: Evidence) -> list[Table]:
    columns = ["agent", "cost", "95 % interval", "paper", "first search", "95 % interval", "paper"]
    columns += ["total", "95 % interval", "paper"]
    lines = [_line(evidence, label) for label in PRINTED]
    title = "Means over problems, times in µs"
    return [Table(title, columns, lines), score_table("All measures", evidence.rows)]


def _line(evidence: Evidence, label: str) -> list[str]:
    times = _first_search(evidence, label), evidence.numbers(label, "seconds")
    ours = evidence.numbers(label, "cost"), *(1e6 * seconds for seconds in times)
    pairs = zip(ours, PRINTED[label], strict=True)
    return [label, *(cell for column, printed in pairs for cell in (*with_interval(mean(column)), f"{printed:,}"))]


EXPERIMENT = Experiment(
    id="sg-f2",
    title="A* and LRTA*: cost, first search and total time",
    paper="Hernández, Baier, Fast Subgoaling for Pathfinding via Real-Time Search, ICAPS 2011, Figure 2",
    parts=(
        Part(
            grounds=(
                Ground("bg/AR0411SR", 232, 272),
                Ground("bg/AR0701SR", 204, 235),
                Ground("wc3maps512/battleground", SIDE, SIDE, scaled=True),
                Ground("wc3maps512/blastedlands", SIDE, SIDE, scaled=True),
                Ground("dao/lak304d", 193, 194),
                Ground("dao/ost003d", 194, 194),
                Ground("dao/den520d", 256, 257),
                Ground("dao/brc202d", 530, 481),
            ),
            problems={"smoke": 10, "record": 500, "full": 500},
            entrants=(("astar", Allowance.of(None)), ("lrta:depth=1", Allowance.of(None))),
        ),
    ),
    seed=2011,
    claims=_claims,
    tables=_tables,
    notes=(
        "The paper's eight maps are not named: two of Baldur's Gate, two of Warcraft, four of Dragon Age: Origins, with"
        " 17,789 free cells on average. Ours have 19,700 and were chosen by that number: with the arena in place of"
        " brc202d, and the two largest Warcraft maps at hand, it would be 15,700. The two of Baldur's Gate are at"
        f" original scale, the two of Warcraft III are scaled from 512 x 512 to {SIDE} x {SIDE} by nearest neighbour.",
        "Start and goal are drawn at random, the goal from the cells that can be reached.",
        "Times are of one core of the machine that ran this; only their ratios are compared. The total is planning and"
        " walking; filling LRTA*'s table with the heuristic before the first move is not part of it. The first search"
        " of A* is its longest move, that of LRTA* the median of its searches.",
    ),
    changes=CHANGES,
)

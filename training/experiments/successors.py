"""EX-SUCCESSORS: does each successor of an agent beat the agent that it came from, where its paper says so?

Most of these papers are about unknown terrain seen one cell far; HCDPS is about maps that are known. What is compared
is what they promise: the cost of the first solution, or the time of planning. The bars were set before the first run;
those papers that we know by their abstracts give factors without the settings, so the bar is "better" everywhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from training.experiments import dc
from training.experiments.evidence import Evidence, score_table, with_interval
from training.experiments.frame import Claim, Entrant, Experiment, Ground, Part, Split, entrant
from training.experiments.quantities import Column, Ratio
from training.judge.tables import Table

PLACES: dict[str, tuple[Ground | Split, ...]] = {"mixed-test": (Split("mixed-test"),), "game maps": dc.GAMES}
PROBLEMS = {
    "mixed-test": {"smoke": 4, "record": 128, "full": 256},
    "game maps": {"smoke": 1, "record": 20, "full": 100},
}
KNOWN, FOG = "known map", "vision 1"
VISIONS = {KNOWN: None, FOG: 1}
SMALL, LARGE = 8, 64  # lookaheads
CAP = 1_000_000


@dataclass(frozen=True)
class Pair:
    """A successor and its base.

    Attributes:
        successor, base: the agents.
        paper: what is said of them.
        column: what of a run is compared.
        known: where, a key of ``VISIONS``.
    """

    successor: Entrant
    base: Entrant
    paper: str
    column: str = "cost"
    known: str = field(default=FOG, kw_only=True)

    def ratio(self, part: int) -> Ratio:
        """Return the mean of the successor over that of its base."""
        return Ratio(Column(self.successor, self.column, part), Column(self.base, self.column, part))

    @property
    def text(self) -> str:
        """What a row is called."""
        what = {"cost": "cost", "planning_seconds": "planning time"}[self.column]
        return f"{what} of {self.successor.entry.label} over that of {self.base.entry.label}"


def _lookaheads() -> Iterator[Pair]:
    for lookahead in (SMALL, LARGE):
        lss, rtaa = entrant("lss-lrta", lookahead=lookahead), entrant("rtaa", lookahead=lookahead)
        for name, base in (("a-lss-lrta", lss), ("da-lss-lrta", lss), ("a-rtaa", rtaa), ("da-rtaa", rtaa)):
            yield Pair(entrant(name, lookahead=lookahead), base, "up to an order of magnitude cheaper")
        for weight in (2, 4):
            heavier = entrant("w-lss-lrta", lookahead=lookahead, weight=weight)
            yield Pair(heavier, lss, "up to ten times cheaper with small lookahead")


PAIRS = (
    *_lookaheads(),
    *(
        Pair(entrant("w-lrta-ls-k", k=40, weight=weight), entrant("lrta-ls-k", k=40), "best with weights up to 4")
        for weight in (2, 4)
    ),
    *(
        Pair(entrant("frit", search=search, lookahead=lookahead), entrant(search, lookahead=lookahead), paper)
        for search, paper in (("rtaa", "up to an order of magnitude cheaper"), ("da-rtaa", "about half"))
        for lookahead in (SMALL, LARGE)
    ),
    *(Pair(entrant("tbaa", R=R), entrant("tba", R=R), "fewer moves in unknown terrain") for R in (10, 100)),
    Pair(entrant("mpgaa"), entrant("dstar-lite"), "faster but for mazes", "planning_seconds"),
    *(
        Pair(entrant("hcdps"), entrant(base), "nearer to the optimum than earlier ones", known=KNOWN)
        for base in ("knn-lrta", "pdb-lrta")
    ),
)


def _part(place: str, known: str) -> Part:
    pairs = [pair for pair in PAIRS if pair.known == known]
    return Part(
        name=f"{place}, {known}",
        grounds=PLACES[place],
        problems=PROBLEMS[place],
        entrants=tuple(dict.fromkeys(agent for pair in pairs for agent in (pair.base, pair.successor))),
        vision=VISIONS[known],
        max_moves=CAP,
    )


WHERE = tuple((place, known) for known in (FOG, KNOWN) for place in PLACES)
PARTS = tuple(_part(place, known) for place, known in WHERE)


def _pairs_of(number: int) -> list[Pair]:
    return [pair for pair in PAIRS if pair.known == WHERE[number][1]]


CLAIMS = tuple(
    Claim(f"{part.name}: {pair.text}", pair.paper, pair.ratio(number), high=1.0, headline=True)
    for number, part in enumerate(PARTS)
    for pair in _pairs_of(number)
)


def _tables(*evidence: Evidence) -> list[Table]:
    columns = ["\nthe mean of a successor over that of its base", *(cell for place in PLACES for cell in _head(place))]
    lines = []
    for known in VISIONS:
        numbers = [number for number, where in enumerate(WHERE) if where[1] == known]
        for pair in _pairs_of(numbers[0]):
            cells = [with_interval(pair.ratio(0).estimate([evidence[number]])) for number in numbers]
            lines.append([f"{known}: {pair.text}", *(cell for two in cells for cell in two)])
    ratios = Table("Successors over their bases", columns, lines)
    return [ratios, *(score_table(part.name, found.rows) for part, found in zip(PARTS, evidence, strict=True))]


def _head(place: str) -> tuple[str, str]:
    return f"{place}\nratio", "95 %\ninterval"


EXPERIMENT = Experiment(
    id="ex-successors",
    title="Successors of the papers' agents beside the agents that they came from",
    paper="The papers of the successors, which their agents cite",
    parts=PARTS,
    seed=2026,
    claims=CLAIMS,
    tables=_tables,
    by_map=False,
    notes=(
        "mixed-test has terrain, caves, rooms and mazes, 128 x 128; nothing was tuned on it or on the game maps.",
        "A ratio below 1 is a gain. Means of costs are led by the hardest problems, as in the papers.",
        "Most of these agents are built after outlines of their papers; their settings there are not known to us.",
    ),
)

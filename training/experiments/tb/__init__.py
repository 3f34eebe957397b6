"""TB: Y. Björnsson, V. Bulitko, N. Sturtevant, "TBA*: Time-Bounded A*", IJCAI 2009. Its maps, problems and figures."""

from training.experiments.frame import Entrant, Ground, entrant

PAPER = "Björnsson, Bulitko, Sturtevant, TBA*: Time-Bounded A*, IJCAI 2009"
MAPS = tuple(Ground(f"wc3maps512/{name}", 512, 512) for name in ("battleground", "blastedlands", "plunderisle"))
PROBLEMS = {"smoke": 5, "record": 100, "full": 100}
RANGE = (230, 320)
SEED = 2009
MAPS_NOTE = "The paper's three maps are not named; these are three Warcraft III maps of the public 512 x 512 set."
OUTLINE_NOTE = "{} is built after what this paper says of it, not after its own: its rows carry a dagger."

RS = (10, 25, 50, 75, 100, 200, 500, 1000)  # units of computation for a move, in Table 1
# The suboptimality of acting early and late, as Table 1 prints it, one for each R.
EARLY = dict(zip(RS, (3.83, 2.10, 1.49, 1.31, 1.21, 1.09, 1.03, 1.01), strict=True))
LATE = dict(zip(RS, (4.21, 2.32, 1.64, 1.43, 1.30, 1.15, 1.06, 1.02), strict=True))
ROUNDING = 0.005  # of a printed figure
EXPANSIONS = 6300  # of A*: 700 slices of 9 at R = 10
OPTIMAL = 275  # the middle of 230 to 320
TO_AND_FRO = 1.2  # the mean of a straight and a diagonal step

UNITS = (10, 25, 50, 75, 100, 500, 1000)  # the R of Figures 3 and 4
CUT_OFF = 1000  # expansions; a setting whose worst move exceeds it has no place in these figures
QUEUES = (10, 20, 30, 40, 100, 250)  # of P LRTA*
LOOKAHEADS = (10, 20, 30, 40, 100, 250, 500, 1000)  # of K LRTA*

HALF = 0.5  # of LRTA*'s work, which P LRTA* and K LRTA* need for solutions as good
LESS = 0.01  # TBA*'s work over LRTA*'s for solutions as good
SOONER = 20  # LRTA*'s actions over TBA*'s for as much work
MAGNITUDE = 0.1  # of others' work: TBA* is more than an order of magnitude better
GAIN = 0.02  # by which a threshold shortens paths at small R
SHARE = 0.05  # of problems in which the agent is off the solution when it is found
SLICES = {10: 700, 100: 70, 1000: 7}  # until then, by R


def slice_of(R: int) -> int:
    """Return how many of the R units of a move go to expansions: the share 0.9, as in the paper."""
    return 9 * R // 10


def tba(R: int, **options: bool | float) -> Entrant:
    """Return TBA* with R units."""
    return entrant("tba", R=R, **options)


def late(R: int) -> Entrant:
    """Return late-acting A* with R units."""
    return entrant("late-astar", R=R)

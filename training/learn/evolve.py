"""Evolves small networks that control the lookahead, by what whole episodes cost: CMA-ES on the ratio to fixed depths.

N. Hansen, A. Ostermeier, "Completely Derandomized Self-Adaptation in Evolution Strategies", Evolutionary Computation
9(2), 2001, as in the package ``cma``. The pay-off of a deep search may lie hundreds of moves ahead, so nothing smaller
than a whole episode is judged.

Candidates are judged by the merit of ``training.learn.merit``. All of a generation meet the same problems; one with a
cut run is void. Both ratios depend on a few hard problems, to which a network soon overfits: where there are several
shares of problems, each generation gets the next one.

The first generation is spread around a network that imitates a rule. A network has one layer of a few hidden units and
a number y behind it. To deepen or to act is a matter of its sign. A depth is the one whose logarithm is nearest to y,
which is the largest of the outputs 2 y log d - (log d)^2: a network like any other. Where the goal is chosen, too,
there is a second number z: its sign says whether to head for the subgoal.

Networks for depth and goal are judged by suboptimality and expansions per move, on many more problems than are given: a
few that the subgoals lead astray decide the mean. The rule is that of ``Encoding.start``, and is judged with them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from math import exp, inf, log
from pathlib import Path
from typing import Any

import cma
import numpy as np

from agents.policies.networks import BOTH, DECISIONS, KNOWN, Network
from rt_gym import InputError, World
from rt_gym.archive import Shapes, load_archive, save_archive
from rt_gym.errors import quoted, whole
from rt_gym.features.dealing import DEALT
from rt_gym.squad.envs.dealer import SquadSettings
from rt_gym.squad.policy import DealerPolicy
from training.judge.stats import Floats
from training.judge.think import DEALERS, by_rule, dealt_times
from training.learn import OnProgress, TrainingSetup, extended, hardest, problems_of, split_problems
from training.learn.merit import DepthCurve, LogRatios, Walks, follower, measure_curve, merit, rate_networks
from training.runs import Course, Workers
from training.runs.execution import say_damaged
from training.runs.jobs import source_stamp

REGIONS: dict[str, Any] = {"level": 4, "abstraction": "clique"}  # whose subgoals networks for depth and goal learn
# The rule for depth and goal: its depths; how many steps without a return it takes to trust subgoals again, after AT
# moves, and the power of the moves by which they grow.
SHALLOW, DEEP = 3, 12
QUIET, AT, GROWTH = 5, 200, 0.2
STEEP = 4.0  # how much farther the weights of its steep units are spread than the numbers behind them
EVOLVED = (*DECISIONS, BOTH)
# What evolved networks go by for depth and goal: the fewer numbers there are to guess, the fewer generations it takes.
TELLING = (
    "goal_distance", "revisits", "updates", "surplus", "blocked_ahead", "since_update", "since_return", "wasted",
    "moves", "subgoal_distance",
)  # fmt: skip
_EVERY, _STATES = 4, 100  # of which problems, and how many states of each, inputs are standardised by


@dataclass(frozen=True)
class Encoding:
    """How a vector of numbers becomes a network.

    Attributes:
        decide, hidden: see ``training.learn.evolve.EvolutionConfig``.
        d_max, history: see ``Network``.
        mean, scale: what inputs are standardised by.
    """

    decide: str
    hidden: int
    d_max: int
    history: int
    mean: Any = 0.0
    scale: Any = 1.0

    @property
    def features(self) -> tuple[str, ...]:
        """All features that such a network can know."""
        return KNOWN[self.decide]

    @property
    def telling(self) -> list[int]:
        """Which of them have weights in a vector; those of the others are 0."""
        return [k for k, name in enumerate(self.features) if self.decide != BOTH or name in TELLING]

    def network(self, vector: Floats, about: dict[str, Any] | None = None) -> Network:
        """Return the network of a vector: weights and bias of the hidden layer, then those of y, and of z."""
        inputs, hidden, told = len(self.features), self.hidden, len(self.telling)
        own, bias, last = np.split(vector, [told * hidden, (told + 1) * hidden])
        weights = np.zeros((inputs, hidden))
        weights[self.telling] = own.reshape(told, hidden)
        depths = () if self.decide == "deepen" else tuple(range(1, self.d_max + 1))
        logs = np.log(depths)
        slope, offset = (2 * logs, -(logs**2)) if depths else (np.array([1.0, 0.0]), np.zeros(2))
        numbers = last.reshape(-1, hidden + 1)  # of y, and of z
        goals = 2 * (len(numbers) - 1)
        slopes, offset = np.zeros((len(numbers), len(slope) + goals)), np.pad(offset, (0, goals))
        slopes[0, : len(slope)], slopes[1:, -1] = slope, 1.0
        return Network(
            decide=self.decide,
            features=self.features,
            layers=(
                (weights, bias),
                (numbers[:, :-1].T @ slopes, numbers[:, -1] @ slopes + offset),
            ),
            d_max=self.d_max,
            depths=depths,
            history=self.history,
            mean=np.broadcast_to(self.mean, inputs),
            scale=np.broadcast_to(self.scale, inputs),
            about=about or {},
            **(REGIONS if self.decide == BOTH else {}),
        )

    def start(self) -> Floats:
        """Return a vector that imitates a rule.

        To deepen it is ``settle`` of ``rule-lrta``, for the depth ``update``. For depth and goal: head for subgoals,
        with little depth, until a state is entered again. Then they lead astray, so head for the goal, with much depth,
        for QUIET steps; for more after many moves, or two regions could send the agent back and forth for good.
        """
        weights, bias, last = (
            np.zeros((len(self.features), self.hidden)),
            np.zeros(self.hidden),
            np.zeros((self.hidden + 1) * (2 if self.decide == BOTH else 1)),
        )
        if self.decide == "deepen":
            # Act if the layers so far raise nothing, or if the move has not changed for four of them.
            weights[self.features.index("layer_rise"), 0], bias[0] = -12.0, 2.0
            weights[self.features.index("steady"), 1], bias[1] = 4.0, -6.0
            last[[0, 1, -1]] = 1.0, 1.0, 0.9
        elif self.decide == BOTH:
            weights[self.features.index("since_return"), 0] = 8.0
            weights[self.features.index("moves"), 0] = -8.0 * GROWTH
            bias[0] = 8.0 * (GROWTH * log(AT + 1) - log(QUIET + 0.5))
            weights[self.features.index("revisits"), 1], bias[1] = -8.0, 2.0
            low, high = log(min(SHALLOW, self.d_max)), log(min(DEEP, self.d_max))
            y, z = last.reshape(2, -1)  # either unit sees quiet: to the subgoal; both: at the smallest depth
            y[[0, 1, -1]], z[[0, 1, -1]] = (low - high) / 4, 1.0
            y[-1] = (high + low) / 2
        else:
            # Ten after a move that raised a value, else two.
            weights[self.features.index("since_update"), 0], bias[0] = -8.0, 2.0
            low, high = log(2), log(min(10, self.d_max))
            last[[0, -1]] = (high - low) / 2, (high + low) / 2
        bias += self.mean @ weights if np.ndim(self.mean) else 0.0
        return np.concatenate([(weights.T * self.scale).T[self.telling].ravel(), bias, last])

    @property
    def spread(self) -> Floats | None:
        """How far the numbers of a vector are to be spread beside each other; None for all alike."""
        if self.decide != BOTH:
            return None
        first = (len(self.telling) + 1) * self.hidden
        return np.where(np.arange(self.start().size) < first, STEEP, 1.0)

    def standardised(self, courses: tuple[Course, ...]) -> "Encoding":
        """Return an encoding whose inputs have mean 0 and scale 1 in the states that the rule visits on courses."""
        agent, rows = follower(self.network(self.start())), []
        for problem in problems_of(courses)[::_EVERY]:
            world = World(problem)
            agent.reset(world.view)
            for _ in range(_STATES):
                if world.done:
                    break
                action = agent.act()
                memory = agent.memory.chooser if self.decide == BOTH else agent.memory
                rows.append(memory.seen[: len(self.features)].astype(np.float64))
                world.step(action)
        spread = np.std(rows, axis=0)
        return replace(self, mean=np.mean(rows, axis=0), scale=np.where(spread > 1e-3, spread, 1.0))


KIND, VERSION = "evolution", 1
LAYOUT = {
    "candidates": (np.float64, 3),
    "losses": (np.float64, 2),
    "centres": (np.float64, 2),
    "merits": (np.float64, 2),
}
VOID = 1e3  # the loss of a candidate with a cut run
_MOST = 10_000  # generations, and anything else that is counted
_LEAST = {"hidden": 2, "generations": 1, "population": 4, "check": 1, "patience": 1, "problems": 1, "shares": 1}


@dataclass(frozen=True)
class EvolutionConfig:
    """How to evolve.

    Attributes:
        decide: ``"deepen"``, ``"depth"`` or ``"depth and goal"``.
        hidden: units of the hidden layer.
        generations: how many at most.
        population: candidates of each.
        sigma: how far the first generation is spread.
        pooled: the weight of the pooled meter, from 0 to 1; the mean has the rest. For depth and goal the suboptimality
            has it.
        check: after how many generations their centre is judged on the validation maps.
        patience: after how many checks without a better one to stop.
        problems: how many problems there are, half of them those on which the heuristic misleads most; also of those
            on the validation maps. For depth and goal there are at least so many, most of them drawn anew.
        shares: into how many shares they are dealt; a generation walks one, and all in turn.
        diagonal: whether spreads are learned number by number, which takes fewer generations than all correlations.
        seed: for the candidates.
    """

    decide: str = "deepen"
    hidden: int = 2
    generations: int = 40
    population: int = 12
    sigma: float = 0.3
    pooled: float = 0.5
    check: int = 2
    patience: int = 6
    problems: int = 960
    shares: int = 4
    diagonal: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.decide not in EVOLVED:
            raise InputError(f"decide must be {', '.join(DECISIONS)} or {BOTH}, not {quoted(self.decide)}")
        for name, low in _LEAST.items():
            whole(name, getattr(self, name), low, _MOST)
        whole("seed", self.seed, 0)
        if not (0 < self.sigma < inf and 0 <= self.pooled <= 1):
            raise InputError(f"sigma must be above 0 and pooled from 0 to 1, not {self.sigma} and {self.pooled}")

    @property
    def first(self) -> int:
        """1 if the network that it begins with is judged like a centre: for depth and goal it is good already."""
        return int(self.decide == BOTH)

    def merit(self, logs: LogRatios) -> float:
        """Return what both ratios are worth together."""
        return merit(logs, self.pooled)

    def figures(self, logs: LogRatios) -> tuple[float, float]:
        """Return what the logarithms are of: ratios, or for depth and goal suboptimality and expansions per move."""
        sign = -1.0 if self.decide == BOTH else 1.0
        return float(np.exp(sign * logs[0])), float(np.exp(sign * logs[1]))


@dataclass
class History:
    """What has been tried so far, kept in a file after every generation.

    Attributes:
        path: the file.
        key: a hash of all that the evolution depends on; what another evolution has left is not gone on with.
        candidates, losses: of every generation.
        centres, merits: the centres that were judged on the validation maps, and the logarithms of their ratios.
    """

    path: Path
    key: str
    candidates: list[Floats] = field(default_factory=list)
    losses: list[Floats] = field(default_factory=list)
    centres: list[Floats] = field(default_factory=list)
    merits: list[LogRatios] = field(default_factory=list)

    @classmethod
    def of(cls, path: Path, key: str, shape: tuple[int, int]) -> "History":
        """Return what is on disk, or an empty history.

        Args:
            path: the file.
            key: that of this evolution; a file with another one counts for nothing.
            shape: how many candidates a generation has, and how many numbers each of them.
        """
        if not path.exists():
            return cls(path, key)
        try:
            if load_archive(path, KIND, VERSION, {})[0].get("key") != key:
                return cls(path, key)
            _, arrays = load_archive(path, KIND, VERSION, LAYOUT, lambda head, found: _check_shapes(found, shape))
            if not all(np.isfinite(arrays[name]).all() for name in ("candidates", "losses", "centres")):
                raise InputError("has a number that is not finite")
        except InputError:
            say_damaged(path, "the evolution is begun")
            return cls(path, key)
        merits = [(mean, pooled) for mean, pooled in arrays["merits"].tolist()]
        return cls(path, key, list(arrays["candidates"]), list(arrays["losses"]), list(arrays["centres"]), merits)

    def keep(self) -> None:
        """Write all of it."""
        arrays = {
            "candidates": np.array(self.candidates),
            "losses": np.array(self.losses),
            "centres": np.array(self.centres).reshape(-1, self.candidates[0].shape[1]),  # there may be none yet
            "merits": np.array(self.merits).reshape(-1, 2),
        }
        save_archive(self.path, KIND, VERSION, {"key": self.key}, arrays)


def _check_shapes(found: Shapes, shape: tuple[int, int]) -> None:
    """Refuse arrays of other generations than this evolution has."""
    population, numbers = shape
    generations, checks = found["losses"][0], found["merits"][0]
    wanted = (generations, population, numbers), (generations, population), (checks, numbers), (checks, 2)
    if tuple(found[name] for name in LAYOUT) != wanted or not checks - 1 <= generations <= _MOST:
        raise InputError("has arrays of other sizes than its generations")


def evolve(setup: TrainingSetup, config: EvolutionConfig, d_max: int, history: int, on_progress: OnProgress) -> Network:
    """Return the centre of a generation that is best on the validation maps.

    A run that was stopped goes on with the next generation.

    Args:
        setup: the maps, the workers, and where the history is kept.
        config: how to evolve.
        d_max: the largest depth.
        history: how many steps back the features reach.
        on_progress: called after every generation.

    Raises:
        InputError: if LRTA* of a fixed depth, or every centre, has a cut run.
    """
    setup.folder.mkdir(parents=True, exist_ok=True)
    curves, validation = _measures(setup, config, on_progress)
    encoding = Encoding(config.decide, config.hidden, d_max, history).standardised(curves[0].courses)
    shape = config.population, encoding.start().size
    tried = History.of(history_file(setup.folder, config), _key(setup, config, d_max, history), shape)
    if config.first and not tried.merits:
        tried.centres.append(encoding.start())
        tried.merits += rate_networks([encoding.network(encoding.start())], validation, setup.workers)
    for number, centre in enumerate(_centres(encoding, config, curves, setup.workers, tried), start=1):
        checks = number // config.check + config.first
        if checks > len(tried.merits):
            tried.centres.append(centre)
            tried.merits += rate_networks([encoding.network(centre)], validation, setup.workers)
        tried.keep()
        on_progress(1, _status(number, tried, config))
        if checks - _best(tried.merits[:checks], config) > config.patience:
            break
    best = _best(tried.merits, config)
    if not tried.merits or tried.merits[best][0] == -inf:
        limit = (
            f"within {validation.max_moves} moves" if config.decide == BOTH else "as fast as the slowest fixed depth"
        )
        raise InputError(f"no network reached every goal of the validation maps {limit}")
    return encoding.network(tried.centres[best], _about(setup, config, d_max, tried, best))


def _measures(
    setup: TrainingSetup, config: EvolutionConfig, on_progress: OnProgress
) -> tuple[list[DepthCurve | Walks], DepthCurve | Walks]:
    """Return what candidates are judged by: on every share of the training problems, and on the validation maps."""
    select = extended if config.decide == BOTH else hardest
    train, chosen_on = (select(part, config.problems) for part in (setup.train, setup.validation))
    shares = split_problems(train, config.shares)
    if config.decide == BOTH:
        return [Walks(share) for share in shares], Walks(chosen_on)
    on_progress(0, "fixed depths walk")
    curves: list[DepthCurve | Walks] = [measure_curve(share, setup.workers, setup.folder) for share in shares]
    return curves, measure_curve(chosen_on, setup.workers, setup.folder)


def history_file(folder: Path, config: EvolutionConfig) -> Path:
    """Return where an evolution keeps its history."""
    return folder / f"evolution-{config.decide.replace(' ', '-')}-{config.seed}.npz"


def _centres(
    encoding: Encoding, config: EvolutionConfig, curves: list[DepthCurve | Walks], workers: Workers, tried: History
) -> Iterator[Floats]:
    """Yield the centre of the search after every generation; those that the history knows are not walked again."""
    first, spread = encoding.start(), encoding.spread
    strategy = _strategy(first, config.sigma, config.population, config.diagonal, config.seed, spread)
    for number in range(config.generations):
        drawn = strategy.ask()
        if number == len(tried.losses):
            networks = [encoding.network(vector) for vector in drawn]
            logs = rate_networks(networks, curves[number % len(curves)], workers)
            tried.candidates.append(np.array(drawn))
            tried.losses.append(np.array([min(VOID, -config.merit(pair)) for pair in logs]))
        strategy.tell(list(tried.candidates[number]), tried.losses[number].tolist())
        yield strategy.mean.copy()


def _strategy(
    start: Floats, sigma: float, population: int, diagonal: bool, seed: int, spread: Floats | None = None
) -> Any:
    """Return CMA-ES with random numbers of its own; ``spread`` says how far numbers are spread beside each other."""
    rng = np.random.default_rng(seed)
    options = {
        "popsize": population,
        "CMA_diagonal": diagonal,
        "randn": lambda *shape: rng.standard_normal(shape),
        "seed": np.nan,  # NumPy's own generator is left alone
        "verbose": -9,
    }
    if spread is not None:
        options["CMA_stds"] = spread
    return cma.CMAEvolutionStrategy(start, sigma, options)


def _best(merits: Sequence[LogRatios], config: EvolutionConfig) -> int:
    """Return which check was the best so far, the first of equal ones."""
    return max(range(len(merits)), key=lambda k: config.merit(merits[k]), default=0)


def _status(number: int, tried: History, config: EvolutionConfig) -> str:
    """Return where the evolution stands."""
    best = exp((1 if config.decide == BOTH else -1) * tried.losses[number - 1].min())
    text = f"generation {number} of {config.generations}, training {best:.2f}"
    if not tried.merits:
        return text
    mean, pooled = config.figures(tried.merits[-1])
    return f"{text}, validation {mean:.2f} / {pooled:.2f}"


def _key(setup: TrainingSetup, config: EvolutionConfig, d_max: int, history: int) -> str:
    """Return a hash of all that candidates and losses depend on; how long it goes on may be changed."""
    fixed = asdict(config) | {"generations": None, "patience": None}
    maps = [[(course.digest, course.tasks) for course in part] for part in (setup.train, setup.validation)]
    stamp = source_stamp("general-lrta" if config.decide == BOTH else "policy-lrta")
    parts = [fixed, d_max, history, maps, stamp, cma.__version__]
    return sha256(repr(parts).encode()).hexdigest()[:32]


def _about(setup: TrainingSetup, config: EvolutionConfig, d_max: int, tried: History, best: int) -> dict[str, Any]:
    """Return how a network was made, for people."""
    return {
        "learner": "cma",
        "settings": asdict(config),
        "generation": (best + 1 - config.first) * config.check,
        "validation_figures" if config.decide == BOTH else "validation_ratios": [
            round(value, 3) for value in config.figures(tried.merits[best])
        ],
        "train": [course.name for course in setup.train],
        "validation": [course.name for course in setup.validation],
        "d_max": d_max,
    }


# Dealers


@dataclass(frozen=True)
class DealerConfig:
    """How to evolve a dealer for squads; see ``rt_gym.squad.policy``.

    Attributes:
        hidden: units of the hidden layer.
        generations: how many.
        population: candidates of each.
        squads: how many squads a generation is tried on, others in each.
        check: after how many generations their centre is judged on the validation squads.
        validation: how many of these there are.
        test: how many squads the best centre is judged on, beside the rules.
        sigma: how far the first generation is spread.
        seed: for the candidates, and for the problems of all squads.
    """

    hidden: int = 3
    generations: int = 20
    population: int = 12
    squads: int = 8
    check: int = 4
    validation: int = 32
    test: int = 64
    sigma: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        least = {"hidden": 1, "generations": 0, "population": 4, "squads": 1, "check": 1, "validation": 1, "test": 1}
        for name, low in least.items():
            whole(name, getattr(self, name), low, _MOST)
        whole("seed", self.seed, 0)
        if not 0 < self.sigma < inf:
            raise InputError(f"sigma must be above 0, not {self.sigma}")

    @property
    def scale(self) -> Floats:
        """How large the numbers of a dealer are beside each other: those of the output are large."""
        inputs = len(DEALT) * self.hidden
        return np.repeat([0.3, 0.3, 5.0], [inputs, self.hidden, self.hidden + 1])

    def dealer(self, vector: Floats, about: dict[str, Any] | None = None) -> DealerPolicy:
        """Return the dealer of a vector: weights and bias of the hidden layer, then those of the output."""
        weights, bias, last = np.split(vector * self.scale, np.cumsum([len(DEALT) * self.hidden, self.hidden]))
        layers = (weights.reshape(-1, self.hidden), bias), (last[:-1, None], last[-1:])
        return DealerPolicy(layers, about=about or {})

    def starts(self) -> list[Floats]:
        """Return where to begin: with units near their goals first, as ``nearest`` does, or with all alike."""
        weights, bias, last = np.zeros((len(DEALT), self.hidden)), np.zeros(self.hidden), np.zeros(self.hidden + 1)
        weights[DEALT.index("distance"), 0], bias[0], last[0] = -0.2, 0.7, 40.0
        hidden = np.concatenate([weights.ravel(), bias])
        return [np.concatenate([hidden, share * last]) / self.scale for share in (1.0, 0.0)]


@dataclass(frozen=True)
class DealerResult:
    """A learned dealer, None where none was asked for, and the times of all dealers on the test squads."""

    policy: DealerPolicy | None
    times: dict[str, Floats]


LEARNED = "learned"


def train_dealer(config: DealerConfig, on_progress: OnProgress, **squad: Any) -> DealerResult:
    """Evolve a dealer on some squads, choose it on others, and judge it beside the rules on still others.

    Args:
        config: how to evolve; without any generations only the rules are judged.
        on_progress: called after every generation, and for every dealer that is judged.
        squad: arguments of RTSquad-v0: map, units, allowance and so on. Every part has problems of its own.
    """
    train, validation, test = (SquadSettings(**squad, pool_seed=3 * config.seed + part) for part in range(3))
    dealers, policy = dict(DEALERS), None
    if config.generations:
        policy = evolve_dealer(config, train, validation, on_progress)
        dealers[LEARNED] = by_rule(policy)
    times = {}
    for name, dealer in dealers.items():
        on_progress(1, f"test squads, {name}")
        times[name] = dealt_times(dealer, test, range(config.test))
    return DealerResult(policy, times)


def evolve_dealer(
    config: DealerConfig, train: SquadSettings, validation: SquadSettings, on_progress: OnProgress
) -> DealerPolicy:
    """Return the centre of a generation that is best on the validation squads; it begins with the best start.

    The loss is the mean of the logarithms of times, so that easy maps count as much as hard ones.
    """
    centres = config.starts()
    losses = [_loss(config, start, validation, range(config.validation)) for start in centres]
    strategy = _strategy(centres[np.argmin(losses)], config.sigma, config.population, True, config.seed)
    for number in range(1, config.generations + 1):
        drawn, seeds = strategy.ask(), range((number - 1) * config.squads, number * config.squads)
        strategy.tell(drawn, [_loss(config, vector, train, seeds) for vector in drawn])
        if number % config.check == 0 or number == config.generations:
            centres.append(strategy.mean.copy())
            losses.append(_loss(config, centres[-1], validation, range(config.validation)))
        on_progress(1, f"generation {number} of {config.generations}, validation {np.exp(min(losses)):.1f} ticks")
    best = int(np.argmin(losses))
    about = {
        "learner": "cma",
        "settings": asdict(config),
        "check": best,
        "validation_time": round(exp(losses[best]), 2),
    }
    return config.dealer(centres[best], about)


def _loss(config: DealerConfig, vector: Floats, squads: SquadSettings, seeds: range) -> float:
    times = dealt_times(by_rule(config.dealer(vector)), squads, seeds)
    return float(np.log(np.maximum(times, 1.0)).mean())

"""Evolves small networks that control the lookahead, by what whole episodes cost: CMA-ES on the ratio to fixed depths.

N. Hansen, A. Ostermeier, "Completely Derandomized Self-Adaptation in Evolution Strategies", Evolutionary Computation
9(2), 2001, as in the package ``cma``. The pay-off of a deep search may lie hundreds of moves ahead, so nothing smaller
than a whole episode is judged.

The merit of a candidate is the mean of the logarithms of both ratios (``training.judge``): how many times its
expansions LRTA* of fixed depths needs for its suboptimality, by the mean and the pooled meter. All candidates of a
generation meet the same problems; one with a cut run is void. Both ratios depend on a few hard problems, to which a
network soon overfits: where there are several shares of problems, each generation gets the next one.

The network of a candidate has one layer of a few hidden units and a number y behind it. To deepen or to act is a
matter of its sign. A depth is the one whose logarithm is nearest to y, which is the largest of the outputs
2 y log d - (log d)^2: a network like any other. The first generation is spread around weights that imitate a rule.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from math import inf, log
from pathlib import Path
from typing import Any

import cma
import numpy as np

from agents.policies.networks import DECISIONS, Network
from agents.policy_lrta import PolicyLRTA
from rt_gym import InputError, World
from rt_gym.archive import load_archive, save_archive
from rt_gym.errors import quoted, whole
from training.judge.stats import Floats
from training.learn.exam import Exam, deal, judge_all, problems_of, select, set_exam
from training.learn.select import OnProgress, School
from training.runs import Course, Workers
from training.runs.sources import source_stamp

KIND, VERSION = "evolution", 1
LAYOUT = {
    "candidates": (np.float64, 3),
    "losses": (np.float64, 2),
    "centres": (np.float64, 2),
    "merits": (np.float64, 2),
}
_EVERY, _STATES = 4, 100  # of which problems, and how many states of each, inputs are standardised by
VOID = 1e3  # the loss of a candidate with a cut run


@dataclass(frozen=True)
class Evolution:
    """The settings.

    Attributes:
        decide: ``"deepen"`` or ``"depth"``.
        hidden: units of the hidden layer.
        generations: how many at most.
        population: candidates of each.
        sigma: how far the first generation is spread.
        pooled: the weight of the pooled meter, from 0 to 1; the mean has the rest.
        check: after how many generations their centre is judged on the validation maps.
        patience: after how many checks without a better one to stop.
        problems: how many problems there are, half of them those on which the heuristic misleads most; also of those
            on the validation maps.
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
        if self.decide not in DECISIONS:
            raise InputError(f"decide must be {' or '.join(DECISIONS)}, not {quoted(self.decide)}")
        for name, low in (
            ("hidden", 2),
            ("generations", 1),
            ("population", 4),
            ("check", 1),
            ("patience", 1),
            ("problems", 1),
            ("shares", 1),
        ):
            whole(name, getattr(self, name), low, 10_000)
        whole("seed", self.seed, 0)
        if not (0 < self.sigma < inf and 0 <= self.pooled <= 1):
            raise InputError(f"sigma must be above 0 and pooled from 0 to 1, not {self.sigma} and {self.pooled}")

    def merit(self, ratios: tuple[float, float]) -> float:
        """Return what the logarithms of both ratios are worth together."""
        return -inf if ratios[0] == -inf else (1 - self.pooled) * ratios[0] + self.pooled * ratios[1]


@dataclass(frozen=True)
class Breed:
    """How a vector of numbers becomes a network.

    Attributes:
        decide, hidden: see ``Evolution``.
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
        return DECISIONS[self.decide]

    def network(self, genes: Floats, about: dict[str, Any] | None = None) -> Network:
        """Return the network of a vector: weights and bias of the hidden layer, then those of y."""
        inputs, hidden = len(self.features), self.hidden
        weights, bias, last = np.split(genes, [inputs * hidden, (inputs + 1) * hidden])
        depths = tuple(range(1, self.d_max + 1)) if self.decide == "depth" else ()
        logs = np.log(depths)
        slope, offset = (2 * logs, -(logs**2)) if depths else (np.array([1.0, 0.0]), np.zeros(2))
        return Network(
            decide=self.decide,
            features=self.features,
            layers=(
                (weights.reshape(inputs, hidden), bias),
                (np.outer(last[:-1], slope), last[-1] * slope + offset),
            ),
            d_max=self.d_max,
            depths=depths,
            history=self.history,
            mean=np.broadcast_to(self.mean, inputs),
            scale=np.broadcast_to(self.scale, inputs),
            about=about or {},
        )

    def start(self) -> Floats:
        """Return a vector that imitates a rule of ``rule-lrta``: ``settle`` to deepen, ``update`` for the depth."""
        weights, bias, last = (
            np.zeros((len(self.features), self.hidden)),
            np.zeros(self.hidden),
            np.zeros(self.hidden + 1),
        )
        if self.decide == "deepen":
            # Act if the layers so far raise nothing, or if the move has not changed for four of them.
            weights[self.features.index("layer_rise"), 0], bias[0] = -12.0, 2.0
            weights[self.features.index("steady"), 1], bias[1] = 4.0, -6.0
            last[[0, 1, -1]] = 1.0, 1.0, 0.9
        else:
            # Ten after a move that raised a value, else two.
            weights[self.features.index("since_update"), 0], bias[0] = -8.0, 2.0
            low, high = log(2), log(min(10, self.d_max))
            last[[0, -1]] = (high - low) / 2, (high + low) / 2
        bias += self.mean @ weights if np.ndim(self.mean) else 0.0
        return np.concatenate([(weights.T * self.scale).T.ravel(), bias, last])

    def standardised(self, courses: tuple[Course, ...]) -> "Breed":
        """Return a breed whose inputs have mean 0 and scale 1 in the states that the rule visits on some courses."""
        agent, rows = PolicyLRTA(self.network(self.start())), []
        for problem in problems_of(courses)[::_EVERY]:
            world = World(problem)
            agent.reset(world.view)
            for _ in range(_STATES):
                if world.done:
                    break
                action = agent.act()
                rows.append(agent.memory.seen[: len(self.features)].astype(np.float64))
                world.step(action)
        spread = np.std(rows, axis=0)
        return replace(self, mean=np.mean(rows, axis=0), scale=np.where(spread > 1e-3, spread, 1.0))


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
    merits: list[tuple[float, float]] = field(default_factory=list)

    @classmethod
    def of(cls, path: Path, key: str) -> "History":
        """Return what is on disk, or an empty history."""
        try:
            head, arrays = load_archive(path, KIND, VERSION, LAYOUT)
        except InputError:  # there is none yet, or it was damaged
            return cls(path, key)
        if head.get("key") != key:
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


def evolve(school: School, settings: Evolution, on_progress: OnProgress) -> Network:
    """Return the centre of a generation that is best on the validation maps.

    A run that was stopped goes on with the next generation.

    Args:
        school: the maps, the workers, where the history is kept, and in ``logging`` the largest depth and the history
            that features reach back. Its ``dagger`` is not used.
        settings: those of the evolution.
        on_progress: called after every generation.

    Raises:
        InputError: if LRTA* of a fixed depth, or every centre, has a cut run.
    """
    on_progress(0, "fixed depths walk")
    train, chosen_on = (select(part, settings.problems) for part in (school.train, school.validation))
    exams = [set_exam(share, school.workers, school.folder) for share in deal(train, settings.shares)]
    validation = set_exam(chosen_on, school.workers, school.folder)
    breed = Breed(settings.decide, settings.hidden, school.logging.d_max, school.logging.history)
    breed = breed.standardised(exams[0].courses)
    history = History.of(school.folder / f"evolution-{settings.decide}-{settings.seed}.npz", _key(school, settings))
    for number, centre in enumerate(_centres(breed, settings, exams, school.workers, history), start=1):
        checks = number // settings.check
        if checks > len(history.merits):
            history.centres.append(centre)
            history.merits += judge_all([breed.network(centre)], validation, school.workers)
        history.keep()
        on_progress(1, _status(number, history, settings))
        if checks - _best(history.merits[:checks], settings) > settings.patience:
            break
    best = _best(history.merits, settings)
    if not history.merits or history.merits[best][0] == -inf:
        raise InputError("no network reached every goal of the validation maps as fast as the slowest fixed depth")
    return breed.network(history.centres[best], _about(school, settings, history, best))


def _centres(
    breed: Breed, settings: Evolution, exams: list[Exam], workers: Workers, history: History
) -> Iterator[Floats]:
    """Yield the centre of the search after every generation; those that the history knows are not walked again."""
    rng = np.random.default_rng(settings.seed)
    options = {
        "popsize": settings.population,
        "CMA_diagonal": settings.diagonal,
        "randn": lambda *shape: rng.standard_normal(shape),
        "seed": np.nan,  # NumPy's own generator is left alone
        "verbose": -9,
    }
    strategy = cma.CMAEvolutionStrategy(breed.start(), settings.sigma, options)
    for number in range(settings.generations):
        drawn = strategy.ask()
        if number == len(history.losses):
            exam = exams[number % len(exams)]
            merits = judge_all([breed.network(genes) for genes in drawn], exam, workers)
            history.candidates.append(np.array(drawn))
            history.losses.append(np.array([min(VOID, -settings.merit(pair)) for pair in merits]))
        strategy.tell(list(history.candidates[number]), history.losses[number].tolist())
        yield strategy.mean.copy()


def _best(merits: Sequence[tuple[float, float]], settings: Evolution) -> int:
    """Return which check was the best so far, the first of equal ones."""
    return max(range(len(merits)), key=lambda k: settings.merit(merits[k]), default=0)


def _status(number: int, history: History, settings: Evolution) -> str:
    """Return where the evolution stands."""
    text = f"generation {number} of {settings.generations}, training {np.exp(-history.losses[number - 1].min()):.2f}"
    if not history.merits:
        return text
    mean, pooled = np.exp(history.merits[-1])
    return f"{text}, validation {mean:.2f} / {pooled:.2f}"


def _key(school: School, settings: Evolution) -> str:
    """Return a hash of all that candidates and losses depend on; how long it goes on may be changed."""
    fixed = asdict(settings) | {"generations": None, "patience": None}
    maps = [[(course.digest, course.tasks) for course in part] for part in (school.train, school.validation)]
    parts = [fixed, school.logging.d_max, school.logging.history, maps, source_stamp("policy-lrta"), cma.__version__]
    return sha256(repr(parts).encode()).hexdigest()[:32]


def _about(school: School, settings: Evolution, history: History, best: int) -> dict[str, Any]:
    """Return how a network was made, for people."""
    return {
        "learner": "cma",
        "settings": asdict(settings),
        "generation": (best + 1) * settings.check,
        "validation_ratios": [round(float(np.exp(merit)), 3) for merit in history.merits[best]],
        "train": [course.name for course in school.train],
        "validation": [course.name for course in school.validation],
        "d_max": school.logging.d_max,
    }

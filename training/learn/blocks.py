"""Evolves the genes of ``building-block-lrta`` for a limit per move, the maps and the vision that one has.

Genes are numbers and names, so the evolution is a plain one. Of a generation every candidate walks one share of the
training problems, all shares in turn, and the best of them the rest. Parents are drawn from the best so far; a child
takes some genes of a second parent, and a few of its genes change. The first generation has the published designs.

Candidates are judged by the mean suboptimality. One that misses a goal within the move cap, or breaks the limit, is
out. A few of the best come to the validation maps, which decide, on more problems than are given: the hardest tenth of
them makes up a third to a half of such a mean. Tried with the seeds 100 to 103 at 10 scans and vision 1, and on maps of
no split: with 128 problems three evolutions of four chose genes that walk 9.6 times the optimal cost there; with 768
they chose genes that walk 7.1 to 8.1 times.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from math import exp, inf, log
from pathlib import Path
from typing import Any

import numpy as np

import agents
from agents.base import Searcher
from agents.building_block_lrta import BuildingBlockLRTA
from agents.lss_lrta import LSSLRTA
from agents.policies.genes import COMMIT, LEARNING, OPERATORS, Genes
from rt_gym import Budget, Grid, InputError
from rt_gym.errors import whole
from training.judge import Findings
from training.judge.scores import Arena
from training.judge.stats import Estimate, Floats
from training.judge.tables import Table, digits, interval
from training.learn import OnProgress, Parts, Reporting, TrainingSetup, extended, silent, split_problems
from training.learn.merit import compare
from training.runs import Allowance, Course, Task, Workers, enlist, portfolio
from training.runs.contenders import load_agent
from training.runs.courses import make_problem
from training.runs.execution import Store, run_all
from training.runs.jobs import Series, Work
from training.runs.rows import Arrays, Entry

ID = "building-block-lrta"
KNOWN: tuple[dict[str, Any], ...] = (  # designs that were published, or found by others; see ``_fitted`` for the rest
    {},
    {"da": True},
    {"expendable": True},
    {"da": True, "expendable": True},
    {"cost_weight": 4},
    {"growth": 0.2, "expendable": True},
    {"weight": 3, "cost_weight": 6.8, "da": True, "expendable": True},
)
_HEAVIEST = 50.0  # weight
_OPERATOR_ODDS = (0.7, 0.1, 0.1, 0.1)
_BEAMS, _BEAM_ODDS = (1, 0.5, 0.25), (0.7, 0.15, 0.15)


@dataclass(frozen=True)
class BlocksConfig:
    """How to evolve.

    Attributes:
        limit, count: how many scans or expansions a move may take.
        generations: how many.
        population: children of each; the first generation has half as many again.
        finalists: how many of the best come to the validation maps.
        shares: into how many shares the training problems are dealt.
        validation_factor: how many times as many problems of the validation maps are met as are given.
        max_moves: the move cap of training and validation.
        seed: for the candidates.
    """

    limit: int = 10
    count: str = "scans"
    generations: int = 8
    population: int = 16
    finalists: int = 8
    shares: int = 4
    validation_factor: int = 6
    max_moves: int = 60_000
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("limit", "generations", "population", "finalists", "shares", "validation_factor", "max_moves"):
            whole(name, getattr(self, name), 1, 10**9)
        Budget(self.limit, self.count)
        whole("seed", self.seed, 0)

    @property
    def deepest(self) -> int:
        """The largest lookahead whose learning from the frontier surely fits."""
        return int(LSSLRTA.fit(self.limit, self.count)["lookahead"])


class Breeder:
    """Makes genes that fit a limit, by chance and from other genes."""

    def __init__(self, config: BlocksConfig) -> None:
        self.config, self.rng = config, np.random.default_rng(config.seed)

    def first(self) -> list[Genes]:
        """Return the first generation: what is known, and what chance adds."""
        found = [Genes(**genes) for genes in (*KNOWN, *self._fitted())]
        size = max(len(found), self.config.population * 3 // 2)
        return _distinct([*found, *(self.random() for _ in range(size - len(found)))])

    def _fitted(self) -> Iterator[dict[str, Any]]:
        """Yield known designs that make use of the limit: RTAA*, LSS-LRTA* and their successors, and walks ahead."""
        limit, deepest = self.config.limit, self.config.deepest
        if limit > 1:
            yield from ({"ahead": limit, "expendable": flag} for flag in (False, True))
            yield {"ahead": limit, "expendable": True, "cost_weight": 2}
            yield {"ahead": limit, "expendable": True, "growth": 0.2}
            yield from ({"lookahead": limit, "learning": "best", "da": flag} for flag in (False, True))
            yield {"lookahead": limit, "learning": "best", "da": True, "commit": "one"}
            yield {"lookahead": limit, "learning": "best", "da": True, "expendable": True, "commit": "one"}
        if deepest > 1:
            yield from ({"lookahead": deepest, "da": True, "commit": commit} for commit in COMMIT)

    def random(self) -> Genes:
        """Return genes by chance."""
        rng, limit = self.rng, self.config.limit
        searches = rng.random() < 0.5
        return self._fit(
            lookahead=round(exp(rng.uniform(0, log(limit)))) if searches else 1,
            weight=_weight(exp(rng.exponential(0.5))),
            cost_weight=_weight(exp(rng.exponential(0.7))),
            growth=_growth(0.05 * exp(rng.exponential(1))) if rng.random() < 0.5 else 0,
            lop=str(rng.choice(OPERATORS, p=_OPERATOR_ODDS)),
            beam=float(rng.choice(_BEAMS, p=_BEAM_ODDS)),
            da=bool(rng.random() < 0.6),
            expendable=bool(rng.random() < 0.6),
            ahead=int(rng.integers(max(1, limit // 2), limit + 1)),
            learning=str(rng.choice(LEARNING)),
            commit=str(rng.choice(COMMIT)),
        )

    def child(self, parents: Sequence[Genes]) -> Genes:
        """Return a child of genes that are sorted, the best first."""
        rng, limit = self.rng, self.config.limit
        one = asdict(parents[min(int(rng.exponential(2)), len(parents) - 1)])
        other = asdict(parents[int(rng.integers(len(parents)))])
        genes = {name: other[name] if rng.random() < 0.3 else value for name, value in one.items()}
        chance = asdict(self.random())
        for name in rng.choice(list(genes), size=rng.integers(1, 4), replace=False).tolist():
            if name in ("weight", "cost_weight"):
                genes[name] = _weight(genes[name] * exp(rng.normal(0, 0.5)))
            elif name == "growth" and genes[name] > 0 and rng.random() < 0.8:
                genes[name] = _growth(genes[name] * exp(rng.normal(0, 0.7)))
            elif name in ("lookahead", "ahead"):
                factor = exp(rng.normal(0, 0.5 if name == "lookahead" else 0.3))
                genes[name] = int(np.clip(round(genes[name] * factor) + rng.integers(-1, 2), 1, limit))
            else:
                genes[name] = chance[name]
        return self._fit(**genes)

    def _fit(self, **genes: Any) -> Genes:
        """Return genes without those that mean nothing beside the others, or would break the limit."""
        if genes["lookahead"] == 1:
            return Genes(**genes | {"learning": "frontier", "commit": "all"})
        best = genes["learning"] == "best" or genes["lookahead"] > self.config.deepest
        none = {"growth": 0, "lop": "min", "beam": 1, "ahead": 1}
        return Genes(**genes | none | {"learning": "best" if best else "frontier"})


def _weight(value: float) -> float:
    return round(min(max(value, 1.0), _HEAVIEST), 2)


def _growth(value: float) -> float:
    return round(min(max(value, 0.01), 10.0), 3)


def _distinct(genes: Sequence[Genes]) -> list[Genes]:
    return list(dict.fromkeys(genes))


@dataclass(frozen=True)
class GeneRuns(Work[Genes, Floats]):
    """Every candidate on the same problems of one map."""

    tasks: tuple[Task, ...]
    vision: int | None
    limit: int
    count: str
    max_moves: int

    @property
    def agents(self) -> tuple[str, ...]:
        """Who has genes."""
        return (ID,)

    def do(self, grid: Grid | None, items: Sequence[Genes]) -> Floats:
        """Return float64[candidates, tasks], the suboptimality; infinite from a goal missed on: the rest is not run."""
        assert grid is not None, "problems have a map"
        problems = [make_problem(grid, task, self.vision, ()) for task in self.tasks]
        found, budget = np.full((len(items), len(problems)), inf), Budget(self.limit, self.count)
        for row, genes in zip(found, items, strict=True):
            agent = BuildingBlockLRTA(policy=genes)
            for number, problem in enumerate(problems):
                run = agents.run(agent, problem, budget=budget, max_moves=self.max_moves, clock=False)
                if not run.solved:
                    break
                row[number] = run.suboptimality
        return found

    def pack(self, result: Floats) -> Arrays:
        """Return the one array that there is."""
        return {"suboptimality": result}

    def unpack(self, arrays: Any) -> Floats:
        """Return it as it was."""
        return np.asarray(arrays["suboptimality"], np.float64).reshape(-1, len(self.tasks))


class Trials:
    """Lets candidates walk, and remembers what came of it.

    Args:
        config: the limit and the move cap.
        store: where finished work is kept.
        workers: what does it.
    """

    def __init__(self, config: BlocksConfig, store: Store, workers: Workers) -> None:
        self._config, self._store, self._workers = config, store, workers
        self._known: dict[tuple[int, Genes], Floats] = {}

    def run(self, genes: Sequence[Genes], courses: tuple[Course, ...]) -> list[Floats]:
        """Return the suboptimality of every candidate on all problems of courses."""
        new = [one for one in _distinct(genes) if (id(courses), one) not in self._known]
        if new:
            config = self._config
            series = [
                Series(
                    GeneRuns(one.tasks, one.vision, config.limit, config.count, config.max_moves), one.grid, tuple(new)
                )
                for one in courses
            ]
            parts = run_all(series, self._store, self._workers)
            found = np.concatenate([np.concatenate(part) for part in parts], axis=1)
            self._known |= {(id(courses), one): row for one, row in zip(new, found, strict=True)}
        return [self._known[id(courses), one] for one in genes]


@dataclass(frozen=True)
class Candidate:
    """Genes, and their mean suboptimality on the training maps and on the validation maps."""

    genes: Genes
    train: float
    validation: float = inf


@dataclass
class Evolution:
    """An evolution under way: the candidates that have walked all training problems, the best first."""

    config: BlocksConfig
    trials: Trials
    shares: list[tuple[Course, ...]]
    best: list[Candidate] = field(default_factory=list)

    def go_on(self, generation: int, genes: list[Genes]) -> None:
        """Let all of a generation walk one share of the problems, and the better third of them the rest."""
        share = self.shares[generation % len(self.shares)]
        means = [float(row.mean()) for row in self.trials.run(genes, share)]
        order = sorted(range(len(genes)), key=lambda k: means[k])[: max(2, len(genes) // 3)]
        chosen = [genes[k] for k in order if means[k] < inf]
        rows = [self.trials.run(chosen, one) for one in self.shares]
        for one, parts in zip(chosen, zip(*rows, strict=True), strict=True):
            mean = float(np.concatenate(parts).mean())
            if mean < inf and all(one != candidate.genes for candidate in self.best):
                self.best.append(Candidate(one, mean))
        self.best.sort(key=lambda candidate: candidate.train)
        del self.best[2 * self.config.finalists :]


def evolve_genes(setup: TrainingSetup, config: BlocksConfig, on_progress: OnProgress) -> list[Candidate]:
    """Return the finalists, the best on the validation maps first.

    Finished work is kept: the same call goes on where it was stopped.

    Raises:
        InputError: if no candidate reaches every goal.
    """
    breeder, trials = Breeder(config), Trials(config, Store(setup.folder), setup.workers)
    evolution = Evolution(config, trials, split_problems(setup.train, config.shares))
    genes = breeder.first()
    for generation in range(config.generations):
        evolution.go_on(generation, genes)
        if not evolution.best:
            raise InputError(f"no candidate reached every goal of the training maps within {config.max_moves} moves")
        on_progress(1, f"generation {generation + 1}, training {evolution.best[0].train:.2f}")
        parents = [candidate.genes for candidate in evolution.best]
        genes = _distinct([breeder.child(parents) for _ in range(config.population)])
    finalists = evolution.best[: config.finalists]
    given = sum(len(course.tasks) for course in setup.validation)
    validation = extended(setup.validation, config.validation_factor * given)
    means = [float(row.mean()) for row in trials.run([one.genes for one in finalists], validation)]
    judged = [Candidate(one.genes, one.train, mean) for one, mean in zip(finalists, means, strict=True)]
    judged.sort(key=lambda candidate: candidate.validation)
    if judged[0].validation == inf:
        raise InputError(f"no candidate reached every goal of the validation maps within {config.max_moves} moves")
    return judged


@dataclass(frozen=True)
class BlocksResult:
    """What an evolution found.

    Attributes:
        candidates: the finalists, the chosen one first.
        findings: the runs on the test maps.
        ratios: the suboptimality of the chosen one as a multiple of that of others, by what they are.
        files: what was written.
    """

    candidates: list[Candidate]
    findings: Findings
    ratios: dict[str, tuple[Entry, Estimate]]
    files: list[Path]

    @property
    def genes(self) -> Genes:
        """Those that were chosen."""
        return self.candidates[0].genes

    def table(self) -> Table:
        """Return the finalists for people."""
        rows = [
            [one.genes.sentence, digits(one.train), digits(one.validation) if one.validation < inf else "missed a goal"]
            for one in self.candidates
        ]
        return Table("Chosen on the validation maps: the first", ["genes", "training", "validation"], rows)

    def remarks(self) -> list[str]:
        """Return what the genes are in words, and how they do beside others."""
        lines = [self.genes.sentence]
        for what, (entry, ratio) in self.ratios.items():
            lines.append(f"{ratio.value:.2f} {interval(ratio)} times the suboptimality of {entry.label}, {what}.")
        return lines

    def document(self) -> dict[str, Any]:
        """Return all of it, as JSON takes it."""
        return self.findings.document() | {
            "genes": asdict(self.genes),
            "sentence": self.genes.sentence,
            "candidates": [asdict(one) for one in self.candidates],
            "ratios": {what: {"agent": entry.label, **ratio._asdict()} for what, (entry, ratio) in self.ratios.items()},
            "files": [str(path) for path in self.files],
        }


def train_blocks(
    config: BlocksConfig, parts: Parts, folder: Path, workers: Workers, reporting: Reporting = silent
) -> BlocksResult:
    """Evolve genes and compare them on the test maps; genes, tables and plots are written into a folder.

    The folder, which must exist, keeps finished work: the same call goes on where it was stopped.
    """
    setup = TrainingSetup(parts.train, parts.validation, workers, folder / "evolution")
    with reporting("evolving", config.generations) as advance:
        candidates = evolve_genes(setup, config, lambda *told: advance(*told))
    genes, file = candidates[0].genes, folder / "genes.json"
    about = asdict(config) | {"vision": parts.train[0].vision, "training": candidates[0].train}
    genes.save(file, about | {"validation": candidates[0].validation})
    allowance = Allowance.of(config.limit, config.count)
    contenders = [*(enlist(name, {}, allowance) for name in rivals()), enlist(ID, {"policy": str(file)}, allowance)]
    findings = compare(contenders, parts.test, folder / "test", workers, reporting)
    files = [file, *findings.write(folder, {"evolution": about})]
    return BlocksResult(candidates, findings, _ratios(findings, contenders[-1].entry), files)


def rivals() -> list[str]:
    """Return the agents that genes are compared with: all that need neither a policy nor a prepared map."""
    learned = {"classifier-lrta", "policy-lrta", "expecting-astar", ID}
    return [name for name in portfolio() if name not in learned and not load_agent(name).precomputes]


def searches_everywhere(agent_id: str) -> bool:
    """Whether an agent keeps a search of the whole map."""
    return issubclass(load_agent(agent_id), Searcher) or agent_id in ("dstar-lite", "mpgaa")


def _ratios(findings: Findings, own: Entry) -> dict[str, tuple[Entry, Estimate]]:
    """Return how many times the suboptimality of the best rivals that of an entry is."""
    arena = Arena(findings.runs, findings.plan.seed)
    sound = {score.entry: score.quality for score in findings.scores if score.quality and not score.disqualified}
    if own not in sound:
        return {}
    others = [entry for entry in sound if entry.agent != ID]
    local = [entry for entry in others if not searches_everywhere(entry.agent)]
    found = {}
    for what, among in (("the best of all others", others), ("the best without a search of the whole map", local)):
        best = min(among, key=lambda entry: sound[entry].value, default=None)
        if best is not None:
            found[what] = best, arena.estimate(arena.quality[own] / arena.quality[best])
    return found

"""What learners, rules and agents reach on levels: one cell per level, policy and seed, each kept when it is done.

Learners of Stable-Baselines3 and sb3-contrib are used as anybody would: their flat policies on the default observation,
with the reward shaped and divided by the optimal cost. The recipe is that of ``rt-gym train rl``. Every learner has as
many steps. Policies are judged on the test split by the weighted share of ``training.judge.walks``; its normalised
score is 0 for chance and 1 for D* Lite, which on a known map walks a shortest path.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym import Evaluation, Grid, InputError, evaluate
from rt_gym.errors import quoted, whole
from training.judge.aggregate import interquartile_mean, probability_of_improvement
from training.judge.stats import Floats
from training.judge.walks import BOUNDED, LIMIT, weighted
from training.learn import OnProgress, TrainingSetup, draw_parts
from training.learn.rl.course import RLConfig, level_of
from training.learn.rl.model import NORM, check_installed, libraries
from training.learn.rl.train import train_network
from training.runs import Draw, Workers
from training.runs.execution import Store, run_all
from training.runs.jobs import Series, Work

LEVELS = ("RTPath-Open-16x16-v0", "RTPath-Random-16x16-v0", "RTPathFog-Random-16x16-v0")
RECIPE = "recipe"
LEARNERS = ("PPO", "MaskablePPO", "RecurrentPPO", RECIPE)
RANDOM, GREEDY, BEST, ASTAR, ANCHOR = "random", "greedy", "best bounded", "astar", "dstar-lite"
POLICIES = (RANDOM, GREEDY, *LEARNERS, BEST, ASTAR, ANCHOR)
LOOKS = 4  # at the validation split, while a learner learns
_EPISODES, _STEPS, _GAMMA = 64, 16, 0.99  # side by side, between updates, the discount
_PER_MAP = 1 << 20  # all problems of a split


@dataclass(frozen=True)
class BaselineConfig:
    """What is compared.

    Attributes:
        levels: ids of levels.
        seeds: how many trainings of every learner.
        steps: of every training.
    """

    levels: tuple[str, ...] = LEVELS
    seeds: int = 5
    steps: int = 100_000

    def __post_init__(self) -> None:
        for name in self.levels:
            if not level_of(name):
                raise InputError(f"levels must be ids such as {LEVELS[1]}, not {quoted(name)}")
        if not self.levels or len(set(self.levels)) < len(self.levels):
            raise InputError("levels must be given, and each of them once")
        whole("seeds", self.seeds, 1, 1000)
        whole("steps", self.steps, _EPISODES)

    @property
    def count(self) -> int:
        """How many cells there are."""
        return len(list(self.cells()))

    def cells(self) -> Iterator["Cell"]:
        """Yield all cells; what has no chance in it has one seed."""
        for level in self.levels:
            for policy in POLICIES:
                for seed in range(self.seeds if policy in (RANDOM, *LEARNERS) else 1):
                    yield Cell(level, policy, seed, self.steps if policy in LEARNERS else 0)


@dataclass(frozen=True)
class Cell:
    """One policy in one level, trained once if it learns."""

    level: str
    policy: str
    seed: int
    steps: int

    def fill(self) -> dict[str, Any]:
        """Train if need be, judge on the test split, and return what came of it, as JSON takes it."""
        looks, label = list[list[float]](), self.policy
        if self.policy == RECIPE:
            found, looks = self._follow_recipe()
        elif self.policy in LEARNERS:
            found, looks = self._learn()
        elif self.policy == BEST:
            label = max(BOUNDED, key=lambda agent: weighted(self._judge(agent, "validation", budget=LIMIT)).mean())
            found = self._judge(label, "test", budget=LIMIT)
        else:
            bounds = {"budget": None} if self.policy in (ASTAR, ANCHOR) else {}
            found = self._judge(self.policy, "test", **bounds)
        return {
            "label": label,
            "solved": float(found["solved"].mean()),
            "weighted": float(weighted(found).mean()),
            "expansions": float(found["expansions"].sum() / found["moves"].sum()),
            "looks": looks,
        }

    def _judge(self, policy: Any, part: str, **more: Any) -> Evaluation:
        split = f"{level_of(self.level)}-{part}"
        return evaluate(self.level, policy, split, seed=self.seed, **more)

    def _follow_recipe(self) -> tuple[Evaluation, list[list[float]]]:
        config = RLConfig.usual(self.level, steps=self.steps, every=-(-self.steps // LOOKS), seed=self.seed)
        parts = draw_parts(dict.fromkeys(("train", "validation", "test")), Draw(_PER_MAP), config.splits)
        with TemporaryDirectory(prefix="rt_gym-baselines-") as folder:
            setup = TrainingSetup(parts.train, parts.validation, Workers(jobs=1), Path(folder))
            network, progress = train_network(config, setup)
        looks = [[float(value or 0.0) for value in (look[0], *look[2:])] for look in progress.looks]
        return self._judge(network.choose, "test", **network.settings), looks

    def _learn(self) -> tuple[Evaluation, list[list[float]]]:
        """Train a learner, whose policy acts by chance when it is judged, as it did when it learned."""
        model, looks = make_learner(self.policy, self.level, self.seed), list[list[float]]()
        for part in range(1, LOOKS + 1):
            model.learn(self.steps * part // LOOKS - model.num_timesteps, reset_num_timesteps=False)
            found = self._judge(model, "validation", deterministic=False)
            looks.append([model.num_timesteps, float(found["solved"].mean()), float(weighted(found).mean())])
        return self._judge(model, "test", deterministic=False), looks


def make_learner(name: str, level: str, seed: int) -> Any:
    """Return an untrained learner in a level."""
    torch, sb3 = libraries()
    import sb3_contrib

    from rt_gym.envs.sb3 import SB3VecEnv

    torch.set_num_threads(1)  # networks this small are slower on more
    env = SB3VecEnv(level, _EPISODES, reward="normalised", shaping=_GAMMA)
    recurrent = name == "RecurrentPPO"
    return getattr(sb3 if name == "PPO" else sb3_contrib, name)(
        "MlpLstmPolicy" if recurrent else "MlpPolicy", env, learning_rate=5e-4, n_steps=_STEPS, batch_size=256,
        n_epochs=4, gamma=_GAMMA, ent_coef=0.01, max_grad_norm=NORM, seed=seed, device="cpu",
        policy_kwargs={"lstm_hidden_size": 64} if recurrent else {},
    )  # fmt: skip


@dataclass(frozen=True)
class Filling(Work[Cell, list[dict[str, Any]]]):
    """To fill cells: a cell is a training of a minute or two, so that a job is a single one."""

    @property
    def agents(self) -> tuple[str, ...]:
        """Those that take part."""
        return ASTAR, ANCHOR, *dict.fromkeys(agent.partition(":")[0] for agent in BOUNDED)

    def do(self, grid: Grid | None, items: Sequence[Cell]) -> list[dict[str, Any]]:
        """Return what came of the cells."""
        return [cell.fill() for cell in items]

    def pack(self, result: list[dict[str, Any]]) -> dict[str, NDArray[Any]]:
        """Return them as the bytes of a JSON text."""
        return {"json": np.frombuffer(json.dumps(result).encode(), np.uint8)}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> list[dict[str, Any]]:
        """Return what was packed."""
        cells: list[dict[str, Any]] = json.loads(arrays["json"].tobytes())
        for cell in cells:
            cell["weighted"], cell["looks"]
        return cells


def run_baselines(
    config: BaselineConfig, folder: Path, workers: Workers, on_progress: OnProgress
) -> list[dict[str, Any]]:
    """Fill all cells that are not in the folder yet, and return a document for every level."""
    check_installed(RLConfig(algo="maskable-ppo"))
    cells = list(config.cells())
    (parts,) = run_all(
        [Series(Filling(), None, cells)], Store(folder), workers, lambda done: on_progress(done, "training and judging")
    )
    found = dict(zip(cells, (cell for part in parts for cell in part), strict=True))
    return [_document(level, config, found) for level in config.levels]


def _document(level: str, config: BaselineConfig, cells: Mapping[Cell, dict[str, Any]]) -> dict[str, Any]:
    """Return what all policies reached in a level, with normalised scores, one for every seed."""
    own: dict[str, list[dict[str, Any]]] = {policy: [] for policy in POLICIES}
    for cell, found in cells.items():
        if cell.level == level:
            own[cell.policy].append(found)
    low, high = (float(np.mean([one["weighted"] for one in own[policy]])) for policy in (RANDOM, ANCHOR))
    policies = {
        policy: {"runs": runs, "scores": [(one["weighted"] - low) / (high - low) for one in runs]}
        for policy, runs in own.items()
    }
    return {"level": level, "steps": config.steps, "seeds": config.seeds, "policies": policies}


def scores_of(documents: Sequence[Mapping[str, Any]], policy: str) -> list[Floats]:
    """Return the normalised scores of a policy, an array with a number for every seed per level."""
    return [np.array(document["policies"][policy]["scores"]) for document in documents]


def summarise(documents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the interquartile means over all levels, and how likely the recipe beats each other policy."""
    recipe = scores_of(documents, RECIPE)
    return {
        policy: {
            "interquartile_mean": list(interquartile_mean(scores_of(documents, policy))),
            "beaten_by_recipe": list(probability_of_improvement(recipe, scores_of(documents, policy))),
        }
        for policy in POLICIES
    }

"""What learners, rules and agents reach on levels: one cell per level, policy and seed, each kept when it is done.

The recipe is that of ``rt-gym train rl``. Learners of Stable-Baselines3 and sb3-contrib learn from nothing where the
recipe learns: they see the same, and their rewards are the same. Every learner has as many steps. Policies are judged
on the test split by the weighted share of ``training.judge.policies``; its normalised score is 0 for chance and 1 for
D* Lite, which on a known map walks a shortest path.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym import Evaluation, Grid, InputError, evaluate
from rt_gym.errors import choice, quoted, whole
from training.judge.policies import BOUNDED, LIMIT, LeastVisited, weighted
from training.judge.stats import Floats, interquartile_mean, probability_of_improvement
from training.learn import OnProgress, Parts, TrainingSetup, draw_parts, problems_of
from training.learn.rl import RLConfig, level_of, problems_to_learn
from training.learn.rl.model import NORM, check_installed, libraries, make_env, scaled_inputs
from training.learn.rl.train import train_network
from training.runs import Draw, Workers
from training.runs.execution import Store, run_all
from training.runs.jobs import Series, Work

LEVELS = (
    "RTPath-Random-16x16-v0",
    "RTPathFog-Random-16x16-v0",
    "RTPath-Rooms-16x16-v0",
    "RTPathFog-Rooms-16x16-v0",
)
RECIPE = "recipe"
LEARNERS = ("PPO", "MaskablePPO", "RecurrentPPO", RECIPE)
RANDOM, GREEDY, RULE, BEST, ASTAR, ANCHOR = "random", "greedy", "rule", "best bounded", "astar", "dstar-lite"
POLICIES = (RANDOM, GREEDY, RULE, *LEARNERS, BEST, ASTAR, ANCHOR)
LOOKS = 5  # at the validation split, while a learner learns
_PER_MAP = 1 << 20  # all problems of a split


class Learning(NamedTuple):
    """The settings of PPO and its kin, chosen on validation splits.

    Attributes:
        episodes: how many run side by side; with ``n_steps`` they make rollouts of 4,000 steps.
        n_steps, batch_size, n_epochs, ent_coef: as Stable-Baselines3 calls them.
        lstm: units of the recurrent one's memory.
        lstm_batch: its ``batch_size``: it steps through a batch in Python, so that larger ones take half the time.
    """

    episodes: int = 125
    n_steps: int = 32
    batch_size: int = 500
    n_epochs: int = 4
    ent_coef: float = 0.01
    lstm: int = 64
    lstm_batch: int = 1000


LEARNING = Learning()


@dataclass(frozen=True)
class BaselineConfig:
    """What is compared.

    Attributes:
        levels: ids of levels.
        seeds: how many trainings of every learner.
        steps: of every training.
        learners: those of ``LEARNERS`` that take part; all other policies always do.
    """

    levels: tuple[str, ...] = LEVELS
    seeds: int = 5
    steps: int = 200_000
    learners: tuple[str, ...] = LEARNERS

    def __post_init__(self) -> None:
        for name in self.levels:
            if not level_of(name):
                raise InputError(f"levels must be ids such as {LEVELS[0]}, not {quoted(name)}")
        for name in self.learners:
            choice("learners", name, LEARNERS)
        if not self.levels or len(set(self.levels)) < len(self.levels):
            raise InputError("levels must be given, and each of them once")
        whole("seeds", self.seeds, 1, 1000)
        whole("steps", self.steps, LEARNING.episodes)

    @property
    def count(self) -> int:
        """How many cells there are."""
        return len(list(self.cells()))

    def cells(self) -> Iterator["Cell"]:
        """Yield all cells; what has no chance in it has one seed."""
        taking_part = [policy for policy in POLICIES if policy in self.learners or policy not in LEARNERS]
        for level in self.levels:
            for policy in taking_part:
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
        looks, label, began = list[list[float]](), self.policy, time.process_time()
        if self.policy == RECIPE:
            found, looks = self._follow_recipe()
        elif self.policy in LEARNERS:
            found, looks = self._learn()
        elif self.policy == RULE:
            config, problems = self._config(), problems_of(self._parts().test)
            found = self._judge(LeastVisited(problems, config.window), "test", **config.walking)
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
            "seconds": time.process_time() - began,
            "looks": looks,
        }

    def _judge(self, policy: Any, part: str, **more: Any) -> Evaluation:
        split = f"{level_of(self.level)}-{part}"
        return evaluate(self.level, policy, split, seed=self.seed, **more)

    def _config(self, **more: Any) -> RLConfig:
        return RLConfig.usual(self.level, seed=self.seed, **more)

    def _parts(self) -> Parts:
        return draw_parts(dict.fromkeys(("train", "validation", "test")), Draw(_PER_MAP), level_of(self.level))

    def _follow_recipe(self) -> tuple[Evaluation, list[list[float]]]:
        parts = self._parts()
        with TemporaryDirectory(prefix="rt_gym-baselines-") as folder:
            setup = TrainingSetup(parts.train, parts.validation, Workers(jobs=1), Path(folder))
            network, progress = train_network(self._config(steps=self.steps), setup)
        looks = [[float(value or 0.0) for value in (look[0], *look[2:])] for look in progress.looks]
        return self._judge(network.choose, "test", **network.settings), looks

    def _learn(self) -> tuple[Evaluation, list[list[float]]]:
        """Train a learner, whose policy acts by chance when it is judged, as it did when it learned."""
        config, looks = self._config(episodes=LEARNING.episodes), list[list[float]]()
        env = make_env(config, problems_to_learn(config, self._parts().train))
        model = make_learner(self.policy, env, config)
        for part in range(1, LOOKS + 1):
            model.learn(self.steps * part // LOOKS - model.num_timesteps, reset_num_timesteps=False)
            found = self._judge(model, "validation", deterministic=False, **config.walking)
            looks.append([model.num_timesteps, float(found["solved"].mean()), float(weighted(found).mean())])
        return self._judge(model, "test", deterministic=False, **config.walking), looks


def make_learner(name: str, env: Any, config: RLConfig) -> Any:
    """Return an untrained learner, whose rate, discount and layers are those of the recipe."""
    torch, sb3 = libraries()
    import sb3_contrib

    torch.set_num_threads(1)  # networks this small are slower on more
    recurrent = name == "RecurrentPPO"
    net = {"net_arch": list(config.hidden), "activation_fn": torch.nn.ReLU} | scaled_inputs(env)
    return getattr(sb3 if name == "PPO" else sb3_contrib, name)(
        "MlpLstmPolicy" if recurrent else "MlpPolicy",
        env,
        learning_rate=config.rate,
        gamma=config.gamma,
        n_steps=LEARNING.n_steps,
        batch_size=LEARNING.lstm_batch if recurrent else LEARNING.batch_size,
        n_epochs=LEARNING.n_epochs,
        ent_coef=LEARNING.ent_coef,
        max_grad_norm=NORM,
        seed=config.seed,
        device="cpu",
        policy_kwargs=net | ({"lstm_hidden_size": LEARNING.lstm} if recurrent else {}),
    )


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
            cell["weighted"], cell["seconds"], cell["looks"]
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
    own: dict[str, list[dict[str, Any]]] = {}
    for cell, found in cells.items():
        if cell.level == level:
            own.setdefault(cell.policy, []).append(found)
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
    found = {
        policy: {"interquartile_mean": list(interquartile_mean(scores_of(documents, policy)))}
        for policy in documents[0]["policies"]
    }
    if RECIPE in found:
        recipe = scores_of(documents, RECIPE)
        for policy, own in found.items():
            own["beaten_by_recipe"] = list(probability_of_improvement(recipe, scores_of(documents, policy)))
    return found

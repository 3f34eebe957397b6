"""The training itself: imitate, learn, look at the validation maps now and then, keep the best, stop in time."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from math import inf, log
from pathlib import Path
from typing import Any

from agents.network import Network, load_network
from training.compare import Allowance, Course, Plan, Score, Workers, enlist_all, run_plan, score_all
from training.depth import MAX_MOVES, fixed_depths
from training.rl.course import Training, balanced
from training.rl.imitation import clone, examples
from training.rl.model import exported, libraries, load_checkpoint, make_env, make_model, save_checkpoint

Told = Callable[[float, str], Any]
_CRITIC_FIRST = 0.05  # of the steps after imitation: a critic that knows nothing would spoil what was imitated


@dataclass
class Progress:
    """How a training went.

    Attributes:
        looks: of every look at the validation maps the steps so far, the mean return since the last, and the
            suboptimality and the two ratios to fixed depths there, None where a run failed.
        merit: of the best network: the mean of the logarithms of both ratios.
        idle: looks since it was found.
    """

    looks: list[list[float | None]] = field(default_factory=list)
    merit: float = -inf
    idle: int = 0


def train(
    training: Training,
    courses: tuple[Course, ...],
    validation: tuple[Course, ...],
    folder: Path,
    workers: Workers | None = None,
    told: Told = lambda amount, text: None,
    tensorboard: Path | None = None,
) -> tuple[Network, Progress]:
    """Train a network and return the one that was best on the validation maps.

    The folder keeps a checkpoint of every look: the same call goes on from the last one. Episodes that were under way
    are begun anew, and what DQN remembers of earlier ones is gathered again.
    """
    school = _School(training, courses, validation, folder, workers or Workers(), told)
    env = make_env(training, balanced(courses))
    try:
        model = make_model(training, env, tensorboard)
        school.prepare(model)
        if not school.over:
            left = training.steps - model.num_timesteps
            model.learn(left, callback=_callback(school), reset_num_timesteps=False, tb_log_name=training.algo)
            school.look(model)
    finally:
        env.close()
    return load_network(school.best), school.progress


class _School:
    """One training under way."""

    def __init__(
        self,
        training: Training,
        courses: tuple[Course, ...],
        validation: tuple[Course, ...],
        folder: Path,
        workers: Workers,
        told: Told,
    ) -> None:
        self.training, self.courses, self.validation = training, courses, validation
        self.workers, self.told = workers, told
        parts = [asdict(training), *([course.digest, course.tasks] for course in (*courses, *validation))]
        key = sha256(json.dumps(parts, default=repr).encode()).hexdigest()[:16]
        self.folder = folder
        self.checkpoint, self.best = folder / f"{key}.pt", folder / f"{key}.npz"
        self.progress = Progress()
        self.seen = 0

    def prepare(self, model: Any) -> None:
        """Go on where a checkpoint stands, or begin with imitation and a first look."""
        training = self.training
        if self.checkpoint.exists() and self.best.exists():
            self.progress = Progress(**load_checkpoint(self.checkpoint, model))
            self.seen = model.num_timesteps
            self.told(self.seen, "going on")
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        if training.teacher != "none":
            self.told(0, f"imitating the {training.teacher}")
            clone(model, examples(training, self.courses, self.workers), training.seed)
        self.look(model)

    @property
    def over(self) -> bool:
        """Whether the training has had its steps, or its patience is at an end."""
        return self.seen >= self.training.steps or self.progress.idle >= self.training.patience

    def look(self, model: Any) -> None:
        """Judge the network on the validation maps, keep it if it is the best so far, and leave a checkpoint."""
        if self.progress.looks and self.progress.looks[-1][0] == model.num_timesteps:
            return
        network, progress = exported(model, self.training), self.progress
        score = judge(network, self.validation, self.folder, self.workers)
        merit = merit_of(score)
        if merit > progress.merit or not self.best.exists():
            network.save(self.best)
            progress.merit, progress.idle = merit, 0
        else:
            progress.idle += 1
        parts = (score.quality, score.ratio_mean, score.ratio_pooled)
        figures = [None if part is None else part.value for part in parts]
        progress.looks.append([model.num_timesteps, _mean_return(model), *figures])
        save_checkpoint(self.checkpoint, model, asdict(progress))
        self.told(model.num_timesteps - self.seen, f"{shown(score)} on the validation maps")
        self.seen = model.num_timesteps


def judge(network: Network, courses: tuple[Course, ...], folder: Path, workers: Workers) -> Score:
    """Return the score of a network beside the fixed depths on the same problems."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "candidate.npz"
    network.save(file)
    contenders = (*fixed_depths(), *enlist_all([f"policy-lrta:policy={file}"], [Allowance.of(None)]))
    rows, _ = run_plan(Plan(contenders, courses, max_moves=MAX_MOVES), folder, workers)
    return score_all(rows)[-1]


def merit_of(score: Score) -> float:
    """Return the mean of the logarithms of both ratios, nothing at all where a run failed."""
    if score.ratio_mean is None or score.ratio_pooled is None:
        return -inf
    return 0.5 * (log(score.ratio_mean.value) + log(score.ratio_pooled.value))


def shown(score: Score) -> str:
    """Return the ratios of a score in words."""
    if score.ratio_mean is None or score.ratio_pooled is None:
        return "failed"
    return f"ratios {score.ratio_mean.value:.2f} and {score.ratio_pooled.value:.2f}"


def _mean_return(model: Any) -> float | None:
    endings = model.ep_info_buffer
    return sum(ending["r"] for ending in endings) / len(endings) if endings else None


def _callback(school: _School) -> Any:
    """Return what Stable-Baselines3 calls after every step: it looks now and then and may end the training."""
    libraries()
    from stable_baselines3.common.callbacks import BaseCallback

    class Looker(BaseCallback):
        """Looks every so many steps; until then the actor may have to wait for its critic."""

        def _on_training_start(self) -> None:
            self._wait(school.training.teacher != "none")

        def _on_step(self) -> bool:
            if self.num_timesteps >= _CRITIC_FIRST * school.training.steps:
                self._wait(False)
            if self.num_timesteps >= school.seen + school.training.every:
                school.look(self.model)
            return not school.over

        def _wait(self, still: bool) -> None:
            from training.rl.model import actor

            for layer in actor(self.model):
                layer.requires_grad_(not still)

    return Looker()

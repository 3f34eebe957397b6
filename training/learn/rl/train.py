"""The training itself: imitate, learn, validate at intervals, keep the best network, stop early."""

import json
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from agents.policies.networks import Network, load_network
from training.learn.rl.course import Training, balanced
from training.learn.rl.evolution import evolve_network
from training.learn.rl.imitation import clone, examples
from training.learn.rl.judges import judge_for
from training.learn.rl.model import (
    actor,
    check_installed,
    exported,
    libraries,
    load_checkpoint,
    make_env,
    make_model,
    save_checkpoint,
)
from training.learn.rl.progress import Progress
from training.learn.select import OnProgress
from training.runs import Course, Workers

_CRITIC_FIRST = 0.05  # of the steps after imitation: a critic that knows nothing would spoil what was imitated


def train(
    training: Training,
    courses: tuple[Course, ...],
    validation: tuple[Course, ...],
    folder: Path,
    workers: Workers | None = None,
    on_progress: OnProgress = lambda amount, text: None,
    tensorboard: Path | None = None,
) -> tuple[Network, Progress]:
    """Train a network and return the one that was best on the validation maps.

    The folder keeps a checkpoint of every look: the same call goes on from the last one. Episodes that were under way
    are begun anew, and what DQN remembers of earlier ones is gathered again.

    Raises:
        InputError: if a library is missing, or a checkpoint is damaged.
    """
    check_installed(training, tensorboard)
    if training.algo == "cma":
        return evolve_network(training, courses, validation, folder, workers or Workers(), on_progress)
    torch, _ = libraries()
    school = _School(training, courses, validation, folder, workers or Workers(), on_progress)
    env = make_env(training, balanced(courses))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # networks this small are slower on more
    try:
        model = make_model(training, env, tensorboard)
        school.prepare(model)
        if not school.over:
            left = training.steps - model.num_timesteps
            model.learn(left, callback=_callback(school), reset_num_timesteps=False, tb_log_name=training.algo)
            school.look(model)
    finally:
        torch.set_num_threads(threads)
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
        on_progress: OnProgress,
    ) -> None:
        self.training, self.courses, self.workers, self.on_progress = training, courses, workers, on_progress
        self.judge = judge_for(training, validation, folder, workers)
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
            self.on_progress(self.seen, "going on")
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        if training.teacher != "none":
            self.on_progress(0, f"imitating the {training.teacher}")
            clone(model, examples(training, self.courses, self.workers), training.seed)
        self.progress = Progress(self.judge.names, self.judge.level())
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
        found = self.judge.judge(network)
        if found.merit > progress.merit or not self.best.exists():
            network.save(self.best)
            progress.merit, progress.idle = found.merit, 0
        else:
            progress.idle += 1
        progress.looks.append([model.num_timesteps, _mean_return(model), *found.figures])
        save_checkpoint(self.checkpoint, model, asdict(progress))
        self.on_progress(model.num_timesteps - self.seen, f"{found.text} on the validation maps")
        self.seen = model.num_timesteps


def _mean_return(model: Any) -> float | None:
    endings = model.ep_info_buffer
    return sum(ending["r"] for ending in endings) / len(endings) if endings else None


def _callback(school: _School) -> Any:
    """Return what Stable-Baselines3 calls after every step: it looks now and then and may end the training."""
    from stable_baselines3.common.callbacks import BaseCallback

    class Looker(BaseCallback):
        """Validates every ``every`` steps; at first the actor may be frozen until its critic has learned."""

        def _on_training_start(self) -> None:
            self._wait(school.training.teacher != "none")

        def _on_step(self) -> bool:
            if self.num_timesteps >= _CRITIC_FIRST * school.training.steps:
                self._wait(False)
            if self.num_timesteps >= school.seen + school.training.every:
                school.look(self.model)
            return not school.over

        def _wait(self, still: bool) -> None:
            for layer in actor(self.model):
                layer.requires_grad_(not still)

    return Looker()

"""``--algo cma``: takes and returns what a training by reinforcement does, but evolves networks."""

from pathlib import Path

import numpy as np

from agents.policies.networks import Network
from rt_gym.archive import load_archive
from training.learn.evolve import KIND, LAYOUT, VERSION, Evolution, evolve
from training.learn.log import Logging
from training.learn.rl.course import Training
from training.learn.rl.judges import RatioJudge
from training.learn.rl.progress import Progress
from training.learn.select import OnProgress, School
from training.runs import Course, Workers


def settings_of(training: Training) -> Evolution:
    """Return the settings of the evolution; those that a training does not have are as they come."""
    (hidden,) = training.hidden
    return Evolution(
        decide=training.decide,
        hidden=hidden,
        generations=training.generations,
        check=min(Evolution.check, training.generations),
        patience=training.patience,
        seed=training.seed,
    )


def evolve_network(
    training: Training,
    courses: tuple[Course, ...],
    validation: tuple[Course, ...],
    folder: Path,
    workers: Workers,
    on_progress: OnProgress,
) -> tuple[Network, Progress]:
    """Evolve a network, and return it with its looks at the validation maps, one for every check."""
    settings, logging = settings_of(training), Logging(training.d_max, training.history)
    folder.mkdir(parents=True, exist_ok=True)
    network = evolve(School(courses, validation, logging, 0, workers, folder), settings, on_progress)
    file = folder / f"evolution-{settings.decide}-{settings.seed}.npz"
    ratios = np.exp(load_archive(file, KIND, VERSION, LAYOUT)[1]["merits"])
    looks = [[settings.check * number, None, *map(float, pair)] for number, pair in enumerate(ratios, start=1)]
    return network, Progress(RatioJudge.names, 1.0, looks)

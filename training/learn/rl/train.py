"""The training itself: imitate, learn, validate at intervals, keep the best network, stop early, compare."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.policies.networks import BOTH, MOVE, Network, load_network
from rt_gym import InputError
from rt_gym.archive import load_archive
from training.judge import Findings, policies, think
from training.judge.advice import PRICE, leaderboard_table, score
from training.judge.policies import NETWORK, PolicyFindings
from training.judge.tables import Table
from training.learn import OnProgress, Parts, Reporting, TrainingSetup, extended, problems_of, silent
from training.learn.evolve import KIND, LAYOUT, VERSION, EvolutionConfig, evolve, history_file
from training.learn.merit import (
    LONGEST_WALK,
    WORK,
    PathValidation,
    RatioValidation,
    TimeValidation,
    Validation,
    WalkValidation,
    compare,
    fixed_depths,
    guided_opponents,
    opponents,
)
from training.learn.rl import Progress, RLConfig, problems_to_learn
from training.learn.rl.model import (
    WALK_BATCH,
    actor,
    check_installed,
    clone,
    exported,
    libraries,
    load_checkpoint,
    make_env,
    make_model,
    rule_of,
    save_checkpoint,
    teacher_examples,
)
from training.runs import Allowance, Course, Workers, enlist
from training.runs.execution import say_damaged

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CRITIC_FIRST = 0.05  # of the steps after imitation: a critic that knows nothing would spoil what was imitated
CHECKPOINTS = "checkpoints"
PROBLEMS = 512  # to train, and to choose networks for depth and goal on


@dataclass(frozen=True)
class NetworkResult:
    """What a training of a network found.

    Attributes:
        network: the one that was best on the validation maps.
        progress: how the training went.
        comparison: the runs on the test maps, as JSON takes them.
        tables, remarks: the same for people.
        files: what was written.
        findings: the runs on the test maps: of agents, or of policies in their environment.
    """

    network: Network
    progress: Progress
    comparison: dict[str, Any]
    tables: list[Table]
    remarks: list[str]
    files: list[Path]
    findings: Findings | PolicyFindings

    def document(self) -> dict[str, Any]:
        """Return all of it, as JSON takes it."""
        extra = {
            "policy": self.network.about,
            "looks": self.progress.looks,
            "files": [str(path) for path in self.files],
        }
        return self.comparison | extra


def train_rl(
    config: RLConfig,
    parts: Parts,
    folder: Path,
    workers: Workers,
    reporting: Reporting = silent,
    tensorboard: Path | None = None,
) -> NetworkResult:
    """Train a network and compare it on the test maps; network, tables and plots are written into a folder.

    The folder, which must exist, keeps checkpoints: the same call goes on from the last one.
    """
    setup = TrainingSetup(parts.train, parts.validation, workers, folder / CHECKPOINTS)
    with reporting("beginning", config.generations if config.algo == "cma" else config.steps) as advance:
        network, progress = train_network(config, setup, lambda *told: advance(*told), tensorboard)
    file = folder / "policy.npz"
    network.save(file)
    if config.decide == "think":
        found = _beside_slices(config, network, folder, parts.test)
    elif config.decide == BOTH:
        found = _beside_guided(config, network, file, parts.test, workers, reporting)
    elif config.decide == MOVE:
        found = _beside_walkers(config, network, file, parts.test)
    else:
        found = _beside_depths(network, file, parts.test, workers, reporting)
    comparison, tables, remarks, written, findings = found
    files = [file, *written, _draw(progress, folder)]
    return NetworkResult(network, progress, comparison, tables, remarks, files, findings)


def _draw(progress: Progress, folder: Path) -> Path:
    from training.judge.plots import save

    return save(draw_validation(progress.names, progress.level, progress.looks), folder / "training.png")


_COLOURS = ("#0072b2", "#d55e00")


def draw_validation(names: Sequence[str], level: float, looks: Sequence[Sequence[float | None]]) -> "Figure":
    """Draw the figures of a training on the validation maps over its steps, or over its generations.

    Args:
        names: what the figures are called.
        level: what is reached without a policy.
        looks: rows of steps, mean return (None during an evolution) and figures, None where a run failed.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    from training.judge.plots import STYLE

    steps, _, *figures = np.array(looks, float).T  # None becomes not a number, which leaves a gap
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7, 4.2), layout="constrained")
        axes = figure.subplots()
        for name, values, colour in zip(names, figures, _COLOURS, strict=False):
            axes.plot(steps, values, color=colour, marker="o", label=name)
        axes.axhline(level, color="#33383d", lw=0.8, label="best without a policy")
        axes.set_title("On the validation maps", loc="left", fontweight="bold")
        axes.set(xlabel="steps" if looks[-1][1] is not None else "generations")
        if np.nanmax(np.array(figures), initial=0.0) > 10 * level:  # figures of different sizes
            axes.set(yscale="log")
        else:
            axes.set(ylim=(0, None))
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.legend(frameon=False)
    return figure


# A document, tables, remarks, files, and what the runs gave.
_Comparison = tuple[dict[str, Any], list[Table], list[str], list[Path], Findings | PolicyFindings]


def _beside_slices(config: RLConfig, network: Network, folder: Path, test: tuple[Course, ...]) -> _Comparison:
    """Return how fixed numbers of slices, the rules and the network do."""
    times = think.contest({NETWORK: network.choose}, problems_of(test), **config.thinking)
    findings = think.judged(times, test, {"max_moves": think.most_moves(config.thinking)} | _asked(config, network))
    document = findings.document() | {"time_ratios": {name: time.ratio for name, time in times.items()}}
    return document, findings.tables(), findings.remarks(), findings.write(folder), findings


def _beside_walkers(config: RLConfig, network: Network, file: Path, test: tuple[Course, ...]) -> _Comparison:
    """Return how chance, rules, agents that search and the network do."""
    found = policies.contest(config.env, network, problems_of(test), config.seed, config.judged_moves)
    findings = policies.judged(found, test, _asked(config, network))
    document = findings.document() | {"walks": policies.document(found)}
    remarks = [*findings.remarks(), *_what_now(config, file)]
    return document, findings.tables(), remarks, findings.write(file.parent), findings


def _asked(config: RLConfig, network: Network) -> dict[str, Any]:
    """Return what the settings of a comparison in an environment say of its training."""
    return {"seed": config.seed, "training": network.about}


def _what_now(config: RLConfig, file: Path) -> list[str]:
    """Return how to go on with a network that walks."""
    judged = "".join(f", max_moves={most}" for most in [config.judged_moves] if most)
    return [
        "What now?",
        f"  network = agents.policies.networks.load_network({str(file)!r})",
        f"  rt_gym.evaluate({config.env!r}, network.choose, {config.splits + '-test'!r}{judged}, **network.settings)",
    ]


def _beside_depths(
    network: Network, file: Path, test: tuple[Course, ...], workers: Workers, reporting: Reporting
) -> _Comparison:
    """Return how fixed depths, rules, the ready-made tree, the oracle and the network do, and their leaderboard."""
    none = Allowance.of(None)
    own = enlist("classifier-lrta", {}, none), enlist("policy-lrta", {"policy": str(file)}, none)
    contenders = (*fixed_depths(), *opponents(network.d_max), *own)
    findings = compare(contenders, test, file.parent / "test", workers, reporting)
    document, tables, remarks = findings.document(), findings.tables(), findings.remarks()
    try:
        standings = score(findings.runs)
        document["leaderboard"] = [standing.document() for standing in standings]
        tables.append(leaderboard_table(standings, PRICE))
    except InputError as error:  # on easy maps the oracle saves nothing
        remarks.append(f"There is no leaderboard: {error}.")
    return document, tables, remarks, findings.write(file.parent, {"training": network.about}), findings


def _beside_guided(
    config: RLConfig, network: Network, file: Path, test: tuple[Course, ...], workers: Workers, reporting: Reporting
) -> _Comparison:
    """Return how fixed pairs of depth and goal, agents of the field, the hand rule and the network do."""
    rule = file.with_name("rule.npz")
    rule_of(config).save(rule)
    own = [enlist("general-lrta", {"policy": str(one)}, Allowance.of(None)) for one in (rule, file)]
    contenders = (*guided_opponents(), *own)
    findings = compare(contenders, test, file.parent / "test", workers, reporting, LONGEST_WALK)
    written = findings.write(file.parent, {"training": network.about})
    return findings.document(), findings.tables(), findings.remarks(), [rule, *written], findings


def train_network(
    config: RLConfig,
    setup: TrainingSetup,
    on_progress: OnProgress = lambda amount, text: None,
    tensorboard: Path | None = None,
) -> tuple[Network, Progress]:
    """Train a network and return the one that was best on the validation maps.

    The folder keeps a checkpoint of every look: the same call goes on from the last one. Episodes that were under way
    are begun anew, and what DQN remembers of earlier ones is gathered again.

    Raises:
        InputError: if a library is missing.
    """
    check_installed(config, tensorboard)
    if config.algo == "cma":
        return evolve_network(config, setup, on_progress)
    torch, _ = libraries()
    run = _Run(config, setup, on_progress)
    env = make_env(config, problems_to_learn(config, setup.train))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # networks this small are slower on more
    try:
        model = make_model(config, env, tensorboard)
        run.prepare(model)
        if not run.over:
            left = config.steps - model.num_timesteps
            model.learn(left, callback=_callback(run), reset_num_timesteps=False, tb_log_name=config.algo)
            run.look(model)
    finally:
        torch.set_num_threads(threads)
        env.close()
    return load_network(run.best), run.progress


class _Run:
    """One training under way."""

    def __init__(self, config: RLConfig, setup: TrainingSetup, on_progress: OnProgress) -> None:
        self.config, self.setup, self.on_progress = config, setup, on_progress
        self.validation = _validation(config, setup)
        parts = [asdict(config), *([course.digest, course.tasks] for course in (*setup.train, *setup.validation))]
        key = sha256(json.dumps(parts, default=repr).encode()).hexdigest()[:16]
        self.checkpoint, self.best = setup.folder / f"{key}.pt", setup.folder / f"{key}.npz"
        self.progress = Progress()
        self.seen = 0

    def prepare(self, model: Any) -> None:
        """Go on where a checkpoint stands, or begin with imitation and a first look."""
        config = self.config
        if self.checkpoint.exists() and self.best.exists() and self._goes_on(model):
            return
        self.setup.folder.mkdir(parents=True, exist_ok=True)
        if config.teacher != "none":
            self.on_progress(0, f"imitating the {config.teacher}")
            examples = teacher_examples(config, self.setup.train, self.setup.workers)
            clone(model, examples, config.seed, WALK_BATCH if config.decide == MOVE else None)
        self.progress = Progress(self.validation.names, self.validation.level())
        self.look(model)

    def _goes_on(self, model: Any) -> bool:
        """Bring everything to where it was, unless what was kept is damaged."""
        try:
            load_network(self.best)
            self.progress = Progress(**load_checkpoint(self.checkpoint, model))
        except InputError:
            say_damaged(self.checkpoint, "the training is begun")
            self.best.unlink()
            return False
        self.seen = model.num_timesteps
        self.on_progress(self.seen, "going on")
        return True

    @property
    def over(self) -> bool:
        """Whether the training has had its steps, or its patience is at an end."""
        return self.seen >= self.config.steps or self.progress.idle >= self.config.patience

    def look(self, model: Any) -> None:
        """Rate the network on the validation maps, keep it if it is the best so far, and leave a checkpoint."""
        if self.progress.looks and self.progress.looks[-1][0] == model.num_timesteps:
            return
        network, progress = exported(model, self.config), self.progress
        rating = self.validation.rate(network)
        if rating.merit > progress.merit or not self.best.exists():
            network.save(self.best)
            progress.merit, progress.idle = rating.merit, 0
        else:
            progress.idle += 1
        progress.looks.append([model.num_timesteps, _mean_return(model), *rating.figures])
        save_checkpoint(self.checkpoint, model, asdict(progress))
        self.on_progress(model.num_timesteps - self.seen, f"{rating.text} on the validation maps")
        self.seen = model.num_timesteps


def _validation(config: RLConfig, setup: TrainingSetup) -> Validation:
    if config.decide == "think":
        return TimeValidation(setup.validation, config.thinking)
    if config.decide == MOVE:
        return PathValidation(setup.validation, config.env, config.walking, config.judged_moves)
    if config.decide == BOTH:
        courses = extended(setup.validation, PROBLEMS)
        return WalkValidation(courses, setup.workers, rule_of(config))
    return RatioValidation(setup.validation, setup.folder, setup.workers)


def _mean_return(model: Any) -> float | None:
    endings = model.ep_info_buffer
    return sum(ending["r"] for ending in endings) / len(endings) if endings else None


def _callback(run: _Run) -> Any:
    """Return what Stable-Baselines3 calls after every step: it looks now and then and may end the training."""
    from stable_baselines3.common.callbacks import BaseCallback

    class Looker(BaseCallback):
        """Validates every ``every`` steps; at first the actor may be frozen until its critic has learned."""

        def _on_training_start(self) -> None:
            self._wait(run.config.teacher != "none")

        def _on_step(self) -> bool:
            if self.num_timesteps >= _CRITIC_FIRST * run.config.steps:
                self._wait(False)
            if run.seen + run.config.every <= self.num_timesteps < run.config.steps:
                run.look(self.model)
            # A rollout that ends with the last step is still learned from: so the end is after it, not with it.
            return run.progress.idle < run.config.patience and self.num_timesteps <= run.config.steps

        def _wait(self, still: bool) -> None:
            for layer in actor(self.model):
                layer.requires_grad_(not still)

    return Looker()


def evolve_network(config: RLConfig, setup: TrainingSetup, on_progress: OnProgress) -> tuple[Network, Progress]:
    """Evolve a network, and return it with its looks at the validation maps, one for every check."""
    evolution = evolution_config(config)
    network = evolve(setup, evolution, config.d_max, config.history, on_progress)
    _, arrays = load_archive(history_file(setup.folder, evolution), KIND, VERSION, {"merits": LAYOUT["merits"]})
    figures = [evolution.figures(pair) for pair in arrays["merits"]]
    looks: list[list[float | None]] = [
        [evolution.check * number, None, *(None if value == inf else value for value in pair)]
        for number, pair in enumerate(figures, start=1 - evolution.first)
    ]
    if evolution.first:
        return network, Progress(WalkValidation.names, figures[0][0], looks)
    return network, Progress(RatioValidation.names, 1.0, looks)


def evolution_config(config: RLConfig) -> EvolutionConfig:
    """Return the settings of the evolution; those that a training by reinforcement does not have are as they come."""
    (hidden,) = config.hidden
    both: dict[str, Any] = {"pooled": WORK, "problems": PROBLEMS, "shares": 2, "sigma": 0.1}
    return EvolutionConfig(
        decide=config.decide,
        hidden=hidden,
        generations=config.generations,
        check=min(EvolutionConfig.check, config.generations),
        patience=config.patience,
        seed=config.seed,
        **(both if config.decide == BOTH else {}),
    )

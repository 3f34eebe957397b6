"""The learners of Stable-Baselines3: how they are made, kept on disk, and turned into networks for our agents.

A checkpoint holds tensors and numbers only and is read as such. The ``.zip`` files of Stable-Baselines3 hold pickles,
which can run code; one is read only by ``import_zip``, and only if the caller says that it can be trusted.

The second half is behaviour cloning: a network begins by doing what a teacher would. States come from the walks of the
oracle, or of the ready-made tree, on the training maps. What the teacher would choose there follows from the samples:
the oracle's label, the tree's depth, or the depth at which the hand rule ``settle`` would stop. In RTThink-v0 the
teacher is a rule of ``training.judge.think``, in RTDepthGoal-v0 that of ``training.learn.evolve``, in path environments
that of ``training.judge.policies``; these walk themselves.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from agents.policies.networks import BOTH, KNOWN, MOVE, Network
from agents.policies.trees import INPUTS, add_scores, largest, load_policy
from agents.rule_lrta import STABLE
from rt_gym import InputError
from rt_gym.archive import open_zip
from rt_gym.envs.path import PathSettings
from rt_gym.errors import MissingLibrary, quoted
from rt_gym.features.decision import LAYERS, SITUATION
from rt_gym.features.image import MOST
from rt_gym.features.scaling import squashed
from rt_gym.files import PathLike, atomic_write, read_bytes, refusing, seal, shown, unseal
from rt_gym.jit import kernel
from training.judge.policies import LeastVisited
from training.judge.think import BY_HAND
from training.learn import problems_of
from training.learn.evolve import REGIONS, Encoding
from training.learn.log import Logging, Samples, log_samples
from training.learn.rl import RLConfig, problems_to_learn
from training.learn.targets import Recipe, by_layers
from training.runs import Course, Workers

_MISSING = "reinforcement learning needs Stable-Baselines3: pip install 'rt_gym[rl]'"
_MOST_BYTES = 1 << 32  # of a checkpoint
_MOST_UNPACKED = 1 << 27  # bytes of a model of Stable-Baselines3, which is read once for every learner
_WIDE = 64  # hidden units of critics, which never leave the training
# The largest norm of a gradient in path environments. That of the critic, whose targets are sums over a whole walk, is
# far larger than that of the actor, and the usual 0.5 cuts both together.
NORM = 10.0
_CELLS, _VISITS = 4.0, 2.0  # of the way to the goal, and of a cell, that are one in a network


def libraries() -> tuple[Any, Any]:
    """Return PyTorch and Stable-Baselines3, or say how to get them."""
    try:
        import stable_baselines3
        import torch
    except ImportError:
        raise MissingLibrary(_MISSING) from None
    return torch, stable_baselines3


def check_installed(config: RLConfig, log: Path | None = None) -> None:
    """Refuse a training, with a log for TensorBoard or without, whose libraries are missing."""
    if config.algo == "cma":
        if log is not None:
            raise InputError("cma leaves no log for TensorBoard: its figures are in the table and the plot")
        return
    libraries()
    if config.algo == "maskable-ppo":
        _maskable_ppo()
    if log is not None and find_spec("tensorboard") is None:
        raise MissingLibrary("a log for TensorBoard needs it: pip install 'rt_gym[rl]'")


def make_env(config: RLConfig, problems: Any) -> Any:
    """Return the episodes to learn from, as Stable-Baselines3 takes them."""
    libraries()
    from rt_gym.envs.sb3 import SB3VecEnv

    env = SB3VecEnv(config.env, config.episodes, **config.env_settings(problems))
    env.seed(config.seed)
    return env


def make_model(config: RLConfig, env: Any, log: Path | None = None) -> Any:
    """Return an untrained learner."""
    torch, sb3 = libraries()
    torch.manual_seed(config.seed)
    common: dict[str, Any] = {
        "policy": "MlpPolicy",
        "env": env,
        "gamma": config.gamma,
        "learning_rate": config.rate,
        "seed": config.seed,
        "device": "cpu",
        "tensorboard_log": None if log is None else str(log),
    }
    units, walks = list(config.hidden), config.decide == MOVE
    norm, inputs = ({"max_grad_norm": NORM}, scaled_inputs(env)) if walks else ({}, {})
    if config.algo == "dqn":
        return sb3.DQN(
            **common, **norm, policy_kwargs={"net_arch": units, "activation_fn": torch.nn.ReLU} | inputs,
            batch_size=512, train_freq=1, gradient_steps=4, buffer_size=500_000,
            learning_starts=min(10_000, config.steps // 10), target_update_interval=2_000,
            exploration_fraction=0.3, exploration_final_eps=0.02,
        )  # fmt: skip
    net = {"net_arch": {"pi": units, "vf": [_WIDE, _WIDE]}, "activation_fn": torch.nn.ReLU if walks else torch.nn.Tanh}
    net |= inputs
    if config.algo == "a2c":
        return sb3.A2C(**common, **norm, policy_kwargs=net, n_steps=16, gae_lambda=0.95, ent_coef=0.001)
    steps = min(max(16, 16_384 // config.episodes), max(1, config.steps // config.episodes))
    learner = sb3.PPO if config.algo == "ppo" else _maskable_ppo()
    return learner(
        **common, **norm, policy_kwargs=net, n_steps=steps, batch_size=min(2048, steps * config.episodes), n_epochs=4,
        gae_lambda=0.98, ent_coef=0.001, clip_range=0.2, target_kl=0.03,
    )  # fmt: skip


def scaled_inputs(env: Any) -> dict[str, Any]:
    """Return what makes a policy read the numbers of a path environment about as large as each other."""
    from stable_baselines3.common.torch_layers import FlattenExtractor

    class Scaled(FlattenExtractor):
        """Divides every number by its scale."""

        def __init__(self, observation_space: Any) -> None:
            super().__init__(observation_space)
            self.register_buffer("scale", libraries()[0].from_numpy(input_scales(settings)))

        def forward(self, observations: Any) -> Any:
            scale: Any = self.scale
            return super().forward(observations) / scale

    settings: PathSettings = env.get_attr("settings", 0)[0]
    return {"features_extractor_class": Scaled}


def input_scales(settings: PathSettings) -> NDArray[np.float32]:
    """Return what the numbers of an observation are divided by, so that cells and visits count in a network.

    An observation is divided by the side of the map, of which a step is a small part, and by the most visits.
    """
    scales = np.ones(settings.size, np.float32)
    scales[settings.parts["goal"]] = _CELLS / settings.side
    if settings.visits:
        scales[settings.parts["visits"]] = _VISITS / MOST
    return scales


def _maskable_ppo() -> Any:
    try:
        from sb3_contrib import MaskablePPO
    except ImportError:
        raise MissingLibrary("maskable-ppo needs sb3-contrib: pip install 'rt_gym[rl]'") from None
    return MaskablePPO


def actor(model: Any) -> list[Any]:
    """Return the layers that decide, from the observation to the scores of the actions."""
    policy = model.policy
    if hasattr(policy, "q_net"):
        return list(policy.q_net.q_net)
    return [*policy.mlp_extractor.policy_net, policy.action_net]


def export(model: Any, decide: str, d_max: int, history: int, about: dict[str, Any]) -> Network:
    """Return the network of a learner, which decides as its ``predict(..., deterministic=True)`` does.

    So does that of a masked learner, with the masks of an episode or without.

    Raises:
        InputError: if it is not a network for this decision.
    """
    return Network(
        decide=decide,
        features=KNOWN[decide],
        d_max=d_max,
        depths=tuple(range(1, d_max + 1)) if decide in ("depth", BOTH) else (),
        history=history,
        about=about,
        **_layers(model, decide, len(KNOWN[decide])),
        **(REGIONS if decide == BOTH else {}),
    )


def _layers(model: Any, decide: str, inputs: int) -> dict[str, Any]:
    """Return layers and activation of a learner's network, which must read so many numbers."""
    torch, _ = libraries()
    linear = [layer for layer in actor(model) if isinstance(layer, torch.nn.Linear)]
    kinds = {type(layer) for layer in actor(model)} - {torch.nn.Linear}
    known = {torch.nn.Tanh: "tanh", torch.nn.ReLU: "relu"}
    reads, refused = linear[0].in_features if linear else 0, f"is not one that decides the {decide} from our features"
    if len(kinds) > 1 or not kinds <= set(known):
        raise InputError(f"the learner's network {refused}: between its layers stands something else than tanh or relu")
    if reads != inputs:
        raise InputError(f"the learner's network {refused}: it reads {reads} numbers and not {inputs}")
    layers = tuple((layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy().copy()) for layer in linear)
    return {"layers": layers, "activation": known[kinds.pop()] if kinds else "tanh"}


def export_walker(model: Any, settings: PathSettings, about: dict[str, Any]) -> Network:
    """Return the network of a learner that decides the moves of a path environment, as ``export`` does.

    Args:
        model: a learner of Stable-Baselines3 or sb3-contrib with ``"MlpPolicy"`` and the flat observation.
        settings: those of its environment, ``env.unwrapped.settings``.
        about: how it was made, for people.

    Raises:
        InputError: if it is not a network for these observations.
    """
    if settings.observation != "box":
        raise InputError(f'the observation must be "box", not {quoted(settings.observation)}')
    if settings.stack > 1:
        raise InputError(f"stack must be 1, not {settings.stack}: such a network reads one observation")
    seen = {"window": settings.window, "visits": settings.visits, "history": settings.history}
    return Network(
        decide=MOVE,
        features=tuple(f"{name}_{k}" for name, part in settings.parts.items() for k in range(part.stop - part.start)),
        d_max=1,
        history=settings.history,
        moves=settings.actions,
        settings=seen | ({"stay": True} if settings.stay else {}),
        scale=_scale_of(model),
        about=about,
        **_layers(model, MOVE, settings.size),
    )


def _scale_of(model: Any) -> Any:
    """Return what a learner divides its inputs by; None if it takes them as they are."""
    policy = model.policy.q_net if hasattr(model.policy, "q_net") else model.policy
    scale = getattr(policy.features_extractor, "scale", None)
    return None if scale is None else scale.numpy()


def exported(model: Any, config: RLConfig) -> Network:
    """Return the network of a learner that is being trained."""
    about = {"training": asdict(config)}
    if config.decide == MOVE:
        return export_walker(model, model.get_env().get_attr("settings", 0)[0], about)
    return export(model, config.decide, 1 if config.decide == "think" else config.d_max, config.history, about)


def import_zip(path: PathLike, decide: str, d_max: int, history: int = 20, *, trusted: bool = False) -> Network:
    """Return the network in a ``.zip`` that Stable-Baselines3 has written (PPO, A2C, DQN or MaskablePPO).

    Raises:
        InputError: unless ``trusted``, because reading such a file can run code that is hidden in it; or if it
            holds no network for this purpose.
    """
    if not trusted:
        what = "a .zip of Stable-Baselines3 can run code when it is read"
        raise InputError(f"{shown(path)}: {what}; say that you trust it")

    _check_archive(path)
    _, sb3 = libraries()
    learners = [sb3.PPO, sb3.A2C, sb3.DQN, *([_maskable_ppo()] if find_spec("sb3_contrib") else [])]
    reasons: dict[str, list[str]] = {}
    for learner in learners:
        try:
            model = learner.load(path, device="cpu")
        except Exception as error:  # most often it was made by another learner: its parameters do not fit
            reasons.setdefault(_first_line(error), []).append(learner.__name__)
            continue
        try:
            return export(model, decide, d_max, history, {"from": Path(path).name})
        except InputError as refusal:
            raise InputError(f"{shown(path)}: {refusal}") from None
    *names, last = (learner.__name__ for learner in learners)
    said = [f"{' and '.join(who)}: {reason}" for reason, who in reasons.items()]
    raise InputError("; ".join([f"{shown(path)}: is no model of {', '.join(names)} or {last}", *said]))


def _first_line(error: Exception) -> str:
    """Return what went wrong in one line that is not too long to be read."""
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0][:200]


def _check_archive(path: PathLike) -> None:
    """Refuse what is no archive, or would unpack to a lot."""
    with open_zip(path, ".zip archive, as models of Stable-Baselines3 are", _MOST_BYTES) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > _MOST_UNPACKED:
        raise InputError(f"{shown(path)}: unpacks to more than the {_MOST_UNPACKED} bytes that are read at most")


def save_checkpoint(path: Path, model: Any, state: dict[str, Any]) -> None:
    """Write what is needed to go on: weights, the optimiser's state, and numbers."""
    torch, _ = libraries()
    content = {"policy": model.policy.state_dict(), "optimizer": model.policy.optimizer.state_dict()}
    stream = io.BytesIO()
    torch.save(content | {"steps": model.num_timesteps, "updates": model._n_updates, "state": state}, stream)
    atomic_write(path, seal(stream.getvalue()))


def load_checkpoint(path: Path, model: Any) -> dict[str, Any]:
    """Bring a learner to where it was, and return what was remembered beside it.

    Raises:
        InputError: if the file is damaged or of another learner.
    """
    torch, _ = libraries()
    with refusing(shown(path), "checkpoint of this training"):
        content = torch.load(io.BytesIO(unseal(read_bytes(path, _MOST_BYTES))), weights_only=True)
        model.policy.load_state_dict(content["policy"])
        model.policy.optimizer.load_state_dict(content["optimizer"])
        model.num_timesteps, model._n_updates = int(content["steps"]), int(content["updates"])
        state: dict[str, Any] = content["state"]
    return state


def agree(model: Any, network: Network, rows: Any, masks: Any = None) -> float:
    """Return in which share of observations the network decides as the learner itself, be it a masked one."""
    masked = {} if masks is None else {"action_masks": np.asarray(masks)}
    chosen, _ = model.predict(np.asarray(rows, np.float32), deterministic=True, **masked)
    same = network.choose(rows, masks) == chosen
    return float((same.all(axis=1) if same.ndim == 2 else same).mean())


STATES = 300  # of a problem
SIDE_BY_SIDE, STEPS = 64, 1500  # episodes in which a rule walks, and their steps
EPOCHS, BATCH, RATE = 20, 4096, 3e-3
WALK_BATCH = 1024  # which of eight moves is the cheapest takes more updates to learn than one number

_LAYER, _RISE, _FLAT, _STEADY = (LAYERS.index(name) for name in ("layer", "layer_rise", "flat", "steady"))


class Examples(NamedTuple):
    """Observations, one in each row, and the action that the teacher takes: a number, or a row of two."""

    rows: NDArray[np.float32]
    actions: NDArray[np.int64]


def teacher_examples(config: RLConfig, courses: Sequence[Course], workers: Workers) -> Examples:
    """Return what the teacher of a training does on some maps."""
    if config.decide == "think":
        return walked_examples(config, courses, lambda seen, masks: BY_HAND[config.teacher](seen))
    if config.decide == BOTH:
        return walked_examples(config, courses, lambda seen, masks: rule_of(config).choose(seen))
    if config.decide == MOVE:
        return walked_examples(config, courses, LeastVisited(problems_of(courses), config.window))
    logging = Logging(config.d_max, config.history, STATES, seed=config.seed)
    walker = load_policy("tree") if config.teacher == "tree" else None
    samples = log_samples(courses, logging, walker, workers)
    recipe = Recipe(decide="deepen", features="rich")
    rows, sample, depth = by_layers(samples, recipe)
    wanted = {"oracle": samples.label, "tree": tree_depths(samples), "rule": settled_depths(samples)}[config.teacher]
    if config.decide == "depth":
        return Examples(squashed(samples.situation), wanted - 1)
    asked = depth <= wanted[sample]  # a layer that the teacher would not have opened shows nothing
    return Examples(squashed(rows[asked]), (depth < wanted[sample])[asked].astype(np.int64))


def rule_of(config: RLConfig) -> Network:
    """Return the hand rule for depth and goal, with which its evolution begins, as a network."""
    encoding = Encoding(BOTH, 2, config.d_max, config.history)
    return encoding.network(encoding.start())


def walked_examples(config: RLConfig, courses: Sequence[Course], rule: Callable[[Any, Any], Any]) -> Examples:
    """Return what a hand rule, a function of observations and action masks, does on its own walks."""
    batch: Any = gym.make_vec(
        config.env, SIDE_BY_SIDE, vectorization_mode="vector_entry_point", autoreset_mode=AutoresetMode.SAME_STEP,
        **config.env_settings(problems_to_learn(config, courses)),
    )  # fmt: skip
    seen, info = batch.reset(seed=config.seed)
    rows, actions = [], []
    for _ in range(STEPS):
        rows.append(seen)
        actions.append(rule(seen, info.get("action_mask")))
        seen, *_, info = batch.step(actions[-1])
    return Examples(np.concatenate(rows), np.concatenate(actions))


def tree_depths(samples: Samples) -> NDArray[np.int64]:
    """Return the depth that the ready-made tree chooses in every sample."""
    policy = load_policy("tree")
    depths = np.empty(len(samples), np.int64)
    inputs = np.zeros((len(samples), len(INPUTS)), np.float32)
    inputs[:, : len(SITUATION)] = samples.situation
    choose_depths(policy.wired(), np.array(policy.depths), inputs, policy.branch, np.zeros(len(policy.depths)), depths)
    return np.minimum(depths, samples.d_max)


@kernel
def choose_depths(forest, known, inputs, branch, scores, out):
    """Write the depth that a forest chooses for every row."""
    for i in range(out.size):
        add_scores(forest, inputs[i], branch, scores)
        out[i] = known[largest(scores)]


def settled_depths(samples: Samples) -> NDArray[np.int64]:
    """Return the depth at which the rule ``settle`` of ``agents.rule_lrta`` stops in every sample."""
    rows, _, _ = by_layers(samples, Recipe(decide="deepen", features="rich"))
    layers = rows[:, len(SITUATION) :].reshape(len(samples), -1, len(LAYERS))
    idle = (layers[:, :, _LAYER] == 1) & (layers[:, :, _RISE] == 0)
    stops = idle | ((layers[:, :, _FLAT] >= 1) & (layers[:, :, _STEADY] >= STABLE))
    return np.where(stops.any(axis=1), stops.argmax(axis=1) + 1, samples.d_max)


def clone(model: Any, examples: Examples, seed: int, batch: int | None = None) -> float:
    """Let the policy of a model of Stable-Baselines3 imitate the examples; return how often it agrees in the end.

    Args:
        model: whose policy it is.
        examples: what to imitate.
        seed: of their order.
        batch: how many of them make an update; the usual number if None.
    """
    import torch

    generator = torch.Generator().manual_seed(seed)
    rows, actions = torch.from_numpy(examples.rows), torch.from_numpy(examples.actions)
    policy = model.policy
    optimiser = torch.optim.Adam(policy.parameters(), RATE)
    policy.set_training_mode(True)
    for _ in range(EPOCHS):
        for some in torch.randperm(len(rows), generator=generator).split(batch or BATCH):
            heads = _heads(policy.get_distribution(rows[some]).distribution)
            wanted = actions[some].reshape(len(some), -1).unbind(dim=1)
            optimiser.zero_grad()
            torch.stack([*map(torch.nn.functional.cross_entropy, heads, wanted)]).sum().backward()
            optimiser.step()
    policy.set_training_mode(False)
    with torch.no_grad():
        chosen = [head.argmax(dim=1) for head in _heads(policy.get_distribution(rows).distribution)]
    return float((torch.stack(chosen, dim=1) == actions.reshape(len(rows), -1)).all(dim=1).float().mean())


def _heads(distribution: Any) -> list[Any]:
    """Return the scores of the actions, those of each part of an action apart."""
    parts = distribution if isinstance(distribution, list) else [distribution]
    return [part.logits for part in parts]

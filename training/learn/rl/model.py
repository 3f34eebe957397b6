"""The learners of Stable-Baselines3: how they are made, kept on disk, and turned into networks for our agents.

A checkpoint holds tensors and numbers only and is read as such. The ``.zip`` files of Stable-Baselines3 hold pickles,
which can run code; one is read only by ``import_zip``, and only if the caller says that it can be trusted.
"""

import io
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from agents.policies.networks import KNOWN, Network
from rt_gym import InputError
from rt_gym.errors import MissingLibrary
from rt_gym.files import PathLike, atomic_write, read_bytes, refusing, shown
from training.learn.rl.course import RLConfig

_MISSING = "reinforcement learning needs Stable-Baselines3: pip install 'rt_gym[rl]'"
_WIDE = 64  # hidden units of critics, which never leave the training


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
        raise MissingLibrary("a log for TensorBoard needs it: pip install tensorboard")


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
    units = list(config.hidden)
    if config.algo == "dqn":
        return sb3.DQN(
            **common, policy_kwargs={"net_arch": units, "activation_fn": torch.nn.ReLU}, batch_size=512, train_freq=1,
            gradient_steps=4, buffer_size=500_000, learning_starts=min(10_000, config.steps // 10),
            target_update_interval=2_000, exploration_fraction=0.3, exploration_final_eps=0.02,
        )  # fmt: skip
    net = {"net_arch": {"pi": units, "vf": [_WIDE, _WIDE]}, "activation_fn": torch.nn.Tanh}
    if config.algo == "a2c":
        return sb3.A2C(**common, policy_kwargs=net, n_steps=16, gae_lambda=0.95, ent_coef=0.001)
    steps = max(16, 16_384 // config.episodes)
    learner = sb3.PPO if config.algo == "ppo" else _maskable_ppo()
    return learner(
        **common, policy_kwargs=net, n_steps=steps, batch_size=min(2048, steps * config.episodes), n_epochs=4,
        gae_lambda=0.98, ent_coef=0.001, clip_range=0.2, target_kl=0.03,
    )  # fmt: skip


def _maskable_ppo() -> Any:
    try:
        from sb3_contrib import MaskablePPO
    except ImportError:
        raise MissingLibrary("maskable-ppo needs sb3-contrib: pip install sb3-contrib") from None
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
    torch, _ = libraries()
    linear = [layer for layer in actor(model) if isinstance(layer, torch.nn.Linear)]
    kinds = {type(layer) for layer in actor(model)} - {torch.nn.Linear}
    known = {torch.nn.Tanh: "tanh", torch.nn.ReLU: "relu"}
    if not linear or len(kinds) > 1 or not kinds <= set(known) or linear[0].in_features != len(KNOWN[decide]):
        raise InputError(f"the learner's network is not one that decides the {decide} from our features")
    layers = tuple((layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy().copy()) for layer in linear)
    return Network(
        decide=decide,
        features=KNOWN[decide],
        layers=layers,
        d_max=d_max,
        depths=tuple(range(1, d_max + 1)) if decide == "depth" else (),
        history=history,
        activation=known[kinds.pop()] if kinds else "tanh",
        about=about,
    )


def exported(model: Any, config: RLConfig) -> Network:
    """Return the network of a learner that is being trained."""
    d_max = 1 if config.decide == "think" else config.d_max
    return export(model, config.decide, d_max, config.history, {"training": asdict(config)})


def import_zip(path: PathLike, decide: str, d_max: int, history: int = 20, *, trusted: bool = False) -> Network:
    """Return the network in a ``.zip`` that Stable-Baselines3 has written (PPO, A2C, DQN or MaskablePPO).

    Raises:
        InputError: unless ``trusted``, because reading such a file can run code that is hidden in it; or if it
            holds no network for this purpose.
    """
    if not trusted:
        what = "a .zip of Stable-Baselines3 can run code when it is read"
        raise InputError(f"{shown(path)}: {what}; say that you trust it")

    _, sb3 = libraries()
    learners = [sb3.PPO, sb3.A2C, sb3.DQN, *([_maskable_ppo()] if find_spec("sb3_contrib") else [])]
    for learner in learners:
        try:
            model = learner.load(path, device="cpu")
        except Exception:  # made by another learner: its parameters do not fit
            continue
        return export(model, decide, d_max, history, {"from": Path(path).name})
    *names, last = (learner.__name__ for learner in learners)
    raise InputError(f"{shown(path)}: is no model of {', '.join(names)} or {last}")


def save_checkpoint(path: Path, model: Any, state: dict[str, Any]) -> None:
    """Write what is needed to go on: weights, the optimiser's state, and numbers."""
    torch, _ = libraries()
    content = {"policy": model.policy.state_dict(), "optimizer": model.policy.optimizer.state_dict()}
    stream = io.BytesIO()
    torch.save(content | {"steps": model.num_timesteps, "updates": model._n_updates, "state": state}, stream)
    atomic_write(path, stream.getvalue())


def load_checkpoint(path: Path, model: Any) -> dict[str, Any]:
    """Bring a learner to where it was, and return what was remembered beside it.

    Raises:
        InputError: if the file is damaged or of another learner.
    """
    torch, _ = libraries()
    with refusing(shown(path), "checkpoint of this training"):
        content = torch.load(io.BytesIO(read_bytes(path, 1 << 32)), weights_only=True)
        model.policy.load_state_dict(content["policy"])
        model.policy.optimizer.load_state_dict(content["optimizer"])
        model.num_timesteps, model._n_updates = int(content["steps"]), int(content["updates"])
        state: dict[str, Any] = content["state"]
    return state


def agree(model: Any, network: Network, rows: Any, masks: Any = None) -> float:
    """Return in which share of observations the network decides as the learner itself, be it a masked one."""
    masked = {} if masks is None else {"action_masks": np.asarray(masks)}
    chosen, _ = model.predict(np.asarray(rows, np.float32), deterministic=True, **masked)
    return float((network.choose(rows, masks) == chosen).mean())

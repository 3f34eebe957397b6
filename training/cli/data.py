"""``rt-gym train log`` and ``rt-gym train export``: what was learned from, and what was learned, for other programs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli.terminal import (
    AGENTS,
    LEARNING,
    MAPS,
    OUTPUT,
    AsJson,
    Seed,
    make_folder,
    named,
    print_json,
    progress,
)

if TYPE_CHECKING:
    from agents.policies.networks import Network
    from agents.policies.trees import Policy

Env = Annotated[str, LEARNING.option("ID", "Where, see above.")]
Agent = Annotated[str, AGENTS.option("ID[:NAME=VALUE]", "Who decides, see above.")]
SplitName = Annotated[str | None, MAPS.option("NAME", "Whose problems are walked; mixed-train, or that of the level.")]
PerMap = Annotated[int, MAPS.option("N", "Problems per map, at most.", min=1, max=10**6)]
Sight = Annotated[int | None, MAPS.option("N", "How far the agent sees, in RTPath-v0 and RTThink-v0.", min=0)]
MaxMoves = Annotated[int, LEARNING.option("N", "Where an episode is cut.", min=1, max=10**9)]
Minari = Annotated[str | None, OUTPUT.option("NAME", "Write this Minari dataset, such as rtdepth/oracle-v0.")]
Table = Annotated[Path | None, OUTPUT.option("FILE", "Write every column to this .csv or .npz.", parser=named)]


def log(
    env: Env = "RTDepth-v0",
    agent: Agent = "oracle-lrta",
    split: SplitName = None,
    problems: PerMap = 16,
    vision: Sight = None,
    max_moves: MaxMoves = 10_000,
    minari: Minari = None,
    out: Table = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Log episodes of an agent in an environment, step by step, for offline learning.

    RTPath-v0, RTPathFog-v0, levels such as RTPath-Maze-32x32-v0: any agent, or random.
    RTDepth-v0, RTDeepen-v0: rule-lrta, oracle-lrta, classifier-lrta or policy-lrta, or random.
    RTDepthGoal-v0: rule, general-lrta:policy=FILE with a network, or random.
    RTThink-v0: think-lss:policy=rule, mo-rts, N or FILE, or random.
    """
    from rt_gym import InputError
    from training.learn.episodes import check_minari_name, log_episodes

    if minari is None and out is None:
        raise InputError("say where to: --minari NAME, --out FILE or both")
    if minari is not None:
        check_minari_name(minari)
    if out is not None:
        _check_table(out)
    episodes = log_episodes(env, agent, split, problems, seed, max_moves, vision, progress)
    if out is not None:
        episodes.save(out)
    if minari is not None:
        episodes.to_minari(minari)
    reached = int(episodes.terminated.sum())
    facts = {"episodes": len(episodes), "steps": len(episodes.reward), "reached": reached}
    if as_json:
        print_json(facts | {"minari": minari, "file": None if out is None else str(out)})
        return
    written = "\n".join(str(place) for place in (minari, out) if place is not None)
    typer.echo(f"{len(episodes)} episodes, {facts['steps']:,} steps, {reached} goals reached\n{written}")


def _check_table(path: Path) -> None:
    """Refuse a place where no table can be written, before any work is done for it."""
    from rt_gym import InputError
    from rt_gym.files import shown

    if path.suffix not in (".csv", ".npz") or path.is_dir():
        raise InputError(f"--out must be a file that ends in .csv or .npz, not {shown(path)}")
    make_folder(path.parent)


PolicyFile = Annotated[
    str, typer.Argument(metavar="POLICY", help="A .json with trees, an .npz with a network, a name.")
]
OnnxFile = Annotated[Path | None, OUTPUT.option("FILE", "Write an ONNX model.", parser=named)]
CFile = Annotated[Path | None, OUTPUT.option("FILE", "Write a C99 header.", "--c", parser=named)]


def export(policy: PolicyFile, onnx: OnnxFile = None, c: CFile = None) -> None:
    """Write a policy for other programs: trees or a network as an ONNX model, or as a C header.

    Both take features as they are, in steps and counts, and decide as the agent does.
    """
    from rt_gym import InputError
    from training.export import load_exportable

    loaded = load_exportable(policy)
    if onnx is None and c is None:
        raise InputError("say where to: --onnx FILE, --c FILE or both")
    for file in filter(None, (onnx, c)):
        make_folder(file.parent)
    if onnx is not None:
        _write_onnx(loaded, onnx)
    if c is not None:
        from rt_gym.files import atomic_write
        from training.export.c_header import VECTORS, to_c

        atomic_write(c, to_c(loaded, c.stem).encode())
        typer.echo(f"{c}: tests itself on {VECTORS} inputs")


def _write_onnx(policy: "Policy | Network", path: Path) -> None:
    from rt_gym.errors import MissingLibrary
    from rt_gym.files import atomic_write
    from training.export.onnx_file import CHECKED, count_equal, to_onnx

    content = to_onnx(policy, path.stem)
    try:
        said = f"{count_equal(policy, content)} of {CHECKED} random inputs are decided as by rt_gym"
    except MissingLibrary as missing:
        said = f"not tried ({missing})"
    atomic_write(path, content)
    typer.echo(f"{path}: {said}")

"""``rt-gym precompute``: prepare knowledge of a map for the agents that use it."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.cli.terminal import (
    RUNNING,
    AsJson,
    Backend,
    Group,
    Jobs,
    Scheduler,
    Seed,
    make_folder,
    make_workers,
    named,
    print_json,
    resumable,
)

if TYPE_CHECKING:
    from rt_gym import Grid
    from rt_gym.terrain import Position
    from training.precompute import Order
    from training.runs import Workers

app = typer.Typer(help="Prepare knowledge of a map, once, for the agents that use it.", no_args_is_help=True)

_KNOWLEDGE = Group("Knowledge")

MapName = Annotated[str, typer.Argument(metavar="MAP", help="The name of a bundled map, or a file.")]
Goals = Annotated[
    list[str] | None,
    _KNOWLEDGE.option("X,Y|FILE", "Only these goals, or those of a scenario file; can be repeated."),
]
Level = Annotated[int, _KNOWLEDGE.option("N", "The level of the abstraction.", min=0)]
Cap = Annotated[int, _KNOWLEDGE.option("N", "The largest depth.", min=1)]
Mode = Annotated[str, _KNOWLEDGE.option("NAME", "G, GI or I.")]
Kind = Annotated[str, _KNOWLEDGE.option("NAME", "clique or tiles.")]
Subgoal = Annotated[
    str, _KNOWLEDGE.option("NAME", "nearer, or first: which region on the way to another is the subgoal.")
]
First = Annotated[str, _KNOWLEDGE.option("NAME", "nearest, or sub: every cell then knows its subgoal.")]
Count = Annotated[int, _KNOWLEDGE.option("N", "How many solved problems.", min=1)]
Cutoff = Annotated[int, _KNOWLEDGE.option("N", "The most steps between two subgoals.", min=1)]
Out = Annotated[
    Path | None, RUNNING.option("FILE", "Where it is written; MAP-KIND.npz here if nothing is said.", parser=named)
]
Yes = Annotated[bool, RUNNING.option(None, "Ask no questions about time and size.", "--yes")]

_LONG, _LARGE = 3600.0, 4 << 30  # seconds and bytes above which it asks first


@app.command()
def pdb(
    map_name: MapName,
    level: Level = 4,
    cap: Cap = 20,
    mode: Mode = "I",
    abstraction: Kind = "clique",
    subgoal: Subgoal = "nearer",
    goals: Goals = None,
    out: Out = None,
    jobs: Jobs = -1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Build the pattern database of pdb-lrta: for every pair of regions a depth and a subgoal."""
    from rt_gym import load_map
    from training.precompute import Patterns

    grid = load_map(map_name)
    order = Patterns(grid, level, cap, mode, abstraction, _goals(goals), subgoal)
    _prepare(order, _file(out, grid, "pdb"), make_workers(jobs, backend, scheduler), yes, as_json)


@app.command()
def subgoals(
    map_name: MapName,
    first: First = "nearest",
    goals: Goals = None,
    out: Out = None,
    jobs: Jobs = -1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Grow the trees of subgoal-lrta, one for every goal."""
    from rt_gym import load_map
    from training.precompute import Subgoals

    grid = load_map(map_name)
    order = Subgoals(grid, first, _goals(goals))
    _prepare(order, _file(out, grid, "subgoals"), make_workers(jobs, backend, scheduler), yes, as_json)


@app.command()
def knn(
    map_name: MapName,
    records: Count = 10_000,
    cutoff: Cutoff = 250,
    seed: Seed = 0,
    out: Out = None,
    jobs: Jobs = -1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Solve random problems for knn-lrta and keep their subgoals."""
    from rt_gym import load_map
    from training.precompute import Neighbours

    grid = load_map(map_name)
    order = Neighbours(grid, records, cutoff, seed)
    _prepare(order, _file(out, grid, "knn"), make_workers(jobs, backend, scheduler), yes, as_json)


def _file(out: Path | None, grid: "Grid", kind: str) -> Path:
    """Return where the file goes, or refuse a place where none can be written."""
    from rt_gym import InputError
    from rt_gym.files import shown

    path = Path(f"{grid.name}-{kind}.npz") if out is None else out
    if path.is_dir():
        raise InputError(f"{shown(path)}: is a folder, where a file is wanted")
    make_folder(path.parent)
    return path


def _goals(given: list[str] | None) -> "tuple[Position, ...]":
    """Return the goals that were asked for."""
    from rt_gym import load_scenarios
    from training.runs.contenders import parse_position

    goals: list[Position] = []
    for text in given or ():
        if text.endswith(".scen"):
            goals += [scenario.goal for scenario in load_scenarios(text)]
        else:
            goals.append(parse_position("--goals", text))
    return tuple(dict.fromkeys(goals))


def _prepare(order: "Order", path: Path, workers: "Workers", yes: bool, as_json: bool) -> None:
    from training.precompute import precompute

    if not yes:
        _ask(*order.estimate())
    began, count = time.perf_counter(), len(order.work())
    with resumable("preparing", count, "goals or records", path.parent) as advance:
        precompute(order, path, workers, advance)
    _tell(path, time.perf_counter() - began, as_json)


def _ask(seconds: float, size: int) -> None:
    """Ask before something long or large is begun; without a keyboard, refuse it."""
    from rt_gym import InputError

    if seconds <= _LONG and size <= _LARGE:
        return
    says = f"this takes about {_duration(seconds)} of one core and up to {size / 1e9:.1f} GB"
    if not sys.stdin.isatty():
        raise InputError(f"{says}: add --yes to do it, or name the --goals that occur")
    typer.confirm(f"{says}. Go on?", abort=True)


def _duration(seconds: float) -> str:
    return f"{seconds / 3600:.1f} hours" if seconds > _LONG else f"{seconds:.0f} seconds"


def _tell(path: Path, seconds: float, as_json: bool) -> None:
    from rt_gym.files import shown

    facts: dict[str, Any] = {"file": str(path), "bytes": path.stat().st_size, "seconds": round(seconds, 2)}
    if (peak := _peak()) is not None:
        facts["peak_bytes"] = peak
    if as_json:
        print_json(facts)
        return
    memory = "" if peak is None else f", {peak / 1e6:.0f} MB of memory in the largest process"
    typer.echo(f"{shown(path)}: {facts['bytes'] / 1e6:.2f} MB in {seconds:.1f} s{memory}")


def _peak() -> int | None:
    """Return the most memory that this process or one of its workers has held; None where the system does not say."""
    try:
        import resource
    except ImportError:
        return None
    kilobytes = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return kilobytes * (1 if sys.platform == "darwin" else 1024)

"""``rt-gym maps``: list, show, generate, convert and fetch maps; ``rt-gym precompute``: prepare knowledge of a map.

What is prepared is for the agents that use it: pattern databases, subgoal trees, records.
"""

import io
import shutil
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
    in_known_colours,
    make_folder,
    make_workers,
    named,
    print_json,
    print_table,
    resumable,
    tell_remarks,
)

if TYPE_CHECKING:
    from rt_gym import Grid
    from rt_gym.abstraction import Abstraction
    from rt_gym.terrain import Position
    from training.precompute import Order
    from training.runs import Workers

app = typer.Typer(help="List, show, generate, convert and fetch maps.", no_args_is_help=True)

_PICTURES, _TILED = Group("Reading pictures"), Group("Reading maps of Tiled")
_MAP_HELP = "The name of a bundled map, or a file (.map, .png, .npy, .npz, .csv, .txt, .tmx, .tmj, .json)."
_OUT = "Where to write the map; the ending (.map, .png, ...) chooses the format. NAME.map if not given."

MapFile = Annotated[Path | None, typer.Option(metavar="FILE", help=_OUT, parser=named)]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]
WallBelow = Annotated[int | None, _PICTURES.option("N", "Pixels darker than this, of 255, are walls; 128.")]
Invert = Annotated[bool, _PICTURES.option(None, "Light pixels are the walls.", "--invert")]
LayerName = Annotated[str | None, _TILED.option("NAME", "The tile layer with the walls.")]
Walls = Annotated[str | None, _TILED.option("ID,...", "The tiles that are walls, as in 1,4..9; all if not given.")]

_DIGESTS = "Known digests of the archives, lines of NAME sha256:DIGEST; FOLDER/digests.txt if not given."
_MOST_TILES = 100_000

# What is not given to generate is as on the bundled map of the family.
_LIKE = {
    "random": "random-48",
    "maze": "maze-63",
    "maze-holes": "maze-holes-101",
    "rooms": "rooms-64",
    "caves": "caves-128",
    "terrain": "terrain-96",
}


@app.command("list")
def list_maps(as_json: AsJson = False) -> None:
    """List the bundled maps."""
    from rt_gym.maps import load_map, names
    from rt_gym.maps.bundled import TABLE

    entries = [
        {"name": name, "width": grid.width, "height": grid.height, "free": grid.free_cells, "family": TABLE[name][0]}
        for name, grid in ((name, load_map(name)) for name in names())
    ]
    if as_json:
        print_json(entries)
    else:
        rows = [[str(e["name"]), str(e["family"]), f"{e['width']} x {e['height']}", f"{e['free']:,}"] for e in entries]
        print_table("Bundled maps", ["name", "family", "size", "free cells"], rows, left=2)


@app.command()
def show(
    map_name: Annotated[str, typer.Argument(metavar="MAP", help=_MAP_HELP)],
    png: Annotated[Path | None, typer.Option(help="Write a picture to this file as well.")] = None,
    abstraction: Annotated[str | None, typer.Option(help="Show regions: clique or tiles.")] = None,
    level: Annotated[int, typer.Option(help="How coarse the regions are.")] = 4,
    wall_below: WallBelow = None,
    invert: Invert = False,
    layer: LayerName = None,
    walls: Walls = None,
) -> None:
    """Show a map in the terminal, as large as fits, or its regions."""
    from rt_gym.abstraction import abstract
    from rt_gym.files import atomic_write, shown
    from rt_gym.maps.preview import preview_image

    grid = _load(map_name, wall_below, invert, layer, walls)
    regions = None if abstraction is None else abstract(grid, abstraction, level)
    if png is not None:
        picture = io.BytesIO()
        preview_image(grid, abstraction=regions).save(picture, "PNG")
        atomic_write(png, picture.getvalue())
    typer.echo(_drawn(grid, regions), color=True)  # otherwise colours that were asked for are lost in a pipe
    count = "" if regions is None else f", {regions.regions:,} regions ({regions.kind}, level {regions.level})"
    typer.echo(_description(grid) + count + (f", drawn in {shown(png)}" if png is not None else ""))
    tell_remarks(map_name, grid)


@app.command()
def generate(
    family: Annotated[str, typer.Argument(help="random, maze, maze-holes, rooms, caves or terrain.")],
    out: MapFile = None,
    force: Force = False,
    width: Annotated[int | None, typer.Option(help="For all but mazes.")] = None,
    height: Annotated[int | None, typer.Option(help="For all but mazes.")] = None,
    size: Annotated[int | None, typer.Option(help="Mazes: odd width and height.")] = None,
    density: Annotated[float | None, typer.Option(help="Random, caves: share of blocked cells at first.")] = None,
    steps: Annotated[int | None, typer.Option(help="Caves: how often they are smoothed.")] = None,
    room: Annotated[int | None, typer.Option(help="Rooms: width and height of a room.")] = None,
    doors: Annotated[float | None, typer.Option(help="Rooms: probability of a door.")] = None,
    holes: Annotated[int | None, typer.Option(help="Maze with holes: how many walls are taken out.")] = None,
    seed: Seed = 0,
) -> None:
    """Generate a map of a family; what is not given is as on the bundled map of that family."""
    from rt_gym.maps.generate import generate as generate_map

    options = {
        "width": width,
        "height": height,
        "size": size,
        "density": density,
        "steps": steps,
        "room": room,
        "doors": doors,
        "holes": holes,
        "seed": seed,
    }
    given = {name: value for name, value in options.items() if value is not None}
    grid = generate_map(family, **_defaults(family) | given)
    _save(grid, Path(f"{grid.name}.map") if out is None else out, force)


@app.command()
def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help=_MAP_HELP)],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; its ending chooses the format.")],
    force: Force = False,
    wall_below: WallBelow = None,
    invert: Invert = False,
    layer: LayerName = None,
    walls: Walls = None,
) -> None:
    """Convert a map to another format."""
    grid = _load(source, wall_below, invert, layer, walls)
    _save(grid, target, force)
    tell_remarks(source, grid)


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(metavar="SET", help="A set of the MovingAI benchmarks, such as dao.")],
    source: Annotated[str, typer.Option("--from", metavar="FOLDER|URL", help="What holds SET-map.zip, SET-scen.zip.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where to; SET if not given.", parser=named)
    ] = None,
    digests: Annotated[Path | None, typer.Option(metavar="FILE", help=_DIGESTS)] = None,
) -> None:
    """Fetch a set of maps with its scenario files, and check it by its digests."""
    from rt_gym.files import shown
    from rt_gym.maps.fetch import fetch as fetch_set

    folder = Path(name) if out is None else out
    fetched = fetch_set(name, source, folder, digests)
    typer.echo(f"{shown(folder)}: {fetched.maps} maps, {fetched.scenarios} scenario files")
    if fetched.recorded is not None:
        typer.echo(f"note: their digests were not known and are now kept in {shown(fetched.recorded)}", err=True)


def _load(source: str, wall_below: int | None, invert: bool, layer: str | None, walls: str | None) -> "Grid":
    """Return a map, read as the options say that were given."""
    from rt_gym import load_map

    given = {"wall_below": wall_below, "invert": invert or None, "layer": layer}
    given["walls"] = None if walls is None else _tiles(walls)
    return load_map(source, **{name: value for name, value in given.items() if value is not None})


def _tiles(text: str) -> Any:
    """Return the ids in a text such as ``1,4..9``."""
    from rt_gym import InputError

    parts = [part.partition("..") for part in text.split(",")]
    if not all(first.isdecimal() and (last if dots else "0").isdecimal() for first, dots, last in parts):
        raise InputError(f"--walls must be whole numbers and ranges such as 1,4..9, not {text[:60]!r}")
    spans = [range(int(first), int(last if dots else first) + 1) for first, dots, last in parts]
    if sum(map(len, spans)) > _MOST_TILES:
        raise InputError(f"--walls can name {_MOST_TILES} tiles at most")
    return {tile for span in spans for tile in span}


def _defaults(family: str) -> dict[str, Any]:
    """Return the parameters of the bundled map of a family; none for a family that there is not."""
    from rt_gym.maps.bundled import TABLE

    return dict(TABLE[_LIKE[family]][1]) if family in _LIKE else {}


def _save(grid: "Grid", path: Path, force: bool) -> None:
    """Write a map and say so; a file that is there is kept unless it may be written over."""
    from rt_gym import InputError
    from rt_gym.files import shown
    from rt_gym.maps import save_map

    if path.exists() and not force:
        raise InputError(f"{shown(path)}: is there already; --force writes over it")
    save_map(grid, path)
    typer.echo(f"{shown(path)}: {_description(grid)}")


def _drawn(grid: "Grid", regions: "Abstraction | None") -> str:
    """Return a map, or its regions in the colours that this terminal knows, as text that fits it."""
    from rich.console import Console

    from rt_gym.maps.preview import preview_text, regions_text

    columns, lines = shutil.get_terminal_size()
    rows = max(1, lines - 2)

    def draw(colour: bool) -> str:
        return regions_text(grid, regions, columns, rows) if regions and colour else preview_text(grid, columns, rows)

    return in_known_colours(Console(), draw)


def _description(grid: "Grid") -> str:
    return f"{grid.name}, {grid.width} x {grid.height}, {grid.free_cells:,} free cells"


precompute_app = typer.Typer(help="Prepare knowledge of a map, once, for the agents that use it.", no_args_is_help=True)

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


@precompute_app.command()
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


@precompute_app.command()
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


@precompute_app.command()
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

"""``rt-gym maps``: list, show, generate and convert maps."""

import io
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli.terminal import AsJson, Seed, in_known_colours, print_json, print_table

if TYPE_CHECKING:
    from rt_gym import Grid
    from rt_gym.abstraction import Abstraction

app = typer.Typer(help="List, show, generate and convert maps.", no_args_is_help=True)

MapFile = Annotated[Path, typer.Option(help="Where to write the map; the ending (.map, .png, ...) chooses the format.")]
_MAP_HELP = "The name of a bundled map, or a file (.map, .png, .npy, .npz, .csv)."


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
) -> None:
    """Show a map in the terminal, as large as fits, or its regions."""
    from rt_gym import load_map
    from rt_gym.abstraction import abstract
    from rt_gym.files import atomic_write, shown
    from rt_gym.maps.preview import preview_image

    grid = load_map(map_name)
    regions = None if abstraction is None else abstract(grid, abstraction, level)
    if png is not None:
        picture = io.BytesIO()
        preview_image(grid, abstraction=regions).save(picture, "PNG")
        atomic_write(png, picture.getvalue())
    typer.echo(_drawn(grid, regions), color=True)  # otherwise colours that were asked for are lost in a pipe
    count = "" if regions is None else f", {regions.regions:,} regions ({regions.kind}, level {regions.level})"
    typer.echo(_description(grid) + count + (f", drawn in {shown(png)}" if png is not None else ""))


@app.command()
def generate(
    family: Annotated[str, typer.Argument(help="random, maze, maze-holes, rooms, caves or terrain.")],
    out: MapFile,
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
    """Generate a map of a family."""
    from rt_gym.files import shown
    from rt_gym.maps import save_map
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
    grid = generate_map(family, **{name: value for name, value in options.items() if value is not None})
    save_map(grid, out)
    typer.echo(f"{shown(out)}: {_description(grid)}")


@app.command()
def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help=_MAP_HELP)],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; its ending chooses the format.")],
) -> None:
    """Convert a map to another format."""
    from rt_gym import load_map
    from rt_gym.files import shown
    from rt_gym.maps import save_map

    grid = load_map(source)
    save_map(grid, target)
    typer.echo(f"{shown(target)}: {_description(grid)}")


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

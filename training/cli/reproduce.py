"""``rt-gym reproduce``: the experiments of the papers, with a verdict on every claim."""

from pathlib import Path
from typing import Annotated, Any

import typer

from training.cli.terminal import AsJson, make_folder, print_json, print_table, progress

_PUBLIC = Path(__file__).resolve().parents[3] / "shared" / "maps"  # a folder beside the repository

Id = Annotated[str, typer.Argument(metavar="ID|all", help="An experiment, such as tb-t1.")]
Size = Annotated[str, typer.Option(help="smoke (seconds), record (minutes) or full (as many problems as the paper).")]
Maps = Annotated[
    Path | None,
    typer.Option(
        help="The folder of the public MovingAI maps, with a folder for each set. Without it: shared/maps beside the"
        " repository, or else generated maps."
    ),
]
Docs = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Also write the results to FOLDER/results.md and FOLDER/results/.")
]
Pages = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Run nothing: write all pages and figures anew from FOLDER/results/*.json."),
]


def reproduce(
    experiment: Id,
    size: Size = "smoke",
    maps: Maps = None,
    jobs: Annotated[int, typer.Option(min=-1, help="Processes at a time; -1 for one per core.")] = -1,
    out: Annotated[Path, typer.Option(help="The folder for tables and jobs.")] = Path("rt-gym-reproduce"),
    write_docs: Docs = None,
    pages: Pages = None,
    as_json: AsJson = False,
) -> None:
    """Repeat an experiment of a paper and say of every claim whether it holds, does not hold, or is undecided.

    Finished jobs are kept in the folder: the same command goes on where it was stopped. Of all experiments those are
    left out that need a library which is not installed.
    """
    from rt_gym.errors import MissingLibrary
    from rt_gym.files import shown
    from training.experiments import ids, load
    from training.experiments.conduct import conduct
    from training.experiments.frame import check_size
    from training.report.results_page import write_pages
    from training.runs import Workers

    if pages:
        typer.echo("\n".join(map(str, write_pages(pages))))
        return
    chosen = [load(name) for name in (ids() if experiment.lower() == "all" else [experiment])]
    folder = _public_maps(maps)
    check_size(size)
    if write_docs:
        _check_docs(write_docs, folder)
    workers = Workers(jobs)
    documents = []
    for each in chosen:
        try:
            documents.append(conduct(each, size, folder, out, workers, progress))
        except KeyboardInterrupt:
            says = f"stopped: finished jobs are kept in {shown(out)}; the same command goes on from there"
            typer.echo(says, err=True)
            raise typer.Exit(130) from None
        except MissingLibrary as error:
            if len(chosen) == 1:
                raise
            typer.echo(f"{each.id} is left out: {error}", err=True)
            continue
        if not as_json:
            _tell(documents[-1])
    if write_docs:
        written = write_pages(write_docs, documents)
        if not as_json:
            typer.echo("\n".join(map(str, written)))
    if as_json:
        print_json(documents)


def _public_maps(given: Path | None) -> Path | None:
    """Return the folder of public maps, None if there is none."""
    from rt_gym import InputError
    from rt_gym.files import shown

    if given is not None and not given.is_dir():
        raise InputError(f"{shown(given)}: is not a folder")
    return given or (_PUBLIC if _PUBLIC.is_dir() else None)


def _check_docs(docs: Path, maps: Path | None) -> None:
    """Refuse a page that could not be written in the end, before anything is run."""
    from rt_gym import InputError
    from training.report.results_page import documents_folder

    if maps is None:
        raise InputError("--write-docs needs the public maps: name their folder by --maps")
    make_folder(documents_folder(docs))


def _tell(document: dict[str, Any]) -> None:
    from training.report.results_page import CLAIM_WORDS, claims_table, remarks, tables

    head = f"{document['id'].upper()}: {document['title']}"
    typer.echo("\n".join([head, document["paper"] + ".", *remarks(document), ""]))
    for table in tables(document):
        print_table(table.title, table.columns, table.rows)
    claims = claims_table(document)
    print_table(claims.title, claims.columns, claims.rows, CLAIM_WORDS)

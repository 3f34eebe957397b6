"""``rt-gym reproduce``: the experiments of the papers, with a verdict on every claim."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.cli.terminal import (
    OUTPUT,
    PROBLEMS,
    AsJson,
    Backend,
    Jobs,
    Scheduler,
    interruptible,
    leave_report,
    make_folder,
    make_workers,
    named,
    print_json,
    print_table,
    print_tables,
    progress,
)
from training.experiments import ids

if TYPE_CHECKING:
    from training.experiments.conduct import Conducted
    from training.experiments.frame import Experiment
    from training.runs import Workers

_REPLAYED = 2  # problems of every part

Id = Annotated[str, typer.Argument(metavar="ID|all", help=f"One of {', '.join(ids())}.")]
Size = Annotated[
    str, PROBLEMS.option("NAME", "smoke (seconds), record (minutes) or full (as many problems as the paper).")
]
Maps = Annotated[
    Path | None,
    PROBLEMS.option("FOLDER", "The public MovingAI maps, a folder for each set; without it generated maps stand in."),
]
Out = Annotated[Path, OUTPUT.option("FOLDER", "For tables and finished jobs.", parser=named)]
Docs = Annotated[
    Path | None, OUTPUT.option("FOLDER", "Also write the results to FOLDER/results.md and FOLDER/results/.")
]
Pages = Annotated[
    Path | None, OUTPUT.option("FOLDER", "Run nothing: write all pages and figures anew from FOLDER/results/*.json.")
]
Check = Annotated[
    Path | None,
    OUTPUT.option("FOLDER", "Only make a few runs of FOLDER/results/*.json again, and stamp what comes out the same."),
]
Archive = Annotated[
    Path | None,
    OUTPUT.option("FILE", "Run nothing: pack the rows that experiments of --size have left in --out into a .zip file."),
]


def reproduce(
    experiment: Id,
    size: Size = "smoke",
    maps: Maps = None,
    jobs: Jobs = -1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
    out: Out = Path("rt-gym-reproduce"),
    write_docs: Docs = None,
    pages: Pages = None,
    check: Check = None,
    archive: Archive = None,
    as_json: AsJson = False,
) -> None:
    """Repeat an experiment of a paper and say of every claim whether it holds, does not hold, or is undecided.

    Finished jobs are kept in the folder: the same command goes on where it was stopped.
    Of all experiments those are left out that need a library which is not installed.
    """
    from training.experiments import load
    from training.experiments.frame import check_size
    from training.report.results_page import write_pages

    if pages:
        typer.echo("\n".join(map(str, write_pages(pages))))
        return
    chosen = [load(name) for name in (ids() if experiment.lower() == "all" else [experiment])]
    _check_maps(maps)
    if check:
        with interruptible("finished jobs are kept", out):
            _check_documents({one.id for one in chosen}, check, maps, out, make_workers(jobs, backend, scheduler))
        return
    check_size(size)
    if archive:
        _pack([one.id for one in chosen], size, out, archive)
        return
    if write_docs:
        _check_docs(write_docs, maps)
    workers = make_workers(jobs, backend, scheduler)
    with interruptible("finished jobs are kept", out):
        documents = _conduct(chosen, size, maps, out, workers, tell=not as_json)
    written = write_pages(write_docs, documents) if write_docs else []
    if as_json:
        print_json(documents)
    elif written:
        typer.echo("\n".join(map(str, written)))


def _conduct(
    experiments: "list[Experiment]", size: str, maps: Path | None, out: Path, workers: "Workers", tell: bool
) -> list[dict[str, Any]]:
    """Run experiments one after the other; of several, those that need a missing library are left out."""
    from rt_gym.errors import MissingLibrary
    from training.experiments.conduct import carry_out

    documents = []
    for experiment in experiments:
        try:
            done = carry_out(experiment, size, maps, out, workers, progress)
        except MissingLibrary as error:
            if len(experiments) == 1:
                raise
            typer.echo(f"{experiment.id} is left out: {error}", err=True)
            continue
        documents.append(done.document)
        report = _leave_report(done)
        if tell:
            _tell(documents[-1])
            typer.echo(f"\n{report}")
    return documents


def _leave_report(done: "Conducted") -> Path:
    """Write the report of an experiment beside its tables."""
    from training.report.comparison import Part
    from training.report.results_page import claims_table, remarks, tables

    document = done.document
    named = zip(document["parts"], done.findings(), strict=True)
    parts = [Part(part["name"] or findings.title, findings) for part, findings in named]
    shown = {
        "intro": [f"{document['paper']}.", *remarks(document)],
        "tables": [claims_table(document), *tables(document)],
    }
    return leave_report(done.folder, _head(document), parts, problems=_REPLAYED, **shown)


def _head(document: dict[str, Any]) -> str:
    return f"{document['id'].upper()}: {document['title']}"


def _check_documents(chosen: set[str], folder: Path, maps: Path | None, out: Path, workers: "Workers") -> None:
    """Make the few runs of stored documents again, and write their pages with today's stamps."""
    from rt_gym import InputError
    from training.experiments.conduct import check
    from training.report.results_page import read_documents, write_pages

    if maps is None:
        raise InputError("--check needs the public maps: name their folder by --maps")
    documents = [document for document in read_documents(folder) if document["id"] in chosen]
    same, differ = [], list[str]()
    for document in documents:
        try:
            same.append(check(document, maps, out, workers, progress))
            typer.echo(f"{document['id']}: {document['probe']['runs']:,} runs, the same as before")
        except InputError as error:
            differ.append(str(error))
    write_pages(folder, same)
    if differ:
        raise InputError("; ".join(differ))


def _pack(experiments: list[str], size: str, out: Path, archive: Path) -> None:
    """Pack what is in the work folder, and say how its readers know that they have the same."""
    from training.runs.tables import find_tables, pack_rows

    tables = find_tables(out, experiments, size)
    typer.echo(f"{archive}: {len(tables)} tables of {len({table.parent for table in tables})} experiments")
    typer.echo(f"SHA-256 {pack_rows(out, tables, archive)}")


def _check_maps(maps: Path | None) -> None:
    from rt_gym import InputError
    from rt_gym.files import shown

    if maps is not None and not maps.is_dir():
        raise InputError(f"{shown(maps)}: is not a folder")


def _check_docs(docs: Path, maps: Path | None) -> None:
    """Refuse a page that could not be written in the end, before anything is run."""
    from rt_gym import InputError
    from training.report.results_page import documents_folder

    if maps is None:
        raise InputError("--write-docs needs the public maps: name their folder by --maps")
    make_folder(documents_folder(docs))


def _tell(document: dict[str, Any]) -> None:
    from training.report.results_page import CLAIM_WORDS, claims_table, remarks, tables

    typer.echo("\n".join([_head(document), document["paper"] + ".", *remarks(document), ""]))
    print_tables(tables(document))
    claims = claims_table(document)
    print_table(claims.title, claims.columns, claims.rows, CLAIM_WORDS)

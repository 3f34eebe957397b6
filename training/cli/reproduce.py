"""``rt-gym reproduce``: the experiments of the papers, with a verdict on every claim."""

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.cli.terminal import AsJson, make_folder, print_json, print_table, progress

if TYPE_CHECKING:
    from training.experiments.frame import Experiment, Part
    from training.experiments.trained import Trained
    from training.runs import Course, Plan, Workers

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


def reproduce(
    experiment: Id,
    size: Size = "smoke",
    maps: Maps = None,
    jobs: Annotated[int, typer.Option(min=-1, help="Processes at a time; -1 for one per core.")] = -1,
    out: Annotated[Path, typer.Option(help="The folder for tables and jobs.")] = Path("rt-gym-reproduce"),
    write_docs: Docs = None,
    as_json: AsJson = False,
) -> None:
    """Repeat an experiment of a paper and say of every claim whether it holds, does not hold, or is undecided.

    Finished jobs are kept in the folder: the same command goes on where it was stopped. Of all experiments those are
    left out that need a library which is not installed.
    """
    from rt_gym.errors import MissingLibrary
    from training.experiments import ids, load
    from training.experiments.frame import check_size
    from training.report.results_page import write_page
    from training.runs import Workers

    chosen = [load(name) for name in (ids() if experiment.lower() == "all" else [experiment])]
    folder = _public_maps(maps)
    check_size(size)
    if write_docs:
        _check_docs(write_docs, folder)
    workers = Workers(jobs)
    documents = []
    for each in chosen:
        try:
            documents.append(_conduct(each, size, folder, out, workers))
        except MissingLibrary as error:
            if len(chosen) == 1:
                raise
            typer.echo(f"{each.id} is left out: {error}", err=True)
            continue
        if not as_json:
            _tell(documents[-1])
    if write_docs:
        written = write_page(write_docs, documents)
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


def _conduct(experiment: "Experiment", size: str, maps: Path | None, out: Path, workers: "Workers") -> dict[str, Any]:
    """Run one experiment, write its tables, and return what it found."""
    from training.experiments.evidence import Evidence
    from training.report.results_page import describe
    from training.runs import write_tables

    drawn = [_draw(experiment, part, size, maps) for part in experiment.parts]
    home = out / experiment.id / size
    make_folder(home)
    taught = [_teach(experiment, part, size, maps, home, workers) for part in experiment.parts]
    plans = [
        part.plan(courses, experiment.seed, tuple(one.contender for one in own))
        for part, courses, own in zip(experiment.parts, drawn, taught, strict=True)
    ]
    found = [_run(experiment, plan, out, workers) for plan in plans]
    marks = [{one.name: one.quality for one in own if one.quality is not None} for own in taught]
    grids = [{course.name: course.grid for course in plan.courses} for plan in plans]
    evidence = [Evidence(*runs, *known) for runs, *known in zip(found, marks, grids, strict=True)]
    document = describe(experiment, plans, evidence, size, maps is not None)
    settings = {"parts": [plan.document() for plan in plans], "found": document}
    write_tables(home, settings, *([entry for each in column for entry in each] for column in zip(*found, strict=True)))
    return document


def _draw(experiment: "Experiment", part: "Part", size: str, maps: Path | None) -> "tuple[Course, ...]":
    total = sum(ground.count(part.problems[size]) for ground in part.grounds)
    with progress(f"{experiment.id}: drawing problems", total) as advance:
        courses = []
        for course in part.courses(size, maps, experiment.seed):
            courses.append(course)
            advance()
    return tuple(courses)


def _teach(
    experiment: "Experiment", part: "Part", size: str, maps: Path | None, home: Path, workers: "Workers"
) -> "list[Trained]":
    """Train the policies that take part, and examine what is to be examined."""
    if not part.taught:
        return []
    from training.experiments.trained import cross_validate_all, policies_folder, train_all
    from training.learn.setup import TrainingSetup

    train, validation = part.school(size, maps, experiment.seed)
    folder = policies_folder(home / "policies", train, validation)
    found = {}
    with progress(f"{experiment.id}: teaching", len(part.taught)) as advance:
        policies = train_all(part.lessons, TrainingSetup(train, validation, workers, folder))
        for one in chain(policies, cross_validate_all(part.exams, train, folder, workers)):
            found[one.name] = one
            advance()
    return [found[name] for name in part.taught]


def _run(experiment: "Experiment", plan: "Plan", out: Path, workers: "Workers") -> Any:
    """Run what is not on disk yet, be it from another experiment; Ctrl-C leaves what is finished."""
    from rt_gym.files import shown
    from training.runs import run_plan

    with progress(f"{experiment.id}: running", plan.runs) as advance:
        try:
            return run_plan(plan, out, workers, advance)
        except KeyboardInterrupt:
            says = f"stopped: finished jobs are kept in {shown(out)}; the same command goes on from there"
            typer.echo(says, err=True)
            raise typer.Exit(130) from None


def _tell(document: dict[str, Any]) -> None:
    from training.report.results_page import CLAIM_WORDS, claims_table, remarks, tables

    head = f"{document['id'].upper()}: {document['title']}"
    typer.echo("\n".join([head, document["paper"] + ".", *remarks(document), ""]))
    for table in tables(document):
        print_table(table.title, table.columns, table.rows)
    claims = claims_table(document)
    print_table(claims.title, claims.columns, claims.rows, CLAIM_WORDS)

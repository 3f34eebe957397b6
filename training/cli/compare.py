"""``rt-gym compare`` and ``rt-gym reproduce``: agents on the same problems, one's own comparison or that of a paper.

A comparison ends with a table, a plot and a recommendation, an experiment of a paper with a verdict on every claim.
"""

from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.cli.terminal import (
    AGENTS,
    JUDGING,
    OUTPUT,
    PROBLEMS,
    RUNNING,
    AsJson,
    Backend,
    Changes,
    Jobs,
    Optimal,
    Scheduler,
    Seed,
    Vision,
    gather,
    interruptible,
    leave_report,
    make_folder,
    make_workers,
    named,
    optimal_range,
    print_json,
    print_table,
    print_tables,
    progress,
    resumable,
    unfinished_report,
)
from training.experiments import ids

if TYPE_CHECKING:
    from training.experiments.conduct import Conducted
    from training.experiments.frame import Experiment
    from training.judge import Calibration, Findings, Limits
    from training.judge.squads import SquadArena
    from training.judge.tables import Table
    from training.runs import Course, Draw, Plan, Workers

_BUDGETS = "10,100,1000"
_AGENT = (
    "An agent, with sweeps as in lrta:depth=1,3,5..15, or a class of your own as in my_agents.Greedy; can be repeated."
    " Without it: all agents that fit the budgets."
)

Maps = Annotated[
    list[str],
    typer.Argument(metavar="MAP...", help="Names, splits, map files, folders, .scen files."),
]
Problems = Annotated[int, PROBLEMS.option("N", "Problems per map; of a scenario file at most this many.", max=10**6)]
Trials = Annotated[str, PROBLEMS.option("N|converge", "How often each problem is solved.")]
Repeats = Annotated[int, PROBLEMS.option("N", "Runs of each problem, with other random ties.", min=1, max=10**4)]
MaxMoves = Annotated[int, PROBLEMS.option("N", "The move cap of every trial; to meet it is to fail.", min=1, max=10**8)]
Agents = Annotated[list[str] | None, AGENTS.option("ID[:NAME=VALUES]", _AGENT, "--agent", "-a")]
Budgets = Annotated[str, AGENTS.option("N,...", f"Limits per move; {_BUDGETS} without --agent.")]
Count = Annotated[str, AGENTS.option("WHAT", "What the limits count: expansions or scans.")]
BudgetMs = Annotated[str, AGENTS.option("MS,...", "Limits in milliseconds on this processor.")]
Units = Annotated[int | None, AGENTS.option("N", "How many units share a tick.", min=1, max=10**4)]
TickMs = Annotated[float | None, AGENTS.option("MS", "The time of a tick for the planning of all units.")]
Baseline = Annotated[
    str | None, JUDGING.option("ID[:NAME=VALUE]", "Show paired differences to this one of the agents.")
]
Against = Annotated[
    Path | None,
    JUDGING.option("FILE", "An earlier results.csv; exit code 1 if any is worse."),
]
Leaderboard = Annotated[
    bool, JUDGING.option(None, "Rank depth controllers between fixed depths and oracle.", "--leaderboard")
]
Price = Annotated[float | None, JUDGING.option("STEPS", "What an expansion costs on the leaderboard; 0.01.", min=0.0)]
Replays = Annotated[int, RUNNING.option("N", "Problems that report.html replays.", min=0, max=1000)]
Out = Annotated[Path, RUNNING.option("FOLDER", "Where tables, plots and finished jobs are kept.", parser=named)]


def compare(
    maps: Maps,
    problems: Problems = 100,
    optimal: Optimal = "",
    vision: Vision = None,
    changes: Changes = None,
    trials: Trials = "1",
    repeats: Repeats = 1,
    max_moves: MaxMoves = 1_000_000,
    agent: Agents = None,
    budget: Budgets = "",
    count: Count = "expansions",
    budget_ms: BudgetMs = "",
    units: Units = None,
    tick_ms: TickMs = None,
    baseline: Baseline = None,
    against: Against = None,
    leaderboard: Leaderboard = False,
    price: Price = None,
    replays: Replays = 4,
    out: Out = Path("rt-gym-compare"),
    jobs: Jobs = -1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare agents on the same problems: a table, a plot, and which one to take at which budget.

    Finished jobs are kept in the folder: the same command goes on where it was stopped.
    """
    from training.judge import Question, find
    from training.judge.advice import leaderboard_table, score
    from training.judge.tables import too_slow
    from training.report.comparison import Part
    from training.runs import Draw, choose_changes, read_runs, run_plan, time_again
    from training.runs.contenders import parse_trials

    workers = make_workers(jobs, backend, scheduler)
    ranked_at = _ranking_price(leaderboard, price, agent)
    former = read_runs(against) if against else None
    low, high = optimal_range(optimal)
    draw = Draw(problems, low, high, seed, vision, choose_changes(changes))
    limits = _limits(budget, count, budget_ms, units, tick_ms, bool(agent))
    bounds = {"trials": parse_trials("--trials", trials), "max_moves": max_moves, "seed": seed}
    bounds["repeats"] = repeats
    specs = agent or _default_agents(leaderboard)
    plan, calibration = _plan(maps, draw, specs, limits, bounds, out, baseline, units)
    with unfinished_report(out, f"rt-gym compare {' '.join(maps)}", plan.document):
        with resumable("running", plan.runs, "runs", out) as advance:
            runs = run_plan(plan, out, workers, advance)
        if limits.times and not units:
            with interruptible("all runs are kept", out):
                runs = time_again(plan, runs, too_slow, out)
        squads = _run_squads(plan, units, tick_ms, out)
    question = Question(baseline, former, str(against), calibration.paces, calibration.left_out, squads)
    findings = find(plan, runs, question)
    asked = {"optimal_from": low, "optimal_to": None if high == inf else high, "baseline": baseline}
    files = findings.write(out, asked)
    standings = [] if ranked_at is None else score(runs, ranked_at, seed)
    board = [] if ranked_at is None else [leaderboard_table(standings, ranked_at, findings.precomputing)]
    part = Part(findings.title, findings, board, asked)
    subject = ", ".join([findings.title, *([squads.name] if squads else [])])
    files.append(leave_report(out, f"Which agent to take: {subject}", [part], problems=replays))
    if as_json:
        ranked = {"leaderboard": [standing.document() for standing in standings]} if standings else {}
        print_json(findings.document() | ranked | {"files": [str(path) for path in files]})
    else:
        _tell(findings, board, files)
    if findings.regressed:
        raise typer.Exit(1)


def _ranking_price(wanted: bool, price: float | None, specs: list[str] | None) -> float | None:
    """Return the price of a leaderboard, None if there is to be none.

    Raises:
        InputError: for a price without a leaderboard, or without the agents that define 0 and 1.
    """
    from rt_gym import InputError
    from rt_gym.specs import parse_sweep
    from training.judge.advice import PRICE, require_marks

    if price is not None and not wanted:
        raise InputError("--price goes with --leaderboard")
    if price is not None and not isfinite(price):
        raise InputError(f"--price must be a finite number, not {price}")
    if wanted and specs:
        require_marks(name for text in specs for name, _ in parse_sweep(text))
    return (PRICE if price is None else price) if wanted else None


def _default_agents(leaderboard: bool) -> list[str]:
    """Return who takes part if nobody is named; a leaderboard is measured by the oracle."""
    from training.judge.advice import ORACLE
    from training.runs import portfolio

    return portfolio() + [ORACLE] * leaderboard


def _limits(
    budget: str, count: str, budget_ms: str, units: int | None, tick_ms: float | None, chosen: bool
) -> "Limits":
    """Return the limits per move; without any, those of the portfolio if no agents were chosen."""
    from rt_gym import InputError
    from training.judge import Limits
    from training.runs.contenders import parse_numbers

    if (units is None) != (tick_ms is None):
        raise InputError("--units and --tick-ms go together")
    if bool(budget) + bool(budget_ms) + bool(units) > 1:
        raise InputError("only one of --budget, --budget-ms and --units can be given")
    times = [tick_ms / units] if units and tick_ms is not None else parse_numbers("--budget-ms", budget_ms, float)
    return Limits(parse_numbers("--budget", budget or ("" if chosen else _BUDGETS), int), count, times)


def _plan(
    maps: list[str],
    draw: "Draw",
    specs: list[str],
    limits: "Limits",
    bounds: dict[str, Any],
    out: Path,
    baseline: str | None,
    units: int | None,
) -> "tuple[Plan, Calibration]":
    """Return what is to be run, and what was measured for it; or refuse it before anything is written."""
    from training.judge import Calibration
    from training.runs import Plan, choose_baseline, find_courses

    limits.enlist(specs)  # refuses wrong ones before any problem is drawn
    courses = tuple(gather("drawing problems", find_courses(maps, draw), len(maps)))
    _tell_of_maps(maps, courses)
    calibration = Calibration(courses, out, units)
    with progress("calibrating", len(limits.times)) as advance:
        contenders = limits.enlist_calibrated(specs, calibration, advance)
    plan = Plan(tuple(contenders), courses, **bounds)
    if baseline is not None:
        choose_baseline(plan.contenders, baseline)
    make_folder(out)
    calibration.keep()
    return plan, calibration


def _tell_of_maps(maps: list[str], courses: "tuple[Course, ...]") -> None:
    """Say which problems were left out, and which terrain is taken for plain ground."""
    from rt_gym.maps.remarks import swamp_remark
    from training.runs.courses import expand

    for name, skipped in {course.name: course.skipped for course in courses if course.skipped}.items():
        typer.echo(f"note: {name}: {skipped} problems on blocked cells are left out", err=True)
    for remark in filter(None, map(swamp_remark, (place for source in maps for place in expand(source)))):
        typer.echo(f"note: {remark}", err=True)


def _run_squads(plan: "Plan", units: int | None, tick_ms: float | None, out: Path) -> "SquadArena | None":
    """Let units share ticks, if that was asked for."""
    from training.judge.squads import count_squads, run_squads

    if units is None or tick_ms is None:
        return None
    with resumable("running squads", count_squads(plan, units), "squads", out) as advance:
        return run_squads(plan, units, tick_ms, out, advance)


def _tell(findings: "Findings", board: "list[Table]", files: list[Path]) -> None:
    print_tables(findings.tables() + board)
    typer.echo(findings.notes())
    for lines in (findings.remarks(), findings.recommendations, [str(path) for path in files]):
        typer.echo("\n".join(["", *lines]) if lines else "", nl=bool(lines))


_REPLAYED = 2  # problems of every part

Id = Annotated[str, typer.Argument(metavar="ID|all", help=f"One of {', '.join(ids())}.")]
Size = Annotated[
    str, PROBLEMS.option("NAME", "smoke (seconds), record (minutes) or full (as many problems as the paper).")
]
PublicMaps = Annotated[
    Path | None,
    PROBLEMS.option("FOLDER", "The public MovingAI maps, a folder for each set; without it generated maps stand in."),
]
WorkFolder = Annotated[Path, OUTPUT.option("FOLDER", "For tables and finished jobs.", parser=named)]
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
    maps: PublicMaps = None,
    jobs: Jobs = -1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
    out: WorkFolder = Path("rt-gym-reproduce"),
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
            _tell_found(documents[-1])
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


def _tell_found(document: dict[str, Any]) -> None:
    from training.report.results_page import CLAIM_WORDS, claims_table, remarks, tables

    typer.echo("\n".join([_head(document), document["paper"] + ".", *remarks(document), ""]))
    print_tables(tables(document))
    claims = claims_table(document)
    print_table(claims.title, claims.columns, claims.rows, CLAIM_WORDS)

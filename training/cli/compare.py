"""``rt-gym compare``: agents on the same problems, in a table, a plot and a recommendation."""

from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.cli.reporting import leave_report, unfinished_report
from training.cli.terminal import (
    AGENTS,
    JUDGING,
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
    make_folder,
    make_workers,
    named,
    optimal_range,
    print_json,
    print_tables,
    progress,
    resumable,
)

if TYPE_CHECKING:
    from training.judge import Calibration, Findings, Limits
    from training.judge.squads import SquadArena
    from training.judge.tables import Table
    from training.runs import Course, Draw, Plan

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
    from training.judge.ranking import score
    from training.judge.tables import leaderboard_table, too_slow
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
    from training.judge.ranking import PRICE, require_marks

    if price is not None and not wanted:
        raise InputError("--price goes with --leaderboard")
    if price is not None and not isfinite(price):
        raise InputError(f"--price must be a finite number, not {price}")
    if wanted and specs:
        require_marks(name for text in specs for name, _ in parse_sweep(text))
    return (PRICE if price is None else price) if wanted else None


def _default_agents(leaderboard: bool) -> list[str]:
    """Return who takes part if nobody is named; a leaderboard is measured by the oracle."""
    from training.judge.ranking import ORACLE
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

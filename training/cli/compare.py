"""``rt-gym compare``: agents on the same problems, in a table, a plot and a recommendation."""

from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.cli.terminal import AsJson, Seed, make_folder, print_json, print_table, progress

if TYPE_CHECKING:
    from training.judge import Calibration, Findings
    from training.runs import Allowance, Course, Draw, Plan, Row, Timing, Workers

_BUDGETS = "10,100,1000"
_NOTES = """\
exp., scans, µs: expansions, scans and time per move. mean: per problem, then over problems. pooled: all work / all
moves. worst move: the most of what the budget counts. front: no other setting is better in both quality and work.
Intervals hold 95 %, by bootstrap over problems."""
_RATIO = "ratio: the work that LRTA* of a fixed depth needs for the same suboptimality, divided by the agent's own."
_LATE = "late ticks: the share of ticks that are too short if every unit's move is as slow as its run's p99."

Maps = Annotated[
    list[str], typer.Argument(metavar="MAP...", help="Bundled names, map files, folders of maps, or .scen files.")
]
Agents = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        "-a",
        metavar="ID[:NAME=VALUES]",
        help="An agent, with sweeps as in lrta:depth=1,3,5..15, or a class of your own as in my_agents.Greedy; can be"
        " repeated. Without it: all agents that fit the budgets.",
    ),
]
Against = Annotated[
    Path | None, typer.Option(help="An earlier results.csv: better, worse or the same? Exit code 1 if any is worse.")
]
Changes = Annotated[
    str | None,
    typer.Option(
        metavar="bridge|door|blockers|FILE",
        help="How the map changes: by a name, drawn for every problem that it fits, or as a .json or .csv file says in"
        " rows of time, x, y, free.",
    ),
]
MaxMoves = Annotated[int, typer.Option(min=1, max=10**8, help="The move cap of every trial; to meet it is to fail.")]
Leaderboard = Annotated[
    bool, typer.Option("--leaderboard", help="Rank depth controllers: 0 is the best fixed depth, 1 the oracle.")
]
Price = Annotated[float, typer.Option(min=0.0, help="Steps that an expansion costs, for --leaderboard.")]
Baseline = Annotated[
    str | None, typer.Option(metavar="ID[:NAME=VALUE]", help="Show paired differences to this one of the agents.")
]


def compare(
    maps: Maps,
    agent: Agents = None,
    problems: Annotated[int, typer.Option(help="Problems per map; of a scenario file at most this many.")] = 100,
    optimal: Annotated[str, typer.Option(metavar="LOW..HIGH", help="The range of their optimal costs.")] = "",
    budget: Annotated[str, typer.Option(metavar="N,...", help=f"Limits per move; {_BUDGETS} without --agent.")] = "",
    count: Annotated[str, typer.Option(help="What the limits count: expansions or scans.")] = "expansions",
    budget_ms: Annotated[str, typer.Option(metavar="MS,...", help="Limits in milliseconds on this processor.")] = "",
    units: Annotated[int | None, typer.Option(min=1, max=10**6, help="How many units share a tick.")] = None,
    tick_ms: Annotated[float | None, typer.Option(help="The time of a tick for the planning of all units.")] = None,
    vision: Annotated[int | None, typer.Option(min=1, help="How many cells far the agent sees.")] = None,
    changes: Changes = None,
    trials: Annotated[str, typer.Option(metavar="N|converge", help="How often each problem is solved.")] = "1",
    max_moves: MaxMoves = 1_000_000,
    baseline: Baseline = None,
    against: Against = None,
    leaderboard: Leaderboard = False,
    price: Price = 0.01,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="The folder for tables, plots and finished jobs.")] = Path("rt-gym-compare"),
    jobs: Annotated[int, typer.Option(min=-1, help="Processes at a time; -1 for one per core.")] = -1,
    backend: Annotated[str, typer.Option(help="loky (this machine) or dask.")] = "loky",
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="The Dask scheduler.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare agents on the same problems: a table, a plot, and which one to take at which budget.

    Finished jobs are kept in the folder: the same command goes on where it was stopped.
    """
    from training.judge import Question, find
    from training.runs import Draw, Workers, choose_changes, read_rows
    from training.runs.specs import parse_range

    workers = Workers(jobs, backend, scheduler)
    if leaderboard and agent:
        _check_marks(agent)
    former = read_rows(against) if against else None
    low, high = parse_range("--optimal", optimal) if optimal else (1.0, inf)
    draw = Draw(problems, low, high, seed, vision, choose_changes(changes))
    times = _times(budget, count, budget_ms, units, tick_ms)
    limits = budget or ("" if agent else _BUDGETS)
    runs = {"trials": _whole_or_word("--trials", trials), "max_moves": max_moves, "seed": seed}
    plan = _plan(agent, maps, draw, _allowances(limits, count), times, runs, out, baseline)
    rows, timings = _run(plan, out, workers)
    findings = find(plan, rows, timings, Question(baseline, former, str(against), units, tick_ms or 0.0))
    asked = {"optimal_from": low, "optimal_to": None if high == inf else high, "baseline": baseline}
    _tell(findings, findings.write(out, asked), as_json, price if leaderboard else None)
    if findings.regressed:
        raise typer.Exit(1)


def _check_marks(specs: list[str]) -> None:
    """Refuse a leaderboard without the fixed depths and the oracle, which define 0 and 1."""
    from training.judge.leaderboard import require_marks
    from training.runs.specs import parse_sweep

    require_marks(name for text in specs for name, _ in parse_sweep(text))


def _times(budget: str, count: str, budget_ms: str, units: int | None, tick_ms: float | None) -> list[float]:
    """Return the times per move that were asked for, in milliseconds."""
    from rt_gym import InputError
    from training.runs.specs import parse_numbers

    if (units is None) != (tick_ms is None):
        raise InputError("--units and --tick-ms go together")
    if bool(budget) + bool(budget_ms) + bool(units) > 1:
        raise InputError("only one of --budget, --budget-ms and --units can be given")
    times = [tick_ms / units] if units and tick_ms is not None else parse_numbers("--budget-ms", budget_ms, float)
    if times and count != "expansions":
        raise InputError("a time is converted to expansions, so --count scans cannot be had with it")
    if not all(1e-6 <= time <= 1e6 for time in times):
        raise InputError(f"a time per move must be from 1e-6 to 1e6 milliseconds, not {min(times):g}")
    return times


def _allowances(budget: str, count: str) -> "list[Allowance]":
    from rt_gym import Budget
    from training.runs import Allowance
    from training.runs.specs import parse_numbers

    wanted: list[int | None] = [*parse_numbers("--budget", budget, int)] or [None]
    limits = [Budget(limit, count).limit for limit in wanted]
    return [Allowance.of(limit, count) for limit in dict.fromkeys(limits)]


def _whole_or_word(name: str, text: str) -> int | str:
    from training.runs.specs import parse_numbers

    return text if text == "converge" else parse_numbers(name, text, int)[0]


def _plan(
    specs: list[str] | None,
    maps: list[str],
    draw: "Draw",
    limits: "list[Allowance]",
    times: list[float],
    runs: dict[str, Any],
    out: Path,
    baseline: str | None,
) -> "Plan":
    """Return what is to be run, or refuse it before anything is written."""
    from training.judge import Calibration
    from training.runs import Plan, choose_baseline, enlist_all, portfolio

    specs = specs or portfolio()
    ids = list(dict.fromkeys(contender.agent for contender in enlist_all(specs, limits)))
    courses = _draw(maps, draw)
    calibration = Calibration(courses, out) if times else None
    allowances = _calibrate(calibration, ids, times) if calibration else limits
    plan = Plan(tuple(enlist_all(specs, allowances)), courses, **runs)
    if baseline:
        choose_baseline(plan.contenders, baseline)
    make_folder(out)
    if calibration:
        calibration.keep()
    return plan


def _draw(maps: list[str], draw: "Draw") -> "tuple[Course, ...]":
    from training.runs import find_courses

    with progress("drawing problems", len(maps)) as advance:
        courses = []
        for course in find_courses(maps, draw):
            courses.append(course)
            advance()
    return tuple(courses)


def _calibrate(calibration: "Calibration", ids: list[str], times: list[float]) -> "list[Allowance]":
    with progress("calibrating", len(times)) as advance:
        allowances = []
        for time in times:
            allowances.append(calibration.allowance(ids, time))
            advance()
    return allowances


def _run(plan: "Plan", out: Path, workers: "Workers") -> "tuple[list[Row], list[Timing]]":
    """Run what is not on disk yet; Ctrl-C leaves what is finished."""
    from rt_gym.files import shown
    from training.runs import run_plan

    done = 0
    with progress("running", plan.runs) as advance:

        def report(runs: int) -> None:
            nonlocal done
            done += runs
            advance(runs)

        try:
            return run_plan(plan, out, workers, report)
        except KeyboardInterrupt:
            kept = f"{done} of {plan.runs} runs are kept in {shown(out)}"
            typer.echo(f"stopped: {kept}; the same command goes on from there", err=True)
            raise typer.Exit(130) from None


def _tell(findings: "Findings", files: list[Path], as_json: bool, price: float | None) -> None:
    from training.judge.leaderboard import leaderboard_table, score

    names = [str(path) for path in files]
    standings = [] if price is None else score(findings.rows, price, findings.plan.seed)
    if as_json:
        ranked = {"leaderboard": [standing.document() for standing in standings]} if standings else {}
        print_json(findings.document() | ranked | {"files": names})
        return
    tables = findings.tables() + ([leaderboard_table(standings, price)] if price is not None else [])
    for table in tables:
        print_table(table.title, table.columns, table.rows)
    typer.echo("\n".join([_NOTES, *[_RATIO] * findings.has_ratios, *[_LATE] * bool(findings.late)]))
    for lines in (findings.remarks(), findings.recommendations, names):
        typer.echo("\n".join(["", *lines]) if lines else "", nl=bool(lines))

"""``rt-gym compare``: which agent is best on one's maps; ``rt-gym demo``: a small comparison that is set up already.

The demo has classical and learned agents, in tables, a plot and a picture.
"""

from collections.abc import Iterator
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    leave_report,
    make_folder,
    make_workers,
    named,
    optimal_range,
    print_json,
    print_tables,
    progress,
    resumable,
    unfinished_report,
)

if TYPE_CHECKING:
    from rt_gym import Problem
    from training.judge import Calibration, Findings, Limits, Score
    from training.judge.squads import SquadArena
    from training.judge.tables import Table
    from training.runs import Contender, Course, Draw, Plan, Workers

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


_DEMO_AGENTS = (
    "astar",
    "weighted-astar",
    "lrta",
    "lss-lrta",
    "rule-lrta",
    "classifier-lrta",
    "policy-lrta",
    "oracle-lrta",
)
_DEMO_BUDGETS = (10, 100, 1000)
_DEMO_MAPS = {"caves-128": (60, 200), "terrain-512": (100, 300)}  # with the range of optimal costs
_DEMO_PROBLEMS = 20
_MAX_MOVES = 1_000_000
_PICTURED = "terrain-512", "lss-lrta", 100

_DEMO_NOTES = """\
The two A* have no bound per move: they stand still, one move at a time, until their path is found.
lrta looks equally far at every move. rule-lrta chooses its depth by a rule, classifier-lrta by a learned tree,
policy-lrta by a learned network, oracle-lrta by what the deepest lookahead would do (which is counted as scans)."""


def demo(
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the plot and the picture are written.", parser=named)
    ] = Path("rt-gym-demo"),
    seed: Seed = 0,
    jobs: Jobs = 1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Compare classical and learned agents on two maps at three budgets, draw a plot and a picture of one run."""
    workers = make_workers(jobs, backend, scheduler)
    plans = {name: _plan_demo(name, seed) for name in _DEMO_MAPS}
    make_folder(out)
    findings = _run_demo(plans, workers)
    files = [str(path) for path in (*_draw_demo(findings, out), _leave_demo_report(findings, out))]
    if as_json:
        print_json({"seed": seed, "maps": [_demo_document(*pair) for pair in findings.items()], "files": files})
        return
    print_tables(_demo_table(*pair) for pair in findings.items())
    typer.echo("\n".join([next(iter(findings.values())).notes(), _DEMO_NOTES, "", *files]))


def _leave_demo_report(findings: "dict[str, Findings]", out: Path) -> Path:
    from training.report.comparison import Part

    parts = [Part(_demo_title(name), found) for name, found in findings.items()]
    return leave_report(out, "Classical and learned agents", parts)


def _plan_demo(name: str, seed: int) -> "Plan":
    """Return all agents at all budgets on a map."""
    from training.runs import Allowance, Draw, Plan, enlist_all, find_courses

    courses = find_courses([name], Draw(_DEMO_PROBLEMS, *_DEMO_MAPS[name], seed))
    contenders = enlist_all(_DEMO_AGENTS, map(Allowance.of, _DEMO_BUDGETS))
    return Plan(tuple(contenders), tuple(courses), max_moves=_MAX_MOVES, seed=seed)


def _run_demo(plans: "dict[str, Plan]", workers: "Workers") -> "dict[str, Findings]":
    from training.judge import find
    from training.runs import run_plan

    findings = {}
    with progress("", sum(plan.runs for plan in plans.values())) as advance:
        for name, plan in plans.items():
            advance(0, name)
            findings[name] = find(plan, run_plan(plan, workers=workers, advance=advance))
    return findings


def _demo_table(name: str, findings: "Findings") -> "Table":
    """Return the main table of a map under a title that names it."""
    return findings.tables()[0]._replace(title=_demo_title(name))


def _demo_title(name: str) -> str:
    low, high = _DEMO_MAPS[name]
    return f"{name}: {_DEMO_PROBLEMS} problems with optimal costs from {low} to {high}"


def _draw_demo(findings: "dict[str, Findings]", out: Path) -> Iterator[Path]:
    """Write the plot and the picture of the longest problem's run, and yield where they are."""
    from training.judge.plots import draw_panels, save, score_panel

    figure = draw_panels([score_panel(_demo_title(name), found.scores, "mean") for name, found in findings.items()])
    yield save(figure, out / "suboptimality.png")
    yield save(figure, out / "suboptimality.svg")
    (course,) = findings[_PICTURED[0]].plan.courses
    problem = max(map(course.problem, course.tasks), key=lambda problem: problem.optimal or 0.0)
    yield _picture(problem, findings[_PICTURED[0]].plan.seed, out / "run.png")


def _picture(problem: "Problem", seed: int, path: Path) -> Path:
    import agents
    from training.judge.plots import draw_run, save

    name, agent_id, budget = _PICTURED
    agent = agents.make(agent_id, budget=budget)
    run = agents.run(agent, problem, budget=budget, max_moves=_MAX_MOVES, seed=seed)
    title = f"{agent_id} on {name}, {budget} expansions per move"
    return save(draw_run(title, run, agent.layers()["h"], agents.run("astar", problem).path), path)


def _demo_document(name: str, findings: "Findings") -> dict[str, Any]:
    from training.judge.tables import slow_moves

    slow = slow_moves(findings.runs)
    pairs = zip(findings.plan.contenders, findings.scores, strict=True)
    settings = [_demo_setting(contender, score) | {"move_seconds_p99": slow[score.entry]} for contender, score in pairs]
    low, high = _DEMO_MAPS[name]
    return {"map": name, "optimal_from": low, "optimal_to": high, "settings": settings}


def _demo_setting(contender: "Contender", score: "Score") -> dict[str, Any]:
    """Return one setting of an agent and its numbers, as JSON takes them: none is infinite."""
    median = score.quality_median
    return {
        "agent": contender.agent,
        "settings": contender.settings,
        "budget": score.entry.limit,
        "problems": score.problems,
        "failures": score.failures,
        "suboptimality_mean": score.quality.value if score.quality else None,
        "suboptimality_median": median if isfinite(median) else None,
        "expansions_mean": score.expansions_mean.value,
        "expansions_pooled": score.expansions_pooled.value,
        "scans_pooled": score.scans_pooled,
        "worst_move": score.worst_move,
    }

"""Pages whose tables are measured for them: of agents, of baselines on levels, and of levels.

The page of agents: what each of them is, and what it does on one set of problems that all of them share. The page of
baselines: what learners, rules and agents reach on levels, from the documents that were measured. The page of levels:
what policies without learning and classical agents reach on every test split; ``python -m training.report.measured
docs`` measures its tables and writes them into ``docs/levels.md``.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

import agents
import rt_gym
from rt_gym import InputError
from rt_gym.files import atomic_write, make_folder, read_bytes, shown
from rt_gym.levels import LEVELS, Level
from rt_gym.problem import Problem
from rt_gym.specs import parse_agent
from training.judge import Score, score_all
from training.judge.plots import STYLE, save
from training.judge.stats import Estimate
from training.judge.tables import Table, digits, interval, with_interval
from training.learn.rl.baselines import ANCHOR, BEST, LEARNERS, LEARNING, RANDOM, RECIPE, RULE, summarise
from training.report.results_page import markdown
from training.runs import Allowance, Draw, Plan, Runs, enlist_all, find_courses

AGENTS_PAGE = "agents.md"
SPLIT, PER_MAP = "mixed-test", 8
_STATIC_WORDS = 6
_AGENTS_HEAD = """\
# Agents

Every agent by its id, for `agents.make`, `rt-gym compare` and all else. `rt-gym agents ID` shows its readings of the
paper and what its parameters mean. This page is written by `rt-gym agents --write-docs docs`; with an id as well, that
agent alone is measured.

bound: the most expansions for one move, with the parameters as shown. prepares: whether it computes knowledge of the
map, or of the goal, before the first move; `rt-gym compare` lists and recommends such agents apart."""
_MEASURED_HEAD = "## Measured"
_MEASURED = f"""\
{_MEASURED_HEAD}

Agents with the parameters above, without a budget, on the same {{problems}} problems: the first {PER_MAP} on each
of the {{maps}} maps of the split `{SPLIT}`, which they know. `rt-gym compare` sets agents against each other under
equal budgets, on any maps.

subopt.: cost over optimal cost. exp., scans: expansions and scans per move; mean: per problem, then over problems;
pooled: all of them over all moves. worst move: the most expansions for one move. states, kB: the most that the agent
held on one of these problems, learned values or the states of its search, without the map and what was precomputed for
it. µs: microseconds per move, the median of all problems, on one core of the machine that wrote this page."""
_NOT_MEASURED = "Not measured yet: {}."
_ROW = re.compile(r"^\| `([^`]+)` \|.*$", re.MULTILINE)


def common_plan(ids: Iterable[str]) -> Plan:
    """Return all runs of agents, with their default parameters, on the common problems."""
    courses = find_courses([SPLIT], Draw(PER_MAP))
    return Plan(tuple(enlist_all(ids, [Allowance.of(None)])), tuple(courses))


def write_agents_page(folder: Path, entries: Sequence[dict[str, Any]], runs: Runs) -> Path:
    """Write the page of agents, from what describes them and from their runs on the common problems.

    An agent without runs keeps the row that the page has; without one it is listed as not measured.
    """
    places = {row.place for row in runs}
    said = _MEASURED.format(problems=len(places), maps=len({place.map for place in places}))
    table = markdown(_measured_table(runs)).replace("*", r"\*")
    lines = kept_rows(folder / AGENTS_PAGE) | rows_by_id(table)
    ids = [entry["id"] for entry in entries]
    parts = [
        _AGENTS_HEAD,
        static_part(entries),
        said,
        _with_rows(table, [lines[name] for name in ids if name in lines]),
    ]
    if missing := [f"`{name}`" for name in ids if name not in lines]:
        parts.append(_NOT_MEASURED.format(", ".join(missing)))
    atomic_write(folder / AGENTS_PAGE, ("\n\n".join(parts) + "\n").encode())
    return folder / AGENTS_PAGE


def rows_by_id(text: str) -> dict[str, str]:
    """Return the rows of a table on the page by the id they begin with."""
    return {row[1]: row[0] for row in _ROW.finditer(text)}


def kept_rows(page: Path) -> dict[str, str]:
    """Return the measured rows that a page has, none if there is no such page."""
    if not page.is_file():
        return {}
    try:
        text = read_bytes(page).decode()
    except UnicodeDecodeError:
        raise InputError(f"{shown(page)}: is not a page of agents, nor any text") from None
    return rows_by_id(text.partition(f"\n{_MEASURED_HEAD}\n")[2])


def _with_rows(table: str, rows: Iterable[str]) -> str:
    """Return a table with the same head and these rows."""
    return "\n".join([*table.splitlines()[:2], *rows])


def static_part(entries: Iterable[dict[str, Any]]) -> str:
    """Return the table of what agents are, as the page has it."""
    columns = ["id", "what it does", "parameters", "bound", "prepares", "source"]
    lines = [
        [
            f"`{entry['id']}`",
            entry["summary"],
            " ".join(f"`{name}={value}`" for name, value in entry["parameters"].items()),
            "none" if entry["bound"] is None else f"{entry['bound']:,}",
            "yes" if entry["precomputes"] else "",
            entry["source"] or "this project",
        ]
        for entry in entries
    ]
    return markdown(Table("Agents", columns, lines), _STATIC_WORDS).replace("*", r"\*")


def _measured_table(runs: Runs) -> Table:
    work = ["exp. mean", "exp. pooled", "scans pooled", "worst move", "states", "kB", "µs"]
    columns = ["id", "subopt. mean", "95 % interval", *work, "solved"]
    micros = _micros_per_move(runs)
    return Table("Measured", columns, [_line(score, micros) for score in score_all(runs)])


def _line(score: Score, micros: dict[str, float]) -> list[str]:
    agent = score.entry.agent
    numbers = score.expansions_mean.value, score.expansions_pooled.value, score.scans_pooled
    worst = f"{score.worst_move:,}"
    return [
        f"`{agent}`",
        *with_interval(score.quality),
        *map(digits, numbers),
        worst,
        f"{score.states:,}",
        digits(score.state_bytes / 1000),
        digits(micros[agent]),
        score.solved,
    ]


def _micros_per_move(runs: Runs) -> dict[str, float]:
    """Return the median over problems: a run takes milliseconds, so that a mean would tell of the machine."""
    return {
        batch.entry.agent: float(np.median(1e6 * batch.columns["seconds"] / np.maximum(1, batch.columns["moves"])))
        for batch in runs.batches
    }


BASELINES_PAGE, BASELINES_FOLDER = "baselines.md", "baselines"
_WHAT = {
    RANDOM: "a random move that leads somewhere",
    "greedy": "to the neighbour nearest to the goal by the heuristic",
    RULE: "the neighbour for which step, heuristic and three steps for every visit are the least",
    "PPO": "Stable-Baselines3, flat observation with visits, its policy acting by chance",
    "MaskablePPO": "sb3-contrib, the same with action masks",
    "RecurrentPPO": f"sb3-contrib, the same with an LSTM of {LEARNING.lstm} units and no masks",
    RECIPE: "`rt-gym train rl --every 100000`: imitation of the rule, then MaskablePPO; its best move",
    BEST: "the best of LRTA\\*, RTAA\\* and LSS-LRTA\\* at 100 expansions per move, chosen on the validation split",
    "astar": "A\\* and then the walk, again wherever the way is blocked; no limit",
    ANCHOR: "D\\* Lite, no limit",
}
_COLOURS = dict(zip(LEARNERS, ("#0072b2", "#56b4e9", "#cc79a7", "#d55e00"), strict=True))
_BASELINES_HEAD = """# Baselines

What learners reach on [levels](levels.md) beside chance, rules and agents that search, failures included. Every learner
had {steps:,} steps in each of {seeds} trainings per level, with the seeds 0 to {last}, none chosen. That is a small
budget, taken so that the page can be made in an hour on one core: all of it took {minutes:.0f} minutes of processor
time. It says nothing about what a learner reaches with a hundred times as much: `examples/sb3_ppo.py` and its
neighbours, which learn five to ten times as long, reach nearly all goals of `random-16-test`. One command makes this
page, goes on where it was stopped, and takes more levels, steps and seeds:

```sh
{command}
```

A problem counts as the optimal cost divided by the cost of the walk, or as 0 if the goal is not reached in time; the
mean over the test split is the *weighted share* (SPL). The *normalised score* of a training is 0 for chance and 1 for
D\\* Lite. Seconds are those of the processor for training and judging.

All learners learn from the same: episodes that are cut after eight sides of the map, rewards divided by the optimal
cost and shaped by the heuristic, how often the cells around have been visited, inputs scaled alike. The settings of PPO
and its kin are nearly those of the examples: {episodes} episodes, rollouts of {n_steps} steps each, {n_epochs} epochs
with batches of {batch_size} ({lstm_batch} with an LSTM, which is slow), learning rate 0.001, discount 0.99, entropy
{ent_coef}, two layers of 64 units. They were chosen on the validation split of `RTPath-Random-16x16-v0`, where PPO
solved 91 % in a trial with 400,000 steps: if a learner is weaker here than in an example, the reason is the number of
steps.

The recipe is no equal rival of the other three learners. It is shown moves of a rule before it begins, and is judged
with the network that was best on the validation split, which may be the one from before its first step; they begin from
nothing and are judged with their last network. Its curve at step 0 is what imitation alone reaches."""
_OVERALL = """The interquartile mean is that of the middle half of all scores; then follows how likely a training of the
recipe scores higher on a random level. Intervals are 95 % bootstrap intervals over seeds, level by level; policies
without chance have one seed and no interval."""


def write_baselines(folder: Path, documents: Sequence[Mapping[str, Any]], command: str) -> list[Path]:
    """Write the page, and for every level its document and figure, and return what was written."""
    make_folder(folder / BASELINES_FOLDER)
    written = []
    for document in documents:
        path = folder / BASELINES_FOLDER / f"{document['level']}.json"
        atomic_write(path, (json.dumps(document, indent=1) + "\n").encode())
        written += [path, save(draw_curves(document), path.with_suffix(".png"))]
    atomic_write(folder / BASELINES_PAGE, render_baselines(documents, command).encode())
    return [folder / BASELINES_PAGE, *written]


def render_baselines(documents: Sequence[Mapping[str, Any]], command: str) -> str:
    """Return the page."""
    first = documents[0]
    seconds = sum(run["seconds"] for each in documents for found in each["policies"].values() for run in found["runs"])
    numbers = {"steps": first["steps"], "seeds": first["seeds"], "last": first["seeds"] - 1, "minutes": seconds / 60}
    head = _BASELINES_HEAD.format(command=command, **numbers, **LEARNING._asdict())
    who = Table("", ["policy", "what it does"], [[f"`{name}`", _WHAT[name]] for name in first["policies"]])
    parts = [head, markdown(who, 2), "## All levels", _OVERALL, markdown(overall_table(documents))]
    for document in documents:
        figure = f"![Learning curves]({BASELINES_FOLDER}/{document['level']}.png)"
        parts += [f"## {document['level']}", figure, markdown(level_table(document))]
    return "\n\n".join(parts) + "\n"


def overall_table(documents: Sequence[Mapping[str, Any]]) -> Table:
    """Return the table over all levels."""
    rows = []
    for policy, found in summarise(documents).items():
        middle, beaten = Estimate(*found["interquartile_mean"]), ["", ""]
        if "beaten_by_recipe" in found and policy != RECIPE:
            chance = Estimate(*found["beaten_by_recipe"])
            beaten = [f"{chance.value:.2f}", interval(chance)]
        rows.append([f"`{policy}`", f"{middle.value:.3f}", interval(middle), *beaten])
    columns = [
        "policy",
        "normalised score, interquartile mean",
        "95 % interval",
        "P(recipe is better)",
        "95 % interval",
    ]
    return Table("All levels", columns, rows)


def level_table(document: Mapping[str, Any]) -> Table:
    """Return the table of a level, in which ranges are those of the seeds."""
    columns = ["policy", "solved", "weighted share", "normalised score", "exp. per move", "seconds"]
    rows = []
    for policy, found in document["policies"].items():
        runs = {name: [one[name] for one in found["runs"]] for name in ("solved", "weighted", "expansions", "seconds")}
        label = found["runs"][0]["label"]
        rows.append(
            [
                f"`{policy}`" if label == policy else f"`{policy}`: {label}",
                _range([100 * share for share in runs["solved"]], ".0f", " %"),
                _range(runs["weighted"], ".3f"),
                _range(found["scores"], ".3f"),
                _range(runs["expansions"], ".1f"),
                _range(runs["seconds"], ".0f"),
            ]
        )
    return Table(document["level"], columns, rows)


def _range(values: Sequence[float], form: str, unit: str = "") -> str:
    low, high = (format(value, form) for value in (min(values), max(values)))
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"


def draw_curves(document: Mapping[str, Any]) -> Figure:
    """Draw the goals reached on the validation split over the steps: the mean of all seeds, and their range."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6, 3.2), layout="constrained")
        axes = figure.subplots()
        for name in filter(document["policies"].__contains__, LEARNERS):
            looks = np.array([run["looks"] for run in document["policies"][name]["runs"]])
            steps, solved = looks[..., 0].mean(axis=0), looks[..., 1]
            axes.plot(steps, solved.mean(axis=0), color=_COLOURS[name], marker="o", label=name)
            axes.fill_between(steps, solved.min(axis=0), solved.max(axis=0), color=_COLOURS[name], alpha=0.15, lw=0)
        chance = np.mean([run["solved"] for run in document["policies"][RANDOM]["runs"]])
        axes.axhline(float(chance), color="#33383d", lw=0.8, label=f"{RANDOM}, test split")
        axes.set_title(f"{document['level']}: goals reached, validation split", loc="left", fontweight="bold")
        axes.set(xlabel="steps", ylim=(0, 1.02))
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


LEVELS_PAGE = "levels.md"
POLICIES = ("random", "greedy")
BOUNDED = ("rtaa:lookahead=50", "lss-lrta:lookahead=50", "da-lss-lrta:lookahead=50", "tba:R=50")
COMPLETE = ("astar", "dstar-lite")
_HEADS = ("level", "optimal", *POLICIES, "best within 50", "agent", *(f"{name}, worst move" for name in COMPLETE))
_TABLE = re.compile(r"(<!-- (RTPath|RTPathFog) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def write_levels_page(folder: Path) -> Path:
    """Measure all levels and put the tables into the page."""
    text = (folder / LEVELS_PAGE).read_text(encoding="utf-8")
    text = _TABLE.sub(lambda found: found[1] + levels_table(found[2], LEVELS.values()), text)
    atomic_write(folder / LEVELS_PAGE, text.encode())
    return folder / LEVELS_PAGE


def levels_table(env: str, levels: Iterable[Level]) -> str:
    """Return the table of an environment, a line for every level."""
    lines = [" | ".join(_HEADS), " | ".join("---" for _ in _HEADS)]
    lines += [" | ".join(row_of_level(env, level)) for level in levels]
    return "".join(f"| {line} |\n" for line in lines)


def row_of_level(env: str, level: Level) -> Iterator[str]:
    """Yield the cells of a level: all of them about its test split."""
    env_id, split = f"{env}-{level.kind}-{level.size}x{level.size}-v0", f"{level.name}-test"
    problems = problems_of(env, level, "test")
    yield f"`{env_id}`"
    yield f"{np.mean([problem.optimal or 0.0 for problem in problems]):.0f}"
    for policy in POLICIES:
        found = rt_gym.evaluate(env_id, policy, split)
        yield _reached([row["suboptimality"] for row in found.as_rows() if row["solved"]], len(found))
    best = choose_bounded(env, level)
    yield _reached(_costs(run_all(best, problems, level.max_moves)), len(problems))
    yield f"`{best}`"
    for name in COMPLETE:
        done = run_all(name, problems, level.max_moves)
        yield f"{_reached(_costs(done), len(problems))}, {max(run.max_expansions for run in done)}"


def choose_bounded(env: str, level: Level) -> str:
    """Return which bounded agent solves most problems of the validation split, and walks least of those that do."""
    problems = problems_of(env, level, "validation")
    costs = {name: _costs(run_all(name, problems, level.max_moves)) for name in BOUNDED}
    return max(BOUNDED, key=lambda name: (len(costs[name]), -np.mean(costs[name] or np.inf)))


def problems_of(env: str, level: Level, part: str) -> list[Problem]:
    """Return the problems of a split of a level, seen as the environment shows them."""
    vision = 1 if env == "RTPathFog" else None
    return [replace(problem, vision=vision) for problem in rt_gym.splits.load(f"{level.name}-{part}").problems]


def run_all(name: str, problems: Iterable[Problem], max_moves: int) -> list[agents.Run]:
    """Return the runs of an agent on problems, counted without a limit."""
    agent_id, settings = parse_agent(name)
    return [agents.run(agent_id, one, max_moves=max_moves, clock=False, **settings) for one in problems]


def _costs(runs: Iterable[agents.Run]) -> list[float]:
    """Return the suboptimality of what was solved."""
    return [run.suboptimality for run in runs if run.solved and run.suboptimality is not None]


def _reached(suboptimality: list[float], count: int) -> str:
    """Return the share that was solved and how well, as a cell of a table."""
    share = f"{len(suboptimality) / count:.0%}".replace("%", " %")
    return f"{share}, {np.mean(suboptimality):.2f}" if suboptimality else share


if __name__ == "__main__":
    print(write_levels_page(Path(sys.argv[1])))

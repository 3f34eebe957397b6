"""The page of baselines: what learners, rules and agents reach on levels, from the documents that were measured."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from rt_gym.files import atomic_write, make_folder
from training.judge.plots import STYLE, save
from training.judge.stats import Estimate
from training.judge.tables import Table, interval
from training.learn.rl.baselines import ANCHOR, BEST, LEARNERS, LEARNING, RANDOM, RECIPE, RULE, summarise
from training.report.results_page import markdown

PAGE, FOLDER = "baselines.md", "baselines"
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
_HEAD = """# Baselines

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
    make_folder(folder / FOLDER)
    written = []
    for document in documents:
        path = folder / FOLDER / f"{document['level']}.json"
        atomic_write(path, (json.dumps(document, indent=1) + "\n").encode())
        written += [path, save(draw_curves(document), path.with_suffix(".png"))]
    atomic_write(folder / PAGE, render(documents, command).encode())
    return [folder / PAGE, *written]


def render(documents: Sequence[Mapping[str, Any]], command: str) -> str:
    """Return the page."""
    first = documents[0]
    seconds = sum(run["seconds"] for each in documents for found in each["policies"].values() for run in found["runs"])
    numbers = {"steps": first["steps"], "seeds": first["seeds"], "last": first["seeds"] - 1, "minutes": seconds / 60}
    head = _HEAD.format(command=command, **numbers, **LEARNING._asdict())
    who = Table("", ["policy", "what it does"], [[f"`{name}`", _WHAT[name]] for name in first["policies"]])
    parts = [head, markdown(who, 2), "## All levels", _OVERALL, markdown(overall_table(documents))]
    for document in documents:
        figure = f"![Learning curves]({FOLDER}/{document['level']}.png)"
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

"""The pages of results, written from the documents that experiments leave behind: an index, and a page for each."""

import json
import re
from collections.abc import Iterable, Sequence
from math import inf, nan
from pathlib import Path
from textwrap import fill
from typing import Any

from rt_gym import InputError
from rt_gym.files import atomic_write, make_folder, read_json, shown
from training.experiments import ids
from training.experiments.frame import DIRECTION, FAILS, HOLDS, UNDECIDED, bar_text
from training.judge import Estimate
from training.judge.tables import Table, with_interval
from training.report.discussion import DISCUSSIONS, HEADLINES, PAPERS
from training.report.drawing import draw, save
from training.report.figures import FIGURES

CLAIM_WORDS = 3  # columns of the claims that hold words
SYMBOLS = {HOLDS: "✔", DIRECTION: "≈", FAILS: "✘", UNDECIDED: "?"}
_PAGE, _FOLDER, _NOTEBOOK = "results.md", "results", "notes-learning.md"
_WIDTH = 120
_METER = re.compile(r"(?:, |; |expansions )(mean|pooled)\b")  # how a claim says that expansions are averaged
_HEAD = """\
# Results

{totals}

- **✔ holds**: the whole 95 % interval lies within the bar, a band around the paper's figure where it prints one.
- **≈ direction only**: it lies on the right side, but not all of it within the band. **✘ does not hold**: all of it is
  outside. **? undecided**: anything else. An experiment has the weakest verdict of its headline claims.
- *claims*: how many of all claims hold ✔, in direction only ≈, do not ✘, are undecided ?; checks, which are true by
  construction, are counted apart on each page. Problems are resampled map by map.
- Written from the documents in [results](results) by `rt-gym reproduce all --pages docs`; rerun one by its command.
"""
_READ_AS = """\
subopt.: cost over optimal cost; 95th: the 95th percentile over problems. exp.: expansions per move; mean: per problem,
then over problems; pooled: all expansions over all moves. worst move: the most expansions for one move. guard: in how
many problems a guard kept the agent from going back and forth, how often in all, and its share of expansions. †: built
after an outline of the paper."""
_DIR = "`DIR` is a folder of the public MovingAI maps with a folder for each set, such as `bg`, `dao` and `wc3maps512`."
_UNBROKEN: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}


def claims(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what is said of a paper, without checks."""
    return [found for found in document["claims"] if not found["check"]]


def headlines(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the claims for which a figure or table is known; all of them if none is marked."""
    return [found for found in claims(document) if found["headline"]] or claims(document)


def overall(document: dict[str, Any]) -> str:
    """Return the verdict on an experiment: the weakest of its headline claims."""
    words = {found["verdict"] for found in headlines(document)}
    return next((word for word in (FAILS, UNDECIDED, DIRECTION) if word in words), HOLDS)


def counts(documents: Iterable[dict[str, Any]]) -> str:
    """Return how many claims have which verdict; checks do not count."""
    words = [found["verdict"] for document in documents for found in claims(document)]
    return ", ".join(f"{symbol} {words.count(word)}" for word, symbol in SYMBOLS.items() if word in words)


def claims_table(document: dict[str, Any]) -> Table:
    """Return the claims of a document with their verdicts, checks among them."""
    columns = ["claim", "paper", "bar", "ours", "95 % interval", "verdict"]
    return Table("Claims", columns, [_claim_row(found) for found in document["claims"]])


def _claim_row(found: dict[str, Any]) -> list[str]:
    bar = bar_text(*_ends((found["low"], found["high"])))
    word = f"check: {found['verdict']}" if found["check"] else found["verdict"]
    return [found["claim"], found["paper"], bar, *with_interval(_estimate(found)), word]


def _estimate(found: dict[str, Any]) -> Estimate | None:
    return found["ours"] and Estimate(*(nan if value is None else value for value in found["ours"]))


def _ends(bar: Sequence[float | None]) -> tuple[float, float]:
    low, high = bar
    return -inf if low is None else low, inf if high is None else high


def _headline_table(document: dict[str, Any]) -> Table:
    rows = [_claim_row(found) for found in headlines(document)]
    return Table("Headline claims", claims_table(document).columns, rows)


def tables(document: dict[str, Any]) -> list[Table]:
    """Return the other tables of a document."""
    return [Table(**table) for table in document["tables"]]


def remarks(document: dict[str, Any]) -> list[str]:
    """Return what is to be said about a document's runs: maps and problems, notes, later changes."""
    changes = [f"Changed after the first full run: {change}" for change in document["changes"]]
    return [*_setting(document), *document["notes"], *changes]


def _setting(document: dict[str, Any]) -> list[str]:
    return [text for part in document["parts"] for text in _part_remarks(part, document["seed"])]


def _part_remarks(part: dict[str, Any], seed: int) -> list[str]:
    head = f"{part['name']}. " * bool(part["name"])
    maps = ", ".join(_map_text(found) for found in part["maps"])
    low, high = part["optimal"]
    span = f"optimal cost from {low:g}" + (f" to {high:g}" if high is not None else "")
    count, full = part["problems_per_map"], part["problems_in_full"]
    problems = f"{count} problem{'s' * (count > 1)}" + " on each map" * (not part["map_per_problem"])
    drawn = problems + f" (in full {full:,})" * (count < full) + f", {span}, seed {seed}"
    return [f"{head}Maps: {maps}.", f"{head}{drawn}; {part['rules']}, at most {part['max_moves']:,} moves."]


def _map_text(found: dict[str, Any]) -> str:
    scaled = "scaled to " * found["scaled"]
    return f"{found['map']} ({scaled}{found['width']} x {found['height']}, {found['free_cells']:,} free cells)"


def documents_folder(folder: Path) -> Path:
    """Return where the documents of the pages lie."""
    return folder / _FOLDER


def write_pages(folder: Path, documents: Iterable[dict[str, Any]] = ()) -> list[Path]:
    """Put documents beside those in a folder, write its index, all pages and figures anew, and return what was written.

    Raises:
        InputError: if a document is damaged or of another version.
    """
    files = {_path(folder, document["id"], "json"): document for document in documents}
    if files:
        make_folder(documents_folder(folder))
    for path, document in files.items():
        atomic_write(path, (_dumped(document) + "\n").encode())
    texts = render(folder)
    for path, text in texts.items():
        atomic_write(path, text.encode())
    figures = [write_figure(folder, document) for document in read_documents(folder)]
    return [*files, *texts, *figures]


def _dumped(value: Any, indent: str = "") -> str:
    """Return a value as JSON; what holds no other lists or objects, such as the row of a table, is one line."""
    parts = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if not any(isinstance(part, (dict, list)) for part in parts):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    inner = indent + " "
    texts = [_dumped(part, inner) for part in parts]
    if isinstance(value, dict):
        texts = [f"{json.dumps(name)}: {text}" for name, text in zip(value, texts, strict=True)]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return f"{begin}\n{inner}" + f",\n{inner}".join(texts) + f"\n{indent}{end}"


def write_figure(folder: Path, document: dict[str, Any]) -> Path:
    """Draw the figure of a document and return where it is."""
    try:
        figure = draw(FIGURES[document["id"]], [claims_table(document), *tables(document)])
    except Exception as error:  # its tables can be printed, but hold no such numbers
        raise _not_shown(_path(folder, document["id"], "json")) from error
    return save(figure, _path(folder, document["id"], "png"))


def _path(folder: Path, experiment_id: str, ending: str) -> Path:
    return documents_folder(folder) / f"{experiment_id}.{ending}"


def read_documents(folder: Path) -> list[dict[str, Any]]:
    """Return the documents in a folder, in the order of the index.

    Raises:
        InputError: if there is none, or one cannot be read.
    """
    order = sorted(ids(), key=lambda name: list(PAPERS).index(_paper_of(name)))
    paths = [_path(folder, experiment_id, "json") for experiment_id in order]
    found = [path for path in paths if path.exists()]
    if not found:
        raise InputError(f"{shown(documents_folder(folder))}: has no documents of experiments")
    return [_read(path) for path in found]


def _read(path: Path) -> dict[str, Any]:
    document = read_json(path, "a document of results as this version writes it")
    try:
        if document["id"] != path.stem:
            raise ValueError("it is of another experiment")
        _page(document)  # what cannot be shown is refused
        _index([document], False)
    except Exception:  # whatever is missing or of another type fails in a way of its own
        raise _not_shown(path) from None
    return dict(document)


def _not_shown(path: Path) -> InputError:
    says = "is not a document of results as this version writes it, so its experiment must be run again"
    return InputError(f"{shown(path)}: {says}")


def _paper_of(experiment_id: str) -> str:
    return experiment_id.partition("-")[0]


def render(folder: Path) -> dict[Path, str]:
    """Return the text of every page for the documents in a folder, by its path, the index first."""
    documents = read_documents(folder)
    pages = {_path(folder, document["id"], "md"): _page(document) for document in documents}
    return {folder / _PAGE: _index(documents, (documents_folder(folder) / _NOTEBOOK).exists()), **pages}


def _index(documents: Sequence[dict[str, Any]], notebook: bool) -> str:
    rows = []
    for paper in dict.fromkeys(_paper_of(document["id"]) for document in documents):
        own = [document for document in documents if _paper_of(document["id"]) == paper]
        rows += [["", _bold(PAPERS[paper]), _tally(own), counts(own), ""], *map(_index_row, own)]
    columns = ["experiment", "what it asks", "verdict", "claims", "what was found"]
    table = markdown(Table("", columns, rows), len(columns))
    more = f"\nWhat learns and what does not: the [notebook]({_FOLDER}/{_NOTEBOOK}).\n" * notebook
    headed = markdown(abstracts_table(documents), 2)
    return f"{_HEAD.format(totals=_totals(documents))}{more}\n{headed}\n\n{table}\n"


def abstracts_table(documents: Iterable[dict[str, Any]]) -> Table:
    """Return what the abstracts of the papers say, with the verdict on each, the weaker one of both averages."""
    known = {document["id"]: document for document in documents}
    rows = []
    for says, experiment, begins in HEADLINES:
        all_claims = claims(known[experiment]) if experiment in known else []
        found = headlines({"claims": [claim for claim in all_claims if claim["claim"].startswith(begins)]})
        if found:
            word, numbers = overall({"claims": found}), "; ".join(map(_number, found))
            rows.append([_escaped(says), _link(experiment), found[0]["paper"], numbers, f"{SYMBOLS[word]} {word}"])
    return Table("Abstracts", ["what the abstracts say", "tested by", "paper", "ours", "verdict"], rows)


def _number(found: dict[str, Any]) -> str:
    """Return a claim's number with its interval, and how expansions were averaged where the claim says so."""
    meter = _METER.search(found["claim"])
    return f"{meter[1] + ' ' if meter else ''}{' '.join(with_interval(_estimate(found)))}"


def _link(experiment_id: str) -> str:
    return f"[{experiment_id.upper()}]({_FOLDER}/{experiment_id}.md)"


def _tally(documents: Sequence[dict[str, Any]]) -> str:
    """Return how many experiments have which verdict."""
    words = [overall(document) for document in documents]
    return ", ".join(f"{SYMBOLS[word]} {words.count(word)}" for word in SYMBOLS if word in words)


def _totals(documents: Sequence[dict[str, Any]]) -> str:
    count = sum(len(claims(document)) for document in documents)
    checks = sum(len(document["claims"]) for document in documents) - count
    return _wrapped(
        f"Claims and findings. {len(documents)} experiments: {_tally(documents)}."
        f" {count} claims: {counts(documents)}; {checks} checks."
    )


def _index_row(document: dict[str, Any]) -> list[str]:
    name, word = document["id"], overall(document)
    said = DISCUSSIONS[name]
    return [_link(name), _escaped(said.asks), f"{SYMBOLS[word]} {word}", counts([document]), _escaped(said.finding)]


def _page(document: dict[str, Any]) -> str:
    parts = [*_summary(document), *_figure(document), *_failures(document), *_numbers(document), *_conditions(document)]
    return "\n\n".join(parts) + "\n"


def _summary(document: dict[str, Any]) -> list[str]:
    name, word = document["id"], overall(document)
    said = DISCUSSIONS[name]
    of = f"{len(claims(document))} claims: {counts([document])}"
    return [
        f"# {name.upper()}: {_escaped(document['title'])}",
        _wrapped(f"[All results](../{_PAGE}). {_escaped(document['paper'])}."),
        _bold(said.asks),
        _wrapped(f"**{SYMBOLS[word]} {word}** ({of}). {_escaped(said.finding)}"),
        *([_wrapped(f"Read with care. {_escaped(said.care)}")] if said.care else []),
        f"```console\n{document['command']}\n```",
    ]


def _figure(document: dict[str, Any]) -> list[str]:
    name = document["id"]
    return [f"![{_escaped(document['title'])}]({name}.png)", _wrapped(_escaped(FIGURES[name].caption))]


def _failures(document: dict[str, Any]) -> list[str]:
    said = DISCUSSIONS[document["id"]].failed
    failed = any(found["verdict"] != HOLDS for found in claims(document))
    return ["## What failed, and why", _wrapped(_escaped(said))] if failed and said else []


def _numbers(document: dict[str, Any]) -> list[str]:
    every = claims_table(document)
    return [
        "## Headline claims",
        _escaped(markdown(_headline_table(document), CLAIM_WORDS)),
        "## Numbers",
        _READ_AS,
        *(_folded(table) for table in tables(document)),
        _folded(every._replace(title=f"All {len(every.rows)} claims and checks"), CLAIM_WORDS),
        *(["## Map by map"] if document["by_map"] else []),
        *(_folded(Table(**table)) for table in document["by_map"]),
    ]


def _conditions(document: dict[str, Any]) -> list[str]:
    changes = ["## Changed after the first full run", _listed(document["changes"])] if document["changes"] else []
    ran = _listed([*_setting(document), *document["notes"], _DIR])
    return ["## How it was run", ran, *changes, "## With which sources", *_sources(document)]


def _sources(document: dict[str, Any]) -> list[str]:
    """Return from which commit the numbers are, and the stamps of the agents' sources then and at the last check."""
    checked, versions = document["checked"], document["versions"]
    libraries = ", ".join(f"{name} {number}" for name, number in versions.items())
    if document["commit"] is None:
        return [_wrapped(f"Made with {libraries}, from sources that have changed since; it is to be run again.")]
    made = f"Made from commit {_commit(document)} on {document['processor']}, with {libraries}."
    if checked:
        made += f" {document['probe']['runs']:,} of its runs came out the same from commit {_commit(checked)}."
    stamps = [[agent, stamp, (checked or document)["sources"][agent]] for agent, stamp in document["sources"].items()]
    table = Table("Stamps of sources", ["agent", "made with", "checked with"], stamps)
    return [_wrapped(made), _folded(table, len(table.columns))]


def _commit(of: dict[str, Any]) -> str:
    return str(of["commit"][:12])


def _folded(table: Table, words: int = 1) -> str:
    """Return a table that is shown when its title is clicked."""
    summary = f"<details><summary>{_escaped(table.title)}</summary>"
    return f"{summary}\n\n{_escaped(markdown(table, words))}\n\n</details>"


def _listed(texts: Iterable[str]) -> str:
    return "\n".join(fill(f"- {_escaped(text)}", _WIDTH, subsequent_indent="  ", **_UNBROKEN) for text in texts)


def _wrapped(text: str) -> str:
    return fill(text, _WIDTH, **_UNBROKEN)


def _bold(text: str) -> str:
    return f"**{_escaped(text)}**"


def _escaped(text: str) -> str:
    return text.replace("*", r"\*")


def markdown(table: Table, words: int = 1) -> str:
    """Return a table whose first columns hold words and the others numbers, without its title."""
    columns = [" ".join(column.split()) for column in table.columns]
    rule = ["---"] * words + ["---:"] * (len(columns) - words)
    return "\n".join("| " + " | ".join(row) + " |" for row in (columns, rule, *table.rows))

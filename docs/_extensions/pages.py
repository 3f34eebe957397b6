"""What pages of the site take from the code or from other pages, so that it stands in one place."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any

import gymnasium as gym
import typer
from sphinx.application import Sphinx
from typer.testing import CliRunner

import agents
from rt_gym import envs
from training import cli

_OUTSIDE = re.compile(r"\]\((?:\.\./)*(README|CONTRIBUTING|CHANGELOG)\.md(?:#[^)]*)?\)")
_INSIDE = {"README": "index", "CONTRIBUTING": "contributing", "CHANGELOG": "changelog"}
_GENERATED = {"index", *(f"reference/{n}" for n in ("rt_gym", "agents", "training", "algorithms", "command-line"))}
_OTHERS = "<!-- all other pages -->"
_ORPHAN = "---\norphan: true\n---\n\n"  # the page of results links all of them; the table of contents would be long
_BY_MAP = re.compile(r"^## Map by map\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the step that every page takes when it is read."""
    app.connect("source-read", _complete)
    app.connect("env-get-outdated", lambda app, env, added, changed, removed: _GENERATED & env.found_docs)
    app.connect("include-read", lambda app, path, page, source: _complete(app, page, source))
    return {"parallel_read_safe": True}


def _complete(app: Sphinx, page: str, source: list[str]) -> None:
    up = "../" * page.count("/")
    text = _OUTSIDE.sub(lambda link: f"]({up}{_INSIDE[link[1]]}.md)", source[0])
    text = re.sub(r'^<a id="([\w-]+)"></a>$', r"(\1)=", text, flags=re.MULTILINE)  # a target, as GitHub reads it
    if page.startswith("results/"):
        text = _ORPHAN + _BY_MAP.sub(_elsewhere(Path(page).name), text)
    for mark, make in _PARTS.items():
        if mark in text:
            text = text.replace(mark, "\n".join(make()))
    if _OTHERS in text:
        named = set(re.findall(r"^[\w/-]+$", text, re.MULTILINE))
        text = text.replace(_OTHERS, "\n".join(_others(Path(app.srcdir), {"index", *named})))
    source[0] = text


def _others(folder: Path, named: set[str]) -> list[str]:
    """Return the pages of a folder that are not named: a new one is in the table of contents at once."""
    return sorted(page.stem for page in folder.glob("*.md") if page.stem not in named)


def _elsewhere(name: str) -> str:
    """Return what stands for the tables of every map, which would take the site most of its time."""
    return f"## Map by map\n\nA table for every map is in [{name}.json]({name}.json), below `by_map`.\n\n"


def _algorithms() -> Iterator[str]:
    """Yield a section for every id: what its file says of its paper, where no id before has said it, and its class."""
    told = set[str]()
    for name in agents.ids():
        kind = agents.load(name)
        module = f".. automodule:: {kind.__module__}\n   :no-index:\n\n" * (kind.__module__ not in told)
        yield f"## {name}\n\n```{{eval-rst}}\n{module}.. autoclass:: {kind.__module__}.{kind.__name__}\n```\n"
        told.add(kind.__module__)


def _packages(root: str) -> Iterator[str]:
    """Yield what a package and those inside it make public by ``__all__``, each name where it stands first."""
    top, told = importlib.import_module(root), set[tuple[str, int]]()
    inside = (one.name for one in pkgutil.walk_packages(top.__path__, f"{root}.") if one.ispkg)
    for name in (root, *inside):
        module = importlib.import_module(name)
        public = {each: getattr(module, each) for each in getattr(module, "__all__", ())}
        new = {each: value for each, value in public.items() if (each, id(value)) not in told}
        told.update((each, id(value)) for each, value in new.items())
        if new or name == root:
            yield f"## {name}\n" * (name != root) + _package(name, new)


def _package(name: str, public: dict[str, Any]) -> str:
    """Return the docstring of a package, its data, and its classes and functions."""
    data = {each: value for each, value in public.items() if not callable(value) and not inspect.ismodule(value)}
    lines = ["```{eval-rst}", f".. automodule:: {name}", ""]
    for each, value in data.items():
        lines += [f".. py:data:: {name}.{each}", f"   :value: {shorten(repr(value), 200)}", ""]
    for each, value in public.items():
        if callable(value):
            kind = "autoclass" if inspect.isclass(value) else "autofunction"
            lines += [f".. {kind}:: {name}.{each}", "   :members:" * inspect.isclass(value), ""]
    return "\n".join([*lines, "```", ""])


def _environments() -> Iterator[str]:
    """Yield the classes of the registered environments, single and batched, that their packages do not list."""
    specs = map(gym.spec, envs.ids())
    entries = dict.fromkeys(str(entry) for spec in specs for entry in (spec.entry_point, spec.vector_entry_point))
    yield "```{eval-rst}"
    for module, name in (entry.split(":") for entry in entries):
        if name not in getattr(importlib.import_module(module), "__all__", ()):
            yield f".. autoclass:: {module}.{name}\n"
    yield "```\n"


def _commands() -> Iterator[str]:
    """Yield what every command says when it is asked for help."""
    runner = CliRunner(env={"COLUMNS": "100", "TERM": "dumb"})
    for words in _paths(typer.main.get_command(cli.app)):
        told = runner.invoke(cli.app, [*words, "--help"]).output.strip("\n")
        yield f"## {' '.join(['rt-gym', *words])}\n\n```text\n{told}\n```\n"


def _paths(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from _paths(inner, (*words, name))


_PARTS = {
    "<!-- every package of rt_gym -->": partial(_packages, "rt_gym"),
    "<!-- every package of agents -->": partial(_packages, "agents"),
    "<!-- every package of training -->": partial(_packages, "training"),
    "<!-- every algorithm -->": _algorithms,
    "<!-- every environment -->": _environments,
    "<!-- every command -->": _commands,
}

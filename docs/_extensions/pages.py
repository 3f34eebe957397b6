"""What pages of the site take from the code or from other pages, so that it stands in one place."""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import agents
from rt_gym import envs

_OUTSIDE = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_BY_MAP = re.compile(r"^## Map by map\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the step that every page takes when it is read."""
    app.connect("source-read", _complete)
    app.connect("include-read", lambda app, path, page, source: _complete(app, page, source))
    return {"parallel_read_safe": True}


def _complete(app: Sphinx, page: str, source: list[str]) -> None:
    up = "../" * page.count("/")
    text = re.sub(r"\]\((?:\.\./)*(README|CONTRIBUTING|CHANGELOG)\.md(?:#[^)]*)?\)", lambda link: f"]({up}{_OUTSIDE[link[1] + '.md']})", source[0])
    if page.startswith("results/"):
        text = _BY_MAP.sub(_elsewhere(Path(page).name), text)
    for mark, make in _PARTS.items():
        if mark in text:
            text = text.replace(mark, "\n".join(make()))
    source[0] = text


def _elsewhere(name: str) -> str:
    """Return what stands for the tables of every map, which would take the site most of its time."""
    return f"## Map by map\n\nA table for every map is in [{name}.json]({name}.json), below `by_map`.\n\n"


def _algorithms() -> Iterator[str]:
    """Yield a section for every file of agents: what it says of its paper, then the classes of its ids."""
    for module, ids in groupby(agents.ids(), lambda name: agents.load(name).__module__):
        named = list(ids)
        yield f"## {', '.join(named)}\n\n```{{eval-rst}}\n.. automodule:: {module}\n   :no-index:\n"
        yield from (f".. autoclass:: {module}.{agents.load(name).__name__}\n" for name in named)
        yield "```\n"


def _environments() -> Iterator[str]:
    """Yield the classes of the registered environments, single and batched."""
    entries = dict.fromkeys(entry for pair in (_classes(name) for name in envs.ids()) for entry in pair)
    yield "```{eval-rst}"
    yield from (f".. autoclass:: {entry.replace(':', '.')}\n" for entry in entries)
    yield "```\n"


def _classes(env_id: str) -> tuple[str, str]:
    import gymnasium as gym

    spec = gym.spec(env_id)
    return str(spec.entry_point), str(spec.vector_entry_point)


def _commands() -> Iterator[str]:
    """Yield what every command says when it is asked for help."""
    import typer
    from typer.testing import CliRunner

    from training import cli

    runner = CliRunner(env={"COLUMNS": "100", "TERM": "dumb"})
    for words in _paths(typer.main.get_command(cli.app)):
        told = runner.invoke(cli.app, [*words, "--help"]).output.strip("\n")
        yield f"## {' '.join(['rt-gym', *words])}\n\n```text\n{told}\n```\n"


def _paths(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from _paths(inner, (*words, name))


_PARTS = {
    "<!-- every algorithm -->": _algorithms,
    "<!-- every environment -->": _environments,
    "<!-- every command -->": _commands,
}

"""The pages of the documentation, and what it takes to do what they say."""

import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from typer.testing import CliRunner

from training import cli

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
LESSONS = sorted((DOCS / "tutorials").glob("*.md")) + sorted((DOCS / "how-to").glob("*.md"))  # commands run, too
JOBS = ("compare", "precompute", "reproduce", "train")  # commands that would start processes

_SHELL = re.compile(r"^```(console|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r'^```(python|console)(?: title="(\S+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block of code: its language, the name of the file that it is, if it is one, and its lines.

    They are moved down to where they stand in the page, so that errors point at them.
    """

    language: str
    file: str | None
    text: str


def blocks(page: Path) -> Iterator[Block]:
    """Yield the code of a page that is meant to be run, in its order."""
    text = page.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        yield Block(found[1], found[2], "\n" * text.count("\n", 0, found.start(3)) + found[3])


def command_lines(page: Path, *marks: str) -> list[list[str]]:
    """Return the words of all lines in the blocks with these marks, which are ``console`` and ``sh``."""
    shown = [found[2] for found in _SHELL.finditer(page.read_text(encoding="utf-8")) if found[1] in marks]
    lines = [shlex.split(line, comments=True) for text in shown for line in text.splitlines()]
    return [words for words in lines if words]


def is_understood(words: list[str]) -> bool:
    """Whether rt-gym knows a command and its options; asked for help, it reads them and does nothing."""
    return CliRunner().invoke(cli.app, [*words[1:], "--help"]).exit_code == 0


def follow(page: Path) -> dict[str, Any]:
    """Do what a page says, in the current folder, and return the names that its Python code leaves behind."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.file is not None:
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            exec(compile(block.text, str(page), "exec"), names)
        else:
            for line in filter(None, block.text.splitlines()):
                command(shlex.split(line, comments=True))
    return names


def command(words: list[str]) -> None:
    """Run a command of a page in this process."""
    name, *arguments = words
    if name == "python":
        runpy.run_path(arguments[0], run_name="__main__")
        return
    assert name == "rt-gym", f"{name} is no command that a page can be tested with; set it as sh"
    jobs = ["--jobs", "1"] if arguments[0] in JOBS else []
    result = CliRunner().invoke(cli.app, [*arguments, *jobs])
    assert result.exit_code == 0, f"{shlex.join(words)}\n{result.output}"

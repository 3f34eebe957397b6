"""What pages tell the reader to do: lessons are followed, commands run, and those that take long are understood."""

import re
import sys
from pathlib import Path

import pytest

from pages import DOCS, LESSONS, PAGES, ROOT, blocks, command, command_lines, follow, is_understood

ELSEWHERE = ("data.md", "squads.md")  # whose commands have tests of their own
COMMANDS = [page for page in PAGES if page.name not in ELSEWHERE and command_lines(page, "console")]
EVERYWHERE = (*PAGES, *LESSONS, *sorted((DOCS / "results").glob("*.md")))
LIBRARIES = ("distributed", "stable_baselines3", "pettingzoo")


@pytest.mark.parametrize("page", [page for page in LESSONS if any(blocks(page))], ids=lambda page: page.stem)
def test_a_lesson_can_be_followed(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "".join(block.text for block in blocks(page))
    for library in LIBRARIES:
        if f"from {library} import" in code or f"import {library}" in code:
            pytest.importorskip(library, reason=f"the page needs {library}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    assert len(follow(page)) > 2
    for name in {block.file.removesuffix(".py") for block in blocks(page) if block.file} - before:
        sys.modules.pop(name, None)


def test_every_lesson_is_in_its_table_of_contents() -> None:
    for folder in {page.parent for page in LESSONS}:
        listed = (folder / "index.md").read_text(encoding="utf-8")
        assert [
            page.stem for page in folder.glob("*.md") if page.stem != "index" and f"\n{page.stem}\n" not in listed
        ] == []


@pytest.mark.parametrize("page", COMMANDS, ids=lambda page: page.stem)
def test_the_commands_of_a_guide_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for words in command_lines(page, "console"):
        command(words)


def test_every_command_is_understood_even_if_it_takes_too_long_to_be_run() -> None:
    lines = [words for page in EVERYWHERE for words in command_lines(page, "console", "sh") if words[0] == "rt-gym"]
    assert [words for words in lines if not is_understood(words)] == []
    assert len(lines) > 100
    for wrong in ("rt-gym compare rooms-64 --agents lrta", "rt-gym train nothing", "rt-gym play rooms-64 --pace 3"):
        assert not is_understood(wrong.split())


def test_other_commands_name_targets_and_scripts_that_there_are() -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    others = [words for page in EVERYWHERE for words in command_lines(page, "console", "sh") if words[0] != "rt-gym"]
    makes = [words[1] for words in others if words[0] == "make"]
    scripts = [words[1] for words in others if words[0] == "python" and words[1].endswith(".py")]
    assert set(makes) <= set(targets)
    assert all((ROOT / script).is_file() for script in scripts if "/" in script)
    assert len(makes) >= 5
    assert len(scripts) >= 2

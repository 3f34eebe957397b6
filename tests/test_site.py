"""The documentation site: what its pages say of the papers, and what it makes of docstrings and other pages."""

import importlib
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import agents
from pages import DOCS
from training.experiments import ids as experiment_ids

PAPERS = (DOCS / "papers.md").read_text(encoding="utf-8")
NAMED = re.compile(r"\[`([\w-]+)`\]\(reference/algorithms\.md#\1\)")


def rows() -> Iterator[tuple[str, str, list[str]]]:
    """Yield the rows of the tables of papers: the line, the title, the ids."""
    for line in PAPERS.splitlines():
        if title := re.search(r'^\|.*"([^"]+)"', line):
            yield line, title[1].replace(r"\*", "*"), NAMED.findall(line)


class TestPapers:
    def test_every_agent_is_named(self) -> None:
        assert set(agents.ids()) - set(NAMED.findall(PAPERS)) == set()

    def test_every_agent_cites_the_papers_that_it_stands_beside(self) -> None:
        for _, title, named in rows():
            for name in named:
                told = importlib.import_module(agents.load(name).__module__).__doc__ or ""
                assert title in " ".join(told.split()), name

    def test_agents_after_an_outline_are_marked(self) -> None:
        for line, _, named in rows():
            assert {agents.load(name).after_outline for name in named} == {"after an outline" in line}

    def test_the_papers_with_experiments_are_those_of_the_results(self) -> None:
        marks = set(re.findall(r"^\| [A-Z]{2} \|.*\| `(\w\w-)` \|$", PAPERS, re.MULTILINE))
        assert marks == {name[:3] for name in experiment_ids()} - {"ex-", "rl-"}


@pytest.fixture
def extension(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import what turns docstrings into what Sphinx reads."""
    pytest.importorskip("sphinx", reason="needs the extra docs")
    monkeypatch.syspath_prepend(DOCS / "_extensions")
    monkeypatch.delitem(sys.modules, "docstrings", raising=False)
    return importlib.import_module("docstrings")


class TestDocstrings:
    def to_rst(self, extension: Any, *lines: str) -> list[str]:
        converted = list(lines)
        extension.to_rst(None, "class", "", None, None, converted)
        return converted

    def test_stars_stay_stars_outside_of_code(self, extension: Any) -> None:
        assert self.to_rst(extension, "A* reads ``a * b`` as_ it is.") == [r"A\* reads ``a * b`` as\_ it is."]

    def test_a_list_has_a_line_before_it(self, extension: Any) -> None:
        assert self.to_rst(extension, "Readings:", "- one", "- two") == ["Readings:", "", "- one", "- two"]

    def test_headings_are_paragraphs_and_arguments_are_known(self, extension: Any) -> None:
        assert self.to_rst(extension, "## Rewards", "None.") == ["**Rewards**", "", "None."]
        assert self.to_rst(extension, "## Arguments", "    a: b") == ["Args:", "    a: b"]

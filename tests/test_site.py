"""The documentation site: what its pages say of the papers, and what it makes of docstrings and other pages."""

import importlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
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


Extensions = Callable[[str], Any]


@pytest.fixture
def extensions(monkeypatch: pytest.MonkeyPatch) -> Extensions:
    """Return what imports an extension of the site by its name."""
    pytest.importorskip("sphinx", reason="needs the extra docs")
    monkeypatch.syspath_prepend(DOCS / "_extensions")

    def load(name: str) -> Any:
        monkeypatch.delitem(sys.modules, name, raising=False)
        return importlib.import_module(name)

    return load


@pytest.fixture
def extension(extensions: Extensions) -> Any:
    """Return what turns docstrings into what Sphinx reads."""
    return extensions("docstrings")


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


class TestReplay:
    def test_the_start_page_shows_the_runs_that_its_command_makes(self, extensions: Extensions, tmp_path: Path) -> None:
        assert extensions("replay").write_replay(DOCS, tmp_path) == []
        page = (tmp_path / "replay.html").read_text(encoding="ascii")
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
        assert found is not None
        runs = json.loads(found[1])["replay"]["runs"]
        told = " ".join((DOCS / "index.md").read_text(encoding="utf-8").split())
        assert [run["label"].split()[0] for run in runs] == ["lss-lrta", "tba"]
        assert all(f"`{run['command']}`" in told for run in runs)
        assert '<iframe src="replay.html"' in told

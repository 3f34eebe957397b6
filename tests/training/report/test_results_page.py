"""``docs/results.md`` and ``docs/results``: the pages are what their documents say."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rt_gym import InputError
from training.experiments import ids, load
from training.experiments.frame import DIRECTION, FAILS, HOLDS, UNDECIDED
from training.report.discussion import DISCUSSIONS, HEADLINES, PAPERS
from training.report.figures import FIGURES
from training.report.results_page import (
    abstracts_table,
    claims,
    claims_table,
    counts,
    headlines,
    overall,
    render,
    tables,
    write_figure,
    write_pages,
)
from training.runs.jobs import source_stamp

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = ["results.md", *(f"results/{name}.md" for name in ids())]
MOST_LINES, MOST_BYTES = 80, 150_000


def stored(name: str) -> dict[str, Any]:
    return dict(json.loads((DOCS / "results" / f"{name}.json").read_bytes()))


def claim(ours: list[float] | None, verdict: str, headline: bool = False, **bars: Any) -> dict[str, Any]:
    return {
        "claim": "",
        "paper": "",
        "low": 2,
        "high": None,
        "ours": ours,
        "verdict": verdict,
        "headline": headline,
        "check": False,
    } | bars


def judged(word: str, **other: Any) -> dict[str, Any]:
    return claim([1, 1, 1], word, **other)


class TestVerdict:
    @pytest.mark.parametrize(
        ("words", "word"),
        [
            ([HOLDS, HOLDS], HOLDS),
            ([HOLDS, DIRECTION], DIRECTION),
            ([HOLDS, DIRECTION, UNDECIDED], UNDECIDED),
            ([UNDECIDED, FAILS, HOLDS], FAILS),
        ],
    )
    def test_the_weakest_of_its_headlines_decides_on_an_experiment(self, words: list[str], word: str) -> None:
        assert overall({"claims": list(map(judged, words))}) == word

    def test_only_headlines_count_where_there_are_any(self) -> None:
        document = {"claims": [judged(HOLDS, headline=True), judged(FAILS)]}
        assert overall(document) == HOLDS
        assert headlines(document) == document["claims"][:1]

    def test_checks_decide_nothing_and_are_not_counted(self) -> None:
        document = {"claims": [judged(HOLDS), judged(FAILS, check=True, headline=True)]}
        assert overall(document) == HOLDS
        assert counts([document]) == "✔ 1"
        assert [row[-1] for row in claims_table(document).rows] == [HOLDS, f"check: {FAILS}"]

    def test_all_claims_are_counted(self) -> None:
        first, second = [judged(HOLDS), judged(FAILS)], [judged(DIRECTION), judged(UNDECIDED), judged(HOLDS)]
        assert counts([{"claims": first}, {"claims": second}]) == "✔ 2, ≈ 1, ✘ 1, ? 1"


class TestTheStoredPages:
    pages = render(DOCS)

    def test_there_is_a_page_for_every_experiment(self) -> None:
        assert sorted(self.pages) == sorted(DOCS / name for name in PAGES)

    @pytest.mark.parametrize("name", PAGES)
    def test_a_page_is_what_its_documents_say(self, name: str) -> None:
        assert (DOCS / name).read_text(encoding="utf-8") == self.pages[DOCS / name]

    @pytest.mark.parametrize("name", PAGES)
    def test_its_links_and_pictures_lead_somewhere(self, name: str) -> None:
        page = DOCS / name
        targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", self.pages[page])
        assert targets
        assert [target for target in targets if not (page.parent / target).exists()] == []

    def test_the_index_is_one_screen_with_a_row_for_every_experiment(self) -> None:
        index = self.pages[DOCS / "results.md"]
        assert index.count("\n") <= MOST_LINES
        assert [name for name in ids() if f"| [{name.upper()}](results/{name}.md) | " not in index] == []

    @pytest.mark.parametrize("name", ids())
    def test_text_is_wrapped_and_tables_are_whole(self, name: str) -> None:
        page = self.pages[DOCS / "results" / f"{name}.md"]
        words = [line for line in page.splitlines() if not line.startswith(("|", "#", "!", "<"))]
        assert max(map(len, words)) <= 120
        document = stored(name)
        for table in (claims_table(document), *tables(document)):
            assert all("| " + " | ".join(row).replace("*", r"\*") + " |\n" in page for row in table.rows)

    @pytest.mark.parametrize("name", ids())
    def test_a_figure_fits_its_document_and_is_small(self, name: str, tmp_path: Path) -> None:
        (tmp_path / "results").mkdir()
        for picture in (write_figure(tmp_path, stored(name)), DOCS / "results" / f"{name}.png"):
            assert picture.read_bytes().startswith(b"\x89PNG")
            assert picture.stat().st_size < MOST_BYTES


class TestAbstracts:
    def test_every_headline_is_a_claim_of_its_experiment_and_has_a_row(self) -> None:
        table = abstracts_table(stored(name) for name in ids())
        for headline in HEADLINES:
            found = [one for one in load(headline.experiment).claims if one.text.startswith(headline.begins)]
            assert 1 <= len(found) <= 2, headline
            assert len([row for row in table.rows if row[0] == headline.says.replace("*", r"\*")]) == 1
        assert {headline.experiment.partition("-")[0] for headline in HEADLINES} == {"dl", "dc", "ls", "tb", "sg"}

    def test_a_row_has_our_numbers_and_the_verdict_in_magnitude(self) -> None:
        said = {meter: f"for solutions as good: ours, {meter}" for meter in ("mean", "pooled")}
        one = claim([9.0, 8.0, 10.0], HOLDS) | {"claim": said["mean"], "paper": "9"}
        other = claim([5.97, 5.5, 6.5], DIRECTION) | {"claim": said["pooled"], "paper": "9"}
        row = abstracts_table([{"id": "dc-f8", "claims": [one, other]}]).rows[0]
        assert row[1:3] == ["[DC-F8](results/dc-f8.md)", "9"]
        assert row[3:] == ["mean 9.000 [8.000, 10.0]; pooled 5.970 [5.500, 6.500]", "≈ direction only"]


class TestTheSources:
    @pytest.mark.parametrize("name", ids())
    def test_a_document_is_of_the_sources_as_they_are(self, name: str) -> None:
        """If this fails, kernels have changed: ``rt-gym reproduce ID --check docs`` looks whether runs have, too."""
        document = stored(name)
        if document["commit"] is None:
            pytest.skip("it was made before stamps were kept, and its page says so")
        stamps = (document["checked"] or document)["sources"]
        ours = [agent for agent in stamps if "." not in agent]  # of an agent of one's own, all sources would count
        assert [stamps[agent] for agent in ours] == [source_stamp(agent) for agent in ours]


class TestTheSentences:
    def test_every_experiment_has_some_and_a_figure_and_a_paper(self) -> None:
        assert sorted(DISCUSSIONS) == sorted(FIGURES) == sorted(ids())
        assert {name.partition("-")[0] for name in ids()} == set(PAPERS)

    @pytest.mark.parametrize("name", ids())
    def test_they_are_short(self, name: str) -> None:
        said = DISCUSSIONS[name]
        assert said.asks.endswith("?")
        assert len(said.asks.split()) <= 12
        assert len(said.finding.split()) <= 25

    @pytest.mark.parametrize("name", ids())
    def test_what_failed_is_told_in_two_sentences_if_anything_did(self, name: str) -> None:
        failed = any(found["verdict"] != HOLDS for found in claims(stored(name)))
        assert len(re.findall(r"\.(?: |$)", DISCUSSIONS[name].failed)) == (2 if failed else 0)

    @pytest.mark.parametrize("name", ids())
    def test_their_numbers_are_those_of_the_documents_of_the_paper(self, name: str) -> None:
        paper = name.partition("-")[0]
        text = " ".join(json.dumps(stored(other)) for other in ids() if other.startswith(paper))
        known = {float(found.replace(",", "")) for found in re.findall(r"\d[\d,]*\d(?:\.\d+)?|\d+(?:\.\d+)?", text)}
        for said in re.findall(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?(?![\w])", " ".join(DISCUSSIONS[name])):
            value, places = float(said.replace(",", "")), len(said.partition(".")[2])
            near = 0.51 * 10**-places
            shares = (value, value / 100, 1 + value / 100, 1 - value / 100)
            within = (near, near / 100, near / 100, near / 100)
            assert any(
                abs(found - share) <= width for share, width in zip(shares, within, strict=True) for found in known
            ), said


def test_new_documents_stand_beside_the_old_ones_and_all_is_written_anew(tmp_path: Path) -> None:
    write_pages(tmp_path, [stored("tb-e2")])
    written = write_pages(tmp_path, [stored("dl-t1")])
    names = [path.relative_to(tmp_path).as_posix() for path in written]
    pages = ["results/dl-t1.json", "results.md", "results/dl-t1.md", "results/tb-e2.md"]
    assert names == [*pages, "results/dl-t1.png", "results/tb-e2.png"]
    assert all(path.exists() for path in written)
    assert "notebook" not in (tmp_path / "results.md").read_text(encoding="utf-8")
    (tmp_path / "results" / "notes-learning.md").write_text("", encoding="utf-8")
    assert "[notebook](results/notes-learning.md)" in render(tmp_path)[tmp_path / "results.md"]


def test_without_documents_there_is_nothing_to_write(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no documents of experiments"):
        write_pages(tmp_path)


@pytest.mark.parametrize("content", ["{", "{}", "[]", "3", '{"id": 1}'])
def test_a_document_that_is_damaged_or_of_another_version_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "dc-f5.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="is not a document of results as this version writes it"):
        render(tmp_path)

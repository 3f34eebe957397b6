"""The tutorials and how-tos: all that they tell the reader to do is done, in their order."""

import sys
from pathlib import Path

import pytest

from pages import LESSONS, blocks, follow

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

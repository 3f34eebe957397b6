"""The programs of the folder examples: they run, and their list is complete."""

import re
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples"
SCRIPTS, NOTEBOOKS = sorted(FOLDER.glob("*.py")), sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_runs_and_says_what_came_of_it(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(script)])
    try:
        runpy.run_path(str(script), run_name="__main__")
    except ModuleNotFoundError as error:
        pytest.skip(f"needs {error.name}")
    assert re.search(r"\d", capsys.readouterr().out)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_is_kept_without_its_output(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat")
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
    pytest.importorskip("ipykernel", reason="needs ipykernel")
    monkeypatch.setenv("PYTHONPATH", str(FOLDER.parent))
    content = nbformat.read(notebook, as_version=4)
    assert not any(cell.get("outputs") for cell in content.cells)
    done = nbclient.NotebookClient(content, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    printed = [output for cell in done.cells for output in cell.get("outputs", [])]
    assert any("times the optimal cost" in output.get("text", "") for output in printed)


def test_the_list_of_examples_names_all_of_them() -> None:
    listed = re.findall(r"^\| \[([^\]]+)\]\(\1\) \|", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in (*SCRIPTS, *NOTEBOOKS))

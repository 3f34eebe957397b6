"""What a release consists of: one version everywhere, all files in the packages, workflows and templates that parse."""

import re
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import rt_gym
from wheel_files import PACKAGES, wanted

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_citation_and_changelog_have_the_version_of_the_package() -> None:
    assert f"\nversion: {rt_gym.__version__}\n" in text("CITATION.cff")
    released = re.findall(r"^## \[(\d[^\]]*)\] - \d{4}-\d\d-\d\d$", text("CHANGELOG.md"), re.MULTILINE)
    assert released[0] == rt_gym.__version__


def test_every_package_says_that_it_has_types() -> None:
    assert [name for name in PACKAGES if not (ROOT / name / "py.typed").is_file()] == []


def test_every_data_file_of_the_packages_is_packed() -> None:
    try:
        files = [Path(name) for name in wanted()]
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a checkout, or there is no git")
    patterns = PROJECT["tool"]["setuptools"]["package-data"]
    data = [file for file in files if file.suffix != ".py"]
    assert data
    unpacked = [file for file in data if not _matches(file, patterns[file.parts[0]])]
    assert unpacked == []


def _matches(file: Path, patterns: list[str]) -> bool:
    inner = file.relative_to(file.parts[0]).as_posix()
    return any(fnmatch(inner, pattern) or fnmatch(f"x/{inner}", pattern) for pattern in patterns)


def test_the_tests_run_on_all_versions_and_systems_that_the_package_names() -> None:
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")
    jobs = yaml.safe_load(text(".github/workflows/tests.yml"))["jobs"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert jobs["unit"]["strategy"]["matrix"]["python"] == named
    assert jobs["unit"]["strategy"]["matrix"]["system"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert PROJECT["project"]["requires-python"] == f">={named[0]}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_step_of_a_workflow_uses_an_action_or_runs_something(path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    targets = set(re.findall(r"^([\w-]+):", text("Makefile"), re.MULTILINE))
    for job in workflow["jobs"].values():
        assert {"runs-on", "steps"} <= job.keys()
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])
        made = re.findall(r"\bmake (\w+)", "\n".join(step.get("run", "") for step in job["steps"]))
        assert set(made) <= targets


@pytest.mark.parametrize("path", [path for path in FORMS if path.stem != "config"], ids=lambda path: path.stem)
def test_an_issue_form_has_what_a_form_needs(path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= form.keys()
    assert len({part["id"] for part in form["body"]}) == len(form["body"])
    assert all(part["attributes"]["label"] for part in form["body"])


def test_the_entry_for_gymnasiums_list_names_all_ids_and_the_lowest_version() -> None:
    entry = text(".github/gymnasium-listing.md")
    assert [name for name in rt_gym.envs.ids() if f"`{name}`" not in entry] == []
    requirements = {one.name: one for one in map(Requirement, PROJECT["project"]["dependencies"])}
    (lowest,) = requirements["gymnasium"].specifier
    assert f"Gymnasium-v{lowest.version}-" in entry


def test_every_target_of_the_makefile_is_explained() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.+)$", text("Makefile"), re.MULTILINE)
    explained = set(re.findall(r"`make (?:\w+=\S+ )?(\w+)", text("CONTRIBUTING.md") + text("README.md")))
    assert set(phony.split()) - explained - {"clean", "demo"} == set()

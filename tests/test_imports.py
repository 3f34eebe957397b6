"""Which package may import which, read from the sources, and what no file of the repository may contain."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("rt_gym", "agents", "training")
NOT_INSTALLED = {"tests", "reference", "conftest", "benchmarks"}
# The absolute path of somebody's folder, or the host of a package registry.
LOCAL = re.compile(rb"(?<![\w.~])/(home|Users|root|work|opt|mnt)/\w|[A-Z]:\\Users\\|pypi\.org|pythonhosted\.org")


def package_of(path: Path) -> str:
    """Return the dotted name of the package that holds a module."""
    return ".".join(path.relative_to(ROOT).parent.parts)


def imported(source: str, package: str) -> Iterator[str]:
    """Yield the dotted name of everything a module of ``package`` imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            outer = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*outer, node.module] if node.module else outer)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def modules(room: str) -> list[Path]:
    """Return the source files of a package."""
    return sorted((ROOT / room).rglob("*.py"))


def offences(paths: list[Path], forbidden: set[str]) -> list[str]:
    """Return one line for every import by these files of a forbidden package or of something inside it."""
    return [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in paths
        for name in imported(path.read_text(encoding="utf-8"), package_of(path))
        if any(f"{name}.".startswith(f"{root}.") for root in forbidden)
    ]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import a.b, c as d", ["a.b", "c"]),
        ("from a.b import c", ["a.b.c"]),
        ("from . import c", ["room.inner.c"]),
        ("from .. import c", ["room.c"]),
        ("from ..other import c", ["room.other.c"]),
        ("def f():\n    if True:\n        import a", ["a"]),
    ],
)
def test_every_form_of_import_is_seen(source: str, names: list[str]) -> None:
    assert list(imported(source, "room.inner")) == names


@pytest.mark.parametrize("room", ROOMS)
def test_a_package_imports_only_those_before_it_and_nothing_that_is_not_installed(room: str) -> None:
    later = set(ROOMS[ROOMS.index(room) + 1 :])
    assert modules(room)
    assert offences(modules(room), later | NOT_INSTALLED) == []


# The rooms of rt_gym that import Gymnasium.
ENVIRONMENTS = ("rt_gym/envs", "rt_gym/squad/envs", "rt_gym/evaluation")


def test_only_the_environments_import_gymnasium() -> None:
    rooms = {ROOT / name for name in ENVIRONMENTS}
    searching = [path for path in modules("rt_gym") + modules("agents") if not rooms & {*path.parents}]
    entrance = ROOT / "rt_gym/__init__.py"  # it imports the environments in order to register them
    inner = [path for path in searching if path != entrance]
    environments = {name.replace("/", ".") for name in ENVIRONMENTS}
    assert offences(searching, {"gymnasium"}) + offences(inner, environments) == []
    assert all(offences(modules(name), {"gymnasium"}) for name in ENVIRONMENTS)


def test_contributors_are_told_which_rooms_these_are() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    sentence = re.search(r"^Gymnasium is imported by (.+?) only:", page, re.MULTILINE | re.DOTALL)
    assert sentence is not None
    assert set(re.findall(r"`(\S+)`", sentence[1])) == {*ENVIRONMENTS, "training"}


def test_only_these_files_speak_numba_and_llvm() -> None:
    speakers = {"rt_gym/jit.py", "rt_gym/handles.py", "rt_gym/kernel_cache.py", "rt_gym/intrinsics.py"}
    for path in (path for room in ROOMS for path in modules(room)):
        name, sources = path.relative_to(ROOT).as_posix(), imported(path.read_text("utf-8"), package_of(path))
        found = {source for source in sources if source.partition(".")[0] in ("numba", "llvmlite")}
        assert not found or name in speakers, name
    assert all((ROOT / name).is_file() for name in speakers)


def test_contributors_are_told_which() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    sentence = re.search(r"- Numba and LLVM are spoken by (.+?)No other file", page, re.DOTALL)
    assert sentence is not None
    assert set(re.findall(r"`(\S+)`", sentence[1])) == {
        path.relative_to(ROOT / "rt_gym").as_posix()
        for path in modules("rt_gym")
        if offences([path], {"numba", "llvmlite"})
    }


@pytest.mark.parametrize("room", ROOMS)
def test_every_folder_with_modules_is_a_package_and_therefore_installed(room: str) -> None:
    assert {path.parent for path in modules(room)} == {path.parent for path in (ROOT / room).rglob("__init__.py")}


def test_no_file_names_a_folder_of_one_machine_or_the_host_of_a_registry() -> None:
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout, so nothing tells the repository's files from others")
    files = [ROOT / name for name in names if (ROOT / name).is_file()]
    found = {str(path.relative_to(ROOT)): LOCAL.search(path.read_bytes()) for path in files}
    assert {name: match[0] for name, match in found.items() if match} == {}


# In the order in which they may import each other: the command is a leaf.
FLOORS = ("j48", "runs", "judge", "learn", "export", "experiments", "report", "cli")


@pytest.mark.parametrize("floor", FLOORS)
def test_within_training_a_package_imports_only_those_before_it(floor: str) -> None:
    later = {f"training.{name}" for name in FLOORS[FLOORS.index(floor) + 1 :]}
    assert offences(modules(f"training/{floor}"), later) == []


def test_nothing_imports_the_command() -> None:
    outside = [path for room in ROOMS for path in modules(room) if ROOT / "training/cli" not in path.parents]
    assert offences(outside, {"training.cli"}) == []


# distribution -> the module that is imported, where the two have different names
MODULES = {"pillow": "PIL", "pygame-ce": "pygame", "scikit-learn": "sklearn", "stable-baselines3": "stable_baselines3"}
# distribution -> who imports it for us
BY_OTHERS = {
    "imageio": "Gymnasium's RecordVideo",
    "imageio-ffmpeg": "moviepy",
    "moviepy": "Gymnasium's RecordVideo",
    "tensorboard": "the logger of Stable-Baselines3",
}
TOOLS = {"mypy", "pytest", "pytest-xdist", "ruff"} | {"furo", "myst-parser", "sphinx"} | {"build", "twine"}
TOOLS |= {"ipykernel", "nbclient", "nbformat"}  # what runs a notebook is asked for by tests, where it is there


def test_whatever_is_declared_is_imported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    development = extras.pop("dev")
    sources = {room: modules(room) for room in (*ROOMS, "tests", "benchmarks")}
    roots = {
        room: {name.partition(".")[0] for path in paths for name in imported(path.read_text("utf-8"), package_of(path))}
        for room, paths in sources.items()
    }
    installed, all_of_them = set().union(*(roots[room] for room in ROOMS)), set().union(*roots.values())
    used = [(line, installed) for part in (project["dependencies"], *extras.values()) for line in part]
    for line, known in [*used, *((line, all_of_them) for line in development)]:
        name = re.split(r"[\[<>=]", line)[0]
        assert name in BY_OTHERS or name in TOOLS or MODULES.get(name, name.replace("-", "_")) in known, name

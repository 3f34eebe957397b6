"""Settings and fixtures of the whole test suite."""

import os
from collections.abc import Iterator
from pathlib import Path

# Before anything imports pygame or matplotlib: tests need no display.
os.environ["SDL_VIDEODRIVER"] = "dummy"
os.environ["MPLBACKEND"] = "Agg"

import pytest

import profiles  # noqa: F401  loads the profile of RTGYM_HYPOTHESIS

pytest.register_assert_rewrite("reference")  # what tests share says as much as they do when it fails

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def _no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget how wide the terminal is from which tests are run: tables are as wide as they have to be."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(scope="session")
def shared_maps() -> Path:
    """The folder of full-size game maps beside the repository; tests that want it are skipped where it is missing."""
    folder = ROOT.parent / "shared" / "maps"
    if not folder.is_dir():
        pytest.skip("no folder shared/maps beside the repository")
    return folder


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """PyTorch on one core: small networks are slower on more."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)

"""Fixtures of the tests of reports."""

from collections.abc import Iterator
from typing import Any

import pytest

from browser import BROWSER, DRIVER, begin


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    """Return a browser, one for all tests of a module."""
    pytest.importorskip("selenium", reason="needs selenium")
    if not (BROWSER and DRIVER):
        pytest.skip("needs chromium and chromedriver")
    made = begin()
    yield made
    made.quit()


@pytest.fixture
def quiet_console(driver: Any) -> Iterator[None]:
    """Find no error in the browser's console after a test."""
    yield
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []

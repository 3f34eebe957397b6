"""Pages in headless Chromium: a driver, and what tests of pages ask it for."""

import shutil
from pathlib import Path
from typing import Any

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
HOSTILE = "</script><img src=x onerror=alert(1)> \"'& ü 漢"
NARROW, WIDE = (390, 800), (1280, 900)
# What is copied, in a browser that has no clipboard.
CLIPBOARD = """Object.defineProperty(navigator, "clipboard",
    { value: { writeText: async (text) => { window.copied = text; } } })"""


def begin() -> Any:
    """Return a driver that logs what pages write to their console."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_script_timeout(60)
    return driver


def show(driver: Any, page: Path, size: tuple[int, int] = WIDE, fragment: str = "") -> None:
    """Load a page and wait until its replay, if it has one, is ready."""
    width, height = size
    shape = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", shape)
    driver.get("about:blank")
    driver.get(page.as_uri() + fragment)
    ready = "!window.replay?.element || window.replay.element.dataset.ready"
    script = f"const done = arguments[0], wait = () => {ready} ? done() : setTimeout(wait, 20); wait();"
    driver.execute_async_script(script)


def find_all(driver: Any, selector: str) -> list[Any]:
    """Return all elements that a selector names."""
    return driver.find_elements("css selector", selector)


def choose(driver: Any, selector: str, text: str) -> None:
    """Choose an option of a select by a part of its text."""
    (select,) = find_all(driver, selector)
    (option,) = (one for one in select.find_elements("css selector", "option") if text in one.text)
    option.click()


def facts(driver: Any, side: int) -> dict[str, str]:
    """Return what stands beside the picture of one side."""
    script = """return Object.fromEntries([...document.querySelectorAll('.pane')[arguments[0]].querySelectorAll('dd')]
        .map((value) => [value.dataset.fact, value.textContent]))"""
    return driver.execute_script(script, side)

"""Reports in headless Chromium: how large they are, how soon they are painted, and how fast replays run.

The report compares eight agents on 100 problems of a map of 512 x 512 cells, in fog, and all 800 runs are asked for as
replays; those beyond the room of a page are left out. Needs chromium and chromedriver.
"""

import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from measure import Row, arguments, at_least, at_most, heading, print_rows
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from rt_gym import load_map, sample_problems
from training.judge import find
from training.report import write_replay, write_report
from training.report.comparison import Part
from training.report.replays import Recording, record
from training.runs import Allowance, Draw, Plan, Workers, enlist, enlist_all, find_courses, run_plan
from training.runs.contenders import make_agent

SPECS = ["lss-lrta", "rtaa", "da-rtaa", "lrta-ls-k", "tbaa", "astar", "dstar-lite", "mpgaa"]
BUDGET, VISION, SECONDS = 200, 10, 5
LOADS = 5

# When something was first painted, in milliseconds since the page was asked for.
PAINT = """const done = arguments[0], told = () => {
    const [entry] = performance.getEntriesByName('first-contentful-paint');
    entry ? done(entry.startTime) : setTimeout(told, 10); }; told();"""
# Wait until the first runs are shown, and take the time of every picture from there on.
READY = """const done = arguments[0], wait = () => {
    const r = window.replay;
    if (!r.element?.dataset.ready) return setTimeout(wait, 20);
    const draw = r.draw.bind(r);
    r.draw = () => { const began = performance.now(); draw(); r.took.push(performance.now() - began); };
    done(); }; wait();"""
# Play from the start for some seconds; return how many moves were made, in how many seconds, and the times of pictures.
PLAY = """const [speed, seconds, done] = arguments, r = window.replay;
    r.took = []; r.seek(0); r.took = []; r.speed = speed; r.toggle();
    const began = performance.now();
    setTimeout(() => { const passed = performance.now() - began; r.stop(); done([r.moment, passed / 1000, r.took]); },
        1000 * seconds);"""


def main() -> None:
    source = arguments(__doc__).parse_args().map
    heading("Reports in a browser, by the clock on the wall")
    browser, tool = shutil.which("chromium"), shutil.which("chromedriver")
    if not (browser and tool):
        print("needs chromium and chromedriver")
        return
    with tempfile.TemporaryDirectory() as folder:
        report, replay = write_pages(source, Path(folder))
        driver = begin(browser, tool)
        runs = report.read_text("ascii").count('"outcome":')
        rows = [at_most("size", f"8 agents, 100 problems, {runs} replays", report.stat().st_size / 1e6, 15, "MB")]
        rows += [paint(driver, report), *play(driver, replay)]
        driver.quit()
    print_rows(rows)


def write_pages(source: str, folder: Path) -> tuple[Path, Path]:
    """Return the report, and a page with two runs on the longest of ten problems."""
    plan = Plan(
        tuple(enlist_all(SPECS, [Allowance.of(BUDGET)])),
        tuple(find_courses([source], Draw(100, 50, 400, vision=VISION))),
    )
    findings = find(plan, run_plan(plan, workers=Workers(jobs=1)))
    report = write_report(folder / "report.html", "report", [Part("", findings)], problems=100)
    grid = load_map(source)
    problem = max(sample_problems(grid, 10, 300, 500, 0, VISION), key=lambda one: one.optimal or 0)
    runs = [recorded(name, problem) for name in ("lss-lrta", "dstar-lite")]
    return report, write_replay(folder / "replay.html", "replay", "replay", runs)


def recorded(name: str, problem: Any) -> Recording:
    contender = enlist(name, {}, Allowance.of(BUDGET))
    run = record(contender, make_agent(name, contender.settings), problem, 10_000, 0)
    return Recording(contender, run, run.moves, run.cost, run.outcome, "")


def begin(browser: str, tool: str) -> Any:
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=Service(tool))
    driver.set_window_size(1280, 900)
    driver.set_script_timeout(60)
    return driver


def paint(driver: Any, page: Path) -> Row:
    """Load a page several times, and say when it was first painted."""
    took = []
    for _ in range(LOADS):
        driver.get("about:blank")
        driver.get(page.as_uri())
        took.append(driver.execute_async_script(PAINT) / 1000)
    return at_most("first paint", f"the slowest of {LOADS} loads", max(took), 2, "s")


def play(driver: Any, page: Path) -> list[Row]:
    """Play two runs side by side at several speeds."""
    driver.get(page.as_uri())
    driver.execute_async_script(READY)
    rows = []
    for speed in (60, 240):
        moves, seconds, took = driver.execute_async_script(PLAY, speed, SECONDS)
        each = f"{statistics.median(took):.1f} ms for a picture, {max(took):.1f} at most"
        aim = 60 - 2 / SECONDS  # the first move and the last one are under way
        rows.append(
            at_least(
                f"moves per second at {speed}", f"{len(took) / seconds:.0f} pictures, {each}", moves / seconds, aim
            )
        )
    return rows


if __name__ == "__main__":
    main()

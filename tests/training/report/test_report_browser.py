"""Reports and replays in a real browser: every control works, and what is shown is what the run recorded."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rt_gym import Problem, Squad, load_map, sample_problems
from rt_gym.changes import scripted_changes
from training.cli.playback import Playback
from training.judge import find, think
from training.learn import problems_of
from training.report.comparison import Part
from training.report.html import write_replay, write_report, write_unfinished
from training.report.replays import Recording, SquadRecording, record, record_squad
from training.runs import Allowance, Course, Draw, Plan, Workers, enlist, enlist_all, find_courses, run_plan
from training.runs.contenders import make_agent

pytest.importorskip("selenium", reason="needs selenium")
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (BROWSER and DRIVER), reason="needs chromium and chromedriver")

HOSTILE = "</script><img src=x onerror=alert(1)> \"'& ü 漢"
NARROW, WIDE = (390, 800), (1280, 900)
FREE, WALL, UNSEEN = 0, 1, 2  # as in film.js
# Open a problem with two runs at a moment, and wait until it is shown.
OPEN = "const [problem, runs, moment, done] = arguments; replay.open(problem, runs, moment).then(() => done());"
Pair = tuple[Path, list[Recording]]


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(DRIVER))
    made.set_script_timeout(60)
    yield made
    made.quit()


@pytest.fixture(autouse=True)
def _quiet_console(driver: Any) -> Iterator[None]:
    yield
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []


def show(driver: Any, page: Path, size: tuple[int, int] = WIDE, fragment: str = "") -> None:
    width, height = size
    shape = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", shape)
    driver.get("about:blank")
    driver.get(page.as_uri() + fragment)
    ready = "!window.replay?.element || window.replay.element.dataset.ready"
    script = f"const done = arguments[0], wait = () => {ready} ? done() : setTimeout(wait, 20); wait();"
    driver.execute_async_script(script)


def find_all(driver: Any, selector: str) -> list[Any]:
    return driver.find_elements("css selector", selector)


def facts(driver: Any, side: int) -> dict[str, str]:
    """Return what stands beside the picture of one side."""
    script = """return Object.fromEntries([...document.querySelectorAll('.pane')[arguments[0]].querySelectorAll('dd')]
        .map((value) => [value.dataset.fact, value.textContent]))"""
    return driver.execute_script(script, side)


def recorded(agent_id: str, problem: Problem) -> Recording:
    contender = enlist(agent_id, {}, Allowance.of(60))
    run = record(contender, make_agent(agent_id, contender.settings), problem, 2000, 0)
    return Recording(contender, run, run.moves, run.cost, run.outcome, f"rt-gym play {HOSTILE}")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Two runs in fog on a map that changes."""
    problem = sample_problems(load_map("rooms-64"), 1, 30, 50, 1)[0]
    problem = Problem(problem.grid, problem.start, problem.goal, 3, scripted_changes(problem, "blockers", 1))
    runs = [recorded("rtaa", problem), recorded("dstar-lite", problem)]
    return write_replay(tmp_path_factory.mktemp("pair") / "run.html", HOSTILE, HOSTILE, runs), runs


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two maps, one with a hostile name, two budgets."""
    drawn = list(find_courses(["rooms-64", "random-48"], Draw(6, 20, 50)))
    courses = (drawn[0], Course(HOSTILE, drawn[1].grid, drawn[1].tasks))
    specs = ["lss-lrta", "lrta:depth=1,2", "astar"]
    plan = Plan(tuple(enlist_all(specs, map(Allowance.of, (30, 100)))), courses)
    findings = find(plan, run_plan(plan, workers=Workers(jobs=1)))
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(path, HOSTILE, [Part("one", findings), Part(HOSTILE, findings)], problems=2)


class TestReplay:
    def test_positions_and_counts_are_those_of_the_record(self, driver: Any, pair: Pair) -> None:
        page, runs = pair
        show(driver, page)
        last = max(one.moves for one in runs)
        for moment in (0, 1, 7, last // 2, last - 1, last, 3):
            driver.execute_script("window.replay.seek(arguments[0])", moment)
            for side, one in enumerate(runs):
                log, m = one.run.log, min(moment, one.moves)
                assert log is not None
                told, decided = facts(driver, side), min(m + 1, len(log))
                assert told["position"] == "{}, {}".format(*one.run.path[m])
                assert told["expansions"] == f"{log.expansions[m] if m < len(log) else 0:,}"
                assert told["in all"] == f"{log.expansions[:decided].sum():,}"
                assert told["scans"] == f"{log.scans[:decided].sum():,}"
                if m == one.moves:
                    assert float(told["cost"].replace(",", "")) == pytest.approx(one.cost, rel=1e-3)

    def test_fog_changes_and_learned_values_are_those_of_the_world(self, driver: Any, pair: Pair) -> None:
        page, runs = pair
        show(driver, page)
        for side, one in enumerate(runs):
            agent = make_agent(one.contender.agent, one.contender.settings)
            playback = Playback(agent, one.run.problem, one.contender.budget, 2000)
            for moment in playback.moments():
                if moment.moves % 9 and moment.outcome is None:
                    continue
                view = playback.world.kernel_view
                expected = np.where(view.known, np.where(view.passable, FREE, WALL), UNSEEN).ravel()
                script = "const r = window.replay, p = r.panes[arguments[1]]; r.seek(arguments[0]);"
                script += "return [Array.from(p.states), Array.from(p.heat)]"
                states, heat = driver.execute_script(script, moment.moves, side)
                assert states == expected.tolist()
                assert facts(driver, side)["seen"] == f"{view.known.sum():,}"
                learned = playback.scene(moment).layers.get("h")
                if learned is not None:
                    risen = np.where(np.isfinite(learned), learned, 0.0).ravel()
                    assert np.allclose(np.array(heat) / 8, np.maximum(risen, 0), atol=0.07)

    def test_time_runs_both_ways(self, driver: Any, pair: Pair) -> None:
        show(driver, pair[0])
        script = """const r = window.replay;
            const all = () => r.panes.map((p) => [p.words, p.states, p.heat].map((a) => a.join()).join(';'));
            r.seek(20); const there = all(); r.seek(r.end); r.seek(0); r.seek(33); r.seek(20); return [there, all()]"""
        there, again = driver.execute_script(script)
        assert there == again

    def test_buttons_and_keys_steer_both_sides(self, driver: Any, pair: Pair) -> None:
        page, runs = pair
        show(driver, page)
        last = max(one.moves for one in runs)

        def moment() -> int:
            return int(driver.execute_script("return window.replay.moment"))

        for label, expected in (("one move on", 1), ("one move on", 2), ("one move back", 1), ("to the end", last)):
            find_all(driver, f".controls button[title^='{label}']")[0].click()
            assert moment() == expected
        replay = find_all(driver, ".replay")[0]
        for key, expected in (
            (Keys.HOME, 0),
            (Keys.ARROW_RIGHT, 1),
            (Keys.SHIFT + Keys.ARROW_RIGHT, 11),
            (Keys.END, last),
        ):
            replay.send_keys(key)
            assert moment() == expected
        replay.send_keys(Keys.HOME, "n")
        logs = [one.run.log for one in runs if one.run.log]
        first = min(next(m for m in range(1, len(log)) if log.expansions[m]) for log in logs)
        assert moment() == first
        replay.send_keys("n", "p")
        assert moment() == first

    def test_it_plays_to_the_end_and_stops(self, driver: Any, pair: Pair) -> None:
        show(driver, pair[0])
        script = """const done = arguments[0], r = window.replay; r.speed = 240; r.seek(0); r.toggle();
            const wait = () => r.playing ? setTimeout(wait, 20) : done([r.moment, r.end]); wait();"""
        moment, end = driver.execute_async_script(script)
        assert moment == end

    def test_an_address_names_a_moment(self, driver: Any, pair: Pair) -> None:
        show(driver, pair[0])
        for moment in range(300):  # more often than a browser takes another address
            driver.execute_script("window.replay.seek(arguments[0] % 18)", moment)
        WebDriverWait(driver, 10).until(lambda it: it.current_url.endswith("#problem=0&a=0&b=1&move=11"))
        show(driver, pair[0], fragment="#problem=0&a=1&b=0&move=9")
        assert facts(driver, 1)["position"] == "{}, {}".format(*pair[1][0].run.path[9])
        show(driver, pair[0], fragment="#problem=99&a=x&move=-5")
        assert driver.execute_script("return [window.replay.moment, window.replay.chosen]") == [0, [0, 1]]

    def test_squads_stand_where_they_stood(self, driver: Any, tmp_path: Path) -> None:
        problems = sample_problems(load_map("rooms-64"), 6, 20, 40, 0, 3, distinct=True)
        squad: SquadRecording = record_squad("rtaa", Squad(problems, "rtaa", 120), 120, 500, "")
        show(driver, write_replay(tmp_path / "squad.html", "squad", "six", squad))
        for moment in (0, 5, len(squad.work) - 1):
            driver.execute_script("window.replay.seek(arguments[0])", moment)
            at = driver.execute_script("return window.replay.panes[0].film.positions(arguments[0])", moment)
            assert at == squad.positions[moment].tolist()
            arrived = (squad.positions[moment] == squad.squad.goals).all(axis=1).sum()
            told = facts(driver, 0)
            assert (told["arrived"], told["expansions"]) == (f"{arrived} of 6", f"{squad.work[moment]:,}")
        views = {id(unit.view.terrain): unit.view for unit in squad.squad.units}.values()
        assert told["seen"] == f"{np.logical_or.reduce([view.known for view in views]).sum():,}"


class TestReport:
    def test_every_control_works(self, driver: Any, report: Path) -> None:
        show(driver, report)
        script = """let touched = 0;
            for (const select of document.querySelectorAll('select')) for (const option of [...select.options]) {
              select.value = option.value; select.dispatchEvent(new Event('change')); touched++; }
            for (const box of document.querySelectorAll('input[type=checkbox]')) { box.click(); touched++; }
            for (const button of document.querySelectorAll('button')) { button.click(); touched++; }
            for (const mark of document.querySelectorAll('.point path')) {
              for (const name of ['pointerenter', 'click', 'pointerleave']) mark.dispatchEvent(new Event(name));
              touched++; }
            return touched"""
        assert driver.execute_script(script) > 100
        show(driver, report)

    def test_hostile_names_are_shown_as_text(self, driver: Any, report: Path) -> None:
        show(driver, report)
        assert find_all(driver, "img") == []
        assert (driver.title, find_all(driver, "h1")[0].text) == (HOSTILE, HOSTILE)
        maps = driver.execute_script(
            "return [...document.querySelectorAll('#tradeoff option')].map((o) => o.textContent)"
        )
        assert HOSTILE in maps

    def test_the_first_screen_says_whom_to_take_and_why(self, driver: Any, report: Path) -> None:
        for size in (WIDE, NARROW):
            show(driver, report, size)
            script = "return document.querySelector('.card .why').getBoundingClientRect().bottom"
            assert driver.execute_script(script) < size[1]
        assert len(find_all(driver, ".card")) == 2

    def test_nothing_is_wider_than_a_telephone(self, driver: Any, report: Path, pair: Pair) -> None:
        for page in (report, pair[0]):
            show(driver, page, NARROW)
            assert driver.execute_script("return document.documentElement.scrollWidth") <= NARROW[0]

    def test_tables_are_sorted_and_filtered(self, driver: Any, report: Path) -> None:
        show(driver, report)
        table = find_all(driver, "#tables .table")[0]
        table.find_elements("css selector", "thead button")[1].click()
        column = [
            row.find_elements("css selector", "td")[0].text for row in table.find_elements("css selector", "tr:has(td)")
        ]
        values = [float(text.replace(",", "")) for text in column]
        half = len(values) // 2
        assert values[:half] == sorted(values[:half])
        assert values[half:] == sorted(values[half:])
        table.find_elements("css selector", "input")[0].send_keys("astar 100")
        assert [row.text.split()[0] for row in table.find_elements("css selector", "tr:has(td)")] == ["astar"]

    def test_a_point_tells_its_interval_and_its_command(self, driver: Any, report: Path) -> None:
        show(driver, report)
        driver.execute_script("document.querySelector('#tradeoff .point path').dispatchEvent(new Event('click'))")
        hint = find_all(driver, "#hint")[0]
        assert "suboptimality" in hint.text
        assert "rt-gym play rooms-64 --agent lss-lrta:lookahead=30 --budget 30" in hint.text
        webdriver.ActionChains(driver).send_keys(Keys.ESCAPE).perform()
        assert not hint.is_displayed()

    def test_a_problem_of_two_agents_leads_to_its_replay(self, driver: Any, report: Path) -> None:
        show(driver, report)
        script = """const c = report.all[0], n = c.problems.kept.findIndex((_, i) => c.recorded(i));
            c.replay(n); return [n, c.problemName(n)]"""
        number, name = driver.execute_script(script)
        assert number >= 0
        chosen = driver.execute_script("const r = window.replay; return r.problems[Number(r.problem.value)].name")
        assert chosen.endswith(name)

    def test_policies_have_no_commands_but_their_walks(self, driver: Any, tmp_path: Path) -> None:
        courses = tuple(find_courses(["rooms-64"], Draw(4, 10, 30)))
        times = think.contest({"network": think.follow_rule}, problems_of(courses), vision=2, slice=5)
        page = write_report(tmp_path / "a.html", "Thinking", [Part("", think.judged(times, courses, {"seed": 0}))])
        show(driver, page)
        options = [one.text for one in find_all(driver, "#problems select option:checked")]
        assert options[1:] == ["network", "time / optimal"]
        for place, last in (("#tradeoff", "solved 4/4"), ("#problems", "Click to replay.")):
            driver.execute_script(f"document.querySelector('{place} .point path').dispatchEvent(new Event('focus'))")
            assert find_all(driver, "#hint")[0].text.endswith(last)
        runs = driver.execute_script("return replay.runs.map((run) => [replay.problems[run.problem].start, run.label])")
        starts = [list(task.start) for task in courses[0].tasks]
        for number, (start, label) in enumerate(runs):
            walk = times[label].walks[starts.index(start)]
            last = min(len(walk.expansions), 750)  # an eighth of what is recorded of a problem
            for moment in (0, 5, last // 2, last):
                driver.execute_async_script(OPEN, number // 8, [number, number], moment)
                told = facts(driver, 0)
                decided = min(moment + 1, last)
                assert told["position"] == "{}, {}".format(*walk.path[moment])
                assert told["in all"] == f"{walk.expansions[:decided].sum():,}"
                assert told["scans"] == f"{walk.scans[:decided].sum():,}"
        assert "learned" not in find_all(driver, ".replay .legend")[0].text

    def test_an_interrupted_comparison_says_so(self, driver: Any, tmp_path: Path) -> None:
        show(driver, write_unfinished(tmp_path / "a.html", "t", f"Stopped {HOSTILE}", {"command": "rt-gym compare x"}))
        assert find_all(driver, ".warning")[0].text == f"Stopped {HOSTILE}"
        assert "rt-gym compare x" in find_all(driver, "#settings")[0].text

"""Reports in a real browser: every control works, whatever names are like, and what is missing is said."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import CLIPBOARD, HOSTILE, NARROW, WIDE, choose, facts, find_all, show
from training.judge import Findings, find, think
from training.judge.scores import collect, score_all
from training.learn import problems_of
from training.report import write_report, write_unfinished
from training.report.comparison import Part
from training.runs import Allowance, Course, Draw, Plan, Workers, enlist_all, find_courses, run_plan

pytest.importorskip("selenium", reason="needs selenium")
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.usefixtures("quiet_console")
READY = (
    """const done = arguments[0], wait = () => replay.element.dataset.ready ? done() : setTimeout(wait, 10); wait();"""
)
# Open a problem with two runs at a moment, and wait until it is shown.
OPEN = "const [problem, runs, moment, done] = arguments; replay.open(problem, runs, moment).then(() => done());"


@pytest.fixture(scope="module")
def findings() -> Findings:
    """Two maps, one with a hostile name, two budgets."""
    drawn = list(find_courses(["rooms-64", "random-48"], Draw(6, 20, 50)))
    courses = (drawn[0], Course(HOSTILE, drawn[1].grid, drawn[1].tasks))
    specs = ["lss-lrta", "lrta:depth=1,2", "astar"]
    plan = Plan(tuple(enlist_all(specs, map(Allowance.of, (30, 100)))), courses)
    return find(plan, run_plan(plan, workers=Workers(jobs=1)))


@pytest.fixture(scope="module")
def report(findings: Findings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same comparison twice, the second time under a hostile name."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(path, HOSTILE, [Part("one", findings), Part(HOSTILE, findings)], problems=2)


def labels(driver: Any, place: str) -> list[str]:
    """Return what the points of a plot are called."""
    script = "return [...document.querySelectorAll(arguments[0])].map((mark) => mark.getAttribute('aria-label'))"
    return driver.execute_script(script, f"{place} .point path")


def digits(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:,.0f}"


class TestControls:
    def test_sections_are_reached_by_their_links(self, driver: Any, report: Path) -> None:
        show(driver, report)
        links = find_all(driver, "nav a")
        sections = ["best", "tables", "tradeoff", "problems", "wins", "replay", "settings"]
        assert len(links) == len(sections)
        for link, section in zip(links, sections, strict=True):
            link.click()
            script = """return [document.getElementById(arguments[0]).getBoundingClientRect().top,
                document.documentElement.scrollHeight - innerHeight - scrollY]"""
            top, below = driver.execute_script(script, section)
            assert abs(top) < 2 or below < 2

    def test_comparisons_take_turns_and_each_knows_its_replays(self, driver: Any, report: Path) -> None:
        show(driver, report)
        for number, title in enumerate(("one", HOSTILE)):
            button = find_all(driver, ".tabs button")[number]
            button.click()
            assert (button.text, button.get_attribute("aria-pressed")) == (title, "true")
            script = """const c = report.all[arguments[0]], found = c.problems.kept.map((_, i) => c.recorded(i));
                return found.filter(Boolean).map(([k]) => replay.problems[k].comparison)"""
            assert driver.execute_script(script, number) == [number] * 2

    def test_the_trade_off_shows_what_is_chosen(self, driver: Any, report: Path, findings: Findings) -> None:
        show(driver, report)
        scores = findings.scores
        told = {(s.entry.label, s.entry.budget): s for s in scores}
        assert len(labels(driver, "#tradeoff")) == len(scores)
        choose(driver, "#tradeoff select[aria-label=work]", "pooled")
        for text in labels(driver, "#tradeoff"):
            name, budget = text.split(": ")[0].split(", ")
            score = told[name, budget]
            assert score.quality is not None
            quality, work = digits(score.quality.value), digits(score.expansions_pooled.value)
            assert text.endswith(f"suboptimality {quality}, {work} expansions per move")
        choose(driver, "#tradeoff select[aria-label=budget]", "100")
        assert len(labels(driver, "#tradeoff")) == len(scores) // 2
        choose(driver, "#tradeoff select[aria-label=map]", HOSTILE)
        maps = findings.runs.batches[0].places.maps
        own = [s for s in score_all(findings.runs.on(maps == 1)) if s.entry.limit == 100 and s.quality]
        means = [digits(s.quality.value) for s in own if s.quality]
        assert [text.split("suboptimality ")[1].split(", ")[0] for text in labels(driver, "#tradeoff")] == means
        for button in find_all(driver, "#tradeoff .legend button"):
            before = len(labels(driver, "#tradeoff"))
            button.click()
            assert button.get_attribute("aria-pressed") == "false"
            assert len(labels(driver, "#tradeoff")) < before

    def test_names_stand_beside_points_and_over_nothing_else(self, driver: Any, report: Path) -> None:
        show(driver, report)
        script = """const boxes = (selector) => [...document.querySelectorAll(selector)].map((one) => {
                const { left, top, right, bottom } = one.getBoundingClientRect();
                return [one.textContent, left, top, right, bottom]; });
            return [boxes('#tradeoff svg text.name'), boxes('#tradeoff .point path')]"""
        names, marks = driver.execute_script(script)
        assert [name for name, *_ in names]
        assert {name for name, *_ in names} <= {"lss-lrta", "lrta", "astar"}
        for k, (_, left, top, right, bottom) in enumerate(names):
            for _, x, y, end, low in (*names[:k], *marks):
                assert right <= x + 2 or end <= left + 2 or bottom <= y + 4 or low <= top + 4

    def test_axes_are_logarithmic_or_not(self, driver: Any, report: Path) -> None:
        show(driver, report)
        ticks = "return [...document.querySelectorAll('#tradeoff svg text')].map((text) => text.outerHTML).join()"
        seen = {driver.execute_script(ticks)}
        for box in find_all(driver, "#tradeoff input[type=checkbox]"):
            box.click()
            seen.add(driver.execute_script(ticks))
        assert len(seen) == 3
        before = find_all(driver, "#problems svg")[0].get_attribute("outerHTML")
        find_all(driver, "#problems input[type=checkbox]")[0].click()
        assert find_all(driver, "#problems svg")[0].get_attribute("outerHTML") != before

    def test_pairs_and_wins_are_counted_problem_by_problem(self, driver: Any, report: Path, findings: Findings) -> None:
        show(driver, report)
        samples = collect(findings.runs)
        values = {"suboptimality": "quality", "expansions per move": "expansions_per_move", "moves": "moves"}
        names = [f"{one.entry.label}, {one.entry.budget}" for one in samples]
        for value, column in values.items():
            choose(driver, "#problems select[aria-label='agent across']", names[0])
            choose(driver, "#problems select[aria-label='agent up']", names[-1])
            choose(driver, "#problems select[aria-label=value]", value)
            one, other = (getattr(samples[k], column).astype(np.float32) for k in (0, -1))
            assert find_all(driver, ".verdict")[0].text.startswith(
                f"{names[-1]} has less on {(other < one).sum()}, {names[0]} on {(one < other).sum()} of 12 problems"
            )
        choose(driver, "#wins select", "100")
        own = sorted((one for one in samples if one.entry.limit == 100), key=lambda one: one.quality.mean())
        shown = [
            [cell.text for cell in row.find_elements("css selector", "td")]
            for row in find_all(driver, "#wins tbody tr")
        ]
        assert shown == [
            ["" if a is b else f"{100 * (a.quality < b.quality).mean() + 1e-9:.0f}" for b in own] for a in own
        ]

    def test_commands_are_copied(self, driver: Any, report: Path) -> None:
        show(driver, report)
        driver.execute_script(CLIPBOARD)
        commands = find_all(driver, "main .command")
        assert len(commands) >= 5
        for one in commands:
            if one.is_displayed():
                button = one.find_elements("css selector", "button")[0]
                driver.execute_script("arguments[0].scrollIntoView()", button)  # not below the legend
                button.click()
                assert (
                    driver.execute_script("return window.copied") == one.find_elements("css selector", "code")[0].text
                )

    def test_replays_of_a_problem_are_those_of_the_comparison(
        self, driver: Any, report: Path, findings: Findings
    ) -> None:
        show(driver, report)
        runs = driver.execute_script("return replay.runs.map((r) => [r.problem, r.label, r.budget, r.moves, r.cost])")
        problems = driver.execute_script("return replay.problems.map((p) => p.number)")
        assert {problem for problem, *_ in runs} == {0, 1, 2, 3}
        batches = {(b.entry.label, b.entry.budget): b for b in findings.runs.batches}
        for problem, label, budget, moves, cost in runs:
            columns = batches[label, budget].columns
            assert (moves, cost) == (columns["moves"][problems[problem]], columns["cost"][problems[problem]])
        options = find_all(driver, ".replay select[aria-label=problem] option")
        assert len(options) == 4
        for option in (*options[1:], options[0]):
            driver.execute_script("delete replay.element.dataset.ready")
            option.click()
            driver.execute_async_script(READY)
            start = option.text.split("problem ")[1].split("(")[1].split(")")[0]
            assert [facts(driver, side)["position"] for side in (0, 1)] == [start, start]

    def test_whatever_can_be_touched_is_touched_without_an_error(self, driver: Any, report: Path) -> None:
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


class TestReport:
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

    def test_nothing_is_wider_than_a_telephone(self, driver: Any, report: Path) -> None:
        show(driver, report, NARROW)
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
        policies = {HOSTILE: think.FixedSlices(3), "network": think.follow_rule}
        times = think.contest(policies, problems_of(courses), vision=2, slice=5)
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
        assert {HOSTILE, "network"} < {label for _, label in runs}
        assert find_all(driver, "img") == []
        assert "learned" not in find_all(driver, ".replay .legend")[0].text

    def test_an_interrupted_comparison_says_so(self, driver: Any, tmp_path: Path) -> None:
        show(driver, write_unfinished(tmp_path / "a.html", "t", f"Stopped {HOSTILE}", {"command": "rt-gym compare x"}))
        assert find_all(driver, ".warning")[0].text == f"Stopped {HOSTILE}"
        assert "rt-gym compare x" in find_all(driver, "#settings")[0].text

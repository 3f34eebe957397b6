"""Replays in a real browser: every control works, and what is shown is what the run recorded."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import CLIPBOARD, HOSTILE, NARROW, WIDE, choose, facts, find_all, show
from rt_gym import Problem, Squad, load_map, sample_problems
from rt_gym.changes import scripted_changes
from training.cli.playback import Playback
from training.report import write_replay
from training.report.replays import Recording, SquadRecording, record, record_squad
from training.runs import Allowance, enlist
from training.runs.contenders import make_agent

pytest.importorskip("selenium", reason="needs selenium")
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.usefixtures("quiet_console")
FREE, WALL, UNSEEN = 0, 1, 2  # as in film.js
Pair = tuple[Path, list[Recording]]


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


def moment(driver: Any) -> int:
    return int(driver.execute_script("return window.replay.moment"))


def picture(driver: Any, side: int = 0) -> str:
    """Return a picture as it is on the screen."""
    return str(
        driver.execute_script("return document.querySelectorAll('.pane canvas')[arguments[0]].toDataURL()", side)
    )


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
        searches = {m for one in runs if one.run.log for m, work in enumerate(one.run.log.expansions) if work}
        first, second = sorted(searches - {0})[:2]
        for label, expected in (
            ("one move on", 1), ("one move on", 2), ("one move back", 1), ("to the end", last), ("to the start", 0),
            ("to the next search", first), ("to the next search", second), ("to the previous search", first),
        ):  # fmt: skip
            find_all(driver, f".controls button[title^='{label}']")[0].click()
            assert moment(driver) == expected
        replay = find_all(driver, ".replay")[0]
        for key, expected in (
            (Keys.HOME, 0), (Keys.ARROW_RIGHT, 1), (Keys.SHIFT + Keys.ARROW_RIGHT, 11), (Keys.ARROW_LEFT, 10),
            (Keys.END, last), (Keys.HOME, 0), ("n", first), ("n", second), ("p", first),
        ):  # fmt: skip
            replay.send_keys(key)
            assert moment(driver) == expected
        for side, one in enumerate(runs):
            assert facts(driver, side)["position"] == "{}, {}".format(*one.run.path[first])

    def test_slider_and_field_go_to_a_move(self, driver: Any, pair: Pair) -> None:
        show(driver, pair[0])
        script = (
            "const s = document.querySelector('input[type=range]'); s.value = 14; s.dispatchEvent(new Event('input'))"
        )
        driver.execute_script(script)
        assert moment(driver) == 14
        (field,) = find_all(driver, "input[type=number]")
        field.clear()
        field.send_keys("9", Keys.ENTER)
        assert (moment(driver), find_all(driver, "input[type=range]")[0].get_attribute("value")) == (9, "9")
        assert facts(driver, 1)["position"] == "{}, {}".format(*pair[1][1].run.path[9])

    def test_play_and_space_start_and_stop_at_the_chosen_speed(self, driver: Any, pair: Pair) -> None:
        show(driver, pair[0])
        choose(driver, "select[aria-label=speed]", "1 per second")
        (play,) = find_all(driver, ".controls button[title^='play']")
        for start in (play.click, lambda: find_all(driver, ".replay")[0].send_keys(" ")):
            start()
            assert play.text == "stop"
            start()
            assert play.text == "play"
        speeds = []
        for key in ("+", "+", "-"):
            find_all(driver, ".replay")[0].send_keys(key)
            speeds.append(driver.execute_script("return [window.replay.speed, Number(window.replay.tempo.value)]"))
        assert speeds == [[4, 4], [10, 10], [4, 4]]

    def test_starting_again_at_once_is_no_faster(self, driver: Any, pair: Pair) -> None:
        show(driver, pair[0])
        script = """const done = arguments[0], r = window.replay, seek = r.seek.bind(r); let frames = 0, seeks = 0;
            r.seek = (m) => { seeks++; seek(m); }; r.speed = 1e-9;
            for (let i = 0; i < 9; i++) r.toggle();
            let asked = 0; const ask = window.requestAnimationFrame;
            window.requestAnimationFrame = (call) => { asked++; return ask(call); };
            const count = () => ++frames < 10 ? ask(count) : (r.stop(), done(asked)); ask(count);"""
        assert driver.execute_async_script(script) <= 10

    def test_every_layer_can_be_switched_off_and_on(self, driver: Any, pair: Pair) -> None:
        show(driver, pair[0])
        log = pair[1][0].run.log
        assert log is not None
        searching = next(m for m in range(12, len(log)) if log.expansions[m])
        driver.execute_script("window.replay.seek(arguments[0])", searching)
        before = picture(driver)
        boxes = find_all(driver, ".replay input[type=checkbox]")
        assert [box.find_element("xpath", "..").text for box in boxes] == [
            "fog",
            "expanded",
            "learned h",
            "trail",
            "plan",
        ]
        for box in boxes:
            box.click()
            assert picture(driver) != before
            box.click()
            assert picture(driver) == before

    def test_the_view_follows_the_agent(self, driver: Any, pair: Pair) -> None:
        show(driver, pair[0])
        driver.execute_script("window.replay.seek(20)")
        whole = picture(driver)
        for cells in (32, 64, 128):
            choose(driver, "select[aria-label=view]", f"{cells} cells")
            view = driver.execute_script("return window.replay.panes[0].view(window.replay.zoom)")
            x, y = pair[1][0].run.path[20]
            assert view["x"] <= x < view["x"] + view["width"]
            assert view["y"] <= y < view["y"] + view["height"]
            assert (view["width"], picture(driver) == whole) == (min(cells, 64), cells >= 64)

    def test_a_side_shows_whom_one_chooses(self, driver: Any, pair: Pair) -> None:
        page, (rtaa, dstar) = pair
        show(driver, page, fragment="#problem=0&a=0&b=1&move=15")
        for side, name, one in ((0, "dstar-lite", dstar), (1, "rtaa", rtaa)):
            driver.execute_script("delete window.replay.element.dataset.ready")
            choose(driver, f".pane:nth-child({side + 1}) select", name)
            WebDriverWait(driver, 10).until(lambda it: it.execute_script("return replay.element.dataset.ready"))
            assert facts(driver, side)["position"] == "{}, {}".format(*one.run.path[15])

    def test_a_link_names_the_moment(self, driver: Any, pair: Pair) -> None:
        show(driver, pair[0])
        driver.execute_script(CLIPBOARD)
        driver.execute_script("window.replay.seek(6)")
        (link,) = find_all(driver, "button[title^='copy the address']")
        link.click()
        assert driver.execute_script("return window.copied") == pair[0].as_uri() + "#problem=0&a=0&b=1&move=6"
        WebDriverWait(driver, 10).until(lambda _: link.text == "link")

    def test_the_legend_stays_in_sight_and_names_what_there_is(self, driver: Any, pair: Pair) -> None:
        for size in (WIDE, NARROW):
            show(driver, pair[0], size)
            for side in (0, 1):
                script = """document.querySelectorAll('.pane canvas')[arguments[0]].scrollIntoView();
                    const box = document.querySelector('.replay .legend').getBoundingClientRect();
                    return [box.top, box.bottom]"""
                top, bottom = driver.execute_script(script, side)
                assert 0 <= top < bottom <= size[1] + 1
        told = [one.text for one in find_all(driver, ".replay .legend li")]
        assert {"agent", "start", "goal", "trail", "plan", "expanded for this move", "not seen", "changed"} <= {*told}

    def test_nothing_is_wider_than_a_telephone(self, driver: Any, pair: Pair) -> None:
        show(driver, pair[0], NARROW)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= NARROW[0]

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
        assert [label.text for label in find_all(driver, ".ticks label") if label.is_displayed()] == ["fog"]
        views = {id(unit.view.terrain): unit.view for unit in squad.squad.units}.values()
        assert told["seen"] == f"{np.logical_or.reduce([view.known for view in views]).sum():,}"

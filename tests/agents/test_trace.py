"""Runs as search traces: the rules of the format, and that the events tell what the log tells."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import agents
from agents.trace import MAIN, save_trace, trace
from rt_gym import InputError, Problem, View, load_map

PROBLEM = Problem(load_map("rooms-64"), (5, 5), (20, 20))
PRIMITIVES = {
    "rect": {"x", "y", "width", "height"},
    "circle": {"x", "y", "radius"},
    "path": {"points"},
    "polygon": {"points"},
}
EXPRESSION = re.compile(r"\$\{\{ (.+?) \}\}")
NAMES = {"$", "events", "step", "parent", "theme", "color"}
COLOURS = {"source", "start", "destination", "goal", "updating", "expanding", "generating", "open", "closing", "close"}
COLOURS |= {"end", "solution"}


def check_trace(document: Any) -> None:
    """Assert the rules of format 1.4.0: version, views, components, expressions, ids, and what clears what."""
    assert document["version"] == "1.4.0"
    assert set(document) <= {"version", "views", "pivot", "events"}
    kinds = {event["type"] for event in document["events"]}
    for components in document["views"].values():
        for component in components:
            check_component(component, document["views"], kinds)
    assert document["views"]["main"]
    for text in texts(document.get("pivot", {})):
        check_expression(text)
    for event in document["events"]:
        assert isinstance(event["id"], int | str)
        assert {"x", "y"} <= event.keys()  # which the pivot and the views read


def check_component(component: dict[str, Any], views: dict[str, Any], kinds: set[str]) -> None:
    kind = component["$"]
    assert kind in PRIMITIVES or kind in views
    assert PRIMITIVES.get(kind, set()) <= component.keys()
    assert component.keys() <= PRIMITIVES.get(kind, set()) | {
        *("$", "$if", "$for", "$info", "clear", "fill", "alpha", "line-width"),
        *("label", "label-x", "label-y", "label-size", "label-color"),
    }
    assert {"$to"} <= component.get("$for", {"$to": 0}).keys() <= {"$let", "$from", "$to", "$step"}
    clear = component.get("clear", True)
    assert clear in (True, False) or clear in kinds
    for text in texts({name: value for name, value in component.items() if name not in ("$", "clear", "$for")}):
        check_expression(text)
    check_expression(component.get("$for", {}).get("$to", "${{ $.x }}"))


def texts(value: Any) -> list[str]:
    if isinstance(value, dict | list):
        return [text for part in (value.values() if isinstance(value, dict) else value) for text in texts(part)]
    return [value] if isinstance(value, str) else []


def check_expression(text: str) -> None:
    found = EXPRESSION.fullmatch(text)
    assert found, text
    bare = re.sub(r"'[^']*'", "", found[1])
    assert set(re.findall(r"(?<![\w.$])[$A-Za-z]\w*", bare)) <= NAMES, text
    assert set(re.findall(r"\bcolor\.(\w+)", bare)) <= COLOURS
    assert all(bare.count(opening) == bare.count(closing) for opening, closing in ("()", "[]"))


def events(run: agents.Run, kind: str) -> list[dict[str, Any]]:
    return [event for event in trace(run)["events"] if event["type"] == kind]


@pytest.mark.parametrize("agent", ["lss-lrta", "astar", "tba", "lrta"])
def test_a_trace_keeps_the_rules_of_the_format(agent: str, tmp_path: Path) -> None:
    run = agents.run(agent, PROBLEM, budget=50, log=True, max_moves=200)
    for name in ("run.trace.json", "run.trace.yaml"):
        save_trace(run, tmp_path / name)
        document = json.loads((tmp_path / name).read_text())
        check_trace(document)
        assert document == json.loads(json.dumps(trace(run)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"version": "1.4"},
        {"views": {"main": []}},
        {"views": {"main": [{"$": "square"}]}},
        {"views": {"main": [MAIN[0] | {"x": "${{ $.x"}]}},
        {"views": {"main": [MAIN[0] | {"fill": "${{ colors.expanding }}"}]}},
        {"views": {"main": [MAIN[0] | {"fill": "${{ color.expand }}"}]}},
        {"views": {"main": [MAIN[0] | {"clear": "expanding"}]}},
        {"views": {"main": [{name: value for name, value in MAIN[-1].items() if name != "radius"}]}},
        {"events": [{"type": "moving", "x": 1, "y": 1}]},
    ],
)
def test_the_check_of_the_format_finds_what_is_wrong(wrong: dict[str, Any]) -> None:
    sound = trace(agents.run("lrta", PROBLEM, log=True, max_moves=5))
    check_trace(sound)
    with pytest.raises((AssertionError, KeyError)):
        check_trace(sound | wrong)


def test_there_is_one_planning_event_per_decision_with_the_cells_and_what_was_spent() -> None:
    run = agents.run("lss-lrta", PROBLEM, lookahead=10, log=True)
    planned = [move for move in (run.log[k] for k in range(len(run.log))) if move.reason == "planned"]
    told = events(run, "planning")
    assert [(event["x"], event["y"]) for event in told] == [move.position for move in planned]
    assert [event["spent"] for event in told] == [move.expansions for move in planned]
    assert sum(event["spent"] for event in told) == run.expansions
    assert [[(cell["x"], cell["y"]) for cell in event["cells"]] for event in told] == [m.expanded for m in planned]
    assert len({event["id"] for event in told}) == 1


def test_updates_have_the_value_before_and_after() -> None:
    run = agents.run("lss-lrta", PROBLEM, lookahead=10, log=True)
    cells = [cell for event in events(run, "updating") for cell in event["cells"]]
    assert len(cells) == run.h_updates
    assert all(cell["before"] < cell["after"] for cell in cells)


def test_moves_walk_the_path_from_source_to_destination() -> None:
    run = agents.run("rtaa", PROBLEM, lookahead=20, log=True)
    steps = events(run, "moving")
    assert [(step["x"], step["y"]) for step in steps] == [tuple(place) for place in run.path[1:].tolist()]
    assert [(step["from_x"], step["from_y"]) for step in steps] == [tuple(place) for place in run.path[:-1].tolist()]
    (source,), (destination,), (end,) = (events(run, kind) for kind in ("source", "destination", "end"))
    assert (source["x"], source["y"], destination["x"], destination["y"]) == (5, 5, 20, 20)
    assert (end["outcome"], end["moves"], end["cost"]) == ("goal", run.moves, run.cost)


def test_changes_of_the_map_come_before_the_move_that_meets_them() -> None:
    problem = replace(PROBLEM, changes=[(2, (30, 30), False), (2, (31, 30), False), (4, (30, 30), True)])
    run = agents.run("lrta", problem, log=True, max_moves=6)
    kinds = [event["type"] for event in trace(run)["events"] if event["type"] in ("changing", "moving")]
    assert kinds == ["moving", "moving", "changing", "moving", "moving", "changing", "moving", "moving"]
    assert events(run, "changing")[0]["cells"] == [{"x": 30, "y": 30, "free": False}, {"x": 31, "y": 30, "free": False}]


def test_a_run_that_ends_without_a_move_says_what_was_spent_and_makes_none() -> None:
    run = agents.run("lrta", PROBLEM, depth=9, budget=5, log=True)
    check_trace(trace(run) | {"views": {"main": [MAIN[1]]}})
    assert (len(events(run, "planning")), events(run, "moving"), events(run, "end")[0]["outcome"]) == (1, [], "overrun")


class Silent:
    """Goes east and explains nothing."""

    def reset(self, view: View, seed: int | None = None) -> None:
        self.view = view

    def act(self) -> int:
        return 0


def test_an_agent_of_ones_own_that_thinks_nothing_leaves_its_moves() -> None:
    run = agents.run(Silent(), Problem(load_map("open-16"), (0, 0), (5, 0)), log=True)
    assert [event["type"] for event in trace(run)["events"]] == ["source", "destination", *["moving"] * 5, "end"]


def test_a_run_without_a_log_and_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a trace is made of a run with a log: agents.run\(..., log=True\)"):
        trace(agents.run("lrta", PROBLEM))
    with pytest.raises(InputError, match=r"run.json: a trace is written to a path that ends in .trace.json or"):
        save_trace(agents.run("lrta", PROBLEM, log=True), tmp_path / "run.json")

"""Agents and sweeps as people write them."""

from typing import Any

import pytest

from rt_gym import InputError
from rt_gym.specs import parse_agent, parse_sweep


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("astar", [{}]),
        ("lrta:depth=1,3,5..7", [{"depth": depth} for depth in (1, 3, 5, 6, 7)]),
        ("tba:R=10,50,100", [{"R": 10}, {"R": 50}, {"R": 100}]),
        ("lss-lrta:lookahead=7:commit=one,all", [{"lookahead": 7, "commit": c} for c in ("one", "all")]),
        ("weighted-astar:weight=1.5,2", [{"weight": 1.5}, {"weight": 2}]),
        ("policy-lrta:policy=../trees/best.json", [{"policy": "../trees/best.json"}]),
        ("tba:shortcut=true", [{"shortcut": True}]),
        ("x:policy='a,b:1=[c] d/e.json'", [{"policy": "a,b:1=[c] d/e.json"}]),
        (
            """x:policy="it's, so.json",'b=1', c.json:depth=2""",
            [{"policy": p, "depth": 2} for p in ("it's, so.json", "b=1", "c.json")],
        ),
        ("x:policy='1..3',tie='true',k='5'", [{"policy": "1..3", "tie": "true", "k": "5"}]),
        ("x:policy=it's.json,k=1", [{"policy": "it's.json", "k": 1}]),
    ],
)
def test_a_sweep_is_every_combination_of_values(text: str, settings: list[dict[str, object]]) -> None:
    assert parse_sweep(text) == [(text.partition(":")[0], chosen) for chosen in settings]


def test_two_swept_parameters_are_crossed() -> None:
    assert len(parse_sweep("lrta-ls-kd:k=1..3:d=2,4")) == 6


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("lrta:depth", "must be written as"),
        ("lrta:=3", "must be written as"),
        ("lrta:depth=", "must be written as"),
        ("lrta:depth=1:depth=2", "depth twice"),
        ("lrta:depth=1,,2", "comma without a value"),
        ("lrta:depth=5..1", "must rise"),
        ("lrta:depth=1..999999999", "must rise, over at most"),
        ("lrta:depth=1..5000:tie=first,random,last", "more than 10000 settings"),
    ],
)
def test_other_texts_are_refused_in_one_sentence(text: str, part: str) -> None:
    with pytest.raises(InputError, match=part):
        parse_sweep(text)


def test_one_agent_is_wanted_where_one_is_played() -> None:
    assert parse_agent("lss-lrta:lookahead=50:commit=one") == ("lss-lrta", {"lookahead": 50, "commit": "one"})
    with pytest.raises(InputError, match="a sweep of 2 settings, where one is wanted"):
        parse_agent("lrta:depth=1,2")


@pytest.mark.parametrize(
    ("text", "agent_id", "settings"),
    [
        ("lrta", "lrta", {}),
        ("lrta:depth=5", "lrta", {"depth": 5}),
        ("a:x=-3, y=+0.5 ,z=1e3", "a", {"x": -3, "y": 0.5, "z": 1000.0}),
        ("a:x=true,y=False,z=truth", "a", {"x": True, "y": False, "z": "truth"}),
        ("a:x=nan,y=1_000,z=" + "9" * 30, "a", {"x": "nan", "y": "1_000", "z": 1e30}),
    ],
)
def test_an_agent_is_written_with_numbers_truths_and_words(text: str, agent_id: str, settings: dict[str, Any]) -> None:
    parsed = parse_agent(text)
    assert parsed == (agent_id, settings)
    assert [type(value) for value in parsed[1].values()] == [type(value) for value in settings.values()]


@pytest.mark.parametrize("text", ["lrta:", "lrta:depth", "lrta:depth=", "lrta:=3", "lrta:depth=1,depth=2", "lrta:2x=1"])
def test_an_agent_that_is_not_written_so_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=f"^agent '{text}' "):
        parse_agent(text)

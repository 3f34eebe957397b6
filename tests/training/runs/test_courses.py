"""Maps and problems of a comparison: where they come from, and what is refused."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from rt_gym import Change, InputError, Problem, load_map, sample_problems
from rt_gym.maps import Scenario, save_map, write_scenarios
from training.runs import Course, Draw, Task, find_courses, read_changes


def courses(*sources: object, **draw: object) -> list[Course]:
    return list(find_courses([str(source) for source in sources], Draw(**{"count": 4} | draw)))


@pytest.fixture
def scenarios(tmp_path: Path) -> list[Scenario]:
    """Ten correct problems, stored beside their map."""
    grid = load_map("rooms-64")
    save_map(grid, tmp_path / "rooms.map")
    problems = sample_problems(grid, 10, 10, 90, seed=3)
    made = [Scenario(0, "rooms.map", 64, 64, p.start, p.goal, round(p.optimal or 0, 5)) for p in problems]
    write_scenarios(made, tmp_path / "rooms.map.scen")
    return made


def test_a_bundled_map_gets_the_problems_that_its_seed_samples() -> None:
    (course,) = courses("rooms-64", low=20, high=60, seed=5)
    problems = sample_problems(load_map("rooms-64"), 4, 20, 60, seed=5)
    assert course.name == "rooms-64"
    assert [(t.start, t.goal, t.optimal_cost) for t in course.tasks] == [
        (p.start, p.goal, p.optimal_cost) for p in problems
    ]
    assert course.problem(course.tasks[0]) == problems[0]


def test_a_folder_stands_for_its_maps_and_those_of_its_folders(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    for name in ("b.map", "inner/a.map", "picture.png"):
        save_map(load_map("open-16"), tmp_path / name)
    assert [course.name for course in courses(tmp_path)] == ["b", "a"]


def test_a_folder_without_map_files_stands_for_its_pictures_and_arrays(tmp_path: Path) -> None:
    for name in ("b.npy", "a.png"):
        save_map(load_map("open-16"), tmp_path / name)
    assert [course.name for course in courses(tmp_path)] == ["a", "b"]


def test_maps_of_one_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        save_map(load_map("open-16"), tmp_path / folder / "x.map")
    assert [course.name for course in courses(tmp_path)] == [str(tmp_path / f / "x.map") for f in ("one", "two")]


def test_a_scenario_file_gives_its_problems_with_exact_costs(tmp_path: Path, scenarios: list[Scenario]) -> None:
    (course,) = courses(tmp_path / "rooms.map.scen", count=99)
    assert course.name == "rooms"
    assert [(task.start, task.goal) for task in course.tasks] == [(s.start, s.goal) for s in scenarios]
    first = course.tasks[0]
    assert first.optimal_cost == Problem(course.grid, first.start, first.goal).optimal_cost


def test_of_a_scenario_file_some_problems_in_range_are_chosen_in_its_order(
    tmp_path: Path, scenarios: list[Scenario]
) -> None:
    (course,) = courses(tmp_path / "rooms.map.scen", count=3, low=20, high=80)
    chosen = [(task.start, task.goal) for task in course.tasks]
    fitting = [(s.start, s.goal) for s in scenarios if 20 <= s.optimal <= 80]
    assert len(chosen) == 3
    assert chosen == [pair for pair in fitting if pair in chosen]
    assert courses(tmp_path / "rooms.map.scen", count=3, low=20, high=80)[0].tasks == course.tasks


def test_a_scenario_file_of_another_name_finds_the_map_that_it_names(tmp_path: Path, scenarios: list[Scenario]) -> None:
    write_scenarios(scenarios, tmp_path / "hard.scen")
    assert courses(tmp_path / "hard.scen")[0].grid == load_map("rooms-64")


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"width": 65}, "for a map of 65 x 64"),
        ({"optimal": 500.0}, "the optimal length should be 500, but on the map it is"),
    ],
)
def test_a_scenario_that_does_not_fit_its_map_is_refused(
    change: dict[str, object], part: str, tmp_path: Path, scenarios: list[Scenario]
) -> None:
    write_scenarios([*scenarios[:9], replace(scenarios[9], **change)], tmp_path / "rooms.map.scen")
    with pytest.raises(InputError, match=f"problem 10: .*{part}"):
        courses(tmp_path / "rooms.map.scen", count=10)


def test_problems_on_blocked_cells_are_left_out_and_counted(tmp_path: Path, scenarios: list[Scenario]) -> None:
    blocked = [replace(scenarios[8], start=(0, 0)), replace(scenarios[9], goal=(0, 0))]
    write_scenarios([blocked[0], *scenarios[:8], blocked[1]], tmp_path / "rooms.map.scen")
    (course,) = courses(tmp_path / "rooms.map.scen", count=99)
    assert [(task.start, task.goal) for task in course.tasks] == [(s.start, s.goal) for s in scenarios[:8]]
    assert course.skipped == 2
    write_scenarios(blocked, tmp_path / "rooms.map.scen")
    with pytest.raises(InputError, match="of its 2 problems, all begin or end on blocked cells"):
        courses(tmp_path / "rooms.map.scen")


@pytest.mark.usefixtures("scenarios")
def test_a_scenario_file_without_problems_in_range_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no problem with an optimal cost from 1000 to 2000"):
        courses(tmp_path / "rooms.map.scen", low=1000, high=2000)


def test_maps_and_folders_that_are_not_there_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for source, part in (
        ("nowhere", "no bundled map or split"),
        ("caves-tset", "did you mean caves-test"),
        (tmp_path / "x.map", "cannot be read"),
    ):
        with pytest.raises(InputError, match=part):
            courses(source)
    with pytest.raises(InputError, match="the folder holds no map"):
        courses(tmp_path / "empty")


def test_a_folder_that_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(InputError, match=r"the folder cannot be read \(Permission denied\)"):
        courses(tmp_path)


def test_a_map_given_twice_is_refused(tmp_path: Path) -> None:
    save_map(load_map("open-16"), tmp_path / "x.map")
    for twice in (("open-16", "open-16"), (tmp_path, tmp_path / "x.map")):
        with pytest.raises(InputError, match="is given twice"):
            courses(*twice)


def test_no_problems_or_none_in_range_are_refused() -> None:
    with pytest.raises(InputError, match="at least one problem"):
        courses("open-16", count=0)
    with pytest.raises(InputError, match=r"open-16: no two cells .* from 900 to 901"):
        courses("open-16", low=900, high=901)
    with pytest.raises(InputError, match="caves-test: holds no problem with an optimal cost from 1 to 5"):
        courses("caves-test", low=1, high=5)
    with pytest.raises(InputError, match="at least one problem"):
        courses("caves-test", count=0)


def test_changes_are_read_from_rows_of_json_and_csv(tmp_path: Path) -> None:
    expected = (Change(3, (1, 2), False), Change(9, (4, 5), True))
    for name, text in (
        ("rows.json", "[[3, 1, 2, 0], [9, 4, 5, true]]"),
        ("named.json", '[{"time": 3, "x": 1, "y": 2, "free": false}, {"time": 9, "x": 4, "y": 5, "free": 1}]'),
        ("table.csv", "time,x,y,free\n3,1,2,0\n9,4,5,true\n"),
    ):
        (tmp_path / name).write_text(text)
        assert read_changes(tmp_path / name) == expected


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("a.json", "{", "is not JSON"),
        ("a.json", "{}", "must be a list"),
        ("a.json", "[[1, 2, 3]]", "change 1: must be three whole numbers"),
        ("a.json", "[[1, 2, 3, 4]]", "change 1: must be"),
        ("a.json", "[7]", "change 1: must be"),
        ("a.csv", "3,1,2,0\n", "its first line must be time,x,y,free"),
        ("a.csv", "time,x,y,free\n1,2,x,0\n", "change 1: must be"),
        ("a.csv", b"\xff\xfe", "is not a CSV file"),
    ],
)
def test_other_files_of_changes_are_refused(name: str, text: str | bytes, part: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=part):
        read_changes(tmp_path / name)


def test_changes_outside_the_map_are_refused() -> None:
    with pytest.raises(InputError, match="lies outside the map"):
        courses("open-16", changes=(Change(1, (99, 0), False),))


def test_the_digest_of_a_course_begins_as_that_of_its_grid_and_tells_changes_apart() -> None:
    grid = load_map("open-16")
    task = Task((0, 0), (5, 5), 0)
    plain, closed, opened = (
        Course("open", grid, (task,), changes=changes)
        for changes in ((), (Change(3, (2, 2), False),), (Change(4, (2, 2), False),))
    )
    assert plain.digest == grid.digest[:12]
    assert closed.digest.startswith(f"{plain.digest}+")
    assert opened.digest != closed.digest

"""The documentation: its examples run, its tables tell what the code says."""

import inspect
import re
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import rt_gym
from pages import LESSONS, PAGES, ROOT
from rt_gym.envs.depth import DepthGoalSettings, DepthSettings
from rt_gym.envs.path import PathSettings, RTPathEnv, RTPathVectorEnv
from rt_gym.envs.settings import Settings
from rt_gym.envs.think import ThinkSettings
from rt_gym.features.dealing import DEALT
from rt_gym.features.decision import LAYERS, SITUATION
from rt_gym.features.subgoal import SUBGOAL
from rt_gym.features.thinking import THOUGHTS
from rt_gym.squad import RULES
from rt_gym.squad.envs.env import RTSquadEnv
from rt_gym.squad.envs.settings import ParallelSettings
from training import cli

ENVIRONMENTS = ROOT / "docs" / "environments.md"
EXTRAS = (
    "stable_baselines3",
    "sb3_contrib",
    "torch",
    "pygame",
    "moviepy",
    "dask",
    "pettingzoo",
    "minari",
    "onnxruntime",
    "pandas",
)
HEADINGS = [
    "Description",
    "Action Space",
    "Observation Space",
    "Rewards",
    "Starting State",
    "Episode End",
    "Information",
    "Arguments",
    "Vectorised environment",
    "Version History",
]


def examples(page: Path) -> list[str]:
    """Return the Python examples of a page, each moved down to its own lines so that errors point at them."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return ["\n" * text.count("\n", 0, match.start(1)) + match.group(1) for match in found]


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.name)
def test_the_examples_of_a_page_run_one_after_the_other(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = examples(page)
    for extra in EXTRAS:
        if f"import {extra}" in "".join(code) or f"from {extra}" in "".join(code):
            pytest.importorskip(extra, reason=f"an example needs {extra}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    names: dict[str, Any] = {"__name__": "__main__"}
    for example in code:
        exec(compile(example, str(page), "exec"), names)
    assert len(names) > 1


def test_the_game_loop_destroys_a_bridge_and_says_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    for example in examples(ROOT / "docs" / "game-loop.md"):
        exec(compile(example, "game-loop.md", "exec"), names)
    units, grid, bridge = names["units"], names["grid"], names["bridge"]
    assert len(units) == 50
    assert all(unit.world.problem.grid is grid and unit.reached > 1 for unit in units)
    assert not any(unit.world.truth.free[grid.cell(cell)] for unit in units for cell in bridge)
    assert all(grid.passable[y, x] for x, y in bridge)
    printed = capsys.readouterr().out
    assert re.search(r"^\d+ goals reached by 50 units$", printed, re.MULTILINE)
    assert re.search(r"^[\d.]+ ms per tick, [\d.]+ ms for the longest one$", printed, re.MULTILINE)
    assert re.search(r"^[\d.]+ MB of values, searches and vertices$", printed, re.MULTILINE)


def test_squads_arrive_by_pushing_where_complete_planners_jam(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    for example in examples(ROOT / "docs" / "squads.md"):
        exec(compile(example, "squads.md", "exec"), names)
    assert (names["run"].arrivals, names["pushed"].arrivals, names["dealt"].arrivals) == (32, 32, 32)
    assert names["jammed"].arrivals < 24
    assert names["run"].work_worst <= 1600
    squad, problems = names["squad"], names["problems"]
    assert squad.done
    assert tuple(squad.positions[0]) == problems[5].start
    assert not squad.passable[9, 44]
    printed = capsys.readouterr().out
    assert all(re.search(rf"^{rule}: [\d.]+ times optimal", printed, re.MULTILINE) for rule in rt_gym.squad.RULES)


def test_the_page_of_squads_names_every_part_of_the_record() -> None:
    table = sections((ROOT / "docs" / "squads.md").read_text(encoding="utf-8"), 2)["The record"]
    told = set(re.findall(r"`(\w+)(?:\(\w+\))?`", table))
    parts = {name for name in (*rt_gym.SquadRun.__dataclass_fields__, *vars(rt_gym.SquadRun)) if name[0] != "_"}
    assert parts - {"problems"} <= told


def test_the_picture_of_a_squad_is_drawn_by_the_command_beside_it(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "squads.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^rt-gym (play .* --save )docs/squad.png$", page, re.MULTILINE)
    drawn = tmp_path / "squad.png"
    result = CliRunner().invoke(cli.app, [*command.split(), str(drawn)])
    assert result.exit_code == 0, result.output
    with Image.open(drawn) as new, Image.open(ROOT / "docs" / "squad.png") as old:
        # The legend and the caption are written in a font that differs from machine to machine.
        assert np.array_equal(np.asarray(new)[:-48], np.asarray(old)[:-48])


@pytest.mark.parametrize("page", [*PAGES, *LESSONS], ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def sections(text: str, level: int) -> dict[str, str]:
    """Return the text below each heading of a level, up to the next heading of that level or above."""
    parts = re.split(rf"^(#{{1,{level}}}) (.+)$", text, flags=re.MULTILINE)
    triples = zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    return {title: body for marks, title, body in triples if len(marks) == level}


def first_columns(text: str) -> dict[str, str]:
    """Return the second column of every table row by the first, both without their code marks."""
    rows = re.findall(r"^\| `([^|]+)` \| `?([^|]+?)`? \|", text, re.MULTILINE)
    return dict(rows)


def defaults(*makers: Any) -> dict[str, str]:
    """Return the arguments of functions as a table shows them."""
    signatures = [inspect.signature(maker).parameters for maker in makers]
    return {
        name: re.sub(r"<.*\.(\w+): .*>|'", lambda match: match.group(1) or '"', repr(parameter.default))
        for parameters in signatures
        for name, parameter in parameters.items()
        if parameter.default is not parameter.empty
    }


class TestEnvironmentsPage:
    text = ENVIRONMENTS.read_text(encoding="utf-8")

    def test_every_id_has_a_section_with_the_headings_of_gymnasium(self) -> None:
        pages = sections(self.text, 2)
        for env_id in rt_gym.envs.ids():
            assert list(sections(pages[env_id], 3)) == HEADINGS
            assert f"[`{env_id}`](#{env_id.lower()})" in self.text

    def test_the_arguments_and_their_defaults_are_those_of_the_code(self) -> None:
        table = first_columns(sections(sections(self.text, 2)["RTPath-v0"], 3)["Arguments"].split("A **generator**")[0])
        assert table == defaults(RTPathEnv, Settings, PathSettings)

    def test_the_arguments_of_the_batch_are_those_of_the_code(self) -> None:
        path = sections(sections(self.text, 2)["RTPath-v0"], 3)
        batched = path["Vectorised environment"]
        table = first_columns(batched)
        taken = defaults(RTPathVectorEnv)
        shared = defaults(PathSettings) | defaults(Settings)
        wanted = {name: default for name, default in taken.items() if name not in shared}
        del wanted["render_mode"]
        assert {name: default for name, default in table.items() if name in taken} == wanted
        assert shared.items() <= taken.items()
        refused = defaults(RTPathEnv).keys() - shared.keys()
        sentence = re.search(r"It takes the arguments above, except (.+?), and these", batched)
        assert sentence is not None
        assert set(re.findall(r"`(\w+)`", sentence[1])) == refused

    def test_a_batch_of_moves_refuses_the_others(self) -> None:
        for name in defaults(RTPathEnv).keys() - (defaults(PathSettings) | defaults(Settings)).keys():
            with pytest.raises((rt_gym.InputError, TypeError), match=name.removesuffix("_mode")):
                RTPathVectorEnv(map="open-16", pool=1, **{name: "ansi" if name == "render_mode" else 5})

    @pytest.mark.parametrize("env_id", ["RTDepth-v0", "RTThink-v0"])
    def test_the_budget_of_the_other_batches_is_1000_by_default(self, env_id: str) -> None:
        assert "a `budget`, 1000 by default" in sections(sections(self.text, 2)[env_id], 3)["Vectorised environment"]
        batch: Any = gym.make_vec(env_id, vectorization_mode="vector_entry_point", map="open-16", pool=1)
        assert batch.budget == rt_gym.Budget(1000)

    def test_an_environment_of_many_units_has_these_arguments_on_top(self) -> None:
        table = first_columns(sections(sections(self.text, 2)["RTSquadParallel"], 3)["Arguments"])
        assert table == defaults(ParallelSettings)

    def test_the_arguments_of_a_budget_are_those_of_the_code(self) -> None:
        table = first_columns(self.text)
        assert {name: table[name] for name in defaults(rt_gym.Budget)} == defaults(rt_gym.Budget)

    def test_depth_control_has_these_arguments_on_top(self) -> None:
        table = first_columns(sections(sections(self.text, 2)["RTDepth-v0"], 3)["Arguments"])
        assert table == defaults(DepthSettings)

    def test_control_of_the_goal_has_these_arguments_on_top_of_those_of_depth(self) -> None:
        table = first_columns(sections(sections(self.text, 2)["RTDepthGoal-v0"], 3)["Arguments"])
        assert table == defaults(DepthGoalSettings)

    def test_the_table_of_features_of_control_of_the_goal_goes_on_with_those_of_the_subgoal(self) -> None:
        table = sections(sections(self.text, 2)["RTDepthGoal-v0"], 3)["Observation Space"]
        rows = re.findall(r"^\| (\d+) \| `subgoal` \| `(\w+)`:", table, re.MULTILINE)
        assert [int(index) for index, _ in rows] == list(range(len(SITUATION), len(SITUATION + SUBGOAL)))
        assert tuple(name for _, name in rows) == SUBGOAL

    def test_thinking_has_this_argument_on_top(self) -> None:
        table = first_columns(sections(sections(self.text, 2)["RTThink-v0"], 3)["Arguments"])
        assert table == defaults(ThinkSettings)

    def test_a_squad_has_these_arguments(self) -> None:
        table = first_columns(sections(sections(self.text, 2)["RTSquad-v0"], 3)["Arguments"])
        assert table == defaults(RTSquadEnv)

    def test_the_tables_of_a_squad_name_its_features_and_rules_in_their_order(self) -> None:
        page = sections(sections(self.text, 2)["RTSquad-v0"], 3)
        features = re.findall(r"^\| (\d+) \| `(\w+)`:", page["Observation Space"], re.MULTILINE)
        assert features == [(str(index), name) for index, name in enumerate(DEALT)]
        rules = re.findall(r"^\| (\d) \| `([\w-]+)` \|", page["Action Space"], re.MULTILINE)
        assert rules == [(str(index), name) for index, name in enumerate(RULES)]

    @pytest.mark.parametrize("env_id", ["RTPath-v0", "RTDepth-v0", "RTThink-v0", "RTSquad-v0"])
    def test_the_table_of_information_lists_every_key(self, env_id: str) -> None:
        table = first_columns(sections(sections(self.text, 2)[env_id], 3)["Information"])
        env = gym.make(env_id, map="open-16", pool=1)
        known = {"reset": env.reset(seed=0)[1], "step": env.step(0)[4]}
        for name, after in table.items():
            moments = list(known) if after == "both" else [after]
            assert all(name in known[moment] for moment in moments), name
        assert set(table) == set().union(*known.values())

    def test_the_tables_of_features_name_them_in_their_order_and_parts(self) -> None:
        pages = sections(self.text, 2)
        tables = [sections(pages[env_id], 3)["Observation Space"] for env_id in ("RTDepth-v0", "RTDeepen-v0")]
        rows = re.findall(r"^\| (\d+) \| `(\w+)` \| `(\w+)`:", "\n".join(tables), re.MULTILINE)
        assert [int(index) for index, *_ in rows] == list(range(30))
        assert tuple(name for *_, name in rows) == SITUATION + LAYERS
        parts, _ = gym.make("RTDeepen-v0", map="open-16", pool=1, observation="dict").reset(seed=0)
        assert [part for _, part, _ in rows] == [name for name, part in parts.items() for _ in part]
        assert {*gym.make("RTDeepen-v0", map="open-16", pool=1).observation_space.high} == {np.float32(22)}

    def test_the_table_of_features_of_thinking_names_them_in_their_order_and_parts(self) -> None:
        table = sections(sections(self.text, 2)["RTThink-v0"], 3)["Observation Space"]
        rows = re.findall(r"^\| (\d+) \| `(\w+)` \| `(\w+)`:", table, re.MULTILINE)
        assert [int(index) for index, *_ in rows] == list(range(21))
        assert tuple(name for *_, name in rows) == THOUGHTS
        parts, _ = gym.make("RTThink-v0", map="open-16", pool=1, observation="dict").reset(seed=0)
        assert [part for _, part, _ in rows] == [name for name, part in parts.items() for _ in part]
        assert {*gym.make("RTThink-v0", map="open-16", pool=1).observation_space.high} == {np.float32(22)}

    def test_the_table_of_observations_has_the_bounds_of_the_space(self) -> None:
        table = sections(sections(self.text, 2)["RTPath-v0"], 3)["Observation Space"]
        rows = re.findall(r"^\| (\d) \| `(\w+)` \| (-?\d) \| (\d) \|", table, re.MULTILINE)
        space = gym.make("RTPath-v0", map="open-16", pool=1).observation_space
        assert [int(index) for index, *_ in rows] == list(range(9))
        assert [float(low) for _, _, low, _ in rows] == space.low[:9].tolist()
        assert [float(high) for *_, high in rows] == space.high[:9].tolist()
        assert {*space.low[9:], *space.high[9:]} == {np.float32(0), np.float32(1)}
        parts = gym.make("RTPath-v0", map="open-16", pool=1, observation="dict").observation_space
        assert {name for _, name, *_ in rows} | {"window"} == set(parts)

    def test_the_table_of_actions_has_the_directions(self) -> None:
        table = sections(sections(self.text, 2)["RTPath-v0"], 3)["Action Space"]
        row = next(line for line in table.splitlines() if line.startswith("| direction"))
        assert tuple(cell.strip() for cell in row.split("|")[2:10]) == rt_gym.DIRECTIONS

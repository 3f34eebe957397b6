"""Pages that open without a network: what is embedded, what it is packed into, and what is recorded for replays."""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from rt_gym import Grid, InputError, Problem, load_map
from training import report
from training.judge import find
from training.judge.tables import Alarm, Table
from training.report import embedded, format_page, write_report, write_unfinished
from training.report.comparison import Part, describe_table, play_command, spec_of
from training.report.replays import MOST, Attachments, Recording, Window, pack, record, window_on
from training.runs import Allowance, Course, Draw, Plan, Workers, enlist, enlist_all, find_courses, run_plan
from training.runs.contenders import make_agent, parse_agent

HOSTILE = "</script><img src=x onerror=alert(1)> \"'& ü 漢 \u2028"


def findings_of(specs: list[str], name: str = "", budget: int | None = 60, **options: Any) -> Any:
    courses = list(find_courses(["rooms-64"], Draw(5, 10, 40)))
    if name:
        courses = [Course(name, courses[0].grid.replace(name=name), courses[0].tasks)]
    plan = Plan(tuple(enlist_all(specs, [Allowance.of(budget)])), tuple(courses), **options)
    return find(plan, run_plan(plan, workers=Workers(jobs=1)))


def data_of(path: Path) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text("ascii"), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def unpacked(page: Path, packed: dict[str, Any]) -> dict[str, Any]:
    """Return columns as the browser has them."""
    number = packed["attachment"]
    found = re.search(rf'<script type="text/plain" id="attachment-{number}">(.*?)</script>', page.read_text("ascii"))
    assert found is not None
    return unpack(found[1], packed["columns"])


def unpack(text: str, heads: list[Any]) -> dict[str, Any]:
    data, columns = zlib.decompress(base64.b64decode(text)), {}
    for name, kind, length in heads:
        planes, data = np.frombuffer(data[: 4 * length], np.uint8).reshape(4, length), data[4 * length :]
        codes = np.ascontiguousarray(planes.T).view("<u4").ravel()
        if kind == "i":
            steps = (codes >> 1).astype(np.int64) ^ -(codes & 1).astype(np.int64)
            columns[name] = np.cumsum(steps)
        else:
            columns[name] = codes.view("<f4")
    assert not data
    return columns


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    findings = findings_of(["lss-lrta", "lrta:depth=1,3", "astar"])
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(path, "title", [Part("first", findings)], problems=2), findings


class TestPacking:
    def test_columns_come_back_as_they_were(self) -> None:
        rng = np.random.default_rng(0)
        columns = {
            "small": rng.integers(-5, 5, 1000),
            "large": rng.integers(0, MOST, 50),
            "none": np.empty(0, np.int64),
            "flags": np.array([True, False]).astype(np.uint8),
            "fractions": np.array([1.5, np.inf, 0.0]),
        }
        attachments = Attachments()
        packed = attachments.add(columns)
        found = unpack(attachments.texts[0], packed["columns"])
        assert {name: found[name].tolist() for name in columns} == {name: one.tolist() for name, one in columns.items()}

    def test_numbers_beyond_32_bits_become_the_largest(self) -> None:
        heads = [["far", "i", 2]]
        assert unpack(pack({"far": np.array([1 << 40, 3])}), heads)["far"].tolist() == [MOST, 3]


class TestEmbedding:
    def test_no_text_of_the_data_ends_its_element(self) -> None:
        text = embedded({"name": HOSTILE, HOSTILE: [float("inf"), Path("a<b")]})
        assert "<" not in text
        assert json.loads(text) == {"name": HOSTILE, HOSTILE: ["inf", "a<b"]}

    def test_a_page_has_the_elements_of_its_template_alone(self, tmp_path: Path) -> None:
        path = write_report(tmp_path / "a.html", HOSTILE, [Part(HOSTILE, findings_of(["lrta"], HOSTILE))], problems=1)
        text = path.read_text("ascii")
        assert "<img" not in text
        assert text.count("<script") == text.count("</script>") == 2 + text.count('id="attachment-')
        assert data_of(path)["title"] == HOSTILE
        assert data_of(path)["replay"]["problems"][0]["name"].startswith(HOSTILE)

    def test_only_its_own_script_may_run_and_nothing_is_loaded(self) -> None:
        text = format_page({"comparisons": []}, Attachments())
        assert re.search(r"default-src 'none'; script-src 'sha256-[A-Za-z0-9+/=]{44}';", text)
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)

    def test_data_is_never_read_as_markup(self) -> None:
        assets = Path(report.__file__).with_name("assets")
        for script in assets.glob("*.js"):
            assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", script.read_text())


class TestComparison:
    def test_the_best_are_those_of_the_recommendation(self, page: tuple[Path, Any]) -> None:
        path, findings = page
        (one,) = data_of(path)["comparisons"]
        ((card,), (advice,)) = one["cards"], findings.advice
        named = [one["entries"][rank["entry"]]["label"] for rank in card["picks"][0]["ranked"]]
        assert named == [entry.label for entry in advice.plain.ranked]
        assert card["picks"][0]["why"] in findings.recommendations[0]

    def test_tables_and_numbers_are_those_of_the_findings(self, page: tuple[Path, Any]) -> None:
        path, findings = page
        (one,) = data_of(path)["comparisons"]
        assert [table["title"] for table in one["tables"]] == [table.title for table in findings.tables()]
        assert [entry["quality"][0] for entry in one["entries"]] == [score.quality.value for score in findings.scores]
        values = unpacked(path, one["values"])
        assert values["quality"].reshape(4, 5).mean(axis=1) == pytest.approx([s.quality.value for s in findings.scores])
        assert one["settings"]["seed"] == 0
        assert one["settings"]["versions"]

    def test_without_a_limit_the_least_work_for_its_quality_leads(self, tmp_path: Path) -> None:
        findings = findings_of(["lrta:depth=1..3", "lss-lrta"], budget=None)
        path = write_report(tmp_path / "a.html", "", [Part("", findings)], problems=0)
        (card,) = data_of(path)["comparisons"][0]["cards"]
        best = max(findings.scores, key=lambda score: score.ratio_mean.value)
        assert card["picks"][0]["ranked"][0]["entry"] == findings.scores.index(best)
        assert "times less work" in card["picks"][0]["ranked"][0]["value"]

    def test_a_comparison_without_a_solution_says_so(self, tmp_path: Path) -> None:
        for budget in (60, None):
            findings = findings_of(["lrta:depth=1"], budget=budget, max_moves=3)
            path = write_report(tmp_path / "a.html", "", [Part("", findings)], problems=1)
            (one,) = data_of(path)["comparisons"]
            assert one["cards"][0]["picks"][0]["ranked"] == []
            assert re.search("no agent solved all|every agent has failed", one["cards"][0]["picks"][0]["text"])
            assert one["entries"][0]["failed"] == "5 failed"

    def test_headings_of_a_table_go_with_their_rows_and_alarms_are_marked(self) -> None:
        table = Table("t", ["\nagent", "a\nb"], [["budget"], ["x", Alarm("1")], ["y", "2"]])
        found = describe_table(table)
        assert found["columns"] == ["agent", "a\nb"]
        assert [(row["group"], row["alarms"]) for row in found["rows"]] == [("budget", [1]), ("budget", [])]

    def test_of_very_many_runs_evenly_chosen_problems_are_kept(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("training.report.comparison._MOST_RUNS", 6)
        path = write_report(tmp_path / "a.html", "", [Part("", findings_of(["lrta:depth=1,2"]))], problems=0)
        problems = data_of(path)["comparisons"][0]["problems"]
        assert (problems["all"], problems["kept"]) == (5, [0, 2, 4])

    def test_a_report_of_an_interrupted_command_says_what_is_missing_and_how_to_go_on(self, tmp_path: Path) -> None:
        path = write_unfinished(tmp_path / "a.html", "t", "Stopped.", {"command": "rt-gym compare rooms-64"})
        data = data_of(path)
        assert (data["warning"], data["settings"]["command"]) == ("Stopped.", "rt-gym compare rooms-64")
        assert data["comparisons"] == []


def recording(agent_id: str, problem: Problem, budget: int = 60) -> Recording:
    contender = enlist(agent_id, {}, Allowance.of(budget))
    run = record(contender, make_agent(agent_id, contender.settings), problem, 1000, 0)
    return Recording(contender, run, run.moves, run.cost, run.outcome, "")


def cells_by_move(counts: Any, cells: Any, lengths: Any) -> list[set[int]]:
    """Return the cells of every move from pieces of rows."""
    ends = np.cumsum(counts)
    return [
        {cell + k for cell, length in zip(cells[a:b], lengths[a:b], strict=True) for k in range(length)}
        for a, b in zip(ends - counts, ends, strict=True)
    ]


class TestRecordings:
    def test_a_run_is_stored_with_its_path_its_work_and_its_searches(self, tmp_path: Path) -> None:
        grid = load_map("rooms-64")
        one = recording("lss-lrta", Problem(grid, (5, 5), (20, 20)))
        path, log = report.write_replay(tmp_path / "a.html", "", "", [one]), one.run.log
        found = unpacked(path, data_of(path)["replay"]["runs"][0]["data"])
        assert log is not None
        assert (5 + np.cumsum(found["step"] % 3 - 1)).tolist() == one.run.path[1:, 0].tolist()
        assert (5 + np.cumsum(found["step"] // 3 - 1)).tolist() == one.run.path[1:, 1].tolist()
        for name in ("expansions", "scans", "reason", "committed"):
            assert found[name].tolist() == getattr(log, name).tolist()
        stored = cells_by_move(found["spans"], found["span_cell"], found["span_length"])
        assert stored == [{y * 64 + x for x, y in log[k].expanded} for k in range(len(log))]

    def test_rises_are_above_the_first_values_and_the_last_of_a_move_counts(self, tmp_path: Path) -> None:
        one = recording("rtaa", Problem(load_map("rooms-64"), (5, 5), (40, 50)))
        path, log = report.write_replay(tmp_path / "a.html", "", "", [one]), one.run.log
        found = unpacked(path, data_of(path)["replay"]["runs"][0]["data"])
        assert log is not None
        first: dict[Any, float] = {}
        expected = []
        for k in range(len(log)):
            raised = {}
            for rise in log[k].raised:
                raised[rise.position] = rise.new - first.setdefault(rise.position, rise.old)
            expected += [(y * 64 + x, round(8 * heat)) for (x, y), heat in raised.items()]
            assert found["rises"][k] == len(raised)
        assert sorted(expected) == sorted(zip(found["rise_cell"].tolist(), found["rise_heat"].tolist(), strict=True))
        assert expected

    def test_of_a_large_map_the_part_around_the_runs_is_shown(self, monkeypatch: pytest.MonkeyPatch) -> None:
        grid, ways = Grid(np.ones((300, 400), bool)), [np.array([[200, 150], [210, 160]])]
        assert window_on(grid, ways) == Window(0, 0, 400, 300)
        monkeypatch.setattr("training.report.replays.WHOLE", 1000)
        assert window_on(grid, ways) == Window(152, 102, 107, 107)
        monkeypatch.setattr("training.report.replays._MOST_CELLS", 1000)
        with pytest.raises(InputError, match="a page shows at most 1,000 cells"):
            window_on(grid, ways)

    def test_what_lies_outside_of_the_shown_part_is_left_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("training.report.replays.WHOLE", 1000)
        monkeypatch.setattr("training.report.replays._MARGIN", 1)
        one = recording("astar", Problem(load_map("rooms-64"), (5, 5), (20, 20)), 10_000)
        path = report.write_replay(tmp_path / "a.html", "", "", [one])
        replay = data_of(path)["replay"]
        shown, found = replay["maps"][0], unpacked(path, replay["runs"][0]["data"])
        assert (found["span_cell"] + found["span_length"]).max() <= shown["width"] * shown["height"]
        assert 0 < found["span_length"].sum() < one.run.expansions

    def test_only_the_beginning_of_a_long_run_is_recorded_and_the_whole_is_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(report, "_MOVES", 4)
        findings = findings_of(["lrta:depth=1"])
        path = write_report(tmp_path / "a.html", "", [Part("", findings)], problems=5)
        replay, batch = data_of(path)["replay"], findings.runs.batches[0]
        assert {len(unpacked(path, run["data"])["step"]) for run in replay["runs"]} == {4}
        assert sorted(run["moves"] for run in replay["runs"]) == sorted(batch.columns["moves"].tolist())
        assert {run["outcome"] for run in replay["runs"]} == {"goal"}

    def test_what_cannot_be_recorded_is_said(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        findings = findings_of(["lrta:depth=1,2"])
        for limit, says in (
            ("_EXPANSIONS", "lrta depth=1 is left out: its run has more than"),
            ("_ROOM", "the page is large enough"),
        ):
            with monkeypatch.context() as patch:
                patch.setattr(report, limit, -1)
                path = write_report(tmp_path / "a.html", "", [Part("", findings)], problems=1)
            replay = data_of(path)["replay"]
            assert replay["runs"] == []
            assert says in "".join(replay["missing"])

    def test_runs_that_lie_too_far_apart_for_a_page_are_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("training.report.replays.WHOLE", 1000)
        monkeypatch.setattr("training.report.replays._MOST_CELLS", 100)
        path = write_report(tmp_path / "a.html", "", [Part("", findings_of(["lrta:depth=1"]))], problems=1)
        replay = data_of(path)["replay"]
        assert replay["runs"] == []
        assert re.search(
            "rooms-64, problem .* is left out: rooms-64: a page shows at most 100 cells", replay["missing"][0]
        )

    def test_recommended_agents_come_first_and_problems_from_the_worst_to_the_best(self) -> None:
        findings = findings_of(["lss-lrta", "lrta:depth=1..9", "astar"], budget=100)
        numbers = report.choose_contenders(findings)
        assert len(numbers) == report.AGENTS
        ranked = findings.advice[0].plain.ranked
        assert [findings.scores[k].entry for k in numbers[: len(ranked)]] == list(ranked)
        problems = report.choose_problems(findings, [0], 5)
        quality = findings.runs.batches[0].suboptimality[problems]
        assert sorted(problems) == list(range(5))
        assert quality.tolist() == sorted(quality, reverse=True)

    def test_the_number_of_problems_is_kept_and_the_rest_is_told(self, page: tuple[Path, Any]) -> None:
        replay = data_of(page[0])["replay"]
        assert (len(replay["problems"]), len(replay["runs"])) == (2, 8)
        assert replay["missing"] == ["4 of 4 agents on 2 of 5 problems were recorded, the recommended ones first."]


class TestCommands:
    @pytest.mark.parametrize(
        "text", ["lrta:depth=3", "lss-lrta:lookahead=7,commit=one", "astar", "lrta:tie=random", "tba:R=10"]
    )
    def test_the_command_names_the_same_agent(self, text: str) -> None:
        contender = enlist(*parse_agent(text), Allowance.of(200))
        again = enlist(*parse_agent(spec_of(contender)), Allowance.of(200))
        assert again == contender

    def test_a_path_that_would_part_is_quoted(self, tmp_path: Path) -> None:
        policy = tmp_path / "run:1,a=b" / "it's.json"
        policy.parent.mkdir()
        policy.write_bytes(Path(agents.__file__).with_name("policies").joinpath("tree.json").read_bytes())
        contender = enlist("classifier-lrta", {"policy": str(policy)}, Allowance.of(None))
        assert parse_agent(spec_of(contender))[1]["policy"] == str(policy)

    def test_a_problem_goes_into_the_command_and_a_map_of_ones_own_does_not(self) -> None:
        contender = enlist("lrta", {"depth": 2}, Allowance.of(50))
        problem = Problem(load_map("rooms-64"), (5, 5), (20, 20), 3)
        words = play_command(contender, "rooms-64", problem, 7).split()
        assert words[:3] == ["rt-gym", "play", "rooms-64"]
        assert words[5:] == ["--budget", "50", "--start", "5,5", "--goal", "20,20", "--vision", "3", "--seed", "7"]
        assert play_command(contender, "level 1").split()[2] == "MAP"

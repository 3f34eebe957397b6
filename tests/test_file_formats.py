"""docs/file-formats.md: files read by that page alone, with json, csv and NumPy, say what our own readers say."""

import csv
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import rt_gym
from agents.knowledge import knn, pdb, subgoals
from agents.policies.genes import Genes
from agents.policies.goals import load_goal_policy
from agents.policies.ground import load_ground_policy
from agents.policies.networks import load_network
from agents.policies.trees import add_scores, load_policy
from rt_gym.abstraction import abstract
from rt_gym.cost import DIAGONAL
from rt_gym.features.dealing import DEALT
from rt_gym.squad.policy import DealerPolicy
from training.judge import policies, think
from training.judge.policies import NETWORK
from training.learn import Parts, keep_settings, settings_of
from training.learn.blocks import BlocksConfig
from training.runs import Allowance, Draw, Plan, Workers, enlist_all, find_courses, run_plan, write_tables

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "file-formats.md").read_text(encoding="utf-8")
POLICIES = ROOT / "agents" / "policies"
GRID = rt_gym.load_map("rooms-64", connectivity=8)


def section(title: str) -> str:
    """Return the part of the page below the heading that begins with these words."""
    (body,) = re.findall(rf"^## {title}.*?\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return str(body)


def unnamed(title: str, names: Any) -> set[str]:
    """Return the names that a section does not explain; ``about`` and the array ``head`` are explained for all."""
    told = set(re.findall(r"`(\w+)`", section(title))) | {"about", "head"}
    return set(names) - told


def read_npz(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    with np.load(path, allow_pickle=False) as archive:
        arrays = dict(archive)
    return json.loads(bytes(arrays.pop("head"))), arrays


def position(cell: int) -> tuple[int, int]:
    return cell % (GRID.width + 2) - 1, cell // (GRID.width + 2) - 1


def sum_leaves(forest: dict[str, Any], row: Any) -> Any:
    total = 0.0
    for node in forest["root"]:
        while forest["feature"][node] != -1:
            below = row[forest["feature"][node]] <= forest["threshold"][node]
            node = forest["left"][node] if below else forest["right"][node]
        total = total + np.array(forest["scores"][node], float)
    return total


class TestWhatSeveralShare:
    def test_the_digest_of_a_map_is_that_of_its_rules_and_bits(self) -> None:
        for grid in (GRID, GRID.replace(connectivity=4, cost="unit", corner="free")):
            rules = f"{grid.width} {grid.height} {grid.connectivity} {grid.cost} {grid.corner} "
            bits = "".join("1" if free else "0" for row in grid.passable for free in row)
            bits += "0" * (-len(bits) % 8)
            packed = bytes(int(bits[k : k + 8], 2) for k in range(0, len(bits), 8))
            assert hashlib.sha256(rules.encode("ascii") + packed).hexdigest() == grid.digest

    def test_a_cell_is_a_number_on_a_bordered_map(self) -> None:
        assert [position(GRID.cell(place)) for place in ((0, 0), (5, 7), (63, 63))] == [(0, 0), (5, 7), (63, 63)]

    def test_the_page_has_the_price_of_a_diagonal_step(self) -> None:
        assert f"diagonal ones times {DIAGONAL}." in section("What several of them share")


class TestPolicies:
    @pytest.mark.parametrize("name", ["tree", "history"])
    def test_trees_score_as_ours_do(self, name: str) -> None:
        document, ours = json.loads((POLICIES / f"{name}.json").read_text()), load_policy(name)
        assert unnamed("Trees", {*document, *document["forest"]}) == set()
        assert (document["kind"], document["version"]) == ("rt_gym.depth-policy", 1)
        out = np.zeros(len(document["depths"]))
        for row in np.random.default_rng(0).exponential(20, (50, len(document["features"]))):
            add_scores(ours.forest, row, 1000, out)
            assert sum_leaves(document["forest"], row).tolist() == out.tolist()

    def test_goal_trees_score_as_ours_do(self) -> None:
        document, ours = json.loads((POLICIES / "goal.json").read_text()), load_goal_policy("goal")
        assert unnamed("Goal trees", document) == set()
        assert (document["kind"], document["version"]) == ("rt_gym.goal-policy", 1)
        out = np.zeros(1)
        for row in np.random.default_rng(0).exponential(20, (50, len(document["features"]))):
            add_scores(ours.forest, row, 1000, out)
            assert sum_leaves(document["forest"], row).tolist() == out.tolist()

    def test_ground_trees_have_a_feature_for_every_cell_of_their_window(self) -> None:
        document, ours = json.loads((POLICIES / "prices" / "mixed.json").read_text()), load_ground_policy("mixed")
        assert unnamed("Ground trees", document) == set()
        assert (document["kind"], document["version"]) == ("rt_gym.ground-policy", 1)
        out, side = np.zeros(1), 2 * document["radius"] + 1
        for row in np.random.default_rng(0).integers(-1, 2, (50, side * side)).astype(float):
            add_scores(ours.forest, row, 1000, out)
            assert sum_leaves(document["forest"], row).tolist() == out.tolist()

    @pytest.mark.parametrize("name", ["depth", "deepen"])
    def test_networks_decide_as_ours_do(self, name: str) -> None:
        head, arrays = read_npz(POLICIES / f"{name}.npz")
        assert unnamed("Networks", {*head, *arrays}) == set()
        assert (head["kind"], head["version"]) == ("rt_gym depth network", 1)
        rows = np.random.default_rng(0).normal(1, 2, (50, len(head["features"]))).astype(np.float32)
        values, weights, bias = (rows - arrays["mean"]) / arrays["scale"], arrays["weights"], arrays["bias"]
        layers = list(zip(arrays["width"][:-1], arrays["width"][1:], strict=True))
        for number, (inputs, outputs) in enumerate(layers):
            values = values @ weights[: inputs * outputs].reshape(inputs, outputs) + bias[:outputs]
            weights, bias = weights[inputs * outputs :], bias[outputs:]
            if number < len(layers) - 1:
                values = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0)}[head["activation"]](values)
        assert (weights.size, bias.size) == (0, 0)
        np.testing.assert_allclose(values, load_network(name).scores(rows), rtol=1e-4, atol=1e-4)

    def test_genes_are_settings_of_the_agent_by_name(self, tmp_path: Path) -> None:
        Genes(weight=2, da=True).save(tmp_path / "genes.json")
        document = json.loads((tmp_path / "genes.json").read_text())
        assert unnamed("Genes", document) == set()
        assert (document["kind"], document["version"]) == ("rt_gym.genes", 1)
        assert document["genes"].keys() <= agents.parameters("building-block-lrta").keys()

    def test_dealers_are_layers_of_weights(self, tmp_path: Path) -> None:
        random = np.random.default_rng(0)
        shapes = [(len(DEALT), 3), (3, 1)]
        policy = DealerPolicy(tuple((random.normal(size=shape), random.normal(size=shape[1])) for shape in shapes))
        policy.save(tmp_path / "policy.json")
        document = json.loads((tmp_path / "policy.json").read_text())
        assert unnamed("Dealers", {*document, *document["layers"][0]}) == set()
        assert (document["kind"], document["version"]) == ("dealer", 1)
        rows = random.normal(size=(20, len(document["features"])))
        first, last = [(np.array(layer["weights"]), np.array(layer["bias"])) for layer in document["layers"]]
        output = np.tanh(rows @ first[0] + first[1]) @ last[0] + last[1]
        np.testing.assert_allclose(output[:, 0], policy.urgency(rows))

    def test_settings_of_a_training_have_the_problems_by_number_and_digest(self, tmp_path: Path) -> None:
        courses = tuple(find_courses(["rooms-64"], Draw(2, 20, 60)))
        keep_settings(tmp_path, "train blocks", settings_of(BlocksConfig(), Parts(courses, courses)))
        document = json.loads((tmp_path / "training.json").read_text())
        told = document["settings"]["train"]
        assert unnamed("Settings of a training", {*document, *told}) == set()
        assert (document["kind"], document["version"], document["command"]) == ("rt_gym training", 1, "train blocks")
        assert (told["maps"], told["problems"]) == (1, 2)


class TestDatabases:
    @pytest.mark.parametrize(("mode", "subgoal"), [("I", "nearer"), ("GI", "first"), ("G", "first")])
    def test_entries_of_pattern_databases_are_those_of_ours(self, tmp_path: Path, mode: str, subgoal: str) -> None:
        regions = abstract(GRID, "clique", 4)
        ours = pdb.build(GRID, regions, mode, cap=10, threads=1, subgoal=subgoal)
        ours.save(tmp_path / "pdb.npz")
        head, arrays = read_npz(tmp_path / "pdb.npz")
        assert unnamed("Pattern databases", {*head, *arrays}) == set()
        assert (head["kind"], head["version"], head["map"]) == ("rt_gym pattern database", 1, GRID.digest)
        far = {(goal, region): (ahead, depth) for goal, region, ahead, depth in arrays.get("far", np.empty((0, 4)))}
        for goal, row in zip(arrays["goals"].tolist(), arrays["table"], strict=True):
            found = []
            for region, entry in enumerate(row.tolist()):
                place = regions.begin[region] + entry - 128
                if entry == 255:
                    found.append(tuple(map(int, far[goal, region])))
                elif entry >= 128:
                    found.append((int(regions.near[place]), int(arrays["hops"][place])))
                else:
                    found.append((-1, entry))
            assert found == [tuple(pair) for pair in np.stack(ours.entries(goal), axis=1).tolist()]

    def test_subgoal_trees_hang_together(self, tmp_path: Path) -> None:
        goals = [(5, 5), (40, 40)]
        ours = subgoals.build_trees(GRID, goals, first="sub")
        ours.save(tmp_path / "trees.npz")
        head, arrays = read_npz(tmp_path / "trees.npz")
        assert unnamed("Subgoal trees", {*head, *arrays}) == set()
        assert (head["kind"], head["version"]) == ("rt_gym file of subgoal trees", 1)
        assert (head["map"], head["sub"]) == (GRID.digest, str(arrays["subs"].dtype))
        assert [position(cell) for cell in arrays["goals"].tolist()] == goals
        free, begin = np.argwhere(GRID.passable), 0
        for number, end in enumerate(arrays["ends"].tolist()):
            nodes, parents = arrays["nodes"][begin:end].tolist(), arrays["parents"][begin:end].tolist()
            assert (nodes[0], parents[0]) == (arrays["goals"][number], -1)
            assert all(0 <= parent < child for child, parent in enumerate(parents[1:], start=1))
            tree = ours.tree(nodes[0], GRID.terrain)
            assert tree is not None
            assert tree.sub is not None
            subs = [tree.sub[GRID.cell((x, y))] for y, x in free]
            assert arrays["subs"][number].tolist() == subs
            begin = end

    def test_records_begin_and_end_with_their_task(self, tmp_path: Path) -> None:
        ours = knn.build_records(GRID, 20, 0, 0, 20)
        ours.save(tmp_path / "knn.npz")
        head, arrays = read_npz(tmp_path / "knn.npz")
        assert unnamed("Records", {*head, *arrays}) == set()
        assert (head["kind"], head["version"], head["map"]) == ("rt_gym kNN database", 1, GRID.digest)
        pairs = zip(arrays["begin"][:-1], arrays["begin"][1:], strict=True)
        records = [arrays["cells"][begin:end].tolist() for begin, end in pairs]
        ends = [[*position(record[0]), *position(record[-1])] for record in records]
        assert ends == ours.ends(GRID).tolist()


def test_results_are_rows_with_the_columns_of_the_page(tmp_path: Path) -> None:
    contenders = enlist_all(["lrta:depth=2", "astar"], [Allowance.of(100)])
    plan = Plan(tuple(contenders), tuple(find_courses(["rooms-64"], Draw(2, low=20, high=40))), trials=2)
    runs = run_plan(plan, workers=Workers(jobs=1))
    write_tables(tmp_path, plan.document(), runs)
    tables = {}
    for name in ("results", "times", "trials"):
        with (tmp_path / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            tables[name] = list(csv.DictReader(file))
        assert unnamed("Results", tables[name][0]) == set()
    settings = json.loads((tmp_path / "settings.json").read_text())
    assert unnamed("Results", settings) == set()
    assert [row["agent"] for row in tables["results"]] == ["lrta", "lrta", "astar", "astar"]
    for row, time in zip(tables["results"], tables["times"], strict=True):
        assert [row[name] for name in ("agent", "map", "problem")] == [
            time[name] for name in ("agent", "map", "problem")
        ]
        straights, diagonals = int(row["straights"]), int(row["diagonals"])
        assert straights + diagonals * 2**0.5 == pytest.approx(float(row["cost"]))
        assert straights + diagonals == int(row["moves"])
        assert row["outcome"] in re.findall(r"`([\w ]+)`", section("Results"))
    assert len(tables["trials"]) == sum(int(row["trials_run"]) for row in tables["results"])


def test_results_of_policies_have_the_columns_of_the_page(tmp_path: Path) -> None:
    courses = tuple(find_courses(["rooms-64"], Draw(2, low=20, high=40)))
    problems = [course.problem(task) for course in courses for task in course.tasks]
    asked = {"seed": 0, "training": {}}
    thought = think.judged({NETWORK: think.evaluate(think.follow_rule, problems)}, courses, asked)
    walked = policies.judged({NETWORK: rt_gym.evaluate("RTPath-v0", "greedy", problems)}, courses, asked)
    for findings in (thought, walked):
        _, results = findings.write(tmp_path)
        with results.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 2
        assert unnamed("Results", {*rows[0], *json.loads((tmp_path / "settings.json").read_text())}) == set()


def test_logs_are_lines_of_json(tmp_path: Path) -> None:
    problem = rt_gym.sample_problems(GRID, 1, low=20, high=40, seed=0)[0]
    run = agents.run("lss-lrta", problem, lookahead=5, log=True)
    assert run.log is not None
    run.log.save(tmp_path / "run.jsonl")
    head, *moves = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert unnamed("Logs", head) == set()
    assert (head["kind"], head["version"]) == ("rt_gym run log", rt_gym.__version__)
    assert [move["move"] for move in moves] == list(range(1, run.moves + 1))
    assert [tuple(move["position"]) for move in moves] == [tuple(place) for place in run.path.tolist()[:-1]]
    assert sum(len(move["raised"]) for move in moves) == run.h_updates

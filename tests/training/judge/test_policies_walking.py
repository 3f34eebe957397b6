"""Policies that decide every move: the hand rule, chance, and what their walks are worth."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agents.policies.networks import MOVE, Network, load_network
from rt_gym import Grid, Problem, evaluate, splits
from training.judge.policies import (
    LeastVisited,
    Sampled,
    anchors,
    contest,
    document,
    walks_table,
    weighted,
    weighted_share,
)

LEVEL = "RTPath-Random-16x16-v0"
SEEN = {"window": 5, "visits": True}
POCKET = Grid([[1, 1, 1, 1, 1], [1, 0, 0, 0, 1], [1, 1, 1, 0, 1], [1, 0, 0, 0, 1], [1, 1, 1, 1, 1]])


def some(count: int = 12) -> list[Problem]:
    return list(splits.load("random-16-test").problems[:count])


def network(moves: int = 8) -> Network:
    """Return one that always prefers the first moves, whatever it sees."""
    size = 9 + 2 * SEEN["window"] ** 2
    layers = ((np.zeros((size, moves)), -np.arange(moves, dtype=float)),)
    names = tuple(f"number {k}" for k in range(size))
    return Network(MOVE, names, layers, 1, moves=moves, settings=SEEN)


class TestRule:
    def test_it_leaves_a_pocket_in_which_the_greedy_rule_stays_for_good(self) -> None:
        problems = [Problem(POCKET, (1, 2), (4, 2))]
        rule = evaluate("RTPath-v0", LeastVisited(problems, 5), problems, max_moves=60, **SEEN)
        assert rule["solved"].all()
        assert not evaluate("RTPath-v0", "greedy", problems, max_moves=60)["solved"].any()

    @pytest.mark.parametrize("rules", [{"connectivity": 4}, {"cost": "unit"}])
    def test_on_open_ground_it_walks_a_shortest_path_by_the_rules_of_the_map(self, rules: dict[str, object]) -> None:
        problems = [Problem(Grid(np.ones((9, 9)), **rules), (1, 2), (8, 7))]
        assert evaluate("RTPath-v0", LeastVisited(problems, 5), problems, **SEEN)["suboptimality"].tolist() == [1.0]

    def test_in_fog_it_reaches_goals_as_well(self) -> None:
        found = evaluate("RTPathFog-Random-16x16-v0", LeastVisited(some(), 5), some(), **SEEN)
        assert found["solved"].mean() > 0.9


class TestChance:
    def test_the_same_seed_draws_the_same_moves_and_only_those_that_lead_somewhere(self) -> None:
        rows, masks = np.zeros((200, 59), np.float32), np.tile([0, 1, 0, 1, 0, 0, 0, 1], (200, 1))
        first, again, other = (Sampled(network(), seed)(rows, masks) for seed in (0, 0, 1))
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)
        assert set(first.tolist()) == {1, 3, 7}

    def test_likelier_moves_are_drawn_more_often(self) -> None:
        drawn = Sampled(network(), 0)(np.zeros((2000, 59), np.float32), np.ones((2000, 8)))
        shares = np.bincount(drawn, minlength=8) / 2000
        expected = np.exp(-np.arange(8)) / np.exp(-np.arange(8)).sum()
        assert np.abs(shares - expected).max() < 0.05


class TestWorth:
    def test_a_goal_that_is_missed_counts_nothing_and_a_detour_less_than_one(self) -> None:
        found = evaluate(LEVEL, "greedy", some())
        values = weighted(found)
        assert (values[~found["solved"]] == 0).all()
        assert np.allclose(values[found["solved"]], 1 / found["suboptimality"][found["solved"]])
        assert weighted_share(found).value == pytest.approx(values.mean())

    def test_agents_that_search_are_anchors_and_astar_walks_shortest_paths(self) -> None:
        found = anchors(LEVEL, some(4))
        assert list(found) == [
            "random", "greedy", "lrta, 100 per move", "rtaa, 100 per move", "lss-lrta, 100 per move", "astar",
            "dstar-lite",
        ]  # fmt: skip
        assert weighted_share(found["astar"]).value == pytest.approx(1.0)
        assert all(found["rtaa, 100 per move"]["solved"])

    def test_a_contest_shows_the_rule_and_the_network_with_its_best_moves_and_by_chance(self) -> None:
        found = contest(LEVEL, network(), some(4))
        assert list(found)[-3:] == ["the rule", "network", "network, sampled"]
        table = walks_table(found)
        assert [len(row) for row in table.rows] == [len(table.columns)] * 10
        told = document(found)
        assert told["astar"]["solved"] == 1.0
        assert told["network"]["problems"] == 4


def test_a_network_for_moves_is_kept_in_a_file_with_the_settings_it_sees_by(tmp_path: Path) -> None:
    network().save(tmp_path / "policy.npz")
    again = load_network(tmp_path / "policy.npz")
    assert (again.decide, again.moves, again.settings, again.outputs) == (MOVE, 8, SEEN, 8)
    with pytest.raises(ValueError, match="moves must be a whole number from 4 to 9"):
        replace(network(), moves=1)

"""Agents that name the same file share what was read from it; a file that was replaced is read anew."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from agents.knowledge import knn, pdb, subgoals
from agents.policies.goals import load_goal_policy
from agents.policies.networks import load_network
from agents.policies.trees import load_policy
from reference.small_maps import CUP, drawn
from rt_gym import InputError, Problem
from rt_gym.abstraction import abstract

GRID = drawn(*CUP)
PROBLEM = Problem(GRID, (2, 2), (6, 2))

# Of every kind of file: what makes one, the agent's parameters for it, and the object that the agent has of it.
KINDS: dict[str, tuple[Callable[[], Any], Callable[[Path], Any], Callable[[Any], Any]]] = {
    "database": (
        lambda: pdb.build(GRID, abstract(GRID, "clique", 1), "I", 4, threads=1),
        lambda path: agents.make("pdb-lrta", database=path),
        lambda agent: agent._database,
    ),
    "trees": (
        lambda: subgoals.build_trees(GRID),
        lambda path: agents.make("subgoal-lrta", trees=path),
        lambda agent: agent._source._loaded,
    ),
    "records": (
        lambda: knn.build_records(GRID, 20, 0, 0, 20),
        lambda path: agents.make("knn-lrta", database=path),
        lambda agent: agent._kept,
    ),
    "policy": (
        lambda: load_policy("tree"),
        lambda path: agents.make("classifier-lrta", policy=path),
        lambda agent: agent.trained,
    ),
    "network": (
        lambda: load_network("deepen"),
        lambda path: agents.make("policy-lrta", policy=path),
        lambda agent: agent.network,
    ),
    "goal policy": (
        lambda: load_goal_policy("goal"),
        lambda path: agents.make("general-lrta", depth=2, goal="classifier", goal_policy=path),
        lambda agent: agent.scorer,
    ),
}


def arrays_in(thing: Any) -> list[Any]:
    """Return all arrays that can be reached from an object."""
    if isinstance(thing, np.ndarray):
        return [thing]
    parts = thing if isinstance(thing, tuple) else getattr(thing, "__dict__", {}).values()
    return [array for part in parts for array in arrays_in(part)]


@pytest.mark.parametrize("kind", KINDS)
class TestFiles:
    def used(self, kind: str, path: Path) -> Any:
        """Return what an agent that has begun a problem has of the file."""
        _, make, part = KINDS[kind]
        agent = make(path)
        agent.reset(PROBLEM.view(), seed=0)
        return part(agent)

    def test_two_agents_share_one_object_that_neither_can_write_to(self, kind: str, tmp_path: Path) -> None:
        KINDS[kind][0]().save(tmp_path / "file")
        one, other = (self.used(kind, tmp_path / "file") for _ in range(2))
        assert one is other
        assert arrays_in(one)
        assert not any(array.flags.writeable for array in arrays_in(one))

    def test_a_file_that_was_written_anew_is_read_anew(self, kind: str, tmp_path: Path) -> None:
        KINDS[kind][0]().save(tmp_path / "file")
        first = self.used(kind, tmp_path / "file")
        KINDS[kind][0]().save(tmp_path / "file")
        assert self.used(kind, tmp_path / "file") is not first

    def test_a_file_that_was_damaged_after_it_was_read_is_refused(self, kind: str, tmp_path: Path) -> None:
        KINDS[kind][0]().save(tmp_path / "file")
        self.used(kind, tmp_path / "file")
        shutil.copyfile(__file__, tmp_path / "file")
        with pytest.raises(InputError, match="file: "):
            self.used(kind, tmp_path / "file")

    def test_a_run_with_the_file_is_the_run_with_the_object(self, kind: str, tmp_path: Path) -> None:
        made, make, _ = KINDS[kind]
        made().save(tmp_path / "file")
        runs = [agents.run(make(source), PROBLEM) for source in (made(), tmp_path / "file", tmp_path / "file")]
        assert len({(tuple(map(tuple, run.path.tolist())), run.expansions, run.h_updates) for run in runs}) == 1


def test_a_database_of_other_settings_in_its_place_is_refused_though_others_have_read_it(tmp_path: Path) -> None:
    path = tmp_path / "database.npz"
    pdb.build(GRID, abstract(GRID, "clique", 1), "I", 4, threads=1).save(path)
    early = agents.make("pdb-lrta", database=path)
    pdb.build(GRID, abstract(GRID, "clique", 1), "I", 5, threads=1).save(path)
    agents.make("pdb-lrta", database=path).reset(PROBLEM.view())
    with pytest.raises(InputError, match="no longer the file"):
        early.reset(PROBLEM.view())


def test_agents_with_the_same_records_search_one_tree_with_buffers_of_their_own() -> None:
    records = knn.build_records(GRID, 20, 0, 0, 20)
    one, other = (agents.make("knn-lrta", database=records) for _ in range(2))
    for agent in (one, other):
        agent.reset(PROBLEM.view())
    assert one.memory.nearest.points is other.memory.nearest.points
    assert one.memory.nearest.low is other.memory.nearest.low
    assert one.memory.nearest.best is not other.memory.nearest.best
    assert one.memory.nearest.stack is not other.memory.nearest.stack

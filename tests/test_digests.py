"""Seeded runs of every id, and what seeded commands write, are what they were; see ``digests/``."""

import json
import platform
import warnings
from typing import Any

import pytest
from numba import config

import agents
import rt_gym
from digests import commands, runs

DIGESTS = json.loads(runs.FILE.read_text())
CASES = list(runs.cases())
COMMANDS = json.loads(commands.FILE.read_text())


def test_every_id_that_was_recorded_is_still_there() -> None:
    assert {agent_id for agent_id, _ in runs.AGENTS.values()} <= set(agents.ids())
    assert set(runs.ENVS) == set(rt_gym.envs.ids())
    assert {name for name, _, _ in CASES} == set(DIGESTS)


def test_ids_without_a_digest_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    # A warning, not a failure: a new algorithm has no past to keep, and adding it must not take a fourth edit.
    known, missing = agents.ids(), runs.ids_without_digest()
    monkeypatch.setattr(agents, "ids", lambda: [*known, "new-lrta"])
    assert runs.ids_without_digest() == [*missing, "new-lrta"]
    if missing:
        warnings.warn(f"no digests are taken of {', '.join(missing)}: see tests/digests/runs.py", stacklevel=1)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="200 runs each take too long without the compiler")
@pytest.mark.parametrize(("name", "taken", "argument"), CASES, ids=[name for name, _, _ in CASES])
def test_runs_are_what_they_were(name: str, taken: Any, argument: str) -> None:
    if name.startswith(("env ", "batch ")) and (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        pytest.skip("the last bit of a logarithm in an observation may differ on another system")
    assert taken(argument) == DIGESTS[name]


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="takes too long without the compiler")
@pytest.mark.parametrize("name", commands.COMPARISONS)
def test_comparisons_are_what_they_were(name: str) -> None:
    assert commands.comparison(name) == COMMANDS[name]


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="takes too long without the compiler")
def test_a_trained_depth_policy_is_what_it_was() -> None:
    assert commands.depth() == COMMANDS["depth"]

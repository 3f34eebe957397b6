"""Whatever happens to a file of any kind, its reader returns or refuses it in one sentence that names the file."""

import random
from collections import Counter
from pathlib import Path

import pytest

from fuzz.files import outcome
from fuzz.kinds import INPUT, KINDS
from fuzz.mutations import mutated

MUTATIONS = 300
FEW = {"model of Stable-Baselines3": 12}  # each is tried as the model of every learner
BY_NAME = {kind.name: kind for kind in KINDS}


@pytest.mark.parametrize("name", BY_NAME)
def test_a_file_as_it_was_written_is_read(name: str, tmp_path: Path) -> None:
    kind = BY_NAME[name]
    assert kind.read(kind.make(tmp_path)) is not None


@pytest.mark.parametrize("name", BY_NAME)
def test_a_mutated_file_is_read_or_refused(name: str, tmp_path: Path) -> None:
    kind, rng = BY_NAME[name], random.Random(name)
    path = kind.make(tmp_path)
    whole, seen = path.read_bytes(), Counter[str]()
    for _ in range(FEW.get(name, MUTATIONS)):
        path.write_bytes(mutated(whole, rng))
        seen[outcome(kind, path)] += 1
    assert seen["refused"] or kind.role != INPUT


def test_every_kind_has_a_name_of_its_own() -> None:
    assert len(BY_NAME) == len(KINDS)

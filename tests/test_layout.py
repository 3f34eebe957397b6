"""How the tests are kept: what every file under ``tests`` has to observe."""

from pathlib import Path

import pytest
from hypothesis import settings

from profiles import USUAL, examples

TESTS = Path(__file__).parent
FILES = sorted(TESTS.rglob("*.py"))
MOST_LINES = 400


def name_of(file: Path) -> str:
    return file.relative_to(TESTS).as_posix()


def test_no_file_is_longer_than_can_be_read_at_once() -> None:
    long = {name_of(file) for file in FILES if len(file.read_text(encoding="utf-8").splitlines()) > MOST_LINES}
    assert long == set(), "cut it by topic, and put what both parts need beside tests/reference/small_maps.py"


def test_every_property_test_takes_its_number_of_examples_from_the_profile() -> None:
    # A number of its own would hold whatever RTGYM_HYPOTHESIS says.
    own = "max_" + "examples="
    assert [name_of(file) for file in FILES if own in file.read_text(encoding="utf-8")] == ["profiles.py"]


@pytest.mark.parametrize("count", [50, 60, 250, 2000])
def test_examples_are_those_of_the_profile_in_proportion(count: int) -> None:
    assert examples(count).max_examples == count * settings().max_examples // USUAL


def test_thorough_takes_twenty_times_as_many_examples_and_quick_a_tenth() -> None:
    numbers = [settings.get_profile(name).max_examples for name in ("quick", "dev", "thorough")]
    assert numbers == [USUAL // 10, USUAL, 20 * USUAL]

from pathlib import Path

import pytest

from rt_gym import InputError, sizes


def test_what_takes_more_than_is_available_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "available_memory", lambda: 1_000_000_000)
    sizes.require_memory("things", 250_000_000, 4)
    with pytest.raises(InputError) as refusal:
        sizes.require_memory("things", 250_000_000, 5)
    sentence = "things of a map of 250000000 cells take about 1.2 GB of memory, but 1.0 GB are available"
    assert str(refusal.value) == sentence


def test_nothing_is_refused_where_the_memory_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "available_memory", lambda: None)
    assert sizes.memory_problem(1 << 40, 100) == ""


def test_a_container_has_what_its_limit_leaves_and_what_files_can_give_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("max", "5000\n"), ("current", "3000\n"), ("stat", "anon 2000\ninactive_file 700\n")):
        (tmp_path / f"memory.{name}").write_text(text)
    monkeypatch.setattr(sizes, "_CGROUP", tmp_path)
    assert sizes.available_memory() == 2700
    (tmp_path / "memory.max").write_text("max\n")
    available = sizes.available_memory()
    assert available is None or available > 1 << 20


@pytest.mark.parametrize(("width", "height"), [(1, 1), (10, 33), (1 << 22, 3), (1 << 23, 2), (3000, 3000)])
def test_strips_are_all_rows_in_order_few_at_a_time(width: int, height: int) -> None:
    rows = [list(range(height))[strip] for strip in sizes.strips(width, height)]
    assert [row for strip in rows for row in strip] == list(range(height))
    assert all(len(strip) == 1 or len(strip) * width <= sizes.STRIP_CELLS for strip in rows)

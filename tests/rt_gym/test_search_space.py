"""The queue and the memory of a search: order, stamps, and random numbers."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from reference.plain_oracle import random_problem
from rt_gym import Problem
from rt_gym.search.heap import Heap, heapify, lower, pop, push
from rt_gym.search.nodes import Nodes
from rt_gym.search.space import NONE, Space, draw, forget, give_slot, make_space

LAST_STAMP = 2**31 - 1


class TestHeap:
    def make(self, keys: list[tuple[int, int, int]]) -> Heap:
        columns = np.array(keys, np.int64).reshape(-1, 3).T
        room = len(keys)
        return Heap(
            item=np.empty(room, np.int32),
            at=np.full(room, NONE, np.int32),
            key=columns[0].copy(),
            tie=columns[1].copy(),
            rank=columns[2].astype(np.int32),
            size=np.zeros(1, np.int64),
        )

    KEYS = st.lists(st.tuples(st.integers(-3, 3), st.integers(-2, 2)), min_size=1, max_size=40)

    @pytest.mark.plain
    @given(KEYS)
    def test_slots_come_out_by_key_then_tie_then_rank(self, pairs: list[tuple[int, int]]) -> None:
        keys = [(*pair, rank) for rank, pair in enumerate(pairs)]
        for fill in ("push", "heapify"):
            heap = self.make(keys)
            if fill == "push":
                for slot in range(len(keys)):
                    push(heap, np.int64(slot))
            else:
                heap.item[:] = np.arange(len(keys))
                heap.size[0] = len(keys)
                heapify(heap)
            out = [int(pop(heap)) for _ in keys]
            assert out == sorted(range(len(keys)), key=lambda slot: keys[slot])
            assert heap.size[0] == 0
            assert (heap.at == NONE).all()

    @pytest.mark.plain
    @given(KEYS, st.randoms(use_true_random=False))
    def test_lowered_keys_and_mixed_pops_keep_the_order(self, pairs: list[tuple[int, int]], random: Any) -> None:
        keys = {slot: (*pair, slot) for slot, pair in enumerate(pairs)}
        heap = self.make(list(keys.values()))
        inside: set[int] = set()
        for slot in keys:
            push(heap, np.int64(slot))
            inside.add(slot)
            chosen = random.choice(sorted(inside))
            fall = random.randrange(3)
            keys[chosen] = (keys[chosen][0] - fall, keys[chosen][1], keys[chosen][2])
            heap.key[chosen] -= fall
            lower(heap, np.int64(chosen))
            if random.random() < 0.3:
                first = int(pop(heap))
                assert first == min(inside, key=lambda other: keys[other])
                inside.remove(first)
            for place in range(int(heap.size[0])):
                assert heap.at[heap.item[place]] == place
        assert [int(pop(heap)) for _ in range(len(inside))] == sorted(inside, key=lambda other: keys[other])


class TestSpace:
    def test_a_new_search_forgets_the_old_one(self) -> None:
        space = make_space(10)
        base = forget(space)
        give_slot(space, base, np.int64(0), np.int64(4))
        assert space.seat[4] - base == 0
        base = forget(space)
        assert (space.seat - base < 0).all()

    @pytest.mark.plain
    def test_stamps_start_again_at_their_end(self) -> None:
        space = make_space(10)
        space.state[0].stamp = LAST_STAMP - 2
        for _ in range(5):
            base = forget(space)
            assert base > 0
            assert (space.seat - base < 0).all()
            for slot in range(10):
                give_slot(space, base, np.int64(slot), np.int64(9 - slot))
            assert (space.seat - base).tolist() == list(range(9, -1, -1))
        assert space.state[0].stamp < 10

    @pytest.mark.parametrize(
        ("agent_id", "options"),
        [("astar", {}), ("weighted-astar", {}), ("lrta", {"depth": 3}), ("lss-lrta", {"lookahead": 6})],
    )
    def test_agents_do_not_notice_the_end_of_the_stamps(self, agent_id: str, options: dict[str, Any]) -> None:
        rng = np.random.default_rng(2)
        for _ in range(8):
            grid, start, goal = random_problem(rng, 12, density=0.3)
            problem = Problem(grid, start, goal, vision=1)
            fresh, old = agents.make(agent_id, **options), agents.make(agent_id, **options)
            expected = agents.run(fresh, problem)
            agents.run(old, problem)
            space = next(part for part in parts(old.memory) if isinstance(part, Space | Nodes))
            space.state[0].stamp = LAST_STAMP - 3
            run = agents.run(old, problem)
            assert run.path.tolist() == expected.path.tolist()
            assert (run.expansions, run.scans) == (expected.expansions, expected.scans)

    def test_random_numbers_have_31_bits_and_spread(self) -> None:
        random = np.array([1], np.uint64)
        numbers = [int(draw(random)) for _ in range(4096)]
        assert all(0 <= number < 2**31 for number in numbers)
        assert random[0] != 0
        counts = np.bincount([number >> 27 for number in numbers], minlength=16)
        assert counts.min() > 180  # 256 on average
        assert counts.max() < 340

    @pytest.mark.plain
    def test_random_numbers_are_those_of_the_published_generator(self) -> None:
        # Marsaglia's xorshift with the shifts 13, 7, 17, in Python's own whole numbers.
        random, state = np.array([88172645463325252], np.uint64), 88172645463325252
        for _ in range(20):
            state ^= state << 13 & 2**64 - 1
            state ^= state >> 7
            state ^= state << 17 & 2**64 - 1
            assert int(draw(random)) == state >> 33


def parts(value: Any) -> list[Any]:
    """Return a nested tuple's parts, those of parts included."""
    found = [value]
    if isinstance(value, tuple) and not isinstance(value, Space):
        for part in value:
            found.extend(parts(part))
    return found

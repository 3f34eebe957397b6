"""An agent, or an environment, serves one thread at a time; a map serves any number."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import agents
import rt_gym
from rt_gym import Grid, InputError, Problem

OPEN = Problem(Grid(np.ones((9, 9))), (0, 0), (8, 8))
IN_USE = "in use by another thread: give each thread one of its own"


def refusal_in_a_thread(work: Any) -> str:
    """Return what a call in another thread was refused with, an empty text if it was not."""
    with ThreadPoolExecutor(1) as threads:
        error = threads.submit(work).exception()
    if error is not None and not isinstance(error, InputError):
        raise error
    return str(error or "")


class TestAgents:
    def test_one_that_is_in_use_refuses_another_thread(self) -> None:
        agent, view = agents.make("lrta"), OPEN.view()
        agent.reset(view)
        agent.turn.acquire()
        for work in (agent.act, lambda: agent.reset(view), lambda: agents.run(agent, OPEN)):
            assert refusal_in_a_thread(work).endswith(IN_USE)
        agent.turn.release()
        assert refusal_in_a_thread(agent.act) == ""

    def test_many_threads_get_the_right_answer_or_a_refusal(self) -> None:
        agent, expected = agents.make("lss-lrta"), agents.run("lss-lrta", OPEN).cost
        found: list[float] = []

        def work() -> None:
            for _ in range(50):
                try:
                    found.append(agents.run(agent, OPEN).cost)
                except InputError as error:
                    assert str(error).endswith(IN_USE)  # noqa: PT017

        threads = [Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found
        assert set(found) == {expected}

    def test_a_run_that_raised_gives_the_agent_back(self) -> None:
        agent = agents.make("lrta", depth=4)
        with pytest.raises(rt_gym.BudgetExceeded):
            agents.run(agent, OPEN, budget=rt_gym.Budget(5, on_overrun="raise"))
        assert refusal_in_a_thread(lambda: agents.run(agent, OPEN)) == ""

    @pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
    def test_a_copy_of_one_in_use_is_free(self, duplicate: Any) -> None:
        agent = agents.make("lrta")
        agent.turn.acquire()
        assert agents.run(duplicate(agent), OPEN).solved


class TestEnvironments:
    @pytest.mark.parametrize("env_id", rt_gym.envs.ids())
    def test_one_that_is_in_use_refuses_another_thread(self, env_id: str) -> None:
        env = gym.make(env_id, problems=[OPEN]).unwrapped
        batch: Any = gym.make_vec(env_id, 2, "vector_entry_point", problems=[OPEN])
        action, actions = env.action_space.sample(), batch.action_space.sample()
        for each, chosen in ((env, action), (batch, actions)):
            each.reset(seed=0)
            each._turn.acquire()
            assert refusal_in_a_thread(each.reset).endswith(IN_USE)
            assert refusal_in_a_thread(lambda each=each, chosen=chosen: each.step(chosen)).endswith(IN_USE)
            each._turn.release()
            assert refusal_in_a_thread(lambda each=each, chosen=chosen: each.step(chosen)) == ""


def test_a_map_that_threads_share_is_made_ready_once() -> None:
    for _ in range(20):
        grid, begin = Grid(np.ones((30, 30))), Event()

        def work(grid: Grid = grid, begin: Event = begin) -> list[float]:
            begin.wait()
            return [agents.run("lrta", Problem(grid, (0, 0), (29, k))).cost for k in range(5)]

        with ThreadPoolExecutor(4) as threads:
            futures = [threads.submit(work) for _ in range(4)]
            begin.set()
            assert all(future.result() == futures[0].result() for future in futures)

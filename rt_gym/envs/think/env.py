"""RTThink-v0: its settings, the single environment and the batched one."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import to_floats
from rt_gym.envs.batch import (
    OwnMaps,
    Results,
    concatenate_maps,
    known_truth,
    locate,
    make_own_maps,
    replace_problem,
    tabulate_problems,
)
from rt_gym.envs.settings import LARGEST, Settings
from rt_gym.envs.single import GridEnv
from rt_gym.envs.step import LOST, OVERRAN, make_step_info
from rt_gym.envs.think.batch import (
    ThinkBatch,
    ThinkStepInfo,
    bytes_of_episodes,
    machine_memory,
    make_think_episodes,
    make_thread_arrays,
    start_all,
    step_range,
)
from rt_gym.envs.think.episode import GOAL_FOUND, THOUGHT, ThinkTerms, begin, make_goal, possible_now, step
from rt_gym.envs.vector import GridVectorEnv
from rt_gym.errors import InputError, whole
from rt_gym.features.thinking import GROUPS, THOUGHTS, make_think_memory
from rt_gym.handles import handle
from rt_gym.problem import Problem
from rt_gym.search.slices import ACT, THINK
from rt_gym.search.space import OPEN
from rt_gym.terrain import MAX_CELLS, fill_h0, positions
from rt_gym.world import World

# The action mask for every combination of the bits of possible actions.
MASKS = (np.arange(4)[:, None] >> np.array([ACT, THINK]) & 1).astype(np.int8)


class ThinkSettings(Settings):
    """What an environment with one slice of time per step is made of; an action is to act or to think.

    Args:
        slice: how many states are expanded in a slice of thinking.
        goal_moves: after how many moves, slices among them, the goal makes a step; None for a goal that stays. See
            ``rt_gym.envs.think.episode`` for how it walks.
    """

    def __init__(self, slice: int = 20, goal_moves: int | None = None, **settings: Any) -> None:
        self.slice = whole("slice", slice, 1, MAX_CELLS)
        self.goal_moves = None if goal_moves is None else whole("goal_moves", goal_moves, 1, 10**9)
        super().__init__(**settings)
        self.actions = 2
        # Whether the episodes of a batch need maps of their own.
        self.private = self.fog or any(problem.changes for problem in self.pool)

    @cached_property
    def parts(self) -> dict[str, slice]:
        """Where the named parts of an observation stand in the flat vector."""
        begins = [THOUGHTS.index(first) for first in GROUPS.values()] + [len(THOUGHTS)]
        return dict(zip(GROUPS, map(slice, begins, begins[1:]), strict=True))

    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the least and the largest that an observation can hold."""
        high = np.full(self.size, LARGEST, np.float32)
        return -high, high

    def terms(self) -> ThinkTerms:
        """Return the settings as kernels take them."""
        return ThinkTerms(rules=self.rules(), slice=self.slice, goal_moves=self.goal_moves or 0)


class RTThinkEnv(GridEnv[ThinkSettings]):
    """Grid pathfinding in slices of time: the agent thinks on where it stands, or makes a move.

    ## Description
    Time passes while an agent thinks. To think is A* from where the agent stands, with the learned values and on the
    map as it is believed, ``slice`` expansions at a time. To act is to learn from that search, to commit to its path to
    the best open state, and to take one step; later acts follow the path. This is LSS-LRTA*, whose lookahead is as
    large as the policy makes it. To think on the way drops the path, and a new search begins.

    With ``goal_moves`` the goal makes a step every so many moves. Search and path lead to where it was when the search
    began; the next search begins with where it is.

    ## Action Space
    ``Discrete(2)``: 0 acts, 1 thinks. Where there is neither a search nor a committed path, to act is to think; where
    one of them has reached the goal, and the goal is still there, to think is to act. The action mask is 0 for an
    action that is the other one.

    ## Observation Space
    One flat ``Box``, or with ``observation="dict"`` its parts by name: ``history``, ``search`` (the open search, 0
    where there is none), ``path`` (the way ahead) and ``trail`` (the episode so far); ``rt_gym.features.thinking`` says
    what they hold. Every feature x is given as sign(x) · log(1 + abs(x)). Costs, values and distances are in straight
    steps.

    ## Rewards
    Minus the time: 1 for a slice of thinking, and the cost of the move for acting. The return is minus the
    goal-achievement time. ``reward``, ``price`` and ``shaping`` change that; see below.

    ## Starting State
    A problem of the pool, chosen by the seed of ``reset`` or by its ``options``. Nothing has been searched or learned.

    ## Episode End
    It terminates at the goal. It is truncated after ``max_moves`` moves, of which a slice is one, where all that can be
    reached has been searched in vain, and where learning has overrun a budget of scans. A slice that is larger than the
    budget ends where the budget does, and the next one goes on from there.
    """

    settings_type = ThinkSettings

    def _prepare(self) -> None:
        self._memory = make_think_memory((self.settings.side + 2) ** 2, self.settings.history)
        self._terms, self._masks, self._goal = self.settings.terms(), list(MASKS), make_goal()

    def _handle(self, world: World) -> Any:
        return world.handle(memory=self._memory, goal=self._goal, terms=self._terms, task=self._task)

    def _begin(self, out: NDArray[np.float32]) -> None:
        self.kernel_view.painter = self._layers
        begin(self._episode, self._random, out)

    def _advance(self, action: int, out: NDArray[np.float32]) -> tuple[float, int, dict[str, Any]]:
        reward, flags, expansions, scans, possible, cell = step(self._episode, action, out)
        if cell != self.kernel_view.goal_cell:
            self._show_goal(cell)
        info = {
            "action_mask": self._masks[possible].copy(),
            "thought": flags & THOUGHT != 0,
            "found": flags & GOAL_FOUND != 0,
            "expansions": expansions,
            "scans": scans,
        }
        return reward, flags, info

    def _show_goal(self, cell: int) -> None:
        """Let views and pictures know where the goal is."""
        view = self.kernel_view
        view.goal, view.goal_cell = view.position_of(cell), cell

    def action_masks(self) -> NDArray[np.int8]:
        """Return which actions are not the other one under another name, as sb3-contrib's masked learners ask for."""
        return self._masks[possible_now(self._episode)].copy()

    def _layers(self) -> dict[str, NDArray[Any]]:
        """Return what can be drawn: how much was learned, and all that the last search has expanded so far."""
        view, space = self.kernel_view, self._memory.space
        count = space.state[0].slots
        first = np.empty(view.terrain.free.size, np.int64)
        fill_h0(view.terrain, self._goal.state[0].aim, first)
        learned: Any = self._memory.h
        risen = to_floats(learned[: first.size]) - to_floats(first)
        expanded = space.cell[:count][space.role[:count] != OPEN]
        return {"expanded": positions(view.terrain, expanded), "h": view.inner(risen)}


class RTThinkVectorEnv(GridVectorEnv[ThinkSettings]):
    """The batched twin of ``RTThinkEnv``: many episodes, each with a search of its own, in one kernel call.

    The budget binds every episode. More episodes than the machine's memory can hold in the worst case are refused.
    """

    settings_type = ThinkSettings

    def _prepare(self) -> None:
        settings = self.settings
        self._check_memory()
        self._threads = [make_thread_arrays(settings) for _ in range(self.threads)]
        self._episodes = make_think_episodes(self.num_envs, settings, self._threads[0])
        self._own = self._own_maps(self.num_envs)
        self._maps, self._problems = concatenate_maps(settings.grids), tabulate_problems(settings)
        batch = ThinkBatch(
            maps=self._maps,
            problems=self._problems,
            truth=known_truth(),
            episodes=self._episodes,
            thread=self._threads[0],
            meter=self.budget.meter(),
            terms=settings.terms(),
            mode=self._mode,
        )
        self._handles = [handle(batch=batch._replace(thread=thread), extra=self._own) for thread in self._threads]

    def _replace_problem(self, k: int, problem: Problem) -> None:
        replace_problem(self._maps, self._problems, k, problem, self.settings.unit(problem), 0)

    def count_moves(
        self, actions: Any, info: dict[str, Any], moves: NDArray[np.int64], diagonals: NDArray[np.int64]
    ) -> None:
        """Bring the numbers of moves, and of diagonal ones among them, up to date after a step."""
        tally = self._episodes.arrays.trip.tally[:, 0]
        moves[:], diagonals[:] = tally["moves"], tally["diagonals"]

    def positions(self) -> NDArray[np.int32]:
        """Return where the agents of all episodes stand, n x 2."""
        episodes = self._episodes
        return locate(self._maps, self._problems, episodes.common.problem, episodes.arrays.trip.state["at"][:, 0])

    def _own_maps(self, count: int) -> OwnMaps | None:
        settings = self.settings
        return make_own_maps(count, settings.grids, settings.fog) if settings.private else None

    def _check_memory(self) -> None:
        thread, there = make_thread_arrays(self.settings), machine_memory()
        each = bytes_of_episodes(make_think_episodes(1, self.settings, thread), self._own_maps(1), thread)
        if self.num_envs * each > there:
            raise InputError(
                f"num_envs must be at most {there // each:.0f} here: an episode on maps of this size may take"
                f" {each / 1e6:.1f} MB, and this machine has {there / 1e9:.1f} GB"
            )

    def _begin(self, chosen: NDArray[np.bool_], results: Results) -> dict[str, Any]:
        info = make_step_info(ThinkStepInfo, self.num_envs)
        start_all(self._handles[0], chosen, results.observation, info)
        return {"action_mask": MASKS.take(info.possible, axis=0)}

    def _advance(self, actions: NDArray[np.int64], results: Results) -> dict[str, Any]:
        info = make_step_info(ThinkStepInfo, self.num_envs)
        self._run(step_range, actions, results, info)
        return {
            "action_mask": MASKS.take(info.possible, axis=0),
            "thought": info.flags & THOUGHT != 0,
            "found": info.flags & GOAL_FOUND != 0,
            "expansions": info.expansions,
            "scans": info.scans,
            "overrun": info.flags & OVERRAN != 0,
            "no_path": info.flags & LOST != 0,
        }

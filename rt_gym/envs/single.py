"""What the single environments share: choosing a problem, the world and its view, the clock, pictures, copies."""

import operator
import time
from abc import abstractmethod
from typing import Any, ClassVar, Generic, TypeVar

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.pictures import Pictured
from rt_gym.envs.pool import NOT_IN_POOL
from rt_gym.envs.settings import Settings, describe, index_of, refuse_unknown
from rt_gym.envs.step import LOST, OVERRAN, TASK, TERMINATED, TRUNCATED
from rt_gym.errors import BudgetExceeded, InputError, checked_seed, quoted
from rt_gym.features.frames import Frames
from rt_gym.grid import Grid
from rt_gym.maps.fresh import pick
from rt_gym.meter import OVERRUN, Budget
from rt_gym.problem import Problem
from rt_gym.terrain import positions
from rt_gym.turns import Turn
from rt_gym.views import KernelView, View
from rt_gym.world import World

_ALL = np.ones(1, np.bool_)  # the one episode

# By the bits of a step up to LOST: whether the episode terminated or was cut, the budget overrun, and no way known.
_UP_TO_LOST = 2 * LOST - 1
_OUTCOMES = [
    tuple(flags & bit != 0 for bit in (TERMINATED, TRUNCATED, OVERRAN, LOST)) for flags in range(_UP_TO_LOST + 1)
]


def seeded(seed: int | None) -> NDArray[np.uint64]:
    """Return the state of an episode's generator; the batched environments seed their episodes by the same rule."""
    return np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)


S = TypeVar("S", bound=Settings)


class GridEnv(Pictured, gym.Env[Any, Any], Generic[S]):
    """An episode on a grid with a metered compute budget per move. See docs/environments.md.

    Args:
        budget: the limit per move, a number of expansions or a Budget; None counts without a limit.
        render_mode: ``"human"``, ``"rgb_array"``, ``"ansi"`` or None.
        render_size: width and height of a frame in pixels.
        zoom: draw this many cells around the agent; the whole map when None.

    All other arguments are those of ``settings_type``.
    """

    settings_type: ClassVar[type[Any]]
    first_action: ClassVar[int] = 0
    first_action_name: ClassVar[str] = ""  # what a message about a wrong action says of it
    _frames: Frames | None = None  # the last observations, where several are shown as one

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        describe(cls, cls.settings_type)

    def __init__(
        self,
        budget: Budget | int | None = 1000,
        render_mode: str | None = None,
        render_size: tuple[int, int] = (640, 640),
        zoom: int | None = None,
        **settings: Any,
    ) -> None:
        self._set_up_pictures(render_mode, render_size, zoom)
        refuse_unknown(type(self), settings)
        self.settings: S = self.settings_type(**settings)
        self._turn = Turn("environment")
        self.budget = Budget.of(budget)
        self.action_space = self.settings.action_space()
        self.observation_space = self.settings.observation_space()
        self._task = np.zeros(1, TASK)  # of the current episode; kernels read it
        self._random = seeded(None)
        self._worlds: dict[Grid, World] = {}
        self._world: World | None = None
        self._size, self._dtype = self.settings.size, self.settings.dtype
        self._seconds, self._returned, self._over = self.budget.seconds, 0.0, True
        self._watched = self._seconds is not None or render_mode == "human"
        self._prepare()
        self._flat = self.settings.observation == "box" and self._frames is None

    # What the environments differ in

    @abstractmethod
    def _prepare(self) -> None:
        """Make what is kept from episode to episode."""

    @abstractmethod
    def _handle(self, world: World) -> Any:
        """Return what kernels need for an episode in this world, as one argument."""

    @abstractmethod
    def _begin(self, out: NDArray[Any]) -> None:
        """Begin the episode ``self._episode`` and write its first observation."""

    @abstractmethod
    def _advance(self, action: int, out: NDArray[Any]) -> tuple[float, int, dict[str, Any]]:
        """Make one step and write the next observation; return the reward, the bits of ``make_move``, and the info."""

    @abstractmethod
    def action_masks(self) -> NDArray[np.int8]:
        """Return which actions lead somewhere, as sb3-contrib's masked learners ask for it."""

    # Episodes

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: chooses the problem, and those of the episodes after it.
            options: ``{"problem": Problem}`` or ``{"index": k}`` of the pool, or ``{"start": (x, y), "goal": (x, y)}``
                on the first map or on ``{"map": k}``.
        """
        with self._turn:
            return self._reset(seed, {} if options is None else options)

    def _reset(self, seed: int | None, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=checked_seed(seed))
        if seed is not None:
            self._random = seeded(seed)
        problem, index = self._choose(options)
        self._enter(problem)
        out = np.empty(self._size, self._dtype)
        self._begin(out)
        info = {
            "action_mask": self.action_masks(),
            "position": problem.start,
            "goal": problem.goal,
            "index": index,
            "map": problem.grid.name,
            "optimal": self.settings.shown_optimal(problem),
        }
        self._show()
        if self._frames is not None:
            out = self._frames.begin(_ALL, out[None])[0]
        return self.settings.named(out), info

    def _show(self) -> None:
        """Draw the new state where somebody looks on, and begin to wait for the next action."""
        if self.render_mode == "human":
            self.render()
        self._returned = time.perf_counter()

    def _is_late(self) -> bool:
        """Whether the action took longer than the budget allows; the move is lost then."""
        late = self._seconds is not None and time.perf_counter() - self._returned > self._seconds
        if late:
            self._world.trip.state["verdict"] = OVERRUN  # type: ignore[union-attr]
        return late

    def _enter(self, problem: Problem) -> None:
        """Set up the world of a problem, in the arrays of an earlier episode on the same map where there was one."""
        world = self._worlds.get(problem.grid)
        if world is not None:
            world.restart(problem)
        else:
            log, path = (0, 0) if self.render_mode is None else (1 << 16, self.settings.max_moves)
            world = World(problem, self.budget, path, log)
            if problem.grid in self.settings.grids:
                self._worlds[problem.grid] = world
        self._world = world
        self._task["goal"], self._task["unit"] = world.kernel_view.goal_cell, self.settings.unit(problem)
        self._episode = self._handle(world)
        self._map = problem.grid.name
        self._over = False

    def _choose(self, options: dict[str, Any]) -> tuple[Problem, int]:
        """Return the problem of the next episode and which one of the pool it is, -1 for none of it."""
        known = {"problem", "index", "map", "start", "goal"}
        if not isinstance(options, dict) or not set(options) <= known:
            raise InputError(f"options may hold {', '.join(sorted(known))}, not {quoted(options)}")
        pool, grids = self.settings.pool, self.settings.grids
        if "problem" in options:
            return self._admitted(options["problem"]), NOT_IN_POOL
        if options and self.settings.fresh:
            raise InputError(f"where maps are made for every episode, options may hold problem, not {quoted(options)}")
        if "index" in options:
            index = index_of("index", options["index"], len(pool))
            return pool[index], index
        if ("start" in options) != ("goal" in options):
            raise InputError("options must hold both start and goal, or none of them")
        if "start" in options:
            grid = grids[index_of("map", options.get("map", 0), len(grids))]
            given = Problem(grid, options["start"], options["goal"], self.settings.vision, self.settings.changes)
            return given, NOT_IN_POOL
        if "map" in options:
            grid = grids[index_of("map", options["map"], len(grids))]
            among = [k for k, problem in enumerate(pool) if problem.grid is grid]
            index = among[int(pick(self._random, len(among)))]
            return pool[index], index
        return self._drawn()

    def _drawn(self) -> tuple[Problem, int]:
        """Return the problem that the episode's generator chooses."""
        pool, fresh = self.settings.pool, self.settings.fresh
        if fresh:
            return fresh.problem(self._random, pool[0]), NOT_IN_POOL
        index = int(pick(self._random, len(pool)))
        return pool[index], index

    def _admitted(self, problem: Any) -> Problem:
        if not isinstance(problem, Problem):
            raise InputError(f"options['problem'] must be a Problem, not {quoted(problem)}")
        first, grid = self.settings.grids[0], problem.grid
        if (grid.connectivity, grid.cost) != (first.connectivity, first.cost):
            raise InputError("options['problem'] has another connectivity or cost model than this environment")
        if max(grid.width, grid.height) > self.settings.side or (problem.vision is not None and not self.settings.fog):
            raise InputError("options['problem'] does not fit the observations: a larger map, or fog in a clear world")
        return problem

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make one step of the episode."""
        if self._over:
            raise gym.error.ResetNeeded("step was called before reset, or after the end of an episode")
        chosen = self._checked(action)
        late = self._watched and self._is_late()
        out = np.empty(self._size, self._dtype)
        if not self._turn.acquire(False):
            raise self._turn.refusal()
        try:
            reward, flags, info = self._advance(chosen, out)
        finally:
            self._turn.release()
        terminated, truncated, overran, lost = _OUTCOMES[flags & _UP_TO_LOST]
        if overran and self.budget.on_overrun == "raise":
            excess = f"took more than {self._seconds} seconds" if late else self._world.excess  # type: ignore[union-attr]
            raise BudgetExceeded(f"move {self.kernel_view.moves + 1} {excess}")
        self._over = terminated or truncated
        info["overrun"], info["no_path"] = overran, lost
        if self._watched:
            self._show()
        return out if self._flat else self._seen(out), reward, terminated, truncated, info

    def _seen(self, latest: NDArray[Any]) -> Any:
        """Return an observation as asked for, with those before it where several are shown."""
        return self.settings.named(latest if self._frames is None else self._frames.push(latest[None])[0])

    def _checked(self, action: Any) -> int:
        actions = self.settings.actions
        if type(action) is int and 0 <= action < actions:
            return action
        try:
            value = operator.index(action)
        except TypeError:
            value = actions
        if not self.first_action <= value < actions:
            raise InputError(
                f"action must be a whole number from 0 to {actions - 1}{self.first_action_name}, not {quoted(action)}"
            )
        return value

    @property
    def view(self) -> View:
        """What an agent may know of the current episode."""
        if self._world is None:
            raise gym.error.ResetNeeded("there is nothing to see before reset")
        return self._world.view

    @property
    def kernel_view(self) -> KernelView:
        """The arrays behind the view, for kernels and pictures."""
        if self._world is None:
            raise gym.error.ResetNeeded("there is nothing to see before reset")
        return self._world.kernel_view

    def _scene(self) -> Any:
        from rt_gym.render import Scene

        view, moves = self.kernel_view, self.kernel_view.moves
        return Scene(
            passable=view.passable,
            known=None if view.vision is None else view.known,
            position=view.position,
            start=view.start,
            goal=view.goal,
            trail=positions(view.terrain, view.trip.path[: moves + 1]),
            layers=view.painter() if view.painter else {},
            caption=f"{self._map}  move {moves}",
        )

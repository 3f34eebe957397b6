"""RTPath-v0 and RTPathFog-v0: their settings, the single environment and the batched one."""

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rt_gym.envs.batch import Results, concatenate_maps, locate, make_own_maps, replace_problem, tabulate_problems
from rt_gym.envs.path.batch import PathBatch, greedy_steps, make_path_episodes, start_all, step_range
from rt_gym.envs.path.episode import PARTS, WINDOW, PathTerms, begin, greedy_step, step
from rt_gym.envs.settings import Settings
from rt_gym.envs.single import GridEnv
from rt_gym.envs.step import BLOCKED
from rt_gym.envs.vector import GridVectorEnv
from rt_gym.errors import InputError, flag, quoted, whole
from rt_gym.features.frames import Frames
from rt_gym.features.history import CELL, make_track
from rt_gym.features.image import BRIGHT, CHANNELS, Memory, make_memory
from rt_gym.features.window import FARTHEST, make_bitmap, make_map_bits
from rt_gym.handles import handle
from rt_gym.problem import Problem
from rt_gym.trip import STAY, make_trip
from rt_gym.truth import sight
from rt_gym.world import World

_FIRST_DIAGONAL = 4  # direction, after the straight ones
_MOST_FRAMES = 64
_WINDOW, _IMAGE_WINDOW = 11, 37  # the second is the least odd number that Stable-Baselines3's convolutions take


class PathSettings(Settings):
    """What a path environment is made of.

    Args:
        window: side of the square around the agent that is observed, odd; None for 11, or 37 in an image.
        visits: whether a flat observation ends with a plane of how often the cells of that square have been visited.
        stack: how many observations are shown as one, the last and those before it, oldest first.
        stay: whether standing still is an action, the last one.
    """

    forms: ClassVar[tuple[str, ...]] = ("box", "dict", "image")

    def __init__(
        self,
        window: int | None = None,
        visits: bool = False,
        stack: int = 1,
        stay: bool = False,
        **settings: Any,
    ) -> None:
        if window is not None and whole("window", window, 1, 255) % 2 == 0:
            raise InputError(f"window must be odd, not {quoted(window)}")
        super().__init__(**settings)
        self.image, self.visits, self.stay = self.observation == "image", flag("visits", visits), flag("stay", stay)
        if self.image and visits:
            raise InputError("visits must be left out with images, which always show them")
        self.stack = whole("stack", stack, 1, _MOST_FRAMES)
        self.window = window or (_IMAGE_WINDOW if self.image else _WINDOW)
        self.directions = self.grids[0].connectivity
        self.actions = self.directions + self.stay
        # Whether the episodes of a batch need maps of their own.
        far = any(problem.changes or (problem.vision or 0) > FARTHEST for problem in self.pool)
        self.private = far or (self.image and self.fog)

    @property
    def planes(self) -> int:
        """How many planes the window has: what is blocked and, in fog, what is unknown."""
        return 2 if self.fog else 1

    @cached_property
    def parts(self) -> dict[str, slice]:
        """Where the named parts of an observation stand in the flat vector of one frame."""
        if self.image:
            return {"image": slice(0, len(CHANNELS) * self.window**2)}
        end = WINDOW + self.planes * self.window**2
        visits = {"visits": slice(end, end + self.window**2)} if self.visits else {}
        return PARTS | {"window": slice(WINDOW, end)} | visits

    def action_masks(self) -> NDArray[np.int8]:
        """Return, for every byte of move bits, which actions are legal; standing still always is."""
        bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(np.int8)
        still = np.ones((256, int(self.stay)), np.int8)
        return np.concatenate([bits[:, : self.directions], still], axis=1)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers of an observation."""
        return np.dtype(np.uint8) if self.image else super().dtype

    def observation_space(self) -> spaces.Box | spaces.Dict:
        """Return the space of observations: flat, in named parts, or images with the channels first."""
        if self.image:
            return spaces.Box(0, BRIGHT, (self.stack * len(CHANNELS), self.window, self.window), np.uint8)
        space = super().observation_space()
        if isinstance(space, spaces.Dict):
            return spaces.Dict({name: self._repeated(part) for name, part in space.items()})
        return self._repeated(space)

    def _repeated(self, space: Any) -> spaces.Box:
        return spaces.Box(np.tile(space.low, self.stack), np.tile(space.high, self.stack))

    def frames(self, episodes: int) -> Frames | None:
        """Return what keeps the last observations of so many episodes, None where one is all that is shown."""
        return Frames(episodes, self.stack, self.size, self.dtype) if self.stack > 1 else None

    def named(self, flat: NDArray[Any]) -> Any:
        """Return observations as asked for; several frames stand in the last but one dimension."""
        if self.stack == 1 and self.observation == "box":  # by far the most frequent case
            return flat
        rows = flat.shape[:-1] if self.stack == 1 else flat.shape[:-2]
        if self.image:
            return flat.reshape(*rows, self.stack * len(CHANNELS), self.window, self.window)
        if self.observation == "box":
            return flat.reshape(*rows, -1)
        return {name: part.reshape(*rows, -1) for name, part in super().named(flat).items()}

    def memory(self, cells: int, *rows: int) -> Memory | None:
        """Return the memory of one episode, or of rows of them, on maps of up to so many cells."""
        if not (self.image or self.visits):
            return None
        return make_memory(rows, cells, self.image, self.window)

    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the least and the largest that an observation can hold."""
        low, high = np.zeros(self.size, np.float32), np.ones(self.size, np.float32)
        low[self.parts["goal"]] = -1.0
        distances = self.parts["history"].start
        high[distances : distances + 2] = 2.0  # Manhattan distance reaches twice the side
        return low, high

    def terms(self) -> PathTerms:
        """Return the settings as kernels take them."""
        return PathTerms(
            rules=self.rules(),
            radius=self.window // 2,
            planes=self.planes,
            per_side=1.0 / self.side,
            per_step=1.0 / self.history,
            still=self.directions if self.stay else -1,
        )


class RTPathEnv(GridEnv[PathSettings]):
    """Grid pathfinding, move by move, with a metered compute budget per move.

    ## Description
    An agent walks over a grid from a start to a goal. Before each move it may think, through ``rt_gym.view(env)``; what
    it expands is metered, and a move that needed more than the budget is lost or ends the episode. A policy that only
    maps observations to actions expands nothing. ``RTPathFog-v0`` is this environment with ``vision=1``.

    ## Action Space
    ``Discrete(8)``: the directions E, S, W, N, SE, NE, SW, NW; ``Discrete(4)`` on maps with four neighbours. With
    ``stay=True`` the last action stands still; ``rt_gym.STAY`` is accepted whether or not it is in the space. Walking
    into a wall keeps the agent in place and costs a straight step.

    ## Observation Space
    One flat ``Box``, or with ``observation="dict"`` its parts by name: ``goal`` (columns and rows to the goal),
    ``position``, ``history`` (see ``rt_gym.features.history``), ``budget`` (the share that the last move left), and
    ``window``, the square around the agent: what is blocked and, in fog, a second plane of what has not been seen.
    With ``visits=True`` the part ``visits`` follows: how often each cell of the square has been visited. Coordinates
    and distances are divided by the longest side of any map. ``observation="image"`` is a ``Box`` of bytes, four
    channels of the square instead: what is blocked, unknown and visited, and where the goal is. With ``stack=n`` the
    last n observations stand one after the other, oldest first: n times as many numbers, or channels.

    ## Rewards
    Minus the cost of the move. ``reward``, ``price`` and ``shaping`` change that; see below.

    ## Starting State
    A problem of the pool, chosen by the seed of ``reset`` or by its ``options``.

    ## Episode End
    It terminates at the goal. It is truncated after ``max_moves`` moves, where an overrun ends it, and where an agent
    knows no way to the goal.
    """

    settings_type = PathSettings
    first_action = STAY
    first_action_name = " or STAY"

    def _prepare(self) -> None:
        self._frames = self.settings.frames(1)
        self._masks = list(self.settings.action_masks())
        self._track, self._terms = make_track(self.settings.history), self.settings.terms()
        self._memory = self.settings.memory((self.settings.side + 2) ** 2)

    def _handle(self, world: World) -> Any:
        return world.handle(track=self._track, terms=self._terms, task=self._task, memory=self._memory)

    def _begin(self, out: NDArray[np.float32]) -> None:
        begin(self._episode, out)

    def _advance(self, action: int, out: NDArray[np.float32]) -> tuple[float, int, dict[str, Any]]:
        reward, flags, expansions, scans, moves = step(self._episode, action, out)
        info = {
            "action_mask": self._masks[moves].copy(),
            "blocked": flags & BLOCKED != 0,
            "expansions": expansions,
            "scans": scans,
        }
        return reward, flags, info

    def action_masks(self) -> NDArray[np.int8]:
        """Return which actions lead somewhere, as sb3-contrib's masked learners ask for it."""
        return self._masks[self.kernel_view.terrain.mask[self.kernel_view.cell_now]].copy()

    def greedy_actions(self) -> int:
        """Return the action that leads to the neighbour nearest to the goal by the heuristic."""
        return int(greedy_step(self._episode))


class RTPathVectorEnv(GridVectorEnv[PathSettings]):
    """The batched twin of ``RTPathEnv``, for policies: thousands of episodes in one kernel call.

    There is no meter, as nothing here expands a state, and so there is no ``budget``.
    """

    settings_type = PathSettings
    metered = False

    def _prepare(self) -> None:
        settings, problems = self.settings, tabulate_problems(self.settings)
        self._frames = settings.frames(self.num_envs)
        maps, own = concatenate_maps(settings.grids), None
        if settings.private:
            own = make_own_maps(self.num_envs, settings.grids, settings.fog)
        else:
            if maps.begin[-1] > CELL:
                raise InputError(f"map: those of a batch may have {CELL:,} cells together, not {maps.begin[-1]:,}")
            map_begin = maps.begin[problems.map]
            problems = problems._replace(start=problems.start + map_begin, goal=problems.goal + map_begin)
        margin = max(settings.window // 2, *(0 if settings.private else sight(problem) for problem in settings.pool), 0)
        bits = make_map_bits(settings.grids, margin, settings.fog, settings.private)
        seen = int(np.diff(bits.begin).max()) if bits.unseen.size else 0
        self._maps, self._problems, self._bits = maps, problems, bits
        self._episodes = make_path_episodes(self.num_envs, settings.history, seen)
        shared = PathBatch(maps, bits, problems, self._episodes, make_trip(0), settings.terms(), self._mode)
        memory = settings.memory(int(np.diff(maps.begin).max()), self.num_envs)
        self._handles = [
            handle(batch=shared._replace(trip=make_trip(0)), own=own, memory=memory) for _ in range(self.threads)
        ]
        self._masks = settings.action_masks()
        directions = np.arange(settings.actions)
        self._diagonal = (directions >= _FIRST_DIAGONAL) & (directions < settings.directions)

    def _replace_problem(self, k: int, problem: Problem) -> None:
        settings, bits = self.settings, self._bits
        first = 0 if settings.private else int(self._maps.begin[k])
        replace_problem(self._maps, self._problems, k, problem, settings.unit(problem), first)
        if not settings.private:
            bits.blocked[bits.begin[k] : bits.begin[k + 1]] = make_bitmap(~problem.grid.passable, bits.margin)

    def _begin(self, chosen: NDArray[np.bool_], results: Results) -> dict[str, Any]:
        moves = np.empty(self.num_envs, np.intp)
        start_all(self._handles[0], chosen, results.observation, moves)
        return {"action_mask": self._masks.take(moves, axis=0)}

    def _advance(self, actions: NDArray[np.int64], results: Results) -> dict[str, Any]:
        blocked, moves = np.empty(self.num_envs, np.bool_), np.empty(self.num_envs, np.intp)
        self._run(step_range, actions, *results, blocked, moves)
        return {"action_mask": self._masks.take(moves, axis=0), "blocked": blocked}

    def greedy_actions(self) -> NDArray[np.int64]:
        """Return for every episode the action that leads to the neighbour nearest to the goal by the heuristic."""
        actions = np.empty(self.num_envs, np.int64)
        greedy_steps(self._handles[0], actions)
        return actions

    def count_moves(
        self, actions: Any, info: dict[str, Any], moves: NDArray[np.int64], diagonals: NDArray[np.int64]
    ) -> None:
        """Bring the numbers of moves, and of diagonal ones among them, up to date after a step."""
        moves += 1
        diagonals += self._diagonal.take(actions) & ~info["blocked"]

    def positions(self) -> NDArray[np.int32]:
        """Return where the agents of all episodes stand, n x 2."""
        problems = self._episodes.common.problem if self.settings.private else None  # otherwise cells count through all
        return locate(self._maps, self._problems, problems, self._episodes.at)

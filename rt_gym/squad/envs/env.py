"""RTSquad-v0: the single environment and the batched one."""

import operator
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.batch import Common, Results, make_common
from rt_gym.envs.pictures import Pictured
from rt_gym.envs.settings import describe, index_of, refuse_unknown
from rt_gym.envs.single import seeded
from rt_gym.envs.step import TERMINATED, TRUNCATED
from rt_gym.envs.vector import GridVectorEnv
from rt_gym.errors import InputError, checked_seed, quoted
from rt_gym.problem import Problem
from rt_gym.squad import RULES, Squad
from rt_gym.squad.envs.batch import SquadAssignment, SquadEpisodes, start_all, step_range
from rt_gym.squad.envs.dealer import SquadSettings
from rt_gym.squad.envs.episode import COUNTS, SquadEpisode, choose_problems
from rt_gym.squad.picture import squad_scene
from rt_gym.turns import Turn

MASK = np.ones(len(RULES), np.int8)  # all rules are always possible


class RTSquadEnv(Pictured, gym.Env[Any, Any]):
    """Dealing thinking time: many units share what may be computed in a tick, and the agent says who gets how much.

    ## Description
    Every unit has a start, a goal, and an agent that plans a few moves ahead whenever its plan has run out. In a tick
    the allowance is dealt over the units that must plan, they plan, and all move one step. Who gets nothing stands
    still; who gets too little sees less. One step is one tick. See ``rt_gym.Squad``.

    ## Action Space
    ``Discrete(4)``: the rule by which this tick is dealt, in the order of ``rt_gym.squad.RULES``. With
    ``action="shares"`` a ``Box`` of a weight from 0 to 1 for every unit, in proportion to which the allowance is dealt;
    those of units that need not plan do not count.

    ## Observation Space
    A ``Box`` with a row for every unit; ``rt_gym.features.dealing`` says what stands in it.

    ## Rewards
    Minus the number of units that were under way in this tick: the return is minus the sum of all units'
    goal-achievement times. With ``reward="mean"`` it is divided by the number of units.

    ## Starting State
    Problems of the pool, one per unit, on one map, chosen by the seed of ``reset`` or by its ``options``.

    ## Episode End
    It terminates when all units stand on their goals, and is truncated after ``max_ticks`` ticks.

    Args:
        render_mode: ``"human"``, ``"rgb_array"``, ``"ansi"`` or None.
        render_size: width and height of a frame in pixels.
        zoom: draw this many cells around the first unit; the whole map when None.
    """

    settings_type = SquadSettings

    def __init__(
        self,
        render_mode: str | None = None,
        render_size: tuple[int, int] = (640, 640),
        zoom: int | None = None,
        **settings: Any,
    ) -> None:
        self._set_up_pictures(render_mode, render_size, zoom)
        refuse_unknown(type(self), settings)
        self.settings = SquadSettings(**settings)
        self._turn = Turn("environment")
        self.action_space, self.observation_space = self.settings.action_space(), self.settings.observation_space()
        self._episode = SquadEpisode(self.settings)
        self._random, self._over, self._begun = seeded(None), True, False

    @property
    def squad(self) -> Squad:
        """The squad of the current episode; to look at, not to change."""
        if not self._begun:
            raise gym.error.ResetNeeded("there is no squad before reset")
        return self._episode.squad

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: chooses the problems, and those of the episodes after it.
            options: ``{"problems": [...]}`` with a Problem per unit, or ``{"map": k}`` for random ones on one map.
        """
        with self._turn:
            super().reset(seed=checked_seed(seed))
            if seed is not None:
                self._random = seeded(seed)
            out = self.settings.named(np.empty(self.settings.size, np.float32))
            self._episode.begin(self._random, out, self._chosen({} if options is None else options))
            self._begun, self._over = True, False
        squad = self.squad
        info: dict[str, Any] = {"positions": squad.positions, "goals": squad.goals, "map": squad.grid.name}
        info["index"] = np.array(self._episode.index)
        self._show()
        return out, info | self._masks()

    def _chosen(self, options: Any) -> list[Problem] | None:
        """Return the problems of an episode where options say something about them."""
        known = {"problems"} if self.settings.fresh else {"problems", "map", "index"}
        if not isinstance(options, dict) or not set(options) <= known:
            raise InputError(f"options may hold {', '.join(sorted(known))}, not {quoted(options)}")
        if "problems" in options:
            given = options["problems"]
            if not isinstance(given, Sequence) or len(given) != self.settings.units:
                raise InputError(f"options['problems'] must be {self.settings.units} problems, not {quoted(given)}")
            return list(given)
        if "index" in options:
            return self.settings.problems_of(options["index"])
        if "map" in options:
            maps = self.settings.maps
            return choose_problems(self._random, maps[index_of("map", options["map"], len(maps))], self.settings.units)
        return None

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Let one tick pass."""
        if self._over:
            raise gym.error.ResetNeeded("step was called before reset, or after the end of an episode")
        chosen = self._checked(action)
        out = self.settings.named(np.empty(self.settings.size, np.float32))
        with self._turn:
            reward, flags = self._episode.step(chosen, out)
        terminated, truncated = flags & TERMINATED != 0, flags & TRUNCATED != 0
        self._over = terminated or truncated
        self._show()
        return (
            out,
            reward,
            terminated,
            truncated,
            dict(zip(COUNTS, self._episode.counts(), strict=True)) | self._masks(),
        )

    def _checked(self, action: Any) -> Any:
        if not self.settings.deals_rules:
            return self.settings.check_shares(action)
        try:
            value = operator.index(action)
        except TypeError:
            value = -1
        if not 0 <= value < len(RULES):
            raise InputError(f"action must be a whole number from 0 to {len(RULES) - 1}, not {quoted(action)}")
        return value

    def _masks(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks()} if self.settings.deals_rules else {}

    def action_masks(self) -> NDArray[np.int8]:
        """Return which rules are possible: all of them."""
        return MASK.copy()

    def _show(self) -> None:
        """Draw the new state where somebody looks on."""
        if self.render_mode == "human":
            self.render()

    def _scene(self) -> Any:
        squad = self.squad
        arrived = f"{int(squad.arrived.sum())} of {self.settings.units} arrived"
        return squad_scene(squad, caption=f"{squad.grid.name}  tick {squad.ticks}  {arrived}")


describe(RTSquadEnv, SquadSettings)


class RTSquadVectorEnv(GridVectorEnv[Any]):
    """The batched twin of ``RTSquadEnv``: many squads, each of which ticks by itself."""

    settings_type = SquadSettings
    longest = "max_ticks"
    metered = False  # an allowance takes the place of a budget
    settings: SquadSettings

    def _prepare(self) -> None:
        common: Common = make_common(self.num_envs)
        squads = [SquadEpisode(self.settings) for _ in range(self.num_envs)]
        self._episodes = SquadEpisodes(common, squads, self.settings, self._mode)
        self._handles = [self._episodes] * self.threads

    @property
    def squads(self) -> list[Squad]:
        """The squads of the current episodes; to look at, not to change."""
        return [episode.squad for episode in self._episodes.squads]

    def _assign(self) -> SquadAssignment:
        return SquadAssignment(self._episodes)

    def _begin(self, chosen: NDArray[np.bool_], results: Results) -> dict[str, Any]:
        self._run(start_all, chosen, results.observation)
        return self._masks()

    def _advance(self, actions: NDArray[Any], results: Results) -> dict[str, Any]:
        counts = np.zeros((len(COUNTS), self.num_envs), np.int64)
        self._run(step_range, actions, results, counts)
        return dict(zip(COUNTS, counts, strict=True)) | self._masks()

    def _masks(self) -> dict[str, Any]:
        return {"action_mask": np.tile(MASK, (self.num_envs, 1))} if self.settings.deals_rules else {}

    def _checked(self, actions: Any) -> NDArray[Any]:
        if self.settings.deals_rules:
            return super()._checked(actions)
        return self.settings.check_shares(actions, (self.num_envs,))

"""RTSquadParallel: a PettingZoo environment in which every unit of a squad moves itself.

Importing this module imports PettingZoo where it is installed; nothing else in the package does.
"""

import operator
from inspect import signature
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.settings import describe, frame_size
from rt_gym.envs.step import BLOCKED, LOST, OVERRAN, TERMINATED, TRUNCATED
from rt_gym.errors import BudgetExceeded, InputError, MissingLibrary, checked_seed, quoted
from rt_gym.meter import Budget
from rt_gym.squad.envs.crew import Crew
from rt_gym.squad.envs.moves import GONE
from rt_gym.squad.envs.settings import FIXED, ParallelSettings
from rt_gym.terrain import positions
from rt_gym.trip import STAY
from rt_gym.turns import Turn
from rt_gym.views import View

_MISSING: ImportError | None = None
try:
    from pettingzoo import ParallelEnv
except ImportError as error:
    _MISSING = error
    ParallelEnv = object

Results = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class RTSquadParallel(ParallelEnv):
    """Many units on one map, each of which is moved by an action of its own. See docs/environments.md.

    ## Description
    Every unit has a start and a goal. In a tick all act at once; they move one after the other, by their numbers, each
    into a cell that is free at that moment, so that no two ever share a cell or swap. Who finds its way barred stands
    still. A unit may think before it moves, through ``env.view("unit_0")``, under a budget of its own.

    ## Action Space
    ``Discrete(9)``: the directions E, S, W, N, SE, NE, SW, NW, and standing still; ``Discrete(5)`` on maps with four
    neighbours. ``rt_gym.STAY`` stands still as well.

    ## Observation Space
    That of ``RTPath-v0``, and ``others``: where other units are in the window, as far as they are in ``sight``.

    ## Rewards
    Those of ``RTPath-v0``, for every unit its own. To stay on the goal costs nothing.

    ## Starting State
    Problems of the pool that are on one map, chosen by the seed of ``reset``, or ``options={"problems": [...]}``.

    ## Episode End
    A unit is terminated on its goal, and leaves the map; with ``on_arrival="stay"`` all are, when all stand on their
    goals. It is truncated after ``max_ticks`` ticks, where an overrun ends it and, unless units block each other, where
    its agent knows no way to the goal.

    Args:
        budget: the limit per unit and tick: a number of expansions, beyond which the unit stands still, or a Budget;
            None counts without a limit.
        render_mode: ``"rgb_array"`` or None.
        render_size: width and height of a frame in pixels.

    Raises:
        InputError: if PettingZoo is not installed, or for arguments that are not known.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "name": "rt_squad_parallel_v0",
        "render_modes": ["rgb_array"],
        "render_fps": 15,
        "is_parallelizable": True,
    }

    def __init__(
        self,
        budget: Budget | int | None = 1000,
        render_mode: str | None = None,
        render_size: tuple[int, int] = (640, 640),
        **settings: Any,
    ) -> None:
        if _MISSING is not None:
            raise MissingLibrary("RTSquadParallel needs PettingZoo: pip install 'rt_gym[multi]'") from _MISSING
        known = signature(type(self)).parameters
        for name in settings:
            if name not in known:
                raise InputError(f"RTSquadParallel has no argument {quoted(name)}; it has {', '.join(sorted(known))}")
        if render_mode not in (None, "rgb_array"):
            raise InputError(f'render_mode must be "rgb_array" or None, not {quoted(render_mode)}')
        self.settings = ParallelSettings(**settings)
        self.budget = _checked_budget(budget)
        self.render_mode, self.render_size = render_mode, frame_size(render_size)
        self.possible_agents = [f"unit_{i}" for i in range(self.settings.units)]
        self.agents: list[str] = []
        self._numbers = {name: i for i, name in enumerate(self.possible_agents)}
        self.observation_spaces = {name: self.settings.observation_space() for name in self.possible_agents}
        self.action_spaces = {name: self.settings.action_space() for name in self.possible_agents}
        self._turn = Turn("environment")
        self._random = np.random.default_rng()
        self._masks = list(self.settings.action_masks())
        self._crew: Crew | None = None

    def observation_space(self, agent: str) -> Any:
        """Return the space of a unit's observations, the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of a unit's actions, the same object each time."""
        return self.action_spaces[agent]

    # Episodes

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin an episode.

        Args:
            seed: chooses map, starts and goals, and those of the episodes after it.
            options: ``{"problems": [...]}``, one per unit, instead of a choice; other options are ignored.
        """
        with self._turn:
            if checked_seed(seed) is not None:
                self._random = np.random.default_rng(seed)
            given = options.get("problems") if isinstance(options, dict) else None
            problems = self.settings.draw(self._random) if given is None else self.settings.admit(given)
            self._crew = Crew(problems, self.settings, self.budget, int(self._random.integers(1 << 62)))
            out = self._crew.begin()
        self.agents = self.possible_agents.copy()
        infos = {}
        for name, problem, moves in zip(self.agents, problems, self._crew.steps["moves"].tolist(), strict=True):
            infos[name] = {
                "action_mask": self._masks[moves].copy(),
                "position": problem.start,
                "arrived": problem.start == problem.goal,
                "goal": problem.goal,
                "map": problem.grid.name,
                "optimal": self.settings.shown_optimal(problem),
            }
        return self._named(out, self.agents), infos

    def step(self, actions: dict[str, Any]) -> Results:
        """Let one tick pass: move every unit that is left by its action.

        Raises:
            InputError: for an action that is none, or units that have none or are not there.
        """
        if self._crew is None or not self.agents:
            raise gym.error.ResetNeeded("step was called before reset, or after the end of the episode of all units")
        chosen = self._checked(actions)
        with self._turn:
            out = self._crew.step(chosen)
        return self._results(self._crew, out)

    def _results(self, crew: Crew, out: NDArray[np.float32]) -> Results:
        """Return what a tick gives to the units that were there when it began; who is done leaves ``agents``."""
        names, numbers = self.agents, [self._numbers[name] for name in self.agents]
        live, flags, rewards = (crew.steps[part][numbers].tolist() for part in ("live", "bits", "reward"))
        self.agents = [name for name, alive in zip(names, live, strict=True) if alive != GONE]
        if self.budget.on_overrun == "raise":
            self._refuse_overrun(names, flags)
        return (
            self._named(out, names),
            dict(zip(names, rewards, strict=True)),
            {name: bits & TERMINATED != 0 for name, bits in zip(names, flags, strict=True)},
            {name: bits & TRUNCATED != 0 for name, bits in zip(names, flags, strict=True)},
            dict(zip(names, self._infos(crew, numbers), strict=True)),
        )

    def _infos(self, crew: Crew, numbers: list[int]) -> list[dict[str, Any]]:
        steps = crew.steps[numbers]
        where, arrived = positions(crew.grid.terrain, steps["after"]).tolist(), steps["after"] == crew.goals[numbers]
        parts = (steps["moves"], arrived, steps["bits"], steps["expansions"], steps["scans"])
        return [
            {
                "action_mask": self._masks[moves].copy(),
                "position": (x, y),
                "arrived": there,
                "bumped": bits & BLOCKED != 0,
                "expansions": expansions,
                "scans": scans,
                "overrun": bits & OVERRAN != 0,
                "no_path": bits & LOST != 0,
            }
            for (x, y), moves, there, bits, expansions, scans in zip(
                where, *(part.tolist() for part in parts), strict=True
            )
        ]

    def _refuse_overrun(self, names: list[str], flags: list[int]) -> None:
        for name, bits in zip(names, flags, strict=True):
            if bits & OVERRAN:
                raise BudgetExceeded(f"{name} needs more than its budget of {self.budget.limit} {self.budget.count}")

    def _named(self, out: NDArray[np.float32], names: list[str]) -> dict[str, Any]:
        return {name: self.settings.named(out[self._numbers[name]]) for name in names}

    def _checked(self, actions: Any) -> NDArray[np.int64]:
        """Return an entry per unit, STAY for those that are gone."""
        if not isinstance(actions, dict) or set(actions) != set(self.agents):
            raise InputError(f"actions must be a dict with an action for each of {quoted(self.agents)}")
        chosen, still = np.full(self.settings.units, STAY, np.int64), self.settings.directions
        for name, action in actions.items():
            try:
                value = operator.index(action)
            except TypeError:
                value = still + 1
            if not STAY <= value <= still:
                raise InputError(f"the action of {name} must be a whole number from 0 to {still}, not {quoted(action)}")
            chosen[self._numbers[name]] = STAY if value == still else value
        return chosen

    # What units know

    def view(self, agent: str) -> View:
        """Return what a unit may know; whoever plans for it searches through that, under the budget of the unit.

        Where units block each other, cells with others on them, as far as it sees them, are blocked in its view.
        """
        if self._crew is None:
            raise gym.error.ResetNeeded("there is nothing to see before reset")
        if agent not in self._numbers:
            raise InputError(f"there is no unit {quoted(agent)}; they are unit_0 to {self.possible_agents[-1]}")
        return self._crew.views[self._numbers[agent]]

    # Pictures

    def render(self) -> NDArray[np.uint8] | None:
        """Return a frame with all units that are on the map, the first of them as the agent; others are tinted cells.

        Their goals are drawn as subgoals.
        """
        if self.render_mode is None:
            gym.logger.warn("render was called without a render_mode; give one when the environment is made")
            return None
        if self._crew is None:
            raise gym.error.ResetNeeded("there is nothing to see before reset")
        from rt_gym import render

        return render.frame(self._crew.scene(), self.render_size)


def _checked_budget(budget: Any) -> Budget:
    """Return the budget of every unit. A number lets who overruns it stand still, as in a squad."""
    made = budget if isinstance(budget, Budget) or budget is None else Budget(budget, on_overrun="idle")
    if made is not None and made.seconds is not None:
        raise InputError("a budget of seconds is for single environments: units share the clock")
    return Budget.of(made)


describe(RTSquadParallel, ParallelSettings, FIXED)
parallel_env = RTSquadParallel

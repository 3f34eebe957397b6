"""Whatever is handed to a public name, it works or refuses in one sentence, in little time and memory."""

import inspect
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

import agents
import rt_gym
from fuzz.case import Case
from fuzz.draws import draw_problem, some_settings
from fuzz.values import FOUR, ISLANDS, PROBLEMS, ROOM, WALL, drawn, misnamed, position, wrong
from reference.batches import with_case
from rt_gym import Budget, BudgetExceeded, Grid, InputError, Problem, World
from rt_gym.envs import ids
from rt_gym.maps.generate import GENERATORS

CAVES = {"family": "caves", "width": 9, "height": 9, "density": 0.3, "steps": 1, "seed": 0, "count": 2}
FRESH = {"family": "random", "width": 9, "height": 9, "density": 0.3, "fresh": True}
CHANGES = [None, (), [(0, (1, 1), False)], [(2, (0, 1), True), (1, (1, 0), 0)], [(10**9, (0, 0), False)]]
BUDGETS = [None, 1, 7, 1000, Budget(3, "scans"), Budget(2, on_overrun="idle"), Budget(1, on_overrun="raise")]

# What the settings of environments may sensibly be.
SENSIBLE: dict[str, list[Any]] = {
    "map": [ISLANDS, ROOM, FOUR, WALL, "open-16", [ROOM, ISLANDS], [ROOM, FOUR], CAVES, [CAVES, ROOM], FRESH],
    "split": [None, "caves", "random-16-test"],
    "problems": [None, PROBLEMS[:3], PROBLEMS[3:6], PROBLEMS[:1] * 3, PROBLEMS, []],
    "optimal": [(1, 2), (0, 0), (3, 9), (2, 1), (0, np.inf), [1, 4]],
    "pool": [1, 2, 5],
    "pool_seed": [0, 1, 2**40],
    "vision": [None, 1, 2, 10**9],
    "changes": CHANGES,
    "observation": ["box", "dict", "image"],
    "visits": [True, False],
    "stack": [1, 2, 4],
    "reveal_optimal": [None, True, False],
    "history": [1, 20, 10_000],
    "reward": ["cost", "normalised", "time", "mean"],
    "price": [0, 0.1, 1e9],
    "shaping": [None, 0.0, 0.99, 1],
    "max_moves": [1, 3, 10**6],
    "window": [1, 3, 11, 101],
    "stay": [True, False],
    "budget": BUDGETS,
    "render_size": [(64, 64), (1, 1), [640, 480]],
    "zoom": [None, 1, 5],
    "d_max": [1, 5, 16, 100],
    "features": ["rich", "paper"],
    "level": [0, 1, 4, 11],
    "abstraction": ["clique", "tiles"],
    "slice": [1, 20, 10**6],
    "goal_moves": [None, 1, 3],
    "units": [1, 2, 7],
    "agent": ["rtaa", "lrta", ["rtaa", "lrta"]],
    "agent_settings": [None, {}, {"tie": "random"}, {"lookahead": 3}],
    "allowance": [None, 1, 30],
    "count": ["expansions", "scans"],
    "share": [None, 1, 10],
    "blocking": [True, False],
    "sight": [None, 1, 5],
    "push": [True, False],
    "shared_fog": [True, False],
    "action": ["rule", "shares"],
    "max_ticks": [1, 3, 10**6],
    "num_envs": [1, 2, 5],
    "autoreset_mode": [*AutoresetMode, "NextStep", "SameStep", "Disabled"],
    "max_episode_steps": [None, 1, 5],
    "threads": [1, 2],
}


def attempt(case: Case, call: Callable[[], Any]) -> Any:
    """Return what a call returns; None if it was refused as it should be."""
    try:
        made = call()
    except InputError as refusal:
        case.counts["refused"] += 1
        message = str(refusal)
        assert message, "a refusal without words"
        assert "\n" not in message, "a refusal of more than one line"
        assert len(message) < 1000, "a refusal of more than a sentence"
        return None
    case.counts["worked"] += 1
    return made


def check_environment(case: Case, env_id: str, batched: bool) -> None:
    """Make an environment with some options and take a few steps."""
    entry = gym.spec(env_id).vector_entry_point if batched else gym.spec(env_id).entry_point
    known = inspect.signature(gym.envs.registration.load_env_creator(str(entry))).parameters
    sensible = {name: SENSIBLE[name] for name in known if name in SENSIBLE}
    chosen = drawn(case, sensible, 3) | misnamed(case)
    options: dict[str, Any] = with_case({"map": ROOM, "pool": 2}, chosen)
    options["render_mode"] = case.pick(None, "rgb_array", "ansi", "no such thing")  # Gymnasium takes words only
    case.story.update(made=env_id, batched=batched, options=options)
    if batched:
        env = attempt(case, lambda: gym.make_vec(env_id, vectorization_mode="vector_entry_point", **options))
    else:
        env = attempt(case, lambda: gym.make(env_id, disable_env_checker=True, **options))
    if env is not None:
        play(case, env, batched)
        env.close()


def play(case: Case, env: Any, batched: bool) -> None:
    """Begin an episode and take some steps of it, which must be good ones."""
    begun = attempt(case, lambda: env.reset(seed=case.pick(None, 0, 7)))
    for _ in range(case.whole(1, 6)) if begun else ():
        try:
            observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        except (BudgetExceeded, gym.error.ResetNeeded):
            return
        assert env.observation_space.contains(observation)
        assert np.isfinite(reward).all()
        if not batched and (terminated or truncated):
            return
        if not batched and env.render_mode is not None:
            assert env.render() is not None


def check_agent(case: Case) -> None:
    """Make an agent with some parameters and run it."""
    agent_id = case.pick(*agents.ids())
    known = {name: [default, *_seen(agent_id, name)] for name, default in agents.parameters(agent_id).items()}
    settings = drawn(case, known, 3) | misnamed(case)
    problem, budget = draw_problem(case), case.pick(*BUDGETS)
    if case.chance(0.2):
        budget = wrong(case)
    case.story.update(made=agent_id, settings=settings, problem=problem, budget=budget)
    if attempt(case, lambda: agents.make(agent_id, **settings)) is not None:
        options = drawn(case, {"trials": [1, 2], "max_moves": [1, 30], "seed": [0, None, 5], "clock": [True, False]}, 2)
        options = {"max_moves": 30} | options
        if not _small(options):
            return
        case.story.update(options=options)
        try:
            attempt(case, lambda: agents.run(agent_id, problem, budget=budget, **options, **settings))
        except BudgetExceeded:
            assert isinstance(budget, Budget)


def _seen(agent_id: str, name: str) -> list[Any]:
    """Return the values of a parameter in the settings that comparisons draw."""
    return [settings[name] for settings in some_settings(agent_id) if name in settings][:20]


def _small(options: dict[str, Any]) -> bool:
    """Whether so many trials and moves end soon; what is no number is refused anyway."""
    asked = [options.get(name, 1) for name in ("trials", "max_moves")]
    return all(not isinstance(number, (int, np.integer)) or number <= 10_001 for number in asked)


def check_value(case: Case) -> None:
    """Make one of the values that everything else is made of, and use it."""
    case.pick(_grid, _problem, _budget, _sample, _generate, _world)(case)


def _grid(case: Case) -> None:
    cells = case.pick(np.ones((3, 4)), [[1, 0], [0, 1]], [[True] * 3], np.zeros((2, 2), "f4"), [[2, -5], [np.nan, 1]])
    given: dict[str, list[Any]] = {
        "passable": [cells],
        "connectivity": [4, 8],
        "cost": ["octile", "unit"],
        "corner": ["strict", "one"],
    }
    options = {"passable": cells} | drawn(case, given | {"name": ["", "x"]}, 2)
    case.story.update(made="Grid", options=options)
    grid = attempt(case, lambda: Grid(**options))
    if grid is not None and grid.free_cells:
        start = grid.position(int(np.flatnonzero(grid.terrain.free)[0]))
        assert rt_gym.distance_field(grid, start)[start[1], start[0]] == 0


def _problem(case: Case) -> None:
    given: dict[str, list[Any]] = {
        "vision": [None, 1, 5],
        "changes": CHANGES,
        "allow_unsolvable": [True, False],
        "grid": [ROOM, WALL],
    }
    options = {"grid": ISLANDS, "start": position(case), "goal": position(case)} | drawn(case, given, 2)
    case.story.update(made="Problem", options=options)
    problem = attempt(case, lambda: Problem(**options))
    if problem is not None:
        agents.run("lrta", problem, max_moves=30)


def _budget(case: Case) -> None:
    given: dict[str, list[Any]] = {
        "limit": [None, 1, 50],
        "count": ["expansions", "scans"],
        "on_overrun": ["idle", "raise"],
    }
    options = drawn(case, given | {"seconds": [None, 0.1]}, 3)
    case.story.update(made="Budget", options=options)
    budget = attempt(case, lambda: Budget(**options))
    if budget is not None:
        try:
            attempt(case, lambda: agents.run("lrta", PROBLEMS[3], budget=budget, max_moves=30))
        except BudgetExceeded:
            assert budget.on_overrun == "raise"


def _sample(case: Case) -> None:
    given: dict[str, list[Any]] = {
        "count": [0, 1, 5],
        "low": [0, 1, 3.5],
        "high": [2, 9, np.inf],
        "seed": [0, 9],
        "vision": [None, 2],
    }
    options = {"count": 3} | drawn(case, given, 2)
    if isinstance(options["count"], (int, np.integer)) and options["count"] > 10_001:
        return  # as many as are asked for are made
    case.story.update(made="sample_problems", options=options)
    attempt(case, lambda: rt_gym.sample_problems(case.pick(ROOM, ISLANDS, WALL), **options))


def _generate(case: Case) -> None:
    family = case.pick(*GENERATORS)
    good = {"width": 33, "height": 34, "size": 9, "density": 0.4, "steps": 2, "room": 4, "doors": 0.5, "holes": 3}
    wanted = inspect.signature(GENERATORS[family]).parameters
    options = {name: good.get(name, 0) for name in wanted} | drawn(case, {name: [1, 3, 5] for name in wanted}, 2, 0.3)
    case.story.update(made=family, options=options)
    attempt(case, lambda: rt_gym.generate(wrong(case) if case.chance(0.1) else family, **options))


def _world(case: Case) -> None:
    given: dict[str, list[Any]] = {"budget": BUDGETS, "max_moves": [0, 5], "log": [0, 9], "clock": [True, False]}
    options = drawn(case, given, 2)
    case.story.update(made="World", options=options)
    world = attempt(case, lambda: World(case.pick(*PROBLEMS) if case.chance(0.9) else wrong(case), **options))
    for _ in range(4) if world else ():
        attempt(case, lambda: world.step(case.whole(-1, 3)))


def check_options(case: Case) -> None:
    """Try an environment, single or batched, an agent, or a value; half of the cases are environments."""
    turn = case.number % (4 * len(ids()))
    if turn < 2 * len(ids()):
        check_environment(case, ids()[turn // 2], turn % 2 == 1)
    elif turn % 3 == 0:
        check_value(case)
    else:
        check_agent(case)

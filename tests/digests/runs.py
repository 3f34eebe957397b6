"""Digests of seeded runs: every agent id and every environment id, 200 runs or episodes each.

They say that nothing has changed since they were taken: ``tests/test_digests.py`` compares them. Where behaviour
changes on purpose, ``python tests/digests/runs.py`` writes them anew; ``--check`` and a part of a name compare some. An
agent that came later has no digest until it is entered in ``AGENTS``; ``--check`` and the tests name such ids.
"""

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

import agents
import rt_gym
from rt_gym import Budget, Change, Grid, Problem, sample_problems
from rt_gym.abstraction import abstract
from rt_gym.maps.generate import generate

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(__file__).with_name("digests.json")
RUNS = 200
EPISODES = 200

AS_TEXT: dict[str, Any] = {"subgoal": "first", "keep": False}  # D LRTA* as the paper's text has it

AGENTS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "astar": ("astar", [{}]),
    "weighted-astar": ("weighted-astar", [{"weight": 1.5}, {"weight": 3}, {"weight": 1}]),
    "repeated-astar": ("repeated-astar", [{}]),
    "late-astar": ("late-astar", [{"R": 20}, {"R": 100}, {"R": 9, "r": 0.5}]),
    "capped-astar": ("capped-astar", [{"nodes": 3}, {"nodes": 20}, {}]),
    "lrta": ("lrta", [{"depth": depth} for depth in (1, 2, 4, 7)]),
    "rta": ("rta", [{"depth": depth} for depth in (1, 2, 5)]),
    "lss-lrta": ("lss-lrta", [{"lookahead": 1}, {"lookahead": 9}, {"lookahead": 30, "commit": "one"}]),
    "rtaa": ("rtaa", [{"lookahead": 1}, {"lookahead": 9}, {"lookahead": 30, "commit": "one"}]),
    "lrta-k": ("lrta-k", [{"k": 1}, {"k": 12}, {"k": 40, "supports": True}]),
    "lrta-k of visited states": ("lrta-k-visited", [{"k": 12}, {"k": 40}]),
    "lrta-ls-k": ("lrta-ls-k", [{"k": 1}, {"k": 6}, {"k": 40}]),
    "lrta-ls-kd": (
        "lrta-ls-kd",
        [
            {"k": 6, "d": 4, "lookahead": lookahead, "control": control, "shared_k": shared}
            for lookahead in ("dynamic", "static")
            for control in ("dynamic", "single", "several")
            for shared in (False, True)
        ],
    ),
    "lrts": ("lrts", [{"depth": 1}, {"depth": 3}, {"depth": 2, "gamma": 0.3, "quota": 4}, {"depth": 3, "quota": 0}]),
    "p-lrta": ("p-lrta", [{"queue": 0}, {"queue": 3}, {"queue": 40}]),
    "pr-lrts": (
        "pr-lrts",
        [
            {"level": 0, "depth": 2},
            {"level": 1, "depth": 3, "quota": 4},
            {"level": 2, "depth": 2, "gamma": 0.4, "refine": "path", "control": "dynamic"},
            {"level": 1, "depth": 1, "abstraction": "tiles"},
        ],
    ),
    "tba": (
        "tba",
        [
            {"R": 5, "threshold": True},
            {"R": 12, "r": 0.4, "shortcut": True, "first": "length"},
            {"R": 40},
            {"R": 20, "c": 2, "shortcut": True},
        ],
    ),
    "tba weighted": ("tba", [{"R": 5, "weight": 1.5}, {"R": 12, "weight": 4, "shortcut": True, "threshold": True}]),
    "dstar-lite": ("dstar-lite", [{}, {"queue": "heap-larger-g"}, {"queue": "heap-smaller-g"}]),
    "knn-lrta": ("knn-lrta", [{"records": 0}, {"records": 25}, {"records": 40, "neighbours": 2, "cutoff": 12}]),
    "subgoal-lrta": (
        "subgoal-lrta",
        [
            {},
            {"first": "sub", "switch": "progress"},
            {"step": "lss-lrta", "lookahead": 6},
            {"step": "lrta-k", "k": 6, "first": "sub"},
        ],
    ),
    "classifier-lrta": (
        "classifier-lrta",
        [
            {"policy": "tree"},
            {"policy": "history", "max_branch": 3},
            {"policy": str(ROOT / "tests" / "agents" / "deepen.json"), "d_max": 6},
        ],
    ),
    "policy-lrta": ("policy-lrta", [{"policy": "deepen", "d_max": 8}, {"policy": "depth", "d_max": 6}]),
    "oracle-lrta": ("oracle-lrta", [{"d_max": 1}, {"d_max": 5}]),
    "rule-lrta": ("rule-lrta", [{"rule": rule, "d_max": 7} for rule in ("update", "revisit", "settle")]),
    "pdb-lrta": (
        "pdb-lrta",
        [
            {"level": 1, "cap": 5, "mode": "G"} | AS_TEXT,
            {"level": 1, "cap": 3, "mode": "GI"} | AS_TEXT,
            {"level": 2, "cap": 4, "mode": "I", "abstraction": "tiles"} | AS_TEXT,
            {"level": 2, "cap": 6, "mode": "I", "patience": 2} | AS_TEXT,
        ],
    ),
    "pdb-lrta with kept subgoals": (
        "pdb-lrta",
        [
            {"level": 1, "cap": 3, "mode": "GI"},
            {"level": 2, "cap": 4, "mode": "I", "abstraction": "tiles"},
            {"level": 3, "cap": 6, "mode": "I", "subgoal": "first", "patience": 2},
            {"level": 2, "cap": 6, "mode": "I", "keep": False},
        ],
    ),
    "general-lrta": (
        "general-lrta",
        [
            {"design": 3, "depth": 3, "level": 1, "cap": 4} | AS_TEXT,
            {"design": 5, "depth": 2, "level": 1, "patience": 3} | AS_TEXT,
            {"design": 11, "level": 2, "d_max": 5} | AS_TEXT,
            {"depth": "policy", "goal": "pdb", "level": 2, "d_max": 4} | AS_TEXT,
            {"depth": "oracle", "goal": "classifier", "mode": "I", "level": 1, "d_max": 4} | AS_TEXT,
        ],
    ),
    "general-lrta with kept subgoals": (
        "general-lrta",
        [
            {"design": 3, "depth": 3, "level": 1, "cap": 4},
            {"depth": "policy", "goal": "pdb", "level": 2, "d_max": 4},
        ],
    ),
}

# Which id a run takes whose settings are fitted to its budget, where that is not the agent's own: these digests were
# taken when the agent was a setting of another one, and fitting left that setting at its default.
FITTED = {"lrta-k of visited states": "lrta-k"}

BUDGETS = (
    None,
    None,
    Budget(60),
    Budget(25, on_overrun="idle"),
    Budget(80, count="scans", on_overrun="idle"),
    Budget(9),
)

UNCOUNTED = {"problem", "seconds", "planning_seconds", "move_seconds", "precompute_seconds", "trials", "path", "log"}
UNCOUNTED |= {"memory_bytes", "guarded", "guarded_expansions"}
# Agents that learn no values; the digests are older than the count of the states that they hold.
SEARCHERS = {"astar", "weighted-astar", "repeated-astar", "late-astar", "tba", "dstar-lite"}
COUNTED = [field.name for field in fields(agents.Run) if field.name not in UNCOUNTED]

# Arguments of the environments, by id; an episode takes the next of them.
COMMON: list[dict[str, Any]] = [
    {"map": {"family": "caves", "width": 24, "height": 20, "density": 0.4, "steps": 3, "seed": 3, "count": 3}},
    {"map": {"family": "rooms", "width": 25, "height": 25, "room": 5, "doors": 0.8, "seed": 1}, "reward": "normalised"},
    {"map": "open-16", "price": 0.01, "shaping": 0.9, "history": 5},
]
CHANGING = {"map": "rooms-64", "changes": [(2, (3, 3), False), (4, (5, 5), True), (9, (3, 3), True)]}
ENVS: dict[str, list[dict[str, Any]]] = {
    "RTPath-v0": [*COMMON, {"window": 17, "stay": True}, {**CHANGING, "window": 5}],
    "RTPathFog-v0": [*COMMON, {"vision": 4, "window": 19}, {"vision": 30}, {**CHANGING, "vision": 2}],
    "RTDepth-v0": [*COMMON, {"d_max": 5, "features": "paper"}, {"d_max": 6, "budget": Budget(70, on_overrun="idle")}],
    "RTDeepen-v0": [*COMMON, {"d_max": 5, "features": "paper"}, {"d_max": 9, "budget": Budget(70, "scans", "idle")}],
    "RTDepthGoal-v0": [*COMMON, {"d_max": 5, "level": 2}, {"d_max": 4, "features": "paper", "abstraction": "tiles"}],
    "RTThink-v0": [*COMMON, {"slice": 3, "vision": 2}, {**CHANGING, "slice": 7}, {"slice": 30, "budget": 20}],
    "RTSquad-v0": [
        {**COMMON[0], "units": 4, "allowance": 9, "share": 6},
        {"map": "open-16", "units": 7, "allowance": 20, "share": 20, "action": "shares", "reward": "mean"},
        {"units": 5, "blocking": True, "push": True, "agent_settings": {"commit": "one", "tie": "random"}},
        {**CHANGING, "units": 4, "agent": ["rtaa", "lrta", "lss-lrta", "rtaa"], "count": "scans", "vision": 3},
    ],
}
# A batch of these ids takes known maps that do not change.
CLEAR = ("RTDepth-v0", "RTDeepen-v0", "RTDepthGoal-v0")
ALONE: dict[str, list[dict[str, Any]]] = {
    env_id: [{"vision": 2, "d_max": 6}, {**CHANGING, "d_max": 6}] for env_id in CLEAR
}


@cache
def grids() -> list[Grid]:
    """Return small maps of every kind under all rules of movement."""
    plain = [
        *(generate("random", width=17, height=14, density=0.1 * k, seed=k) for k in range(1, 4)),
        *(generate("caves", width=26, height=22, density=0.42, steps=3, seed=k) for k in range(3)),
        *(generate("rooms", width=22, height=19, room=4, doors=0.7, seed=k) for k in range(2)),
        generate("maze", size=15, seed=1),
        Grid(np.ones((12, 19))),
    ]
    rules = [(8, "octile", "strict"), (4, "octile", "strict"), (8, "unit", "one"), (8, "octile", "free")]
    return [
        grid.replace(connectivity=connectivity, cost=cost, corner=corner)
        for grid in plain
        for connectivity, cost, corner in rules
    ]


@cache
def problems() -> list[Problem]:
    """Return 200 problems: known maps and fog, some with changes, none of them on the start or the goal."""
    found = []
    for k in range(RUNS):
        grid = grids()[k % len(grids())]
        (problem,) = sample_problems(grid, 1, low=5.0, seed=k, vision=(None, None, 1, 3)[k // 7 % 4])
        if k % 5 == 4:
            rng = np.random.default_rng(k)
            cells = [grid.position(int(cell)) for cell in rng.choice(np.flatnonzero(grid.terrain.free), 4)]
            cells += [
                (int(x), int(y))
                for x, y in zip(rng.integers(grid.width, size=3), rng.integers(grid.height, size=3), strict=True)
            ]
            edits = [Change(int(rng.integers(12)), cell, bool(rng.random() < 0.4)) for cell in cells]
            kept = [change for change in edits if change.position not in (problem.start, problem.goal)]
            problem = replace(problem, changes=tuple(sorted(kept, key=lambda change: change.time)))
        found.append(problem)
    return found


def agent_digest(name: str) -> str:
    """Return the digest of an agent's 200 runs."""
    agent_id, settings = AGENTS[name]
    digest = hashlib.sha256()
    made: dict[tuple[int, str], Any] = {}
    for k, problem in enumerate(problems()):
        which, tie = k % len(settings), "random" if k % 3 == 0 else "first"
        agent = made.setdefault((which, tie), agents.make(agent_id, **settings[which], tie=tie))
        options = {"budget": BUDGETS[k // 3 % len(BUDGETS)], "max_moves": 1500, "seed": k, "trials": 1 + (k % 7 == 0)}
        fitted = k % 9 == 8 and options["budget"] is not None
        run = agents.run(FITTED.get(name, agent_id) if fitted else agent, problem, **options)
        digest.update(run_line(run, learns=name not in SEARCHERS).encode())
        digest.update(np.ascontiguousarray(run.path, np.int32).tobytes())
        if not fitted and getattr(agent, "learned", None) is not None:
            digest.update(np.ascontiguousarray(agent.learned, np.int64).tobytes())
    return digest.hexdigest()


def run_line(run: agents.Run, learns: bool) -> str:
    """Return all that a run counts, and that its trials count; of memory, only values that were learned."""
    own = [f"{name}={getattr(run, name) if learns or name != 'memory' else 0}" for name in COUNTED]
    return " ".join([*own, *(f"[{run_line(trial, learns)}]" for trial in run.trials)])


def single_digest(env_id: str) -> str:
    """Return the digest of 200 episodes of a single environment."""
    digest = hashlib.sha256()
    choices = ENVS[env_id] + ALONE.get(env_id, [])
    for which, arguments in enumerate(choices):
        short = {"max_ticks": 40} if env_id == "RTSquad-v0" else {"max_moves": 40, "reveal_optimal": True}
        env = gym.make(env_id, **short, **arguments)
        env.action_space.seed(which)
        for episode in range(which, EPISODES, len(choices)):
            take(digest, *env.reset(seed=episode))
            over = False
            while not over:
                *result, info = env.step(env.action_space.sample())
                over = result[2] or result[3]
                take(digest, *result, info)
    return digest.hexdigest()


def batch_digest(env_id: str) -> str:
    """Return the digest of batches of an environment, in all autoreset modes, on one thread and on two."""
    digest = hashlib.sha256()
    for which, arguments in enumerate(ENVS[env_id]):
        for mode in AutoresetMode:
            count = 4 + 3 * which
            longest = "max_ticks" if env_id == "RTSquad-v0" else "max_moves"
            more = {"autoreset_mode": mode, "threads": 1 + which % 2, longest: 25, **arguments}
            env = gym.make_vec(env_id, count, vectorization_mode="vector_entry_point", **more)
            take(digest, *env.reset(seed=which))
            env.action_space.seed(which)
            for _ in range(70):
                *result, info = env.step(env.action_space.sample())
                take(digest, *result, info)
                over = result[2] | result[3]
                if mode is AutoresetMode.DISABLED and over.any():
                    take(digest, *env.reset(options={"reset_mask": over}))
    return digest.hexdigest()


def told_later(info: dict[str, Any]) -> set[str]:
    """Return the keys that infos had not when the digests were taken: the problem, and in batches what of it."""
    return {"index"} | ({"_index", "map", "_map", "optimal", "_optimal"} if "_map" in info else set())


def take(digest: Any, *values: Any) -> None:
    """Enter observations, rewards and infos into a digest."""
    for value in values:
        if isinstance(value, dict):
            for key in sorted(value.keys() - told_later(value)):
                digest.update(key.encode())
                take(digest, value[key])
        elif isinstance(value, np.ndarray) and value.dtype == object:
            take(digest, *(part for part in value if part is not None))
        elif isinstance(value, np.ndarray):
            digest.update(str((value.dtype.str, value.shape)).encode() + np.ascontiguousarray(value).tobytes())
        else:
            digest.update(repr(value.item() if isinstance(value, np.generic) else value).encode())


def file_digest(kind: str) -> str:
    """Return the digest of what is prepared for a map and written to a file."""
    from agents.knowledge import knn, pdb, subgoals

    grid, digest = grids()[12], hashlib.sha256()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.npz"
        if kind == "pdb":
            pdb.build(grid, abstract(grid, "clique", 1), "I", 6).save(path)
        elif kind == "knn":
            knn.build_records(grid, 30, 0, 0, 30, 20).save(path)
        else:
            subgoals.build_trees(grid, first="sub").save(path)
        digest.update(archive_bytes(path))
    return digest.hexdigest()


def archive_bytes(path: Path) -> bytes:
    """Return the arrays of a file, whatever order and time its members were written in."""
    with np.load(path) as archive:
        return b"".join(name.encode() + archive[name].tobytes() for name in sorted(archive.files))


def cases() -> Iterator[tuple[str, Any, str]]:
    """Yield every case: its name, the function that takes its digest, and the argument."""
    yield from ((f"agent {name}", agent_digest, name) for name in AGENTS)
    yield from ((f"env {env_id}", single_digest, env_id) for env_id in rt_gym.envs.ids())
    yield from ((f"batch {env_id}", batch_digest, env_id) for env_id in rt_gym.envs.ids())
    yield from ((f"file {kind}", file_digest, kind) for kind in ("pdb", "knn", "subgoals"))


def ids_without_digest() -> list[str]:
    """Return the ids of agents that no digest is taken of."""
    taken = {agent_id for agent_id, _ in AGENTS.values()}
    return [agent_id for agent_id in agents.ids() if agent_id not in taken]


def main() -> None:
    """Write all digests, or print those that differ with ``--check``, for the names that contain an argument."""
    check, words = "--check" in sys.argv, [word for word in sys.argv[1:] if not word.startswith("--")]
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name, taken, argument in cases():
        if words and not any(word in name for word in words):
            continue
        digest = taken(argument)
        if check:
            print("same" if known.get(name) == digest else "DIFFERS", name, flush=True)
        else:
            known[name] = digest
            print(name, digest[:16], flush=True)
    for agent_id in ids_without_digest():
        print("NO DIGEST", agent_id)
    if not check:
        FILE.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()

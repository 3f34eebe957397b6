"""RTSquadParallel: what units gain that walk at random, by the heuristic alone, or by search under a budget.

Every unit decides for itself, through PettingZoo's interface. The last line says how fast that is when nobody thinks.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import at_least, cpu_seconds, heading, print_rows

import agents
import rt_gym
from rt_gym.envs import RTSquadParallel

MODES: dict[str, dict[str, Any]] = {
    "pass through": {"blocking": False},
    "block, leave": {},
    "block, stay, push": {"on_arrival": "stay", "push": True},
}
TICKS = 1000


class Random:
    """Moves where the map allows it, as likely in one direction as in another."""

    def reset(self, view: rt_gym.View, seed: int | None = None) -> None:
        self.view, self.random = view, np.random.default_rng(seed)

    def act(self) -> int:
        moves = self.view.neighbours(self.view.position)
        return moves[self.random.integers(len(moves))][0] if moves else rt_gym.STAY


class Greedy:
    """Steps to where the heuristic is lowest, and stands still where all is higher."""

    def reset(self, view: rt_gym.View, seed: int | None = None) -> None:
        self.view = view

    def act(self) -> int:
        view, here = self.view, self.view.position
        stay = (rt_gym.STAY, here, 1.0)
        return min([stay, *view.neighbours(here)], key=lambda move: view.heuristic(move[1]))[0]


def policies(budget: int) -> dict[str, Callable[[], Any]]:
    rtaa, astar = (lambda: agents.make("rtaa", budget=budget)), (lambda: agents.make("astar", budget=budget))
    return {"random": Random, "greedy": Greedy, "rtaa": rtaa, "astar": astar}


def play(env: Any, make: Callable[[], Any], seed: int) -> tuple[int, float, int]:
    """Return how many units stood on their goals at the end, what all gained together, and how many ticks it took."""
    env.reset(seed=seed)
    team = {name: make() for name in env.agents}
    for k, name in enumerate(team):
        team[name].reset(env.view(name), seed=k)
    arrived, total, ticks = dict.fromkeys(env.agents, False), 0.0, 0
    while env.agents:
        _, rewards, _, _, infos = env.step({name: team[name].act() for name in env.agents})
        arrived |= {name: info["arrived"] for name, info in infos.items()}
        total, ticks = total + sum(rewards.values()), ticks + 1
    return sum(arrived.values()), total, ticks


def stand(env: Any) -> None:
    env.reset(seed=0)
    for _ in range(TICKS):
        env.step(dict.fromkeys(env.agents, rt_gym.STAY))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--map", default="rooms-64", help="a map file, or the name of a bundled map")
    parser.add_argument("--units", type=int, default=32)
    parser.add_argument("--budget", type=int, default=50, help="expansions per unit and tick")
    parser.add_argument("--seeds", type=int, default=5, help="how many episodes")
    options = parser.parse_args()
    heading(f"{options.units} units on {options.map}, {options.budget} expansions per unit and tick")
    settings = {"map": options.map, "units": options.units, "budget": options.budget, "max_ticks": TICKS}
    print("| units | policy | arrived | mean return | ticks |\n| --- | --- | --- | --- | --- |")
    for mode, more in MODES.items():
        env = RTSquadParallel(**settings, **more)
        for name, make in policies(options.budget).items():
            rows = np.array([play(env, make, seed) for seed in range(options.seeds)])
            arrived, gained, ticks = rows.mean(axis=0)
            share, mean = 100 * arrived / options.units, gained / options.units
            print(f"| {mode} | `{name}` | {share:.1f} % | {mean:.1f} | {ticks:.0f} |", flush=True)
    print()
    env = RTSquadParallel(**settings)
    stand(env)
    speed = TICKS / cpu_seconds(lambda: stand(env))
    print_rows([at_least("ticks per second", f"{options.units} units, nobody thinks", speed, 1000)])


if __name__ == "__main__":
    main()

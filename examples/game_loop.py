"""Units in a game loop: each has its orders, a door closes on the way, and a tick has a limit of expansions."""

import numpy as np

import agents
import rt_gym

PER_TICK, UNITS, TICKS = 2000, 20, 300


class Unit:
    """A world of its own, on the map of all, and an agent that walks in it."""

    def __init__(self, grid: rt_gym.Grid, start: tuple[int, int], goal: tuple[int, int]) -> None:
        budget = rt_gym.Budget(PER_TICK // UNITS, on_overrun="idle")  # who needs more stands still
        self.world = rt_gym.World(rt_gym.Problem(grid, start, goal), budget)
        self.agent = agents.make("rtaa", budget=budget.limit)
        self.agent.reset(self.world.view, seed=0)
        self.arrivals = 0

    def tick(self, orders: np.random.Generator) -> None:
        """Make one move; on arrival, take the next order."""
        if self.world.done:
            self.arrivals += 1
            width, height = self.world.problem.grid.width, self.world.problem.grid.height
            self.world.set_goal(orders.integers((width, height)), nearest=True)
        self.world.step(self.agent.act())


def two_halls() -> rt_gym.Grid:
    """Return two halls with a wall between them, and two doors in it."""
    passable = np.ones((40, 61), bool)
    passable[:, 30] = False
    passable[[8, 32], 30] = True
    return rt_gym.Grid(passable, name="two halls")


def main() -> None:
    """Play, and print what came of it."""
    grid, orders = two_halls(), np.random.default_rng(0)
    west, east = orders.integers((0, 0), (30, 40), (UNITS, 2)), orders.integers((31, 0), (61, 40), (UNITS, 2))
    units = [Unit(grid, (x, y), (u, v)) for (x, y), (u, v) in zip(west.tolist(), east.tolist(), strict=True)]
    for tick in range(TICKS):
        for unit in units:
            if tick == 20:
                unit.world.set_cell((30, 8), False)  # the northern door closes
            unit.tick(orders)
    print(f"{sum(unit.arrivals for unit in units)} orders carried out by {UNITS} units in {TICKS} ticks")


if __name__ == "__main__":
    main()

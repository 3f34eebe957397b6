"""An agent of one's own beside those of papers: the same problems, the same budget, the same meter."""

import statistics

import agents
import rt_gym

BUDGET = 20


class Wanderer:
    """Looks at its neighbours and takes the one that it has seen least, of those the nearest to the goal."""

    def reset(self, view: rt_gym.View, seed: int | None = None) -> None:
        """Begin an episode; all that the agent may know is in the view."""
        self.view, self.visits = view, dict[tuple[int, int], int]()

    def act(self) -> int:
        """Return the next move."""
        here = self.view.position
        self.visits[here] = self.visits.get(here, 0) + 1
        moves = self.view.expand(here) or []  # charges one expansion; None would mean that the budget is used up
        best = min(moves, key=lambda move: (self.visits.get(move[1], 0), move[2] + self.view.heuristic(move[1])))
        return best[0]


def main() -> None:
    """Run everybody, and print how long their ways are."""
    grid = rt_gym.load_map("rooms-64")
    problems = rt_gym.sample_problems(grid, 10, low=20, high=60, seed=0)
    for name in ("wanderer", "lrta", "rtaa", "tba"):
        runs = [agents.run(Wanderer() if name == "wanderer" else name, one, budget=BUDGET) for one in problems]
        ways = statistics.mean(run.suboptimality for run in runs)
        worst = max(run.max_expansions for run in runs)
        print(f"{name:10} {ways:6.2f} times the optimal cost, at most {worst} of {BUDGET} expansions for a move")


if __name__ == "__main__":
    main()

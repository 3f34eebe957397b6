"""The maps of an experiment: those of the public MovingAI sets, and generated ones that are new for every problem."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rt_gym import Grid, InputError, load_map
from rt_gym.files import shown
from rt_gym.maps.generate import generate, scale, terrain


@dataclass(frozen=True)
class Ground:
    """A map from the public MovingAI sets.

    Attributes:
        file: where it lies in the folder of the sets, without its ending.
        width, height: the size that it has here.
        scaled: whether it has that size only after scaling by nearest neighbour.
    """

    file: str
    width: int
    height: int
    scaled: bool = False

    @property
    def name(self) -> str:
        """What a page calls it."""
        return self.file

    def count(self, problems: int) -> int:
        """Return how many maps this many problems need."""
        return 1

    def deal(self, problems: int, number: int, maps: Path | None) -> Iterator[tuple[Grid, int]]:
        """Yield the map with the number of problems to draw on it.

        Args:
            problems: how many problems are wanted.
            number: which of a part's grounds this is.
            maps: the folder of the sets; without one a generated map of the same size stands in.
        """
        yield (terrain(self.width, self.height, number) if maps is None else self.load(maps)), problems

    def load(self, maps: Path) -> Grid:
        """Return the map from the folder of the sets.

        Raises:
            InputError: if it is not there, or is not of the size that the experiment was laid out for.
        """
        path = maps / f"{self.file}.map"
        grid = load_map(path)
        if self.scaled:
            return scale(grid, self.width, self.height)
        if (grid.width, grid.height) != (self.width, self.height):
            says = f"is {grid.width} x {grid.height}, but the experiment takes a map of {self.width} x {self.height}"
            raise InputError(f"{shown(path)}: {says}")
        return grid


@dataclass(frozen=True)
class Generated:
    """A map of its own for every problem: the first with seed 0, the next with seed 1, and so on.

    Attributes:
        family: a key of ``rt_gym.maps.generate.GENERATORS``.
        parameters: the arguments of that generator without its seed.
    """

    family: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    scaled = False

    @property
    def name(self) -> str:
        """What a page calls all of these maps."""
        return " ".join([f"{self.family} maps, one for each problem", *(f"{k}={v}" for k, v in self._telling.items())])

    @property
    def _telling(self) -> dict[str, Any]:
        """Parameters other than the size, which a page tells anyway."""
        return {key: value for key, value in self.parameters.items() if key not in ("size", "width", "height")}

    def count(self, problems: int) -> int:
        """Return how many maps this many problems need."""
        return problems

    def deal(self, problems: int, number: int, maps: Path | None) -> Iterator[tuple[Grid, int]]:
        """Yield as many maps as problems are wanted, each for one of them."""
        for seed in range(problems):
            yield generate(self.family, seed=seed, **self.parameters), 1

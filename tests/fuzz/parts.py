"""The parts, by name, in the order in which they are tried."""

from fuzz import options, properties, recount
from fuzz.case import GIGABYTE, Part

PARTS: dict[str, Part] = {
    "recount": Part(
        "No overrun is hidden, and a run is what its record says, under both counts and all three overrun policies.",
        recount.check_run,
        cases=20_000,
        sample=250,
        weight=2.0,
    ),
    "options": Part(
        "Environments, agents, problems, grids and budgets take whatever values, or an InputError says why not.",
        options.check_options,
        cases=50_000,
        sample=400,
        seconds=5.0,
        megabytes=500,
        address=4 * GIGABYTE,
    ),
    "properties": Part(
        "Costs equal SciPy's Dijkstra, learned values are admissible, and nothing is seen through fog.",
        properties.check_property,
        cases=12_000,
        sample=90,
    ),
}

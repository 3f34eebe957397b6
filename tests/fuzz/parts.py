"""The parts, by name, in the order in which they are tried."""

from fuzz import commands, files, kills, options, properties, recount, soak
from fuzz.case import GIGABYTE, Part

PARTS: dict[str, Part] = {
    "recount": Part(
        "No overrun is hidden, and a run is what its record says, under both counts and all three overrun policies.",
        recount.check_run,
        cases=20_000,
        sample=100,
        weight=2.0,
    ),
    "options": Part(
        "Environments, agents, problems, grids and budgets take whatever values, or an InputError says why not.",
        options.check_options,
        cases=50_000,
        sample=200,
        seconds=5.0,
        megabytes=500,
        address=4 * GIGABYTE,
    ),
    "properties": Part(
        "Costs equal SciPy's Dijkstra, learned values are admissible, and nothing is seen through fog.",
        properties.check_property,
        cases=12_000,
        sample=50,
    ),
    "files": Part(
        "A damaged file of any kind is refused in one sentence, or its work is done again.",
        files.check_file,
        cases=100_000,
        sample=0,  # tests/fuzz/test_kinds.py takes some of each kind
        weight=3.0,
        seconds=2.0,
        megabytes=500,
        address=4 * GIGABYTE,
    ),
    "commands": Part(
        "A command line ends with 0, 1 or 2, and what is wrong is said in one sentence.",
        commands.check_line,
        cases=2_000,
        sample=10,
        weight=2.0,
    ),
    "kills": Part(
        "What is killed leaves no broken file, and the next run ends with the same bytes as one never disturbed.",
        kills.check_kill,
        cases=200,
        sample=0,
        weight=4.0,
        patience=600.0,
    ),
    "soak": Part(
        "Long use takes no more memory, and threads, processes and batches give what one thread gives.",
        soak.check_soak,
        cases=100,
        sample=0,
        weight=2.0,
        patience=300.0,
    ),
}

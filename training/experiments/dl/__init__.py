"""DL: the rules, problems and figures of the paper on D* Lite with buckets.

M. Likhachev, S. Koenig, "Incremental Heuristic Search in Games: The Quest for Speed", AIIDE 2006.
"""

PAPER = "Likhachev, Koenig, Incremental Heuristic Search in Games: The Quest for Speed, AIIDE 2006"
SEED = 2006
RULES = {"connectivity": 4, "cost": "unit"}
VISION = 1

# queue -> expansions and microseconds with their 95 % intervals, as Table 1 prints them
PRINTED = {
    "heap-larger-g": ((11416.4, 229.1), (10439.7, 210.9)),
    "buckets": ((11632.5, 232.7), (4448.8, 89.2)),
}

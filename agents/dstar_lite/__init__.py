"""D* Lite: search backward from the goal, then mend the search wherever the map turns out to be different."""

from agents.dstar_lite.algorithm import DStarLite as DStarLite

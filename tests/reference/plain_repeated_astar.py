"""Repeated A*: what plain A* does in fog or on a map that changes."""

from reference import plain_astar

run = plain_astar.run

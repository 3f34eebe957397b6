"""TBA*: one A* in slices, and an agent that walks along its most promising path meanwhile."""

from agents.tba.algorithm import TBA as TBA

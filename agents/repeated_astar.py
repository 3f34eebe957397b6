"""Repeated A*: follow a shortest path on the map as it is believed, and search anew when it is blocked.

The plain way to plan with the free-space assumption, and the baseline of S. Koenig, M. Likhachev, "Fast Replanning for
Navigation in Unknown Terrain", IEEE Transactions on Robotics 21(3), 2005, and of what came after it: A* from the agent
to the goal, from scratch each time, of equal f the larger g first.

The algorithm in plain Python: ``tests/reference/plain_astar.py``.

Readings:
- It is ``astar``, kernel and all: that agent, too, searches anew where its path is blocked. On a known map that never
  changes it searches once.
- Blocked means any step that remains, not only the next; a cell that opens elsewhere does not make it search.
"""

from agents.astar import AStar


class RepeatedAStar(AStar):
    """A* from the agent to the goal whenever its path is blocked.

    Args:
        tie: ``"first"`` or ``"random"``.
    """

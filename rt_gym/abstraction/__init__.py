"""Regions of a map: the clique hierarchy of partial-refinement search, and rectangular tiles.

N. Sturtevant, M. Buro, "Partial Pathfinding Using Map Abstraction and Refinement", AAAI 2005, in the form of the
authors' program HOG without its uniform mode. One level merges the nodes of a graph: scanned in order, a node without a
parent forms one with three free neighbours that are all adjacent, else with two; what is left over is taken last in,
first out, and pairs up with a free neighbour, or joins its only neighbour's parent, or stays alone. Parents are
adjacent where children of theirs are. Level 0 is the map itself, its free cells numbered row by row.

A. Botea, M. Müller, J. Schaeffer, "Near Optimal Hierarchical Path-Finding", Journal of Game Development 1, 2004, cut
the map into squares instead. The regions of level l are the connected parts of squares 2**l cells wide; those of one
level merge into those of the next, so that both kinds are hierarchies.

Readings:
- Neighbours are read in the order in which their edges are made, and parents are numbered in the order in which they
  are formed. As in HOG, an edge of the map is made at the later of its two cells, and one between parents together with
  the first edge of their children. The order matters: read by number, neighbours give a third more regions on level 7.
- A node without neighbours is a region of its own on all levels; so is a component once it has become one node.
- A region is represented by the member nearest to its centroid, which itself may lie in a wall.
"""

from rt_gym.abstraction.regions import KINDS, MAX_LEVEL, Abstraction, abstract

__all__ = ["KINDS", "MAX_LEVEL", "Abstraction", "abstract"]

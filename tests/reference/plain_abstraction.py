"""Clique abstraction and tiles, in the plainest words: nodes are sets of positions, edges a list of pairs."""

from fractions import Fraction
from itertools import combinations

from reference.plain_grid import Map, Position, cells
from rt_gym.grid import Grid

Region = frozenset[Position]
Edges = list[frozenset[int]]


def ground_edges(grid: Grid) -> tuple[list[Region], Edges]:
    """Return the free cells row by row, and the moves between them, each made when its later cell is read."""
    world = Map.of(grid)
    nodes = [cell for cell in cells(grid) if cell in world.free]
    number = {cell: k for k, cell in enumerate(nodes)}
    edges = [
        frozenset((number[cell], number[near]))
        for cell in nodes
        for near, _ in world.neighbours(cell)
        if number[near] < number[cell]
    ]
    return [frozenset([cell]) for cell in nodes], edges


def neighbours(edges: Edges, node: int) -> list[int]:
    """Return the neighbours of a node in the order of the edges."""
    return [other for edge in edges if node in edge for other in edge - {node}]


def clique_level(count: int, edges: Edges) -> list[list[int]]:
    """Return the children of each parent, in the order in which the parents are formed."""
    near = {node: neighbours(edges, node) for node in range(count)}
    taken: dict[int, int] = {}
    parents: list[list[int]] = []
    rest = []

    def form(*members: int) -> None:
        taken.update(dict.fromkeys(members, len(parents)))
        parents.append(list(members))

    for node in range(count):
        if node in taken:
            continue
        free = [other for other in near[node] if other not in taken] if len(near[node]) > 1 else []
        for mates in (3, 2):
            cliques = [c for c in combinations(free, mates) if all(b in near[a] for a, b in combinations(c, 2))]
            if cliques:
                form(node, *cliques[0])
                break
        else:
            rest.append(node)
    while rest:
        node = rest.pop()
        if node in taken:
            continue
        free = [other for other in near[node] if other not in taken]
        if free:
            form(node, free[0])
        elif len(near[node]) == 1:
            taken[node] = taken[near[node][0]]
            parents[taken[node]].append(node)
        else:
            form(node)
    return parents


def tile_level(nodes: list[Region], edges: Edges, width: int) -> list[list[int]]:
    """Return the children of each parent: the nodes that hang together inside one tile."""
    tile = [{(x // width, y // width) for x, y in node} for node in nodes]
    parents: list[list[int]] = []
    seen: set[int] = set()
    for first in range(len(nodes)):
        if first in seen:
            continue
        members, todo = [], [first]
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                members.append(node)
                todo += [other for other in neighbours(edges, node) if tile[other] == tile[first]]
        parents.append(members)
    return parents


def regions(grid: Grid, kind: str, level: int) -> tuple[list[Region], Edges]:
    """Return the regions of a level in order, and the edges between them."""
    nodes, edges = ground_edges(grid)
    for step in range(1, level + 1):
        parents = clique_level(len(nodes), edges) if kind == "clique" else tile_level(nodes, edges, 2**step)
        parent = {child: k for k, children in enumerate(parents) for child in children}
        lifted = [frozenset(parent[node] for node in edge) for edge in edges]
        edges = list(dict.fromkeys(edge for edge in lifted if len(edge) == 2))
        nodes = [frozenset().union(*(nodes[child] for child in children)) for children in parents]
    return nodes, edges


def representative(region: Region) -> Position:
    """Return the member nearest to the centroid; of equally near ones the first, row by row."""
    x, y = (Fraction(sum(axis), len(region)) for axis in zip(*region, strict=True))
    return min(region, key=lambda cell: ((cell[0] - x) ** 2 + (cell[1] - y) ** 2, cell[1], cell[0]))

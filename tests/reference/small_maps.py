"""Small maps on which whole trials can be worked out on paper; 1 and r are a straight and a diagonal step."""

from typing import Any

from rt_gym import Grid, Problem


def drawn(*rows: str, **rules: Any) -> Grid:
    """Return a map from a drawing: a dot is free."""
    return Grid([[cell == "." for cell in row] for row in rows], **rules)


# A wall from above; 8 neighbours, and no diagonal step past its lower end (2,1). The way round is 6 straight steps.
# h0:  (0,0) 3    (1,0) 2     wall       (3,0) 0
#      (0,1) 2+r  (1,1) 1+r   wall       (3,1) 1
#      (0,2) 1+2r (1,2) 2r    (2,2) 1+r  (3,2) 2
HOOK = Problem(drawn("..#.", "..#.", "...."), (1, 0), (3, 0))
ROUND_THE_HOOK = [(1, 0), (1, 1), (1, 2), (2, 2), (3, 2), (3, 1), (3, 0)]

# A corridor bent twice, the goal next to its dead end; 4 neighbours. One way of 10 steps.
# h0:  (0,0) 6  (1,0) 5  (2,0) 4  (3,0) 3  (4,0) 2
#      (0,1) 5                             (4,1) 1
#      (0,2) 4  (1,2) 3  (2,2) 2           (4,2) 0
HORSESHOE = Problem(drawn(".....", ".###.", "...#.", connectivity=4), (2, 2), (4, 2))
# Along it h0 is 2 3 4 5 6 5 4 3 2 1 0. Of the two ways out of cells 1, 2 and 3 the one back comes first, by direction.
ALONG_THE_HORSESHOE = [(2, 2), (1, 2), (0, 2), (0, 1), (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (4, 1), (4, 2)]
# Its mirror image, whose bend is in the east; h0 along it is the same.
MIRRORED = Problem(drawn(".....", ".###.", ".#...", connectivity=4), (2, 2), (0, 2))
ALONG_THE_MIRRORED = [(4 - x, y) for x, y in ALONG_THE_HORSESHOE]

# A U that is open to the west, the goal behind it. Rows 0 and 4 are as far as the heuristic says; what is west of the U
# is reached round its corners: (1,1) takes 8 steps where the heuristic says 6, and so does (1,3).
U = drawn(".......", "..###..", "....#..", "..###..", ".......", connectivity=4)
BEHIND_THE_U = (6, 2)

# A spiral: from (2,2) in its middle down, west, north to (0,0), east, and south to the goal (4,3), 13 steps.
SPIRAL = drawn(".....", ".###.", ".#.#.", "...#.", connectivity=4)
END_OF_THE_SPIRAL = (4, 3)

# A corridor of 29 cells round a wall from (13,0) to (13,2); the heuristic is wrong from (1,2) on.
BEND = drawn("." * 14, "." + "#" * 13, "." * 14, connectivity=4)
END_OF_THE_BEND = (13, 0)

# Two rooms and a hall.
ROOMS = drawn("...#...", "...#...", ".......", "...#...", "##.####", ".......", ".......")

# Walls on the straight way and a pocket in front of them, so that every learner has to learn.
CUP = (
    ".......",
    ".####..",
    "....#..",
    "....#..",
    ".####..",
    ".......",
)

"""Random problems as agents meet them: on a known map or in fog, with or without changes."""

from hypothesis import strategies as st

from reference import plain_grid
from reference.plain_oracle import problems
from rt_gym import Change, Problem


@st.composite
def worlds(draw: st.DrawFn, max_side: int = 10) -> Problem:
    """Draw a problem on a known map or in fog, with or without changes."""
    grid, start, goal = draw(problems(max_side))
    cells = [cell for cell in plain_grid.cells(grid) if cell != goal]
    change = st.builds(Change, st.integers(0, 15), st.sampled_from(cells), st.booleans())
    changes = draw(st.one_of(st.just([]), st.lists(change, max_size=5)))
    return Problem(grid, start, goal, draw(st.sampled_from([None, 1, 2, 3])), changes)

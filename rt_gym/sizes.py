"""How large a map may be, asked before anything of that size is made."""

from rt_gym.terrain import MAX_CELLS


def size_problem(width: int, height: int) -> str:
    """Return why no grid can have this size, or an empty string."""
    # The numbers are not repeated: a hostile header may hold some with thousands of digits.
    if width < 1 or height < 1:
        return "the width and height of a map must be at least 1"
    if width * height > MAX_CELLS:
        return f"the map is too large, it may have {MAX_CELLS} cells"
    return ""

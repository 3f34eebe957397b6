"""Learns and judges: comparisons, learned depth control, and the ``rt-gym`` command.

Nothing is imported here before it is asked for, so that the command answers ``--help`` at once.
"""

import ast
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_OURS = (Path(__file__).parents[1] / "agents").resolve()


def check_agents() -> None:
    """Make sure that ``import agents`` finds the package beside this one, and that all of it is ours.

    Another distribution with a package of this name may have been unpacked over it. Nothing is imported to find out.

    Raises:
        ImportError: if it would find that of another distribution, a mixture, or none; the message is one sentence.
    """
    spec = find_spec("agents")
    places = [] if spec is None else [*(spec.submodule_search_locations or [spec.origin or ""])]
    if [Path(place).resolve() for place in places] != [_OURS]:
        where = f"is another distribution's, in {places[0]}" if places else "is missing"
        raise ImportError(f"the package 'agents' {where}: install rt_gym into a fresh virtual environment")
    if foreign := _foreign_file(_OURS):
        where = f"has been mixed with another distribution's, {foreign} in {_OURS} is not ours"
        raise ImportError(f"the package 'agents' {where}: install rt_gym into a fresh virtual environment")


def _foreign_file(folder: Path) -> str | None:
    """Return a file that is missing or without what ours has: the table of agents, and the classes that it names.

    Files besides are no matter: an agent that is being written is not in the table yet.
    """
    table = _table(folder / "__init__.py")
    if table is None:
        return "__init__.py"
    shared = (("base", "KernelAgent"), ("record", "Run"), ("runner/trials", "run_agent"))
    for module, name in (*shared, *table.values()):
        if not re.search(rf"^(class|def) {re.escape(name)}\b", _text(folder / f"{module}.py"), re.M):
            return f"{module}.py"
    return None


def _table(file: Path) -> dict[str, tuple[str, str]] | None:
    """Return the table of agents in the source of a package, None if there is none."""
    found = re.search(r"^_TABLE = (\{.*?^\})", _text(file), re.M | re.S)
    try:
        table = ast.literal_eval(found[1]) if found else {}
        return {name: (str(module), str(kind)) for name, (module, kind) in table.items()} or None
    except (SyntaxError, ValueError, AttributeError, TypeError):
        return None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


# name -> module
_LAZY = {"J48Classifier": "training.j48", "to_policy": "training.learn.convert"}


def __getattr__(name: str) -> Any:
    """Return the estimator ``J48Classifier``, or ``to_policy``, which makes a policy of a fitted model."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)

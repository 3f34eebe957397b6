"""Which sources a class of one's own depends on: its file and what that imports, directly or not.

Modules are found as Python would find them, and none is imported for it. Those of the standard library and of installed
distributions are left out. So are what is imported under a name that is only known when it runs, and files of data.
"""

import ast
import importlib.util
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

_COUNTED = ("rt_gym", "agents")  # all of them counts for a class of one's own anyway
_INSTALLED = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")}
_FOLDERS = ("site-packages", "dist-packages")


def own_closure(modules: Iterable[str]) -> list[tuple[str, str]]:
    """Return name and hash of modules, by their dotted names, and of all they import that is not installed."""
    todo, found = list(modules), dict[str, str]()
    seen = set[str]()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        todo.extend([name.rpartition(".")[0]] if "." in name else [])  # a package is imported before what is in it
        spec = _find(name)
        if spec is None or (file := _own_file(spec)) is None:
            continue
        content = file.read_bytes()
        found[name] = sha256(content).hexdigest()
        package = name if spec.submodule_search_locations is not None else name.rpartition(".")[0]
        todo.extend(_imported(content, package))
    return sorted(found.items())


def _find(name: str) -> ModuleSpec | None:
    """Return where a module is, without importing the packages that it is in."""
    top, *rest = name.split(".")
    if top in sys.stdlib_module_names or top in _COUNTED:
        return None
    spec = _ask_finders(top, None)
    for number, _ in enumerate(rest, start=2):
        if spec is None or spec.submodule_search_locations is None:
            return None
        spec = _ask_finders(".".join(name.split(".")[:number]), list(spec.submodule_search_locations))
    return spec


def _ask_finders(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    for finder in sys.meta_path:
        ask: Any = getattr(finder, "find_spec", None)
        if ask and (spec := ask(name, path)) is not None:
            return spec
    return None


def _own_file(spec: ModuleSpec) -> Path | None:
    """Return the file of a module, None if it has none or is installed."""
    file = Path(spec.origin or "").resolve()
    if not spec.has_location or not file.is_file() or any(part in _FOLDERS for part in file.parts):
        return None
    return None if _INSTALLED & set(file.parents) else file


def _imported(content: bytes, package: str) -> Iterator[str]:
    """Yield the names that a source imports; one imported from a package may be a module or a value in it."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # an extension module, or a source for another Python: it stands for itself
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            try:
                stem = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            except ImportError:  # it would fail when it runs
                continue
            yield stem
            yield from (f"{stem}.{alias.name}" for alias in node.names)

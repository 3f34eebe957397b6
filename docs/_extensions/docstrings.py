"""Our docstrings, which are plain text with a little Markdown, as Sphinx reads them."""

import re
from typing import Any

from sphinx.application import Sphinx

_CODE = re.compile(r"(``.+?``)")
_MARKUP = re.compile(r"(?<!\\)[*|`]|_(?=\W|$)")  # stars of A*, bars of sets, and a name that ends in _
_PACKAGES = ("rt_gym", "agents", "training")


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the steps; napoleon, which knows the parts of a docstring, comes after them."""
    app.connect("autodoc-process-docstring", to_rst, priority=400)
    app.connect("autodoc-skip-member", _skip_fields)
    app.connect("missing-reference", _find_public_name)
    return {"parallel_read_safe": True}


def to_rst(app: Sphinx, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """Turn headings, lists and tables of Markdown into what RST has for them, and take stars as they stand."""
    lines[:] = [each for line in lines for each in _converted(line)]
    for at in range(len(lines) - 1, -1, -1):
        if re.fullmatch(r"\s*- .*", lines[at]) and at and re.search(r"\S:$", lines[at - 1]):
            lines.insert(at, "")  # a list of RST has a line before it


def _converted(line: str) -> list[str]:
    text, indent = line.lstrip(), line[: len(line) - len(line.lstrip())]
    if text.startswith((">>>", "...")):
        return [line]
    if text == "## Arguments":
        return ["Args:"]  # which all environments make up of their settings
    if heading := re.fullmatch(r"#+ (.+)", text):
        return [f"{indent}**{heading[1]}**", ""]
    if text.startswith("|"):
        return [f"{indent}| {_escaped(text)}"]  # row by row, as a block of lines
    return [_escaped(line)]


def _escaped(text: str) -> str:
    parts = _CODE.split(text)
    return "".join(part if part.startswith("``") else _MARKUP.sub(r"\\\g<0>", part) for part in parts)


def _skip_fields(app: Sphinx, what: str, name: str, found: Any, skip: bool, options: Any) -> bool | None:
    """Leave out fields of named tuples, whose meaning stands in the docstring of the class."""
    return True if (getattr(found, "__doc__", None) or "").startswith("Alias for field number") else None


def _find_public_name(app: Sphinx, env: Any, node: Any, shown: Any) -> Any:
    """Link a type to the public name that it is documented by; types from elsewhere stay words."""
    if node.get("refdomain") != "py":
        return None
    domain, name = env.get_domain("py"), node["reftarget"].rpartition(".")[2]
    for package in _PACKAGES:
        known = [full for full in domain.objects if full.startswith(f"{package}.") and full.endswith(f".{name}")]
        if node["reftarget"].startswith(f"{package}.") and known:
            return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", min(known, key=len), node, shown)
    return shown

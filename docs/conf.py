"""The documentation site: Sphinx with MyST and Furo. `make docs` builds it, and takes warnings for errors."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_extensions")]

import rt_gym  # noqa: E402

project = "rt_gym"
author = "the rt_gym authors"
version = release = rt_gym.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "docstrings", "pages", "replay"]
exclude_patterns = ["_extensions"]
nitpicky = True

myst_heading_anchors = 4  # as GitHub names them
suppress_warnings = ["ref.python"]  # an attribute of one name in two classes

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"rt_gym {release}"

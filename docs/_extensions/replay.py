"""The replay that the start page shows, made anew by the command that the page names."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

_COMMAND = re.compile(r"`(rt-gym play [^`]+ --html\s+replay\.html)`")


def setup(app: Sphinx) -> dict[str, Any]:
    """Let the page be written together with the site's own."""
    app.connect("html-collect-pages", lambda app: write_replay(Path(app.srcdir), Path(app.outdir)))
    return {"parallel_read_safe": True}


def write_replay(docs: Path, out: Path) -> list[Any]:
    """Run the command of the start page in the folder of the site; there are no pages left for Sphinx to write."""
    (told,) = _COMMAND.findall((docs / "index.md").read_text(encoding="utf-8"))
    words = [sys.executable, "-m", "training.cli", *shlex.split(told)[1:]]
    environment = os.environ | {"PYTHONPATH": str(docs.parent)}
    subprocess.run(words, cwd=out, env=environment, check=True, stdout=subprocess.DEVNULL)
    return []

"""The genes of ``building-block-lrta``: which blocks it is put together from, and the JSON file that names them."""

import json
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Any

from agents.base import exact_weight
from rt_gym.errors import InputError, choice, flag, quoted, whole
from rt_gym.file_cache import FILES
from rt_gym.files import PathLike, atomic_write, read_json, require_path, shown
from rt_gym.terrain import MAX_CELLS

KIND, VERSION = "rt_gym.genes", 1
OPERATORS = ("min", "mean", "median", "max")
LEARNING = ("frontier", "best")
COMMIT = ("all", "one")


@dataclass(frozen=True)
class Genes:
    """What ``building-block-lrta`` is put together from; its settings of the same names say what they mean.

    Raises:
        InputError: for a value out of range, or a gene that does not go with a lookahead above one.
    """

    lookahead: int = 1
    weight: float = 1
    cost_weight: float = 1
    growth: float = 0
    lop: str = "min"
    beam: float = 1
    da: bool = False
    expendable: bool = False
    ahead: int = 1
    learning: str = "frontier"
    commit: str = "all"

    def __post_init__(self) -> None:
        for name in ("lookahead", "ahead"):
            whole(name, getattr(self, name), 1, MAX_CELLS)
        for name, known in (("lop", OPERATORS), ("learning", LEARNING), ("commit", COMMIT)):
            choice(name, getattr(self, name), known)
        for name in ("da", "expendable"):
            flag(name, getattr(self, name))
        for name in ("weight", "cost_weight", "growth", "beam"):
            self.fraction(name)
        for name, usual in (("ahead", 1), ("growth", 0), ("lop", "min"), ("beam", 1)):
            if self.lookahead > 1 and getattr(self, name) != usual:
                raise InputError(
                    f"{name} must be {usual} with a lookahead above 1, which searches instead of looking at"
                    f" neighbours, not {quoted(getattr(self, name))}"
                )

    def fraction(self, name: str) -> Fraction:
        """Return a weight, the growth or the beam as an exact number."""
        low, high = {"beam": (0.001, 1), "growth": (0, 10)}.get(name, (1, 1000))
        return exact_weight(getattr(self, name), name, low, high)

    @property
    def sentence(self) -> str:
        """What they mean, for a person."""
        learned = float(self.fraction("weight") * self.fraction("cost_weight"))
        parts = [
            f"search {self.lookahead} states ahead" if self.lookahead > 1 else "look at the neighbours",
            f"make {self.ahead} steps in thought for every move" if self.ahead > 1 else "",
            "walk only the first step of a plan" if self.lookahead > 1 and self.commit == "one" else "",
            f"learn {learned:.3g} times as fast" if learned > 1 else "",
            "learn faster where much was learned" if self.growth > 0 else "",
            f"learn from the {self.lop} of the neighbours" if self.lop != "min" else "",
            "learn from the best state ahead alone" if self.lookahead > 1 and self.learning == "best" else "",
            "avoid depressions" if self.da else "",
            "delete dead ends" if self.expendable else "",
        ]
        text = ", ".join(filter(None, parts))
        return f"{text[0].upper()}{text[1:]}."

    def save(self, path: PathLike, about: dict[str, Any] | None = None) -> None:
        """Write them to a JSON file, with what there is to say about them."""
        document = {"kind": KIND, "version": VERSION, "genes": asdict(self), "sentence": self.sentence}
        atomic_write(path, (json.dumps(document | {"about": about or {}}, indent=1) + "\n").encode())


def load_genes(source: PathLike | Genes) -> Genes:
    """Return genes: those that are there, or from a file, shared by all who ask for it.

    Raises:
        InputError: if there is none, or it is of another kind or version, or names other genes.
    """
    if isinstance(source, Genes):
        return source
    require_path("policy", source, "a file or Genes")
    return FILES.load(source, KIND, lambda: _read(source))


def _read(path: PathLike) -> Genes:
    document = read_json(path, "genes")
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise InputError(f"{shown(path)}: is not a file of genes")
    if document.get("version") != VERSION:
        raise InputError(f"{shown(path)}: has version {quoted(document.get('version'))}, and {VERSION} is known")
    genes, known = document.get("genes"), [part.name for part in fields(Genes)]
    if not isinstance(genes, dict) or not set(genes) <= set(known):
        raise InputError(f"{shown(path)}: must have genes of the names {', '.join(known)}")
    try:
        return Genes(**genes)
    except InputError as error:
        raise InputError(f"{shown(path)}: {error}") from None

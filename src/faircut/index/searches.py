"""The ways to search that a plan can name: by vectors, by words, by both. The work is done in the files beside this."""

from dataclasses import dataclass
from typing import ClassVar

from faircut.index.bm25 import Bm25
from faircut.index.fusion import Rrf, ZScore
from faircut.specs import Registry, spec_text

__all__ = ["SEARCHES", "Dense", "Search"]


@dataclass(frozen=True)
class Dense:
    """Vectors only: the inner product of question and chunk."""

    name: ClassVar[str] = "dense"
    __str__ = spec_text


Search = Dense | Bm25 | Rrf | ZScore

SEARCHES = Registry("search", (Dense, Bm25, Rrf, ZScore))
"""The searches that a spec can name; ``dense`` is the default."""

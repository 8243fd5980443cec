"""BM25: texts in, the weight of every term in every chunk out, and questions as weights of the same terms.

Finding the best chunks with these weights is left to the indexes (``lexical.py``, ``qdrant_lexical.py``).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from faircut.errors import SpecError
from faircut.index.contract import Positions
from faircut.index.words import terms
from faircut.specs import spec_text

__all__ = ["DEFAULT_BM25", "Bm25", "SparseVector", "Weights"]

Values = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class SparseVector:
    """What is not 0 of a vector over the vocabulary: ``(t,)`` ascending terms and their values."""

    indices: Positions
    values: Values


@dataclass(frozen=True)
class Bm25:
    """Words only, as keyword search does: Okapi BM25.

    A chunk's score is the sum over the question's terms of ``idf * f (k1 + 1) / (f + k1 (1 - b + b l / L))`` with ``f``
    the term's count in the chunk, ``l`` the chunk's length in terms, ``L`` the mean length, and
    ``idf = ln(1 + (n - m + 0.5) / (m + 0.5))`` where ``m`` of the ``n`` chunks hold the term (Robertson and Zaragoza,
    The Probabilistic Relevance Framework, 2009; the idf that is never negative is Lucene's). A term counts as often as
    the question has it. ``n``, ``m`` and ``L`` are those of the whole corpus, also when a question is limited to one
    document. A chunk that shares no term with the question is not found.

    Raises:
        SpecError: ``k1`` is negative, or ``b`` outside of 0 to 1.
    """

    name: ClassVar[str] = "bm25"
    __str__ = spec_text

    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self) -> None:
        if self.k1 < 0 or not 0 <= self.b <= 1:
            raise SpecError(f"bm25 needs k1 of 0 or more and b from 0 to 1, found k1={self.k1:g}, b={self.b:g}.")

    def weigh(self, texts: Sequence[str]) -> "Weights":
        """The weights of all terms in the texts, ``n`` of them; time and memory linear in their length."""
        vocabulary: dict[str, int] = {}
        listed = [[vocabulary.setdefault(term, len(vocabulary)) for term in terms(text)] for text in texts]
        lengths = np.array([len(found) for found in listed], dtype=np.int64)
        flat = np.fromiter((term for found in listed for term in found), dtype=np.int64, count=int(lengths.sum()))
        places, counts = np.unique(flat * len(texts) + np.repeat(np.arange(len(texts)), lengths), return_counts=True)
        owners, positions = np.divmod(places, max(len(texts), 1))
        starts = np.searchsorted(owners, np.arange(len(vocabulary) + 1))
        saturation = self.k1 * (1 - self.b + self.b * lengths / max(float(lengths.mean()), 1.0))
        values = counts * (self.k1 + 1) / (counts + saturation[positions])
        return Weights(vocabulary, starts, positions, values.astype(np.float32), len(texts))


DEFAULT_BM25 = Bm25()


@dataclass(frozen=True, eq=False)
class Weights:
    """The chunks' weights, term by term, without the idf: that is part of the question's weights.

    Attributes:
        vocabulary: the number of each term.
        starts: ``(v + 1,)`` where each term's chunks begin.
        positions: the chunks that hold the term, ascending.
        values: the weight of the term in them, float32 as every engine keeps it.
        chunks: the number of chunks.
    """

    vocabulary: dict[str, int]
    starts: Positions
    positions: Positions
    values: Values
    chunks: int

    def query(self, text: str) -> SparseVector:
        """A question's known terms, weighted by idf and by how often it has them."""
        counted = Counter(number for term in terms(text) if (number := self.vocabulary.get(term)) is not None)
        indices = np.array(sorted(counted), dtype=np.int64)
        holding = self.starts[indices + 1] - self.starts[indices]
        idf = np.log1p((self.chunks - holding + 0.5) / (holding + 0.5))
        return SparseVector(indices, (idf * [counted[i] for i in indices.tolist()]).astype(np.float32))

    def scores(self, query: SparseVector) -> NDArray[np.float64]:
        """``(n,)`` scores of all chunks, summed in the order of the terms; 0 where no term is shared."""
        found = np.zeros(self.chunks)
        for term, weight in zip(query.indices.tolist(), query.values.astype(np.float64), strict=True):
            part = slice(self.starts[term], self.starts[term + 1])
            found[self.positions[part]] += weight * self.values[part]
        return found

    def rows(self) -> Iterator[SparseVector]:
        """The vector of each chunk."""
        order = np.argsort(self.positions, kind="stable")
        owners = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))[order]
        edges = np.searchsorted(self.positions[order], np.arange(self.chunks + 1))
        values = self.values[order]
        for at in range(self.chunks):
            part = slice(edges[at], edges[at + 1])
            yield SparseVector(owners[part], values[part])

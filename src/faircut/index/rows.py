"""What every index holds (chunks, vectors) and what makes the engines agree to the last tie.

Engines find candidates with whatever arithmetic is fast, down to ``margin`` below the k-th; ``Rows.settle`` scores and
orders them in one way. Input is checked here too. No search is here.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from faircut.embedding.contract import Vectors
from faircut.errors import SearchError
from faircut.index.contract import Positions, Scores
from faircut.records import Chunk

__all__ = [
    "Rows", "batches", "checked_k", "checked_vectors", "checked_within", "empty_result", "exact_scores", "first_of",
    "members_of", "tie_ranks",
]  # fmt: skip

_BLOCK = 4096  # rows that are scored in float64 at once


class Rows:
    """The chunks of an index in the order in which they were added, and their vectors.

    The vectors of one ``add`` are kept as they came, without a copy.
    """

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []
        self._parts: list[Vectors] = []
        self._norm = 0.0
        self._ranks: Positions | None = None

    @property
    def dimensions(self) -> int | None:
        """The ``d`` of the vectors, None before the first."""
        return self._parts[0].shape[1] if self._parts else None

    @property
    def matrix(self) -> Vectors:
        """All vectors, ``(n, d)``."""
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0]

    @property
    def ranks(self) -> Positions:
        """``(n,)``: where each position stands among equal scores: by document as first added, start, position."""
        if self._ranks is None:
            self._ranks = tie_ranks(self.chunks)
        return self._ranks

    def checked(self, chunks: Sequence[Chunk], vectors: Vectors) -> Vectors:
        """The vectors as an array that may be added.

        Raises:
            SearchError: not one for each chunk, of other dimensions than those before, or not finite.
        """
        array = checked_vectors(vectors, self.dimensions)
        if len(array) != len(chunks):
            raise SearchError(f"each chunk needs one vector: found {len(chunks)} chunks and {len(array)} vectors.")
        return array

    def add(self, chunks: Sequence[Chunk], array: Vectors) -> None:
        """Append chunks with their checked vectors."""
        if not len(array):
            return
        self.chunks.extend(chunks)
        self._parts.append(array)
        self._norm = max(self._norm, _largest_norm(array))
        self._ranks = None

    def checked_queries(
        self, vectors: Vectors, k: int, within: Sequence[str | None] | None
    ) -> tuple[Vectors, Sequence[str | None]]:
        """The queries as an array, and for each its document or None.

        Raises:
            SearchError: as ``Index.search`` says.
        """
        if not self.chunks:
            raise SearchError("the index is empty: add chunks before searching.")
        checked_k(k)
        queries = checked_vectors(vectors, self.dimensions)
        return queries, checked_within(within, len(queries))

    def margin(self, query: Vectors) -> float:
        """Two float32 inner products with ``query`` that are no further apart than this may be equal, or swapped.

        Twice the bound ``d u |q| |c|`` on a float32 inner product in any order of summation (Higham, Accuracy and
        Stability of Numerical Algorithms, section 3.1) with ``u = 2**-24`` and the largest ``|c|``; two more for
        the rounding of scores.
        """
        return 2 * (len(query) + 2) * 2.0**-24 * _largest_norm(query[np.newaxis]) * self._norm

    def settle(self, query: Vectors, candidates: Positions, k: int) -> tuple[Positions, Scores]:
        """The first ``k`` of one query's candidates and their scores: larger first, equal ones by ``ranks``."""
        return first_of(candidates, exact_scores(self.matrix, candidates, query), self.ranks, k)


def checked_vectors(vectors: Vectors, dimensions: int | None) -> Vectors:
    """``vectors`` as a contiguous ``(n, d)`` float32 array.

    Raises:
        SearchError: not two-dimensional, not ``dimensions`` columns, or a value that is not finite.
    """
    array = np.asarray(vectors)
    if array.ndim != 2 or array.shape[1] == 0 or array.dtype.kind not in "fiu":
        raise SearchError(f"vectors must be numbers of shape (n, d), found {array.dtype} of shape {array.shape}.")
    if dimensions is not None and array.shape[1] != dimensions:
        raise SearchError(
            f"the index has {dimensions} dimensions, the vectors have {array.shape[1]}: another embedder?"
        )
    with np.errstate(over="ignore"):  # what is too large for float32 becomes infinite and is refused below
        array = np.ascontiguousarray(array, dtype=np.float32)
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        raise SearchError(f"vectors must be finite: row {bad[0]} ({len(bad)} in all) holds nan or infinity.")
    return array


def checked_k(k: object) -> None:
    """Raise SearchError where ``k`` is no number of hits."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise SearchError(f"k must be a whole number of hits, 1 or more, found {k!r}.")


def checked_within(within: Sequence[str | None] | None, queries: int) -> Sequence[str | None]:
    """For each query its document or None.

    Raises:
        SearchError: not one for each query.
    """
    if within is None:
        return [None] * queries
    if isinstance(within, str) or len(within) != queries:
        raise SearchError(f"within needs one document (or None) for each of the {queries} queries.")
    return within


def tie_ranks(chunks: Sequence[Chunk]) -> Positions:
    """``(n,)``: where each chunk stands among equal scores: by document as first seen, start, position."""
    documents: dict[str, int] = {}
    owners = [documents.setdefault(chunk.document_id, len(documents)) for chunk in chunks]
    starts = [chunk.spans[0].start for chunk in chunks]
    ranks = np.empty(len(chunks), dtype=np.int64)
    ranks[np.lexsort((starts, owners))] = np.arange(len(chunks))  # lexsort is stable, so position comes last
    return ranks


def members_of(documents: Sequence[str]) -> dict[str, Positions]:
    """The positions of each document's chunks, ascending; ``documents`` has the document of each chunk."""
    members: dict[str, list[int]] = {}
    for position, document in enumerate(documents):
        members.setdefault(document, []).append(position)
    return {document: np.array(listed, dtype=np.int64) for document, listed in members.items()}


def first_of(candidates: Positions, scores: Scores, ranks: Positions, k: int) -> tuple[Positions, Scores]:
    """The first ``k`` of the candidates with their scores: larger scores first, equal ones by ``ranks``."""
    order = np.lexsort((ranks[candidates], -scores))[:k]
    return candidates[order], scores[order]


def empty_result(queries: int, k: int) -> tuple[Positions, Scores]:
    """The padding of a result in which nothing is found yet."""
    return np.full((queries, k), -1, dtype=np.int64), np.full((queries, k), -np.inf, dtype=np.float32)


def batches(rows: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    """``rows`` in parts of at most ``size``."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _largest_norm(vectors: Vectors) -> float:
    squares = np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64)
    return float(np.sqrt(squares.max(initial=0.0)))


def exact_scores(matrix: Vectors, positions: Positions, query: Vectors) -> Scores:
    """Inner products ``(m,)`` in float64, rounded once to float32: the same for equal rows wherever they stand."""
    wide = query.astype(np.float64)
    parts = [(matrix[part].astype(np.float64) * wide).sum(axis=1) for part in batches(positions, _BLOCK)]
    return np.concatenate([np.empty(0), *parts]).astype(np.float32)

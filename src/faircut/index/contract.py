"""The seam of search: chunks with vectors in, ranked positions out. Engines are in the files beside this one.

An engine is a component with a spec (``exact``, ``qdrant``); it creates or opens an index, which holds the chunks.
"""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from faircut.embedding.contract import Vectors
from faircut.records import Chunk, Hit

if TYPE_CHECKING:
    from faircut.index.bm25 import SparseVector, Weights
    from faircut.index.lexical import LexicalRows

__all__ = ["Engine", "Index", "LexicalIndex", "Positions", "Scores", "to_hits"]

Positions = NDArray[np.int64]
"""``(q, k)`` positions into the chunks in the order in which they were added; -1 where there is no further hit."""

Scores = NDArray[np.float32]
"""``(q, k)`` inner products, the cosines of unit vectors; minus infinity where there is no further hit."""


class Index(Protocol):
    """Chunks with their vectors. A context manager: leaving it closes it."""

    @property
    def chunks(self) -> Sequence[Chunk]:
        """The chunks in the order in which they were added: what the positions point into."""
        ...

    def add(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        """Add chunks, in document order, with their vectors ``(len(chunks), d)``.

        Raises:
            SearchError: the shapes do not fit, a value is not finite, or the engine cannot write.
        """
        ...

    def search(self, vectors: Vectors, k: int, within: Sequence[str | None] | None = None) -> tuple[Positions, Scores]:
        """The ``k`` nearest chunks of each query by inner product, searched exactly.

        Ordered by score (float32, larger first), then document (in the order in which documents were first added), then
        start, then position: equal scores have one order, whatever the engine and the batch.

        Args:
            vectors: ``(q, d)`` queries.
            k: hits a query, 1 or more; rows with fewer are padded.
            within: for each query the id of the one document to search, or None for all of them.

        Raises:
            SearchError: the index is empty, the shapes do not fit, a value is not finite, ``k`` is below 1.
        """
        ...

    @property
    def vectors(self) -> Vectors:
        """The vectors of all chunks, ``(n, d)``, as the engine compares them."""
        ...

    def close(self) -> None:
        """Make what was added durable where there is a folder, and release everything. May be called twice."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class LexicalIndex(Protocol):
    """Chunks with the weights of their words."""

    @property
    def rows(self) -> "LexicalRows":
        """The weights and the order of equal scores."""
        ...

    def search(
        self, queries: "Sequence[SparseVector]", k: int, within: Sequence[str | None] | None = None
    ) -> tuple[Positions, Scores]:
        """As ``Index.search``, over weighted words: only chunks that share one with the question are hits.

        Raises:
            SearchError: not one document (or None) for each question, ``k`` is below 1, or the engine fails.
        """
        ...

    def close(self) -> None:
        """Release everything. May be called twice."""
        ...


class Engine(Protocol):
    """Makes indexes. Implementations are frozen dataclasses; ``str(engine)`` is the spec."""

    def create(self, folder: Path | None = None) -> Index:
        """A new, empty index, kept in ``folder`` by engines that can, else only as long as it is open.

        Raises:
            SearchError: a finished index is in the folder already, or it cannot be written.
        """
        ...

    def create_lexical(self, chunks: "Sequence[Chunk]", weights: "Weights", folder: Path | None = None) -> LexicalIndex:
        """An index of the chunks' weighted words (``weights.chunks`` is ``len(chunks)``), for as long as it is open.

        Raises:
            SearchError: the folder cannot be written.
        """
        ...

    def open(self, folder: Path) -> Index:
        """The index that was created in ``folder`` and closed.

        Raises:
            SearchError: there is none, it was not finished, or the engine keeps none.
        """
        ...


def to_hits(
    question_ids: Sequence[str], chunks: Sequence[Chunk], positions: Positions, scores: Scores
) -> list[list[Hit]]:
    """The result of a search as records: one list a question, in rank order, without the padding."""
    return [
        [
            Hit(question, chunks[position].id, rank, float(score))
            for rank, (position, score) in enumerate(zip(row, values, strict=True), start=1)
            if position >= 0
        ]
        for question, row, values in zip(question_ids, positions, scores, strict=True)
    ]

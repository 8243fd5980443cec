"""The reference: every query against every chunk with numpy, in blocks so that memory stays bounded.

Lives in memory only; the other engines are tested to give the same hits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

import numpy as np

from faircut.embedding.contract import Vectors
from faircut.errors import SearchError
from faircut.index.bm25 import Weights
from faircut.index.contract import LexicalIndex, Positions, Scores
from faircut.index.lexical import ExactLexical
from faircut.index.rows import Rows, batches, empty_result
from faircut.records import Chunk
from faircut.specs import spec_text

__all__ = ["Exact", "ExactIndex"]

_BLOCK_SCORES = 2**23
"""Scores that are held at once: 32 MB, and as much again for finding the k-th."""


@dataclass(frozen=True)
class Exact:
    """Exact search with numpy, in memory: the reference for all others."""

    name: ClassVar[str] = "exact"
    __str__ = spec_text

    def create(self, folder: Path | None = None) -> "ExactIndex":  # noqa: ARG002  # the contract of all engines
        """A new, empty index. Nothing is written to the folder."""
        return ExactIndex()

    def open(self, folder: Path) -> "ExactIndex":
        """Always raises SearchError: this engine keeps nothing on disk."""
        raise SearchError(f"{folder}: the exact index is not kept on disk; create it again, or use qdrant.")

    def create_lexical(self, chunks: Sequence[Chunk], weights: Weights, folder: Path | None = None) -> LexicalIndex:  # noqa: ARG002
        """A new index of words. Nothing is written to the folder."""
        return ExactLexical(chunks, weights)


class ExactIndex:
    """All vectors in one float32 array."""

    def __init__(self) -> None:
        self._rows = Rows()
        self._members: dict[str, list[int]] = {}

    @property
    def chunks(self) -> Sequence[Chunk]:
        """The chunks in the order in which they were added."""
        return self._rows.chunks

    def add(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        """As ``Index.add``."""
        array = self._rows.checked(chunks, vectors)
        for position, chunk in enumerate(chunks, start=len(self._rows.chunks)):
            self._members.setdefault(chunk.document_id, []).append(position)
        self._rows.add(chunks, array)

    def search(self, vectors: Vectors, k: int, within: Sequence[str | None] | None = None) -> tuple[Positions, Scores]:
        """As ``Index.search``. Time ``O(q n d)``, memory the vectors and ``_BLOCK_SCORES`` scores."""
        queries, documents = self._rows.checked_queries(vectors, k, within)
        positions, scores = empty_result(len(queries), k)
        asked: dict[str | None, list[int]] = {}
        for row, document in enumerate(documents):
            asked.setdefault(document, []).append(row)
        for document, rows in asked.items():
            members, matrix = self._searched(document)
            for part in batches(np.array(rows), max(1, _BLOCK_SCORES // max(1, len(members)))):
                for row, near in zip(part, self._candidates(queries[part], members, matrix, k), strict=True):
                    found, values = self._rows.settle(queries[row], near, k)
                    positions[row, : len(found)], scores[row, : len(found)] = found, values
        return positions, scores

    @property
    def vectors(self) -> Vectors:
        """All vectors, ``(n, d)``."""
        return self._rows.matrix

    def close(self) -> None:
        """Nothing to release."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _searched(self, document: str | None) -> tuple[Positions, Vectors]:
        """The positions among which a query is answered, and their vectors."""
        if document is None:
            return np.arange(len(self._rows.chunks)), self._rows.matrix
        members = np.array(self._members.get(document, []), dtype=np.int64)
        return members, self._rows.matrix[members]

    def _candidates(self, queries: Vectors, members: Positions, matrix: Vectors, k: int) -> list[Positions]:
        """For each query the positions that float32 cannot tell from the first ``k``."""
        if len(members) <= k:
            return [members] * len(queries)
        rough = queries @ matrix.T
        kth = np.partition(rough, len(members) - k, axis=1)[:, len(members) - k]
        margins = [self._rows.margin(query) for query in queries]
        return [members[row >= least - m] for row, least, m in zip(rough, kth, margins, strict=True)]

"""Lexical search: weights of terms in, the ranked chunks of each question out. Scores every chunk: the reference.

What a term is worth is left to ``bm25.py``. The engine's own sparse vectors (``qdrant_lexical.py``) find the same.
"""

from collections.abc import Sequence

import numpy as np

from faircut.index.bm25 import SparseVector, Weights
from faircut.index.contract import Positions, Scores
from faircut.index.rows import checked_k, checked_within, empty_result, first_of, members_of, tie_ranks
from faircut.records import Chunk

__all__ = ["ExactLexical", "LexicalRows"]


class LexicalRows:
    """What every lexical index holds: weights, and the order of chunks with equal scores."""

    def __init__(self, chunks: Sequence[Chunk], weights: Weights) -> None:
        self.weights = weights
        self.ranks = tie_ranks(chunks)
        self._members = members_of([chunk.document_id for chunk in chunks])
        self._all = np.arange(len(chunks))

    def visible(self, document: str | None) -> Positions:
        """The positions among which a question is answered."""
        return self._all if document is None else self._members.get(document, self._all[:0])

    def scores(self, query: SparseVector) -> Scores:
        """``(n,)`` scores of all chunks: summed in float64, rounded once."""
        return self.weights.scores(query).astype(np.float32)

    def settle(self, query: SparseVector, candidates: Positions, k: int) -> tuple[Positions, Scores]:
        """The first ``k`` of one question's candidates with their scores; none that shares no term with it."""
        scores = self.scores(query)[candidates]
        return first_of(candidates[scores > 0], scores[scores > 0], self.ranks, k)


class ExactLexical:
    """Every chunk is scored with numpy, in memory."""

    def __init__(self, chunks: Sequence[Chunk], weights: Weights) -> None:
        self.rows = LexicalRows(chunks, weights)

    def search(
        self, queries: Sequence[SparseVector], k: int, within: Sequence[str | None] | None = None
    ) -> tuple[Positions, Scores]:
        """As ``LexicalIndex.search``. Time: the chunks that hold a term of the question, and sorting them."""
        checked_k(k)
        positions, scores = empty_result(len(queries), k)
        for row, document in enumerate(checked_within(within, len(queries))):
            found, values = self.rows.settle(queries[row], self.rows.visible(document), k)
            positions[row, : len(found)], scores[row, : len(found)] = found, values
        return positions, scores

    def close(self) -> None:
        """Nothing to release."""

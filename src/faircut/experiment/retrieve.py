"""Retrieval for all questions at once: enough ranked chunks to fill the largest budget, never more than needed.

Vectors and an index in, positions and scores in rank order out. What the hits are worth is left to the evaluation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from faircut.embedding.contract import Vectors
from faircut.index.contract import Index

__all__ = ["Ranking", "retrieve"]

Positions = NDArray[np.int64]


@dataclass(frozen=True)
class Ranking:
    """The chunks retrieved for one question in rank order: positions into the row's chunks, and their scores."""

    positions: Positions
    scores: Vectors


def retrieve(
    index: Index,
    queries: Vectors,
    within: Sequence[str | None],
    tokens: Positions,
    *,
    budget: int,
    k: int,
) -> list[Ranking]:
    """Search until each question has at least ``k`` chunks and ``budget`` tokens, or every chunk that it may see.

    Args:
        index: the vectors of all chunks, in the order of ``tokens``.
        queries: ``(q, d)`` vectors of the questions.
        within: for each question the document that it is limited to, or None.
        tokens: ``(n,)`` budget tokens of each chunk.
        budget: the largest budget in tokens.
        k: the largest number of chunks that a measure looks at.
    """
    rankings: list[Ranking | None] = [None] * len(queries)
    waiting = np.arange(len(queries))
    depth = _first_depth(tokens, budget, k)
    while len(waiting):
        chosen = [within[i] for i in waiting.tolist()]
        positions, scores = index.search(queries[waiting], depth, chosen)
        enough = _is_enough(positions, tokens, budget, k)
        for i, row, values, done in zip(waiting.tolist(), positions, scores, enough, strict=True):
            if done:
                rankings[i] = _cut(row, values, tokens, budget, k)
        waiting = waiting[~enough]
        depth = min(depth * 2, max(len(tokens), 1))
    return [ranking for ranking in rankings if ranking is not None]


def _first_depth(tokens: Positions, budget: int, k: int) -> int:
    typical = max(float(np.mean(tokens)), 1.0)
    return max(1, min(len(tokens), max(k, int(1.3 * budget / typical) + 8)))


def _is_enough(positions: Positions, tokens: Positions, budget: int, k: int) -> NDArray[np.bool_]:
    """Rows whose hits fill both limits, or that ended before the depth asked for, or hold every chunk."""
    found = positions >= 0
    delivered = np.where(found, tokens[positions], 0).sum(axis=1)
    filled = (delivered >= budget) & (found.sum(axis=1) >= k)
    exhausted = ~found.all(axis=1) | (positions.shape[1] >= len(tokens))
    return np.asarray(filled | exhausted)


def _cut(row: Positions, scores: Vectors, tokens: Positions, budget: int, k: int) -> Ranking:
    """Keep the first ``k`` chunks and those that begin before the budget is spent."""
    kept = row[row >= 0]
    before = np.cumsum(tokens[kept]) - tokens[kept]
    length = max(int(np.searchsorted(before, budget, side="left")), min(k, len(kept)))
    return Ranking(kept[:length], scores[:length])

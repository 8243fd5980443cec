"""One score of all chunks for all questions, as a fusion needs it: an index with its questions in; ranks, the scores of
single chunks, mean and deviation out.

By vectors, by words, or by the best sentence of each chunk. Adding two of them up is left to ``fusion.py``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from faircut.embedding.contract import Vectors
from faircut.index.bm25 import SparseVector
from faircut.index.contract import Index, LexicalIndex, Positions, Scores
from faircut.index.rows import batches, empty_result, exact_scores, first_of, members_of, tie_ranks
from faircut.records import Chunk

__all__ = ["ByBestSentence", "ByVectors", "ByWords", "Ranked", "Searcher", "Spread"]

_CHUNKS_AT_ONCE = 1024
_QUESTIONS_AT_ONCE = 128

Spread = tuple[float, float]
"""Mean and (population) deviation of a question's scores of all chunks that it may see."""


class Searcher(Protocol):
    """Finds the best chunks for questions that are known by their number."""

    def search(self, rows: Positions, k: int) -> tuple[Positions, Scores]:
        """The first ``k`` chunks of the questions ``rows`` with their scores; see ``Index.search``."""
        ...


class Ranked(Searcher, Protocol):
    """A searcher whose score is known for every chunk."""

    @property
    def chunks(self) -> Sequence[Chunk]:
        """What the positions point into."""
        ...

    def scores(self, row: int, positions: Positions) -> Scores:
        """The scores of these chunks for one question, equal to those that ``search`` gives."""
        ...

    def spread(self, row: int) -> Spread:
        """Mean and deviation of the scores of all chunks that the question may see; a deviation of 0 when there is
        none beyond rounding.
        """
        ...


@dataclass(frozen=True, eq=False)
class ByVectors:
    """Inner products of the questions' vectors ``(q, d)`` with those of the chunks."""

    index: Index
    queries: Vectors
    within: Sequence[str | None]

    @property
    def chunks(self) -> Sequence[Chunk]:
        """Those of the index."""
        return self.index.chunks

    def search(self, rows: Positions, k: int) -> tuple[Positions, Scores]:
        """As ``Searcher.search``."""
        return self.index.search(self.queries[rows], k, [self.within[row] for row in rows.tolist()])

    def scores(self, row: int, positions: Positions) -> Scores:
        """As ``Ranked.scores``."""
        return exact_scores(self.index.vectors, positions, self.queries[row])

    def spread(self, row: int) -> Spread:
        """As ``Ranked.spread``; computed for all questions at the first call, ``O(n q d)``."""
        return self._spreads[row]

    @cached_property
    def _spreads(self) -> list[Spread]:
        return _spreads(self.index.vectors, np.arange(len(self.chunks) + 1), self.chunks, self.queries, self.within)


@dataclass(frozen=True, eq=False)
class ByWords:
    """BM25 scores. A chunk that shares no word with the question scores 0 and is not found."""

    index: LexicalIndex
    chunks: Sequence[Chunk]
    queries: Sequence[SparseVector]
    within: Sequence[str | None]

    def search(self, rows: Positions, k: int) -> tuple[Positions, Scores]:
        """As ``Searcher.search``."""
        return self.index.search([self.queries[row] for row in rows], k, [self.within[row] for row in rows.tolist()])

    def scores(self, row: int, positions: Positions) -> Scores:
        """As ``Ranked.scores``."""
        return self.index.rows.scores(self.queries[row])[positions]

    def spread(self, row: int) -> Spread:
        """As ``Ranked.spread``; computed for all questions at the first call."""
        return self._spreads[row]

    @cached_property
    def _spreads(self) -> list[Spread]:
        rows = self.index.rows
        asked = zip(self.queries, self.within, strict=True)
        return [_spread(rows.scores(query)[rows.visible(document)]) for query, document in asked]


@dataclass(frozen=True, eq=False)
class ByBestSentence:
    """The larger of a chunk's own score and that of its best sentence.

    ``index`` holds an entry for each chunk and then one for each of its sentences, chunk after chunk; ``starts``
    ``(n + 1,)`` says where the entries of each chunk begin.
    """

    index: Index
    chunks: Sequence[Chunk]
    starts: Positions
    queries: Vectors
    within: Sequence[str | None]

    def search(self, rows: Positions, k: int) -> tuple[Positions, Scores]:
        """As ``Searcher.search``: entries are fetched until they hold ``k`` chunks and all that tie with the last."""
        positions, scores = empty_result(len(rows), k)
        waiting, depth = np.arange(len(rows)), 2 * k
        while len(waiting):
            entries, values = ByVectors(self.index, self.queries, self.within).search(rows[waiting], depth)
            late = []
            for at, listed, found in zip(waiting.tolist(), entries, values, strict=True):
                ended = bool((listed < 0).any()) or depth >= len(self.index.chunks)
                chosen, best = self._chunks_of(listed, found, k, ended=ended)
                positions[at, : len(chosen)], scores[at, : len(chosen)] = chosen, best
                late += [] if ended or len(chosen) == k else [at]
            waiting, depth = np.array(late, dtype=np.int64), min(2 * depth, len(self.index.chunks))
        return positions, scores

    def scores(self, row: int, positions: Positions) -> Scores:
        """As ``Ranked.scores``."""
        entries, edges = _entries(self.starts, positions)
        each = exact_scores(self.index.vectors, entries, self.queries[row])
        return np.maximum.reduceat(each, edges) if len(positions) else each

    def spread(self, row: int) -> Spread:
        """As ``Ranked.spread``; computed for all questions at the first call."""
        return self._spreads[row]

    @cached_property
    def _spreads(self) -> list[Spread]:
        return _spreads(self.index.vectors, self.starts, self.chunks, self.queries, self.within)

    @cached_property
    def _ranks(self) -> Positions:
        return tie_ranks(self.chunks)

    def _chunks_of(self, entries: Positions, values: Scores, k: int, *, ended: bool) -> tuple[Positions, Scores]:
        """The first chunks among ranked entries, as far as no entry that was not fetched could come between."""
        sure = entries >= 0 if ended else values > values[-1]
        owners = np.searchsorted(self.starts, entries[sure], side="right") - 1
        chunks, first = np.unique(owners, return_index=True)
        return first_of(chunks, values[sure][first], self._ranks, k)


def _spreads(
    vectors: Vectors, starts: Positions, chunks: Sequence[Chunk], queries: Vectors, within: Sequence[str | None]
) -> list[Spread]:
    """For each question, over the chunks that it may see; a chunk's score is its best entry's. In float64."""
    members = members_of([chunk.document_id for chunk in chunks])
    asked: dict[str | None, list[int]] = {}
    for row, document in enumerate(within):
        asked.setdefault(document, []).append(row)
    found: list[Spread] = [(0.0, 0.0)] * len(within)
    for document, rows in asked.items():
        seen = np.arange(len(chunks)) if document is None else members.get(document, np.empty(0, dtype=np.int64))
        for part in batches(np.array(rows), _QUESTIONS_AT_ONCE):
            wide = queries[part].astype(np.float64).T
            blocks = [_best(vectors, starts, block, wide) for block in batches(seen, _CHUNKS_AT_ONCE)]
            for row, column in zip(part.tolist(), np.concatenate(blocks).T if blocks else (), strict=bool(blocks)):
                found[row] = _spread(column)
    return found


def _best(vectors: Vectors, starts: Positions, chunks: Positions, queries: NDArray[np.float64]) -> NDArray[np.float64]:
    """``(chunks, questions)`` scores, each the largest of the chunk's entries."""
    entries, edges = _entries(starts, chunks)
    best: NDArray[np.float64] = np.maximum.reduceat(vectors[entries].astype(np.float64) @ queries, edges, axis=0)
    return best


def _entries(starts: Positions, chunks: Positions) -> tuple[Positions, Positions]:
    """The entries of these chunks, one chunk after the other, and where each one's begin among them."""
    sizes = starts[chunks + 1] - starts[chunks]
    edges = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) + np.repeat(starts[chunks] - edges, sizes), edges


def _spread(scores: NDArray[np.floating]) -> Spread:
    """Mean and deviation in float64; a deviation that float32 scores could not show is none."""
    if not len(scores):
        return 0.0, 0.0
    scores = scores.astype(np.float64)
    mean, deviation = float(scores.mean()), float(scores.std())
    return mean, deviation if deviation > 2.0**-20 * float(np.abs(scores).max()) else 0.0

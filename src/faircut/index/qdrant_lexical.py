"""The sparse vectors of Qdrant's engine: weights of terms in, the ranked chunks of each question out.

The idf is in the question's weights, not left to the engine, so that it is that of the whole corpus whatever the
filter. What lies within rounding of the k-th place is settled by ``lexical.py``, so the hits are the reference's.
"""

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from faircut.errors import SearchError
from faircut.index.bm25 import SparseVector, Weights
from faircut.index.contract import Positions, Scores
from faircut.index.lexical import LexicalRows
from faircut.index.qdrant_calls import as_search_error, below, only_in, storable
from faircut.index.rows import batches, checked_k, checked_within, empty_result
from faircut.records import Chunk

if TYPE_CHECKING:
    import qdrant_edge

__all__ = ["QdrantLexical"]

_WORDS = "words"  # the name of the engine's vector
_POINTS_A_CALL = 512
_QUERIES_A_CALL = 128
_SPARE = 8  # hits asked for beyond k, to see the end of the ties at the k-th place

Asked = tuple[SparseVector, str | None]


class QdrantLexical:
    """One shard of sparse vectors. A point's id is the chunk's position; a chunk without a term has no point."""

    def __init__(self, chunks: Sequence[Chunk], weights: Weights, folder: Path | None = None) -> None:
        self.rows = LexicalRows(chunks, weights)
        self._folder = folder or Path(tempfile.mkdtemp(prefix="faircut-words-"))
        self._discard = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True) if not folder else None
        with as_search_error(self._folder):
            self._shard: qdrant_edge.EdgeShard | None = _new_shard(self._folder)
            _upsert(self._shard, [chunk.document_id for chunk in chunks], weights)

    def search(
        self, queries: Sequence[SparseVector], k: int, within: Sequence[str | None] | None = None
    ) -> tuple[Positions, Scores]:
        """As ``LexicalIndex.search``."""
        checked_k(k)
        asked = list(zip(queries, checked_within(within, len(queries)), strict=True))
        positions, scores = empty_result(len(queries), k)
        for rows in batches(np.arange(len(queries)), _QUERIES_A_CALL):
            with as_search_error(self._folder):
                near = self._candidates([asked[row] for row in rows], k)
            for row, candidates in zip(rows, near, strict=True):
                found, values = self.rows.settle(queries[row], candidates, k)
                positions[row, : len(found)], scores[row, : len(found)] = found, values
        return positions, scores

    def close(self) -> None:
        """Close the shard; a temporary folder is removed."""
        if self._shard is not None:
            with as_search_error(self._folder):
                self._shard.close()
                self._shard = None
        if self._discard is not None:
            self._discard()

    def _candidates(self, asked: Sequence[Asked], k: int) -> list[Positions]:
        """For each question all chunks that may be among its first ``k``: down to rounding below the k-th score."""
        limit = min(k + _SPARE, max(self.rows.weights.chunks, 1))
        near: list[Positions] = []
        for one, (positions, scores) in zip(asked, self._query(asked, limit), strict=True):
            floor = below(float(scores[k - 1]) * (1 - _rounding(one[0]))) if len(scores) >= k else 0.0
            if limit < self.rows.weights.chunks and len(scores) == limit and scores[-1] >= floor:
                [(positions, scores)] = self._query([one], self.rows.weights.chunks, floor=floor)
            near.append(positions[scores >= floor])
        return near

    def _query(
        self, asked: Sequence[Asked], limit: int, *, floor: float | None = None
    ) -> list[tuple[Positions, Scores]]:
        from qdrant_edge import QueryBatchRequest

        if self._shard is None:
            raise SearchError(f"{self._folder}: the index is closed; create it again.")
        answers = self._shard.query_batch(QueryBatchRequest([_request(*one, limit, floor) for one in asked]))
        return [
            (np.array([p.id for p in row], dtype=np.int64), np.array([p.score for p in row], dtype=np.float32))
            for row in answers
        ]


def _rounding(query: SparseVector) -> float:
    """The relative distance within which two float32 sums may be equal, or swapped.

    Twice ``(t + 2) u`` with ``u = 2**-24``: all ``t`` products are positive, so the error is relative to the sum
    (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1); two more for the rounding of scores.
    """
    return float(2 * (len(query.indices) + 2) * 2.0**-24)


def _new_shard(folder: Path) -> "qdrant_edge.EdgeShard":
    from qdrant_edge import EdgeConfig, EdgeShard, EdgeSparseVectorParams, KeywordIndexParams, UpdateOperation

    folder.mkdir(parents=True, exist_ok=True)
    config = EdgeConfig(sparse_vectors={_WORDS: EdgeSparseVectorParams()}, wal_enabled=False)
    shard = EdgeShard.create(str(folder), config)
    shard.update(UpdateOperation.create_field_index("document", KeywordIndexParams()))
    return shard


def _upsert(shard: "qdrant_edge.EdgeShard", documents: Sequence[str], weights: Weights) -> None:
    from qdrant_edge import Point, UpdateOperation
    from qdrant_edge import SparseVector as Sparse

    points: list[Point] = []
    for position, (document, row) in enumerate(zip(documents, weights.rows(), strict=True)):
        if len(row.indices):
            vector = Sparse(row.indices.tolist(), row.values.tolist())
            points.append(Point(position, {_WORDS: vector}, {"document": storable(document)}))
        if len(points) == _POINTS_A_CALL:
            shard.update(UpdateOperation.upsert_points(points))
            points = []
    if points:
        shard.update(UpdateOperation.upsert_points(points))


def _request(query: SparseVector, document: str | None, limit: int, floor: float | None) -> "qdrant_edge.QueryRequest":
    from qdrant_edge import Query, QueryRequest
    from qdrant_edge import SparseVector as Sparse

    return QueryRequest(
        limit=limit,
        query=Query.Nearest(Sparse(query.indices.tolist(), query.values.tolist()), using=_WORDS),
        filter=only_in(document),
        score_threshold=floor,
        with_payload=False,
        with_vector=False,
    )

"""Qdrant's engine in process (``qdrant-edge-py``): chunks with payload in a folder, searched exactly.

The engine scores every vector (``exact``); what lies within rounding of the k-th place is settled by ``rows.py``, so
that the hits are those of the reference. Approximate search and servers are not here.
"""

import json
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from faircut.embedding.contract import Vectors
from faircut.errors import SearchError
from faircut.files import write_atomically
from faircut.index.bm25 import Weights
from faircut.index.contract import LexicalIndex, Positions, Scores
from faircut.index.qdrant_calls import as_search_error, below, only_in, restored, storable
from faircut.index.qdrant_lexical import QdrantLexical
from faircut.index.rows import Rows, batches, empty_result
from faircut.records import Chunk, Span
from faircut.specs import spec_text

if TYPE_CHECKING:
    import qdrant_edge

__all__ = ["Qdrant", "QdrantIndex"]

_SHARD = "shard"
_VECTORS = "vectors.npy"
_MARKER = "index.json"  # written when the index is complete
_FORMAT = 1
_POINTS_A_CALL = 512
_QUERIES_A_CALL = 128
_SPARE = 8  # hits asked for beyond k, to see the end of the ties at the k-th place

Asked = tuple[Vectors, str | None]  # a query and the document to which it is limited


@dataclass(frozen=True)
class Qdrant:
    """Qdrant's engine in this process, searched exactly; kept in the run's folder."""

    name: ClassVar[str] = "qdrant"
    __str__ = spec_text

    def create(self, folder: Path | None = None) -> "QdrantIndex":
        """A new index in ``folder``, which is made if need be; without one, in a temporary folder that goes with it.

        What an interrupted run left in the folder is replaced.

        Raises:
            SearchError: a finished index is there already, or the folder cannot be written.
        """
        if folder is None:
            return QdrantIndex(Path(tempfile.mkdtemp(prefix="faircut-index-")), temporary=True)
        if (folder / _MARKER).exists():
            raise SearchError(f"{folder}: an index is there already; open it, or remove the folder.")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if (folder / _SHARD).exists():
                shutil.rmtree(folder / _SHARD)
        except OSError as error:
            raise SearchError(f"{folder}: cannot be written: {error.strerror or error}.") from error
        return QdrantIndex(folder)

    def open(self, folder: Path) -> "QdrantIndex":
        """The finished index in ``folder``, with its chunks.

        Raises:
            SearchError: there is none, it was not finished, or another version wrote it.
        """
        index = QdrantIndex(folder)
        index._load(_read_marker(folder))
        return index

    def create_lexical(self, chunks: Sequence[Chunk], weights: Weights, folder: Path | None = None) -> LexicalIndex:
        """A new index of words in ``folder``; without one, in a temporary folder that goes with it.

        Raises:
            SearchError: the folder cannot be written.
        """
        return QdrantLexical(chunks, weights, folder)


class QdrantIndex:
    """One shard. A point's id is the chunk's position; its payload holds the chunk."""

    def __init__(self, folder: Path, *, temporary: bool = False) -> None:
        self._folder = folder
        self._shard: qdrant_edge.EdgeShard | None = None
        self._rows = Rows()
        self._changed = False
        self._discard: Callable[[], Any] | None = None
        if temporary:
            self._discard = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    @property
    def chunks(self) -> Sequence[Chunk]:
        """The chunks in the order in which they were added."""
        return self._rows.chunks

    def add(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        """As ``Index.add``."""
        array = self._rows.checked(chunks, vectors)
        if not len(array):
            return
        with as_search_error(self._folder):
            shard = self._begin_change(array.shape[1])
            for part in batches(np.arange(len(array)), _POINTS_A_CALL):
                _upsert(shard, len(self.chunks) + int(part[0]), [chunks[i] for i in part], array[part])
        self._rows.add(chunks, array)

    def search(self, vectors: Vectors, k: int, within: Sequence[str | None] | None = None) -> tuple[Positions, Scores]:
        """As ``Index.search``."""
        queries, documents = self._rows.checked_queries(vectors, k, within)
        positions, scores = empty_result(len(queries), k)
        for rows in batches(np.arange(len(queries)), _QUERIES_A_CALL):
            asked = [(queries[row], documents[row]) for row in rows]
            with as_search_error(self._folder):
                near = self._candidates(asked, k)
            for row, candidates in zip(rows, near, strict=True):
                found, values = self._rows.settle(queries[row], candidates, k)
                positions[row, : len(found)], scores[row, : len(found)] = found, values
        return positions, scores

    @property
    def vectors(self) -> Vectors:
        """All vectors, ``(n, d)``."""
        return self._rows.matrix

    def close(self) -> None:
        """Write everything and mark the index as complete; a temporary one is removed."""
        if self._shard is not None:
            with as_search_error(self._folder):
                if self._discard is None:
                    self._shard.flush()
                self._shard.close()
                self._shard = None
                if self._changed and self._discard is None:
                    _write_facts(self._folder, self._rows)
        if self._discard is not None:
            self._discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._changed = False  # what an error cut short must not look complete
        self.close()

    def _load(self, facts: dict[str, Any]) -> None:
        from qdrant_edge import EdgeShard

        with as_search_error(self._folder):
            self._shard = EdgeShard.load(str(self._folder / _SHARD))
            chunks = [_chunk(payload) for payload in _scroll(self._shard)]
            vectors = np.load(self._folder / _VECTORS, mmap_mode="r")
            if not len(chunks) == len(vectors) == facts.get("chunks"):
                self.close()
                raise SearchError(f"{self._folder}: the index is damaged, chunks are missing; create it again.")
            self._rows.add(chunks, vectors)

    def _begin_change(self, dimensions: int) -> "qdrant_edge.EdgeShard":
        """From the first new point until ``close``, the folder does not count as complete."""
        if self._shard is None and self.chunks:
            raise _closed(self._folder)
        if self._shard is None:
            self._shard = _new_shard(self._folder / _SHARD, dimensions)
        if not self._changed:
            (self._folder / _MARKER).unlink(missing_ok=True)
            self._changed = True
        return self._shard

    def _candidates(self, asked: Sequence[Asked], k: int) -> list[Positions]:
        """For each query all chunks that may be among its first ``k``.

        Where the spare hits do not reach below rounding of the k-th score, all that do not fall below it are fetched.
        """
        limit = min(k + _SPARE, len(self.chunks))
        found = self._query([_request(*one, limit) for one in asked])
        near: list[Positions] = []
        for one, (positions, scores) in zip(asked, found, strict=True):
            floor = below(float(scores[k - 1]) - self._rows.margin(one[0])) if len(scores) >= k else -np.inf
            if limit < len(self.chunks) and len(scores) == limit and scores[-1] >= floor:
                [(positions, scores)] = self._query([_request(*one, len(self.chunks), floor=floor)])
            near.append(positions[scores >= floor])
        return near

    def _query(self, requests: "list[qdrant_edge.QueryRequest]") -> list[tuple[Positions, Scores]]:
        from qdrant_edge import QueryBatchRequest

        if self._shard is None:
            raise _closed(self._folder)
        answers = self._shard.query_batch(QueryBatchRequest(requests))
        return [
            (np.array([p.id for p in row], dtype=np.int64), np.array([p.score for p in row], dtype=np.float32))
            for row in answers
        ]


def _closed(folder: Path) -> SearchError:
    return SearchError(f"{folder}: the index is closed; open it again.")


# ---------------------------------------------------------------- what lies in the folder


def _read_marker(folder: Path) -> dict[str, Any]:
    path = folder / _MARKER
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        state = "the index was not finished" if (folder / _SHARD).exists() else "there is no index"
        raise SearchError(f"{folder}: {state}; create it again.") from None
    except (OSError, ValueError) as error:
        raise SearchError(f"{path}: cannot be read ({error}); create the index again.") from error
    if not isinstance(facts, dict) or facts.get("format") != _FORMAT:
        raise SearchError(f"{folder}: another version of faircut wrote this index; create it again.")
    return facts


def _write_facts(folder: Path, rows: Rows) -> None:
    """The vectors, then the marker. The engine has the vectors too, but hands them out one Python list at a time."""
    facts = json.dumps({"format": _FORMAT, "chunks": len(rows.chunks)}).encode()
    write_atomically(folder / _VECTORS, lambda file: np.save(file, rows.matrix, allow_pickle=False))
    write_atomically(folder / _MARKER, lambda file: file.write(facts))


# ---------------------------------------------------------------- the engine's own types


def _new_shard(folder: Path, dimensions: int) -> "qdrant_edge.EdgeShard":
    from qdrant_edge import Distance, EdgeConfig, EdgeShard, EdgeVectorParams, KeywordIndexParams, UpdateOperation

    # Dot, not Cosine: the engine would normalise again. No log: an index that was cut short is built anew.
    params = EdgeVectorParams(size=dimensions, distance=Distance.Dot)
    folder.mkdir(parents=True, exist_ok=True)
    shard = EdgeShard.create(str(folder), EdgeConfig(vectors=params, wal_enabled=False))
    shard.update(UpdateOperation.create_field_index("document", KeywordIndexParams()))
    return shard


def _upsert(shard: "qdrant_edge.EdgeShard", first: int, chunks: Sequence[Chunk], vectors: Vectors) -> None:
    from qdrant_edge import Point, UpdateOperation

    rows = zip(chunks, vectors.tolist(), strict=True)
    points = [Point(i, vector, _payload(chunk)) for i, (chunk, vector) in enumerate(rows, start=first)]
    shard.update(UpdateOperation.upsert_points(points))


def _request(
    query: Vectors, document: str | None, limit: int, *, floor: float | None = None
) -> "qdrant_edge.QueryRequest":
    from qdrant_edge import Query, QueryRequest, SearchParams

    return QueryRequest(
        limit=limit,
        query=Query.Nearest(query.tolist()),
        filter=only_in(document),
        params=SearchParams(exact=True),
        score_threshold=floor,
        with_payload=False,
        with_vector=False,
    )


def _scroll(shard: "qdrant_edge.EdgeShard") -> Iterable[dict[str, Any]]:
    """The payloads of all points in the order of their ids."""
    from qdrant_edge import ScrollRequest

    place: Any = None
    while True:
        records, place = shard.scroll(ScrollRequest(offset=place, limit=_POINTS_A_CALL, with_payload=True))
        yield from (record.payload or {} for record in records)
        if place is None:
            return


def _payload(chunk: Chunk) -> dict[str, Any]:
    return {
        "document": storable(chunk.document_id),
        "spans": [[s.start, s.end] for s in chunk.spans],
        "text": storable(chunk.text),
        "context": storable(chunk.context),
    }


def _chunk(payload: dict[str, Any]) -> Chunk:
    spans = tuple(Span(start, end) for start, end in payload["spans"])
    return Chunk(restored(payload["document"]), spans, restored(payload["text"]), restored(payload["context"]))

"""Late pooling: a chunk's vector is the mean of its tokens' vectors, made while the model saw the text around it.

Comes in: a model that gives token vectors, documents and their chunks. Goes out: one unit vector for each chunk.
Questions and sentences have ordinary vectors. Running the model is left to it, remembering vectors to ``cache.py``.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from faircut.embedding.checks import checked_vectors, encodable, unit_rows
from faircut.embedding.contract import Embedder, Progress, Role, Vectors
from faircut.errors import EmbeddingError, SpecError
from faircut.records import Chunk, Document
from faircut.specs import spec_text
from faircut.text.contract import TokenCounter

__all__ = ["ChunkEmbedder", "DocumentTokens", "Late", "TokenEmbedder", "chunk_tokens", "embed_chunks", "text_tokens"]

Progressing = Progress | None
_PARTS = re.compile(r" > |\n")
"""Between the headings of a path, and between lines."""

_SPECIAL_TOKENS = 2
"""Of a window, one at each end."""

_VERSION = 1
"""Raised whenever the windows or the pooling change, so that older vectors are not taken from caches."""


class DocumentTokens(NamedTuple):
    """The tokens of a text without special tokens: their ids, and where each begins and ends (code points)."""

    ids: list[int]
    starts: list[int]
    ends: list[int]


@runtime_checkable
class ShowsTokens(Protocol):
    """What shows the vectors of tokens."""

    def document_tokens(self, text: str) -> DocumentTokens:
        """The tokens of a text of any length."""
        ...

    def token_vectors(self, windows: Sequence[Sequence[int]]) -> Iterator[NDArray[np.float32]]:
        """For each window of token ids, in order, the vectors ``(len(window) + 2, d)``: with a special token at both
        ends.
        """
        ...


class TokenEmbedder(Embedder, ShowsTokens, Protocol):
    """An embedder whose ordinary vector is the mean of its tokens' vectors, and that shows them."""


@runtime_checkable
class ChunkEmbedder(Protocol):
    """An embedder that sees chunks in their documents."""

    def embed_chunks(
        self, documents: Mapping[str, Document], chunks: Sequence[Chunk], *, progress: Progressing = None
    ) -> Vectors:
        """Vectors ``(len(chunks), d)``."""
        ...

    def chunk_tokens(self, documents: Mapping[str, Document], chunks: Sequence[Chunk]) -> int:
        """The tokens that the model computes for these vectors, as of the function."""
        ...


def embed_chunks(
    embedder: Embedder, documents: Mapping[str, Document], chunks: Sequence[Chunk], *, progress: Progressing = None
) -> Vectors:
    """The vectors ``(len(chunks), d)`` by which chunks are found: in their documents where the embedder can do so,
    else of their texts with their context in front.

    Raises:
        EmbeddingError: as of ``Embedder.embed``; or late pooling is asked for text that is not the document's.
    """
    if isinstance(embedder, ChunkEmbedder):
        return embedder.embed_chunks(documents, chunks, progress=progress)
    return embedder.embed([chunk.embedded_text for chunk in chunks], "passage", progress=progress)


def chunk_tokens(embedder: Embedder, documents: Mapping[str, Document], chunks: Sequence[Chunk]) -> int:
    """The tokens that the model computes for the vectors of these chunks, special tokens and prefix included.

    With late pooling they are those of the windows over the chunks' documents, else those of each distinct text, as far
    as the model reads it.
    """
    if isinstance(embedder, ChunkEmbedder):
        return embedder.chunk_tokens(documents, chunks)
    return sum(text_tokens(embedder, [chunk.embedded_text for chunk in chunks], "passage"))


def text_tokens(embedder: Embedder, texts: Iterable[str], role: Role) -> list[int]:
    """The tokens that the model computes for each distinct text, special tokens and prefix included."""
    counts = embedder.tokenizer.count_many([encodable(text) for text in dict.fromkeys(texts)])
    overhead = embedder.overhead(role)
    return [min(count + overhead, embedder.max_tokens) for count in counts]


@dataclass(frozen=True)
class Late:
    """Chunk vectors by late pooling: the mean of token vectors from overlapping windows of the document.

    Günther et al. 2024 (Late Chunking). The document is run in windows as long as the model sees; each token's vector
    is taken from the window in whose middle it lies most; a chunk has the mean of its tokens, and of the special token
    at the document's edge where it reaches there, so a document that is one chunk has its ordinary vector. All chunkers
    of a comparison share these windows. Heading paths and table headers in front of a chunk are not embedded: they
    stand in the document, where its tokens have seen them as far as a window reaches.

    Args:
        embedder: a model that gives token vectors: ``minilm``.
        overlap: tokens that two windows share at least, below the window's length.
    """

    embedder: TokenEmbedder
    overlap: int = 64

    name: ClassVar[str] = "late"
    __str__ = spec_text

    def __post_init__(self) -> None:
        if not isinstance(self.embedder, ShowsTokens):
            raise SpecError(f"embedder 'late': {self.embedder} gives no token vectors; late(minilm) does.")
        if not 0 <= self.overlap < self.window:
            raise SpecError(
                f"embedder 'late': overlap lies between 0 and {self.window - 1} (the window has {self.window} tokens "
                f"of text), found {self.overlap}."
            )

    @property
    def window(self) -> int:
        """Tokens of text in a window."""
        return self.embedder.max_tokens - self.embedder.overhead("passage")

    @property
    def dimensions(self) -> int:
        """As of the model."""
        return self.embedder.dimensions

    @property
    def fingerprint(self) -> str:
        """The model's with the windows': these vectors are never mixed with ordinary ones."""
        return f"late{_VERSION}-overlap{self.overlap}-{self.embedder.fingerprint}"

    @property
    def text_fingerprint(self) -> str:
        """The model's own, under which vectors of texts (questions, sentences) are remembered: they are ordinary."""
        return self.embedder.fingerprint

    @property
    def tokenizer(self) -> TokenCounter:
        """As of the model."""
        return self.embedder.tokenizer

    @property
    def max_tokens(self) -> int:
        """As of the model, for texts by themselves; a chunk may be of any length."""
        return self.embedder.max_tokens

    def prefix(self, role: Role) -> str:
        """As of the model."""
        return self.embedder.prefix(role)

    def overhead(self, role: Role) -> int:
        """As of the model."""
        return self.embedder.overhead(role)

    def embed(self, texts: Sequence[str], role: Role, *, progress: Progressing = None) -> Vectors:
        """The ordinary vectors of texts that stand in no document. Raises as of the model."""
        return self.embedder.embed(texts, role, progress=progress)

    def embed_chunks(
        self, documents: Mapping[str, Document], chunks: Sequence[Chunk], *, progress: Progressing = None
    ) -> Vectors:
        """Vectors ``(len(chunks), d)`` of chunks in their documents (by id).

        Raises:
            EmbeddingError: a chunk's text or context is not its document's own (propositions, ``contextual``).
        """
        vectors = np.empty((len(chunks), self.dimensions), dtype=np.float32)
        by_document: dict[str, list[int]] = {}
        for place, chunk in enumerate(chunks):
            by_document.setdefault(chunk.document_id, []).append(place)
        for document_id, places in by_document.items():  # all are checked before the first is run
            _check([chunks[place] for place in places], documents[document_id], str(self))
        done = 0
        for document_id, places in by_document.items():
            part = self._document(documents[document_id], [chunks[place] for place in places])
            vectors[places] = checked_vectors(part, len(places), self.dimensions, str(self))
            done += len(places)
            if progress:
                progress(done, len(chunks))
        return vectors

    def chunk_tokens(self, documents: Mapping[str, Document], chunks: Sequence[Chunk]) -> int:
        """The tokens of all windows over the chunks' documents: what is computed, however few the chunks are."""
        counts = [
            len(self.embedder.document_tokens(documents[id_].text).ids)
            for id_ in dict.fromkeys(chunk.document_id for chunk in chunks)
        ]
        windows = [window for count in counts for window in _windows(count, self.window, self.overlap)]
        return sum(window.end - window.start + _SPECIAL_TOKENS for window in windows)

    def _document(self, document: Document, chunks: Sequence[Chunk]) -> Vectors:
        tokens = self.embedder.document_tokens(document.text)
        count = len(tokens.ids)
        windows = _windows(count, self.window, self.overlap)
        pools = [_Pool(_rows_of(chunk, tokens), self.dimensions) for chunk in chunks]
        pools_at = _PoolsByRow(pools)
        vectors = self.embedder.token_vectors([tokens.ids[w.start : w.end] for w in windows])
        for window, rows in zip(windows, vectors, strict=True):
            # Row 0 of the document is its first special token, row i + 1 its token i, the last its last special token.
            first = 0 if window.start == 0 else window.kept_from + 1
            last = count + 2 if window.end == count else window.kept_to + 1
            for pool in pools_at.touching(first, last):
                pool.add(rows, first, last, shift=window.start)
        return unit_rows(np.stack([pool.mean for pool in pools]))


class _Window(NamedTuple):
    """Tokens ``[start, end)`` that are run together, of which ``[kept_from, kept_to)`` get their vectors here."""

    start: int
    end: int
    kept_from: int
    kept_to: int


def _windows(count: int, size: int, overlap: int) -> list[_Window]:
    """Windows over ``count`` tokens, all of ``size`` where there are so many; the last one ends at the last token.

    Where windows overlap, the earlier one gives the first half: so each token is as far from an edge as can be.
    """
    last = max(count - size, 0)
    starts = [*range(0, last, size - overlap), last]
    ends = [min(start + size, count) for start in starts]
    edges = [0, *((start + end) // 2 for start, end in zip(starts[1:], ends[:-1], strict=True)), count]
    return [_Window(*found) for found in zip(starts, ends, edges[:-1], edges[1:], strict=True)]


def _rows_of(chunk: Chunk, tokens: DocumentTokens) -> list[tuple[int, int]]:
    """The rows of a chunk: a range for each span, of the tokens that it shares a character with.

    A chunk without a token (of characters that the model does not know) has the nearest one.
    """
    count, found = len(tokens.ids), []
    for span in chunk.spans:
        first, last = bisect_right(tokens.ends, span.start), bisect_left(tokens.starts, span.end)
        if first < last:
            found.append((first, last))
    if not found:
        nearest = min(bisect_right(tokens.ends, chunk.spans[0].start), max(count - 1, 0))
        found = [(nearest, min(nearest + 1, count))]
    return [(0 if a == 0 else a + 1, count + 2 if b == count else b + 1) for a, b in found]


@dataclass(eq=False)
class _Pool:
    """The sum of the vectors of a chunk's rows, as windows bring them."""

    rows: list[tuple[int, int]]
    dimensions: int
    total: NDArray[np.float64] | None = field(default=None, init=False)

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean over all rows."""
        found = np.zeros(self.dimensions) if self.total is None else self.total
        return found / sum(last - first for first, last in self.rows)

    def add(self, vectors: NDArray[np.float32], first: int, last: int, *, shift: int) -> None:
        """Add what lies in the document's rows ``[first, last)``; ``shift`` is the document's row of the window's 0."""
        for start, end in self.rows:
            a, b = max(start, first), min(end, last)
            if a < b:
                part = vectors[a - shift : b - shift].sum(axis=0, dtype=np.float64)
                self.total = part if self.total is None else self.total + part


class _PoolsByRow:
    """The pools that a range of rows touches, found without looking at all of them for every window."""

    def __init__(self, pools: Sequence[_Pool]) -> None:
        self._ordered = sorted(pools, key=lambda pool: pool.rows[0][0])
        self._firsts = [pool.rows[0][0] for pool in self._ordered]
        self._open: list[_Pool] = []
        self._at = 0

    def touching(self, first: int, last: int) -> list[_Pool]:
        """Ranges must be asked in order."""
        until = bisect_left(self._firsts, last)
        self._open = [pool for pool in self._open if max(end for _, end in pool.rows) > first]
        self._open += self._ordered[self._at : until]
        self._at = max(self._at, until)
        return self._open


def _check(chunks: Sequence[Chunk], document: Document, name: str) -> None:
    """Refuse what has no tokens in the document; white space around a sentence is nothing."""
    for chunk in chunks:
        own = "".join(document.text[span.start : span.end] for span in chunk.spans)
        if own != chunk.text and own.strip() != chunk.text.strip():
            raise EmbeddingError(
                f"{name}: a chunk of {document.id!r} was rewritten, and late pooling takes only the document's own "
                "text; compare this chunker with the ordinary embedder."
            )
    contexts = {chunk.context for chunk in chunks if chunk.context}
    if contexts and not _stand_in(contexts, document):
        raise EmbeddingError(
            f"{name}: a context in front of chunks of {document.id!r} is not in the document, so late pooling "
            "would leave it out; compare this chunker with the ordinary embedder."
        )


def _stand_in(contexts: Iterable[str], document: Document) -> bool:
    """Whether the headings and rows that the contexts are made of are the document's, white space aside."""
    text = " ".join(document.text.split())
    parts = {part for context in contexts for part in _PARTS.split(context)}
    return all(" ".join(part.split()) in text for part in parts)

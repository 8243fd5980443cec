"""Vectors remembered on disk: an embedder that wraps another one and asks it only for what was never embedded before.

Comes in: any embedder and the path of an SQLite file. Goes out: the same vectors, bit for bit. A cache may cost time,
never a result: when it cannot be read or written, one warning says so and the run goes on without it.
"""

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from faircut.embedding.checks import OverlongWarning, checked_texts, checked_vectors, encodable, report_overlong
from faircut.embedding.contract import Embedder, Progress, Role, Vectors
from faircut.embedding.late import ChunkEmbedder, chunk_tokens
from faircut.embedding.vector_store import VectorStore, check_is_ours
from faircut.embedding.weights import cache_directory
from faircut.records import Chunk, Document
from faircut.text.contract import TokenCounter

__all__ = ["CacheStats", "CachedEmbedder", "PartlyEmbedder", "check_cache", "default_cache"]

_SLICE_CHARACTERS = 100_000  # about 25,000 tokens: one to three seconds of MiniLM, which is what a SIGKILL can lose
_SLICE_TEXTS = 2_000


@runtime_checkable
class PartlyEmbedder(Protocol):
    """An embedder that hands on each part of a call as soon as it is there: what a server was paid for is kept, also
    when a later part fails or the process is killed.
    """

    def embed_parts(self, texts: Sequence[str], role: Role) -> Iterator[tuple[list[int], Vectors]]:
        """The places of some of the texts, and their vectors; each place once. Raises as ``Embedder.embed``."""
        ...


def default_cache() -> Path:
    """The file of vectors that is used when none is named, in the user's cache folder."""
    return cache_directory() / "vectors.sqlite"


def check_cache(path: Path) -> None:
    """Refuse early what can never be a cache of vectors; nothing is changed.

    Raises:
        StoreError: a folder, or a file that is not ours; it would never be written to.
    """
    check_is_ours(path, owned=_is_default(path))


def _is_default(path: Path) -> bool:
    return path.absolute() == default_cache().absolute()


@dataclass
class CacheStats:
    """What the cache did since it was made; distinct texts of each call, tokens as the model computes them.

    ``seconds`` is wall time inside the wrapped embedder.
    """

    hits: int = 0
    tokens_from_cache: int = 0
    embedded: int = 0
    tokens_embedded: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class CachedEmbedder:
    """An embedder in front of a file of vectors. Its spec, its name and its vectors are those of ``inner``.

    The key of a vector is a hash of the inner embedder's fingerprint (weights, tokenizer, limits), the role, the prefix
    and the text; never of the model's name alone. Vectors are written as each slice of texts is done, so a killed
    process loses at most the slice it was at. Two processes may use one file.

    A damaged file is moved aside and begun again when its header still shows that it is ours, or when it lies at
    ``default_cache()``. Any other file that is there is the user's: ``embed`` refuses it with ``StoreError``.
    """

    inner: Embedder
    path: Path
    stats: CacheStats = field(default_factory=CacheStats, compare=False, repr=False)
    _store: VectorStore = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_store", VectorStore(Path(self.path), owned=_is_default(Path(self.path))))

    def __str__(self) -> str:
        return str(self.inner)

    @property
    def dimensions(self) -> int:
        """As of ``inner``."""
        return self.inner.dimensions

    @property
    def fingerprint(self) -> str:
        """As of ``inner``: the vectors are the same."""
        return self.inner.fingerprint

    @property
    def tokenizer(self) -> TokenCounter:
        """As of ``inner``."""
        return self.inner.tokenizer

    @property
    def max_tokens(self) -> int:
        """As of ``inner``."""
        return self.inner.max_tokens

    def prefix(self, role: Role) -> str:
        """As of ``inner``."""
        return self.inner.prefix(role)

    def overhead(self, role: Role) -> int:
        """As of ``inner``."""
        return self.inner.overhead(role)

    def close(self) -> None:
        """Close the file; it is opened again when needed."""
        self._store.close()

    def embed(self, texts: Sequence[str], role: Role, *, progress: Progress | None = None) -> Vectors:
        """Vectors ``(len(texts), d)``, from the file where they are, else from ``inner``.

        Over-long texts are reported for all texts asked, those from the cache too.

        Raises:
            TypeError: ``texts`` is not a sequence of strings.
            EmbeddingError: as of ``inner``.
            StoreError: ``path`` is a folder or a file that is not ours.
        """
        listed = checked_texts(texts)
        places = {text: place for place, text in enumerate(dict.fromkeys(listed))}
        rows = np.array([places[text] for text in listed], dtype=np.intp)
        work = _Work(list(places), self._keys(places, role), np.bincount(rows, minlength=len(places)), self.dimensions)
        self._recall(work)
        if progress and listed:
            progress(work.done, len(listed))
        for batch in work.slices(whole=isinstance(self.inner, PartlyEmbedder)):
            self._embed_slice(work, batch, role, progress)
        report_overlong([int(work.tokens[row]) for row in rows], self.max_tokens, str(self))
        return work.vectors.take(rows, axis=0)

    def recall(self, texts: Sequence[str], role: Role) -> tuple[Vectors, NDArray[np.bool_]]:
        """What the file knows, without asking ``inner``: vectors ``(len(texts), d)``, zeros where it has none, and
        whether it has one ``(len(texts),)``. A file that is not there is not made.
        """
        listed = checked_texts(texts)
        places = {text: place for place, text in enumerate(dict.fromkeys(listed))}
        rows = np.array([places[text] for text in listed], dtype=np.intp)
        work = _Work(list(places), self._keys(places, role), np.bincount(rows, minlength=len(places)), self.dimensions)
        if Path(self.path).exists():
            self._recall(work)
        return work.vectors.take(rows, axis=0), work.known.take(rows)

    def embed_chunks(
        self, documents: Mapping[str, Document], chunks: Sequence[Chunk], *, progress: Progress | None = None
    ) -> Vectors:
        """Vectors ``(len(chunks), d)`` of chunks in their documents, each document stored as soon as it is done; of the
        chunks' texts where ``inner`` knows no other. The key holds the document's text and the chunk.

        Raises as of ``embed`` and ``ChunkEmbedder``.
        """
        if not isinstance(self.inner, ChunkEmbedder):
            return self.embed([chunk.embedded_text for chunk in chunks], "passage", progress=progress)
        digests = {id_: _digest(documents[id_].text) for id_ in dict.fromkeys(chunk.document_id for chunk in chunks)}
        places = {(chunk.document_id, chunk.id): place for place, chunk in enumerate(chunks)}
        distinct = [chunks[place] for place in places.values()]
        keys = [_digest(f"{self.inner.fingerprint}\0{digests[c.document_id].hex()}\0{c.id}") for c in distinct]
        rows = {key: row for row, key in enumerate(places)}
        at = np.array([rows[chunk.document_id, chunk.id] for chunk in chunks], dtype=np.intp)
        shares = np.bincount(at, minlength=len(distinct))
        work = _Work([chunk.embedded_text for chunk in distinct], keys, shares, self.dimensions)
        self._recall(work)
        for batch in work.groups([chunk.document_id for chunk in distinct]):
            started = time.perf_counter()
            part = [distinct[place] for place in batch]
            vectors = self.inner.embed_chunks(documents, part)
            self.stats.seconds += time.perf_counter() - started
            self.stats.tokens_embedded += self.inner.chunk_tokens(documents, part)
            self._keep(work, batch, vectors, "passage")
            if progress:
                progress(work.done, len(chunks))
        return work.vectors.take(at, axis=0)

    def chunk_tokens(self, documents: Mapping[str, Document], chunks: Sequence[Chunk]) -> int:
        """As of ``inner``, as if nothing were known."""
        return chunk_tokens(self.inner, documents, chunks)

    def _keys(self, texts: Sequence[str] | dict[str, int], role: Role) -> list[bytes]:
        base = blake2b(digest_size=16)
        fingerprint = getattr(self.inner, "text_fingerprint", self.inner.fingerprint)
        for part in (fingerprint, role, self.inner.prefix(role)):
            base.update(part.encode("utf-8", "surrogatepass") + b"\0")
        keys = []
        for text in texts:
            digest = base.copy()
            digest.update(text.encode("utf-8", "surrogatepass"))
            keys.append(digest.digest())
        return keys

    def _recall(self, work: "_Work") -> None:
        """Fill in what the file knows; what it holds in a wrong shape or length counts as unknown."""
        places = {key: place for place, key in enumerate(work.keys)}
        for rows in self._store.read(work.keys):
            fitting = [row for row in rows if len(row.vector) == work.vectors.shape[1] * 4]
            if not fitting:
                continue
            block = np.frombuffer(b"".join(row.vector for row in fitting), dtype="<f4").reshape(len(fitting), -1)
            squares = np.einsum("nd,nd->n", block, block)
            sound = np.flatnonzero(np.abs(squares - 1) < 1e-3)
            at = np.array([places[fitting[i].key] for i in sound], dtype=np.intp)
            work.vectors[at] = block[sound]
            work.tokens[at] = [fitting[i].tokens for i in sound]
            work.known[at] = True
        self.stats.hits += int(work.known.sum())
        self.stats.tokens_from_cache += int(np.minimum(work.tokens[work.known], self.max_tokens).sum())

    def _embed_slice(self, work: "_Work", batch: list[int], role: Role, progress: Progress | None) -> None:
        """Embed some texts, and store each part of them in one transaction as soon as it is there."""
        texts = [work.texts[place] for place in batch]
        before, total, share = work.done, int(work.shares.sum()), int(work.shares[batch].sum())

        def inside(done: int, count: int) -> None:
            if progress:
                progress(before + share * done // count, total)

        parts = self._parts(texts, role, inside if progress else None)
        while (part := self._timed(parts)) is not None:
            places, vectors = part
            checked_vectors(vectors, len(places), self.dimensions, str(self))
            kept = [batch[place] for place in places]
            self._keep(work, kept, vectors, role)
            self.stats.tokens_embedded += int(np.minimum(work.tokens[kept], self.max_tokens).sum())
            if progress and len(places) < len(batch):
                progress(work.done, total)

    def _parts(self, texts: list[str], role: Role, progress: Progress | None) -> Iterator[tuple[list[int], Vectors]]:
        """The places of texts and their vectors: part by part where the inner embedder gives them so, else at once."""
        if isinstance(self.inner, PartlyEmbedder):
            yield from self.inner.embed_parts(texts, role)
        else:
            yield list(range(len(texts))), self.inner.embed(texts, role, progress=progress)

    def _timed(self, parts: Iterator[tuple[list[int], Vectors]]) -> tuple[list[int], Vectors] | None:
        """The next part, None when there is no more."""
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OverlongWarning)  # told once for the whole call
            part = next(parts, None)
        self.stats.seconds += time.perf_counter() - started
        return part

    def _keep(self, work: "_Work", batch: list[int], vectors: Vectors, role: Role) -> None:
        counts = self.inner.tokenizer.count_many([encodable(work.texts[place]) for place in batch])
        work.learn(batch, vectors, np.array(counts, dtype=np.int64) + self.inner.overhead(role))
        self._store.write(
            [
                (work.keys[p], int(work.tokens[p]), v.astype("<f4").tobytes())
                for p, v in zip(batch, vectors, strict=True)
            ]
        )
        self.stats.embedded += len(batch)


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class _Work:
    """One call: its distinct texts, how often each was asked, and what is known of them so far."""

    def __init__(self, texts: list[str], keys: list[bytes], shares: NDArray[np.intp], dimensions: int) -> None:
        self.texts, self.keys, self.shares = texts, keys, shares
        self.vectors = np.zeros((len(texts), dimensions), dtype=np.float32)
        self.tokens = np.zeros(len(texts), dtype=np.int64)
        self.known = np.zeros(len(texts), dtype=bool)

    @property
    def done(self) -> int:
        """Texts answered, each as often as it was asked."""
        return int(self.shares[self.known].sum())

    def learn(self, batch: list[int], vectors: Vectors, tokens: NDArray[np.int64]) -> None:
        self.vectors[batch], self.tokens[batch], self.known[batch] = vectors, tokens, True

    def groups(self, names: Sequence[str]) -> Iterator[list[int]]:
        """Places of what is unknown, those of one name together, in order."""
        found: dict[str, list[int]] = {}
        for place in np.flatnonzero(~self.known).tolist():
            found.setdefault(names[place], []).append(place)
        yield from found.values()

    def slices(self, *, whole: bool = False) -> Iterator[list[int]]:
        """Places of unknown texts, the longest first, in slices that take about the same time, or all in one."""
        unknown = sorted(np.flatnonzero(~self.known).tolist(), key=lambda p: (-len(self.texts[p]), p))
        batch: list[int] = []
        characters = 0
        for place in unknown:
            full = characters + len(self.texts[place]) > _SLICE_CHARACTERS or len(batch) >= _SLICE_TEXTS
            if batch and full and not whole:
                yield batch
                batch, characters = [], 0
            batch.append(place)
            characters += len(self.texts[place])
        if batch:
            yield batch

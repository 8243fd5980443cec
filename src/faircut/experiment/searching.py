"""How a row's chunks are searched: chunks and questions in; vectors, words or both made, indexed and ready to be asked.

The ways to search are in ``faircut.index``; how deep it is searched and what is delivered is left to ``retrieve.py``.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import numpy as np

from faircut.chunkers.sentence import sentence_places
from faircut.embedding.contract import Embedder, Vectors
from faircut.embedding.late import embed_chunks
from faircut.experiment.meter import Account, MeteredEmbedder
from faircut.experiment.units import Delivery, WholeChunk
from faircut.index.bm25 import Bm25
from faircut.index.contract import Engine, Positions
from faircut.index.rankings import ByBestSentence, ByVectors, ByWords, Ranked, Searcher
from faircut.index.searches import Dense, Search
from faircut.records import Chunk, Document, Question, Span
from faircut.text.sentences import sentence_spans

__all__ = ["DEFAULT_RETRIEVAL", "Effort", "Retrieval", "Searching", "sentences_of"]

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Retrieval:
    """How chunks are found and what is delivered, the same for all rows of a comparison."""

    search: Search
    delivery: Delivery
    best_sentence: bool = False

    def __str__(self) -> str:
        return f"{self.search} {self.delivery} {self.best_sentence}"

    @property
    def uses_vectors(self) -> bool:
        """Whether the chunks are embedded at all."""
        return not isinstance(self.search, Bm25)


DEFAULT_RETRIEVAL = Retrieval(Dense(), WholeChunk())


@dataclass
class Effort:
    """What it took to make chunks searchable: distinct tokens of sentences, and seconds."""

    sentence_tokens: int = 0
    embedding_seconds: float = 0.0
    indexing_seconds: float = 0.0


@dataclass(frozen=True)
class Searching:
    """Makes a row's chunks searchable for its questions; ``progress`` is told of the texts that are embedded."""

    retrieval: Retrieval
    embedder: Embedder
    engine: Engine
    documents: Mapping[str, Document]
    questions: Sequence[Question]
    progress: Progress | None = None
    effort: Effort = field(default_factory=Effort)

    @contextmanager
    def over(self, chunks: Sequence[Chunk], folder: Path) -> Iterator[Searcher]:
        """A searcher of the chunks that are indexed in ``folder``, for as long as this is open."""
        search = self.retrieval.search
        with ExitStack() as opened:
            if isinstance(search, Dense):
                yield self._vectors(chunks, folder, opened)
            elif isinstance(search, Bm25):
                yield self._words(search, chunks, folder, opened)
            else:
                vectors = self._vectors(chunks, folder, opened)
                yield search.searcher(vectors, self._words(search.lexical, chunks, folder, opened))

    @property
    def _within(self) -> list[str | None]:
        return [q.within for q in self.questions]

    def _vectors(self, chunks: Sequence[Chunk], folder: Path, opened: ExitStack) -> Ranked:
        """The chunks by their vectors, and by those of their sentences where that is asked."""
        started = perf_counter()
        vectors = embed_chunks(self.embedder, self.documents, chunks, progress=self.progress)
        sentences = self._sentences(chunks) if self.retrieval.best_sentence else []
        entries, vectors, starts = self._with_sentences(chunks, vectors, sentences)
        self.effort.embedding_seconds += perf_counter() - started
        queries = self.embedder.embed([q.text for q in self.questions], "query")
        started = perf_counter()
        index = opened.enter_context(self.engine.create(folder))
        index.add(entries, vectors)
        self.effort.indexing_seconds += perf_counter() - started
        if not sentences:
            return ByVectors(index, queries, self._within)
        return ByBestSentence(index, chunks, starts, queries, self._within)

    def _words(self, bm25: Bm25, chunks: Sequence[Chunk], folder: Path, opened: ExitStack) -> Ranked:
        """The chunks by their words."""
        started = perf_counter()
        weights = bm25.weigh([c.embedded_text for c in chunks])
        index = self.engine.create_lexical(chunks, weights, folder / "words")
        opened.callback(index.close)
        self.effort.indexing_seconds += perf_counter() - started
        return ByWords(index, chunks, [weights.query(q.text) for q in self.questions], self._within)

    def _sentences(self, chunks: Sequence[Chunk]) -> list[list[Chunk]]:
        """The sentences of each chunk."""
        places: dict[str, list[int]] = {}
        found = []
        for chunk in chunks:
            document = self.documents[chunk.document_id]
            if document.id not in places:
                places[document.id] = sentence_places(document)
            found.append(sentences_of(chunk, document, places[document.id]))
        return found

    def _with_sentences(
        self, chunks: Sequence[Chunk], vectors: Vectors, sentences: Sequence[Sequence[Chunk]]
    ) -> tuple[Sequence[Chunk], Vectors, Positions]:
        """Each chunk followed by its sentences: these entries, their vectors, and where each chunk's begin."""
        if not sentences:
            return chunks, vectors, np.arange(len(chunks) + 1)
        account = Account()
        flat = [sentence for listed in sentences for sentence in listed]
        own = embed_chunks(MeteredEmbedder(self.embedder, account), self.documents, flat, progress=self.progress)
        self.effort.sentence_tokens += account.tokens
        starts = np.cumsum([0, *(1 + len(listed) for listed in sentences)])
        entries = [entry for chunk, listed in zip(chunks, sentences, strict=True) for entry in (chunk, *listed)]
        joined = np.empty((len(entries), vectors.shape[1]), dtype=np.float32)
        is_chunk = np.zeros(len(entries), dtype=bool)
        is_chunk[starts[:-1]] = True
        joined[is_chunk], joined[~is_chunk] = vectors, own
        return entries, joined, starts


def sentences_of(chunk: Chunk, document: Document, places: Sequence[int]) -> list[Chunk]:
    """The sentences of a chunk as chunks of their own, white space around them left out; none when it is but one.

    ``places`` are where the document's sentences begin (``sentence_places``). Of a sentence that a cut goes through,
    the part in the chunk is taken: what the chunk does not hold must not find it. Rewritten text has its own sentences.
    """
    if chunk.is_verbatim(document):
        parts = [(part, document.text[part.start : part.end].strip()) for part in _parts(chunk, places)]
    else:
        parts = [(chunk.spans[0], chunk.text[a:b].strip()) for a, b in sentence_spans(chunk.text, document.language)]
    return [Chunk(document.id, (span,), text) for span, text in parts if text and text != chunk.embedded_text.strip()]


def _parts(chunk: Chunk, places: Sequence[int]) -> Iterator[Span]:
    """The chunk's spans, cut where sentences begin."""
    for span in chunk.spans:
        inner = places[bisect_right(places, span.start) : bisect_left(places, span.end)]
        for start, end in pairwise([span.start, *inner, span.end]):
            yield Span(start, end)

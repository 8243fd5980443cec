"""A question and its evidence -> other places of the corpus that might answer it too.

Passages are windows over every document that no chunker made. They are found by words (BM25), or with an embedder that
is not under test. Whether a place does answer is asked elsewhere.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from faircut.embedding.contract import Embedder
from faircut.index.bm25 import DEFAULT_BM25
from faircut.records import Document, Evidence, Span

__all__ = ["CANDIDATES", "NEARLY", "Places", "passages_of"]

CANDIDATES = 3
"""Other places that are looked at for a question."""

NEARLY = 0.7
"""How near a place must come to the evidence: of the way from the mean score of all passages to the evidence's own."""

_SIZE, _STEP = 700, 400  # characters of a passage, and from one to the next


def passages_of(document: Document) -> Iterator[Evidence]:
    """Overlapping passages of a document that hold all of it."""
    text = document.text
    for start in range(0, max(len(text) - (_SIZE - _STEP), 1), _STEP):
        end = min(start + _SIZE, len(text))
        if text[start:end].strip():
            yield Evidence(document.id, Span(start, end))


class Places:
    """The passages of a corpus, searchable by words, or by the vectors of an embedder.

    Args:
        documents: by id; at least one has text.
        embedder: None searches by words.

    Raises:
        EmbeddingError: as ``Embedder.embed``.
    """

    def __init__(self, documents: Mapping[str, Document], embedder: Embedder | None = None) -> None:
        self.passages = [passage for document in documents.values() for passage in passages_of(document)]
        codes = {identity: code for code, identity in enumerate(documents)}
        self._codes = codes
        self._documents = np.array([codes[p.document_id] for p in self.passages])
        self._starts = np.array([p.span.start for p in self.passages])
        self._ends = np.array([p.span.end for p in self.passages])
        texts = [documents[p.document_id].text[p.span.start : p.span.end] for p in self.passages]
        self._scores = _by_words(texts) if embedder is None else _by_vectors(texts, embedder)

    def candidates(self, question: str, evidence: Sequence[Evidence], *, most: int = CANDIDATES) -> list[Evidence]:
        """Passages that come nearly as near to the question as its own evidence, best first, none beside another.

        Those that overlap the evidence are its own. Where these are no nearer than the mean (other words were used),
        every passage above the mean comes near.
        """
        scores = self._scores(question)
        taken = np.logical_or.reduce([self._overlapping(piece) for piece in evidence])
        mean = float(scores.mean())
        level = mean + NEARLY * (float(scores[taken].max(initial=mean)) - mean)
        found: list[Evidence] = []
        while len(found) < most:
            best = int(np.argmax(np.where(taken, -np.inf, scores)))
            if taken[best] or scores[best] < level or scores[best] <= mean:
                break
            found.append(self.passages[best])
            taken |= self._overlapping(self.passages[best])
        return found

    def _overlapping(self, piece: Evidence) -> NDArray[np.bool_]:
        same = self._documents == self._codes[piece.document_id]
        return np.asarray(same & (self._starts < piece.span.end) & (self._ends > piece.span.start))


_Scores = Callable[[str], NDArray[np.float64]]


def _by_words(texts: Sequence[str]) -> _Scores:
    weights = DEFAULT_BM25.weigh(texts)
    return lambda question: weights.scores(weights.query(question))


def _by_vectors(texts: Sequence[str], embedder: Embedder) -> _Scores:
    vectors = embedder.embed(texts, "passage")
    return lambda question: np.asarray(vectors @ embedder.embed([question], "query")[0], dtype=np.float64)

"""Would another boundary have made it a hit: misses whose evidence is cut in, the same question with the boundary moved
by one sentence out.

Recomputed, not guessed: the changed chunks are cut, measured against the chunker's ceiling, embedded and ranked among
all others. Which misses are cut is found in ``evaluation/diagnosis.py``.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faircut.chunkers.contract import Chunker
from faircut.embedding.contract import Embedder
from faircut.embedding.late import embed_chunks
from faircut.evaluation.context import Context, Passage
from faircut.evaluation.diagnosis import is_hit
from faircut.evaluation.measures import Cut
from faircut.evaluation.misses import Boundary, Miss
from faircut.experiment.inputs import Inputs
from faircut.experiment.retrieve import Ranking
from faircut.index.exact import ExactIndex
from faircut.index.rows import exact_scores
from faircut.records import Chunk, Document, Question, Span
from faircut.specs import Size
from faircut.text.sentences import sentence_spans
from faircut.text.units import CharacterCounter, WordCounter

__all__ = ["Ceiling", "Counterfactuals", "Move", "ceiling_of", "moves"]

Direction = Literal["back", "forward"]
Vector = NDArray[np.float32]
"""``(d,)``."""

_DIRECTIONS: tuple[Direction, ...] = ("back", "forward")
_FIRST = np.zeros(1, dtype=np.int64)
_WHITE = re.compile(r"\s*")


@dataclass(frozen=True)
class Ceiling:
    """What a chunk may have: ``size``, if any, counted on what is embedded, in tokens with the embedder's overhead."""

    size: Size | None
    embedder: Embedder

    def broken_by(self, chunk: Chunk, before: Chunk) -> str:
        """Why the changed chunk is not possible, or "". A chunk that was too long already may stay so, not grow."""
        if self.size is None:
            return ""
        counters = {"t": self.embedder.tokenizer, "w": WordCounter(), "c": CharacterCounter()}
        extra = self.embedder.overhead("passage") if self.size.unit == "t" else 0
        now, then = counters[self.size.unit].count_many([chunk.embedded_text, before.embedded_text])
        if now + extra <= max(self.size.amount, then + extra):
            return ""
        return f"the chunk would have {now + extra:,} {self.size.unit_name}, {self.size.amount:,} are allowed"


def ceiling_of(chunker: Chunker) -> Size | None:
    """The ceiling that a chunker states as ``max`` or ``size``, or that of the chunker that it wraps, if any."""
    for name in ("max", "size"):
        if isinstance(found := getattr(chunker, name, None), Size):
            return found
    inner = getattr(chunker, "chunker", None)
    return ceiling_of(inner) if inner is not None and not isinstance(inner, str) else None


@dataclass(frozen=True)
class Move:
    """One boundary moved by one sentence.

    Attributes:
        boundary: its position among the miss's boundaries.
        direction: towards the begin or the end of the document.
        end, start: where the chunk before ends now and the chunk after begins.
        replaced: positions of the two chunks that it changes.
        changed: the new chunks, each with the position of the one whose place it takes; a chunk that lost everything
            to its neighbour is gone.
        reason: why it is not possible, or "".
        hit: whether it would have been a hit; None where it is not possible.
    """

    boundary: int
    direction: Direction
    end: int
    start: int
    replaced: tuple[int, ...] = ()
    changed: tuple[tuple[int, Chunk], ...] = ()
    reason: str = ""
    hit: bool | None = None

    @property
    def possible(self) -> bool:
        """Whether the changed chunks are within the chunker's rules."""
        return not self.reason

    def record(self) -> dict[str, Any]:
        """What is kept in the run folder: numbers and words, no text."""
        kept = {name: getattr(self, name) for name in ("boundary", "direction", "end", "start", "reason", "hit")}
        return kept | {"possible": self.possible}


def moves(
    boundaries: Sequence[Boundary], chunks: Sequence[Chunk], document: Document, ceiling: Ceiling
) -> Iterator[Move]:
    """Each boundary one sentence back and one forward.

    A sentence is the document's, in its blocks; a boundary inside a sentence moves to its begin and to its end. Chunks
    that overlap keep their overlap: both edges move by one sentence. Contexts (heading paths) stay.
    """
    for number, boundary in enumerate(boundaries):
        before, after = chunks[boundary.before], chunks[boundary.after]
        starts = _sentence_starts(document, before.spans[0].start, after.spans[-1].end)
        white = _WHITE.match(document.text, boundary.end)
        edges = (white.end() if white else boundary.end, boundary.start)
        for direction in _DIRECTIONS:
            end, start = (_moved(starts, edge, direction) for edge in edges)
            move = Move(number, direction, end, start, (boundary.before, boundary.after))
            yield _made(move, boundary, (before, after), document, ceiling)


def _sentence_starts(document: Document, start: int, end: int) -> list[int]:
    """Where sentences of a range begin, and its end."""
    blocks = [(b.span.start, b.span.end) for b in document.blocks] or [(0, len(document.text))]
    starts = {start, end}
    for a, b in blocks:
        low, high = max(a, start), min(b, end)
        if low < high:
            starts.update(s for s, _ in sentence_spans(document.text, document.language, start=low, end=high))
    return sorted(starts)


def _moved(starts: Sequence[int], edge: int, direction: Direction) -> int:
    if direction == "back":
        return max((s for s in starts if s < edge), default=starts[0])
    return min((s for s in starts if s > edge), default=starts[-1])


def _made(move: Move, boundary: Boundary, pair: tuple[Chunk, Chunk], document: Document, ceiling: Ceiling) -> Move:
    before, after = pair
    if not (before.is_verbatim(document) and after.is_verbatim(document)):
        return replace(move, reason="a rewritten text has no boundary in the document")
    low, high = before.spans[-1].start, after.spans[0].end
    if any(len(c.spans) > 1 for c in pair) and not (low < move.end <= high and low <= move.start <= high):
        return replace(move, reason="a chunk is made of several places, and the sentence lies in another of them")
    changed = [
        (boundary.before, before, _chunk(before, document, before.spans[:-1], before.spans[-1].start, move.end)),
        (boundary.after, after, _chunk(after, document, (), move.start, after.spans[0].end, after.spans[1:])),
    ]
    made = tuple((position, new) for position, _, new in changed if new)
    broken = [reason for _, old, new in changed if new and (reason := ceiling.broken_by(new, old))]
    return replace(move, changed=made, reason=broken[0] if broken else "")


def _chunk(
    old: Chunk, document: Document, first: tuple[Span, ...], start: int, end: int, last: tuple[Span, ...] = ()
) -> Chunk | None:
    """The chunk with one of its spans changed and trimmed; None when nothing is left of it."""
    piece = document.text[start:end]
    start, end = start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
    spans = (*first, *((Span(start, end),) if start < end else ()), *last)
    if not spans:
        return None
    return Chunk(old.document_id, spans, "".join(document.text[s.start : s.end] for s in spans), old.context)


# ---------------------------------------------------------------- ranking again


class _Entry(NamedTuple):
    """A passage in a ranking; entries compare as the index orders its hits."""

    score: float
    """With its sign turned: the smallest is the best."""
    document: int
    start: int
    position: int
    passage: Passage


@dataclass(frozen=True)
class Counterfactuals:
    """The misses of one row asked again, with all that is needed to rank them exactly.

    Attributes:
        inputs: the questions, the documents and the budget.
        chunks, passages: the row's.
        rankings: of all questions, by inner product, as far as they were retrieved.
        cut: the deciding measure's.
        embedder: the row's; vectors of unchanged chunks are asked for only where a ranking ends too early.
        ceiling: of the row's chunker.
    """

    inputs: Inputs
    chunks: Sequence[Chunk]
    passages: Sequence[Passage]
    rankings: Sequence[Ranking]
    cut: Cut
    embedder: Embedder
    ceiling: Ceiling

    def ask(self, misses: Mapping[int, Miss]) -> dict[int, list[Move]]:
        """For each question (by number) whose evidence is cut its moves, with what they would have made of it."""
        planned = {
            number: list(moves(miss.boundaries, self.chunks, self.inputs.documents[miss.document], self.ceiling))
            for number, miss in misses.items()
        }
        possible = [move for listed in planned.values() for move in listed if move.possible]
        changed = list(dict.fromkeys(chunk for move in possible for _, chunk in move.changed))
        if not changed:
            return planned
        vectors = embed_chunks(self.embedder, self.inputs.documents, changed)
        known = dict(zip(changed, zip(self.inputs.passages(changed), vectors, strict=True), strict=True))
        queries = self.embedder.embed([self.inputs.questions[number].text for number in planned], "query")
        return {
            number: [replace(m, hit=self._hits(number, query, m, known)) if m.possible else m for m in listed]
            for (number, listed), query in zip(planned.items(), queries, strict=True)
        }

    def _hits(self, number: int, query: Vector, move: Move, known: Mapping[Chunk, tuple[Passage, Vector]]) -> bool:
        """Whether it is a hit when the chunks of one move stand in place of those that they replace."""
        question = self.inputs.questions[number]
        looked_up = ((position, *known[chunk]) for position, chunk in move.changed)
        new = [
            self._entry(float(exact_scores(vector[np.newaxis], _FIRST, query)[0]), position, passage)
            for position, passage, vector in looked_up
        ]
        new = [entry for entry in new if question.within in (None, entry.passage.document_id)]
        ranked, is_whole = self._ranked(self.rankings[number], question, new, move.replaced)
        enough = is_whole or Context(ranked).at(self.cut, self.inputs.token_index).filled
        if not enough and not is_hit(question, ranked, self.cut, self.inputs.token_index):
            ranked, _ = self._ranked(self._whole_ranking(question, query), question, new, move.replaced)
        return is_hit(question, ranked, self.cut, self.inputs.token_index)

    def _ranked(
        self, ranking: Ranking, question: Question, new: Sequence[_Entry], replaced: Collection[int]
    ) -> tuple[list[Passage], bool]:
        """The ranking with the new chunks in their places, as far as it is known, and whether that is all of it."""
        pairs = zip(ranking.scores.tolist(), ranking.positions.tolist(), strict=True)
        known = [self._entry(score, position, self.passages[position]) for score, position in pairs]
        is_whole = len(known) == self._searched(question.within)
        placed = [entry for entry in new if is_whole or (known and entry < known[-1])]
        kept = [entry for entry in known if entry.position not in replaced]
        return [entry.passage for entry in sorted([*kept, *placed], key=lambda e: e[:4])], is_whole

    def _entry(self, score: float, position: int, passage: Passage) -> _Entry:
        return _Entry(-score, self._orders[passage.document_id], passage.ranges[0][0], position, passage)

    def _searched(self, within: str | None) -> int:
        """Chunks that a question could retrieve."""
        return len(self.chunks) if within is None else self._sizes[within]

    @cached_property
    def _sizes(self) -> Counter[str]:
        return Counter(chunk.document_id for chunk in self.chunks)

    @cached_property
    def _orders(self) -> dict[str, int]:
        return {document: at for at, document in enumerate(self._sizes)}

    @cached_property
    def _index(self) -> ExactIndex:
        """All chunks with their vectors, from the cache."""
        index = ExactIndex()
        index.add(self.chunks, embed_chunks(self.embedder, self.inputs.documents, self.chunks))
        return index

    def _whole_ranking(self, question: Question, query: Vector) -> Ranking:
        k = self._searched(question.within)
        positions, scores = self._index.search(query[np.newaxis], k, [question.within])
        return Ranking(positions[0], scores[0])

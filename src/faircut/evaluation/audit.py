"""The audit: a document with its chunks in; what the cutting lost, repeated, broke or made too long out, as counts.

Works on any chunks, of faircut or of another tool. What the defects do to retrieval is left to the measures.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from faircut.chunkers.contract import Models, Tally
from faircut.records import Block, BlockKind, Chunk, Document, Span
from faircut.specs import Size
from faircut.text.percent import percent
from faircut.text.sentences import sentence_spans
from faircut.text.units import CharacterCounter, WordCounter

__all__ = ["Integrity", "Place", "audit", "total"]

_PLACES = 5  # lost places that are named
_BLANK = np.array([code for code in range(0x3001) if chr(code).isspace()], dtype=np.uint32)

Place = tuple[str, Span]
"""A document's id and a span of its text."""


@dataclass(frozen=True, slots=True)
class Integrity:
    """What was found in the chunks of one document or of many. Characters are those that are not white space.

    ``lost``: in no chunk; the first few places are in ``lost_at``. ``duplicated``: covered by a further chunk, counted
    once for each (overlap is meant to do so). ``out_of_order``: chunks that begin before the one before them.
    ``offsets_wrong``: chunks whose text is not the document's at their spans. ``blank``: chunks of white space.
    ``over_ceiling``: chunks longer than the ceiling, context and the embedder's overhead included; 0 when none is
    given. ``beyond_limit``: chunks longer than the embedder reads; ``unseen_tokens``: what it does not read of them.
    ``rewritten``: chunks with text of a language model; they are judged by where it comes from. ``statements``: what it
    wrote; ``unfaithful``: of them, those with a word or number that is not in their sources, which stand instead.
    ``uncited``: sentences that are in no statement and stand for themselves.
    ``model_asked``, ``model_fallbacks``: parts of the text that a model was asked about, and those of them that were
    cut or kept by rule because there was no usable answer.
    ``tables_cut``, ``code_cut``: blocks that no chunk holds whole. ``begin_inside_sentence``: chunks whose first
    character is inside a sentence of running text. ``headings_orphaned``: chunks that end with a heading whose text
    comes after.
    """

    documents: int = 0
    chunks: int = 0
    characters: int = 0
    lost: int = 0
    lost_at: tuple[Place, ...] = ()
    duplicated: int = 0
    out_of_order: int = 0
    offsets_wrong: int = 0
    blank: int = 0
    over_ceiling: int = 0
    beyond_limit: int = 0
    unseen_tokens: int = 0
    tables_cut: int = 0
    code_cut: int = 0
    begin_inside_sentence: int = 0
    headings_orphaned: int = 0
    rewritten: int = 0
    statements: int = 0
    unfaithful: int = 0
    model_asked: int = 0
    model_fallbacks: int = 0
    uncited: int = 0

    @property
    def unfaithful_share(self) -> float:
        """Unfaithful statements per statement of the model, 0 where there are none."""
        return self.unfaithful / self.statements if self.statements else 0.0

    @property
    def ok(self) -> bool:
        """Whether nothing is lost, wrong, blank, out of order or too long. Overlap and cuts' places are no defects."""
        defects = (self.lost, self.out_of_order, self.offsets_wrong, self.blank, self.over_ceiling, self.beyond_limit)
        return not any(defects)

    def __add__(self, other: "Integrity") -> "Integrity":
        """Counts added, the first lost places kept."""
        sums = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return Integrity(**(sums | {"lost_at": sums["lost_at"][:_PLACES]}))

    def __str__(self) -> str:
        """One line in words: the defects, else that all is well."""
        said = [f"{count:,} {noun}{'s' * (count > 1)}{rest}" for count, noun, rest in self._defects() if count]
        return "; ".join([*(said or ["nothing lost, nothing wrong"]), *self._answers()])

    def _answers(self) -> list[str]:
        """What became of a language model's answers: no defects, for its sources or a rule stand instead."""
        said = []
        if self.uncited and not self.statements:
            said.append(f"the model wrote 0 statements for {self.model_asked:,} sentences")
        elif self.uncited:
            share = percent(self.uncited / max(self.model_asked, 1), 1)
            said.append(f"{self.uncited:,} of {self.model_asked:,} sentences in no statement ({share}), they stand")
        if self.statements:
            share = percent(self.unfaithful_share, 1)
            said.append(f"{self.unfaithful:,} of {self.statements:,} statements unfaithful ({share}), sources kept")
        if self.model_fallbacks:
            said.append(f"no usable answer for {self.model_fallbacks:,} of {self.model_asked:,} parts, cut by rule")
        return said

    def _defects(self) -> list[tuple[int, str, str]]:
        share = self.lost / self.characters if self.characters else 0.0
        return [
            (self.lost, "character", f" lost ({percent(share, 2)})"),
            (self.offsets_wrong, "chunk", " with wrong offsets"),
            (self.out_of_order, "chunk", " out of order"),
            (self.blank, "blank chunk", ""),
            (self.over_ceiling, "chunk", " over the ceiling"),
            (self.beyond_limit, "chunk", f" beyond the embedder's limit ({self.unseen_tokens:,} tokens unseen)"),
        ]


def total(parts: Iterable[Integrity]) -> Integrity:
    """The sum over a corpus."""
    result = Integrity()
    for part in parts:
        result += part
    return result


def audit(
    document: Document,
    chunks: Sequence[Chunk],
    models: Models,
    *,
    ceiling: Size | None = None,
    tally: Tally | None = None,
    rewritten: bool = False,
) -> Integrity:
    """What happened to one document when it was cut into these chunks. Linear in the text of both.

    Args:
        document: the text that was cut.
        chunks: its chunks in the order in which they were made; their spans may lie outside of the text.
        models: the tokenizer, its overhead, and the embedder whose limit is checked where there is one.
        ceiling: what context, text and (in tokens) overhead of a chunk may have together.
        tally: what became of a language model's answers while the document was cut.
        rewritten: the chunker rewrites, so that text need not be the document's; spans outside of it stay wrong.

    Raises:
        ValueError: a chunk belongs to another document.
    """
    for chunk in chunks:
        if chunk.document_id != document.id:
            raise ValueError(f"chunk {chunk.id} is of document {chunk.document_id!r}, not of {document.id!r}.")
    marks = _marks(document.text)
    cover = _cover(len(document.text), chunks)
    lost = marks & (cover == 0)
    beyond, unseen = _beyond_limit(chunks, models)
    return Integrity(
        documents=1,
        chunks=len(chunks),
        characters=int(marks.sum()),
        lost=int(lost.sum()),
        lost_at=_places(document, lost),
        duplicated=int((cover[marks] - 1).clip(min=0).sum()),
        out_of_order=sum(b.spans[0].start < a.spans[0].start for a, b in pairwise(chunks)),
        offsets_wrong=sum(not _is_right(document, chunk, rewritten=rewritten) for chunk in chunks),
        blank=sum(not chunk.text.strip() for chunk in chunks),
        over_ceiling=_over_ceiling(chunks, models, ceiling),
        beyond_limit=beyond,
        unseen_tokens=unseen,
        tables_cut=_blocks_cut(document, chunks, "table"),
        code_cut=_blocks_cut(document, chunks, "code"),
        begin_inside_sentence=_begin_inside_sentence(document, chunks),
        headings_orphaned=_headings_orphaned(document, chunks),
        rewritten=sum(rewritten and not _is_verbatim(document, chunk) for chunk in chunks),
        statements=tally.statements if tally else 0,
        unfaithful=tally.unfaithful if tally else 0,
        model_asked=tally.asked if tally else 0,
        model_fallbacks=tally.fallbacks if tally else 0,
        uncited=tally.uncited if tally else 0,
    )


# ---------------------------------------------------------------- text lost and repeated


def _marks(text: str) -> NDArray[np.bool_]:
    """``(characters,)``: whether each is not white space."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return ~np.isin(codes, _BLANK)


def _cover(length: int, chunks: Sequence[Chunk]) -> NDArray[np.int64]:
    """``(length,)``: by how many chunks each character is covered."""
    steps = np.zeros(length + 1, dtype=np.int64)
    for chunk in chunks:
        for span in chunk.spans:
            steps[min(span.start, length)] += 1
            steps[min(span.end, length)] -= 1
    return np.cumsum(steps)[:length]


def _places(document: Document, lost: NDArray[np.bool_]) -> tuple[Place, ...]:
    """The first runs of lost characters; white space between them does not part them."""
    places: list[Place] = []
    start = end = -1
    for at in map(int, np.flatnonzero(lost)):
        if start >= 0 and not document.text[end:at].strip():
            end = at + 1
            continue
        if start >= 0:
            places.append((document.id, Span(start, end)))
        if len(places) == _PLACES:
            return tuple(places)
        start, end = at, at + 1
    return tuple(places) if start < 0 else (*places, (document.id, Span(start, end)))


def _is_right(document: Document, chunk: Chunk, *, rewritten: bool) -> bool:
    """Whether text and spans fit: for rewritten text that the spans are in the document."""
    return chunk.spans[-1].end <= len(document.text) if rewritten else _is_verbatim(document, chunk)


def _is_verbatim(document: Document, chunk: Chunk) -> bool:
    return chunk.spans[-1].end <= len(document.text) and chunk.is_verbatim(document)


# ---------------------------------------------------------------- lengths


def _over_ceiling(chunks: Sequence[Chunk], models: Models, ceiling: Size | None) -> int:
    if ceiling is None:
        return 0
    counter = {"t": models.tokenizer, "w": WordCounter(), "c": CharacterCounter()}[ceiling.unit]
    extra = models.overhead if ceiling.unit == "t" else 0
    return sum(count + extra > ceiling.amount for count in counter.count_many([c.embedded_text for c in chunks]))


def _beyond_limit(chunks: Sequence[Chunk], models: Models) -> tuple[int, int]:
    """Chunks that the embedder does not read to their end, and the tokens that it does not read."""
    if models.embedder is None:
        return 0, 0
    room = models.embedder.max_tokens - models.embedder.overhead("passage")
    counts = models.embedder.tokenizer.count_many([c.embedded_text for c in chunks])
    unseen = [count - room for count in counts if count > room]
    return len(unseen), sum(unseen)


# ---------------------------------------------------------------- structure cut


def _blocks_cut(document: Document, chunks: Sequence[Chunk], kind: BlockKind) -> int:
    """Blocks of a kind of which no one span of a chunk holds all that is not white space."""
    spans = sorted({span for chunk in chunks for span in chunk.spans})
    starts = [span.start for span in spans]
    reach = np.maximum.accumulate([span.end for span in spans]) if spans else np.zeros(0, dtype=np.int64)
    cut = 0
    for block in document.blocks:
        start, end = _trimmed(document.text, block.span)
        if block.kind == kind and start < end:
            at = bisect_right(starts, start) - 1
            cut += at < 0 or int(reach[at]) < end
    return cut


def _begin_inside_sentence(document: Document, chunks: Sequence[Chunk]) -> int:
    """Chunks whose first character that is not blank does not begin a sentence; tables and code have no sentences."""
    text = document.text
    starts = {_trimmed(text, Span(a, b))[0] for a, b in _sentences(document)}
    inside = 0
    for chunk in chunks:
        start, end = _trimmed(text, chunk.spans[0])
        block = _block_at(document, start)
        if start < end and (block is None or block.kind not in ("table", "code")):
            inside += start not in starts
    return inside


def _sentences(document: Document) -> Iterable[tuple[int, int]]:
    if not document.blocks:
        yield from sentence_spans(document.text, document.language)
    for block in document.blocks:
        yield from sentence_spans(document.text, document.language, start=block.span.start, end=block.span.end)


def _headings_orphaned(document: Document, chunks: Sequence[Chunk]) -> int:
    """Chunks whose last block is a heading, with text under it that begins after the chunk."""
    followed = _last_text_block(document)
    orphaned = 0
    for chunk in chunks:
        start, end = _trimmed(document.text, chunk.spans[-1])
        at = _block_index(document, end - 1) if start < end else -1
        orphaned += 0 <= at < followed and document.blocks[at].kind == "heading"
    return orphaned


def _last_text_block(document: Document) -> int:
    """The position of the last block that is no heading and not blank, -1 where there is none."""
    for at in range(len(document.blocks) - 1, -1, -1):
        block = document.blocks[at]
        if block.kind != "heading" and document.text[block.span.start : block.span.end].strip():
            return at
    return -1


def _block_at(document: Document, position: int) -> Block | None:
    at = _block_index(document, position)
    return document.blocks[at] if at >= 0 else None


def _block_index(document: Document, position: int) -> int:
    return bisect_right(document.blocks, position, key=lambda b: b.span.start) - 1


def _trimmed(text: str, span: Span) -> tuple[int, int]:
    """The span without white space at its ends; empty when it is blank or outside of the text."""
    piece = text[span.start : span.end]
    start = span.start + len(piece) - len(piece.lstrip())
    return start, max(start, span.start + len(piece.rstrip()))

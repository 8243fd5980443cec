"""Whole sentences packed to a size, with overlap; and where the sentences, tables and code blocks of a document begin.

Comes in: a document. Goes out: chunks, or for other chunkers the places at which sentences begin. Where a sentence ends
is left to ``text.sentences``, sizes to ``packing``.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from faircut.chunkers.boundaries import WHOLE, Level, sentence_starts
from faircut.chunkers.contract import Models
from faircut.chunkers.packing import (
    Piece,
    Ruler,
    check_document,
    check_overlap,
    check_size,
    split_levels,
    to_chunks,
    with_overlap,
)
from faircut.documents.plain import plain_blocks
from faircut.records import Chunk, Document
from faircut.specs import Size, spec_text

__all__ = ["Sentence", "at_places", "sentence_places"]


@dataclass(frozen=True)
class Sentence:
    """Whole sentences packed to a size: `sentence(max=512t, overlap=64t)`.

    Overlap is rounded to whole sentences, at least one; where not even one fits, to words. A sentence above the size is
    cut after words.

    Raises:
        SpecError: a size below 1, or an overlap that is negative, in another unit or not below the size.
    """

    name: ClassVar[str] = "sentence"
    cuts_at_sentences: ClassVar[bool] = True

    max: Size = Size(512, "t")
    overlap: Size | None = None

    def __post_init__(self) -> None:
        check_size(self.name, "max", self.max)
        check_overlap(self.name, self.overlap, self.max)

    __str__ = spec_text

    def chunk(self, document: Document, models: Models) -> list[Chunk]:
        """The chunks of the document; see ``Chunker``."""
        check_document(document)
        ruler = Ruler.of(document, self.max, models)
        overlap = check_overlap(self.name, self.overlap, self.max)
        places = sentence_places(document)
        pieces = split_levels(ruler, 0, len(document.text), [at_places(places)], limit=max(1, ruler.limit - overlap))
        return to_chunks(document, _overlapping(ruler, places, pieces, overlap))


def sentence_places(document: Document) -> list[int]:
    """Where sentences begin, ascending, with 0 and the text's length; none for a blank text.

    Sentences lie inside a block (a paragraph where the document has no blocks). A table, a code block and a heading are
    one sentence each. No two neighbours have only white space between them.
    """
    text = document.text
    places = [0]
    for block in document.blocks or plain_blocks(text):
        span = block.span
        is_one = block.kind == "heading" or block.kind in WHOLE
        inner = [] if is_one else sentence_starts(document, span.start, span.end)
        places += [end for start, end in pairwise([span.start, *inner, span.end]) if not text[start:end].isspace()]
    return [*places[:-1], len(text)] if len(places) > 1 else []


def at_places(places: Sequence[int]) -> Level:
    """The level of cuts at fixed, ascending places."""
    return lambda start, end: places[bisect_right(places, start) : bisect_left(places, end)]


def _overlapping(ruler: Ruler, places: Sequence[int], pieces: list[Piece], amount: int) -> list[Piece]:
    """Pieces that begin at a sentence of the piece before, as near as possible to ``amount`` before its end."""
    reached = with_overlap(ruler, pieces, amount)
    if amount < 1 or len(reached) < 2:
        return reached
    rounded = [
        piece._replace(start=_nearest_sentence(ruler, places, before.start, piece, before.end))
        for before, piece in pairwise(reached)
    ]
    return [reached[0], *rounded]


def _nearest_sentence(ruler: Ruler, places: Sequence[int], low: int, piece: Piece, high: int) -> int:
    """The sentence's begin in ``(low, high)`` nearest to the piece's, with which it fits, else the begin it has."""
    after = bisect_left(places, piece.start)
    near = [place for place in places[max(after - 1, 0) : after + 1] if low < place < high]
    near.sort(key=lambda place: abs(place - piece.start))
    return next((place for place in near if ruler.fits(place, piece.end, piece.context)), piece.start)

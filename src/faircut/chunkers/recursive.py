"""Cuts at the largest boundaries that are small enough: a document in, packed paragraphs, lines, sentences, words out.

The same idea as LangChain's RecursiveCharacterTextSplitter with the separators blank line, line, ". ? !", space, none,
and comparable sizes. It differs in this: sentence ends come from a sentence splitter, not from each full stop; the
length is that of the joined text in the embedder's tokens, so the ceiling holds; white space at the ends goes, nothing
else; tables and code stay whole where they fit, and longer tables repeat their header; the overlap is always there.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from faircut.chunkers.boundaries import blocks_first, line_starts, paragraph_starts, sentence_starts
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
from faircut.records import Chunk, Document
from faircut.specs import Size, spec_text

__all__ = ["Recursive"]


@dataclass(frozen=True)
class Recursive:
    """Paragraph, line, sentence, word, then a hard cut, packed to a size: `recursive(max=512t, overlap=64t)`.

    What is too long at one level is cut at the next; neighbours that fit together are joined, except with the pieces
    of a part that was too long. ``overlap`` is what a chunk shares with the one before it, rounded to whole words and
    in the unit of ``max``, which holds for both together.

    Raises:
        SpecError: a size below 1, an overlap that is negative, in another unit, or not below ``max``.
    """

    name: ClassVar[str] = "recursive"
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
        return to_chunks(document, self._pieces(document, models))

    def _pieces(self, document: Document, models: Models) -> list[Piece]:
        """Apart, so that the index of token counts is gone before the chunks copy the text."""
        ruler = Ruler.of(document, self.max, models)
        amount = check_overlap(self.name, self.overlap, self.max)
        text = document.text
        levels = (
            blocks_first(document, partial(paragraph_starts, text)),
            partial(line_starts, text),
            partial(sentence_starts, document),
        )
        pieces = split_levels(ruler, 0, len(text), levels, limit=max(1, ruler.limit - amount))
        return with_overlap(ruler, pieces, amount)

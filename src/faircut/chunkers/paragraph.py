"""Paragraphs packed to a size: a document in, chunks of whole paragraphs out, long ones cut at sentences, then words.

What a paragraph is comes from the document's blocks, or from blank lines where it has none; sizes are left to
``packing``.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import ClassVar

from faircut.chunkers.boundaries import Level, sentence_starts
from faircut.chunkers.contract import Models
from faircut.chunkers.packing import Ruler, check_document, check_size, split_levels, to_chunks
from faircut.chunkers.sentence import at_places
from faircut.documents.plain import plain_blocks
from faircut.records import Chunk, Document
from faircut.specs import Size, spec_text

__all__ = ["Paragraph"]


@dataclass(frozen=True)
class Paragraph:
    """Paragraphs packed to a size, long ones cut at sentences, then words: `paragraph(max=512t)`.

    A heading stays with what follows it where both fit. The pieces of a paragraph that was too long are not joined with
    its neighbours, and all stay in the document's order.

    Raises:
        SpecError: a size below 1.
    """

    name: ClassVar[str] = "paragraph"
    cuts_at_sentences: ClassVar[bool] = True

    max: Size = Size(512, "t")

    def __post_init__(self) -> None:
        check_size(self.name, "max", self.max)

    __str__ = spec_text

    def chunk(self, document: Document, models: Models) -> list[Chunk]:
        """The chunks of the document; see ``Chunker``."""
        check_document(document)
        ruler = Ruler.of(document, self.max, models)
        blocks = document.blocks or plain_blocks(document.text)
        starts = [block.span.start for block in blocks]
        sections = [b.span.start for a, b in pairwise(blocks) if a.kind != "heading"]
        levels: list[Level] = [at_places(sections), at_places(starts), partial(sentence_starts, document)]
        return to_chunks(document, split_levels(ruler, 0, len(document.text), levels))

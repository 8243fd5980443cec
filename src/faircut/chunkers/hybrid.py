"""Structure first, then similarity inside each section, with a minimum and a maximum: a document in, chunks out.

Which blocks make a section is left to ``sections``, which gaps are cut by their similarity to the rules of ``cuts``,
the order of the cuts to ``segmentation``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from faircut.chunkers.boundaries import WHOLE
from faircut.chunkers.contract import Models
from faircut.chunkers.cuts import CutRule, SimilarityCurve, cut_rule, gap_similarities
from faircut.chunkers.packing import Ruler, check_document, to_chunks
from faircut.chunkers.sections import blocks_of
from faircut.chunkers.structure import Gaps, section_starts
from faircut.chunkers.units import KEPT, Unit, check_range, document_units, joined
from faircut.embedding.contract import Embedder
from faircut.errors import EmbeddingError, SpecError
from faircut.records import Block, Chunk, Document
from faircut.specs import Percentile, Size, spec_text

__all__ = ["Hybrid"]

# Ranks of gaps that no similarity decides; cosines lie between -1 and 1, the lowest is cut first.
_HEADING = -3.0
_AFTER_BLOCK = -2.0  # behind a table or code
_BEFORE_BLOCK = 2.0  # what introduces a table or code stays with it where it can
_PART = 3.0
_AFTER_HEADING = 4.0


@dataclass(frozen=True)
class Hybrid:
    """Structure first, then similarity inside each section: `hybrid(threshold=0.4, min=200c, max=800c)`.

    Sections are cut from one another at headings, as in ``structure``; one that fits ``max`` with its subsections is
    looked at as a whole, and text below ``min`` goes with its first subsection. Inside, a gap between neighbouring
    sentences is cut where the rule of ``threshold`` cuts and no gap within ``min`` is less similar; then what is above
    ``max`` is cut at its least similar gap, again and again. ``max`` holds always, ``min`` where it can.

    A heading stays with what follows it where both fit; a list, a table and code are kept together where they fit
    ``max``, else cut between sentences, rows and lines, the header of the table repeated as context. With
    ``whole=embedder`` tables and code are whole up to what the embedder reads, also above ``max``; with ``whole=true``
    always: the audit says what the embedder will not see.

    ``threshold``: as in ``semantic``. A cosine looks at its gap only, so an edit moves only cuts near it; a percentile
    looks at the whole document. ``min``: a size, or a share of ``max``.

    Raises:
        SpecError: a threshold outside of its range, a minimum above the maximum or in another unit.
    """

    name: ClassVar[str] = "hybrid"
    cuts_at_sentences: ClassVar[bool] = True

    threshold: float | Percentile | CutRule = 0.4
    min: Size | float = 0.25
    max: Size = Size(800, "c")
    whole: bool | Literal["embedder"] = False

    def __post_init__(self) -> None:
        cut_rule(self.threshold)
        check_range(self.name, self.min if isinstance(self.min, Size) else None, self.max)
        if not isinstance(self.min, Size) and not 0 <= self.min <= 1:
            raise SpecError(f"{self.name}: min is a size or a share of max between 0 and 1, found {self.min:g}.")

    __str__ = spec_text

    def chunk(self, document: Document, models: Models) -> list[Chunk]:
        """The chunks of the document; see ``Chunker``."""
        embedder = self._embedder(document, models)
        ruler, blocks = Ruler.of(document, self.max, models), blocks_of(document)
        units = document_units(ruler, blocks, (*KEPT, "list"), self._is_whole(document, embedder))
        if not units:
            return []
        least = self.min.amount if isinstance(self.min, Size) else self.min * self.max.amount
        gaps = self._gaps(document, blocks, units, embedder, least)
        starts = section_starts(ruler, blocks, units, gaps, rooms=[ruler.limit] * len(blocks), small=least)
        return to_chunks(document, joined(ruler, units, starts))

    def curve(self, document: Document, models: Models) -> SimilarityCurve:
        """The similarities of neighbouring sentences where similarity, not structure, decides on the gap.

        Raises:
            EmbeddingError: ``models`` has no embedder.
        """
        embedder = self._embedder(document, models)
        ruler, blocks = Ruler.of(document, self.max, models), blocks_of(document)
        units = document_units(ruler, blocks, (*KEPT, "list"), self._is_whole(document, embedder))
        open_gaps, similarities = _similarities(document, units, _ranks(blocks, units), embedder)
        positions = np.array([units[at].start for at in open_gaps.tolist()], dtype=np.int64)
        return SimilarityCurve.of(positions, similarities, cut_rule(self.threshold))

    def _embedder(self, document: Document, models: Models) -> Embedder:
        check_document(document)
        if models.embedder is None:
            raise EmbeddingError(f"{self} needs an embedder for its sentences; give one, such as minilm.")
        return models.embedder

    def _is_whole(self, document: Document, embedder: Embedder) -> Callable[[Block], bool]:
        """Whether a block is kept whole also above the maximum."""
        room = embedder.max_tokens - embedder.overhead("passage")

        def is_whole(block: Block) -> bool:
            if block.kind not in WHOLE or not self.whole:
                return False
            text = document.text[block.span.start : block.span.end].rstrip()
            return self.whole is True or embedder.tokenizer.count(text) <= room

        return is_whole

    def _gaps(
        self, document: Document, blocks: Sequence[Block], units: Sequence[Unit], embedder: Embedder, least: float
    ) -> Gaps:
        """The gap before each unit: the least similar first, wanted where the rule of the threshold cuts."""
        ranks = _ranks(blocks, units)
        wanted = (ranks == _HEADING) | (ranks == _AFTER_BLOCK)
        open_gaps, similarities = _similarities(document, units, ranks, embedder)
        if len(open_gaps):
            ranks[open_gaps] = similarities
            wanted[open_gaps] = cut_rule(self.threshold).judge(similarities).cuts
        return Gaps(ranks, least, wanted)


def _similarities(
    document: Document, units: Sequence[Unit], ranks: NDArray[np.float64], embedder: Embedder
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The units before which no structure decides on the gap, and the similarity at each of these gaps."""
    open_gaps = np.flatnonzero(ranks == 0)[1:]
    if not len(open_gaps):
        return open_gaps, np.zeros(0)
    prose = np.union1d(open_gaps, open_gaps - 1)
    texts = [document.text[units[at].start : units[at].end].strip() for at in prose.tolist()]
    similarities = gap_similarities(embedder.embed(texts, "sentence"))
    # Two sentences that are neighbours among the embedded ones may have a table between them.
    return open_gaps, similarities[np.searchsorted(prose, open_gaps) - 1]


def _ranks(blocks: Sequence[Block], units: Sequence[Unit]) -> NDArray[np.float64]:
    """The rank of the gap before each unit; the first unit has none."""
    return np.array([0.0, *(_rank(blocks, before, unit) for before, unit in pairwise(units))])


def _rank(blocks: Sequence[Block], before: Unit, unit: Unit) -> float:
    """The rank of a gap that structure decides, 0 for one that similarity does."""
    kinds = blocks[before.block].kind, blocks[unit.block].kind
    if unit.begins == "heading":
        return _HEADING
    if kinds[0] == "heading":
        return _AFTER_HEADING
    if unit.begins == "part":
        return _PART
    if kinds[1] in WHOLE:
        return _BEFORE_BLOCK
    return _AFTER_BLOCK if kinds[0] in WHOLE else 0.0

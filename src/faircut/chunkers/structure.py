"""Cuts along the structure that a document has: headings first, then blocks; the heading path goes with each chunk.

A document goes in, chunks go out. What headings and blocks are is the readers' work, what a section is is left to
``sections``, where a long one is cut to ``segmentation``.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from faircut.chunkers.contract import Models
from faircut.chunkers.packing import Piece, Ruler, check_document, to_chunks
from faircut.chunkers.sections import blocks_of, heading_paths, regions
from faircut.chunkers.segmentation import strongest_first
from faircut.chunkers.units import Unit, check_range, document_units, fingerprints, furthest_ends, joined, lengths_until
from faircut.records import Block, Chunk, Document
from faircut.specs import Size, spec_text

__all__ = ["Gaps", "Path", "Structure", "boundary_ranks", "section_starts"]

Path = tuple[str, ...]
"""Titles of headings, the highest first."""

_PART = 3  # a long section is cut into parts of a third of the ceiling and more
_PATH_PART = 4  # a path above a quarter of the ceiling is shortened
_SEPARATOR = " > "
_RANKS = {"block": 10.0, "sentence": 20.0, "part": 30.0}  # headings have that of their level, at most 9
_AFTER_HEADING = 40.0


@dataclass(frozen=True)
class Structure:
    """Sections and blocks packed to a size, the heading path in front: `structure(max=512t, context=true)`.

    No chunk goes on over a heading of the same or a higher level than that of the section in which it begins. A section
    that fits is one chunk with its subsections. Of a longer one the text before its first subsection is cut by itself,
    then each subsection: where it does not fit, at its strongest boundary, again and again: between blocks, and inside
    a block only where it is above ``max``, between sentences, rows or lines. A heading stays with what follows it where
    both fit. Without headings a document is packed paragraph by paragraph.

    ``min``: a section's own text below it goes with its first subsection, and no long text is cut so that less is left;
    headings and ``max`` are stronger. ``context``: the path of headings above the chunk's begin (a heading in the chunk
    is not repeated), then the header of a table that was cut. It counts in ``max``; a path above a quarter of it, or
    one that does not fit beside the text, is shortened from the top, at last dropped.

    Which of equal boundaries is cut is decided by the text around it, so that an edit moves only cuts near it. For this
    chunks are about 60 % full where text is long, not packed to the brim.

    Raises:
        SpecError: a size below 1, a minimum above the maximum or in another unit.
    """

    name: ClassVar[str] = "structure"
    cuts_at_sentences: ClassVar[bool] = True

    max: Size = Size(512, "t")
    min: Size | None = None
    context: bool = True

    def __post_init__(self) -> None:
        check_range(self.name, self.min, self.max)

    __str__ = spec_text

    def chunk(self, document: Document, models: Models) -> list[Chunk]:
        """The chunks of the document; see ``Chunker``."""
        check_document(document)
        ruler = Ruler.of(document, self.max, models)
        blocks = blocks_of(document)
        units = document_units(ruler, blocks, {block.kind for block in blocks})
        if not units:
            return []
        paths = self._paths(ruler, blocks)
        least = self.min.amount if self.min else 0
        gaps = Gaps(boundary_ranks(ruler, blocks, units), max(least, ruler.limit / _PART))
        starts = section_starts(ruler, blocks, units, gaps, rooms=_rooms(ruler, paths), small=least)
        pieces = joined(ruler, units, starts)
        path_at = {unit.start: paths[unit.block] for unit in units}
        return to_chunks(document, (_with_path(ruler, piece, path_at[piece.start]) for piece in pieces))

    def _paths(self, ruler: Ruler, blocks: Sequence[Block]) -> list[Path]:
        """For each block the titles above it that a chunk may carry."""
        if not self.context:
            return [()] * len(blocks)
        room = ruler.limit // _PATH_PART

        @cache
        def shortened(path: Path) -> Path:
            while path and ruler.counter.count(_SEPARATOR.join(path)) > room:
                path = path[1:]
            return path

        return [shortened(tuple(filter(None, path))) for path in heading_paths(ruler.document, blocks)]


@dataclass(frozen=True, eq=False)
class Gaps:
    """In which order the gaps inside a section are cut: see ``strongest_first`` for each of them."""

    ranks: NDArray[np.float64]
    least: float
    wanted: NDArray[np.bool_] | None = None


def section_starts(
    ruler: Ruler, blocks: Sequence[Block], units: Sequence[Unit], gaps: Gaps, *, rooms: Sequence[int], small: float
) -> list[int]:
    """Numbers of the units that begin a chunk: regions of sections, each cut at its strongest gaps.

    Args:
        ruler: the document's ruler.
        blocks: of the document.
        units: of the document, tiling it.
        gaps: the gap before each unit.
        rooms: for each block how long a chunk may be that begins in it.
        small: a section's own text below this length goes with its first subsection.
    """

    def fits(first: int, last: int) -> bool:
        return ruler.fits(blocks[first].span.start, blocks[last - 1].span.end, limit=rooms[first])

    def is_small(first: int, last: int) -> bool:
        return ruler.length(blocks[first].span.start, blocks[last - 1].span.end) < small

    firsts = [unit.block for unit in units]
    edges = {bisect_left(firsts, start) for start, _ in regions(blocks, fits, is_small)}
    # What stays alone is parted first: a cut elsewhere would not help its neighbours.
    alone = [at for at, unit in enumerate(units) if unit.context or not ruler.fits(unit.start, unit.end)]
    edges.update(at + side for at in alone for side in (0, 1))
    furthest = furthest_ends(ruler, units, [rooms[unit.block] for unit in units])
    until = lengths_until(ruler, units)
    starts: list[int] = []
    for first, last in pairwise(sorted(edges | {0, len(units)})):
        ends = np.minimum(furthest[first:last], last) - first
        wanted = None if gaps.wanted is None else gaps.wanted[first:last]
        ranks, lengths = gaps.ranks[first:last], until[first : last + 1]
        inner = strongest_first(lengths, ranks, ends, least=gaps.least, wanted=wanted)
        starts += [first + start for start in inner]
    return starts


def boundary_ranks(ruler: Ruler, blocks: Sequence[Block], units: Sequence[Unit]) -> NDArray[np.float64]:
    """How strong the boundary before each unit is, ``(n,)``, the lowest the strongest; equal ones differ by content."""
    ranks = [
        min(blocks[unit.block].level or 1, 9) if unit.begins == "heading" else _RANKS[unit.begins] for unit in units
    ]
    for at, (before, unit) in enumerate(pairwise(units), 1):
        if blocks[before.block].kind == "heading" and blocks[unit.block].kind != "heading":
            ranks[at] = _AFTER_HEADING
    with_content: NDArray[np.float64] = np.array(ranks) + fingerprints(ruler, units)
    return with_content


def _rooms(ruler: Ruler, paths: Sequence[Path]) -> list[int]:
    """What each block's path leaves for the text."""

    @cache
    def room(path: Path) -> int:
        return ruler.limit - (ruler.counter.count(f"{_SEPARATOR.join(path)}\n") if path else 0)

    return [room(path) for path in paths]


def _with_path(ruler: Ruler, piece: Piece, path: Path) -> Piece:
    """The piece with as much of the path as fits beside its text, the nearest headings last to go."""
    for first in range(len(path)):
        lines = (_SEPARATOR.join(path[first:]), piece.context)
        context = "\n".join(line for line in lines if line)
        if ruler.fits(piece.start, piece.end, context):
            return piece._replace(context=context)
    return piece

"""Units that are not cut without need: a document in; its sentences, headings, lists, tables and code out, tiling it.

And how far a segment of units may reach under a ceiling. What is above the ceiling is cut before; which segments are
chosen is left to the chunkers.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faircut.chunkers.boundaries import WHOLE, sentence_starts
from faircut.chunkers.packing import Piece, Ruler, check_size, pack, split_block, split_levels
from faircut.errors import SpecError
from faircut.records import Block, BlockKind
from faircut.specs import Size

__all__ = [
    "KEPT", "Boundary", "Unit", "check_range", "document_units", "fingerprints", "furthest_ends", "joined",
    "lengths_until", "nearest_ends",
]  # fmt: skip

Boundary = Literal["heading", "block", "sentence", "part"]
"""What begins a unit: a heading, another block, a sentence inside a block, or a part of what was too long."""

KEPT: tuple[BlockKind, ...] = ("heading", *WHOLE)  # type: ignore[assignment]  # WHOLE holds kinds
"""Kinds of blocks that are one unit where they fit."""

_HEAD = 64  # characters by which a boundary is known

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Unit(NamedTuple):
    """A range of the document with what begins it and the number of its block.

    A part of a table that was cut carries the header as ``context`` and stays alone in its chunk.
    """

    start: int
    end: int
    begins: Boundary
    block: int
    context: str = ""


def document_units(
    ruler: Ruler,
    blocks: Sequence[Block],
    kept: Collection[BlockKind] = KEPT,
    is_whole: Callable[[Block], bool] = lambda _: False,
) -> list[Unit]:
    """The units of the document, none blank, each within the ruler's limit but those of ``is_whole``.

    Blocks of the kinds ``kept`` are one unit where they fit (text right under a heading: where it fits with that). Else
    a table is cut between rows, code between lines, and other text between sentences, a sentence above the limit after
    words.
    """
    units: list[Unit] = []
    headings = 0  # where the headings right before the block begin
    for number, block in enumerate(blocks):
        if number and blocks[number - 1].kind != "heading":
            headings = block.span.start
        if is_whole(block):
            parts: Iterable[_Part] = [(block.span.start, block.span.end, "block", "")]
        else:
            is_one = block.kind in kept and ruler.fits(
                block.span.start if block.kind in KEPT else headings, block.span.end
            )
            parts = _block_units(ruler, block, is_one)
        for start, end, begins, context in parts:
            if not ruler.text[start:end].isspace():
                units.append(Unit(start, end, begins, number, context))
    ends = [*(unit.start for unit in units[1:]), len(ruler.text)][: len(units)]  # blank text goes with the unit before
    return [unit._replace(end=end) for unit, end in zip(units, ends, strict=True)]


_Part = tuple[int, int, Boundary, str]


def _block_units(ruler: Ruler, block: Block, is_one: bool) -> Iterator[_Part]:
    start, end = block.span.start, block.span.end
    first: Boundary = "heading" if block.kind == "heading" else "block"
    if is_one:
        yield start, end, first, ""
        return
    if block.kind in WHOLE:
        pieces = split_block(ruler, start, end, block.kind)
        inner: Boundary = "part"
    else:
        inside = [] if block.kind == "heading" else sentence_starts(ruler.document, start, end)
        places = [start, *inside, end]
        pieces = [Piece(a, b) for a, b in pairwise(places)]
        inner = "sentence"
    for piece in pieces:
        begins = first if piece.start <= start else inner
        for part in _parts(ruler, piece):
            yield part.start, part.end, begins, part.context
            begins = "part"


def _parts(ruler: Ruler, piece: Piece) -> list[Piece]:
    return [piece] if piece.context else split_levels(ruler, piece.start, piece.end, [])


# ---------------------------------------------------------------- sizes


def check_range(chunker: str, least: Size | None, most: Size) -> None:
    """Refuse a maximum that is no size, or a minimum above it or in another unit.

    Raises:
        SpecError: says what was found.
    """
    check_size(chunker, "max", most)
    if least is None:
        return
    check_size(chunker, "min", least)
    if least.unit != most.unit or least.amount > most.amount:
        raise SpecError(f"{chunker}: min must not exceed max and have its unit, found min={least}, max={most}.")


def lengths_until(ruler: Ruler, units: Sequence[Unit]) -> Floats:
    """Length of all units before each and of all, ``(n + 1,)``, in the unit of the ruler.

    Each unit is measured by itself: many may lie in one word that was too long.
    """
    lengths = (ruler.length(unit.start, unit.end) for unit in units)
    return np.fromiter(accumulate(lengths, initial=0), dtype=np.float64, count=len(units) + 1)


def furthest_ends(ruler: Ruler, units: Sequence[Unit], rooms: Sequence[int]) -> Ints:
    """For each unit the last end of a segment that begins with it and fits into its room: ``(n,)``, at least one unit.

    What carries a context stays alone. A heading reaches what follows it where the ruler's whole limit allows it.
    """
    until = lengths_until(ruler, units).tolist()
    ends = np.empty(len(units), dtype=np.int64)
    alone = len(units)  # the next unit with a context
    text = len(units)  # the next unit that is no heading
    for at in range(len(units) - 1, -1, -1):
        unit = units[at]
        last = at + 1 if unit.context else alone
        alone = at if unit.context else alone
        guess = min(max(bisect_right(until, until[at] + rooms[at]) - 1, at + 1), last)
        while guess > at + 1 and not ruler.fits(unit.start, units[guess - 1].end, limit=rooms[at]):
            guess -= 1
        while guess < last and ruler.fits(unit.start, units[guess].end, limit=rooms[at]):
            guess += 1
        if unit.begins == "heading":
            stay = (text if text < last else at) + 1
            near = stay > guess and until[stay] - until[at] <= 2 * ruler.limit  # a long run of headings is not tried
            guess = stay if near and ruler.fits(unit.start, units[stay - 1].end) else guess
        else:
            text = at
        ends[at] = guess
    return ends


def nearest_ends(ruler: Ruler, units: Sequence[Unit], least: int) -> Ints:
    """For each unit the first end with which a segment that begins with it has ``least``; n + 1 where none has."""
    if least < 1:
        return np.arange(1, len(units) + 1)
    until = lengths_until(ruler, units).tolist()
    ends = np.empty(len(units), dtype=np.int64)
    for at, unit in enumerate(units):
        guess = max(bisect_left(until, until[at] + least), at + 1)
        while guess <= len(units) and ruler.fits(unit.start, units[guess - 1].end, limit=least - 1):
            guess += 1
        ends[at] = guess
    return ends


def joined(ruler: Ruler, units: Sequence[Unit], starts: Sequence[int]) -> list[Piece]:
    """The pieces of segments that begin at these units. One that does not fit after all is packed anew.

    Lengths of parts do not always add up: a word that was too long may have fewer tokens than its parts.
    """
    pieces: list[Piece] = []
    for first, last in pairwise([*starts, len(units)]):
        piece = Piece(units[first].start, units[last - 1].end, units[first].context)
        if last - first == 1 or ruler.fits(*piece):
            pieces.append(piece)
        else:
            pieces += pack(ruler, [*(unit.start for unit in units[first:last]), piece.end])
    return pieces


def fingerprints(ruler: Ruler, units: Sequence[Unit]) -> Floats:
    """A number in [0, 1) for the boundary before each unit, ``(n,)``, made of the words behind it.

    It settles which of equal boundaries is cut, by content and not by position: an edit then moves only cuts near it,
    as in content-defined chunking (Muthitacharoen et al. 2001).
    """
    heads = (ruler.text[unit.start : min(unit.end, unit.start + _HEAD)].strip() for unit in units)
    marks = (blake2b(head.encode("utf-8", "surrogatepass"), digest_size=8).digest() for head in heads)
    return np.fromiter((int.from_bytes(mark, "big") / 2**64 for mark in marks), dtype=np.float64, count=len(units))

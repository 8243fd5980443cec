"""What all rule-based chunkers share: measuring spans of a document, packing atoms, splitting long ones, overlap.

Comes in: a document and places where it may be cut. Goes out: pieces under a ceiling, then chunks. Where the places are
is left to ``boundaries`` and the chunkers, what a length is to the counters (tokens, words, characters).
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from typing import Literal, NamedTuple

from faircut.chunkers.boundaries import WHOLE, Level, block_at, line_starts, paragraph_starts
from faircut.chunkers.contract import Models
from faircut.errors import SpecError
from faircut.records import BlockKind, Chunk, Document, Span
from faircut.specs import Size
from faircut.text.contract import TokenCounter, TokenIndex
from faircut.text.graphemes import Graphemes, is_joined
from faircut.text.units import CharacterCounter, WordCounter, cumulative

__all__ = [
    "Level", "Piece", "Ruler", "check_document", "check_overlap", "check_size", "pack", "split_block", "split_levels",
    "split_long", "to_chunk", "to_chunks", "trim", "with_overlap",
]  # fmt: skip

_NOT_BLANK = re.compile(r"\S")
_WORD_START = re.compile(r"(?<!\S)\S")
_DASHES = re.compile(r"[>\s]*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")


class Piece(NamedTuple):
    """A range of the document that will be a chunk, with what is embedded in front of it. Not yet trimmed."""

    start: int
    end: int
    context: str = ""


# ---------------------------------------------------------------- checks


def check_document(document: Document) -> None:
    """Refuse what is not a document before work is spent.

    Raises:
        TypeError: says what was found.
    """
    if not isinstance(document, Document):
        raise TypeError(f"a chunker cuts a Document, found {type(document).__name__}; wrap text in Document(id, text).")


def check_size(chunker: str, field: str, size: Size, *, least: int = 1) -> None:
    """Refuse a size that is none, or below ``least``.

    Raises:
        SpecError: says what was found and what is possible.
    """
    whole = isinstance(size, Size) and isinstance(size.amount, int) and not isinstance(size.amount, bool)
    if not whole or size.unit not in ("t", "w", "c"):
        raise SpecError(f"{chunker}: {field} must be a size such as 512t, 512w or 500c, found {size!r}.")
    if size.amount < least:
        raise SpecError(f"{chunker}: {field} must be at least {least}{size.unit}, found {size}.")


def check_overlap(chunker: str, overlap: Size | None, size: Size) -> int:
    """The overlap as an amount in the unit of ``size``; None is 0.

    Raises:
        SpecError: negative, not a size, another unit than the size's, or not below the size.
    """
    if overlap is None:
        return 0
    check_size(chunker, "overlap", overlap, least=0)
    if overlap.amount == 0:
        return 0
    if overlap.unit != size.unit:
        hint = f"write for example {overlap.amount}{size.unit}"
        raise SpecError(f"{chunker}: overlap {overlap} and size {size} need one unit; {hint}.")
    if overlap.amount >= size.amount:
        raise SpecError(f"{chunker}: overlap must be below the size {size}, found {overlap}.")
    return overlap.amount


# ---------------------------------------------------------------- measuring


@dataclass(frozen=True, slots=True)
class Ruler:
    """Lengths in one document and one unit. ``limit`` is what context and text of a chunk may have together.

    Build it with ``Ruler.of``. ``length`` measures a range as it stands, ``fits`` what ``to_chunk`` will make of it.
    """

    document: Document
    limit: int
    counter: TokenCounter
    index: TokenIndex
    graphemes: Graphemes

    @classmethod
    def of(cls, document: Document, size: Size, models: Models) -> "Ruler":
        """The ruler for a ceiling of ``size``; in tokens the embedder's overhead is taken off.

        Raises:
            SpecError: the embedder's overhead leaves no room.
        """
        counters: dict[str, TokenCounter] = {"t": models.tokenizer, "w": WordCounter(), "c": CharacterCounter()}
        limit = size.amount - (models.overhead if size.unit == "t" else 0)
        if limit < 1:
            raise SpecError(
                f"a size of {size} leaves no room for text: the embedder adds {models.overhead} tokens itself."
            )
        counter = counters[size.unit]
        return cls(document, limit, counter, counter.index(document.text), Graphemes(document.text))

    @property
    def text(self) -> str:
        """The document's text."""
        return self.document.text

    def length(self, start: int, end: int) -> int:
        """The length of ``text[start:end]``, exactly."""
        return self.index.count(start, end)

    def fits(self, start: int, end: int, context: str = "", *, limit: int | None = None) -> bool:
        """Whether the chunk made of this range, trimmed and with its context, is at most ``limit`` long."""
        most = self.limit if limit is None else limit
        start, end = trim(self.document, start, end)
        if context:
            return self.counter.count(f"{context}\n{self.text[start:end]}") <= most
        return self.length(start, end) <= most

    def furthest(self, start: int, end: int, *, limit: int | None = None) -> int:
        """The furthest cut in ``(start, end]`` within the limit, in a word only between graphemes; always > ``start``.

        The ceiling is stronger than the grapheme: one grapheme above the ruler's limit is cut between its code points,
        and a code point above the limit (a limit of 1 or 2 tokens) goes alone, so that nothing is lost and it ends.
        A grapheme above ``limit`` only (where room is left for an overlap) goes whole.
        """
        most = self.limit if limit is None else limit
        cut = self.graphemes.floor(self.index.furthest(start, most, end))
        if cut > start:
            return min(cut, end)
        inside = min(self.graphemes.ceil(start + 1), end)
        if self.length(start, inside) <= max(most, self.limit):
            return inside
        low, high = start + 1, inside - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.length(start, middle) <= most else (low, middle - 1)
        return low

    def furthest_word(self, start: int, end: int, *, limit: int | None = None) -> int:
        """As ``furthest``, but after white space when the range has some: the next piece begins with a whole word."""
        cut = self.furthest(start, end, limit=limit)
        if cut == end or self.text[cut - 1].isspace() or self.text[cut].isspace():
            return cut
        words = self.text[start:cut].rsplit(None, 1)
        at = self.graphemes.floor(cut - len(words[-1]))
        return at if self.text[start:at].strip() else cut

    def skip_blank(self, start: int, end: int) -> int:
        """Where the text of a range begins, indentation of code included; ``end`` when it is blank."""
        match = _NOT_BLANK.search(self.text, start, end)
        return trim(self.document, start, match.end())[0] if match else end

    def overlap_start(self, end: int, amount: int, *, at: Literal["word", "anywhere"] = "word") -> int:
        """Where an overlap of ``amount`` before ``end`` begins.

        With ``at="word"`` it is rounded down to begin with a word, unless that loses more than half of it (one long
        word, text without spaces); with ``at="anywhere"`` it may begin inside a word, between graphemes.
        """
        start = self.backwards(end, amount)
        word = start if at == "anywhere" else self.word_start(start, end)
        return word if 2 * self.length(word, end) >= self.length(start, end) else start

    def word_start(self, start: int, end: int) -> int:
        """The first start of a word in ``[start, end)``, else ``end``."""
        match = _WORD_START.search(self.text, start, end)
        return min(self.graphemes.ceil(match.start()), end) if match else end

    def backwards(self, end: int, amount: int) -> int:
        """The earliest place, outside grapheme clusters, from which at most ``amount`` lie before ``end``."""
        reach = 8 * amount + 8  # the search costs the amount, not the document
        while reach < end and self.length(end - reach, end) <= amount:
            reach *= 2
        low, high = max(0, end - reach), end
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.length(middle, end) <= amount else (middle + 1, high)
        return min(self.graphemes.ceil(low), end)


# ---------------------------------------------------------------- packing


def pack(ruler: Ruler, boundaries: Sequence[int], *, limit: int | None = None, context: str = "") -> list[Piece]:
    """Greedily join consecutive atoms while the joined, trimmed text fits, with the context in front of each piece.

    Args:
        ruler: the document's ruler.
        boundaries: ascending places, first and last included; the atoms lie between neighbours.
        limit: instead of the ruler's.
        context: what each piece will carry; counted in the limit.

    An atom above the limit comes out alone, for the caller to split.
    """
    most = ruler.limit if limit is None else limit
    room = most - (ruler.counter.count(f"{context}\n") if context else 0)
    lengths = cumulative(ruler.index, boundaries)
    pieces: list[Piece] = []
    first, last = 0, len(boundaries) - 1
    while first < last:
        guess = min(max(bisect_right(lengths, lengths[first] + room) - 1, first + 1), last)
        stop = _adjust(ruler, boundaries, first, guess, most, context)
        pieces.append(Piece(boundaries[first], boundaries[stop], context))
        first = stop
    return pieces


def _adjust(ruler: Ruler, boundaries: Sequence[int], first: int, stop: int, most: int, context: str) -> int:
    """From a guess to the real end: the parts' lengths do not always add up to the joined text's."""
    start, last = boundaries[first], len(boundaries) - 1
    while stop > first + 1 and not ruler.fits(start, boundaries[stop], context, limit=most):
        stop -= 1
    while stop < last and ruler.fits(start, boundaries[stop + 1], context, limit=most):
        stop += 1
    return stop


def split_long(ruler: Ruler, start: int, end: int, *, limit: int | None = None) -> list[Piece]:
    """Cut a range after words, and a word above the limit between graphemes. White space before a piece is left out."""
    pieces: list[Piece] = []
    while (start := ruler.skip_blank(start, end)) < end:
        cut = ruler.furthest_word(start, end, limit=limit)
        pieces.append(Piece(start, cut))
        start = cut
    return pieces


def split_levels(
    ruler: Ruler, start: int, end: int, levels: Sequence[Level], *, limit: int | None = None
) -> list[Piece]:
    """Cut a range at its first level and pack; what is still too long is cut at the next level, at last after words.

    Neighbours of a part that was too long are not joined with its pieces, as in LangChain's recursive splitter.
    A table or code block that is too long is cut by ``split_block``: the first level is ``boundaries.blocks_first``.
    """
    if ruler.fits(start, end, limit=limit):
        return [Piece(start, end)]
    block = block_at(ruler.document, start)
    if block is not None and block.kind in WHOLE and end <= block.span.end:
        return split_block(ruler, start, end, block.kind, limit=limit)
    return _split_text(ruler, start, end, levels, limit)


def _split_text(ruler: Ruler, start: int, end: int, levels: Sequence[Level], limit: int | None) -> list[Piece]:
    for depth, level in enumerate(levels, start=1):
        if len(inner := level(start, end)):
            packed = pack(ruler, [start, *inner, end], limit=limit)
            return [q for p in packed for q in split_levels(ruler, p.start, p.end, levels[depth:], limit=limit)]
    return split_long(ruler, start, end, limit=limit)


# ---------------------------------------------------------------- tables and code


def split_block(ruler: Ruler, start: int, end: int, kind: BlockKind, *, limit: int | None = None) -> list[Piece]:
    """Cut a table between rows, with its header row as context of each later piece, or code between lines.

    Code is cut at blank lines where that is enough. A row that does not fit with the header goes without it; what is
    longer than the limit even so is cut after words. A block that fits is one piece.
    """
    if ruler.fits(start, end, limit=limit):
        return [Piece(start, end)]
    if kind != "table":
        levels = (partial(paragraph_starts, ruler.text), partial(line_starts, ruler.text))
        return _split_text(ruler, start, end, levels, limit)
    rows = line_starts(ruler.text, start, end)
    head = _header_end(ruler.text, start, [*rows, end])
    if head is None:
        return _split_text(ruler, start, end, (lambda *_: rows,), limit)
    return _split_table(ruler, start, end, [row for row in rows if row > head], head, limit)


def _split_table(ruler: Ruler, start: int, end: int, later: list[int], head: int, limit: int | None) -> list[Piece]:
    """The header with the first rows as they stand; the other rows under a copy of the header."""
    context = ruler.text[start:head].strip()
    first = pack(ruler, [start, *later, end], limit=limit)[0]
    rest = first.end
    if not ruler.fits(first.start, first.end, limit=limit):  # not even one row beside the header
        first, rest = Piece(start, head), head
    pieces = split_long(ruler, first.start, first.end, limit=limit)
    if rest == end:
        return pieces
    rows = [rest, *(row for row in [head, *later] if row > rest), end]
    under_header = pack(ruler, rows, limit=limit, context=context)
    for whole, group in groupby(under_header, key=lambda piece: ruler.fits(*piece, limit=limit)):
        parts = list(group)
        pieces += parts if whole else _without_header(ruler, parts, limit)
    return pieces


def _without_header(ruler: Ruler, rows: list[Piece], limit: int | None) -> list[Piece]:
    packed = pack(ruler, [rows[0].start, *(row.end for row in rows)], limit=limit)
    return [part for piece in packed for part in split_long(ruler, piece.start, piece.end, limit=limit)]


def _header_end(text: str, start: int, line_ends: Sequence[int]) -> int | None:
    """Where the rows begin in a Markdown pipe table: after the header row and the row of dashes."""
    for position, (before, after) in enumerate(pairwise([start, *line_ends[:8]])):
        if position and "-" in text[before:after] and _DASHES.fullmatch(text[before:after].strip()):
            return after
    return None


# ---------------------------------------------------------------- overlap


def with_overlap(
    ruler: Ruler, pieces: Sequence[Piece], amount: int, *, at: Literal["word", "anywhere"] = "word"
) -> list[Piece]:
    """Let each piece begin ``amount`` before the end of the one before it. Blank pieces are left out.

    It is rounded as ``Ruler.overlap_start`` says. Pack with ``limit=ruler.limit - amount`` first. Where white space
    between the pieces would break the ceiling, the overlap is shortened: the ceiling holds.
    """
    kept = [p for p in pieces if p.start < p.end and not ruler.text[p.start : p.end].isspace()]
    if amount < 1:
        return kept
    reached = kept[:1]
    for piece in kept[1:]:
        reached.append(_reach_back(ruler, reached[-1], piece, amount, at))
    return reached


def _reach_back(ruler: Ruler, before: Piece, piece: Piece, amount: int, at: Literal["word", "anywhere"]) -> Piece:
    _, end = trim(ruler.document, before.start, before.end)
    start = max(before.start, ruler.overlap_start(end, amount, at=at))  # in order, also where overlaps are shortened
    while start < end and not ruler.fits(start, piece.end, piece.context):
        following = ruler.word_start(start + 1, end)
        start = following if at == "word" and following < end else ruler.graphemes.ceil(start + 1)
    return piece._replace(start=start) if start < end else piece


# ---------------------------------------------------------------- chunks


def trim(document: Document, start: int, end: int) -> tuple[int, int]:
    """The range without white space at both ends; the indentation of a first line of code stays.

    A space that carries an accent stays too, as one sign. A blank range comes out empty.
    """
    text = document.text
    match = _NOT_BLANK.search(text, start, end)
    if match is None:
        return start, start
    left, right = match.start(), _text_end(text, match.end(), end)
    if left > start:
        left -= _kept_before(document, start, left)
    if right < end and is_joined(text[right - 1], text[right]):
        right += 1
    return left, right


def _text_end(text: str, start: int, end: int) -> int:
    """Where white space at the end begins, at ``start`` or later; looks at the end only, copies no long text."""
    while end > start:
        tail = text[max(start, end - 32) : end]
        if kept := len(tail.rstrip()):
            return end - len(tail) + kept
        end -= len(tail)
    return start


def _kept_before(document: Document, start: int, left: int) -> int:
    """How many of the blank characters between ``start`` and ``left`` belong to what begins at ``left``."""
    block = block_at(document, left)
    if block is not None and block.kind == "code":
        return left - start - len(document.text[start:left].rstrip(" \t"))
    return int(is_joined(document.text[left - 1], document.text[left]))


def to_chunk(document: Document, start: int, end: int, context: str = "") -> Chunk | None:
    """The chunk of a range, trimmed; None when it is blank."""
    left, right = trim(document, start, end)
    if left >= right:
        return None
    return Chunk(document.id, (Span(left, right),), document.text[left:right], context)


def to_chunks(document: Document, pieces: Iterable[Piece]) -> list[Chunk]:
    """The chunks of all pieces that are not blank, in their order."""
    chunks = (to_chunk(document, *piece) for piece in pieces)
    return [chunk for chunk in chunks if chunk is not None]

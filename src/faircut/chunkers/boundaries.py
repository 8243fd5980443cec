"""Where a text may be cut: a range of a text comes in, the places strictly inside it go out, ascending.

Blank lines, line starts, sentence starts, and the edges of blocks that are better kept whole (tables, code). Which of
them count, and what a piece may weigh, is left to the chunkers and to ``packing``.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from faircut.records import Block, Document

__all__ = ["WHOLE", "Level", "block_at", "blocks_first", "line_starts", "paragraph_starts", "sentence_starts"]

Level = Callable[[int, int], Sequence[int]]
"""Places strictly inside a range ``(start, end)`` at which it may be cut, ascending."""

WHOLE = ("table", "code")
"""Kinds of blocks that are cut only when they are above the ceiling."""

# Unicode's line ends, \r\n as one and never as two; form feed and vertical tab are white space only.
_END = "(?>\r\n|[\n\r\u2028\u2029\x85])"
_LINE = re.compile(_END)
_PARAGRAPH = re.compile(f"{_END}(?:[^\\S\n\r\u2028\u2029\x85]*{_END})+|\u2029")

# The same for text that has \n only, which is found twenty times as fast.
_PLAIN_LINE = re.compile("\n")
_PLAIN_PARAGRAPH = re.compile(r"\n(?:[^\S\n]*\n)+")


def line_starts(text: str, start: int, end: int) -> list[int]:
    """Where lines begin, the first one left out."""
    pattern = _PLAIN_LINE if _is_plain(text, start, end) else _LINE
    return [place for m in pattern.finditer(text, start, end) if start < (place := m.end()) < end]


def paragraph_starts(text: str, start: int, end: int) -> list[int]:
    """Where lines begin that follow a blank line (or U+2029)."""
    pattern = _PLAIN_PARAGRAPH if _is_plain(text, start, end) else _PARAGRAPH
    return [place for m in pattern.finditer(text, start, end) if start < (place := m.end()) < end]


def _is_plain(text: str, start: int, end: int) -> bool:
    return all(text.find(line_end, start, end) < 0 for line_end in "\r\u2028\u2029\x85")


def sentence_starts(document: Document, start: int, end: int) -> list[int]:
    """Where sentences begin, as ``text.sentences`` finds them in this range alone."""
    from faircut.text.sentences import sentence_spans  # its models load slowly; short paragraphs never need them

    spans = sentence_spans(document.text, document.language, start=start, end=end)
    return [place for place, _ in spans if start < place < end]


def block_at(document: Document, position: int) -> Block | None:
    """The block that holds a position, where the document has blocks."""
    at = bisect_right(document.blocks, position, key=lambda b: b.span.start) - 1
    return document.blocks[at] if at >= 0 else None


def blocks_first(document: Document, level: Level) -> Level:
    """A level that also cuts before and after each table or code block, and never inside one."""
    whole = [b.span for b in document.blocks if b.kind in WHOLE]
    if not whole:
        return level
    starts = [span.start for span in whole]

    def inside(place: int) -> bool:
        at = bisect_left(starts, place) - 1
        return at >= 0 and place < whole[at].end

    def cuts(start: int, end: int) -> list[int]:
        edges = [p for span in whole for p in (span.start, span.end) if start < p < end]
        return sorted({p for p in level(start, end) if not inside(p)}.union(edges))

    return cuts

"""A page of pdfium -> runs of text from its single characters: the careful and slower of the two ways to the text.

Text printed twice in one place comes once, right-to-left lines come in the order of reading, vertical columns of
Chinese and Japanese become lines of their own. It serves such pages, and those where the fast engine lost text.
"""

import ctypes
import math
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from faircut.documents.pdf_bidi import is_right_to_left, logical_order
from faircut.documents.pdf_fonts import is_bold_name, is_even, is_mono_name
from faircut.documents.pdf_page import Line, Tag

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

__all__ = ["glyph_runs", "is_vertical_script", "placing"]


class Style(NamedTuple):
    """What the engine says about a text object."""

    font: str
    bold: bool
    tag: Tag | None


class Glyph(NamedTuple):
    """One character with its box, turned as the page is."""

    char: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    turn: int
    style: "Style"
    breaks: bool  # the engine begins a new line here
    spaced: bool  # white space stands before it


def glyph_runs(page: "PdfPage", tags: Mapping[int, Tag]) -> list[Line]:
    """The runs of a page, top-left coordinates after the page's rotation; ``tags`` by number of marked content."""
    glyphs = list(_without_repeats(_glyphs(page, tags)))
    if _is_vertical(glyphs):
        return _columns(glyphs)
    lines = (_fragments(line) for line in _split_lines(glyphs))
    return [run for fragments in lines for run in map(_run, fragments) if run.text.strip()]


# ---------------------------------------------------------------- characters


def _glyphs(page: "PdfPage", tags: Mapping[int, Tag]) -> Iterator[Glyph]:
    """The visible characters in the engine's order."""
    from pypdfium2 import raw

    text = page.get_textpage()
    place = placing(page)
    box = raw.FS_RECTF()
    styles: dict[int, Style] = {}
    breaks = spaced = False
    for index in range(text.count_chars()):
        char = chr(raw.FPDFText_GetUnicode(text, index))
        if char.isspace() or char in "\0\u00ad\ufeff":
            breaks |= char in "\r\n"
            spaced |= char.isspace()
            continue
        char = "-" if char in "\x02\ufffe" else char  # the engine's mark of a divided word
        char = "\ufffd" if unicodedata.category(char) in ("Cc", "Cs", "Cn") else char
        if not raw.FPDFText_GetLooseCharBox(text, index, box):
            continue
        angle = raw.FPDFText_GetCharAngle(text, index)
        turn = (round(math.degrees(angle) / 90) * 90 + page.get_rotation()) % 360 if angle >= 0 else 0
        style = _style(text, index, styles, tags)
        left, top, right, bottom = place(box.left, box.bottom, box.right, box.top)
        extent = right - left if turn in (90, 270) else bottom - top
        size = raw.FPDFText_GetFontSize(text, index)
        yield Glyph(char, left, top, right, bottom, size if size >= 3 else extent / 1.15, turn, style, breaks, spaced)
        breaks = spaced = False


def _style(text: object, index: int, known: dict[int, Style], tags: Mapping[int, Tag]) -> Style:
    """Font, weight and tag; asked of the engine once a text object."""
    from pypdfium2 import raw

    handle = raw.FPDFText_GetTextObject(text, index)
    key = ctypes.addressof(handle.contents) if handle else 0
    if key not in known:
        buffer, flags = ctypes.create_string_buffer(128), ctypes.c_int()
        raw.FPDFText_GetFontInfo(text, index, buffer, 128, flags)
        name = buffer.value.decode("utf-8", "replace")
        bold = raw.FPDFText_GetFontWeight(text, index) >= 600 or is_bold_name(name)
        mark = raw.FPDFPageObj_GetMarkedContentID(handle) if handle else -1
        known[key] = Style(name, bold, tags.get(mark))
    return known[key]


Edges = tuple[float, float, float, float]


def placing(page: "PdfPage") -> Callable[[float, float, float, float], Edges]:
    """From the page's own coordinates (origin lower left, not turned) to ours."""
    x0, y0, x1, y1 = page.get_bbox()  # the crop box as it counts, also when the page inherits it
    width, height, turn = x1 - x0, y1 - y0, page.get_rotation()

    def place(left: float, bottom: float, right: float, top: float) -> Edges:
        a, b, c, d = left - x0, height - (top - y0), right - x0, height - (bottom - y0)
        if turn == 90:
            return height - d, a, height - b, c
        if turn == 180:
            return width - c, height - d, width - a, height - b
        return (b, width - c, d, width - a) if turn == 270 else (a, b, c, d)

    return place


def _without_repeats(glyphs: Iterable[Glyph]) -> Iterator[Glyph]:
    """Leave out a character that is printed again (almost) where it stands already: shadows and false bold type."""
    seen: dict[tuple[str, int, int], list[tuple[float, float]]] = defaultdict(list)
    last: Glyph | None = None
    for glyph in glyphs:
        if last and glyph.char == last.char == "f" and (glyph.left, glyph.right) == (last.left, last.right):
            yield glyph  # one sign for both of them
            continue
        last = glyph
        reach = 0.1 * glyph.size + 0.5
        cell = 4.0 * max(reach, 1.0)
        x, y = int(glyph.left // cell), int(glyph.top // cell)
        near = (p for i in (x - 1, x, x + 1) for j in (y - 1, y, y + 1) for p in seen.get((glyph.char, i, j), ()))
        # Two characters of a ligature share one box and are not repeats of each other: their letters differ.
        if any(abs(p[0] - glyph.left) < reach and abs(p[1] - glyph.top) < reach for p in near):
            continue
        seen[glyph.char, x, y].append((glyph.left, glyph.top))
        yield glyph


# ---------------------------------------------------------------- horizontal lines


def _split_lines(glyphs: Iterable[Glyph]) -> Iterator[list[Glyph]]:
    """Glyphs that follow each other on one baseline and in one direction."""
    line: list[Glyph] = []
    for glyph in glyphs:
        if line and (glyph.turn != line[-1].turn or not _same_line(line[-1], glyph)):
            yield line
            line = []
        line.append(glyph)
    if line:
        yield line


def _same_line(a: Glyph, b: Glyph) -> bool:
    low, high = (
        ((a.left, a.right), (b.left, b.right)) if a.turn in (90, 270) else ((a.top, a.bottom), (b.top, b.bottom))
    )
    overlap = min(low[1], high[1]) - max(low[0], high[0])
    return overlap >= 0.4 * min(low[1] - low[0], high[1] - high[0])


def _fragments(line: list[Glyph]) -> Iterator[list[Glyph]]:
    """The line cut at wide gaps. Written order is kept, except in right-to-left text, which is ordered by its place."""
    if any(is_right_to_left(g.char) for g in line):
        line = sorted(line, key=lambda g: (g.left + g.right) / 2)
    part = line[:1]
    for before, glyph in pairwise(line):
        gap = _gap(before, glyph)
        if gap > 1.0 * glyph.size or gap < -2.0 * glyph.size:
            yield part
            part = []
        part.append(glyph)
    yield part


def _gap(a: Glyph, b: Glyph) -> float:
    """The distance along the direction of writing from ``a`` to ``b``."""
    if a.turn == 90:
        return b.top - a.bottom
    if a.turn == 270:
        return a.top - b.bottom
    return a.left - b.right if a.turn == 180 else b.left - a.right


def _run(glyphs: list[Glyph]) -> Line:
    chars = [(g.char, _is_spaced(glyphs, n)) for n, g in enumerate(glyphs)]
    text = "".join(" " * spaced + char for char, spaced in chars)
    if any(is_right_to_left(g.char) for g in glyphs):
        text = logical_order([(" " * s + c, g.left) for (c, s), g in zip(chars, glyphs, strict=True)])
    return _line(text.strip(), glyphs)


def _is_spaced(glyphs: list[Glyph], n: int) -> bool:
    if not n:
        return False
    # Marks stand above the letter before them and end before it does: the nearest of the last three counts.
    gap = min(_gap(before, glyphs[n]) for before in glyphs[max(n - 3, 0) : n])
    char = glyphs[n].char
    marked = glyphs[n].spaced and not is_right_to_left(char) and not unicodedata.combining(char)
    return gap > 0.15 * glyphs[n].size or (marked and gap > 0.02 * glyphs[n].size)


def _line(text: str, glyphs: list[Glyph]) -> Line:
    main = max(glyphs, key=lambda g: g.size)
    left, right = min(g.left for g in glyphs), max(g.right for g in glyphs)
    return Line(
        unicodedata.normalize("NFC", text),
        left,
        min(g.top for g in glyphs),
        right,
        max(g.bottom for g in glyphs),
        main.size,
        bold=main.style.bold,
        mono=is_mono_name(main.style.font) and is_even(len(text), right - left, main.size),
        tag=glyphs[0].style.tag,
        turn=main.turn,
        font=main.style.font,
    )


# ---------------------------------------------------------------- vertical columns


def is_vertical_script(char: str) -> bool:
    """Whether the character belongs to a script that is also written from top to bottom."""
    return "\u3001" <= char <= "\u30ff" or "\u3400" <= char <= "\u9fff" or "\uff00" <= char <= "\uff60"


def _is_vertical(glyphs: list[Glyph]) -> bool:
    """Whether most neighbours in Chinese or Japanese text stand below each other."""
    pairs = [(a, b) for a, b in pairwise(glyphs) if is_vertical_script(a.char) and is_vertical_script(b.char)]
    below = sum(abs(a.left - b.left) < 0.5 * b.size and b.top > a.top for a, b in pairs)
    return len(pairs) >= 4 and below > 0.6 * len(pairs)


def _columns(glyphs: list[Glyph]) -> list[Line]:
    """Columns from right to left as lines below each other, each as wide as its column is high.

    Each keeps its indentation and its distance from the column before, so that paragraphs are found as in horizontal
    text.
    """
    columns: list[list[Glyph]] = []
    for glyph in glyphs:
        last = columns[-1][-1] if columns else None
        if last and abs(last.left - glyph.left) < 0.6 * glyph.size and 0 <= glyph.top - last.top < 4 * glyph.size:
            columns[-1].append(glyph)
        else:
            columns.append([glyph])
    tiers = _tiers(columns)
    ordered = sorted(columns, key=lambda c: (tiers[id(c)], -c[0].left, c[0].top))
    lines: list[Line] = []
    top, before = 0.0, ordered[0]
    for column in ordered:
        line = _line("".join(g.char for g in column), column)
        step = before[0].left - column[0].left
        top += step if tiers[id(before)] == tiers[id(column)] and step > line.size else 1.5 * line.size * bool(lines)
        lines.append(Line(line.text, line.top, top, line.bottom, top + line.size, line.size, line.bold, font=line.font))
        before = column
    return lines


def _tiers(columns: list[list[Glyph]]) -> dict[int, int]:
    """For each column the number of the band that it stands in: a page may have several bands of vertical text."""
    bands: list[tuple[float, float]] = []
    for top, bottom in sorted((c[0].top, c[-1].bottom) for c in columns):
        if bands and top < bands[-1][1]:
            bands[-1] = bands[-1][0], max(bands[-1][1], bottom)
        else:
            bands.append((top, bottom))
    return {id(c): next(n for n, b in enumerate(bands) if b[0] <= c[0].top <= b[1]) for c in columns}

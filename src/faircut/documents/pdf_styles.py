"""Runs of the fast engine, which joins text of several fonts and of neighbouring cells -> runs of one font each.

The page's own text objects say where the font changes and where a gap is; they cost a tenth of a page's time. Text is
divided only where the objects spell it letter by letter; otherwise the run stays whole and gets the style of its most.
"""

import ctypes
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from faircut.documents.pdf_fonts import is_bold_name, is_even, is_mono_name
from faircut.documents.pdf_glyphs import placing
from faircut.documents.pdf_layout import CELL_GAP
from faircut.documents.pdf_page import Line

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

__all__ = ["of_one_font"]

MAX_OBJECTS = 20_000


class Piece(NamedTuple):
    """One text object of the page with its box."""

    middle: float
    left: float
    right: float
    font: str
    bold: bool
    mono: bool
    handle: Any


def of_one_font(runs: list[Line], page: "PdfPage", text: "PdfTextPage", clean: Callable[[str], str]) -> list[Line]:
    """The runs, upright ones divided where their font changes or a gap is; ``clean`` is what was done to their text."""
    pieces = sorted(_pieces(page), key=lambda p: p.middle)
    if not pieces:
        return runs
    middles = [p.middle for p in pieces]
    result: list[Line] = []
    for run in runs:
        reach = 0.5 * run.height  # a comma stands low, a quote high
        near = pieces[bisect_left(middles, run.middle - reach) : bisect_left(middles, run.middle + reach)]
        own = sorted((p for p in near if run.left - 1 < (p.left + p.right) / 2 < run.right + 1), key=lambda p: p.left)
        if run.turn or len(own) < 2 or not _differ(own, run.size):
            result.append(run)
        else:
            result += _divided(run, own, text, clean)
    return result


def _pieces(page: "PdfPage") -> Iterator[Piece]:
    from pypdfium2 import raw

    place = placing(page)
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    fonts: dict[int, tuple[str, bool, bool]] = {}
    count = raw.FPDFPage_CountObjects(page.raw)
    for index in range(count if count <= MAX_OBJECTS else 0):
        handle = raw.FPDFPage_GetObject(page.raw, index)
        if raw.FPDFPageObj_GetType(handle) != raw.FPDF_PAGEOBJ_TEXT:
            continue
        raw.FPDFPageObj_GetBounds(handle, left, bottom, right, top)
        if right.value - left.value <= 0:
            continue
        font = raw.FPDFTextObj_GetFont(handle)
        key = ctypes.addressof(font.contents) if font else 0
        if key not in fonts:
            fonts[key] = _font(font) if font else ("", False, False)
        a, b, c, d = place(left.value, bottom.value, right.value, top.value)
        yield Piece((b + d) / 2, a, c, *fonts[key], handle)


def _font(font: Any) -> tuple[str, bool, bool]:
    from pypdfium2 import raw

    buffer = ctypes.create_string_buffer(128)
    raw.FPDFFont_GetBaseFontName(font, buffer, 128)
    name = buffer.value.decode("utf-8", "replace")
    return name, raw.FPDFFont_GetWeight(font) >= 600 or is_bold_name(name), is_mono_name(name)


def _differ(own: Sequence[Piece], size: float) -> bool:
    """Whether the pieces differ in their font or have a gap between them."""
    return any(_apart(a, b, size) for a, b in pairwise(own))


def _apart(a: Piece, b: Piece, size: float) -> bool:
    """Spaces in monospaced type are wide."""
    return (a.bold, a.mono) != (b.bold, b.mono) or b.left - a.right > (1.0 if a.mono else CELL_GAP) * size


def _divided(run: Line, own: Sequence[Piece], text: "PdfTextPage", clean: Callable[[str], str]) -> list[Line]:
    groups = [[own[0]]]
    for last, piece in pairwise(own):
        if _apart(last, piece, run.size):
            groups.append([])
        groups[-1].append(piece)
    words = [clean("".join(_words(p, text) for p in group)) for group in groups]
    parts = _cut(run.text, ["".join(w.split()) for w in words])
    if parts is None:
        whole = 0.9 * sum(p.right - p.left for p in own)
        bold = sum(p.right - p.left for p in own if p.bold) > whole
        mono = run.mono and sum(p.right - p.left for p in own if p.mono) > whole
        return [replace(run, bold=bold, mono=mono)]
    edges = [run.left, *(group[0].left for group in groups[1:]), run.right]
    lines = []
    for group, part, (left, after) in zip(groups, parts, pairwise(edges), strict=True):
        first, right = group[0], max(p.right for p in group)
        if after - right <= CELL_GAP * run.size:  # what follows shows by its place whether a space is between
            right = after - 0.25 * run.size if part.endswith(" ") else after
        mono = first.mono and is_even(len(part), right - left, run.size)
        style = {"bold": first.bold, "mono": mono, "font": first.font}
        lines.append(replace(run, text=part.strip(), left=left, right=right, **style))  # type: ignore[arg-type]
    return [line for line in lines if line.text]


def _words(piece: Piece, text: "PdfTextPage") -> str:
    from pypdfium2 import raw

    length = raw.FPDFTextObj_GetText(piece.handle, text.raw, None, 0)
    buffer = ctypes.create_string_buffer(2 * length + 2)
    raw.FPDFTextObj_GetText(piece.handle, text.raw, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), length)
    return buffer.raw[: max(length - 2, 0)].decode("utf-16-le", "replace")


def _cut(text: str, words: Sequence[str]) -> list[str] | None:
    """The text divided so that each part spells one of the words; ``None`` where they do not spell it."""
    if "".join(words) != "".join(text.split()):
        return None
    parts, place = [], 0
    for word in words:
        start, letters = place, 0
        while place < len(text) and (letters < len(word) or text[place].isspace()):
            letters += not text[place].isspace()
            place += 1
        parts.append(text[start:place])
    return parts

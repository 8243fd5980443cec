"""PDF -> document: text in reading order with headings, lists, tables, code and page numbers.

The steps are told here in order; each is a file beside this one (``pdf_*.py``). Encrypted, damaged and empty files
raise; what is left out (running headers, pages without text) is counted in a warning. pdfium is not safe for threads:
read several files at once with processes, never with threads.
"""

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from faircut.documents.building import DocumentBuilder
from faircut.documents.contract import Reader
from faircut.documents.pdf_aligned import aligned_tables
from faircut.documents.pdf_blocks import Part, Region, add_blocks, parts_of
from faircut.documents.pdf_furniture import Furniture, Margin, find_furniture, margin_lines
from faircut.documents.pdf_headings import Entry, find_headings, outline, outlined_lines
from faircut.documents.pdf_layout import fragments, join_row, regions
from faircut.documents.pdf_ocr import ocr_available, ocr_runs
from faircut.documents.pdf_page import Line, Page, Table
from faircut.documents.pdf_ruled import ruled_tables
from faircut.documents.pdf_text import Replaced, open_pdf, pages
from faircut.documents.pdf_words import Vocabulary
from faircut.errors import DocumentError, FaircutWarning
from faircut.records import Document

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

__all__ = ["PDF"]


@dataclass(slots=True)
class _Layout:
    """The regions of all pages, and what is only known when all pages are read."""

    regions: list[Region] = field(default_factory=list)
    margins: list[Margin] = field(default_factory=list)
    blank: list[int] = field(default_factory=list)
    scanned: list[int] = field(default_factory=list)
    replaced: Replaced = field(default_factory=Replaced)
    pages: int = 0


def _read(path: Path, document_id: str) -> Document:
    document = open_pdf(path)
    with closing(document):
        layout = _layout(path, document)
        entries = outline(document)
        given = _given_title(document)
    if not any(region.elements for region in layout.regions):
        raise DocumentError(_no_text(path, layout))
    kept, furniture = _without_furniture(layout, entries)
    layout.regions, layout.margins = [], []
    parts, vocabulary = _parts(kept, entries)
    kept.clear()  # the parts hold the lines, and let them go one by one
    title = _first_heading(parts, vocabulary)
    builder = DocumentBuilder()
    add_blocks(builder, parts, vocabulary)
    if builder.is_empty:
        raise DocumentError(_no_text(path, layout))
    _warn(path, layout, furniture)
    return builder.build(
        document_id,
        title=given if _is_title(given) else title or path.stem,
        source=str(path),
        media_type="application/pdf",
        language=None,
    )


# ---------------------------------------------------------------- pages


def _layout(path: Path, document: "PdfDocument") -> _Layout:
    layout = _Layout()
    recognise = ocr_available()
    numbers: dict[float, float] = {}
    for page in pages(path, document, layout.replaced):
        layout.pages += 1
        has_text = any(any(map(str.isalnum, run.text)) for run in page.runs)
        if not has_text and page.number not in layout.replaced.damaged[-1:]:
            runs = _recognised(document, page.number) if recognise else []
            (layout.scanned if runs else layout.blank).append(page.number)
            page.runs = runs or page.runs
        lines = []
        before = _last_table(layout.regions)
        for region in _page_regions(page, before):
            region = _sharing(region, numbers)
            layout.regions.append(region)
            lines += [a for a in region.elements if isinstance(a, Line)]
        layout.margins += margin_lines(page.number, page.height, lines)
    return layout


def _recognised(document: "PdfDocument", number: int) -> list[Line]:
    page = document[number - 1]
    try:
        return ocr_runs(page)
    finally:
        page.close()


def _last_table(before: Sequence[Region]) -> Table | None:
    """The table with which a page ends, but for a line or two below it."""
    last = [e for region in before[-2:] if region.page == before[-1].page for e in region.elements][-3:]
    return next((e for e in reversed(last) if isinstance(e, Table)), None)


def _page_regions(page: Page, before: Table | None = None) -> Iterator[Region]:
    """Ruled tables first, then the columns of what is left, then tables without rules; sideways text comes last."""
    tables, rest = ruled_tables(page.rules, page.runs)
    for region in regions([*tables, *fragments(run for run in rest if not run.turn)]):
        elements = (region,) if isinstance(region, Table) else tuple(map(_slim, aligned_tables(region, before)))
        yield Region(page.number, elements)
    for turn in (90, 180, 270):
        if group := [a for a in rest if a.turn == turn]:
            yield Region(page.number, tuple(_sideways(group, turn)), aside=True)


_SHARED = 100_000  # different numbers that are known; a document that was set by a program has a few thousand


def _sharing(region: Region, numbers: dict[float, float]) -> Region:
    """The same region whose lines hold the same objects for equal numbers: margins and sizes repeat on every page."""

    def one(number: float) -> float:
        return numbers.setdefault(number, number) if len(numbers) < _SHARED else numbers.get(number, number)

    return replace(
        region,
        elements=tuple(
            replace(a, left=one(a.left), top=one(a.top), right=one(a.right), bottom=one(a.bottom), size=one(a.size))
            if isinstance(a, Line)
            else a
            for a in region.elements
        ),
    )


def _slim(element: Line | Table) -> Line | Table:
    """Without its parts, which only tables are found by: lines of all pages are held until headings are known."""
    return replace(element, parts=()) if isinstance(element, Line) and element.parts else element


def _sideways(lines: Sequence[Line], turn: int) -> Iterator[Line]:
    """Text written sideways: pieces on one line joined, in its own direction."""
    places = {id(a): {90: (-a.left, a.top), 180: (-a.top, -a.left), 270: (a.left, -a.top)}[turn] for a in lines}
    row: list[Line] = []
    for line in sorted(lines, key=lambda a: (round(places[id(a)][0] / 4), places[id(a)][1])):
        if row and abs(places[id(line)][0] - places[id(row[-1])][0]) > 4:
            yield _one(row)
            row = []
        row.append(line)
    yield _one(row)


def _one(row: Sequence[Line]) -> Line:
    return replace(join_row(row), text=" ".join(a.text for a in row))


# ---------------------------------------------------------------- the whole document


def _without_furniture(layout: _Layout, entries: Sequence[Entry]) -> tuple[list[Region], Furniture]:
    named = outlined_lines([(m.page, m.line) for m in layout.margins], entries)
    found, furniture = find_furniture(layout.margins, layout.pages, named)
    kept = [replace(r, elements=tuple(e for e in r.elements if id(e) not in found)) for r in layout.regions]
    if found and not any(r.elements for r in kept):
        return layout.regions, Furniture()
    return [r for r in kept if r.elements], furniture


def _parts(kept: Sequence[Region], entries: Sequence[Entry]) -> tuple[list[Part], Vocabulary]:
    lines = [e for r in kept for e in r.elements if isinstance(e, Line)]
    vocabulary = Vocabulary()
    for line in lines:
        vocabulary.learn(line.text)
    code = _has_code(lines)
    headings = find_headings(list(_text_pages(kept, code)), entries)
    return parts_of(kept, headings, code), vocabulary


def _first_heading(parts: Sequence[Part], vocabulary: Vocabulary) -> str:
    first = next((p for p in parts if p.kind == "heading" and p.page <= 2), None)
    return vocabulary.join(a.text for a in first.lines) if first else ""


def _text_pages(kept: Iterable[Region], code: bool) -> Iterator[tuple[int, list[Line]]]:
    """The lines of each page that may be headings."""
    pages: dict[int, list[Line]] = {}
    for region in kept:
        lines = pages.setdefault(region.page, [])
        lines += [e for e in region.elements if isinstance(e, Line) and not (code and e.mono)]
    return iter(pages.items())


def _has_code(lines: Sequence[Line]) -> bool:
    """Monospaced lines are code, unless most of the document is typed that way, and in lines as wide as each other."""
    typed = [a for a in lines if a.mono]
    letters = sum(len(a.text) for a in lines)
    if not typed or sum(len(a.text) for a in typed) < 0.6 * letters:
        return True
    widest = max(a.right for a in typed) - min(a.left for a in typed)
    return sum(a.width > 0.8 * widest for a in typed) < 0.4 * len(typed)


def _given_title(document: "PdfDocument") -> str:
    """The title that the file gives itself; nothing where its bytes are damaged."""
    try:
        return str(document.get_metadata_value("Title")).strip()
    except UnicodeDecodeError:
        return ""


_NO_TITLE = re.compile(
    r"(?i)untitled|^\(?anonymous\)?$|microsoft word|\.(?:docx?|tex|dvi|txt|pdf|indd|qxd)$|^\W*$|powerpoint"
)


def _is_title(text: str) -> bool:
    return len(text) > 1 and not _NO_TITLE.search(text)


# ---------------------------------------------------------------- what is said


def _no_text(path: Path, layout: _Layout) -> str:
    count = f"{layout.pages} page{'s' if layout.pages != 1 else ''}"
    if layout.replaced.damaged:
        return f"{path}: damaged, no text could be read on its {count}; fetch or save it again."
    if ocr_available():
        return f"{path}: no text on its {count}, and OCR found none; check that the scan is readable."
    return (
        f"{path}: no text on its {count}: a scan or pictures; "
        'install OCR with pip install "faircut[ocr]", or give the file a text layer.'
    )


def _warn(path: Path, layout: _Layout, furniture: Furniture) -> None:
    if layout.blank:
        hint = "" if ocr_available() else '; pip install "faircut[ocr]" reads scans'
        _say(f"{path}: no text on {_count(layout.blank, layout.pages)}{hint}.")
    if layout.scanned:
        _say(f"{path}: the text of {_count(layout.scanned, layout.pages)} comes from OCR and may have errors.")
    if layout.replaced.damaged:
        shown = _count(layout.replaced.damaged, layout.pages)
        _say(f"{path}: damaged, {shown} cannot be opened; their text is missing or unchecked.")
    if layout.replaced.pages:
        _say(
            f"{path}: the two PDF engines differ on {_count(layout.replaced.pages, layout.pages)}; "
            "the more complete text was taken there."
        )
    if furniture.lines:
        shown = ", ".join(repr(text[:50]) for text, _ in furniture.texts.most_common(3))
        _say(f"{path}: {furniture.lines} running headers and footers were left out, for example {shown}.")


def _count(numbers: Sequence[int], total: int) -> str:
    shown = ", ".join(map(str, numbers[:5])) + (", ..." if len(numbers) > 5 else "")
    return f"{len(numbers)} of {total} pages ({shown})"


def _say(message: str) -> None:
    warnings.warn(message, FaircutWarning, stacklevel=5)


PDF = Reader("PDF", (".pdf",), _read)

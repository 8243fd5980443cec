"""A PDF file -> pages of text runs with boxes, fonts, tags and ruled lines, a few pages at a time.

liteparse gives them fast; its text is checked page by page against pypdfium2's, and where it lost text the runs come
from pypdfium2's characters instead. pdfium is not safe for threads: read files in parallel with processes.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any

from faircut.documents.pdf_bounds import check_streams
from faircut.documents.pdf_check import better, joined_text, lost, needs_glyphs, restored
from faircut.documents.pdf_fonts import is_bold_name, is_even, is_mono_name
from faircut.documents.pdf_glyphs import glyph_runs
from faircut.documents.pdf_hidden import may_hide, reveal
from faircut.documents.pdf_letters import as_words
from faircut.documents.pdf_page import Line, Page, Rule, Tag, turned
from faircut.documents.pdf_styles import of_one_font
from faircut.documents.pdf_tags import page_tags
from faircut.errors import DocumentError

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

__all__ = ["Replaced", "open_pdf", "pages"]

BATCH = 25
"""Pages that are held as the engine gives them, before their layout is known."""

MAX_RULES = 20_000
"""Drawn lines of a page beyond which it is a drawing, and no tables are looked for in them."""


@dataclass(slots=True)
class Replaced:
    """Pages whose text was taken from the second engine, because the first lost some or failed.

    ``damaged`` are those that the second engine cannot open: the first one's text stands unchecked, if it has any.
    """

    pages: list[int] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)


def open_pdf(path: Path) -> "PdfDocument":
    """The document of ``path``, to be closed by the caller.

    Raises:
        DocumentError: empty, no PDF, damaged, encrypted with a password, without pages.
    """
    from pypdfium2 import PdfDocument, PdfiumError

    if not path.stat().st_size:
        raise DocumentError(f"{path}: empty, 0 bytes; remove the file or fetch it again.")
    with path.open("rb") as file:
        if b"%PDF-" not in file.read(1024):
            raise DocumentError(f"{path}: not a PDF, although its name says so; give it the extension of its kind.")
    check_streams(path)
    try:
        document = PdfDocument(str(path))
    except PdfiumError as error:
        raise DocumentError(f"{path}: {_reason(str(error))}.") from None
    if not len(document):
        document.close()
        raise DocumentError(f"{path}: a PDF with 0 pages; fetch or save it again.")
    return document


def _reason(message: str) -> str:
    if "assword" in message:
        return "encrypted with a password; save a copy without it"
    if "ecurity" in message:
        return "encrypted in a way that is not known; save a copy without it"
    return f"damaged, it cannot be opened as a PDF ({message}); fetch or save it again"


def pages(path: Path, document: "PdfDocument", replaced: Replaced) -> Iterator[Page]:
    """The pages in order, each turned so that most of its text is upright; ``replaced`` collects the fall-backs."""
    for number, parsed in _parsed(path, len(document)):
        yield _upright(_near_the_page(_either(document, number, parsed, replaced)))


def _either(document: "PdfDocument", number: int, parsed: Any, replaced: Replaced) -> Page:
    """The page checked, or what the first engine gives of it when the second one cannot open it."""
    from pypdfium2 import PdfiumError

    try:
        page = document[number - 1]
        try:
            return _checked(page, number, parsed, replaced)
        finally:
            page.close()
    except PdfiumError:
        replaced.damaged.append(number)
        return _page(number, parsed, {}) if parsed else Page(number, 0.0, 0.0)


def _parsed(path: Path, count: int) -> Iterator[tuple[int, Any]]:
    """Each page's number with what liteparse gives for it, ``None`` where it gives nothing."""
    from liteparse import LiteParse, ParseError

    engine = LiteParse(
        ocr_enabled=False,
        max_pages=max(count, 1),  # 1000 unless told otherwise
        quiet=True,
        continue_on_page_error=True,
        extract_vector_graphics=True,
        extract_text_metadata=True,
        preserve_very_small_text=True,
    )
    done = 0
    try:
        for batch in engine.parse_batches(path, BATCH):
            found = {p.page_num: p for p in batch.result.pages}
            for number in range(done + 1, min(batch.end_page, count) + 1):
                yield number, found.get(number)
                done = number
    except ParseError:
        pass  # the pages that are left come from the second engine and are reported
    yield from ((number, None) for number in range(done + 1, count + 1))


def _checked(page: "PdfPage", number: int, parsed: Any, replaced: Replaced) -> Page:
    """The page of liteparse, unless its text differs from pypdfium2's or its script needs single characters."""
    textpage = page.get_textpage()
    try:
        text = textpage.get_text_range()
        if may_hide(text) and reveal(page):
            textpage.close()
            textpage = page.get_textpage()
            if lost(textpage.get_text_range(), text):
                parsed = None
        return _chosen(page, number, parsed, replaced, textpage)
    finally:
        textpage.close()


def _chosen(page: "PdfPage", number: int, parsed: Any, replaced: Replaced, textpage: "PdfTextPage") -> Page:
    expected = textpage.get_text_range()
    if parsed is None:
        width, height = page.get_size()
        if expected.strip():
            replaced.pages.append(number)
        return Page(number, width, height, glyph_runs(page, {}) if expected.strip() else [])
    tags = page_tags(page)
    result = _page(number, parsed, tags)
    result.runs = restored(result.runs, expected)
    if needs_glyphs(result.runs, expected):
        result.runs = glyph_runs(page, tags)
    elif lost(expected, joined_text(result.runs)) > 0:
        # Text that is printed twice is in the first engine's text once, and in that of single characters too.
        result.runs, differs = better(result.runs, glyph_runs(page, tags))
        replaced.pages += [number] * differs
    result.runs = as_words(of_one_font(result.runs, page, textpage, _text), page, textpage)
    return result


# ---------------------------------------------------------------- liteparse's page


def _page(number: int, parsed: Any, tags: dict[int, Tag]) -> Page:
    runs = [_run(item, tags) for item in parsed.text_items if item.text.strip()]
    graphics = parsed.vector_graphics
    lines = graphics.lines if graphics and len(graphics.lines) <= MAX_RULES else []
    rules = [
        Rule(min(a.x1, a.x2), min(a.y1, a.y2), max(a.x1, a.x2), max(a.y1, a.y2))
        for a in lines
        if abs(a.x1 - a.x2) < 1 or abs(a.y1 - a.y2) < 1
    ]
    return Page(number, parsed.width, parsed.height, runs, rules)


_LINE_MARKS = str.maketrans({"\x02": "-", "\ufffe": "-", "\u00ad": None, "\xa0": " ", "\0": None})


def _run(item: Any, tags: dict[int, Tag]) -> Line:
    font = intern(item.font_name or "")  # the engine gives each run a name of its own
    turn = round(item.rotation / 90) * 90 % 360
    text = _text(item.text.strip("\r\n "))
    size = _size(item, item.width if turn in (90, 270) else item.height)
    return Line(
        text,
        item.x,
        item.y,
        item.x + item.width,
        item.y + item.height,
        size,
        bold=(item.font_weight or 0) >= 600 or is_bold_name(font),
        mono=is_mono_name(font) and is_even(len(text), item.width, size),
        tag=tags.get(item.mcid) if item.mcid is not None else None,
        turn=turn,
        font=font,
    )


def _size(item: Any, extent: float) -> float:
    """The size of the type as it is seen; some files write in another size (often 1) and scale the page."""
    size, seen = item.font_size or 0.0, item.font_height or 0.0
    if seen >= 3 and (size < 3 or abs(seen - size) > 0.15 * size):
        return float(seen)
    return float(size) if size >= 3 else extent / 1.15


def _text(raw: str) -> str:
    """Without soft hyphens inside; one at the end is a divided word."""
    return (raw[:-1] + "-" if raw.endswith("\u00ad") else raw).translate(_LINE_MARKS)


def _near_the_page(page: Page) -> Page:
    """What a damaged file sets millions of points away, no further than a page's width or height beside it."""
    width, height = max(page.width, 100.0), max(page.height, 100.0)
    for n, run in enumerate(page.runs):
        if run.left < -width or run.right > 2 * width or run.top < -height or run.bottom > 2 * height:
            left, right = (min(max(x, -width), 2 * width) for x in (run.left, run.right))
            top, bottom = (min(max(y, -height), 2 * height) for y in (run.top, run.bottom))
            page.runs[n] = replace(run, left=left, top=top, right=right, bottom=bottom)
    return page


def _upright(page: Page) -> Page:
    """Turn a page whose text is mostly written sideways."""
    turns: Counter[int] = Counter()
    for run in page.runs:
        turns[run.turn] += len(run.text)
    turn = turns.most_common(1)[0][0] if turns else 0
    return turned(page, turn)

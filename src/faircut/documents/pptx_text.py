"""The text of a shape on a slide -> paragraphs and lists, with the bullets that it inherits; tables of slides.

Which shapes there are and in what order is left to ``pptx_shapes.py``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from faircut.documents.building import DocumentBuilder
from faircut.documents.docx_math import M, linear
from faircut.documents.marked_items import BULLET, MarkedItem, letters, list_text, roman
from faircut.documents.open_packaging import ALTERNATE, alternative
from faircut.documents.pptx_shapes import A, P
from faircut.documents.rows import looks_like_header

__all__ = ["add_body", "add_table", "body_text", "paragraph_text"]

MAX_SPAN = 200
"""Columns or rows that one cell may cover."""

_BULLETS = frozenset(A + name for name in ("buNone", "buChar", "buAutoNum", "buBlip"))
_SKIPPED = frozenset(A + name for name in ("pPr", "rPr", "endParaRPr"))


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph: its text, its level from 0, what stands in front of it."""

    text: str
    level: int
    bullet: Element | None


def paragraph_text(paragraph: Element) -> str:
    """The text of a paragraph; line breaks are line ends, formulas are on one line."""
    out: list[str] = []
    todo: list[Element | str] = list(reversed(paragraph))
    while todo:
        step = todo.pop()
        if isinstance(step, str):
            out.append(step)
        elif step.tag in (f"{A}t", f"{M}t"):
            out.append(step.text or "")
        elif step.tag == f"{A}br":
            out.append("\n")
        elif step.tag == ALTERNATE:
            todo += reversed(alternative(step) or [])
        elif step.tag not in _SKIPPED:
            todo += reversed(list(linear(step) if step.tag.startswith(M) else step))
    return "".join(out)


def body_text(shape: Element) -> str:
    """All text of a shape, a line a paragraph."""
    return "\n".join(filter(str.strip, map(paragraph_text, shape.iter(f"{A}p"))))


def add_body(builder: DocumentBuilder, shape: Element, styles: Sequence[Element]) -> None:
    """The paragraphs of a shape; those with bullets or numbers are items.

    Args:
        builder: takes the blocks.
        shape: with a text body.
        styles: the lists of styles that hold for the shape, nearest first (``lstStyle``, ``bodyStyle``).
    """
    items: list[MarkedItem] = []
    counts: dict[int, int] = {}
    for line in _lines(shape, styles):
        mark = _mark(line, counts)
        if mark:
            items.append(MarkedItem(mark, line.text.strip(), line.level))
            continue
        builder.add("list", list_text(items), 1)
        builder.add("paragraph", line.text)
        items = []
    builder.add("list", list_text(items), 1)


def _lines(shape: Element, styles: Sequence[Element]) -> Iterator[Line]:
    for paragraph in shape.findall(f"{P}txBody/{A}p"):
        text = paragraph_text(paragraph)
        if text.strip():
            own = paragraph.find(f"{A}pPr")
            level = _whole(own.get("lvl") if own is not None else None, 0, 8)
            given = [own, *(style.find(f"{A}lvl{level + 1}pPr") for style in styles)]
            bullets = (child for properties in given if properties is not None for child in properties)
            yield Line(text, level, next((child for child in bullets if child.tag in _BULLETS), None))


def _whole(text: str | None, default: int, most: int) -> int:
    return min(int(text), most) if text and text.isdecimal() else default


def _mark(line: Line, counts: dict[int, int]) -> str:
    """The bullet or number of a line, counted in ``counts`` by level; nothing for a plain paragraph."""
    for deeper in [level for level in counts if level > line.level]:
        del counts[deeper]
    if line.bullet is None or line.bullet.tag == f"{A}buNone":
        counts.pop(line.level, None)
        return ""
    if line.bullet.tag != f"{A}buAutoNum":
        counts.pop(line.level, None)
        return BULLET
    start = _whole(line.bullet.get("startAt"), 1, 32767)
    counts[line.level] = counts.get(line.level, start - 1) + 1
    return _number(line.bullet.get("type", "arabicPeriod"), counts[line.level])


def _number(form: str, count: int) -> str:
    """As ``ST_TextAutonumberScheme`` names it: how it counts, and what stands around."""
    written = str(count)
    if form.startswith("alpha"):
        written = letters(count)
    elif form.startswith("roman"):
        written = roman(count)
    if form.startswith(("alphaUc", "romanUc")):
        written = written.upper()
    around = {"Both": "({})", "ParenR": "{})", "Plain": "{}", "Minus": "- {} -"}
    return next((sign for end, sign in around.items() if form.endswith(end)), "{}.").format(written)


# ---------------------------------------------------------------- tables


def add_table(builder: DocumentBuilder, table: Element) -> None:
    """The rows of a table, merged cells repeated; its first row is the header when the table or its content says so."""
    rows: list[list[str]] = []
    for row in table.findall(f"{A}tr"):
        rows.append(_row(row, rows[-1] if rows else []))
    properties = table.find(f"{A}tblPr")
    says = properties is not None and properties.get("firstRow") in ("1", "true")
    builder.table(rows, 1 if says or looks_like_header(rows) else 0)


def _row(row: Element, above: Sequence[str]) -> list[str]:
    texts: list[str] = []
    for cell in row.findall(f"{A}tc"):
        if cell.get("vMerge") in ("1", "true"):
            texts.append(above[len(texts)] if len(texts) < len(above) else "")
        elif cell.get("hMerge") in ("1", "true"):
            texts.append(texts[-1] if texts else "")
        else:
            texts.append(body_text(cell))
    return texts

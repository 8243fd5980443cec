"""A table of a DOCX -> its cells on the table's grid, merged cells repeated in each place that they cover.

How the content of a cell becomes text is left to the caller.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from faircut.documents.docx_styles import W, is_on, value, whole
from faircut.documents.open_packaging import ALTERNATE, alternative

__all__ = ["GridRow", "frame_content", "grid_rows", "header_count", "row_texts"]

MAX_SPAN = 200
"""Columns that one cell may cover; Word allows 63 in a table."""
MAX_PLACES = 1_000_000
"""Places of a grid up to which merged cells are repeated."""

_ENTERED = frozenset(W + name for name in ("ins", "moveTo", "smartTag", "customXml", "sdt", "sdtContent"))


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell and the columns that it covers; no element for a gap at the beginning or the end of a row."""

    element: Element | None
    span: int = 1
    continues: bool = False  # the cell above


@dataclass(frozen=True, slots=True)
class GridRow:
    """The cells of a row from the left, and whether it is repeated as header on each page."""

    cells: tuple[GridCell, ...]
    is_header: bool


def grid_rows(table: Element) -> list[GridRow]:
    """The rows, without those that are marked as deleted."""
    return [_row(row) for row in _children(table, f"{W}tr") if row.find(f"{W}trPr/{W}del") is None]


def _row(row: Element) -> GridRow:
    properties = row.find(f"{W}trPr")
    before, after = (_count(value(properties, name), 0) for name in ("gridBefore", "gridAfter"))
    cells = [_cell(cell) for cell in _children(row, f"{W}tc")]
    gaps = [[GridCell(None, count)] if count else [] for count in (before, after)]
    return GridRow((*gaps[0], *cells, *gaps[1]), bool(is_on(properties, "tblHeader")))


def _cell(cell: Element) -> GridCell:
    properties = cell.find(f"{W}tcPr")
    merged = None if properties is None else properties.find(f"{W}vMerge")
    continues = merged is not None and merged.get(f"{W}val", "continue") == "continue"
    return GridCell(cell, _count(value(properties, "gridSpan"), 1), continues)


def _count(given: str | None, default: int) -> int:
    found = whole(given)
    return default if found is None else min(max(found, default), MAX_SPAN)


def _children(parent: Element, tag: str) -> Iterator[Element]:
    """The rows of a table or the cells of a row, also those inside content controls and insertions."""
    todo = list(reversed(parent))
    while todo:
        element = todo.pop()
        if element.tag == tag:
            yield element
        elif element.tag in _ENTERED:
            todo += reversed(element)
        elif element.tag == ALTERNATE:
            todo += reversed(alternative(element) or [])


def frame_content(rows: list[GridRow]) -> Element | None:
    """The only cell of a table that is a frame around its content."""
    cells = [cell.element for row in rows for cell in row.cells if cell.element is not None]
    return cells[0] if len(cells) == 1 else None


def header_count(rows: list[GridRow]) -> int:
    """The rows of the header: those repeated on each page, else the first."""
    headers = next((i for i, row in enumerate(rows) if not row.is_header), 0)
    return max(headers, 1)


def row_texts(rows: list[GridRow], text_of: Callable[[Element], str]) -> Iterator[list[str]]:
    """The texts of each row on the grid. ``text_of`` is called once a cell, in reading order."""
    above: dict[int, str] = {}
    places = 0
    for row in rows:
        texts: list[str] = []
        for cell in row.cells:
            if cell.continues:
                text = above.get(len(texts), "")
            else:
                text = text_of(cell.element) if cell.element is not None else ""
            texts += [text] * (cell.span if places < MAX_PLACES else 1)
        places += len(texts)
        above = dict(enumerate(texts))
        yield texts

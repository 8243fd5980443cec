"""Spreadsheets (XLSX, XLSM, XLSB, XLS, ODS) -> a heading a sheet, then its tables and lines of text.

``spreadsheet_engine.py`` reads the cells, as values; of their display only percent signs are kept. Where a table
begins and ends is found by ``sheet_tables.py``; whether a file may be opened at all by ``spreadsheet_bounds.py``.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from faircut.documents.building import DocumentBuilder
from faircut.documents.contract import Reader
from faircut.documents.sheet_tables import sheet_blocks
from faircut.documents.spreadsheet_bounds import MAX_TEXT, check_bounds
from faircut.documents.spreadsheet_cells import Value, cell_text
from faircut.documents.spreadsheet_engine import Range, Sheet, sheets
from faircut.documents.spreadsheet_formats import Columns, percent_cells
from faircut.errors import DocumentError, FaircutWarning
from faircut.records import Document

__all__ = ["SPREADSHEET", "cell_text"]

MAX_MERGED = 5_000_000
"""Cells of merged ranges that get the range's text; it is the cost of a file whose every sheet is merged."""


# ---------------------------------------------------------------- sheets


def _read(path: Path, document_id: str) -> Document:
    check_bounds(path)
    builder = DocumentBuilder()
    hidden = _add_sheets(builder, path)
    if builder.is_empty:
        raise DocumentError(f"{path}: no sheet has a cell with text; remove the file or fill it.")
    if hidden:
        names = ", ".join(map(repr, hidden[:3])) + (", ..." if len(hidden) > 3 else "")
        warnings.warn(f"{path}: left out {len(hidden)} hidden sheets ({names}).", FaircutWarning, stacklevel=2)
    media_type = _MEDIA[path.suffix.lower()]
    return builder.build(document_id, title=path.stem, source=str(path), media_type=media_type)


def _add_sheets(builder: DocumentBuilder, path: Path) -> list[str]:
    """Put the visible sheets into the builder, and give the names of the hidden ones that are not empty."""
    hidden = []
    percent = percent_cells(path)
    for sheet in sheets(path):
        if sheet.is_visible:
            _add_sheet(builder, sheet.name, _rows(path, sheet, percent.get(sheet.name, {})))
        else:
            hidden.append(sheet.name)
    return hidden


def _add_sheet(builder: DocumentBuilder, name: str, rows: Iterator[list[str]]) -> None:
    """Its name as heading, and its blocks; nothing when it has none."""
    for number, (kind, text) in enumerate(sheet_blocks(rows)):
        if not number:
            builder.heading(name, 1)
        builder.add(kind, text)


def _rows(path: Path, sheet: Sheet, percent: Columns) -> Iterator[list[str]]:
    """The rows as text, a merged cell's in each place that it covers."""
    merged = _MergedCells(sheet.merged, sheet.first_column)
    characters = 0
    for number, values in enumerate(sheet.rows):
        row = [cell_text(value) for value in values]
        for column in percent.get(number, ()):
            _put_percent(row, values, column - sheet.first_column)
        merged.fill(number, row)
        characters += sum(map(len, row))
        if characters > MAX_TEXT:
            raise DocumentError(f"{path}: refused: a sheet of more than {MAX_TEXT:,} characters; save it as CSV.")
        yield row


def _put_percent(row: list[str], values: Sequence[Value], place: int) -> None:
    value = values[place] if 0 <= place < len(values) else ""
    if isinstance(value, float):
        row[place] = f"{cell_text(value * 100)}%"


@dataclass
class _MergedCells:
    """The merged ranges of a sheet, as its rows go by from the top."""

    ranges: list[Range]
    first_column: int
    filled: int = 0
    _active: list[tuple[int, slice, str]] = field(default_factory=list)  # last row, columns, text

    def __post_init__(self) -> None:
        self.ranges = sorted(self.ranges, reverse=True)

    def fill(self, number: int, row: list[str]) -> None:
        """Put the texts of the ranges over this row into their places."""
        while self.ranges and self.ranges[-1][0][0] <= number:
            (top, left), (bottom, right) = self.ranges.pop()
            columns = slice(max(left - self.first_column, 0), right - self.first_column + 1)
            text = row[columns.start] if top == number and columns.start < len(row) else ""
            if text:
                self._active.append((bottom, columns, text))
        self._active = [range_ for range_ in self._active if range_[0] >= number]
        for _, columns, text in self._active:
            width = len(row[columns])
            self.filled += width
            if self.filled <= MAX_MERGED:
                row[columns] = [text] * width


_OPEN_XML = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_MEDIA = {
    ".xlsx": _OPEN_XML,
    ".xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
    ".xlsb": "application/vnd.ms-excel.sheet.binary.macroenabled.12",
    ".xls": "application/vnd.ms-excel",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
}

SPREADSHEET = Reader("spreadsheet", tuple(_MEDIA), _read)

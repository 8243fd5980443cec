"""Spreadsheets (XLSX, XLSM, XLSB, XLS, ODS) -> a heading a sheet, then its tables and lines of text.

``python-calamine`` reads the cells, as values; of their display only percent signs are kept. Where a table begins and
ends is found by ``sheet_tables.py``; whether a file may be opened at all is decided by ``spreadsheet_bounds.py``.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from faircut.documents.building import DocumentBuilder
from faircut.documents.contract import Reader
from faircut.documents.sheet_tables import sheet_blocks
from faircut.documents.spreadsheet_bounds import MAX_TEXT, check_bounds
from faircut.documents.spreadsheet_formats import Columns, percent_cells
from faircut.errors import DocumentError, FaircutWarning
from faircut.records import Document

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

__all__ = ["SPREADSHEET", "cell_text"]

Value = str | int | float | bool | date | datetime | time | timedelta
Range = tuple[tuple[int, int], tuple[int, int]]  # first and last row and column, counted from 0

MAX_MERGED = 5_000_000
"""Cells of merged ranges that get the range's text; it is the cost of a file whose every sheet is merged."""


def cell_text(value: Value) -> str:
    """A value as a person reads it: 3 and not 3.0, 2024-01-05 13:04, TRUE, hours beyond 24 as 30:00:00."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return format(value, ".15g")  # the digits that a spreadsheet keeps
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, time):
        return value.strftime("%H:%M:%S" if value.second else "%H:%M")
    if isinstance(value, timedelta):
        return _hours(value)
    return str(value)


def _moment(value: datetime) -> str:
    """To the second: a spreadsheet's moments are fractions of a day, off by microseconds."""
    if value.microsecond and value.year < date.max.year:
        value = (value + timedelta(microseconds=500_000)).replace(microsecond=0)
    if value.time() == time():
        return value.date().isoformat()
    return value.isoformat(" ", "seconds" if value.second else "minutes")


def _hours(value: timedelta) -> str:
    seconds = round(abs(value).total_seconds())
    sign = "-" if value < timedelta() else ""
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


# ---------------------------------------------------------------- sheets


def _read(path: Path, document_id: str) -> Document:
    check_bounds(path)
    builder = DocumentBuilder()
    with _workbook(path) as workbook:
        hidden = _add_sheets(builder, path, workbook)
    if builder.is_empty:
        raise DocumentError(f"{path}: no sheet has a cell with text; remove the file or fill it.")
    if hidden:
        names = ", ".join(map(repr, hidden[:3])) + (", ..." if len(hidden) > 3 else "")
        warnings.warn(f"{path}: left out {len(hidden)} hidden sheets ({names}).", FaircutWarning, stacklevel=2)
    media_type = _MEDIA[path.suffix.lower()]
    return builder.build(document_id, title=path.stem, source=str(path), media_type=media_type)


def _add_sheets(builder: DocumentBuilder, path: Path, workbook: "CalamineWorkbook") -> list[str]:
    """Put the visible sheets into the builder, and give the names of the hidden ones that are not empty."""
    from python_calamine import SheetVisibleEnum

    hidden = []
    percent = percent_cells(path)
    for place, sheet in enumerate(workbook.sheets_metadata):
        cells = workbook.get_sheet_by_index(place)
        if cells.start is None:  # no cells, or a sheet that is a chart
            continue
        if sheet.visible == SheetVisibleEnum.Visible:
            rows = _rows(path, cells, percent.get(sheet.name, {}))
            _add_sheet(builder, sheet.name, rows)
        else:
            hidden.append(sheet.name)
    return hidden


def _add_sheet(builder: DocumentBuilder, name: str, rows: Iterator[list[str]]) -> None:
    """Its name as heading, and its blocks; nothing when it has none."""
    for number, (kind, text) in enumerate(sheet_blocks(rows)):
        if not number:
            builder.heading(name, 1)
        builder.add(kind, text)


def _rows(path: Path, sheet: "CalamineSheet", percent: Columns) -> Iterator[list[str]]:
    """The rows as text, a merged cell's in each place that it covers."""
    first_column = sheet.start[1] if sheet.start else 0
    merged = _MergedCells(sheet.merged_cell_ranges or [], first_column)
    characters = 0
    for number, values in enumerate(sheet.iter_rows()):
        row = [cell_text(value) for value in values]
        for column in percent.get(number, ()):
            _put_percent(row, values, column - first_column)
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


@contextmanager
def _workbook(path: Path) -> "Iterator[CalamineWorkbook]":
    from python_calamine import CalamineError, PasswordError, load_workbook

    try:
        with _Panics(path), path.open("rb") as file, load_workbook(file) as workbook:
            yield workbook
    except PasswordError as error:
        raise DocumentError(f"{path}: encrypted; save it without a password.") from error
    except (CalamineError, OverflowError, ValueError) as error:  # the others: dates that are none
        raise DocumentError(f"{path}: damaged, or no spreadsheet of this kind ({error}).") from error


@dataclass
class _Panics:
    """Turns a panic of the engine into an error. Its class is no ``Exception``, and cannot be imported."""

    path: Path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if kind is not None and kind.__name__ == "PanicException":
            raise DocumentError(f"{self.path}: damaged: its cells cannot be read ({error}).") from error


_OPEN_XML = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_MEDIA = {
    ".xlsx": _OPEN_XML,
    ".xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
    ".xlsb": "application/vnd.ms-excel.sheet.binary.macroenabled.12",
    ".xls": "application/vnd.ms-excel",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
}

SPREADSHEET = Reader("spreadsheet", tuple(_MEDIA), _read)

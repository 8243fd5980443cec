"""CSV, TSV and spreadsheets -> rows as dictionaries, each with the line on which it begins.

What columns mean is left to the formats.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from faircut.documents.delimited import Form, find_form
from faircut.documents.spreadsheet_bounds import check_bounds
from faircut.documents.spreadsheet_cells import cell_text
from faircut.documents.spreadsheet_engine import sheets
from faircut.errors import DocumentError, QuestionError
from faircut.files import write_atomically
from faircut.questions.formats.json_text import json_text

__all__ = ["DELIMITED", "SPREADSHEETS", "as_cell", "table_rows", "write_csv"]

DELIMITED = (".csv", ".tsv", ".tab")
SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_LONGEST_CELL = 10_000_000
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def table_rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows below the header, each with its place and its cells by column name (small letters, trimmed).

    The first row with text is the header. Of a spreadsheet the first visible sheet is read.

    Raises:
        QuestionError: it cannot be read; names the line.
    """
    rows = _sheet_rows(path) if path.suffix.lower() in SPREADSHEETS else _delimited_rows(path)
    header: list[str] | None = None
    for place, row in rows:
        if not any(cell.strip() for cell in row) or (header is None and row[0].lower().startswith("sep=")):
            continue
        if header is None:
            header = [name.strip().lower() for name in row]
            _check_header(place, header)
        else:
            cells = dict(zip_longest(header, row[: len(header)], fillvalue=""))
            yield place, cells


def _check_header(place: str, header: Sequence[str]) -> None:
    twice = next((name for name in header if name and header.count(name) > 1), None)
    if twice is not None:
        raise QuestionError(f"{place}: two columns are named {twice!r}; rename one of them.")


def as_cell(text: str) -> str:
    """A text as a cell of CSV: one that a spreadsheet would take for a formula gets an apostrophe in front."""
    return f"'{text}" if _FORMULA.match(text) else text


def _from_cell(cell: str) -> str:
    """What ``as_cell`` made a cell of."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _delimited_rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    text = json_text(path).removeprefix("\ufeff")
    form = find_form(text, path.suffix.lower())
    lines = io.StringIO(text, newline="")
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield from _parsed(path, lines, form)
    finally:
        csv.field_size_limit(before)


def _parsed(path: Path, lines: Iterable[str], form: Form) -> Iterator[tuple[str, list[str]]]:
    reader = csv.reader(lines, delimiter=form.delimiter, quotechar=form.quote or '"', escapechar=form.escape)
    line = 1
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise QuestionError(
                f"{path}:{line}: not readable as a table ({error}); is a quotation mark open?"
            ) from None
        yield f"{path}:{line}", list(map(_from_cell, row))
        line = reader.line_num + 1


def _sheet_rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    try:
        check_bounds(path)
        for sheet in sheets(path):
            if sheet.is_visible:
                for number, row in enumerate(sheet.rows, start=1):
                    yield f"{path}:row {number}", [cell_text(value) for value in row]
                return
    except (DocumentError, OSError) as error:
        raise QuestionError(str(error)) from error


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a table; the file appears whole or not at all.

    Raises:
        StoreError: it cannot be written.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t" if path.suffix.lower() in (".tsv", ".tab") else ",", lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    raw = text.getvalue().encode("utf-8", "backslashreplace")
    write_atomically(path, lambda file: file.write(raw))

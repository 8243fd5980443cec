"""CSV and TSV -> a document with one table; lines of text above the table become paragraphs.

The delimiter, the quote and whether the first row is a header are found from the beginning of the file. How bytes
become text is left to ``decoding.py``.
"""

import csv
import re
import warnings
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from faircut.documents.building import DocumentBuilder
from faircut.documents.contract import Reader
from faircut.documents.decoding import read_text
from faircut.documents.rows import is_value, looks_like_header, table_text
from faircut.errors import DocumentError, FaircutWarning
from faircut.records import Document

__all__ = ["DELIMITED", "Form", "delimited_rows", "find_form"]

SAMPLE = 2**16
"""Characters that are looked at to find the form."""
MAX_REPAIRS = 20
"""Quotes without an end that are taken as characters; beyond, no quote of the rest of the file is one."""
_PREAMBLE = 12  # lines above a table that may be its title and notes
_HEAD = 50  # rows that are looked at for a header

_DELIMITERS = ",;\t|"
_LINE = re.compile(r"[^\r\n]*+(?:\r\n?|\n)|[^\r\n]++")
_LINE_END = re.compile(r"\r\n?|\n")

Row = list[str]


@dataclass(frozen=True, slots=True)
class Form:
    """How cells are parted: the delimiter, the quote (None: quotes are characters), the escape character."""

    delimiter: str
    quote: str | None = '"'
    escape: str | None = None

    def parse(self, lines: Iterable[str], *, strict: bool = False) -> Iterator[Row]:
        """The rows in these lines (given with their line ends)."""
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quotechar=self.quote or '"',
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            escapechar=self.escape,
            skipinitialspace=self.delimiter != "\t",
            strict=strict,
        )

    def rows(self, text: str) -> Iterator[Row]:
        """The rows in a text."""
        return self.parse(_lines(text))


def _lines(text: str) -> Iterator[str]:
    return (line[0] for line in _LINE.finditer(text))


# ---------------------------------------------------------------- the form


def find_form(text: str, extension: str = ".csv") -> Form:
    """The form in which most rows of the beginning have the same number of cells, and many.

    A first line ``sep=;``, as a spreadsheet writes it, decides. A file with one column gets a comma.
    """
    if declared := _DECLARED.match(text):
        return Form(declared[1])
    sample = text[:SAMPLE]
    if len(text) > SAMPLE:
        sample = sample[: max(sample.rfind("\n"), sample.rfind("\r")) + 1] or sample
    delimiters = "\t" if extension in (".tsv", ".tab") and "\t" in sample else _DELIMITERS
    forms = [Form(d, q, e) for q, e in _quotings(sample) for d in delimiters]
    best = max(forms, key=lambda form: _consistency(form, sample))  # of equals the first
    return best if _consistency(best, sample) > 0 else Form(delimiters[0])


_DECLARED = re.compile(r'"?sep=([^\r\n"])"?(?:\r\n?|\n)', re.IGNORECASE)


def _quotings(sample: str) -> list[tuple[str | None, str | None]]:
    """Double quotes, and others only where there is a sign of them."""
    found: list[tuple[str | None, str | None]] = [('"', None)]
    if re.search(r'\\"[^,;\t|\r\n]', sample):
        found.append(('"', "\\"))
    single = re.finditer(r"(?m)(?:^|[,;\t|])'([^'\r\n]*)'(?=[,;\t|]|$)", sample)
    if any(not set(_DELIMITERS).isdisjoint(cell[1]) for cell in single):
        found.append(("'", None))
    return found


def _consistency(form: Form, sample: str) -> float:
    """How well a form explains the sample: 0 when it finds one column.

    Share of the rows with the most frequent number of cells, times the share of cells that hold no other delimiter,
    plus a little for each column. After the consistency measure of CleverCSV (van den Burg, Nazabal, Sutton 2019).
    """
    counts: Counter[int] = Counter()
    cells = clean = 0
    with _long_cells(len(sample)):
        for row in form.rows(sample):
            if len(row) > 1:
                cells += len(row)
                clean += sum(is_value(cell) or not _OTHER[form.delimiter].search(cell) for cell in row)
            counts[len(row)] += any(cell.strip() for cell in row)
    many = Counter({width: count * min(width, 10) for width, count in counts.items() if width > 1})
    if not cells or not many.total():
        return 0.0
    width = many.most_common(1)[0][0]
    return counts[width] / counts.total() * clean / cells + 0.01 * min(width, 10)


_OTHER = {d: re.compile(rf"[{re.escape(_DELIMITERS.replace(d, ''))}]\S") for d in _DELIMITERS}


@contextmanager
def _long_cells(size: int) -> Iterator[None]:
    """Let a cell be as long as the text; the limit is one for the whole process, so it is put back."""
    before = csv.field_size_limit()
    csv.field_size_limit(max(size, before))
    try:
        yield
    finally:
        csv.field_size_limit(before)


# ---------------------------------------------------------------- rows


def delimited_rows(text: str, form: Form, repaired: list[int], *, start: int = 0) -> Iterator[Row]:
    """All rows from ``start`` on. Line ends inside quotes stay in their cell.

    A quote that is opened and never closed would swallow the rest of the file: its line is read again with the quote
    as a character, and the place of that line in the text is put into ``repaired``.
    """
    bare = Form(form.delimiter, None)
    while start < len(text):
        unclosed = yield from _rows(text, start, form if len(repaired) <= MAX_REPAIRS else bare)
        if unclosed is None:
            return
        repaired.append(unclosed)
        start = _line_end(text, unclosed)
        yield from bare.rows(text[unclosed:start])


def _rows(text: str, start: int, form: Form) -> Generator[Row, None, int | None]:
    """The rows from ``start``; returns where the last one begins when its quote has no end."""
    place = row_start = start

    def lines() -> Iterator[str]:
        nonlocal place
        for line in _LINE.finditer(text, start):
            place = line.end()
            yield line[0]

    for row in form.parse(lines()):
        if place == len(text) and form.quote and _is_unclosed(text[row_start:], form):
            return row_start
        row_start = place
        yield row
    return None


def _line_end(text: str, place: int) -> int:
    found = _LINE_END.search(text, place)
    return found.end() if found else len(text)


def _is_unclosed(row: str, form: Form) -> bool:
    try:
        return not list(form.parse(_lines(row), strict=True))
    except csv.Error as error:
        return "unexpected end" in str(error)


# ---------------------------------------------------------------- documents


def _read(path: Path, document_id: str) -> Document:
    text, extension = read_text(path), path.suffix.lower()
    form = find_form(text, extension)
    declared = _DECLARED.match(text)
    first = declared.end() if declared else 0
    repaired: list[int] = []
    builder = DocumentBuilder()
    with _long_cells(len(text)):
        _add_table(builder, delimited_rows(text, form, repaired, start=first))
    if builder.is_empty:
        raise DocumentError(f"{path}: no text between its delimiters; remove the file or give it a text.")
    if repaired:
        _warn_repaired(path, text, repaired)
    return builder.build(document_id, title=path.stem, source=str(path), media_type=_MEDIA[extension])


_MEDIA = {".csv": "text/csv", ".tsv": "text/tab-separated-values", ".tab": "text/tab-separated-values"}


def _add_table(builder: DocumentBuilder, rows: Iterator[Row]) -> None:
    """The table, after the lines above it that have one cell each, as paragraphs."""
    head = [row for row in islice(rows, _HEAD) if any(cell.strip() for cell in row)]
    above = _lines_above(head)
    for row in head[:above]:
        builder.add("paragraph", "".join(row))
    body = head[above:]
    builder.add("table", table_text(chain(body, rows), header=looks_like_header(body)))


def _lines_above(head: Sequence[Row]) -> int:
    filled = [sum(1 for cell in row if cell.strip()) for row in head]
    above = next((i for i, n in enumerate(filled[:_PREAMBLE]) if n > 1), 0)
    return above if max(filled, default=0) > 2 else 0  # in a narrow table they are rows with an empty cell


def _warn_repaired(path: Path, text: str, repaired: list[int]) -> None:
    lines = [1 + sum(1 for _ in _LINE_END.finditer(text, 0, place)) for place in repaired[:3]]
    warnings.warn(
        f"{path}: a quote that is never closed was read as a character, {len(repaired)} times (line "
        f"{', '.join(map(str, lines))}{', ...' if len(repaired) > 3 else ''}).",
        FaircutWarning,
        stacklevel=2,
    )


DELIMITED = Reader("CSV", (".csv", ".tsv", ".tab"), _read)

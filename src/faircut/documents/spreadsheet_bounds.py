"""Whether a spreadsheet may be opened: its engine gives memory to each place between its first and last cell.

Two cells in opposite corners of a sheet would need 500 GiB and end the process without an exception. The places are
counted here first, from the files themselves. What is in the cells is left to ``spreadsheet.py``.
"""

import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from xml.parsers import expat

from faircut.documents.archive import Archive, open_archive
from faircut.documents.ole import OLE_MAGIC, ole_streams
from faircut.errors import DocumentError

__all__ = ["MAX_CELLS", "MAX_TEXT", "check_bounds", "column_number"]

MAX_CELLS = 10_000_000
"""Places of one sheet between its first and last cell (XLS: of all sheets). They take about 70 bytes each."""
MAX_CELLS_ODS = 4_000_000
"""In ODS they take twice as much."""
MAX_TEXT = 120_000_000
"""Characters of one sheet; a long text that a million cells share is more than any memory."""
_CORNERS = "the rectangle between its first and last cell"

Place = tuple[int, int]  # row and column, counted from 0


@dataclass
class _Rectangle:
    """The smallest one around the places seen."""

    top: int = 2**32
    left: int = 2**32
    bottom: int = -1
    right: int = -1

    def grow(self, rows: Iterable[int], columns: Iterable[int]) -> None:
        for row in rows:
            self.top, self.bottom = min(self.top, row), max(self.bottom, row)
        for column in columns:
            self.left, self.right = min(self.left, column), max(self.right, column)

    @property
    def area(self) -> int:
        return max(self.bottom - self.top + 1, 0) * max(self.right - self.left + 1, 0)


def check_bounds(path: Path) -> None:
    """Refuse what the engine could not hold, with the reason.

    Raises:
        DocumentError: empty, encrypted, no spreadsheet at all, damaged, or too large.
    """
    with path.open("rb") as file:
        start = file.read(8)
    if start.startswith(b"PK"):
        with open_archive(path) as archive:
            _check_archive(path, archive)
    elif start == OLE_MAGIC:
        _check_ole(path)
    elif not start:
        raise DocumentError(f"{path}: empty; remove the file or replace it by a whole one.")
    else:
        raise DocumentError(f"{path}: not what its name says: no spreadsheet; if it is text, name it .csv or .html.")


def _check_archive(path: Path, archive: Archive) -> None:
    if not any(archive.find(name) for name in ("xl/workbook.xml", "xl/workbook.bin", "content.xml")):
        raise DocumentError(
            f"{path}: not what its name says: an archive without a workbook; give it the extension of its kind."
        )
    if archive.find("content.xml"):
        data = archive.read("content.xml")
        _refuse_malformed(path, data)
        area, text = _ods_size(data)
        _refuse(path, "a sheet", area, MAX_CELLS_ODS)
        _refuse_text(path, text)
    lengths: list[int] = []
    for name in sorted(archive.names, key=lambda name: "sharedstrings" not in name.casefold()):
        data = archive.read(name)  # every member: a relation may call any of them a sheet
        if any(int(count) > len(data) for tag in _SHARED_TABLE.findall(data[:_PIECE]) for count in _COUNT.findall(tag)):
            raise _counts_too_many(path)
        size = _xlsb_size if name.endswith(".bin") else _xlsx_size
        area, text = size(data, lengths)
        if area < 0:
            raise _counts_too_many(path)
        _refuse(path, repr(name), area, MAX_CELLS)
        _refuse_text(path, text)


def _refuse(path: Path, what: str, area: int, most: int) -> None:
    if area > most:
        raise DocumentError(
            f"{path}: refused: {what} has {area:,} places in {_CORNERS}, more than {most:,}; "
            "remove cells that stand far away, or save each sheet as CSV."
        )


def _refuse_malformed(path: Path, data: bytes) -> None:
    """The engine waits for ever for the end of a table that has none."""
    parser = expat.ParserCreate()

    def declared(*_: object) -> None:
        raise DocumentError(f"{path}: refused: its XML declares entities; save it anew.")

    parser.EntityDeclHandler = declared
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:  # the others: an encoding that is none
        raise DocumentError(f"{path}: damaged: not well-formed XML ({error}); fetch or save it again.") from error


def _counts_too_many(path: Path) -> DocumentError:
    """The engine reserves memory for as many shared texts as the file says that it has."""
    return DocumentError(f"{path}: damaged: it names more shared texts than it has bytes for; save it again.")


_SHARED_TABLE = re.compile(rb"<(?:[\w.-]+:)?sst\b([^<>]*+)")
_COUNT = re.compile(rb"""ount\s*=\s*["'](\d{1,30})""")


def _refuse_text(path: Path, characters: int) -> None:
    if characters > MAX_TEXT:
        raise DocumentError(
            f"{path}: refused: a sheet repeats its texts to {characters:,} characters, "
            f"more than {MAX_TEXT:,}; save each sheet as CSV."
        )


# ---------------------------------------------------------------- XLSX

_PIECE = 2**22  # bytes looked at in one go
_REFERENCE = re.compile(rb"""\sr\s*=\s*["'](?:([A-Za-z]{1,9})|)(\d{1,18})["']""")
# Attributes with their quotes, where ">" and "<" may stand; possessive, so that time stays linear on any bytes.
_ATTRIBUTES = rb"""((?:[^<>"']|"[^"]*"|'[^']*')*+)>"""
_CELL = re.compile(rb"<(?:[\w.-]+:)?c(?=[\s>/])" + _ATTRIBUTES)


def _xlsx_size(data: bytes, lengths: list[int]) -> tuple[int, int]:
    """The places of a sheet (0 for a large one that is within the limit), and the characters of its shared texts.

    ``lengths`` are those of the shared texts; the member that holds them comes first and fills the list.
    """
    if not lengths and b"<si" in data:
        lengths += _shared_lengths(data)
    if b"<row" not in data and b":row" not in data:
        return 0, 0
    text = len(_IS_SHARED.findall(data)) * max(lengths, default=0)
    if text > MAX_TEXT:
        text = _shared_text(data, lengths)
    if _fits(data):
        return 0, text
    area = _area(data)
    return area if area <= MAX_CELLS else _filled_area(data), text  # which takes longer


def _shared_lengths(data: bytes) -> list[int]:
    """The length of each shared text, in bytes with its tags."""
    starts = [match.end() for match in _ITEM.finditer(data)]
    return [end - start for start, end in pairwise([*starts, len(data)])]


_ITEM = re.compile(rb"<(?:\w+:)?si(?=[\s>])")
_IS_SHARED = re.compile(rb"""\st\s*=\s*["']s["']""")
_SHARED = re.compile(rb"<(?:[\w.-]+:)?v>\s*(\d{1,9})")


def _fits(data: bytes) -> bool:
    """Whether one search shows that no cell lies outside of a small enough rectangle, however many cells there are.

    That needs the usual spelling of all tags: each cell is ``<c r="...``, each row ``<row r="...``.
    """
    usual = data.count(b'<c r="') + data.count(b'<row r="')
    if len(data) < _PIECE or usual != len(_TAG.findall(data)):
        return False
    rows = max(map(int, _ROW.findall(data)), default=1)
    columns = MAX_CELLS // rows
    if not columns:
        return False
    outside = rb'<c r="(?:%b|[A-Z]+%b)' % (_later_column(columns), _larger(rows))
    return re.search(outside, data) is None


_TAG = re.compile(rb"<(?:[\w.-]+:)?(?:c|row)(?=[\s/>])")
_ROW = re.compile(rb'<row r="(\d{1,10})"')


def _larger(number: int) -> bytes:
    """A pattern for the whole numbers above a number, up to the quote behind them."""
    digits = str(number)
    same = (f"{digits[:i]}[{int(d) + 1}-9][0-9]{{{len(digits) - i - 1}}}" for i, d in enumerate(digits) if d != "9")
    return f'(?:{"|".join([f"[0-9]{{{len(digits) + 1},}}", *same])})"'.encode()


def _later_column(number: int) -> bytes:
    """A pattern for the names of columns behind the first ``number`` of them (A is the first)."""
    name = ""
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    same = (f"{name[:i]}[{chr(ord(c) + 1)}-Z][A-Z]{{{len(name) - i - 1}}}" for i, c in enumerate(name) if c != "Z")
    return f"(?:{'|'.join([f'[A-Z]{{{len(name) + 1},}}', *same])})[0-9]".encode()


def _area(data: bytes) -> int:
    found = _Rectangle()
    for piece in _pieces(data):
        places = set(_REFERENCE.findall(piece))
        found.grow(
            map(int, {row for _, row in places}), map(column_number, {letters for letters, _ in places if letters})
        )
    return found.area


def _filled_area(data: bytes) -> int:
    """The same for cells with content only."""
    found = _Rectangle()
    for cell in _CELL.finditer(data):
        place = _REFERENCE.search(b" " + cell[1])
        if place and place[1] and not cell[1].endswith(b"/") and data[cell.end() : cell.end() + 2] != b"</":
            found.grow((int(place[2]),), (column_number(place[1]),))
    return found.area


def _shared_text(data: bytes, lengths: list[int]) -> int:
    """The characters of the shared texts of all cells; one whose text is not found at once counts as the longest."""
    total, longest = 0, max(lengths, default=0)
    for cell in _CELL.finditer(data):
        if _IS_SHARED.search(cell[1]):
            found = _SHARED.search(data, cell.end(), cell.end() + 1000)
            number = int(found[1]) if found else -1
            total += lengths[number] if 0 <= number < len(lengths) else longest
    return total


def _pieces(data: bytes) -> Iterator[bytes]:
    """Parts that end with a tag."""
    start = 0
    while start < len(data):
        end = data.find(b">", start + _PIECE) + 1 or len(data)
        yield data[start:end]
        start = end


def column_number(letters: bytes) -> int:
    """The number of a column, counted from 0, by its name: A is 0, AA is 26."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number - 1


# ---------------------------------------------------------------- ODS

_ODS = re.compile(rb"<table:(table-row|table-cell|covered-table-cell|table)(?=[\s/>])" + _ATTRIBUTES)
_ROWS = re.compile(rb"""table:number-rows-repeated\s*=\s*["'](\d{1,12})""")
_COLUMNS = re.compile(rb"""table:number-columns-repeated\s*=\s*["'](\d{1,12})""")


def _ods_size(data: bytes) -> tuple[int, int]:
    """Of the largest sheet the rows down to the last with text, times its widest row; the characters of all sheets."""
    most = text = row = repeat = column = bottom = right = last = 0
    times = 0  # that the cell before is repeated, over rows and columns
    for tag in _ODS.finditer(data):
        kind, attributes = tag.groups()
        closed = attributes.endswith(b"/")
        text, times, last = text + times * (tag.start() - last), 0, tag.end()
        if kind == b"table":
            most, row, repeat, bottom, right = max(most, bottom * right), 0, 0, 0, 0
        elif kind == b"table-row":
            row, column, repeat = row + repeat, 0, _repeat(_ROWS, attributes)
        else:
            column += _repeat(_COLUMNS, attributes)
            if not closed or b"value" in attributes:
                bottom, right = max(bottom, row + repeat), max(right, column)
                times = repeat * _repeat(_COLUMNS, attributes) if not closed else 0
    text += times * (len(data) - last)
    return max(most, bottom * right), text // 2  # about half of it is tags


def _repeat(name: re.Pattern[bytes], attributes: bytes) -> int:
    found = name.search(attributes)
    return int(found[1]) if found else 1


# ---------------------------------------------------------------- XLSB and XLS


def _xlsb_size(data: bytes, lengths: list[int]) -> tuple[int, int]:
    """The places and the characters of a binary sheet, by its records (MS-XLSB); ``lengths`` as for XLSX.

    Record 0 begins a row, 2 to 11 are filled cells, 7 a cell with a shared text, 19 a shared text.
    """
    found, row, text, place = _Rectangle(), 0, 0, 0
    while place + 2 <= len(data):
        kind, place = _varint(data, place, 2)
        size, place = _varint(data, place, 4)
        if size >= 4 and place + 12 <= len(data):
            number, second, shared = struct.unpack_from("<III", data, place)
            if kind == 0:
                row = number
            elif 1 < kind <= 11:
                found.grow((row,), (number,))
                text += lengths[shared] if kind == 7 and shared < len(lengths) else 0
            elif kind == 159 and max(number, second) > len(data):
                return -1, 0
            elif kind == 19:
                lengths.append(struct.unpack_from("<I", data, place + 1)[0])
        place += size
    return found.area, text


def _varint(data: bytes, place: int, longest: int) -> tuple[int, int]:
    """Seven bits a byte, the lowest first; the value and the place behind it."""
    value = 0
    for shift in range(longest):
        if place >= len(data):
            break
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            break
    return value, place


_XLS_CELLS = frozenset((0x0006, 0x00BD, 0x00D6, 0x00FD, 0x0203, 0x0204, 0x0205, 0x027E))
_XLS_BEGIN, _XLS_DIMENSIONS, _XLS_PASSWORD, _XLS_MANY, _XLS_SHARED = 0x0809, 0x0200, 0x002F, 0x00BD, 0x00FC
_MAX_DECLARED = 2**26


def _check_ole(path: Path) -> None:
    streams = ole_streams(path, ("Workbook", "Book", "EncryptedPackage"))
    if "EncryptedPackage" in streams:
        raise DocumentError(f"{path}: encrypted; save it without a password.")
    if not streams:
        raise DocumentError(
            f"{path}: not what its name says: an old Office file without a workbook; give it the extension of its kind."
        )
    for data in streams.values():
        sheets = [_Rectangle()]
        for kind, content in _xls_records(data):
            if kind == _XLS_PASSWORD:
                raise DocumentError(f"{path}: encrypted; save it without a password.")
            if kind == _XLS_SHARED and len(content) >= 8 and max(struct.unpack_from("<II", content)) > len(data):
                raise _counts_too_many(path)
            if kind == _XLS_BEGIN:
                sheets.append(_Rectangle())
            elif kind in _XLS_CELLS and len(content) >= 4:
                row, column = struct.unpack_from("<HH", content)
                sheets[-1].grow(
                    (row,), (column, *struct.unpack("<H", content[-2:])) if kind == _XLS_MANY else (column,)
                )
            elif kind == _XLS_DIMENSIONS and len(content) >= 12:
                top, bottom, left, right = struct.unpack_from("<IIHH", content)
                if top > bottom or left > right:
                    raise DocumentError(f"{path}: damaged: a sheet ends before it begins; save it again.")
                _refuse(path, "a sheet", (bottom - top + 1) * (right - left + 1), _MAX_DECLARED)
        _refuse(path, "it", sum(sheet.area for sheet in sheets), MAX_CELLS)


def _xls_records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Kind and content of each record (MS-XLS, 2.1.4)."""
    place = 0
    while place + 4 <= len(data):
        kind, size = struct.unpack_from("<HH", data, place)
        yield kind, data[place + 4 : place + 4 + size]
        place += 4 + size

"""One sheet's rows of cells -> its tables and lines of text, as blocks.

A blank row ends a table, and so does a blank column where both sides have a header of their own. A lone cell above a
table is a line of text. Where rows come from and how values are written is left to ``spreadsheet.py``.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from faircut.documents.rows import TableText, is_value, looks_like_header, table_text
from faircut.records import BlockKind

__all__ = ["LONG", "sheet_blocks"]

LONG = 5000
"""Rows from which a table is streamed: its columns and its header are found from the rows so far."""
_HEAD = 50  # rows that are looked at for a header
_DEPTH = 10  # tables beside tables below tables ...

Row = Sequence[str]
Piece = tuple[BlockKind, str]


def sheet_blocks(rows: Iterable[Row]) -> Iterator[Piece]:
    """The kinds and texts of the blocks in a sheet, whose cells are stripped texts. Linear, in one pass.

    Tables from the top, of tables in the same rows first the left. A single blank row inside a table with a header
    does not end it when the next row goes on with values.
    """
    band: list[Row] = []
    blank = 0
    source = iter(rows)
    for row in source:
        if not any(row):
            blank += 1
            continue
        if band and blank and not (blank == 1 and _goes_on(band, row)):
            yield from _blocks(band, _DEPTH)
            band = []
        blank = 0
        band.append(row)
        if len(band) == LONG:
            yield from _stream(band, source)
            band = []
    if band:
        yield from _blocks(band, _DEPTH)


def _goes_on(band: list[Row], row: Row) -> bool:
    first, last = _extent(band[-1:])
    same = _extent([row]) == (first, last) and last - first > 1
    values = any(is_value(cell) for cell in row[first + 1 :] if cell)
    return same and len(band) > 2 and values and not looks_like_header([row])


def _extent(rows: Sequence[Row]) -> tuple[int, int]:
    """The first column with text, and the one after the last."""
    filled = [i for row in rows for i, cell in enumerate(row) if cell]
    return (min(filled), max(filled) + 1) if filled else (0, 0)


# ---------------------------------------------------------------- where tables begin and end


def _blocks(rows: Sequence[Row], depth: int) -> Iterator[Piece]:
    sides = _sides(rows) if depth else []
    if not sides:
        yield from _table(rows)
    for start, end in sides:
        parts = [row[start:end] for row in rows]
        for filled, group in groupby(parts, key=any):
            if filled:
                yield from _blocks(list(group), depth - 1)


def _sides(rows: Sequence[Row]) -> list[tuple[int, int]]:
    """The ranges of columns of tables that stand side by side; none when there is one table.

    A blank column alone does not part tables: many sheets have blank columns for the look of it.
    """
    filled = _filled_columns(rows)
    gaps = [(a + 1, b) for a, b in pairwise(filled) if b > a + 1]
    cuts = [filled[0]]
    for number, (gap, right) in enumerate(gaps):
        end = gaps[number + 1][0] if number + 1 < len(gaps) else filled[-1] + 1
        if _has_header(rows, cuts[-1], gap) and _has_header(rows, right, end):
            cuts.append(right)
    return list(pairwise([*cuts, filled[-1] + 1])) if len(cuts) > 1 else []


def _filled_columns(rows: Sequence[Row]) -> list[int]:
    return sorted({i for row in rows for i, cell in enumerate(row) if cell})


def _has_header(rows: Sequence[Row], start: int, end: int) -> bool:
    """Whether these columns are a table on their own: two columns or more, each with a name in the first row."""
    own = [row[start:end] for row in rows if any(row[start:end])]
    columns = _filled_columns(own)
    return len(own) > 1 and len(columns) > 1 and all(own[0][i] for i in columns) and looks_like_header(own[:_HEAD])


# ---------------------------------------------------------------- one table


def _table(rows: Sequence[Row]) -> Iterator[Piece]:
    """Lines of text above, then the table without its blank columns; what has one column is text."""
    while len(rows) > 1 and rows[0] == rows[1] and _is_one_text(rows[0]):
        rows = rows[1:]  # one cell merged over several rows
    above = _lines_above(rows)
    yield from (("paragraph", next(filter(None, row))) for row in rows[:above])
    columns = _named_columns(rows[above:])
    body = [[row[i] for i in columns] for row in rows[above:]]
    if len(body) == 1 and _is_one_text(body[0]):
        yield "paragraph", next(filter(None, body[0]))
    elif len(columns) == 1 and not (len(body) > 2 and looks_like_header(body) and is_value(body[-1][0])):
        yield "paragraph", "\n".join(row[0] for row in body)
    elif columns:
        names = _header_rows(body)
        header = [_names(body[:names])] if names else []
        yield "table", table_text([*header, *body[names:]], header=bool(names))


def _lines_above(rows: Sequence[Row]) -> int:
    """Rows at the top with one text, at the left or merged over the table, while more columns follow below."""
    first, last = _extent(rows)
    above = 0
    while last - first > 1 and above < len(rows) - 1 and _is_one_text(rows[above]):
        if rows[above][first] in ("", rows[above + 1][first]):  # a header over some columns; a cell over several rows
            break
        above += 1
        first, last = _extent(rows[above:])
    return above


def _is_one_text(row: Row) -> bool:
    return len({*row} - {""}) == 1


def _named_columns(rows: Sequence[Row]) -> list[int]:
    """The columns with text, without those that have no name and only repeat what is merged over them."""
    filled = _filled_columns(rows)
    copies = [
        b for a, b in pairwise(filled) if not rows[0][b] and b == a + 1 and all(row[b] in ("", row[a]) for row in rows)
    ]
    return [column for column in filled if column not in copies]


def _header_rows(body: Sequence[Row]) -> int:
    """0, 1, or 2 when cells of the first row are merged over several names below."""
    merged = any(a == b != "" for a, b in pairwise(body[0]))
    if merged and len(body) > 2 and _are_names(body[0]) and _are_names(body[1]):
        return 2
    return 1 if len(body) > 1 and looks_like_header(body[:_HEAD]) else 0


def _are_names(row: Row) -> bool:
    return not any(is_value(cell) and not cell.isdigit() for cell in row if cell)


def _names(header: Sequence[Row]) -> list[str]:
    """The names of the columns; those in two rows are joined, as ``building.pipe_table`` does."""
    return [" / ".join(dict.fromkeys(filter(None, column))) for column in zip(*header, strict=True)]


def _stream(head: list[Row], rest: Iterator[Row]) -> Iterator[Piece]:
    """A long table: what was found in its first rows holds for all of them, up to the next blank row."""
    above = _lines_above(head)
    yield from (("paragraph", next(filter(None, row))) for row in head[:above])
    first, _ = _extent(head)
    sides = _sides(head[above:]) or [(first, len(head[0]))]
    starts = [first, *(start for start, _ in sides[1:]), None]
    tables = []
    for start, end in pairwise(starts):
        table = TableText()
        own = [row[start:end] for row in head[above:] if any(row[start:end])]
        if not looks_like_header(own[:_HEAD]):
            table.add_empty_header()
        tables.append((slice(start, end), table))
    for row in _until_blank(head[above:], rest):
        for columns, table in tables:
            table.add(row[columns])
    yield from (("table", table.text()) for _, table in tables)


def _until_blank(head: Sequence[Row], rest: Iterator[Row]) -> Iterator[Row]:
    yield from head
    for row in rest:
        if not any(row):
            return
        yield row

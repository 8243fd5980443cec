"""Rows of text fragments -> tables without drawn lines, known by columns that stay clear from row to row.

Two columns of prose look alike and are refused by the length of their pieces; lists by their marks.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median, pstdev

from faircut.documents.pdf_layout import Row, join_row
from faircut.documents.pdf_lists import is_marker
from faircut.documents.pdf_page import Line, Table

__all__ = ["aligned_tables"]

Column = tuple[float, float]
_MIN_ROWS = 3


def aligned_tables(rows: Sequence[Row]) -> list[Line | Table]:
    """The region's rows as joined lines and tables, in order."""
    result: list[Line | Table] = []
    start = 0
    while start < len(rows):
        end = _stretch(rows, start)
        table = _table(rows[start:end]) if end - start >= _MIN_ROWS else None
        if table:
            result.append(table)
            start = end
        else:
            result.append(join_row(rows[start]))
            start += 1
    return result


def _stretch(rows: Sequence[Row], start: int) -> int:
    """The end of the stretch of rows that may be a table: pieces beside each other, rows near each other."""
    if len(rows[start]) < 2:
        return start + 1
    end = last = start + 1
    while end < len(rows) and _gap(rows[end - 1], rows[end]) < 1.9 * rows[end][0].size:
        if len(rows[end]) >= 2:
            last = end + 1
        elif end - last >= 2 or not _fits(rows[end][0], rows[start:last]):
            break
        end += 1
    return last


def _fits(line: Line, rows: Sequence[Row]) -> bool:
    """Whether a single piece stays inside one column of the rows before it: a cell, not a sentence below them."""
    widest = max(rows[-3:], key=len)
    return sum(line.left < a.right and a.left < line.right for a in widest) <= 1 and line.mono == widest[0].mono


def _gap(above: Row, below: Row) -> float:
    return min(a.top for a in below) - max(a.bottom for a in above)


def _table(rows: Sequence[Row]) -> Table | None:
    columns = _columns(rows)
    if len(columns) < 2 or _is_prose(rows, columns) or all(a.mono for row in rows for a in row):
        return None
    if sum(len(row) >= 2 for row in rows) < 0.7 * len(rows) or all(is_marker(row[0].text) for row in rows):
        return None
    places = [[_column(a, columns) for a in row] for row in rows]
    if not _is_straight(rows, places, len(columns)):
        return None
    cells = _without_wraps(rows, [_cells(row, p, len(columns)) for row, p in zip(rows, places, strict=True)])
    if len(cells) < 2:
        return None
    flat = [a for row in rows for a in row]
    box = min(a.left for a in flat), min(a.top for a in flat), max(a.right for a in flat), max(a.bottom for a in flat)
    return Table(tuple(cells), *box, columns=tuple(columns), ruled=False)


def _columns(rows: Sequence[Row]) -> list[Column]:
    """The stretches that text covers in the rows with the most pieces (those that at least a quarter of rows have)."""
    counts = Counter(map(len, rows))
    enough = max(2, len(rows) // 4)
    most = max((n for n, times in counts.items() if n >= 2 and times >= enough), default=max(counts))
    covered: list[Column] = []
    for left, right in sorted((a.left, a.right) for row in rows if len(row) >= most for a in row):
        if covered and left <= covered[-1][1] + 1.0:
            covered[-1] = covered[-1][0], max(covered[-1][1], right)
        else:
            covered.append((left, right))
    return covered


def _column(line: Line, columns: Sequence[Column]) -> list[int]:
    """The columns that a piece stands in: those that it covers more than half of, else the nearest."""
    over = [n for n, (a, b) in enumerate(columns) if min(b, line.right) - max(a, line.left) > 0.5 * (b - a)]
    if over:
        return over
    return [min(range(len(columns)), key=lambda n: max(columns[n][0] - line.right, line.left - columns[n][1]))]


def _is_prose(rows: Sequence[Row], columns: Sequence[Column]) -> bool:
    """Whether nearly all pieces are as long as lines of prose."""
    if len(columns) > 4:
        return False
    lengths = [
        median([len(a.text) for row in rows for a in row if _column(a, columns) == [n]] or [0])
        for n in range(len(columns))
    ]
    return sum(n > 24 for n in lengths) >= len(columns)


def _is_straight(rows: Sequence[Row], places: Sequence[Sequence[list[int]]], count: int) -> bool:
    """Whether most columns are aligned at their left, right or middle."""
    straight = 0
    for n in range(count):
        pieces = [
            a for row, p in zip(rows, places, strict=True) for a, where in zip(row, p, strict=True) if where == [n]
        ]
        edges = ([a.left for a in pieces], [a.right for a in pieces], [(a.left + a.right) / 2 for a in pieces])
        straight += bool(pieces) and min(map(pstdev, edges)) < 0.9 * pieces[0].size
    return straight >= max(2, 0.6 * count)


def _cells(row: Row, places: Sequence[list[int]], count: int) -> list[str]:
    cells = [""] * count
    for line, where in zip(row, places, strict=True):
        for n in where:
            cells[n] = f"{cells[n]} {line.text}".strip()
    return cells


def _without_wraps(rows: Sequence[Row], cells: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Join a row without its first cell to the row above, when it stands nearer to it than rows do."""
    pitches = [_gap(a, b) for a, b in pairwise(rows)]
    usual = median(pitches)
    result: list[list[str]] = []
    for n, row in enumerate(cells):
        wraps = n > 0 and not row[0] and pitches[n - 1] < usual - 1.5 and result
        if wraps:
            result[-1] = [f"{a}\n{b}" if a and b else a or b for a, b in zip(result[-1], row, strict=True)]
        else:
            result.append(list(row))
    return [tuple(row) for row in result]

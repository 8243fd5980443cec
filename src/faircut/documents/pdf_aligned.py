"""Rows of text fragments -> tables without drawn lines, known by columns that stay clear from row to row.

Two columns of prose look alike and are refused by the length of their pieces; lists by their marks.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median, pstdev

from faircut.documents.pdf_layout import Row, join_row
from faircut.documents.pdf_lists import is_marker, marker
from faircut.documents.pdf_page import Line, Table

__all__ = ["aligned_tables"]

Column = tuple[float, float]
_MIN_ROWS = 3
_HEAD = 2  # rows of a page's head above a table that goes on
_RELATIONS = frozenset("=≡≈≠<>≤≥→↦⇒⇔∈~ ")
_MAX_SINGLES = 4  # rows with one piece between those with several


def aligned_tables(rows: Sequence[Row], before: Table | None = None) -> list[Line | Table]:
    """The region's rows as joined lines and tables, in order; ``before`` is the table with which the last page ends."""
    fine = [[a for line in row for a in (line.parts if not line.mono and line.parts else (line,))] for row in rows]
    result: list[Line | Table] = []
    start = 0
    while start < len(rows):
        end = _stretch(fine, start, goes_on=before is not None and start == 0)
        table = _table(fine[start:end]) if end - start >= _MIN_ROWS else None
        if not table and before and start <= _HEAD and end > start + (len(fine[start]) < 2):
            table = _rest_of(before, fine[start:end])
        if table:
            result.append(table)
            start = end
        else:
            result.append(join_row(rows[start]))
            start += 1
    return result


def _stretch(rows: Sequence[Row], start: int, *, goes_on: bool = False) -> int:
    """The end of the stretch of rows that may be a table: pieces beside each other, rows near each other.

    Where a table ``goes_on`` from the page before, its first row may be the first line of a cell alone.
    """
    alone = goes_on and start + 1 < len(rows) and len(rows[start + 1]) >= 2
    if len(rows[start]) < 2 and not alone and not _is_beside(rows, start):
        return start + 1
    end = last = start + 1
    while end < len(rows) and _is_near(rows[end - 1], rows[end : end + 2]) and not _is_item(rows[end]):
        if len(rows[end]) >= 2:
            last = end + 1
        elif end - last >= _MAX_SINGLES or not _fits(rows[end][0], rows[start:last]):
            break
        end += 1
    return _with_last_cells(rows, start, last)


def _is_near(above: Row, below: Sequence[Row]) -> bool:
    """Whether a row may belong to the table of the next two: a heading or table in larger type does not."""
    size = max(row[0].size for row in below)
    return _gap(above, below[0]) < 1.9 * below[0][0].size and above[0].size < 1.12 * size


def _is_beside(rows: Sequence[Row], n: int) -> bool:
    """Whether a single piece is the first line of a high cell, with the middle of its row beside it."""
    return n + 1 < len(rows) and len(rows[n + 1]) >= 2 and _gap(rows[n], rows[n + 1]) < -0.1 * rows[n][0].size


def _is_item(row: Row) -> bool:
    mark = marker(f"{row[0].text} x")
    return mark is not None and mark.kind not in ("number", "letter", "-")


def _with_last_cells(rows: Sequence[Row], start: int, end: int) -> int:
    """Take in the lines with which the last cells go on: below a column that is not the first, and near."""
    left = min(row[0].left for row in rows[start:end])
    usual = median([_gap(a, b) for a, b in pairwise(rows[start:end])] or [0.0])
    while end < len(rows) and len(rows[end]) == 1 and _fits(rows[end][0], rows[start:end]):
        gap = _gap(rows[end - 1], rows[end])
        inner = rows[end][0].left > left + 2 * rows[end][0].size and gap < 0.5 * rows[end][0].size
        if not inner and gap > usual - 1.5:
            break
        end += 1
    return end


def _fits(line: Line, rows: Sequence[Row]) -> bool:
    """Whether a single piece stays inside one column of the rows before it: a cell, not a sentence below them."""
    widest = max(rows[-_MAX_SINGLES - 1 :], key=len)
    alike = not line.mono or any(a.mono for row in rows for a in row)  # code below a table is none of it
    alike = alike and abs(line.size - widest[0].size) < 0.1 * line.size
    return alike and sum(line.left < a.right and a.left < line.right for a in widest) <= 1


def _gap(above: Row, below: Row) -> float:
    return min(a.top for a in below) - max(a.bottom for a in above)


def _table(rows: Sequence[Row]) -> Table | None:
    columns = _columns(rows)
    if len(columns) < 2 or _is_prose(rows, columns) or all(a.mono for row in rows for a in row):
        return None
    if _is_justified(rows, columns):
        return None
    if _are_items(rows, columns):
        return None
    places = [[_column(a, columns) for a in row] for row in rows]
    if not _is_straight(rows[1:], places[1:], len(columns)):  # names of columns may be centred over them
        return None
    cells = _by_cells(rows, places, len(columns))
    many = sum(len(row) >= 2 for row in rows) >= 0.7 * len(rows)
    if not many and not _is_sure(cells):
        return None
    if not cells:
        if not many:
            return None
        cells = _without_wraps(rows, [_cells(row, p, len(columns)) for row, p in zip(rows, places, strict=True)])
    if len(cells) < 2:
        return None
    flat = [a for row in rows for a in row]
    box = min(a.left for a in flat), min(a.top for a in flat), max(a.right for a in flat), max(a.bottom for a in flat)
    return Table(tuple(cells), *box, columns=tuple(columns), ruled=False)


def _are_items(rows: Sequence[Row], columns: Sequence[Column]) -> bool:
    """Whether the first column holds nothing but the marks of a list, or the signs that formulas begin with."""
    first = [row[0].text for row in rows if _column(row[0], columns) == [0]]
    return all(map(is_marker, first)) or all(set(text) <= _RELATIONS for text in first)


def _rest_of(before: Table, rows: Sequence[Row]) -> Table | None:
    """The last rows of a table, too few to be one by themselves: each piece begins where a column of it does."""
    flat = [a for row in rows for a in row]
    lefts = [left for left, _ in before.columns]
    places = [[[n for n, left in enumerate(lefts) if abs(a.left - left) < 1.5][:1] for a in row] for row in rows]
    if before.ruled or not all(where for row in places for where in row) or max(map(len, rows)) < len(lefts):
        return None
    cells = _by_cells(rows, places, len(lefts)) or [
        tuple(_cells(row, p, len(lefts))) for row, p in zip(rows, places, strict=True)
    ]
    box = min(a.left for a in flat), min(a.top for a in flat), max(a.right for a in flat), max(a.bottom for a in flat)
    return Table(tuple(cells), *box, columns=before.columns, ruled=False)


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
    return _clear(covered, rows)


def _clear(columns: list[Column], rows: Sequence[Row]) -> list[Column]:
    """Join columns whose gap is written over, from one into the other, in a third of the rows with several pieces."""
    kept = columns[:1]
    for left, right in columns[1:]:
        crossing = sum(a.left < kept[-1][1] - 1 and left + 1 < a.right for row in rows for a in row)
        if 3 * crossing > sum(len(row) >= 2 for row in rows):
            kept[-1] = kept[-1][0], right
        else:
            kept.append((left, right))
    return kept


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


def _is_justified(rows: Sequence[Row], columns: Sequence[Column]) -> bool:
    """Whether most rows have no gap wider than wide word spaces, and their pieces are not one to a column.

    Between two straight edges word spaces can be wider still.
    """
    several = [row for row in rows if len(row) >= 2]
    if len(several) >= _MIN_ROWS and all(len(row) == len(columns) for row in several):
        return False
    left, right = min(row[0].left for row in rows), max(row[-1].right for row in rows)
    full = sum(row[0].left - left < 3 and right - row[-1].right < 3 for row in several)
    widest = 2.0 if full >= max(2, 0.3 * len(several)) else 1.0
    tight = sum(all(b.left - a.right <= widest * b.size for a, b in pairwise(row)) for row in several)
    return tight > 0.5 * len(several)


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


def _is_sure(cells: Sequence[Sequence[str]]) -> bool:
    """Whether rows found by the distance of their lines are a table: three with several cells, most with the first."""
    several = sum(sum(map(bool, row)) >= 2 for row in cells)
    return several >= _MIN_ROWS and sum(bool(row[0]) for row in cells) >= 0.8 * len(cells)


def _by_cells(rows: Sequence[Row], places: Sequence[Sequence[list[int]]], count: int) -> list[tuple[str, ...]]:
    """Rows whose cells have several lines: lines near each other in a column are a cell, cells side by side a row.

    Nothing where rows cannot be told from lines by their distance, or a cell stands beside several of one column.
    """
    columns = _lines_of(rows, places, count)
    if columns is None:
        return []
    steps = [b.bottom - a.bottom for lines in columns for a, b in pairwise(lines)]
    size = rows[0][0].size
    near = 1.12 * min((s for s in steps if s > 0.8 * size), default=0.0) + 0.5
    if not near < 1.7 * size or not any(s > near + 0.5 for s in steps) or _are_full(rows, near, count):
        return []
    cells: list[tuple[int, list[Line]]] = []
    for n, lines in enumerate(columns):
        for k, line in enumerate(lines):
            if k and line.bottom - lines[k - 1].bottom <= near:
                cells[-1][1].append(line)
            else:
                cells.append((n, [line]))
    return _side_by_side(cells, count)


def _lines_of(rows: Sequence[Row], places: Sequence[Sequence[list[int]]], count: int) -> list[list[Line]] | None:
    """The lines of each column from the top; ``None`` where a piece stands over several columns."""
    columns: list[list[Line]] = [[] for _ in range(count)]
    for row, where in zip(rows, places, strict=True):
        here: dict[int, list[Line]] = {}
        for line, over in zip(row, where, strict=True):
            if len(over) > 1:
                return None
            here.setdefault(over[0], []).append(line)
        for n, pieces in here.items():
            columns[n].append(join_row(pieces))
    return columns


def _are_full(rows: Sequence[Row], near: float, count: int) -> bool:
    """Whether most rows that stand near the one before fill all columns as it does: rows of their own, in groups."""
    near_pairs = [(a, b) for a, b in pairwise(rows) if max(x.bottom for x in b) - max(x.bottom for x in a) <= near]
    return sum(min(len(a), len(b)) >= count for a, b in near_pairs) > 0.6 * len(near_pairs)


def _side_by_side(cells: list[tuple[int, list[Line]]], count: int) -> list[tuple[str, ...]]:
    """Rows of cells that overlap in height; nothing where two of one column would come together."""
    cells.sort(key=lambda c: c[1][0].top)
    rows: list[dict[int, list[Line]]] = []
    foot = float("-inf")
    for n, lines in cells:
        if not rows or lines[0].top > foot - 0.3 * lines[0].size:
            rows.append({})
            foot = lines[-1].bottom
        elif n in rows[-1]:
            return []
        rows[-1][n] = lines
        foot = max(foot, lines[-1].bottom)
    return [tuple("\n".join(a.text for a in row.get(n, ())) for n in range(count)) for row in rows]


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

"""Runs of a page -> lines in reading order, by cutting the page at its gutters and bands (recursive XY-cut).

After Nagy and Seth (1984), with two changes: a gutter may be crossed by titles, which divide the columns into bands,
and a gutter between the cells of a table is none. Tables with ruled lines are found before and are boxes here.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from faircut.documents.pdf_bidi import has_right_to_left, is_right_to_left
from faircut.documents.pdf_page import Line, Table

__all__ = ["CELL_GAP", "Box", "Row", "fragments", "join_row", "regions", "rows_of"]

Box = Line | Table
Row = list[Line]
Region = list[Row] | Table  # rows of fragments from top to bottom, or a table that was found before

MAX_DEPTH = 40
CELL_GAP = 0.35  # of the size of type: wider than most spaces, narrower than what divides cells
_FEW = 0.04  # of the boxes at the fullest place; as few as that may stand in a gutter
_STEP = 2.0  # points; the raster on which gutters are looked for


# ---------------------------------------------------------------- fragments


def fragments(runs: Iterable[Line]) -> list[Line]:
    """Runs joined along their line, until a gap that is wider than a word space can be (one em)."""
    done: list[Line] = []
    for row in rows_of(runs):
        done += _joined(row)
    return done


def rows_of(lines: Iterable[Line]) -> list[Row]:
    """Lines that share a baseline, from top to bottom, each row from left to right.

    A row takes what overlaps it by half of the smaller height; tall boxes (with superscripts) do not chain rows.
    """
    rows: list[Row] = []
    for line in sorted(lines, key=lambda a: (a.bottom, a.left)):
        for row in reversed(rows[-4:]):
            if _overlap(row[0], line) >= 0.55 * min(row[0].height, line.height):
                row.append(line)
                break
        else:
            rows.append([line])
    for row in rows:
        row.sort(key=lambda a: a.left)
    rows.sort(key=lambda r: min(a.top for a in r) + max(a.bottom for a in r))
    return rows


def _overlap(a: Line, b: Line) -> float:
    return min(a.bottom, b.bottom) - max(a.top, b.top)


def _joined(row: Row) -> list[Line]:
    parts: list[Row] = []
    for line in row:
        if parts and line.left - max(a.right for a in parts[-1]) <= 1.0 * max(line.size, parts[-1][-1].size):
            parts[-1].append(line)
        else:
            parts.append([line])
    return [_with_parts(part) for part in parts]


def _with_parts(row: Row) -> Line:
    """The pieces as one line that remembers where the gaps are that may divide cells."""
    pieces: list[Row] = [row[:1]]
    right = row[0].right
    for line in row[1:]:
        if line.left - right > CELL_GAP * line.size:
            pieces.append([])
        pieces[-1].append(line)
        right = max(right, line.right)
    whole = join_row(row)
    return whole if len(pieces) == 1 else replace(whole, parts=tuple(map(join_row, pieces)))


def join_row(row: Sequence[Line]) -> Line:
    """One line of several pieces; a space where there is a gap, in right-to-left text read from the right."""
    if len(row) == 1:
        return row[0]
    ordered = list(row)
    if any(not a.text.isascii() and any(map(is_right_to_left, a.text)) for a in row):
        ordered.reverse()
    cell = _cell_width(row)
    text = ordered[0].text
    for before, line in pairwise(ordered):
        cells = round((line.left - before.left) / cell) - len(before.text) if cell else 0
        text += " " * max(_spaces(before, line), cells) + line.text
    main = max(row, key=lambda a: len(a.text))
    letters = sum(len(a.text) for a in row)
    return replace(
        main,
        text=text,
        left=min(a.left for a in row),
        top=min(a.top for a in row),
        right=max(a.right for a in row),
        bottom=max(a.bottom for a in row),
        bold=sum(len(a.text) for a in row if a.bold) > 0.9 * letters,
        mono=sum(len(a.text) for a in row if a.mono) > 0.9 * letters,
    )


def _cell_width(row: Sequence[Line]) -> float:
    """How wide each character of a monospaced row is; 0 in other rows, and where it cannot be known."""
    if not all(a.mono for a in row):
        return 0.0
    longest = max(row, key=lambda a: len(a.text))
    width = longest.width / len(longest.text)
    usual = 0.6 * longest.size
    # The box of a divided run ends before the last character's cell does.
    if abs(width - usual) < (0.005 + 0.4 / len(longest.text)) * usual:
        return usual
    return width if len(longest.text) > 5 else 0.0


def _spaces(before: Line, line: Line) -> int:
    gap = max(line.left - before.right, before.left - line.right)
    return int(gap > 0.12 * min(line.size, before.size))


# ---------------------------------------------------------------- cutting


def regions(boxes: Sequence[Box], depth: int = 0) -> list[Region]:
    """The regions of a page in reading order."""
    if not boxes:
        return []
    right_first = _reads_from_right(boxes)
    gutter = _gutter(boxes) if depth < MAX_DEPTH else None
    if gutter is None:
        return _leaf(boxes)
    result: list[Region] = []
    for band, are_columns in _joined_bands(boxes, gutter):
        if are_columns:
            left, right = [b for b in band if b.right <= gutter], [b for b in band if b.left >= gutter]
            first, second = (right, left) if right_first else (left, right)
            result += regions(first, depth + 1) + regions(second, depth + 1)
        elif len(band) == len(boxes):
            result += _leaf(band)
        else:
            result += regions(band, depth + 1)
    return result


def _joined_bands(boxes: Sequence[Box], gutter: float) -> list[tuple[list[Box], bool]]:
    """The bands, and whether they are columns; those between columns together, so that no table is cut by its rows."""
    joined: list[tuple[list[Box], bool]] = []
    for band in _bands(boxes, gutter):
        are_columns = _is_column_band(band, gutter)
        if joined and not are_columns and not joined[-1][1]:
            joined[-1][0].extend(band)
        else:
            joined.append((band, are_columns))
    return joined


def _leaf(boxes: Sequence[Box]) -> list[Region]:
    """Tables, and the rows between them."""
    tables = sorted((b for b in boxes if isinstance(b, Table)), key=lambda t: t.top)
    lines = [b for b in boxes if isinstance(b, Line)]
    result: list[Region] = []
    for table in tables:
        above = [a for a in lines if a.middle < table.top or (a.middle < table.bottom and a.right < table.left)]
        lines = [a for a in lines if a not in above]
        result += [rows_of(above)] if above else []
        result.append(table)
    return [*result, rows_of(lines)] if lines else result


def _reads_from_right(boxes: Sequence[Box]) -> bool:
    texts = [b.text for b in boxes if isinstance(b, Line)]
    return sum(map(has_right_to_left, texts)) > 0.5 * len(texts)


def _gutter(boxes: Sequence[Box]) -> float | None:
    """The place between two columns that the fewest boxes cross; ``None`` where there are no columns."""
    left, right = min(b.left for b in boxes), max(b.right for b in boxes)
    cells = int((right - left) / _STEP)
    if cells < 10 or len(boxes) < 4:
        return None
    crossing = [0] * (cells + 2)
    for box in boxes:
        crossing[max(int((box.left - left) / _STEP), 0)] += 1
        crossing[min(int((box.right - left) / _STEP) + 1, cells + 1)] -= 1
    for n in range(1, cells + 2):
        crossing[n] += crossing[n - 1]
    few = int(_FEW * max(crossing))  # a page number between the columns does not divide the gutter
    crossing = [max(n, few) for n in crossing]
    candidates = _valleys(crossing, cells)
    for _, place in sorted(candidates):
        gutter = left + place * _STEP
        if any(_is_column_band(band, gutter) for band in _bands(boxes, gutter)):
            return gutter
    return None


def _valleys(crossing: list[int], cells: int) -> list[tuple[tuple[int, int], float]]:
    """Stretches that fewer boxes cross than the ones beside them: (crossings, width) and their middle."""
    found = []
    start = 1
    for n in range(2, cells + 1):
        if crossing[n] != crossing[start]:
            inner = start > 1 and crossing[start - 1] > crossing[start] < crossing[n]
            if inner and 0.06 * cells < start < 0.94 * cells and n - start >= 2:
                found.append(((crossing[start], start - n), (start + n) / 2))
            start = n
    return sorted(found)[:6]


def _bands(boxes: Sequence[Box], gutter: float) -> list[list[Box]]:
    """Boxes from top to bottom, divided where boxes that cross the gutter begin and end."""
    bands: list[list[Box]] = []
    kind = None
    ordered = sorted(boxes, key=lambda b: (b.top + b.bottom) / 2)
    crossing = [b.left < gutter < b.right for b in ordered]
    for n, box in enumerate(ordered):
        crosses = crossing[n] or any(
            crossing[m] and _beside(ordered[m], box) for m in range(max(n - 3, 0), min(n + 4, len(ordered)))
        )
        if crosses != kind:
            bands.append([])
            kind = crosses
        bands[-1].append(box)
    return bands


def _beside(a: Box, b: Box) -> bool:
    """Whether ``b`` stands on one line with ``a``."""
    return min(a.bottom, b.bottom) - max(a.top, b.top) > 0.55 * (b.bottom - b.top)


def _is_column_band(band: Sequence[Box], gutter: float) -> bool:
    left = [b for b in band if b.right <= gutter]
    right = [b for b in band if b.left >= gutter]
    return len(left) + len(right) == len(band) and bool(left and right) and _are_columns(left, right)


def _are_columns(left: Sequence[Box], right: Sequence[Box]) -> bool:
    """Whether two groups side by side are columns of text, not the cells of a table or bullets with their items."""
    a, b = _rows(left), _rows(right)
    if len(a) + len(b) < 5 or min(len(a), len(b)) < 1:
        return False
    size = median(x.size for x in left + right if isinstance(x, Line)) if a or b else 10.0  # type: ignore[operator]
    widths = [median(r.right - r.left for r in side) for side in (a, b)]
    if min(widths) < 6 * size:
        return False
    if min(len(a), len(b)) < 3 and min(widths) < 15 * size:
        return False
    if not _aligned(a, b):
        return True
    if sum(x.mono for x in a) > 0.5 * len(a) and sum(x.mono for x in b) > 0.5 * len(b):
        return False  # code with its comments
    # Rows that go on over the gutter: prose has long pieces, one on each side; a table has short ones or many.
    pieces = max(_pieces(left, b), _pieces(right, a))
    # Lines of prose are as wide as their column, cells are not.
    ragged = any(median(r.right - r.left for r in side) < 0.6 * max(r.right - r.left for r in side) for side in (a, b))
    return min(widths) >= 11 * size and pieces < 1.6 and not ragged


def _pieces(boxes: Sequence[Box], beside: Sequence[Line]) -> float:
    """How many pieces most rows have on one side, in the height of the other one: justified prose has a few of many."""
    top, bottom = min(a.top for a in beside), max(a.bottom for a in beside)
    near = [b for b in boxes if b.bottom > top and b.top < bottom]
    lines = [sum(max(len(b.parts), 1) for b in row) for row in rows_of(b for b in near if isinstance(b, Line))]
    return median(lines + [1 for b in near if isinstance(b, Table)] or [1])


def _rows(boxes: Sequence[Box]) -> list[Line]:
    lines = [join_row(row) for row in rows_of(b for b in boxes if isinstance(b, Line))]
    tables = [b for b in boxes if isinstance(b, Table)]
    return lines + [Line("", t.left, t.top, t.right, t.bottom, 10.0) for t in tables]


def _aligned(a: Sequence[Line], b: Sequence[Line]) -> bool:
    """Whether most rows of the shorter side stand on a baseline of the other, or between two lines of a cell."""
    few, many = (a, b) if len(a) <= len(b) else (b, a)
    top, bottom = min(r.top for r in many), max(r.bottom for r in many)
    few = [r for r in few if r.bottom > top and r.top < bottom] or few  # what stands above says nothing
    places = sorted(r.bottom for r in many)
    if len(few) <= 8:
        places = sorted([*places, *((x + y) / 2 for x, y in pairwise(places) if y - x < 1.5 * few[0].size)])
    close = 0
    for row in few:
        n = bisect_left(places, row.bottom - 0.25 * row.size)
        close += n < len(places) and places[n] < row.bottom + 0.25 * row.size
    return close >= 0.7 * len(few)

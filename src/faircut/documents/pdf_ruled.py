"""Drawn lines and the text between them -> tables whose cells are ruled.

Cells without a line between them are one merged cell, whose text is repeated in each place that it covers. Tables
without lines are found elsewhere, from the alignment of their text.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from faircut.documents.pdf_bidi import has_right_to_left
from faircut.documents.pdf_layout import fragments, join_row, rows_of
from faircut.documents.pdf_page import Line, Page, Rule, Table, turned

__all__ = ["cell_text", "ruled_tables", "split_rows"]

_NEAR = 3.0  # points; lines whose ends are this near touch, and rules this near are one
MAX_CELLS = 20_000
"""Cells of one grid beyond which it is a drawing (squared paper), not a table."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The places of the rules of one table, and the rules."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    upright: tuple[Rule, ...]
    level: tuple[Rule, ...]


def ruled_tables(rules: Sequence[Rule], lines: Sequence[Line]) -> tuple[list[Table], list[Line]]:
    """The tables, and the lines (runs) that are in none of them."""
    tables: list[Table] = []
    rest = list(lines)
    for grid in _grids(rules):
        inside = [a for a in rest if _inside(grid, a)]
        titles: list[Line] = []
        table = _table(grid, inside, titles) if inside else None
        if table:
            tables.append(table)
            taken = set(map(id, inside)) - set(map(id, titles))
            rest = [a for a in rest if id(a) not in taken]
    return tables, rest


def _inside(grid: Grid, line: Line) -> bool:
    centre = (line.left + line.right) / 2
    return grid.xs[0] - 1 <= centre <= grid.xs[-1] + 1 and grid.ys[0] - 1 <= line.middle <= grid.ys[-1] + 1


# ---------------------------------------------------------------- grids


def _grids(rules: Sequence[Rule]) -> list[Grid]:
    """Groups of rules that touch each other and divide at least two columns, the smallest groups first."""
    grids = []
    for group in _touching(_without_squares(rules)):
        upright = tuple(r for r in group if not r.horizontal)
        level = tuple(r for r in group if r.horizontal)
        xs, ys = _places(r.left for r in upright), _places(r.top for r in level)
        if len(xs) >= 3 and len(ys) >= 2 and len(xs) * len(ys) <= MAX_CELLS:
            grids.append(Grid(xs, ys, upright, level))
    return sorted(grids, key=lambda g: (g.xs[-1] - g.xs[0]) * (g.ys[-1] - g.ys[0]))


def _without_squares(rules: Sequence[Rule]) -> list[Rule]:
    """Without small upright lines that have a level twin at their foot and head: boxes to be ticked."""
    small = [r for r in rules if max(r.right - r.left, r.bottom - r.top) < 14]
    feet = {(round(r.left / 2), round(r.top / 2)) for r in small if r.horizontal}
    ticks = set()
    for rule in small:
        x, y, end = round(rule.left / 2), round(rule.top / 2), round(rule.bottom / 2)
        near = [(x + i, y + j) in feet for i in (-1, 0, 1) for j in (-1, 0, 1)]
        foot = [(x + i, end + j) in feet for i in (-1, 0, 1) for j in (-1, 0, 1)]
        if not rule.horizontal and any(near) and any(foot):
            ticks.add((x, y))
    if not ticks:
        return list(rules)
    return [r for r in rules if r not in small or not _is_tick(r, ticks)]


def _is_tick(rule: Rule, ticks: set[tuple[int, int]]) -> bool:
    x, y, end = round(rule.left / 2), round(rule.top / 2), round(rule.right / 2)
    return any(abs(x - a) <= 1 or abs(end - a) <= 1 for a, b in ticks if abs(y - b) <= 7)


def _touching(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Rules grouped by contact between a level and an upright one: a sweep over the page from the top."""
    parent = list(range(len(rules)))

    def root(n: int) -> int:
        while parent[n] != n:
            parent[n] = parent[parent[n]]
            n = parent[n]
        return n

    upright = sorted((n for n, r in enumerate(rules) if not r.horizontal), key=lambda n: rules[n].left)
    lefts = [rules[n].left for n in upright]
    for n, level in enumerate(rules):
        if not level.horizontal:
            continue
        start, end = bisect_right(lefts, level.left - _NEAR), bisect_right(lefts, level.right + _NEAR)
        for m in upright[start:end]:
            if rules[m].top - _NEAR <= level.top <= rules[m].bottom + _NEAR:
                parent[root(m)] = root(n)
    groups: dict[int, list[Rule]] = {}
    for n, rule in enumerate(rules):
        groups.setdefault(root(n), []).append(rule)
    return [g for g in groups.values() if len(g) > 3]


def _places(values: Iterable[float]) -> tuple[float, ...]:
    """Distinct places; double lines are one."""
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > _NEAR:
            places.append(value)
    return tuple(places)


# ---------------------------------------------------------------- cells


def _table(grid: Grid, lines: Sequence[Line], titles: list[Line]) -> Table | None:
    """The table of a grid; ``None`` where it is a frame around text. Lines of title rows are added to ``titles``."""
    columns, rows = len(grid.xs) - 1, len(grid.ys) - 1
    owner = _merged(grid, rows, columns)
    held: dict[int, list[Line]] = {}
    for line in lines:
        column = min(max(bisect_right(grid.xs, (line.left + line.right) / 2) - 1, 0), columns - 1)
        row = min(max(bisect_right(grid.ys, line.middle) - 1, 0), rows - 1)
        held.setdefault(owner[row * columns + column], []).append(line)
    if _is_frame(owner, held, lines):
        return None
    cells = [[held.get(owner[r * columns + c], []) for c in range(columns)] for r in range(rows)]
    while len(cells) > 2 and _is_title(cells[0]) and owner[0] != owner[columns]:
        titles += cells[0][0]
        del cells[0]
    top = grid.ys[rows - len(cells)]
    cells[:1] = _divided_header(cells[0], grid.xs)
    texts = [_long_once(row) for cells_of_row in cells for row in split_rows(cells_of_row)]
    if _reads_from_right(lines):
        texts = [row[::-1] for row in texts]
    texts, kept = _without_empty(texts, columns)
    if len(texts) < 2 or len(kept) < 2:
        return None
    places = tuple((grid.xs[c], grid.xs[c + 1]) for c in kept)
    return Table(tuple(texts), grid.xs[0], top, grid.xs[-1], grid.ys[-1], places, ruled=True)


def _divided_header(row: list[list[Line]], xs: Sequence[float]) -> list[list[list[Line]]]:
    """The header as two rows, where a cell over several columns ends with a name for each of them."""
    names: list[list[Line]] = [[] for _ in row]
    above = list(row)
    start = 0
    while start < len(row):
        end = start + 1
        while end < len(row) and row[end] is row[start]:
            end += 1
        lines = rows_of(row[start]) if end - start > 1 else []
        last = _in_columns(lines[-1], xs[start : end + 1]) if lines else []
        if last and not any(a.turn for a in row[start]):
            names[start:end] = last
            above[start:end] = [[a for line in lines[:-1] for a in line]] * (end - start)
        start = end
    if not any(names):
        return [row]
    below = [name or cell for name, cell in zip(names, row, strict=True)]
    above = [cell or name for cell, name in zip(above, names, strict=True)]
    return [above, below] if above != below else [below]


def _in_columns(line: Sequence[Line], xs: Sequence[float]) -> list[list[Line]]:
    """The pieces by their columns; nothing where a piece crosses a column's edge or a column has none."""
    places = [bisect_right(xs, (a.left + a.right) / 2) - 1 for a in line]
    inside = all(
        0 <= n < len(xs) - 1 and xs[n] - 2 <= a.left and a.right <= xs[n + 1] + 2
        for a, n in zip(line, places, strict=True)
    )
    found = [[a for a, n in zip(line, places, strict=True) if n == c] for c in range(len(xs) - 1)]
    return found if inside and all(found) else []


def _is_title(row: Sequence[list[Line]]) -> bool:
    """Whether one cell covers the whole row: a title above the header, which belongs to the text."""
    return bool(row[0]) and all(cell is row[0] for cell in row)


def _long_once(row: tuple[str, ...]) -> tuple[str, ...]:
    """A passage that covers a whole row stands in its first place only: repeated in each it would drown the table."""
    whole = len(row[0]) > 60 and len(set(row)) == 1
    return (row[0], *[""] * (len(row) - 1)) if whole else row


def _reads_from_right(lines: Sequence[Line]) -> bool:
    return sum(has_right_to_left(a.text) for a in lines) > 0.5 * len(lines)


def _merged(grid: Grid, rows: int, columns: int) -> list[int]:
    """For each place of the grid the number of the cell that covers it."""
    owner = list(range(rows * columns))

    def root(n: int) -> int:
        while owner[n] != n:
            owner[n] = owner[owner[n]]
            n = owner[n]
        return n

    upright, level = _coverage(grid)
    for r in range(rows):
        for c in range(columns):
            n = r * columns + c
            if c + 1 < columns and not _drawn(upright[c + 1], grid.ys[r], grid.ys[r + 1]):
                owner[root(n + 1)] = root(n)
            if r + 1 < rows and not _drawn(level[r + 1], grid.xs[c], grid.xs[c + 1]):
                owner[root(n + columns)] = root(n)
    return [root(n) for n in range(rows * columns)]


Stretch = tuple[float, float]


def _coverage(grid: Grid) -> tuple[list[list[Stretch]], list[list[Stretch]]]:
    """The drawn stretches at each place of an upright and of a level rule."""
    upright: list[list[Stretch]] = [[] for _ in grid.xs]
    level: list[list[Stretch]] = [[] for _ in grid.ys]
    for rule in grid.upright:
        upright[bisect_right(grid.xs, rule.left + 0.01) - 1].append((rule.top, rule.bottom))
    for rule in grid.level:
        level[bisect_right(grid.ys, rule.top + 0.01) - 1].append((rule.left, rule.right))
    return [_union(s) for s in upright], [_union(s) for s in level]


def _union(stretches: list[Stretch]) -> list[Stretch]:
    joined: list[Stretch] = []
    for start, end in sorted(stretches):
        if joined and start <= joined[-1][1] + _NEAR:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def _drawn(stretches: list[Stretch], start: float, end: float) -> bool:
    """Whether most of the stretch from ``start`` to ``end`` is drawn."""
    n = bisect_right(stretches, (start + end) / 2, key=lambda s: s[0]) - 1
    if n < 0:
        return False
    return min(end, stretches[n][1]) - max(start, stretches[n][0]) >= 0.6 * (end - start)


def _is_frame(owner: list[int], held: dict[int, list[Line]], lines: Sequence[Line]) -> bool:
    """Whether one merged cell holds most of the text of many lines: a box or page frame, not a table."""
    if len(set(owner)) < 2 or len(held) < 2:
        return True
    sizes: dict[int, int] = {}
    for cell in owner:
        sizes[cell] = sizes.get(cell, 0) + 1
    crowded = any(_is_crowded(c) for c in held.values())
    wide = sum(len(held[c]) for c in held if sizes[c] > 1)
    return crowded or (wide > 0.5 * len(lines) and max(map(len, held.values())) > 0.4 * len(lines) > 4)


def _is_crowded(cell: Sequence[Line]) -> bool:
    """Whether a cell has rows of several pieces: a table or columns of its own."""
    if len(cell) < 6:
        return False
    rows = rows_of(fragments(cell))
    return len(rows) >= 3 and sum(map(len, rows)) > 1.5 * len(rows)


def split_rows(cells: Sequence[Sequence[Line]]) -> list[tuple[str, ...]]:
    """The rows of text in one ruled row: where rules divide only the columns, each baseline is a row.

    It is one row unless at least two of its cells have the same three or more baselines, and all others too or none.
    """
    lines = [rows_of(cell) for cell in cells]
    counts = {len(rows) for rows in lines if rows}
    filled = [rows for rows in lines if rows]
    if len(counts) != 1 or min(counts) < 3 or len({id(c) for c in cells if c}) < 2 or not _level(filled):
        return [tuple(cell_text(cell) for cell in cells)]
    return [tuple(join_row(rows[n]).text if rows else "" for rows in lines) for n in range(counts.pop())]


def _level(cells: Sequence[Sequence[Sequence[Line]]]) -> bool:
    first = cells[0]
    return all(abs(a[0].bottom - b[0].bottom) < 2 for rows in cells[1:] for a, b in zip(first, rows, strict=True))


def cell_text(lines: Sequence[Line]) -> str:
    """The lines of a cell from top to bottom; text that is written sideways is read in its own direction."""
    turns = {a.turn for a in lines}
    if len(turns) == 1 and turns != {0}:
        box = Page(0, max(a.right for a in lines), max(a.bottom for a in lines), list(lines))
        lines = turned(box, turns.pop()).runs
    return "\n".join(join_row(row).text for row in rows_of(lines))


def _without_empty(rows: list[tuple[str, ...]], columns: int) -> tuple[list[tuple[str, ...]], list[int]]:
    """Drop rows and columns that no text is in (the space inside double rules), and columns that repeat another.

    Two columns are one when no row tells them apart: a rule that touches the table by chance stands between them.
    """
    kept = [c for c in range(columns) if any(row[c].strip() for row in rows)]
    kept = kept[:1] + [c for b, c in pairwise(kept) if any(row[b] != row[c] for row in rows)]
    return [tuple(row[c] for c in kept) for row in rows if any(cell.strip() for cell in row)], kept

"""Pieces of a web page: paragraphs, items and cells -> lists and tables as the blocks of a document.

A piece is a block to be. Which elements make which pieces is left to ``html_walk.py``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from faircut.documents.building import ListItem, pipe_table
from faircut.records import BlockKind

__all__ = ["Cell", "Item", "Piece", "Row", "Table", "list_pieces", "quote_pieces", "table_pieces"]

MAX_REPEATED = 1_000_000
"""Characters that merged cells may add to a table beyond four times its text; above it they are not repeated."""
MAX_CELL = 2000
"""Characters of a cell of several blocks that make a table without header cells one that only arranges the page."""


@dataclass(slots=True)
class Piece:
    """A block: its kind, text and level, on one line for cells (``flat``) where that is not the text, and its page."""

    kind: BlockKind
    text: str
    level: int | None = None
    flat: str = ""
    page: int | None = None

    @property
    def in_cell(self) -> str:
        """The text as it stands in a table's cell."""
        return self.flat or self.text


@dataclass(slots=True)
class Item:
    """An item of a list: what is in it, its depth and number."""

    pieces: list[Piece]
    depth: int = 0
    number: int | None = None


@dataclass(slots=True)
class Cell:
    """A cell: what is in it, the columns and rows that it covers, whether it heads a row or column."""

    pieces: list[Piece]
    columns: int = 1
    rows: int = 1
    is_header: bool = False
    text: str = field(init=False)
    """All on one line, near enough: pipe tables have no line ends in cells."""

    def __post_init__(self) -> None:
        self.text = " ".join(p.in_cell for p in self.pieces).strip()


@dataclass(slots=True)
class Row:
    """A row with the kind (thead, tbody, tfoot) and the number of the group that it belongs to."""

    section: str
    group: int
    cells: list[Cell] = field(default_factory=list)


@dataclass(slots=True)
class Table:
    """A table as written: its captions, its rows, whether it says that it only arranges the page."""

    rows: list[Row] = field(default_factory=list)
    captions: list[Piece] = field(default_factory=list)
    arranges: bool = False


# ---------------------------------------------------------------- lists and quotes


def list_pieces(items: Sequence[Item]) -> list[Piece]:
    """One list, its nested ones indented; a list of cards (with headings in it) falls into its parts instead."""
    if any(p.kind == "heading" for item in items for p in item.pieces):
        return [p for item in items for p in item.pieces]
    text = "\n".join(line for item in items for line in _lines(item))
    flat = "; ".join(filter(None, map(_flat_item, items)))
    page = next((p.page for item in items for p in item.pieces), None)
    return [Piece("list", text, 1, flat, page)] if text.strip() else []


def _lines(item: Item) -> list[str]:
    """The item's own text after its mark, then nested lists, then text that follows them under the mark."""
    indent = "  " * item.depth
    first = next((n for n, p in enumerate(item.pieces) if p.kind == "list"), len(item.pieces))
    own = ListItem("\n".join(p.text for p in item.pieces[:first]), item.depth, item.number)
    lines = [own.line()] if own.text.strip() else []
    under = indent + " " * (2 if item.number is None else len(f"{item.number}. "))
    rest = item.pieces[first:]
    return lines + [_indented(p.text, indent + "  " if p.kind == "list" else under) for p in rest]


def _indented(text: str, indent: str) -> str:
    return indent + text.replace("\n", "\n" + indent)


def _flat_item(item: Item) -> str:
    text = " ".join(p.in_cell for p in item.pieces)
    return f"{item.number}. {text}" if item.number is not None and text else text


def quote_pieces(pieces: Sequence[Piece]) -> list[Piece]:
    """One quote; what only indents a part of the page (headings or tables in it) keeps its parts."""
    if any(p.kind in ("heading", "table") for p in pieces):
        return [Piece("quote", p.text, None, "", p.page) if p.kind == "paragraph" else p for p in pieces]
    text = "\n\n".join(p.text for p in pieces)
    flat = " ".join(p.in_cell for p in pieces)
    return [Piece("quote", text, None, flat, pieces[0].page)] if pieces else []


# ---------------------------------------------------------------- tables

Slot = tuple[Cell, bool]  # a place of the grid: the cell that covers it, whether it begins there


def table_pieces(table: Table) -> list[Piece]:
    """The captions, then the table; one that only arranges the page falls into what is in its cells."""
    ordered = sorted(table.rows, key=lambda row: row.section == "tfoot")  # it may be written before the body
    pairs = [(row, line) for row, line in zip(ordered, _grid(ordered), strict=True) if any(c.pieces for c in row.cells)]
    rows, grid = [row for row, _ in pairs], _without_empty_columns([line for _, line in pairs])
    if _arranges(table, rows, grid):
        return table.captions + [p for row in rows for cell in row.cells for p in cell.pieces]
    texts = [[cell.text for cell, _ in line] for line in grid]
    flat = "; ".join(", ".join(cell.text for cell, begins in line if begins and cell.text) for line in grid)
    page = next((p.page for row in rows for cell in row.cells for p in cell.pieces), None)
    return [*table.captions, Piece("table", pipe_table(texts, _header_rows(rows)), None, flat, page)]


def _grid(rows: list[Row]) -> list[list[Slot]]:
    """Merged cells repeated in each place that they cover, as long as that stays in proportion."""
    left = MAX_REPEATED + 4 * sum(len(c.text) for row in rows for c in row.cells)
    grid: list[list[Slot]] = []
    hanging: Hanging = {}
    for number, row in enumerate(rows):
        if number and row.group != rows[number - 1].group:
            hanging = {}  # cells end with their group of rows
        left -= sum(cell.columns - 1 for cell in row.cells) + len(hanging)
        if left < 0:
            return [[(cell, True) for cell in row.cells] for row in rows]
        line, hanging = _spread(row, hanging)
        left -= sum(len(cell.text) for cell, begins in line if not begins)
        grid.append(line)
    return grid


Hanging = dict[int, tuple[Cell, int]]  # column -> the cell from above, the rows that it still covers


def _spread(row: Row, above: Hanging) -> tuple[list[Slot], Hanging]:
    """One row of the grid, and what hangs down into the next."""
    line: list[Slot] = []
    below = {column: (cell, rows - 1) for column, (cell, rows) in above.items() if rows > 1}
    for cell in row.cells:
        while len(line) in above:
            line.append((above[len(line)][0], False))
        if cell.rows > 1:
            below |= {len(line) + place: (cell, cell.rows - 1) for place in range(cell.columns)}
        line += [(cell, place == 0) for place in range(cell.columns)]
    for column in sorted(column for column in above if column >= len(line)):
        line += [(_BLANK, False)] * (column - len(line))
        line.append((above[column][0], False))
    return line, below


_BLANK = Cell([])


def _without_empty_columns(grid: list[list[Slot]]) -> list[list[Slot]]:
    """The grid without the columns in which no cell with text begins: spacers, and what only merged cells cover."""
    filled = {n for line in grid for n, (cell, begins) in enumerate(line) if begins and cell.pieces}
    return [[slot for n, slot in enumerate(line) if n in filled] for line in grid]


def _header_rows(rows: list[Row]) -> int:
    """The rows of ``thead``, else the first ones made of header cells; a table of nothing else has one."""
    heads = [row.section == "thead" for row in rows]
    if not any(heads):
        heads = [_is_head(row) for row in rows]
    count = next((n for n, head in enumerate(heads) if not head), len(rows))
    return 1 if count == len(rows) else count


def _is_head(row: Row) -> bool:
    headers = sum(cell.is_header for cell in row.cells)
    return 2 * headers >= len(row.cells) and all(cell.is_header or not cell.pieces for cell in row.cells)


def _arranges(table: Table, rows: list[Row], grid: list[list[Slot]]) -> bool:
    """Whether the table holds no data: pages and mails were laid out so."""
    width = max(map(len, grid), default=0)
    if table.arranges or width * len(grid) > 20 * sum(map(len, grid)) + MAX_REPEATED:
        return True  # as to the second: filling its short rows up would be out of all proportion
    cells = [cell for row in rows for cell in row.cells]
    kinds = {p.kind for cell in cells for p in cell.pieces}
    if "heading" in kinds or not cells:
        return True
    if table.captions or any(cell.is_header for cell in cells) or any(row.section == "thead" for row in rows):
        return False
    long = any(len(cell.pieces) > 2 and len(cell.text) > MAX_CELL for cell in cells)
    listing = any(p.kind == "code" and p.text.count("\n") > 1 for cell in cells for p in cell.pieces)
    one_row = len(rows) == 1 and any(len(c.pieces) > 1 or c.pieces[0].kind != "paragraph" for c in cells if c.pieces)
    return "table" in kinds or long or listing or one_row or width == 1

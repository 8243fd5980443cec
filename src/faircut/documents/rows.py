"""Rows of cells, one at a time -> the text of a pipe table, for tables of a million rows.

The text is that of ``building.pipe_table``; rows and columns without any text are left out. Where the rows come from
is left to the readers.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

__all__ = ["TableText", "is_value", "looks_like_header", "table_text"]

MAX_FILLED = 20_000_000
"""Cells up to which short rows are filled; beyond, they stay short, which Markdown allows."""


@dataclass
class TableText:
    """A pipe table that grows by rows; it keeps their lines only. The first row is the header."""

    _lines: list[str] = field(default_factory=list)
    _counts: list[int] = field(default_factory=list)  # the cells of each line

    def add(self, row: Sequence[str]) -> None:
        """Append a row, unless all its cells are blank."""
        cells = [" ".join(cell.split()).replace("|", "\\|") for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            self._append(" | ".join(cells), len(cells))

    def _append(self, line: str, count: int) -> None:
        self._lines.append(line)
        self._counts.append(count)

    def add_empty_header(self) -> None:
        """For a table without a header: Markdown wants a line in its place. To be called before any row is added."""
        self._append("", 1)

    def text(self) -> str:
        """The table, its short rows filled. It is empty afterwards, for memory's sake."""
        width = max(self._counts, default=0)
        lines, counts = self._lines, self._counts
        self._lines, self._counts = [], []
        if not any(lines):
            return ""
        fill = width * len(lines) <= MAX_FILLED
        for place, count in enumerate(counts):
            lines[place] = _line(lines[place], width - count if fill or not place else 0)
        lines[0] += "\n" + _line(" | ".join(["---"] * width), 0)
        return "\n".join(lines)


def _line(cells: str, missing: int) -> str:
    return f"| {cells} |" + "  |" * missing


def table_text(rows: Iterable[Sequence[str]], *, header: bool = True) -> str:
    """All rows as a pipe table; without ``header`` its first line is empty. Linear in time."""
    table = TableText()
    if not header:
        table.add_empty_header()
    for row in rows:
        table.add(row)
    return table.text()


_VALUE = re.compile(
    r"[-+−]?[\d.,  '’]*\d[%‰]?|[-+−]?[\d.,]+[eE][-+]?\d+"  # a number
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T][\d:.+Z-]+)?|\d{1,2}:\d{2}(:\d{2})?"  # a date, a time
    r"|\S+@\S+\.\w+|https?://\S+|true|false",  # an address
    re.IGNORECASE,
)
_LONGEST = 200  # characters of a value; longer cells are words
_YEAR = re.compile(r"(19|20)\d\d")


def is_value(cell: str) -> bool:
    """Whether a cell holds a number, date, time, truth value or address, and not words."""
    return len(cell) <= _LONGEST and _VALUE.fullmatch(cell.strip()) is not None


def looks_like_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of some rows names the columns: names differ from each other and are no values.

    Years over columns (2023, 2024) are names when another column has a name in words.
    """
    names = [cell.strip() for cell in rows[0] if cell.strip()] if rows else []
    words = [name for name in names if not is_value(name)]
    years = [name for name in names if _YEAR.fullmatch(name)]
    width = max(sum(1 for cell in row if cell.strip()) for row in rows) if rows else 0
    named = len(names) >= 2 * width / 3  # a corner or a column of notes may be without
    return named and bool(words) and len(words) + len(years) == len(names) == len(set(names))

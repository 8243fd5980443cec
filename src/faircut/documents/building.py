"""Pieces of structure in, a document out: what readers of formats without a plain text of their own build theirs with.

Blocks are separated by a blank line and tile the text. A table becomes a Markdown pipe table, so that every chunker
knows its rows and its header; list items are lines with ``- `` or their number, two spaces a level. Where the pieces
come from is left to the readers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from faircut.records import Block, BlockKind, Document, Span

__all__ = ["DocumentBuilder", "ListItem", "pipe_table"]

SEPARATOR = "\n\n"
DEEPEST = 20
"""The lowest level of a heading; deeper ones count as this one, so that a path of headings is bounded."""


@dataclass(frozen=True, slots=True)
class ListItem:
    """One item: its text, its depth from 0, and its number where the list is ordered."""

    text: str
    depth: int = 0
    number: int | None = None

    def line(self) -> str:
        """The item as a line (its own line ends become indented lines)."""
        mark = "-" if self.number is None else f"{self.number}."
        indent = "  " * self.depth
        follow = "\n" + indent + " " * (len(mark) + 1)
        return f"{indent}{mark} {self.text.strip()}".replace("\n", follow)


def pipe_table(rows: Sequence[Sequence[str]], header_rows: int = 1) -> str:
    """Rows of cells as a Markdown pipe table, short rows filled; line ends in cells become spaces, ``|`` is escaped.

    A cell merged over several columns or rows is given by the reader in each of them. With ``header_rows=0`` the first
    line of the table is empty, as Markdown wants a header; several header rows are joined column by column.
    """
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    cells = [[_cell(c) for c in row] + [""] * (width - len(row)) for row in rows]
    head = [" / ".join(dict.fromkeys(filter(None, column))) for column in zip(*cells[:header_rows], strict=True)]
    lines = [head or [""] * width, ["---"] * width, *cells[header_rows:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


@dataclass
class DocumentBuilder:
    """Collects blocks in reading order; ``build`` makes the document. Blank pieces are left out.

    ``page`` is put on every block added after it was set.
    """

    page: int | None = None
    _pieces: list[tuple[BlockKind, str, int | None, int | None]] = field(default_factory=list)

    def add(self, kind: BlockKind, text: str, level: int | None = None) -> None:
        """Append a block of any kind as it stands; white space at its ends goes, indentation of code stays."""
        text = text.rstrip()
        text = text.strip("\r\n") if kind == "code" else text.lstrip()
        if text.strip():
            self._pieces.append((kind, text, level, self.page))

    def heading(self, text: str, level: int) -> None:
        """A heading on one line; level 1 is the highest, ``DEEPEST`` the lowest."""
        self.add("heading", " ".join(text.split()), min(max(level, 1), DEEPEST))

    def items(self, items: Iterable[ListItem]) -> None:
        """A list with all that is nested in it as one block of level 1."""
        self.add("list", "\n".join(item.line() for item in items if item.text.strip()), 1)

    def table(self, rows: Sequence[Sequence[str]], header_rows: int = 1) -> None:
        """A table; see ``pipe_table``."""
        self.add("table", pipe_table(rows, header_rows))

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added."""
        return not self._pieces

    def build(
        self, document_id: str, *, title: str, source: str, media_type: str, language: str | None = None
    ) -> Document:
        """The document whose blocks tile its text."""
        blocks: list[Block] = []
        parts: list[str] = []
        place = 0
        for number, (kind, text, level, page) in enumerate(self._pieces, 1):
            whole = text + (SEPARATOR if number < len(self._pieces) else "\n")
            blocks.append(Block(kind, Span(place, place + len(whole)), level, page))
            parts.append(whole)
            place += len(whole)
        return Document(document_id, "".join(parts), tuple(blocks), title, source, media_type, language)

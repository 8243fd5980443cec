"""Plain text -> paragraphs that tile it, split after blank lines. Structure inside a paragraph is not looked for."""

import re
from itertools import pairwise
from pathlib import Path

from faircut.documents.contract import Reader
from faircut.documents.decoding import read_text
from faircut.records import Block, Document, Span

__all__ = ["PLAIN", "plain_blocks"]

_LINE_END = r"(?>\r\n|[\n\r\x85\u2028\u2029])"
# A line end and the blank lines after it. Atomic and possessive, so that CRLF is never read as two line ends.
_BLANK_LINES = re.compile(rf"{_LINE_END}(?>[^\S\n\r\x85\u2028\u2029]*+{_LINE_END})++")


def plain_blocks(text: str) -> tuple[Block, ...]:
    """The paragraphs of ``text``; separators belong to the paragraph before, leading white space to the first.

    Line ends are LF, CRLF, CR, NEL and the Unicode line and paragraph separators. No blocks for an empty text.
    """
    start = len(text) - len(text.lstrip())
    last = len(text.rstrip())
    cuts = [m.end() for m in _BLANK_LINES.finditer(text, start) if m.end() < last]
    edges = [0, *cuts, len(text)] if text else []
    return tuple(Block("paragraph", Span(a, b)) for a, b in pairwise(edges))


def _read(path: Path, document_id: str) -> Document:
    text = read_text(path)
    return Document(document_id, text, plain_blocks(text), title=path.stem, source=str(path))


PLAIN = Reader("plain text", (".txt", ".text", ".log", ".rst", ".adoc", ".org"), _read)

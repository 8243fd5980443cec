"""Markdown -> blocks that tile the source text: CommonMark, tables, footnotes and front matter by ``markdown-it-py``.

Only the block phase of the parser runs, and only its line numbers are used: offsets come from our own table of lines,
because the parser normalises line ends and NUL. Inline markup stays in the text as it is.
"""

import re
import warnings
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from faircut.documents.contract import Reader
from faircut.documents.decoding import read_text
from faircut.documents.plain import plain_blocks
from faircut.errors import FaircutWarning
from faircut.records import Block, BlockKind, Document, Span

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["MARKDOWN", "MAX_NESTING", "markdown_blocks"]

MAX_NESTING = 100
"""Levels of the parser (a quote is one, a list two) beyond which a text is read as plain paragraphs."""

_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "footnote_reference_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
    "blockquote_open": "quote",
}
_LINE_END = re.compile(r"\r\n?|\n")


def markdown_blocks(text: str) -> tuple[Block, ...]:
    """The top-level blocks of ``text``, which they tile; blank lines belong to the block before them.

    Headings (ATX, setext) carry their level. A list is one block of level 1 with all that is nested in it, a table, a
    code block and a quote likewise; the spans inside are left to the chunkers. Front matter, HTML, link definitions and
    rules are ``other``; a footnote is a paragraph. Linear in the length of the text.

    Warns:
        FaircutWarning: quotes or lists are nested deeper than the parser follows; the text is read as plain paragraphs.
    """
    if not text.strip():
        return plain_blocks(text)
    tokens = _tokens(text)
    if any(t.level >= MAX_NESTING - 1 for t in tokens):
        warnings.warn(
            f"Markdown nested deeper than {MAX_NESTING} levels was read as plain paragraphs: {text.strip()[:40]!r}...",
            FaircutWarning,
            stacklevel=2,
        )
        return plain_blocks(text)
    starts = [0, *(m.end() for m in _LINE_END.finditer(text)), len(text)]
    return _tile(text, list(_pieces(text, tokens, starts)))


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt
    from mdit_py_plugins.footnote import footnote_plugin
    from mdit_py_plugins.front_matter import front_matter_plugin

    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table")
    return parser.use(front_matter_plugin).use(footnote_plugin)


def _tokens(text: str) -> "list[Token]":
    """The tokens of the block phase, with lines counted as in ``text``."""
    tokens: list[Token] = []
    source = _LINE_END.sub("\n", text).replace("\0", "\ufffd")
    _parser().block.parse(source, _parser(), {}, tokens)
    return tokens


Piece = tuple[int, BlockKind, int | None]  # where it starts in the text, its kind, its level


def _pieces(text: str, tokens: "list[Token]", starts: list[int]) -> Iterator[Piece]:
    """Where each block starts; lines that the parser left without a token (link definitions) are ``other``."""
    line = 0
    for token in tokens:
        if token.level or token.map is None or token.nesting < 0:
            continue
        first, end = token.map
        yield from _gap(text, starts, line, first)
        yield starts[first], _KINDS.get(token.type, "other"), _level(token)
        line = end
    yield from _gap(text, starts, line, len(starts) - 1)


def _gap(text: str, starts: list[int], first: int, end: int) -> Iterator[Piece]:
    while first < end and not text[starts[first] : starts[first + 1]].strip():
        first += 1  # blank lines belong to the block before
    if first < end:
        yield starts[first], "other", None


def _level(token: "Token") -> int | None:
    if token.type == "heading_open":
        return int(token.tag[1:])
    return 1 if token.type in ("bullet_list_open", "ordered_list_open") else None


def _tile(text: str, pieces: list[Piece]) -> tuple[Block, ...]:
    """Blocks from the starts of the pieces; one that holds only white space joins the block before."""
    kept: list[Piece] = []
    for piece, (start, end) in zip(pieces, pairwise([p[0] for p in pieces] + [len(text)]), strict=True):
        if text[start:end].strip():
            kept.append(piece)
    edges = [0, *(start for start, _, _ in kept[1:]), len(text)]
    spans = map(Span, edges, edges[1:])
    return tuple(Block(kind, span, level) for span, (_, kind, level) in zip(spans, kept, strict=True))


# ---------------------------------------------------------------- files

_FRONT_TITLE = re.compile(r"^title[ \t]*:([^\r\n]*)", re.MULTILINE)
_YAML_BLOCK_MARKS = ("|", ">", "|-", ">-", "|+", ">+")  # the title is on the next lines
_MAX_TITLE = 1000  # characters of a heading that are looked at


def _title(text: str, blocks: tuple[Block, ...]) -> str:
    """The title in the front matter, else the first heading's text, else nothing."""
    front = text[: blocks[0].span.end] if blocks[0].kind == "other" and text.startswith("---") else ""
    match = _FRONT_TITLE.search(front)
    given = match[1].strip() if match else ""
    if given.strip("\"' ") and given not in _YAML_BLOCK_MARKS:
        return given[1:-1] if given[0] == given[-1] and given[0] in "\"'" else given
    heading = next((b.span for b in blocks if b.kind == "heading"), None)
    return _heading_text(text[heading.start : heading.end]) if heading else ""


def _heading_text(source: str) -> str:
    """The words of a heading without its markup."""
    inline = next((t for t in _parser().parse(source[:_MAX_TITLE]) if t.type == "inline"), None)
    children = inline.children or [] if inline else []
    words = (" " if t.type.endswith("break") else t.content for t in children if t.type != "html_inline")
    return "".join(words).strip()


def _read(path: Path, document_id: str) -> Document:
    text = read_text(path)
    blocks = markdown_blocks(text)
    title = _title(text, blocks) or path.stem
    return Document(document_id, text, blocks, title=title, source=str(path), media_type="text/markdown")


MARKDOWN = Reader("Markdown", (".md", ".markdown", ".mkd", ".mdown", ".mdx", ".qmd", ".rmd"), _read)

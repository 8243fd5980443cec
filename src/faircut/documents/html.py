"""HTML and XHTML -> blocks as a browser shows them: headings, paragraphs, lists, tables, code, quotes.

Navigation is left out, and where the page marks its content (``main``, ``article``) what lies outside as header, footer
or sidebar; what is hidden too. One warning a file counts it. Links give their text, images their description.
"""

import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from faircut.documents.building import DocumentBuilder
from faircut.documents.contract import Reader
from faircut.documents.html_elements import HANDLERS
from faircut.documents.html_parts import Piece
from faircut.documents.html_source import as_html, decode_html, tame
from faircut.documents.html_walk import Walk
from faircut.errors import DocumentError, FaircutWarning
from faircut.records import Document

__all__ = ["BOOK_CHROME", "HTML", "PAGE_CHROME", "Page", "add_pieces", "html_page", "warn_left_out"]

PAGE_CHROME = frozenset(("nav", "header", "footer", "aside"))
"""What is no text of a web page."""
BOOK_CHROME = frozenset(("nav",))
"""What is no text of a book: in its chapters an aside is a footnote, a header holds the heading."""


@dataclass(frozen=True, slots=True)
class Page:
    """What a page says: its blocks, title and language, and the characters that were left out by their reason."""

    pieces: list[Piece]
    title: str
    language: str | None
    left_out: Counter[str]


def html_page(html: str, where: str, chrome: frozenset[str] = PAGE_CHROME) -> Page:
    """Read the text of a page. A page that would be empty without its ``chrome`` is read with it.

    Args:
        html: the source; ``as_html`` makes it of XHTML.
        where: names the page in errors.
        chrome: landmarks to leave out.

    Raises:
        DocumentError: more tags than are read (``html_source.MAX_TAGS``).
    """
    from selectolax.lexbor import LexborHTMLParser

    parser = LexborHTMLParser(tame(html, where))
    root = parser.root
    if root is None:
        return Page([], "", None, Counter())
    walk = Walk(HANDLERS, chrome)
    pieces = walk.pieces(root)
    if not pieces and chrome:
        walk = Walk(HANDLERS, frozenset())
        pieces = walk.pieces(root)
    title = parser.css_first("head title")
    language = (root.attributes.get("lang") or root.attributes.get("xml:lang") or "").strip()
    return Page(pieces, " ".join(title.text().split()) if title else "", language or None, walk.left_out)


def add_pieces(builder: DocumentBuilder, pieces: Iterable[Piece]) -> None:
    """Append the pieces as blocks; one that knows no page lies on the page of the one before."""
    for piece in pieces:
        builder.page = builder.page if piece.page is None else piece.page
        if piece.kind == "heading":
            builder.heading(piece.text, piece.level or 1)
        else:
            builder.add(piece.kind, piece.text, piece.level)


def warn_left_out(where: str, left_out: Counter[str]) -> None:
    """Say in one warning what was left out, with its characters."""
    if parts := [f"{reason} ({count:,} characters)" for reason, count in left_out.most_common() if count]:
        warnings.warn(f"{where}: left out {', '.join(parts)}.", FaircutWarning, stacklevel=2)


_OTHER_KINDS = (
    (b"%PDF-", "a PDF file"),
    (b"PK\x03\x04", "a zip archive or an Office file"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"\x1f\x8b", "a gzip archive"),
)


def _source(path: Path) -> str:
    """The source of a page as HTML."""
    raw = path.read_bytes()
    kind = next((name for start, name in _OTHER_KINDS if raw.startswith(start)), "")
    if kind:
        raise DocumentError(f"{path}: not HTML but {kind}; give it the right extension.")
    if not raw.strip():
        raise DocumentError(f"{path}: empty; remove the file or give it a text.")
    is_xhtml = path.suffix.lower() == ".xhtml" or b"<?xml" in raw[:100]
    source = decode_html(raw, str(path))
    return as_html(source) if is_xhtml else source


def _read(path: Path, document_id: str) -> Document:
    page = html_page(_source(path), str(path))
    if not page.pieces:
        raise DocumentError(f"{path}: no text in the page; if a script fills it, save it from a browser.")
    warn_left_out(str(path), page.left_out)
    builder = DocumentBuilder()
    add_pieces(builder, page.pieces)
    heading = next((p.text for p in page.pieces if p.kind == "heading"), "")
    return builder.build(
        document_id,
        title=page.title or heading or path.stem,
        source=str(path),
        media_type="application/xhtml+xml" if path.suffix.lower() == ".xhtml" else "text/html",
        language=page.language,
    )


HTML = Reader("HTML", (".html", ".htm", ".xhtml"), _read)

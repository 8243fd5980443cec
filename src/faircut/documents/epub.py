"""EPUB 2 and 3 -> the blocks of its chapters in the order of the spine, each read as a web page.

Chapters without headings get theirs from the table of contents, where an entry repeats one of their paragraphs. Page
numbers are those of the printed book, where the e-book tells them. Pictures and styles are left alone.
"""

import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

from faircut.documents.archive import Archive, open_archive, parse_xml
from faircut.documents.building import DocumentBuilder
from faircut.documents.contract import Reader
from faircut.documents.html import BOOK_CHROME, add_pieces, html_page, warn_left_out
from faircut.documents.html_source import MAX_HTML, MAX_TAGS, as_html, decode_html
from faircut.errors import DocumentError, FaircutWarning
from faircut.records import Document

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from faircut.documents.html_parts import Piece

__all__ = ["EPUB"]

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = ("application/xhtml+xml", "text/html", "application/xml", "text/x-oeb1-document", "application/x-dtbook+xml")
_FONT_SCRAMBLING = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
MAX_LABEL = 300
"""Characters of a paragraph that may be a heading of the table of contents."""


@dataclass(frozen=True, slots=True)
class _Package:
    """The package document: title, language, the chapters and the table of contents as names in the archive."""

    title: str
    language: str | None
    chapters: list[str]
    contents: str | None


@dataclass(slots=True)
class _Book:
    """What was read so far."""

    builder: DocumentBuilder = field(default_factory=DocumentBuilder)
    left_out: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    tags: int = 0
    missing: list[str] = field(default_factory=list)


def _read(path: Path, document_id: str) -> Document:
    with open_archive(path) as archive:
        package = _package(archive)
        encrypted = _encrypted(archive)
        if any(chapter in encrypted for chapter in package.chapters):
            raise DocumentError(f"{path}: encrypted (digital rights management); it can only be read without it.")
        labels = _labels(archive, package.contents) if package.contents else {}
        book = _Book()
        for chapter in package.chapters:
            _add_chapter(book, archive, chapter, labels.get(chapter, {}))
    _check(path, book, len(package.chapters))
    return book.builder.build(
        document_id,
        title=package.title or path.stem,
        source=str(path),
        media_type="application/epub+zip",
        language=package.language,
    )


def _check(path: Path, book: _Book, count: int) -> None:
    if book.missing and len(book.missing) == count:
        raise DocumentError(f"{path}: damaged: none of its {count} chapters is in the archive; fetch it again.")
    if book.builder.is_empty:
        raise DocumentError(f"{path}: no text in its {count} chapters; a book of pictures cannot be read.")
    if book.missing:
        names = ", ".join(book.missing[:3])
        message = f"{path}: {len(book.missing)} of {count} chapters are missing in the archive ({names})."
        warnings.warn(message, FaircutWarning, stacklevel=2)
    warn_left_out(str(path), book.left_out)


# ---------------------------------------------------------------- chapters


def _add_chapter(book: _Book, archive: Archive, chapter: str, labels: dict[str, int]) -> None:
    if archive.find(chapter) is None:
        book.missing.append(chapter)
        return
    where = f"{archive.path}: {chapter}"
    raw = archive.read(chapter, MAX_HTML)
    book.bytes += len(raw)
    book.tags += raw.count(b"<")
    if book.bytes > MAX_HTML or book.tags > MAX_TAGS:
        raise DocumentError(f"{archive.path}: more than {MAX_HTML:,} bytes or {MAX_TAGS:,} tags; split the book.")
    page = html_page(as_html(decode_html(raw, where)), where, BOOK_CHROME)
    if not any(p.kind == "heading" for p in page.pieces):
        _raise_headings(page.pieces, labels)
    add_pieces(book.builder, page.pieces)
    book.left_out += page.left_out


def _raise_headings(pieces: "list[Piece]", labels: dict[str, int]) -> None:
    """Make headings of the first paragraphs that the table of contents repeats, each once."""
    open_labels = dict(labels)
    for piece in pieces:
        if piece.kind == "paragraph" and len(piece.text) <= MAX_LABEL:
            level = open_labels.pop(_key(piece.text), None)
            if level is not None:
                piece.kind, piece.level = "heading", level


def _key(label: str) -> str:
    return " ".join(label.casefold().split())


# ---------------------------------------------------------------- the package


def _package(archive: Archive) -> _Package:
    name = _package_name(archive)
    root = parse_xml(archive.read(name), f"{archive.path}: {name}")
    items = {e.get("id", ""): e for e in root.iter() if _tag(e) == "item"}
    spine = next((e for e in root.iter() if _tag(e) == "spine"), None)
    order = [items[e.get("idref", "")] for e in (spine if spine is not None else ()) if e.get("idref", "") in items]
    # A page that no reader shows by itself (a picture) may name a page that stands for it.
    pages = (item for item in (_page_item(item, items) for item in order) if item is not None)
    chapters = list(dict.fromkeys(_target(name, item.get("href", ""))[0] for item in pages))
    if not chapters:
        raise DocumentError(f"{archive.path}: damaged: its {name} lists no chapters; fetch it again.")
    return _Package(
        title=_metadata(root, "title"),
        language=_metadata(root, "language") or None,
        chapters=chapters,
        contents=_contents(name, spine, items),
    )


def _package_name(archive: Archive) -> str:
    if archive.find(_CONTAINER) is None:
        raise DocumentError(f"{archive.path}: not an EPUB: it has no {_CONTAINER}; give it the right extension.")
    root = parse_xml(archive.read(_CONTAINER), f"{archive.path}: {_CONTAINER}")
    found = next((e.get("full-path", "") for e in root.iter() if _tag(e) == "rootfile"), "")
    if not found:
        raise DocumentError(f"{archive.path}: damaged: its {_CONTAINER} names no package document; fetch it again.")
    return found.lstrip("/")


def _page_item(item: "Element", items: "dict[str, Element]") -> "Element | None":
    seen: set[str] = set()
    current: Element | None = item
    while current is not None and not _is_page(current):
        fallback = current.get("fallback", "")
        current = None if fallback in seen else items.get(fallback)
        seen.add(fallback)
    return current


def _is_page(item: "Element") -> bool:
    is_named_so = item.get("href", "").lower().endswith((".xhtml", ".html", ".htm"))
    return is_named_so or item.get("media-type", "").lower() in _PAGES


def _contents(package: str, spine: "Element | None", items: "dict[str, Element]") -> str | None:
    """Where the table of contents lies: the navigation document of EPUB 3, else the NCX of EPUB 2."""
    nav = next((e for e in items.values() if "nav" in e.get("properties", "").split()), None)
    ncx = items.get(spine.get("toc", "") if spine is not None else "")
    found = nav if nav is not None else ncx
    return None if found is None else _target(package, found.get("href", ""))[0]


def _encrypted(archive: Archive) -> set[str]:
    """The members that are encrypted; fonts are scrambled in free books too."""
    if archive.find(_ENCRYPTION) is None:
        return set()
    root = parse_xml(archive.read(_ENCRYPTION), f"{archive.path}: {_ENCRYPTION}")
    found = set()
    for data in (e for e in root.iter() if _tag(e) == "EncryptedData"):
        methods = {e.get("Algorithm", "") for e in data if _tag(e) == "EncryptionMethod"}
        if not methods & set(_FONT_SCRAMBLING):
            found |= {_target("", e.get("URI", ""))[0] for e in data.iter() if _tag(e) == "CipherReference"}
    return found


def _metadata(root: "Element", tag: str) -> str:
    """The first value of a field that is not empty."""
    values = (" ".join("".join(e.itertext()).split()) for e in root.iter() if _tag(e) == tag)
    return next(filter(None, values), "")


def _tag(element: "Element") -> str:
    """The local name; comments and instructions have none."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _target(origin: str, href: str) -> tuple[str, str]:
    """The member that a link in ``origin`` leads to, and the place in it."""
    address, fragment = urldefrag(href)
    name = normpath(join(dirname(origin), unquote(address))) if address else origin
    return name.lstrip("/"), fragment


# ---------------------------------------------------------------- the table of contents


def _labels(archive: Archive, contents: str) -> dict[str, dict[str, int]]:
    """For each chapter the entries of the table of contents that lead into it, with their level."""
    if archive.find(contents) is None:
        return {}
    try:
        root = parse_xml(archive.read(contents, MAX_HTML), f"{archive.path}: {contents}")
    except DocumentError:
        return {}  # it only helps to find headings; the text is all there without it
    labels: dict[str, dict[str, int]] = {}
    for label, href, level in _entries(root):
        labels.setdefault(_target(contents, href)[0], {}).setdefault(_key(label), level)
    return labels


def _entries(root: "Element") -> "list[tuple[str, str, int]]":
    """Label, link and level of the entries: ``navPoint`` in an NCX, ``li`` in a navigation document."""
    found: list[tuple[str, str, int]] = []
    stack = [(root, 0)]
    while stack:
        element, level = stack.pop()
        tag = _tag(element)
        level += tag in ("navPoint", "li")
        if tag == "a":
            found.append(("".join(element.itertext()), element.get("href", ""), max(level, 1)))
        elif tag == "navPoint":
            label = "".join(t for e in element if _tag(e) == "navLabel" for t in e.itertext())
            found += [(label, e.get("src", ""), level) for e in element if _tag(e) == "content"]
        stack += [(child, level) for child in reversed(element)]
    return found


EPUB = Reader("EPUB", (".epub",), _read)

"""DOCX -> a document with headings, lists, tables, code and quotes, all changes accepted, notes at the end.

Comments, headers and footers are left out and counted. What the parts of the package are, is said here; how the text
of the main part becomes blocks, is left to ``docx_flow.py``.
"""

from pathlib import Path
from xml.etree.ElementTree import Element

from faircut.documents.building import DocumentBuilder
from faircut.documents.contract import Reader
from faircut.documents.docx_flow import Flow, flat_text
from faircut.documents.docx_numbering import read_numbering
from faircut.documents.docx_styles import W, read_styles
from faircut.documents.docx_text import Story
from faircut.documents.marked_items import roman
from faircut.documents.open_packaging import Package, open_package, titled, warn_left_out
from faircut.errors import DocumentError
from faircut.records import Document

__all__ = ["DOCX"]

_MEDIA = {
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".docm": "application/vnd.ms-word.document.macroenabled.12",
    ".dotx": "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
    ".dotm": "application/vnd.ms-word.template.macroenabled.12",
}


def _read(path: Path, document_id: str) -> Document:
    with open_package(path) as package:
        main = package.main_part("word/document.xml")
        builder = DocumentBuilder()
        story = _add_document(builder, package, main)
        if builder.is_empty:
            raise DocumentError(f"{path}: no text in it, perhaps pictures only; remove the file or give it a text.")
        _warn_left_out(package, main, story)
        return titled(builder, document_id, package, _MEDIA[path.suffix.lower()])


def _add_document(builder: DocumentBuilder, package: Package, main: str) -> Story:
    styles = read_styles(_part(package, main, "styles"))
    numbering = read_numbering(_part(package, main, "numbering"), styles)
    root = package.xml(main)
    rendered = next(root.iter(f"{W}lastRenderedPageBreak"), None) is not None
    story = Story(styles, page=1 if rendered else None)  # pages are known when Word has laid them out
    for body in root.iter(f"{W}body"):
        Flow(builder, story, numbering).add_all(body)
    builder.page = None
    for kind, noted in (("footnotes", story.footnotes), ("endnotes", story.endnotes)):
        notes = _notes(package, main, kind)
        for identity, number in list(noted.items()):
            text = flat_text(notes[identity], story, numbering) if identity in notes else ""
            sign = str(number) if kind == "footnotes" else roman(number)
            builder.add("paragraph", f"[{sign}] {text}" if text else "")
    return story


def _part(package: Package, main: str, kind: str) -> Element | None:
    parts = package.related(main, kind)
    return package.xml(parts[0]) if parts else None


def _notes(package: Package, main: str, kind: str) -> dict[str, Element]:
    """The notes by their ids, without the lines that part them from the text."""
    root = _part(package, main, kind)
    return {} if root is None else {note.get(f"{W}id", ""): note for note in root if not note.get(f"{W}type")}


# ---------------------------------------------------------------- what is left out


def _warn_left_out(package: Package, main: str, story: Story) -> None:
    comments = _part(package, main, "comments")
    running = [part for kind in ("header", "footer") for part in package.related(main, kind)]
    counts = {
        "comment": 0 if comments is None else sum(1 for _ in comments.iter(f"{W}comment")),
        "header or footer": sum(1 for part in running if _has_text(package.xml(part))),
        "run of hidden text": story.hidden,
        "embedded document": story.embedded,
    }
    warn_left_out(package.path, counts)


def _has_text(root: Element) -> bool:
    return any((element.text or "").strip() for element in root.iter(f"{W}t"))


DOCX = Reader("Word", tuple(_MEDIA), _read)

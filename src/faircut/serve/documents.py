"""A document as the explorer holds it: one JSON value, read by the page as it is, and made into one again."""

import json
from typing import Any

from faircut.records import Block, Document, Span
from faircut.report.payload import plain

__all__ = ["document_from", "stored"]


def stored(document: Document) -> bytes:
    """The document as JSON, with what the page's viewer needs and no place of the file that it came from."""
    values = {
        "id": plain(document.id),
        "title": plain(document.title),
        "source": "",
        "language": document.language,
        "media_type": document.media_type,
        "text": plain(document.text),
        "blocks": [[b.kind, b.span.start, b.span.end, b.level, b.page] for b in document.blocks],
        "lanes": [],
    }
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()


def document_from(raw: bytes) -> Document:
    """The document of ``stored``."""
    values: dict[str, Any] = json.loads(raw)
    blocks = tuple(Block(kind, Span(start, end), level, page) for kind, start, end, level, page in values["blocks"])
    return Document(values["id"], values["text"], blocks, values["title"], "", values["media_type"], values["language"])

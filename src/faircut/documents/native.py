"""``corpus.jsonl[.gz]`` -> documents, one a line: ``id``, ``text`` and optional ``title language source media_type``.

Other keys are left alone. Whether ids repeat is seen where the corpus is put together (``reading.py``).
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from faircut.documents.jsonl import LineError, numbered_lines, parse_object
from faircut.documents.markdown import markdown_blocks
from faircut.documents.plain import plain_blocks
from faircut.documents.sources import Source
from faircut.errors import DocumentError
from faircut.files import is_utf8
from faircut.records import Block, Document

__all__ = ["NATIVE_EXTENSIONS", "native_document", "native_id", "native_sources"]

NATIVE_EXTENSIONS = (".jsonl", ".jsonl.gz")

_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,8}")
_BLOCKS: dict[str, Callable[[str], tuple[Block, ...]]] = {"text/markdown": markdown_blocks}


def native_sources(path: Path) -> Iterator[Source]:
    """For each line where it is (``file:line``) and its bytes.

    What cannot be read at all ends the stream with a source that has a problem.
    """
    try:
        for number, raw in numbered_lines(path):
            yield Source(f"{path}:{number}", path, line=raw)
    except LineError as error:
        place = error.place(path)
        yield Source(place, path, problem=f"{place}: {error}.")


def native_document(raw: bytes, place: str) -> Document:
    """The document of one line.

    Raises:
        DocumentError: not JSON, no id, no text; names the place.
    """
    try:
        return _from_object(parse_object(raw))
    except ValueError as error:
        raise DocumentError(f"{place}: {error}.") from None


def native_id(raw: bytes) -> str:
    """The id of a line whose document may be unusable; empty where not even that can be read."""
    try:
        found = parse_object(raw).get("id")
    except ValueError:
        return ""
    return found if isinstance(found, str) and is_utf8(found) else ""


def _from_object(value: dict[str, Any]) -> Document:
    identity, text = _text(value, "id"), _text(value, "text")
    if identity is None or not identity.strip():
        raise ValueError('a document needs an "id"')
    if not is_utf8(identity):
        raise ValueError(f"the id {identity!r} has half a character (a lone surrogate); give the document another id")
    if text is None or not text.strip():
        raise ValueError(f"the document {identity!r} has no text; give it one or remove the line")
    media_type = _text(value, "media_type") or "text/plain"
    return Document(
        identity,
        text,
        _BLOCKS.get(media_type, plain_blocks)(text),
        title=_text(value, "title") or "",
        source=_text(value, "source") or "",
        media_type=media_type,
        language=_language(value),
    )


def _language(value: dict[str, Any]) -> str | None:
    found = _text(value, "language") or None
    if found is not None and not _LANGUAGE_TAG.fullmatch(found):
        raise ValueError(f'"language" must be a language tag such as de or pt-BR, found {found!r:.40}')
    return found


def _text(value: dict[str, Any], key: str) -> str | None:
    found = value.get(key)
    if found is None or isinstance(found, str):
        return found
    raise ValueError(f'"{key}" must be text, found {type(found).__name__} {found!r:.40}')

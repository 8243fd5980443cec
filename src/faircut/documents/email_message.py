"""E-mail (.eml) -> its headers as the first block, its text, then its attachments, each by the reader of its kind.

Of several forms of one text the plain one counts, unless it only stands in for the HTML. Messages in the message follow
under a heading with their subject. What cannot be read is named and counted. How a part became text is left to
``email_text.py``, what is in an attachment to its reader.
"""

import mimetypes
import re
import warnings
from dataclasses import dataclass, field
from email.errors import MessageError
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from pathlib import Path
from tempfile import TemporaryDirectory

from faircut.documents.building import DocumentBuilder
from faircut.documents.contract import Reader
from faircut.documents.email_text import add_plain, file_name, header, html_pieces, html_source, plain_text
from faircut.documents.html import add_pieces
from faircut.documents.html_parts import Piece
from faircut.documents.html_source import MAX_TAGS
from faircut.errors import DocumentError, FaircutWarning
from faircut.records import Document

__all__ = ["EMAIL"]

MAX_MESSAGE = 64 * 2**20
"""Bytes of one message with its attachments."""
MAX_LINES = 4_000_000
MAX_PARTS = 50_000
MAX_TEXT = 16 * 2**20
"""Characters of the texts of one message, without its attachments."""
MAX_DEPTH = 40
"""Parts in parts; a message in a message takes two or three."""
MAX_ATTACHMENTS = 100
"""Attachments that are read; more are named."""

_HEADERS = ("Subject", "From", "To", "Cc", "Date")
_KNOWN_HEADERS = (*_HEADERS, "Received", "Message-ID", "MIME-Version", "Content-Type", "Return-Path", "Bcc", "Sender")
_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
_ENCRYPTED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
_TEXT = ("text/", "multipart/")  # as to the second: what is called so but has no parts
_NO_PROSE = ("text/calendar", "text/rtf", "text/vcard", "text/x-vcard", "text/css", "text/x-amp-html")
_LONG_HEADER = re.compile(rb"^content-[a-z-]+:(?:[^\n]|\n[ \t]){20000}", re.IGNORECASE | re.MULTILINE)
_STAND_IN = 5  # times that the HTML may be longer than a plain text that is meant


@dataclass(slots=True)
class _Reading:
    """A message on its way into a document: where it lies, what was read, what was not."""

    where: str
    builder: DocumentBuilder = field(default_factory=DocumentBuilder)
    unread: list[str] = field(default_factory=list)
    attachments: int = 0
    messages: int = 0  # around the place
    texts: int = 0  # parts that gave text
    characters: int = 0  # of plain text
    tags: int = 0  # of HTML


def _read(path: Path, document_id: str) -> Document:
    size = path.stat().st_size
    if size > MAX_MESSAGE:
        raise DocumentError(f"{path}: {size:,} bytes; an e-mail may have {MAX_MESSAGE:,}. Save its attachments apart.")
    message = _parse(path.read_bytes(), str(path))
    reading = _Reading(str(path))
    _add_message(reading, message, 0)
    if not reading.texts and message.get_content_type() in _ENCRYPTED:
        raise DocumentError(f"{path}: encrypted; save it decrypted from your mail program.")
    if not reading.texts and not header(message, "Subject"):
        raise DocumentError(f"{path}: no text in the message{_naming(reading.unread, ';')}.")
    if reading.unread:
        warnings.warn(f"{path}: left out{_naming(reading.unread, '')}.", FaircutWarning, stacklevel=2)
    return reading.builder.build(
        document_id,
        title=header(message, "Subject") or path.stem,
        source=str(path),
        media_type="message/rfc822",
        language=header(message, "Content-Language").split(",")[0].strip() or None,
    )


def _naming(unread: list[str], joint: str) -> str:
    if not unread:
        return ""
    more = f" and {len(unread) - 5} more" if len(unread) > 5 else ""
    return (
        f"{joint} {len(unread)} part{'s' if len(unread) > 1 else ''} that cannot be read: {', '.join(unread[:5])}{more}"
    )


def _parse(raw: bytes, where: str) -> Message:
    if not raw.strip():
        raise DocumentError(f"{where}: empty; remove the file or replace it by a whole one.")
    if raw.startswith(b"\xd0\xcf\x11\xe0"):
        raise DocumentError(f"{where}: not an .eml file but an Outlook .msg; save it as .eml.")
    if raw.count(b"\n") > MAX_LINES or raw.count(b"\n--") > MAX_PARTS:
        raise DocumentError(
            f"{where}: refused: more than {MAX_LINES:,} lines or {MAX_PARTS:,} parts in one e-mail; split it."
        )
    if _LONG_HEADER.search(raw):
        raise DocumentError(
            f"{where}: refused: a Content header of more than 20,000 characters; save the message anew."
        )
    try:
        # The policy that only splits: newer ones make objects of headers and fail on broken ones.
        message = BytesParser(policy=compat32).parsebytes(raw.lstrip(b"\xef\xbb\xbf\r\n"))
    except RecursionError:
        raise DocumentError(
            f"{where}: refused: parts nested deeper than {MAX_DEPTH} levels; save them one by one."
        ) from None
    except (MessageError, ValueError, LookupError) as error:
        raise DocumentError(f"{where}: damaged: not a readable e-mail ({error}); save it again.") from error
    if not any(name in message for name in _KNOWN_HEADERS):
        raise DocumentError(
            f"{where}: not an e-mail: it has no headers such as From or Subject; give it the extension of its kind."
        )
    level, depth = [message], 0
    while level:
        level, depth = [child for part in level for child in _children(part)], depth + 1
        if depth > MAX_DEPTH:
            raise DocumentError(f"{where}: refused: parts nested deeper than {MAX_DEPTH} levels; save them one by one.")
    return message


# ---------------------------------------------------------------- a message and its parts


def _add_message(reading: _Reading, message: Message, depth: int) -> None:
    lines = [f"{name}: {value}" for name in _HEADERS if (value := header(message, name))]
    if not reading.messages and (names := [file_name(p) for p in message.walk() if _is_attachment(p)]):
        lines.append(f"Attachments: {', '.join(names)}")
    reading.builder.add("paragraph", "\n".join(lines))
    _add_part(reading, message, depth)


def _add_part(reading: _Reading, part: Message, depth: int) -> None:
    """A part with all that is in it."""
    kind = part.get_content_type()
    if depth > MAX_DEPTH:
        reading.unread.append(f"{kind} (more than {MAX_DEPTH} levels deep)")
    elif kind in _ENCRYPTED:
        reading.unread.append(f"{file_name(part) or kind} (encrypted)")
    elif kind == "message/rfc822" and part.is_multipart():
        _add_inner(reading, _children(part)[0], depth + 1)
    elif kind == "message/delivery-status" and part.is_multipart():
        reading.builder.add("paragraph", "\n".join(f"{k}: {v}" for p in _children(part) for k, v in p.items()))
    elif kind == "multipart/alternative":
        _add_alternative(reading, _children(part), depth + 1)
    elif part.is_multipart():
        for child in _children(part):
            _add_part(reading, child, depth + 1)
    elif kind not in _SIGNATURES:
        _add_leaf(reading, part, depth)


def _children(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []


def _add_inner(reading: _Reading, message: Message, depth: int) -> None:
    """A message in the message."""
    reading.messages += 1
    reading.builder.heading(f"Message: {header(message, 'Subject') or 'no subject'}", reading.messages)
    _add_message(reading, message, depth)
    reading.messages -= 1


def _add_alternative(reading: _Reading, parts: list[Message], depth: int) -> None:
    """The plain text, unless it is blank or far shorter than the HTML; what else is there only where it is a file."""
    plain = next((p for p in parts if p.get_content_type() == "text/plain"), None)
    pages = [page for p in parts for page in p.walk() if page.get_content_type() == "text/html"]
    chosen = plain if plain is not None and _is_meant(reading, plain, pages) else None
    if chosen is None:
        rich = (p for p in parts if any(page.get_content_type() == "text/html" for page in p.walk()))
        chosen = next(rich, plain or (parts[-1] if parts else None))
    for part in parts:
        if part is chosen:
            _add_part(reading, part, depth)
        else:
            for file in filter(_is_attachment, part.walk()):
                _add_part(reading, file, depth)


def _is_meant(reading: _Reading, plain: Message, pages: list[Message]) -> bool:
    """Whether the plain text says what the HTML says, and not only that there is HTML."""
    try:
        words = len(plain_text(plain, reading.where).split())
        rich = sum(len(p.text.split()) for page in pages[:1] for p in _pieces(reading, page)) if words else 0
    except DocumentError:
        return True  # what is wrong with it is said where it is read
    return words > 0 and rich <= _STAND_IN * words


def _pieces(reading: _Reading, part: Message) -> list[Piece]:
    source = html_source(part, reading.where)
    reading.tags += source.count("<")
    if reading.tags > MAX_TAGS:
        raise DocumentError(f"more than {MAX_TAGS:,} HTML tags in the message")
    return html_pieces(source, reading.where)


def _add_leaf(reading: _Reading, part: Message, depth: int) -> None:
    kind = part.get_content_type()
    try:
        if _is_attachment(part) or not kind.startswith(_TEXT) or kind in _NO_PROSE:
            _add_attachment(reading, part, depth)
        elif kind == "text/html":
            pieces = _pieces(reading, part)
            add_pieces(reading.builder, pieces)
            reading.texts += bool(pieces)
        else:
            text = plain_text(part, reading.where)
            reading.characters += len(text)
            if reading.characters > MAX_TEXT:
                raise DocumentError(f"more than {MAX_TEXT:,} characters")
            add_plain(reading.builder, text)
            reading.texts += bool(text.strip())
    except DocumentError as error:
        name = file_name(part) or kind
        reading.unread.append(f"{name} ({str(error).removeprefix(f'{reading.where}: ')[:100]})")


# ---------------------------------------------------------------- attachments


def _is_attachment(part: Message) -> bool:
    return not part.is_multipart() and bool(file_name(part))


def _add_attachment(reading: _Reading, part: Message, depth: int) -> None:
    """The text of a file, by the reader of its extension.

    Raises:
        DocumentError: there is no such reader, or it refuses the file.
    """
    from faircut.documents.reading import READERS  # it knows this reader too, so not before it is needed

    kind = part.get_content_type()
    name = file_name(part) or f"unnamed{mimetypes.guess_extension(kind) or ''}"
    suffix = Path(name).suffix.lower()
    reading.attachments += 1
    if reading.attachments > MAX_ATTACHMENTS:
        raise DocumentError(f"after {MAX_ATTACHMENTS} attachments")
    payload = part.get_payload(decode=True)
    raw = payload if isinstance(payload, bytes) else b""
    if suffix in EMAIL.extensions:
        _add_inner(reading, _parse(raw, reading.where), depth + 1)
        return
    reader = next((r for r in READERS if suffix in r.extensions), None)
    if reader is None:
        raise DocumentError(kind)
    _add_document(reading, name, _attached(reader, raw, suffix, f"{reading.where}: {name}"))


def _attached(reader: Reader, raw: bytes, suffix: str, where: str) -> Document:
    """Read an attachment from a file of its own; what its reader says names the attachment, not that file."""
    with TemporaryDirectory(prefix="faircut-") as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = Path(folder) / f"attachment{suffix}"
        path.write_bytes(raw)
        try:
            document = reader.read(path, where)
        except DocumentError as error:
            raise DocumentError(str(error).removeprefix(f"{path}: ")) from error
    for warning in caught:
        warnings.warn(str(warning.message).replace(str(path), where), warning.category, stacklevel=2)
    return document


def _add_document(reading: _Reading, name: str, document: Document) -> None:
    """An attachment's blocks under a heading with its name, one level below it."""
    builder, level = reading.builder, reading.messages + 1
    builder.heading(f"Attachment: {name}", level)
    for block in document.blocks:
        builder.page = block.page
        below = level if block.kind == "heading" else 0
        builder.add(
            block.kind,
            document.text[block.span.start : block.span.end],
            None if block.level is None else block.level + below,
        )
    builder.page = None
    reading.texts += bool(document.text.strip())


EMAIL = Reader("e-mail", (".eml",), _read)

"""Parts of an e-mail -> text: decoded headers and file names, plain text with its quotes, HTML as pieces.

Broken encodings, labels and encoded words are read as well as they can be. Which parts count is left to
``email_message.py``.
"""

import re
from binascii import Error as BinasciiError
from collections.abc import Iterator
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from itertools import groupby

from faircut.documents.building import DocumentBuilder
from faircut.documents.decoding import decode
from faircut.documents.html import html_page
from faircut.documents.html_parts import Piece
from faircut.documents.html_source import decode_html
from faircut.documents.plain import plain_blocks

__all__ = ["add_plain", "file_name", "header", "html_pieces", "html_source", "plain_text"]

MAX_HEADER = 20_000
"""Characters of a header that are kept (some 500 recipients)."""

_ENCODED = r"=\?[^?\s]{1,80}\?[bBqQ]\?[^?\r\n]*\?="
_ENCODED_WORDS = re.compile(rf"{_ENCODED}(?:\s+{_ENCODED})*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]+")

# ---------------------------------------------------------------- headers


def header(message: Message, name: str) -> str:
    """The first header of that name on one line, decoded; empty where there is none."""
    wanted = name.lower()
    value = next((str(v) for k, v in message.raw_items() if k.lower() == wanted), "")
    return _decoded(value)


def file_name(part: Message) -> str:
    """The name of an attached file without folders; one that has none but is attached is called by its kind."""
    try:
        name = _decoded(part.get_filename() or "").replace("\\", "/").rpartition("/")[2].strip()
    except (LookupError, ValueError):
        name = ""
    return name or ("unnamed" if part.get_content_disposition() == "attachment" else "")


def _decoded(value: str) -> str:
    raw = value[:MAX_HEADER].encode("utf-8", "surrogateescape")
    text = _ENCODED_WORDS.sub(lambda words: _decoded_words(words[0]), _readable(raw, None))
    shortened = " …" if len(value) > MAX_HEADER else ""
    return " ".join(_CONTROL.sub(" ", text).split()) + shortened


def _decoded_words(words: str) -> str:
    try:
        parts = decode_header(words)
    except (HeaderParseError, BinasciiError, ValueError):
        return words
    return "".join(p if isinstance(p, str) else _readable(p, label) for p, label in parts)


def _readable(raw: bytes, label: str | None) -> str:
    """Short text of a header, whatever is wrong with it."""
    for encoding in filter(None, (label, "utf-8")):
        try:
            return raw.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return raw.decode("cp1252", "replace")


# ---------------------------------------------------------------- bodies


def _payload(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _charset(part: Message) -> str | None:
    try:
        return part.get_content_charset()
    except (LookupError, ValueError):
        return None


def html_source(part: Message, where: str) -> str:
    """The source of an HTML part."""
    return decode_html(_payload(part), where, _charset(part))


def html_pieces(source: str, where: str) -> list[Piece]:
    """The blocks of an HTML part; a mail has no navigation to leave out."""
    return html_page(source, where, frozenset()).pieces


def plain_text(part: Message, where: str) -> str:
    """The text of a plain part with line ends as LF; flowed lines (RFC 3676) are joined."""
    text = "\n".join(re.split(r"\r\n?|\n", decode(_payload(part), where, _charset(part))))
    if str(part.get_param("format") or "").lower() != "flowed":
        return text
    return "\n".join(_flowed(text, deletes_space=str(part.get_param("delsp") or "").lower() == "yes"))


_QUOTE_MARKS = re.compile(r">*")


def _flowed(text: str, *, deletes_space: bool) -> Iterator[str]:
    """Lines that end in a space go on in the next one of the same quote depth; ``-- `` opens a signature."""
    parts: list[str] = []  # of the line in the making, without its quote marks
    depth = 0
    for line in text.split("\n"):
        marks = len((_QUOTE_MARKS.match(line) or [""])[0])
        body = line[marks:].removeprefix(" ")
        if parts and (marks != depth or body == "-- "):
            yield _quoted(parts, depth)
            parts = []
        depth = marks
        is_soft = body.endswith(" ") and body != "-- "
        parts.append(body[:-1] if is_soft and deletes_space else body)
        if not is_soft:
            yield _quoted(parts, depth)
            parts = []
    if parts:
        yield _quoted(parts, depth)


def _quoted(parts: list[str], depth: int) -> str:
    return ">" * depth + (" " if depth else "") + "".join(parts)


def add_plain(builder: DocumentBuilder, text: str) -> None:
    """Append paragraphs, and quotes of the lines that begin with ``>`` (without the first such mark)."""
    for is_quote, lines in groupby(text.split("\n"), lambda line: line.startswith(">")):
        if is_quote:
            builder.add("quote", "\n".join(line[1:].removeprefix(" ") for line in lines))
            continue
        part = "\n".join(lines)
        for block in plain_blocks(part):
            builder.add("paragraph", part[block.span.start : block.span.end])

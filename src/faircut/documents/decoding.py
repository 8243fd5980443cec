"""Bytes -> text, without altering it: a byte order mark decides, else UTF-8.

Other encodings are refused with the byte's position, not guessed.
"""

import codecs
from pathlib import Path

from faircut.errors import DocumentError

__all__ = ["MAX_FILE_BYTES", "read_text"]

MAX_FILE_BYTES = 2**30
"""The largest text file that is read whole, in bytes. Larger corpora come as ``corpus.jsonl``, which streams."""

# UTF-32 before UTF-16: the mark of UTF-32-LE begins with that of UTF-16-LE.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def read_text(path: Path) -> str:
    """The text of a file. Line ends stay as they are; the byte order mark is not part of the text.

    Raises:
        DocumentError: not text, an unknown encoding (with the byte's position), empty, only white space, too large.
        OSError: the file cannot be opened.
    """
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise DocumentError(f"{path}: {size:,} bytes; a text file may have {MAX_FILE_BYTES:,}. Split it into parts.")
    text = _decode(path.read_bytes(), path)
    if not text.strip():
        raise DocumentError(f"{path}: {'only white space' if text else 'empty'}; remove the file or give it a text.")
    return text


def _decode(raw: bytes, path: Path) -> str:
    mark, encoding = next(((m, e) for m, e in _MARKS if raw.startswith(m)), (b"", "utf-8"))
    if encoding == "utf-8" and (place := raw.find(b"\0")) >= 0:
        raise DocumentError(
            f"{path}: not text: a NUL byte at position {place}; "
            "it is a binary file, or UTF-16 without its byte order mark."
        )
    try:
        return str(memoryview(raw)[len(mark) :], encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(raw, len(mark) + error.start, encoding, path) from None


def _undecodable(raw: bytes, place: int, encoding: str, path: Path) -> DocumentError:
    line = raw.count(b"\n", 0, place) + 1
    return DocumentError(
        f"{path}: not text in {encoding.upper()}: byte 0x{raw[place]:02X} at position {place} (line {line}); "
        "save it as UTF-8, for example with iconv -f WINDOWS-1252 -t UTF-8."
    )

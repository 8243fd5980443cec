"""Bytes -> text: a byte order mark decides, then a label, then UTF-8 and UTF-16 where they are evident, then a guess.

A guess is said in a warning that names the encoding, and a bad one is an error: nothing becomes garbled in silence.
Which encoding reads best is judged by ``encoding_guess.py``; where labels stand is known to the readers.
"""

import codecs
import re
import unicodedata
import warnings
from collections.abc import Iterator
from pathlib import Path

from faircut.documents.encoding_guess import Guess, guesses, readability
from faircut.errors import DocumentError, FaircutWarning

__all__ = ["MAX_FILE_BYTES", "codec", "decode", "decode_strictly", "read_text"]

MAX_FILE_BYTES = 2**30
"""The largest text file that is read whole, in bytes. Larger corpora come as ``corpus.jsonl``, which streams."""

READABLE = 0.5
"""How well a guessed text must read; see ``encoding_guess.Guess``. Right ones have 0.6 and more, noise is below 0.2."""
READABLE_WIDE = 0.3
"""The same for UTF-16, whose units say something by themselves."""
SURE = 0.1
"""How much better it must read than the next one to be called sure."""
_FEW = 0.02  # share of the bytes outside ASCII that may be wrong in UTF-8, and of NUL bytes in a page

# UTF-32 before UTF-16: the mark of UTF-32-LE begins with that of UTF-16-LE.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def read_text(path: Path, *, label: str | None = None) -> str:
    """The text of a file. Line ends stay as they are; the byte order mark is not part of the text.

    Args:
        path: the file.
        label: the encoding that the file names itself, where it does.

    Warns:
        FaircutWarning: the encoding was guessed (and which), or few bytes were wrong and replaced.

    Raises:
        DocumentError: not text, an encoding that cannot be told (with the byte's position), empty, only white space,
            too large.
        OSError: the file cannot be opened.
    """
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise DocumentError(f"{path}: {size:,} bytes; a text file may have {MAX_FILE_BYTES:,}. Split it into parts.")
    text = decode_strictly(path.read_bytes(), str(path), label)
    if not text.strip():
        raise DocumentError(f"{path}: {'only white space' if text else 'empty'}; remove the file or give it a text.")
    return text


def decode_strictly(raw: bytes, where: str, label: str | None = None) -> str:
    """The text of a file that should be right as a whole: with a mark or label every byte must be valid.

    Raises:
        DocumentError: see ``read_text``.
    """
    mark, encoding = _mark(raw)
    if encoding is None:
        encoding = _wide(raw) or _labelled(raw, codec(label))
        if encoding is None and (place := raw.find(b"\0")) >= 0:
            raise DocumentError(
                f"{where}: not text: a NUL byte at position {place}; it is a binary file; leave it out."
            )
    if encoding is None:
        return _unlabelled(raw, where)
    try:
        return str(memoryview(raw)[mark:], encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(raw, mark + error.start, encoding, where) from None


def decode(raw: bytes, where: str, label: str | None = None) -> str:
    """The text of a page or a mail, whose labels may lie: valid UTF-8 wins over a Latin label.

    Warns:
        FaircutWarning: the encoding was guessed (and which), or bytes were wrong and replaced, with their count.

    Raises:
        DocumentError: not text, or an encoding that cannot be told.
    """
    mark, encoding = _mark(raw)
    if encoding := encoding or _wide(raw):
        return _replaced(raw[mark:], where, encoding)
    if raw.count(b"\0", 0, _HEAD) > _FEW * len(raw[:_HEAD]):
        raise DocumentError(f"{where}: not text: it holds NUL bytes; it is a binary file; leave it out.")
    encoding = _labelled(raw, codec(label))
    return _unlabelled(raw, where) if encoding in (None, "utf-8") else _replaced(raw, where, encoding)


_HEAD = 4096


def _mark(raw: bytes) -> tuple[int, str | None]:
    """The length of the byte order mark, and what it says."""
    return next(((len(mark), encoding) for mark, encoding in _MARKS if raw.startswith(mark)), (0, None))


def _labelled(raw: bytes, encoding: str | None) -> str | None:
    """The encoding of the label; bytes that are valid UTF-8 beyond ASCII are so by no accident, whatever it says."""
    if encoding is None or not _is_single_byte(encoding):
        return encoding
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return encoding
    return "utf-8"


def _is_single_byte(encoding: str) -> bool:
    return encoding.startswith(("cp125", "iso8859", "koi8", "mac", "cp437", "cp85", "cp866", "cp874"))


def _replaced(raw: bytes, where: str, encoding: str) -> str:
    text = raw.decode(encoding, "replace")
    if wrong := text.count("\ufffd") - (raw.count(b"\xef\xbf\xbd") if encoding == "utf-8" else 0):
        message = f"{where}: {wrong} characters are not valid in {_name(encoding)} and were replaced by U+FFFD."
        warnings.warn(message, FaircutWarning, stacklevel=2)
    return text


def _undecodable(raw: bytes, place: int, encoding: str, where: str, said: str = "") -> DocumentError:
    line = raw.count(b"\n", 0, place) + 1
    return DocumentError(
        f"{where}: not text in {_name(encoding)}: byte 0x{raw[place]:02X} at position {place} (line {line})"
        f"{said}; save it as UTF-8, for example with iconv -f WINDOWS-1252 -t UTF-8."
    )


# ---------------------------------------------------------------- labels

# What browsers read under these labels (WHATWG Encoding Standard).
_AS_READ = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "tis-620": "cp874",
    "utf-16": "utf-8",  # a label that can be read as ASCII is not in UTF-16
    "utf-16-le": "utf-8",
    "utf-16-be": "utf-8",
    "utf-8-sig": "utf-8",
}
_NO_TEXT = {"idna", "punycode", "undefined", "utf-7"} | {
    "raw-unicode-escape",
    "raw_unicode_escape",
    "unicode-escape",
    "unicode_escape",
}


def codec(label: str | None) -> str | None:
    """Python's name of the encoding that browsers read under ``label``; None for unknown and unset ones."""
    try:
        found = codecs.lookup(label.strip()) if label else None
    except (LookupError, ValueError):
        return None
    if found is None or found.name in _NO_TEXT or not found._is_text_encoding:  # compressions, rot13
        return None
    return _AS_READ.get(found.name, found.name)


def _name(encoding: str) -> str:
    """The name that other programs know, such as iconv."""
    if found := re.fullmatch(r"cp(125\d)", encoding):
        return f"WINDOWS-{found[1]}"
    if found := re.fullmatch(r"iso8859[_-](\d+)", encoding):
        return f"ISO-8859-{found[1]}"
    return {"cp932": "SHIFT_JIS", "cp949": "EUC-KR", "big5hkscs": "BIG5", "mac_roman": "MACINTOSH"}.get(
        encoding, encoding.upper().replace("_", "-")
    )


# ---------------------------------------------------------------- no label


def _unlabelled(raw: bytes, where: str) -> str:
    """UTF-8, or the Japanese and Korean encodings that need 7 bits, or else a guess."""
    if _ESCAPES.search(raw) and raw.isascii():
        return _escaped(raw, where)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        place = error.start
    outside = len(raw) - len(raw.translate(None, bytes(range(128, 256))))
    if raw.decode("utf-8", "replace").count("\ufffd") <= _FEW * outside:
        return _replaced(raw, where, "utf-8")
    if len(raw) - len(raw.translate(None, _CONTROLS)) > 0.01 * len(raw):
        raise _undecodable(raw, place, "utf-8", where, " among control characters: a binary file, or damaged")
    return _guessed(raw, where, place)


_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\v\f\r\b\x1a\x1b"))
_ESCAPES = re.compile(rb"\x1b\$(?:[@B]|\([DOPQ]|\)[ACGE])")


def _escaped(raw: bytes, where: str) -> str:
    for encoding in ("iso2022_jp_ext", "iso2022_jp_2004", "iso2022_kr"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    found = _ESCAPES.search(raw)
    place = found.start() if found else 0
    raise _undecodable(raw, place, "utf-8", where, ": escape sequences of an encoding that is not read, ISO-2022")


def _guessed(raw: bytes, where: str, place: int) -> str:
    """The text in the encoding in which it reads best.

    Raises:
        DocumentError: it reads badly in all of them.
    """
    found = guesses(raw)
    if not found or found[0].score < READABLE:
        raise _undecodable(raw, place, "utf-8", where, ", and in no older encoding that is known")
    best, others = found[0], _others(found)
    if others and best.score - others[0].score < SURE:
        doubt = f"; {_name(others[0].encoding)} is nearly as likely: if it reads wrong, save it as UTF-8"
    else:
        doubt = ""
    wrong = best.text.count("\ufffd")
    replaced = f" ({wrong} characters were not valid and replaced by U+FFFD)" if wrong else ""
    message = f"{where}: not UTF-8, read as {_name(best.encoding)}, in which its letters make sense{replaced}{doubt}."
    warnings.warn(message, FaircutWarning, stacklevel=2)
    return best.text


def _others(found: list[Guess]) -> list[Guess]:
    """The guesses that give another text than the best."""
    return [guess for guess in found[1:] if guess.text != found[0].text]


# ---------------------------------------------------------------- UTF-16 and UTF-32 without a mark


def _wide(raw: bytes) -> str | None:
    """UTF-32 or UTF-16 where that is evident: it has NUL bytes, no control characters, and a text that makes sense."""
    if b"\0" not in raw[:_SEEN]:
        return None
    return next((encoding for encoding in _wide_encodings(raw) if _is_wide(raw, encoding)), None)


_SEEN = 2**16


def _wide_encodings(raw: bytes) -> Iterator[str]:
    if len(raw) % 4 == 0:
        yield from ("utf-32-le", "utf-32-be")
    if len(raw) % 2 == 0:
        little_first = raw[1:_SEEN:2].count(0) >= raw[:_SEEN:2].count(0)
        yield from ("utf-16-le", "utf-16-be") if little_first else ("utf-16-be", "utf-16-le")


def _is_wide(raw: bytes, encoding: str) -> bool:
    try:
        text = str(memoryview(raw)[:_SEEN], encoding)
    except UnicodeDecodeError:
        return False
    kinds = {unicodedata.category(character) for character in set(text) - set("\t\n\r\f\v\x1a")}
    if kinds & {"Cc", "Cn", "Co"}:
        return False
    latin = sum(1 for character in text if character < "\u0250")
    return latin > len(text) / 2 or (len(text) >= 8 and readability(text) >= READABLE_WIDE)

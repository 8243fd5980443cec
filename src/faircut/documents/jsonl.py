"""JSON lines, plain or gzipped -> numbered lines -> objects. What the objects mean is left to the callers."""

import gzip
import json
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from faircut.files import write_atomically

__all__ = ["MAX_LINE_BYTES", "LineError", "numbered_lines", "parse_object", "write_lines"]

MAX_LINE_BYTES = 256 * 2**20
"""The longest line that is read, in bytes after decompression: it bounds what a small gzip file can expand to."""


class LineError(ValueError):
    """A line, or the file from this line on, cannot be read; the text says why, without the place."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.line = line

    def place(self, path: Path) -> str:
        """The file and the line, or the file alone when none of its lines was reached."""
        return f"{path}:{self.line}" if self.line else str(path)


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1. Streams; memory is bounded by the longest line.

    Raises:
        LineError: the file cannot be opened or decompressed, or a line is longer than ``MAX_LINE_BYTES``.
    """
    number = 0
    try:
        with _open(path) as stream:
            while raw := stream.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(raw) > MAX_LINE_BYTES:
                    raise LineError(f"a line longer than {MAX_LINE_BYTES:,} bytes; split its text", number)
                if line := (raw.removeprefix(BOM_UTF8) if number == 1 else raw).strip():
                    yield number, line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise LineError(f"damaged gzip file ({error})", number + 1) from error
    except OSError as error:
        raise LineError(f"cannot be read: {error.strerror or error}", number and number + 1) from error


def _open(path: Path) -> gzip.GzipFile | BufferedReader:
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")


def parse_object(raw: bytes) -> dict[str, Any]:
    """The JSON object of one line. Lone surrogates in escapes survive.

    Raises:
        ValueError: not UTF-8, broken JSON, or not an object; says where in the line.
    """
    try:
        value = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: byte 0x{raw[error.start]:02X} at position {error.start} of the line") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"broken JSON at column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise ValueError("broken JSON: nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, found {type(value).__name__}")
    return value


def write_lines(path: Path, objects: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object a line, gzipped when the name ends in ``.gz``; the same objects give the same bytes.

    The file appears whole or not at all.

    Raises:
        StoreError: it cannot be written (no such folder, read-only, disk full).
    """
    gzipped = path.name.lower().endswith(".gz")
    write_atomically(path, lambda raw: _write(raw, objects, gzipped=gzipped))


def _write(raw: IO[bytes], objects: Iterable[Mapping[str, Any]], *, gzipped: bool) -> None:
    if not gzipped:
        raw.writelines(map(_encode, objects))
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
        packed.writelines(map(_encode, objects))


def _encode(value: Mapping[str, Any]) -> bytes:
    try:
        return (json.dumps(value, ensure_ascii=False) + "\n").encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate can only be written as an escape
        return (json.dumps(value) + "\n").encode("ascii")

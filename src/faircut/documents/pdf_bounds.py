"""The bytes of a PDF -> nothing, or an error when a compressed stream would grow beyond all bounds (a bomb).

Only the size is looked at, before an engine reads the file; pictures and attachments are never expanded by the reader
and are passed over. What the streams mean is left to the engines.
"""

import mmap
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from faircut.errors import DocumentError

__all__ = ["MAX_STREAM_BYTES", "check_streams"]

MAX_STREAM_BYTES = 32 * 2**20
"""The largest stream of page content, fonts or objects when expanded; engines need some thirty times the memory."""

_MOST = 1032  # deflate cannot expand further, so shorter streams need no look
_HEAD = 1024  # bytes of the dictionary in front of a stream
_PIECE = 2**16
_STREAM = re.compile(rb"(?<!end)stream\r?\n")
_PASSED = re.compile(rb"/Subtype\s*/Image|/Type\s*/EmbeddedFile|/DCTDecode|/JPXDecode")
_DEFLATED = re.compile(rb"/Fl(?:ateDecode)?\b")


def check_streams(path: Path) -> None:
    """Raise when a stream of the file expands beyond ``MAX_STREAM_BYTES``; linear in the size of the file.

    Raises:
        DocumentError: names the file and the limit.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        place = 0
        while match := _STREAM.search(data, place):
            start = match.end()
            end = data.find(b"endstream", start)
            end = len(data) if end < 0 else end
            head = data[max(match.start() - _HEAD, 0) : match.start()]
            head = head[head.rfind(b" obj") + 1 :]
            layers = len(_DEFLATED.findall(head))
            may = layers and (end - start) * _MOST**layers > MAX_STREAM_BYTES and not _PASSED.search(head)
            if may and _expands_too_far(data, start, end, layers):
                raise DocumentError(
                    f"{path}: a stream expands beyond {MAX_STREAM_BYTES:,} bytes; it cannot be read safely, "
                    "make it smaller or leave the file out."
                )
            place = end


def _expands_too_far(data: mmap.mmap, start: int, end: int, layers: int) -> bool:
    pieces: Iterable[bytes] = (data[n : min(n + _PIECE, end)] for n in range(start, end, _PIECE))
    for _ in range(min(layers, 4)):
        pieces = _inflated(pieces)
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > MAX_STREAM_BYTES:
            return True
    return False


def _inflated(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The stream expanded piece by piece; ends where it is damaged, which the engines judge."""
    inflate = zlib.decompressobj()
    try:
        for piece in pieces:
            rest = piece
            while rest and not inflate.eof:
                yield inflate.decompress(rest, _PIECE)
                rest = inflate.unconsumed_tail
    except zlib.error:
        return

"""The container of old Office files -> its streams by name, for a look at them before another library opens the file.

Reference: MS-CFB. Only what reading needs; what is in the streams is left to the caller.
"""

import struct
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

from faircut.errors import DocumentError

__all__ = ["OLE_MAGIC", "ole_streams"]

OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_LAST = 0xFFFFFFFA  # sector numbers from here on are marks, such as the end of a chain
_ENTRY = 128  # bytes of an entry of the directory
_STREAM, _ROOT = 2, 5


def ole_streams(path: Path, names: Sequence[str]) -> dict[str, bytes]:
    """The streams of these names that are in the file, without their case, in any storage.

    Raises:
        DocumentError: damaged.
    """
    try:
        return _streams(path.read_bytes(), {name.casefold(): name for name in names})
    except (struct.error, IndexError, ValueError) as error:
        raise DocumentError(
            f"{path}: damaged: its container cannot be read ({error}); fetch or save it again."
        ) from error


def _streams(raw: bytes, wanted: dict[str, str]) -> dict[str, bytes]:
    shift, small_shift = struct.unpack_from("<HH", raw, 30)
    if shift not in (9, 12) or small_shift != 6:
        raise ValueError("sectors of unknown size")
    size, small_size = 1 << shift, 1 << small_shift
    first, _, cutoff, small_first = struct.unpack_from("<4I", raw, 48)
    table = _numbers(_joined(raw, size, 1, _table_sectors(raw, size)))
    small_table = _numbers(_joined(raw, size, 1, _chain(table, small_first)))
    directory = _joined(raw, size, 1, _chain(table, first))
    entries = [directory[i : i + _ENTRY] for i in range(0, len(directory) - _ENTRY + 1, _ENTRY)]
    small = b""
    found = {}
    for entry in entries:
        length, kind = struct.unpack_from("<HB", entry, 64)
        start, count = struct.unpack_from("<II", entry, 116)
        name = wanted.get(entry[: max(length - 2, 0)].decode("utf-16-le", "replace").casefold())
        if kind == _ROOT:
            small = _joined(raw, size, 1, _chain(table, start))
        elif kind == _STREAM and name and count < cutoff:
            found[name] = _joined(small, small_size, 0, _chain(small_table, start))[:count]
        elif kind == _STREAM and name:
            found[name] = _joined(raw, size, 1, _chain(table, start))[:count]
    return found


def _table_sectors(raw: bytes, size: int) -> Iterator[int]:
    """Where the table of sectors lies: 109 places in the head of the file, more in a chain of their own."""
    yield from (number for number in struct.unpack_from("<109I", raw, 76) if number < _LAST)
    following = struct.unpack_from("<I", raw, 68)[0]
    for _ in range(len(raw) // size):
        if following >= _LAST:
            return
        *numbers, following = _numbers(_joined(raw, size, 1, [following]))
        yield from (number for number in numbers if number < _LAST)


def _chain(table: "array[int]", start: int) -> Iterator[int]:
    """The sectors of a stream. One longer than the table goes in a circle."""
    for _ in range(len(table) + 1):
        if start >= _LAST:
            return
        yield start
        start = table[start]
    raise ValueError("a chain of sectors goes in a circle")


def _joined(raw: bytes, size: int, offset: int, sectors: Iterator[int] | Sequence[int]) -> bytes:
    return b"".join(raw[(number + offset) * size : (number + offset + 1) * size] for number in sectors)


def _numbers(data: bytes) -> "array[int]":
    return array("I", struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4]))
